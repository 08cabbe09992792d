// The metrics that count right and wrong decisions.
#include "MeanBody.h"
#include "Options.h"
#include "StateBudget.h"
#include "absl/strings/str_cat.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace calque::metrics {

using training::alongExamples;
using training::divided;
using training::fail;
using training::kEpsilon;
using training::pairOf;

namespace {

// What is below every threshold that counts.
constexpr double kNever = -1e10;

// Counts at thresholds, [T] each.
struct ThresholdsBody : MetricBody {
  ThresholdsBody(ThresholdOptions of, std::string name, DType dtype)
      : MetricBody(std::move(name), dtype), of(withDefault(of)) {
    for (double threshold : of.thresholds)
      if (!(threshold >= 0 && threshold <= 1))
        fail<ValueError>(absl::StrCat(this->name(), ": thresholds are in [0, 1], unlike ", Number(threshold).str()));
    if (of.top_k && *of.top_k < 1)
      fail<ValueError>(absl::StrCat(this->name(), ": top_k is at least 1, unlike ", *of.top_k));
  }

  void update(const Tensor &y_true, const Tensor &y_pred, const std::optional<Tensor> &sample_weight) override {
    auto [y, p] = pairOf(name().c_str(), y_true, prepared(y_pred));
    if (of.top_k) {
      Tensor among = one_hot(top_k(p, *of.top_k).indices, p.shape().back(), p.dtype());
      p = where(sum(among, {-2}) > 0, p, kNever);
    }
    if (of.class_id) {
      Tensor id = scalar(*of.class_id);
      y = gather(y, id, -1);
      p = gather(p, id, -1);
    }
    Tensor w = ones(p.shape(), DType::Float64);
    if (sample_weight)
      w = w * alongExamples(name().c_str(), "weights", cast(*sample_weight, DType::Float64), p);
    w = reshape(counted(p, w), {-1});
    const Tensor isPositive = reshape(y, {-1}) != 0, ofPositives = where(isPositive, w, 0),
                 ofNegatives = where(isPositive, 0, w);
    constexpr std::size_t kFew = 8;
    const auto [tp, fp] = of.thresholds.size() <= kFew ? foundAtEach(reshape(p, {-1}), ofPositives, ofNegatives)
                                                       : foundInBuckets(reshape(p, {-1}), ofPositives, ofNegatives);
    truePositives.assign_add(tp);
    falsePositives.assign_add(fp);
    falseNegatives.assign_add(sum(ofPositives) - tp);
    trueNegatives.assign_add(sum(ofNegatives) - fp);
  }

  // The weights of the positives and of the negatives whose predictions are above a threshold, [T] each.
  struct Found {
    Tensor positives, negatives;
  };
  // Compares each prediction with each threshold.
  Found foundAtEach(const Tensor &p, const Tensor &ofPositives, const Tensor &ofNegatives) const {
    Tensor found = expand_dims(p, {0}) > expand_dims(cast(tensor(of.thresholds), p.dtype()), {1});
    return {sum(where(found, expand_dims(ofPositives, {0}), 0), {1}),
            sum(where(found, expand_dims(ofNegatives, {0}), 0), {1})};
  }
  // Counts the predictions that are above so many of the ordered thresholds and no more, in time and memory of
  // predictions and thresholds, not of their product.
  Found foundInBuckets(const Tensor &p, const Tensor &ofPositives, const Tensor &ofNegatives) const {
    const auto count = static_cast<std::int64_t>(of.thresholds.size());
    std::vector<std::int64_t> order(of.thresholds.size()), rank(order.size());
    std::iota(order.begin(), order.end(), 0);
    auto valueOf = [&](std::int64_t i) { return of.thresholds[static_cast<std::size_t>(i)]; };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int64_t i, std::int64_t k) { return valueOf(i) < valueOf(k); });
    std::vector<double> ordered;
    for (std::int64_t i : order) {
      rank[static_cast<std::size_t>(i)] = std::ssize(ordered);
      ordered.push_back(valueOf(i));
    }
    // How many thresholds each prediction is above, bit by bit. NaN is above none.
    const Tensor sorted = cast(tensor(ordered), p.dtype());
    Tensor above = zeros(p.shape(), DType::Int64);
    std::int64_t step = 1;
    while (step * 2 <= count)
      step *= 2;
    for (; step > 0; step /= 2) {
      Tensor next = above + step;
      above = where(logical_and(next <= count, p > gather(sorted, minimum(next, count) - 1)), next, above);
    }
    // What is above more than k thresholds is above the k-th.
    auto weightsAbove = [&](const Tensor &weights) {
      Tensor buckets = scatter_add(zeros({count + 1}, DType::Float64), above, weights);
      Tensor atSorted = slice(cumsum(buckets, 0, true, true), {0}, {count});
      return std::is_sorted(order.begin(), order.end()) ? atSorted : gather(atSorted, tensor(rank));
    };
    return {weightsAbove(ofPositives), weightsAbove(ofNegatives)};
  }

  static ThresholdOptions withDefault(ThresholdOptions of) {
    if (of.thresholds.empty())
      of.thresholds = {of.top_k ? kNever : 0.5};
    return of;
  }
  virtual Tensor prepared(const Tensor &y_pred) const { return y_pred; }
  // What each prediction counts for.
  virtual Tensor counted(const Tensor &, const Tensor &weights) const { return weights; }
  // Of one threshold, a scalar.
  Tensor squeezed(const Tensor &x) const { return of.thresholds.size() == 1 ? reshape(x, {}) : x; }

  ThresholdOptions of;
  Tensor none = zeros({static_cast<std::int64_t>(of.thresholds.size())}, DType::Float64);
  Variable truePositives = variable("true_positives", none, false);
  Variable falsePositives = variable("false_positives", none, false);
  Variable trueNegatives = variable("true_negatives", none, false);
  Variable falseNegatives = variable("false_negatives", none, false);
};

template <typename Compute> struct ThresholdsMetric final : ThresholdsBody {
  ThresholdsMetric(ThresholdOptions of, std::string name, DType dtype, Compute result)
      : ThresholdsBody(std::move(of), std::move(name), dtype), result(std::move(result)) {}
  Tensor compute() const override { return squeezed(result(*this)); }
  const Compute result;
};

template <typename Compute>
std::shared_ptr<MetricBody> atThresholds(ThresholdOptions of, std::string name, DType dtype, SourceLocation where,
                                         Compute compute) {
  CallSite site(where);
  return std::make_shared<ThresholdsMetric<Compute>>(std::move(of), std::move(name), dtype, std::move(compute));
}

} // namespace

Precision::Precision(PrecisionOptions of, std::string name, DType dtype, SourceLocation where)
    : Metric(atThresholds(of, std::move(name), dtype, where, [](const ThresholdsBody &of) {
        return divided(of.truePositives, of.truePositives + of.falsePositives);
      })) {
  made("Precision", written(of), Direction::Up);
}
Recall::Recall(RecallOptions of, std::string name, DType dtype, SourceLocation where)
    : Metric(atThresholds(of, std::move(name), dtype, where, [](const ThresholdsBody &of) {
        return divided(of.truePositives, of.truePositives + of.falseNegatives);
      })) {
  made("Recall", written(of), Direction::Up);
}
#define CALQUE_DEFINE_COUNT(Name, counted, direction)                                                                  \
  Name::Name(CountOptions of, std::string name, DType dtype, SourceLocation where)                                     \
      : Metric(atThresholds({.thresholds = of.thresholds}, std::move(name), dtype, where,                              \
                            [](const ThresholdsBody &body) { return body.counted.value(); })) {                        \
    made(#Name, written(of), Direction::direction);                                                                    \
  }
CALQUE_DEFINE_COUNT(TruePositives, truePositives, Up)
CALQUE_DEFINE_COUNT(FalsePositives, falsePositives, Down)
CALQUE_DEFINE_COUNT(TrueNegatives, trueNegatives, Up)
CALQUE_DEFINE_COUNT(FalseNegatives, falseNegatives, Down)
#undef CALQUE_DEFINE_COUNT

//===-- Areas -------------------------------------------------------------------------------------===//
namespace {

struct AUCBody final : ThresholdsBody {
  AUCBody(AUCOptions options, std::string name, DType dtype)
      : ThresholdsBody({.thresholds = between(options, name)}, name, dtype), options(std::move(options)) {
    auto check = [&](const char *what, const std::string &text, std::initializer_list<const char *> known) {
      for (const char *each : known)
        if (text == each)
          return;
      fail<ValueError>(absl::StrCat(this->name(), ": there is no ", what, " '", text, "'"));
    };
    check("curve", this->options.curve, {"ROC", "PR"});
    check("summation method", this->options.summation_method, {"interpolation", "minoring", "majoring"});
    // Everything is above the first, and nothing above the last.
    of.thresholds.front() = -kEpsilon;
    of.thresholds.back() = 1 + kEpsilon;
  }

  static std::vector<double> between(const AUCOptions &options, const std::string &name) {
    std::vector<double> all = options.thresholds;
    std::sort(all.begin(), all.end());
    if (all.empty()) {
      if (options.num_thresholds < 2)
        fail<ValueError>(absl::StrCat(name, ": there are at least 2 thresholds, unlike ", options.num_thresholds));
      constexpr double kHeld = 6 * sizeof(double); // of a threshold: itself, and what is counted at it
      training::StateBudget::take(name, kHeld * static_cast<double>(options.num_thresholds));
      for (std::int64_t i = 1; i < options.num_thresholds - 1; ++i)
        all.push_back(static_cast<double>(i) / static_cast<double>(options.num_thresholds - 1));
    }
    all.insert(all.begin(), 0);
    all.push_back(1);
    return all;
  }

  Tensor prepared(const Tensor &y_pred) const override { return options.from_logits ? sigmoid(y_pred) : y_pred; }
  // NaN is below all thresholds; the area would hide it.
  Tensor counted(const Tensor &y_pred, const Tensor &weights) const override {
    return where(logical_and(isnan(y_pred), weights != 0), std::numeric_limits<double>::quiet_NaN(), weights);
  }

  Tensor compute() const override {
    const auto count = static_cast<std::int64_t>(of.thresholds.size());
    auto left = [&](const Tensor &x) { return slice(x, {0}, {count - 1}); };
    auto right = [&](const Tensor &x) { return slice(x, {1}, {count}); };
    const Tensor tp = truePositives.value(), fp = falsePositives.value(), fn = falseNegatives.value();
    if (options.curve == "PR" && options.summation_method == "interpolation") {
      // Between thresholds TP is linear in P = TP + FP, so that the area is the integral of TP / P.
      Tensor dtp = left(tp) - right(tp), p = tp + fp;
      Tensor slope = divided(dtp, maximum(left(p) - right(p), 0)), intercept = right(tp) - slope * right(p);
      Tensor both = logical_and(left(p) > 0, right(p) > 0);
      Tensor ratio = where(both, left(p) / where(both, right(p), 1), 1);
      return sum(divided(slope * (dtp + intercept * log(ratio)), maximum(right(tp) + right(fn), 0)));
    }
    const Tensor recall = divided(tp, tp + fn);
    const bool isROC = options.curve == "ROC";
    const Tensor x = isROC ? divided(fp, fp + trueNegatives) : recall, y = isROC ? recall : divided(tp, tp + fp);
    Tensor heights = options.summation_method == "interpolation" ? (left(y) + right(y)) / 2
                     : options.summation_method == "minoring"    ? minimum(left(y), right(y))
                                                                 : maximum(left(y), right(y));
    return sum((left(x) - right(x)) * heights);
  }

  const AUCOptions options;
};

} // namespace

AUC::AUC(AUCOptions of, std::string name, DType dtype, SourceLocation where)
    : Metric([&] {
        CallSite site(where);
        return std::make_shared<AUCBody>(of, std::move(name), dtype);
      }()) {
  made("AUC", written(of), Direction::Up);
}

} // namespace calque::metrics
