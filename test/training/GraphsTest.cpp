// The order of layers and weights in functional models, against Keras': reference/graphs.py writes the cases.
#include "Testing.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace calque;
using namespace calque::testing;

namespace {

using Json = nlohmann::ordered_json;
using Layers = std::map<std::string, layers::Layer>;

// What the script gives weight or input number `position`.
Tensor valueAt(std::size_t position, const Shape &shape) {
  std::size_t count = 1;
  for (const Size &size : shape)
    count *= static_cast<std::size_t>(std::int64_t(size));
  std::vector<float> elements;
  for (std::size_t i = 0; i < count; ++i)
    elements.push_back(
        static_cast<float>(0.2 + 0.1 * std::sin(1.3 * static_cast<double>(position) + 0.7 * static_cast<double>(i))));
  return tensor(elements, shape);
}

models::Functional made(const Json &graph, const std::string &name, Layers known) {
  std::vector<SymbolicTensor> inputs, results;
  for (std::size_t i = 0; i < graph["inputs"]; ++i)
    inputs.push_back(Input({3}, {.name = name + std::to_string(i)}));
  auto at = [&](std::int64_t place) {
    return place < 0 ? inputs[static_cast<std::size_t>(-1 - place)] : results[static_cast<std::size_t>(place)];
  };
  for (const auto &[layer, kind] : graph["layers"].items())
    if (kind.is_string())
      known.insert_or_assign(layer, kind == "dense"  ? layers::Layer(layers::Dense(3, {.name = layer}))
                                    : kind == "norm" ? layers::Layer(layers::BatchNormalization({.name = layer}))
                                                     : layers::Add({.name = layer}));
  for (const auto &call : graph["calls"]) {
    const auto layer = call[0].get<std::string>();
    if (!known.contains(layer))
      known.emplace(layer, made(graph["layers"][layer], layer, known));
    std::vector<SymbolicTensor> operands;
    for (const auto &operand : call[1])
      operands.push_back(at(operand));
    results.push_back(known.at(layer)(operands));
  }
  SymbolicTensors outputs;
  for (const auto &[key, place] : graph["outputs"].items())
    outputs.push_back(at(place), graph["outputs"].is_object() ? key : "");
  return {inputs, outputs, {name}};
}

// The first cells of the lines of the table, each once.
std::vector<std::string> namesIn(const std::string &summary) {
  std::vector<std::string> names;
  std::istringstream lines(summary);
  std::string line;
  for (int rules = 0; std::getline(lines, line) && rules < 2;)
    if (line.starts_with("---"))
      ++rules;
    else if (std::string name = line.substr(0, line.find(' '));
             rules == 1 && std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  return names;
}

} // namespace

TEST(Graphs, HaveTheLayersAndWeightsInKerasOrder) {
  std::ifstream file(CALQUE_GRAPHS_REFERENCE);
  std::size_t cases = 0, remade = 0;
  for (std::string line; std::getline(file, line); ++cases) {
    SCOPED_TRACE("line " + std::to_string(cases + 1) + " of graphs.json");
    const Json json = Json::parse(line);
    models::Functional model = made(json, "input", {});
    const auto order = json["order"].get<std::vector<std::string>>();
    EXPECT_EQ(namesIn(model.summary()), order);
    std::vector<std::string> names, own;
    for (const std::string &name : order)
      if (!name.starts_with("input"))
        own.push_back(name);
    for (const layers::Layer &layer : model.layers())
      names.push_back(layer.name());
    EXPECT_EQ(names, own);
    EXPECT_EQ(model.get_layer(0).name(), own[0]);

    std::vector<Tensor> values;
    for (const auto &shape : json["shapes"])
      values.push_back(valueAt(values.size(), Shape(shape.get<std::vector<std::int64_t>>())));
    model.set_weights(values);
    const std::vector<Variable> weights = model.weights(), trainable = model.trainable_variables();
    ASSERT_EQ(trainable.size(), json["trainable"].size());
    for (std::size_t i = 0; i < trainable.size(); ++i)
      EXPECT_TRUE(trainable[i].same_as(weights[json["trainable"][i].get<std::size_t>()])) << i;
    EXPECT_EQ(model.get_weights().size(), values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_TRUE(model.named_variables()[i].second.same_as(weights[i])) << i;

    Tensors x;
    for (std::size_t i = 0; i < json["inputs"]; ++i)
      x.push_back(valueAt(100 + i, {2, 3}));
    const Tensors results = model.apply(x);
    for (std::size_t i = 0; i < results.size(); ++i)
      expectNear(results[i], json["results"][i].get<std::vector<double>>(), 2e-5);
    // Its config makes it again, with the same order; a layer that is also in a model inside would be two.
    if (std::any_of(json["layers"].begin(), json["layers"].end(), [](const Json &kind) { return kind.is_object(); }))
      continue;
    layers::Layer again = layers::deserialize(layers::serialize(model));
    again.set_weights(values);
    expectNear(again.apply(x)[0], valuesOf(results[0]), 1e-6);
    ++remade;
  }
  EXPECT_EQ(cases, 46u);
  EXPECT_GT(remade, 15u);
}

TEST(Graphs, KeepThePathsOfTheirWeights) {
  // By the order of the calls, as files have them, whatever the order of the layers.
  SymbolicTensor a = Input({3}), z = Input({3});
  layers::Dense shared(3), first(3), second(3);
  models::Functional inner(z, shared(z), {.name = "inner"});
  models::Functional model(a, shared(a) + second(inner(first(a))));
  std::vector<std::string> paths;
  for (const auto &[path, variable] : model.named_variables())
    paths.push_back(path);
  EXPECT_EQ(paths, (std::vector<std::string>{"dense_1/kernel", "dense_1/bias", "dense/kernel", "dense/bias",
                                             "dense_2/kernel", "dense_2/bias"}));
  EXPECT_TRUE(model.get_layer(0).same_as(first));
  EXPECT_TRUE(model.get_layer(1).same_as(inner));
  EXPECT_TRUE(model.get_layer("dense").same_as(shared));
  const std::string path = ::testing::TempDir() + "/graphs-weights.safetensors";
  model.save_weights(path);
  EXPECT_TRUE(load_safetensors(path).contains("dense/kernel"));
  const std::vector<Tensor> before = model.get_weights();
  for (const Variable &weight : model.weights())
    Variable(weight).assign(zeros(weight.shape()));
  model.load_weights(path);
  for (std::size_t i = 0; i < before.size(); ++i)
    expectNear(model.get_weights()[i], valuesOf(before[i]));
}
