// Saves functions to a file, and loads them: programs as bytes, weights as tensors, and signatures as JSON among the
// metadata.
#include "absl/strings/str_cat.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/Shape.h"
#include "frontend/native/Following.h"
#include "frontend/saving/SavedFunctions.h"
#include "frontend/saving/TensorFile.h"
#include "runtime/Printable.h"
#include "schema/ProgramBytes.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

namespace calque {
namespace detail {

using Json = nlohmann::ordered_json;
using schema::OpId;

namespace {

constexpr const char *kKind = "calque.kind", *kFunctions = "functions", *kDescription = "calque.functions";
constexpr int kVersion = 1;
constexpr const char *kKinds[] = {"tensor", "variable", "host", "count"}; // of SignaturePart, in order

//===-- Saving ----------------------------------------------------------------------------------===//

// The first operation of a kind, also in programs inside of operations; null if there is none.
const schema::RecordedOp *findOp(const schema::Recording &recording, OpId op) {
  for (const schema::RecordedOp &each : recording.ops()) {
    if (each.op == op)
      return &each;
    for (const schema::Attribute &attribute : recording.attributesOf(each))
      if (const auto *inner = std::get_if<schema::RecordingRef>(&attribute))
        if (const schema::RecordedOp *found = findOp(**inner, op))
          return found;
  }
  return nullptr;
}

Json sizesOf(const schema::TensorType &type) {
  Json sizes = Json::array();
  for (std::int64_t size : type.dims)
    sizes.push_back(size == schema::kOpenSize ? Json(nullptr) : Json(size));
  return sizes;
}

Json partsOf(const Signature &signature) {
  Json parts = Json::array();
  for (const SignaturePart &part : signature.parts) {
    Json saved = {{"kind", kKinds[static_cast<std::size_t>(part.kind)]}, {"path", part.path}};
    if (part.kind == SignaturePart::Kind::Tensor || part.kind == SignaturePart::Kind::Variable) {
      saved["dtype"] = name_of(part.type.dtype);
      saved["shape"] = sizesOf(part.type);
    }
    if (part.kind != SignaturePart::Kind::Tensor)
      saved["text"] = part.text;
    if (part.kind == SignaturePart::Kind::Host && !part.text.starts_with("string"))
      saved["bits"] = part.firstWord < signature.key.size() ? signature.key[part.firstWord] : 0;
    parts.push_back(std::move(saved));
  }
  return parts;
}

// For a loaded function, whose parts have no key.
Json partsOf(const std::vector<SavedPart> &saved) {
  Signature signature;
  for (const SavedPart &each : saved) {
    signature.parts.push_back(each.part);
    signature.parts.back().firstWord = signature.key.size();
    signature.key.push_back(each.bits);
  }
  return partsOf(signature);
}

class Saver {
public:
  explicit Saver(SourceLocation where) : where(where) {}

  void name(const std::string &name, const Variable &variable) {
    const std::shared_ptr<VariableState> &state = stateOf(variable, where);
    if (!variableNames.emplace(name, state).second)
      throw ValueError(absl::StrCat("save_functions: the name '", name, "' is given to two variables"), where);
    if (auto [before, isNew] = names.emplace(state.get(), name); !isNew)
      throw ValueError(
          absl::StrCat("save_functions: one variable is given the names '", before->second, "' and '", name, "'"),
          where);
  }

  void add(const std::string &name, const FunctionToSave &given) {
    for (const Json &other : functions)
      if (other["name"] == name)
        throw ValueError(absl::StrCat("save_functions: the name '", name, "' is given to two functions"), where);
    Json traces = Json::array();
    const std::shared_ptr<FunctionCore> &core = SavedAccess::functionOf(given);
    if (core && core->loaded) { // all traces that were loaded, called or not
      for (const SavedTrace &trace : core->loaded->traces)
        traces.push_back(this->trace(name, *trace.program, trace.signature, partsOf(trace.results), trace.captures,
                                     trace.variables));
    } else {
      for (const std::shared_ptr<const FunctionTrace> &concrete : tracesOf(name, given))
        traces.push_back(trace(name, *concrete));
    }
    functions.push_back({{"name", name}, {"traces", std::move(traces)}});
  }

  void write(const std::string &path) {
    Json variables = Json::array();
    // Locks all variables at once, so that no call changes some of them in between.
    std::vector<std::shared_ptr<VariableState>> states;
    for (const auto &[name, state] : variableNames)
      states.push_back(state);
    std::sort(states.begin(), states.end());
    states.erase(std::unique(states.begin(), states.end()), states.end());
    {
      std::vector<std::shared_lock<std::shared_mutex>> locks;
      for (const std::shared_ptr<VariableState> &state : states)
        locks.emplace_back(state->mutex);
      for (const auto &[name, state] : variableNames) {
        entries.push_back(TensorEntry::of(absl::StrCat("variables/", name), state->value, where));
        variables.push_back({{"name", name}, {"trainable", state->trainable}});
      }
    }
    for (std::size_t i = 0; i < programs.size(); ++i)
      entries.push_back(TensorEntry::ofBytes(absl::StrCat("programs/", i), programs[i]));
    Json description = {{"version", kVersion}, {"functions", functions}, {"variables", std::move(variables)}};
    std::string text;
    try {
      text = description.dump();
    } catch (const Json::exception &) {
      throw ValueError("save_functions: a name is not UTF-8", where);
    }
    TensorFile::write(path, std::move(entries), {{kKind, kFunctions}, {kDescription, std::move(text)}}, where);
  }

private:
  std::vector<std::shared_ptr<const FunctionTrace>> tracesOf(const std::string &name, const FunctionToSave &given) {
    if (const std::shared_ptr<ConcreteCore> &core = SavedAccess::concreteOf(given))
      return {core->only(where).shareLatest()};
    const std::shared_ptr<FunctionCore> &core = SavedAccess::functionOf(given);
    if (!core)
      throwEmptyHandle("function", where);
    std::vector<std::shared_ptr<const FunctionTrace>> traces = core->all();
    if (traces.empty())
      throw StateError(absl::StrCat("save_functions: function '", name,
                                    "' has no trace yet: call it first, or save what get_concrete_function gives"),
                       where);
    return traces;
  }

  Json trace(const std::string &name, const FunctionTrace &concrete) {
    if (!concrete.key.empty() && concrete.key[0]) // the mode in which it was traced
      throw ValueError(absl::StrCat("save_functions: function '", name,
                                    "' was traced within a GradientOverride, which no file has: clear() its traces, or "
                                    "save a concrete function"),
                       where);
    if (!concrete.identical.empty())
      throw ValueError(absl::StrCat("save_functions: in function '", name,
                                    "' a variable is both an argument and captured, which can't be saved"),
                       where);
    return trace(name, concrete.recording, concrete.signature, partsOf(concrete.results), concrete.captures,
                 concrete.variables);
  }

  Json trace(const std::string &name, const schema::Recording &recording, const Signature &signature, Json results,
             std::span<const Tensor> tensors, std::span<const BoundVariable> bindings) {
    if (const schema::RecordedOp *call = findOp(recording, OpId::HostCall))
      throw ValueError(absl::StrCat("save_functions: function '", name, "' calls the host at ", call->line.str(),
                                    ", and C++ of this program can't be saved"),
                       where);
    Json captures = Json::array(), variables = Json::array();
    for (const Tensor &capture : tensors) {
      auto [found, isNew] = numbers.try_emplace(capture.impl().get(), numbers.size());
      if (isNew)
        entries.push_back(TensorEntry::of(absl::StrCat("captures/", found->second), capture, where));
      captures.push_back(found->second);
    }
    for (const BoundVariable &bound : bindings) {
      if (bound.argument >= 0)
        variables.push_back(bound.argument);
      else
        variables.push_back(nameOf(bound.captured));
    }
    runtime::ByteWriter bytes;
    schema::writeProgram(recording, bytes);
    programs.push_back(std::move(bytes.bytes));
    return {{"program", programs.size() - 1},
            {"arguments", partsOf(signature)},
            {"results", std::move(results)},
            {"captures", std::move(captures)},
            {"variables", std::move(variables)}};
  }

  const std::string &nameOf(const std::shared_ptr<VariableState> &state) {
    auto found = names.find(state.get());
    if (found != names.end())
      return found->second;
    const std::string own = state->name.empty() ? "variable" : state->name;
    std::string name = own;
    for (std::size_t &number = numbersOfNames[own]; !variableNames.emplace(name, state).second;)
      name = absl::StrCat(own, "_", ++number);
    return names.emplace(state.get(), std::move(name)).first->second;
  }

  const SourceLocation where;
  Json functions = Json::array();
  std::vector<TensorEntry> entries;
  std::vector<std::vector<std::byte>> programs;
  std::map<const TensorImpl *, std::size_t> numbers; // of captures
  std::map<std::string, std::shared_ptr<VariableState>> variableNames;
  std::map<const VariableState *, std::string> names;
  std::map<std::string, std::size_t> numbersOfNames; // the last number behind a name of several variables
};

//===-- Loading ---------------------------------------------------------------------------------===//

// Keeps a text of an operation's line, because errors may show it at any time.
const char *keptText(const std::string &text) { return interned(runtime::printable(text)); }

class Loader {
public:
  Loader(const std::string &path, SourceLocation where)
      : where(where), file(TensorFile::read(path, where, TensorFile::Digest::Required)) {}

  std::shared_ptr<const SavedFile> load() {
    const TensorFile::Metadata &metadata = file.metadata();
    auto kind = metadata.find(kKind), text = metadata.find(kDescription);
    if (kind == metadata.end() || kind->second != kFunctions || text == metadata.end())
      file.fail("it is no file of functions", where);
    if (isTooDeep(text->second))
      file.fail("its description of functions is damaged", where);
    requireMemoryFor(text->second);
    try {
      read(Json::parse(text->second, [this, names = std::vector<std::set<std::string>>()](
                                         int, Json::parse_event_t event, Json &parsed) mutable {
        checkNames(event, parsed, names);
        return true;
      }));
    } catch (const Json::exception &) {
      file.fail("its description of functions is damaged", where);
    }
    return made;
  }

private:
  // Throws std::bad_alloc unless there is memory for the value that the parser makes from a text. Destroying the value
  // takes more memory, and the process ends if there is none. The two letters "0," become 16 bytes in a list, a list is
  // copied when it grows, and destroying it takes as many bytes again.
  static void requireMemoryFor(const std::string &text) {
    constexpr std::size_t kMostForALetter = 40;
    const auto memory = std::make_unique_for_overwrite<char[]>(kMostForALetter * text.size() + 1);
    *static_cast<volatile char *>(memory.get()) = 0; // or the compiler leaves the allocation out
  }
  // Whether lists and objects nest too deeply for the JSON parser, which handles nesting by recursion.
  static bool isTooDeep(const std::string &text) {
    int depth = 0;
    bool isText = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (isText && text[i] == '\\')
        ++i;
      else if (text[i] == '"')
        isText = !isText;
      else if (!isText)
        depth += (text[i] == '[' || text[i] == '{') - (text[i] == ']' || text[i] == '}');
      if (depth > 64)
        return true;
    }
    return false;
  }
  // DataError if an object has a name twice, because the parser would take one of the two, or if it has more names than
  // any object of such a file.
  void checkNames(Json::parse_event_t event, const Json &parsed, std::vector<std::set<std::string>> &names) {
    constexpr std::size_t kMostNames = 16;
    if (event == Json::parse_event_t::object_start) {
      names.emplace_back();
    } else if (event == Json::parse_event_t::object_end) {
      names.pop_back();
    } else if (event == Json::parse_event_t::key) {
      const auto &name = parsed.get_ref<const std::string &>();
      if (!names.back().insert(name).second)
        file.fail(absl::StrCat("its description of functions has the name '", name, "' twice in one object"), where);
      if (names.back().size() > kMostNames)
        file.fail("its description of functions is damaged", where);
    }
  }
  // DataError unless a value is of the wanted kind. The parser's own functions convert bools to numbers, and fractions
  // to integers.
  void require(bool isOfKind) {
    if (!isOfKind)
      file.fail("its description of functions is damaged", where);
  }
  const Json &list(const Json &found) {
    require(found.is_array());
    return found;
  }
  const Json &list(const Json &object, const char *name) { return list(object.at(name)); }
  std::uint64_t number(const Json &found) {
    require(found.is_number_unsigned());
    return found.get<std::uint64_t>();
  }
  bool flag(const Json &found) {
    require(found.is_boolean());
    return found.get<bool>();
  }

  void read(const Json &description) {
    if (std::uint64_t version = number(description.at("version")); version < 1 || version > kVersion)
      file.fail(absl::StrCat("it is of version ", version, ", and this Calque reads versions up to ", kVersion), where);
    made->path = file.path();
    for (const Json &each : list(description, "variables")) {
      const auto &name = each.at("name").get_ref<const std::string &>();
      Tensor value = tensor(absl::StrCat("variables/", name));
      Variable variable(Operand(value, where), {.name = name, .trainable = flag(each.at("trainable"))});
      if (!made->variables.emplace(name, std::move(variable)).second)
        file.fail(absl::StrCat("variable '", name, "' is there twice"), where);
    }
    std::set<std::string> names;
    for (const Json &each : list(description, "functions")) {
      auto function = std::make_shared<SavedFunction>();
      function->name = each.at("name").get<std::string>();
      if (!names.insert(function->name).second)
        file.fail(absl::StrCat("function '", function->name, "' is there twice"), where);
      for (const Json &saved : list(each, "traces"))
        function->traces.push_back(trace(function->name, saved));
      if (function->traces.empty())
        file.fail(absl::StrCat("function '", function->name, "' has no trace"), where);
      auto numOpen = [](const SavedTrace &trace) {
        std::size_t open = 0;
        for (const SignaturePart &part : trace.signature.parts)
          open += static_cast<std::size_t>(std::ranges::count(part.type.dims, schema::kOpenSize));
        return open;
      };
      std::ranges::stable_sort(function->traces, {}, numOpen);
      made->functions.push_back(std::move(function));
    }
  }

  Tensor tensor(const std::string &name) {
    const TensorEntry *entry = file.find(name);
    if (!entry)
      file.fail(absl::StrCat("'", name, "' is missing"), where);
    return file.tensor(*entry, where);
  }

  // All traces that have captured a tensor share it, so that it is one tensor if they are saved again.
  const Tensor &capture(std::uint64_t number) {
    auto found = captures.find(number);
    if (found == captures.end())
      found = captures.emplace(number, tensor(absl::StrCat("captures/", number))).first;
    return found->second;
  }

  SavedTrace trace(const std::string &name, const Json &saved) {
    SavedTrace trace;
    const TensorEntry *entry = file.find(absl::StrCat("programs/", number(saved.at("program"))));
    if (!entry)
      file.fail(absl::StrCat("a program of function '", name, "' is missing"), where);
    schema::ReadProgram program = schema::readProgram(entry->bytes, keptText, runtime::printable);
    if (!program.program)
      file.fail(absl::StrCat("a program of function '", name, "': ", program.fault), where);
    trace.program = program.program;
    for (const SavedPart &part : partsOf(saved.at("arguments")))
      trace.signature.parts.push_back(part.part);
    trace.results = partsOf(saved.at("results"));
    for (const Json &each : list(saved, "captures"))
      trace.captures.push_back(capture(number(each)));
    for (const Json &each : list(saved, "variables")) {
      if (each.is_number_unsigned()) {
        constexpr std::uint64_t most = std::numeric_limits<std::ptrdiff_t>::max();
        trace.variables.push_back({static_cast<std::ptrdiff_t>(std::min(number(each), most)), nullptr});
        continue;
      }
      auto found = made->variables.find(each.get_ref<const std::string &>());
      if (found == made->variables.end())
        file.fail(absl::StrCat("function '", name, "' has a variable that the file has not"), where);
      trace.variables.push_back({-1, found->second.state()});
    }
    if (const std::string fault = check(trace); !fault.empty())
      file.fail(absl::StrCat("function '", name, "': ", fault), where);
    return trace;
  }

  std::vector<SavedPart> partsOf(const Json &saved) {
    std::vector<SavedPart> parts;
    for (const Json &each : list(saved)) {
      SavedPart made;
      const auto &kind = each.at("kind").get_ref<const std::string &>();
      auto found = std::ranges::find(kKinds, std::string_view(kind));
      if (found == std::end(kKinds))
        file.fail(absl::StrCat("a part of a signature is a '", kind, "'"), where);
      made.part.kind = static_cast<SignaturePart::Kind>(found - std::begin(kKinds));
      made.part.path = each.at("path").get<std::string>();
      bool isTensor = made.part.kind == SignaturePart::Kind::Tensor;
      if (isTensor || made.part.kind == SignaturePart::Kind::Variable)
        made.part.type = type(each);
      made.part.text = isTensor ? typeText(made.part.type, false) : each.at("text").get<std::string>();
      if (each.contains("bits"))
        made.bits = number(each.at("bits"));
      parts.push_back(std::move(made));
    }
    return parts;
  }

  schema::TensorType type(const Json &saved) {
    schema::TensorType type;
    const auto &name = saved.at("dtype").get_ref<const std::string &>();
    auto info = std::ranges::find(kDTypes, name, &DTypeInfo::name);
    if (info == std::end(kDTypes))
      file.fail(absl::StrCat("element type '", name, "' is not known"), where);
    type.dtype = info->dtype;
    for (const Json &size : list(saved, "shape")) {
      require(size.is_null() || size.is_number_integer());
      if (size.is_number_unsigned() ? number(size) > INT64_MAX : size.is_number_integer())
        file.fail(absl::StrCat("a size is ", size.dump()), where);
      type.dims.push_back(size.is_null() ? schema::kOpenSize : static_cast<std::int64_t>(number(size)));
    }
    return type;
  }

  // Returns what does not fit together; empty if all fits.
  static std::string check(const SavedTrace &trace) {
    const schema::Recording &program = *trace.program;
    if (findOp(program, OpId::HostCall))
      return "it calls the host";
    if (trace.captures.size() > program.parameters.size())
      return "it has more captures than its program has parameters";
    std::size_t next = 0, numVariables = 0, numResults = 0;
    std::vector<const schema::TensorType *> variables;
    for (const SignaturePart &part : trace.signature.parts) {
      if (part.kind == SignaturePart::Kind::Variable)
        variables.push_back(&part.type);
      if (part.kind != SignaturePart::Kind::Tensor)
        continue;
      if (next >= trace.numArguments() || program.typeOf(program.parameters[next]) != part.type)
        return absl::StrCat(part.path, " is not what its program takes");
      ++next;
    }
    if (next != trace.numArguments())
      return "its program takes other arguments";
    for (const Tensor &capture : trace.captures)
      if (program.typeOf(program.parameters[next++]) != *capture.impl()->type)
        return "a captured tensor is not what its program takes";
    if (trace.variables.size() != program.variables.size())
      return "its program has other variables";
    for (const BoundVariable &bound : trace.variables) {
      if (bound.argument >= static_cast<std::ptrdiff_t>(variables.size()))
        return absl::StrCat("it has no variable ", bound.argument, " among its arguments");
      const schema::TensorType &type =
          bound.argument >= 0 ? *variables[static_cast<std::size_t>(bound.argument)] : *bound.captured->type;
      if (type != program.variables[numVariables++].type)
        return "a variable is of another type than in its program";
    }
    for (const SavedPart &result : trace.results)
      if (result.part.kind == SignaturePart::Kind::Tensor)
        if (numResults >= program.results.size() || program.typeOf(program.results[numResults++]) != result.part.type)
          return absl::StrCat(result.part.path, " is not what its program gives");
    return numResults == program.results.size() ? "" : "its program gives other results";
  }

  const SourceLocation where;
  const TensorFile file;
  std::map<std::uint64_t, Tensor> captures;
  std::shared_ptr<SavedFile> made = std::make_shared<SavedFile>();
};

} // namespace
} // namespace detail

void save_functions(const std::string &path, const std::vector<std::pair<std::string, FunctionToSave>> &functions,
                    SaveFunctionsOptions options, SourceLocation where) {
  where = detail::userLine(where);
  if (detail::currentTrace())
    throw StateError("save_functions is called while a function is traced: its variables have no values then", where);
  if (functions.empty())
    throw ValueError("save_functions: there is no function to save", where);
  detail::Saver saver(where);
  for (const auto &[name, variable] : options.variables)
    saver.name(name, variable);
  for (const auto &[name, function] : functions)
    saver.add(name, function);
  saver.write(path);
}

SavedFunctions load_functions(const std::string &path, SourceLocation where) {
  where = detail::userLine(where);
  SavedFunctions functions;
  functions.file_ = detail::readWithinMemory(path, where, [&] { return detail::Loader(path, where).load(); });
  return functions;
}

} // namespace calque
