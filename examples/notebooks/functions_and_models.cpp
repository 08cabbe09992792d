// Notes on TensorFlow 2: functions, gradients, modules, layers, models, data sets, and training that is one's own:
// losses, metrics, callbacks, steps and weights. The lines in functions_and_models.out follow from what the notes
// define.
#include <calque/training.h>

#include <iostream>

using namespace calque;

// The first line of what a call throws.
template <typename F> void refused(F call) {
  try {
    call();
    std::cout << "not refused\n";
  } catch (const Error &error) {
    std::cout << std::string(error.what()).substr(0, std::string(error.what()).find('\n')) << '\n';
  }
}

//===-- Modules -----------------------------------------------------------------------------------===//

struct Linear : Module {
  Linear(std::int64_t in, std::int64_t out)
      : w(variable("w", random::normal({in, out}))), b(variable("b", zeros({out}))) {}
  Tensor operator()(const Tensor &x) const { return relu(matmul(x, w) + b); }
  Variable w, b;
};
struct SequentialModule : Module {
  Linear &linear_1 = submodule<Linear>("linear_1", 3, 3), &linear_2 = submodule<Linear>("linear_2", 3, 2);
  Tensor operator()(const Tensor &x) const { return linear_2(linear_1(x)); }
};

//===-- Layers ------------------------------------------------------------------------------------===//

// A sum of what it has seen, which training leaves alone.
struct ComputeSum : layers::LayerBody {
  explicit ComputeSum(std::int64_t size)
      : LayerBody("compute_sum", false), total(variable("total", zeros({size}), false)) {}
  Tensor call(const Tensor &x, const layers::CallOptions &) override {
    total.assign_add(sum(x, {0}));
    return total;
  }
  Variable total;
};
// Adds to the loss of what it is part of.
struct ActivityRegularization : layers::LayerBody {
  explicit ActivityRegularization(double rate) : LayerBody("activity", false), rate(rate) {}
  Tensor call(const Tensor &x, const layers::CallOptions &) override {
    add_loss(rate * sum(x));
    return x;
  }
  const double rate;
};
// Takes a mask, and drops elements in training alone.
struct MaskedDropout : layers::LayerBody {
  MaskedDropout() : LayerBody("masked_dropout", false) {}
  Tensor call(const Tensor &x, const layers::CallOptions &options) override {
    Tensor y = dropout(x, {.training = options.training});
    return options.mask ? where(*options.mask, y, 0) : y;
  }
  layers::Dropout dropout = submodule("dropout", layers::Dropout(0.5));
};

//===-- Losses and metrics ------------------------------------------------------------------------===//

struct CustomMSE : losses::Loss {
  explicit CustomMSE(double factor = 0.1) : Loss({.name = "custom_mse"}), factor(factor) {}
  Tensor call(const Tensor &y_true, const Tensor &y_pred) const override {
    return mean(square(y_true - y_pred), {-1}) + factor * mean(square(0.5 - y_pred), {-1});
  }
  double factor;
};

struct TruePositives : metrics::MetricBody {
  TruePositives() : MetricBody("true_positives") {}
  void update(const Tensor &y_true, const Tensor &y_pred, const std::optional<Tensor> &sample_weight) override {
    Tensor values = cast((y_true == 1) & (argmax(y_pred, -1) == 1), DType::Float32);
    count.assign_add(sum(sample_weight ? values * *sample_weight : values));
  }
  Tensor compute() const override { return count; }
  Variable count = variable("count", 0., false);
};

//===-- A step of one's own -----------------------------------------------------------------------===//

struct CustomModel : Model {
  CustomModel() : Model("custom_model") {}
  layers::Dense dense = submodule("dense", layers::Dense(1, {.kernel_initializer = "zeros"}));
  metrics::Mean loss_tracker{"loss"};
  metrics::MeanAbsoluteError mae{"mae"};

  Tensor call(const Tensor &x, const layers::CallOptions &) override { return dense(x); }
  Tensors train_step(const Batch &data) override {
    GradientTape tape;
    Tensor y = data.y, y_pred = (*this)(data.x, {.training = true});
    Tensor loss = losses::MeanSquaredError()(y, y_pred, {.sample_weight = data.sample_weight});
    std::vector<Variable> weights = trainable_variables();
    optimizer().apply_gradients(tape.gradient(loss, weights), weights);
    loss_tracker.update_state(loss);
    mae.update_state(y, y_pred);
    return {{"loss", loss_tracker.result()}, {"mae", mae.result()}};
  }
  std::vector<metrics::Metric> metrics() override { return {loss_tracker, mae}; } // reset before each epoch
};

// Stops when the loss is small enough.
struct StopBelow : callbacks::Callback {
  explicit StopBelow(double bound) : bound(bound) {}
  void on_epoch_end(std::int64_t epoch, Logs &logs) override {
    if (logs["loss"] < bound) {
      std::cout << "loss below " << bound << " in epoch " << (epoch < 20 ? "0 to 19" : "20 or later") << '\n';
      model().stop_training = true;
    }
  }
  double bound;
};

// Batches by number.
struct Squares {
  std::int64_t size() const { return 3; }
  std::pair<Tensor, Tensor> operator[](std::int64_t i) const {
    Tensor x = cast(iota({i < 2 ? 4 : 2, 1}, DType::Int32) + 4 * i, DType::Float32);
    return {x, x * x};
  }
};

int main() {
  set_seed(1);
  std::cout << std::boolalpha;
  { // Functions: std::cout runs while tracing, print at every call
    auto f = function([](int n, const Tensor &x) {
      std::cout << "Traced with " << n << '\n';
      print("Executed with", n, "and", x);
      return x * n;
    });
    for (int n : {10, 20, 10})
      f(n, scalar(1));
    std::cout << f.trace_count() << " traces\n";
    config::run_functions_eagerly(true);
    f(10, scalar(2));
    config::run_functions_eagerly(false);
  }
  { // Input signatures
    auto next_collatz =
        function([](const Tensor &x) { return where(mod(x, 2) == 0, floor_divide(x, 2), 3 * x + 1); },
                 {.name = "next_collatz", .argument_names = {"x"}, .input_signature = {TensorSpec<int>({kDynamic})}});
    std::cout << next_collatz(tensor({1, 2})) << '\n';
    refused([&] { next_collatz(tensor({{1, 2}, {3, 4}})); });
    refused([&] { next_collatz(tensor({1.0, 2.0})); });
  }
  { // Concrete functions
    auto power =
        function([](const Tensor &a, int b) { return pow(a, b); }, {.name = "pow", .argument_names = {"a", "b"}});
    auto square = power.get_concrete_function(TensorSpec<float>(kAnyShape), 2);
    std::cout << square(scalar(10.)) << ' ' << square(tensor({3., 4.})) << '\n' << power;
    refused([&] { square(scalar(10.), 3); });
    std::cout << pow(scalar(3), 4) << '\n'; // integers
  }
  { // Control flow
    auto collatz_steps = function([](const Tensor &start) {
      Tensor x = start, steps = scalar(0);
      while (x != 1) {
        if (mod(x, 2) == 0)
          x = floor_divide(x, 2);
        else
          x = 3 * x + 1;
        steps += 1;
      }
      return steps;
    });
    std::cout << collatz_steps(scalar(27)) << ' ' << collatz_steps(scalar(6)) << '\n';
    auto dynamic_rnn = function([](const Tensor &inputs) {
      auto body = [&](const Tensor &i, std::tuple<Tensor, TensorArray> carried) {
        auto [state, states] = carried;
        state = state + inputs[i];
        return std::tuple(state, states.write(i, state));
      };
      const Size steps = inputs.shape()[0];
      return std::get<1>(for_range(0, steps, std::tuple(zeros({2}), TensorArray(steps, DType::Float32, {2})), body))
          .stack();
    });
    std::cout << dynamic_rnn(tensor({{1., 2.}, {3., 4.}, {5., 6.}})) << '\n';
    // (n + 1) x^n is the derivative of x^(n + 1)
    auto powers = function([](const Tensor &x, const Tensor &n) {
      GradientTape tape;
      tape.watch(x);
      Tensor y = x;
      for ([[maybe_unused]] Tensor i : range(n))
        y = y * x;
      return tape.gradient(y, x).value();
    });
    std::cout << powers(scalar(2.), scalar(3)) << '\n';
  }
  { // Variables are made in the first call, and kept
    std::optional<Variable> count;
    auto counter = function([&] {
      if (!count)
        count.emplace(0);
      count->assign_add(1);
      return count->value();
    });
    counter();
    std::cout << counter() << '\n';
    Tensor leaked;
    auto leaky = function([&](const Tensor &x) {
      leaked = x + 1;
      return x;
    });
    leaky(scalar(1));
    try {
      std::cout << leaked.item<int>();
    } catch (const LeakedTensorError &) {
      std::cout << "a tensor of a trace has no elements\n";
    }
  }
  { // Gradients
    Variable x(2.0), unwatched(3.0);
    GradientTape tape({.persistent = true});
    Tensor y0 = x * x, y1 = 1 / x;
    std::cout << tape.gradient({y0, y1}, x) << '\n';
    std::cout << round(grad([](const Tensor &v) { return pow(v, v); })(3.0) * 1e4) / 1e4 << '\n';
    GradientTape rows;
    Tensor v = tensor({1., 2.});
    rows.watch(v);
    std::cout << rows.jacobian(stack({sum(v * v), v[0], v[1] * 3}), v) << '\n';
    GradientTape careful({.watch_accessed_variables = false});
    Tensor z = unwatched * unwatched;
    std::cout << careful.gradient(z, unwatched) << ' ' << careful.watched_variables().size() << " watched\n";
  }
  { // Checks of values
    auto f = function([](const Tensor &x) {
      assert_true(x > 0, "x must be positive");
      return log(x);
    });
    std::cout << f(scalar(1.)) << '\n';
    refused([&] { f(scalar(-1.)); });
    debug::enable_check_numerics();
    auto g = function([](const Tensor &x) {
      Tensor y = x * 2;
      Tensor z = log(y); // of what is negative
      return z + y;
    });
    std::cout << g(scalar(.5)) << '\n';
    refused([&] { g(scalar(-1.)); });
    debug::enable_check_numerics(false);
  }
  { // Modules
    SequentialModule module;
    std::cout << module(ones({4, 3})).shape() << ' ' << module.submodules().size() << " submodules:";
    for (const auto &[name, variable] : module.named_variables())
      std::cout << ' ' << name << ' ' << variable.shape();
    std::cout << '\n';
  }
  { // Layers
    layers::Layer total(std::make_shared<ComputeSum>(2));
    total(ones({2, 2}));
    std::cout << total(ones({2, 2})) << ' ' << total.weights().size() << " weight, "
              << total.trainable_variables().size() << " trainable\n";
    layers::Dense linear(3);
    linear(ones({2, 2}));
    std::cout << (linear.weights()[0].same_as(linear.kernel()) && linear.weights()[1].same_as(linear.bias())) << '\n';
    linear.set_trainable(false);
    std::cout << linear.trainable_variables().size() << " of " << linear.non_trainable_variables().size() << '\n';
    layers::Layer masked(std::make_shared<MaskedDropout>());
    std::cout << masked(ones({1, 3}), {.mask = tensor({{true, true, false}})}) << '\n';
    // The latest call's losses
    Sequential model{layers::Dense(1, {.kernel_initializer = "ones"}),
                     layers::Layer(std::make_shared<ActivityRegularization>(0.5))};
    model(ones({2, 3}));
    model(ones({1, 3}));
    std::cout << model.losses().size() << " loss: " << model.losses()[0] << '\n';
  }
  { // Functional models: residual, shared, nested; what the layers inside give
    SymbolicTensor input = Input({4}, {.name = "input"});
    layers::Dense shared(4, {.activation = "relu", .name = "shared"});
    SymbolicTensor x = shared(shared(input)) + input;
    models::Functional encoder(input, x, {.name = "encoder"});
    SymbolicTensor other = Input({4}, {.name = "other"});
    models::Functional model({input, other},
                             {{"class", layers::Dense(3, {.name = "class"})(encoder(other))}, {"sum", x + other}});
    Tensors y = model.apply({{"input", ones({2, 4})}, {"other", zeros({2, 4})}});
    std::cout << y["class"].shape() << ' ' << y["sum"].shape() << ' ' << model.count_params() << " parameters\n";

    Sequential two{Input({2}), layers::Dense(4, {.activation = "relu"}), layers::Dense(3, {.name = "last"})};
    SymbolicTensors outputs;
    for (const layers::Layer &layer : two.layers())
      outputs.push_back(layer.output());
    models::Functional features(two.inputs(), outputs);
    Tensor at = random::normal({5, 2});
    Tensors found = features.apply(at);
    std::cout << found[0].shape() << ' ' << all(found[1] == two(at)) << ' ' << two.get_layer("last").output().shape()
              << '\n';

    // A loss for one of two outputs, of a weight
    model.compile(
        {.optimizer = "sgd", .loss = {{"class", std::nullopt}, {"sum", "mse"}}, .loss_weights = {{"sum", 2.}}});
    Tensor half = full({2, 4}, 0.5), sums = model.predict({half, half})["sum"];
    std::cout << model.evaluate({half, half}, {zeros({2, 3}), sums - 1.})["loss"] << '\n'; // 2 * 1
  }
  { // Data sets
    data::Dataset numbers = data::range(6).map([](const Tensor &i) { return i * i; }).filter([](const Tensor &i) {
      return mod(i, 2) == 0;
    });
    for (const Tensor &batch : numbers.repeat(2).skip(1).take(4).batch(3))
      std::cout << batch << ' ';
    std::cout << *numbers.begin() << '\n';
    data::Dataset weighted = data::from_tensor_slices(tensor({1., 2.}), tensor({3., 4.}), tensor({.5, 1.}));
    for (auto [x, y, weight] : weighted)
      std::cout << x << ' ' << y << ' ' << weight << ", ";
    data::Dataset generated = data::from_generator([i = 0]() mutable {
      ++i;
      return i <= 3 ? std::optional(std::pair(scalar(i), scalar(i * 10))) : std::nullopt;
    });
    for (auto [x, y] : generated)
      std::cout << x << ' ' << y << ", ";
    for (auto [x, y] : data::from_sequence(Squares(), {.workers = 2}))
      std::cout << sum(y) << ' ';
    std::cout << '\n';
  }
  { // Losses and metrics of one's own
    Tensor y = tensor({{1., 0.}}), p = tensor({{.5, .5}});
    std::cout << CustomMSE(0.1)(y, p) << ' ' << CustomMSE(0.1)(y, y) << '\n';
    auto custom = [](const Tensor &y_true, const Tensor &y_pred) { return mean(square(y_true - y_pred), {-1}); };
    metrics::Metric positives(std::make_shared<TruePositives>());
    Sequential model{Input({2}), layers::Dense(2)};
    model.compile({.loss = custom});
    model.set_weights({eye(2), zeros({2})});
    std::cout << model.evaluate(p, y)["loss"] << '\n';
    model.compile({.loss = CustomMSE(0.1)});
    std::cout << model.evaluate(y, y)["loss"] << '\n';
    model.compile({.loss = "sparse_categorical_crossentropy", .metrics = {positives}});
    Tensor scores = tensor({{.2, .8}, {.9, .1}, {.3, .7}});
    std::cout << model.evaluate(scores, tensor({1, 1, 1}))[positives.name()] << ' '
              << positives(tensor({1}), tensor({{0., 1.}}), tensor({.5})) << '\n';
  }
  { // Weights of examples and of classes: the losses are 1 and 2
    Tensor x = tensor({{0.}, {0.}}), labels = tensor({0, 1}), weights = tensor({1., 3.});
    Sequential model{Input({1}), layers::Dense(1)};
    auto loss = [](const Tensor &y_true, const Tensor &y_pred) {
      return cast(y_true, DType::Float32) + 1 + 0 * sum(y_pred, {-1});
    };
    model.compile({.optimizer = optimizers::SGD(0.), .loss = loss});
    std::cout << model.train_on_batch(x, labels)["loss"] << ' '
              << model.train_on_batch(x, labels, {.sample_weight = weights})["loss"] << ' ';
    for (const std::map<std::int64_t, double> &of_class :
         {std::map<std::int64_t, double>{{0, 1.}, {1, 5.}}, {{1, 0.}}}) {
      History history = model.fit(x, labels, {.verbose = 0, .class_weight = of_class});
      std::cout << history.history.at("loss")[0] << ' ';
    }
    data::Dataset triples = data::from_tensor_slices(x, labels, weights).batch(2);
    std::cout << model.evaluate(triples)["loss"] << '\n';
  }
  { // A step and a callback of one's own; what callbacks are told
    Tensor x = random::normal({64, 2}), y = sum(x, {1}, true);
    CustomModel model;
    model.compile({.optimizer = optimizers::SGD(0.1)});
    int epochs = 0, batches = 0;
    callbacks::LambdaCallback count({.on_epoch_begin = [&](std::int64_t, Logs &) { ++epochs; },
                                     .on_train_batch_end = [&](std::int64_t, Logs &) { ++batches; }});
    StopBelow stop(0.01);
    History history = model.fit(x, y, {.epochs = 100, .verbose = 0, .callbacks = {stop, count}});
    std::cout << (batches == 2 * epochs) << ' ' << (history.epoch.size() == std::size_t(epochs)) << ' '
              << (history.history.at("mae").back() < 0.1) << '\n';
  }
  { // Training written out
    Sequential model{Input({2}), layers::Dense(8, {.activation = "relu"}), layers::Dense(2)};
    Tensor x = random::normal({256, 2}), y = cast(sum(x, {1}) > 0, DType::Int32);
    optimizers::Adam adam(0.02);
    losses::SparseCategoricalCrossentropy loss_fn({.from_logits = true});
    metrics::SparseCategoricalAccuracy accuracy;
    auto train_step = function([&](const Tensor &images, const Tensor &labels) {
      GradientTape tape;
      Tensor logits = model(images, {.training = true});
      Tensor loss = loss_fn(labels, logits);
      adam.apply_gradients(tape.gradient(loss, model.trainable_variables()), model.trainable_variables());
      accuracy.update_state(labels, logits);
      return loss;
    });
    for (int epoch = 0; epoch < 5; ++epoch) {
      accuracy.reset_state();
      for (auto [images, labels] : data::from_tensor_slices(x, y).shuffle(256).batch(32))
        train_step(images, labels);
    }
    std::cout << "accuracy above 0.9: " << (accuracy.result() > 0.9) << '\n';
  }
}
