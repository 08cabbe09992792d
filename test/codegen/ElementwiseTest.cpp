// Elementwise code and movement against plain loops: broadcasts, layouts, types of mixed widths, every tail and
// alignment.
#include "test/codegen/Testing.h"

#include <algorithm>

using namespace calque;
using namespace calque::testing;

namespace {

double at(const std::vector<double> &values, const Tensor &x, const Shape &index) {
  return values[static_cast<std::size_t>(broadcastIndex(index, x.shape()))];
}

// A shape that broadcasts to another one.
Shape smaller(std::mt19937 &random, const Shape &shape) {
  Shape result(shape.end() - static_cast<std::ptrdiff_t>(random() % (shape.size() + 1)), shape.end());
  for (Size &size : result)
    if (random() % 3 == 0)
      size = 1;
  return result;
}

void expectChain(const Tensor &a, const Tensor &b, const Tensor &c, const Tensor &condition, const Shape &shape) {
  SCOPED_TRACE(std::string(name_of(a.dtype())) + " " + text(a.shape()) + " " + text(b.shape()) + " " + text(c.shape()) +
               " " + text(condition.shape()));
  auto f = compile([](const std::vector<Tensor> &in) {
    const Tensor &a = in[0], &b = in[1], &c = in[2], &condition = in[3];
    Tensor larger = a > b, chain = where(logical_and(condition, larger), a * b + c, b - c);
    // Widths mix: bool with float64, int64 with float32.
    Tensor wide = cast(larger, DType::Float64) * 3 + cast(c, DType::Float64);
    Tensor narrow = cast(cast(a, DType::Int64) * 2, DType::Float32) + cast(b, DType::Float32);
    return std::vector<Tensor>{chain, larger, logical_not(condition), wide, narrow};
  });
  std::vector<Tensor> found = f({a, b, c, condition});
  std::vector<double> as = valuesOf(a), bs = valuesOf(b), cs = valuesOf(c), conditions = valuesOf(condition);
  auto expect = [&](const Tensor &x, auto &&element) {
    expectElements(x, x.shape(),
                   generate(x.shape(), [&](const Shape &index) { return static_cast<double>(element(index)); }));
  };
  auto largerAt = [&](const Shape &i) { return at(as, a, i) > at(bs, b, i); };
  ASSERT_EQ(found[0].shape(), shape);
  expect(found[0], [&](const Shape &i) {
    return at(conditions, condition, i) != 0 && largerAt(i) ? at(as, a, i) * at(bs, b, i) + at(cs, c, i)
                                                            : at(bs, b, i) - at(cs, c, i);
  });
  expect(found[1], largerAt);
  expect(found[2], [&](const Shape &i) { return at(conditions, condition, i) == 0; });
  expect(found[3], [&](const Shape &i) { return 3 * largerAt(i) + at(cs, c, i); });
  expect(found[4], [&](const Shape &i) { return 2 * at(as, a, i) + at(bs, b, i); });
}

void expectPermuted(const Tensor &found, const Tensor &x, const Axes &permutation, double offset) {
  Shape shape;
  for (std::int64_t axis : permutation)
    shape.push_back(x.shape()[static_cast<std::size_t>(axis)]);
  std::vector<double> values = valuesOf(x);
  expectElements(found, shape, generate(shape, [&](const Shape &index) {
                   Shape from(index.size());
                   for (std::size_t i = 0; i < index.size(); ++i)
                     from[static_cast<std::size_t>(permutation[i])] = index[i];
                   return values[static_cast<std::size_t>(ravel(from, x.shape()))] + offset;
                 }));
}

} // namespace

TEST(Elementwise, BroadcastsOfEveryRank) {
  std::mt19937 random(16);
  const DType types[] = {DType::Float32, DType::Float64, DType::Int32, DType::Int64};
  int count = 0;
  const Shape shapes[] = {{}, {1}, {37}, {5, 19}, {33, 3}, {3, 1, 17}, {2, 5, 9}, {2, 3, 4, 5}, {2, 3, 2, 3, 17}};
  for (const Shape &shape : shapes)
    for (int i = 0; i < 2; ++i) {
      DType dtype = types[count++ % 4];
      auto make = [&](DType type) { return wholes(random, smaller(random, shape), type); };
      expectChain(wholes(random, shape, dtype), make(dtype), make(dtype), make(DType::Bool), shape);
    }
}

TEST(Elementwise, OfNoElements) {
  std::mt19937 random(17);
  for (const Shape &shape : {Shape{0}, Shape{3, 0}, Shape{0, 5}, Shape{2, 0, 17}}) {
    Tensor x = zeros(shape);
    expectChain(x, ones({shape.back()}), x, zeros(shape, DType::Bool), shape);
  }
  auto f = function([](const Tensor &x) { return slice(x, {3, 1}, {3, 4}) * 2; });
  EXPECT_EQ(f(zeros({5, 9})).shape(), (Shape{0, 3}));
}

TEST(Elementwise, OfEveryTail) {
  for (DType dtype : {DType::Float32, DType::Float64, DType::Int32, DType::Int64, DType::Bool}) {
    SCOPED_TRACE(name_of(dtype));
    std::mt19937 random(18);
    std::vector<Tensor> inputs;
    for (std::int64_t size = 1; size <= 33; ++size)
      inputs.push_back(wholes(random, {size}, dtype));
    bool isBool = dtype == DType::Bool;
    auto f = compile([&](const std::vector<Tensor> &in) {
      std::vector<Tensor> results;
      for (const Tensor &x : in)
        results.push_back(isBool ? logical_not(x) : x * x + 1);
      return results;
    });
    std::vector<Tensor> found = f(inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      std::vector<double> expected = valuesOf(inputs[i]);
      for (double &x : expected)
        x = isBool ? x == 0 : x * x + 1;
      expectElements(found[i], inputs[i].shape(), expected);
    }
  }
}

// Masked lanes hold anything, also what would trap.
TEST(Elementwise, DivisionOfIntegersInTails) {
  for (std::int64_t size : {1, 3, 5, 9, 17, 31}) {
    std::vector<std::int32_t> x(static_cast<std::size_t>(size), 7), y(x.size(), -2);
    x.back() = INT32_MIN;
    y.back() = -1;
    std::vector<std::int32_t> found = div(tensor(x, {size}), tensor(y, {size})).to_vector<std::int32_t>();
    for (std::size_t i = 0; i + 1 < found.size(); ++i)
      EXPECT_EQ(found[i], -3);
    EXPECT_EQ(found.back(), INT32_MIN);
  }
}

TEST(Elementwise, OfMathInEveryTail) {
  std::mt19937 random(19);
  std::vector<Tensor> inputs;
  for (std::int64_t size : {1, 2, 3, 5, 7, 9, 15, 16, 17, 33})
    for (DType dtype : {DType::Float32, DType::Float64})
      inputs.push_back(operand(random, {size}, dtype));
  auto f = compile([](const std::vector<Tensor> &in) {
    std::vector<Tensor> results;
    for (const Tensor &x : in)
      results.push_back(exp(x) + tanh(x) * log(x + 2) / sqrt(x + 3));
    return results;
  });
  std::vector<Tensor> found = f(inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    std::vector<double> xs = valuesOf(inputs[i]), ys = valuesOf(found[i]);
    for (std::size_t j = 0; j < xs.size(); ++j) {
      double x = xs[j], expected = std::exp(x) + std::tanh(x) * std::log(x + 2) / std::sqrt(x + 3);
      EXPECT_NEAR(ys[j], expected, inputs[i].dtype() == DType::Float32 ? 2e-6 : 1e-14)
          << "size " << xs.size() << " element " << j;
    }
  }
}

TEST(Elementwise, OfTransposedOperands) {
  std::mt19937 random(20);
  for (const Shape &shape : {Shape{5, 19}, Shape{33, 17}, Shape{300, 129}, Shape{3, 5, 17}, Shape{2, 3, 5, 7}}) {
    Tensor x = wholes(random, shape, shape[0] == 33 ? DType::Float64 : DType::Float32);
    Axes order(shape.size());
    std::iota(order.begin(), order.end(), 0);
    std::vector<Axes> permutations;
    do
      permutations.push_back(order);
    while (std::next_permutation(order.begin(), order.end()) && permutations.size() < 9);
    auto f = compile([&](const std::vector<Tensor> &in) {
      std::vector<Tensor> results;
      for (const Axes &permutation : permutations)
        results.push_back(transpose(in[0], permutation) + 1);
      return results;
    });
    std::vector<Tensor> found = f({x});
    for (std::size_t i = 0; i < found.size(); ++i) {
      SCOPED_TRACE(text(shape) + " by " + text(permutations[i]));
      expectPermuted(found[i], x, permutations[i], 1);
      expectPermuted(transpose(cast(x, DType::Bool), permutations[i]), cast(x, DType::Bool), permutations[i], 0);
    }
  }
}

TEST(Elementwise, OfSlicesAtOddOffsets) {
  std::mt19937 random(21);
  for (DType dtype : {DType::Float32, DType::Float64, DType::Int32}) {
    Tensor x = wholes(random, {200}, dtype), y = wholes(random, {9, 40}, dtype);
    auto f = compile([](const std::vector<Tensor> &in) {
      std::vector<Tensor> results;
      for (std::int64_t i = 0; i <= 17; ++i)
        results.push_back(slice(in[0], {i}, {i + 67}) * 2 + slice(in[0], {3 * i}, {3 * i + 67}));
      for (std::int64_t i = 0; i < 5; ++i)
        results.push_back(slice(in[1], {i, 2 * i + 1}, {i + 4, 2 * i + 20}) +
                          slice(in[1], {0, i}, {8, i + 19}, {2, 1}));
      results.push_back(sum(slice(in[1], {1, 3}, {8, 36}), {1}));
      results.push_back(sum(slice(in[1], {0, 1}, {9, 40}, {1, 2}), {0}));
      return results;
    });
    std::vector<Tensor> found = f({x, y});
    std::vector<double> xs = valuesOf(x), ys = valuesOf(y);
    for (std::int64_t i = 0; i <= 17; ++i)
      expectElements(found[i], {67},
                     generate({67}, [&](const Shape &k) { return xs[i + k[0]] * 2 + xs[3 * i + k[0]]; }));
    for (std::int64_t i = 0; i < 5; ++i)
      expectElements(found[18 + i], {4, 19}, generate({4, 19}, [&](const Shape &k) {
                       return ys[(i + k[0]) * 40 + 2 * i + 1 + k[1]] + ys[2 * k[0] * 40 + i + k[1]];
                     }));
    auto total = [](std::int64_t count, auto &&element) {
      double result = 0;
      for (std::int64_t j = 0; j < count; ++j)
        result += element(j);
      return result;
    };
    auto row = [&](const Shape &k) { return total(33, [&](std::int64_t j) { return ys[(1 + k[0]) * 40 + 3 + j]; }); };
    auto column = [&](const Shape &k) { return total(9, [&](std::int64_t j) { return ys[j * 40 + 1 + 2 * k[0]]; }); };
    expectElements(found[23], {7}, generate({7}, row));
    expectElements(found[24], {20}, generate({20}, column));
  }
}

// What is taken apart and put together again is what it was.
TEST(Elementwise, MovementThereAndBack) {
  std::mt19937 random(22);
  for (DType dtype : {DType::Float32, DType::Int64, DType::Bool})
    for (const Shape &shape : {Shape{7, 33}, Shape{33, 7}, Shape{64, 300}}) {
      Tensor x = wholes(random, shape, dtype);
      const Number one = dtype == DType::Bool ? Number(true) : Number(1);
      std::vector<std::int64_t> order(static_cast<std::size_t>(shape[0])), inverse(order.size());
      std::iota(order.begin(), order.end(), 0);
      std::shuffle(order.begin(), order.end(), random);
      for (std::size_t i = 0; i < order.size(); ++i)
        inverse[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
      auto f = compile([&](const std::vector<Tensor> &in) {
        const Tensor &y = in[0];
        Tensor rows = concat({slice(y, {0, 0}, {3, shape[1]}), slice(y, {3, 0}, shape)}, 0);
        Tensor columns = concat({slice(y, {0, 0}, {shape[0], 5}), slice(y, {0, 5}, shape)}, 1);
        Tensor padded = slice(pad(y, {1, 3}, {2, 1}, one), {1, 3}, {shape[0] + 1, shape[1] + 3});
        Tensor gathered = gather(gather(y, in[1]), in[2]);
        return std::vector<Tensor>{
            rows, columns, padded, gathered, transpose(transpose(y)), reshape(reshape(y, {-1}), shape)};
      });
      for (const Tensor &found : f({x, tensor(order, {shape[0]}), tensor(inverse, {shape[0]})}))
        expectElements(found, shape, valuesOf(x));
      Tensor border = pad(x, {1, 3}, {2, 1}, one);
      std::vector<double> values = valuesOf(x);
      expectElements(border, {shape[0] + 3, shape[1] + 4}, generate({shape[0] + 3, shape[1] + 4}, [&](const Shape &i) {
                       bool inside = i[0] >= 1 && i[0] <= shape[0] && i[1] >= 3 && i[1] < shape[1] + 3;
                       return inside ? values[static_cast<std::size_t>((i[0] - 1) * shape[1] + i[1] - 3)] : 1;
                     }));
    }
}

TEST(Elementwise, GradientOfGatherAddsUp) {
  std::mt19937 random(23);
  Tensor x = wholes(random, {9, 17}, DType::Float32), g = wholes(random, {40, 17}, DType::Float32);
  std::vector<std::int32_t> indices;
  for (int i = 0; i < 40; ++i)
    indices.push_back(static_cast<std::int32_t>(random() % 9));
  auto f = function([](const Tensor &a, const Tensor &i, const Tensor &b) {
    GradientTape tape;
    tape.watch(a);
    return *tape.gradient(sum(gather(a, i) * b), a);
  });
  std::vector<double> gs = valuesOf(g), expected(9 * 17, 0);
  for (std::size_t i = 0; i < gs.size(); ++i)
    expected[static_cast<std::size_t>(indices[i / 17]) * 17 + i % 17] += gs[i];
  expectElements(f(x, tensor(indices, {40}), g), {9, 17}, expected);
}
