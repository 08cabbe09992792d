#include "frontend/compiled/EagerCode.h"

#include "calque/call_site.h"
#include "frontend/compiled/CodeByStructure.h"
#include "frontend/compiled/Dump.h"
#include "frontend/compiled/Execute.h"
#include "frontend/compiled/OpenForm.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/KeyCache.h"
#include "frontend/core/PerThread.h"
#include "schema/Moves.h"

#include <algorithm>

namespace calque::detail {

using schema::AttributeKind;
using schema::Dims;
using schema::kOpenSize;
using schema::OpId;
using schema::TensorType;

schema::Recording recordingOf(OpId op, std::span<const TensorType> operands,
                              std::span<const schema::Attribute> attributes, SourceLocation where) {
  schema::Inference inference = schema::inferTypes(op, operands, attributes, nameInMessages(op));
  if (inference.fault)
    throwFault(inference.fault, where);
  schema::Recording recording;
  recording.name = schema::schemaOf(op).mnemonic;
  recording.line = lineOf(where);
  for (const TensorType &type : operands)
    recording.addParameter(type);
  std::vector<schema::ValueId> values = recording.parameters;
  schema::ValueId first = recording.append(op, values, attributes, inference.types, lineOf(where));
  for (std::size_t i = 0; i < inference.types.size(); ++i)
    recording.results.push_back(first + static_cast<schema::ValueId>(i));
  return recording;
}

void appendOperation(Key &key, OpId op, std::span<const schema::Attribute> attributes) {
  key.push_back(static_cast<std::uint64_t>(op));
  std::span<const schema::AttributeSchema> kinds = schema::schemaOf(op).attributes;
  for (std::size_t i = 0; i < attributes.size(); ++i)
    if (kinds[i].kind != AttributeKind::Text)
      appendKey(key, attributes[i]);
}

namespace {

std::unique_ptr<const Code> makeCode(OpId op, std::span<const Tensor *const> operands,
                                     std::span<const schema::Attribute> attributes, SourceLocation where) {
  std::vector<TensorType> types;
  for (const Tensor *operand : operands)
    types.push_back(*implOf(*operand, where).type);
  schema::Recording recording = recordingOf(op, types, attributes, where);
  std::vector<TensorType> results;
  for (schema::ValueId result : recording.results)
    results.push_back(recording.typeOf(result));
  OpenForm form = openForm(op, types, results, attributes);
  std::shared_ptr<const Executable> program;
  if (form.isOpen()) {
    Key key;
    appendOperation(key, form.op, form.attributes);
    for (const TensorType &operand : form.compiled)
      appendKey(key, operand);
    program = openProgram(key, recordingOf(form.op, form.compiled, form.attributes, where),
                          schema::schemaOf(op).elementwise, where);
  }
  if (!program) {
    dump(recording, Dumped::Eager, where);
    return compileRecording(recording, {}, where);
  }
  auto code = std::make_unique<Code>();
  code->executable = std::move(program);
  for (const TensorType &type : results)
    code->results.push_back(std::make_shared<const TensorType>(type));
  schema::SourceLine line = recordedLine(where);
  fixSizes(*code, form.known, {where, nullptr, &line, op});
  return code;
}

// The words of a lookup's key. The vector is reused, so that steady calls take no memory.
struct EagerKey {
  Key key;
};

} // namespace

bool compileOpen(OpId op, const std::vector<TensorType> &operands, std::span<const schema::Attribute> attributes) {
  schema::Inference inference = schema::inferTypes(op, operands, attributes);
  if (inference.fault || schema::moveRuleOf(op))
    return false;
  OpenForm form = openForm(op, operands, inference.types, attributes);
  try {
    compileRecording(recordingOf(form.op, form.compiled, form.attributes, {}), {}, {});
  } catch (const CompileError &) {
    return false;
  }
  return true;
}

const Code &eagerCode(OpId op, std::span<const Tensor *const> operands, std::span<const schema::Attribute> attributes,
                      SourceLocation where) {
  Key &key = PerThread<EagerKey>::get().key;
  key.clear();
  appendOperation(key, op, attributes);
  for (const Tensor *operand : operands)
    appendKey(key, *operand->impl()->type);
  using CodeRef = std::unique_ptr<const Code>;
  static auto *cache = new KeyCache<CodeRef>(kMostCachedOperations); // never destroyed: other threads may still run
  return *cache->findOrMake(key, [&] { return makeCode(op, operands, attributes, where); });
}

} // namespace calque::detail
