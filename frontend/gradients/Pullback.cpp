#include "frontend/gradients/Pullback.h"

#include "absl/strings/str_cat.h"
#include "frontend/compiled/CodeByStructure.h"
#include "frontend/compiled/EagerCode.h"
#include "frontend/compiled/OpenForm.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/KeyCache.h"
#include "frontend/core/Movement.h"
#include "frontend/core/Numerics.h"
#include "frontend/gradients/Activity.h"
#include "frontend/gradients/Tape.h"

#include <algorithm>
#include <numeric>

namespace calque::detail {

using schema::index;
using schema::OpId;
using schema::Recording;
using schema::TensorType;
using schema::ValueId;

namespace {
// What a pullback depends on besides the types of its operands.
struct Shape {
  std::vector<bool> needed, hasCotangent;
  std::optional<std::int64_t> examples = {}; // the number of examples of a batched pullback
  bool checks = false;                       // whether the pullback has the checks of debug::enable_check_numerics()
};

// Makes the program of a pullback. Its parameters are the operands, the results, and the cotangents of the results that
// have one. The program computes the results from the operands again, so that it can be differentiated. The elements of
// the results are taken from the parameters.
Recording pullbackOf(const Recording &program, const Shape &shape) {
  Recording pullback;
  pullback.name = program.name;
  pullback.line = program.line;
  std::vector<ValueId> renamed(program.numValues(), -1), kept, targets, seeds, sources;
  for (ValueId parameter : program.parameters)
    renamed[index(parameter)] = pullback.addParameter(program.typeOf(parameter));
  for (ValueId result : program.results)
    kept.push_back(pullback.addParameter(program.typeOf(result)));
  std::vector<TensorType> sliceTypes, types;
  for (std::size_t i = 0; i < program.results.size(); ++i)
    if (shape.hasCotangent[i]) {
      sliceTypes.push_back(program.typeOf(program.results[i]));
      TensorType type = sliceTypes.back();
      if (shape.examples)
        type.dims.insert(type.dims.begin(), *shape.examples);
      seeds.push_back(pullback.addParameter(type));
    }
  for (const schema::RecordedOp &op : program.ops())
    pullback.appendCopy(program, op, renamed);
  schema::SourceLine line = program.ops().empty() ? program.line : program.ops().back().line;
  for (std::size_t i = 0; i < program.results.size(); ++i) {
    const TensorType &type = program.typeOf(program.results[i]);
    // No gradient passes to the kept result, because the result is computed from the operands.
    std::array<ValueId, 2> operands{renamed[index(program.results[i])],
                                    pullback.append(OpId::StopGradient, {&kept[i], 1}, {}, {&type, 1}, line)};
    ValueId known = pullback.append(OpId::Known, operands, {}, {&type, 1}, line);
    if (shape.hasCotangent[i])
      targets.push_back(known);
  }
  for (std::size_t i = 0; i < program.parameters.size(); ++i)
    if (shape.needed[i]) {
      sources.push_back(renamed[index(program.parameters[i])]);
      types.push_back(program.typeOf(program.parameters[i]));
    }
  ValueId stacked = seeds[0];
  if (shape.examples) {
    schema::Attribute axes = std::vector<std::int64_t>(seeds.size(), 0);
    ValueId slice = pullback.append(OpId::Batch, seeds, {&axes, 1}, sliceTypes, line);
    std::iota(seeds.begin(), seeds.end(), slice);
  }
  std::vector<ValueId> operands = targets;
  operands.insert(operands.end(), seeds.begin(), seeds.end());
  operands.insert(operands.end(), sources.begin(), sources.end());
  schema::Attribute counts = std::vector<std::int64_t>{static_cast<std::int64_t>(targets.size()),
                                                       static_cast<std::int64_t>(sources.size()), 0};
  ValueId first = pullback.append(OpId::Gradient, operands, {&counts, 1}, types, line);
  if (shape.examples) {
    std::vector<ValueId> values(sources.size());
    std::iota(values.begin(), values.end(), first);
    schema::Attribute attributes[] = {std::vector<std::int64_t>(sources.size(), 0), std::int64_t(0)};
    values.push_back(seeds[0]);
    values.push_back(stacked);
    for (TensorType &type : types)
      type.dims.insert(type.dims.begin(), *shape.examples);
    first = pullback.append(OpId::Unbatch, values, attributes, types, line);
  }
  pullback.results.resize(sources.size());
  std::iota(pullback.results.begin(), pullback.results.end(), first);
  return pullback;
}

bool anyDerivative(const Recording &program) {
  return std::ranges::any_of(program.ops(), [&](const schema::RecordedOp &op) {
    if (schema::schemaOf(op.op).differentiates)
      return true;
    return std::ranges::any_of(program.attributesOf(op), [](const schema::Attribute &attribute) {
      const auto *inner = std::get_if<schema::RecordingRef>(&attribute);
      return inner && *inner && anyDerivative(**inner);
    });
  });
}

// For each result of a pullback, whether a path leads to it. A result without a path is zeros, and must not be passed
// on: zero times an infinite derivative is NaN.
std::vector<bool> connectedOperands(const Recording &program, Shape shape) {
  if (anyDerivative(program)) {
    shape.examples.reset();
    return connectedResults(pullbackOf(program, shape));
  }
  Activity activity(program);
  for (std::size_t i = 0; i < program.parameters.size(); ++i)
    if (shape.needed[i])
      activity.watch(program.parameters[i]);
  const std::size_t numOps = program.ops().size();
  for (std::size_t i = 0; i < numOps; ++i)
    activity.forward(i);
  for (std::size_t i = 0; i < program.results.size(); ++i)
    if (shape.hasCotangent[i])
      activity.target(program.results[i]);
  for (std::size_t i = numOps; i-- > 0;)
    activity.backward(i, nullptr, {});
  std::vector<bool> connected;
  for (std::size_t i = 0; i < program.parameters.size(); ++i)
    if (shape.needed[i])
      connected.push_back(activity.reaches(program.parameters[i]));
  return connected;
}

// The native code of a pullback. It serves all operands of the same types.
struct Pullback {
  CalledProgram program;       // as tapes that record see it
  std::vector<bool> connected; // the results that a path leads to
  std::optional<Code> code;    // none if positions are operands; the code is then looked up by structure
  // Further arguments of code for unknown sizes. `sizes` comes after the operation's operands; only its sizes matter,
  // and it may be null. `indices` are positions, and come last.
  Tensor sizes;
  std::vector<Tensor> indices;
};

// StateError if a branch or a loop has a host call or an ordered operation of CallOrder::Once. The results of that call
// are not known here, and it must not run again.
void refuseHostCalls(const Recording &program, SourceLocation where) {
  for (const schema::RecordedOp &op : program.ops()) {
    if (op.op == OpId::HostCall)
      throw StateError(absl::StrCat("the host call at ", op.line.str(),
                                    " stands in a branch or a loop that a gradient goes through, and can't run again "
                                    "for it"),
                       where);
    if (schema::runsOnce(program, op))
      throw StateError(absl::StrCat("the ordered operation at ", op.line.str(),
                                    " can't run again for a gradient that goes through its branch or loop"),
                       where);
    for (const schema::Attribute &attribute : program.attributesOf(op))
      if (const auto *inner = std::get_if<schema::RecordingRef>(&attribute))
        refuseHostCalls(**inner, where);
  }
}

Recording recordingOfApplied(const Applied &applied) {
  std::vector<TensorType> types;
  for (const Tensor &operand : applied.operands)
    types.push_back(*implOf(operand).type);
  return recordingOf(applied.op, types, applied.attributes, locationOf(applied.line));
}

// Gives a pullback the code of a program with unknown sizes, if there is such a program.
void takeOpenCode(Pullback &pullback, const Applied &applied, const Recording &known, Shape shape,
                  SourceLocation where) {
  auto typesOf = [&](const std::vector<ValueId> &values) {
    std::vector<TensorType> types;
    for (ValueId value : values)
      types.push_back(known.typeOf(value));
    return types;
  };
  const std::vector<TensorType> operands = typesOf(known.parameters), results = typesOf(known.results);
  OpenForm form = openForm(applied.op, operands, results, applied.attributes);
  if (!form.isOpen())
    return;
  const std::optional<std::int64_t> examples = shape.examples;
  if (examples == 0)
    return;
  if (examples)
    shape.examples = *examples == 1 ? 1 : schema::kOpenSize;
  shape.needed.resize(form.compiled.size());
  const SourceLocation line = locationOf(applied.line);
  IndexedRecording open = withIndices(pullbackOf(recordingOf(form.op, form.compiled, form.attributes, line), shape));
  std::shared_ptr<const Executable> program = openProgram(structureKey(open.recording), open.recording, false, where);
  if (!program)
    return;
  // The types that tell the sizes of this pullback: of its operands, results, cotangents and positions.
  std::vector<TensorType> sizes = form.known, ofResults = results;
  if (schema::schemaOf(applied.op).elementwise)
    ofResults = schema::inferTypes(form.op, form.known, form.attributes).types;
  sizes.insert(sizes.end(), ofResults.begin(), ofResults.end());
  for (std::size_t i = 0; i < ofResults.size(); ++i)
    if (shape.hasCotangent[i]) {
      sizes.push_back(ofResults[i]);
      if (examples)
        sizes.back().dims.insert(sizes.back().dims.begin(), *examples);
    }
  for (const Tensor &indices : open.indices)
    sizes.push_back(*indices.impl()->type);
  Code code;
  code.executable = std::move(program);
  for (ValueId result : pullback.program.recording->results)
    code.results.push_back(std::make_shared<const TensorType>(pullback.program.recording->typeOf(result)));
  fixSizes(code, sizes, {where, nullptr, &applied.line, applied.op});
  pullback.code = std::move(code);
  pullback.indices = std::move(open.indices);
  if (form.known.size() > operands.size())
    pullback.sizes = makeEager(std::make_shared<const TensorType>(form.known.back()), {});
}

Pullback makePullback(const Applied &applied, const Shape &shape, SourceLocation where) {
  Recording program = applied.called ? *applied.called->recording : recordingOfApplied(applied);
  refuseHostCalls(program, where);
  Pullback pullback{{nextId(), std::make_shared<const Recording>(pullbackOf(program, shape)), {}}, {}, {}, {}, {}};
  for (std::size_t i = 0; i < pullback.program.recording->parameters.size(); ++i)
    pullback.program.inputs.push_back({CalledProgram::From::Parameter, i});
  pullback.connected = connectedOperands(program, shape);
  if (!applied.called && !shape.checks)
    takeOpenCode(pullback, applied, program, shape, where);
  if (!pullback.code) {
    StructuredCode structured = codeByStructure(*pullback.program.recording, where, shape.checks);
    if (!structured.indexed)
      pullback.code = structured.code;
  }
  return pullback;
}

Key keyOf(const Applied &applied, const Shape &shape) {
  Key key;
  if (applied.called) {
    key.push_back(~applied.called->id);
  } else {
    appendOperation(key, applied.op, applied.attributes);
    for (const Tensor &operand : applied.operands)
      appendKey(key, *operand.impl()->type);
  }
  for (const std::vector<bool> *mask : {&shape.needed, &shape.hasCotangent}) {
    for (std::size_t i = 0; i < mask->size(); i += 64) {
      std::uint64_t word = 0;
      for (std::size_t bit = i; bit < std::min(i + 64, mask->size()); ++bit)
        word |= static_cast<std::uint64_t>((*mask)[bit]) << (bit - i);
      key.push_back(word);
    }
    key.push_back(mask->size());
  }
  key.push_back(shape.examples ? static_cast<std::uint64_t>(*shape.examples) + 1 : 0);
  key.push_back(shape.checks);
  return key;
}

// Computes the cotangents of a movement without native code, if that is possible. A tape that records would not see
// this, so no tape may record.
std::optional<std::vector<std::optional<Tensor>>> movedBack(const Applied &applied, SourceLocation where) {
  schema::MoveRule rule = schema::moveRuleOf(applied.op);
  if (applied.called || !rule || eagerTapesActive())
    return std::nullopt;
  std::vector<TensorType> operands, results;
  for (const Tensor &operand : applied.operands)
    operands.push_back(*operand.impl()->type);
  for (const Tensor &result : applied.results)
    results.push_back(*result.impl()->type);
  const std::vector<TakenParts> parts = TakenParts::of(rule, {applied.op, operands, applied.attributes}, results);
  std::vector<std::optional<Tensor>> cotangents;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!applied.needed[i])
      continue;
    cotangents.push_back(parts[i].moveBack(operands[i], applied.cotangents, where));
    if (!cotangents.back())
      return std::nullopt;
  }
  return cotangents;
}
} // namespace

std::vector<std::optional<Tensor>> pullBack(const Applied &applied, bool batched, SourceLocation where) {
  if (!batched)
    if (auto moved = movedBack(applied, where))
      return *std::move(moved);
  Shape shape{applied.needed, {}};
  std::vector<Tensor> inputs = applied.operands;
  inputs.insert(inputs.end(), applied.results.begin(), applied.results.end());
  for (const Tensor &cotangent : applied.cotangents) {
    shape.hasCotangent.push_back(cotangent.impl() != nullptr);
    if (!cotangent.impl())
      continue;
    inputs.push_back(cotangent);
    if (batched)
      shape.examples = cotangent.impl()->type->dims[0];
  }

  std::vector<const Tensor *> pointers;
  for (const Tensor &input : inputs)
    pointers.push_back(&input);
  shape.checks = canCheckNumerics(pointers);

  ReadScope scope;
  using PullbackRef = std::unique_ptr<const Pullback>;
  static auto *cache = new KeyCache<PullbackRef>(kMostCachedOperations); // never destroyed: other threads may still run
  auto make = [&] { return std::make_unique<const Pullback>(makePullback(applied, shape, where)); };
  // A program without an id is called once, so its pullback is not cached.
  PullbackRef once = applied.called && !applied.called->id ? make() : nullptr;
  const Pullback &pullback = once ? *once : *cache->findOrMake(keyOf(applied, shape), make);

  std::vector<const Tensor *> given = pointers;
  if (pullback.sizes.impl())
    given.insert(given.begin() + static_cast<std::ptrdiff_t>(applied.operands.size()), &pullback.sizes);
  for (const Tensor &indices : pullback.indices)
    given.push_back(&indices);
  std::vector<Tensor> results(pullback.program.recording->results.size());
  Caller caller{where, pullback.program.recording.get()};
  // Errors have the lines of this application. The code may have been made for another one.
  std::optional<Recording> own;
  bool hasProgram = std::ranges::any_of(applied.attributes, [](const schema::Attribute &attribute) {
    return std::holds_alternative<schema::RecordingRef>(attribute);
  });
  if (!applied.called && hasProgram) {
    own = pullbackOf(recordingOfApplied(applied), shape);
    caller.recording = &*own;
  } else if (!applied.called) {
    caller.operation = &applied.line;
    caller.op = applied.op;
  }
  if (pullback.code) {
    run(*pullback.code, given, {}, results, caller);
  } else {
    StructuredCode structured = codeByStructure(*pullback.program.recording, where, shape.checks);
    for (const Tensor &indices : structured.indices)
      given.push_back(&indices);
    if (structured.indexed && caller.recording)
      caller.recording = &*structured.indexed;
    run(structured.code, given, {}, results, caller);
  }
  if (checksNumerics() && !shape.checks) { // the tape recorded before the checks were on, and has not kept all inputs
    std::vector<const Tensor *> kept;
    for (const Tensor &input : inputs)
      if (input.impl()->buffer.data())
        kept.push_back(&input);
    requireFinite(nameInMessages(applied.op, applied.line), kept, results, locationOf(applied.line));
  }
  if (eagerTapesActive())
    recordCall(pullback.program, pointers, {}, {}, results, locationOf(applied.line));
  std::vector<std::optional<Tensor>> cotangents;
  for (std::size_t i = 0; i < results.size(); ++i)
    cotangents.push_back(pullback.connected[i] ? std::optional(std::move(results[i])) : std::nullopt);
  return cotangents;
}

} // namespace calque::detail
