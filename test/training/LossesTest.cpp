#include "Testing.h"

using namespace calque;
using namespace calque::testing;

namespace {
const losses::SparseCategoricalCrossentropy ofLogits({.from_logits = true}), ofProbabilities;

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
  expectNear(losses::sparse_categorical_crossentropy(y, x, {.from_logits = true}), expected);
  expectNear(losses::SparseCategoricalCrossentropy({.from_logits = true}, {.reduction = losses::Reduction::Sum})(y, x),
             {total});
  expectNear(ofLogits(y, x), {total / kExamples});
  expectNear(ofLogits(cast(reshape(y, {5, 1}), DType::Int64), x), {total / kExamples});
  expectNear(ofLogits(y, cast(x, DType::Float32)), {total / kExamples}, 1e-6);
  auto f = function([](const Tensor &y, const Tensor &x) { return ofLogits(y, x); });
  expectNear(f(y, x), {total / kExamples});
}

TEST(SparseCategoricalCrossentropy, OfLargeLogitsIsFinite) {
  Tensor x = tensor<float>({1000, 0, -1000, 0}, {2, 2});
  expectNear(ofLogits(tensor<int>({0, 0}), x), {500});
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
    auto loss = [&](const Tensor &logits) { return ofLogits(y, logits); };
    SCOPED_TRACE(c.loss);
    expectNear(loss(x), {c.loss}, 1e-6);
    expectNear(function(loss)(x), {c.loss}, 1e-6);
    expectNear(grad(loss)(x), c.gradient, 1e-7);
  }
  EXPECT_EQ(ofLogits(tensor<int>({0}), tensor<float>({-infinity, 0}, {1, 2})).item<float>(), infinity);
}

TEST(SparseCategoricalCrossentropy, OfProbabilities) {
  Tensor x = logitTensor(), y = labelTensor();
  double fromLogits = ofLogits(y, x).item<double>();
  expectNear(ofProbabilities(y, softmax(x)), {fromLogits}, 1e-9);
  expectNear(ofProbabilities(y, softmax(x) * 0.5), {fromLogits}, 1e-9); // need not add up to 1
  // A probability of 0 counts as 1e-7.
  expectNear(ofProbabilities(tensor<int>({0}), tensor<double>({0, 1}, {1, 2})), {-std::log(1e-7)}, 1e-7);
}

TEST(SparseCategoricalCrossentropy, HasTheGradientOfItsDifferences) {
  Tensor y = labelTensor();
  expectGradients([&](const std::vector<Tensor> &x) { return ofLogits(y, x[0]); }, {logitTensor()});
  expectGradients([&](const std::vector<Tensor> &x) { return ofProbabilities(y, x[0]); }, {softmax(logitTensor())});
}

TEST(SparseCategoricalCrossentropy, RefusesALabelOutsideTheClasses) {
  Tensor x = logitTensor();
  for (int label : {-1, 3}) {
    Tensor y = tensor<int>({0, 1, label, 0, 0});
    EXPECT_MISUSE(IndexError, ofLogits(y, x), std::to_string(label) + " is out of range [0, 3)");
    auto f = function([](const Tensor &y, const Tensor &x) { return ofLogits(y, x); });
    EXPECT_CONTAINS(errorOf<IndexError>([&] { f(y, x); }), std::to_string(label) + " is out of range [0, 3)");
  }
}

TEST(SparseCategoricalCrossentropy, RefusesShapesAndTypesThatDontFit) {
  Tensor x = logitTensor(), y = labelTensor();
  EXPECT_MISUSE(ShapeError, ofProbabilities(ones({4}, DType::Int32), x), "int32[4] and float64[5,3]");
  EXPECT_MISUSE(ShapeError, ofProbabilities(y, 0.5f), "int32[5] and float32[]");
  EXPECT_MISUSE(ShapeError, ofProbabilities(y, zeros({5, 0})), "with at least one class, not int32[5] and");
  EXPECT_MISUSE(DTypeError, ofProbabilities(ones({5}), x), "takes integer labels");
  EXPECT_MISUSE(DTypeError, ofProbabilities(y, ones({5, 3}, DType::Int32)), "floating-point predictions");
}

//===-- Loss objects ------------------------------------------------------------------------------===//
namespace {
struct CustomMSE : losses::Loss {
  double factor;
  explicit CustomMSE(double factor, losses::LossOptions options = {.name = "custom_mse"})
      : Loss(std::move(options)), factor(factor) {}

protected:
  Tensor call(const Tensor &y_true, const Tensor &y_pred) const override {
    return mean(square(y_true - y_pred), {-1}) + factor * mean(square(0.5 - y_pred), {-1});
  }
};
} // namespace

TEST(Loss, IsSubclassed) {
  CustomMSE loss(0.1);
  Tensor y = tensor<float>({1, 0});
  EXPECT_FLOAT_EQ(loss(y, tensor<float>({.5f, .5f})).item<float>(), 0.25f);
  EXPECT_FLOAT_EQ(loss(y, tensor<float>({1, 0})).item<float>(), 0.025f);
  EXPECT_EQ(loss.name(), "custom_mse");
  losses::AnyLoss any = loss;
  EXPECT_FLOAT_EQ(any(y, tensor<float>({1, 0})).item<float>(), 0.025f);
}

TEST(Loss, DividesByTheNumberOfExamples) {
  // Losses 1 and 4.
  Tensor y = zeros({2, 1}), p = tensor<float>({1, 2}, {2, 1}), w = tensor<float>({1, 3});
  EXPECT_EQ(losses::MeanSquaredError()(y, p, {.sample_weight = w}).item<float>(), (1 + 12) / 2.0f);
  EXPECT_EQ(losses::MeanSquaredError({.reduction = losses::Reduction::Sum})(y, p, {.sample_weight = w}).item<float>(),
            13);
  EXPECT_EQ(losses::MeanSquaredError({.reduction = losses::Reduction::MeanWithSampleWeight})(y, p, {.sample_weight = w})
                .item<float>(),
            13 / 4.0f);
  expectValues(losses::MeanSquaredError({.reduction = losses::Reduction::None})(y, p, {.sample_weight = w}), {1, 12});
  EXPECT_EQ(losses::MeanSquaredError()(y, p, {.sample_weight = scalar(2.0f)}).item<float>(), 5);
  // A mask takes out of the number; a weight of 0 does not, and hides an infinite loss.
  EXPECT_EQ(losses::MeanSquaredError()(y, p, {.mask = tensor<bool>({false, true})}).item<float>(), 4);
  EXPECT_EQ(losses::MeanSquaredError()(y, p, {.mask = tensor<bool>({false, false})}).item<float>(), 0);
  Tensor far = tensor<float>({1, std::numeric_limits<float>::infinity()}, {2, 1});
  EXPECT_EQ(losses::MeanSquaredError()(y, far, {.sample_weight = tensor<float>({1, 0})}).item<float>(), 0.5f);
  // Weights of examples fit losses of more dimensions: (1 + 1 + 3 * 4 + 3 * 4) / 4.
  Tensor steps = tensor<float>({1, 1, 2, 2}, {2, 2, 1});
  EXPECT_EQ(losses::MeanSquaredError()(zeros({2, 2, 1}), steps, {.sample_weight = w}).item<float>(), 6.5f);
}

TEST(Loss, IgnoresAClassInTheMeanToo) {
  losses::SparseCategoricalCrossentropy loss({.from_logits = true, .ignore_class = -1});
  Tensor y = tensor<int>({-1, 1, -1});
  EXPECT_FLOAT_EQ(loss(y, zeros({3, 4})).item<float>(), std::log(4.0f));
  EXPECT_MISUSE(IndexError, loss(tensor<int>({-1, -2, 0}), zeros({3, 4})),
                "sparse_categorical_crossentropy: label -2 is out of range [0, 4)");
}

TEST(Loss, HasNames) {
  Tensor y = zeros({2, 3}), p = ones({2, 3});
  for (const char *name : {"mse", "MeanSquaredError", "mean_squared_error"})
    EXPECT_EQ(losses::get(name)(y, p).item<float>(), 1) << name;
  EXPECT_EQ(losses::get("kld").name(), "kl_divergence");
  losses::AnyLoss function = losses::huber, lambda = [](const Tensor &a, const Tensor &b) { return sum(abs(a - b)); };
  EXPECT_EQ(function(y, p).item<float>(), 0.5f);
  EXPECT_EQ(lambda(y, p).item<float>(), 6);
  EXPECT_MISUSE(LookupError, losses::get("mean"), "losses: no loss has the name 'mean'; the nearest are ");
}

// Whether a function has options or not, it is given as it is: to all outputs, to each, by name, and as a metric.
TEST(Loss, TakesEveryFunction) {
  using namespace losses;
  const Tensor x = ones({4, 2}), y = tensor<float>({{1, 0}, {0, 1}, {1, 0}, {0, 1}});
  auto lossOf = [&](PerOutput<AnyLoss> loss) {
    Sequential model({layers::Dense(2, {.activation = "softmax", .kernel_initializer = "zeros"})});
    model.compile({.loss = std::move(loss)});
    return model.evaluate(x, y, {.verbose = 0}).at("loss");
  };
  EXPECT_NEAR(lossOf(categorical_crossentropy), std::log(2.0), 1e-6);
  EXPECT_NEAR(lossOf({categorical_crossentropy}), std::log(2.0), 1e-6);
  EXPECT_NEAR(lossOf({mean_squared_error}), 0.25, 1e-6);
  for (PerOutput<AnyLoss> loss : std::initializer_list<PerOutput<AnyLoss>>{
           mean_squared_error, mean_absolute_error, mean_absolute_percentage_error, mean_squared_logarithmic_error,
           huber, log_cosh, binary_crossentropy, binary_focal_crossentropy, categorical_crossentropy,
           categorical_focal_crossentropy, kl_divergence, poisson, hinge, squared_hinge, categorical_hinge,
           cosine_similarity}) {
    EXPECT_FALSE(loss.all()->function().empty()); // by which a saved model has it
    EXPECT_TRUE(std::isfinite(lossOf(loss)));
  }
  PerOutput<AnyLoss> sparse = sparse_categorical_crossentropy, named = {{"a", huber}, {"b", poisson}},
                     list = {huber, std::nullopt};
  EXPECT_EQ(sparse.all()->function(), "sparse_categorical_crossentropy");
  EXPECT_EQ(named.map().at("a")->function(), "huber");
  EXPECT_EQ(list.list()[0]->function(), "huber");

  // As Keras' functions, a metric is the mean of a function's values.
  Sequential model({layers::Dense(2, {.kernel_initializer = "zeros"})});
  auto twice = [](const Tensor &a, const Tensor &b) { return 2 * sum(abs(a - b), -1); };
  model.compile({.loss = huber, .metrics = {mean_absolute_error, huber, "mse", twice}});
  const Logs logs = model.evaluate(x, y, {.verbose = 0});
  EXPECT_NEAR(logs.at("mean_absolute_error"), 0.5, 1e-6);
  EXPECT_NEAR(logs.at("huber"), 0.25, 1e-6);
  EXPECT_NEAR(logs.at("metric"), 2, 1e-6);
  MetricsOption one = cosine_similarity;
  const metrics::Metric cosine = *one.lists()[0][0].metric();
  EXPECT_NEAR(metrics::deserialize(metrics::serialize(cosine, {}), {})(y, 2 * y).item<float>(), -1, 1e-6);
}

// Where a label has next to no probability all of it is missing, and what is left is the crossentropy.
TEST(Loss, FocalOfLargeLogitsIsTheCrossentropy) {
  auto focal = [](const Tensor &t) {
    return [t](const Tensor &z) {
      return sum(losses::categorical_focal_crossentropy(t, z, {.from_logits = true, .alpha = 0.25}));
    };
  };
  const Tensor label = tensor<float>({0, 1, 0}, {1, 3}), z = tensor<float>({3e38f, -3e38f, 0}, {1, 3});
  expectValues(grad(focal(label))(z), {0.25, -0.25, 0});
  expectValues(jvp(focal(label), z, tensor<float>({1, 2, 3}, {1, 3})).second, {-0.25});
  const Tensor last = tensor<float>({0, 0, 1}, {1, 3}), near = tensor<float>({20, 0, -20}, {1, 3});
  expectNear(focal(last)(near), {10}, 1e-6);
  expectNear(grad(focal(last))(near), {0.25, 0, -0.25}, 1e-6);
}

TEST(Loss, FocalHasGradientsWhereNothingIsMissing) {
  using namespace losses;
  Tensor y = tensor<double>({1, 0, 0}, {1, 3}), logits = tensor<double>({900, -900, 0}, {1, 3});
  for (double gamma : {0.5, 1.0, 2.0}) {
    auto slope = [&](auto loss) { return valuesOf(grad([&](const Tensor &x) { return sum(loss(x)); })(logits)); };
    for (double each : slope([&](const Tensor &x) {
           return categorical_focal_crossentropy(y, x, {.from_logits = true, .gamma = gamma});
         }))
      EXPECT_TRUE(std::isfinite(each)) << gamma;
    for (double each :
         slope([&](const Tensor &x) { return binary_focal_crossentropy(y, x, {.from_logits = true, .gamma = gamma}); }))
      EXPECT_TRUE(std::isfinite(each)) << gamma;
  }
}

TEST(Loss, RefusesWhatDoesNotFit) {
  using namespace losses;
  Tensor x = ones({4, 3});
  EXPECT_MISUSE(ShapeError, mean_squared_error(ones({4, 2}), x),
                "mean_squared_error: takes targets and predictions of one shape, not float32[4,2] and float32[4,3]");
  EXPECT_MISUSE(DTypeError, mean_squared_error(x, ones({4, 3}, DType::Int32)),
                "mean_squared_error: takes targets and floating-point predictions, not float32[4,3] and int32[4,3]");
  EXPECT_MISUSE(
      ShapeError, MeanSquaredError()(x, x, {.sample_weight = ones({3})}),
      "mean_squared_error: weights float32[3] must have the first dimensions of the examples' values float32[4]");
  EXPECT_MISUSE(ShapeError, MeanSquaredError()(x, x, {.mask = ones({4, 3}, DType::Bool)}), "a mask bool[4,3] must");
  EXPECT_MISUSE(ValueError, huber(x, x, {.delta = 0}), "huber: delta is finite and above 0, unlike 0");
  EXPECT_MISUSE(ValueError, binary_crossentropy(x, x, {.label_smoothing = 2}),
                "binary_crossentropy: the label smoothing is in [0, 1], unlike 2");
  EXPECT_MISUSE(ValueError, categorical_crossentropy(x, x, {.label_smoothing = 0.1, .axis = 2}),
                "categorical_crossentropy: predictions of rank 2 have no axis 2");
  EXPECT_MISUSE(ShapeError, categorical_crossentropy(1.0f, 1.0f),
                "categorical_crossentropy: takes predictions of at least one class, not a scalar");
  // A label column meets a vector of predictions.
  EXPECT_EQ(mean_squared_error(zeros({4, 1}), ones({4})).shape(), (Shape{4}));
  EXPECT_EQ(mean_squared_error(zeros({4}), ones({4, 1})).shape(), (Shape{4}));
}
