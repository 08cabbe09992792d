// Each metric against Keras' numbers.
#include "Reference.h"

using namespace calque;
using namespace calque::testing;

namespace {

struct Case {
  std::string name;
  std::function<metrics::Metric(DType)> make;
  std::string y_true, y_pred;
};

std::vector<Case> cases() {
  using namespace metrics;
  std::vector<Case> all;
  auto put = [&](const std::string &name, const char *y, const char *p, std::function<Metric(DType)> make) {
    all.push_back({"metric " + name + " " + std::to_string(all.size()), std::move(make), y, p});
  };
  // The name that it has by itself is Keras' too.
  auto add = [&]<typename M, typename... Options>(std::type_identity<M>, const char *y, const char *p,
                                                  Options... options) {
    std::string name = M(options...).name();
    put(name == "logcosh" ? "log_cosh_error" : name, y, p, [=](DType dtype) { return M(options..., name, dtype); });
  };
#define METRIC(Name, ...) add(std::type_identity<Name>(), __VA_ARGS__)
  METRIC(Accuracy, "binary", "rounded");
  METRIC(BinaryAccuracy, "binary", "probabilities", BinaryAccuracyOptions{});
  METRIC(BinaryAccuracy, "binary", "probabilities", BinaryAccuracyOptions{.threshold = 0.3});
  METRIC(CategoricalAccuracy, "one_hot", "probabilities");
  METRIC(SparseCategoricalAccuracy, "labels", "probabilities");
  METRIC(TopKCategoricalAccuracy, "one_hot", "probabilities", TopKOptions{.k = 2});
  METRIC(SparseTopKCategoricalAccuracy, "labels", "probabilities", TopKOptions{.k = 2});
  METRIC(MeanSquaredError, "targets", "logits");
  METRIC(RootMeanSquaredError, "targets", "logits");
  METRIC(MeanAbsoluteError, "targets", "logits");
  METRIC(MeanAbsolutePercentageError, "targets", "logits");
  METRIC(MeanSquaredLogarithmicError, "positive", "probabilities");
  METRIC(KLDivergence, "one_hot", "probabilities");
  METRIC(Poisson, "positive", "probabilities");
  METRIC(LogCosh, "targets", "logits");
  METRIC(Hinge, "binary", "logits");
  METRIC(SquaredHinge, "binary", "logits");
  METRIC(CategoricalHinge, "one_hot", "logits");
  METRIC(CosineSimilarity, "targets", "logits", CosineOptions{});
  METRIC(BinaryCrossentropy, "binary", "logits", CrossentropyOptions{.from_logits = true});
  METRIC(CategoricalCrossentropy, "one_hot", "logits", CrossentropyOptions{.from_logits = true});
  METRIC(SparseCategoricalCrossentropy, "labels", "logits", SparseCategoricalCrossentropyOptions{.from_logits = true});
  METRIC(Precision, "binary", "probabilities", PrecisionOptions{});
  METRIC(Precision, "binary", "probabilities", PrecisionOptions{.thresholds = {0.1, 0.3, 0.6}});
  METRIC(Precision, "binary", "probabilities", PrecisionOptions{.top_k = 2});
  METRIC(Precision, "binary", "probabilities", PrecisionOptions{.thresholds = {0.2}, .class_id = 1});
  METRIC(Recall, "binary", "probabilities", RecallOptions{});
  METRIC(Recall, "binary", "probabilities", RecallOptions{.thresholds = {0.1, 0.3, 0.6}});
  METRIC(TruePositives, "binary", "probabilities", CountOptions{});
  METRIC(FalsePositives, "binary", "probabilities", CountOptions{});
  METRIC(TrueNegatives, "binary", "probabilities", CountOptions{});
  METRIC(FalseNegatives, "binary", "probabilities", CountOptions{});
  METRIC(AUC, "binary", "probabilities", AUCOptions{});
  METRIC(AUC, "binary", "probabilities", AUCOptions{.curve = "PR"});
  METRIC(AUC, "binary", "probabilities", AUCOptions{.num_thresholds = 7, .summation_method = "minoring"});
  METRIC(AUC, "binary", "probabilities",
         AUCOptions{.num_thresholds = 7, .curve = "PR", .summation_method = "majoring"});
  METRIC(AUC, "binary", "logits", AUCOptions{.from_logits = true});
  METRIC(F1Score, "one_hot", "probabilities", F1ScoreOptions{});
  METRIC(F1Score, "one_hot", "probabilities", F1ScoreOptions{.average = "micro"});
  METRIC(F1Score, "binary", "probabilities", F1ScoreOptions{.average = "macro", .threshold = 0.3});
  METRIC(F1Score, "one_hot", "probabilities", F1ScoreOptions{.average = "weighted"});
  METRIC(R2Score, "targets", "logits", R2ScoreOptions{});
  METRIC(R2Score, "targets", "logits", R2ScoreOptions{.class_aggregation = ""});
  METRIC(R2Score, "targets", "logits", R2ScoreOptions{.class_aggregation = "variance_weighted_average"});
#undef METRIC
  put("mean_io_u", "labels", "predicted", [](DType dtype) { return MeanIoU(3, {}, "mean_io_u", dtype); });
  put("mean_io_u", "labels", "predicted",
      [](DType dtype) { return MeanIoU(3, {.ignore_class = 1}, "mean_io_u", dtype); });
  return all;
}

Tensor rows(const Tensor &x, std::int64_t from, std::int64_t to) {
  std::vector<std::int64_t> starts(static_cast<std::size_t>(x.rank()), 0), limits = x.shape();
  starts[0] = from;
  limits[0] = to;
  return slice(x, starts, limits);
}

} // namespace

TEST(Metrics, AreKeras) {
  for (const Case &c : cases())
    for (DType dtype : {DType::Float32, DType::Float64}) {
      Tensor y = referenceInput(c.y_true, dtype), p = referenceInput(c.y_pred, dtype);
      // Keras computes that one in float32.
      const bool isExact = dtype == DType::Float64 && c.name.find("mean_io_u") == std::string::npos;
      const double units = isExact ? 2000 : dtype == DType::Float64 ? 1e9 : 60;
      // In two batches of an unknown size, by one trace.
      metrics::Metric metric = c.make(dtype);
      auto spec = [](const Tensor &x) {
        Shape shape = x.shape();
        shape[0] = kDynamic;
        return TensorSpec(x.dtype(), shape);
      };
      auto update =
          function([&](const Tensor &labels, const Tensor &predictions) { metric.update_state(labels, predictions); },
                   {.input_signature = {spec(y), spec(p)}});
      update(rows(y, 0, 2), rows(p, 0, 2));
      update(rows(y, 2, 5), rows(p, 2, 5));
      EXPECT_EQ(update.trace_count(), 1);
      EXPECT_EQ(metric.result().dtype(), dtype);
      expectReference(metric.result(), c.name, dtype, "result", units);
      EXPECT_TRUE(metric.trainable_variables().empty());
      metric.reset_state();
      if (c.name == "metric precision 25") // of a class: Keras has no weights for it
        continue;
      metric.update_state(y, p, referenceInput("weights", dtype));
      expectReference(metric.result(), c.name, dtype, "weighted", units);
    }
}

TEST(Metrics, OfValuesAreKeras) {
  for (DType dtype : {DType::Float32, DType::Float64}) {
    Tensor x = referenceInput("logits", dtype);
    metrics::Mean mean("mean", dtype);
    metrics::Sum sum("sum", dtype);
    mean.update_state(x);
    sum.update_state(x);
    expectReference(mean.result(), "metric mean 46", dtype, "result");
    expectReference(sum.result(), "metric sum 47", dtype, "result");
    Tensor w = expand_dims(referenceInput("weights", dtype), {-1});
    mean.reset_state();
    sum.reset_state();
    expectReference(mean(x, w), "metric mean 46", dtype, "weighted");
    EXPECT_EQ(sum(x, w).dtype(), dtype);
  }
}
