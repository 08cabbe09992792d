// Movement of elements: values against plain loops, derivatives against central differences, many examples at once
// against one after the other.
#include "test/operations/Structured.h"

using namespace calque;
using namespace calque::testing;

namespace {
// A movement's values and gradients. It is linear: only the square has a second derivative, and its first is a first
// one of the movement, too. It moves bits, of any type.
void expectMovement(const Body &f, const std::vector<Tensor> &inputs, const Shape &shape,
                    const std::vector<double> &expected, DType other = DType::Int32) {
  expectValues(f, inputs, shape, expected, false);
  expectBatched({batched(f, inputs, true), batched(f, as(other, inputs), true)});
  expectAllDerivatives([f](const std::vector<Tensor> &in) { return square(f(in)); }, inputs, 2, true);
}
} // namespace

TEST(Movement, Reshape) {
  std::mt19937 random(8);
  Tensor x = randomTensor(random, {2, 6});
  for (const auto &[asked, shape] : std::vector<std::pair<Shape, Shape>>{
           {{3, 4}, {3, 4}}, {{-1}, {12}}, {{2, -1, 3}, {2, 2, 3}}, {{1, 12, 1}, {1, 12, 1}}})
    expectMovement([asked](const std::vector<Tensor> &in) { return reshape(in[0], asked); }, {x}, shape, valuesOf(x));
  expectMovement([](const std::vector<Tensor> &in) { return reshape(in[0], {}); }, {tensor<double>({2}, {1, 1})}, {},
                 {2});
}

TEST(Movement, ExpandDims) {
  std::mt19937 random(8);
  Tensor x = randomTensor(random, {2, 3});
  for (const auto &[axes, shape] : std::vector<std::pair<Axes, Shape>>{
           {{0}, {1, 2, 3}}, {{-1}, {2, 3, 1}}, {{1, 3}, {2, 1, 3, 1}}, {{0, -2}, {1, 2, 1, 3}}})
    expectMovement([axes](const std::vector<Tensor> &in) { return expand_dims(in[0], axes); }, {x}, shape, valuesOf(x));
}

TEST(Movement, BroadcastTo) {
  std::mt19937 random(9);
  for (const auto &[from, to] :
       std::vector<std::pair<Shape, Shape>>{{{}, {2, 3}}, {{3}, {2, 3}}, {{2, 1}, {2, 3}}, {{2, 1, 3}, {2, 2, 4, 3}}}) {
    Tensor x = randomTensor(random, from);
    std::vector<double> values = valuesOf(x);
    expectMovement([to](const std::vector<Tensor> &in) { return broadcast_to(in[0], to); }, {x}, to,
                   generate(to, [&](const Shape &index) { return values[broadcastIndex(index, from)]; }));
  }
}

TEST(Movement, Transpose) {
  std::mt19937 random(10);
  Tensor x = randomTensor(random, {2, 3, 4});
  std::vector<double> values = valuesOf(x);
  for (const Axes &permutation : {Axes{}, Axes{0, 1, 2}, Axes{1, 2, 0}, Axes{0, 2, 1}, Axes{2, 0, 1}}) {
    Axes actual = permutation.empty() ? Axes{2, 1, 0} : permutation;
    Shape shape;
    for (std::int64_t from : actual)
      shape.push_back(x.shape()[from]);
    expectMovement([permutation](const std::vector<Tensor> &in) { return transpose(in[0], permutation); }, {x}, shape,
                   generate(shape, [&](const Shape &index) {
                     Shape own(3);
                     for (std::size_t i = 0; i < 3; ++i)
                       own[actual[i]] = index[i];
                     return values[ravel(own, x.shape())];
                   }));
  }
}

TEST(Movement, Concat) {
  std::mt19937 random(11);
  for (std::int64_t axis : {0, 1, -1, -3}) {
    std::size_t dim = dimensionOf(axis, 3);
    std::vector<Tensor> parts;
    Shape shape = {2, 3, 2};
    shape[dim] = 0;
    for (std::int64_t size : {1, 3, 2}) {
      Shape part = {2, 3, 2};
      part[dim] = size;
      shape[dim] += size;
      parts.push_back(randomTensor(random, part));
    }
    std::vector<double> expected = generate(shape, [&](Shape index) {
      std::size_t part = 0;
      for (; index[dim] >= parts[part].shape()[dim]; ++part)
        index[dim] -= parts[part].shape()[dim];
      return valuesOf(parts[part])[ravel(index, parts[part].shape())];
    });
    expectMovement([axis](const std::vector<Tensor> &in) { return concat(in, axis); }, parts, shape, expected);
  }
}

TEST(Movement, Split) {
  std::mt19937 random(14);
  Tensor x = randomTensor(random, {2, 5, 3});
  std::vector<double> values = valuesOf(x);
  struct Case {
    std::vector<std::int64_t> sizes;
    std::int64_t axis;
  };
  for (const Case &c : {Case{{1, 4}, 1}, Case{{2, -1, 2}, 1}, Case{{-1}, 1}, Case{{1, 0, -1}, -1}, Case{{1, 1}, -3}}) {
    std::size_t dim = dimensionOf(c.axis, 3);
    std::vector<Tensor> parts = split(x, c.sizes, c.axis);
    ASSERT_EQ(parts.size(), c.sizes.size());
    std::int64_t start = 0;
    for (std::size_t part = 0; part < parts.size(); ++part) {
      Shape shape = parts[part].shape();
      EXPECT_TRUE(c.sizes[part] == -1 || shape[dim] == c.sizes[part]);
      std::vector<double> expected = generate(shape, [&](Shape index) {
        index[dim] += start;
        return values[ravel(index, x.shape())];
      });
      start += shape[dim];
      expectMovement([c, part](const std::vector<Tensor> &in) { return split(in[0], c.sizes, c.axis)[part]; }, {x},
                     shape, expected);
    }
    EXPECT_EQ(start, x.shape()[dim]);
    // Of all parts together: the gradient is their concatenation.
    expectMovement(
        [c](const std::vector<Tensor> &in) {
          std::vector<Tensor> parts = split(in[0], c.sizes, c.axis);
          return concat(parts, c.axis);
        },
        {x}, x.shape(), values);
  }
}

TEST(Movement, Slice) {
  struct Case {
    Axes starts, limits, strides;
    Shape shape;
  };
  std::mt19937 random(12);
  Tensor x = randomTensor(random, {4, 7});
  std::vector<double> values = valuesOf(x);
  for (const Case &c :
       {Case{{0, 0}, {4, 7}, {}, {4, 7}}, Case{{1, 2}, {3, 6}, {}, {2, 4}}, Case{{0, 1}, {4, 7}, {3, 2}, {2, 3}},
        Case{{1, 0}, {4, 7}, {2, 4}, {2, 2}}, Case{{4, 1}, {4, 7}, {}, {0, 6}}})
    expectMovement([c](const std::vector<Tensor> &in) { return slice(in[0], c.starts, c.limits, c.strides); }, {x},
                   c.shape, generate(c.shape, [&](Shape index) {
                     for (std::size_t i = 0; i < 2; ++i)
                       index[i] = c.starts[i] + index[i] * (c.strides.empty() ? 1 : c.strides[i]);
                     return values[ravel(index, x.shape())];
                   }));
}

TEST(Movement, Pad) {
  std::mt19937 random(13);
  Tensor x = randomTensor(random, {2, 3});
  std::vector<double> values = valuesOf(x);
  for (const auto &[low, high] :
       std::vector<std::pair<Axes, Axes>>{{{0, 0}, {0, 0}}, {{1, 0}, {0, 2}}, {{2, 1}, {1, 3}}})
    for (double value : {0.0, -1.5}) {
      Shape shape = {2 + low[0] + high[0], 3 + low[1] + high[1]};
      expectMovement(
          [low = low, high = high, value](const std::vector<Tensor> &in) {
            return value == 0 ? pad(in[0], low, high) : pad(in[0], low, high, value);
          },
          {x}, shape,
          generate(shape,
                   [&, low = low](const Shape &index) {
                     Shape own = {index[0] - low[0], index[1] - low[1]};
                     bool inside = own[0] >= 0 && own[0] < 2 && own[1] >= 0 && own[1] < 3;
                     return inside ? values[ravel(own, x.shape())] : value;
                   }),
          value ? DType::Float32 : DType::Bool);
    }
}

// Around a large part only what lies beside it is filled. What was in the memory before shows where that is too little:
// the padded tensor is made of another one's memory in the second half.
TEST(Movement, PadOfLargeTensors) {
  struct Case {
    Shape shape;
    Axes low, high;
  };
  for (const Case &c :
       {Case{{3, 80, 90}, {0, 1, 1}, {0, 1, 1}}, Case{{3, 80, 90}, {1, 0, 2}, {0, 3, 0}},
        Case{{2, 20, 30, 15}, {0, 2, 1, 0}, {0, 0, 4, 0}}, Case{{20000}, {7}, {5}}, Case{{130, 130}, {0, 3}, {0, 0}},
        Case{{130, 130}, {0, 0}, {2, 0}}, Case{{1, 1, 17000}, {1, 0, 1}, {0, 1, 1}}}) {
    Shape padded = c.shape;
    for (std::size_t i = 0; i < padded.size(); ++i)
      padded[i] += c.low[i] + c.high[i];
    SCOPED_TRACE(::testing::PrintToString(padded));
    Tensor x = reshape(iota({sizeOf(c.shape)}, DType::Float32) + 1, c.shape), y = full(padded, 7.0f);
    auto f = function([&c](const Tensor &x, const Tensor &y) {
      Tensor before = sum(exp(y * 0.5f) + y); // of memory that is free again
      Tensor once = pad(x * 2, c.low, c.high, -3.0f), twice = pad(abs(once), c.low, c.high);
      return std::vector<Tensor>{before, once,
                                 slice(twice, c.low,
                                       [&] {
                                         Axes limits = c.low;
                                         for (std::size_t i = 0; i < limits.size(); ++i)
                                           limits[i] += once.shape()[i];
                                         return limits;
                                       }()),
                                 sum(twice)};
    });
    for (const std::vector<Tensor> &found : {f(x, y), f(x, y), f.eager(x, y)}) {
      std::vector<float> once = found[1].to_vector<float>(), inner = found[2].to_vector<float>();
      double total = 0;
      std::vector<double> expected = generate(padded, [&](const Shape &index) {
        Shape own = index;
        for (std::size_t i = 0; i < own.size(); ++i) {
          own[i] -= c.low[i];
          if (own[i] < 0 || own[i] >= c.shape[i])
            return -3.0;
        }
        return 2.0 * (static_cast<double>(ravel(own, c.shape)) + 1);
      });
      ASSERT_EQ(once.size(), expected.size());
      for (std::size_t i = 0; i < once.size(); ++i) {
        ASSERT_EQ(once[i], expected[i]) << "element " << i;
        ASSERT_EQ(inner[i], std::fabs(expected[i])) << "element " << i;
        total += std::fabs(expected[i]);
      }
      EXPECT_NEAR(found[3].item<float>(), total, 1e-5 * total);
    }
  }
}

TEST(Movement, PadOfBoolTakesABool) {
  Tensor x = tensor<bool>({false}, {1});
  auto compiled = function([](const Tensor &a) { return concat({pad(a, {1}, {0}, true), pad(a, {0}, {1}, false)}); });
  for (const Tensor &result : {compiled(x), compiled.eager(x)})
    EXPECT_EQ(result.to_vector<bool>(), (std::vector<bool>{true, false, false, false}));
}

TEST(Movement, Gather) {
  std::mt19937 random(14);
  Tensor x = randomTensor(random, {4, 3, 2});
  std::vector<double> values = valuesOf(x);
  for (DType dtype : {DType::Int32, DType::Int64})
    for (const Shape &indexShape : {Shape{}, Shape{5}, Shape{2, 3}})
      for (std::int64_t axis : {0, 1, -1}) {
        SCOPED_TRACE("indices " + indexShape.str() + " along " + std::to_string(axis));
        std::size_t dim = dimensionOf(axis, 3);
        std::vector<std::int64_t> picks;
        for (std::int64_t i = 0; i < sizeOf(indexShape); ++i)
          picks.push_back(static_cast<std::int64_t>(random() % x.shape()[dim]));
        const Shape from = x.shape();
        Shape shape(from.begin(), from.begin() + dim);
        shape.insert(shape.end(), indexShape.begin(), indexShape.end());
        shape.insert(shape.end(), from.begin() + dim + 1, from.end());
        std::vector<double> expected = generate(shape, [&](const Shape &index) {
          Shape own(index.begin(), index.begin() + dim);
          own.push_back(picks[ravel(Shape(index.begin() + dim, index.begin() + dim + indexShape.size()), indexShape)]);
          own.insert(own.end(), index.begin() + dim + indexShape.size(), index.end());
          return values[ravel(own, x.shape())];
        });
        Body f = [axis](const std::vector<Tensor> &in) { return gather(in[0], in[1], axis); };
        std::vector<Tensor> inputs = {x, makeTensor(dtype, picks, indexShape)};
        if (dtype == DType::Int64)
          expectMovement(f, inputs, shape, expected);
        else
          expectValues(f, inputs, shape, expected);
      }
  auto compiled = function([](const Tensor &a, const Tensor &i) { return gather(a, i); });
  for (std::int64_t outside : {4, -1}) {
    EXPECT_THROW(gather(x, tensor<std::int64_t>({0, outside})), Error);
    EXPECT_THROW(compiled(x, tensor<std::int64_t>({0, outside})), Error);
  }
}

TEST(Movement, OneHotAndIota) {
  Tensor indices = tensor<std::int64_t>({0, 2, 3, -1}, {2, 2});
  EXPECT_EQ(one_hot(indices, 3).dtype(), DType::Float32);
  for (DType dtype : {DType::Float32, DType::Float64, DType::Int32, DType::Int64}) {
    SCOPED_TRACE(name_of(dtype));
    expectValues([dtype](const std::vector<Tensor> &in) { return one_hot(in[0], 3, dtype); }, {indices}, {2, 2, 3},
                 {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0});
    EXPECT_EQ(one_hot(indices, 3, dtype).dtype(), dtype);
    expectValues([dtype](const std::vector<Tensor> &in) { return one_hot(in[0], 3, dtype); }, {scalar<std::int64_t>(1)},
                 {3}, {0, 1, 0});
    expectValues([dtype](const std::vector<Tensor> &in) { return iota({2, 3}, dtype, 0); }, {}, {2, 3},
                 {0, 0, 0, 1, 1, 1});
    expectValues([dtype](const std::vector<Tensor> &in) { return iota({2, 3}, dtype, 1); }, {}, {2, 3},
                 {0, 1, 2, 0, 1, 2});
  }
}
