#include "calque/callbacks.h"

#include "Support.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "calque/models/model.h"
#include "calque/warnings.h"

#include <algorithm>
#include <cmath>
#include <ostream>

namespace calque {

using training::fail;

//===-- Logs --------------------------------------------------------------------------------------===//
const double *Logs::find(const std::string &name) const {
  for (const auto &each : values_)
    if (each.first == name)
      return &each.second;
  return nullptr;
}
double Logs::at(const std::string &name, SourceLocation where) const {
  if (const double *found = find(name))
    return *found;
  fail<LookupError>(absl::StrCat("logs: there is no '", name, "', but ", names()), where);
}
void Logs::set(const std::string &name, double value) {
  for (auto &each : values_)
    if (each.first == name) {
      each.second = value;
      return;
    }
  values_.emplace_back(name, value);
}
void Logs::checkCount(std::size_t count, SourceLocation where) const {
  if (count != size())
    fail<ValueError>(absl::StrCat("logs: ", count, " numbers asked for, and there are ", size(), ": ", names()), where);
}
std::string Logs::names() const {
  std::string text;
  for (const auto &[name, value] : values_)
    absl::StrAppend(&text, text.empty() ? "'" : ", '", name, "'");
  return text;
}
std::string Logs::str() const {
  std::string text;
  for (const auto &[name, value] : values_) {
    const bool isPlain = value == 0 || (std::fabs(value) >= 1e-3 && std::fabs(value) < 1e5);
    absl::StrAppend(&text, text.empty() ? "" : " - ", name, ": ",
                    isPlain ? absl::StrFormat("%.4f", value) : absl::StrFormat("%.4e", value));
  }
  return text;
}
std::ostream &operator<<(std::ostream &os, const Logs &logs) { return os << logs.str(); }

namespace callbacks {

Callback::~Callback() = default;
Model &Callback::model(SourceLocation where) const {
  if (!model_)
    fail<StateError>("callback: it has a model only while fit(), evaluate() or predict() runs", where);
  return *model_;
}

//===-- Watching a number -------------------------------------------------------------------------===//
Monitor::Monitor(const char *owner, std::string name, const std::string &mode, double min_delta, SourceLocation where)
    : owner(owner), name_(std::move(name)), given(mode == "max"   ? metrics::Direction::Up
                                                  : mode == "min" ? metrics::Direction::Down
                                                                  : metrics::Direction::Unknown),
      direction(given), min_delta(std::fabs(min_delta)), where(where) {
  if (mode != "auto" && mode != "min" && mode != "max")
    fail<ValueError>(absl::StrCat(owner, ": the mode is 'auto', 'min' or 'max', unlike '", mode, "'"), where);
  if (std::isnan(min_delta))
    fail<ValueError>(absl::StrCat(owner, ": min_delta is no number"), where);
}
bool Monitor::improves(double value, const std::optional<double> &best) const {
  if (!best)
    return true;
  if (std::isnan(*best))
    return !std::isnan(value);
  return direction == metrics::Direction::Up ? value > *best + min_delta : value < *best - min_delta;
}
metrics::Direction Monitor::ask(const Callback &callback) const {
  return given != metrics::Direction::Unknown ? given : callback.model().direction_of(name_);
}
void Monitor::refuse() const {
  fail<ValueError>(absl::StrCat(owner, ": whether '", name_,
                                "' is better where it is larger or smaller is not known; the option mode says it, "
                                "'max' or 'min', or set_direction() of the metric"),
                   where);
}
void Monitor::check(const Logs &logs, const Callback &callback) {
  if (direction != metrics::Direction::Unknown)
    return;
  direction = ask(callback);
  const std::string name = name_.starts_with("val_") && !logs.find(name_) ? name_.substr(4) : name_;
  if (direction == metrics::Direction::Unknown && logs.find(name))
    refuse();
}
std::optional<double> Monitor::of(const Logs &logs, const Callback &callback) {
  if (const double *found = logs.find(name_)) {
    if (direction == metrics::Direction::Unknown)
      direction = ask(callback);
    if (direction == metrics::Direction::Unknown)
      refuse();
    return *found;
  }
  calque::detail::warn(absl::StrCat(owner, ": '", name_, "' is not in the logs, which have ", logs.names()), {});
  return std::nullopt;
}

namespace {
void requireCount(const char *owner, const char *what, std::int64_t epochs, SourceLocation where) {
  if (epochs < 0)
    fail<ValueError>(absl::StrCat(owner, ": ", what, " is a number of epochs, 0 or more, unlike ", epochs), where);
}
} // namespace

EarlyStopping::EarlyStopping(EarlyStoppingOptions options, SourceLocation where)
    : of(std::move(options)), monitor("early_stopping", of.monitor, of.mode, of.min_delta, where) {
  requireCount("early_stopping", "patience", of.patience, where);
  requireCount("early_stopping", "start_from_epoch", of.start_from_epoch, where);
}

void EarlyStopping::on_train_begin(Logs &) {
  wait = stopped = bestEpoch = 0;
  best_.reset();
  monitor.begin();
  weights.reset();
}
void EarlyStopping::on_train_batch_end(std::int64_t, Logs &logs) { monitor.check(logs, *this); }

void EarlyStopping::on_epoch_end(std::int64_t epoch, Logs &logs) {
  std::optional<double> value = monitor.of(logs, *this);
  if (!value || epoch < of.start_from_epoch)
    return;
  // Where no epoch is better than the first, its weights are those to restore.
  if (of.restore_best_weights && !weights) {
    weights = model().get_weights();
    bestEpoch = epoch;
  }
  ++wait;
  if (monitor.improves(*value, best_)) {
    best_ = *value;
    bestEpoch = epoch;
    if (of.restore_best_weights)
      weights = model().get_weights();
    if (!of.baseline || monitor.improves(*value, of.baseline))
      wait = 0;
    return;
  }
  if (wait >= of.patience && epoch > 0) {
    stopped = epoch;
    model().stop_training = true;
  }
}

void EarlyStopping::on_train_end(Logs &) {
  if (stopped > 0 && of.verbose > 0)
    std::printf("Epoch %lld: early stopping\n", static_cast<long long>(stopped + 1));
  if (!of.restore_best_weights || !weights)
    return;
  if (of.verbose > 0)
    std::printf("Restoring model weights from the end of the best epoch: %lld.\n",
                static_cast<long long>(bestEpoch + 1));
  model().set_weights(*weights);
}

//===-- Learning rates ----------------------------------------------------------------------------===//
namespace {
double rateOf(const char *owner, const Callback &callback) {
  optimizers::Optimizer optimizer = callback.model().optimizer();
  if (optimizer.has_schedule())
    fail<StateError>(absl::StrCat(owner, ": the optimizer's learning rate follows a schedule"),
                     callback.params().where);
  return optimizer.learning_rate().value().item<double>();
}
} // namespace

ReduceLROnPlateau::ReduceLROnPlateau(ReduceLROnPlateauOptions options, SourceLocation where)
    : of(std::move(options)), monitor("reduce_lr_on_plateau", of.monitor, of.mode, of.min_delta, where) {
  if (!(of.factor < 1) || !(of.factor > 0))
    fail<ValueError>(
        absl::StrCat("reduce_lr_on_plateau: the factor is between 0 and 1, unlike ", Number(of.factor).str()), where);
  requireCount("reduce_lr_on_plateau", "patience", of.patience, where);
  requireCount("reduce_lr_on_plateau", "cooldown", of.cooldown, where);
  if (!(of.min_lr >= 0))
    fail<ValueError>(absl::StrCat("reduce_lr_on_plateau: min_lr is 0 or more, unlike ", Number(of.min_lr).str()),
                     where);
}

void ReduceLROnPlateau::on_train_begin(Logs &) {
  wait = cooling = 0;
  best.reset();
  monitor.begin();
}
void ReduceLROnPlateau::on_train_batch_end(std::int64_t, Logs &logs) { monitor.check(logs, *this); }

void ReduceLROnPlateau::on_epoch_end(std::int64_t epoch, Logs &logs) {
  std::optional<double> value = monitor.of(logs, *this);
  const double rate = rateOf("reduce_lr_on_plateau", *this);
  logs.set("learning_rate", rate);
  if (!value)
    return;
  if (cooling > 0) {
    --cooling;
    wait = 0;
  }
  if (monitor.improves(*value, best)) {
    best = *value;
    wait = 0;
  } else if (cooling <= 0 && ++wait >= of.patience) {
    if (rate > of.min_lr) {
      const double lower = std::max(rate * of.factor, of.min_lr);
      model().optimizer().learning_rate().assign(lower);
      if (of.verbose > 0)
        std::printf("Epoch %lld: ReduceLROnPlateau reducing learning rate to %g.\n", static_cast<long long>(epoch + 1),
                    lower);
      cooling = of.cooldown;
      wait = 0;
    }
  }
}

void LearningRateScheduler::on_epoch_begin(std::int64_t epoch, Logs &) {
  const double rate = schedule(epoch, rateOf("learning_rate_scheduler", *this));
  model().optimizer().learning_rate().assign(rate);
  if (verbose > 0)
    std::printf("Epoch %lld: LearningRateScheduler setting learning rate to %g.\n", static_cast<long long>(epoch + 1),
                rate);
}
void LearningRateScheduler::on_epoch_end(std::int64_t, Logs &logs) {
  logs.set("learning_rate", rateOf("learning_rate_scheduler", *this));
}

//===-- Averages ----------------------------------------------------------------------------------===//
// Exchanges weights and averages, unless the model has already what is wanted.
void SwapEMAWeights::swap(bool into) {
  const optimizers::Optimizer optimizer = model().optimizer(params().where);
  if (!optimizer.uses_ema())
    fail<ValueError>(absl::StrCat("swap_ema_weights: the optimizer '", optimizer.name(),
                                  "' keeps no averages; its option is use_ema"),
                     params().where);
  if (optimizer.has_swapped_averages() != into)
    optimizer.swap_averages(model().trainable_variables(params().where), params().where);
}
void SwapEMAWeights::on_train_begin(Logs &) { swap(false); }
void SwapEMAWeights::on_epoch_begin(std::int64_t, Logs &) { swap(false); }
void SwapEMAWeights::on_epoch_end(std::int64_t, Logs &) {
  if (of.swap_on_epoch)
    swap(true);
}
void SwapEMAWeights::on_test_begin(Logs &) { swap(true); }
void SwapEMAWeights::on_test_end(Logs &) { swap(false); }
void SwapEMAWeights::on_predict_begin(Logs &) { swap(true); }
void SwapEMAWeights::on_predict_end(Logs &) { swap(false); }

//===-- Others ------------------------------------------------------------------------------------===//
CSVLogger::CSVLogger(std::string path, CSVLoggerOptions options) : path(std::move(path)), of(std::move(options)) {}

void CSVLogger::on_train_begin(Logs &) {
  columns.clear();
  std::FILE *before = of.append ? std::fopen(path.c_str(), "r") : nullptr;
  const bool hasHead = before && std::fgetc(before) != EOF;
  if (before)
    std::fclose(before);
  std::FILE *opened = std::fopen(path.c_str(), of.append ? "a" : "w");
  if (!opened)
    fail<DataError>(absl::StrCat("csv_logger: ", path, ": can't be written"), params().where);
  file = std::shared_ptr<std::FILE>(opened, std::fclose);
  if (hasHead)
    columns.emplace_back(); // written by an earlier training; the names are those of the first epoch
}

void CSVLogger::on_epoch_end(std::int64_t epoch, Logs &logs) {
  const bool writesHead = columns.empty();
  if (writesHead || columns[0].empty()) {
    columns.clear();
    for (const auto &[name, value] : logs)
      columns.push_back(name);
    std::sort(columns.begin(), columns.end());
    // The first epoch may be one without validation. As in Keras, its numbers have columns all the same.
    const bool hasTested =
        std::any_of(columns.begin(), columns.end(), [](const std::string &name) { return name.starts_with("val_"); });
    for (std::size_t i = 0, count = columns.size(); params().validates && !hasTested && i < count; ++i)
      columns.push_back("val_" + columns[i]);
  }
  std::string line;
  if (writesHead) {
    line = "epoch";
    for (const std::string &name : columns)
      absl::StrAppend(&line, of.separator, name);
    line += "\n";
  }
  absl::StrAppend(&line, epoch);
  for (const std::string &name : columns) {
    const double *value = logs.find(name);
    absl::StrAppend(&line, of.separator, value ? absl::StrFormat("%.17g", *value) : std::string("NA"));
  }
  line += "\n";
  if (std::fwrite(line.data(), 1, line.size(), file.get()) != line.size() || std::fflush(file.get()) != 0)
    fail<DataError>(absl::StrCat("csv_logger: ", path, ": can't be written"), params().where);
}
void CSVLogger::on_train_end(Logs &) { file.reset(); }

void TerminateOnNaN::on_train_batch_end(std::int64_t batch, Logs &logs) {
  const double *loss = logs.find("loss");
  if (!loss || std::isfinite(*loss))
    return;
  std::printf("Batch %lld: Invalid loss, terminating training\n", static_cast<long long>(batch));
  model().stop_training = true;
}

} // namespace callbacks
} // namespace calque
