// What a compiled model does besides fit(): evaluate, predict, and steps on single batches.
#include "Testing.h"

#include <algorithm>

using namespace calque;
using namespace calque::testing;

namespace {

// y = 2 x, whose loss and gradient are those of one number: the mean of ((2 x - y)^2).
Sequential twice() {
  Sequential model{Input({1}), layers::Dense(1, {.use_bias = false})};
  model.set_weights({full({1, 1}, 2)});
  return model;
}
Tensor column(const std::vector<float> &values) {
  return tensor(values, {static_cast<std::int64_t>(values.size()), 1});
}

} // namespace

TEST(Trainer, EvaluatesBatchesAsOne) {
  Sequential model = twice();
  model.compile({.optimizer = "sgd", .loss = "mse", .metrics = {"mae"}});
  Tensor x = column({0, 1, 2, 3, 4, 5, 6}), y = zeros({7, 1});
  for (std::int64_t batch : {1, 3, 7, 32}) {
    Logs logs = model.evaluate(x, y, {.batch_size = batch});
    EXPECT_EQ(logs.names(), "'loss', 'mae'");
    EXPECT_NEAR(logs["loss"], 4 * 91 / 7.0, 1e-5); // the last batch weighs by its examples
    EXPECT_NEAR(logs["mae"], 2 * 21 / 7.0, 1e-6);
  }
  EXPECT_NEAR(model.evaluate(data::from_tensor_slices(x, y).batch(3), {.steps = 1})["loss"], 4 * 5 / 3.0, 1e-5);
  EXPECT_EQ(model.weights()[0].item<float>(), 2);
  EXPECT_EQ(model.optimizer().iterations().item<std::int64_t>(), 0);
}

TEST(Trainer, EvaluatesAndPredictsInInference) {
  Sequential model{Input({2}), layers::BatchNormalization({.epsilon = 0}), layers::Dropout(0.9)};
  model.compile({.loss = "mse"});
  Tensor x = tensor<float>({{1, 2}, {3, 4}, {5, 6}});
  expectNear(model.predict(x, {.batch_size = 2}), {1, 2, 3, 4, 5, 6}); // the moving statistics are 0 and 1
  EXPECT_EQ(model.evaluate(x, x)["loss"], 0);
  expectNear(model.predict_on_batch(x), {1, 2, 3, 4, 5, 6});
  for (const Variable &each : model.non_trainable_variables()) {
    if (each.dtype() != DType::Float32) // a generator
      continue;
    EXPECT_TRUE(bool(all(each == (each.name().find("mean") != std::string::npos ? 0 : 1)))) << each.name();
  }
  Sequential open = twice();
  expectNear(open.predict(column({1, 2, 3})), {2, 4, 6}); // which needs no compile()
}

TEST(Trainer, StepsOnSingleBatches) {
  Sequential model = twice();
  model.compile({.optimizer = optimizers::SGD(0.125), .loss = "mse", .metrics = {"mae"}});
  Tensor x = column({1, -1}), y = column({0, 0});
  // The loss is w^2, its derivative 2 w: each step makes w smaller by a fourth.
  Logs first = model.train_on_batch(x, y), second = model.train_on_batch(x, y);
  EXPECT_EQ(first["loss"], 4);
  EXPECT_EQ(first["mae"], 2);
  EXPECT_EQ(second["loss"], 2.25); // of this batch alone
  EXPECT_EQ(second["mae"], 1.5);
  EXPECT_EQ(model.weights()[0].item<float>(), 1.125f);
  Logs tested = model.test_on_batch(x, y);
  EXPECT_EQ(tested["loss"], 1.125 * 1.125);
  EXPECT_EQ(model.weights()[0].item<float>(), 1.125f);
  EXPECT_EQ(model.optimizer().iterations().item<std::int64_t>(), 2);
  // Weights of examples and of classes.
  model.set_weights({full({1, 1}, 2)});
  EXPECT_EQ(model.test_on_batch(x, y, {.sample_weight = tensor<float>({1, 3})})["loss"], 8);
  EXPECT_EQ(model.train_on_batch(x, y, {.class_weight = {{0, 0.5}}})["loss"], 2);
  EXPECT_EQ(model.weights()[0].item<float>(), 1.75f);
  model.reset_metrics();
  for (const metrics::Metric &metric : model.model().metrics())
    EXPECT_EQ(metric.result().item<float>(), 0) << metric.name();
}

TEST(Trainer, CompilesAgainWithTheWeightsItHas) {
  Sequential model = twice();
  Tensor x = column({1, -1}), y = column({0, 0});
  model.compile({.optimizer = optimizers::SGD(0.125), .loss = "mse"});
  model.train_on_batch(x, y);
  model.compile({.optimizer = optimizers::SGD(0.25), .loss = "mae", .metrics = {"mse"}});
  EXPECT_EQ(model.weights()[0].item<float>(), 1.5f);
  Logs logs = model.train_on_batch(x, y);
  EXPECT_EQ(logs.names(), "'loss', 'mse'");
  EXPECT_EQ(logs["loss"], 1.5);
  EXPECT_EQ(model.weights()[0].item<float>(), 1.25f); // the mean of |w x| has the derivative 1
  EXPECT_EQ(model.optimizer().iterations().item<std::int64_t>(), 1);
}

TEST(Optimizer, StepsOnSomeOfTheVariables) {
  Variable a(1.0), b(2.0);
  optimizers::SGD sgd(0.5, {.momentum = 0.5});
  auto loss = [&] { return a * a + b * b; };
  Tensor before = sgd.minimize(loss, {a});
  EXPECT_EQ(before.item<float>(), 5);
  EXPECT_EQ(a.item<float>(), 0);
  EXPECT_EQ(b.item<float>(), 2);
  GradientTape tape;
  Tensor value = loss();
  sgd.apply_gradients({tape.gradient(value, b)}, {b});
  EXPECT_EQ(b.item<float>(), 0);
  EXPECT_EQ(a.item<float>(), 0); // whose momentum waits
  EXPECT_EQ(sgd.iterations().item<std::int64_t>(), 2);
}

TEST(LambdaCallback, IsCalledWhereItSays) {
  std::string calls;
  auto note = [&](const std::string &what) { return [&calls, what](Logs &) { calls += what + " "; }; };
  auto number = [&](const std::string &what) {
    return [&calls, what](std::int64_t n, Logs &) { calls += what + std::to_string(n) + " "; };
  };
  callbacks::LambdaCallback callback({.on_epoch_begin = number("epoch"),
                                      .on_epoch_end = number("end"),
                                      .on_train_batch_begin = number("batch"),
                                      .on_train_batch_end = number("done"),
                                      .on_train_begin = note("begin"),
                                      .on_train_end = note("over")});
  Sequential model = twice();
  model.compile({.optimizer = "sgd", .loss = "mse"});
  model.fit(ones({3, 1}), ones({3, 1}), {.batch_size = 2, .epochs = 2, .verbose = 0, .callbacks = {callback}});
  EXPECT_EQ(calls, "begin epoch0 batch0 done0 batch1 done1 end0 epoch1 batch0 done0 batch1 done1 end1 over ");
}

// A step that was traced before would go on with what was trainable then.
TEST(Trainer, TrainsWhatIsTrainableNow) {
  Sequential model{Input({2}), layers::Dense(3, {.name = "a"}), layers::BatchNormalization({.name = "b"}),
                   layers::Dense(1, {.name = "c"})};
  model.compile({.optimizer = optimizers::Adam(0.1), .loss = "mse"});
  const Tensor x = tensor<float>({{1, 2}, {3, 5}, {2, 0}, {1, 1}}), y = tensor<float>({{1}, {0}, {2}, {5}});
  auto changes = [&](const char *name, auto train) {
    layers::Layer layer = model.get_layer(name);
    std::vector<Tensor> before;
    for (const Tensor &each : layer.get_weights())
      before.push_back(each + 0);
    train();
    std::vector<Tensor> after = layer.get_weights();
    for (std::size_t i = 0; i < after.size(); ++i)
      if (valuesOf(after[i]) != valuesOf(before[i]))
        return true;
    return false;
  };
  auto fit = [&] { model.fit(x, y, {.batch_size = 2, .verbose = 0}); };
  auto step = [&] { model.train_on_batch(x, y); };
  EXPECT_TRUE(changes("a", fit));
  for (const char *frozen : {"a", "b"}) {
    model.get_layer(frozen).set_trainable(false);
    EXPECT_FALSE(changes(frozen, fit)) << frozen;
    EXPECT_TRUE(changes("c", fit));
    EXPECT_FALSE(changes(frozen, step)) << frozen;
    model.get_layer(frozen).set_trainable(true);
    EXPECT_TRUE(changes(frozen, step)) << frozen;
  }
  // In the middle of it, by a callback.
  callbacks::LambdaCallback freeze(
      {.on_epoch_end = [&](std::int64_t epoch, Logs &) { model.get_layer("c").set_trainable(epoch != 0); }});
  EXPECT_TRUE(changes("c", [&] { model.fit(x, y, {.epochs = 1, .verbose = 0, .callbacks = {freeze}}); }));
  EXPECT_FALSE(changes("c", step));
  // All of it: there is nothing to train, and the loss is told.
  model.set_trainable(false);
  std::vector<std::string> warned;
  WarningHandler before = set_warning_handler([&](const Warning &warning) { warned.push_back(warning.message); });
  const double loss = model.evaluate(x, y)["loss"];
  const History frozen = model.fit(x, y, {.epochs = 2, .verbose = 0});
  set_warning_handler(before);
  EXPECT_EQ(frozen.history.at("loss"), (std::vector<double>{loss, loss}));
  ASSERT_EQ(warned.size(), 1u);
  EXPECT_CONTAINS(warned[0], "train_step: nothing is trained, because the model has no trainable variables; "
                             "set_trainable(true) has it train those that there are");
  EXPECT_TRUE(std::isfinite(model.evaluate(x, y)["loss"]));
}

TEST(Trainer, GoesThroughTheDataOfAModelWithoutVariables) {
  Sequential model{layers::Flatten()};
  model.compile({.optimizer = "adam", .loss = "mse", .metrics = {"mae"}});
  std::vector<std::string> warned;
  WarningHandler before = set_warning_handler([&](const Warning &warning) { warned.push_back(warning.message); });
  const History history = model.fit(ones({4, 3}), zeros({4, 3}), {.epochs = 2, .verbose = 0});
  set_warning_handler(before);
  EXPECT_EQ(history.history.at("loss"), (std::vector<double>{1, 1}));
  EXPECT_EQ(history.history.at("mae"), (std::vector<double>{1, 1}));
  ASSERT_EQ(warned.size(), 1u);
  EXPECT_CONTAINS(warned[0], "train_step: nothing is trained, because the model has no variables");
}

TEST(Trainer, SaysToCompileAgainAfterALayerIsAdded) {
  Sequential lazy{layers::Dense(2)};
  lazy.compile({.optimizer = "adam", .loss = "mse"});
  lazy.fit(ones({4, 3}), ones({4, 2}), {.verbose = 0});
  lazy.evaluate(ones({4, 3}), ones({4, 2}));
  lazy.add(layers::Dense(1));
  const char *message = ": the model has a layer that has no variables yet, and was added after the first step; "
                        "compile() the model anew, with a new optimizer";
  EXPECT_MISUSE(StateError, lazy.fit(ones({4, 3}), ones({4, 1}), {.verbose = 0}), std::string("fit") + message);
  EXPECT_MISUSE(StateError, lazy.evaluate(ones({4, 3}), ones({4, 1})), std::string("evaluate") + message);
  lazy.compile({.optimizer = "adam", .loss = "mse"});
  lazy.fit(ones({4, 3}), ones({4, 1}), {.verbose = 0});

  Sequential model{Input({3}), layers::Dense(2)};
  model.compile({.optimizer = "adam", .loss = "mse"});
  model.fit(ones({4, 3}), ones({4, 2}), {.verbose = 0});
  model.add(layers::Dense(1));
  EXPECT_MISUSE(StateError, model.fit(ones({4, 3}), ones({4, 1}), {.verbose = 0}),
                "adam: the variable 'dense_1/kernel' has come to the model after the first step, for which nothing is "
                "kept yet; compile() the model anew, with a new optimizer, after a layer is added");
  model.compile({.optimizer = "adam", .loss = "mse"});
  model.fit(ones({4, 3}), ones({4, 1}), {.verbose = 0});
}

// A part is trained if it is set so after the whole is frozen, also where the whole is a part of the model, as in
// Keras.
TEST(Trainer, TrainsWhatIsSetTrainableInAFrozenPart) {
  auto kernel = [](const layers::Layer &layer) { return valuesOf(layer.variable("kernel").value()); };
  // A layer that is shared by the model and by a frozen part of it.
  layers::Dense d(4);
  SymbolicTensor a = Input({4}), x = Input({4});
  models::Functional inner(a, d(a)), model(x, layers::Dense(1)(d(inner(x))));
  inner.set_trainable(false);
  EXPECT_EQ(model.trainable_variables().size(), 2u);
  d.set_trainable(true);
  EXPECT_EQ(model.trainable_variables().size(), 4u);
  EXPECT_TRUE(inner.trainable_variables().empty()) << "of the part alone nothing is trained";
  model.compile({.optimizer = "sgd", .loss = "mse"});
  std::vector<double> before = kernel(d);
  model.fit(ones({4, 4}), ones({4, 1}) * 3, {.verbose = 0});
  EXPECT_NE(kernel(d), before);

  // The last layer of a base.
  layers::Dense first(4, {.kernel_regularizer = regularizers::l2(0.1)}),
      last(4, {.kernel_regularizer = regularizers::l2(0.1)});
  Sequential base{first, last}, tuned{base, layers::Dense(1)};
  tuned.build({kDynamic, 4});
  base.set_trainable(false);
  last.set_trainable(true);
  EXPECT_EQ(tuned.trainable_variables().size(), 4u);
  EXPECT_EQ(tuned.non_trainable_variables().size(), 2u);
  EXPECT_EQ(tuned.losses().size(), 1u) << "of weights that are trained";
  EXPECT_TRUE(base.losses().empty());
  tuned.compile({.optimizer = "sgd", .loss = "mse"});
  std::vector<double> firstBefore = kernel(first), lastBefore = kernel(last);
  tuned.fit(ones({4, 4}), ones({4, 1}) * 3, {.verbose = 0});
  EXPECT_EQ(kernel(first), firstBefore);
  EXPECT_NE(kernel(last), lastBefore);
}

// The head is trained first, and then all: the slots of what was frozen are made before the step is traced anew.
TEST(Trainer, TrainsWhatWasFrozenBefore) {
  const Tensor x = ones({8, 3}), y = ones({8, 1});
  auto net = [] { return Sequential{Input({3}), layers::Dense(4, {.name = "base"}), layers::Dense(1)}; };
  for (bool eagerly : {false, true}) {
    Sequential model = net();
    model.compile({.optimizer = "adam", .loss = "mse", .run_eagerly = eagerly});
    model.get_layer("base").set_trainable(false);
    model.fit(x, y, {.verbose = 0});
    const auto before = valuesOf(model.get_layer("base").get_weights()[0]);
    model.get_layer("base").set_trainable(true);
    model.fit(x, y, {.verbose = 0});
    EXPECT_NE(valuesOf(model.get_layer("base").get_weights()[0]), before);
    std::vector<std::string> names;
    for (const auto &[name, variable] : model.optimizer().named_variables()) {
      names.push_back(name);
      EXPECT_EQ(variable.name(), name);
    }
    EXPECT_TRUE(std::find(names.begin(), names.end(), "momentum/base/kernel") != names.end());
    EXPECT_TRUE(std::none_of(names.begin(), names.end(), [](const auto &name) { return name.ends_with("_1"); }));
  }
  // A slot that can't be made takes no name.
  Variable w(ones({2}), {.name = "w"}), v(ones({2}), {.name = "v"});
  optimizers::SGD sgd(0.1, {.momentum = 0.9});
  bool isSecond = false;
  auto step = function([&](const Tensor &g) { sgd.apply_gradients({g}, {isSecond ? v : w}); });
  step(ones({2}));
  isSecond = true;
  for (int call = 0; call < 2; ++call)
    EXPECT_CONTAINS(errorOf<StateError>([&] { step.get_concrete_function(TensorSpec<float>({kDynamic})); }),
                    "variable 'momentum/v' is made in a later trace");
  sgd.build({v});
  std::vector<std::string> names;
  for (const auto &[name, variable] : sgd.named_variables())
    names.push_back(name + " " + variable.name());
  EXPECT_TRUE(std::find(names.begin(), names.end(), "momentum/v momentum/v") != names.end());
}

TEST(Trainer, SaysThatLayersAreNoPartsOfTheModel) {
  struct Forgotten : Model {
    layers::Dense dense{1};
    Tensor call(const Tensor &x, const layers::CallOptions &) override { return dense(x); }
  };
  Forgotten model;
  model.compile({.loss = "mse"});
  EXPECT_MISUSE(ValueError, model.fit(ones({2, 1}), ones({2, 1}), {.verbose = 0}),
                "train_step: the model has no trainable variables; submodule() and variable() make layers and");
}
