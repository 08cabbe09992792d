#include "frontend/saving/SavedFunctions.h"

#include "absl/strings/str_cat.h"
#include "calque/call_site.h"
#include "frontend/compiled/CompilerSettings.h"
#include "frontend/compiled/Execute.h"
#include "frontend/core/Apply.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/Retyping.h"
#include "frontend/core/Shape.h"
#include "frontend/gradients/Tape.h"
#include "frontend/operations/UserOperations.h"
#include "runtime/Fork.h"
#include "runtime/Printable.h"

#include <algorithm>
#include <new>
#include <numeric>

namespace calque {
namespace detail {

using schema::OpId;

//===-- Calls -----------------------------------------------------------------------------------===//

namespace {
// Runs native code of the whole program. A derivative in the program follows paths through the whole of it, which
// operations that run one by one do not have.
std::vector<Tensor> runNative(const SavedTrace &trace, std::span<const Tensor> arguments,
                              std::span<const Variable> variables, const SourceLocation &where) {
  SavedTrace::Native &native = *trace.native;
  runtime::ForkSection section;
  std::call_once(native.once, [&] {
    if (compileOptions().optimize)
      native.panels = panelsOf(*trace.program, trace.captures, where);
    native.code = compileRecording(native.panels ? native.panels->recording : *trace.program, {}, userLine(where));
    native.called = calledProgram(*trace.program);
    native.called.id = nextId();
  });
  auto withCaptures = [&](const std::vector<Tensor> &captures) {
    std::vector<const Tensor *> parameters;
    for (const Tensor &argument : arguments)
      parameters.push_back(&argument);
    for (const Tensor &capture : captures)
      parameters.push_back(&capture);
    return parameters;
  };
  const CapturedPanels *panels = native.panels.get();
  const std::vector<const Tensor *> parameters = withCaptures(panels ? panels->captures : trace.captures);
  std::vector<std::shared_ptr<VariableState>> states;
  std::vector<VariableState *> pointers;
  for (const BoundVariable &bound : trace.variables) {
    states.push_back(bound.argument >= 0 ? variables[static_cast<std::size_t>(bound.argument)].state()
                                         : bound.captured);
    pointers.push_back(states.back().get());
  }
  std::vector<Tensor> results(trace.program->results.size()), before;
  const Caller caller{userLine(where), panels ? &panels->recording : trace.program.get()};
  const bool isSeen = eagerTapesActive();
  run(*native.code, parameters, pointers, results, caller, isSeen ? &before : nullptr);
  if (isSeen)
    recordCall(native.called, panels ? withCaptures(trace.captures) : parameters, states, before, results,
               caller.where);
  return results;
}
} // namespace

std::vector<Tensor> replay(const SavedTrace &trace, std::span<const Tensor> arguments,
                           std::span<const Variable> variables, const SourceLocation &where) {
  if (!currentTrace())
    return runNative(trace, arguments, variables, where);
  std::vector<Tensor> given(arguments.begin(), arguments.end());
  given.insert(given.end(), trace.captures.begin(), trace.captures.end());
  std::vector<schema::TensorType> types;
  for (const Tensor &each : given)
    types.push_back(*implOf(each, where).type);
  // The trace around the program may know sizes that are unknown in the program.
  const schema::RecordingRef specialised = retyped(trace.program, types);
  const schema::Recording &program = *specialised;
  std::vector<Tensor> values(program.numValues());
  for (std::size_t i = 0; i < program.parameters.size(); ++i)
    values[schema::index(program.parameters[i])] = given[i];
  UserCode lines; // each operation has its own line
  for (const schema::RecordedOp &op : program.ops()) {
    CallSite site(locationOf(op.line), op.line.function, op.line.index);
    const SourceLocation line = locationOf(op.line);
    std::vector<Tensor> operands;
    for (schema::ValueId operand : program.operandsOf(op))
      operands.push_back(values[schema::index(operand)]);
    std::span<const schema::Attribute> attributes = program.attributesOf(op);
    std::vector<Tensor> results;
    if (op.op == OpId::VariableRead || op.op == OpId::VariableAssign) {
      const BoundVariable &bound = trace.variables[static_cast<std::size_t>(std::get<std::int64_t>(attributes[0]))];
      Variable variable =
          bound.argument >= 0 ? variables[static_cast<std::size_t>(bound.argument)] : Variable(bound.captured);
      if (op.op == OpId::VariableRead)
        results.push_back(variable.value(line));
      else
        variable.assign(Operand(operands[0], line));
    } else {
      results = applyAll(op.op, operands, attributes, line);
    }
    std::move(results.begin(), results.end(), values.begin() + op.firstResult);
  }
  std::vector<Tensor> results;
  for (schema::ValueId result : program.results)
    results.push_back(values[schema::index(result)]);
  return results;
}

namespace {
// LookupError if this program has not registered a user's operation, or if the operation's type rule does not give the
// result types in the file. Otherwise the kernel would run on tensors of types and sizes for which it is not made.
void requireOperation(const std::string &path, const schema::Recording &program, const schema::RecordedOp &op,
                      const SourceLocation &where) {
  std::span<const schema::Attribute> attributes = program.attributesOf(op);
  const auto &name = std::get<std::string>(attributes[0]);
  const std::shared_ptr<const OperationDefinition> definition = findUserOperation(name);
  if (!definition)
    throw LookupError(absl::StrCat(path, ": the program at ", op.line.str(), " applies operation '", name,
                                   "', which this program has not registered"),
                      userLine(where));
  std::vector<schema::TensorType> operands;
  for (schema::ValueId operand : program.operandsOf(op))
    operands.push_back(program.typeOf(operand));
  std::vector<std::int64_t> types;
  try {
    types = resultTypesOf(*definition, operands, where);
  } catch (const std::bad_alloc &) {
    throw;
  } catch (const std::exception &error) {
    throw LookupError(absl::StrCat(path, ": the program at ", op.line.str(), " applies operation '", name,
                                   "' to operands that this program's refuses: ", error.what()),
                      userLine(where));
  }
  if (types != std::get<std::vector<std::int64_t>>(attributes[1]))
    throw LookupError(absl::StrCat(path, ": the program at ", op.line.str(), " applies operation '", name,
                                   "' for results of other types than this program's gives"),
                      userLine(where));
  // Its order and its transpose are those of the registered operation, or else a kernel with effects could be removed.
  const bool isOrdered = definition->order != CallOrder::None;
  if (isOrdered != (op.op == OpId::OrderedExtern) ||
      (isOrdered && (std::get<std::string>(attributes[2]) != definition->transpose ||
                     std::get<std::int64_t>(attributes[3]) != (definition->order == CallOrder::Repeatable))))
    throw LookupError(absl::StrCat(path, ": the program at ", op.line.str(), " applies operation '", name,
                                   "' in another order than this program's has"),
                      userLine(where));
}

void requireOperations(const std::string &path, const schema::Recording &program, const SourceLocation &where) {
  for (const schema::RecordedOp &op : program.ops()) {
    std::span<const schema::Attribute> attributes = program.attributesOf(op);
    if (op.op == OpId::Extern || op.op == OpId::OrderedExtern)
      requireOperation(path, program, op, where);
    for (const schema::Attribute &attribute : attributes)
      if (const auto *inner = std::get_if<schema::RecordingRef>(&attribute))
        requireOperations(path, **inner, where);
  }
}

// "(float32[?,3], int 2)".
std::string typesOf(const Signature &signature) {
  std::string text;
  for (const SignaturePart &part : signature.parts)
    if (part.kind != SignaturePart::Kind::Count)
      absl::StrAppend(&text, text.empty() ? "(" : ", ", part.text);
  return absl::StrCat(text.empty() ? "(" : text, ")");
}

// How far a call is from fitting a signature, to find the closest of many. Each part that differs adds to the distance;
// a part that differs in sizes alone adds the least.
std::size_t distance(const Signature &expected, const Signature &given) {
  const std::size_t common = std::min(expected.parts.size(), given.parts.size());
  std::size_t sum = 4 * (std::max(expected.parts.size(), given.parts.size()) - common);
  for (std::size_t i = 0; i < common; ++i) {
    const SignaturePart &wanted = expected.parts[i], &part = given.parts[i];
    if (wanted.kind != part.kind)
      sum += 4;
    else if (wanted.kind != SignaturePart::Kind::Tensor)
      sum += wanted.text == part.text ? 0 : 4;
    else if (!within(part.type, part.anyRank, wanted.type, wanted.anyRank))
      sum += wanted.type.dtype != part.type.dtype ? 3 : wanted.type.dims.size() != part.type.dims.size() ? 2 : 1;
  }
  return sum;
}

// The number of the trace that serves a call. SignatureError if there is none.
std::size_t traceFor(const SavedFunction &function, const Signature &given, SourceLocation where) {
  std::string text;
  for (std::size_t i = 0; i < function.traces.size(); ++i) {
    text = mismatch(function.traces[i].signature, given);
    if (text.empty())
      return i;
  }
  if (const std::size_t number = function.traces.size(); number > 1) {
    // The closest signatures come first, because a file may have thousands.
    std::vector<std::pair<std::size_t, const Signature *>> closest;
    for (const SavedTrace &trace : function.traces)
      closest.emplace_back(distance(trace.signature, given), &trace.signature);
    std::ranges::stable_sort(closest, {}, &std::pair<std::size_t, const Signature *>::first);
    constexpr std::size_t kShown = 4;
    std::string saved;
    for (std::size_t i = 0; i < std::min(number, kShown); ++i)
      absl::StrAppend(&saved, i ? ", " : "", typesOf(*closest[i].second));
    if (number > kShown)
      absl::StrAppend(&saved, " and ", schema::counted(number - kShown, "other"));
    // The types may be equal, although keys or lengths differ.
    throw SignatureError(absl::StrCat(function.name, ": it was saved for other calls; these are ", saved,
                                      ", and the call has ", typesOf(given), "; for the first of these, ",
                                      mismatch(*closest[0].second, given)),
                         where);
  }
  throw SignatureError(absl::StrCat(function.name, ": ", text), where);
}
} // namespace

SavedResults callSaved(const std::shared_ptr<const SavedFunction> &function, SavedArguments &arguments,
                       const SourceLocation &where) {
  std::size_t number = traceFor(*function, arguments.signature.take(), userLine(where));
  const SavedTrace &trace = function->traces[number];
  return {function, number, replay(trace, arguments.tensors, arguments.variables, where), where};
}

FunctionOptions optionsOf(const SavedFunction &function) { return {.name = function.name}; }

void serveSaved(FunctionCore &core, std::shared_ptr<const SavedFunction> function) {
  core.loaded = function;
  core.choose = [function](const Signature &given, SourceLocation where) {
    const SavedTrace &trace = function->traces[traceFor(*function, given, where)];
    std::vector<ExpectedTensor> expected;
    for (const SignaturePart &part : trace.signature.parts)
      if (part.kind == SignaturePart::Kind::Tensor)
        expected.push_back({part.type, false, ""});
    return declared(given, expected, function->name, where);
  };
}

//===-- Results ---------------------------------------------------------------------------------===//

SavedResults::SavedResults(std::shared_ptr<const SavedFunction> saved, std::size_t number, std::vector<Tensor> made,
                           const SourceLocation &line)
    : function(std::move(saved)), trace(number), tensors(std::move(made)), where(line) {}

void SavedResults::refuse(const std::string &wanted) const {
  const std::vector<SavedPart> &parts = function->traces[trace].results;
  std::string given = nextPart < parts.size()
                          ? absl::StrCat(parts[nextPart].part.path, " is ", parts[nextPart].part.text)
                          : "there are no more results";
  throw SignatureError(absl::StrCat(function->name, ": ", given, ", and the C++ signature has ", wanted), where);
}

Tensor SavedResults::tensor() {
  const std::vector<SavedPart> &parts = function->traces[trace].results;
  if (nextPart >= parts.size() || parts[nextPart].part.kind != SignaturePart::Kind::Tensor)
    refuse("a tensor there");
  ++nextPart;
  return tensors[nextTensor++];
}

std::uint64_t SavedResults::host(const std::string &type) {
  const std::vector<SavedPart> &parts = function->traces[trace].results;
  if (nextPart >= parts.size() || parts[nextPart].part.kind != SignaturePart::Kind::Host ||
      !parts[nextPart].part.text.starts_with(type))
    refuse(absl::StrCat("the host value ", type.substr(0, type.size() - 1), " there"));
  return parts[nextPart++].bits;
}

namespace {
constexpr std::string_view kString = "string \"", kKey = "the key \"";
// The text between the quotation marks.
std::string quoted(const std::string &text, std::string_view before) {
  return text.substr(before.size(), text.size() - before.size() - 1);
}
bool isQuoted(const std::string &text, std::string_view before) {
  return text.size() > before.size() && text.starts_with(before) && text.ends_with('"');
}
} // namespace

std::string SavedResults::text() {
  const std::vector<SavedPart> &parts = function->traces[trace].results;
  if (nextPart >= parts.size() || !isQuoted(parts[nextPart].part.text, kString))
    refuse("a text there");
  return quoted(parts[nextPart++].part.text, kString);
}

std::size_t SavedResults::count() {
  const std::vector<SavedPart> &parts = function->traces[trace].results;
  std::size_t count = 0;
  if (nextPart >= parts.size() || parts[nextPart].part.kind != SignaturePart::Kind::Count ||
      std::sscanf(parts[nextPart].part.text.c_str(), "%zu", &count) != 1)
    refuse("a container there");
  ++nextPart;
  return count;
}

std::string SavedResults::key() {
  const std::vector<SavedPart> &parts = function->traces[trace].results;
  if (nextPart >= parts.size() || !isQuoted(parts[nextPart].part.text, kKey))
    refuse("a map there");
  return quoted(parts[nextPart++].part.text, kKey);
}

void SavedResults::end() const {
  if (nextPart < function->traces[trace].results.size())
    refuse("no more results");
}

} // namespace detail

//===-- The public handle -----------------------------------------------------------------------===//

using namespace detail;

const SavedFile &SavedFunctions::file(const SourceLocation &where) const {
  if (!file_)
    throwEmptyHandle("file of functions", where);
  return *file_;
}

std::shared_ptr<const SavedFunction> SavedFunctions::find(const std::string &name, const SourceLocation &where) const {
  const SavedFile &file = this->file(where);
  for (const std::shared_ptr<const SavedFunction> &function : file.functions)
    if (function->name == name)
      return function;
  std::string known;
  for (const std::shared_ptr<const SavedFunction> &function : file.functions)
    absl::StrAppend(&known, known.empty() ? "" : ", ", function->name);
  throw LookupError(absl::StrCat(file.path, ": there is no function '", name, "'; the functions are ", known),
                    userLine(where));
}

std::shared_ptr<const SavedFunction> SavedFunctions::findToRun(const std::string &name,
                                                               const SourceLocation &where) const {
  std::shared_ptr<const SavedFunction> function = find(name, where);
  for (const SavedTrace &trace : function->traces)
    requireOperations(file(where).path, *trace.program, where);
  return function;
}

std::vector<std::string> SavedFunctions::names(SourceLocation where) const {
  std::vector<std::string> names;
  for (const std::shared_ptr<const SavedFunction> &function : file(where).functions)
    names.push_back(function->name);
  return names;
}

Variable SavedFunctions::variable(const std::string &name, SourceLocation where) const {
  const std::map<std::string, Variable> &variables = file(where).variables;
  if (auto found = variables.find(name); found != variables.end())
    return found->second;
  std::string known;
  for (const auto &[each, variable] : variables)
    absl::StrAppend(&known, known.empty() ? "" : ", ", each);
  throw LookupError(absl::StrCat(file(where).path, ": there is no variable '", name, "'; the variables are ", known),
                    userLine(where));
}

const std::map<std::string, Variable> &SavedFunctions::variables(SourceLocation where) const {
  return file(where).variables;
}

namespace {
const SavedTrace &traceAt(const SavedFunction &function, std::size_t number, const SourceLocation &where) {
  if (number >= function.traces.size())
    throw ValueError(absl::StrCat(function.name, ": there is no trace ", number, "; it was saved with ",
                                  schema::counted(function.traces.size(), "trace")),
                     userLine(where));
  return function.traces[number];
}
} // namespace

Function<std::vector<Tensor>(const std::vector<Tensor> &)> SavedFunctions::operator[](const FunctionName &of) const {
  std::vector<std::size_t> all(find(of.name, of.where)->traces.size());
  std::iota(all.begin(), all.end(), 0);
  return on_tensors(of, all);
}

Function<std::vector<Tensor>(const std::vector<Tensor> &)>
SavedFunctions::on_tensors(const FunctionName &of, const std::vector<std::size_t> &chosen) const {
  const auto &[name, where] = of;
  auto function = std::make_shared<SavedFunction>(*findToRun(name, where));
  std::vector<SavedTrace> traces;
  for (std::size_t number : chosen)
    traces.push_back(traceAt(*function, number, where));
  if (traces.empty())
    throw ValueError(absl::StrCat(name, ": on_tensors is given no trace"), userLine(where));
  function->traces = std::move(traces);
  for (const SavedTrace &trace : function->traces)
    for (const SignaturePart &part : trace.signature.parts)
      if (part.kind == SignaturePart::Kind::Variable)
        throw SignatureError(absl::StrCat(name, ": ", part.path,
                                          " is a variable; ask for the function with its C++ "
                                          "signature, as function<Signature>(name)"),
                             userLine(where));
  std::vector<std::vector<schema::TensorType>> types;
  for (const SavedTrace &trace : function->traces) {
    std::vector<schema::TensorType> &own = types.emplace_back();
    for (const SignaturePart &part : trace.signature.parts)
      if (part.kind == SignaturePart::Kind::Tensor)
        own.push_back(part.type);
    auto same = std::ranges::find(types, own);
    if (&*same != &own)
      throw SignatureError(
          absl::StrCat(name, ": its tensors do not say which of ",
                       typesOf(function->traces[static_cast<std::size_t>(same - types.begin())].signature), " and ",
                       typesOf(trace.signature),
                       " is called; ask for the function with its C++ signature, or for one of them, by on_tensors"),
          userLine(where));
  }
  auto list = [](const std::vector<SignaturePart> &parts, const char *path) {
    std::vector<SignaturePart> tensors(1);
    tensors[0].kind = SignaturePart::Kind::Count;
    tensors[0].path = path;
    std::ranges::copy_if(parts, std::back_inserter(tensors),
                         [](const SignaturePart &part) { return part.kind == SignaturePart::Kind::Tensor; });
    tensors[0].text = schema::counted(tensors.size() - 1, "element");
    return tensors;
  };
  for (SavedTrace &trace : function->traces) {
    trace.signature.parts = list(trace.signature.parts, "argument 0");
    std::vector<SignaturePart> results;
    for (const SavedPart &result : trace.results)
      results.push_back(result.part);
    trace.results.clear();
    for (SignaturePart &part : list(results, "result"))
      trace.results.push_back({std::move(part)});
  }
  return LoadedFunction<std::vector<Tensor>(const std::vector<Tensor> &)>::make(std::move(function), where);
}

std::vector<std::vector<TensorSpec<>>> SavedFunctions::argument_specs(const std::string &name,
                                                                      SourceLocation where) const {
  std::vector<std::vector<TensorSpec<>>> all;
  for (const SavedTrace &trace : find(name, where)->traces) {
    std::vector<TensorSpec<>> &specs = all.emplace_back();
    for (const SignaturePart &part : trace.signature.parts)
      if (part.kind == SignaturePart::Kind::Tensor)
        specs.emplace_back(part.type.dtype, shapeOf(part.type.dims));
  }
  return all;
}

std::vector<std::vector<SavedHostValue>> SavedFunctions::host_values(const std::string &name,
                                                                     SourceLocation where) const {
  std::vector<std::vector<SavedHostValue>> all;
  for (const SavedTrace &trace : find(name, where)->traces) {
    std::vector<SavedHostValue> &values = all.emplace_back();
    for (const SignaturePart &part : trace.signature.parts)
      if (part.kind == SignaturePart::Kind::Host)
        values.push_back({part.path, part.text});
  }
  return all;
}

std::vector<std::string> SavedFunctions::argument_names(const std::string &name, std::size_t trace,
                                                        SourceLocation where) const {
  std::vector<std::string> names;
  for (const SignaturePart &part : traceAt(*find(name, where), trace, where).signature.parts)
    if (part.kind == SignaturePart::Kind::Tensor)
      names.push_back(part.path);
  return names;
}
std::vector<std::string> SavedFunctions::argument_names(const std::string &name, SourceLocation where) const {
  return argument_names(name, 0, where);
}

std::vector<std::string> SavedFunctions::result_names(const std::string &name, std::size_t trace,
                                                      SourceLocation where) const {
  std::vector<std::string> names;
  for (const SavedPart &result : traceAt(*find(name, where), trace, where).results)
    if (result.part.kind == SignaturePart::Kind::Tensor)
      names.push_back(result.part.path);
  return names;
}
std::vector<std::string> SavedFunctions::result_names(const std::string &name, SourceLocation where) const {
  return result_names(name, 0, where);
}

std::string SavedFunctions::str(SourceLocation where) const {
  std::string text;
  for (const std::shared_ptr<const SavedFunction> &function : file(where).functions)
    for (const SavedTrace &trace : function->traces) {
      Signature results;
      for (const SavedPart &result : trace.results)
        results.parts.push_back(result.part);
      std::string given = results.str("  ");
      absl::StrAppend(&text, function->name, "\n", trace.signature.str("  "), given.empty() ? "  no result\n" : given);
    }
  for (const auto &[name, variable] : file(where).variables)
    absl::StrAppend(&text, "variable '", name, "': ", variable.state()->type->str(),
                    variable.state()->trainable ? "" : ", not trainable", "\n");
  return runtime::printable(text);
}

} // namespace calque
