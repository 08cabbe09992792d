#include "calque/stablehlo.h"

#include "onnx/Tensors.h"
#include "stablehlo/Program.h"

#include "calque/call_site.h"
#include "calque/init_scope.h"

#include <algorithm>
#include <map>

namespace calque {

using stablehlo::Program;

namespace {

StableHloPort portOf(const stablehlo::Type &type, const std::string &noted, const char *what, std::size_t i,
                     const std::string &function, const SourceLocation &where) {
  const std::string name = noted.empty() ? std::string(what) + " " + std::to_string(i) : noted;
  if (!type.isTensor())
    throw StateError(std::string(what) + " " + std::to_string(i) + " of '" + function + "' has the type " + type.str() +
                         ", which is no tensor",
                     where);
  return {name, TensorSpec<>(*type.dtype, type.shape(), name)};
}

std::vector<StableHloPort> inputsOf(const stablehlo::Function &function, const SourceLocation &where) {
  std::vector<StableHloPort> all;
  for (std::size_t i = 0; i < function.body.types.size(); ++i)
    all.push_back(portOf(function.body.types[i], function.argumentNames[i], "argument", i, function.name, where));
  return all;
}
std::vector<StableHloPort> outputsOf(const stablehlo::Function &function, const SourceLocation &where) {
  std::vector<StableHloPort> all;
  for (std::size_t i = 0; i < function.results.size(); ++i)
    all.push_back(portOf(function.results[i], function.resultNames[i], "result", i, function.name, where));
  return all;
}

void count(const stablehlo::Region &region, std::map<std::string, std::size_t> &counts) {
  for (const stablehlo::Operation &each : region.operations) {
    ++counts[each.name];
    for (const stablehlo::Region &inner : each.regions)
      count(inner, counts);
  }
}

} // namespace

const Program &StableHlo::program(const SourceLocation &where) const {
  if (!program_)
    throw StateError("an empty StableHlo: load_stablehlo() makes one", where);
  return *program_;
}
const stablehlo::Function &StableHlo::find(const std::string &function, const SourceLocation &where) const {
  const Program &program = this->program(where);
  const stablehlo::Function *found = program.module.find(function);
  if (found && found->isPublic && found->hasBody)
    return *found;
  std::string names;
  for (const std::string &each : functions(where))
    names += (names.empty() ? "'" : ", '") + each + "'";
  throw LookupError(
      program.file + " has no public function '" + function + "'; it has " + (names.empty() ? "none" : names), where);
}

std::string StableHlo::name(SourceLocation where) const { return program(where).module.name; }
std::vector<std::string> StableHlo::functions(SourceLocation where) const {
  std::vector<std::string> names;
  for (const auto &each : program(where).module.functions)
    if (each->isPublic && each->hasBody)
      names.push_back(each->name);
  return names;
}
std::vector<StableHloPort> StableHlo::inputs(const std::string &function, SourceLocation where) const {
  return inputsOf(find(function, where), where);
}
std::vector<StableHloPort> StableHlo::outputs(const std::string &function, SourceLocation where) const {
  return outputsOf(find(function, where), where);
}

std::vector<Tensor> StableHlo::call(const std::string &name, const std::vector<Tensor> &inputs,
                                    SourceLocation line) const {
  const SourceLocation where = CallSite::resolve(line);
  const stablehlo::Function &function = find(name, where);
  const Program &program = *program_;
  const std::vector<StableHloPort> ports = inputsOf(function, where);
  if (inputs.size() != ports.size())
    throw SignatureError("'" + name + "' of " + program.file + " has " + std::to_string(ports.size()) + " arguments; " +
                             std::to_string(inputs.size()) + " were given",
                         where);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Shape shape = inputs[i].shape(where);
    if (inputs[i].dtype(where) != ports[i].spec.dtype() || !ports[i].spec.shape().is_compatible_with(shape))
      throw SignatureError("argument " + std::to_string(i) + " of '" + name + "' of " + program.file + " is " +
                               ports[i].spec.str() + "; " + name_of(inputs[i].dtype(where)) + shape.str() +
                               " was given",
                           where);
  }
  std::vector<Tensor> results;
  const auto made = program.run(function, std::vector<stablehlo::Value>(inputs.begin(), inputs.end()), where);
  const CallSite site(where);
  for (const stablehlo::Value &each : made) {
    if (!each.isTensor())
      throw StateError("'" + name + "' of " + program.file + " has a result that is no tensor", where);
    results.push_back(each.tensor());
  }
  return results;
}

std::vector<Tensor> StableHlo::operator()(const std::vector<Tensor> &inputs, SourceLocation where) const {
  return call("main", inputs, where);
}

Function<std::vector<Tensor>(const std::vector<Tensor> &)>
StableHlo::function(const std::string &name, FunctionOptions options, SourceLocation line) const {
  const SourceLocation where = CallSite::resolve(line);
  const stablehlo::Function &function = find(name, where);
  outputsOf(function, where); // refuses what is no tensor
  if (options.name.empty())
    options.name = name;
  if (options.input_signature.empty())
    for (const StableHloPort &port : inputsOf(function, where))
      options.input_signature.push_back(port.spec);
  if (options.argument_names.empty())
    options.argument_names = {"inputs"};
  return Function<std::vector<Tensor>(const std::vector<Tensor> &)>(
      [module = *this, name, where](const std::vector<Tensor> &inputs) { return module.call(name, inputs, where); },
      std::move(options), where);
}

std::string StableHlo::str(SourceLocation where) const {
  const Program &program = this->program(where);
  std::string text = program.module.name + "\n";
  std::map<std::string, std::size_t> counts;
  for (const auto &each : program.module.functions) {
    count(each->body, counts);
    if (!each->isPublic || !each->hasBody)
      continue;
    text += "  " + each->name + "(";
    for (std::size_t i = 0; i < each->body.types.size(); ++i)
      text += (i ? ", " : "") + each->body.types[i].str();
    text += ") -> (";
    for (std::size_t i = 0; i < each->results.size(); ++i)
      text += (i ? ", " : "") + each->results[i].str();
    text += ")\n";
  }
  text += "  operations:";
  for (const auto &[name, number] : counts)
    text += " " + name + (number > 1 ? " x" + std::to_string(number) : "");
  return text + "\n";
}

StableHlo read_stablehlo(std::string_view text, const std::string &name, SourceLocation line) {
  const SourceLocation where = CallSite::resolve(line);
  if (text.starts_with("ML\xEFR"))
    throw DataError(name + " is MLIR's bytecode; text is read", where);
  StableHlo made;
  const InitScope now; // constants are made here, not in a trace around
  made.program_ = std::make_shared<const Program>(stablehlo::readModule(text, name), name);
  return made;
}

StableHlo load_stablehlo(const std::string &path, SourceLocation line) {
  const SourceLocation where = CallSite::resolve(line);
  const onnx::MappedFile file(path, path);
  const auto bytes = file.bytes();
  return read_stablehlo({reinterpret_cast<const char *>(bytes.data()), bytes.size()}, path, where);
}

std::vector<std::string> stablehlo_operations() {
  std::vector<std::string> names;
  for (const stablehlo::Table &table : stablehlo::operatorTables())
    for (const stablehlo::Operator &each : table)
      names.emplace_back(each.name);
  std::ranges::sort(names);
  return names;
}

} // namespace calque
