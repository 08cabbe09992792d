#include "onnx/Program.h"

#include "calque/call_site.h"
#include "calque/init_scope.h"

#include <algorithm>

namespace calque::onnx {

namespace {

std::string describe(const ValueType &type, const std::map<std::string, std::int64_t> &sizes) {
  if (type.kind == ValueType::Kind::Sequence || type.kind == ValueType::Kind::Optional)
    return std::string(type.kind == ValueType::Kind::Sequence ? "sequence(" : "optional(") +
           (type.inner ? describe(*type.inner, sizes) : "?") + ")";
  const std::optional<DType> dtype = dtypeOf(type.element);
  return dtype ? name_of(*dtype) : nameOfType(type.element);
}

std::optional<Shape> shapeOf(const ValueType &type, const std::map<std::string, std::int64_t> &sizes) {
  if (!type.dims)
    return {};
  Shape shape;
  for (const ValueType::Dim &dim : *type.dims) {
    const auto bound = sizes.find(dim.symbol);
    // A negative size is how some exporters write an unknown one.
    shape.push_back(dim.size && *dim.size >= 0                    ? Size(*dim.size)
                    : !dim.symbol.empty() && bound != sizes.end() ? Size(bound->second)
                                                                  : Size(kDynamic));
  }
  return shape;
}

// An element type that Calque lacks, within a type.
std::optional<std::int64_t> missingType(const ValueType &type) {
  if (type.kind == ValueType::Kind::Tensor)
    return dtypeOf(type.element) ? std::nullopt : std::optional(type.element);
  return type.inner ? missingType(*type.inner) : std::nullopt;
}

} // namespace

OnnxPort portOf(const ValueInfo &info, const std::map<std::string, std::int64_t> &sizes, const std::string &file) {
  OnnxPort port{
      .name = info.name, .type = describe(info.type, sizes), .detail = std::make_shared<ValueType>(info.type)};
  if (info.type.kind == ValueType::Kind::Other)
    throw DataError(file + ": '" + info.name + "' is a map, a sparse tensor or opaque, which Calque does not have");
  if (const auto missing = missingType(info.type))
    throw DataError(file + ": '" + info.name + "' has the element type " + nameOfType(*missing) +
                    ", which Calque does not have");
  if (info.type.kind != ValueType::Kind::Tensor)
    return port;
  const DType dtype = *dtypeOf(info.type.element);
  const std::optional<Shape> shape = shapeOf(info.type, sizes);
  port.spec = shape ? TensorSpec<>(dtype, *shape, info.name) : TensorSpec<>(dtype, kAnyShape, info.name);
  port.type = port.spec->str();
  return port;
}

Program::Program(const std::string &path, OnnxOptions options, const SourceLocation &where)
    : storage(path), model(readModel(storage.bytes(), path)) {
  if (model.ir < 3)
    throw DataError(path + " has version " + std::to_string(model.ir) + " of the format; versions from 3 on are read");
  const auto opset = model.opsets.find("");
  if (opset != model.opsets.end() && opset->second > kLastOpset)
    throw DataError(path + " has operator set " + std::to_string(opset->second) + "; sets up to " +
                    std::to_string(kLastOpset) + " are read");
  if (model.hasTraining)
    throw DataError(path + " has training steps in its training_info, which are not read");
  for (const auto &[name, version] : model.opsets)
    for (Function &function : model.functions)
      function.opsets.emplace(name, version); // of a function that names no version of its own

  Graph &graph = *model.graph;
  Linker(path, model, storage, knownInputs).link(graph);

  std::set<std::string> frozen; // statistics of batches
  for (const Node &node : graph.nodes)
    if (node.op == "BatchNormalization")
      for (std::size_t i = 3; i < node.inputs.size(); ++i)
        frozen.insert(node.inputs[i]);
  InitScope now;
  auto add = [&](const std::string &name, Tensor x) {
    if (options.weights == OnnxWeights::Constants || !is_floating(x.dtype()) || knownInputs.contains(name)) {
      constants.insert_or_assign(name, Value(std::move(x)));
      return;
    }
    const bool trainable = options.weights == OnnxWeights::Trainable && !frozen.contains(name);
    variables.insert_or_assign(name, Variable(x, {.name = name, .trainable = trainable}));
  };
  for (const TensorData &each : graph.initializers)
    add(each.name, storage.make(each));
  for (const SparseData &each : graph.sparseInitializers)
    add(each.values.name, storage.make(each));
  // Elements that the file spells as numbers were kept in them, beside the tensors.
  graph.initializers = {};
  graph.sparseInitializers = {};

  for (const auto &[name, size] : options.sizes)
    if (size < 0)
      throw ValueError("the size '" + name + "' of " + path + " is given as " + std::to_string(size), where);
  std::set<std::string> symbols;
  for (const ValueInfo &input : graph.inputs) {
    for (const ValueType::Dim &dim : input.type.dims.value_or(std::vector<ValueType::Dim>()))
      symbols.insert(dim.symbol);
    if (constants.contains(input.name) || variables.contains(input.name))
      continue; // what the file gives a value
    OnnxPort port = portOf(input, options.sizes, path);
    if (const auto given = options.constants.find(input.name); given != options.constants.end()) {
      constants.insert_or_assign(input.name, Value(given->second));
      options.constants.erase(given);
    } else {
      inputs.push_back(std::move(port));
    }
  }
  for (const ValueInfo &output : graph.outputs)
    outputs.push_back(portOf(output, options.sizes, path));
  if (!options.constants.empty())
    throw ValueError(path + " has no input '" + options.constants.begin()->first + "'", where);
  for (const auto &[name, size] : options.sizes)
    if (!symbols.contains(name))
      throw ValueError(path + " has no size '" + name + "'", where);
}

std::vector<Value> Program::run(std::vector<Value> given, const SourceLocation &where) const {
  Scope scope;
  for (const auto &[name, value] : constants)
    scope.set(name, value);
  {
    const CallSite site(where);
    for (const auto &[name, variable] : variables)
      scope.set(name, variable.value());
  }
  for (std::size_t i = 0; i < inputs.size(); ++i)
    scope.set(inputs[i].name, std::move(given[i]));
  runNodes(model.graph->nodes, scope, where);
  std::vector<Value> results;
  for (const OnnxPort &output : outputs)
    results.push_back(*scope.find(output.name));
  return results;
}

std::vector<Value> Program::runGraph(const Graph &graph, const std::vector<Value> &given, const Scope &around,
                                     const SourceLocation &where) const {
  Scope scope(&around);
  for (const TensorData &each : graph.initializers)
    scope.set(each.name, storage.make(each));
  for (std::size_t i = 0; i < given.size() && i < graph.inputs.size(); ++i)
    scope.set(graph.inputs[i].name, given[i]);
  runNodes(graph.nodes, scope, where);
  std::vector<Value> results;
  for (const ValueInfo &output : graph.outputs)
    results.push_back(*scope.find(output.name));
  return results;
}

void Program::runNodes(const std::vector<Node> &nodes, Scope &scope, const SourceLocation &where) const {
  for (const Node &node : nodes) {
    Results results = runNode(node, scope, where);
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      if (!node.outputs[i].empty()) {
        if (i >= results.size())
          throw ValueError(std::string(node.label) + ": output " + std::to_string(i) + " '" + node.outputs[i] +
                               "' is not supported",
                           where);
        scope.set(node.outputs[i], std::move(results[i]));
      }
    for (const std::string &name : node.dead)
      scope.drop(name);
  }
}

Results Program::runNode(const Node &node, const Scope &scope, const SourceLocation &where) const {
  if (node.constant)
    return *node.constant;
  std::vector<Value> inputs;
  bool isKnown = true, hasGraph = false;
  for (const std::string &name : node.inputs) {
    const Value *value = name.empty() ? nullptr : scope.find(name);
    if (!name.empty() && !value)
      throw InternalError(std::string(node.label) + ": '" + name + "' has no value");
    inputs.push_back(value ? *value : Value());
    isKnown = isKnown && (!value || value->isKnown());
  }
  if (node.function) {
    Scope inside;
    for (std::size_t i = 0; i < node.function->inputs.size(); ++i)
      inside.set(node.function->inputs[i], i < inputs.size() ? inputs[i] : Value());
    runNodes(node.function->nodes, inside, where);
    Results results;
    for (const std::string &name : node.function->outputs) {
      const Value *value = inside.find(name);
      results.push_back(value ? *value : Value());
    }
    return results;
  }
  for (const Attribute &attribute : node.attributes)
    hasGraph = hasGraph || attribute.graph;
  const RunGraph run = [&](const Graph &graph, const std::vector<Value> &given) {
    return runGraph(graph, given, scope, where);
  };
  const Call call(node, std::move(inputs), storage, run);
  if (hasGraph) {
    // Errors inside name the nodes of the graph.
    Results results = node.operation->apply(call);
    call.checkAllRead();
    return results;
  }
  const CallSite site(where, node.label);
  // What follows from constants alone is computed now: shapes must be known while tracing.
  std::optional<InitScope> now;
  if (isKnown && !node.operation->isRandom && !executing_eagerly())
    now.emplace();
  Results results = node.operation->apply(call);
  call.checkAllRead();
  return results;
}

} // namespace calque::onnx
