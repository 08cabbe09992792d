// Programs of functions as data.
#include "calque/program.h"

#include "absl/strings/str_cat.h"
#include "frontend/compiled/ProgramLibrary.h"
#include "frontend/core/CallNames.h"
#include "frontend/saving/SavedFunctions.h"

#include <unordered_map>

namespace calque {

namespace detail {
namespace {

const ElementExpression *expressionOf(schema::OpId op) {
  static const auto *const all = new std::unordered_map<schema::OpId, ElementExpression>{
#include "frontend/saving/Elements.cpp.inc"
  };
  const auto found = all->find(op);
  return found == all->end() ? nullptr : &found->second;
}

ProgramType typeOf(const schema::TensorType &type) {
  ProgramType made;
  if (type.dtype != schema::kStackType)
    made.dtype = type.dtype;
  static_assert(kUnknownSize == schema::kOpenSize);
  made.sizes = type.dims;
  return made;
}

std::shared_ptr<const RecordedProgram> programOf(const schema::RecordingRef &recording);

struct AttributeOf {
  ProgramAttribute operator()(bool value) const { return value; }
  ProgramAttribute operator()(std::int64_t value) const { return value; }
  ProgramAttribute operator()(const schema::Scalar &value) const { return ProgramNumber(value.value()); }
  ProgramAttribute operator()(const std::string &value) const { return value; }
  ProgramAttribute operator()(DType value) const { return value; }
  ProgramAttribute operator()(const std::vector<std::int64_t> &values) const { return values; }
  ProgramAttribute operator()(const schema::ConstantRef &value) const {
    return ProgramConstant{typeOf(value->type), value->splat, value->bytes};
  }
  ProgramAttribute operator()(const schema::RecordingRef &value) const { return programOf(value); }
};

std::shared_ptr<const RecordedProgram> programOf(const schema::RecordingRef &recording) {
  auto made = std::make_shared<RecordedProgram>();
  made->owner = recording;
  for (std::size_t i = 0; i < recording->numValues(); ++i)
    made->types.push_back(typeOf(recording->typeOf(static_cast<schema::ValueId>(i))));
  auto numbers = [](std::span<const schema::ValueId> values) {
    return std::vector<ProgramValue>(values.begin(), values.end());
  };
  made->parameters = numbers(recording->parameters);
  made->results = numbers(recording->results);
  for (const schema::RecordedOp &op : recording->ops()) {
    const schema::OperationSchema &schema = schema::schemaOf(op.op);
    ProgramOperation &each = made->operations.emplace_back();
    each.name = schema.mnemonic;
    each.function = nameInMessages(op.op, op.line);
    each.operands = numbers(recording->operandsOf(op));
    each.first_result = schema::index(op.firstResult);
    each.num_results = op.numResults;
    each.where = locationOf(op.line);
    each.expression = expressionOf(op.op);
    std::span<const schema::Attribute> attributes = recording->attributesOf(op);
    for (std::size_t i = 0; i < attributes.size(); ++i)
      each.attributes.emplace_back(schema.attributes[i].name, std::visit(AttributeOf(), attributes[i]));
  }
  return made;
}

FunctionProgram functionProgram(const std::string &name, const schema::Recording &recording, const Signature &arguments,
                                std::span<const SignaturePart *const> results, std::span<const Tensor> captures,
                                std::span<const BoundVariable> bindings, const SourceLocation &where) {
  FunctionProgram made;
  made.name = name;
  const ProgramResult compiled = programCompiler().differentiated(recording);
  if (!compiled.program)
    throw CompileError(compiled.error.empty() ? "the compiler gave no reason" : compiled.error,
                       compiled.line.empty() ? where : locationOf(compiled.line));
  made.program = programOf(compiled.program);
  for (const SignaturePart &part : arguments.parts)
    if (part.kind == SignaturePart::Kind::Tensor)
      made.arguments.push_back(part.path);
  for (const SignaturePart *part : results)
    if (part->kind == SignaturePart::Kind::Tensor)
      made.results.push_back(part->path);
  made.captures.assign(captures.begin(), captures.end());
  for (std::size_t i = 0; i < bindings.size(); ++i) {
    ProgramVariable &variable = made.variables.emplace_back();
    variable.type = typeOf(recording.variables[i].type);
    variable.name = recording.variables[i].name;
    if (bindings[i].argument < 0) {
      variable.name = bindings[i].captured->name;
      variable.variable = Variable(bindings[i].captured);
    }
  }
  return made;
}

} // namespace
} // namespace detail

std::string ProgramType::str() const {
  std::string text(dtype ? name_of(*dtype) : "stack");
  for (std::size_t i = 0; i < sizes.size(); ++i)
    absl::StrAppend(&text, i ? "," : "[", sizes[i] == kUnknownSize ? "?" : absl::StrCat(sizes[i]));
  return absl::StrCat(text, sizes.empty() ? "[]" : "]");
}

FunctionProgram program_of(const FunctionToSave &function, SourceLocation where) {
  using namespace detail;
  where = userLine(where);
  if (currentTrace())
    throw StateError("program_of is called while a function is traced: its variables have no values then", where);
  if (const std::shared_ptr<ConcreteCore> &core = SavedAccess::concreteOf(function)) {
    const std::shared_ptr<const FunctionTrace> trace = core->only(where).shareLatest();
    std::vector<const SignaturePart *> results;
    for (const SignaturePart &part : trace->results.parts)
      results.push_back(&part);
    return functionProgram(core->function->name, trace->recording, trace->signature, results, trace->captures,
                           trace->variables, where);
  }
  const std::shared_ptr<FunctionCore> &core = SavedAccess::functionOf(function);
  if (!core)
    throwEmptyHandle("function", where);
  auto requireOne = [&](std::size_t number) {
    if (number != 1)
      throw StateError(absl::StrCat("function '", core->name, "' has ",
                                    number ? schema::counted(number, "trace") : std::string("no trace yet"),
                                    ", and one is to be taken: give what get_concrete_function returns"),
                       where);
  };
  std::vector<const SignaturePart *> results;
  if (core->loaded) {
    requireOne(core->loaded->traces.size());
    const SavedTrace &trace = core->loaded->traces[0];
    for (const SavedPart &part : trace.results)
      results.push_back(&part.part);
    return functionProgram(core->loaded->name, *trace.program, trace.signature, results, trace.captures,
                           trace.variables, where);
  }
  const std::vector<std::shared_ptr<const FunctionTrace>> traces = core->all();
  requireOne(traces.size());
  const FunctionTrace &trace = *traces[0];
  for (const SignaturePart &part : trace.results.parts)
    results.push_back(&part);
  return functionProgram(core->name, trace.recording, trace.signature, results, trace.captures, trace.variables, where);
}

} // namespace calque
