// The callback ModelCheckpoint: when it saves, and where.
#include "test/training/Idx.h"
#include "test/training/Testing.h"

#include <algorithm>

using namespace calque;
using namespace calque::testing;

namespace {

// Calls the callback as fit() does, epoch by epoch, with the values of "val_loss".
struct Playing {
  Playing() {
    model.compile({.optimizer = "sgd", .loss = "mse", .metrics = {"accuracy"}});
    model.train_on_batch(ones({1, 1}), ones({1, 1})); // makes the metrics
  }
  // The names in the directory after it.
  std::vector<std::string> play(callbacks::Callback &callback, const std::vector<double> &values, int batches = 0,
                                const std::string &name = "val_loss") {
    callback.set_model(&model.model());
    Logs logs;
    callback.on_train_begin(logs);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto epoch = static_cast<std::int64_t>(i);
      // The weight of an epoch tells which it is.
      model.set_weights({full({1, 1}, static_cast<double>(i)), zeros({1})});
      Logs none;
      callback.on_epoch_begin(epoch, none);
      for (int batch = 0; batch < batches; ++batch) {
        Logs ofBatch{{"loss", batch + 0.5}};
        callback.on_train_batch_end(batch, ofBatch);
      }
      logs = {{"loss", 1 + values[i]}, {name, values[i]}};
      callback.on_epoch_end(epoch, logs);
    }
    callback.on_train_end(logs);
    std::vector<std::string> names;
    for (const auto &entry : std::filesystem::directory_iterator(directory.path))
      names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    for (const std::string &each : names)
      std::filesystem::remove_all(directory.file(each));
    return names;
  }
  float weightIn(const std::string &file) {
    Sequential other({Input({1}), layers::Dense(1)});
    other.load_weights(file);
    return other.get_weights()[0].item<float>();
  }
  TemporaryDirectory directory;
  Sequential model = Sequential({Input({1}), layers::Dense(1)});
};

using callbacks::ModelCheckpoint;
using Names = std::vector<std::string>;

} // namespace

TEST(ModelCheckpoint, FormatsThePathAsPython) {
  Playing playing;
  const std::string at = playing.directory.path + "/";
  ModelCheckpoint each(at + "{epoch:02d}-{val_loss:.2f}");
  EXPECT_EQ(playing.play(each, {0.125, 12.5}), (Names{"01-0.12.safetensors", "02-12.50.safetensors"}));
  ModelCheckpoint others(at + "{{{epoch}}}_{val_loss:06.1f}_{val_loss:e}_{val_loss:.3g}_{val_loss}_{epoch:3d}");
  EXPECT_EQ(playing.play(others, {-0.25}), (Names{"{1}_-000.2_-2.500000e-01_-0.25_-0.25_  1.safetensors"}));
  // What Python gives for the same.
  ModelCheckpoint more(at + "{epoch:>4}|{epoch:+d}|{val_loss:.0%}|{val_loss:_<8.1f}|{val_loss:^9.2e}|{val_loss:=+7.1f}|"
                            "{epoch:<3}|{val_loss:E}|{val_loss: .1f}|{val_loss:\u00b7>7.1f}");
  EXPECT_EQ(
      playing.play(more, {0.125}),
      (Names{"   1|+1|12%|0.1_____|1.25e-01 |+   0.1|1  |1.250000E-01| 0.1|\u00b7\u00b7\u00b7\u00b70.1.safetensors"}));
  ModelCheckpoint grouped(at + "{val_loss:,.1f}_{val_loss:_.0f}_{val_loss:,}");
  EXPECT_EQ(playing.play(grouped, {-1234567.25}), (Names{"-1,234,567.2_-1_234_567_-1,234,567.25.safetensors"}));
  ModelCheckpoint one(at + "model.safetensors");
  EXPECT_EQ(playing.play(one, {1, 2}), Names{"model.safetensors"});
  ModelCheckpoint folders(at + "a/{epoch}/m");
  EXPECT_EQ(playing.play(folders, {1}), Names{"a"});
  auto refused = [&](const char *path, const std::string &why) {
    EXPECT_MISUSE(ValueError, ModelCheckpoint(path, {}, SourceLocation::current()),
                  std::string("model_checkpoint: the path '") + path + "' can't be formatted: " + why);
  };
  refused("{epoch", "a '{' has no '}'");
  refused("epoch}", "a '}' has no '{'");
  refused("{}", "a field has no name");
  refused("{epoch:x}", "'x' is no format of a number, as '02d', '>6.2f' or '.1%'");
  refused("{epoch:0,d}", "'0,d' is no format of a number");
  refused("{epoch:.2d}", "'.2d' is no format of a number");
  refused("{loss:99999f}", "'99999f' is no format of a number");
  ModelCheckpoint unknown(at + "{accuracy}");
  EXPECT_CONTAINS(errorOf<LookupError>([&] { playing.play(unknown, {1}); }),
                  "model_checkpoint: the path '" + at +
                      "{accuracy}' has 'accuracy', which is not in the logs: 'loss', 'val_loss'");
}

TEST(ModelCheckpoint, SavesTheBest) {
  Playing playing;
  const std::string at = playing.directory.path + "/{epoch}";
  ModelCheckpoint best(at, {.save_best_only = true});
  EXPECT_EQ(playing.play(best, {3, 4, 2, 2, 1}), (Names{"1.safetensors", "3.safetensors", "5.safetensors"}));
  EXPECT_EQ(best.best(), 1);
  // It goes on from its best, as in Keras.
  EXPECT_EQ(playing.play(best, {3, 0.5}), Names{"2.safetensors"});
  ModelCheckpoint max(at, {.save_best_only = true, .mode = "max"});
  EXPECT_EQ(playing.play(max, {3, 4, 2}), (Names{"1.safetensors", "2.safetensors"}));
  ModelCheckpoint accuracy(at, {.monitor = "val_accuracy", .save_best_only = true});
  EXPECT_EQ(playing.play(accuracy, {0.3, 0.4, 0.2}, 0, "val_accuracy"), (Names{"1.safetensors", "2.safetensors"}));
  ModelCheckpoint least(at, {.monitor = "val_accuracy", .save_best_only = true, .mode = "min"});
  EXPECT_EQ(playing.play(least, {0.3, 0.4, 0.2}, 0, "val_accuracy"), (Names{"1.safetensors", "3.safetensors"}));
  ModelCheckpoint threshold(at, {.save_best_only = true, .initial_value_threshold = 2.5});
  EXPECT_EQ(playing.play(threshold, {3, 2.5, 2}), Names{"3.safetensors"});
  // Without the number it warns, and saves.
  std::string warned;
  WarningHandler before = set_warning_handler([&](const Warning &warning) { warned = warning.message; });
  EXPECT_EQ(playing.play(best, {9}, 0, "val_mae"), Names{"1.safetensors"});
  set_warning_handler(before);
  EXPECT_EQ(warned, "model_checkpoint: 'val_loss' is not in the logs, which have 'loss', 'val_mae'");
  EXPECT_MISUSE(ValueError, ModelCheckpoint(at, {.mode = "most"}),
                "model_checkpoint: the mode is 'auto', 'min' or 'max', unlike 'most'");
}

TEST(ModelCheckpoint, SavesAnyFirstValue) {
  Playing playing;
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  ModelCheckpoint best(playing.directory.path + "/{epoch}", {.save_best_only = true});
  EXPECT_EQ(playing.play(best, {infinity, infinity, 2}), (Names{"1.safetensors", "3.safetensors"}));
  ModelCheckpoint numbers(playing.directory.path + "/{epoch}", {.save_best_only = true});
  EXPECT_EQ(playing.play(numbers, {nan, nan, 3, nan, 2}), (Names{"1.safetensors", "3.safetensors", "5.safetensors"}));
}

TEST(ModelCheckpoint, SavesByBatches) {
  Playing playing;
  // Batches count on over epochs: of 3 in each, the 4th and the 8th are the first and the second of the next epochs.
  ModelCheckpoint every(playing.directory.path + "/{epoch}-{batch:02d}-{loss}", {.save_freq = 4});
  EXPECT_EQ(playing.play(every, {1, 1, 1}, 3), (Names{"2-01-0.5.safetensors", "3-02-1.5.safetensors"}));
  EXPECT_MISUSE(ValueError, ModelCheckpoint("x", {.save_freq = "batch"}),
                "save_freq: is 'epoch' or a number of batches, unlike 'batch'");
  EXPECT_MISUSE(ValueError, ModelCheckpoint("x", {.save_freq = 0}),
                "save_freq: a number of batches is at least 1, unlike 0");
}

TEST(ModelCheckpoint, SavesModelsOrWeights) {
  TemporaryDirectory directory;
  Tensor x = reshape(iota({8}, DType::Float32), {8, 1}), y = 2 * x;
  Sequential model({Input({1}), layers::Dense(1)});
  model.compile({.optimizer = "adam", .loss = "mse"});
  ::testing::internal::CaptureStdout();
  model.fit(x, y,
            {.batch_size = 4,
             .epochs = 2,
             .verbose = 0,
             .callbacks = {ModelCheckpoint(directory.file("model"), {.monitor = "loss", .verbose = 1}),
                           ModelCheckpoint(directory.file("weights"), {.save_weights_only = true})}});
  EXPECT_EQ(::testing::internal::GetCapturedStdout(),
            "Epoch 1: saving model to " + directory.file("model.safetensors") + "\nEpoch 1: finished saving model to " +
                directory.file("model.safetensors") + "\nEpoch 2: saving model to " +
                directory.file("model.safetensors") + "\nEpoch 2: finished saving model to " +
                directory.file("model.safetensors") + "\n");
  ModelHandle loaded = load_model(directory.file("model"));
  EXPECT_EQ(loaded.optimizer().iterations().value().item<std::int64_t>(), 4);
  EXPECT_EQ(valuesOf(loaded.get_weights()[0]), valuesOf(model.get_weights()[0]));
  Sequential other({Input({1}), layers::Dense(1)});
  other.load_weights(directory.file("weights"));
  EXPECT_EQ(valuesOf(other.get_weights()[0]), valuesOf(model.get_weights()[0]));
  EXPECT_MISUSE(DataError, load_model(directory.file("weights")), "this is no checkpoint");

  Playing playing;
  ::testing::internal::CaptureStdout();
  const std::string file = playing.directory.file("best.safetensors");
  ModelCheckpoint best(file, {.verbose = 1, .save_best_only = true, .save_weights_only = true});
  playing.play(best, {3, 4});
  EXPECT_EQ(::testing::internal::GetCapturedStdout(),
            "Epoch 1: val_loss improved from None to 3.00000, saving model to " + file +
                "\nEpoch 1: finished saving model to " + file + "\nEpoch 2: val_loss did not improve from 3.00000\n");
}
