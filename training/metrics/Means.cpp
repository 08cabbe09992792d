// The metrics that are means over the examples.
#include "Labels.h"
#include "MeanBody.h"
#include "Options.h"
#include "absl/strings/str_cat.h"
#include "calque/callable.h"
#include "calque/losses.h"

namespace calque::metrics {

using training::fail;
using training::pairOf;

namespace {

using OfExamples = std::function<Tensor(const Tensor &, const Tensor &)>;

struct WrapperBody : training::MeanBody {
  WrapperBody(OfExamples function, std::string name, DType dtype)
      : MeanBody(std::move(name), dtype), function(std::move(function)) {}
  void update(const Tensor &y_true, const Tensor &y_pred, const std::optional<Tensor> &sample_weight) override {
    Tensor values = function(y_true, y_pred);
    if (!sample_weight)
      return add(values, std::nullopt);
    // In the type of the state, so that sums of weights are exact.
    Tensor weights = cast(*sample_weight, DType::Float64);
    add(values, training::alongExamples(name().c_str(), "weights", weights, values));
  }
  const OfExamples function;
};

struct RootBody final : WrapperBody {
  using WrapperBody::WrapperBody;
  Tensor compute() const override { return sqrt(WrapperBody::compute()); }
};

template <typename Body = WrapperBody>
std::shared_ptr<MetricBody> wrap(OfExamples function, std::string name, DType dtype, SourceLocation where) {
  CallSite site(where);
  return std::make_shared<Body>(std::move(function), std::move(name), dtype);
}

// Whether fewer than k predictions are larger than that of the label. Equal ones don't count, as in Keras' in_top_k,
// and among numbers that are not all known nothing is.
Tensor isInTopK(const Tensor &labels, const Tensor &predictions, std::int64_t k) {
  Tensor ofLabel = take_along_axis(predictions, expand_dims(labels, {-1}));
  return logical_and(sum(cast(predictions > ofLabel, DType::Int64), {-1}) < k,
                     logical_not(any(isnan(predictions), {-1})));
}

void checkTop(const std::string &name, std::int64_t k, SourceLocation where) {
  if (k < 1)
    fail<ValueError>(absl::StrCat(name, ": k is at least 1, unlike ", k), where);
}

} // namespace

MeanMetricWrapper::MeanMetricWrapper(OfExamples function, std::string name, DType dtype, SourceLocation where)
    : Metric([&] {
        calque::detail::requireCallable(function, "metric", where);
        return wrap(std::move(function), std::move(name), dtype, where);
      }()) {}

Accuracy::Accuracy(std::string name, DType dtype, SourceLocation where)
    : Metric(wrap(
          [name](const Tensor &y_true, const Tensor &y_pred) {
            auto [y, p] =
                pairOf(name.c_str(), y_true, is_floating(y_pred.dtype()) ? y_pred : cast(y_pred, DType::Float64));
            return y == p;
          },
          name, dtype, where)) {
  made("Accuracy", {}, Direction::Up);
}

BinaryAccuracy::BinaryAccuracy(BinaryAccuracyOptions of, std::string name, DType dtype, SourceLocation where)
    : Metric(wrap(
          [of, name](const Tensor &y_true, const Tensor &y_pred) {
            auto [y, p] = pairOf(name.c_str(), y_true, y_pred);
            return y == cast(p > of.threshold, y.dtype());
          },
          name, dtype, where)) {
  made("BinaryAccuracy", written(of), Direction::Up);
}

CategoricalAccuracy::CategoricalAccuracy(std::string name, DType dtype, SourceLocation where)
    : Metric(wrap(
          [name](const Tensor &y_true, const Tensor &y_pred) {
            auto [y, p] = pairOf(name.c_str(), y_true, y_pred);
            return argmax(y) == argmax(p);
          },
          name, dtype, where)) {
  made("CategoricalAccuracy", {}, Direction::Up);
}

SparseCategoricalAccuracy::SparseCategoricalAccuracy(std::string name, DType dtype, SourceLocation where)
    : Metric(wrap(
          [name](const Tensor &y_true, const Tensor &y_pred) {
            Tensor labels = training::labelsFor(name.c_str(), y_true, y_pred);
            return argmax(y_pred) == cast(labels, DType::Int64);
          },
          name, dtype, where)) {
  made("SparseCategoricalAccuracy", {}, Direction::Up);
}

TopKCategoricalAccuracy::TopKCategoricalAccuracy(TopKOptions of, std::string name, DType dtype, SourceLocation where)
    : Metric([&] {
        checkTop(name, of.k, where);
        return wrap(
            [of, name](const Tensor &y_true, const Tensor &y_pred) {
              auto [y, p] = pairOf(name.c_str(), y_true, y_pred);
              return isInTopK(argmax(y), p, of.k);
            },
            name, dtype, where);
      }()) {
  made("TopKCategoricalAccuracy", written(of), Direction::Up);
}

SparseTopKCategoricalAccuracy::SparseTopKCategoricalAccuracy(TopKOptions of, std::string name, DType dtype,
                                                             SourceLocation where)
    : Metric([&] {
        checkTop(name, of.k, where);
        return wrap(
            [of, name](const Tensor &y_true, const Tensor &y_pred) {
              return isInTopK(training::labelsFor(name.c_str(), y_true, y_pred), y_pred, of.k);
            },
            name, dtype, where);
      }()) {
  made("SparseTopKCategoricalAccuracy", written(of), Direction::Up);
}

RootMeanSquaredError::RootMeanSquaredError(std::string name, DType dtype, SourceLocation where)
    : Metric(wrap<RootBody>(
          [](const Tensor &y_true, const Tensor &y_pred) { return losses::mean_squared_error(y_true, y_pred); }, name,
          dtype, where)) {
  made("RootMeanSquaredError", {}, Direction::Down);
}

CosineSimilarity::CosineSimilarity(CosineOptions of, std::string name, DType dtype, SourceLocation where)
    : Metric(wrap([of](const Tensor &y_true,
                       const Tensor &y_pred) { return -losses::cosine_similarity(y_true, y_pred, {.axis = of.axis}); },
                  name, dtype, where)) {
  made("CosineSimilarity", written(of), Direction::Up);
}

#define CALQUE_DEFINE_METRIC(Name, function)                                                                           \
  Name::Name(std::string name, DType dtype, SourceLocation where)                                                      \
      : Metric(wrap([](const Tensor &y_true, const Tensor &y_pred) { return losses::function(y_true, y_pred); }, name, \
                    dtype, where)) {                                                                                   \
    made(#Name, {}, Direction::Down);                                                                                  \
  }
CALQUE_DEFINE_METRIC(MeanSquaredError, mean_squared_error)
CALQUE_DEFINE_METRIC(MeanAbsoluteError, mean_absolute_error)
CALQUE_DEFINE_METRIC(MeanAbsolutePercentageError, mean_absolute_percentage_error)
CALQUE_DEFINE_METRIC(MeanSquaredLogarithmicError, mean_squared_logarithmic_error)
CALQUE_DEFINE_METRIC(KLDivergence, kl_divergence)
CALQUE_DEFINE_METRIC(Poisson, poisson)
CALQUE_DEFINE_METRIC(LogCosh, log_cosh)
CALQUE_DEFINE_METRIC(Hinge, hinge)
CALQUE_DEFINE_METRIC(SquaredHinge, squared_hinge)
CALQUE_DEFINE_METRIC(CategoricalHinge, categorical_hinge)
#undef CALQUE_DEFINE_METRIC

BinaryCrossentropy::BinaryCrossentropy(CrossentropyOptions of, std::string name, DType dtype, SourceLocation where)
    : Metric(wrap(
          [of](const Tensor &y_true, const Tensor &y_pred) {
            return losses::binary_crossentropy(y_true, y_pred,
                                               {.from_logits = of.from_logits, .label_smoothing = of.label_smoothing});
          },
          name, dtype, where)) {
  made("BinaryCrossentropy", written(of), Direction::Down);
}

CategoricalCrossentropy::CategoricalCrossentropy(CrossentropyOptions of, std::string name, DType dtype,
                                                 SourceLocation where)
    : Metric(wrap(
          [of](const Tensor &y_true, const Tensor &y_pred) {
            return losses::categorical_crossentropy(
                y_true, y_pred, {.from_logits = of.from_logits, .label_smoothing = of.label_smoothing});
          },
          name, dtype, where)) {
  made("CategoricalCrossentropy", written(of), Direction::Down);
}

SparseCategoricalCrossentropy::SparseCategoricalCrossentropy(SparseCategoricalCrossentropyOptions of, std::string name,
                                                             DType dtype, SourceLocation where)
    : Metric(wrap(
          [of](const Tensor &y_true, const Tensor &y_pred) {
            return losses::sparse_categorical_crossentropy(y_true, y_pred, {.from_logits = of.from_logits});
          },
          name, dtype, where)) {
  made("SparseCategoricalCrossentropy", written(of), Direction::Down);
}

} // namespace calque::metrics
