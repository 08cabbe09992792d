// Functions as the text of modules of StableHLO.
#include "stablehlo/export/Emit.h"

#include "calque/call_site.h"
#include "calque/error.h"
#include "calque/file_writer.h"
#include "calque/stablehlo_export.h"

#include <algorithm>
#include <set>

namespace calque {

using namespace stablehlo;

namespace {

// "x[1]" of "argument 0 'x'[1]"; what has no name in quotes stays: "argument 0", "result["logits"]".
std::string shortName(const std::string &path) {
  const std::size_t open = path.find('\''), close = path.find('\'', open + 1);
  if (!path.starts_with("argument ") || open == std::string::npos || close == std::string::npos)
    return path;
  return path.substr(open + 1, close - open - 1) + path.substr(close + 1);
}

// The name of a module or function: what may stand behind an @ without quotes.
std::string symbolOf(const std::string &name) {
  std::string made;
  for (char c : name)
    made += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return made.empty() || std::isdigit(static_cast<unsigned char>(made[0])) ? "f" + made : made;
}

// A type of which pairs are the memory, as that of complex numbers.
std::string attributesOf(const char *key, const std::string &name) {
  return " {" + std::string(key) + " = " + quoted(name) + "}";
}

class Exporting {
public:
  Exporting(FunctionProgram function, const StableHloExportOptions &options, const SourceLocation &where)
      : function_(std::move(function)), options_(options), where_(where) {
    making_.usesChlo = options.chlo;
    making_.dropsEffects = options.leave_out_effects;
    making_.writesLocations = options.locations;
    isAssigned_.assign(function_.variables.size(), false);
    for (const ProgramOperation &op : function_.program->operations)
      if (op.name == "variable_assign")
        isAssigned_[static_cast<std::size_t>(op.attribute<std::int64_t>("variable"))] = true;
  }

  bool isArgument(std::size_t variable) const {
    return options_.variables == StableHloVariables::Arguments || isAssigned_[variable] ||
           !function_.variables[variable].variable;
  }

  std::vector<Variable> variables() const {
    std::vector<Variable> all;
    for (std::size_t i : inOrder())
      if (isArgument(i) && function_.variables[i].variable)
        all.push_back(*function_.variables[i].variable);
    return all;
  }

  void make() {
    const RecordedProgram &program = *function_.program;
    making_.owners.push_back(function_.program);
    const std::vector<std::string> inputs = named(options_.inputs, function_.arguments, "inputs");
    const std::vector<std::string> outputs = named(options_.outputs, function_.results, "outputs");
    // Bodies of rules have no operation of the program's here.
    static const ProgramOperation none{};
    Values now;
    Emit e(making_, main_, program, none, none, {}, now);

    now.resize(function_.variables.size());
    for (std::size_t i : inOrder()) {
      const ProgramVariable &each = function_.variables[i];
      now[i] = isArgument(i) ? argument(each.type, each.name.empty() ? "variable" : each.name)
                             : constant(e, each.variable->value(where_), each.type);
    }
    Values parameters;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      parameters.push_back(argument(program.types[program.parameters[i]], inputs[i]));
    for (std::size_t i = 0; i < function_.captures.size(); ++i)
      parameters.push_back(constant(e, function_.captures[i], program.types[program.parameters[inputs.size() + i]]));

    Values results = writeProgram(making_, main_, program, parameters, now);
    results.resize(outputs.size());
    std::vector<std::string> names = outputs;
    for (std::size_t i = 0; i < now.size(); ++i)
      if (isAssigned_[i]) {
        results.push_back(now[i]);
        names.push_back("new_" + (function_.variables[i].name.empty() ? "variable" : function_.variables[i].name));
      }
    std::string types, values, plain;
    for (std::size_t i = 0; i < results.size(); ++i) {
      const std::string type = textOf(results[i].type);
      types += (i ? ", " : "") + type + attributesOf("jax.result_info", names[i]);
      plain += (i ? ", " : "") + type;
      values += (i ? ", " : "") + results[i].name;
    }
    main_.head = "  func.func public @main(" + arguments_ + ") -> (" + types + ") {\n";
    main_.lines += results.empty() ? std::string("    return\n") : "    return " + values + " : " + plain + "\n";
  }

  void write(const ConstantText::Write &write) const {
    write("module @" + symbolOf(function_.name.empty() ? "function" : function_.name) +
          " attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {\n");
    writeFunction(main_, write);
    for (const auto &each : making_.functions)
      writeFunction(*each, write);
    write("}\n");
  }

private:
  // The variables that are assigned, whose new values are results in this order, and then the others.
  std::vector<std::size_t> inOrder() const {
    std::vector<std::size_t> order;
    for (bool isAssigned : {true, false})
      for (std::size_t i = 0; i < isAssigned_.size(); ++i)
        if (isAssigned_[i] == isAssigned)
          order.push_back(i);
    return order;
  }

  static void writeFunction(const FunctionText &text, const ConstantText::Write &write) {
    write(text.head);
    for (const ConstantText &each : text.constants)
      each.write(write);
    write(text.lines);
    write("  }\n");
  }

  [[noreturn]] void refuse(const std::string &message) const {
    std::string text = message;
    text.insert(0, "save_stablehlo: ");
    throw ValueError(text, where_);
  }

  Written argument(const ProgramType &type, const std::string &name) {
    const Written made{"%arg" + std::to_string(numArguments_++), type};
    arguments_ +=
        (arguments_.empty() ? "" : ", ") + made.name + ": " + textOf(type) + attributesOf("jax.arg_info", name);
    return made;
  }
  // Complex numbers are pairs in memory, and in programs.
  Written constant(Emit &e, const Tensor &x, const ProgramType &type) {
    return e.constant(type, making_.tensors.emplace_back(x).bytes(), false);
  }

  std::vector<std::string> named(const std::vector<std::string> &given, const std::vector<std::string> &paths,
                                 const char *what) const {
    if (!given.empty() && given.size() != paths.size())
      refuse("the options name " + std::to_string(given.size()) + " " + what + ", and function '" + function_.name +
             "' has " + std::to_string(paths.size()));
    std::vector<std::string> names;
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

  const FunctionProgram function_;
  const StableHloExportOptions &options_;
  const SourceLocation where_;
  Making making_;
  FunctionText main_;
  std::string arguments_;
  std::size_t numArguments_ = 0;
  std::vector<bool> isAssigned_;
};

} // namespace

std::string stablehlo_text(const FunctionToSave &function, StableHloExportOptions options, SourceLocation line) {
  const SourceLocation where = CallSite::resolve(line);
  const CallSite site(where);
  Exporting exporting(program_of(function, where), options, where);
  exporting.make();
  std::string text;
  exporting.write([&](std::string_view part) { text += part; });
  return text;
}

void save_stablehlo(const std::string &path, const FunctionToSave &function, StableHloExportOptions options,
                    SourceLocation line) {
  const SourceLocation where = CallSite::resolve(line);
  const CallSite site(where);
  detail::requirePath(path, where);
  Exporting exporting(program_of(function, where), options, where);
  exporting.make();
  detail::FileWriter file(path, where);
  exporting.write([&](std::string_view part) { file.write(part.data(), part.size()); });
  file.finish();
}

std::vector<Variable> stablehlo_variables(const FunctionToSave &function, StableHloExportOptions options,
                                          SourceLocation line) {
  const SourceLocation where = CallSite::resolve(line);
  return Exporting(program_of(function, where), options, where).variables();
}

} // namespace calque
