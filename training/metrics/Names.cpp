#include "Nearest.h"
#include "Options.h"
#include "StateBudget.h"
#include "absl/strings/str_cat.h"
#include "calque/callable.h"
#include "losses/Pair.h"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>

namespace calque::metrics {

using training::fail;

namespace {

struct Class {
  std::vector<std::string> names;      // of the class first
  std::optional<std::type_index> body; // of a user's own
  MetricMaker make;
};

struct Registry {
  std::mutex mutex;
  std::deque<Class> classes; // which stay where they are
  struct Function {
    std::function<Tensor(const Tensor &, const Tensor &)> function;
    Direction direction;
  };
  std::map<std::string, Function> functions;

  Registry() {
#define CALQUE_METRIC(Name, ...)                                                                                       \
  classes.push_back({{#Name, __VA_ARGS__}, std::nullopt, [](const Config &own, std::string name, DType dtype) {        \
                       ConfigReader(own, "metric " #Name).finish();                                                    \
                       return Metric(name.empty() ? Name() : Name(name, dtype));                                       \
                     }})
#define CALQUE_METRIC_WITH_OPTIONS(Name, ...)                                                                          \
  classes.push_back({{#Name, __VA_ARGS__}, std::nullopt, [](const Config &own, std::string name, DType dtype) {        \
                       Name##Options of;                                                                               \
                       ConfigReader reader(own, "metric " #Name);                                                      \
                       describe(reader, of);                                                                           \
                       reader.finish();                                                                                \
                       return Metric(name.empty() ? Name(of) : Name(of, name, dtype));                                 \
                     }})
#define CALQUE_METRIC_OF_CLASSES(Name)                                                                                 \
  classes.push_back({{#Name}, std::nullopt, [](const Config &own, std::string name, DType dtype) {                     \
                       std::int64_t classes = 0;                                                                       \
                       ClassesOptions of;                                                                              \
                       ConfigReader reader(own, "metric " #Name);                                                      \
                       reader("num_classes", classes);                                                                 \
                       describe(reader, of);                                                                           \
                       reader.finish();                                                                                \
                       return Metric(name.empty() ? Name(classes, of) : Name(classes, of, name, dtype));               \
                     }})
    CALQUE_METRIC(Accuracy, "accuracy", "acc");
    CALQUE_METRIC_WITH_OPTIONS(BinaryAccuracy, "binary_accuracy");
    CALQUE_METRIC(CategoricalAccuracy, "categorical_accuracy");
    CALQUE_METRIC(SparseCategoricalAccuracy, "sparse_categorical_accuracy");
    CALQUE_METRIC_WITH_OPTIONS(TopKCategoricalAccuracy, "top_k_categorical_accuracy");
    CALQUE_METRIC_WITH_OPTIONS(SparseTopKCategoricalAccuracy, "sparse_top_k_categorical_accuracy");
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
    CALQUE_METRIC_WITH_OPTIONS(CosineSimilarity, "cosine_similarity");
    CALQUE_METRIC_WITH_OPTIONS(BinaryCrossentropy, "binary_crossentropy", "bce", "BCE");
    CALQUE_METRIC_WITH_OPTIONS(CategoricalCrossentropy, "categorical_crossentropy");
    CALQUE_METRIC_WITH_OPTIONS(SparseCategoricalCrossentropy, "sparse_categorical_crossentropy");
    CALQUE_METRIC_WITH_OPTIONS(Precision, "precision");
    CALQUE_METRIC_WITH_OPTIONS(Recall, "recall");
    CALQUE_METRIC_WITH_OPTIONS(TruePositives, "true_positives");
    CALQUE_METRIC_WITH_OPTIONS(FalsePositives, "false_positives");
    CALQUE_METRIC_WITH_OPTIONS(TrueNegatives, "true_negatives");
    CALQUE_METRIC_WITH_OPTIONS(FalseNegatives, "false_negatives");
    CALQUE_METRIC_WITH_OPTIONS(AUC, "auc");
    CALQUE_METRIC_WITH_OPTIONS(F1Score, "f1_score");
    CALQUE_METRIC_WITH_OPTIONS(R2Score, "r2_score");
    // Options can't name these, which need more or are of values.
    CALQUE_METRIC_OF_CLASSES(ConfusionMatrix);
    CALQUE_METRIC_OF_CLASSES(MeanIoU);
    CALQUE_METRIC(Mean);
    CALQUE_METRIC(Sum);
#undef CALQUE_METRIC
#undef CALQUE_METRIC_WITH_OPTIONS
#undef CALQUE_METRIC_OF_CLASSES
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all = training::keysOf(functions);
    for (const Class &each : classes)
      if (each.names.size() > 1 || each.body)
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
  // The same of those that options may name.
  const Class *byName(const std::string &name) const {
    const Class *found = named(name);
    return found && (found->names.size() > 1 || found->body) ? found : nullptr;
  }
  const Class *of(std::type_index body) const {
    for (const Class &each : classes)
      if (each.body == body)
        return &each;
    return nullptr;
  }
  void checkNew(const std::string &name, std::optional<std::type_index> body, SourceLocation where) const {
    if (named(name) || functions.contains(name) || (body && of(*body)))
      fail<ValueError>(absl::StrCat("register_metric: there is a metric '", name, "' already"), where);
  }
};
Registry &registry() {
  static Registry known;
  return known;
}

constexpr const char *kOfFunction = "MeanMetricWrapper";
constexpr const char *kDirections[] = {"unknown", "down", "up"};

} // namespace

Metric get(const std::string &name, SourceLocation where) {
  Registry::Function known;
  {
    std::lock_guard lock(registry().mutex);
    if (const Class *found = registry().byName(name))
      return found->make({}, {}, DType::Float32);
    auto registered = registry().functions.find(name);
    if (registered == registry().functions.end())
      fail<LookupError>(
          absl::StrCat("metrics: no metric has the name '", name, "'; ", training::nearest(name, registry().names())),
          where);
    known = registered->second;
  }
  MeanMetricWrapper made(known.function, name);
  made.made(kOfFunction, {{"function", name}}, known.direction);
  return made;
}

bool isKnown(const std::string &name) {
  std::lock_guard lock(registry().mutex);
  return registry().byName(name) || registry().functions.contains(name);
}

void register_metric(const std::string &name, std::function<Tensor(const Tensor &, const Tensor &)> function,
                     Direction direction, SourceLocation where) {
  calque::detail::requireCallable(function, "register_metric", where);
  std::lock_guard lock(registry().mutex);
  registry().checkNew(name, std::nullopt, where);
  registry().functions.insert({name, {std::move(function), direction}});
}

void register_metric(const std::string &class_name, std::type_index body, MetricMaker make, SourceLocation where) {
  calque::detail::requireCallable(make, "register_metric", where);
  std::lock_guard lock(registry().mutex);
  registry().checkNew(class_name, body, where);
  registry().classes.push_back({{class_name}, body, std::move(make)});
}

Config serialize(const Metric &metric, SourceLocation where) {
  metric.name(where); // StateError for an empty handle
  const MetricBody &body = *metric.body();
  Config own = body.config_;
  std::string name = body.class_;
  if (name.empty()) {
    std::lock_guard lock(registry().mutex);
    const Class *found = registry().of(typeid(body));
    if (!found)
      fail<StateError>(
          absl::StrCat("serialize: the metric '", body.name(),
                       "' is of a function or a class that has no name; register_metric() gives it one, and use that"),
          where);
    name = found->names[0];
    own = body.own_config();
  }
  Config config{{"name", body.name()}, {"dtype", name_of(body.dtype())}};
  if (body.direction_ != body.ofClass)
    config.set("direction", kDirections[static_cast<std::size_t>(body.direction_)]);
  for (const auto &[key, value] : own)
    config.set(key, value);
  return {{"class_name", name}, {"config", config}};
}

Metric deserialize(const Config &config, SourceLocation where) {
  CallSite site(where, "deserialize");
  const training::StateBudget budget;
  const auto className = config.at("class_name", where).as<std::string>(where);
  Config own = config.contains("config") ? config.at("config").as<Config>(where) : Config();
  std::string name;
  DType dtype = DType::Float32;
  ConfigReader reader(own, "metric " + className);
  reader("name", name);
  reader("dtype", dtype);
  std::optional<Direction> direction;
  if (own.contains("direction")) {
    const auto text = own.at("direction").as<std::string>(where);
    const auto *found = std::find(std::begin(kDirections), std::end(kDirections), text);
    if (found == std::end(kDirections))
      fail<ValueError>(
          absl::StrCat("deserialize: the direction of a metric is 'up', 'down' or 'unknown', unlike '", text, "'"));
    direction = static_cast<Direction>(found - kDirections);
    own.erase("direction");
  }
  auto directed = [&](const Metric &metric) {
    if (direction)
      metric.set_direction(*direction, where);
    return metric;
  };
  own.erase("name");
  own.erase("dtype");
  auto unknown = [&](const std::string &what) {
    fail<LookupError>(
        absl::StrCat("deserialize: there is no metric '", what, "'; register_metric() makes one of your own known"));
  };
  if (className == kOfFunction) {
    const auto key = own.at("function", where).as<std::string>(where);
    Registry::Function known;
    {
      std::lock_guard lock(registry().mutex);
      if (auto found = registry().functions.find(key); found != registry().functions.end())
        known = found->second;
    }
    if (const training::LossFunction loss = training::lossNamed(key); loss && !known.function)
      known = {[loss](const Tensor &y_true, const Tensor &y_pred) { return loss(y_true, y_pred); }, Direction::Down};
    if (!known.function)
      unknown(key);
    MeanMetricWrapper made(known.function, name, dtype);
    made.body()->config_ = {{"function", key}};
    made.body()->class_ = kOfFunction;
    made.body()->direction_ = made.body()->ofClass = known.direction;
    return directed(made);
  }
  MetricMaker make;
  {
    std::lock_guard lock(registry().mutex);
    const Class *found = registry().named(className);
    if (!found)
      unknown(className);
    make = found->make;
  }
  return directed(make(own, name, dtype));
}

} // namespace calque::metrics
