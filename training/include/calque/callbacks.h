// Callbacks: objects that fit() calls between its steps and epochs.
//
//   callbacks::EarlyStopping early({.patience = 3, .restore_best_weights = true});
//   model.fit(x, y, {.validation_split = 0.2, .callbacks = {early, callbacks::CSVLogger("log.csv")}});
//   early.stopped_epoch();
//
//   struct Rates : callbacks::Callback {
//     void on_epoch_end(std::int64_t epoch, Logs &logs) override {
//       std::cout << epoch << ' ' << model().optimizer().learning_rate() << ' ' << logs << '\n';
//     }
//   };
//
// Names and order are those of Keras 3. A variable in the list is used itself and not copied. A callback that is made
// in the list lives as long as the call.
#ifndef CALQUE_CALLBACKS_H
#define CALQUE_CALLBACKS_H

#include "calque/logs.h"
#include "calque/metrics.h"

#include <concepts>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace calque {
class Model;
class Tensor;

namespace callbacks {

// Facts about the call, for callbacks.
struct Params {
  std::int64_t epochs = 1;
  std::optional<std::int64_t> steps = std::nullopt; // of an epoch, if known
  bool validates = false; // whether there is validation data, though perhaps not in each epoch
  int verbose = 0;
  SourceLocation where = {}; // the line of the call
  int rank = 0;              // of this process among those that share the steps
};

// Override the functions that you need. on_epoch_end() may change the logs, and the history then has the changed logs.
class CALQUE_API Callback {
public:
  virtual ~Callback();
  virtual void on_train_begin(Logs & /*logs*/) {}
  virtual void on_train_end(Logs & /*logs*/) {}
  virtual void on_epoch_begin(std::int64_t /*epoch*/, Logs & /*logs*/) {}
  virtual void on_epoch_end(std::int64_t /*epoch*/, Logs & /*logs*/) {}
  virtual void on_train_batch_begin(std::int64_t /*batch*/, Logs & /*logs*/) {}
  virtual void on_train_batch_end(std::int64_t /*batch*/, Logs & /*logs*/) {}
  virtual void on_test_begin(Logs & /*logs*/) {}
  virtual void on_test_end(Logs & /*logs*/) {}
  virtual void on_test_batch_begin(std::int64_t /*batch*/, Logs & /*logs*/) {}
  virtual void on_test_batch_end(std::int64_t /*batch*/, Logs & /*logs*/) {}
  virtual void on_predict_begin(Logs & /*logs*/) {}
  virtual void on_predict_end(Logs & /*logs*/) {}
  virtual void on_predict_batch_begin(std::int64_t /*batch*/, Logs & /*logs*/) {}
  virtual void on_predict_batch_end(std::int64_t /*batch*/, Logs & /*logs*/) {}
  // Whether each of the processes that share the steps of a model calls it, or the first one alone, as one that writes
  // files. The logs are the same on all.
  virtual bool runs_on_every_rank() const { return true; }

  // StateError outside of a call.
  Model &model(SourceLocation where = SourceLocation::current()) const;
  const Params &params() const { return params_; }
  // For programs that run a callback without fit().
  void set_model(Model *model) { model_ = model; }
  void set_params(Params params) { params_ = params; }

private:
  Model *model_ = nullptr;
  Params params_;
};

// A callback as an option.
class CALQUE_API AnyCallback {
public:
  template <typename C>
    requires std::is_base_of_v<Callback, C>
  AnyCallback(C &callback) : callback_(std::shared_ptr<Callback>(), &callback) {}
  template <typename C>
    requires(std::is_base_of_v<Callback, C> && !std::is_const_v<C>)
  AnyCallback(C &&callback) : callback_(std::make_shared<C>(std::move(callback))) {}
  template <typename C>
    requires std::is_base_of_v<Callback, C>
  AnyCallback(std::shared_ptr<C> callback) : callback_(std::move(callback)) {}
  Callback *operator->() const { return callback_.get(); }
  Callback &operator*() const { return *callback_; }

private:
  std::shared_ptr<Callback> callback_;
};

using OfLogs = std::function<void(Logs &)>;
using OfNumber = std::function<void(std::int64_t, Logs &)>;
struct LambdaCallbackOptions {
  OfNumber on_epoch_begin = nullptr, on_epoch_end = nullptr, on_train_batch_begin = nullptr,
           on_train_batch_end = nullptr;
  OfLogs on_train_begin = nullptr, on_train_end = nullptr;
};
class CALQUE_API LambdaCallback : public Callback {
public:
  explicit LambdaCallback(LambdaCallbackOptions options) : of(std::move(options)) {}
  void on_train_begin(Logs &logs) override { call(of.on_train_begin, logs); }
  void on_train_end(Logs &logs) override { call(of.on_train_end, logs); }
  void on_epoch_begin(std::int64_t epoch, Logs &logs) override { call(of.on_epoch_begin, epoch, logs); }
  void on_epoch_end(std::int64_t epoch, Logs &logs) override { call(of.on_epoch_end, epoch, logs); }
  void on_train_batch_begin(std::int64_t batch, Logs &logs) override { call(of.on_train_batch_begin, batch, logs); }
  void on_train_batch_end(std::int64_t batch, Logs &logs) override { call(of.on_train_batch_end, batch, logs); }

private:
  template <typename F, typename... Args> static void call(const F &f, Args &&...args) {
    if (f)
      f(std::forward<Args>(args)...);
  }
  LambdaCallbackOptions of;
};

//===-- Watching a number -------------------------------------------------------------------------===//
// "min": smaller is better; "max": larger is better; "auto": the metric determines the direction (metrics.h); for
// losses, smaller is better. ValueError for another text. With "auto", ValueError if the metric has no direction: after
// the first batch if the number is logged then, else at the end of the first epoch.
class CALQUE_API Monitor {
public:
  Monitor(const char *owner, std::string name, const std::string &mode, double min_delta, SourceLocation where);
  const std::string &name() const { return name_; }
  // Whether the value is better by more than min_delta. Any value is better than none, and any number is better than
  // NaN. Call of() first.
  bool improves(double value, const std::optional<double> &best) const;
  // Returns the monitored number from the logs of an epoch. If it is missing, a warning lists the numbers that are
  // there.
  std::optional<double> of(const Logs &logs, const Callback &callback);
  // Checks with the logs of a batch that the metric has a direction.
  void check(const Logs &logs, const Callback &callback);
  // Call it when another training begins, whose metric may have another direction.
  void begin() { direction = given; }

private:
  metrics::Direction ask(const Callback &callback) const;
  [[noreturn]] void refuse() const;
  const char *owner;
  std::string name_;
  metrics::Direction given, direction;
  double min_delta;
  SourceLocation where;
};

struct EarlyStoppingOptions {
  std::string monitor = "val_loss";
  double min_delta = 0; // a value must be better by more than this
  std::int64_t patience = 0;
  int verbose = 0; // 1 prints a line when it stops the training
  std::string mode = "auto";
  std::optional<double> baseline = std::nullopt; // only a value better than this restarts the count of epochs
  bool restore_best_weights = false;
  std::int64_t start_from_epoch = 0;
};
// Stops the training after `patience` epochs without a better value. The first value is better than none. With
// restore_best_weights the model has the weights of the best epoch afterwards, even if the training ends without being
// stopped. ValueError for a negative patience or first epoch.
class CALQUE_API EarlyStopping : public Callback {
public:
  explicit EarlyStopping(EarlyStoppingOptions options = {}, SourceLocation where = SourceLocation::current());
  void on_train_begin(Logs &logs) override;
  void on_train_batch_end(std::int64_t batch, Logs &logs) override;
  void on_epoch_end(std::int64_t epoch, Logs &logs) override;
  void on_train_end(Logs &logs) override;

  // 0 if it has not stopped the training.
  std::int64_t stopped_epoch() const { return stopped; }
  std::int64_t best_epoch() const { return bestEpoch; }
  // NaN before the first value.
  double best() const { return best_.value_or(std::numeric_limits<double>::quiet_NaN()); }

private:
  EarlyStoppingOptions of;
  Monitor monitor;
  std::int64_t wait = 0, stopped = 0, bestEpoch = 0;
  std::optional<double> best_;
  std::optional<std::vector<Tensor>> weights;
};

// How often a callback saves: "epoch", or a number of batches. ValueError for another text, and for a number below 1.
class CALQUE_API SaveFrequency {
public:
  SaveFrequency(const char *text, SourceLocation where = SourceLocation::current());
  SaveFrequency(const std::string &text, SourceLocation where = SourceLocation::current())
      : SaveFrequency(text.c_str(), where) {}
  template <std::integral I>
  SaveFrequency(I number, SourceLocation where = SourceLocation::current())
      : SaveFrequency(std::optional<std::int64_t>(static_cast<std::int64_t>(number)), where) {}
  // None for "epoch".
  const std::optional<std::int64_t> &batches() const { return batches_; }

private:
  SaveFrequency(std::optional<std::int64_t> batches, SourceLocation where);
  std::optional<std::int64_t> batches_;
};

struct ModelCheckpointOptions {
  std::string monitor = "val_loss";
  int verbose = 0;             // 1 prints a line when it saves, or does not
  bool save_best_only = false; // saves only if `monitor` is better than before, or is not logged
  bool save_weights_only = false;
  std::string mode = "auto";
  SaveFrequency save_freq = "epoch";
  std::optional<double> initial_value_threshold = std::nullopt; // only a value better than this is saved
};
// Saves the model, or its weights, at the end of each epoch, or after a number of batches. Names in the path are
// replaced by numbers, as Python's str.format does: "{epoch:02d}-{val_loss:.2f}" contains the number of the epoch,
// counted from 1, and a number of the logs. {batch} is the number of the batch, if save_freq counts batches. Formats
// are those of decimal numbers, [[fill]align][sign][0][width][grouping][.precision][d, e, E, f, F, g, G or %]. Missing
// directories are made. ValueError for a path that is no such format. LookupError, when it saves, for a name that is
// not logged.
class CALQUE_API ModelCheckpoint : public Callback {
public:
  explicit ModelCheckpoint(std::string filepath, ModelCheckpointOptions options = {},
                           SourceLocation where = SourceLocation::current());
  void on_epoch_begin(std::int64_t epoch, Logs &logs) override;
  void on_train_batch_end(std::int64_t batch, Logs &logs) override;
  void on_epoch_end(std::int64_t epoch, Logs &logs) override;
  bool runs_on_every_rank() const override { return false; }

  // std::nullopt before the first value.
  const std::optional<double> &best() const { return best_; }

private:
  bool isDue(std::int64_t epoch, const Logs &logs, const std::string &path);
  void save(std::int64_t epoch, std::optional<std::int64_t> batch, const Logs &logs);

  std::string filepath;
  ModelCheckpointOptions of;
  Monitor monitor;
  std::optional<double> best_;
  std::int64_t epoch = 0, seen = 0;
  std::optional<std::int64_t> last; // the latest batch
};

struct SwapEMAWeightsOptions {
  bool swap_on_epoch =
      false; // also from the end of an epoch to the begin of the next, for the callbacks after this one
};
// Gives the model the moving averages of its weights while it is evaluated and while it predicts. With swap_on_epoch
// the model also has them at the end of an epoch, while the callbacks after this one run: ModelCheckpoint then saves
// the averages. Before the first step there are no averages. ValueError for an optimiser without use_ema.
class CALQUE_API SwapEMAWeights : public Callback {
public:
  explicit SwapEMAWeights(SwapEMAWeightsOptions options = {}) : of(options) {}
  void on_train_begin(Logs &logs) override;
  void on_epoch_begin(std::int64_t epoch, Logs &logs) override;
  void on_epoch_end(std::int64_t epoch, Logs &logs) override;
  void on_test_begin(Logs &logs) override;
  void on_test_end(Logs &logs) override;
  void on_predict_begin(Logs &logs) override;
  void on_predict_end(Logs &logs) override;

private:
  void swap(bool into);
  SwapEMAWeightsOptions of;
};

struct BackupAndRestoreOptions {
  SaveFrequency save_freq = "epoch";
  bool double_checkpoint = false; // also keeps the previous backup, which is used if the latest can't be read
  bool delete_checkpoint = true;  // removes the backup when the training ends without an error
};
// Keeps a backup of the training in a directory, and continues from it if there is one. A program that is killed and
// started again ends with the same bits as without the interruption, if the data has positions (data sets and tensors
// have) and no other callback has state. The backup contains the model, its optimiser, the global generator, the epoch
// and the batch, the positions in the data and in the validation data, and the metrics so far. The history has only the
// epochs of the call that returns it. A backup is written as a whole or not at all. The model must be built, as in
// Keras. ValueError for an empty name. StateError for a model that is not built. DataError for a backup that can't be
// read, or that belongs to another model or another kind of optimiser.
class CALQUE_API BackupAndRestore : public Callback {
public:
  explicit BackupAndRestore(std::string backup_dir, BackupAndRestoreOptions options = {},
                            SourceLocation where = SourceLocation::current());
  void on_train_begin(Logs &logs) override;
  void on_train_batch_end(std::int64_t batch, Logs &logs) override;
  void on_epoch_end(std::int64_t epoch, Logs &logs) override;
  void on_train_end(Logs &logs) override;

private:
  void save();
  std::string directory;
  BackupAndRestoreOptions of;
  std::int64_t seen = 0; // batches since the latest backup
};

struct ReduceLROnPlateauOptions {
  std::string monitor = "val_loss";
  double factor = 0.1; // below 1
  std::int64_t patience = 10;
  int verbose = 0;
  std::string mode = "auto";
  double min_delta = 1e-4;
  std::int64_t cooldown = 0; // epochs after a reduction that don't count
  double min_lr = 0;
};
// Multiplies the learning rate by a factor after `patience` epochs without a better value. Adds "learning_rate" to the
// logs. ValueError for a factor that is not between 0 and 1, and for a negative number of epochs or rate; StateError
// for an optimiser with a schedule.
class CALQUE_API ReduceLROnPlateau : public Callback {
public:
  explicit ReduceLROnPlateau(ReduceLROnPlateauOptions options = {}, SourceLocation where = SourceLocation::current());
  void on_train_begin(Logs &logs) override;
  void on_train_batch_end(std::int64_t batch, Logs &logs) override;
  void on_epoch_end(std::int64_t epoch, Logs &logs) override;

private:
  ReduceLROnPlateauOptions of;
  Monitor monitor;
  std::int64_t wait = 0, cooling = 0;
  std::optional<double> best;
};

// Sets the learning rate at the beginning of each epoch to the value of a function of the epoch, or of the epoch and
// the present rate. Adds "learning_rate" to the logs. StateError for an optimiser with a schedule.
class CALQUE_API LearningRateScheduler : public Callback {
public:
  template <typename F>
    requires std::is_invocable_r_v<double, F &, std::int64_t, double>
  explicit LearningRateScheduler(F f, int level = 0) : schedule(std::move(f)), verbose(level) {}
  template <typename F>
    requires(!std::is_invocable_v<F &, std::int64_t, double> && std::is_invocable_r_v<double, F &, std::int64_t>)
  explicit LearningRateScheduler(F f, int level = 0)
      : schedule([f = std::move(f)](std::int64_t epoch, double) mutable { return f(epoch); }), verbose(level) {}
  void on_epoch_begin(std::int64_t epoch, Logs &logs) override;
  void on_epoch_end(std::int64_t epoch, Logs &logs) override;

private:
  std::function<double(std::int64_t, double)> schedule;
  int verbose;
};

struct CSVLoggerOptions {
  std::string separator = ",";
  bool append = false; // to an existing file
};
// Writes a line with names, and then a line for each epoch: its number and its logs. DataError for a file that can't be
// written.
class CALQUE_API CSVLogger : public Callback {
public:
  explicit CSVLogger(std::string path, CSVLoggerOptions options = {});
  void on_train_begin(Logs &logs) override;
  void on_epoch_end(std::int64_t epoch, Logs &logs) override;
  void on_train_end(Logs &logs) override;
  bool runs_on_every_rank() const override { return false; }

private:
  std::string path;
  CSVLoggerOptions of;
  std::shared_ptr<std::FILE> file;
  std::vector<std::string> columns;
};

// Stops the training after a batch whose loss is infinite or NaN.
class CALQUE_API TerminateOnNaN : public Callback {
public:
  void on_train_batch_end(std::int64_t batch, Logs &logs) override;
};

// How often the logs of steps are written. "epoch": never, only the logs of epochs are written. "batch": at each step.
// A number n: every n steps; 0 means "epoch".
class CALQUE_API UpdateFrequency {
public:
  // ValueError for another text.
  UpdateFrequency(const char *name, SourceLocation where = SourceLocation::current());
  UpdateFrequency(const std::string &name, SourceLocation where = SourceLocation::current())
      : UpdateFrequency(name.c_str(), where) {}
  template <typename N>
    requires(std::integral<N> && !std::same_as<N, bool>)
  UpdateFrequency(N number) : steps_(static_cast<std::int64_t>(number)) {}
  std::int64_t steps() const { return steps_; }

private:
  std::int64_t steps_ = 0;
};

struct TensorBoardOptions {
  std::string log_dir = "logs";
  std::int64_t histogram_freq = 0;       // histograms of the weights every so many epochs; 0: none
  bool write_graph = true;               // the layers and their weights
  UpdateFrequency update_freq = "epoch"; // or "batch", or a number of steps
};
// Writes event files for TensorBoard into log_dir/train and log_dir/validation: "epoch_loss" and so on at each epoch,
// the validation's numbers under the same names, "batch_loss" at steps, "dense/kernel/histogram", and the graph.
class CALQUE_API TensorBoard : public Callback {
public:
  explicit TensorBoard(TensorBoardOptions options = {}, SourceLocation where = SourceLocation::current());
  void on_train_begin(Logs &logs) override;
  void on_train_batch_end(std::int64_t batch, Logs &logs) override;
  void on_epoch_end(std::int64_t epoch, Logs &logs) override;
  void on_train_end(Logs &logs) override;
  bool runs_on_every_rank() const override { return false; }

private:
  struct Files;
  void write(bool isValidation, const std::string &tag, double value, std::int64_t step);
  TensorBoardOptions of;
  std::shared_ptr<Files> files;
  std::int64_t steps = 0;
  bool hasGraph = false;
};

// The output of fit(): a progress bar on a terminal; elsewhere, and with verbose 2, a line for each epoch.
class CALQUE_API ProgbarLogger : public Callback {
public:
  ProgbarLogger();
  void on_train_begin(Logs &logs) override;
  void on_epoch_begin(std::int64_t epoch, Logs &logs) override;
  void on_train_batch_end(std::int64_t batch, Logs &logs) override;
  void on_epoch_end(std::int64_t epoch, Logs &logs) override;
  void on_test_begin(Logs &logs) override;
  void on_test_batch_end(std::int64_t batch, Logs &logs) override;
  void on_test_end(Logs &logs) override;
  bool runs_on_every_rank() const override { return false; }

private:
  struct Bar;
  std::shared_ptr<Bar> bar;
  bool trains = false;
};

} // namespace callbacks
} // namespace calque
#endif
