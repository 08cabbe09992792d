#include "calque/models/functional.h"
#include "calque/functions.h"

#include "Depths.h"
#include "Nearest.h"
#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "layers/Described.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace calque::models {

using detail::SymbolicCall;
using layers::CallOptions;
using layers::Layer;
using layers::Mask;
using training::fail;

namespace {

using Call = std::shared_ptr<SymbolicCall>;

class FunctionalBody : public Model {
public:
  FunctionalBody() : Model("functional") {}
  using Module::set_name;

  void connect(const SymbolicTensors &in, const SymbolicTensors &out, SourceLocation where) {
    if (in.empty() || out.empty())
      fail<ValueError>(absl::StrCat("functional: there are no ", in.empty() ? "inputs" : "outputs"), where);
    std::unordered_set<const SymbolicCall *> known;
    for (const auto &[name, input] : in) {
      if (input.call()->layer)
        fail<ValueError>(absl::StrCat("functional: an input is the result of the layer '",
                                      input.call()->layer->body()->kind(), "'; inputs are made by Input()"),
                         where);
      if (!known.insert(input.call().get()).second)
        fail<ValueError>("functional: an input is given twice", where);
    }
    for (const auto &[name, output] : out)
      visit(output.call(), known, where);
    for (const auto &[name, input] : in)
      inputs.push_back(input, name.empty() ? input.name() : name, where);
    outputs = out;
    for (const Call &call : calls)
      addLayer(*call->layer, where);
    std::vector<Call> ofInputs;
    for (const auto &[name, input] : inputs)
      ofInputs.push_back(input.call());
    rows_ = calque::detail::inDepthOrder(ofInputs, outputs);
    arrangeLayers();
  }

  std::vector<Layer> layers() const override { return layers_; }
  std::vector<TensorSpec<>> input_specs() const override {
    std::vector<TensorSpec<>> specs;
    for (const auto &[name, input] : inputs)
      specs.emplace_back(input.dtype(), input.shape(), name);
    return specs;
  }
  Config get_config() const override;
  bool has_graph() const override { return true; }
  SymbolicTensors graph_inputs(SourceLocation) const override { return inputs; }
  SymbolicTensors graph_outputs(SourceLocation) const override { return outputs; }
  std::vector<std::string> inputNames() const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      names.push_back(inputName(i));
    return names;
  }

  SymbolicTensors inputs, outputs;

protected:
  bool casts_inputs() const override { return false; }
  bool is_of_library() const override { return true; }
  void check_mask(const Tensor &, const Tensor &) const override {} // the layers do
  std::vector<std::size_t> order_of_parts() const override { return order; }
  Tensors call_inputs(const Tensors &x, const CallOptions &options) override { return call_masked(x, options).results; }
  std::vector<Mask> compute_masks(const Tensors &x, const CallOptions &options) override {
    return call_masked(x, options).masks;
  }
  // The types that it was made for are built.
  void build_inputs(const std::vector<TensorSpec<>> &) override {}
  void build_parts(const std::vector<TensorSpec<>> &) override {}

  Masked call_masked(const Tensors &x, const CallOptions &options) override {
    std::unordered_map<const SymbolicCall *, Masked> made;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::size_t from = argumentOf(x, i);
      // Integers become what the input takes, as in Keras.
      const DType dtype = inputs[i].dtype();
      made[inputs[i].call().get()] = {Tensors(x[from].dtype() == dtype ? x[from] : cast(x[from], dtype)),
                                      {options.mask_of(from)}};
    }
    for (const Call &call : calls) {
      Tensors arguments;
      CallOptions passed;
      passed.training = options.training;
      for (const auto &[name, input] : call->inputs) {
        const Masked &source = made.at(input.call().get());
        arguments.push_back(source.results[input.result()], name);
        passed.masks.push_back(input.result() < source.masks.size() ? source.masks[input.result()] : std::nullopt);
      }
      passed.mask = passed.masks.front();
      made[call.get()] = call->layer->body()->apply_masked(arguments, passed);
    }
    Masked results;
    for (const auto &[name, output] : outputs) {
      const Masked &source = made.at(output.call().get());
      results.results.push_back(source.results[output.result()], name);
      results.masks.push_back(output.result() < source.masks.size() ? source.masks[output.result()] : std::nullopt);
    }
    return results;
  }

  std::vector<Row> rows() const override {
    std::vector<Row> rows;
    auto nameOfSource = [&](const SymbolicTensor &x) {
      if (!x.call()->layer)
        return inputName(positionOf(x.call()));
      std::string name = nameOf(*x.call()->layer);
      return x.call()->results.size() > 1 ? absl::StrCat(name, "[", x.result(), "]") : name;
    };
    for (const Call &call : rows_) {
      if (!call->layer) {
        const std::size_t i = positionOf(call);
        rows.push_back(
            {inputName(i), "input", {training::describe(inputs[i].dtype(), inputs[i].shape())}, {}, nullptr});
        continue;
      }
      Row row{nameOf(*call->layer), call->layer->body()->kind(), {}, {}, call->layer->body()};
      for (const TensorSpec<> &result : call->results)
        row.results.push_back(training::describe(result.dtype(), result.shape()));
      for (const auto &[name, input] : call->inputs)
        row.connections.push_back(nameOfSource(input));
      rows.push_back(row);
    }
    return rows;
  }

private:
  // Calls in an order in which each comes after those that it needs.
  void visit(const Call &call, std::unordered_set<const SymbolicCall *> &known, SourceLocation where) {
    // Without recursion, because graphs may be deep.
    std::vector<std::pair<Call, std::size_t>> open = {{call, 0}};
    while (!open.empty()) {
      auto &[at, next] = open.back();
      if (known.contains(at.get())) {
        open.pop_back();
      } else if (!at->layer) {
        const std::string &name = at->results[0].name();
        fail<ValueError>(absl::StrCat("functional: an output needs the input '", name.empty() ? "input" : name,
                                      "' of type ", at->results[0].str(), ", which is not among the inputs"),
                         where);
      } else if (next < at->inputs.size()) {
        Call needed = at->inputs[next++].call();
        if (!known.contains(needed.get()))
          open.emplace_back(needed, 0);
      } else {
        known.insert(at.get());
        calls.push_back(at);
        open.pop_back();
      }
    }
  }

  // The layers by the calls' order, in which each has its first one. Their names, and with them the paths of their
  // variables, are by the order in which they were added.
  void arrangeLayers() {
    std::vector<Layer> arranged;
    for (const Call &call : rows_)
      if (call->layer && absl::c_none_of(arranged, [&](const Layer &each) { return each.same_as(*call->layer); })) {
        arranged.push_back(*call->layer);
        order.push_back(static_cast<std::size_t>(
            absl::c_find_if(layers_, [&](const Layer &each) { return each.same_as(*call->layer); }) - layers_.begin()));
      }
    layers_ = std::move(arranged);
  }

  std::size_t positionOf(const Call &input) const {
    return static_cast<std::size_t>(
        std::find_if(inputs.begin(), inputs.end(), [&](const auto &each) { return each.second.call() == input; }) -
        inputs.begin());
  }

  void addLayer(const Layer &layer, SourceLocation where) {
    for (const Layer &other : layers_)
      if (other.same_as(layer))
        return;
    std::string base = layer.body()->has_given_name() ? layer.name() : layer.body()->kind(), unique = base;
    for (int i = 1; names.contains(unique); ++i)
      unique = absl::StrCat(base, "_", i);
    adopt(unique, layer.body(), where);
    names.insert(unique);
    layers_.push_back(layer);
  }

  std::string inputName(std::size_t i) const {
    const std::string &name = (inputs.begin() + static_cast<std::ptrdiff_t>(i))->first;
    return !name.empty() ? name : i == 0 ? "input" : absl::StrCat("input_", i);
  }

  // Which argument is for an input, whose type it must have. By position only where no argument has a name: one that
  // fits no input is misspelt, or of something else, and would be taken for another input in silence.
  std::size_t argumentOf(const Tensors &x, std::size_t i) const {
    std::size_t from = i;
    const std::vector<std::string> names = x.names();
    const bool isNamed = absl::c_any_of(names, [](const std::string &name) { return !name.empty(); });
    if (x.size() != inputs.size() && !isNamed)
      fail<ValueError>(absl::StrCat(title(), ": takes ", inputs.size(), " inputs, and there are ", x.size()));
    if (isNamed) {
      const std::vector<std::string> expectedNames = inputNames();
      for (const std::string &name : names)
        if (!absl::c_linear_search(expectedNames, name))
          fail<LookupError>(absl::StrCat(title(), ": there is an argument '", name,
                                         "', and no input of that name: ", training::nearest(name, expectedNames)));
      for (const std::string &name : expectedNames)
        if (!absl::c_linear_search(names, name))
          fail<LookupError>(absl::StrCat(title(), ": takes the inputs '", absl::StrJoin(expectedNames, "', '"),
                                         "', and there is no argument '", name, "'"));
      from = static_cast<std::size_t>(absl::c_find(names, inputName(i)) - names.begin());
    }
    const SymbolicTensor &expected = inputs[i];
    const Tensor &given = x[from];
    std::string types = absl::StrCat(title(), ": the input '", inputName(i), "' takes ",
                                     training::describe(expected.dtype(), expected.shape()), ", and is given ",
                                     training::describe(given.dtype(), given.shape()));
    if (given.dtype() != expected.dtype() && !(is_floating(expected.dtype()) && is_integer(given.dtype())))
      fail<DTypeError>(types);
    if (!given.shape().is_compatible_with(expected.shape()))
      fail<ShapeError>(types);
    return from;
  }

  std::vector<Call> calls, rows_; // as they are made, and as they are shown, with the inputs
  std::vector<Layer> layers_;
  std::vector<std::size_t> order; // of the layers, among the parts
  std::unordered_set<std::string> names;
};

//===-- Configs ---------------------------------------------------------------------------------===//

// A symbolic tensor in a config: [call, result], where the calls count from 0, and the inputs from -1 down.
using Positions = std::unordered_map<const SymbolicCall *, std::int64_t>;
ConfigValue placeOf(const SymbolicTensor &x, const std::string &name, const Positions &positions) {
  return ConfigValue::List{positions.at(x.call().get()), static_cast<std::int64_t>(x.result()), name};
}

} // namespace

Config FunctionalBody::get_config() const {
  Positions positions;
  ConfigValue::List inputConfigs, layerConfigs, callConfigs, outputConfigs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    positions[inputs[i].call().get()] = -1 - static_cast<std::int64_t>(i);
    inputConfigs.push_back(Config{{"name", (inputs.begin() + static_cast<std::ptrdiff_t>(i))->first},
                                  {"dtype", name_of(inputs[i].dtype())},
                                  {"shape", configOf(inputs[i].shape())}});
  }
  for (const Layer &layer : layers_) {
    Config config = layers::serializePart(layer, nameOf(layer), SourceLocation());
    config.set("name", nameOf(layer));
    layerConfigs.push_back(config);
  }
  for (std::size_t i = 0; i < calls.size(); ++i) {
    ConfigValue::List arguments;
    for (const auto &[name, input] : calls[i]->inputs)
      arguments.push_back(placeOf(input, name, positions));
    callConfigs.push_back(Config{{"layer", nameOf(*calls[i]->layer)}, {"inputs", arguments}});
    positions[calls[i].get()] = static_cast<std::int64_t>(i);
  }
  for (const auto &[name, output] : outputs)
    outputConfigs.push_back(placeOf(output, name, positions));
  return {{"name", name()},         {"trainable", trainable()}, {"inputs", inputConfigs},
          {"layers", layerConfigs}, {"calls", callConfigs},     {"outputs", outputConfigs}};
}

namespace {

SymbolicTensors withoutNames(const SymbolicTensors &from) {
  SymbolicTensors result;
  for (const auto &[name, tensor] : from)
    result.push_back(tensor);
  return result;
}

Layer functionalFrom(const Config &config) {
  const SourceLocation none;
  auto listOf = [&](const ConfigValue &value) { return value.as<ConfigValue::List>(none); };
  std::vector<SymbolicTensor> inputs;
  std::vector<std::vector<SymbolicTensor>> results;
  std::unordered_map<std::string, Layer> layers;
  auto at = [&](const ConfigValue &place, SymbolicTensors &into) {
    auto parts = listOf(place);
    if (parts.size() != 3)
      fail<ValueError>(
          absl::StrCat("functional: its config has ", place.str(), " in place of a call, a result and a name"));
    auto call = parts[0].as<std::int64_t>(none), result = parts[1].as<std::int64_t>(none);
    bool isInput = call < 0 && -1 - call < std::ssize(inputs) && result == 0;
    bool isResult = call >= 0 && call < std::ssize(results) && result >= 0 &&
                    result < std::ssize(results[static_cast<std::size_t>(call)]);
    if (!isInput && !isResult)
      fail<ValueError>(absl::StrCat("functional: its config asks for ", place.str(), ", and there is no such result"));
    into.push_back(isInput ? inputs[static_cast<std::size_t>(-1 - call)]
                           : results[static_cast<std::size_t>(call)][static_cast<std::size_t>(result)],
                   parts[2].as<std::string>(none));
  };
  SymbolicTensors named;
  for (const ConfigValue &each : listOf(config.at("inputs", none))) {
    Config input = each.as<Config>(none);
    Shape shape;
    readConfig(input.at("shape", none), shape);
    if (shape.empty())
      fail<ValueError>("functional: an input in its config has no batch");
    const auto dtype = dtypeNamed(input.at("dtype", none).as<std::string>(none));
    const auto name = input.at("name", none).as<std::string>(none);
    inputs.push_back(Input(Shape(shape.begin() + 1, shape.end()), {dtype, name, shape[0]}, none));
    named.push_back(inputs.back(), name);
  }
  for (const ConfigValue &each : listOf(config.at("layers", none))) {
    Config layer = each.as<Config>(none);
    layers.emplace(layer.at("name", none).as<std::string>(none), layers::deserialize(layer, none));
  }
  for (const ConfigValue &each : listOf(config.at("calls", none))) {
    Config call = each.as<Config>(none);
    auto found = layers.find(call.at("layer", none).as<std::string>(none));
    if (found == layers.end())
      fail<ValueError>(
          absl::StrCat("functional: its config calls the layer ", call["layer"].str(), ", which it lacks"));
    SymbolicTensors arguments;
    for (const ConfigValue &place : listOf(call.at("inputs", none)))
      at(place, arguments);
    // Files are there of when names that no input has were not minded.
    if (auto inner = std::dynamic_pointer_cast<FunctionalBody>(found->second.body())) {
      const std::vector<std::string> names = inner->inputNames();
      if (absl::c_none_of(arguments, [&](const auto &each) { return absl::c_linear_search(names, each.first); }))
        arguments = withoutNames(arguments);
    }
    results.emplace_back();
    for (const auto &[name, result] : found->second.apply(arguments, none))
      results.back().push_back(result);
  }
  SymbolicTensors outputs;
  for (const ConfigValue &place : listOf(config.at("outputs", none)))
    at(place, outputs);
  Functional model(named, outputs, {config.at("name", none).as<std::string>(none)}, none);
  if (!config.at("trainable", none).as<bool>(none)) // and else as its layers say
    model.set_trainable(false);
  return model;
}

const FunctionalBody &bodyOf(const Model &model) { return static_cast<const FunctionalBody &>(model); }

} // namespace

Functional::Functional(const SymbolicTensors &inputs, const SymbolicTensors &outputs, FunctionalOptions options,
                       SourceLocation where)
    : ModelHandle([&] {
        auto body = std::make_shared<FunctionalBody>();
        body->set_name(options.name, where);
        body->connect(inputs, outputs, where);
        return body;
      }()) {}
const SymbolicTensors &Functional::inputs(SourceLocation where) const { return bodyOf(model(where)).inputs; }
const SymbolicTensors &Functional::outputs(SourceLocation where) const { return bodyOf(model(where)).outputs; }
SymbolicTensor Functional::input(SourceLocation where) const { return inputs(where).unpack<1>(where)[0]; }
SymbolicTensor Functional::output(SourceLocation where) const { return outputs(where).unpack<1>(where)[0]; }

} // namespace calque::models

void calque::layers::registerFunctional() {
  registerOwn("Functional", typeid(models::FunctionalBody), models::functionalFrom);
}
