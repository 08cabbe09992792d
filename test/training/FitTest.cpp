// compile, fit, evaluate, predict.
#include "test/training/Points.h"

#include <algorithm>
#include <fstream>
#include <limits>

using namespace calque;
using namespace calque::testing;

namespace {

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
