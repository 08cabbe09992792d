// What the tests of single operations don't reach: operations without a public function or with effects, for many
// examples and in forward mode.
#include "test/operations/Testing.h"

using namespace calque;
using namespace calque::testing;

TEST(Transforms, CastsManyExamples) {
  std::mt19937 random(1);
  std::vector<BatchedCall> calls;
  for (DType from : {DType::Bool, DType::Int64, DType::Float32})
    calls.push_back({[](const std::vector<Tensor> &x) {
                       std::vector<Tensor> results;
                       for (DType to : {DType::Bool, DType::Int32, DType::Float64})
                         results.push_back(cast(x[0], to));
                       return results;
                     },
                     {cast(randomTensor(random, {5}), from)},
                     true});
  expectBatched(calls);
}

TEST(Transforms, StopsGradientsOfManyExamples) {
  std::mt19937 random(2);
  Body f = [](const std::vector<Tensor> &x) { return x[0] * stop_gradient(x[0]); };
  Tensor x = randomTensor(random, {5});
  expectBatched({batchedDerivatives(f, {x})});
  // x held constant in one factor
  auto [y, dy] = jvp([&](const Tensor &a) { return f({a}); }, x, ones({5}, DType::Float64));
  EXPECT_EQ(valuesOf(dy), valuesOf(x));
}

TEST(Transforms, DrawsForEachExample) {
  Body uniform = [](const std::vector<Tensor> &x) {
    return random::stateless_uniform({5}, x[0], {.dtype = DType::Float64});
  };
  expectBatched(
      {{[&](const std::vector<Tensor> &x) { return std::vector<Tensor>{uniform(x)}; }, {random::state(7, 11)}, true}});
}

TEST(Transforms, CallsTheHostForEachExample) {
  auto twice = [](const Tensor &x) {
    return host_call([](std::span<const Tensor> in) { return in[0] + in[0]; }, {x}, {TensorSpec<double>({2})});
  };
  Tensor x = tensor<double>({1, 2, 3, 4, 5, 6}, {3, 2});
  EXPECT_EQ(valuesOf(vmap(twice)(x)), (std::vector<double>{2, 4, 6, 8, 10, 12}));
  auto f = function([&](const Tensor &rows) { return vmap(twice)(rows); });
  EXPECT_EQ(valuesOf(f(x)), (std::vector<double>{2, 4, 6, 8, 10, 12}));
}

TEST(Transforms, PrintsEachExampleInOrder) {
  Tensor x = tensor<float>({1, 2, 3, 4}, {2, 2});
  auto f = function([](const Tensor &all) {
    return vmap([](const Tensor &row) {
      print("row", row);
      return sum(row);
    })(all);
  });
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(valuesOf(f(x)), (std::vector<double>{3, 7}));
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "row [1. 2.]\nrow [3. 4.]\n");
}

TEST(Transforms, AssertsOfEveryExample) {
  auto f = function([](const Tensor &all) {
    return vmap([](const Tensor &row) {
      assert_true(sum(row) > 0, "a row's sum");
      return row;
    })(all);
  });
  EXPECT_EQ(valuesOf(f(ones({2, 3}))), std::vector<double>(6, 1));
  EXPECT_THROW(f(tensor<float>({1, 2, 1, -2}, {2, 2})), AssertionError);
}

TEST(Transforms, OfNoExamples) {
  auto f = function([](const Tensor &images, const Tensor &filters, const Tensor &indices) {
    auto one = [](const Tensor &x, const Tensor &w, const Tensor &i) {
      return std::vector<Tensor>{conv2d(x, w), max_pool2d(x, {2, 2}, {1, 1}), gather(x, i, 1), sum(x),
                                 softmax(x),   broadcast_to(x, {2, 4, 4, 1})};
    };
    return vmap(one)(images, filters, indices);
  });
  std::vector<Tensor> none = f(zeros({0, 1, 4, 4, 1}), zeros({0, 3, 3, 1, 2}), zeros({0, 7}, DType::Int64));
  const std::vector<Shape> shapes = {{0, 1, 2, 2, 2}, {0, 1, 3, 3, 1}, {0, 1, 7, 4, 1}, {0},
                                     {0, 1, 4, 4, 1}, {0, 2, 4, 4, 1}};
  ASSERT_EQ(none.size(), shapes.size());
  for (std::size_t i = 0; i < shapes.size(); ++i)
    EXPECT_EQ(none[i].shape(), shapes[i]) << "result " << i;
}

// A convolution is linear in its images, and does each image on its own.
TEST(Transforms, JoinsAndPartsOpenDimensions) {
  std::mt19937 random(12);
  Tensor w = randomTensor(random, {2, 3, 2, 4}), x = randomTensor(random, {2, 3, 4, 5, 2}),
         t = randomTensor(random, {2, 3, 4, 5, 2});
  auto each = [&](const Tensor &all) { return vmap([&](const Tensor &images) { return conv2d(images, w); })(all); };
  auto expected = [&](const Tensor &all, Shape shape) {
    return valuesOf(reshape(conv2d(reshape(all, {-1, 4, 5, 2}), w), std::move(shape)));
  };
  auto expectEqual = [](const std::vector<double> &found, const std::vector<double> &wanted) {
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i], wanted[i], 1e-12 * (1 + std::fabs(wanted[i]))) << "element " << i;
  };
  TensorSpec<double> five({kDynamic, kDynamic, kDynamic, kDynamic, 2}),
      six({kDynamic, kDynamic, kDynamic, kDynamic, kDynamic, 2});
  auto tangents = function([&](const Tensor &a, const Tensor &b) { return jvp(each, a, b).second; },
                           {.name = "tangents", .input_signature = {five, five}});
  expectEqual(valuesOf(tangents(x, t)), expected(t, {2, 3, 3, 3, 4}));
  auto many =
      function([&](const Tensor &all) { return vmap(each)(all); }, {.name = "many_examples", .input_signature = {six}});
  Tensor stacked = randomTensor(random, {3, 2, 2, 4, 5, 2});
  expectEqual(valuesOf(many(stacked)), expected(stacked, {3, 2, 2, 3, 3, 4}));
}
