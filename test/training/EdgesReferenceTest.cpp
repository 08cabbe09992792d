// Layers and activations against what Keras gives where a mask rules out all, inputs differ in rank, or numbers are not
// finite: reference/edges.py writes the cases.
#include "Testing.h"

#include <fstream>
#include <nlohmann/json.hpp>

using namespace calque;
using namespace calque::testing;

namespace {

using Json = nlohmann::json;

double numberOf(const Json &json) {
  if (!json.is_string())
    return json.get<double>();
  const std::string text = json;
  const double infinity = std::numeric_limits<double>::infinity();
  return text == "nan" ? std::numeric_limits<double>::quiet_NaN() : text == "inf" ? infinity : -infinity;
}
std::vector<double> numbersOf(const Json &array) {
  std::vector<double> numbers;
  for (const Json &each : array[1])
    numbers.push_back(numberOf(each));
  return numbers;
}
Tensor tensorOf(const Json &array, DType dtype = DType::Float64) {
  return cast(tensor<double>(numbersOf(array), Shape(array[0].get<std::vector<std::int64_t>>())), dtype);
}

const std::vector<Json> &allCases() {
  static const std::vector<Json> all = [] {
    std::vector<Json> parsed;
    std::ifstream file(CALQUE_EDGES_REFERENCE);
    for (std::string line; std::getline(file, line);)
      parsed.push_back(Json::parse(line));
    return parsed;
  }();
  return all;
}

void expectSame(const Tensor &found, const std::vector<double> &expected, double tolerance) {
  const std::vector<double> values = valuesOf(found);
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    if (std::isfinite(expected[i]))
      EXPECT_NEAR(values[i], expected[i], tolerance * (1 + std::fabs(expected[i]))) << "element " << i;
    else
      EXPECT_TRUE(values[i] == expected[i] || (std::isnan(values[i]) && std::isnan(expected[i])))
          << "element " << i << " is " << values[i] << ", not " << expected[i];
}

// The result, the mask or nothing, the gradients, and the sum of the losses.
struct Step {
  std::vector<Tensor> numbers;
  layers::Mask mask;
};

Step stepOf(const layers::Layer &layer, const Tensors &inputs, const std::vector<layers::Mask> &masks) {
  GradientTape tape({.persistent = true});
  for (const auto &[name, input] : inputs)
    tape.watch(input);
  layers::LayerBody::Masked results = layer.body()->apply_masked(inputs, {.masks = masks});
  const Tensor &y = results.results[0];
  Tensor flat = reshape(y, {-1});
  Tensor cosines = reshape(cos(cumsum(full(flat.shape(), 1, y.dtype())) - 1), y.shape());
  Tensor loss = sum(y * cosines), losses = zeros({}, y.dtype());
  for (const Tensor &each : layer.losses())
    losses = losses + each;
  Step step{{y}, results.masks.at(0)};
  for (const auto &[name, input] : inputs)
    step.numbers.push_back(*tape.gradient(loss, input, {.unconnected_gradients = UnconnectedGradients::Zero}));
  for (const Variable &weight : layer.trainable_variables())
    step.numbers.push_back(*tape.gradient(loss, weight, {.unconnected_gradients = UnconnectedGradients::Zero}));
  step.numbers.push_back(losses);
  return step;
}

void expectStep(const std::vector<Tensor> &found, const Json &json) {
  std::vector<std::vector<double>> expected = {numbersOf(json["result"])};
  for (const char *what : {"input_gradients", "weight_gradients"})
    for (const Json &each : json[what])
      expected.push_back(numbersOf(each));
  expected.push_back({numberOf(json["losses"])});
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    SCOPED_TRACE("value " + std::to_string(i));
    // Keras' attention has some of its numbers in float32.
    expectSame(found[i], expected[i], json["layer"]["class_name"] == "MultiHeadAttention" ? 1e-6 : 1e-9);
  }
}

} // namespace

TEST(EdgesReference, LayersHaveKerasNumbersMasksAndGradients) {
  for (const Json &json : allCases()) {
    if (json.contains("activation"))
      continue;
    SCOPED_TRACE(json["name"].get<std::string>());
    Tensors inputs;
    std::vector<TensorSpec<>> exact, open;
    for (const Json &input : json["inputs"]) {
      inputs.push_back(tensorOf(input));
      const Tensor &last = inputs[inputs.size() - 1];
      Shape shape = last.shape();
      exact.emplace_back(DType::Float64, shape);
      shape[0] = kDynamic;
      open.emplace_back(DType::Float64, shape);
    }
    std::vector<layers::Mask> masks;
    for (const Json &mask : json["masks"])
      masks.push_back(mask.is_null() ? layers::Mask() : layers::Mask(tensorOf(mask, DType::Bool)));
    layers::Layer layer = layers::deserialize(Config::parse(json["layer"].dump()));
    layer.build(exact);
    std::vector<Tensor> weights;
    for (const Json &weight : json["weights"])
      weights.push_back(tensorOf(weight));
    layer.set_weights(weights);

    const Step eager = stepOf(layer, inputs, masks);
    expectStep(eager.numbers, json);
    // Keras' softmax has the mask of its input, not the one that it is called with.
    if (json["layer"]["class_name"] != "Softmax") {
      ASSERT_EQ(eager.mask.has_value(), !json["mask"].is_null());
      if (eager.mask) {
        EXPECT_EQ(valuesOf(cast(*eager.mask, DType::Float64)), numbersOf(json["mask"]));
      }
    }
    // Compiled for a batch of any size. Masks are of the size of the batch, too.
    bool hasMasks = false;
    for (const layers::Mask &mask : masks)
      hasMasks = hasMasks || mask;
    if (hasMasks)
      continue;
    auto f = function<std::vector<Tensor>(const Tensors &)>(
        [&](const Tensors &x) { return stepOf(layer, x, masks).numbers; }, {.input_signature = open});
    expectStep(f(inputs), json);
  }
}

// One compiled function for all, because each takes a while.
TEST(EdgesReference, ActivationsHaveKerasDerivatives) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  // Where Keras' derivative or value is NaN by 0 * infinity, and where selu's and celu's are those of PyTorch: values
  // and derivatives.
  struct Other {
    std::string name;
    double at, value, derivative;
  };
  const std::vector<Other> others = {
      {"hard_silu", infinity, infinity, 1},
      {"hard_silu", -infinity, 0, 0},
      {"sparse_plus", infinity, infinity, 1},
      {"sparse_plus", -infinity, 0, 0},
      {"sparse_plus", nan, nan, 1},
      {"celu", 0, 0, 1},
      {"celu", nan, nan, 1},
      {"selu", 0, 0, 1.7580993408473766},
  };
  for (const Json &json : allCases()) {
    if (!json.contains("activation"))
      continue;
    const std::string name = json["name"];
    SCOPED_TRACE(name);
    layers::ActivationFunction f(name);
    std::vector<double> at = numbersOf(json["at"]), values = numbersOf(json["values"]),
                        derivatives = numbersOf(json["derivatives"]);
    for (const Other &other : others)
      for (std::size_t i = 0; i < at.size(); ++i)
        if (other.name == name && (at[i] == other.at || (std::isnan(at[i]) && std::isnan(other.at)))) {
          values[i] = other.value;
          derivatives[i] = other.derivative;
        }
    Tensor x = tensorOf(json["at"], DType::Float32);
    expectSame(f(x), values, 1e-6);
    expectSame(grad([&](const Tensor &of) { return sum(f(of)); })(x), derivatives, 1e-6);
    expectSame(jvp([&](const Tensor &of) { return f(of); }, x, ones(x.shape())).second, derivatives, 1e-6);
  }
}

// Also of those that Keras has not, and in float64.
TEST(EdgesReference, ActivationsHaveOneDerivativeInBothModes) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (DType dtype : {DType::Float32, DType::Float64}) {
    const double large = dtype == DType::Float32 ? 3e38 : 1.7e308;
    Tensor x =
        cast(tensor<double>({NAN, infinity, -infinity, large, -large, 0, -1, 1, -3, 3, 0.5, -0.5, 100, -100}), dtype);
    for (const std::string &name : activations::names()) {
      if (name == "glu" || name == "softmax" || name == "log_softmax" || name == "sparsemax") // not of single numbers
        continue;
      SCOPED_TRACE(name + " " + name_of(dtype));
      layers::ActivationFunction f(name);
      expectSame(jvp([&](const Tensor &of) { return f(of); }, x, ones(x.shape(), dtype)).second,
                 valuesOf(grad([&](const Tensor &of) { return sum(f(of)); })(x)), 1e-6);
    }
  }
}
