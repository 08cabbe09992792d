// Models as saved functions.
#include "calque/saved_functions.h"
#include "test/training/Idx.h"
#include "test/training/Testing.h"

using namespace calque;
using namespace calque::testing;

namespace {
Tensor points(std::int64_t count, std::int64_t columns) {
  return sin(reshape(iota({count * columns}, DType::Float32), {count, columns}) * 1.7f);
}
using ByName = std::map<std::string, Tensor>;
} // namespace

TEST(Export, SavesPredictionAndTheTrainingStep) {
  TemporaryDirectory directory;
  const std::string file = directory.file("new/net.calque");
  set_seed(1);
  Sequential model({Input({3}), layers::Dense(4, {.activation = "relu"}), layers::Dropout(0.5), layers::Dense(1)});
  model.compile({.optimizer = "adam", .loss = "mse", .metrics = {"mae"}});
  model.train_on_batch(points(4, 3), points(4, 1));
  model.export_functions(file, {.targets = {TensorSpec<float>({kDynamic, 1})}});
  SavedFunctions saved = load_functions(file);
  EXPECT_EQ(saved.names(), (std::vector<std::string>{"predict", "train_step"}));
  EXPECT_TRUE(saved.variables().contains("dense_1/kernel"));
  EXPECT_TRUE(saved.variables().contains("optimizer/iterations"));
  for (const char *name : {"metrics/loss/total", "metrics/mae/total", "metrics/mae/count"})
    EXPECT_TRUE(saved.variables().contains(name)) << name;
  EXPECT_FALSE(saved.variables().contains("total"));
  auto predict = saved.function<Tensor(const Tensor &)>("predict");
  auto step = saved.function<ByName(const Tensor &, const Tensor &)>("train_step");
  for (std::int64_t count : {5, 2, 8}) {
    // The code for any number of examples may add in another order.
    expectNear(predict(points(count, 3)), valuesOf(model.predict(points(count, 3))[0]), 1e-6);
    const Logs expected = model.train_on_batch(points(count, 3), points(count, 1));
    const ByName actual = step(points(count, 3), points(count, 1));
    EXPECT_NEAR(actual.at("loss").item<float>(), expected["loss"], 1e-5);
    EXPECT_NEAR(actual.at("mae").item<float>(), expected["mae"], 1e-5);
  }
  expectNear(predict(points(5, 3)), valuesOf(model.predict(points(5, 3))[0]), 1e-6);
  // The prediction alone has no optimiser.
  model.export_functions(file);
  EXPECT_EQ(load_functions(file).names(), std::vector<std::string>{"predict"});
  EXPECT_FALSE(load_functions(file).variables().contains("optimizer/iterations"));
}

TEST(Export, HasSeveralInputsAndOutputs) {
  TemporaryDirectory directory;
  const std::string file = directory.file("net.calque");
  SymbolicTensor left = Input({3}, {.name = "left"}), right = Input({2}, {.name = "right"});
  models::Functional model({left, right}, {{"sum", layers::Dense(1)(left)}, {"code", layers::Dense(2)(right)}});
  model.apply({points(1, 3), points(1, 2)});
  model.export_functions(file);
  auto predict = load_functions(file).function<ByName(const std::vector<Tensor> &)>("predict");
  const ByName actual = predict({points(4, 3), points(4, 2)});
  const Tensors expected = model.apply({points(4, 3), points(4, 2)});
  expectNear(actual.at("sum"), valuesOf(expected["sum"]), 1e-6);
  expectNear(actual.at("code"), valuesOf(expected["code"]), 1e-6);
}

TEST(Export, SaysWhatItLacks) {
  TemporaryDirectory directory;
  const std::string file = directory.file("net.calque");
  Sequential model({layers::Dense(1)});
  EXPECT_MISUSE(StateError, model.export_functions(file),
                "export_functions: the model has not been called, so that the types of its inputs are not known");
  EXPECT_MISUSE(StateError,
                model.export_functions(file, {.inputs = {TensorSpec<float>({kDynamic, 2})},
                                              .targets = {TensorSpec<float>({kDynamic, 1})}}),
                "export_functions: the model is not compiled; call compile() first");
  model.export_functions(file, {.inputs = {TensorSpec<float>({kDynamic, 2})}});
  auto predict = load_functions(file).function<Tensor(const Tensor &)>("predict");
  expectNear(predict(points(3, 2)), valuesOf(model(points(3, 2))), 1e-6);
}
