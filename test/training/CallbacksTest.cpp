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
    model.compile({.optimizer = optimizers::SGD(1.0), .loss = "mse"});
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
  // Larger is better, by name and by mode.
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
  EXPECT_EQ(playing.model.optimizer().iterations().value().item<std::int64_t>(), 1);
}
