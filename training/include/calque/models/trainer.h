// Training a model: compile, fit, evaluate, predict.
//
//   Sequential model({layers::Flatten(), layers::Dense(128, {.activation = "relu"}), layers::Dense(10)});
//   model.compile({.optimizer = "adam",
//                  .loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
//                  .metrics = {"accuracy"}});
//   model.fit(x, y, {.epochs = 5, .validation_split = 0.1});
//   auto [loss, accuracy] = model.evaluate(test_x, test_y).unpack<2>();
//   Tensor logits = model.predict(test_x);
//   model.history().history.at("val_loss");
//
// A subclass of Model may have a step of its own:
//
//   Tensors train_step(const Batch &data) override {
//     GradientTape tape;
//     Tensor y_pred = (*this)(data.x, {.training = true});
//     Tensor loss = compute_loss(data, y_pred);
//     std::vector<Variable> weights = trainable_variables();
//     optimizer().apply_gradients(tape.gradient(loss, weights), weights);
//     return compute_metrics(data, y_pred, loss);
//   }
//
// Names, defaults and order are those of Keras 3. In each epoch, the metrics are reset, the data is shuffled, and a
// compiled function makes the steps. Then the model is validated, in inference, and then the callbacks are called. The
// last step may have fewer examples. It is then traced once more, with an unknown batch size.
#ifndef CALQUE_MODELS_TRAINER_H
#define CALQUE_MODELS_TRAINER_H

#include "calque/callbacks.h"
#include "calque/data/untyped.h"
#include "calque/losses.h"
#include "calque/metrics.h"
#include "calque/models/distribution.h"
#include "calque/optimizers.h"
#include "calque/saving.h"
#include "calque/tensor_spec.h"
#include "calque/tensors.h"

#include <map>

namespace calque {

namespace models {

// A batch: inputs, targets, and a weight for each example. The weights may differ between outputs.
struct Batch {
  Tensors x, y = {};
  std::optional<Tensor> sample_weight = std::nullopt;
  Tensors sample_weights = {}; // for each output, by name or in order; sample_weight is empty then
};

} // namespace models

// An option for all outputs of a model together, for each output in order, or for some outputs by name. std::nullopt
// stands for no option.
template <typename T> class PerOutput {
public:
  using Map = std::map<std::string, std::optional<T>>;
  PerOutput() = default;
  PerOutput(std::nullopt_t) {}
  template <typename U>
    requires(std::is_convertible_v<U, T> && !std::is_same_v<std::remove_cvref_t<U>, PerOutput>)
  PerOutput(U &&value, SourceLocation where = SourceLocation::current()) {
    if constexpr (std::is_constructible_v<T, U, SourceLocation>)
      all_.emplace(std::forward<U>(value), where);
    else
      all_.emplace(std::forward<U>(value));
  }
  PerOutput(std::initializer_list<std::optional<T>> list) : list_(list) {}
  PerOutput(std::initializer_list<typename Map::value_type> map) : map_(map) {}
  PerOutput(std::vector<std::optional<T>> list) : list_(std::move(list)) {}
  PerOutput(Map map) : map_(std::move(map)) {}

  bool empty() const { return !all_ && list_.empty() && map_.empty(); }
  const std::optional<T> &all() const { return all_; }
  const std::vector<std::optional<T>> &list() const { return list_; }
  const Map &map() const { return map_; }

private:
  std::optional<T> all_;
  std::vector<std::optional<T>> list_;
  Map map_;
};

// A metric as an option: a metric, a name, or a function of y_true and y_pred. The metric of a function is the mean of
// its values for the examples. "accuracy", or "acc", is the accuracy that fits the output: binary for one number or a
// binary loss, sparse for integer labels, else categorical. In logs, a loss function has its name, and another function
// the name "metric".
class CALQUE_API AnyMetric {
public:
  AnyMetric(const char *name, SourceLocation where = SourceLocation::current());
  AnyMetric(const std::string &name, SourceLocation where = SourceLocation::current())
      : AnyMetric(name.c_str(), where) {}
  template <typename M>
    requires std::is_base_of_v<metrics::Metric, M>
  AnyMetric(const M &metric) : name_(metric.name()), metric_(metric) {}
  template <typename F>
    requires(std::is_invocable_r_v<Tensor, const F &, const Tensor &, const Tensor &> &&
             !std::is_base_of_v<metrics::Metric, F> && !std::is_base_of_v<losses::Loss, F> &&
             !std::is_same_v<F, losses::AnyLoss>)
  AnyMetric(F function)
      : AnyMetric(ofFunction(losses::AnyLoss(function).function(), OfExamples(std::move(function)))) {}

  // The name in logs: the one that was given.
  const std::string &name() const { return name_; }
  metrics::Metric resolved(const Tensor &y_true, const Tensor &y_pred, const std::string &loss) const;
  // None for a name.
  const std::optional<metrics::Metric> &metric() const { return metric_; }

private:
  using OfExamples = std::function<Tensor(const Tensor &y_true, const Tensor &y_pred)>;
  // `loss` is the name of the library's function that it is, else empty.
  static AnyMetric ofFunction(const std::string &loss, OfExamples function);
  std::string name_;
  std::optional<metrics::Metric> metric_; // none for a name
};

// The metrics of the only output, of each output in order, or of some by name:
//
//   {"accuracy", metrics::AUC()}
//   {{"mae"}, {"accuracy", metrics::AUC()}}                     // {} for an output without one
//   {{"score", {"mae"}}, {"kind", {"accuracy", metrics::AUC()}}}
class CALQUE_API MetricsOption {
public:
  using List = std::vector<AnyMetric>;

  // An item in braces: a metric, a name, or a list.
  class CALQUE_API Item {
  public:
    template <typename M>
      requires(std::is_constructible_v<AnyMetric, M> && !std::is_convertible_v<M, std::string>)
    Item(const M &metric) : metrics_{AnyMetric(metric)}, isList_(false) {}
    Item(std::string name, SourceLocation where = SourceLocation::current())
        : name_(std::move(name)), where_(where), isList_(false) {}
    Item(const char *name, SourceLocation where = SourceLocation::current()) : Item(std::string(name), where) {}
    Item(List list) : metrics_(std::move(list)), isList_(true) {}
    Item(std::initializer_list<Item> items, SourceLocation where = SourceLocation::current())
        : where_(where), items_(items), isList_(true) {}

  private:
    friend class MetricsOption;
    bool isName() const { return !name_.empty(); }
    List list() const;

    std::string name_; // of a metric, or of an output
    SourceLocation where_;
    List metrics_;
    std::vector<Item> items_;
    bool isList_;
  };

  MetricsOption() = default;
  // LookupError for a name that is neither that of a metric nor followed by a list; ValueError for lists in the list of
  // an output, and for an output that is named twice.
  MetricsOption(std::initializer_list<Item> items);
  template <typename M>
    requires(std::is_convertible_v<M, Item> && !std::is_convertible_v<M, List>)
  MetricsOption(const M &metric, SourceLocation where = SourceLocation::current()) : isFlat_(true) {
    if constexpr (std::is_constructible_v<AnyMetric, M, SourceLocation>)
      lists_ = {List{AnyMetric(metric, where)}};
    else
      lists_ = {List{AnyMetric(metric)}};
  }
  MetricsOption(List list) : lists_{std::move(list)}, isFlat_(true) {}
  MetricsOption(std::vector<List> lists) : lists_(std::move(lists)) {}
  MetricsOption(std::map<std::string, List> map) : map_(std::move(map)) {}
  bool empty() const { return lists_.empty() && map_.empty(); }
  bool isFlat() const { return isFlat_; }
  const std::vector<List> &lists() const { return lists_; }
  const std::map<std::string, List> &map() const { return map_; }

private:
  std::vector<List> lists_;
  std::map<std::string, List> map_;
  bool isFlat_ = false;
};

struct CompileOptions {
  optimizers::Optimizer optimizer = "rmsprop";
  PerOutput<losses::AnyLoss> loss = {}; // none: the values of add_loss() alone
  MetricsOption metrics = {};
  PerOutput<double> loss_weights = {};
  MetricsOption weighted_metrics = {}; // these use the weights of the examples
  bool run_eagerly = false;            // each step line by line
  // The processes that share each step, such as distributed::DataParallel(). The batch size is that of all together.
  // Losses are means over examples, and the gradients of all examples are averaged, however many each process has. The
  // variables of metrics are sums over examples, as those of the library's are. fit() begins with the variables of rank
  // 0. Files are written by rank 0. Not saved with the model.
  std::shared_ptr<const models::Distribution> distribution = nullptr;
};

namespace models {

// The data of a call: tensors in batches, or a sequence of batches that can be iterated over repeatedly, such as a data
// set. Its elements are pairs (x, y), tuples (x, y, sample_weight), or objects of Batch. x, y and sample_weight are a
// tensor, Tensors, or a map of tensors by their names.
class CALQUE_API Batches {
public:
  // A callable that makes the next batch, or returns false at the end. It may have a state: get_state returns the
  // position in the data as text, and set_state moves to such a position, also in another process.
  class Next {
  public:
    Next() = default;
    Next(std::nullptr_t) {}
    template <typename F>
      requires(std::is_invocable_r_v<bool, F &, Batch &> && !std::is_same_v<std::remove_cvref_t<F>, Next>)
    Next(F next, std::function<std::string()> get_state = {}, std::function<void(const std::string &)> set_state = {})
        : next_(std::move(next)), get_(std::move(get_state)), set_(std::move(set_state)) {}
    bool operator()(Batch &batch) const { return next_(batch); }
    explicit operator bool() const { return next_ != nullptr; }
    bool has_state() const { return get_ && set_; }
    std::string get_state() const { return get_(); }
    void set_state(const std::string &state) const { set_(state); }

  private:
    std::function<bool(Batch &)> next_;
    std::function<std::string()> get_;
    std::function<void(const std::string &)> set_;
  };

  template <typename D>
    requires(!std::is_same_v<D, Tensors> && !std::is_same_v<D, Tensor> &&
             requires(const D &data) {
               data.begin();
               data.end();
             })
  Batches(const D &data)
      : Batches([kept = std::make_shared<const D>(data)] {
          auto at = std::make_shared<decltype(kept->begin())>(kept->begin());
          auto isFirst = std::make_shared<bool>(true);
          auto next = [kept, at, isFirst](Batch & batch) {
            if (!std::exchange(*isFirst, false))
              ++*at;
            if (*at == kept->end())
              return false;
            batch = batchOf(**at);
            return true;
          };
          // The state: whether the iterator is at a batch that was returned already, and the iterator's own state.
          if constexpr (requires(const std::string & text) { at->set_state(text); })
            return Next(
                next, [at, isFirst] { return (*isFirst ? "0 " : "1 ") + at->get_state(); },
                [at, isFirst](const std::string & text) {
                  // An invalid text is passed unchanged, so that the error shows all of it.
                  at->set_state(text.starts_with("0 ") || text.starts_with("1 ") ? text.substr(2) : text);
                  *isFirst = text.starts_with("0");
                });
          else
            return Next(next);
        }) {
    if constexpr (requires { data.cardinality(); }) {
      isInfinite_ = data.cardinality() == data::kInfinite;
      if (data.cardinality() >= 0)
        size_ = data.cardinality();
    } else if constexpr (requires { std::int64_t(data.size()); }) {
      size_ = static_cast<std::int64_t>(data.size());
    }
  }
  explicit Batches(std::function<Next()> open, std::optional<std::int64_t> size = std::nullopt)
      : open_(std::move(open)), size_(size) {}

  Next open() const { return open_(); }
  // None if the size is not known before the iteration.
  const std::optional<std::int64_t> &size() const { return size_; }
  bool is_infinite() const { return isInfinite_; }

  // A batch with weights. A single tensor without a name is the weight for all outputs; otherwise each output has a
  // tensor of its own.
  static Batch weighted(Batch batch, Tensors sample_weight);

private:
  static Batch batchOf(const Batch &batch) { return batch; }
  static Batch batchOf(const Tensor &x) { return {Tensors(x)}; }
  template <typename X, typename Y> static Batch batchOf(const std::pair<X, Y> &element) {
    return {tensorsOf(element.first), tensorsOf(element.second)};
  }
  template <typename X, typename Y> static Batch batchOf(const std::tuple<X, Y> &element) {
    return {tensorsOf(std::get<0>(element)), tensorsOf(std::get<1>(element))};
  }
  template <typename X, typename Y, typename W> static Batch batchOf(const std::tuple<X, Y, W> &element) {
    return weighted({tensorsOf(std::get<0>(element)), tensorsOf(std::get<1>(element))},
                    tensorsOf(std::get<2>(element)));
  }
  static Tensors tensorsOf(const Tensors &x) { return x; }
  static Tensors tensorsOf(const std::map<std::string, Tensor> &x) {
    return Tensors(std::vector<Tensors::Named>(x.begin(), x.end()));
  }

  std::function<Next()> open_;
  std::optional<std::int64_t> size_;
  bool isInfinite_ = false;
};

} // namespace models

// Tensors {x, y} or {x, y, sample_weight}, or a data set.
class CALQUE_API ValidationData {
public:
  ValidationData() = default;
  ValidationData(Tensors x, Tensors y, Tensors sample_weight = {})
      : tensors_(models::Batches::weighted({std::move(x), std::move(y)}, std::move(sample_weight))) {}
  template <typename D>
    requires std::is_constructible_v<models::Batches, const D &>
  ValidationData(const D &data) : batches_(models::Batches(data)) {}
  bool empty() const { return !tensors_ && !batches_; }
  const std::optional<models::Batch> &tensors() const { return tensors_; }
  const std::optional<models::Batches> &batches() const { return batches_; }

private:
  std::optional<models::Batch> tensors_;
  std::optional<models::Batches> batches_;
};

struct FitOptions {
  std::int64_t batch_size = 32; // if the data is tensors; elements of data sets are batches
  std::int64_t epochs = 1;
  int verbose = 1; // 0: silent; 1: a bar on a terminal, else lines; 2: a line for each epoch
  std::vector<callbacks::AnyCallback> callbacks = {};
  double validation_split = 0; // the share of the tensors, at their end before shuffling, that is for validation
  ValidationData validation_data = {};
  bool shuffle = true;                              // shuffles tensors in each epoch
  std::map<std::int64_t, double> class_weight = {}; // of each label; 1 for others
  // The weight of each example, when x and y are tensors: one tensor for all outputs, or one for each output,
  // {{"score", a}, {"kind", b}} or {a, b}. Outputs that are not named have the weight 1.
  Tensors sample_weight = {};
  std::int64_t initial_epoch = 0;
  std::optional<std::int64_t> steps_per_epoch = std::nullopt; // the next epoch continues in the data set
  std::optional<std::int64_t> validation_steps = std::nullopt;
  std::optional<std::int64_t> validation_batch_size = std::nullopt;
  std::int64_t validation_freq = 1; // validates every so many epochs
};

struct EvaluateOptions {
  std::int64_t batch_size = 32;
  int verbose = 0;
  Tensors sample_weight = {}; // as for fit()
  std::optional<std::int64_t> steps = std::nullopt;
  std::vector<callbacks::AnyCallback> callbacks = {};
};
struct PredictOptions {
  std::int64_t batch_size = 32;
  std::optional<std::int64_t> steps = std::nullopt;
  std::vector<callbacks::AnyCallback> callbacks = {};
};
struct ExportOptions {
  std::vector<TensorSpec<>> inputs = {};  // empty: those of the model's first call, with an unknown batch size
  std::vector<TensorSpec<>> targets = {}; // if given, the training step is saved as well
};
struct BatchOptions {
  Tensors sample_weight = {}; // as for fit()
  std::map<std::int64_t, double> class_weight = {};
};

namespace layers {
class LayerBody;
}

// The functions of a model that a layer does not have.
class CALQUE_API Trainer {
public:
  using Batch = models::Batch;
  using Batches = models::Batches;

  Trainer();
  CALQUE_STAYS Trainer(Trainer &&);
  virtual ~Trainer();

  // May be called again, and does not change the weights. LookupError for unknown names.
  void compile(CompileOptions options = {}, SourceLocation where = SourceLocation::current());
  bool compiled() const;

  // Trains, and returns the history of the epochs. StateError before compile(). ValueError for options out of range,
  // and for tensors with different numbers of examples. LookupError for weights of unknown outputs. After an error the
  // model has the weights of the last step that succeeded.
  History fit(const Tensors &x, const Tensors &y, FitOptions options = {},
              SourceLocation where = SourceLocation::current());
  History fit(const Batches &data, FitOptions options = {}, SourceLocation where = SourceLocation::current());
  // The loss and the metrics, in inference.
  Logs evaluate(const Tensors &x, const Tensors &y, EvaluateOptions options = {},
                SourceLocation where = SourceLocation::current());
  Logs evaluate(const Batches &data, EvaluateOptions options = {}, SourceLocation where = SourceLocation::current());
  // The outputs for all examples. Needs no compile().
  Tensors predict(const Tensors &x, PredictOptions options = {}, SourceLocation where = SourceLocation::current());
  Tensors predict(const Batches &data, PredictOptions options = {}, SourceLocation where = SourceLocation::current());
  // One step. It returns the metrics of this batch, as in Keras.
  Logs train_on_batch(const Tensors &x, const Tensors &y, BatchOptions options = {},
                      SourceLocation where = SourceLocation::current());
  Logs test_on_batch(const Tensors &x, const Tensors &y, BatchOptions options = {},
                     SourceLocation where = SourceLocation::current());
  Tensors predict_on_batch(const Tensors &x, SourceLocation where = SourceLocation::current());
  void reset_metrics(SourceLocation where = SourceLocation::current());
  // Whether more or less of a logged number is better, such as "val_auc" or "loss". A metric says it for its numbers.
  // Less is better for losses, whose names are "loss" or end in "_loss". Unknown for other numbers.
  metrics::Direction direction_of(const std::string &logged);

  // The history of the latest fit(). StateError before the first.
  const History &history(SourceLocation where = SourceLocation::current()) const;
  // StateError before compile().
  optimizers::Optimizer optimizer(SourceLocation where = SourceLocation::current()) const;
  // Saves the structure and the weights. Of a compiled model it also saves the optimiser with its state, and the
  // options of compile(). load_model() makes the model from the file, also in another program. Missing directories are
  // made. StateError before the weights are made, in a trace, and for a class or a function of your own that is not
  // registered, which the error names. ValueError for a number in a config that is not finite. DataError for a file
  // that can't be written. After an error, an earlier file is unchanged.
  void save(const std::string &path, SaveOptions options = {}, SourceLocation where = SourceLocation::current());
  // Saves the weights alone, by their paths: "dense/kernel". The states of random generators are not weights.
  // StateError before the weights are made.
  void save_weights(const std::string &path, SaveOptions options = {},
                    SourceLocation where = SourceLocation::current());
  // Assigns weights from a file of save_weights() or save(): all, or none if there is an error. StateError before the
  // weights are made. LookupError for weights without a tensor in the file, and for tensors without a weight; the error
  // lists both, and strict = false turns it off. ShapeError and DTypeError for a tensor that does not fit its weight.
  // ValueError for two tensors for one weight, and for an unknown layout. DataError for a file that can't be read.
  LoadedWeights load_weights(const std::string &path, LoadWeightsOptions options = {},
                             SourceLocation where = SourceLocation::current());

  // Saves the model as functions (saved_functions.h), for programs without its code and without this library.
  // "predict" takes a tensor, or several in a std::vector<Tensor>. It returns a tensor, or several in a
  // std::map<std::string, Tensor> by the names of the outputs. If targets are given, "train_step" takes inputs and
  // targets, and returns the loss and the metrics of the batch in such a map. The variables have their paths. Those of
  // the optimiser begin with "optimizer/", and those of a metric with "metrics/" and its name. Nothing is appended to
  // the path of the file. StateError if the types of the inputs are not known, and for a training step of a model that
  // is not compiled; other errors as for save_functions().
  void export_functions(const std::string &path, ExportOptions options = {},
                        SourceLocation where = SourceLocation::current());

  // The progress of fit(), for callbacks that save it as a part of a checkpoint: the next epoch and batch, the position
  // in the data, and the metrics so far. If a callback restores it in on_train_begin(), fit() continues from there. It
  // moves the data to the position, or skips as many batches if the data can't be moved. StateError outside of fit().
  Trackable &fit_progress(SourceLocation where = SourceLocation::current());

  // Set to end the training after the batch or the epoch.
  bool stop_training = false;

  // The metrics that are reset before each epoch and each evaluation: the loss, and the metrics of compile(), which the
  // first step makes.
  virtual std::vector<metrics::Metric> metrics();

protected:
  // One step of training, of testing, and of predicting. The first two return numbers by name, the third returns the
  // outputs. Each is traced once for each type of batch.
  virtual Tensors train_step(const Batch &data);
  virtual Tensors test_step(const Batch &data);
  virtual Tensors predict_step(const Batch &data);

  // The loss of outputs by the options of compile(), and the values that add_loss() got in the latest call. `masks` are
  // those of the outputs.
  virtual Tensor compute_loss(const Batch &data, const Tensors &y_pred,
                              const std::vector<std::optional<Tensor>> &masks = {});
  // Updates the metrics of compile(), and returns the results of metrics() by name.
  virtual Tensors compute_metrics(const Batch &data, const Tensors &y_pred, const Tensor &loss,
                                  const std::vector<std::optional<Tensor>> &masks = {});

  // Under `distribution`, the gradients for all examples of the step, from those for the examples of this process; else
  // the gradients themselves. A train_step of your own calls it before it applies gradients; without it, fit() is a
  // StateError under `distribution`.
  std::vector<std::optional<Tensor>> average_gradients(std::vector<std::optional<Tensor>> gradients);

  // The model itself.
  virtual Model &trained() = 0;

private:
  friend CALQUE_API ModelHandle load_model(const std::string &path, LoadModelOptions options, SourceLocation where);
  struct Compiled;
  struct State;
  struct Output;
  class Progress;
  Compiled &checked(const char *what, SourceLocation where) const;
  std::vector<Output> outputsOf(const Batch &data, const Tensors &y_pred,
                                const std::vector<std::optional<Tensor>> &masks);
  void attach(const std::vector<Output> &outputs);
  void buildOptimizer(const std::vector<Variable> &weights);
  void forgetStale();
  Logs step(bool trains, const Batch &batch);
  // Of several processes (Distribution.cpp): null for one.
  const models::Distribution *distribution() const;
  // Gives all the variables of rank 0.
  void joinRanks();
  // This process's rows of a batch.
  Batch ownPart(const Batch &batch);
  void setShare(double own, double all);
  bool nextBatch(const Batches::Next &next, Batch &batch);
  // What metrics have before a step, and what all processes add to it.
  std::vector<std::pair<Variable, Tensor>> metricStates();
  void sumMetrics(const std::vector<std::pair<Variable, Tensor>> &before);
  void requireAveraged();
  void keepOwnCallbacks(std::vector<callbacks::AnyCallback> &all) const;
  // `validation` is for fit(), which needs to know the position in the data at which the validation has ended.
  Logs evaluateAll(const Batches &data, std::optional<std::int64_t> steps, std::vector<callbacks::AnyCallback> &all,
                   Batches::Next *validation);
  std::unique_ptr<State> state;
};

// The two parts of x and y, for training and for testing.
struct Split {
  Tensor x_train, x_test, y_train, y_test;
};
struct SplitOptions {
  double test_size = 0.25; // a share of the examples, rounded up; 1 and more is a number of examples
  bool shuffle = true;
  std::optional<Tensor> stratify = std::nullopt;   // integer labels [N]; both parts have the same share of each label
  std::optional<std::int64_t> seed = std::nullopt; // drawn from the global generator unless given
};
// Splits as scikit-learn does: the rows are shuffled; without shuffling, the last rows are for testing. ValueError for
// a part without examples; with stratify, also for a class with fewer than two examples, and for shuffle = false.
CALQUE_API Split train_test_split(const Tensor &x, const Tensor &y, SplitOptions options = {},
                                  SourceLocation where = SourceLocation::current());

} // namespace calque
#endif
