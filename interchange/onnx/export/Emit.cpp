#include "onnx/export/Emit.h"

#include "onnx/Support.h"

#include "calque/error.h"

#include <cstring>

namespace calque::onnx {

//===-- The model -------------------------------------------------------------------------------===//

std::string Making::fresh(const std::string &base) {
  for (std::string name = base;; name = base + "_" + std::to_string(++numbers_[base]))
    if (taken_.insert(name).second)
      return name;
}

std::string Making::constant(DType dtype, const Ints &dims, std::span<const std::byte> bytes, const std::string &base) {
  constexpr std::size_t kSmall = 256;
  std::string key;
  if (bytes.size() <= kSmall) {
    key = std::string(name_of(dtype)) + listed(dims) +
          std::string(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    if (const auto found = constants_.find(key); found != constants_.end())
      return found->second;
  }
  TensorData &data = model.graph->initializers.emplace_back();
  data.name = fresh(base);
  data.type = numberOf(dtype);
  data.dims = dims;
  data.raw = Bytes(bytes_.emplace_back(bytes.begin(), bytes.end()));
  if (!key.empty())
    constants_.emplace(std::move(key), data.name);
  return data.name;
}

std::string Making::constant(const Tensor &x, const std::string &base) {
  TensorData &data = model.graph->initializers.emplace_back();
  data.name = base;
  for (const Size &size : x.shape())
    data.dims.push_back(size);
  // Complex numbers are pairs in memory, and in programs.
  if (is_complex(x.dtype()))
    data.dims.push_back(2);
  data.type = numberOf(x.dtype() == DType::Complex64    ? DType::Float32
                       : x.dtype() == DType::Complex128 ? DType::Float64
                                                        : x.dtype());
  data.raw = tensors_.emplace_back(x).bytes();
  return data.name;
}

std::string Making::ints(const Ints &numbers) {
  return constant(DType::Int64, {static_cast<std::int64_t>(numbers.size())}, std::as_bytes(std::span(numbers)), "ints");
}
std::string Making::scalar(std::int64_t number) {
  return constant(DType::Int64, {}, std::as_bytes(std::span(&number, 1)), "int");
}

std::string listed(const Ints &numbers) {
  std::string text = "[";
  for (std::int64_t each : numbers)
    text += (text.size() > 1 ? "," : "") + std::to_string(each);
  return text + "]";
}

Attribute attribute(std::string name, std::int64_t number) {
  Attribute made;
  made.name = std::move(name);
  made.i = number;
  made.type = Attribute::Int;
  return made;
}
Attribute attribute(std::string name, int number) { return attribute(std::move(name), std::int64_t(number)); }
Attribute attribute(std::string name, float number) {
  Attribute made;
  made.name = std::move(name);
  made.f = number;
  made.type = Attribute::Float;
  return made;
}
Attribute attribute(std::string name, Ints numbers) {
  Attribute made;
  made.name = std::move(name);
  made.ints = std::move(numbers);
  made.type = Attribute::Ints;
  return made;
}
Attribute attribute(std::string name, const char *text) {
  Attribute made;
  made.name = std::move(name);
  made.s = text;
  made.type = Attribute::String;
  return made;
}
Attribute attribute(std::string name, DType dtype) { return attribute(std::move(name), numberOf(dtype)); }
Attribute attribute(std::string name, Graph graph) {
  Attribute made;
  made.name = std::move(name);
  made.graph = std::make_shared<Graph>(std::move(graph));
  made.type = Attribute::Subgraph;
  return made;
}

ValueInfo infoOf(const std::string &name, const ProgramType &type, const std::string &symbols) {
  ValueInfo info;
  info.name = name;
  info.type.kind = ValueType::Kind::Tensor;
  info.type.element = numberOf(*type.dtype);
  info.type.dims.emplace();
  for (std::size_t i = 0; i < type.sizes.size(); ++i) {
    ValueType::Dim &dim = info.type.dims->emplace_back();
    if (type.sizes[i] != kUnknownSize)
      dim.size = type.sizes[i];
    else if (!symbols.empty())
      dim.symbol = symbols + "_" + std::to_string(i);
  }
  return info;
}

//===-- An operation ----------------------------------------------------------------------------===//

void Emit::refuse(const std::string &message) const {
  std::string text = message;
  text.insert(0, "save_onnx: " + op.function + ": ");
  throw ValueError(text, op.where);
}

std::int64_t Emit::axis(std::string_view name, std::int64_t rank) const {
  const std::int64_t axis = integer(name);
  return axis < 0 ? axis + rank : axis;
}
Ints Emit::axes(std::string_view name, std::int64_t rank, bool emptyMeansAll) const {
  Ints axes = list(name);
  for (std::int64_t &axis : axes)
    axis = axis < 0 ? axis + rank : axis;
  if (axes.empty() && emptyMeansAll)
    for (std::int64_t i = 0; i < rank; ++i)
      axes.push_back(i);
  return axes;
}

Names Emit::nodes(const std::string &operation, Names inputs, std::size_t outputs, std::vector<Attribute> attributes) {
  Node node;
  node.op = operation;
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  if (op.where.line)
    node.doc = op.function + " at " + op.where.file + ":" + std::to_string(op.where.line);
  for (std::size_t i = 0; i < outputs; ++i)
    node.outputs.push_back(making.fresh(op.function.empty() ? operation : op.function));
  node.name = node.outputs[0];
  Names made = node.outputs;
  graph.nodes.push_back(std::move(node));
  return made;
}

std::string Emit::cast(const std::string &x, DType from, DType to) {
  return from == to ? x : node("Cast", {x}, {onnx::attribute("to", to)});
}
std::string Emit::number(double value, DType dtype) { return number(ProgramNumber(value), dtype); }
std::string Emit::number(const ProgramNumber &value, DType dtype) {
  // Eagerly, by the conversion that programs have.
  const Tensor x = std::visit(
      [&](auto each) { return calque::cast(calque::scalar<std::decay_t<decltype(each)>>(each), dtype); }, value);
  return making.constant(dtype, {}, x.bytes(), "number");
}
std::string Emit::transpose(const std::string &x, const Ints &permutation) {
  for (std::size_t i = 0; i < permutation.size(); ++i)
    if (permutation[i] != static_cast<std::int64_t>(i))
      return node("Transpose", {x}, {onnx::attribute("perm", permutation)});
  return x;
}
std::string Emit::reshape(const std::string &x, const Dims &dims) {
  std::vector<Attribute> attributes;
  bool hasZero = false, infers = false;
  for (const Dim &dim : dims) {
    hasZero = hasZero || dim.known == 0 || dim.known == kUnknownSize; // which may be 0 in a call
    infers = infers || dim.known == -1;
  }
  if (hasZero && !infers)
    attributes.push_back(onnx::attribute("allowzero", 1));
  return node("Reshape", {x, shape(dims)}, std::move(attributes));
}
std::string Emit::reshape(const std::string &x, const Ints &sizes) { return reshape(x, known(sizes)); }
std::string Emit::expand(const std::string &x, const Dims &dims) { return node("Expand", {x, shape(dims)}); }
std::string Emit::zeros(DType dtype, const Dims &dims) { return expand(number(0.0, dtype), dims); }
std::string Emit::range(const Dim &size) {
  return node("Range", {making.scalar(0), sizeOf(size, true), making.scalar(1)});
}
std::string Emit::indices(std::size_t operand) {
  const DType dtype = this->dtype(operand);
  return dtype == DType::Int32 ? in(operand) : cast(in(operand), dtype, DType::Int64);
}

//===-- Sizes -----------------------------------------------------------------------------------===//

Dims Emit::dims(std::size_t operand) const {
  Dims dims;
  for (std::size_t i = 0; i < type(operand).sizes.size(); ++i)
    dims.push_back({type(operand).sizes[i], in(operand), static_cast<std::int64_t>(i)});
  return dims;
}
Dims Emit::openDims() const {
  const Ints &shape = list("shape"), &sizes = list("sizes");
  Dims dims;
  std::size_t next = 0;
  for (std::int64_t size : shape) {
    if (size != kUnknownSize) {
      dims.push_back({size});
      continue;
    }
    const auto operand = static_cast<std::size_t>(sizes[next]);
    const std::int64_t axis = sizes[next + 1] < 0 ? sizes[next + 1] + rank(operand) : sizes[next + 1];
    dims.push_back(this->dims(operand)[static_cast<std::size_t>(axis)]);
    next += 2;
  }
  return dims;
}
Dims Emit::known(const Ints &sizes) {
  Dims dims;
  for (std::int64_t size : sizes)
    dims.push_back({size});
  return dims;
}

std::string Emit::sizeOf(const Dim &dim, bool isScalar) {
  if (dim.known != kUnknownSize)
    return isScalar ? making.scalar(dim.known) : ints({dim.known});
  const std::string vector =
      node("Shape", {dim.of}, {onnx::attribute("start", dim.axis), onnx::attribute("end", dim.axis + 1)});
  return isScalar ? node("Squeeze", {vector, ints({0})}) : vector;
}

std::string Emit::shape(const Dims &dims) {
  Names parts;
  Ints numbers;
  auto flush = [&] {
    if (!numbers.empty())
      parts.push_back(ints(numbers));
    numbers.clear();
  };
  for (const Dim &dim : dims) {
    if (dim.known != kUnknownSize) {
      numbers.push_back(dim.known);
      continue;
    }
    flush();
    parts.push_back(sizeOf(dim, false));
  }
  flush();
  if (parts.empty())
    return ints({});
  return parts.size() == 1 ? parts[0] : node("Concat", parts, {onnx::attribute("axis", 0)});
}

//===-- Programs inside of an operation -------------------------------------------------------------===//

Names Emit::inlined(const RecordedProgram &inner, const Names &parameters) {
  return writeProgram(making, graph, inner, parameters, variables);
}

Graph Emit::subgraph(const std::string &name, const std::vector<std::pair<std::string, ProgramType>> &inputs,
                     const std::vector<ProgramType> &outputs, const std::function<Names(Emit &)> &body) {
  Graph made;
  made.name = making.fresh(name);
  for (const auto &[input, type] : inputs)
    made.inputs.push_back(infoOf(input, type));
  Emit inner(making, made, program_, op, operands_, variables);
  const Names results = body(inner);
  // An output is made by a node of its graph, and no value is two outputs.
  std::unordered_set<std::string> own;
  for (const Node &node : made.nodes)
    own.insert(node.outputs.begin(), node.outputs.end());
  for (std::size_t i = 0; i < results.size(); ++i) {
    const bool isOwn = own.erase(results[i]) > 0;
    made.outputs.push_back(infoOf(isOwn ? results[i] : inner.node("Identity", {results[i]}), outputs[i]));
  }
  return made;
}

//===-- All operations ------------------------------------------------------------------------------===//

Names write(Emit &e) {
  static const auto *const rules = [] {
    auto *made = new std::unordered_map<std::string_view, const Rule *>();
    for (const Rules &family :
         {contractionRules(), controlFlowRules(), indexRules(), movementRules(), reductionRules(), windowRules()})
      for (const Rule &rule : family)
        made->emplace(rule.operation, &rule);
    return made;
  }();
  for (std::size_t i = 0; i < e.op.num_results + e.size(); ++i) {
    const ProgramType &type = i < e.size() ? e.type(i) : e.result(i - e.size());
    if (!type.dtype)
      e.refuse("its derivative keeps values on a stack, which ONNX has not (operation '" + std::string(e.op.name) +
               "')");
  }
  if (const auto found = rules->find(e.op.name); found != rules->end())
    return found->second->write(e);
  if (e.op.expression)
    return writeElementwise(e);
  e.refuse("ONNX has no operator for operation '" + std::string(e.op.name) + "', and it is not composed of others");
}

Names writeProgram(Making &making, Graph &graph, const RecordedProgram &program, const Names &parameters,
                   Names &variables) {
  Names names(program.types.size());
  for (std::size_t i = 0; i < parameters.size(); ++i)
    names[program.parameters[i]] = parameters[i];
  for (const ProgramOperation &op : program.operations) {
    Names operands;
    for (ProgramValue value : op.operands)
      operands.push_back(names[value]);
    Emit e(making, graph, program, op, std::move(operands), variables);
    const Names made = write(e);
    for (std::size_t i = 0; i < op.num_results; ++i)
      names[op.first_result + i] = made[i];
  }
  Names results;
  for (ProgramValue value : program.results)
    results.push_back(names[value]);
  return results;
}

} // namespace calque::onnx
