// The metrics with a state for each class or output.
#include "Labels.h"
#include "MeanBody.h"
#include "Options.h"
#include "StateBudget.h"
#include "absl/strings/str_cat.h"

namespace calque::metrics {

using training::alongExamples;
using training::divided;
using training::fail;
using training::kEpsilon;
using training::pairOf;

namespace {

// Columns [B, C] in float64, and weights [B, 1]; the state is made at the first batch.
struct ColumnsBody : MetricBody {
  using MetricBody::MetricBody;
  void update(const Tensor &y_true, const Tensor &y_pred, const std::optional<Tensor> &sample_weight) override {
    auto [y, p] = pairOf(name().c_str(), y_true, y_pred);
    if (p.rank() != 2)
      fail<ShapeError>(
          absl::StrCat(name(), ": takes predictions [B,C], not ", training::describe(p.dtype(), p.shape())));
    const Size columns = p.shape()[1];
    if (!made)
      make(columns);
    else if (std::int64_t(columns) != *made)
      fail<ShapeError>(
          absl::StrCat(name(), ": had predictions of ", *made, " columns before, and now of ", std::int64_t(columns)));
    Tensor w = ones(p.shape(), DType::Float64);
    if (sample_weight)
      w = w * alongExamples(name().c_str(), "weights", cast(*sample_weight, DType::Float64), p);
    add(cast(y, DType::Float64), cast(p, DType::Float64), w);
  }
  virtual void make(std::int64_t columns) = 0;
  virtual void add(const Tensor &y, const Tensor &p, const Tensor &w) = 0;

  Variable column(const char *name, std::int64_t columns) {
    made = columns;
    return variable(name, zeros({columns}, DType::Float64), false);
  }
  void requireMade() const {
    if (!made)
      fail<StateError>(
          absl::StrCat(name(), ": has no result before the first update, which tells the number of classes"));
  }
  std::optional<std::int64_t> made;
};

struct F1Body final : ColumnsBody {
  F1Body(F1ScoreOptions of, std::string name, DType dtype) : ColumnsBody(std::move(name), dtype), of(std::move(of)) {
    for (const char *known : {"", "micro", "macro", "weighted"})
      if (this->of.average == known)
        return;
    fail<ValueError>(absl::StrCat(this->name(), ": there is no average '", this->of.average, "'"));
  }
  void make(std::int64_t columns) override {
    truePositives = column("true_positives", columns);
    falsePositives = column("false_positives", columns);
    falseNegatives = column("false_negatives", columns);
  }
  void add(const Tensor &y, const Tensor &p, const Tensor &w) override {
    Tensor largest = of.threshold ? p > *of.threshold : logical_and(p >= max(p, {-1}, true), abs(p) > 1e-9);
    Tensor positive = cast(largest, DType::Float64);
    truePositives.assign_add(sum(w * positive * y, {0}));
    falsePositives.assign_add(sum(w * positive * (1 - y), {0}));
    falseNegatives.assign_add(sum(w * (1 - positive) * y, {0}));
  }
  Tensor compute() const override {
    requireMade();
    Tensor tp = truePositives.value(), fp = falsePositives.value(), fn = falseNegatives.value(), labels = tp + fn;
    if (of.average == "micro") {
      tp = sum(tp);
      fp = sum(fp);
      fn = sum(fn);
    }
    Tensor precision = tp / (tp + fp + kEpsilon), recall = tp / (tp + fn + kEpsilon);
    Tensor score = 2 * precision * recall / (precision + recall + kEpsilon);
    if (of.average == "macro")
      return mean(score);
    return of.average == "weighted" ? sum(score * labels / (sum(labels) + kEpsilon)) : score;
  }
  const F1ScoreOptions of;
  Variable truePositives{nullptr}, falsePositives{nullptr}, falseNegatives{nullptr};
};

struct R2Body final : ColumnsBody {
  R2Body(R2ScoreOptions of, std::string name, DType dtype) : ColumnsBody(std::move(name), dtype), of(std::move(of)) {
    for (const char *known : {"", "uniform_average", "variance_weighted_average"})
      if (this->of.class_aggregation == known)
        return;
    fail<ValueError>(absl::StrCat(this->name(), ": there is no class aggregation '", this->of.class_aggregation, "'"));
  }
  void make(std::int64_t columns) override {
    squares = column("squared_sum", columns);
    total = column("sum", columns);
    residual = column("residual", columns);
    count = column("count", columns);
  }
  void add(const Tensor &y, const Tensor &p, const Tensor &w) override {
    squares.assign_add(sum(w * square(y), {0}));
    total.assign_add(sum(w * y, {0}));
    residual.assign_add(sum(w * square(y - p), {0}));
    count.assign_add(sum(w, {0}));
  }
  Tensor compute() const override {
    requireMade();
    Tensor variance = squares - total * total / count, score = 1 - residual / variance;
    score = where(logical_or(isfinite(score), isnan(score)), score, 0);
    if (of.class_aggregation == "uniform_average")
      return mean(score);
    return of.class_aggregation.empty() ? score : sum(variance * score) / sum(variance);
  }
  const R2ScoreOptions of;
  Variable squares{nullptr}, total{nullptr}, residual{nullptr}, count{nullptr};
};

struct MatrixBody : MetricBody {
  MatrixBody(std::int64_t classes, ClassesOptions of, std::string name, DType dtype)
      : MetricBody(std::move(name), dtype), classes(classes), of(of) {
    if (classes < 1)
      fail<ValueError>(absl::StrCat(this->name(), ": there is at least one class, unlike ", classes));
  }
  // Integers [N].
  Tensor flat(const Tensor &x, bool isSparse) const {
    if (isSparse && !is_integer(x.dtype()))
      fail<DTypeError>(absl::StrCat(name(), ": takes integer classes, not ", training::describe(x.dtype(), x.shape()),
                                    "; for scores [...,C], say so by sparse_y_true and sparse_y_pred"));
    return reshape(cast(isSparse ? x : argmax(x), DType::Int64), {-1});
  }
  // Their rows of the identity matrix. gather refuses what is no class.
  Tensor rowsOf(const Tensor &indices) const {
    CallSite ofClasses({}, nullptr, "class");
    return gather(eye(classes, DType::Float64), indices);
  }
  void update(const Tensor &y_true, const Tensor &y_pred, const std::optional<Tensor> &sample_weight) override {
    Tensor y = flat(y_true, of.sparse_y_true), p = flat(y_pred, of.sparse_y_pred);
    Tensor w = ones(y.shape(), DType::Float64);
    if (sample_weight) {
      Shape shape = y_true.shape();
      if (!of.sparse_y_true)
        shape.pop_back();
      Tensor each = ones(shape, DType::Float64);
      w = reshape(each * alongExamples(name().c_str(), "weights", cast(*sample_weight, DType::Float64), each), {-1});
    }
    if (of.ignore_class) {
      Tensor counts = y != *of.ignore_class;
      y = where(counts, y, 0);
      w = where(counts, w, 0);
    }
    matrix.assign_add(matmul(rowsOf(y) * expand_dims(w, {-1}), rowsOf(p), {.transpose_a = true}));
  }
  Tensor compute() const override { return matrix.value(); }

  Tensor none() const {
    training::StateBudget::take(name(), sizeof(double) * static_cast<double>(classes) * static_cast<double>(classes));
    return zeros({classes, classes}, DType::Float64);
  }

  const std::int64_t classes;
  const ClassesOptions of;
  Variable matrix = variable("total_confusion_matrix", none(), false);
};

struct MeanIoUBody final : MatrixBody {
  using MatrixBody::MatrixBody;
  Tensor compute() const override {
    Tensor right = sum(matrix * eye(classes, DType::Float64), {0});
    Tensor together = sum(matrix, {0}) + sum(matrix, {1}) - right;
    return divided(sum(divided(right, together)), sum(cast(together > 0, DType::Float64)));
  }
};

template <typename Body, typename... Args> std::shared_ptr<MetricBody> make(SourceLocation where, Args &&...args) {
  CallSite site(where);
  return std::make_shared<Body>(std::forward<Args>(args)...);
}

} // namespace

F1Score::F1Score(F1ScoreOptions of, std::string name, DType dtype, SourceLocation where)
    : Metric(make<F1Body>(where, of, std::move(name), dtype)) {
  made("F1Score", written(of), Direction::Up);
}
R2Score::R2Score(R2ScoreOptions of, std::string name, DType dtype, SourceLocation where)
    : Metric(make<R2Body>(where, of, std::move(name), dtype)) {
  made("R2Score", written(of), Direction::Up);
}
ConfusionMatrix::ConfusionMatrix(std::int64_t num_classes, ClassesOptions options, std::string name, DType dtype,
                                 SourceLocation where)
    : Metric(make<MatrixBody>(where, num_classes, options, std::move(name), dtype)) {
  Config config{{"num_classes", num_classes}};
  for (const auto &[key, value] : written(options))
    config.set(key, value);
  made("ConfusionMatrix", config, Direction::Unknown);
}
MeanIoU::MeanIoU(std::int64_t num_classes, ClassesOptions options, std::string name, DType dtype, SourceLocation where)
    : Metric(make<MeanIoUBody>(where, num_classes, options, std::move(name), dtype)) {
  Config config{{"num_classes", num_classes}};
  for (const auto &[key, value] : written(options))
    config.set(key, value);
  made("MeanIoU", config, Direction::Up);
}

} // namespace calque::metrics
