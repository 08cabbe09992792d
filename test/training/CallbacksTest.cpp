#include "Testing.h"

#include <fstream>
#include <sstream>

using namespace calque;
using namespace calque::testing;

namespace {

// Calls a callback as fit() does, with the values of a monitor, and gives the epoch that it stops after, or none.
struct Playing {
  Playing() {
    model.build({1, 1});
    model.compile({.optimizer = optimizers::SGD(1.0), .loss = "mse", .metrics = {"accuracy"}});
    model.train_on_batch(ones({1, 1}), ones({1, 1})); // makes the metrics
  }
  std::optional<std::int64_t> play(callbacks::Callback &callback, const std::vector<double> &values,
                                   const std::string &name = "val_loss") {
    callback.set_model(&model.model());
    model.model().stop_training = false;
    Logs logs;
    callback.on_train_begin(logs);
    std::optional<std::int64_t> stopped;
    for (std::size_t i = 0; i < values.size() && !stopped; ++i) {
      // The weight of an epoch tells which it is.
      model.set_weights({full({1, 1}, static_cast<double>(i)), zeros({1})});
      logs = {{name, values[i]}};
      callback.on_epoch_begin(static_cast<std::int64_t>(i), logs);
      callback.on_epoch_end(static_cast<std::int64_t>(i), logs);
      rates.push_back(model.optimizer().learning_rate().value().item<double>());
      if (model.model().stop_training)
        stopped = static_cast<std::int64_t>(i);
    }
    callback.on_train_end(logs);
    return stopped;
  }
  float weight() { return model.get_weights()[0].item<float>(); }
  Sequential model = Sequential({layers::Dense(1)});
  std::vector<double> rates;
};

std::string contentsOf(const std::string &path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

} // namespace

TEST(EarlyStopping, StopsAfterPatienceAndRestoresTheBest) {
  Playing playing;
  callbacks::EarlyStopping early({.patience = 3, .restore_best_weights = true});
  EXPECT_EQ(playing.play(early, {5, 4, 3, 3.5, 3.2, 3.1, 1}), 5);
  EXPECT_EQ(early.stopped_epoch(), 5);
  EXPECT_EQ(early.best_epoch(), 2);
  EXPECT_EQ(early.best(), 3);
  EXPECT_EQ(playing.weight(), 2);
  // Without restoring, the weights are those of the last epoch. It serves again.
  callbacks::EarlyStopping keep({.patience = 3});
  EXPECT_EQ(playing.play(keep, {5, 4, 3, 3.5, 3.2, 3.1, 1}), 5);
  EXPECT_EQ(playing.weight(), 5);
  EXPECT_EQ(playing.play(keep, {5, 4, 3, 2, 1}), std::nullopt);
}

TEST(EarlyStopping, HasKerasArguments) {
  Playing playing;
  using callbacks::EarlyStopping;
  // Better by more than min_delta.
  EarlyStopping delta({.min_delta = 0.5, .patience = 2});
  EXPECT_EQ(playing.play(delta, {5, 4.6, 4.5, 1}), 2);
  // Larger is better, as the metric says and by mode.
  EarlyStopping accuracy({.monitor = "val_accuracy", .patience = 1});
  EXPECT_EQ(playing.play(accuracy, {0.5, 0.6, 0.6, 0.9}, "val_accuracy"), 2);
  EarlyStopping max({.patience = 1, .mode = "max"});
  EXPECT_EQ(playing.play(max, {1, 2, 1.5, 3}), 2);
  EarlyStopping min({.monitor = "val_accuracy", .patience = 1, .mode = "min"});
  EXPECT_EQ(playing.play(min, {0.5, 0.6}, "val_accuracy"), 1);
  // Only what is better than the baseline starts the wait anew; the step that is better itself never stops.
  EarlyStopping baseline({.patience = 2, .baseline = 2});
  EXPECT_EQ(playing.play(baseline, {5, 4, 3, 3.5, 1}), 3);
  EarlyStopping from({.patience = 1, .start_from_epoch = 3});
  EXPECT_EQ(playing.play(from, {1, 2, 3, 4, 5, 6}), 4);
  // The first epoch never stops.
  EarlyStopping none({.patience = 0});
  EXPECT_EQ(playing.play(none, {5, 4, 4}), 2);
  std::string warned;
  WarningHandler before = set_warning_handler([&](const Warning &warning) { warned = warning.message; });
  EXPECT_EQ(playing.play(none, {1, 2, 3}, "loss"), std::nullopt);
  set_warning_handler(before);
  EXPECT_EQ(warned, "early_stopping: 'val_loss' is not in the logs, which have 'loss'");
  EXPECT_MISUSE(ValueError, EarlyStopping({.mode = "least"}),
                "early_stopping: the mode is 'auto', 'min' or 'max', unlike 'least'");
  ::testing::internal::CaptureStdout();
  EarlyStopping verbose({.patience = 1, .verbose = 1, .restore_best_weights = true});
  playing.play(verbose, {1, 2});
  EXPECT_EQ(::testing::internal::GetCapturedStdout(),
            "Epoch 2: early stopping\nRestoring model weights from the end of the best epoch: 1.\n");
}

// Keras: a first value is better than none, also where it is the worst that there is.
TEST(EarlyStopping, TakesAnyFirstValue) {
  Playing playing;
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  callbacks::EarlyStopping early({.patience = 2});
  EXPECT_EQ(playing.play(early, {infinity, infinity, infinity, 1}), 2);
  EXPECT_EQ(early.best(), infinity);
  EXPECT_EQ(playing.play(early, {infinity, infinity, 5, 4, 3}), std::nullopt);
  EXPECT_EQ(early.best(), 3);
  callbacks::EarlyStopping max({.patience = 2, .mode = "max"});
  EXPECT_EQ(playing.play(max, {-infinity, -infinity, -infinity, 1}), 2);
  // Any number is better than NaN, which is better than none.
  EXPECT_EQ(playing.play(early, {nan, nan, nan, 1}), 2);
  EXPECT_EQ(playing.play(early, {nan, nan, 5, 4, nan, 3}), std::nullopt);
  EXPECT_EQ(early.best(), 3);
  callbacks::ReduceLROnPlateau plateau({.patience = 2});
  playing.rates.clear();
  playing.play(plateau, {infinity, infinity, infinity, 1});
  EXPECT_EQ(playing.rates[1], 1);
  EXPECT_NEAR(playing.rates[2], 0.1, 1e-7);
}

TEST(EarlyStopping, RefusesNumbersBelowZero) {
  using namespace callbacks;
  EXPECT_MISUSE(ValueError, EarlyStopping({.patience = -1}),
                "early_stopping: patience is a number of epochs, 0 or more, unlike -1");
  EXPECT_MISUSE(ValueError, EarlyStopping({.start_from_epoch = -2}),
                "early_stopping: start_from_epoch is a number of epochs, 0 or more, unlike -2");
  EXPECT_MISUSE(ValueError, EarlyStopping({.min_delta = std::numeric_limits<double>::quiet_NaN()}),
                "early_stopping: min_delta is no number");
  EXPECT_MISUSE(ValueError, ReduceLROnPlateau({.patience = -1}),
                "reduce_lr_on_plateau: patience is a number of epochs, 0 or more, unlike -1");
  EXPECT_MISUSE(ValueError, ReduceLROnPlateau({.cooldown = -3}),
                "reduce_lr_on_plateau: cooldown is a number of epochs, 0 or more, unlike -3");
  EXPECT_MISUSE(ValueError, ReduceLROnPlateau({.min_lr = -0.5}),
                "reduce_lr_on_plateau: min_lr is 0 or more, unlike -0.5");
}

TEST(Monitor, AsksTheMetric) {
  using metrics::Direction;
  auto half = [](const Tensor &y, const Tensor &p) { return mean(abs(y - p), {-1}) * 0.5f; };
  static const bool isRegistered = [&] {
    metrics::register_metric("monitored_half", half, Direction::Down);
    return true;
  }();
  ASSERT_TRUE(isRegistered);
  metrics::MeanMetricWrapper mine(half, "mine"), told(half, "told");
  told.set_direction(Direction::Up);
  Sequential model({Input({2}), layers::Dense(2, {.activation = "softmax"})});
  model.compile({.loss = "mse",
                 .metrics = {metrics::R2Score(), metrics::CosineSimilarity(), metrics::Precision({}, "precision_1"),
                             metrics::Recall({}, "found"), metrics::TruePositives(), metrics::FalseNegatives(),
                             metrics::AUC({}, "area"), metrics::F1Score(), metrics::MeanSquaredError("acc_error"),
                             "mae", "accuracy", "monitored_half", mine, told}});
  const Tensor x = ones({4, 2}), y = tensor<float>({{1, 0}, {0, 1}, {1, 0}, {0, 1}});
  model.train_on_batch(x, y);
  auto direction = [&](const char *name) { return model.model().direction_of(name); };
  for (const char *name : {"r2_score", "cosine_similarity", "precision_1", "found", "true_positives", "area",
                           "f1_score[1]", "accuracy", "told"}) {
    EXPECT_EQ(direction(name), Direction::Up) << name;
    EXPECT_EQ(direction(("val_" + std::string(name)).c_str()), Direction::Up) << name;
  }
  for (const char *name : {"loss", "val_loss", "kl_loss", "false_negatives", "acc_error", "mae", "val_monitored_half"})
    EXPECT_EQ(direction(name), Direction::Down) << name;
  for (const char *name : {"mine", "val_mine", "accurate", "val_bleu"})
    EXPECT_EQ(direction(name), Direction::Unknown) << name;

  // What nothing says is refused after the first batch, or where the number appears first.
  auto fit = [&](callbacks::AnyCallback callback) {
    model.fit(x, y, {.batch_size = 1, .epochs = 2, .verbose = 0, .callbacks = {callback}, .validation_data = {x, y}});
  };
  const char *unknown = "early_stopping: whether 'val_mine' is better where it is larger or smaller is not known; the "
                        "option mode says it, 'max' or 'min', or set_direction() of the metric";
  const std::int64_t before = model.optimizer().iterations().value().item<std::int64_t>();
  EXPECT_MISUSE(ValueError, ([&] {
                  callbacks::EarlyStopping early({.monitor = "val_mine"}, SourceLocation::current());
                  fit(early);
                }()),
                unknown);
  EXPECT_EQ(model.optimizer().iterations().value().item<std::int64_t>(), before + 1);
  fit(callbacks::EarlyStopping({.monitor = "val_mine", .mode = "min"}));
  fit(callbacks::EarlyStopping({.monitor = "val_told"}));
  EXPECT_CONTAINS(errorOf<ValueError>([&] { fit(callbacks::ReduceLROnPlateau({.monitor = "mine"})); }),
                  "reduce_lr_on_plateau: whether 'mine' is better");
  callbacks::LambdaCallback own({.on_epoch_end = [](std::int64_t, Logs &logs) { logs.set("bleu", 1); }});
  EXPECT_CONTAINS(errorOf<ValueError>([&] {
                    model.fit(x, y, {.verbose = 0, .callbacks = {own, callbacks::EarlyStopping({.monitor = "bleu"})}});
                  }),
                  "early_stopping: whether 'bleu' is better");
  // It is saved with the metric.
  EXPECT_EQ(metrics::deserialize(metrics::serialize(metrics::get("monitored_half"))).direction(), Direction::Down);
  metrics::Mean mean("mean");
  mean.set_direction(Direction::Up);
  EXPECT_EQ(metrics::serialize(mean).str(),
            R"({"class_name":"Mean","config":{"name":"mean","dtype":"float32","direction":"up"}})");
  EXPECT_EQ(metrics::deserialize(metrics::serialize(mean)).direction(), Direction::Up);
  EXPECT_MISUSE(
      ValueError,
      metrics::deserialize({{"class_name", "Mean"}, {"config", Config{{"name", "m"}, {"direction", "left"}}}}),
      "deserialize: the direction of a metric is 'up', 'down' or 'unknown', unlike 'left'");
}

TEST(SwapEMAWeights, GivesTheAveragesToEvaluationAndToCallbacks) {
  Sequential model({Input({1}), layers::Dense(1, {.use_bias = false})});
  model.compile({.optimizer = optimizers::SGD(0.1, {}, {.use_ema = true, .ema_momentum = 0.5}), .loss = "mse"});
  const Tensor x = ones({4, 1}), y = full({4, 1}, 3.0);
  auto weight = [&] { return model.get_weights()[0].item<float>(); };
  std::vector<float> tested, ended, begun;
  struct Looking : callbacks::Callback {
    explicit Looking(std::function<void(int)> see) : see(std::move(see)) {}
    void on_test_end(Logs &) override { see(0); }
    void on_epoch_end(std::int64_t, Logs &) override { see(1); }
    void on_train_batch_end(std::int64_t, Logs &) override { see(2); }
    std::function<void(int)> see;
  };
  // Before the swap, and after it.
  Looking raw([&](int at) { (at == 2 ? begun : tested).push_back(weight()); }), averaged([&](int at) {
    if (at == 1)
      ended.push_back(weight());
  });
  model.fit(x, y,
            {.batch_size = 2,
             .epochs = 3,
             .verbose = 0,
             .callbacks = {raw, callbacks::SwapEMAWeights({.swap_on_epoch = true}), averaged},
             .shuffle = false});
  ASSERT_EQ(begun.size(), 6u);
  float average = begun[0];
  for (std::size_t i = 0; i < begun.size(); ++i) {
    average = i == 0 ? begun[0] : 0.5f * average + 0.5f * begun[i];
    if (i % 2) {
      EXPECT_FLOAT_EQ(ended[i / 2], average) << i;   // the callback after it sees the average
      EXPECT_FLOAT_EQ(tested[i / 2], begun[i]) << i; // and the one before the weights, which training goes on with
    }
  }
  // What fit() ends with are the averages, as without the callback; evaluate() has them for its time.
  EXPECT_FLOAT_EQ(weight(), average);
  model.train_on_batch(x, y);
  const float now = weight();
  const double with = model.evaluate(x, y, {.callbacks = {callbacks::SwapEMAWeights()}})["loss"];
  EXPECT_FLOAT_EQ(weight(), now);
  average = 0.5f * average + 0.5f * now;
  EXPECT_NEAR(with, (average - 3) * (average - 3), 1e-5);

  model.compile({.optimizer = "sgd", .loss = "mse"});
  EXPECT_MISUSE(ValueError, model.fit(x, y, {.verbose = 0, .callbacks = {callbacks::SwapEMAWeights()}}),
                "swap_ema_weights: the optimizer 'sgd' keeps no averages; its option is use_ema");
}

TEST(ReduceLROnPlateau, MultipliesTheRate) {
  Playing playing;
  callbacks::ReduceLROnPlateau reduce({.factor = 0.5, .patience = 2, .cooldown = 1, .min_lr = 0.3});
  playing.play(reduce, {3, 3, 3, 3, 3, 3, 3, 3});
  // Two epochs without progress; one cools down; and so on to the least rate.
  EXPECT_EQ(playing.rates, (std::vector<double>{1, 1, 0.5, 0.5, 0.3, 0.3, 0.3, 0.3}));
  EXPECT_MISUSE(ValueError, callbacks::ReduceLROnPlateau({.factor = 1}),
                "reduce_lr_on_plateau: the factor is between 0 and 1, unlike 1");
}

TEST(LearningRateScheduler, SetsTheRateOfEachEpoch) {
  Playing playing;
  callbacks::LearningRateScheduler halves([](std::int64_t epoch, double rate) { return epoch == 0 ? rate : rate / 2; });
  playing.play(halves, {3, 3, 3});
  EXPECT_EQ(playing.rates, (std::vector<double>{1, 0.5, 0.25}));
  callbacks::LearningRateScheduler byEpoch([](std::int64_t epoch) { return 1.0 / static_cast<double>(epoch + 1); });
  Tensor x = ones({2, 1});
  History history = playing.model.fit(x, x, {.epochs = 2, .verbose = 0, .callbacks = {byEpoch}});
  EXPECT_EQ(history.history.at("learning_rate"), (std::vector<double>{1, 0.5}));
  playing.model.compile({.optimizer = optimizers::SGD(schedules::CosineDecay(0.1, 5)), .loss = "mse"});
  EXPECT_MISUSE(StateError, playing.model.fit(x, x, {.verbose = 0, .callbacks = {byEpoch}}),
                "learning_rate_scheduler: the optimizer's learning rate follows a schedule");
}

TEST(CSVLogger, WritesALineForEachEpoch) {
  const std::string path = ::testing::TempDir() + "/calque-log.csv";
  Playing playing;
  Tensor x = ones({4, 1});
  playing.model.set_weights({zeros({1, 1}), zeros({1})});
  playing.model.compile({.optimizer = optimizers::SGD(0.0), .loss = "mse", .metrics = {"mae"}});
  playing.model.fit(x, 0.5f * x, {.epochs = 2, .verbose = 0, .callbacks = {callbacks::CSVLogger(path)}});
  EXPECT_EQ(contentsOf(path), "epoch,loss,mae\n0,0.25,0.5\n1,0.25,0.5\n");
  playing.model.fit(
      x, 0.5f * x,
      {.epochs = 3, .verbose = 0, .callbacks = {callbacks::CSVLogger(path, {.append = true})}, .initial_epoch = 2});
  EXPECT_EQ(contentsOf(path), "epoch,loss,mae\n0,0.25,0.5\n1,0.25,0.5\n2,0.25,0.5\n");
  // Numbers of the validation have columns, also where the first epoch has none.
  playing.model.fit(x, 0.5f * x,
                    {.epochs = 2,
                     .verbose = 0,
                     .callbacks = {callbacks::CSVLogger(path)},
                     .validation_data = {x, 0.5f * x},
                     .validation_freq = 2});
  EXPECT_EQ(contentsOf(path), "epoch,loss,mae,val_loss,val_mae\n0,0.25,0.5,NA,NA\n1,0.25,0.5,0.25,0.5\n");
  std::string text = errorOf<DataError>(
      [&] { playing.model.fit(x, x, {.verbose = 0, .callbacks = {callbacks::CSVLogger("/nowhere/log.csv")}}); });
  EXPECT_CONTAINS(text, "csv_logger: /nowhere/log.csv: can't be written");
}

TEST(TerminateOnNaN, StopsAtOnce) {
  Playing playing;
  playing.model.set_weights({full({1, 1}, std::numeric_limits<float>::quiet_NaN()), zeros({1})});
  Tensor x = ones({8, 1});
  ::testing::internal::CaptureStdout();
  playing.model.fit(x, x, {.batch_size = 2, .epochs = 3, .verbose = 0, .callbacks = {callbacks::TerminateOnNaN()}});
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "Batch 0: Invalid loss, terminating training\n");
  EXPECT_EQ(playing.model.optimizer().iterations().value().item<std::int64_t>(), 2); // with that of Playing
}
