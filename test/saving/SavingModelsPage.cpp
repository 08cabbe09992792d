// The programs of docs/saving-models.md, which a test compares with this file.
#include "calque/safetensors.h"
#include "calque/saved_functions.h"
#include "test/training/Idx.h"
#include "test/training/Testing.h"

using namespace calque;
using namespace calque::testing;

namespace {
Tensor worst(const Tensor &y_true, const Tensor &y_pred) { return max(abs(y_true - y_pred), {-1}); }

// Paths are those of a folder of its own.
struct Folder {
  Folder() { std::filesystem::current_path(directory.path); }
  ~Folder() { std::filesystem::current_path(before); }
  std::filesystem::path before = std::filesystem::current_path();
  TemporaryDirectory directory;
};
} // namespace

namespace own {
using namespace calque;
// clang-format off
    struct Tilted : losses::Loss {
      double slope;
      Tilted(double slope, losses::LossOptions options = {.name = "tilted"}) : Loss(options), slope(slope) {}
      Tensor call(const Tensor &y_true, const Tensor &y_pred) const override { return slope * mean(abs(y_true - y_pred), {-1}); }
      Config own_config() const override { return {{"slope", slope}}; }
    };
// clang-format on
} // namespace own

TEST(SavingModelsPage, ClassesAndFunctionsOfOnesOwn) {
  Folder folder;
  using own::Tilted;
  losses::register_loss<Tilted>("Tilted", [](const Config &own, losses::LossOptions options) {
    return Tilted(own["slope"].as<double>(), options);
  });
  losses::register_loss("worst", worst);    // a function: `.loss = "worst"`
  metrics::register_metric("worst", worst); // its mean: `.metrics = {"worst"}`
  Sequential model({Input({1}), layers::Dense(1)});
  model.compile({.optimizer = "sgd", .loss = Tilted(3), .metrics = {"worst"}});
  model.save("net");
  model.compile({.optimizer = "sgd", .loss = "worst"});
  model.save("net");
  EXPECT_TRUE(load_model("net").model().compiled());
}

TEST(SavingModelsPage, TrainingThatIsInterrupted) {
  Folder folder;
  Sequential model({Input({1}), layers::Dense(1)});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  data::Dataset batches = data::from_tensor_slices(ones({4, 1}), ones({4, 1})).shuffle(4).batch(2);
  callbacks::LambdaCallback interrupt({.on_epoch_begin = [](std::int64_t epoch, Logs &) {
    if (epoch == 2)
      throw DataError("interrupted", SourceLocation::current());
  }});
  EXPECT_THROW(model.fit(batches, {.epochs = 20, .callbacks = {callbacks::BackupAndRestore("backup"), interrupt}}),
               DataError);
  EXPECT_TRUE(std::filesystem::exists("backup/latest.safetensors"));
  model.fit(batches, {.epochs = 20, .callbacks = {callbacks::BackupAndRestore("backup")}});
  EXPECT_EQ(model.history().epoch.size(), 18U);
  EXPECT_FALSE(std::filesystem::exists("backup"));
}

TEST(SavingModelsPage, NoiseByThePlaceOfAnElement) {
  Folder folder;
  const Tensor x = ones({8, 4}), y = zeros({8, 1});
  const std::int64_t steps = 2;
  Sequential model({Input({4}), layers::Dense(1)});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  // clang-format off
    auto noisy = [](const Tensor &place, const std::pair<Tensor, Tensor> &element) {
      Tensor state = random::state(place.item<std::int64_t>(), 0); // numbers of their own for each element
      return std::pair(element.first + 0.1 * random::stateless_normal({4}, state), element.second);
    };
    data::Dataset batches = data::from_tensor_slices(x, y).shuffle(1000).repeat().enumerate().map(noisy).batch(4).prefetch(2);
    model.fit(batches, {.epochs = 20, .callbacks = {callbacks::BackupAndRestore("backup")}, .steps_per_epoch = steps});
  // clang-format on
  EXPECT_EQ(model.history().epoch.size(), 20U);
}

TEST(SavingModelsPage, KeepsAnOptimiserOfTheModelsOwn) {
  Folder folder;
  struct Critic : Model {
    Critic() : Model("critic") { build({kDynamic, 4}); }
    Tensor call(const Tensor &x, const layers::CallOptions &) override { return dense(x); }
    Tensors train_step(const Batch &batch) override {
      GradientTape tape;
      const Tensor loss = mean(square((*this)(batch.x[0]) - batch.y[0]));
      const std::vector<Variable> variables = trainable_variables();
      of_critic.apply_gradients(tape.gradient(loss, variables), variables);
      return {{"loss", loss}};
    }
    layers::Dense dense = submodule("dense", layers::Dense(1));
    optimizers::Adam of_critic = submodule("of_critic", optimizers::Adam(1e-4));
  } model;
  model.compile();
  model.fit(ones({8, 4}), ones({8, 1}), {.verbose = 0});
  const std::string saved = Checkpoint{{"model", model}}.save("critic");
  Critic same;
  Checkpoint{{"model", same}}.restore(saved);
  EXPECT_EQ(same.weights().size(), 2U);
  same.compile();
  same.fit(ones({8, 4}), ones({8, 1}), {.verbose = 0});
  EXPECT_EQ(same.of_critic.iterations().value().item<std::int64_t>(), 2);
}

TEST(SavingModelsPage, CutsAModelThatWasLoaded) {
  Folder folder;
  Sequential saved({Input({4}), layers::Dense(3, {.name = "gap"}), layers::Dense(10)});
  saved.save("net");
  const Tensor x = ones({8, 4}), y = zeros({8, 1});
  // clang-format off
    ModelHandle base = load_model("net", {.compile = false});
    models::Functional features(base.inputs(), base.get_layer("gap").output()); // shares the layers
    features.set_trainable(false);
    Sequential model({features, layers::Dense(1)});
    model.compile({.optimizer = "adam", .loss = "mse"});
    model.fit(x, y, {.epochs = 4});                             // the head alone
    features.set_trainable(true);
    model.optimizer().set_learning_rate(1e-5);
    model.fit(x, y, {.epochs = 8, .initial_epoch = 4});         // and all of it, by small steps
  // clang-format on
  EXPECT_EQ(model.history().epoch.size(), 4U);
}

TEST(SavingModelsPage, FilesOfOthersAndFunctions) {
  Folder folder;
  Sequential model({Input({2}), layers::Dense(3)});
  Tensor w = ones({2, 3}), b = zeros({3});
  save_safetensors("keras.safetensors", {{"sequential/dense/kernel", w}, {"sequential/dense/bias", b}});
  save_safetensors("torch.safetensors", {{"dense.weight", transpose(w)}, {"dense.bias", b}});
  save_safetensors("other.safetensors", {{"w", w}, {"b", b}});
  // clang-format off
  model.load_weights("keras", {.prefix = "sequential/"});  // save_file({v.path: v.numpy() for v in model.weights}, "keras.safetensors")
  model.load_weights("torch", {.layout = "torch"});        // save_file(model.state_dict(), "torch.safetensors")
  model.load_weights("other", {.names = {{"w", "dense/kernel"}, {"b", "dense/bias"}}});
  // clang-format on
  model.compile({.optimizer = "sgd",
                 .loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {"accuracy"}});
  // clang-format off
  model.export_functions("net.calque", {.targets = {TensorSpec<std::int32_t>({kDynamic})}});
  SavedFunctions saved = load_functions("net.calque");
  auto predict = saved.function<Tensor(const Tensor &)>("predict");
  auto step = saved.function<std::map<std::string, Tensor>(const Tensor &, const Tensor &)>("train_step"); // "loss", "accuracy"
  // clang-format on
  expectNear(predict(ones({1, 2})), {2, 2, 2}, 1e-6);
  auto logs = step(ones({2, 2}), zeros({2}, DType::Int32));
  EXPECT_TRUE(logs.contains("loss") && logs.contains("accuracy"));
}
