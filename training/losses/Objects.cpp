// The loss objects of the functions, and their names.
#include "Fields.h"
#include "Labels.h"
#include "Nearest.h"
#include "Pair.h"
#include "absl/strings/str_cat.h"
#include "calque/callable.h"
#include "calque/losses.h"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>

namespace calque::losses {

using training::fail;

namespace {
LossOptions named(LossOptions options, const char *name) {
  if (options.name.empty())
    options.name = name;
  return options;
}
} // namespace

//===-- Options -----------------------------------------------------------------------------------===//

namespace {
template <typename A> void describe(A &a, HuberOptions &of) { a("delta", of.delta); }
template <typename A> void describe(A &a, BinaryCrossentropyOptions &of) {
  a("from_logits", of.from_logits);
  a("label_smoothing", of.label_smoothing);
  a("axis", of.axis);
}
template <typename A> void describe(A &a, BinaryFocalCrossentropyOptions &of) {
  a("from_logits", of.from_logits);
  a("label_smoothing", of.label_smoothing);
  a("gamma", of.gamma);
  a("apply_class_balancing", of.apply_class_balancing);
  a("alpha", of.alpha);
  a("axis", of.axis);
}
template <typename A> void describe(A &a, CategoricalCrossentropyOptions &of) {
  a("from_logits", of.from_logits);
  a("label_smoothing", of.label_smoothing);
  a("axis", of.axis);
}
template <typename A> void describe(A &a, CategoricalFocalCrossentropyOptions &of) {
  a("from_logits", of.from_logits);
  a("label_smoothing", of.label_smoothing);
  a("gamma", of.gamma);
  a("alpha", of.alpha);
  a("axis", of.axis);
}
template <typename A> void describe(A &a, SparseCategoricalCrossentropyOptions &of) {
  a("from_logits", of.from_logits);
  a("ignore_class", of.ignore_class);
}
template <typename A> void describe(A &a, CosineSimilarityOptions &of) { a("axis", of.axis); }

template <typename Options> Config written(Options of) {
  ConfigWriter writer;
  describe(writer, of);
  return std::move(writer.config);
}
} // namespace

//===-- Objects -----------------------------------------------------------------------------------===//

#define CALQUE_DEFINE_LOSS(Name, function)                                                                             \
  Name::Name(LossOptions options) : Loss(named(std::move(options), #function)) {}                                      \
  Tensor Name::call(const Tensor &y_true, const Tensor &y_pred) const { return function(y_true, y_pred); }
#define CALQUE_DEFINE_LOSS_WITH_OPTIONS(Name, function)                                                                \
  Name::Name(Name##Options of, LossOptions options) : Loss(named(std::move(options), #function)), of(std::move(of)) {} \
  Config Name::own_config() const { return written(of); }                                                              \
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

//===-- Names -------------------------------------------------------------------------------------===//

namespace {

struct Class {
  std::vector<std::string> names; // of the class first
  std::type_index type;
  LossMaker make;
};

struct Registry {
  std::mutex mutex;
  std::deque<Class> classes; // which stay where they are
  std::map<std::string, std::function<Tensor(const Tensor &, const Tensor &)>> functions;

  Registry() {
#define CALQUE_LOSS(Name, ...)                                                                                         \
  classes.push_back({{#Name, __VA_ARGS__}, typeid(Name), [](const Config &own, LossOptions options) {                  \
                       ConfigReader(own, "loss " #Name).finish();                                                      \
                       return AnyLoss(Name(std::move(options)));                                                       \
                     }})
#define CALQUE_LOSS_WITH_OPTIONS(Name, ...)                                                                            \
  classes.push_back({{#Name, __VA_ARGS__}, typeid(Name), [](const Config &own, LossOptions options) {                  \
                       Name##Options of;                                                                               \
                       ConfigReader reader(own, "loss " #Name);                                                        \
                       describe(reader, of);                                                                           \
                       reader.finish();                                                                                \
                       return AnyLoss(Name(of, std::move(options)));                                                   \
                     }})
    CALQUE_LOSS(MeanSquaredError, "mean_squared_error", "mse", "MSE");
    CALQUE_LOSS(MeanAbsoluteError, "mean_absolute_error", "mae", "MAE");
    CALQUE_LOSS(MeanAbsolutePercentageError, "mean_absolute_percentage_error", "mape", "MAPE");
    CALQUE_LOSS(MeanSquaredLogarithmicError, "mean_squared_logarithmic_error", "msle", "MSLE");
    CALQUE_LOSS_WITH_OPTIONS(Huber, "huber");
    CALQUE_LOSS(LogCosh, "log_cosh", "logcosh");
    CALQUE_LOSS_WITH_OPTIONS(BinaryCrossentropy, "binary_crossentropy", "bce", "BCE");
    CALQUE_LOSS_WITH_OPTIONS(BinaryFocalCrossentropy, "binary_focal_crossentropy");
    CALQUE_LOSS_WITH_OPTIONS(CategoricalCrossentropy, "categorical_crossentropy");
    CALQUE_LOSS_WITH_OPTIONS(CategoricalFocalCrossentropy, "categorical_focal_crossentropy");
    CALQUE_LOSS_WITH_OPTIONS(SparseCategoricalCrossentropy, "sparse_categorical_crossentropy");
    CALQUE_LOSS(KLDivergence, "kl_divergence", "kld", "KLD");
    CALQUE_LOSS(Poisson, "poisson");
    CALQUE_LOSS(Hinge, "hinge");
    CALQUE_LOSS(SquaredHinge, "squared_hinge");
    CALQUE_LOSS(CategoricalHinge, "categorical_hinge");
    CALQUE_LOSS_WITH_OPTIONS(CosineSimilarity, "cosine_similarity");
#undef CALQUE_LOSS
#undef CALQUE_LOSS_WITH_OPTIONS
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all = training::keysOf(functions);
    for (const Class &each : classes)
      all.insert(all.end(), each.names.begin(), each.names.end());
    return all;
  }
  // Null where there is none. The lock must be held.
  const Class *named(const std::string &name) const {
    for (const Class &each : classes)
      if (std::find(each.names.begin(), each.names.end(), name) != each.names.end())
        return &each;
    return nullptr;
  }
  const Class *of(std::type_index type) const {
    for (const Class &each : classes)
      if (each.type == type)
        return &each;
    return nullptr;
  }
  void checkNew(const std::string &name, std::optional<std::type_index> type, SourceLocation where) const {
    if (named(name) || functions.contains(name) || (type && of(*type)))
      fail<ValueError>(absl::StrCat("register_loss: there is a loss '", name, "' already"), where);
  }
};
Registry &registry() {
  static Registry known;
  return known;
}

const char *const reductions[] = {"sum_over_batch_size", "sum", "none", "mean_with_sample_weight"};

} // namespace

AnyLoss get(const std::string &name, SourceLocation where) {
  Registry &all = registry();
  std::lock_guard lock(all.mutex);
  if (const Class *found = all.named(name))
    return found->make({}, {});
  auto function = all.functions.find(name);
  if (function == all.functions.end())
    fail<LookupError>(absl::StrCat("losses: no loss has the name '", name, "'; ", training::nearest(name, all.names())),
                      where);
  return AnyLoss::ofFunction(function->second, name);
}

void register_loss(const std::string &name, std::function<Tensor(const Tensor &, const Tensor &)> function,
                   SourceLocation where) {
  calque::detail::requireCallable(function, "register_loss", where);
  std::lock_guard lock(registry().mutex);
  registry().checkNew(name, std::nullopt, where);
  registry().functions.emplace(name, std::move(function));
}

void register_loss(const std::string &class_name, std::type_index type, LossMaker make, SourceLocation where) {
  calque::detail::requireCallable(make, "register_loss", where);
  std::lock_guard lock(registry().mutex);
  registry().checkNew(class_name, type, where);
  registry().classes.push_back({{class_name}, type, std::move(make)});
}

Config serialize(const AnyLoss &loss, SourceLocation where) {
  if (!loss.function().empty())
    return {{"function", loss.function()}};
  const Loss &object = loss.loss();
  std::lock_guard lock(registry().mutex);
  const Class *found = registry().of(typeid(object));
  if (!found)
    fail<StateError>(
        absl::StrCat("serialize: the loss '", loss.name(),
                     "' is a function or a class that has no name; register_loss() gives it one, and use that"),
        where);
  Config config{{"name", loss.name()}, {"reduction", reductions[static_cast<std::size_t>(object.reduction())]}};
  for (const auto &[name, value] : object.own_config())
    config.set(name, value);
  return {{"class_name", found->names[0]}, {"config", config}};
}

AnyLoss deserialize(const ConfigValue &from, SourceLocation where) {
  CallSite site(where, "deserialize");
  const auto config = from.as<Config>(where);
  const bool isFunction = config.contains("function");
  const auto name = config.at(isFunction ? "function" : "class_name", where).as<std::string>(where);
  if (isFunction)
    if (training::LossFunction function = training::lossNamed(name))
      return {function};
  LossMaker make;
  {
    std::lock_guard lock(registry().mutex);
    const Class *found = isFunction ? nullptr : registry().named(name);
    auto function = registry().functions.find(name);
    if (isFunction ? function == registry().functions.end() : !found)
      fail<LookupError>(
          absl::StrCat("deserialize: there is no loss '", name, "'; register_loss() makes one of your own known"));
    if (isFunction)
      return AnyLoss::ofFunction(function->second, name);
    make = found->make;
  }
  Config own = config.contains("config") ? config.at("config").as<Config>(where) : Config();
  LossOptions options;
  if (const ConfigValue *called = own.find("name"))
    options.name = called->as<std::string>(where);
  if (const ConfigValue *given = own.find("reduction")) {
    const auto text = given->as<std::string>(where);
    const auto *known = std::find(std::begin(reductions), std::end(reductions), text);
    if (known == std::end(reductions))
      fail<ValueError>(absl::StrCat("deserialize: a loss has no reduction '", text, "'"));
    options.reduction = static_cast<Reduction>(known - std::begin(reductions));
  }
  own.erase("name");
  own.erase("reduction");
  return make(own, std::move(options));
}

} // namespace calque::losses

namespace calque::training {

namespace {
constexpr std::pair<const char *, LossFunction> functions[] = {
#define CALQUE_LOSS(name) {#name, losses::name}
    CALQUE_LOSS(mean_squared_error),
    CALQUE_LOSS(mean_absolute_error),
    CALQUE_LOSS(mean_absolute_percentage_error),
    CALQUE_LOSS(mean_squared_logarithmic_error),
    CALQUE_LOSS(huber),
    CALQUE_LOSS(log_cosh),
    CALQUE_LOSS(binary_crossentropy),
    CALQUE_LOSS(binary_focal_crossentropy),
    CALQUE_LOSS(categorical_crossentropy),
    CALQUE_LOSS(categorical_focal_crossentropy),
    CALQUE_LOSS(sparse_categorical_crossentropy),
    CALQUE_LOSS(kl_divergence),
    CALQUE_LOSS(poisson),
    CALQUE_LOSS(hinge),
    CALQUE_LOSS(squared_hinge),
    CALQUE_LOSS(categorical_hinge),
    CALQUE_LOSS(cosine_similarity),
#undef CALQUE_LOSS
};
} // namespace

std::string nameOfLoss(LossFunction function) {
  for (const auto &[name, known] : functions)
    if (known == function)
      return name;
  return {};
}
LossFunction lossNamed(const std::string &name) {
  for (const auto &[known, function] : functions)
    if (known == name)
      return function;
  return nullptr;
}

} // namespace calque::training
