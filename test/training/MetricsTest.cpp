#include "Testing.h"

using namespace calque;
using namespace calque::testing;

TEST(Mean, IsThatOfAllElementsSinceTheReset) {
  metrics::Mean mean;
  EXPECT_EQ(mean.result().item<float>(), 0); // of none
  mean.update_state(0);
  mean.update_state(5);
  EXPECT_EQ(mean.result().item<float>(), 2.5);
  mean.update_state(tensor<int>({8, 9}));
  EXPECT_EQ(mean.result().item<float>(), 5.5);
  mean.reset_state();
  EXPECT_EQ(mean.result().item<float>(), 0);
  mean.update_state(tensor<bool>({true, false, true, true}));
  EXPECT_EQ(mean.result().item<float>(), 0.75);
}

TEST(Mean, WeighsElements) {
  metrics::Mean mean;
  mean.update_state(tensor<float>({1, 2, 3, 4}, {2, 2}), tensor<float>({1, 3}));
  EXPECT_EQ(mean.result().item<float>(), (1 + 6 + 3 + 12) / 8.0f);
  mean.update_state(100, 0);
  EXPECT_EQ(mean.result().item<float>(), (1 + 6 + 3 + 12) / 8.0f);
  EXPECT_MISUSE(ShapeError, mean.update_state(ones({2}), ones({3})), "[3]");
}

TEST(Mean, CountsBeyondTheIntegersOfFloat32) {
  metrics::Mean mean;
  mean.update_state(1, 0x1p24);
  for (int i = 0; i < 4; ++i)
    mean.update_state(0x1p24, 1);
  EXPECT_EQ(mean.result().item<float>(), static_cast<float>(5 * 0x1p24 / (0x1p24 + 4)));
}

TEST(Mean, IsStateInATracedFunction) {
  metrics::Mean mean;
  auto f = function([&](const Tensor &x) {
    mean.update_state(x);
    return mean.result();
  });
  EXPECT_EQ(f(tensor<float>({1, 2})).item<float>(), 1.5);
  EXPECT_EQ(f(tensor<float>({3, 6})).item<float>(), 3);
  mean.reset_state();
  EXPECT_EQ(f(tensor<float>({4, 5})).item<float>(), 4.5);
  EXPECT_EQ(f.trace_count(), 1);
}

TEST(SparseCategoricalAccuracy, IsTheFractionOfHits) {
  metrics::SparseCategoricalAccuracy accuracy;
  Tensor scores = tensor<float>({0.1f, 0.9f, 0, /**/ 3, 2, 1, /**/ -3, -2, -1}, {3, 3});
  accuracy.update_state(tensor<int>({1, 1, 2}), scores);
  EXPECT_FLOAT_EQ(accuracy.result().item<float>(), 2 / 3.0f);
  auto update = function([&](const Tensor &y, const Tensor &x) { accuracy.update_state(y, x); });
  update(tensor<std::int64_t>({0, 0, 0}, {3, 1}), scores);
  EXPECT_FLOAT_EQ(accuracy.result().item<float>(), 0.5);
  accuracy.reset_state();
  EXPECT_EQ(accuracy.result().item<float>(), 0);
  EXPECT_EQ(accuracy.variables().size(), 2u);
  EXPECT_TRUE(accuracy.trainable_variables().empty());
}

TEST(SparseCategoricalAccuracy, RefusesShapesAndTypesThatDontFit) {
  metrics::SparseCategoricalAccuracy accuracy;
  EXPECT_MISUSE(ShapeError, accuracy.update_state(tensor<int>({1, 2}), ones({3, 4})), "int32[2] and float32[3,4]");
  EXPECT_MISUSE(DTypeError, accuracy.update_state(ones({3}), ones({3, 4})), "takes integer labels");
}

TEST(Metric, IsCalledLikeAFunctionAndHasAName) {
  metrics::Mean loss("loss");
  EXPECT_EQ(loss.name(), "loss");
  EXPECT_EQ(loss(0).item<float>(), 0);
  EXPECT_EQ(loss(5).item<float>(), 2.5);
  EXPECT_EQ(loss(tensor<int>({8, 9})).item<float>(), 5.5);
  metrics::BinaryAccuracy accuracy;
  Tensor y = tensor<float>({1, 1, 0, 0}), p = tensor<float>({.98f, 1, 0, .6f});
  EXPECT_EQ(accuracy(y, p).item<float>(), 0.75);
  EXPECT_EQ(accuracy(y, p, tensor<float>({0, 0, 0, 4})).item<float>(), 3 / 8.0f);
}

namespace {
struct PositivesBody : metrics::MetricBody {
  PositivesBody() : MetricBody("positives") {}
  void update(const Tensor &, const Tensor &y_pred, const std::optional<Tensor> &) override {
    count.assign_add(sum(cast(y_pred > 0.5, DType::Float64)));
  }
  Tensor compute() const override { return count.value(); }
  Variable count = variable("count", zeros({}, DType::Float64), false);
};
} // namespace

TEST(Metric, OfOnesOwnIsABody) {
  metrics::Metric positives(std::make_shared<PositivesBody>());
  EXPECT_EQ(positives(0, tensor<float>({0.1f, 0.9f, 0.8f})).item<float>(), 2);
  metrics::Metric copy = positives; // the same
  copy.reset_state();
  EXPECT_EQ(positives.result().item<float>(), 0);
  metrics::MeanMetricWrapper distance([](const Tensor &y, const Tensor &p) { return abs(y - p); }, "distance");
  EXPECT_EQ(distance(tensor<float>({1, 2}), tensor<float>({3, 1})).item<float>(), 1.5f);
}

TEST(Metric, HasNames) {
  for (const char *name : {"mse", "MeanSquaredError", "mean_squared_error"})
    EXPECT_EQ(metrics::get(name).name(), "mean_squared_error");
  EXPECT_EQ(metrics::get("AUC").name(), "auc");
  EXPECT_FALSE(metrics::get("auc").same_as(metrics::get("auc")));
  EXPECT_MISUSE(LookupError, metrics::get("precisions"),
                "metrics: no metric has the name 'precisions'; the nearest are Precision, precision, ");
}

TEST(ConfusionMatrix, CountsLabelsByPredictions) {
  metrics::ConfusionMatrix matrix(3);
  matrix.update_state(tensor<int>({0, 1, 2, 2}), tensor<int>({0, 2, 2, 1}));
  expectValues(matrix.result(), {1, 0, 0, 0, 0, 1, 0, 1, 1});
  metrics::ConfusionMatrix scores(2, {.sparse_y_pred = false});
  scores.update_state(tensor<int>({1, 0}), tensor<float>({3, 1, 2, 0}, {2, 2}), tensor<float>({2, 5}));
  expectValues(scores.result(), {5, 0, 2, 0});
  EXPECT_MISUSE(IndexError, matrix.update_state(tensor<int>({3}), tensor<int>({0})),
                "confusion_matrix: class 3 is out of range [0, 3)");
  EXPECT_MISUSE(DTypeError, matrix.update_state(tensor<float>({1}), tensor<int>({0})),
                "confusion_matrix: takes integer classes, not float32[1]; for scores [...,C], say so by sparse_y_true "
                "and sparse_y_pred");
}

TEST(Metric, OfAConfigTakesLittleMemory) {
  using metrics::deserialize;
  auto of = [](const std::string &name, const char *option, std::int64_t number) {
    return Config{{"class_name", name}, {"config", Config{{option, number}}}};
  };
  const std::string fault = ": the metrics of a config hold at most 256 MB";
  EXPECT_MISUSE(ValueError, deserialize(of("AUC", "num_thresholds", std::int64_t(1) << 32)), "auc" + fault);
  EXPECT_MISUSE(ValueError, deserialize(of("MeanIoU", "num_classes", 10'000)), "mean_io_u" + fault);
  EXPECT_MISUSE(ValueError, deserialize(of("ConfusionMatrix", "num_classes", std::int64_t(1) << 62)),
                "confusion_matrix" + fault);
  EXPECT_EQ(deserialize(of("MeanIoU", "num_classes", 1000)).name(), "mean_io_u");
}

TEST(Metric, RefusesWhatDoesNotFit) {
  using namespace metrics;
  Tensor x = ones({4, 3});
  Metric mean = Mean();
  EXPECT_MISUSE(ValueError, mean.update_state(x, x),
                "mean: is a metric of values, and takes no labels and predictions");
  EXPECT_MISUSE(DTypeError, Mean("m", DType::Int32), "m: the result of a metric is floating-point, not int32");
  EXPECT_MISUSE(ValueError, Precision({.thresholds = {2}}), "precision: thresholds are in [0, 1], unlike 2");
  EXPECT_MISUSE(ValueError, Recall({.top_k = 0}), "recall: top_k is at least 1, unlike 0");
  EXPECT_MISUSE(ValueError, TopKCategoricalAccuracy({.k = 0}), "top_k_categorical_accuracy: k is at least 1, unlike 0");
  EXPECT_MISUSE(ValueError, AUC({.curve = "roc"}), "auc: there is no curve 'roc'");
  EXPECT_MISUSE(ValueError, AUC({.num_thresholds = 1}), "auc: there are at least 2 thresholds, unlike 1");
  EXPECT_MISUSE(ValueError, AUC({.num_thresholds = INT64_MIN}), "auc: there are at least 2 thresholds, unlike -9");
  EXPECT_MISUSE(ValueError, F1Score({.average = "mean"}), "f1_score: there is no average 'mean'");
  EXPECT_MISUSE(ValueError, R2Score({.class_aggregation = "mean"}), "r2_score: there is no class aggregation 'mean'");
  EXPECT_MISUSE(ValueError, MeanIoU(0), "mean_io_u: there is at least one class, unlike 0");
  EXPECT_MISUSE(StateError, F1Score().result(),
                "f1_score: has no result before the first update, which tells the number of classes");
  F1Score score;
  score.update_state(x, x);
  EXPECT_MISUSE(ShapeError, score.update_state(ones({4, 2}), ones({4, 2})),
                "f1_score: had predictions of 3 columns before, and now of 2");
  EXPECT_MISUSE(ShapeError, score.update_state(ones({4}), ones({4})),
                "f1_score: takes predictions [B,C], not float32[4]");
  EXPECT_MISUSE(ShapeError, BinaryAccuracy().update_state(x, x, ones({3})),
                "binary_accuracy: weights float64[3] must have the first dimensions");
}

// NaN is above no threshold, but must not pass for a low prediction.
TEST(Metrics, AUCOfNaNIsNaN) {
  const float nan = std::nanf("");
  Tensor y = tensor<float>({0, 1, 1, 0}), good = tensor<float>({0.1f, 0.8f, 0.6f, 0.7f}),
         bad = tensor<float>({0.1f, nan, 0.6f, 0.7f});
  for (const char *curve : {"ROC", "PR"})
    for (bool compiled : {false, true}) {
      metrics::AUC auc({.curve = curve});
      auto update = [&](const Tensor &p) { auc.update_state(y, p); };
      auto step = function([&](const Tensor &p) {
        update(p);
        return p;
      });
      auto give = [&](const Tensor &p) { compiled ? (void)step(p) : update(p); };
      give(good);
      EXPECT_TRUE(std::isfinite(auc.result().item<float>()));
      give(bad);
      EXPECT_TRUE(std::isnan(auc.result().item<float>())) << curve;
      auc.reset_state();
      give(good);
      EXPECT_TRUE(std::isfinite(auc.result().item<float>()));
      auc.update_state(y, bad, tensor<float>({1, 0, 1, 1})); // one that does not count
      EXPECT_TRUE(std::isfinite(auc.result().item<float>()));
    }
}

// A model that has diverged must not pass for a perfect one. TensorFlow's in_top_k counts such a row as wrong, too.
TEST(Metrics, TopKOfNaNIsWrong) {
  const double nan = std::nan("");
  Tensor p = tensor<double>({{nan, nan, nan}, {0.1, nan, 0.3}, {0.1, 0.5, 0.4}, {0.1, 0.5, -INFINITY}});
  Tensor labels = tensor<int>({0, 2, 1, 1});
  metrics::SparseTopKCategoricalAccuracy sparse({.k = 2});
  metrics::TopKCategoricalAccuracy categorical({.k = 2});
  EXPECT_EQ(sparse(labels, p).item<float>(), 0.5);
  EXPECT_EQ(categorical(one_hot(labels, 3, DType::Float64), p).item<float>(), 0.5);
}

// Against each prediction compared with each threshold; in any order, with equal ones, and predictions that are equal
// to thresholds or no numbers.
TEST(Metrics, ManyThresholdsCountAsEachOfThem) {
  const std::vector<float> thresholds = {0.5f, 0.1f, 0.9f, 0, 0.25f, 0.25f, 1, 0.75f, 0.3f, 0.6f, 0.7f},
                           predictions = {0.5f, 0.2f, -1, 2, 0.25f, 0, 1, 0.95f, std::nanf(""), 0.7f, 0.300001f},
                           labels = {1, 0, 1, 1, 1, 0, 0, 1, 1, 1, 0};
  std::vector<double> expected;
  for (float threshold : thresholds) {
    double count = 0;
    for (std::size_t i = 0; i < predictions.size(); ++i)
      count += labels[i] != 0 && predictions[i] > threshold ? static_cast<double>(i + 1) : 0;
    expected.push_back(count);
  }
  std::vector<double> weights;
  for (std::size_t i = 0; i < predictions.size(); ++i)
    weights.push_back(static_cast<double>(i + 1));
  metrics::TruePositives metric({.thresholds = std::vector<double>(thresholds.begin(), thresholds.end())});
  metric.update_state(tensor(labels), tensor(predictions), tensor(weights));
  expectNear(metric.result(), expected);
  auto step = function([&](const Tensor &p) {
    metric.update_state(tensor(labels), p, tensor(weights));
    return p;
  });
  step(tensor(predictions));
  for (double &each : expected)
    each *= 2;
  expectNear(metric.result(), expected);
  // One after the other they would be 3 GB.
  metrics::AUC area({.num_thresholds = 20000});
  Tensor p = iota({20000}, DType::Float32, 0) / 20000;
  area.update_state(p > 0.5f, p);
  EXPECT_NEAR(area.result().item<float>(), 1, 1e-4);
}
