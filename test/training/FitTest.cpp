// compile, fit, evaluate, predict.
#include "Testing.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>

using namespace calque;
using namespace calque::testing;

namespace {

// Rows of 2 numbers with the label whether their sum is above 0, and a float column 3 a - b.
struct Points {
  explicit Points(std::int64_t n, int seed = 1) {
    std::mt19937 random(static_cast<unsigned>(seed));
    x = cast(randomTensor(random, {n, 2}, -1, 1), DType::Float32);
    label = cast(sum(x, {1}) > 0, DType::Int32);
    y = matmul(x, tensor<float>({3, -1}, {2, 1}));
  }
  Tensor x, label, y;
};

Sequential line() { return Sequential({layers::Dense(1, {.kernel_initializer = zeros})}); }

// Prints nothing, and the callbacks that it is told to call.
struct Recorder : callbacks::Callback {
  void note(const std::string &text) { calls += text + " "; }
  void on_train_begin(Logs &) override { note("train("); }
  void on_train_end(Logs &) override { note(")train"); }
  void on_epoch_begin(std::int64_t epoch, Logs &) override { note("epoch" + std::to_string(epoch) + "("); }
  void on_epoch_end(std::int64_t, Logs &logs) override { note(")epoch[" + logs.names() + "]"); }
  void on_train_batch_begin(std::int64_t batch, Logs &) override { note("b" + std::to_string(batch)); }
  void on_train_batch_end(std::int64_t, Logs &logs) override { note(logs.contains("loss") ? "e" : "?"); }
  void on_test_begin(Logs &) override { note("test("); }
  void on_test_end(Logs &) override { note(")test"); }
  std::string calls;
};

} // namespace

// As Keras with set_floatx("float64").
TEST(Fit, IsOfTheDefaultType) {
  set_default_dtype(DType::Float64);
  Sequential model({Input({3}), layers::Dense(1)});
  model.compile({.optimizer = "sgd", .loss = "mse", .metrics = {"mae"}});
  Tensor x = zeros({4, 3}, DType::Float64), y = full({4, 1}, 10000.042, DType::Float64);
  EXPECT_EQ(static_cast<Tensor>(model.predict(x)).dtype(), DType::Float64);
  const Logs logs = model.evaluate(x, y);
  Sequential other({layers::Embedding(5, 2), layers::Dense(1)});
  const Tensor embedded = other(tensor<std::int64_t>({{1, 2}}));
  set_default_dtype(DType::Float32);
  EXPECT_NEAR(logs.at("loss"), 10000.042 * 10000.042, 1e-6);
  EXPECT_NEAR(logs.at("mae"), 10000.042, 1e-10);
  EXPECT_EQ(embedded.dtype(), DType::Float64);
}

TEST(Fit, TrainsByNamesAndKeepsTheHistory) {
  Points points(64);
  Sequential model({layers::Dense(8, {.activation = "tanh"}), layers::Dense(2)});
  EXPECT_MISUSE(StateError, model.history(), "history: there is none before fit()");
  model.compile({.optimizer = optimizers::Adam(0.05),
                 .loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {"accuracy"}});
  History history = model.fit(points.x, points.label, {.batch_size = 16, .epochs = 15, .verbose = 0});
  ASSERT_EQ(history.history.size(), 2u);
  EXPECT_EQ(history.history.at("loss").size(), 15u);
  EXPECT_LT(history.history.at("loss").back(), history.history.at("loss").front());
  EXPECT_EQ(model.history().history.at("accuracy"), history.history.at("accuracy"));
  auto [loss, accuracy] = model.evaluate(points.x, points.label).unpack<2>();
  EXPECT_GT(accuracy, 0.9);
  EXPECT_LT(loss, 0.5);
  Tensor logits = model.predict(points.x, {.batch_size = 10});
  EXPECT_EQ(logits.shape(), (Shape{64, 2}));
  expectNear(logits, valuesOf(model(points.x)), 1e-6);
}

// One step of SGD on a line through 0 by hand: the gradient of mean((x w + b - y)^2) at 0 is -2 mean(x y).
TEST(Fit, MakesTheStepsOfALoopByHand) {
  Points points(7);
  Sequential model = line(), other = line();
  other.build({7, 2});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  History history = model.fit(points.x, points.y, {.batch_size = 3, .epochs = 2, .verbose = 0, .shuffle = false});
  optimizers::SGD sgd;
  double total = 0;
  for (int epoch = 0; epoch < 2; ++epoch) {
    total = 0;
    for (std::int64_t at = 0; at < 7; at += 3) {
      const std::int64_t end = std::min<std::int64_t>(at + 3, 7);
      Tensor x = slice(points.x, {at, 0}, {end, 2}), y = slice(points.y, {at, 0}, {end, 1});
      Tensor loss = sgd.minimize([&] { return mean(square(other(x) - y)); }, other.trainable_variables());
      total += loss.item<float>() * static_cast<double>(end - at);
    }
  }
  // A last batch of fewer examples weighs by them.
  EXPECT_NEAR(history.history.at("loss").back(), total / 7, 1e-6);
  expectNear(model.weights()[0].value(), valuesOf(other.weights()[0].value()), 1e-6);
  EXPECT_EQ(model.optimizer().iterations().value().item<std::int64_t>(), 6);
}

TEST(Fit, CallsInKerasOrder) {
  Points points(6);
  Sequential model = line();
  model.compile({.optimizer = "sgd", .loss = "mse", .metrics = {"mae"}});
  Recorder recorder;
  model.fit(points.x, points.y,
            {.batch_size = 2, .epochs = 1, .verbose = 0, .callbacks = {recorder}, .validation_split = 0.4});
  EXPECT_EQ(recorder.calls,
            "train( epoch0( b0 e b1 e test( )test )epoch['loss', 'mae', 'val_loss', 'val_mae'] )train ");
  EXPECT_MISUSE(StateError, recorder.model(), "callback: it has a model only while fit()");
}

TEST(Fit, ValidatesOnTheEndOfTheTensors) {
  Points points(10);
  Sequential model = line(), other = line();
  for (Sequential each : {model, other})
    each.compile({.optimizer = optimizers::SGD(0.0), .loss = "mae"});
  History split = model.fit(points.x, points.y, {.verbose = 0, .validation_split = 0.3});
  Tensor x = slice(points.x, {7, 0}, {10, 2}), y = slice(points.y, {7, 0}, {10, 1});
  History given = other.fit(slice(points.x, {0, 0}, {7, 2}), slice(points.y, {0, 0}, {7, 1}),
                            {.verbose = 0, .validation_data = {x, y}});
  EXPECT_NEAR(split.history.at("val_loss")[0], mean(abs(y)).item<float>(), 1e-6);
  EXPECT_NEAR(split.history.at("val_loss")[0], given.history.at("val_loss")[0], 1e-7);
  EXPECT_NEAR(split.history.at("loss")[0], given.history.at("loss")[0], 1e-6);
}

TEST(Fit, TakesDataSets) {
  Points points(20);
  data::Dataset data = data::from_tensor_slices(points.x, points.label).batch(8);
  Sequential model({layers::Dense(2)});
  model.compile(
      {.optimizer = "sgd", .loss = losses::SparseCategoricalCrossentropy({.from_logits = true}), .metrics = {"acc"}});
  History history = model.fit(data, {.epochs = 2, .verbose = 0, .validation_data = data});
  EXPECT_EQ(history.history.at("val_acc").size(), 2u);
  EXPECT_EQ(model.optimizer().iterations().value().item<std::int64_t>(), 6);
  Logs logs = model.evaluate(data);
  EXPECT_NEAR(logs["loss"], history.history.at("val_loss")[1], 1e-6);
  EXPECT_EQ(static_cast<Tensor>(model.predict(data)).shape(), (Shape{20, 2}));
  // Of Batch, with weights, and steps that go on in the next epoch.
  std::vector<models::Batch> batches;
  for (int i = 0; i < 5; ++i)
    batches.push_back({points.x, points.label, full({20}, i)});
  model.fit(batches, {.epochs = 3, .verbose = 0, .steps_per_epoch = 2});
  EXPECT_EQ(model.optimizer().iterations().value().item<std::int64_t>(), 6 + 2 + 2 + 1);
}

// Losses 1 and 4 with weights 1 and 3 give 6.5: their sum divided by the number of examples.
TEST(Fit, TakesDataSetsOfAnySize) {
  auto made = [] {
    set_seed(3);
    Sequential model{layers::Dense(1)};
    model.build({kDynamic, 3});
    model.compile({.optimizer = "sgd", .loss = "mse"});
    return model;
  };
  auto pairs = data::from_tensor_slices(ones({10, 3}), ones({10, 1}));
  auto all = pairs.filter([](const Tensor &, const Tensor &) { return true; });
  Sequential known = made(), unknown = made(), endless = made();
  known.fit(pairs.batch(5), {.epochs = 2, .verbose = 0});
  unknown.fit(all.batch(5), {.epochs = 2, .verbose = 0});
  endless.fit(pairs.batch(5).repeat(), {.epochs = 2, .verbose = 0, .steps_per_epoch = 2});
  const std::vector<float> expected = known.get_weights()[0].to_vector<float>();
  EXPECT_EQ(unknown.get_weights()[0].to_vector<float>(), expected);
  EXPECT_EQ(endless.get_weights()[0].to_vector<float>(), expected);
  EXPECT_EQ(known.evaluate(all.batch(5))["loss"], known.evaluate(pairs.batch(5).repeat(), {.steps = 2})["loss"]);
  EXPECT_EQ(known.predict(data::from_tensors(ones({2, 3})).repeat(), {.steps = 3})[0].shape(), (Shape{6, 1}));
  History history =
      known.fit(pairs.batch(5), {.verbose = 0, .validation_data = pairs.batch(5).repeat(), .validation_steps = 2});
  EXPECT_EQ(history.history.count("val_loss"), 1u);

  auto forever = pairs.batch(5).repeat();
  EXPECT_MISUSE(ValueError, known.fit(forever, {.verbose = 0}),
                "fit: the data has no end; steps_per_epoch says how many batches to take");
  EXPECT_MISUSE(ValueError, known.fit(pairs.batch(5), {.verbose = 0, .validation_data = forever}),
                "fit: the validation data has no end; validation_steps says how many");
  EXPECT_MISUSE(ValueError, known.evaluate(forever), "evaluate: the data has no end; steps says how many");
  EXPECT_MISUSE(ValueError, known.predict(forever), "predict: the data has no end; steps says how many");
}

TEST(Fit, TellsMetricsOfOneNameApart) {
  auto with = [](MetricsOption metrics, MetricsOption weighted) {
    set_seed(3);
    Sequential model{layers::Dense(1)};
    model.compile({.loss = "mse", .metrics = std::move(metrics), .weighted_metrics = std::move(weighted)});
    return model;
  };
  Tensor x = ones({4, 2}), y = ones({4, 1}), w = tensor<float>({0, 0, 2, 2});
  Logs logs = with({"mae"}, {"mae"}).evaluate(x, y, {.sample_weight = w});
  EXPECT_TRUE(logs.contains("mae"));
  EXPECT_NEAR(logs["weighted_mae"], logs["mae"], 1e-6); // all errors are equal
  EXPECT_MISUSE(ValueError, with({"mae", "mae"}, {}).evaluate(x, y), "compile: there are two numbers called 'mae'");
  EXPECT_MISUSE(ValueError, with({metrics::Mean("loss")}, {}).evaluate(x, y),
                "compile: there are two numbers called 'loss'; give the metric another name");
}

// Errors in a user's lambda have its lines, not that of fit().
TEST(Fit, NamesTheLineInCodeOfTheUser) {
  int line = 0;
  auto loss = [&](const Tensor &y_true, const Tensor &y_pred) {
    line = __LINE__ + 1;
    return mean(y_pred * ones({7, 5}) + y_true, {-1});
  };
  Sequential model{layers::Dense(1)};
  model.compile({.loss = loss});
  auto where = [&](std::string text) {
    EXPECT_CONTAINS(text, "FitTest.cpp:" + std::to_string(line));
    return text;
  };
  EXPECT_CONTAINS(where(errorOf<ShapeError>([&] { model.fit(ones({4, 2}), ones({4, 1}), {.verbose = 0}); })), "mul: ");
  layers::Lambda cut([&](const Tensor &x) {
    line = __LINE__ + 1;
    return matmul(x, ones({9, 2}));
  });
  EXPECT_CONTAINS(where(errorOf<ShapeError>([&] { cut(ones({4, 2})); })), "matmul: ");
}

TEST(Fit, WithoutEpochsNeedsNoVariables) {
  Sequential model{layers::Dense(1)};
  model.compile({.loss = "mse"});
  EXPECT_TRUE(model.fit(ones({2, 2}), ones({2, 1}), {.epochs = 0, .verbose = 0}).epoch.empty());
  EXPECT_TRUE(model.fit(ones({2, 2}), ones({2, 1}), {.epochs = 3, .verbose = 0, .initial_epoch = 5}).epoch.empty());
}

TEST(Fit, NamesTheCallThatWasMade) {
  Sequential model{layers::Dense(1)};
  model.compile({.loss = "mse"});
  model.build({kDynamic, 2});
  EXPECT_MISUSE(ValueError, model.evaluate(zeros({0, 2}), zeros({0, 1})), "evaluate: there are no examples");
  EXPECT_MISUSE(ValueError, model.predict(zeros({0, 2})), "predict: there are no examples");
  EXPECT_MISUSE(ValueError, model.predict(ones({1, 2}), {.batch_size = 0}), "predict: a batch has at least one");
  const Tensor x = ones({2, 2}), y = ones({2, 1});
  EXPECT_MISUSE(LookupError, model.evaluate(x, {{"score", y}}), "evaluate: there is a target 'score', and the model");
  EXPECT_MISUSE(ValueError, model.train_on_batch(x, {y, y}),
                "train_on_batch: the model has 1 outputs, and there are 2");
  EXPECT_MISUSE(LookupError, model.evaluate(x, y, {.sample_weight = {{"scor", ones({2})}}}),
                "evaluate: there are sample weights for 'scor', and the model has");
  callbacks::LambdaCallback again(
      {.on_epoch_end = [&](std::int64_t, Logs &) { model.fit(ones({2, 2}), ones({2, 1}), {.verbose = 0}); }});
  EXPECT_CONTAINS(
      errorOf<StateError>([&] { model.fit(ones({2, 2}), ones({2, 1}), {.verbose = 0, .callbacks = {again}}); }),
      "fit: is called while it trains this model");
  model.fit(ones({2, 2}), ones({2, 1}), {.verbose = 0}); // what has failed is over
  EXPECT_MISUSE(ValueError, model.predict(data::from_tensors(ones({2, 2})), {.steps = 0}),
                "predict: steps is at least 1, unlike 0");
  EXPECT_MISUSE(ValueError, model.evaluate(data::from_tensors(std::pair(ones({2, 2}), ones({2, 1}))), {.steps = 0}),
                "evaluate: steps is at least 1, unlike 0");
  EXPECT_MISUSE(ValueError, model.train_on_batch(ones({2, 2}), ones({1, 1})), "train_on_batch: x float32[2,2] and y");
  EXPECT_CONTAINS(
      errorOf<StateError>([&] { function([&](const Tensor &x) { return model.predict(x)[0]; })(ones({2, 2})); }),
      "predict: takes tensors that have values, and x float32[2,2] is being traced; call it outside");
}

TEST(Fit, WeighsExamplesAndClasses) {
  Tensor x = zeros({2, 2}), y = tensor<float>({1, 2}, {2, 1});
  Sequential model = line();
  model.compile({.optimizer = optimizers::SGD(0.0), .loss = "mse", .metrics = {"mse"}, .weighted_metrics = {"mae"}});
  Logs logs = model.evaluate(x, y, {.sample_weight = tensor<float>({1, 3})});
  EXPECT_EQ(logs["loss"], 6.5);
  EXPECT_EQ(logs["mse"], 2.5);
  EXPECT_EQ(logs["mae"], (1 + 6) / 4.0);
  History history = model.fit(x, y, {.verbose = 0, .class_weight = {{2, 3}}});
  EXPECT_EQ(history.history.at("loss")[0], 6.5);
  EXPECT_EQ(model.train_on_batch(x, y, {.sample_weight = tensor<float>({2, 1}), .class_weight = {{2, 3}}})["loss"],
            (2 * 1 + 3 * 4) / 2.0);
  EXPECT_EQ(model.test_on_batch(x, y)["loss"], 2.5) << "the metrics begin anew, as in Keras";
}

// Numbers of Keras 3.15.1: reference/sample_weights.py prints them.
TEST(Fit, WeighsTheExamplesOfEachOutput) {
  auto made = [] {
    SymbolicTensor x = Input({2});
    models::Functional model(
        x, {{"score", layers::Dense(1, {.kernel_initializer = ones, .name = "score"})(x)},
            {"kind", layers::Dense(2, {.kernel_initializer = initializers::Constant(0.5), .name = "kind"})(x)}});
    model.compile({.optimizer = optimizers::SGD(0.1),
                   .loss = "mse",
                   .metrics = {{"score", "mae"}},
                   .loss_weights = {{"score", 1.0}, {"kind", 0.5}},
                   .weighted_metrics = {{"score", "mse"}, {"kind", "mae"}}});
    return model;
  };
  const Tensor x = tensor<float>({1, 2, 3, 4, -1, 1, 2, 0}, {4, 2}), score = tensor<float>({1, 2, 3, 4}, {4, 1}),
               kind = tensor<float>({1, 0, 0, 1, 1, 1, 0, 0}, {4, 2});
  const Tensor a = tensor<float>({1, 2, 0, 3}), b = tensor<float>({0.5, 0, 4, 1});
  const Tensors y = {{"score", score}, {"kind", kind}};
  const std::vector<double> each{17.20312, 16.5, 1.40625, 3, 11, 1}, forAll{19.34375, 16.5, 5.6875, 3, 11, 1.666667},
      ofKind{11.20312, 10.5, 1.40625, 3, 10.5, 1}, second{43.03076, 42.495, 1.071521, 4.9, 28.33, 0.8693182};
  auto expect = [](const Logs &logs, const std::vector<double> &numbers) {
    std::size_t i = 0;
    for (const char *name : {"loss", "score_loss", "kind_loss", "score_mae", "score_mse", "kind_mae"}) {
      SCOPED_TRACE(name);
      EXPECT_NEAR(logs[name], numbers[i++], 1e-4);
    }
  };
  expect(made().evaluate(x, y, {.sample_weight = {{"score", a}, {"kind", b}}}), each);
  expect(made().evaluate(x, y, {.sample_weight = {{"kind", b}, {"score", a}}}), each);
  expect(made().evaluate(x, y, {.sample_weight = {a, b}}), each);
  expect(made().test_on_batch(x, {score, kind}, {.sample_weight = {a, b}}), each);
  expect(made().evaluate(x, y, {.sample_weight = a}), forAll);
  // An output without weights has 1 for each.
  expect(made().evaluate(x, y, {.sample_weight = {{"kind", b}}}), ofKind);
  // The weights after steps.
  auto expectTrained = [](const models::Functional &model) {
    expectNear(model.get_layer("score").weights()[0], {3.605, 2.01}, 1e-5);
    expectNear(model.get_layer("kind").weights()[0], {0.3543359, 0.3419141, 0.5791406, 0.5552344}, 1e-5);
  };
  models::Functional model = made();
  for (int step = 0; step < 2; ++step)
    expect(model.train_on_batch(x, y, {.sample_weight = {{"score", a}, {"kind", b}}}), step == 0 ? each : second);
  expectTrained(model);
  model = made();
  model.fit(
      x, y,
      {.batch_size = 4, .epochs = 2, .verbose = 0, .shuffle = false, .sample_weight = {{"kind", b}, {"score", a}}});
  expectTrained(model);
  // A data set, whose elements have maps, and one with a number for all.
  using Map = std::map<std::string, Tensor>;
  const Map targets{{"score", score}, {"kind", kind}};
  auto weighted = data::from_tensor_slices(std::tuple(x, targets, Map{{"score", a}, {"kind", b}})).batch(4);
  expect(made().evaluate(weighted), each);
  model = made();
  model.fit(weighted, {.epochs = 2, .verbose = 0});
  expectTrained(model);
  expect(made().evaluate(data::from_tensor_slices(std::tuple(x, targets, a)).batch(4)), forAll);
  // In batches of fewer examples and for validation, split off and given.
  History split = made().fit(
      x, y, {.batch_size = 1, .verbose = 0, .validation_split = 0.5, .shuffle = false, .sample_weight = {a, b}});
  EXPECT_TRUE(split.history.contains("val_score_loss"));
  History given =
      made().fit(x, y, {.verbose = 0, .validation_data = {x, y, {{"score", a}, {"kind", b}}}, .shuffle = false});
  History same = made().fit(x, y, {.verbose = 0, .validation_data = weighted, .shuffle = false});
  EXPECT_EQ(given.history.at("val_loss"), same.history.at("val_loss"));

  EXPECT_MISUSE(LookupError, made().evaluate(x, y, {.sample_weight = {{"score", a}, {"knd", b}}}),
                "evaluate: there are sample weights for 'knd', and the model has the outputs 'score', 'kind'");
  EXPECT_MISUSE(
      ValueError, made().evaluate(x, y, {.sample_weight = {a, b, a}}),
      "evaluate: the model has 2 outputs, and there are 3 tensors of sample weights; give one for all outputs, or one "
      "for each");
  EXPECT_MISUSE(ValueError, made().evaluate(x, y, {.sample_weight = {a, ones({3})}}),
                "evaluate: x float32[4,2] and sample_weight float32[3] have different numbers of examples");
  // Of one output, by its name too, with weights of classes.
  Sequential single = line();
  single.compile({.loss = "mse"});
  const Tensor labels = tensor<float>({1, 2}, {2, 1});
  const double expected = (2 * 1 + 3 * 4) / 2.0;
  EXPECT_EQ(single.train_on_batch(zeros({2, 2}), labels,
                                  {.sample_weight = {tensor<float>({2, 1})}, .class_weight = {{2, 3}}})["loss"],
            expected);
  EXPECT_MISUSE(ValueError,
                single.train_on_batch(zeros({2, 2}), labels, {.sample_weight = {a, b}, .class_weight = {{2, 3}}}),
                "train_on_batch: x float32[2,2] and sample_weight float32[4] have different numbers of examples");
  EXPECT_MISUSE(
      ValueError,
      single.train_on_batch(zeros({2, 2}), labels, {.sample_weight = {ones({2}), ones({2})}, .class_weight = {{2, 3}}}),
      "fit: class_weight is of one target, and there are 2 tensors of sample weights");
  SymbolicTensor in = Input({2});
  models::Functional named(in, {{"out", layers::Dense(1, {.kernel_initializer = zeros})(in)}});
  named.compile({.loss = "mse"});
  EXPECT_EQ(named.train_on_batch(zeros({2, 2}), labels,
                                 {.sample_weight = {{"out", tensor<float>({2, 1})}}, .class_weight = {{2, 3}}})["loss"],
            expected);
}

TEST(Fit, TracesOnceForEachKindOfBatch) {
  Points points(50);
  int traces = 0;
  Sequential model({layers::Dense(4), layers::Activation([&](const Tensor &x) {
                      ++traces;
                      return relu(x);
                    }),
                    layers::Dense(1)});
  model.build({2, 2});
  traces = 0;
  model.compile({.optimizer = "adam", .loss = "mse"});
  model.fit(points.x, points.y, {.batch_size = 8, .epochs = 3, .verbose = 0});
  EXPECT_LE(traces, 2); // batches of 8 and of 2
  traces = 0;
  model.fit(points.x, points.y, {.batch_size = 7, .epochs = 1, .verbose = 0}); // of any number by now
  EXPECT_EQ(traces, 0);
  traces = 0;
  for (const auto &batch : {4, 5, 6})
    model.predict(slice(points.x, {0, 0}, {batch, 2}));
  EXPECT_LE(traces, 2);
}

namespace {
// A trunk with two heads.
struct TwoHeads : Model {
  layers::Dense trunk = submodule("trunk", layers::Dense(4, {.activation = "relu"}));
  layers::Dense number = submodule("number", layers::Dense(1));
  layers::Dense kind = submodule("kind", layers::Dense(2));

protected:
  Tensors call_inputs(const Tensors &inputs, const layers::CallOptions &) override {
    Tensor h = trunk(inputs[0]);
    return {{"number", number(h)}, {"kind", kind(h)}};
  }
};
} // namespace

// As Keras' lists and dicts of lists.
TEST(Fit, TakesMetricsOfSeveralOutputsInBraces) {
  Points points(8);
  TwoHeads model;
  auto namesOf = [&](MetricsOption metrics) {
    losses::SparseCategoricalCrossentropy crossentropy({.from_logits = true});
    model.compile({.loss = {{"number", "mse"}, {"kind", crossentropy}}, .metrics = std::move(metrics)});
    std::string names;
    const Logs logs = model.evaluate(points.x, {points.y, points.label}, {.verbose = 0});
    for (const auto &[name, value] : logs)
      names += name.ends_with("loss") ? "" : name + " ";
    return names;
  };
  EXPECT_EQ(namesOf({{"kind", {"accuracy"}}}), "kind_accuracy ");
  EXPECT_EQ(namesOf({{"number", {"mae", "mse"}}, {"kind", {"accuracy"}}}), "kind_accuracy number_mae number_mse ");
  EXPECT_EQ(namesOf({{"number", "mae"}, {"kind", "accuracy"}}), "kind_accuracy number_mae ");
  EXPECT_EQ(namesOf({{"number", {metrics::MeanAbsoluteError("far")}},
                     {"kind", {"accuracy", metrics::SparseTopKCategoricalAccuracy({.k = 2}, "top")}}}),
            "kind_accuracy kind_top number_far ");
  EXPECT_EQ(namesOf({{"mae"}, {"accuracy"}}), "number_mae kind_accuracy ");
  EXPECT_EQ(namesOf({{"mae", "mse"}, {"accuracy"}}), "number_mae number_mse kind_accuracy ");
  EXPECT_EQ(namesOf({{}, {"accuracy"}}), "kind_accuracy ");
  EXPECT_EQ(namesOf({"mae", {"accuracy"}}), "number_mae kind_accuracy ");
  const MetricsOption::List list = {"mae"};
  EXPECT_EQ(namesOf({{"number", list}}), "number_mae ");
  EXPECT_EQ(namesOf({}), "");
  // Of one output.
  Sequential single{Input({1}), layers::Dense(1)};
  for (const MetricsOption &option : {MetricsOption("mae"), MetricsOption({"mae"}), MetricsOption({{"mae"}}),
                                      MetricsOption(list), MetricsOption({list}), MetricsOption(metrics::get("mae"))}) {
    single.compile({.loss = "mse", .metrics = option});
    EXPECT_EQ(single.evaluate(ones({2, 1}), ones({2, 1}), {.verbose = 0}).size(), 2u);
  }
  single.compile({.loss = "mse", .metrics = "mae"});
  EXPECT_MISUSE(LookupError, single.compile({.metrics = {"kind"}}), "metrics: no metric has the name 'kind'");
  EXPECT_MISUSE(LookupError, single.compile({.metrics = {{"kind", "mae", "mse"}}}), "no metric has the name 'kind'");
  EXPECT_MISUSE(ValueError, single.compile({.metrics = {{{"mae"}}, {"mse"}}}), "and in it stands another list");
  EXPECT_MISUSE(ValueError, single.compile({.metrics = {{"kind", {"mae"}}, {"kind", {"mse"}}}}),
                "compile: metrics has the output 'kind' twice");
}

TEST(Fit, TrainsSeveralOutputs) {
  Points points(12);
  TwoHeads model;
  losses::SparseCategoricalCrossentropy crossentropy({.from_logits = true});
  model.compile({.optimizer = optimizers::SGD(0.0),
                 .loss = {{"number", "mse"}, {"kind", crossentropy}},
                 .metrics = std::map<std::string, MetricsOption::List>{{"kind", {"accuracy"}}},
                 .loss_weights = {{"kind", 0.5}}});
  Tensors y = {{"kind", points.label}, {"number", points.y}};
  Logs logs = model.evaluate(points.x, y);
  EXPECT_EQ(logs.names(), "'loss', 'number_loss', 'kind_loss', 'kind_accuracy'");
  EXPECT_NEAR(logs["loss"], logs["number_loss"] + 0.5 * logs["kind_loss"], 1e-5);
  // By position, and an output that is not trained.
  model.compile({.optimizer = "sgd", .loss = {"mse", std::nullopt}});
  model.fit(points.x, {points.y, points.label}, {.verbose = 0});
  EXPECT_EQ(model.evaluate(points.x, Tensors{{"number", points.y}}).names(), "'loss'");
  model.compile({.loss = {{"size", "mse"}}});
  EXPECT_MISUSE(LookupError, model.fit(points.x, y, {.verbose = 0}),
                "compile: loss names the output 'size', and the model has 'number', 'kind'");
  model.compile({.loss = {"mse", "mse", "mse"}});
  EXPECT_MISUSE(ValueError, model.fit(points.x, y, {.verbose = 0}),
                "compile: loss has 3 entries, and the model 2 outputs");
  model.compile({.loss = "mse"});
  EXPECT_MISUSE(ValueError, model.fit(points.x, points.y, {.verbose = 0}),
                "fit: the model has 2 outputs, and there are 1 targets");
  EXPECT_MISUSE(LookupError, model.fit(points.x, Tensors{{"size", points.y}}, {.verbose = 0}),
                "fit: there is a target 'size', and the model has the outputs 'number', 'kind'");
  EXPECT_MISUSE(ValueError, model.fit(points.x, Tensors{{"number", points.y}}, {.verbose = 0}),
                "fit: the output 'kind' has a loss, and there is no target for it");
  model.compile({.loss = {"mse", std::nullopt}, .metrics = {"mae"}});
  EXPECT_MISUSE(ValueError, model.fit(points.x, {points.y, points.label}, {.verbose = 0}),
                "compile: metrics has 1 lists, and the model 2 outputs; give a list for each, or a map by their names");
  model.compile(
      {.loss = {"mse", std::nullopt}, .metrics = std::map<std::string, MetricsOption::List>{{"size", {"mae"}}}});
  EXPECT_MISUSE(LookupError, model.fit(points.x, {points.y, points.label}, {.verbose = 0}),
                "compile: metrics names the output 'size', which the model has not");
  model.compile(
      {.loss = {"mse", std::nullopt}, .metrics = std::map<std::string, MetricsOption::List>{{"kind", {"mae"}}}});
  EXPECT_MISUSE(ValueError, model.fit(points.x, Tensors{{"number", points.y}}, {.verbose = 0}),
                "fit: the output 'kind' has a metric, and there is no target for it");
}

namespace {
struct OwnStep : Model {
  layers::Dense dense = submodule("dense", layers::Dense(1));
  metrics::Mean distance = metrics::Mean("distance");
  int traces = 0;

protected:
  Tensor call(const Tensor &x, const layers::CallOptions &options) override {
    if (options.training)
      add_loss(0.25f);
    return dense(x);
  }
  Tensors train_step(const Batch &data) override {
    ++traces;
    GradientTape tape;
    Tensor y_pred = (*this)(data.x, {.training = true});
    Tensor loss = compute_loss(data, y_pred);
    std::vector<Variable> weights = trainable_variables();
    optimizer().apply_gradients(tape.gradient(loss, weights), weights);
    distance.update_state(abs(y_pred - data.y[0]));
    return {{"loss", loss}, {"distance", distance.result()}};
  }

public:
  std::vector<metrics::Metric> metrics() override { return {distance}; }
};
} // namespace

TEST(Fit, TakesAStepOfTheModelsOwn) {
  Points points(8);
  OwnStep model;
  model.compile({.optimizer = optimizers::SGD(0.0), .loss = "mse"});
  History history = model.fit(points.x, points.y, {.batch_size = 4, .epochs = 3, .verbose = 0});
  EXPECT_EQ(model.traces, 1);
  // The metric begins anew in each epoch; the loss is that of the last step.
  EXPECT_NEAR(history.history.at("distance")[0], mean(abs(model(points.x) - points.y)).item<float>(), 1e-6);
  EXPECT_NEAR(history.history.at("distance")[2], history.history.at("distance")[0], 1e-6);
  EXPECT_GT(history.history.at("loss")[0], 0.25);
}

namespace {
struct ManyNumbers : OwnStep {
protected:
  Tensors train_step(const Batch &data) override { return {{"each", (*this)(data.x)}}; }
};
} // namespace

TEST(Fit, RefusesAStepThatGivesNoNumbers) {
  ManyNumbers model;
  model.compile({.loss = "mse"});
  EXPECT_MISUSE(ValueError, model.fit(ones({4, 2}), ones({4, 1}), {.verbose = 0}),
                "fit: 'each' is float32[4,1], and what a step gives is a number");
}

namespace {
struct WrongStep : OwnStep {
  unsigned line = 0;

protected:
  Tensors train_step(const Batch &data) override {
    line = __LINE__ + 1;
    return {{"loss", matmul(data.x[0], data.x[0])}};
  }
};
struct WrongLayer : layers::LayerBody {
  WrongLayer() : LayerBody("wrong", false) {}
  Tensor call(const Tensor &x, const layers::CallOptions &) override {
    line = __LINE__ + 1;
    return matmul(x, x);
  }
  unsigned line = 0;
};
// What an error says without its line, and its line.
template <typename F> std::pair<std::string, unsigned> failureOf(F f) {
  try {
    f();
  } catch (const Error &error) {
    const std::string text = error.what();
    return {text.substr(0, text.find(';')), error.location().line};
  }
  return {};
}
} // namespace

// Errors in a layer or a step of the user's have its lines, not those of what calls it.
TEST(Fit, NamesTheLineInTheUsersOwnCode) {
  const std::string misfit = "matmul: the inner dimensions are 2 and 4 and must be equal";
  for (bool eager : {false, true}) {
    WrongStep model;
    model.compile({.loss = "mse", .run_eagerly = eager});
    auto [text, line] = failureOf([&] { model.fit(ones({4, 2}), ones({4, 1}), {.verbose = 0}); });
    EXPECT_EQ(text, misfit);
    EXPECT_EQ(line, model.line);

    auto body = std::make_shared<WrongLayer>();
    layers::Layer wrong(body);
    Sequential net{layers::Dense(2), wrong};
    net.compile({.loss = "mse", .run_eagerly = eager});
    std::tie(text, line) = failureOf([&] { net.fit(ones({4, 2}), ones({4, 1}), {.verbose = 0}); });
    EXPECT_EQ(text, misfit);
    EXPECT_EQ(line, body->line);
    std::tie(text, line) = failureOf([&] { wrong(ones({4, 2})); });
    EXPECT_EQ(text, misfit);
    EXPECT_EQ(line, body->line);
  }
}

namespace {
// What it builds goes wrong in one of several ways, at a line that it knows.
struct WrongBuild : layers::LayerBody {
  explicit WrongBuild(int way) : LayerBody("wrong"), way(way) {}
  int way;
  unsigned line = 0;
  Tensor call(const Tensor &x, const layers::CallOptions &) override { return x; }

protected:
  void build(const Shape &input, DType dtype) override {
    weight("fine", {2}, dtype, zeros);
    if (way == 0) {
      line = __LINE__ + 1;
      throw ValueError("wrong: takes three columns", SourceLocation::current());
    }
    if (way == 1) {
      line = __LINE__ + 1;
      matmul(ones({4, 2}), ones({4, 3}));
    }
    if (way == 2) {
      line = __LINE__ + 1;
      weight("fine", {2}, dtype, zeros);
    }
    if (way == 3) {
      line = __LINE__ + 1;
      weight("kernel", {3}, dtype, initializers::Orthogonal());
    }
    if (way == 4) {
      line = __LINE__ + 1;
      layers::Conv2D(3, 3).build(input);
    }
  }
};
struct Silent : layers::LayerBody {
  Silent() : LayerBody("silent") {}
};
} // namespace

TEST(Layer, NamesTheLineInTheUsersBuild) {
  const std::vector<std::string> texts = {
      "wrong: takes three columns", "matmul: the inner dimensions are 2 and 4 and must be equal",
      "module: there is a part 'fine' already", "orthogonal: takes a shape of rank 2 or more, not [3]", "conv2d: "};
  for (int way = 0; way < 5; ++way) {
    SCOPED_TRACE(way);
    auto body = std::make_shared<WrongBuild>(way);
    layers::Layer wrong(body);
    Sequential net{layers::Dense(2), wrong};
    net.compile({.loss = "mse"});
    auto expect = [&](auto f) {
      auto [text, line] = failureOf(f);
      EXPECT_CONTAINS(text, texts[static_cast<std::size_t>(way)]);
      EXPECT_EQ(line, body->line) << text;
    };
    expect([&] { wrong(ones({4, 2})); });
    expect([&] { wrong.build({4, 2}); });
    expect([&] { net(ones({4, 2})); });
    expect([&] { net.build({4, 2}); });
    expect([&] { net.fit(ones({4, 2}), ones({4, 2}), {.verbose = 0}); });
    expect([&] { wrong(Input({2})); });
  }
  // What the library finds wrong about a class of the user's has the caller's line, inside of a model, too.
  layers::Layer silent(std::make_shared<Silent>());
  Sequential around{layers::Dense(2), silent};
  EXPECT_MISUSE(StateError, around(ones({4, 2})),
                "silent 'silent': its class overrides neither call() nor call_inputs()");
  layers::Layer one(std::make_shared<WrongBuild>(0));
  EXPECT_MISUSE(ValueError, one({ones({4, 2}), ones({4, 2})}),
                "wrong: takes one input, and there are 2; a layer of several overrides call_inputs()");
}

TEST(Fit, StopsWhereACallbackSaysSo) {
  Points points(8);
  Sequential model = line();
  model.compile({.optimizer = "sgd", .loss = "mse", .run_eagerly = true});
  callbacks::LambdaCallback stop({.on_train_batch_end = [&](std::int64_t batch, Logs &) {
    if (batch == 2)
      model.model().stop_training = true;
  }});
  model.fit(points.x, points.y, {.batch_size = 1, .epochs = 5, .verbose = 0, .callbacks = {stop}});
  EXPECT_EQ(model.optimizer().iterations().value().item<std::int64_t>(), 3);
}

TEST(Fit, RefusesWhatDoesNotFit) {
  Points points(8);
  Sequential model = line();
  EXPECT_MISUSE(StateError, model.fit(points.x, points.y), "fit: the model is not compiled; call compile() first");
  EXPECT_MISUSE(LookupError, model.compile({.loss = "mes"}), "losses: no loss has the name 'mes'; the nearest are ");
  EXPECT_MISUSE(LookupError, model.compile({.metrics = {"mes"}}),
                "metrics: no metric has the name 'mes'; the nearest are ");
  model.compile({.loss = "mse"});
  auto silent = [](FitOptions options) {
    options.verbose = 0;
    return options;
  };
  EXPECT_MISUSE(ValueError, model.fit(points.x, zeros({7, 1})),
                "fit: x float32[8,2] and y float32[7,1] have different numbers of examples");
  EXPECT_MISUSE(ValueError, model.fit(scalar(1.0f), scalar(1.0f)),
                "fit: takes tensors whose first dimension is the examples, not x float32[]");
  EXPECT_MISUSE(ValueError, model.fit(zeros({0, 2}), zeros({0, 1})), "fit: there are no examples");
  EXPECT_MISUSE(ValueError, model.fit(points.x, points.y, silent({.batch_size = 0})),
                "fit: a batch has at least one example, unlike 0");
  EXPECT_MISUSE(ValueError, model.fit(points.x, points.y, silent({.epochs = -1})),
                "fit: epochs is at least 0, unlike -1");
  EXPECT_MISUSE(ValueError, model.fit(points.x, points.y, silent({.validation_split = 1})),
                "fit: validation_split is in [0, 1), unlike 1");
  EXPECT_MISUSE(ValueError, model.fit(points.x, points.y, silent({.validation_split = 0.99})),
                "fit: of 8 examples, validation_split 0.99 leaves none for one of the two");
  EXPECT_MISUSE(ShapeError, model.fit(points.x, zeros({8, 3}), silent({})),
                "mean_squared_error: takes targets and predictions of one shape");
  std::vector<models::Batch> none;
  EXPECT_MISUSE(ValueError, model.fit(none, silent({})), "fit: there are no batches in the data");
  EXPECT_MISUSE(ValueError, model.evaluate(none), "evaluate: there are no batches in the data");
  EXPECT_MISUSE(ValueError, model.predict(none), "predict: there are no batches in the data");
  EXPECT_MISUSE(ValueError, model.fit(points.x, points.y, silent({.validation_data = none})),
                "fit: there are no batches in the validation data");
  EXPECT_MISUSE(ValueError,
                model.fit(std::vector<models::Batch>{{points.x, points.y}}, silent({.validation_split = 0.5})),
                "fit: validation_split and sample_weight are of tensors");
  EXPECT_MISUSE(ValueError, model.fit(points.x, zeros({8, 1, 1}), silent({.class_weight = {{1, 2}}})),
                "fit: class_weight takes labels [N], [N,1] or [N,C], not float32[8,1,1]");
  EXPECT_MISUSE(ValueError, model.fit(points.x, {points.y, points.y}, silent({.class_weight = {{1, 2}}})),
                "fit: class_weight is of one target, and there are 2");
  EXPECT_MISUSE(ValueError,
                model.fit(points.x, points.y, silent({.class_weight = {{1, 2}}, .sample_weight = ones({8, 1})})),
                "fit: with class_weight, sample_weight is a number for each example, not float32[8,1]");
  model.compile();
  EXPECT_MISUSE(ValueError, model.fit(points.x, points.y, silent({})),
                "compute_loss: there is nothing to train by: compile() was given no loss, and add_loss() none");
  model.compile({.loss = losses::MeanSquaredError({.reduction = losses::Reduction::None})});
  EXPECT_MISUSE(ValueError, model.fit(points.x, points.y, silent({})),
                "compute_loss: 'mean_squared_error' gives float32[8], and a loss to train by is a number");
  model.compile({.loss = "mse",
                 .metrics = {metrics::ConfusionMatrix(32, {.sparse_y_true = false, .sparse_y_pred = false}, "large")}});
  EXPECT_MISUSE(ValueError, model.fit(points.x, points.y, silent({})),
                "fit: the metric 'large' gives float32[32,32], and no more than 1000 numbers are logged of one");
}

// A number for each class, in everything that has numbers by name.
TEST(Fit, LogsMetricsOfSeveralNumbers) {
  set_seed(7);
  Tensor x = tensor<float>({1, 0, 0, 1, 1, 1, 0, 0}, {4, 2}), y = tensor<int>({0, 1, 2, 0});
  Sequential model{layers::Dense(3)};
  const std::string path = ::testing::TempDir() + "/calque-classes.csv";
  struct Watch : callbacks::Callback {
    void on_train_batch_end(std::int64_t, Logs &logs) override { line = logs.str(); }
    std::string line;
  } watch;
  model.compile({.optimizer = "sgd",
                 .loss = "sparse_categorical_crossentropy",
                 .metrics = {metrics::ConfusionMatrix(3, {.sparse_y_pred = false})}});
  History history = model.fit(
      x, y, {.epochs = 2, .verbose = 0, .callbacks = {watch, callbacks::CSVLogger(path)}, .validation_data = {x, y}});
  Logs logs = model.evaluate(x, y, {.verbose = 0});
  double all = 0;
  for (int label = 0; label < 3; ++label)
    for (int predicted = 0; predicted < 3; ++predicted) {
      const std::string name = "confusion_matrix[" + std::to_string(label) + "][" + std::to_string(predicted) + "]";
      all += logs[name];
      EXPECT_EQ(history.history.at(name).size(), 2u);
      EXPECT_EQ(history.history.at("val_" + name).back(), logs[name]);
      EXPECT_CONTAINS(watch.line, name + ": ");
    }
  EXPECT_EQ(all, 4);
  std::ifstream file(path);
  std::string head;
  std::getline(file, head);
  EXPECT_CONTAINS(head, ",confusion_matrix[2][2],");
  EXPECT_CONTAINS(head, ",val_confusion_matrix[0][1],");
}

// As in Keras.
TEST(Fit, LogsTheLossesOfOutputsWhereThereAreSeveral) {
  SymbolicTensor x = Input({2});
  models::Functional model(x, {{"score", layers::Dense(1)(x)}, {"kind", layers::Dense(1)(x)}});
  const Tensor in = ones({2, 2}), y = ones({2, 1});
  model.compile({.loss = {{"score", "mse"}, {"kind", "mae"}}});
  EXPECT_EQ(model.fit(in, {{"score", y}, {"kind", y}}, {.verbose = 0}).history.size(), 3u);
  model.compile({.loss = {{"score", "mse"}, {"kind", std::nullopt}}});
  EXPECT_EQ(model.fit(in, {{"score", y}, {"kind", y}}, {.verbose = 0}).history.size(), 1u);
  // One metric has one sum.
  metrics::MeanAbsoluteError metric;
  model.compile({.loss = "mse", .metrics = {{"score", {metric}}, {"kind", {metric}}}});
  EXPECT_MISUSE(ValueError, model.fit(in, {{"score", y}, {"kind", y}}, {.verbose = 0}),
                "compile: one metric is given for 'kind_mean_absolute_error' and for 'score_mean_absolute_error', and "
                "would add both up; make one for each");
}

TEST(Fit, WarnsWhereTheDataEndsBeforeTheEpoch) {
  Points points(8);
  Sequential model = line();
  model.compile({.loss = "mse"});
  std::string warned;
  WarningHandler before = set_warning_handler([&](const Warning &warning) { warned += warning.message; });
  model.fit(points.x, points.y, {.epochs = 2, .verbose = 0, .steps_per_epoch = 2});
  set_warning_handler(before);
  EXPECT_CONTAINS(warned, "fit: the data ends after 1 of 2 steps of epoch 0; the next epoch begins anew");
}

TEST(Logs, AreAskedByName) {
  Logs logs = {{"loss", 0.5}, {"accuracy", 1e-9}};
  EXPECT_EQ(logs.str(), "loss: 0.5000 - accuracy: 1.0000e-09");
  EXPECT_MISUSE(LookupError, logs.at("acc"), "logs: there is no 'acc', but 'loss', 'accuracy'");
  EXPECT_MISUSE(ValueError, logs.unpack<3>(), "logs: 3 numbers asked for, and there are 2: 'loss', 'accuracy'");
}

TEST(History, DrawsItsCurves) {
  const double nan = std::nan(""), huge = std::numeric_limits<double>::max();
  History history{{{"loss", {4, 2, nan, 1}}, {"a<b", {0, 1, 2, 3}}, {"val", {1, 3}}}, {0, 1, 2, 3}};
  const std::string all = history.svg();
  auto count = [](const std::string &text, const std::string &part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
      ++found;
    return found;
  };
  EXPECT_EQ(all.rfind("<svg xmlns=", 0), 0u);
  EXPECT_EQ(count(all, "<path"), 3u);
  EXPECT_EQ(count(all, "<circle"), 3u + 4 + 2);
  EXPECT_CONTAINS(all, ">a&lt;b</text>");
  // The lowest number is on the axis, the largest one at the top; a curve begins anew behind its gap, and numbers of
  // every second epoch stand there.
  EXPECT_CONTAINS(history.svg({"loss"}), "d=\"M60.0 20.0 L203.3 220.0 M490.0 320.0\"");
  EXPECT_CONTAINS(history.svg({"val"}), "d=\"M203.3 320.0 L490.0 20.0\"");
  EXPECT_EQ(count(history.svg({"val"}), "<path"), 1u);
  EXPECT_MISUSE(LookupError, history.svg({"acc"}), "history: there is no 'acc'; there are 'a<b', 'loss', 'val'");
  // Nothing, one epoch, no finite number, the edges of the type.
  for (const History &edge : {History{}, History{{{"loss", {2}}}, {0}}, History{{{"loss", {nan, nan}}}, {0, 1}},
                              History{{{"loss", {-huge, huge}}}, {0, 1}}, History{{{"loss", {5, 5}}}, {0, 1}}}) {
    const std::string svg = edge.svg();
    EXPECT_EQ(svg.find("nan"), std::string::npos) << svg;
    EXPECT_EQ(svg.find("inf"), std::string::npos) << svg;
    EXPECT_LT(svg.size(), 4000u);
  }
}

TEST(TrainTestSplit, KeepsRowsTogetherAndShares) {
  std::vector<int> labels;
  for (int i = 0; i < 50; ++i)
    labels.push_back(i % 5 == 0 ? 1 : 0); // 10 of 50
  Tensor x = iota({50, 3}, DType::Int64), y = tensor(labels);
  Split split = train_test_split(x, y, {.test_size = 0.2, .stratify = y, .seed = 3});
  EXPECT_EQ(split.x_train.shape(), (Shape{40, 3}));
  EXPECT_EQ(split.x_test.shape(), (Shape{10, 3}));
  EXPECT_EQ(sum(split.y_test).item<int>(), 2);
  EXPECT_EQ(sum(split.y_train).item<int>(), 8);
  std::vector<double> rows = valuesOf(concat({split.x_train, split.x_test})), all;
  std::vector<double> given = valuesOf(concat({split.y_train, split.y_test}));
  for (std::size_t i = 0; i < 50; ++i) {
    EXPECT_EQ(given[i], static_cast<int>(rows[3 * i]) % 5 == 0);
    all.push_back(rows[3 * i]);
  }
  std::sort(all.begin(), all.end());
  for (std::size_t i = 0; i < 50; ++i)
    EXPECT_EQ(all[i], i);
  expectSameBits(train_test_split(x, y, {.seed = 3}).x_test, train_test_split(x, y, {.seed = 3}).x_test);
  Split last = train_test_split(x, y, {.test_size = 4, .shuffle = false});
  expectNear(slice(last.x_test, {0, 0}, {4, 1}), {46, 47, 48, 49});
  EXPECT_MISUSE(ValueError, train_test_split(x, y, {.test_size = 50}),
                "train_test_split: of 50 examples, test_size 50 leaves none in one of the halves");
  EXPECT_MISUSE(ValueError, train_test_split(x, y, {.shuffle = false, .stratify = y}),
                "train_test_split: stratify takes examples in random order, so it needs shuffle");
  EXPECT_MISUSE(ValueError, train_test_split(x, y, {.stratify = ones({50})}),
                "train_test_split: stratify takes an integer label for each example, not float32[50]");
  EXPECT_MISUSE(ValueError, train_test_split(x, y, {.stratify = iota({50}, DType::Int32)}),
                "train_test_split: stratify needs two examples of each class, and label 0 has one");
}
