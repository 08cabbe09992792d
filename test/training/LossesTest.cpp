#include "Testing.h"

using namespace calque;
using namespace calque::testing;
using losses::sparse_categorical_crossentropy;

namespace {
constexpr std::size_t kExamples = 5, kClasses = 3;
const std::vector<std::int32_t> labels = {2, 0, 1, 1, 2};
Tensor labelTensor() { return tensor(labels, {5}); }

Tensor logitTensor() {
  std::mt19937 random(1);
  return randomTensor(random, {kExamples, kClasses}, -3, 3);
}

std::vector<double> expectedLosses(const Tensor &logits) {
  std::vector<double> x = valuesOf(logits), losses;
  for (std::size_t i = 0; i < kExamples; ++i) {
    double total = 0;
    for (std::size_t c = 0; c < kClasses; ++c)
      total += std::exp(x[i * kClasses + c]);
    losses.push_back(std::log(total) - x[i * kClasses + static_cast<std::size_t>(labels[i])]);
  }
  return losses;
}
} // namespace

TEST(SparseCategoricalCrossentropy, OfLogits) {
  std::vector<double> expected = expectedLosses(logitTensor());
  double total = 0;
  for (double loss : expected)
    total += loss;
  Tensor x = logitTensor(), y = labelTensor();
  expectNear(sparse_categorical_crossentropy(y, x, {.from_logits = true, .reduction = losses::Reduction::None}),
             expected);
  expectNear(sparse_categorical_crossentropy(y, x, {.from_logits = true, .reduction = losses::Reduction::Sum}),
             {total});
  expectNear(sparse_categorical_crossentropy(y, x, {.from_logits = true}), {total / kExamples});
  expectNear(sparse_categorical_crossentropy(cast(reshape(y, {5, 1}), DType::Int64), x, {.from_logits = true}),
             {total / kExamples});
  expectNear(sparse_categorical_crossentropy(y, cast(x, DType::Float32), {.from_logits = true}), {total / kExamples},
             1e-6);
  auto f = function(
      [](const Tensor &y, const Tensor &x) { return sparse_categorical_crossentropy(y, x, {.from_logits = true}); });
  expectNear(f(y, x), {total / kExamples});
}

TEST(SparseCategoricalCrossentropy, OfLargeLogitsIsFinite) {
  Tensor x = tensor<float>({1000, 0, -1000, 0}, {2, 2});
  expectNear(sparse_categorical_crossentropy(tensor<int>({0, 0}), x, {.from_logits = true}), {500});
}

// Expected values: log(1 + exp(-d)) of two logits that are d apart, and its limits.
TEST(SparseCategoricalCrossentropy, OfLargeAndInfiniteLogitsIsExact) {
  const float infinity = std::numeric_limits<float>::infinity();
  struct Case {
    std::vector<float> logits;
    double loss;
    std::vector<double> gradient;
  };
  for (const Case &c : {Case{{10000, 10000.5f}, 0.97407698418010669, {-0.62245933120185457, 0.62245933120185457}},
                        Case{{-1e6f, -1e6f}, 0.69314718055994531, {-0.5, 0.5}}, Case{{0, -infinity}, 0, {0, 0}},
                        Case{{3, -infinity, 3}, 0.69314718055994531, {-0.5, 0, 0.5}}, Case{{-500, 0}, 500, {-1, 1}},
                        Case{{30, 0}, 9.3576229688401746e-14, {0, 9.3576229688392989e-14}}}) {
    Tensor x = tensor(c.logits, {1, static_cast<std::int64_t>(c.logits.size())}), y = tensor<int>({0});
    auto loss = [&](const Tensor &logits) { return sparse_categorical_crossentropy(y, logits, {.from_logits = true}); };
    SCOPED_TRACE(c.loss);
    expectNear(loss(x), {c.loss}, 1e-6);
    expectNear(function(loss)(x), {c.loss}, 1e-6);
    expectNear(grad(loss)(x), c.gradient, 1e-7);
  }
  EXPECT_EQ(
      sparse_categorical_crossentropy(tensor<int>({0}), tensor<float>({-infinity, 0}, {1, 2}), {.from_logits = true})
          .item<float>(),
      infinity);
}

TEST(SparseCategoricalCrossentropy, OfProbabilities) {
  Tensor x = logitTensor(), y = labelTensor();
  double fromLogits = sparse_categorical_crossentropy(y, x, {.from_logits = true}).item<double>();
  expectNear(sparse_categorical_crossentropy(y, softmax(x)), {fromLogits}, 1e-9);
  expectNear(sparse_categorical_crossentropy(y, softmax(x) * 0.5), {fromLogits}, 1e-9); // need not add up to 1
  // A probability of 0 counts as 1e-7.
  expectNear(sparse_categorical_crossentropy(tensor<int>({0}), tensor<double>({0, 1}, {1, 2})), {-std::log(1e-7)},
             1e-7);
}

TEST(SparseCategoricalCrossentropy, HasTheGradientOfItsDifferences) {
  Tensor y = labelTensor();
  expectGradients(
      [&](const std::vector<Tensor> &x) { return sparse_categorical_crossentropy(y, x[0], {.from_logits = true}); },
      {logitTensor()});
  expectGradients([&](const std::vector<Tensor> &x) { return sparse_categorical_crossentropy(y, x[0]); },
                  {softmax(logitTensor())});
}

TEST(SparseCategoricalCrossentropy, RefusesALabelOutsideTheClasses) {
  Tensor x = logitTensor();
  for (int label : {-1, 3}) {
    Tensor y = tensor<int>({0, 1, label, 0, 0});
    EXPECT_MISUSE(IndexError, sparse_categorical_crossentropy(y, x, {.from_logits = true}),
                  std::to_string(label) + " is out of range [0, 3)");
    auto f = function(
        [](const Tensor &y, const Tensor &x) { return sparse_categorical_crossentropy(y, x, {.from_logits = true}); });
    EXPECT_CONTAINS(errorOf<IndexError>([&] { f(y, x); }), std::to_string(label) + " is out of range [0, 3)");
  }
}

TEST(SparseCategoricalCrossentropy, RefusesShapesAndTypesThatDontFit) {
  Tensor x = logitTensor(), y = labelTensor();
  EXPECT_MISUSE(ShapeError, sparse_categorical_crossentropy(ones({4}, DType::Int32), x), "int32[4] and float64[5,3]");
  EXPECT_MISUSE(ShapeError, sparse_categorical_crossentropy(y, 0.5f), "int32[5] and float32[]");
  EXPECT_MISUSE(ShapeError, sparse_categorical_crossentropy(y, zeros({5, 0})), "at least one class");
  EXPECT_MISUSE(DTypeError, sparse_categorical_crossentropy(ones({5}), x), "takes integer labels");
  EXPECT_MISUSE(DTypeError, sparse_categorical_crossentropy(y, ones({5, 3}, DType::Int32)),
                "floating-point predictions");
}
