#include "Nearest.h"
#include "Support.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "calque/metrics.h"

namespace calque::metrics {

Metric get(const std::string &name, SourceLocation where) {
  using Make = Metric (*)();
  static const absl::flat_hash_map<std::string, Make> known = [] {
    absl::flat_hash_map<std::string, Make> made;
    auto add = [&]<typename M>(std::type_identity<M>, std::initializer_list<const char *> names) {
      for (const char *each : names)
        made.emplace(each, []() -> Metric { return M(); });
    };
#define CALQUE_METRIC(Name, ...) add(std::type_identity<Name>(), {#Name, __VA_ARGS__})
    CALQUE_METRIC(Accuracy, "accuracy", "acc");
    CALQUE_METRIC(BinaryAccuracy, "binary_accuracy");
    CALQUE_METRIC(CategoricalAccuracy, "categorical_accuracy");
    CALQUE_METRIC(SparseCategoricalAccuracy, "sparse_categorical_accuracy");
    CALQUE_METRIC(TopKCategoricalAccuracy, "top_k_categorical_accuracy");
    CALQUE_METRIC(SparseTopKCategoricalAccuracy, "sparse_top_k_categorical_accuracy");
    CALQUE_METRIC(MeanSquaredError, "mean_squared_error", "mse", "MSE");
    CALQUE_METRIC(RootMeanSquaredError, "root_mean_squared_error", "rmse", "RMSE");
    CALQUE_METRIC(MeanAbsoluteError, "mean_absolute_error", "mae", "MAE");
    CALQUE_METRIC(MeanAbsolutePercentageError, "mean_absolute_percentage_error", "mape", "MAPE");
    CALQUE_METRIC(MeanSquaredLogarithmicError, "mean_squared_logarithmic_error", "msle", "MSLE");
    CALQUE_METRIC(KLDivergence, "kl_divergence", "kld", "KLD");
    CALQUE_METRIC(Poisson, "poisson");
    CALQUE_METRIC(LogCosh, "log_cosh", "logcosh");
    CALQUE_METRIC(Hinge, "hinge");
    CALQUE_METRIC(SquaredHinge, "squared_hinge");
    CALQUE_METRIC(CategoricalHinge, "categorical_hinge");
    CALQUE_METRIC(CosineSimilarity, "cosine_similarity");
    CALQUE_METRIC(BinaryCrossentropy, "binary_crossentropy", "bce", "BCE");
    CALQUE_METRIC(CategoricalCrossentropy, "categorical_crossentropy");
    CALQUE_METRIC(SparseCategoricalCrossentropy, "sparse_categorical_crossentropy");
    CALQUE_METRIC(Precision, "precision");
    CALQUE_METRIC(Recall, "recall");
    CALQUE_METRIC(TruePositives, "true_positives");
    CALQUE_METRIC(FalsePositives, "false_positives");
    CALQUE_METRIC(TrueNegatives, "true_negatives");
    CALQUE_METRIC(FalseNegatives, "false_negatives");
    CALQUE_METRIC(AUC, "auc");
    CALQUE_METRIC(F1Score, "f1_score");
    CALQUE_METRIC(R2Score, "r2_score");
#undef CALQUE_METRIC
    return made;
  }();
  auto found = known.find(name);
  if (found == known.end())
    training::fail<LookupError>(absl::StrCat("metrics: no metric has the name '", name, "'; ",
                                             training::nearest(name, training::keysOf(known))),
                                where);
  return found->second();
}

} // namespace calque::metrics
