// Computes the gradients of eager tapes: goes backward through the recorded operations, one at a time.
#include "frontend/core/Apply.h"
#include "frontend/core/Movement.h"
#include "frontend/core/Numerics.h"
#include "frontend/gradients/Pullback.h"
#include "frontend/gradients/Tape.h"
#include "schema/Cotangents.h"
#include "schema/HashTables.h"

#include <algorithm>
#include <cstring>

namespace calque::detail {

using schema::index;
using schema::OpId;
using schema::RecordedOp;
using schema::Recording;
using schema::ValueId;

namespace {
class EagerGradient {
public:
  EagerGradient(const EagerRecorder &recorder, bool batched, SourceLocation where)
      : recorder(recorder), recording(recorder.recording), batched(batched), where(where),
        active(recording.numValues()), isSource(recording.numValues()) {}

  void begin(std::span<const ValueId> sources, std::span<const std::size_t> ops) {
    for (ValueId source : sources)
      active[index(source)] = isSource[index(source)] = true;
    for (std::size_t number : ops)
      if (const RecordedOp &op = recording.ops()[number]; schema::schemaOf(op.op).differentiable && takesActive(op))
        for (std::uint32_t r = 0; r < op.numResults; ++r)
          if (ValueId result = op.firstResult + static_cast<ValueId>(r); isFloating(result))
            active[index(result)] = true;
  }
  void seed(ValueId target, const Tensor &seed) {
    if (seed.impl() && active[index(target)])
      accumulate(target, seed);
  }
  // Passes the cotangents of an operation's results to its operands. Tapes that record may add operations meanwhile.
  void reverse(std::size_t number) {
    const RecordedOp op = recording.ops()[number];
    std::vector<Tensor> cotangents;
    for (std::uint32_t r = 0; r < op.numResults; ++r)
      cotangents.push_back(take(op.firstResult + static_cast<ValueId>(r)));
    if (std::ranges::none_of(cotangents, [](const Tensor &x) { return x.impl() != nullptr; }))
      return;
    std::span<const ValueId> recorded = recording.operandsOf(op);
    const std::vector<ValueId> operands(recorded.begin(), recorded.end());
    const std::size_t numPassing = recording.gradientOperandsOf(op).size();
    if (!batched && eagerTapesActive()) {
      if (op.op == OpId::Concat && op.numOperands > kMany)
        return passPartsOf(op, operands, cotangents[0]);
      if (op.op == OpId::Split && op.numResults > kMany)
        return passJoined(op, operands[0], std::move(cotangents));
    }
    std::vector<std::optional<Tensor>> passed(operands.size());
    std::vector<bool> needed(operands.size());
    bool anyNeeded = false;
    for (std::size_t i = 0; i < numPassing; ++i) {
      if (!active[index(operands[i])] || !isFloating(operands[i]) || !schema::receivesCotangent(op.op, i))
        continue;
      if (passesCotangent(op, i, operands[i]))
        passed[i] = shapedLike(operands[i], cotangents[0]);
      else if (i == 0 && addsParts(op, operands, cotangents))
        continue;
      else
        anyNeeded = needed[i] = true;
    }
    if (anyNeeded)
      pullBackOperation(number, op, operands, needed, std::move(cotangents), passed);
    for (std::size_t i = 0; i < operands.size(); ++i)
      if (passed[i])
        accumulate(operands[i], *std::move(passed[i]));
  }
  std::optional<Tensor> cotangentOf(ValueId source) const {
    auto found = cotangents.find(source);
    return found == cotangents.end() ? std::nullopt : std::optional(found->second);
  }

private:
  bool isFloating(ValueId value) const { return is_inexact(recording.typeOf(value).dtype); }
  bool takesActive(const RecordedOp &op) const {
    for (ValueId operand : recording.operandsOf(op))
      if (active[index(operand)])
        return true;
    return false;
  }
  // Whether the operand's cotangent has the same elements as the result's.
  bool passesCotangent(const RecordedOp &op, std::size_t i, ValueId operand) const {
    return i < 32 && (schema::schemaOf(op.op).passesCotangent >> i & 1) &&
           recording.typeOf(operand).numElements() == recording.typeOf(op.firstResult).numElements();
  }
  Tensor shapedLike(ValueId operand, const Tensor &cotangent) {
    const schema::Dims &given = cotangent.impl()->type->dims;
    schema::Dims dims = recording.typeOf(operand).dims;
    if (batched)
      dims.insert(dims.begin(), given[0]);
    if (dims == given)
      return cotangent;
    schema::Attribute attribute = std::move(dims);
    return applyAsIs(OpId::Reshape, {&cotangent, 1}, {&attribute, 1}, where);
  }
  void pullBackOperation(std::size_t number, const RecordedOp &op, const std::vector<ValueId> &operands,
                         const std::vector<bool> &needed, std::vector<Tensor> cotangents,
                         std::vector<std::optional<Tensor>> &passed) {
    std::span<const schema::Attribute> attributes = recording.attributesOf(op);
    Applied applied{op.op,
                    {attributes.begin(), attributes.end()},
                    recorder.calledBy(number),
                    op.line,
                    {},
                    {},
                    std::move(cotangents),
                    needed};
    for (ValueId operand : operands)
      applied.operands.push_back(recorder.tensorOf(operand));
    for (std::uint32_t r = 0; r < op.numResults; ++r)
      applied.results.push_back(recorder.tensorOf(op.firstResult + static_cast<ValueId>(r)));
    std::vector<std::optional<Tensor>> computed = pullBack(applied, batched, where);
    std::size_t next = 0;
    for (std::size_t i = 0; i < needed.size(); ++i)
      if (needed[i])
        passed[i] = std::move(computed[next++]);
  }
  // Tapes that record see the gradient of a concatenation of many operands as one split, and the gradient of a split
  // into many results as one concatenation. If they saw a pullback for each operand, its derivative would look at all
  // operands, and the derivatives together would take time that grows with the square of their number.
  static constexpr std::uint32_t kMany = 64;
  void passPartsOf(const RecordedOp &op, const std::vector<ValueId> &operands, const Tensor &cotangent) {
    const auto axis = schema::normalAxis(std::get<std::int64_t>(recording.attributesOf(op)[0]),
                                         recording.typeOf(op.firstResult).rank());
    std::vector<std::int64_t> sizes;
    for (ValueId operand : operands)
      sizes.push_back(recording.typeOf(operand).dims[static_cast<std::size_t>(axis)]);
    schema::Attribute attributes[] = {std::move(sizes), axis};
    std::vector<Tensor> parts = applyAll(OpId::Split, {&cotangent, 1}, attributes, where);
    for (std::size_t i = 0; i < operands.size(); ++i)
      if (active[index(operands[i])])
        accumulate(operands[i], std::move(parts[i]));
  }
  void passJoined(const RecordedOp &op, ValueId operand, std::vector<Tensor> parts) {
    if (!active[index(operand)])
      return;
    for (std::uint32_t r = 0; r < op.numResults; ++r)
      if (!parts[r].impl())
        parts[r] = zerosOf(recording.typeOf(op.firstResult + static_cast<ValueId>(r)));
    schema::Attribute axis = std::get<std::int64_t>(recording.attributesOf(op)[1]);
    accumulate(operand, applyAll(OpId::Concat, parts, {&axis, 1}, where)[0]);
  }
  Tensor zerosOf(const schema::TensorType &type) const {
    runtime::Buffer buffer = allocate(type, where);
    std::memset(buffer.data(), 0, type.numBytes());
    return makeEager(std::make_shared<const schema::TensorType>(type), std::move(buffer), where);
  }
  // If an operation takes small parts of operand 0, adds the cotangents of the parts to the operand's cotangent, and
  // returns true. With a cotangent of the operand's size for each of many parts, the time would grow with the square of
  // their number. A tape that records would not see the additions, so no tape may record.
  bool addsParts(const RecordedOp &op, const std::vector<ValueId> &operands, std::span<const Tensor> cotangents) {
    if (batched || eagerTapesActive() || checksNumerics())
      return false;
    const schema::TensorType &type = recording.typeOf(operands[0]);
    std::optional<TakenParts> parts;
    if (schema::MoveRule rule = schema::moveRuleOf(op.op)) {
      std::vector<schema::TensorType> operandTypes, resultTypes;
      for (ValueId operand : operands)
        operandTypes.push_back(recording.typeOf(operand));
      for (std::uint32_t r = 0; r < op.numResults; ++r)
        resultTypes.push_back(recording.typeOf(op.firstResult + static_cast<ValueId>(r)));
      parts = TakenParts::of(rule, {op.op, operandTypes, recording.attributesOf(op)}, resultTypes)[0];
    } else if (op.op == OpId::Gather) {
      const Tensor indices = recorder.tensorOf(operands[1]);
      if (indices.impl()->type->numElements() != 1 || !is_integer(indices.impl()->type->dtype) ||
          !indices.impl()->buffer.data())
        return false;
      const auto axis = schema::normalAxis(std::get<std::int64_t>(recording.attributesOf(op)[0]), type.rank());
      const void *index = indices.impl()->buffer.data();
      parts = TakenParts::ofSlice(type, axis, dispatch(indices.dtype(), [&]<typename T>(std::type_identity<T>) {
                                    return static_cast<std::int64_t>(*static_cast<const T *>(index));
                                  }));
    }
    if (!parts || !parts->areSmall(type) || is_half(type.dtype) || is_complex(type.dtype))
      return false;
    const Tensor &sum = sumOf(operands[0], type);
    auto last = lastParts.find(operands[0]);
    TakenParts added = parts->having(cotangents);
    added.addBack(sum, cotangents, last == lastParts.end() ? nullptr : &last->second);
    lastParts.insert_or_assign(operands[0], std::move(added));
    return true;
  }
  // The sum of a value's cotangents so far, in memory that nothing else uses.
  const Tensor &sumOf(ValueId value, const schema::TensorType &type) {
    Tensor &sum = cotangents[value];
    if (sum.impl() && sum.impl().use_count() == 1 && sum.impl()->buffer.unique() && !sum.impl()->buffer.isForeign())
      return sum;
    runtime::Buffer buffer = allocate(type, where);
    if (sum.impl()) {
      std::memcpy(buffer.data(), sum.impl()->buffer.data(), type.numBytes());
    } else { // -0 is the number that changes no term which is added to it
      dispatch_all(type.dtype, [&]<typename T>(std::type_identity<T>) {
        T none;
        if constexpr (kIsComplex<T>)
          none = T(-0.0, -0.0);
        else
          none = static_cast<T>(-0.0);
        std::fill_n(static_cast<T *>(buffer.data()), type.numElements(), none);
      });
    }
    return sum = makeEager(std::make_shared<const schema::TensorType>(type), std::move(buffer), where);
  }
  // Returns the cotangent of a value whose operation is next. Afterwards, only cotangents of sources are kept.
  Tensor take(ValueId value) {
    auto found = cotangents.find(value);
    if (found == cotangents.end())
      return {};
    Tensor cotangent = found->second;
    if (!isSource[index(value)])
      cotangents.erase(found);
    return cotangent;
  }
  void accumulate(ValueId value, Tensor cotangent) {
    auto [sum, isFirst] = cotangents.try_emplace(value, cotangent);
    if (!isFirst) {
      Tensor operands[] = {std::move(sum->second), std::move(cotangent)};
      Tensor total = applyAsIs(OpId::Add, operands, {}, where);
      cotangents[value] = std::move(total);
    }
  }

  const EagerRecorder &recorder;
  const Recording &recording;
  const bool batched;
  const SourceLocation where;
  std::vector<bool> active, isSource;
  HashMap<ValueId, Tensor> cotangents;
  HashMap<ValueId, TakenParts> lastParts; // the parts that were added last to a cotangent; only they may be -0
};
} // namespace

std::vector<std::optional<Tensor>> TapeState::pullBackEager(const Plan &plan, std::span<const Tensor> seeds,
                                                            bool batched, SourceLocation where) {
  // Operations after the last target do not matter.
  std::vector<std::size_t> ops = seenOps(plan.targets);
  EagerGradient gradient(*eager, batched, where);
  gradient.begin(plan.connected, ops);
  for (std::size_t i = 0; i < seeds.size(); ++i)
    gradient.seed(plan.targets[i], seeds[i]);
  for (std::size_t i = ops.size(); i-- > 0;)
    gradient.reverse(ops[i]);
  std::vector<std::optional<Tensor>> cotangents;
  for (ValueId source : plan.connected)
    cotangents.push_back(gradient.cotangentOf(source));
  return cotangents;
}

} // namespace calque::detail
