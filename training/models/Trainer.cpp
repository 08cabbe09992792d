// The steps of training, and the losses and metrics that compile() was given.
#include "Trainer.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "calque/functions.h"
#include "calque/gradient_tape.h"
#include "calque/models/trainer.h"
#include "calque/warnings.h"
#include "metrics/Options.h"

#include <algorithm>
#include <utility>

namespace calque {

using training::describe;
using training::fail;

AnyMetric::AnyMetric(const char *name, SourceLocation where) : name_(name) { metrics::get(name, where); }

AnyMetric AnyMetric::ofFunction(const std::string &loss, OfExamples function) {
  if (loss.empty())
    return metrics::MeanMetricWrapper(std::move(function), "metric");
  const Config own{{"name", loss}, {"dtype", name_of(default_dtype())}, {"function", loss}};
  return metrics::deserialize({{"class_name", "MeanMetricWrapper"}, {"config", own}}, {});
}

metrics::Metric AnyMetric::resolved(const Tensor &y_true, const Tensor &y_pred, const std::string &loss) const {
  if (metric_)
    return *metric_;
  if (name_ != "accuracy" && name_ != "acc")
    return metrics::get(name_, {});
  const Shape labels = y_true.shape(), scores = y_pred.shape();
  auto isColumn = [](const Shape &shape) { return !shape.empty() && shape.back().is_known() && shape.back() == 1; };
  if (scores.empty() || isColumn(scores) || loss == "binary_crossentropy" || loss == "binary_focal_crossentropy")
    return metrics::BinaryAccuracy();
  if (labels.size() < scores.size() || isColumn(labels))
    return metrics::SparseCategoricalAccuracy();
  return metrics::CategoricalAccuracy();
}

MetricsOption::List MetricsOption::Item::list() const {
  if (isName())
    return {AnyMetric(name_, where_)};
  List list = metrics_;
  for (const Item &item : items_) {
    if (item.isList_)
      fail<ValueError>("compile: the metrics of an output are a list, and in it stands another list", where_);
    list.push_back(item.list()[0]);
  }
  return list;
}

MetricsOption::MetricsOption(std::initializer_list<Item> items) {
  // {"output", {"mae"}}; or {"output", "mae"}, where there is no metric of the first name.
  auto isNamed = [](const Item &item) {
    if (item.items_.size() != 2 || !item.items_[0].isName())
      return false;
    return item.items_[1].isList_ || !metrics::isKnown(item.items_[0].name_);
  };
  isFlat_ = std::none_of(items.begin(), items.end(), [](const Item &item) { return item.isList_; });
  const bool isMap = items.size() > 0 && std::all_of(items.begin(), items.end(), isNamed);
  if (isFlat_ && items.size() > 0)
    lists_.emplace_back();
  for (const Item &item : items)
    if (isMap && !map_.emplace(item.items_[0].name_, item.items_[1].list()).second)
      fail<ValueError>(absl::StrCat("compile: metrics has the output '", item.items_[0].name_, "' twice"),
                       item.items_[0].where_);
    else if (isFlat_)
      lists_[0].push_back(item.list()[0]);
    else if (!isMap)
      lists_.push_back(item.list());
}

Trainer::Trainer() : state(std::make_unique<State>()) {}
Trainer::~Trainer() = default;

Trainer::Compiled &Trainer::checked(const char *what, SourceLocation where) const {
  if (!state->compiled)
    fail<StateError>(absl::StrCat(what, ": the model is not compiled; call compile() first"), where);
  return *state->compiled;
}

void Trainer::compile(CompileOptions options, SourceLocation where) {
  options.optimizer.name(where); // StateError for an empty handle
  // What a model keeps in float32 it does not lose for the numbers that float16 lacks.
  if (const layers::DTypePolicy policy = trained().dtype_policy();
      policy.mixes() && policy.compute() == DType::Float16 && !options.optimizer.loss_scale(where))
    options.optimizer.set_loss_scale(32768, where);
  FunctionOptions ofTrain{.name = "train_step", .reduce_retracing = true}, ofTest = ofTrain;
  ofTest.name = "test_step";
  // A step may be the user's own, with lines of its own.
  auto checkBuilt = [this](bool isFirst) {
    // A function makes variables in its first trace alone.
    if (!isFirst && !executing_eagerly() && !trained().built())
      fail<StateError>(absl::StrCat(state->call,
                                    ": the model has a layer that has no variables yet, and was added after the first "
                                    "step; compile() the model anew, with a new optimizer"),
                       state->line);
  };
  auto train = [=, this](const Batch &data) {
    checkBuilt(!state->compiled->hasTrained);
    UserCode scope;
    return train_step(data);
  };
  auto test = [=, this](const Batch &data) {
    checkBuilt(!state->compiled->hasTested);
    UserCode scope;
    return test_step(data);
  };
  state->compiled.emplace(std::move(options), StepFunction(train, ofTrain, where), StepFunction(test, ofTest, where));
  if (distribution())
    state->compiled->share.emplace(zeros({2}, DType::Float64), VariableOptions{.name = "share", .trainable = false});
}
bool Trainer::compiled() const { return state->compiled.has_value(); }

const History &Trainer::history(SourceLocation where) const {
  if (!state->history)
    fail<StateError>("history: there is none before fit()", where);
  return *state->history;
}

optimizers::Optimizer Trainer::optimizer(SourceLocation where) const {
  return checked("optimizer", where).options.optimizer;
}

//===-- Outputs -----------------------------------------------------------------------------------===//
namespace {

// What an option says of an output. LookupError for an output that there is not, ValueError for another number.
template <typename T>
std::vector<std::optional<T>> perOutput(const char *what, const PerOutput<T> &option,
                                        const std::vector<std::string> &names, SourceLocation where) {
  std::vector<std::optional<T>> result(names.size(), option.all());
  if (!option.list().empty() && option.list().size() != names.size())
    fail<ValueError>(absl::StrCat("compile: ", what, " has ", option.list().size(), " entries, and the model ",
                                  names.size(), " outputs"),
                     where);
  if (!option.list().empty())
    result = option.list();
  for (const auto &[name, value] : option.map()) {
    auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
      fail<LookupError>(absl::StrCat("compile: ", what, " names the output '", name, "', and the model has '",
                                     absl::StrJoin(names, "', '"), "'"),
                        where);
    result[static_cast<std::size_t>(found - names.begin())] = value;
  }
  return result;
}

// The weights of the examples for each output. LookupError for an output that there is not, ValueError for another
// number.
std::vector<std::optional<Tensor>> weightsOf(const char *call, const Batch &data,
                                             const std::vector<std::string> &outputs, SourceLocation where) {
  std::vector<std::optional<Tensor>> result(outputs.size(), data.sample_weight);
  const std::vector<std::string> names = data.sample_weights.names();
  const bool isNamed = std::any_of(names.begin(), names.end(), [](const auto &name) { return !name.empty(); });
  if (!names.empty() && !isNamed && names.size() != outputs.size())
    fail<ValueError>(absl::StrCat(call, ": the model has ", outputs.size(), " outputs, and there are ", names.size(),
                                  " tensors of sample weights; give one for all outputs, or one for each"),
                     where);
  for (std::size_t i = 0; i < names.size(); ++i) {
    auto found = isNamed ? std::find(outputs.begin(), outputs.end(), names[i])
                         : outputs.begin() + static_cast<std::ptrdiff_t>(i);
    if (found == outputs.end())
      fail<LookupError>(absl::StrCat(call, ": there are sample weights for '", names[i],
                                     "', and the model has the outputs '", absl::StrJoin(outputs, "', '"), "'"),
                        where);
    result[static_cast<std::size_t>(found - outputs.begin())] = data.sample_weights[i];
  }
  return result;
}

std::vector<std::string> namesOf(const Tensors &outputs) {
  std::vector<std::string> names = outputs.names();
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i].empty())
      names[i] = absl::StrCat("output_", i + 1);
  return names;
}

} // namespace

std::vector<Trainer::Output> Trainer::outputsOf(const Batch &data, const Tensors &y_pred,
                                                const std::vector<std::optional<Tensor>> &masks) {
  CallSite site(state->line);
  Compiled &compiled = checked("compute_loss", state->line);
  const std::vector<std::string> names = namesOf(y_pred);
  const auto loss = perOutput("loss", compiled.options.loss, names, state->line);
  const auto weights = perOutput("loss_weights", compiled.options.loss_weights, names, state->line);
  const std::vector<std::string> targets = data.y.names();
  const bool isNamed = std::any_of(targets.begin(), targets.end(), [](const auto &name) { return !name.empty(); });
  if (!isNamed && !data.y.empty() && data.y.size() != names.size())
    fail<ValueError>(absl::StrCat(state->call, ": the model has ", names.size(), " outputs, and there are ",
                                  data.y.size(), " targets"),
                     state->line);
  for (const std::string &target : targets)
    if (isNamed && std::find(names.begin(), names.end(), target) == names.end())
      fail<LookupError>(absl::StrCat(state->call, ": there is a target '", target, "', and the model has the outputs '",
                                     absl::StrJoin(names, "', '"), "'"),
                        state->line);
  const std::vector<std::optional<Tensor>> sampleWeights = weightsOf(state->call, data, names, state->line);
  std::vector<Output> result;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const losses::AnyLoss *own = nullptr;
    if (loss[i])
      own = compiled.options.loss.all()             ? &*compiled.options.loss.all()
            : !compiled.options.loss.list().empty() ? &*compiled.options.loss.list()[i]
                                                    : &*compiled.options.loss.map().at(names[i]);
    Output output{names[i],
                  Tensor(),
                  y_pred[i],
                  i < masks.size() ? masks[i] : std::nullopt,
                  sampleWeights[i],
                  own,
                  weights[i].value_or(1)};
    if (isNamed ? data.y.contains(names[i]) : !data.y.empty())
      output.y_true = isNamed ? data.y.at(names[i]) : data.y[i];
    if (own && !output.y_true.defined())
      fail<ValueError>(
          absl::StrCat(state->call, ": the output '", names[i], "' has a loss, and there is no target for it"),
          state->line);
    // Losses and metrics add more numbers than 16 bits count.
    if (is_half(output.y_pred.dtype()) && !(output.y_true.defined() && output.y_true.dtype() == output.y_pred.dtype()))
      output.y_pred = cast(output.y_pred, DType::Float32);
    // A number for each example is a column, so that each has a loss of its own.
    if (output.y_pred.rank() == 1) {
      output.y_pred = expand_dims(output.y_pred, {-1});
      if (output.y_true.defined() && output.y_true.rank() == 1)
        output.y_true = expand_dims(output.y_true, {-1});
    }
    result.push_back(std::move(output));
  }
  return result;
}

Tensor Trainer::compute_loss(const Batch &data, const Tensors &y_pred,
                             const std::vector<std::optional<Tensor>> &masks) {
  CallSite site(state->line);
  Compiled &compiled = checked("compute_loss", state->line);
  std::vector<Tensor> parts;
  compiled.latest.clear();
  for (const Output &output : outputsOf(data, y_pred, masks)) {
    compiled.latest.emplace_back();
    if (!output.loss)
      continue;
    Tensor loss = (*output.loss)(Operand(output.y_true, state->line), output.y_pred,
                                 {.sample_weight = output.sample_weight, .mask = output.mask});
    if (loss.rank() != 0)
      fail<ValueError>(absl::StrCat("compute_loss: '", output.loss->name(), "' gives ",
                                    describe(loss.dtype(), loss.shape()), ", and a loss to train by is a number"),
                       state->line);
    compiled.latest.back() = loss;
    parts.push_back(output.weight == 1 ? loss : output.weight * loss);
  }
  for (const Tensor &added : trained().losses())
    parts.push_back(parts.empty() ? added : cast(added, parts[0].dtype()));
  if (parts.empty())
    fail<ValueError>("compute_loss: there is nothing to train by: compile() was given no loss, and add_loss() none",
                     state->line);
  Tensor total = parts[0];
  for (std::size_t i = 1; i < parts.size(); ++i)
    total = total + cast(parts[i], total.dtype());
  return total;
}

//===-- Metrics -----------------------------------------------------------------------------------===//
void Trainer::attach(const std::vector<Output> &outputs) {
  Compiled &compiled = *state->compiled;
  if (compiled.isAttached)
    return;
  const bool isSingle = outputs.size() == 1;
  // Of one loss alone, "loss" says all.
  const bool logsLosses = std::count_if(outputs.begin(), outputs.end(), [](const Output &o) { return o.loss; }) > 1;
  std::vector<Compiled::Attached> attached;
  auto add = [&](const AnyMetric &metric, std::size_t i, bool isWeighted) {
    const Output &of = outputs[i];
    if (!of.y_true.defined())
      fail<ValueError>(
          absl::StrCat(state->call, ": the output '", of.name, "' has a metric, and there is no target for it"),
          state->line);
    std::string name = isSingle ? metric.name() : absl::StrCat(of.name, "_", metric.name());
    auto isTaken = [&] {
      return std::any_of(attached.begin(), attached.end(), [&](const auto &each) { return each.name == name; });
    };
    // As Keras has it.
    if (isWeighted && isTaken())
      name = isSingle ? "weighted_" + metric.name() : absl::StrCat(of.name, "_weighted_", metric.name());
    const bool isLoss =
        name == "loss" || (logsLosses && std::any_of(outputs.begin(), outputs.end(), [&](const Output &o) {
                             return o.loss && name == o.name + "_loss";
                           }));
    if (isLoss || isTaken())
      fail<ValueError>(absl::StrCat("compile: there are two numbers called '", name, "'; give the metric another name"),
                       state->line);
    const metrics::Metric resolved = metric.resolved(of.y_true, of.y_pred, of.loss ? of.loss->name() : std::string());
    for (const auto &each : attached)
      if (each.metric.same_as(resolved))
        fail<ValueError>(absl::StrCat("compile: one metric is given for '", each.name, "' and for '", name,
                                      "', and would add both up; make one for each"),
                         state->line);
    attached.push_back({i, resolved, name, isWeighted});
  };
  auto addAll = [&](const char *what, const MetricsOption &option, bool isWeighted) {
    if (!option.lists().empty() && option.lists().size() != outputs.size())
      fail<ValueError>(absl::StrCat("compile: ", what, " has ", option.lists().size(), " lists, and the model ",
                                    outputs.size(), " outputs; give a list for each, or a map by their names"),
                       state->line);
    for (std::size_t i = 0; i < option.lists().size(); ++i)
      for (const AnyMetric &metric : option.lists()[i])
        add(metric, i, isWeighted);
    for (const auto &[name, list] : option.map()) {
      auto found =
          std::find_if(outputs.begin(), outputs.end(), [&](const Output &output) { return output.name == name; });
      if (found == outputs.end())
        fail<LookupError>(absl::StrCat("compile: ", what, " names the output '", name, "', which the model has not"),
                          state->line);
      for (const AnyMetric &metric : list)
        add(metric, static_cast<std::size_t>(found - outputs.begin()), isWeighted);
    }
  };
  addAll("metrics", compiled.options.metrics, false);
  addAll("weighted_metrics", compiled.options.weighted_metrics, true);
  compiled.ofOutputs.clear();
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (logsLosses && outputs[i].loss)
      compiled.ofOutputs.emplace_back(i, metrics::Mean(absl::StrCat(outputs[i].name, "_loss")));
  compiled.attached = std::move(attached);
  compiled.isAttached = true;
  if (state->progress) {
    for (const auto &[output, mean] : compiled.ofOutputs)
      state->progress->add(mean);
    for (const auto &each : compiled.attached)
      state->progress->add(each.metric);
  }
}

std::vector<metrics::Metric> Trainer::metrics() {
  std::vector<metrics::Metric> all;
  if (!state->compiled)
    return all;
  all.push_back(state->compiled->loss);
  for (const auto &[output, mean] : state->compiled->ofOutputs)
    all.push_back(mean);
  for (const auto &each : state->compiled->attached)
    all.push_back(each.metric);
  return all;
}

metrics::Direction Trainer::direction_of(const std::string &logged) {
  const std::vector<metrics::Metric> all = metrics();
  // A metric's own name, and that of its number in validation.
  for (std::string name : {logged, logged.starts_with("val_") ? logged.substr(4) : std::string()}) {
    if (name.empty())
      continue;
    if (state->compiled)
      for (const auto &each : state->compiled->attached)
        if (each.name == name && each.metric.direction() != metrics::Direction::Unknown)
          return each.metric.direction();
    for (const metrics::Metric &metric : all)
      if (metric.name() == name && metric.direction() != metrics::Direction::Unknown)
        return metric.direction();
    // One number of several, "f1_score[2]".
    if (name.ends_with(']'))
      if (const std::string whole = name.substr(0, name.find('[')); whole != name)
        if (metrics::Direction found = direction_of(whole); found != metrics::Direction::Unknown)
          return found;
  }
  return logged == "loss" || logged.ends_with("_loss") ? metrics::Direction::Down : metrics::Direction::Unknown;
}

Tensors Trainer::compute_metrics(const Batch &data, const Tensors &y_pred, const Tensor &loss,
                                 const std::vector<std::optional<Tensor>> &masks) {
  CallSite site(state->line);
  Compiled &compiled = checked("compute_metrics", state->line);
  const std::vector<Output> outputs = outputsOf(data, y_pred, masks);
  attach(outputs);
  // A mean over the examples of all steps, of which the last may have fewer.
  const Tensor &first = data.x[0];
  const auto before = metricStates();
  const Operand examples = distribution()      ? Operand(compiled.share->value()[0])
                           : first.rank() == 0 ? Operand(1)
                                               : Operand(first.shape()[0]);
  compiled.loss.update_state(loss, examples);
  for (const auto &[output, mean] : compiled.ofOutputs)
    if (output < compiled.latest.size() && compiled.latest[output].defined())
      mean.update_state(compiled.latest[output], examples);
  compiled.latest.clear();
  for (const auto &each : compiled.attached) {
    const Output &of = outputs[each.output];
    Operand y_true(of.y_true, state->line);
    std::optional<Tensor> weights = each.isWeighted ? of.sample_weight : std::nullopt;
    if (of.mask) {
      Tensor counts = cast(*of.mask, DType::Float32);
      if (weights) {
        Tensor given = cast(*weights, DType::Float32);
        while (given.rank() < counts.rank())
          given = expand_dims(given, {-1});
        counts = counts * given;
      }
      weights = counts;
    }
    if (weights)
      each.metric.update_state(y_true, of.y_pred, *weights);
    else
      each.metric.update_state(y_true, of.y_pred);
  }
  sumMetrics(before);
  Tensors results;
  for (const metrics::Metric &metric : metrics()) {
    std::string name = metric.name();
    for (const auto &each : compiled.attached)
      if (each.metric.same_as(metric))
        name = each.name;
    results.push_back(metric.result(state->line), name);
  }
  return results;
}

//===-- Steps -------------------------------------------------------------------------------------===//
Tensors Trainer::train_step(const Batch &data) {
  CallSite site(state->line);
  Compiled &compiled = checked("train_step", state->line);
  Model &model = trained();
  GradientTape tape({}, state->line);
  layers::LayerBody::Masked outputs = model.apply_masked(data.x, {.training = true}, state->line);
  Tensor loss = compute_loss(data, outputs.results, outputs.masks);
  std::vector<Variable> weights = model.trainable_variables(state->line);
  if (weights.empty() && !model.children().empty()) {
    // Losses and metrics are of interest all the same, as in Keras.
    if (!std::exchange(compiled.hasWarned, true))
      calque::detail::warn(model.variables(state->line).empty()
                               ? "train_step: nothing is trained, because the model has no variables"
                               : "train_step: nothing is trained, because the model has no trainable variables; "
                                 "set_trainable(true) has it train those that there are",
                           state->line);
    return compute_metrics(data, outputs.results, loss, outputs.masks);
  }
  if (weights.empty())
    fail<ValueError>("train_step: the model has no trainable variables; submodule() and variable() make layers and "
                     "variables parts of a model",
                     state->line);
  buildOptimizer(weights);
  const Tensor scaled = compiled.options.optimizer.scale_loss(Operand(loss, state->line));
  compiled.options.optimizer.apply_gradients(average_gradients(tape.gradient(scaled, weights, {}, state->line)),
                                             weights, state->line);
  return compute_metrics(data, outputs.results, loss, outputs.masks);
}

void Trainer::buildOptimizer(const std::vector<Variable> &weights) {
  std::vector<std::pair<std::string, Variable>> named;
  for (auto &each : trained().named_variables(state->line))
    if (std::any_of(weights.begin(), weights.end(), [&](const Variable &w) { return w.same_as(each.second); }))
      named.push_back(std::move(each));
  state->compiled->options.optimizer.build(named, state->line);
}

Tensors Trainer::test_step(const Batch &data) {
  CallSite site(state->line);
  layers::LayerBody::Masked outputs = trained().apply_masked(data.x, {}, state->line);
  Tensor loss = compute_loss(data, outputs.results, outputs.masks);
  return compute_metrics(data, outputs.results, loss, outputs.masks);
}

Tensors Trainer::predict_step(const Batch &data) { return trained().apply(data.x, {}, state->line); }

void Trainer::forgetStale() {
  if (state->forgetStale(trained()) && state->compiled && training::isBuilt(trained()))
    // A function makes variables in its first trace alone, and what becomes trainable later has no slots yet.
    buildOptimizer(trained().trainable_variables(state->line));
}

bool Trainer::State::forgetStale(const Model &model) {
  const std::uint64_t latest = training::trainableChanges();
  if (changes == latest)
    return false;
  std::vector<bool> now = {model.trainable()};
  for (const std::shared_ptr<Module> &part : model.submodules())
    now.push_back(part->trainable());
  const bool isStale = changes && trainable != now;
  if (isStale) {
    if (compiled) {
      compiled->train.clear();
      compiled->test.clear();
    }
    if (predict)
      predict->clear();
  }
  changes = latest;
  trainable = std::move(now);
  return isStale;
}

Logs Trainer::step(bool trains, const Batch &batch) {
  Compiled &compiled = *state->compiled;
  forgetStale();
  const StepFunction &function = trains ? compiled.train : compiled.test;
  const Batch own = ownPart(batch);
  const Tensors values = compiled.options.run_eagerly ? function.eager(own, state->line) : function(own, state->line);
  (trains ? compiled.hasTrained : compiled.hasTested) = true;
  if (trains)
    requireAveraged();
  auto isMetric = [&](const std::string &name) {
    const std::vector<metrics::Metric> all = metrics();
    return std::any_of(compiled.attached.begin(), compiled.attached.end(),
                       [&](const auto &each) { return each.name == name; }) ||
           std::any_of(all.begin(), all.end(), [&](const metrics::Metric &metric) { return metric.name() == name; });
  };
  return training::logsOf(state->call, values, isMetric, state->line);
}

Logs training::logsOf(const char *call, const Tensors &values, const std::function<bool(const std::string &)> &isMetric,
                      SourceLocation where) {
  constexpr std::int64_t kMostNumbers = 1000;
  Logs logs;
  for (const auto &[name, value] : values) {
    if (value.rank() != 0 && !isMetric(name))
      fail<ValueError>(absl::StrCat(call, ": '", name, "' is ", describe(value.dtype(), value.shape()),
                                    ", and what a step gives is a number"),
                       where);
    if (value.size() > kMostNumbers)
      fail<ValueError>(absl::StrCat(call, ": the metric '", name, "' gives ", describe(value.dtype(), value.shape()),
                                    ", and no more than ", kMostNumbers, " numbers are logged of one"),
                       where);
    // A number for each element: "f1_score[2]", "confusion_matrix[0][1]".
    const Shape shape = value.shape();
    dispatch(value.dtype(), [&]<typename T>(std::type_identity<T>) {
      const T *numbers = value.data<T>();
      for (std::int64_t i = 0; i < value.size(); ++i) {
        std::string index;
        std::int64_t rest = i;
        for (std::size_t d = shape.size(); d-- > 0; rest /= std::int64_t(shape[d]))
          index = absl::StrCat("[", rest % std::int64_t(shape[d]), "]", index);
        logs.set(absl::StrCat(name, index), static_cast<double>(numbers[i]));
      }
    });
  }
  return logs;
}

} // namespace calque
