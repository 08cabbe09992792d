// Metrics of training and testing. Their state is variables, so that they work eagerly and in traced functions.
//
//   metrics::SparseCategoricalAccuracy accuracy;
//   accuracy.update_state(labels, logits);          // accuracy(labels, logits) gives the result as well
//   accuracy.update_state(labels, logits, weights); // weights of examples
//   std::cout << accuracy.result() << '\n';
//   accuracy.reset_state();
//   metrics::Mean loss("loss");
//   loss(l);
//   metrics::Metric m = metrics::get("auc"); // by name
//
// A metric of your own is a body with a handle, as a layer is:
//
//   struct PositivesBody : metrics::MetricBody {
//     PositivesBody() : MetricBody("positives") {}
//     void update(const Tensor &, const Tensor &y_pred, const std::optional<Tensor> &) override {
//       count.assign_add(sum(cast(y_pred > 0.5, DType::Float64)));
//     }
//     Tensor compute() const override { return count.value(); }
//     Variable count = variable("count", zeros({}, DType::Float64), false);
//   };
//   metrics::Metric positives(std::make_shared<PositivesBody>());
//
// or the mean of a function: metrics::MeanMetricWrapper(f, "name"). Configs, and so saved models, contain metrics by
// name. Give a function a name by register_metric("name", f); then `.metrics = {"name"}` works too. Give a class one by
//
//   metrics::register_metric<PositivesBody>("Positives", [](const Config &, std::string, DType) {
//     return metrics::Metric(std::make_shared<PositivesBody>());
//   });
//
// Formulas, defaults and names are those of Keras 3. State is float64, because a count in float32 stops at 2^24.
// Results have the element type that the metric is made with. Sizes may be unknown; only a number of classes that
// determines the size of a state must be known. ShapeError and DTypeError for labels and predictions that don't fit, as
// for losses.
#ifndef CALQUE_METRICS_H
#define CALQUE_METRICS_H

#include "calque/config.h"
#include "calque/module.h"

#include <functional>
#include <typeindex>

namespace calque::metrics {

// Whether larger (Up) or smaller (Down) results of a metric are better. Callbacks that keep the best model use it.
enum class Direction : std::uint8_t { Unknown, Down, Up };

class Metric;
CALQUE_API Config serialize(const Metric &metric, SourceLocation where);
CALQUE_API Metric deserialize(const Config &config, SourceLocation where);

// The object that handles to one metric share: its state and its computation.
class CALQUE_API MetricBody : public Module {
public:
  explicit MetricBody(std::string name, DType dtype = default_dtype());
  const std::string &name() const { return name_; }
  // The element type of the result.
  DType dtype() const { return dtype_; }
  // The library's metrics have a direction, except means and sums of values, and matrices. Set the direction of your
  // own metric when you make it: set_direction(Direction::Up).
  Direction direction() const { return direction_; }
  void set_direction(Direction direction) { direction_ = direction; }

  // Adds a batch. ValueError for a metric of values, such as Mean, whose update_state takes values alone.
  virtual void update(const Tensor &y_true, const Tensor &y_pred, const std::optional<Tensor> &sample_weight);
  virtual Tensor compute() const = 0;
  // Assigns zeros to all variables.
  virtual void reset();
  // The options that the class adds. A metric of a registered class is made again from them.
  virtual Config own_config() const { return {}; }

private:
  friend class Metric;
  friend CALQUE_API Config serialize(const Metric &metric, SourceLocation where);
  friend CALQUE_API Metric deserialize(const Config &config, SourceLocation where);
  const std::string name_;
  const char *const inMessages; // the name, for as long as the process lives
  const DType dtype_;
  Direction direction_ = Direction::Unknown, ofClass = Direction::Unknown;
  std::string class_; // of the library's own
  Config config_;
};

// A shared handle: copies are the same metric, with the same state.
class CALQUE_API Metric {
public:
  explicit Metric(std::shared_ptr<MetricBody> body) : body_(std::move(body)) {}

  // Errors inside name the caller's line. Weights are those of examples, [B], or a scalar.
  void update_state(const Operand &y_true, const Operand &y_pred) const;
  void update_state(const Operand &y_true, const Operand &y_pred, const Operand &sample_weight) const;
  Tensor result(SourceLocation where = SourceLocation::current()) const;
  void reset_state(SourceLocation where = SourceLocation::current()) const;
  // Updates the metric, and returns its result.
  Tensor operator()(const Operand &y_true, const Operand &y_pred) const;
  Tensor operator()(const Operand &y_true, const Operand &y_pred, const Operand &sample_weight) const;

  const std::string &name(SourceLocation where = SourceLocation::current()) const { return checked(where).name(); }
  // See MetricBody.
  Direction direction(SourceLocation where = SourceLocation::current()) const { return checked(where).direction(); }
  void set_direction(Direction direction, SourceLocation where = SourceLocation::current()) const {
    checked(where).set_direction(direction);
  }
  // See module.h.
  std::vector<Variable> variables(SourceLocation where = SourceLocation::current()) const {
    return checked(where).variables(where);
  }
  std::vector<Variable> trainable_variables(SourceLocation where = SourceLocation::current()) const {
    return checked(where).trainable_variables(where);
  }
  std::vector<std::pair<std::string, Variable>>
  named_variables(SourceLocation where = SourceLocation::current()) const {
    return checked(where).named_variables(where);
  }
  const std::shared_ptr<MetricBody> &body() const noexcept { return body_; }
  bool same_as(const Metric &other) const noexcept { return body_ == other.body_; }

protected:
  // StateError for an empty handle: one that was moved from, or made of a null pointer.
  MetricBody &checked(SourceLocation where) const;
  // Sets class, config and direction of a metric of the library.
  void made(const char *class_name, Config options, Direction direction) const;

private:
  friend CALQUE_API Metric get(const std::string &name, SourceLocation where);
  std::shared_ptr<MetricBody> body_;
};

//===-- Of values ---------------------------------------------------------------------------------===//
// The mean of all elements since the last reset; 0 without elements.
class CALQUE_API Mean : public Metric {
public:
  explicit Mean(std::string name = "mean", DType dtype = default_dtype(),
                SourceLocation where = SourceLocation::current());
  // Adds the elements of a tensor of numbers or bools.
  void update_state(const Operand &values) const;
  // Adds elements with weights, which broadcast to the values' shape.
  void update_state(const Operand &values, const Operand &weights) const;
  Tensor operator()(const Operand &values) const;
  Tensor operator()(const Operand &values, const Operand &weights) const;
};

// The sum of all elements, times weights that broadcast to them.
class CALQUE_API Sum : public Metric {
public:
  explicit Sum(std::string name = "sum", DType dtype = default_dtype(),
               SourceLocation where = SourceLocation::current());
  void update_state(const Operand &values) const;
  void update_state(const Operand &values, const Operand &weights) const;
  Tensor operator()(const Operand &values) const;
  Tensor operator()(const Operand &values, const Operand &weights) const;
};

//===-- Means of a function over examples ---------------------------------------------------------===//
class CALQUE_API MeanMetricWrapper : public Metric {
public:
  MeanMetricWrapper(std::function<Tensor(const Tensor &y_true, const Tensor &y_pred)> function, std::string name,
                    DType dtype = default_dtype(), SourceLocation where = SourceLocation::current());
};

#define CALQUE_DECLARE_METRIC(Name, snake)                                                                             \
  class CALQUE_API Name : public Metric {                                                                              \
  public:                                                                                                              \
    explicit Name(std::string name = snake, DType dtype = default_dtype(),                                             \
                  SourceLocation where = SourceLocation::current());                                                   \
  };
#define CALQUE_DECLARE_METRIC_WITH_OPTIONS(Name, snake)                                                                \
  class CALQUE_API Name : public Metric {                                                                              \
  public:                                                                                                              \
    explicit Name(Name##Options of = {}, std::string name = snake, DType dtype = default_dtype(),                      \
                  SourceLocation where = SourceLocation::current());                                                   \
  };

// The fraction of elements where y_true equals y_pred.
CALQUE_DECLARE_METRIC(Accuracy, "accuracy")
struct BinaryAccuracyOptions {
  double threshold = 0.5;
};
// The fraction of labels, 0 or 1, that are equal to y_pred > threshold.
CALQUE_DECLARE_METRIC_WITH_OPTIONS(BinaryAccuracy, "binary_accuracy")
// The fraction of examples where y_true [..., C], such as one_hot labels, and y_pred [..., C] have their largest
// element at the same place.
CALQUE_DECLARE_METRIC(CategoricalAccuracy, "categorical_accuracy")
// The fraction of the labels y_true [...] or [..., 1] that are the index of the largest element of y_pred [..., C].
CALQUE_DECLARE_METRIC(SparseCategoricalAccuracy, "sparse_categorical_accuracy")
struct TopKOptions {
  std::int64_t k = 5;
};
using TopKCategoricalAccuracyOptions = TopKOptions;
using SparseTopKCategoricalAccuracyOptions = TopKOptions;
// The fraction of labels, one_hot or integers, whose prediction is among the k largest: fewer than k predictions are
// larger.
CALQUE_DECLARE_METRIC_WITH_OPTIONS(TopKCategoricalAccuracy, "top_k_categorical_accuracy")
CALQUE_DECLARE_METRIC_WITH_OPTIONS(SparseTopKCategoricalAccuracy, "sparse_top_k_categorical_accuracy")

CALQUE_DECLARE_METRIC(MeanSquaredError, "mean_squared_error")
CALQUE_DECLARE_METRIC(RootMeanSquaredError, "root_mean_squared_error")
CALQUE_DECLARE_METRIC(MeanAbsoluteError, "mean_absolute_error")
CALQUE_DECLARE_METRIC(MeanAbsolutePercentageError, "mean_absolute_percentage_error")
CALQUE_DECLARE_METRIC(MeanSquaredLogarithmicError, "mean_squared_logarithmic_error")
CALQUE_DECLARE_METRIC(KLDivergence, "kl_divergence")
CALQUE_DECLARE_METRIC(Poisson, "poisson")
CALQUE_DECLARE_METRIC(LogCosh, "logcosh")
CALQUE_DECLARE_METRIC(Hinge, "hinge")
CALQUE_DECLARE_METRIC(SquaredHinge, "squared_hinge")
CALQUE_DECLARE_METRIC(CategoricalHinge, "categorical_hinge")
struct CosineOptions {
  std::int64_t axis = -1;
};
using CosineSimilarityOptions = CosineOptions;
// The mean cosine of the angle between the two: 1 where they point in the same direction.
CALQUE_DECLARE_METRIC_WITH_OPTIONS(CosineSimilarity, "cosine_similarity")
struct CrossentropyOptions {
  bool from_logits = false;
  double label_smoothing = 0;
};
using BinaryCrossentropyOptions = CrossentropyOptions;
using CategoricalCrossentropyOptions = CrossentropyOptions;
CALQUE_DECLARE_METRIC_WITH_OPTIONS(BinaryCrossentropy, "binary_crossentropy")
CALQUE_DECLARE_METRIC_WITH_OPTIONS(CategoricalCrossentropy, "categorical_crossentropy")
struct SparseCategoricalCrossentropyOptions {
  bool from_logits = false;
};
CALQUE_DECLARE_METRIC_WITH_OPTIONS(SparseCategoricalCrossentropy, "sparse_categorical_crossentropy")

//===-- Of decisions ------------------------------------------------------------------------------===//
// A prediction is positive if it is above a threshold. A label is positive if it is not 0.
struct ThresholdOptions {
  std::vector<double> thresholds = {};                 // empty: 0.5; with top_k, all of the k largest are positive
  std::optional<std::int64_t> top_k = std::nullopt;    // only the k largest of the last axis may be positive
  std::optional<std::int64_t> class_id = std::nullopt; // only this place of the last axis counts
};
using PrecisionOptions = ThresholdOptions;
using RecallOptions = ThresholdOptions;
// Precision is the fraction of the positive predictions that are right, and recall the fraction of the positive labels
// that are predicted; Either is 0 if there are no positive ones. With several thresholds, the result is a vector.
CALQUE_DECLARE_METRIC_WITH_OPTIONS(Precision, "precision")
CALQUE_DECLARE_METRIC_WITH_OPTIONS(Recall, "recall")
struct CountOptions {
  std::vector<double> thresholds = {};
};
using TruePositivesOptions = CountOptions;
using FalsePositivesOptions = CountOptions;
using TrueNegativesOptions = CountOptions;
using FalseNegativesOptions = CountOptions;
// The number of such decisions, or the sum of their weights.
CALQUE_DECLARE_METRIC_WITH_OPTIONS(TruePositives, "true_positives")
CALQUE_DECLARE_METRIC_WITH_OPTIONS(FalsePositives, "false_positives")
CALQUE_DECLARE_METRIC_WITH_OPTIONS(TrueNegatives, "true_negatives")
CALQUE_DECLARE_METRIC_WITH_OPTIONS(FalseNegatives, "false_negatives")

struct AUCOptions {
  std::int64_t num_thresholds = 200;
  std::string curve = "ROC";                      // or "PR"
  std::string summation_method = "interpolation"; // or "minoring", "majoring"
  std::vector<double> thresholds = {};            // in place of num_thresholds evenly spread ones
  bool from_logits = false;
};
// The area under the curve of true positive over false positive rates (ROC), or of precision over recall (PR). The
// latter is interpolated as in Davis and Goadrich: The relationship between precision-recall and ROC curves, 2006. NaN
// if a prediction that counts is NaN. ValueError for fewer than two thresholds and for other texts.
CALQUE_DECLARE_METRIC_WITH_OPTIONS(AUC, "auc")

struct F1ScoreOptions {
  std::string average = "";                       // "micro", "macro", "weighted"; empty: a number for each class
  std::optional<double> threshold = std::nullopt; // none: the largest prediction of an example is positive
};
// The harmonic mean of precision and recall, of labels [B, C] and predictions [B, C].
CALQUE_DECLARE_METRIC_WITH_OPTIONS(F1Score, "f1_score")

struct R2ScoreOptions {
  std::string class_aggregation = "uniform_average"; // "variance_weighted_average"; empty: a number for each output
};
// 1 - the squared error over the variance, of targets [B, C].
CALQUE_DECLARE_METRIC_WITH_OPTIONS(R2Score, "r2_score")
#undef CALQUE_DECLARE_METRIC
#undef CALQUE_DECLARE_METRIC_WITH_OPTIONS

struct ClassesOptions {
  std::optional<std::int64_t> ignore_class = std::nullopt; // labels that don't count
  bool sparse_y_true = true, sparse_y_pred = true; // integers [...]; else the largest element of [..., C] counts
};
// The number of times that each label (the row) got each prediction (the column): [C, C]. IndexError for a class
// outside of [0, C).
class CALQUE_API ConfusionMatrix : public Metric {
public:
  explicit ConfusionMatrix(std::int64_t num_classes, ClassesOptions options = {}, std::string name = "confusion_matrix",
                           DType dtype = default_dtype(), SourceLocation where = SourceLocation::current());
};
// The mean, over the classes that occur, of intersection over union: the number of elements that have the class as
// label and as prediction, divided by the number that have it as label or as prediction.
class CALQUE_API MeanIoU : public Metric {
public:
  explicit MeanIoU(std::int64_t num_classes, ClassesOptions options = {}, std::string name = "mean_io_u",
                   DType dtype = default_dtype(), SourceLocation where = SourceLocation::current());
};

// A new metric by its name: "precision" or "Precision"; "mse", "mae", "mape", "msle", "bce", "kld". LookupError for
// another name. "accuracy" is Accuracy here; compile() chooses the accuracy that fits the output.
CALQUE_API Metric get(const std::string &name, SourceLocation where = SourceLocation::current());

// {"class_name": ..., "config": ...}. StateError for a class or a function that is not registered.
CALQUE_API Config serialize(const Metric &metric, SourceLocation where = SourceLocation::current());
// Makes a metric from its config, without state. LookupError for an unknown class or function, ValueError for an option
// that the class lacks.
CALQUE_API Metric deserialize(const Config &config, SourceLocation where = SourceLocation::current());

// Gives a function a name for options and configs. The metric is the mean of the function over the examples. ValueError
// for a name that is taken.
CALQUE_API void register_metric(const std::string &name, std::function<Tensor(const Tensor &, const Tensor &)> function,
                                Direction direction = Direction::Unknown,
                                SourceLocation where = SourceLocation::current());
// Registers the class of a body under a name. ValueError for a name or a class that is registered already.
using MetricMaker = std::function<Metric(const Config &own, std::string name, DType dtype)>;
CALQUE_API void register_metric(const std::string &class_name, std::type_index body, MetricMaker make,
                                SourceLocation where = SourceLocation::current());
template <std::derived_from<MetricBody> Body>
void register_metric(const std::string &class_name, MetricMaker make,
                     SourceLocation where = SourceLocation::current()) {
  register_metric(class_name, typeid(Body), std::move(make), where);
}

} // namespace calque::metrics
#endif
