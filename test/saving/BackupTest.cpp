// The callback BackupAndRestore: training that is interrupted anywhere ends with the bits of one that is not.
#include "test/training/Idx.h"
#include "test/training/Testing.h"

#include <stdexcept>

using namespace calque;
using namespace calque::testing;

namespace {

constexpr std::int64_t kEpochs = 4, kBatches = 4;

struct Interruption : std::runtime_error {
  Interruption() : std::runtime_error("interrupted") {}
};

std::map<std::string, std::vector<double>> stateOf(const ModelHandle &model) {
  std::map<std::string, std::vector<double>> state;
  for (const auto &[name, variable] : model.named_variables())
    state.emplace("model/" + name, valuesOf(variable.value()));
  for (const auto &[name, variable] : model.optimizer().named_variables())
    state.emplace("optimizer/" + name, valuesOf(variable.value()));
  return state;
}

// The names of what differs in a bit.
std::vector<std::string> differences(const ModelHandle &a, const ModelHandle &b) {
  const auto first = stateOf(a), second = stateOf(b);
  std::vector<std::string> names;
  for (const auto &[name, values] : first)
    if (!second.contains(name) || second.at(name) != values)
      names.push_back(name);
  for (const auto &[name, values] : second)
    if (!first.contains(name))
      names.push_back(name);
  return names;
}

// Ends the program, as it were, before the results of a batch are seen by anybody.
struct Interrupt : callbacks::Callback {
  explicit Interrupt(std::int64_t after) : left(after) {}
  void on_train_batch_begin(std::int64_t, Logs &) override {
    if (left-- == 0)
      throw Interruption();
  }
  std::int64_t left;
};

Tensor points(std::int64_t columns) { return sin(reshape(iota({30 * columns}, DType::Float32) * 0.7f, {30, columns})); }

// What a program does from its beginning. `after` batches it is killed.
struct Program {
  Program() {
    set_seed(7);
    model = Sequential({Input({4}), layers::Dense(8, {.activation = "tanh"}), layers::BatchNormalization(),
                        layers::Dropout(0.3), layers::Dense(1)});
    model.compile({.optimizer = optimizers::Adam(0.01), .loss = "mse", .metrics = {"mae"}});
  }
  using Train = std::function<History(Sequential &, std::vector<callbacks::AnyCallback>)>;
  bool run(const Train &train, const std::string &directory, callbacks::BackupAndRestoreOptions options,
           std::int64_t after) {
    callbacks::BackupAndRestore backup(directory, options);
    try {
      history = train(model, {backup, Interrupt(after)});
    } catch (const Interruption &) {
      return false;
    }
    return true;
  }
  Sequential model = Sequential({Input({1}), layers::Dense(1)});
  History history;
};

History onTensors(Sequential &model, std::vector<callbacks::AnyCallback> all) {
  return model.fit(
      points(4), points(1),
      {.batch_size = 8, .epochs = kEpochs, .verbose = 0, .callbacks = std::move(all), .class_weight = {{0, 0.5}}});
}
// Of another order in each epoch, which the data set counts.
History onDataSet(Sequential &model, std::vector<callbacks::AnyCallback> all) {
  data::Dataset batches = data::from_tensor_slices(points(4), points(1)).shuffle(30).batch(8).prefetch(2);
  return model.fit(batches, {.epochs = kEpochs, .verbose = 0, .callbacks = std::move(all)});
}
// An epoch ends in the middle of the data, and the data in the middle of an epoch.
History onPartsOfADataSet(Sequential &model, std::vector<callbacks::AnyCallback> all) {
  data::Dataset batches = data::from_tensor_slices(points(4), points(1)).shuffle(30).batch(8).repeat();
  return model.fit(batches,
                   {.epochs = kEpochs, .verbose = 0, .callbacks = std::move(all), .steps_per_epoch = kBatches - 1});
}
// What is validated on is another part of the data in each epoch, by seeds that are drawn.
History onAShuffledValidation(Sequential &model, std::vector<callbacks::AnyCallback> all) {
  data::Dataset batches = data::from_tensor_slices(points(4), points(1)).shuffle(30).batch(8);
  data::Dataset validation =
      data::range(3)
          .flat_map([](const Tensor &i) {
            return data::from_tensor_slices(points(4), points(1)).shard(3, i.item<std::int64_t>()).shuffle(10);
          })
          .shuffle(30)
          .take(9)
          .batch(4);
  return model.fit(batches,
                   {.epochs = kEpochs, .verbose = 0, .callbacks = std::move(all), .validation_data = validation});
}
// One data set for both, and not each epoch is validated.
History onItself(Sequential &model, std::vector<callbacks::AnyCallback> all) {
  data::Dataset batches = data::from_tensor_slices(points(4), points(1)).shuffle(30).batch(8);
  return model.fit(batches, {.epochs = kEpochs,
                             .verbose = 0,
                             .callbacks = std::move(all),
                             .validation_data = batches,
                             .validation_steps = 2,
                             .validation_freq = 2});
}
// Noise by the place of an element, as prefetch() draws ahead of the training.
History onNoisyData(Sequential &model, std::vector<callbacks::AnyCallback> all) {
  data::Dataset batches =
      data::from_tensor_slices(points(4), points(1))
          .shuffle(30)
          .repeat()
          .enumerate()
          .map([](const Tensor &place, const std::pair<Tensor, Tensor> &element) {
            const Tensor state = random::state(place.item<std::int64_t>(), 0);
            return std::pair(element.first + 0.1f * random::stateless_normal({4}, state), element.second);
          })
          .batch(8)
          .prefetch(2);
  return model.fit(batches,
                   {.epochs = kEpochs, .verbose = 0, .callbacks = std::move(all), .steps_per_epoch = kBatches - 1});
}
// A sequence that can't say its place.
History onVector(Sequential &model, std::vector<callbacks::AnyCallback> all) {
  std::vector<std::pair<Tensor, Tensor>> batches;
  for (std::int64_t i = 0; i < kBatches; ++i)
    batches.emplace_back(points(4).rows(7 * i, 7 * i + 7), points(1).rows(7 * i, 7 * i + 7));
  return model.fit(batches, {.epochs = kEpochs, .verbose = 0, .callbacks = std::move(all)});
}

// Each way to train, interrupted after each number of batches, and again after one more.
void expectTheBitsOfOne(const Program::Train &train, std::int64_t batches,
                        const callbacks::BackupAndRestoreOptions &options) {
  TemporaryDirectory directory;
  Program whole;
  whole.history = train(whole.model, {});
  for (std::int64_t after = 0; after < batches; after += 3) {
    SCOPED_TRACE(after);
    const std::string at = directory.file("backup");
    ASSERT_FALSE(Program().run(train, at, options, after));
    const bool isSaved =
        options.save_freq.batches() ? after >= *options.save_freq.batches() : after > batches / kEpochs;
    EXPECT_EQ(std::filesystem::exists(at + "/latest.safetensors"), isSaved);
    if (after + 1 < batches)
      Program().run(train, at, options, 1);
    Program rest;
    ASSERT_TRUE(rest.run(train, at, options, -1));
    EXPECT_EQ(differences(rest.model, whole.model), std::vector<std::string>{});
    // The numbers of the last epoch, of which the first part was another process's.
    for (const auto &[name, values] : rest.history.history)
      EXPECT_EQ(values.back(), whole.history.history.at(name).back()) << name;
    EXPECT_EQ(rest.history.epoch.back(), kEpochs - 1);
    EXPECT_FALSE(std::filesystem::exists(at));
  }
}

} // namespace

TEST(BackupAndRestore, GoesOnBitForBitWithTensors) {
  expectTheBitsOfOne(onTensors, kEpochs * kBatches, {});
  expectTheBitsOfOne(onTensors, kEpochs * kBatches, {.save_freq = 1});
}

TEST(BackupAndRestore, GoesOnBitForBitWithDataSets) {
  expectTheBitsOfOne(onDataSet, kEpochs * kBatches, {});
  expectTheBitsOfOne(onDataSet, kEpochs * kBatches, {.save_freq = 3, .double_checkpoint = true});
  expectTheBitsOfOne(onPartsOfADataSet, kEpochs * (kBatches - 1), {.save_freq = 1});
  expectTheBitsOfOne(onNoisyData, kEpochs * (kBatches - 1), {.save_freq = 2});
}

TEST(BackupAndRestore, GoesOnInTheValidation) {
  expectTheBitsOfOne(onAShuffledValidation, kEpochs * kBatches, {});
  expectTheBitsOfOne(onAShuffledValidation, kEpochs * kBatches, {.save_freq = 1});
  expectTheBitsOfOne(onItself, kEpochs * kBatches, {});
  expectTheBitsOfOne(onItself, kEpochs * kBatches, {.save_freq = 1});
}

TEST(BackupAndRestore, RemovesWhatKilledRunsLeft) {
  TemporaryDirectory directory;
  const std::string at = directory.file("backup");
  std::filesystem::create_directory(at);
  writeFile(at + "/latest.safetensors.1.0.unfinished", "x");
  EXPECT_TRUE(Program().run(onTensors, at, {}, -1));
  EXPECT_FALSE(std::filesystem::exists(at));
}

namespace {

// A model with two optimisers of its own, each for a half of it.
struct Halves : Model {
  Halves() : Model("halves") { build({kDynamic, 4}); }
  Tensor call(const Tensor &x, const layers::CallOptions &) override { return second(first(x)); }
  Tensors train_step(const Batch &batch) override {
    GradientTape tape({.persistent = true});
    Tensor loss = mean(square((*this)(batch.x[0]) - batch.y[0]));
    const std::vector<Variable> a = first.trainable_variables(), b = second.trainable_variables();
    const auto ofFirst = tape.gradient(loss, a), ofSecond = tape.gradient(loss, b);
    adam.apply_gradients(ofFirst, a);
    momentum.apply_gradients(ofSecond, b);
    return {{"loss", loss}};
  }
  layers::Dense first = submodule("first", layers::Dense(3, {.activation = "tanh"})),
                second = submodule("second", layers::Dense(1));
  optimizers::Adam adam = submodule("adam", optimizers::Adam(1e-2));
  optimizers::SGD momentum = submodule("momentum", optimizers::SGD(1e-2, {.momentum = 0.9}));
};

// The last loss of a training that ends after `epochs`, or goes on from a backup.
double lossOfHalves(const std::string &backup, std::int64_t after) {
  set_seed(7);
  Halves model;
  model.compile();
  History history = model.fit(points(4), points(1),
                              {.batch_size = 8,
                               .epochs = kEpochs,
                               .verbose = 0,
                               .callbacks = {callbacks::BackupAndRestore(backup), Interrupt(after)}});
  return history.history.at("loss").back();
}

} // namespace

TEST(BackupAndRestore, HasTheOptimisersThatAreParts) {
  TemporaryDirectory directory;
  const double whole = lossOfHalves(directory.file("whole"), -1);
  const std::string backup = directory.file("backup");
  EXPECT_THROW(lossOfHalves(backup, 2 * kBatches + 1), Interruption);
  EXPECT_EQ(lossOfHalves(backup, -1), whole);
}

// They are saved with the model, and are no weights of it.
TEST(BackupAndRestore, CountsNoOptimiserAmongTheWeights) {
  TemporaryDirectory directory;
  Halves model;
  model.compile();
  model.fit(points(4), points(1), {.verbose = 0});
  EXPECT_EQ(model.weights().size(), 4u);
  EXPECT_EQ(model.count_params(), 19);
  EXPECT_EQ(model.trainable_variables().size(), 4u);
  EXPECT_EQ(model.summary().find("adam"), std::string::npos);
  model.save_weights(directory.file("weights"));
  Halves other;
  other.load_weights(directory.file("weights"));
  expectSameBits(other(points(4)), model(points(4)));
  const std::string checkpoint = Checkpoint{{"model", model}}.save(directory.file("checkpoint"));
  other.compile();
  Checkpoint{{"model", other}}.restore(checkpoint);
  for (Halves *each : {&model, &other})
    each->fit(points(4), points(1), {.verbose = 0, .shuffle = false});
  expectSameBits(other(points(4)), model(points(4)));
}

TEST(BackupAndRestore, PassesOverWhatHasNoPlace) { expectTheBitsOfOne(onVector, kEpochs * kBatches, {.save_freq = 1}); }

TEST(BackupAndRestore, TakesTheBackupBeforeWhereTheLastIsDamaged) {
  TemporaryDirectory directory;
  const callbacks::BackupAndRestoreOptions options{.save_freq = 2, .double_checkpoint = true};
  Program whole;
  onTensors(whole.model, {});
  Program().run(onTensors, directory.path, options, 9);
  const std::string latest = directory.file("latest.safetensors"), previous = directory.file("previous.safetensors");
  const std::string kept = readFile(latest);
  std::string damaged = kept;
  damaged[damaged.size() / 2] ^= 1;
  writeFile(latest, damaged);
  std::string warned;
  WarningHandler before = set_warning_handler([&](const Warning &warning) { warned = warning.message; });
  EXPECT_FALSE(Program().run(onTensors, directory.path, options, 0)); // leaves the files as they are
  EXPECT_CONTAINS(warned, "backup_and_restore: goes on from " + previous + ", since " + latest + ": it");
  set_warning_handler(before);
  // Killed in between of renaming the last one and writing the next.
  std::filesystem::remove(latest);
  Program rest;
  ASSERT_TRUE(rest.run(onTensors, directory.path, {.double_checkpoint = true, .delete_checkpoint = false}, -1));
  EXPECT_EQ(differences(rest.model, whole.model), std::vector<std::string>{});
  EXPECT_TRUE(std::filesystem::exists(latest) && std::filesystem::exists(previous));
  // Without another one the damage is an error, and what has ended is not done again.
  Program done;
  ASSERT_TRUE(done.run(onTensors, directory.path, {.delete_checkpoint = false}, -1));
  EXPECT_TRUE(done.history.epoch.empty());
  EXPECT_EQ(stateOf(done.model).at("model/dense/kernel"), stateOf(whole.model).at("model/dense/kernel"));
  std::filesystem::remove(previous);
  writeFile(latest, damaged);
  Program refused;
  EXPECT_CONTAINS(errorOf<DataError>([&] { refused.run(onTensors, directory.path, {}, -1); }), latest + ": it");
}

TEST(BackupAndRestore, SaysWhatIsWrong) {
  TemporaryDirectory directory;
  EXPECT_MISUSE(ValueError, callbacks::BackupAndRestore("", {}, SourceLocation::current()),
                "backup_and_restore: the name of the directory is empty");
  Program().run(onTensors, directory.path, {.save_freq = 1}, 2);
  Sequential other({Input({4}), layers::Dense(8), layers::Dense(1)});
  other.compile({.optimizer = "adam", .loss = "mse"});
  EXPECT_CONTAINS(errorOf<DataError>([&] { onTensors(other, {callbacks::BackupAndRestore(directory.path)}); }),
                  "latest.safetensors: is the backup of another model, which differs in 'model/batch_normalization");
  Program fewer;
  const std::string place = errorOf<DataError>([&] {
    fewer.model.fit(points(4).rows(0, 8), points(1).rows(0, 8),
                    {.verbose = 0, .callbacks = {callbacks::BackupAndRestore(directory.path)}});
  });
  EXPECT_CONTAINS(place, "latest.safetensors: goes on from a place that the data has not: 'row 16 of 30 by ");
  EXPECT_CONTAINS(place, "' is no place in 8 examples\n  at ");
  EXPECT_CONTAINS(place, "BackupTest.cpp");
  struct Restoring : callbacks::Callback {
    explicit Restoring(std::string path) : path(std::move(path)) {}
    void on_train_begin(Logs &) override {
      Checkpoint{{"training", model().fit_progress()}}.read(path).expect_partial();
    }
    std::string path;
  };
  EXPECT_MISUSE(DataError,
                fewer.model.fit(points(4).rows(0, 8), points(1).rows(0, 8),
                                {.verbose = 0, .callbacks = {Restoring(directory.file("latest"))}}),
                "fit: goes on from a place that the data has not: 'row 16 of 30 by ");
  EXPECT_MISUSE(
      DataError,
      fewer.model.fit(data::from_tensor_slices(points(4), points(1)).batch(8),
                      {.verbose = 0, .callbacks = {callbacks::BackupAndRestore(directory.path)}}),
      "latest.safetensors: goes on from a place that the data has not: this is no state of an iterator: 'row ");
  for (const optimizers::Optimizer &optimizer :
       {optimizers::Optimizer(optimizers::RMSprop(0.01)), optimizers::Optimizer(optimizers::SGD(0.01)),
        optimizers::Optimizer(optimizers::Adam(0.01, {.amsgrad = true})),
        optimizers::Optimizer(optimizers::Adam(0.01, {}, {.use_ema = true}))}) {
    Program another;
    another.model.compile({.optimizer = optimizer, .loss = "mse", .metrics = {"mae"}});
    EXPECT_CONTAINS(
        errorOf<DataError>([&] { onTensors(another.model, {callbacks::BackupAndRestore(directory.path)}); }),
        "latest.safetensors: is the backup of a training with another optimiser: adam (momentum, velocity), and this");
  }
  std::filesystem::create_directories(directory.file("previous.safetensors/full"));
  Program twice;
  EXPECT_CONTAINS(errorOf<DataError>([&] { twice.run(onTensors, directory.path, {.double_checkpoint = true}, -1); }),
                  "latest.safetensors: can't be renamed: ");
  Sequential unbuilt({layers::Dense(1)});
  unbuilt.compile({.loss = "mse"});
  EXPECT_CONTAINS(errorOf<StateError>([&] { onTensors(unbuilt, {callbacks::BackupAndRestore(directory.path)}); }),
                  "the model's variables are not made yet");
  EXPECT_MISUSE(StateError, other.model().fit_progress(), "fit_progress: there is none outside of fit()");
}
