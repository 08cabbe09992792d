// Layers against what Keras gives: reference/layers.py writes the cases.
#include "Testing.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace calque;
using namespace calque::testing;

namespace {

using Json = nlohmann::json;

// [kind, shape, numbers], of floats in this element type.
Tensor tensorOf(const Json &array, DType dtype) {
  const std::string kind = array[0];
  const Shape shape(array[1].get<std::vector<std::int64_t>>());
  if (kind == "bool") {
    std::vector<bool> values;
    for (int value : array[2].get<std::vector<int>>())
      values.push_back(value != 0);
    return tensor(values, shape);
  }
  if (kind == "int32")
    return tensor(array[2].get<std::vector<std::int32_t>>(), shape);
  return cast(tensor<double>(array[2].get<std::vector<double>>(), shape), dtype);
}

struct Case {
  Json json;
  DType dtype;

  std::string name() const { return json["name"].get<std::string>() + (json["training"] ? ", training" : ""); }
  layers::Layer layer() const {
    layers::Layer made = layers::deserialize(Config::parse(json["layer"].dump()));
    made.build(specs(false));
    std::vector<Tensor> weights;
    for (const Json &weight : json["weights"])
      weights.push_back(tensorOf(weight, dtype));
    made.set_weights(weights);
    return made;
  }
  Tensors inputs() const {
    Tensors inputs;
    for (const Json &input : json["inputs"])
      inputs.push_back(tensorOf(input, dtype));
    return inputs;
  }
  std::vector<TensorSpec<>> specs(bool open) const {
    std::vector<TensorSpec<>> specs;
    for (const auto &[name, input] : inputs()) {
      Shape shape = input.shape();
      if (open)
        shape[0] = kDynamic;
      specs.emplace_back(input.dtype(), shape);
    }
    return specs;
  }
  layers::CallOptions options() const {
    layers::CallOptions options;
    options.training = json["training"];
    if (!json["mask"].is_null())
      options.mask = tensorOf(json["mask"], dtype);
    return options;
  }
};

// cos(i) for element i.
Tensor cosinesLike(const Tensor &x) {
  Tensor flat = reshape(x, {-1});
  return reshape(cos(cumsum(full(flat.shape(), 1, flat.dtype())) - 1), x.shape());
}

// The results, and the gradients with respect to floating-point inputs and to the trainable weights.
std::vector<Tensor> stepOf(const layers::Layer &layer, const Tensors &inputs, const layers::CallOptions &options) {
  GradientTape tape({.persistent = true});
  for (const auto &[name, input] : inputs)
    if (is_floating(input.dtype()))
      tape.watch(input);
  Tensors results = layer.apply(inputs, options);
  Tensor loss;
  for (const auto &[name, result] : results) {
    Tensor part = sum(result * cosinesLike(result));
    loss = loss.defined() ? loss + part : part;
  }
  std::vector<Tensor> all = results.tensors();
  for (const auto &[name, input] : inputs)
    if (is_floating(input.dtype()))
      all.push_back(*tape.gradient(loss, input, {.unconnected_gradients = UnconnectedGradients::Zero}));
  for (const Variable &weight : layer.trainable_variables())
    all.push_back(*tape.gradient(loss, weight, {.unconnected_gradients = UnconnectedGradients::Zero}));
  return all;
}

void expectAll(const std::vector<Tensor> &found, const Json &json, DType dtype) {
  const double tolerance = dtype == DType::Float64 ? 1e-9 : 2e-4;
  std::vector<Json> expected;
  for (const char *what : {"results", "input_gradients", "weight_gradients"})
    for (const Json &each : json[what])
      expected.push_back(each);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    SCOPED_TRACE("value " + std::to_string(i));
    EXPECT_EQ(found[i].shape(), Shape(expected[i][1].get<std::vector<std::int64_t>>()));
    expectNear(found[i], expected[i][2].get<std::vector<double>>(), tolerance);
  }
}

class LayersReference : public ::testing::TestWithParam<std::string> {};

// Parsed once: without optimisation that takes a third of a second.
const std::vector<Json> &allCases() {
  static const std::vector<Json> all = [] {
    std::vector<Json> parsed;
    std::ifstream file(CALQUE_LAYERS_REFERENCE);
    for (std::string line; std::getline(file, line);)
      parsed.push_back(Json::parse(line));
    return parsed;
  }();
  return all;
}

std::vector<Json> cases(const std::string &group) {
  std::vector<Json> found;
  std::ranges::copy_if(allCases(), std::back_inserter(found),
                       [&](const Json &json) { return json["layer"]["class_name"] == group; });
  return found;
}

std::vector<std::string> groups() {
  std::vector<std::string> found;
  for (const Json &json : allCases()) {
    std::string group = json["layer"]["class_name"];
    if (std::find(found.begin(), found.end(), group) == found.end())
      found.push_back(group);
  }
  return found;
}

} // namespace

TEST_P(LayersReference, HasKerasNumbersAndGradients) {
  std::vector<Json> all = cases(GetParam());
  ASSERT_FALSE(all.empty());
  for (const Json &json : all) {
    {
      Case each{json, DType::Float64};
      SCOPED_TRACE(each.name() + ", eager");
      layers::Layer layer = each.layer();
      expectAll(stepOf(layer, each.inputs(), each.options()), json, each.dtype);
      std::vector<Tensor> after = layer.get_weights();
      ASSERT_EQ(after.size(), json["weights_after"].size());
      for (std::size_t i = 0; i < after.size(); ++i)
        expectNear(after[i], json["weights_after"][i][2].get<std::vector<double>>(), 1e-9);
    }
    // Embeddings say their type themselves.
    Case each{json, json["layer"]["config"].contains("dtype") ? DType::Float64 : DType::Float32};
    SCOPED_TRACE(each.name() + ", compiled for a batch of any size");
    layers::Layer open = each.layer();
    auto f = function<std::vector<Tensor>(const Tensors &)>(
        [&](const Tensors &x) { return stepOf(open, x, each.options()); }, {.input_signature = each.specs(true)});
    expectAll(f(each.inputs()), json, each.dtype);
  }
}

// Three steps of SGD, for a batch of known size line by line, and compiled for one of any size. Both for both element
// types, but for each class from its third case on, where that would take a minute.
TEST_P(LayersReference, TrainsAsKeras) {
  int trained = 0;
  for (const Json &json : cases(GetParam())) {
    if (json["training_losses"].empty())
      continue;
    ++trained;
    for (DType dtype : {DType::Float64, DType::Float32})
      for (bool isOpen : {false, true}) {
        if (trained > 2 && isOpen == (dtype == DType::Float64))
          continue;
        // Embeddings say their type themselves.
        Case each{json, json["layer"]["config"].contains("dtype") ? DType::Float64 : dtype};
        SCOPED_TRACE(each.name() + ", " + name_of(dtype) + (isOpen ? ", a batch of any size" : ""));
        layers::Layer layer = each.layer();
        optimizers::SGD sgd(0.1, {.momentum = 0.9});
        auto body = [&](const Tensors &inputs) {
          GradientTape tape;
          Tensor loss;
          for (const auto &[name, result] : layer.apply(inputs, each.options())) {
            Tensor part = mean(square(result - cosinesLike(result)));
            loss = loss.defined() ? loss + part : part;
          }
          std::vector<Variable> weights = layer.trainable_variables();
          sgd.apply_gradients(tape.gradient(loss, weights), weights);
          return loss;
        };
        auto compiled = function<Tensor(const Tensors &)>(body, {.input_signature = each.specs(true)});
        std::vector<double> losses;
        for (std::size_t i = 0; i < json["training_losses"].size(); ++i)
          losses.push_back(valuesOf(isOpen ? compiled(each.inputs()) : body(each.inputs()))[0]);
        const double tolerance = each.dtype == DType::Float64 ? 1e-9 : 2e-4;
        expectNear(tensor<double>(losses), json["training_losses"].get<std::vector<double>>(), tolerance);
        std::vector<Tensor> after = layer.get_weights();
        ASSERT_EQ(after.size(), json["trained_weights"].size());
        for (std::size_t i = 0; i < after.size(); ++i)
          expectNear(after[i], json["trained_weights"][i][2].get<std::vector<double>>(), tolerance);
      }
  }
}

INSTANTIATE_TEST_SUITE_P(All, LayersReference, ::testing::ValuesIn(groups()),
                         [](const auto &each) { return each.param; });

// What is registered is in the cases, or draws numbers, or is a model, and then other tests look at it.
TEST(LayersReference, LacksNoLayer) {
  std::vector<std::string> with = groups();
  ASSERT_FALSE(with.empty());
  for (const char *other :
       {"Arithmetic", "Functional", "Sequential", "Dropout", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D",
        "GaussianNoise", "GaussianDropout", "Normalization", "ActivityRegularization"})
    with.emplace_back(other);
  for (const std::string &name : layers::registered_layers())
    if (name != "Scaled") { // another test's own
      EXPECT_NE(std::find(with.begin(), with.end(), name), with.end()) << name << " has no numbers of Keras";
    }
}
