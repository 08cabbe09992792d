// Whole models in files: checkpoints with a text that says how the model is made.
#include "Fields.h"
#include "Files.h"
#include "WeightBudget.h"
#include "calque/checkpoint.h"
#include "calque/layers/registry.h"
#include "metrics/StateBudget.h"
#include "models/Trainer.h"

#include <algorithm>

namespace calque {

using training::fail;
using training::listed;

namespace {

constexpr std::int64_t kVersion = 1; // of the structure

//===-- Options of compile() ----------------------------------------------------------------------===//

// {"all": x}, {"list": [x, null]} or {"map": {"name": x}}; null for none.
template <typename T, typename ToConfig> ConfigValue configOf(const PerOutput<T> &option, const ToConfig &toConfig) {
  auto one = [&](const std::optional<T> &value) { return value ? ConfigValue(toConfig(*value)) : ConfigValue(); };
  if (option.all())
    return Config{{"all", one(option.all())}};
  if (!option.list().empty()) {
    ConfigValue::List list;
    for (const auto &each : option.list())
      list.push_back(one(each));
    return Config{{"list", list}};
  }
  if (option.map().empty())
    return {};
  Config map;
  for (const auto &[name, value] : option.map())
    map.set(name, one(value));
  return Config{{"map", map}};
}
template <typename T, typename FromConfig>
PerOutput<T> perOutputOf(const ConfigValue &from, const FromConfig &fromConfig) {
  if (from.is_null())
    return {};
  auto one = [&](const ConfigValue &value) {
    return value.is_null() ? std::optional<T>() : std::optional<T>(fromConfig(value));
  };
  const auto config = from.as<Config>(SourceLocation());
  if (const ConfigValue *all = config.find("all"))
    return {fromConfig(*all)};
  if (const ConfigValue *list = config.find("list")) {
    std::vector<std::optional<T>> made;
    for (const ConfigValue &each : list->as<ConfigValue::List>(SourceLocation()))
      made.push_back(one(each));
    return {made};
  }
  typename PerOutput<T>::Map map;
  for (const auto &[name, value] : config.at("map", {}).as<Config>(SourceLocation()))
    map.emplace(name, one(value));
  return {map};
}

// A metric is its name, as it was given, or its config.
ConfigValue configOf(const MetricsOption::List &metrics, SourceLocation where) {
  ConfigValue::List list;
  for (const AnyMetric &each : metrics)
    if (each.metric())
      list.push_back(metrics::serialize(*each.metric(), where));
    else
      list.push_back(each.name());
  return list;
}
MetricsOption::List listOf(const ConfigValue &from, SourceLocation where) {
  MetricsOption::List metrics;
  for (const ConfigValue &each : from.as<ConfigValue::List>(where))
    if (each.is<std::string>())
      metrics.emplace_back(each.as<std::string>(where), where);
    else
      metrics.emplace_back(metrics::deserialize(each.as<Config>(where), where));
  return metrics;
}
ConfigValue configOf(const MetricsOption &option, SourceLocation where) {
  if (option.empty())
    return {};
  if (option.isFlat())
    return Config{{"all", configOf(option.lists()[0], where)}};
  if (!option.lists().empty()) {
    ConfigValue::List lists;
    for (const MetricsOption::List &each : option.lists())
      lists.push_back(configOf(each, where));
    return Config{{"list", lists}};
  }
  Config map;
  for (const auto &[name, list] : option.map())
    map.set(name, configOf(list, where));
  return Config{{"map", map}};
}
MetricsOption metricsOf(const ConfigValue &from, SourceLocation where) {
  if (from.is_null())
    return {};
  const auto config = from.as<Config>(where);
  if (const ConfigValue *all = config.find("all"))
    return {listOf(*all, where)};
  if (const ConfigValue *lists = config.find("list")) {
    std::vector<MetricsOption::List> made;
    for (const ConfigValue &each : lists->as<ConfigValue::List>(where))
      made.push_back(listOf(each, where));
    return {made};
  }
  std::map<std::string, MetricsOption::List> map;
  for (const auto &[name, list] : config.at("map", where).as<Config>(where))
    map.emplace(name, listOf(list, where));
  return {map};
}

Config configOf(const CompileOptions &options, Model &model, SourceLocation where) {
  Config config{{"optimizer", optimizers::serialize(options.optimizer, where)}};
  ConfigValue::List excluded;
  const std::vector<std::pair<std::string, Variable>> named = model.named_variables(where);
  for (const Variable &each : options.optimizer.excluded_from_weight_decay(model.variables(where)))
    for (const auto &[path, variable] : named)
      if (variable.same_as(each))
        excluded.push_back(path);
  config.set("without_weight_decay", excluded);
  config.set("loss",
             configOf(options.loss, [&](const losses::AnyLoss &loss) { return losses::serialize(loss, where); }));
  config.set("loss_weights", configOf(options.loss_weights, [](double weight) { return weight; }));
  config.set("metrics", configOf(options.metrics, where));
  config.set("weighted_metrics", configOf(options.weighted_metrics, where));
  config.set("run_eagerly", options.run_eagerly);
  return config;
}
CompileOptions compileOptionsOf(const Config &config, SourceLocation where) {
  CompileOptions options{.optimizer = optimizers::deserialize(config.at("optimizer", where).as<Config>(where), where)};
  options.loss = perOutputOf<losses::AnyLoss>(
      config.at("loss", where), [&](const ConfigValue &value) { return losses::deserialize(value, where); });
  options.loss_weights = perOutputOf<double>(config.at("loss_weights", where),
                                             [&](const ConfigValue &value) { return value.as<double>(where); });
  options.metrics = metricsOf(config.at("metrics", where), where);
  options.weighted_metrics = metricsOf(config.at("weighted_metrics", where), where);
  options.run_eagerly = config.at("run_eagerly", where).as<bool>(where);
  return options;
}

//===-- What configs of classes of one's own may leave out ----------------------------------------===//

// The paths of the parts that training does not change, each before its own parts, and after them those inside that it
// does.
void collectTrainable(const Module &module, const std::string &path, bool outer, ConfigValue::List &changed) {
  if (module.trainable() != outer)
    changed.push_back(path);
  for (const auto &[name, part] : module.children())
    collectTrainable(*part, absl::StrCat(path, path.empty() ? "" : "/", name), module.trainable(), changed);
}
void setTrainable(Module &module, const std::string &path, bool outer, const std::vector<std::string> &changed) {
  const bool trainable = outer != (std::find(changed.begin(), changed.end(), path) != changed.end());
  if (module.trainable() != trainable)
    module.set_trainable(trainable);
  for (const auto &[name, part] : module.children())
    setTrainable(*part, absl::StrCat(path, path.empty() ? "" : "/", name), trainable, changed);
}

bool allBuilt(const Model &model) {
  bool all = model.built();
  for (const std::shared_ptr<Module> &part : model.submodules())
    if (const auto *inner = dynamic_cast<const layers::LayerBody *>(part.get()))
      all = all && inner->built();
  return all;
}

// A model as a layer, for as long as the call.
layers::Layer layerOf(Model &model) {
  return layers::Layer(std::shared_ptr<layers::LayerBody>(std::shared_ptr<void>(), &model));
}

// While it lives the global generator may be used; then it is what it was before, unless that is not wanted any more.
class KeptGenerator {
public:
  KeptGenerator() : before(random::global_generator().state().value()) {}
  ~KeptGenerator() {
    Variable state = random::global_generator().state();
    if (before)
      state.assign(*before);
  }
  void forget() { before.reset(); }
  KeptGenerator(const KeptGenerator &) = delete;
  KeptGenerator &operator=(const KeptGenerator &) = delete;

private:
  std::optional<Tensor> before;
};

// The parts of a model's file. There is a structure first, and then what is made of it, which takes its values from the
// file that was read for the structure.
class Loaded : public Trackable {
public:
  void checkpoint_parts(CheckpointVisitor &visitor) override {
    visitor.value(training::kStructure, structure);
    visitMade(visitor);
    visitor.later(*this);
  }
  void restoreMade() {
    restore_made([this](CheckpointVisitor &visitor) { visitMade(visitor); });
  }

  std::string structure;
  std::shared_ptr<Model> model;
  std::shared_ptr<Trackable> optimizer;
  bool hasGenerator = false;

private:
  void visitMade(CheckpointVisitor &visitor) {
    if (model)
      visitor.part(training::kModel, *model);
    if (optimizer)
      visitor.part(training::kOptimizer, *optimizer);
    if (hasGenerator)
      visitor.variable(training::kGenerator, random::global_generator().state());
  }
};

// The variables that a file has slots for, by their paths: "optimizer/momentum/model/dense/kernel".
std::vector<std::pair<std::string, Variable>> withSlots(const Model &model, const std::vector<std::string> &names) {
  std::vector<std::pair<std::string, Variable>> found;
  if (std::none_of(names.begin(), names.end(), [](const std::string &name) {
        return name.starts_with("optimizer/") && absl::StrContains(name, "/model/");
      }))
    return found;
  for (auto &[path, variable] : model.named_variables({})) {
    const std::string ending = absl::StrCat("/model/", path);
    if (std::any_of(names.begin(), names.end(),
                    [&](const std::string &name) { return name.starts_with("optimizer/") && name.ends_with(ending); }))
      found.emplace_back(path, variable);
  }
  return found;
}

} // namespace

//===-- Saving ------------------------------------------------------------------------------------===//

void Trainer::save(const std::string &path, SaveOptions options, SourceLocation where) {
  CallSite site(where);
  Model &model = trained();
  const std::string file = training::fileOf(path);
  model.variables(where); // StateError before they are made
  Config structure{{"version", kVersion}, {"model", layers::serialize(layerOf(model), where)}};
  ConfigValue::List inputs;
  for (const TensorSpec<> &input : model.input_specs()) {
    Shape shape = input.shape();
    if (!shape.empty())
      shape[0] = kDynamic;
    inputs.push_back(
        Config{{"name", input.name()}, {"dtype", name_of(input.dtype())}, {"shape", calque::configOf(shape)}});
  }
  structure.set("inputs", inputs);
  ConfigValue::List changed;
  collectTrainable(model, "", true, changed);
  structure.set("trainable_changes", changed);
  if (state->compiled)
    structure.set("compile", configOf(state->compiled->options, model, where));

  std::string text = structure.str(-1, where);
  std::vector<Checkpoint::Entry> parts;
  parts.emplace_back(training::kStructure, CheckpointPart(text), where);
  parts.emplace_back(training::kModel, CheckpointPart(static_cast<Trackable &>(model)), where);
  if (state->compiled)
    parts.emplace_back(training::kOptimizer, CheckpointPart(state->compiled->options.optimizer), where);
  parts.emplace_back(training::kGenerator, CheckpointPart(random::global_generator()), where);
  const Checkpoint checkpoint(std::move(parts));
  training::checkOverwrite("save", file, options, where);
  checkpoint.write(file, {}, where);
}

//===-- Loading -----------------------------------------------------------------------------------===//

ModelHandle load_model(const std::string &path, LoadModelOptions options, SourceLocation where) {
  CallSite site(where);
  const std::string file = training::fileOf(path);
  return detail::readWithinMemory(file, where, [&] {
    // The digest is compared before anything is made of the text.
    Loaded loaded;
    const RestoreStatus status = Checkpoint(loaded, where).read(file, where);
    status.expect_partial();
    const std::vector<std::string> others = status.unused();
    if (!status.missing().empty())
      fail<DataError>(
          absl::StrCat(file, ": this checkpoint has no model, as save() writes it; a Checkpoint restores it"), where);
    KeptGenerator kept;
    std::error_code ignored;
    const training::WeightBudget budget(file, std::filesystem::file_size(file, ignored));
    const training::StateBudget ofMetrics; // of all of them
    const Config structure = Config::parse(loaded.structure, where);
    if (const auto version = structure.at("version", where).as<std::int64_t>(where); version != kVersion)
      fail<DataError>(absl::StrCat(file, ": version ", version, " of models is not known; this is version ", kVersion),
                      where);
    const layers::Layer layer = layers::deserialize(structure.at("model", where).as<Config>(where), where);
    auto model = std::dynamic_pointer_cast<Model>(layer.body());
    if (!model)
      fail<DataError>(absl::StrCat(file, ": its class ", structure["model"].as<Config>()["class_name"].str(),
                                   " is registered in this program as a layer that is no model"),
                      where);
    std::vector<TensorSpec<>> inputs;
    for (const ConfigValue &each : structure.at("inputs", where).as<ConfigValue::List>(where)) {
      const auto input = each.as<Config>(where);
      Shape shape;
      readConfig(input.at("shape", where), shape);
      inputs.emplace_back(dtypeNamed(input.at("dtype", where).as<std::string>(where)), shape,
                          input.at("name", where).as<std::string>(where), where);
    }
    if (!inputs.empty() && !allBuilt(*model))
      model->build_for(inputs, where);
    // Layers that are not built by that take their values when they are.
    const bool isBuilt = allBuilt(*model);
    std::vector<std::string> changed;
    readConfig(structure.at("trainable_changes", where), changed);
    setTrainable(*model, "", true, changed);

    const ConfigValue *compile = options.compile ? structure.find("compile") : nullptr;
    if (compile) {
      const auto config = compile->as<Config>(where);
      model->compile(compileOptionsOf(config, where), where);
      optimizers::Optimizer optimizer = model->optimizer(where);
      std::vector<std::string> paths;
      readConfig(config.at("without_weight_decay", where), paths);
      std::vector<Variable> excluded;
      if (!paths.empty() && isBuilt)
        for (const auto &[name, variable] : model->named_variables(where))
          if (std::find(paths.begin(), paths.end(), name) != paths.end())
            excluded.push_back(variable);
      optimizer.exclude_from_weight_decay(excluded);
      if (isBuilt)
        optimizer.build(withSlots(*model, others), where);
      loaded.optimizer = optimizer.body();
    }
    loaded.model = model;
    loaded.hasGenerator = options.restore_generator;
    loaded.restoreMade();
    // The program's class may have changed since.
    if (const std::vector<std::string> missing = status.missing(); !missing.empty())
      fail<DataError>(
          absl::StrCat(file, ": the model of its structure has ", listed(missing), ", and the file has not"), where);
    std::vector<std::string> unused = status.unused();
    std::erase_if(unused, [](const std::string &name) { return !name.starts_with("model/"); });
    if (isBuilt && !unused.empty())
      fail<DataError>(absl::StrCat(file, ": it has ", listed(unused), ", and the model of its structure has not"),
                      where);
    if (options.restore_generator)
      kept.forget();
    return ModelHandle(model);
  });
}

} // namespace calque
