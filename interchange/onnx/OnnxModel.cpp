#include "calque/onnx.h"

#include "onnx/Program.h"

#include "calque/call_site.h"

#include <algorithm>

namespace calque {

using onnx::Program;
using onnx::Value;

namespace {

Value valueOf(const OnnxValue &x) {
  if (!x.sequence)
    return x.tensor.defined() ? Value(x.tensor) : Value();
  std::vector<Value> values;
  for (const OnnxValue &each : *x.sequence)
    values.push_back(valueOf(each));
  return Value::ofSequence(std::move(values));
}
OnnxValue resultOf(const Value &x) {
  if (x.isTensor())
    return x.tensor();
  if (!x.isSequence())
    return {};
  std::vector<OnnxValue> values;
  for (const Value &each : x.sequence())
    values.push_back(resultOf(each));
  return values;
}

void checkInput(const OnnxPort &port, const Value &given, const std::string &file, SourceLocation where) {
  const onnx::ValueType::Kind kind = port.detail->kind;
  auto refuse = [&](const std::string &what) {
    throw SignatureError("input '" + port.name + "' of " + file + " is " + port.type + "; " + what + " was given",
                         where);
  };
  if (given.isNone() && kind != onnx::ValueType::Kind::Optional)
    refuse("nothing");
  if (kind == onnx::ValueType::Kind::Sequence && !given.isSequence())
    refuse("a tensor");
  if (!port.spec)
    return;
  if (given.isSequence())
    refuse("a sequence");
  const Tensor x = given.tensor();
  const Shape shape = x.shape(where);
  if (x.dtype(where) != port.spec->dtype() || (port.spec->has_rank() && !port.spec->shape().is_compatible_with(shape)))
    refuse(name_of(x.dtype(where)) + shape.str());
}

bool areTensors(const std::vector<OnnxPort> &ports) {
  return std::ranges::all_of(ports, [](const OnnxPort &port) { return port.spec.has_value(); });
}

} // namespace

const Program &OnnxModel::program(const SourceLocation &where) const {
  if (!program_)
    throw StateError("an empty OnnxModel: load_onnx() makes one", where);
  return *program_;
}

const std::vector<OnnxPort> &OnnxModel::inputs(SourceLocation where) const { return program(where).inputs; }
const std::vector<OnnxPort> &OnnxModel::outputs(SourceLocation where) const { return program(where).outputs; }
std::string OnnxModel::name(SourceLocation where) const { return program(where).model.graph->name; }
std::string OnnxModel::producer(SourceLocation where) const {
  const onnx::ModelFile &model = program(where).model;
  return model.producerVersion.empty() ? model.producer : model.producer + " " + model.producerVersion;
}
std::int64_t OnnxModel::opset(SourceLocation where) const {
  const onnx::Opsets &opsets = program(where).model.opsets;
  const auto found = opsets.find("");
  return found == opsets.end() ? 0 : found->second;
}
std::vector<std::string> OnnxModel::known_inputs(SourceLocation where) const {
  std::vector<std::string> names;
  for (const OnnxPort &input : program(where).inputs)
    if (program_->knownInputs.contains(input.name))
      names.push_back(input.name);
  return names;
}
const std::map<std::string, Variable> &OnnxModel::variables(SourceLocation where) const {
  return program(where).variables;
}
std::vector<Variable> OnnxModel::trainable_variables(SourceLocation where) const {
  std::vector<Variable> trainable;
  for (const auto &[name, variable] : program(where).variables)
    if (variable.trainable())
      trainable.push_back(variable);
  return trainable;
}

std::vector<OnnxValue> OnnxModel::run(const std::vector<OnnxValue> &inputs, SourceLocation line) const {
  const SourceLocation where = CallSite::resolve(line);
  const Program &program = this->program(where);
  if (inputs.size() != program.inputs.size())
    throw SignatureError(program.storage.name() + " has " + std::to_string(program.inputs.size()) + " inputs; " +
                             std::to_string(inputs.size()) + " were given",
                         where);
  std::vector<Value> given;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    given.push_back(valueOf(inputs[i]));
    checkInput(program.inputs[i], given.back(), program.storage.name(), where);
  }
  std::vector<OnnxValue> results;
  const std::vector<Value> values = program.run(std::move(given), where);
  const CallSite site(where);
  for (const Value &each : values)
    results.push_back(resultOf(each));
  return results;
}

std::vector<Tensor> OnnxModel::operator()(const std::vector<Tensor> &inputs, SourceLocation line) const {
  const SourceLocation where = CallSite::resolve(line);
  std::vector<Tensor> results;
  for (OnnxValue &each : run(std::vector<OnnxValue>(inputs.begin(), inputs.end()), where)) {
    if (!each.tensor.defined())
      throw StateError(program_->storage.name() + " has an output that is no tensor: run() gives it", where);
    results.push_back(std::move(each.tensor));
  }
  return results;
}

Tensor OnnxModel::operator()(const Operand &input) const {
  const SourceLocation where = CallSite::resolve(input.where());
  const Program &program = this->program(where);
  if (program.inputs.size() != 1 || program.outputs.size() != 1)
    throw SignatureError(program.storage.name() + " has " + std::to_string(program.inputs.size()) + " inputs and " +
                             std::to_string(program.outputs.size()) + " outputs: give and take them as a list",
                         where);
  const DType dtype = program.inputs[0].spec ? program.inputs[0].spec->dtype() : input.defaultDType();
  return (*this)(std::vector<Tensor>{input.toTensor(dtype)}, where)[0];
}

std::map<std::string, Tensor> OnnxModel::call(const std::map<std::string, Tensor> &inputs, SourceLocation line) const {
  const SourceLocation where = CallSite::resolve(line);
  const Program &program = this->program(where);
  std::vector<Tensor> given;
  for (const OnnxPort &port : program.inputs) {
    const auto found = inputs.find(port.name);
    if (found == inputs.end())
      throw SignatureError("input '" + port.name + "' of " + program.storage.name() + " was not given", where);
    given.push_back(found->second);
  }
  for (const auto &[name, x] : inputs)
    if (std::ranges::find(program.inputs, name, &OnnxPort::name) == program.inputs.end())
      throw SignatureError(program.storage.name() + " has no input '" + name + "'", where);
  std::map<std::string, Tensor> results;
  const std::vector<Tensor> all = (*this)(given, where);
  for (std::size_t i = 0; i < all.size(); ++i)
    results.emplace(program.outputs[i].name, all[i]);
  return results;
}

Function<std::vector<Tensor>(const std::vector<Tensor> &)> OnnxModel::function(FunctionOptions options,
                                                                               SourceLocation line) const {
  const SourceLocation where = CallSite::resolve(line);
  const Program &program = this->program(where);
  if (!areTensors(program.inputs) || !areTensors(program.outputs))
    throw StateError(program.storage.name() + " has sequences or optional values among its inputs or outputs, which a "
                                              "function can't take",
                     where);
  if (options.name.empty())
    options.name = program.model.graph->name;
  if (options.input_signature.empty())
    for (const OnnxPort &port : program.inputs)
      options.input_signature.push_back(*port.spec);
  if (options.argument_names.empty())
    options.argument_names = {"inputs"};
  return Function<std::vector<Tensor>(const std::vector<Tensor> &)>(
      [model = *this, where](const std::vector<Tensor> &inputs) { return model(inputs, where); }, std::move(options),
      where);
}

std::string OnnxModel::str(SourceLocation where) const {
  const Program &program = this->program(where);
  std::string text = program.model.graph->name + "\n";
  for (const OnnxPort &port : program.inputs)
    text += "  input '" + port.name + "': " + port.type + "\n";
  for (const OnnxPort &port : program.outputs)
    text += "  output '" + port.name + "': " + port.type + "\n";
  std::map<std::string, std::size_t> counts;
  for (const onnx::Node &node : program.model.graph->nodes)
    ++counts[node.domain.empty() ? node.op : node.domain + "." + node.op];
  text += "  operators:";
  for (const auto &[name, count] : counts)
    text += " " + name + (count > 1 ? " x" + std::to_string(count) : "");
  text += "\n  operator sets:";
  for (const auto &[domain, version] : program.model.opsets)
    text += " " + (domain.empty() ? "ai.onnx" : domain) + " " + std::to_string(version);
  text += "\n";
  for (const auto &[name, variable] : program.variables)
    text += "  variable '" + name + "': " + name_of(variable.dtype()) + variable.shape().str() +
            (variable.trainable() ? "" : ", not trained") + "\n";
  return text;
}

OnnxModel load_onnx(const std::string &path, OnnxOptions options, SourceLocation line) {
  const SourceLocation where = CallSite::resolve(line);
  OnnxModel model;
  model.program_ = std::make_shared<const Program>(path, std::move(options), where);
  return model;
}

OnnxValue load_onnx_value(const std::string &path, const OnnxPort &port, SourceLocation) {
  const onnx::Storage storage(path);
  const onnx::ValueType type = port.detail ? *port.detail : onnx::ValueType();
  auto make = [&](const auto &self, const onnx::DataValue &data) -> OnnxValue {
    if (data.tensor)
      return storage.make(*data.tensor);
    if (!data.sequence)
      return {};
    std::vector<OnnxValue> values;
    for (const onnx::DataValue &each : *data.sequence)
      values.push_back(self(self, each));
    return values;
  };
  return make(make, onnx::readValue(storage.bytes(), path, type));
}

std::vector<std::string> onnx_operators() {
  std::vector<std::string> lines;
  for (const onnx::Table &table : onnx::operatorTables())
    for (const onnx::Operator &each : table) {
      std::string line = (each.domain.empty() ? "ai.onnx" : std::string(each.domain)) + " " + std::string(each.name);
      for (std::uint8_t version : each.versions.list)
        if (version)
          line += " " + std::to_string(version);
      lines.push_back(std::move(line));
    }
  std::ranges::sort(lines);
  return lines;
}

} // namespace calque
