// What Trainer.cpp, which has the steps, and Fit.cpp, which has the loops, share.
#ifndef CALQUE_TRAINING_MODELS_TRAINER_H
#define CALQUE_TRAINING_MODELS_TRAINER_H

#include "Support.h"
#include "calque/function.h"
#include "calque/models/model.h"

namespace calque {

using models::Batch;
using models::Batches;

using StepFunction = Function<Tensors(const Batch &)>;

// An output of the model in a step.
struct Trainer::Output {
  std::string name;
  Tensor y_true; // undefined where there is no target for it
  Tensor y_pred;
  std::optional<Tensor> mask, sample_weight;
  const losses::AnyLoss *loss; // null for none
  double weight;
};

struct Trainer::Compiled {
  Compiled(CompileOptions options, StepFunction train, StepFunction test)
      : options(std::move(options)), train(std::move(train)), test(std::move(test)) {}

  CompileOptions options;
  StepFunction train, test;
  metrics::Mean loss = metrics::Mean("loss");

  // Made by the first step, which knows the outputs.
  struct Attached {
    std::size_t output;
    metrics::Metric metric;
    std::string name;
    bool isWeighted;
  };
  // Of several processes: how many rows of the step are this one's, and their share of all.
  std::optional<Variable> share;
  double rowsOfAll = 0;                       // of the next step, where each has its own data
  bool hasAveraged = false;                   // whether a training step has averaged gradients
  bool hasWarned = false;                     // that nothing is trained
  bool hasTrained = false, hasTested = false; // a step, in which layers make their variables
  bool isAttached = false;
  std::vector<Attached> attached;
  std::vector<std::pair<std::size_t, metrics::Mean>> ofOutputs; // the losses of several outputs
  std::vector<Tensor> latest;                                   // of the outputs, in the step that runs
};

namespace training {
// What fit() goes on from, for the callback that restores it.
struct Resumable : Trackable {
  std::string file; // that it comes from, for messages
};
} // namespace training

// Where fit() stands.
class Trainer::Progress : public training::Resumable {
public:
  std::int64_t epoch = 0, batch = 0; // that follow
  Batches::Next next;                // of the epoch, or the one that it has ended with
  bool isAtEnd = false;              // so that the next epoch opens the data
  Logs logs;                         // of the steps of the epoch so far
  bool hasMetrics = true;            // at the end of an epoch they have nothing to go on with
  bool metricsWait = true;           // those that are made in the epoch that goes on have values
  // Of a restore: where the data is gone on with; none where nothing was restored.
  std::optional<std::string> place;
  // Where the latest validation has ended, of data whose order may differ each time, and whether it was opened after
  // the data of the epoch: one data set may serve for both.
  std::optional<std::string> validation;
  bool isValidationLast = false;

  // Metrics are made in the first step, and get their values then.
  void add(const metrics::Metric &metric);
  void checkpoint_parts(CheckpointVisitor &visitor) override;
  // Opens the data of the epoch and that of the validation, at the places of a restore. Calls back with the first batch
  // of the epoch's, if that can be told.
  void open(const Batches &data, const std::optional<Batches> &validation,
            const std::function<void(const Batch &)> &prepare, SourceLocation where);

private:
  void openEpoch(const Batches &data, const std::function<void(const Batch &)> &prepare, SourceLocation where);
  void goTo(const Batches::Next &data, const std::string &place, const char *what, SourceLocation where) const;
  std::vector<metrics::Metric> metrics;
};

struct Trainer::State {
  std::optional<Compiled> compiled;
  std::optional<StepFunction> predict;
  std::optional<History> history;
  std::shared_ptr<Progress> progress; // while it fits
  const char *call = "compute_loss";  // that runs, of evaluate() in fit() this one
  SourceLocation line;                // of the call that runs

  // Traces know which parts are trainable. Drops them where that has changed since, and says so.
  bool forgetStale(const Model &model);
  std::optional<std::uint64_t> changes; // trainableChanges() when it was looked at, and what it was then
  std::vector<bool> trainable;
};

namespace training {

// Whether a module and its parts have their variables.
bool isBuilt(const Module &module);
// Tensors in batches of rows [first, last), in another order each time if they are shuffled. ValueError unless all have
// the same number of rows.
Batches batchesOf(const char *call, const Batch &tensors, std::int64_t size, bool shuffles, double from, double to);
// The number of rows of tensors.
std::int64_t rowsOf(const char *call, const Batch &tensors);
// With the weights of the labels multiplied to those of the examples.
Batches withClassWeights(Batches data, std::map<std::int64_t, double> weights, SourceLocation where);
// A metric may have several numbers.
Logs logsOf(const char *call, const Tensors &values, const std::function<bool(const std::string &)> &isMetric,
            SourceLocation where);

} // namespace training
} // namespace calque
#endif
