// The loss objects of the functions, and their names.
#include "Labels.h"
#include "Nearest.h"
#include "Support.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "calque/losses.h"

namespace calque::losses {

namespace {
LossOptions named(LossOptions options, const char *name) {
  if (options.name.empty())
    options.name = name;
  return options;
}
} // namespace

#define CALQUE_DEFINE_LOSS(Name, function)                                                                             \
  Name::Name(LossOptions options) : Loss(named(std::move(options), #function)) {}                                      \
  Tensor Name::call(const Tensor &y_true, const Tensor &y_pred) const { return function(y_true, y_pred); }
#define CALQUE_DEFINE_LOSS_WITH_OPTIONS(Name, function)                                                                \
  Name::Name(Name##Options of, LossOptions options) : Loss(named(std::move(options), #function)), of(std::move(of)) {} \
  Tensor Name::call(const Tensor &y_true, const Tensor &y_pred) const { return function(y_true, y_pred, of); }
CALQUE_DEFINE_LOSS(MeanSquaredError, mean_squared_error)
CALQUE_DEFINE_LOSS(MeanAbsoluteError, mean_absolute_error)
CALQUE_DEFINE_LOSS(MeanAbsolutePercentageError, mean_absolute_percentage_error)
CALQUE_DEFINE_LOSS(MeanSquaredLogarithmicError, mean_squared_logarithmic_error)
CALQUE_DEFINE_LOSS_WITH_OPTIONS(Huber, huber)
CALQUE_DEFINE_LOSS(LogCosh, log_cosh)
CALQUE_DEFINE_LOSS_WITH_OPTIONS(BinaryCrossentropy, binary_crossentropy)
CALQUE_DEFINE_LOSS_WITH_OPTIONS(BinaryFocalCrossentropy, binary_focal_crossentropy)
CALQUE_DEFINE_LOSS_WITH_OPTIONS(CategoricalCrossentropy, categorical_crossentropy)
CALQUE_DEFINE_LOSS_WITH_OPTIONS(CategoricalFocalCrossentropy, categorical_focal_crossentropy)
CALQUE_DEFINE_LOSS_WITH_OPTIONS(SparseCategoricalCrossentropy, sparse_categorical_crossentropy)
CALQUE_DEFINE_LOSS(KLDivergence, kl_divergence)
CALQUE_DEFINE_LOSS(Poisson, poisson)
CALQUE_DEFINE_LOSS(Hinge, hinge)
CALQUE_DEFINE_LOSS(SquaredHinge, squared_hinge)
CALQUE_DEFINE_LOSS(CategoricalHinge, categorical_hinge)
CALQUE_DEFINE_LOSS_WITH_OPTIONS(CosineSimilarity, cosine_similarity)
#undef CALQUE_DEFINE_LOSS
#undef CALQUE_DEFINE_LOSS_WITH_OPTIONS

std::optional<Tensor> SparseCategoricalCrossentropy::mask(const Tensor &y_true, const Tensor &y_pred) const {
  if (!of.ignore_class)
    return std::nullopt;
  return training::labelsFor("sparse_categorical_crossentropy", y_true, y_pred) != *of.ignore_class;
}

AnyLoss get(const std::string &name, SourceLocation where) {
  using Make = AnyLoss (*)();
  static const absl::flat_hash_map<std::string, Make> known = [] {
    absl::flat_hash_map<std::string, Make> made;
    auto add = [&]<typename L>(std::type_identity<L>, std::initializer_list<const char *> names) {
      for (const char *each : names)
        made.emplace(each, [] { return AnyLoss(L()); });
    };
#define CALQUE_LOSS(Name, ...) add(std::type_identity<Name>(), {#Name, __VA_ARGS__})
    CALQUE_LOSS(MeanSquaredError, "mean_squared_error", "mse", "MSE");
    CALQUE_LOSS(MeanAbsoluteError, "mean_absolute_error", "mae", "MAE");
    CALQUE_LOSS(MeanAbsolutePercentageError, "mean_absolute_percentage_error", "mape", "MAPE");
    CALQUE_LOSS(MeanSquaredLogarithmicError, "mean_squared_logarithmic_error", "msle", "MSLE");
    CALQUE_LOSS(Huber, "huber");
    CALQUE_LOSS(LogCosh, "log_cosh", "logcosh");
    CALQUE_LOSS(BinaryCrossentropy, "binary_crossentropy", "bce", "BCE");
    CALQUE_LOSS(BinaryFocalCrossentropy, "binary_focal_crossentropy");
    CALQUE_LOSS(CategoricalCrossentropy, "categorical_crossentropy");
    CALQUE_LOSS(CategoricalFocalCrossentropy, "categorical_focal_crossentropy");
    CALQUE_LOSS(SparseCategoricalCrossentropy, "sparse_categorical_crossentropy");
    CALQUE_LOSS(KLDivergence, "kl_divergence", "kld", "KLD");
    CALQUE_LOSS(Poisson, "poisson");
    CALQUE_LOSS(Hinge, "hinge");
    CALQUE_LOSS(SquaredHinge, "squared_hinge");
    CALQUE_LOSS(CategoricalHinge, "categorical_hinge");
    CALQUE_LOSS(CosineSimilarity, "cosine_similarity");
#undef CALQUE_LOSS
    return made;
  }();
  auto found = known.find(name);
  if (found == known.end())
    training::fail<LookupError>(
        absl::StrCat("losses: no loss has the name '", name, "'; ", training::nearest(name, training::keysOf(known))),
        where);
  return found->second();
}

} // namespace calque::losses
