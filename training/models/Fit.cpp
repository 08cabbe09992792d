// The loops over epochs and batches.
#include "Trainer.h"

#include "absl/cleanup/cleanup.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "calque/functions.h"
#include "calque/models/trainer.h"
#include "calque/random.h"
#include "calque/warnings.h"

#include <algorithm>

namespace calque {

using callbacks::AnyCallback;
using training::fail;

namespace {

// While it lives, errors name the line of a call, and callbacks know the model.
class Call {
public:
  Call(const char *&name, SourceLocation &line, const char *called, SourceLocation where, Model &model,
       std::vector<AnyCallback> &all, callbacks::Params params)
      : name(name), nameBefore(name), line(line), before(line), all(all) {
    name = called;
    line = where;
    for (AnyCallback &callback : all) {
      callback->set_model(&model);
      callback->set_params(params);
    }
  }
  ~Call() {
    for (AnyCallback &callback : all)
      callback->set_model(nullptr);
    name = nameBefore;
    line = before;
  }
  Call(const Call &) = delete;
  Call &operator=(const Call &) = delete;

private:
  const char *&name;
  const char *const nameBefore;
  SourceLocation &line;
  const SourceLocation before;
  std::vector<AnyCallback> &all;
};

template <typename... Parameters, typename... Args>
void each(std::vector<AnyCallback> &all, void (callbacks::Callback::*method)(Parameters...), Args &&...args) {
  for (AnyCallback &callback : all)
    ((*callback).*method)(args...);
}

void checkRange(const char *what, double value, double low, double high, SourceLocation where) {
  if (!(value >= low && value < high))
    fail<ValueError>(absl::StrCat("fit: ", what, " is in [", low, ", ", high, "), unlike ", Number(value).str()),
                     where);
}
// Batches without end need a number of them.
void checkEnds(const char *call, const char *what, const Batches &data, const char *option, SourceLocation where) {
  if (data.is_infinite())
    fail<ValueError>(absl::StrCat(call, ": ", what, " has no end; ", option, " says how many batches to take"), where);
}

void checkCount(const char *what, std::int64_t value, std::int64_t least, SourceLocation where,
                const char *verb = "fit") {
  if (value < least)
    fail<ValueError>(absl::StrCat(verb, ": ", what, " is at least ", least, ", unlike ", value), where);
}

using callbacks::Callback;

} // namespace

void Trainer::reset_metrics(SourceLocation where) {
  for (const metrics::Metric &metric : metrics())
    metric.reset_state(where);
}

//===-- Where it stands ---------------------------------------------------------------------------===//

// What the text of the data's place is where there is no place yet, and where a sequence can't say it.
constexpr const char *kNoPlace = "none", *kUnknownPlace = "unknown";

void Trainer::Progress::checkpoint_parts(CheckpointVisitor &visitor) {
  visitor.value("epoch", epoch);
  visitor.value("batch", batch);
  visitor.value("at_end", isAtEnd);
  visitor.text(
      "data", [this] { return !next              ? kNoPlace
                              : next.has_state() ? next.get_state()
                                                 : std::string(kUnknownPlace); },
      [this](const std::string &text) { place = text == kNoPlace ? std::nullopt : std::optional(text); });
  visitor.text(
      "validation", [this] { return validation.value_or(kNoPlace); },
      [this](const std::string &text) { validation = text == kNoPlace ? std::nullopt : std::optional(text); });
  visitor.value("validation_last", isValidationLast);
  // A line for each number: its value, and its name.
  visitor.text(
      "logs",
      [this] {
        std::string text;
        for (const auto &[name, value] : logs)
          absl::StrAppend(&text, Number(value).str(), " ", name, "\n");
        return text;
      },
      [this](const std::string &text) {
        logs = {};
        const std::vector<std::string> lines = absl::StrSplit(text, '\n', absl::SkipEmpty());
        for (const std::string &line : lines) {
          const std::pair<std::string, std::string> parts = absl::StrSplit(line, absl::MaxSplits(' ', 1));
          double value = 0;
          if (absl::SimpleAtod(parts.first, &value))
            logs.set(parts.second, value);
        }
      });
  for (std::size_t i = 0; i < metrics.size() && hasMetrics; ++i)
    visitor.part(absl::StrCat(i), *metrics[i].body());
  visitor.later(*this);
}

void Trainer::Progress::add(const metrics::Metric &metric) {
  metrics.push_back(metric);
  if (metricsWait)
    restore_made([&](CheckpointVisitor &visitor) { visitor.part(absl::StrCat(metrics.size() - 1), *metric.body()); });
}

void Trainer::Progress::goTo(const Batches::Next &data, const std::string &place, const char *what,
                             SourceLocation where) const {
  try {
    data.set_state(place);
  } catch (const std::exception &error) {
    const std::string text = error.what(); // whose line is none of the user's
    fail<DataError>(absl::StrCat(file.empty() ? "fit" : file, ": goes on from a place that ", what,
                                 " has not: ", text.substr(0, text.find("\n  at "))),
                    where);
  }
}

void Trainer::Progress::open(const Batches &data, const std::optional<Batches> &validationData,
                             const std::function<void(const Batch &)> &prepare, SourceLocation where) {
  if (!place && !validation)
    return;
  // What is drawn on the way must not change what follows.
  Variable generator = random::global_generator().state();
  const Tensor before = generator.value();
  auto openValidation = [&] {
    if (!validation || !validationData)
      return;
    const Batches::Next opened = validationData->open();
    if (opened.has_state())
      goTo(opened, *validation, "the validation data", where);
  };
  // The last one to be opened says which iteration of a data set comes next.
  if (!isValidationLast)
    openValidation();
  if (place)
    openEpoch(data, prepare, where);
  if (isValidationLast)
    openValidation();
  generator.assign(before);
}

void Trainer::Progress::openEpoch(const Batches &data, const std::function<void(const Batch &)> &prepare,
                                  SourceLocation where) {
  Batch passed;
  next = data.open();
  const bool hasPlace = *place != kUnknownPlace && next.has_state();
  if (hasPlace && next(passed))
    prepare(passed);
  if (hasPlace)
    goTo(next, *place, "the data", where);
  else
    for (std::int64_t i = 0; i < batch && next(passed); ++i)
      if (i == 0)
        prepare(passed);
}

Trackable &Trainer::fit_progress(SourceLocation where) {
  if (!state->progress)
    fail<StateError>("fit_progress: there is none outside of fit()", where);
  return *state->progress;
}

//===-- fit ---------------------------------------------------------------------------------------===//

History Trainer::fit(const Tensors &x, const Tensors &y, FitOptions options, SourceLocation where) {
  checked("fit", where);
  checkRange("validation_split", options.validation_split, 0, 1, where);
  Batch all = Batches::weighted({x, y}, options.sample_weight);
  std::optional<Batches> train;
  {
    CallSite site(where);
    joinRanks(); // they shuffle alike
    const double split = 1 - options.validation_split;
    const std::int64_t size = options.batch_size;
    train = training::batchesOf("fit", all, size, options.shuffle, 0, split);
    if (options.validation_split > 0 && options.validation_data.empty()) {
      Batches validation =
          training::batchesOf("fit", all, options.validation_batch_size.value_or(size), false, split, 1);
      if (*train->size() == 0 || *validation.size() == 0)
        fail<ValueError>(absl::StrCat("fit: of ", training::rowsOf("fit", all), " examples, validation_split ",
                                      Number(options.validation_split).str(), " leaves none for one of the two"));
      options.validation_data = ValidationData(validation);
    }
  }
  options.validation_split = 0;
  options.sample_weight = Tensors();
  return fit(*train, std::move(options), where);
}

History Trainer::fit(const Batches &data, FitOptions options, SourceLocation where) {
  Compiled &compiled = checked("fit", where);
  checkCount("epochs", options.epochs, 0, where);
  checkCount("initial_epoch", options.initial_epoch, 0, where);
  checkCount("validation_freq", options.validation_freq, 1, where);
  checkCount("steps_per_epoch", options.steps_per_epoch.value_or(1), 1, where);
  if (options.validation_split != 0 || !options.sample_weight.empty())
    fail<ValueError>(
        "fit: validation_split and sample_weight are of tensors; a data set has weights as a third element", where);
  std::optional<Batches> validation = options.validation_data.batches();
  if (options.validation_data.tensors()) {
    CallSite site(where);
    validation = training::batchesOf("fit", *options.validation_data.tensors(),
                                     options.validation_batch_size.value_or(options.batch_size), false, 0, 1);
  }
  if (!options.steps_per_epoch)
    checkEnds("fit", "the data", data, "steps_per_epoch", where);
  if (validation && !options.validation_steps)
    checkEnds("fit", "the validation data", *validation, "validation_steps", where);
  checkCount("validation_steps", options.validation_steps.value_or(1), 1, where);
  std::vector<AnyCallback> all = options.callbacks;
  if (options.verbose != 0)
    all.emplace_back(std::make_shared<callbacks::ProgbarLogger>());
  keepOwnCallbacks(all);
  std::optional<std::int64_t> steps = options.steps_per_epoch ? options.steps_per_epoch : data.size();
  const callbacks::Params params{.epochs = options.epochs,
                                 .steps = steps,
                                 .validates = validation.has_value(),
                                 .verbose = options.verbose,
                                 .where = where,
                                 .rank = distribution() ? distribution()->rank() : 0};
  if (state->progress)
    fail<StateError>("fit: is called while it trains this model; a callback may evaluate, and stop_training ends the "
                     "training",
                     where);
  Call call(state->call, state->line, "fit", where, trained(), all, params);
  state->progress = std::make_shared<Progress>();
  absl::Cleanup done = [this] { state->progress.reset(); };
  joinRanks();
  Progress &progress = *state->progress;
  progress.epoch = options.initial_epoch;
  for (const metrics::Metric &metric : metrics())
    progress.add(metric);
  Batches train = training::withClassWeights(data, options.class_weight, where);

  state->history.emplace();
  stop_training = false;
  Logs logs;
  each(all, &Callback::on_train_begin, logs);
  // A step is traced for the batch that the data begins with, as it was before: the last one, which may be smaller, is
  // served by code for any number, which adds in another order.
  forgetStale();
  // Tensors are validated on in one order.
  const bool hasValidationPlace = options.validation_data.batches().has_value();
  progress.open(
      train, hasValidationPlace ? validation : std::nullopt,
      [&](const Batch &first) {
        if (!compiled.options.run_eagerly)
          compiled.train.get_concrete_function(ownPart(first), where);
      },
      where);
  while (progress.epoch < options.epochs && !stop_training) {
    const std::int64_t epoch = progress.epoch;
    // Of an epoch that goes on the metrics and the logs do too.
    if (progress.batch == 0) {
      reset_metrics(where);
      progress.logs = {};
      progress.metricsWait = false;
    }
    logs = {};
    each(all, &Callback::on_epoch_begin, epoch, logs);
    // Goes on where the epoch before has ended, if steps_per_epoch ends it.
    if (!progress.next || progress.isAtEnd || (progress.batch == 0 && !options.steps_per_epoch)) {
      progress.next = train.open();
      progress.isAtEnd = false;
      progress.isValidationLast = false;
    }
    progress.hasMetrics = true;
    logs = progress.logs;
    std::int64_t step = progress.batch;
    for (Batch batch; !options.steps_per_epoch || step < *options.steps_per_epoch; ++step) {
      if (!nextBatch(progress.next, batch)) {
        progress.isAtEnd = true;
        if (options.steps_per_epoch)
          calque::detail::warn(absl::StrCat("fit: the data ends after ", step, " of ", *options.steps_per_epoch,
                                            " steps of epoch ", epoch, "; the next epoch begins anew"),
                               where);
        break;
      }
      Logs before;
      each(all, &Callback::on_train_batch_begin, step, before);
      logs = this->step(true, batch);
      progress.batch = step + 1;
      progress.logs = logs;
      each(all, &Callback::on_train_batch_end, step, logs);
      if (stop_training)
        break;
    }
    if (step == 0 && logs.empty())
      fail<ValueError>("fit: there are no batches in the data", where);
    if (validation && (epoch + 1) % options.validation_freq == 0) {
      const Logs trained = logs;
      Batches::Next place;
      Logs tested = evaluateAll(*validation, options.validation_steps, all, &place);
      if (hasValidationPlace && place.has_state()) {
        progress.validation = place.get_state();
        progress.isValidationLast = true;
      }
      logs = trained;
      for (const auto &[name, value] : tested)
        logs.set("val_" + name, value);
    }
    progress.epoch = epoch + 1;
    progress.batch = 0;
    progress.hasMetrics = false;
    each(all, &Callback::on_epoch_end, epoch, logs);
    state->history->epoch.push_back(epoch);
    for (const auto &[name, value] : logs)
      state->history->history[name].push_back(value);
  }
  // The weights are their averages, if the optimiser keeps them.
  if (!state->history->epoch.empty()) // or there may be no variables yet
    compiled.options.optimizer.finalize_variable_values(trained().trainable_variables(where), where);
  each(all, &Callback::on_train_end, logs);
  return *state->history;
}

Logs Trainer::evaluateAll(const Batches &data, std::optional<std::int64_t> steps, std::vector<AnyCallback> &all,
                          Batches::Next *validation) {
  // Validation has the metrics for itself; the training's numbers of the epoch are taken before.
  reset_metrics(state->line);
  Logs logs;
  each(all, &Callback::on_test_begin, logs);
  Batches::Next next = data.open();
  if (validation)
    *validation = next;
  std::int64_t step = 0;
  for (Batch batch; (!steps || step < *steps) && nextBatch(next, batch); ++step) {
    Logs before;
    each(all, &Callback::on_test_batch_begin, step, before);
    logs = this->step(false, batch);
    each(all, &Callback::on_test_batch_end, step, logs);
  }
  if (step == 0)
    fail<ValueError>(validation ? "fit: there are no batches in the validation data"
                                : "evaluate: there are no batches in the data",
                     state->line);
  each(all, &Callback::on_test_end, logs);
  return logs;
}

Logs Trainer::evaluate(const Tensors &x, const Tensors &y, EvaluateOptions options, SourceLocation where) {
  checked("evaluate", where);
  std::optional<Batches> data;
  {
    CallSite site(where);
    data = training::batchesOf("evaluate", Batches::weighted({x, y}, options.sample_weight), options.batch_size, false,
                               0, 1);
  }
  options.sample_weight = Tensors();
  return evaluate(*data, std::move(options), where);
}

Logs Trainer::evaluate(const Batches &data, EvaluateOptions options, SourceLocation where) {
  checked("evaluate", where);
  checkCount("steps", options.steps.value_or(1), 1, where, "evaluate");
  if (!options.steps)
    checkEnds("evaluate", "the data", data, "steps", where);
  std::vector<AnyCallback> all = options.callbacks;
  if (options.verbose != 0)
    all.emplace_back(std::make_shared<callbacks::ProgbarLogger>());
  keepOwnCallbacks(all);
  Call call(state->call, state->line, "evaluate", where, trained(), all,
            {.steps = options.steps ? options.steps : data.size(), .verbose = options.verbose, .where = where});
  return evaluateAll(data, options.steps, all, nullptr);
}

Tensors Trainer::predict(const Tensors &x, PredictOptions options, SourceLocation where) {
  std::optional<Batches> data;
  {
    CallSite site(where);
    data = training::batchesOf("predict", {x}, options.batch_size, false, 0, 1);
  }
  return predict(*data, std::move(options), where);
}

Tensors Trainer::predict(const Batches &data, PredictOptions options, SourceLocation where) {
  checkCount("steps", options.steps.value_or(1), 1, where, "predict");
  if (!options.steps)
    checkEnds("predict", "the data", data, "steps", where);
  Call call(state->call, state->line, "predict", where, trained(), options.callbacks,
            {.steps = options.steps ? options.steps : data.size()});
  Logs logs;
  each(options.callbacks, &Callback::on_predict_begin, logs);
  std::vector<std::vector<Tensor>> parts;
  std::vector<std::string> names;
  Batches::Next next = data.open();
  std::int64_t step = 0;
  for (Batch batch; (!options.steps || step < *options.steps) && next(batch); ++step) {
    each(options.callbacks, &Callback::on_predict_batch_begin, step, logs);
    Tensors outputs = predict_on_batch(batch.x, where);
    each(options.callbacks, &Callback::on_predict_batch_end, step, logs);
    parts.resize(outputs.size());
    names = outputs.names();
    for (std::size_t i = 0; i < outputs.size(); ++i)
      parts[i].push_back(outputs[i]);
  }
  if (step == 0)
    fail<ValueError>("predict: there are no batches in the data", where);
  each(options.callbacks, &Callback::on_predict_end, logs);
  Tensors result;
  for (std::size_t i = 0; i < parts.size(); ++i)
    result.push_back(parts[i].size() == 1 ? parts[i][0] : concat(parts[i], 0, where), names[i]);
  return result;
}

Tensors Trainer::predict_on_batch(const Tensors &x, SourceLocation where) {
  std::vector<AnyCallback> none;
  Call call(state->call, state->line, "predict_on_batch", where, trained(), none, {});
  if (!state->predict)
    state->predict.emplace(
        [this](const Batch &data) {
          UserCode scope;
          return predict_step(data);
        },
        FunctionOptions{.name = "predict_step", .reduce_retracing = true}, where);
  forgetStale();
  const bool runsEagerly = state->compiled && state->compiled->options.run_eagerly;
  return runsEagerly ? state->predict->eager({x}, where) : (*state->predict)({x}, where);
}

namespace {
Batch single(const char *call, const Tensors &x, const Tensors &y, const BatchOptions &options, SourceLocation where) {
  CallSite site(where);
  Batch batch = Batches::weighted({x, y}, options.sample_weight);
  training::rowsOf(call, batch);
  Batches data = training::withClassWeights(Batches([batch] {
                                              return Batches::Next([batch](Batch &result) {
                                                result = batch;
                                                return true;
                                              });
                                            }),
                                            options.class_weight, where);
  data.open()(batch);
  return batch;
}
} // namespace

Logs Trainer::train_on_batch(const Tensors &x, const Tensors &y, BatchOptions options, SourceLocation where) {
  checked("train_on_batch", where);
  std::vector<AnyCallback> none;
  Call call(state->call, state->line, "train_on_batch", where, trained(), none, {});
  reset_metrics(where);
  return step(true, single("train_on_batch", x, y, options, where));
}

Logs Trainer::test_on_batch(const Tensors &x, const Tensors &y, BatchOptions options, SourceLocation where) {
  checked("test_on_batch", where);
  std::vector<AnyCallback> none;
  Call call(state->call, state->line, "test_on_batch", where, trained(), none, {});
  reset_metrics(where);
  return step(false, single("test_on_batch", x, y, options, where));
}

} // namespace calque
