// The options of metrics, in configs, and their names.
#ifndef CALQUE_TRAINING_METRICS_OPTIONS_H
#define CALQUE_TRAINING_METRICS_OPTIONS_H

#include "Fields.h"
#include "calque/metrics.h"

namespace calque::metrics {

// Whether get() knows it.
bool isKnown(const std::string &name);

template <typename A> void describe(A &a, BinaryAccuracyOptions &of) { a("threshold", of.threshold); }
template <typename A> void describe(A &a, TopKOptions &of) { a("k", of.k); }
template <typename A> void describe(A &a, CosineOptions &of) { a("axis", of.axis); }
template <typename A> void describe(A &a, CrossentropyOptions &of) {
  a("from_logits", of.from_logits);
  a("label_smoothing", of.label_smoothing);
}
template <typename A> void describe(A &a, SparseCategoricalCrossentropyOptions &of) {
  a("from_logits", of.from_logits);
}
template <typename A> void describe(A &a, ThresholdOptions &of) {
  a("thresholds", of.thresholds);
  a("top_k", of.top_k);
  a("class_id", of.class_id);
}
template <typename A> void describe(A &a, CountOptions &of) { a("thresholds", of.thresholds); }
template <typename A> void describe(A &a, AUCOptions &of) {
  a("num_thresholds", of.num_thresholds);
  a("curve", of.curve);
  a("summation_method", of.summation_method);
  a("thresholds", of.thresholds);
  a("from_logits", of.from_logits);
}
template <typename A> void describe(A &a, F1ScoreOptions &of) {
  a("average", of.average);
  a("threshold", of.threshold);
}
template <typename A> void describe(A &a, R2ScoreOptions &of) { a("class_aggregation", of.class_aggregation); }
template <typename A> void describe(A &a, ClassesOptions &of) {
  a("ignore_class", of.ignore_class);
  a("sparse_y_true", of.sparse_y_true);
  a("sparse_y_pred", of.sparse_y_pred);
}

template <typename Options> Config written(Options of) {
  ConfigWriter writer;
  describe(writer, of);
  return std::move(writer.config);
}

} // namespace calque::metrics
#endif
