// Functions on shapes, subscripts and order, most of them written over several operations: values against plain loops,
// derivatives against central differences, many examples at once against one after the other, unknown sizes.
#include "test/operations/Structured.h"

#include <algorithm>
#include <cstring>
#include <numeric>

using namespace calque;
using namespace calque::testing;

namespace {

// A linear function of the elements of any type, as Movement's test has them: bits are moved, and the square has a
// second derivative.
void expectMoves(const Body &f, const std::vector<Tensor> &inputs, const Shape &shape,
                 const std::vector<double> &expected) {
  expectValues(f, inputs, shape, expected, false);
  expectBatched({batched(f, inputs, true), batched(f, as(DType::Int32, inputs), true)});
  expectAllDerivatives([f](const std::vector<Tensor> &in) { return square(f(in)); }, inputs, 2, true);
}

// The same with all sizes open, for other sizes than the first ones too.
void expectOpen(const Body &f, const std::vector<std::vector<Tensor>> &calls) {
  std::vector<TensorSpec<>> signature;
  for (const Tensor &x : calls[0])
    signature.push_back(TensorSpec<>(x.dtype(), Shape(x.shape().size(), kDynamic)));
  auto open = function<Tensor(const std::vector<Tensor> &)>(f, {.input_signature = signature});
  auto gradient = function<std::vector<Tensor>(const std::vector<Tensor> &)>(
      ManyBody([f](const std::vector<Tensor> &x) {
        return gradients([&](const std::vector<Tensor> &y) { return sum(square(f(y))); }, x);
      }),
      {.input_signature = signature});
  for (const std::vector<Tensor> &inputs : calls) {
    expectSameBits(open(inputs), f(inputs));
    std::vector<Tensor> found = gradient(inputs),
                        expected = gradients([&](const std::vector<Tensor> &y) { return sum(square(f(y))); }, inputs);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      expectAlike(found[i], expected[i], false);
  }
  EXPECT_EQ(open.trace_count(), 1);
}

} // namespace

TEST(Arrays, Stack) {
  std::mt19937 random(21);
  for (const Shape &shape : {Shape{}, Shape{3}, Shape{2, 3}})
    for (std::int64_t axis = -1; axis <= static_cast<std::int64_t>(shape.size()); ++axis) {
      SCOPED_TRACE(shape.str() + " along " + std::to_string(axis));
      std::vector<Tensor> parts = {randomTensor(random, shape), randomTensor(random, shape),
                                   randomTensor(random, shape)};
      std::size_t dim = dimensionOf(axis, shape.size() + 1);
      Shape result = shape;
      result.insert(result.begin() + static_cast<std::ptrdiff_t>(dim), 3);
      expectMoves([axis](const std::vector<Tensor> &in) { return stack(in, axis); }, parts, result,
                  generate(result, [&](Shape index) {
                    auto part = static_cast<std::size_t>(std::int64_t(index[dim]));
                    index.erase(index.begin() + static_cast<std::ptrdiff_t>(dim));
                    return valuesOf(parts[part])[ravel(index, shape)];
                  }));
    }
  Tensor x = randomTensor(random, {2, 3});
  expectOpen([](const std::vector<Tensor> &in) { return stack(in, 1); },
             {{x, x * 2}, {randomTensor(random, {4, 1}), randomTensor(random, {4, 1})}});
  EXPECT_EQ(stack({zeros({0, 2}), zeros({0, 2})}, 2).shape(), (Shape{0, 2, 2}));
}

TEST(Arrays, Unstack) {
  std::mt19937 random(22);
  Tensor x = randomTensor(random, {3, 2, 4});
  for (std::int64_t axis : {0, 1, -1, -3}) {
    std::vector<Tensor> parts = unstack(x, axis);
    ASSERT_EQ(parts.size(), static_cast<std::size_t>(std::int64_t(x.shape()[dimensionOf(axis, 3)])));
    expectSameBits(stack(parts, axis), x);
    Body second = [axis](const std::vector<Tensor> &in) { return unstack(in[0], axis)[1]; };
    expectMoves(second, {x}, parts[1].shape(), valuesOf(parts[1]));
  }
  EXPECT_TRUE(unstack(zeros({0, 3})).empty());
  EXPECT_EQ(unstack(ones({1}))[0].shape(), Shape());
  auto rows =
      function([](const Tensor &a) { return unstack(a)[1]; }, {.input_signature = {TensorSpec<float>({2, kDynamic})}});
  EXPECT_EQ(valuesOf(rows(tensor<float>({1, 2, 3, 4}, {2, 2}))), (std::vector<double>{3, 4}));
}

TEST(Arrays, Squeeze) {
  std::mt19937 random(23);
  Tensor x = randomTensor(random, {1, 3, 1, 2, 1});
  for (const auto &[axes, shape] : std::vector<std::pair<Axes, Shape>>{
           {{}, {3, 2}}, {{0}, {3, 1, 2, 1}}, {{-1, 2}, {1, 3, 2}}, {{0, 2, 4}, {3, 2}}})
    expectMoves([axes](const std::vector<Tensor> &in) { return squeeze(in[0], axes); }, {x}, shape, valuesOf(x));
  EXPECT_EQ(squeeze(ones({2, 3})).shape(), (Shape{2, 3}));
  EXPECT_EQ(squeeze(ones({})).shape(), Shape());
  expectOpen([](const std::vector<Tensor> &in) { return squeeze(in[0], {1}); },
             {{randomTensor(random, {2, 1, 3})}, {randomTensor(random, {5, 1, 1})}});
  auto open = function([](const Tensor &a) { return squeeze(a, {0}); },
                       {.input_signature = {TensorSpec<float>({kDynamic, 2})}});
  EXPECT_EQ(open(ones({1, 2})).shape(), (Shape{2}));
  EXPECT_THROW(open(ones({3, 2})), ShapeError);
}

TEST(Arrays, Tile) {
  std::mt19937 random(24);
  for (const auto &[shape, repeats] :
       std::vector<std::pair<Shape, std::vector<std::int64_t>>>{{{}, {}},
                                                                {{}, {3}},
                                                                {{2}, {3}},
                                                                {{2, 3}, {2, 2}},
                                                                {{2, 3}, {2}},
                                                                {{3}, {2, 1, 2}},
                                                                {{2, 3}, {1, 1}},
                                                                {{1, 3, 2}, {2, 1, 3}}}) {
    SCOPED_TRACE(shape.str() + " times " + schema::shapeString(repeats));
    Tensor x = randomTensor(random, shape);
    std::size_t rank = std::max(shape.size(), repeats.size());
    Shape result(rank, 1), own(rank, 1);
    for (std::size_t i = 0; i < shape.size(); ++i)
      result[rank - shape.size() + i] = own[rank - shape.size() + i] = shape[i];
    for (std::size_t i = 0; i < repeats.size(); ++i)
      result[rank - repeats.size() + i] *= repeats[i];
    std::vector<double> values = valuesOf(x);
    expectMoves([repeats](const std::vector<Tensor> &in) { return tile(in[0], repeats); }, {x}, result,
                generate(result, [&](Shape index) {
                  for (std::size_t i = 0; i < rank; ++i)
                    index[i] = index[i] % own[i];
                  return values[ravel(index, own)];
                }));
  }
  EXPECT_EQ(tile(ones({2, 3}), {0, 2}).shape(), (Shape{0, 6}));
  expectOpen([](const std::vector<Tensor> &in) { return tile(in[0], {2, 1, 3}); },
             {{randomTensor(random, {2, 3})}, {randomTensor(random, {1, 5})}});
}

TEST(Arrays, Clip) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  Tensor x = tensor<double>({-3, -1, -0.5, 0, 0.25, 1, 2, nan, infinity, -infinity});
  expectValues([](const std::vector<Tensor> &in) { return clip(in[0], -1, 1); }, {x}, {10},
               {-1, -1, -0.5, 0, 0.25, 1, 1, nan, 1, -1});
  EXPECT_EQ(clip(tensor<int>({-5, 0, 7}), -1, 3).to_vector<int>(), (std::vector<int>{-1, 0, 3}));
  // The bounds broadcast, and the upper one holds where they contradict each other.
  EXPECT_EQ(valuesOf(clip(tensor<float>({0, 5}), tensor<float>({1, 2, 6}, {3, 1}), 4)),
            (std::vector<double>{1, 4, 2, 4, 4, 4}));
  // The gradient passes within the bounds, which belong to it.
  EXPECT_EQ(valuesOf(grad([](const Tensor &a) { return sum(clip(a, -1, 1) * 2); })(tensor<double>({-3, -1, 0, 1, 2}))),
            (std::vector<double>{0, 2, 2, 2, 0}));
  std::mt19937 random(25);
  Tensor low = tensor<double>({-1.1, -0.3}), high = tensor<double>({0.4, 1.2});
  expectAllDerivatives([](const std::vector<Tensor> &in) { return square(clip(in[0], in[1], in[2])); },
                       {distinctTensor(random, {7, 2}), low, high}, 2, true);
}

TEST(Arrays, Reverse) {
  std::mt19937 random(26);
  for (const Shape &shape : {Shape{}, Shape{1}, Shape{37}, Shape{2, 3, 5}, Shape{3, 1, 4}})
    for (const Axes &axes : {Axes{}, Axes{0}, Axes{-1}, Axes{1, 0}, Axes{0, -1}, Axes{1}}) {
      std::vector<bool> isTurned(shape.size(), axes.empty());
      bool fits = true;
      for (std::int64_t axis : axes) {
        fits &= axis < static_cast<std::int64_t>(shape.size()) && -axis <= static_cast<std::int64_t>(shape.size());
        if (fits)
          isTurned[dimensionOf(axis, shape.size())] = true;
      }
      if (!fits || (shape.size() == 1 && axes.size() > 1))
        continue;
      SCOPED_TRACE(shape.str() + " along " + schema::shapeString(axes));
      Tensor x = randomTensor(random, shape);
      std::vector<double> values = valuesOf(x);
      expectMoves([axes](const std::vector<Tensor> &in) { return reverse(in[0], axes); }, {x}, shape,
                  generate(shape, [&](Shape index) {
                    for (std::size_t i = 0; i < index.size(); ++i)
                      index[i] = isTurned[i] ? Size(shape[i] - 1 - index[i]) : index[i];
                    return values[ravel(index, shape)];
                  }));
    }
  for (const Shape &shape : {Shape{0}, Shape{0, 3}, Shape{3, 0}})
    EXPECT_EQ(both([](const Tensor &x) { return reverse(x); }, zeros(shape)).shape(), shape);
  expectOpen(
      [](const std::vector<Tensor> &in) { return reverse(in[0], {0, -1}) * in[0]; },
      {{randomTensor(random, {2, 3, 4})}, {randomTensor(random, {1, 2, 1})}, {randomTensor(random, {5, 1, 17})}});
  // Large enough for threads.
  Tensor large = iota({700, 1100}, DType::Int32, 1) + iota({700, 1100}, DType::Int32, 0) * 1100;
  std::vector<std::int32_t> turned = reverse(large).to_vector<std::int32_t>();
  for (std::size_t i = 0; i < turned.size(); ++i)
    ASSERT_EQ(turned[i], static_cast<std::int32_t>(turned.size() - 1 - i));
}

TEST(Arrays, TakeAlongAxis) {
  std::mt19937 random(27);
  for (std::int64_t axis : {0, 1, -1, -3})
    for (DType dtype : {DType::Int64, DType::Int32}) {
      Shape shape{3, 4, 2}, taken = shape;
      std::size_t dim = dimensionOf(axis, 3);
      taken[dim] = 5;
      Tensor x = randomTensor(random, shape);
      std::vector<double> indices;
      for (std::int64_t i = 0; i < sizeOf(taken); ++i)
        indices.push_back(static_cast<double>(random() % static_cast<unsigned>(std::int64_t(shape[dim]))));
      Tensor at = makeTensor(dtype, indices, taken);
      std::vector<double> values = valuesOf(x);
      Body f = [axis](const std::vector<Tensor> &in) { return take_along_axis(in[0], in[1], axis); };
      expectValues(f, {x, at}, taken, generate(taken, [&](Shape index) {
                     index[dim] = static_cast<std::int64_t>(indices[ravel(index, taken)]);
                     return values[ravel(index, shape)];
                   }));
      if (dtype == DType::Int64)
        expectAllDerivatives([f](const std::vector<Tensor> &in) { return square(f(in)); }, {x, at}, 2, true);
      expectOpen(f, {{x, at}, {randomTensor(random, {1, 1, 1}), zeros({1, 1, 1}, dtype)}});
    }
  EXPECT_EQ(take_along_axis(zeros({2, 0}), zeros({2, 0}, DType::Int32)).shape(), (Shape{2, 0}));
  Tensor x = ones({2, 3});
  for (std::int64_t index : {-1, 3}) {
    Tensor at = full({2, 1}, index, DType::Int64);
    auto f = [](const Tensor &a, const Tensor &i) { return take_along_axis(a, i); };
    EXPECT_THROW(f(x, at), IndexError);
    EXPECT_THROW(function(f)(x, at), IndexError);
    EXPECT_THROW(f(zeros({2, 0}), at), IndexError);
  }
}

namespace {
// The order of a row, as a plain loop gives it: the smallest of what is left, the first of equals.
std::vector<double> orderOf(const std::vector<double> &row, bool descending) {
  auto isBefore = [&](double a, double b) {
    if (descending)
      std::swap(a, b);
    return a < b || (std::isnan(b) && !std::isnan(a));
  };
  std::vector<bool> isTaken(row.size());
  std::vector<double> order;
  for (std::size_t k = 0; k < row.size(); ++k) {
    std::size_t best = row.size();
    for (std::size_t i = 0; i < row.size(); ++i)
      if (!isTaken[i] && (best == row.size() || isBefore(row[i], row[best])))
        best = i;
    isTaken[best] = true;
    order.push_back(static_cast<double>(best));
  }
  return order;
}

// The function of each row along an axis.
std::vector<double> alongRows(const std::vector<double> &x, const Shape &shape, std::size_t axis,
                              const std::function<std::vector<double>(const std::vector<double> &)> &f) {
  std::vector<double> result(x.size());
  for (std::int64_t i = 0; i < sizeOf(shape); ++i) {
    Shape index = unravel(i, shape);
    if (index[axis] != 0)
      continue;
    std::vector<std::int64_t> places;
    std::vector<double> row;
    for (std::int64_t k = 0; k < shape[axis]; ++k) {
      index[axis] = k;
      places.push_back(ravel(index, shape));
      row.push_back(x[static_cast<std::size_t>(places.back())]);
    }
    std::vector<double> made = f(row);
    for (std::size_t k = 0; k < made.size(); ++k)
      result[static_cast<std::size_t>(places[k])] = made[k];
  }
  return result;
}
} // namespace

TEST(Arrays, ArgSortIsStableAndPutsNaNLast) {
  std::mt19937 random(28);
  for (const Shape &shape : {Shape{1}, Shape{37}, Shape{3, 5}, Shape{2, 17, 3}, Shape{5, 1}, Shape{1, 300}})
    for (DType dtype : {DType::Bool, DType::Int32, DType::Int64, DType::Float32, DType::Float64})
      for (std::int64_t axis = -1; axis < static_cast<std::int64_t>(shape.size()); ++axis)
        for (bool descending : {false, true}) {
          SCOPED_TRACE(std::string(name_of(dtype)) + shape.str() + " along " + std::to_string(axis));
          std::vector<double> values;
          for (std::int64_t i = 0; i < sizeOf(shape); ++i) {
            double value = static_cast<double>(random() % 9) - 4;
            values.push_back(dtype == DType::Bool                      ? value > 0
                             : is_floating(dtype) && random() % 7 == 0 ? std::numeric_limits<double>::quiet_NaN()
                             : is_floating(dtype) && value == 0 && random() % 2 ? -0.0
                                                                                : value);
          }
          Tensor x = makeTensor(dtype, values, shape);
          auto f = [&](const Tensor &a) { return argsort(a, axis, descending); };
          Tensor found = both(f, x);
          EXPECT_EQ(found.dtype(), DType::Int64);
          EXPECT_EQ(valuesOf(found),
                    alongRows(values, shape, dimensionOf(axis, shape.size()),
                              [&](const std::vector<double> &row) { return orderOf(row, descending); }));
        }
  for (const Shape &shape : {Shape{0}, Shape{0, 3}, Shape{3, 0}})
    EXPECT_EQ(both([](const Tensor &x) { return argsort(x, 0); }, zeros(shape)).shape(), shape);
  Tensor x = distinctTensor(random, {3, 4});
  expectBatched(
      {{[](const std::vector<Tensor> &in) { return std::vector<Tensor>{argsort(in[0], 0), argsort(in[0], 1, true)}; },
        {x},
        true}});
}

// Rows that are sorted by their digits, on one thread and on all, and of which few elements are selected.
TEST(Arrays, OrderOfLongRows) {
  std::mt19937 random(31);
  auto compare = [&](DType dtype, const Shape &shape, std::initializer_list<std::int64_t> counts) {
    SCOPED_TRACE(std::string(name_of(dtype)) + shape.str());
    const std::int64_t length = shape[1];
    std::vector<double> numbers;
    for (std::int64_t i = 0; i < sizeOf(shape); ++i) {
      const double infinity = std::numeric_limits<double>::infinity(),
                   special[] = {std::numeric_limits<double>::quiet_NaN(), infinity, -infinity, 0, -0.0, 1e-40};
      const auto drawn = static_cast<double>(random() % 60'000) - 30'000;
      numbers.push_back(!is_floating(dtype) ? (dtype == DType::Bool ? drawn > 0 : std::fmod(std::abs(drawn), 128))
                        : random() % 8 == 0 ? special[random() % 6]
                                            : drawn / 7);
    }
    const Tensor x = makeTensor(dtype, numbers, shape);
    const std::vector<double> values = valuesOf(x); // rounded
    std::vector<double> expected;
    for (bool descending : {false, true}) {
      expected.clear();
      for (std::int64_t row = 0; row < shape[0]; ++row) {
        const double *x = values.data() + row * length;
        std::vector<std::int64_t> order(static_cast<std::size_t>(length));
        std::iota(order.begin(), order.end(), 0);
        auto isLess = [x](std::int64_t a, std::int64_t b) {
          return x[a] < x[b] || (std::isnan(x[b]) && !std::isnan(x[a]));
        };
        std::stable_sort(order.begin(), order.end(),
                         [&](std::int64_t a, std::int64_t b) { return descending ? isLess(b, a) : isLess(a, b); });
        expected.insert(expected.end(), order.begin(), order.end());
      }
      EXPECT_EQ(valuesOf(argsort(x, 1, descending)), expected);
    }
    for (std::int64_t k : counts) {
      std::vector<double> first;
      for (std::int64_t row = 0; row < shape[0]; ++row)
        first.insert(first.end(), expected.begin() + row * length, expected.begin() + row * length + k);
      EXPECT_EQ(valuesOf(both([k](const Tensor &a) { return top_k(a, k).indices; }, x)), first) << k;
    }
  };
  for (DType dtype : {DType::Bool, DType::Int8, DType::UInt16, DType::Int32, DType::UInt64, DType::Float16,
                      DType::BFloat16, DType::Float32, DType::Float64})
    compare(dtype, {2, 2500}, {9, 900});
  compare(DType::Float32, {3, 700}, {1, 175});
  compare(DType::Float64, {1, 140'000}, {100});
}

TEST(Arrays, Sort) {
  std::mt19937 random(29);
  for (std::int64_t axis : {0, 1, -1})
    for (bool descending : {false, true}) {
      Tensor x = distinctTensor(random, {4, 3, 5});
      Body f = [=](const std::vector<Tensor> &in) { return sort(in[0], axis, descending); };
      expectValues(f, {x}, x.shape(),
                   alongRows(valuesOf(x), x.shape(), dimensionOf(axis, 3), [&](std::vector<double> row) {
                     std::sort(row.begin(), row.end());
                     if (descending)
                       std::reverse(row.begin(), row.end());
                     return row;
                   }));
      expectAllDerivatives([f](const std::vector<Tensor> &in) { return square(f(in)); },
                           {distinctTensor(random, {3, 2, 2})}, 2, axis == 0);
      expectOpen(f, {{x}, {distinctTensor(random, {1, 7, 2})}, {distinctTensor(random, {2, 1, 1})}});
    }
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  expectValues([](const std::vector<Tensor> &in) { return sort(in[0]); },
               {tensor<double>({nan, 1, infinity, -infinity, nan, 0})}, {6}, {-infinity, 0, 1, infinity, nan, nan});
  // Many long rows, which threads share.
  Tensor large = random::uniform({300, 1000}), sorted = sort(large);
  std::vector<double> found = valuesOf(sorted), expected = valuesOf(large);
  for (auto row = expected.begin(); row != expected.end(); row += 1000)
    std::sort(row, row + 1000);
  EXPECT_EQ(found, expected);
}

TEST(Arrays, TopK) {
  Tensor x = tensor<double>({3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8}, {2, 6});
  auto f = [](const Tensor &a) {
    TopK top = top_k(a, 3);
    return std::pair(top.values, top.indices);
  };
  auto [values, indices] = both(f, x);
  EXPECT_EQ(valuesOf(values), (std::vector<double>{9, 5, 4, 8, 6, 5}));
  EXPECT_EQ(valuesOf(indices), (std::vector<double>{5, 4, 2, 5, 1, 2}));
  EXPECT_EQ(top_k(x, 0).values.shape(), (Shape{2, 0}));
  EXPECT_EQ(valuesOf(grad([](const Tensor &a) { return sum(top_k(a, 2).values); })(slice(x, {0, 0}, {1, 6}))),
            (std::vector<double>{0, 0, 0, 0, 1, 1}));
  auto open = function(f, {.input_signature = {TensorSpec<double>({kDynamic, kDynamic})}});
  expectSameBits(open(x).first, values);
  expectSameBits(open(x).second, indices);
  EXPECT_THROW(open(ones({2, 2}, DType::Float64)), ShapeError);
  std::mt19937 random(30);
  expectAllDerivatives([](const std::vector<Tensor> &in) { return square(top_k(in[0], 2).values); },
                       {distinctTensor(random, {2, 4})}, 2, true);
}

TEST(Arrays, EinsumIsThePlainSum) {
  std::mt19937 random(31);
  const std::map<char, std::int64_t> sizes = {{'i', 3}, {'j', 4}, {'k', 2}, {'l', 5}, {'b', 2}, {'A', 1}};
  for (const std::string equation :
       {"ij,jk->ik",    "ij,jk",        "ij->ji",       "ij->",         "ij->j",
        "ii->i",        "ii",           "iji->j",       "i,i->",        "i,j->ij",
        "i,i->i",       "bij,bjk->bik", "bij,bkj->bki", "ij,ij->ij",    "ij,kl->",
        "ij,jk,kl->il", "i,ij,j->",     "i,i,i->i",     "ij,j,jk->ijk", " i j , j k -> k i ",
        "Aij,jl->lA",   "ba",           "bii,ik->kb",   "ij,k->ij"}) {
    SCOPED_TRACE(equation);
    std::string text = equation;
    std::erase(text, ' ');
    std::string inputs = text.substr(0, text.find("->")), output;
    if (text.find("->") != std::string::npos)
      output = text.substr(text.find("->") + 2);
    else
      for (char c = 'A'; c <= 'z'; ++c)
        if (std::count(inputs.begin(), inputs.end(), c) == 1)
          output += c;
    std::vector<std::string> terms{""};
    std::map<char, std::int64_t> used;
    for (char c : inputs)
      if (c == ',')
        terms.emplace_back();
      else {
        terms.back() += c;
        used[c] = sizes.contains(c) ? sizes.at(c) : 3;
      }
    std::vector<Tensor> tensors;
    auto shapeOf = [&](const std::string &letters) {
      Shape shape;
      for (char c : letters)
        shape.push_back(used[c]);
      return shape;
    };
    for (const std::string &term : terms)
      tensors.push_back(randomTensor(random, shapeOf(term)));
    Shape result = shapeOf(output), all;
    std::string letters;
    for (auto [letter, size] : used) {
      letters += letter;
      all.push_back(size);
    }
    std::vector<double> expected(static_cast<std::size_t>(sizeOf(result)));
    for (std::int64_t n = 0; n < sizeOf(all); ++n) {
      Shape index = unravel(n, all);
      auto place = [&](const std::string &of) {
        Shape own;
        for (char c : of)
          own.push_back(index[letters.find(c)]);
        return static_cast<std::size_t>(ravel(own, shapeOf(of)));
      };
      double product = 1;
      for (std::size_t t = 0; t < terms.size(); ++t)
        product *= valuesOf(tensors[t])[place(terms[t])];
      expected[place(output)] += product;
    }
    Body f = [equation](const std::vector<Tensor> &in) { return einsum(equation, in); };
    expectValues(f, tensors, result, expected, tensors.size() < 3);
    if (text == "ij,jk,kl->il" || text == "bij,bkj->bki" || text == "iji->j" || text == "i,i->")
      expectAllDerivatives(f, tensors, 2, text.size() < 8);
  }
  expectOpen([](const std::vector<Tensor> &in) { return einsum("bij,bjk->bki", in); },
             {{randomTensor(random, {2, 3, 4}), randomTensor(random, {2, 4, 5})},
              {randomTensor(random, {1, 1, 2}), randomTensor(random, {1, 2, 3})}});
  EXPECT_EQ(valuesOf(einsum("ij,jk->ik", {tensor<int>({1, 2}, {1, 2}), tensor<int>({3, 4}, {2, 1})})),
            (std::vector<double>{11}));
}

// The dots stand for the dimensions in front that have no letters, and dimensions of size 1 are repeated.
TEST(Arrays, EinsumOfOtherDimensions) {
  std::mt19937 random(32);
  struct Dots {
    std::string equation, spelled; // with letters in place of the dots
    std::vector<Shape> shapes, repeated;
  };
  for (const Dots &c : std::vector<Dots>{{"...ij,...jk->...ik", "abij,abjk->abik", {{2, 3, 2, 4}, {2, 3, 4, 5}}, {}},
                                         {"...ij,...jk->...ik", "ij,jk->ik", {{2, 4}, {4, 5}}, {}},
                                         {"...ij,jk->...ik", "abij,jk->abik", {{2, 3, 2, 4}, {4, 5}}, {}},
                                         {"...ij,...jk", "aij,ajk->aik", {{3, 2, 4}, {3, 4, 2}}, {}},
                                         {"i...->...i", "iab->abi", {{2, 3, 4}}, {}},
                                         {"i...j->...", "iabj->ab", {{2, 3, 4, 2}}, {}},
                                         {"...->...", "ab->ab", {{2, 3}}, {}},
                                         {"...i,...i->...", "abi,abi->ab", {{3, 4}, {2, 1, 4}}, {{2, 3, 4}, {2, 3, 4}}},
                                         {"...i,...i", "abi,abi->ab", {{1, 3, 4}, {2, 1, 4}}, {{2, 3, 4}, {2, 3, 4}}},
                                         {"...,...", "ab,ab->ab", {{}, {2, 3}}, {{2, 3}, {2, 3}}},
                                         {"...ii->...i", "aii->ai", {{2, 3, 3}}, {}},
                                         {"ij,ij->ij", "ij,ij->ij", {{3, 1}, {3, 4}}, {{3, 4}, {3, 4}}},
                                         {"ij,jk", "ij,jk->ik", {{2, 1}, {4, 3}}, {{2, 4}, {4, 3}}},
                                         {"i,i,i->", "i,i,i->", {{1}, {4}, {1}}, {{4}, {4}, {4}}},
                                         {"i ... , j -> j ... i", "iab,j->jabi", {{2, 1, 3}, {4}}, {}}}) {
    SCOPED_TRACE(c.equation);
    std::vector<Tensor> tensors, whole;
    for (std::size_t i = 0; i < c.shapes.size(); ++i) {
      tensors.push_back(randomTensor(random, c.shapes[i]));
      whole.push_back(c.repeated.empty() ? tensors[i] : broadcast_to(tensors[i], c.repeated[i]));
    }
    Tensor expected = einsum(c.spelled, whole);
    Body f = [&](const std::vector<Tensor> &in) { return einsum(c.equation, in); };
    expectValues(f, tensors, expected.shape(), valuesOf(expected));
    expectAllDerivatives(f, tensors, 1, false);
  }
  // Sizes that are open are equal: none of them is repeated.
  const TensorSpec<> matrices(DType::Float64, Shape(3, kDynamic));
  auto open = function<Tensor(const std::vector<Tensor> &)>(
      Body([](const std::vector<Tensor> &in) { return einsum("...ij,...jk->...ki", in); }),
      {.input_signature = {matrices, matrices}});
  for (const auto &[a, b] :
       std::vector<std::pair<Shape, Shape>>{{{2, 3, 4}, {2, 4, 5}}, {{1, 1, 2}, {1, 2, 3}}, {{3, 2, 1}, {3, 1, 1}}}) {
    std::vector<Tensor> tensors = {randomTensor(random, a), randomTensor(random, b)};
    expectAlike(open(tensors), einsum("bij,bjk->bki", tensors), false);
  }
  EXPECT_THROW(open({ones({1, 2, 3}, DType::Float64), ones({2, 3, 4}, DType::Float64)}), ShapeError);
}

TEST(Arrays, Sizes) {
  Tensor x = ones({2, 5, 3});
  EXPECT_EQ(size(x, 1).item<std::int64_t>(), 5);
  EXPECT_EQ(size(x, -1).item<std::int64_t>(), 3);
  EXPECT_EQ(size(x).item<std::int64_t>(), 30);
  EXPECT_EQ(size(3).item<std::int64_t>(), 1);
  EXPECT_EQ(size(ones({0, 4})).item<std::int64_t>(), 0);
  auto open = function([](const Tensor &a) { return std::pair(size(a, 0) * 2, size(a)); },
                       {.input_signature = {TensorSpec<float>({kDynamic, 3})}});
  for (std::int64_t rows : {0, 1, 7}) {
    auto [twice, all] = open(ones({rows, 3}));
    EXPECT_EQ(twice.item<std::int64_t>(), 2 * rows);
    EXPECT_EQ(all.item<std::int64_t>(), 3 * rows);
  }
}

// As numpy.round. The product with a power of ten may be infinite where x is not: then x has no such decimals.
TEST(Arrays, RoundsToDecimals) {
  Tensor x = tensor<double>({1.2345, -0.005, 2.675, 12345.678, 0.0});
  auto twice = [&](const Tensor &x, std::int64_t decimals) {
    Tensor eager = round(x, decimals);
    auto expected = valuesOf(eager),
         compiled = valuesOf(function([=](const Tensor &x) { return round(x, decimals); })(x));
    // By bits, as NaN equals nothing.
    EXPECT_TRUE(expected.size() == compiled.size() &&
                std::memcmp(expected.data(), compiled.data(), expected.size() * sizeof(double)) == 0);
    return expected;
  };
  EXPECT_EQ(twice(x, 2), (std::vector<double>{1.23, -0.0, 2.68, 12345.68, 0}));
  EXPECT_EQ(twice(x, 0), (std::vector<double>{1, -0.0, 3, 12346, 0}));
  EXPECT_EQ(twice(tensor<double>({1250, 1350, -49}), -2), (std::vector<double>{1200, 1400, -0.0}));
  EXPECT_EQ(valuesOf(round(tensor<float>({0.125f, 0.375f}), 2)), (std::vector<double>{0.12f, 0.38f}));
  EXPECT_EQ(valuesOf(round(Variable(tensor<float>({0.26f})), 1)), (std::vector<double>{0.3f}));
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> special = twice(tensor<double>({infinity, -infinity, std::nan("")}), 3);
  EXPECT_EQ(special[0], infinity);
  EXPECT_EQ(special[1], -infinity);
  EXPECT_TRUE(std::isnan(special[2]));
  GradientTape tape;
  tape.watch(x);
  Tensor y = round(x, 1);
  EXPECT_FALSE(tape.gradient(y, x));
}

// An axis may be one number, of any integer type; none mean all.
TEST(Arrays, AxesAreNumbersOrLists) {
  Tensor x = tensor<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  const std::vector<std::int64_t> axes{1};
  for (const Tensor &sums : {sum(x, 1), sum(x, {1}), sum(x, axes), sum(x, -1L), sum(x, std::size_t(1))})
    EXPECT_EQ(valuesOf(sums), (std::vector<double>{6, 15}));
  EXPECT_EQ(sum(x, 0, true).shape(), (Shape{1, 3}));
  EXPECT_EQ(valuesOf(sum(x)), valuesOf(sum(x, {})));
  EXPECT_EQ(valuesOf(sum(x, {0, 1})), (std::vector<double>{21}));
  EXPECT_EQ(valuesOf(mean(x, -1)), (std::vector<double>{2, 5}));
  EXPECT_EQ(valuesOf(max(x, {0})), (std::vector<double>{4, 5, 6}));
  EXPECT_EQ(valuesOf(max(x, 0, false)), (std::vector<double>{4, 5, 6}));
  EXPECT_EQ(valuesOf(min(x, {})), (std::vector<double>{1}));
  EXPECT_EQ(valuesOf(min(Variable(x), {-1})), (std::vector<double>{1, 4}));
  EXPECT_EQ(valuesOf(any(x > 5, 1)), (std::vector<double>{0, 1}));
  EXPECT_EQ(expand_dims(x, 0).shape(), (Shape{1, 2, 3}));
  EXPECT_EQ(squeeze(ones({2, 1}), 1).shape(), (Shape{2}));
  EXPECT_EQ(valuesOf(reverse(x, 1)), (std::vector<double>{3, 2, 1, 6, 5, 4}));
  using Reduction = Tensor (*)(const Operand &, AxisList, bool);
  for (Reduction f : std::initializer_list<Reduction>{min, max, prod, mean, logsumexp})
    EXPECT_EQ(f(x, {}, false).shape(), Shape());
  // A number is an index, too.
  EXPECT_EQ(valuesOf(gather(x, 1)), (std::vector<double>{4, 5, 6}));
  EXPECT_EQ(valuesOf(gather(x, 2, -1)), (std::vector<double>{3, 6}));
}
