// Sizes that are not known while tracing: what C++ can do with them, and what operations can.
#include "Testing.h"
#include "test/Tensors.h"

using namespace calque;
using namespace calque::testing;

namespace {
using Unary = std::function<Tensor(const Tensor &)>;

const TensorSpec<float> anyRows({kDynamic, 2}), anyMatrix({kDynamic, kDynamic});

Tensor counting(const Shape &shape) {
  Size size = 1;
  for (const Size &each : shape)
    size *= each;
  return reshape(iota({size}, DType::Float32), shape);
}

// A body with unknown sizes gives what it gives for known ones, in one trace.
void expectSameAsKnown(const Unary &body, const TensorSpec<> &spec, const std::vector<Shape> &shapes) {
  auto open = function([&](const Tensor &x) { return body(x); }, {.input_signature = {spec}});
  for (const Shape &shape : shapes) {
    SCOPED_TRACE(shape.str());
    Tensor x = counting(shape), found = open(x), expected = body(x);
    ASSERT_EQ(found.shape(), expected.shape());
    ASSERT_EQ(found.dtype(), expected.dtype());
    EXPECT_EQ(valuesOf(found), valuesOf(expected));
  }
  EXPECT_EQ(open.trace_count(), 1);
}
const std::vector<Shape> kRows = {{3, 2}, {1, 2}, {0, 2}, {7, 2}};
} // namespace

TEST(OpenSizes, AShapeIsAContainerOfSizes) {
  Shape shape = {2, std::size_t(3), 4};
  EXPECT_EQ(shape.size(), 3u);
  EXPECT_EQ(shape[1] * 2, 6);
  EXPECT_EQ(shape[1] * shape[2] - shape[0], 10);
  EXPECT_EQ(-shape[0], -2);
  EXPECT_TRUE(shape[0] < shape[1] && shape[1] >= 3 && 2u == shape[0] && shape[0] != shape[1]);
  shape[0] *= 5;
  shape.insert(shape.begin() + 1, 7);
  EXPECT_EQ(shape, (Shape{10, 7, 3, 4}));
  shape.insert(shape.end(), shape.begin(), shape.end());
  EXPECT_EQ(shape, (Shape{10, 7, 3, 4, 10, 7, 3, 4})) << "more than it has room for by itself";
  Shape copy = shape, moved = std::move(shape);
  EXPECT_EQ(copy, moved);
  EXPECT_TRUE(shape.empty());
  moved.erase(moved.begin() + 1, moved.end() - 1);
  EXPECT_EQ(moved, (Shape{10, 4}));
  moved.pop_back();
  EXPECT_EQ(moved, Shape(1, 10));
  moved.pop_back();
  EXPECT_EQ(moved, Shape());
  std::vector<std::int64_t> numbers = copy;
  EXPECT_EQ(numbers, (std::vector<std::int64_t>{10, 7, 3, 4, 10, 7, 3, 4}));
  EXPECT_EQ(Shape(numbers), copy);
  EXPECT_EQ((std::ostringstream() << copy << " " << copy[0]).str(), "[10,7,3,4,10,7,3,4] 10");
  std::int64_t count = 1;
  for (std::int64_t size : zeros({2, 3}).shape())
    count *= size;
  EXPECT_EQ(count, 6);
  EXPECT_CONTAINS(errorOf<ValueError>([] { (void)zeros({2}).shape()[1]; }),
                  "there is no dimension 1 in the shape [2], which has 1");
  EXPECT_CONTAINS(errorOf<ValueError>([] { (void)zeros({}).shape().back(); }),
                  "there is no dimension -1 in the shape []");
  EXPECT_CONTAINS(errorOf<ValueError>([] { zeros({INT64_MIN}); }), "a number that is too small is given as a size");
  EXPECT_CONTAINS(errorOf<ValueError>([] { zeros({UINT64_MAX}); }), "a number that is too large is given as a size");
}

TEST(OpenSizes, AskWhatIsKnownWithoutKnowingIt) {
  auto f = function(
      [](const Tensor &x) {
        Shape shape = x.shape();
        EXPECT_FALSE(shape[0].is_known());
        EXPECT_TRUE(shape[0] == kDynamic);
        EXPECT_FALSE(shape[1] == kDynamic);
        EXPECT_EQ(shape, (Shape{kDynamic, 2}));
        EXPECT_EQ(shape, x.shape());
        EXPECT_NE(shape, (Shape{4, 3})) << "whatever the first size is";
        EXPECT_NE(shape, Shape{2});
        EXPECT_FALSE(shape.is_known());
        EXPECT_EQ(shape[1] + 1, 3);
        EXPECT_EQ(shape.str(), "[?,2]");
        EXPECT_TRUE(shape.is_compatible_with({3, 2}));
        EXPECT_FALSE(shape.is_compatible_with({3, 3}));
        EXPECT_FALSE(x.size().is_known());
        EXPECT_EQ(TensorSpec<float>(shape), TensorSpec<float>({kDynamic, 2}));
        return x;
      },
      {.input_signature = {anyRows}});
  f(ones({3, 2}));
}

TEST(OpenSizes, ShapesArePassedOn) {
  const std::vector<Unary> bodies = {
      [](const Tensor &x) { return x + zeros(x.shape()); },
      [](const Tensor &x) { return ones(x.shape(), DType::Int64); },
      [](const Tensor &x) { return ones(x.shape(), DType::Bool); },
      [](const Tensor &x) { return full(x.shape(), 2.5) * x; },
      [](const Tensor &x) { return full({x.shape()[1], x.shape()[0]}, sum(x)); },
      [](const Tensor &x) { return zeros({x.shape()[0], 10, x.shape()[1], x.shape()[0]}); },
      [](const Tensor &x) { return broadcast_to(sum(x, {0}), x.shape()); },
      [](const Tensor &x) { return broadcast_to(sum(x, {1}, true), x.shape()); },
      [](const Tensor &x) { return broadcast_to(x, {3, x.shape()[0], 2}); },
      [](const Tensor &x) { return broadcast_to(scalar(7), {x.shape()[0]}); },
      [](const Tensor &x) { return reshape(transpose(x), x.shape()); },
      [](const Tensor &x) { return reshape(x, {x.shape()[1], x.shape()[0], 1}); },
      [](const Tensor &x) { return reshape(x, {x.size()}); },
      [](const Tensor &x) { return zeros({x.size(), 2}); },
      [](const Tensor &x) { return iota(x.shape(), DType::Int32, 1) + iota(x.shape(), DType::Int32); },
      [](const Tensor &x) { return iota({x.shape()[0]}, DType::Float64, -1); },
      [](const Tensor &x) { return random::stateless_normal(x.shape(), random::state(3, 1)); },
      [](const Tensor &x) { return random::stateless_uniform({5, x.shape()[0]}, random::state(3, 1), {.maxval = 9}); },
      [](const Tensor &x) {
        return random::stateless_uniform({x.shape()[0], 3}, random::state(3, 1), {.dtype = DType::Float64});
      },
      [](const Tensor &x) { return random::stateless_bernoulli(x.shape(), random::state(3, 1)); },
      [](const Tensor &x) { return one_hot(cast(x, DType::Int32), x.shape()[0], DType::Float32); },
      [](const Tensor &x) { return one_hot(tensor<std::int64_t>({0, 9, -1, 2}), x.size(), DType::Bool); },
  };
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    SCOPED_TRACE("body " + std::to_string(i));
    expectSameAsKnown(bodies[i], anyRows, kRows);
    expectSameAsKnown(bodies[i], anyRows, {{100, 2}});
  }
}

// Real and complex results of sizes that complex tensors have.
TEST(OpenSizes, ShapesOfComplexTensorsArePassedOn) {
  const std::vector<Unary> bodies = {
      [](const Tensor &z) { return z + zeros(z.shape(), z.dtype()); },
      [](const Tensor &z) { return ones(z.shape(), DType::Int64); },
      [](const Tensor &z) { return full({z.shape()[1], z.shape()[0]}, sum(z), z.dtype()); },
      [](const Tensor &z) { return full(z.shape(), sum(real(z)), DType::Float32); },
      [](const Tensor &z) { return zeros({z.size(), 2}); },
      [](const Tensor &z) { return broadcast_to(sum(z, {0}), z.shape()); },
      [](const Tensor &z) { return broadcast_to(scalar(7), {z.shape()[0]}); },
      [](const Tensor &z) { return reshape(transpose(z), z.shape()); },
      [](const Tensor &z) { return reshape(concat({real(z), imag(z)}, 1), {z.shape()[0], 2, 2}); },
      [](const Tensor &z) { return iota(z.shape(), DType::Int32, 1) + iota(z.shape(), DType::Int32); },
      [](const Tensor &z) { return z * cast(iota({z.shape()[0], 1}, DType::Int64), z.dtype()); },
      [](const Tensor &z) { return random::stateless_normal(z.shape(), random::state(3, 1)); },
      [](const Tensor &z) { return one_hot(tensor<std::int64_t>({0, 9, -1, 2}), z.size(), DType::Bool); },
      [](const Tensor &z) { return z / cast(cast(z.shape()[0], DType::Float32) + 1, z.dtype()); },
      [](const Tensor &z) { return real(z) * cast(z.size(), DType::Float32); },
  };
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    SCOPED_TRACE("body " + std::to_string(i));
    auto open = function(
        [&](const Tensor &z) {
          const Tensor y = bodies[i](z);
          return is_complex(y.dtype()) ? stack({real(y), imag(y)}) : y;
        },
        {.input_signature = {TensorSpec<>(DType::Complex64, {kDynamic, 2})}});
    for (const Shape &shape : kRows) {
      const Tensor z = complex(counting(shape), 1 - counting(shape)), found = open(z), expected = bodies[i](z);
      const Tensor parts = is_complex(expected.dtype()) ? stack({real(expected), imag(expected)}) : expected;
      ASSERT_EQ(found.shape(), parts.shape());
      ASSERT_EQ(found.dtype(), parts.dtype());
      EXPECT_EQ(valuesOf(found), valuesOf(parts)) << shape;
    }
    EXPECT_EQ(open.trace_count(), 1);
  }
}

TEST(OpenSizes, OneSizeFollowsFromTheOthers) {
  for (const Unary &body : {
           Unary([](const Tensor &x) { return reshape(x, {x.shape()[0], -1}); }),
           Unary([](const Tensor &x) { return reshape(x * 2, {x.shape()[0], -1, 3}); }),
           Unary([](const Tensor &x) { return reshape(concat({x, x}, 1), {-1, x.shape()[0]}); }),
       })
    expectSameAsKnown(body, TensorSpec<float>({kDynamic, 2, 3}), {{4, 2, 3}, {1, 2, 3}, {9, 2, 3}});
  auto f = function(
      [](const Tensor &x) {
        Tensor rows = reshape(x, {x.shape()[0], -1});
        EXPECT_EQ(rows.shape()[1], 6) << "x's first size is left out on both sides";
        return matmul(rows, ones({6, 1}));
      },
      {.input_signature = {TensorSpec<float>({kDynamic, 2, 3})}});
  expectValues(f(ones({4, 2, 3})), {6, 6, 6, 6});
  auto rows = function([](const Tensor &x, const Tensor &y) { return reshape(y, {x.shape()[0], -1}); },
                       {.input_signature = {anyRows, TensorSpec<float>({kDynamic})}});
  EXPECT_EQ(rows(ones({2, 2}), ones({6})).shape(), (Shape{2, 3}));
  EXPECT_EQ(rows(ones({3, 2}), ones({0})).shape(), (Shape{3, 0}));
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { rows(ones({4, 2}), ones({6})); }), "must be");
}

TEST(OpenSizes, SizesAreNumbersOfOperations) {
  for (const Unary &body : {
           Unary([](const Tensor &x) { return sum(x) / x.shape()[0]; }),
           Unary([](const Tensor &x) { return x.shape()[0] * x; }),
           Unary([](const Tensor &x) { return x - x.size(); }),
           Unary([](const Tensor &x) { return cast(x, DType::Int32) + x.shape()[0]; }),
           Unary([](const Tensor &x) { return cast(x, DType::Int64) * x.size(); }),
           Unary([](const Tensor &x) { return full({2}, x.shape()[0]); }),
           Unary([](const Tensor &x) { return x < x.shape()[0]; }),
       })
    expectSameAsKnown(body, anyRows, {{3, 2}, {1, 2}, {7, 2}});
  auto f =
      function([](const Tensor &x) { return full({2}, x.shape()[0], DType::Bool); }, {.input_signature = {anyRows}});
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { f(ones({2, 2})); }), "a size can't become bool");
}

TEST(OpenSizes, GradientsTangentsAndExamplesPass) {
  const std::vector<Unary> bodies = {
      [](const Tensor &x) { return reshape(x * x, {x.shape()[1], -1}); },
      [](const Tensor &x) { return reshape(x * x, {x.size()}) * iota({x.size()}, DType::Float32); },
      [](const Tensor &x) { return broadcast_to(sum(x * x, {0}), x.shape()) * x; },
      [](const Tensor &x) { return broadcast_to(x * x, {2, x.shape()[0], x.shape()[1]}) * x; },
      [](const Tensor &x) { return x * x * random::stateless_uniform(x.shape(), random::state(1, 2)); },
      [](const Tensor &x) { return x * x / x.shape()[0] + zeros(x.shape()) + x.size(); },
      [](const Tensor &x) { return x * x * sum(one_hot(cast(x, DType::Int64), x.shape()[0], DType::Float32), {2}); },
  };
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    SCOPED_TRACE("body " + std::to_string(i));
    const Unary &body = bodies[i];
    auto loss = [body](const Tensor &x) { return sum(body(x) * 2); };
    expectSameAsKnown([=](const Tensor &x) { return grad(loss)(x); }, anyRows, kRows);
    expectSameAsKnown([=](const Tensor &x) { return jvp(body, x, x + 1).second; }, anyRows, kRows);
    auto each = [body](const Tensor &x) { return vmap(body)(x); };
    TensorSpec<float> all({kDynamic, kDynamic, 2});
    expectSameAsKnown(each, all, {{3, 4, 2}, {1, 2, 2}, {2, 1, 2}});
    expectSameAsKnown([=](const Tensor &x) { return vmap(grad(loss))(x); }, all, {{3, 4, 2}, {2, 1, 2}});
    expectSameAsKnown(each, TensorSpec<float>({3, kDynamic, 2}), {{3, 4, 2}, {3, 1, 2}});
  }
  // Sizes alone are no way for a gradient.
  auto sizes = function(
      [](const Tensor &x) {
        GradientTape tape;
        tape.watch(x);
        EXPECT_FALSE(tape.gradient(sum(zeros(x.shape())) + x.shape()[0], x));
        return x;
      },
      {.input_signature = {anyRows}});
  sizes(ones({2, 2}));
}

TEST(OpenSizes, OfSeveralTensorsAreMixed) {
  auto f = function(
      [](const Tensor &x, const Tensor &y) {
        return full({x.shape()[0], 2, y.shape()[1]}, 1.0f) + expand_dims(x, {2}) * expand_dims(y, {0});
      },
      {.input_signature = {anyRows, TensorSpec<float>({2, kDynamic})}});
  Tensor z = f(full({3, 2}, 2), full({2, 5}, 3));
  EXPECT_EQ(z.shape(), (Shape{3, 2, 5}));
  EXPECT_EQ(valuesOf(z), std::vector<double>(30, 7));
  auto compared = function([](const Tensor &x, const Tensor &y) { return broadcast_to(x, y.shape()); },
                           {.input_signature = {anyRows, anyMatrix}});
  EXPECT_EQ(compared(ones({3, 2}), ones({3, 2})).shape(), (Shape{3, 2}));
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { compared(ones({3, 2}), ones({4, 2})); }),
                  "dimension 0 of argument 0 is 3, and it must be 4");
}

TEST(OpenSizes, ProductsTakeOpenBatches) {
  Tensor one = counting({3, 3}), batched = counting({1, 3, 2}), two = counting({2, 1, 3, 2});
  const std::vector<Unary> bodies = {
      [=](const Tensor &x) { return matmul(x, one); },
      [=](const Tensor &x) { return matmul(one, x, {.transpose_b = true}); },
      [=](const Tensor &x) { return matmul(x, batched); },
      [=](const Tensor &x) { return matmul(x, two); },
      [=](const Tensor &x) { return matmul(x, x, {.transpose_a = true}); },
      [=](const Tensor &x) { return matmul(x, one, {.transpose_b = true}); },
      [=](const Tensor &x) { return matmul(x, counting({2, 5}), {.transpose_a = true}); },
      [=](const Tensor &x) { return matmul(x, counting({4, 3, 2})); },
  };
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    SCOPED_TRACE("body " + std::to_string(i));
    expectSameAsKnown(bodies[i], TensorSpec<float>({kDynamic, 2, 3}),
                      i == 7 ? std::vector<Shape>{{4, 2, 3}} : std::vector<Shape>{{4, 2, 3}, {1, 2, 3}, {7, 2, 3}});
  }
  auto both =
      function([](const Tensor &x, const Tensor &y) { return matmul(x, y); },
               {.input_signature = {TensorSpec<float>({kDynamic, 1, 2, 3}), TensorSpec<float>({kDynamic, 3, 2})}});
  EXPECT_EQ(both(ones({4, 1, 2, 3}), ones({5, 3, 2})).shape(), (Shape{4, 5, 2, 2}));
}

TEST(OpenSizes, AsNumbersOfCAreErrorsThatNameThem) {
  auto line = [](const std::string &text, int offset) {
    EXPECT_CONTAINS(text, "OpenSizesTest.cpp:" + std::to_string(offset));
  };
  int at = 0;
  auto copied = function(
      [&](const Tensor &x) {
        at = __LINE__ + 1;
        return tensor(std::vector<std::int64_t>(x.shape()));
      },
      {.input_signature = {anyRows}});
  std::string text = errorOf<StateError>([&] { copied(ones({2, 2})); });
  EXPECT_CONTAINS(text,
                  "dimension 0 of argument 0, float32[?,2], is not known while tracing and is used as a C++ number");
  line(text, at);
  int made = 0;
  auto computed = function(
      [&](const Tensor &x) {
        made = __LINE__ + 1;
        Tensor y = concat({x, x});
        at = __LINE__ + 1;
        return x / (y.shape()[0] + 1);
      },
      {.input_signature = {anyRows}});
  text = errorOf<StateError>([&] { computed(ones({2, 2})); });
  EXPECT_CONTAINS(text, "dimension 0 of float32[?,2], made at ");
  line(text, made);
  line(text, at);
  auto refused = [&](auto body, const char *part) {
    auto f = function([&](const Tensor &x) { return body(x), x; }, {.input_signature = {anyRows}});
    EXPECT_CONTAINS(errorOf<StateError>([&] { f(ones({2, 2})); }), part);
  };
  refused([](const Tensor &x) { return static_cast<float>(x.size()); },
          "the number of elements of argument 0, float32[?,2], is not known while tracing");
  refused([](const Tensor &x) { return x.shape()[0] == 1; }, "dimension 0 of argument 0");
  refused([](const Tensor &x) { return x.shape()[0] == x.shape()[1]; },
          "dimension 0 of argument 0, float32[?,2], is not known while tracing, nor is whether it equals 2");
  refused([](const Tensor &x) { return x.shape() == (x + 1).shape(); },
          "nor is whether it equals dimension 0 of float32");
  refused([](const Tensor &x) { return x.shape() == Shape{3, 2}; }, "nor is whether it equals 3");
  auto equal = function([](const Tensor &x, const Tensor &y) { return x.shape()[0] == y.shape()[0] ? x : y; },
                        {.input_signature = {anyRows, anyRows}});
  EXPECT_CONTAINS(errorOf<StateError>([&] { equal(ones({2, 2}), ones({2, 2})); }),
                  "whether it equals dimension 0 of argument 1, float32[?,2]; is_known()");
  refused([](const Tensor &x) { return eye(x.shape()[0]); }, "dimension 0 of argument 0");
  EXPECT_CONTAINS(errorOf<ValueError>([] { return 2 * kDynamic; }), "kDynamic is used as a number");
  EXPECT_CONTAINS(errorOf<ValueError>([] { zeros({kDynamic}); }), "kDynamic is the size of a tensor");
  EXPECT_CONTAINS(errorOf<ValueError>([] { reshape(zeros({2}), {kDynamic}); }), "kDynamic is the size of a tensor");
  EXPECT_CONTAINS(errorOf<ValueError>([] { zeros({2}) * kDynamic; }), "kDynamic is used as a number");
  // A size of a trace outside of it.
  Size kept;
  auto keeps = function([&](const Tensor &x) { return kept = x.shape()[0], x; }, {.input_signature = {anyRows}});
  keeps(ones({2, 2}));
  EXPECT_CONTAINS(errorOf<LeakedTensorError>([&] { zeros({kept}); }), "outside of the trace that made it");
  EXPECT_CONTAINS(errorOf<LeakedTensorError>([&] { zeros({2}) * kept; }), "outside of the trace that made it");
}

TEST(OpenSizes, OfHostArgumentsAreValues) {
  int traces = 0;
  auto f = function([&](const Tensor &x, const Shape &shape) { return ++traces, broadcast_to(x, shape); });
  EXPECT_EQ(f(ones({1}), Shape{3}).shape(), Shape{3});
  EXPECT_EQ(f(ones({1}), Shape{3}).shape(), Shape{3});
  EXPECT_EQ(f(ones({1}), Shape{4}).shape(), Shape{4});
  EXPECT_EQ(traces, 2);
}

TEST(OpenSizes, TheLeastIntegerIsANumberLikeOthers) {
  Tensor x = tensor<std::int64_t>({INT64_MIN, 1});
  EXPECT_EQ((x == INT64_MIN).to_vector<bool>(), (std::vector<bool>{true, false}));
  EXPECT_EQ(full({2}, INT64_MIN, DType::Int64).to_vector<std::int64_t>(), (std::vector<std::int64_t>(2, INT64_MIN)));
  EXPECT_EQ((zeros({1}) + INT64_MIN).item<float>(), -0x1p63f);
  EXPECT_EQ((zeros({1}) + -0x1p63).item<float>(), -0x1p63f);
  auto f = function([](const Tensor &y) { return y + INT64_MIN; });
  EXPECT_EQ(f(tensor<std::int64_t>({1})).item<std::int64_t>(), INT64_MIN + 1);
  EXPECT_EQ(pad(x, {0}, {1}, INT64_MIN).to_vector<std::int64_t>()[2], INT64_MIN);
}

TEST(OpenSizes, ThatOperationsTakeDoNotEndRelaxedTraces) {
  for (const Unary &body : {
           Unary([](const Tensor &x) { return x * x.shape()[1]; }),
           Unary([](const Tensor &x) { return x * static_cast<float>(x.shape()[1]); }),
           Unary([](const Tensor &x) { return x + zeros(x.shape()); }),
           Unary([](const Tensor &x) { return reshape(x, {x.shape()[0], -1}); }),
           Unary([](const Tensor &x) { return sum(x) / x.size(); }),
           Unary([](const Tensor &x) { return x.shape()[0].is_known() ? x : x * 1; }),
       }) {
    auto f = function([&](const Tensor &x) { return body(x); }, {.reduce_retracing = true});
    for (std::int64_t rows : {2, 3, 4, 5}) {
      Tensor x = counting({rows, 2});
      EXPECT_EQ(valuesOf(f(x)), valuesOf(body(x)));
    }
    EXPECT_EQ(f.trace_count(), 2);
  }
  for (const Unary &body : {
           Unary([](const Tensor &x) { return x * static_cast<float>(x.shape()[0]); }),
           Unary([](const Tensor &x) { return x.shape()[0] == 3 ? x : x * 2; }),
           Unary([](const Tensor &x) { return x.shape() == Shape{3, 2} ? x : x * 2; }),
           Unary([](const Tensor &x) { return x * static_cast<float>(x.size()); }),
       }) {
    auto f = function([&](const Tensor &x) { return body(x); }, {.reduce_retracing = true});
    for (std::int64_t rows : {2, 3, 4}) {
      Tensor x = counting({rows, 2});
      EXPECT_EQ(valuesOf(f(x)), valuesOf(body(x)));
    }
    EXPECT_EQ(f.trace_count(), 3);
    EXPECT_CONTAINS(f.explain_retraces().front().note, "the lambda asks for a size");
  }
}

TEST(OpenSizes, SplitIntoPartsThatACallKnows) {
  auto f = function(
      [](const Tensor &x) {
        std::vector<Tensor> parts = split(x, {2, -1}, 0);
        return std::pair(sum(parts[0]), parts[1] * 2);
      },
      {.input_signature = {TensorSpec<float>({kDynamic, 2})}});
  for (std::int64_t n : {2, 3, 7}) {
    Tensor x = reshape(iota({2 * n}, DType::Float32), {n, 2});
    auto [first, rest] = f(x);
    EXPECT_EQ(first.item<float>(), 6);
    EXPECT_EQ(rest.shape(), Shape({n - 2, 2}));
    expectSameBits(rest, split(x, {2, n - 2})[1] * 2);
  }
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { f(ones({1, 2})); }), "split");
  auto exact = function([](const Tensor &x) { return split(x, {2, 1})[1]; },
                        {.input_signature = {TensorSpec<float>({kDynamic})}});
  EXPECT_EQ(exact(tensor({1.f, 2.f, 3.f})).item<float>(), 3);
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { exact(ones({4})); }), "split");
}
// What a variable of known sizes is assigned says that an open one equals them.
TEST(Cond, AssignsOpenSizesToVariablesOfKnownOnes) {
  Variable v(zeros({3}), {.name = "v"});
  auto f = function(
      [&](const Tensor &x) {
        return cond(
            sum(x) > 0,
            [&] {
              v.assign_add(x);
              return x * 2;
            },
            [&] { return x; });
      },
      {.input_signature = {TensorSpec<float>({kDynamic})}});
  expectValues(f(ones({3})), {2, 2, 2});
  expectValues(v.value(), {1, 1, 1});
  expectValues(f(-ones({3})), {-1, -1, -1});
  expectValues(v.value(), {1, 1, 1});
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { f(ones({4})); }), "they must be equal");
  expectValues(v.value(), {1, 1, 1});
}
