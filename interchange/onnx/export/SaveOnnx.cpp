// Functions as files of ONNX.
#include "onnx/export/Emit.h"

#include "calque/call_site.h"
#include "calque/error.h"
#include "calque/file_writer.h"
#include "calque/onnx_export.h"
#include "calque/version.h"

#include <algorithm>
#include <filesystem>
#include <set>

namespace calque {

using namespace onnx;

namespace {

// The version of the format that came with an operator set.
std::int64_t formatOf(std::int64_t opset) {
  return opset <= 18 ? 8 : opset <= 20 ? 9 : opset <= 22 ? 10 : opset <= 23 ? 11 : 12;
}

// "x" of "argument 0 'x'", "x_1" of "argument 0 'x'[1]", "logits" of "result["logits"]".
std::string shortName(const std::string &path) {
  std::string base = path.substr(0, path.find_first_of("[.")), rest = path.substr(base.size());
  if (const std::size_t open = base.find('\''), close = base.rfind('\''); open != std::string::npos && close > open)
    base = base.substr(open + 1, close - open - 1);
  else if (base.starts_with("argument "))
    base = "input_" + base.substr(9);
  std::string inner;
  for (char c : rest)
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_')
      inner += c;
    else if (!inner.empty() && inner.back() != '_')
      inner += '_';
  while (inner.ends_with('_'))
    inner.pop_back();
  if (inner.empty())
    return base;
  const bool isNumber = std::isdigit(static_cast<unsigned char>(inner[0]));
  return base == "result" && !isNumber ? inner : base + "_" + inner;
}

void rename(Graph &graph, const std::map<std::string, std::string> &names) {
  auto change = [&](std::string &name) {
    if (const auto found = names.find(name); found != names.end())
      name = found->second;
  };
  for (Node &node : graph.nodes) {
    std::ranges::for_each(node.inputs, change);
    std::ranges::for_each(node.outputs, change);
    for (Attribute &each : node.attributes)
      if (each.graph)
        rename(*each.graph, names);
  }
}

class Exporting {
public:
  Exporting(const FunctionProgram &function, const OnnxExportOptions &options, const SourceLocation &where)
      : function_(function), options_(options), where_(where), making_(options.opset, options.leave_out_effects) {}

  ModelFile &make() {
    ModelFile &model = making_.model;
    model.ir = formatOf(options_.opset);
    model.producer = "calque";
    model.producerVersion = CALQUE_VERSION;
    model.doc = options_.description;
    model.opsets[""] = options_.opset;
    for (const auto &entry : options_.metadata)
      model.metadata.push_back(entry);
    model.graph.emplace();
    Graph &graph = *model.graph;
    graph.name = making_.fresh(function_.name.empty() ? "function" : function_.name);
    const RecordedProgram &program = *function_.program;

    const Names inputs = named(options_.inputs, function_.arguments, "inputs");
    const Names outputs = named(options_.outputs, function_.results, "outputs");
    Names parameters;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      parameters.push_back(input(graph, inputs[i], program.types[program.parameters[i]], function_.arguments[i]));
    for (std::size_t i = 0; i < function_.captures.size(); ++i) {
      const std::string name = "capture_" + std::to_string(i);
      requireElements(program.types[program.parameters[inputs.size() + i]], name);
      parameters.push_back(making_.constant(function_.captures[i], making_.fresh(name)));
    }
    const Names before = variables(graph, program);
    Names now = before;

    Names results = writeProgram(making_, graph, program, parameters, now);
    std::vector<ProgramType> types;
    for (ProgramValue value : program.results)
      types.push_back(program.types[value]);
    results.resize(outputs.size());
    types.resize(outputs.size());
    Names names = outputs;
    for (std::size_t i = 0; i < now.size(); ++i)
      if (isAssigned_[i]) {
        results.push_back(now[i]);
        types.push_back(function_.variables[i].type);
        names.push_back("new_" + before[i]);
      }
    give(graph, results, types, names);
    return model;
  }

private:
  [[noreturn]] void refuse(const std::string &message) const {
    std::string text = message;
    text.insert(0, "save_onnx: ");
    throw ValueError(text, where_);
  }

  Names named(const Names &given, const Names &paths, const char *what) {
    if (!given.empty() && given.size() != paths.size())
      refuse("the options name " + std::to_string(given.size()) + " " + what + ", and function '" + function_.name +
             "' has " + std::to_string(paths.size()));
    Names names;
    std::set<std::string> seen;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      std::string name = given.empty() ? shortName(paths[i]) : given[i];
      if (!given.empty() && name.empty())
        refuse("a name among the " + std::string(what) + " is empty");
      if (!given.empty() && !seen.insert(name).second)
        refuse("the name '" + name + "' is given to two of the " + what);
      names.push_back(std::move(name));
    }
    return names;
  }

  void requireElements(const ProgramType &type, const std::string &path) const {
    if (!type.dtype || !numberOf(*type.dtype))
      refuse(path + " of function '" + function_.name + "' is " + type.str() +
             ", an element type that the operators of ONNX do not take");
  }

  std::string input(Graph &graph, const std::string &wanted, const ProgramType &type, const std::string &path) {
    requireElements(type, path);
    const std::string name = making_.fresh(wanted);
    graph.inputs.push_back(infoOf(name, type, name));
    return name;
  }

  // Variables are initialisers. Those that the program assigns, and those that are arguments, are inputs.
  Names variables(Graph &graph, const RecordedProgram &program) {
    isAssigned_.assign(function_.variables.size(), false);
    for (const ProgramOperation &op : program.operations)
      if (op.name == "variable_assign")
        isAssigned_[static_cast<std::size_t>(op.attribute<std::int64_t>("variable"))] = true;
    Names names;
    for (std::size_t i = 0; i < function_.variables.size(); ++i) {
      const ProgramVariable &each = function_.variables[i];
      const std::string wanted = each.name.empty() ? "variable" : each.name;
      if (isAssigned_[i] || !each.variable) {
        names.push_back(input(graph, wanted, each.type, "variable '" + wanted + "'"));
      } else {
        requireElements(each.type, "variable '" + wanted + "'");
        names.push_back(making_.fresh(wanted));
      }
      if (each.variable)
        making_.constant(each.variable->value(where_), names.back());
    }
    return names;
  }

  // Gives the results their names: to what makes them, or to an Identity if that is none of the graph's nodes.
  void give(Graph &graph, const Names &results, const std::vector<ProgramType> &types, const Names &names) {
    std::set<std::string> made;
    for (const Node &node : graph.nodes)
      made.insert(node.outputs.begin(), node.outputs.end());
    std::map<std::string, std::string> renamed;
    for (std::size_t i = 0; i < results.size(); ++i) {
      const std::string name = making_.fresh(names[i]);
      if (!options_.outputs.empty() && i < options_.outputs.size() && name != names[i])
        refuse("the name '" + names[i] + "' of an output is that of an input, a variable or the function");
      if (made.contains(results[i]) && renamed.emplace(results[i], name).second) {
        graph.outputs.push_back(infoOf(name, types[i], name));
        continue;
      }
      Node node;
      node.op = "Identity";
      node.name = name;
      node.inputs = {results[i]};
      node.outputs = {name};
      graph.nodes.push_back(std::move(node));
      graph.outputs.push_back(infoOf(name, types[i], name));
    }
    rename(graph, renamed);
  }

  const FunctionProgram &function_;
  const OnnxExportOptions &options_;
  const SourceLocation where_;
  Making making_;
  std::vector<bool> isAssigned_;
};

// Tensors of some size go to a file beside the model's, each at a multiple of the page size, so that it can be mapped.
struct ExternalData {
  static constexpr std::size_t kLeast = 1024, kAlignment = 4096;

  ExternalData(ModelFile &model, const std::string &location) {
    std::uint64_t offset = 0;
    for (TensorData &data : model.graph->initializers) {
      if (data.raw->size() < kLeast)
        continue;
      offset = (offset + kAlignment - 1) / kAlignment * kAlignment;
      parts.emplace_back(offset, *data.raw);
      data.isExternal = true;
      data.external = {
          {"location", location}, {"offset", std::to_string(offset)}, {"length", std::to_string(data.raw->size())}};
      offset += data.raw->size();
      data.raw.reset();
    }
  }

  void write(detail::FileWriter &file) const {
    const std::string zeros(kAlignment, '\0');
    std::uint64_t written = 0;
    for (const auto &[offset, bytes] : parts) {
      file.write(zeros.data(), offset - written);
      file.write(bytes.data(), bytes.size());
      written = offset + bytes.size();
    }
  }

  std::vector<std::pair<std::uint64_t, Bytes>> parts;
};

} // namespace

void save_onnx(const std::string &path, const FunctionToSave &function, OnnxExportOptions options,
               SourceLocation line) {
  const SourceLocation where = CallSite::resolve(line);
  CallSite site(where);
  if (options.opset < kFirstOnnxOpset || options.opset > kLastOnnxOpset)
    throw ValueError("save_onnx: operator set " + std::to_string(options.opset) + " is none of those from " +
                         std::to_string(kFirstOnnxOpset) + " to " + std::to_string(kLastOnnxOpset) +
                         " that models are written with",
                     where);
  detail::requirePath(path, where);
  const FunctionProgram program = program_of(function, where);
  Exporting exporting(program, options, where);
  ModelFile &model = exporting.make();
  // What Protocol Buffers allow a message.
  constexpr std::uint64_t kMost = (std::uint64_t(1) << 31) - 1;
  bool external = options.weights == OnnxStorage::External;
  if (!external && sizeOfModel(model) > kMost) {
    if (options.weights == OnnxStorage::Inside)
      throw ValueError("save_onnx: the model has " + std::to_string(sizeOfModel(model)) +
                           " bytes, and a file of ONNX holds less than 2^31: its weights can be in a file beside it, "
                           "with {.weights = OnnxStorage::External}",
                       where);
    external = true;
  }
  // Both files are complete before one of them takes the place of an older one.
  std::optional<detail::FileWriter> beside;
  if (external) {
    const std::string data = path + ".data";
    const ExternalData parts(model, std::filesystem::path(data).filename());
    parts.write(beside.emplace(data, where));
  }
  detail::FileWriter file(path, where);
  writeModel(model, [&](const void *bytes, std::size_t size) { file.write(bytes, size); });
  if (beside)
    beside->finish();
  file.finish();
}

} // namespace calque
