// Contractions against plain sums: every layout, and sizes on both sides of tiles, vectors, blocks and pieces.
#include "test/codegen/Testing.h"

#include <algorithm>

using namespace calque;
using namespace calque::testing;

namespace {

struct Contraction {
  Shape lhs, rhs;
  Axes lhsBatch, rhsBatch, lhsContracting, rhsContracting;
};

// The elements with the batch's dimensions first, then what is left, then the contracting ones; and the sizes of the
// three.
struct Side {
  std::vector<double> values;
  Shape left;
  std::int64_t batch = 1, free = 1, terms = 1;

  Side(const Tensor &x, const Axes &batchAxes, const Axes &contracting) {
    Axes order = batchAxes;
    for (std::int64_t axis = 0; axis < x.rank(); ++axis)
      if (std::find(batchAxes.begin(), batchAxes.end(), axis) == batchAxes.end() &&
          std::find(contracting.begin(), contracting.end(), axis) == contracting.end()) {
        order.push_back(axis);
        left.push_back(x.shape()[static_cast<std::size_t>(axis)]);
      }
    order.insert(order.end(), contracting.begin(), contracting.end());
    Shape shape, strides(x.shape().size(), 1);
    for (std::size_t i = strides.size(); i-- > 1;)
      strides[i - 1] = strides[i] * x.shape()[i];
    for (std::int64_t axis : order)
      shape.push_back(x.shape()[static_cast<std::size_t>(axis)]);
    for (std::int64_t axis : batchAxes)
      batch *= x.shape()[static_cast<std::size_t>(axis)];
    for (std::int64_t axis : contracting)
      terms *= x.shape()[static_cast<std::size_t>(axis)];
    free = sizeOf(left);
    std::vector<double> all = valuesOf(x);
    values.resize(all.size());
    Shape index(shape.size(), 0);
    std::int64_t from = 0;
    for (double &value : values) {
      value = all[static_cast<std::size_t>(from)];
      for (std::size_t i = shape.size(); i-- > 0;) {
        std::int64_t stride = strides[static_cast<std::size_t>(order[i])];
        from += stride;
        if (++index[i] < shape[i])
          break;
        from -= stride * shape[i];
        index[i] = 0;
      }
    }
  }
};

template <typename Sum> void sumUp(Sums &sums, const Side &l, const Side &r) {
  for (std::int64_t b = 0; b < l.batch; ++b)
    for (std::int64_t i = 0; i < l.free; ++i)
      for (std::int64_t j = 0; j < r.free; ++j) {
        const double *x = l.values.data() + (b * l.free + i) * l.terms,
                     *y = r.values.data() + (b * r.free + j) * l.terms;
        Sum sum = 0;
        double magnitude = 0;
        for (std::int64_t k = 0; k < l.terms; ++k) {
          sum += static_cast<Sum>(x[k]) * y[k];
          magnitude += std::fabs(x[k] * y[k]);
        }
        auto at = static_cast<std::size_t>((b * l.free + i) * r.free + j);
        sums.sum[at] = sum;
        sums.magnitude[at] = magnitude;
      }
}

void expectContraction(const Contraction &c, DType dtype) {
  SCOPED_TRACE(std::string(name_of(dtype)) + ": " + text(c.lhs) + " " + text(c.rhs) + " batch " + text(c.lhsBatch) +
               " " + text(c.rhsBatch) + " contracting " + text(c.lhsContracting) + " " + text(c.rhsContracting));
  std::mt19937 random(3);
  Tensor x = operand(random, c.lhs, dtype), y = operand(random, c.rhs, dtype);
  Side l(x, c.lhsBatch, c.lhsContracting), r(y, c.rhsBatch, c.rhsContracting);
  Shape shape;
  for (std::int64_t axis : c.lhsBatch)
    shape.push_back(c.lhs[static_cast<std::size_t>(axis)]);
  shape.insert(shape.end(), l.left.begin(), l.left.end());
  shape.insert(shape.end(), r.left.begin(), r.left.end());
  Sums expected(shape);
  dtype == DType::Float64 ? sumUp<long double>(expected, l, r) : sumUp<double>(expected, l, r);
  expectSums(contract(x, y, c.lhsBatch, c.rhsBatch, c.lhsContracting, c.rhsContracting), expected);
}

// A product of matrices, of which the operands may lie with their dimensions exchanged.
void expectProduct(std::int64_t m, std::int64_t n, std::int64_t k, bool transposeA, bool transposeB, DType dtype) {
  Shape lhs = transposeA ? Shape{k, m} : Shape{m, k}, rhs = transposeB ? Shape{n, k} : Shape{k, n};
  expectContraction({lhs, rhs, {}, {}, {transposeA ? 0 : 1}, {transposeB ? 1 : 0}}, dtype);
}

constexpr DType kTypes[] = {DType::Float32, DType::Float64, DType::Int32, DType::Int64};

} // namespace

TEST(Contraction, OfSizesAroundTilesAndVectors) {
  const std::int64_t sizes[] = {1,  2,  3,  5,   7,   8,   9,   15,  16,  17,  31,  32,  33,
                                63, 64, 65, 127, 128, 129, 255, 256, 257, 300, 700, 1000};
  std::mt19937 random(5);
  auto size = [&] { return sizes[random() % std::size(sizes)]; };
  for (int i = 0; i < 48;) {
    std::int64_t m = size(), n = size(), k = size();
    if (m * n * k > 2'000'000)
      continue;
    expectProduct(m, n, k, i & 1, i & 2, kTypes[i % 8 < 4 ? 0 : i / 8 % 4]);
    ++i;
  }
}

TEST(Contraction, OfEachLayoutAndType) {
  for (DType dtype : kTypes)
    for (int layout = 0; layout < 4; ++layout)
      expectProduct(37, 83, 61, layout & 1, layout & 2, dtype);
}

TEST(Contraction, OfManyTermsGoesInBlocksAndPieces) {
  expectProduct(64, 10, 5000, false, false, DType::Float32);
  expectProduct(64, 10, 5000, true, true, DType::Float64);
  expectProduct(3, 3, 100'000, false, true, DType::Float32);
  expectProduct(3, 3, 100'000, true, false, DType::Float64);
  expectProduct(3, 3, 100'001, true, false, DType::Int64);
  expectProduct(130, 70, 3001, false, true, DType::Float32);
  expectProduct(1, 1, 100'003, false, false, DType::Float32);
}

TEST(Contraction, OfPanelsThatAreCopied) {
  expectProduct(300, 700, 257, false, false, DType::Float32);
  expectProduct(257, 300, 1000, false, true, DType::Float32);
  expectProduct(129, 255, 513, true, true, DType::Float64);
  expectProduct(65, 33, 700, true, true, DType::Int32);
  expectProduct(63, 129, 37, false, true, DType::Float32);
  expectProduct(700, 9, 300, true, true, DType::Float32);
}

// Rows that are contiguous, with terms 3 KB apart, are packed: whole tiles and a rest of rows, several blocks and
// pieces of terms, and a last panel that is not full.
TEST(Contraction, OfRowsThatAreCopied) {
  expectProduct(1009, 97, 61, true, false, DType::Float32);
  expectProduct(769, 300, 517, true, false, DType::Float32);
  expectProduct(768, 65, 3000, true, false, DType::Float32);
  expectProduct(389, 67, 333, true, true, DType::Float64);
  expectContraction({{2, 41, 800}, {2, 41, 70}, {0}, {0}, {1}, {1}}, DType::Float32);
}

// Vectors along the terms: one run, several, and so many that their sums keep what is rounded away; rows and columns
// that fill no tile.
TEST(Contraction, OfFewColumns) {
  int i = 0;
  for (std::int64_t terms : {37, 64, 700, 1013, 6007})
    for (std::int64_t columns : {2, 3, 7, 10, 13}) {
      expectProduct(terms > 5000 ? 35 : 131, columns, terms, false, i % 2, kTypes[i % 5 < 3 ? 0 : i % 4]);
      ++i;
    }
  expectProduct(3, 257, 300, false, true, DType::Float32);
  expectProduct(7, 4099, 65, false, true, DType::Float64);
  expectContraction({{4, 70, 45}, {4, 45, 3}, {0}, {0}, {2}, {1}}, DType::Float32);
  expectContraction({{4, 70, 45}, {4, 3, 45}, {0}, {0}, {2}, {2}}, DType::Float32);
  expectContraction({{70, 6, 99}, {99, 5, 6}, {}, {}, {1, 2}, {2, 0}}, DType::Float32);
  expectContraction({{9, 70, 6, 99}, {5, 6, 99}, {}, {}, {2, 3}, {1, 2}}, DType::Float32);
}

// Tiles for most columns, and dot products for the last ones, which would fill no vector; which ones depends on the
// CPU.
TEST(Contraction, OfLastColumnsThatFillNoVector) {
  int i = 0;
  for (std::int64_t columns : {9, 17, 18, 34, 50, 65, 100, 101, 104, 129})
    for (std::int64_t terms : {37, 100, 517}) {
      expectProduct(i % 2 ? 131 : 64, columns, terms, false, i % 3 == 1, kTypes[i % 5 < 3 ? 0 : i % 4]);
      ++i;
    }
  expectProduct(1009, 101, 700, false, false, DType::Float32);
  expectProduct(300, 100, 64, true, false, DType::Float32);
  expectContraction({{3, 70, 45}, {3, 45, 34}, {0}, {0}, {2}, {1}}, DType::Float32);
  expectContraction({{9, 70, 6, 99}, {50, 6, 99}, {}, {}, {2, 3}, {1, 2}}, DType::Float64);
}

// Many rows, few columns and many terms: the rows are shared, and not the terms.
TEST(Contraction, OfManyRowsAndFewColumns) {
  expectProduct(4099, 24, 512, false, false, DType::Float32);
  expectProduct(1024, 30, 1024, false, true, DType::Float32);
  expectProduct(4096, 12, 512, false, false, DType::Float64);
}

TEST(Contraction, OfFewColumnsAndUnknownSizes) {
  std::mt19937 random(4);
  for (bool knowsTerms : {true, false})
    for (bool transposed : {false, true}) {
      Shape ofX = {kDynamic, kDynamic}, ofY = {kDynamic, 5};
      if (knowsTerms)
        ofX[1] = ofY[0] = 77;
      if (transposed)
        std::swap(ofY[0], ofY[1]);
      TensorSpec<> x(DType::Float32, ofX), y(DType::Float32, ofY);
      auto f =
          function([transposed](const Tensor &x, const Tensor &y) { return matmul(x, y, {.transpose_b = transposed}); },
                   {.input_signature = {x, y}});
      for (std::int64_t rows : {0, 1, 3, 8, 1001})
        for (std::int64_t terms : {77, 0, 1, 16, 5000}) {
          if (knowsTerms && terms != 77)
            continue;
          SCOPED_TRACE(std::to_string(rows) + " rows, " + std::to_string(terms) + " terms");
          Tensor a = operand(random, {rows, terms}, DType::Float32),
                 b = operand(random, transposed ? Shape{5, terms} : Shape{terms, 5}, DType::Float32);
          Sums expected(Shape{rows, 5});
          sumUp<double>(expected, Side(a, {}, {1}), Side(b, {}, {transposed ? 1 : 0}));
          expectSums(f(a, b), expected);
        }
    }
}

// The lanes behind the last term add nothing, whatever the operands hold.
TEST(Contraction, OfFewColumnsWithInfinities) {
  for (bool transposed : {false, true})
    for (std::int64_t special : {0, 64, 66}) {
      std::vector<float> x(100 * 67, 1), y(67 * 3, 1);
      y[static_cast<std::size_t>(transposed ? special : special * 3)] = std::numeric_limits<float>::infinity();
      Tensor b = reshape(tensor<float>(y, {67 * 3}), transposed ? Shape{3, 67} : Shape{67, 3});
      std::vector<float> found = matmul(tensor<float>(x, {100, 67}), b, {.transpose_b = transposed}).to_vector<float>();
      for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_EQ(found[i], i % 3 ? 67 : std::numeric_limits<float>::infinity());
    }
}

TEST(Contraction, OfOneRowOrColumn) {
  for (bool transposed : {false, true}) {
    expectProduct(1, 1000, 1000, false, transposed, DType::Float32);
    expectProduct(1000, 1, 700, transposed, false, DType::Float32);
    expectProduct(1, 65, 1, false, transposed, DType::Float64);
    expectProduct(255, 257, 1, transposed, false, DType::Float32);
  }
}

TEST(Contraction, OfBatches) {
  for (DType dtype : {DType::Float32, DType::Float64, DType::Int32}) {
    expectContraction({{3, 17, 9}, {3, 9, 33}, {0}, {0}, {2}, {1}}, dtype);
    expectContraction({{5, 9, 17}, {5, 21, 9}, {0}, {0}, {1}, {2}}, dtype);
    expectContraction({{17, 2, 3, 8}, {3, 8, 19, 2}, {1, 2}, {3, 0}, {3}, {1}}, dtype);
    expectContraction({{7, 31}, {31, 7, 5}, {0}, {1}, {1}, {0}}, dtype);
    expectContraction({{33, 7}, {33, 7}, {0}, {0}, {1}, {1}}, dtype);
    expectContraction({{33}, {33}, {0}, {0}, {}, {}}, dtype);
  }
  expectContraction({{64, 70, 33}, {64, 33, 40}, {0}, {0}, {2}, {1}}, DType::Float32);
  expectContraction({{12, 2, 65, 16}, {12, 2, 65, 16}, {0, 1}, {0, 1}, {3}, {3}}, DType::Float32);
}

TEST(Contraction, OfSeveralFreeAndContractingDimensions) {
  for (DType dtype : {DType::Float32, DType::Float64}) {
    expectContraction({{5, 3, 7, 4}, {4, 9, 3}, {}, {}, {1, 3}, {2, 0}}, dtype);
    expectContraction({{3, 7, 4, 5}, {17, 4, 3, 6}, {}, {}, {2, 0}, {1, 2}}, dtype);
    expectContraction({{6, 5, 16}, {16, 6, 33, 3}, {}, {}, {0, 2}, {1, 0}}, dtype);
    expectContraction({{2, 3, 4}, {5, 6}, {}, {}, {}, {}}, dtype);
    expectContraction({{2, 3, 4}, {4, 2, 3}, {}, {}, {0, 1, 2}, {1, 2, 0}}, dtype);
    expectContraction({{40, 30, 3, 50}, {50, 20, 30}, {}, {}, {1, 3}, {2, 0}}, dtype);
  }
}

// The terms lie in two loops that don't merge, and the inner one alone is more than any cache holds.
TEST(Contraction, OfLongInnerTerms) {
  expectContraction({{5, 2, 200'003}, {2, 16, 200'003}, {}, {}, {1, 2}, {0, 2}}, DType::Float32);
  expectContraction({{20, 3, 50'000}, {3, 50'000, 20}, {}, {}, {1, 2}, {0, 1}}, DType::Float32);
}

TEST(Contraction, OfNoElements) {
  expectContraction({{0, 3}, {3, 4}, {}, {}, {1}, {0}}, DType::Float32);
  expectContraction({{3, 0}, {0, 4}, {}, {}, {1}, {0}}, DType::Float32);
  expectContraction({{3, 2}, {2, 0}, {}, {}, {1}, {0}}, DType::Int32);
  expectContraction({{0, 3, 2}, {0, 2, 4}, {0}, {0}, {2}, {1}}, DType::Float64);
}

// Transposes, broadcasts and additions around a product, which are folded into it or stay outside.
TEST(Contraction, OfMovedOperands) {
  std::mt19937 random(9);
  Tensor x = wholes(random, {33, 17}, DType::Float32), y = wholes(random, {29, 33}, DType::Float32);
  Tensor row = wholes(random, {33}, DType::Float32);
  auto f = compile([](const std::vector<Tensor> &in) {
    Tensor product = matmul(transpose(in[0]), transpose(in[1]));
    Tensor ofRow = matmul(broadcast_to(in[2], {40, 33}), in[0]), shifted = matmul(in[1] + 1, in[0] * 2);
    return std::vector<Tensor>{product, transpose(product) + 1, ofRow, shifted,
                               matmul(in[0], in[0], {.transpose_b = true})};
  });
  std::vector<double> a = valuesOf(x), b = valuesOf(y), c = valuesOf(row);
  auto sum = [](std::int64_t terms, auto &&term) {
    double total = 0;
    for (std::int64_t k = 0; k < terms; ++k)
      total += term(k);
    return total;
  };
  std::vector<Tensor> found = f({x, y, row});
  auto product = [&](std::int64_t i, std::int64_t j) {
    return sum(33, [&](std::int64_t k) { return a[k * 17 + i] * b[j * 33 + k]; });
  };
  expectElements(found[0], {17, 29}, generate({17, 29}, [&](const Shape &at) { return product(at[0], at[1]); }));
  expectElements(found[1], {29, 17}, generate({29, 17}, [&](const Shape &at) { return product(at[1], at[0]) + 1; }));
  expectElements(found[2], {40, 17}, generate({40, 17}, [&](const Shape &at) {
                   return sum(33, [&](std::int64_t k) { return c[k] * a[k * 17 + at[1]]; });
                 }));
  expectElements(found[3], {29, 17}, generate({29, 17}, [&](const Shape &at) {
                   return sum(33, [&](std::int64_t k) { return (b[at[0] * 33 + k] + 1) * (a[k * 17 + at[1]] * 2); });
                 }));
  expectElements(found[4], {33, 33}, generate({33, 33}, [&](const Shape &at) {
                   return sum(17, [&](std::int64_t k) { return a[at[0] * 17 + k] * a[at[1] * 17 + k]; });
                 }));
}

// Many small products with strided operands in one function.
TEST(Contraction, OfManyStridedOperandsInOneFunction) {
  std::mt19937 random(11);
  Tensor x = operand(random, {12, 64}, DType::Float32), y = operand(random, {12, 64}, DType::Float32);
  auto f = compile([](const std::vector<Tensor> &in) {
    Tensor x = in[0];
    for (int i = 0; i < 10; ++i)
      x = matmul(matmul(x, in[1], {.transpose_b = true}), in[1]) * 0.01f;
    return std::vector<Tensor>{x};
  });
  Tensor expected = x;
  for (int i = 0; i < 10; ++i)
    expected = matmul(matmul(expected, transpose(y)), y) * 0.01f;
  std::vector<float> found = f({x, y})[0].to_vector<float>(), one = expected.to_vector<float>();
  for (std::size_t i = 0; i < one.size(); ++i)
    EXPECT_NEAR(found[i], one[i], 1e-3f * (std::fabs(one[i]) + 1e-3f));
}

// A product without a sum is elementwise, also where a sum reads it.
TEST(Contraction, OfNoDimensionsInsideOfOthers) {
  std::mt19937 random(9);
  for (DType dtype : kTypes) {
    Tensor a = wholes(random, {}, dtype), x = wholes(random, {1, 2}, dtype), y = wholes(random, {5}, dtype),
           z = wholes(random, {1, 2, 5}, dtype);
    auto f = compile([](const std::vector<Tensor> &in) {
      Tensor scaled = contract(in[0], in[1], {}, {}, {}, {}), outer = contract(in[1], in[2], {}, {}, {}, {});
      return std::vector<Tensor>{contract(scaled, in[1], {}, {}, {0, 1}, {0, 1}), outer,
                                 contract(outer, in[3], {}, {}, {0, 1, 2}, {0, 1, 2}), sum(scaled)};
    });
    std::vector<Tensor> found = f({a, x, y, z});
    double factor = valuesOf(a)[0], square = 0, all = 0, total = 0;
    std::vector<double> xs = valuesOf(x), ys = valuesOf(y), zs = valuesOf(z), products;
    for (std::size_t i = 0; i < 2; ++i) {
      square += factor * xs[i] * xs[i];
      total += factor * xs[i];
      for (std::size_t k = 0; k < 5; ++k) {
        products.push_back(xs[i] * ys[k]);
        all += products.back() * zs[i * 5 + k];
      }
    }
    expectElements(found[0], {}, {square});
    expectElements(found[1], {1, 2, 5}, products);
    expectElements(found[2], {}, {all});
    expectElements(found[3], {}, {total});
  }
}
