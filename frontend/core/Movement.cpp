#include "frontend/core/Movement.h"

#include "runtime/StridedCopy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace calque::detail {

using schema::index;
using schema::OpId;
using schema::ValueId;

namespace {

// Whether one move copies the whole operand without a change of order, so that the only result can share its memory.
bool keepsPlaces(const schema::Movement &movement, const schema::OpCall &call, const schema::TensorType &result) {
  if (movement.moves.size() != 1 || movement.around)
    return false;
  const schema::Move &move = movement.moves[0];
  if (move.from.offset != move.to.offset || call[move.operand].numElements() != result.numElements())
    return false;
  for (std::size_t i = 0; i < move.sizes.size(); ++i)
    if (move.sizes[i] != 1 && move.from.strides[i] != move.to.strides[i])
      return false;
  return true;
}

Tensor elementOf(const schema::Scalar &value, DType dtype, SourceLocation where) {
  return dispatch_all(dtype, [&]<typename T>(std::type_identity<T>) {
    if constexpr (kIsComplex<T>)
      return Operand(value.as<double>(), where).toTensor(dtype);
    else
      return Operand(value.as<T>(), where).toTensor(dtype);
  });
}

} // namespace

void moveElements(schema::MoveRule rule, const schema::OpCall &call, std::span<const Tensor *const> operands,
                  std::vector<schema::TensorType> types, std::span<Tensor> results, SourceLocation where) {
  schema::Movement movement = rule(call, types);
  if (types.size() == 1 && keepsPlaces(movement, call, types[0])) {
    const TensorImpl &operand = *operands[movement.moves[0].operand]->impl();
    results[0] = makeEager(*operand.type == types[0] ? operand.type
                                                     : std::make_shared<const schema::TensorType>(std::move(types[0])),
                           operand.buffer, where);
    return;
  }
  std::vector<runtime::Buffer> buffers;
  for (const schema::TensorType &type : types) {
    buffers.push_back(allocate(type, where));
    if (movement.around) {
      Tensor element = elementOf(*movement.around, type.dtype, where);
      runtime::fillElements(static_cast<std::byte *>(buffers.back().data()), element.impl()->buffer.data(),
                            size_of(type.dtype), type.numElements());
    }
  }
  for (const schema::Move &move : movement.moves) {
    std::size_t bytes = size_of(types[move.result].dtype);
    auto *to = static_cast<std::byte *>(buffers[move.result].data());
    auto *from = static_cast<const std::byte *>(operands[move.operand]->impl()->buffer.data());
    runtime::copyStrided(to + move.to.offset * static_cast<std::int64_t>(bytes),
                         from + move.from.offset * static_cast<std::int64_t>(bytes), bytes, move.sizes,
                         move.from.strides, move.to.strides);
  }
  for (std::size_t r = 0; r < types.size(); ++r)
    results[r] =
        makeEager(std::make_shared<const schema::TensorType>(std::move(types[r])), std::move(buffers[r]), where);
}

namespace {
// Whether no two elements of a box are one element of the tensor: each stride steps over all that smaller ones reach.
bool isOneToOne(const schema::Dims &sizes, const schema::Placement &placement) {
  std::vector<std::pair<std::int64_t, std::int64_t>> steps; // stride and size
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] != 1)
      steps.emplace_back(std::abs(placement.strides[i]), sizes[i]);
  std::ranges::sort(steps);
  std::int64_t reached = 0;
  for (auto [stride, size] : steps) {
    if (stride <= reached)
      return false;
    reached += stride * (size - 1);
  }
  return true;
}
} // namespace

std::vector<TakenParts> TakenParts::of(schema::MoveRule rule, const schema::OpCall &call,
                                       std::span<const schema::TensorType> results) {
  std::vector<TakenParts> parts(call.operands.size());
  for (schema::Move &move : rule(call, results).moves) {
    TakenParts &of = parts[move.operand];
    of.areOneToOne = of.areOneToOne && isOneToOne(move.sizes, move.from);
    of.moves.push_back(std::move(move));
  }
  return parts;
}

TakenParts TakenParts::ofSlice(const schema::TensorType &type, std::int64_t axis, std::int64_t index) {
  TakenParts parts;
  schema::Move &move = parts.moves.emplace_back();
  move.operand = 0;
  move.sizes = type.dims;
  move.sizes[static_cast<std::size_t>(axis)] = 1;
  move.from = schema::rowMajor(type.dims);
  move.to = schema::rowMajor(move.sizes);
  move.from.offset = index * move.from.strides[static_cast<std::size_t>(axis)];
  return parts;
}

std::optional<Tensor> TakenParts::moveBack(const schema::TensorType &type, std::span<const Tensor> cotangents,
                                           SourceLocation where) const {
  if (moves.size() != 1 || !areOneToOne || !cotangents[moves[0].result].impl())
    return std::nullopt;
  const schema::Move &move = moves[0];
  const auto bytes = static_cast<std::int64_t>(size_of(type.dtype));
  runtime::Buffer buffer = allocate(type, where);
  std::int64_t moved = 1;
  for (std::int64_t size : move.sizes)
    moved *= size;
  if (moved != type.numElements())
    std::memset(buffer.data(), 0, type.numBytes());
  runtime::copyStrided(static_cast<std::byte *>(buffer.data()) + move.from.offset * bytes,
                       static_cast<const std::byte *>(cotangents[move.result].impl()->buffer.data()) +
                           move.to.offset * bytes,
                       static_cast<std::size_t>(bytes), move.sizes, move.to.strides, move.from.strides);
  return makeEager(std::make_shared<const schema::TensorType>(type), std::move(buffer), where);
}

bool TakenParts::areSmall(const schema::TensorType &type) const {
  constexpr std::int64_t kFewTimes = 8; // else all threads add
  return areOneToOne && !moves.empty() && std::ranges::all_of(moves, [&](const schema::Move &move) {
           return schema::TensorType{type.dtype, move.sizes}.numElements() <= type.numElements() / kFewTimes;
         });
}

TakenParts TakenParts::having(std::span<const Tensor> cotangents) const {
  TakenParts left = *this;
  std::erase_if(left.moves, [&](const schema::Move &move) { return !cotangents[move.result].impl(); });
  return left;
}

void TakenParts::addBack(const Tensor &sum, std::span<const Tensor> cotangents, const TakenParts *before) const {
  const TensorImpl &to = *sum.impl();
  auto isSame = [](const schema::Move &a, const schema::Move &b) {
    return a.sizes == b.sizes && a.from.offset == b.from.offset && a.from.strides == b.from.strides;
  };
  auto addAll = [&]<typename T>(std::type_identity<T>) {
    T *const elements = static_cast<T *>(to.buffer.data());
    // Elements that stay as they are while 0 is added to the others.
    auto exchange = [&](std::vector<std::vector<T>> &kept, bool back) {
      for (std::size_t i = 0; i < moves.size(); ++i) {
        const schema::Move &move = moves[i];
        std::vector<std::int64_t> dense(move.sizes.size());
        std::int64_t count = 1;
        for (std::size_t d = dense.size(); d-- > 0; count *= move.sizes[d])
          dense[d] = count;
        kept[i].resize(static_cast<std::size_t>(count));
        T *const part = elements + move.from.offset;
        back ? runtime::copyStrided(part, kept[i].data(), sizeof(T), move.sizes, dense, move.from.strides)
             : runtime::copyStrided(kept[i].data(), part, sizeof(T), move.sizes, move.from.strides, dense);
      }
    };
    if (!before || !std::ranges::equal(before->moves, moves, isSame)) {
      std::vector<std::vector<T>> kept(moves.size());
      exchange(kept, false);
      const T zero = 0;
      if (!before)
        for (std::int64_t i = 0, count = to.type->numElements(); i < count; ++i)
          elements[i] += zero;
      else
        for (const schema::Move &move : before->moves)
          runtime::addStrided(elements + move.from.offset, &zero, move.sizes,
                              std::vector<std::int64_t>(move.sizes.size()), move.from.strides);
      exchange(kept, true);
    }
    for (const schema::Move &move : moves)
      runtime::addStrided(elements + move.from.offset,
                          static_cast<const T *>(cotangents[move.result].impl()->buffer.data()) + move.to.offset,
                          move.sizes, move.to.strides, move.from.strides);
  };
  if (to.type->dtype == DType::Float32)
    addAll(std::type_identity<float>());
  else
    addAll(std::type_identity<double>());
}

//===-- Positions as operands -------------------------------------------------------------------===//

namespace {

// Copies a recording, and replaces operations with positions by their indexed form.
class Indexing {
public:
  explicit Indexing(const schema::Recording &from) : from(from), renamed(from.numValues(), -1) {
    into.recording.name = from.name;
    into.recording.line = from.line;
    into.recording.variables = from.variables;
    for (ValueId parameter : from.parameters)
      renamed[index(parameter)] = into.recording.addParameter(from.typeOf(parameter));
  }

  IndexedRecording take() {
    for (const schema::RecordedOp &op : from.ops())
      add(op);
    for (ValueId result : from.results)
      into.recording.results.push_back(renamed[index(result)]);
    return std::move(into);
  }

private:
  void add(const schema::RecordedOp &op) {
    std::vector<ValueId> operands;
    std::vector<schema::TensorType> operandTypes, types;
    for (ValueId operand : from.operandsOf(op)) {
      operands.push_back(renamed[index(operand)]);
      operandTypes.push_back(from.typeOf(operand));
    }
    for (std::uint32_t r = 0; r < op.numResults; ++r)
      types.push_back(from.typeOf(op.firstResult + static_cast<ValueId>(r)));
    if (types.size() == 1)
      if (std::optional<schema::Indexed> indexed =
              schema::indexedForm({op.op, operandTypes, from.attributesOf(op)}, types[0]);
          indexed && !indexed->axes.empty()) {
        renamed[index(op.firstResult)] = addIndexed(*indexed, operands[0], types[0], op.line);
        return;
      }
    ValueId first = into.recording.append(op.op, operands, from.attributesOf(op), types, op.line);
    for (std::uint32_t r = 0; r < op.numResults; ++r)
      renamed[index(op.firstResult) + r] = first + static_cast<ValueId>(r);
  }

  // Appends a gather, or a gather_put, for each axis.
  ValueId addIndexed(const schema::Indexed &indexed, ValueId value, const schema::TensorType &result,
                     schema::SourceLine line) {
    schema::TensorType type = into.recording.typeOf(value);
    for (const schema::IndexedAxis &axis : indexed.axes) {
      schema::Attribute along = axis.axis;
      Tensor indices = makeTensor(DType::Int64, axis.indices.data(), axis.indices.size(),
                                  {static_cast<std::int64_t>(axis.indices.size())}, {});
      ValueId parameter = into.recording.addParameter(*indices.impl()->type);
      into.indices.push_back(std::move(indices));
      type.dims[static_cast<std::size_t>(axis.axis)] = result.dims[static_cast<std::size_t>(axis.axis)];
      if (indexed.puts) {
        const ValueId operands[] = {value, zeros(type, line), parameter};
        value = into.recording.append(OpId::GatherPut, operands, {&along, 1}, {&type, 1}, line);
      } else {
        const ValueId operands[] = {value, parameter};
        value = into.recording.append(OpId::Gather, operands, {&along, 1}, {&type, 1}, line);
      }
    }
    return value;
  }

  ValueId zeros(const schema::TensorType &type, schema::SourceLine line) {
    auto constant = std::make_shared<schema::ConstantData>();
    constant->type = type;
    constant->splat = true;
    constant->bytes.resize(size_of(type.dtype));
    schema::Attribute value = schema::ConstantRef(std::move(constant));
    return into.recording.append(OpId::Constant, {}, {&value, 1}, {&type, 1}, line);
  }

  const schema::Recording &from;
  std::vector<ValueId> renamed;
  IndexedRecording into;
};

} // namespace

IndexedRecording withIndices(const schema::Recording &recording) { return Indexing(recording).take(); }

} // namespace calque::detail
