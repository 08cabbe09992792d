#include "frontend/operations/ArrayState.h"

#include "absl/strings/str_cat.h"
#include "calque/functions.h"
#include "frontend/core/Apply.h"
#include "frontend/gradients/Tape.h"

#include <algorithm>
#include <mutex>

namespace calque::detail::arrays {

using schema::OpId;

Tensor indexTensor(std::int64_t index, SourceLocation where) { return Operand(index, where).toTensor(DType::Int64); }

Tensor gatherAt(const Tensor &x, const Tensor &indices, SourceLocation where) {
  return calque::gather(Operand(x, where), Operand(indices, where));
}

Tensor updateAt(const Tensor &x, const Tensor &index, const Tensor &slice, SourceLocation where) {
  Tensor operands[] = {x, index, slice};
  schema::Attribute axis = std::int64_t(0);
  return apply(OpId::UpdateAt, operands, {&axis, 1}, where);
}

namespace {
Tensor joined(const std::vector<Tensor> &tensors, SourceLocation where) {
  return tensors.size() == 1 ? tensors[0] : calque::concat(tensors, 0, where);
}
} // namespace

Tensor withAxis(const Tensor &x, SourceLocation where) { return expand_dims(Operand(x, where), {0}); }

Shape withSize(const Size &size, Shape shape) {
  shape.insert(shape.begin(), size);
  return shape;
}

bool isTraced(const Tensor &x) { return x.impl()->trace != 0; }

std::optional<std::vector<std::int64_t>> knownIndices(const Tensor &indices) {
  if (isTraced(indices))
    return std::nullopt;
  if (indices.dtype() == DType::Int64)
    return indices.to_vector<std::int64_t>();
  std::vector<std::int32_t> narrow = indices.to_vector<std::int32_t>();
  return std::vector<std::int64_t>(narrow.begin(), narrow.end());
}

bool isIndex(const Tensor &indices, std::int64_t rank, SourceLocation where) {
  const schema::TensorType &type = *implOf(indices, where).type;
  return is_integer(type.dtype) && type.rank() == rank;
}

Tensor indicesOf(const Operand &given) { return given.isNumber() ? given.toTensor(DType::Int64) : given.tensor(); }
Tensor indexOf(const char *name, const Operand &given, SourceLocation where) {
  Tensor index = indicesOf(given);
  if (!isIndex(index, 0, where))
    throw ShapeError(absl::StrCat(name, ": the index must be an integer scalar, not ", index.impl()->type->str()),
                     where);
  return index;
}

void throwOutOfRange(const char *name, std::int64_t index, std::int64_t size, SourceLocation where) {
  throw IndexError(absl::StrCat(name, ": index ", index, " is out of range [0, ", size, ")"), where);
}

void throwNotWritten(const char *name, std::int64_t index, SourceLocation where) {
  throw AssertionError(absl::StrCat(name, ": element ", index, " was not written"), where);
}

void throwWritten(const char *name, std::int64_t index, SourceLocation where) {
  throw AssertionError(absl::StrCat(name, ": element ", index, " was written before; with .overwrite = true it may be"),
                       where);
}

void throwCannotGrow(const char *name, SourceLocation where) {
  throw StateError(absl::StrCat(name, ": an array that is made without a size can't grow where the index is known at "
                                      "the call only, nor in a traced loop as its variable; make it with its size"),
                   where);
}

std::optional<std::size_t> firstFalse(const Tensor &flags) {
  std::vector<bool> values = flags.to_vector<bool>();
  auto found = std::ranges::find(values, false);
  return found == values.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - values.begin()));
}

void requireWritten(const char *name, const Tensor &flags, const std::optional<std::vector<std::int64_t>> &indices,
                    SourceLocation where) {
  if (isTraced(flags))
    assert_true(Operand(flags, where), absl::StrCat(name, ": an element was not written"));
  else if (std::optional<std::size_t> place = firstFalse(flags))
    throwNotWritten(name, indices ? (*indices)[*place] : static_cast<std::int64_t>(*place), where);
}

void requireNotWritten(const char *name, const Tensor &flags, const std::optional<std::vector<std::int64_t>> &indices,
                       SourceLocation where) {
  Tensor free = logical_not(Operand(flags, where));
  if (isTraced(free))
    assert_true(Operand(free, where),
                absl::StrCat(name, ": an element was written before; with .overwrite = true it may be"));
  else if (std::optional<std::size_t> place = firstFalse(free))
    throwWritten(name, indices ? (*indices)[*place] : static_cast<std::int64_t>(*place), where);
}

namespace {
// Refuses tensors of a trace outside of the trace, and arrays that a transform has taken apart or put together.
void requireUsable(const char *name, const ArrayState &state, SourceLocation where) {
  auto isLeaked = [](std::uint64_t trace) { return trace && !(currentTrace() && currentTrace()->sees(trace)); };
  bool leaked = isLeaked(state.homeId);
  SourceLocation line = state.writtenAt;
  if (state.isWhole()) {
    const TensorImpl &elements = implOf(state.whole.elements), &written = implOf(state.whole.written);
    leaked = isLeaked(elements.trace) || isLeaked(written.trace);
    line = elements.where;
    if (written.type->rank() != 1)
      throw StateError(absl::StrCat(name,
                                    ": vmap, scan and map_fn neither take an array apart nor put arrays together; "
                                    "give them what stack() returns"),
                       where);
  }
  if (leaked)
    throw LeakedTensorError(absl::StrCat(name, ": the array holds what was written in a trace, at ", lineOf(line).str(),
                                         ", and is used outside of it; make it a loop variable, or return it"),
                            where);
}
} // namespace

void requireTyped(const char *name, const ArrayState &state, SourceLocation where) {
  if (!state.hasType())
    throw StateError(absl::StrCat(name, ": the type of the elements is not known, as nothing was written; make the "
                                        "array with a dtype and a shape"),
                     where);
}

void requireElement(const char *name, const ArrayState &state, const schema::TensorType &given, SourceLocation where) {
  if (!state.hasType())
    return;
  const schema::TensorType wanted = state.elementType();
  auto fits = [](std::int64_t a, std::int64_t b) { return a == b || a == schema::kOpenSize || b == schema::kOpenSize; };
  if (given.dtype != wanted.dtype ||
      !std::equal(given.dims.begin(), given.dims.end(), wanted.dims.begin(), wanted.dims.end(), fits))
    requireType(absl::StrCat(name, ": the elements are ", wanted.str(), ", and one is given that is ", given.str()),
                given, wanted, where);
}

Tensor valueOf(const ArrayState &state, const Operand &x) {
  return x.isNumber() && state.hasType() ? x.toTensor(state.elementType().dtype) : x.toTensor();
}

schema::TensorType sliceType(const char *name, const Tensor &x, SourceLocation where) {
  schema::TensorType type = *implOf(x, where).type;
  if (type.rank() == 0)
    throw ShapeError(absl::StrCat(name, ": slices are written, and a scalar has none"), where);
  type.dims.erase(type.dims.begin());
  return type;
}

void requireSlices(const char *name, const Size &wanted, const Tensor &x, SourceLocation where) {
  const Size given = x.shape(where)[0];
  if (!given.is_known() || !wanted.is_known())
    assert_true(Operand(equal(Operand(given, where), Operand(wanted, where)), where),
                absl::StrCat(name, ": the slices are more, or fewer, than what they are for"));
  else if (std::int64_t(given) != std::int64_t(wanted))
    throw ShapeError(
        absl::StrCat(name, ": slices are needed for ", std::int64_t(wanted), ", and given is ", implOf(x).type->str()),
        where);
}

Size sizeOf(const ArrayState &state, SourceLocation where) {
  if (state.isWhole())
    return state.whole.elements.shape(where)[0];
  return state.isOpen() ? state.openSize : Size(state.items.size());
}

namespace {
// The elements and flags of a list.
ArrayParts made(const ArrayState &state, SourceLocation where) {
  const std::size_t count = state.items.size();
  std::vector<bool> flags;
  std::vector<Tensor> pieces;
  for (std::size_t i = 0; i < count;) {
    std::size_t end = i;
    while (end < count && !state.items[end].defined())
      ++end;
    if (end > i) {
      pieces.push_back(zeros(withSize(Size(end - i), state.shape), *state.dtype, where));
      flags.insert(flags.end(), end - i, false);
    } else {
      pieces.push_back(withAxis(state.items[i], where));
      flags.push_back(true);
      ++end;
    }
    i = end;
  }
  if (pieces.empty())
    pieces.push_back(zeros(withSize(0, state.shape), *state.dtype, where));
  const bool all = std::ranges::count(flags, false) == 0, none = std::ranges::count(flags, true) == 0;
  const Shape one{Size(count)};
  return {joined(pieces, where), all    ? ones(one, DType::Bool, where)
                                 : none ? zeros(one, DType::Bool, where)
                                        : tensor(flags, one, where)};
}
} // namespace

ArrayParts partsOf(const ArrayState &state, SourceLocation where) {
  if (state.isWhole())
    return state.whole;
  std::lock_guard lock(state.mutex);
  if (!state.made.elements.defined() || !activeTapes().empty()) {
    TraceScope around(state.home.lock(), false);
    state.made = made(state, where);
  }
  return state.made;
}

bool isAllWritten(const ArrayState &state) {
  if (state.isWhole())
    return state.allWritten;
  return !state.isOpen() && std::ranges::all_of(state.items, &Tensor::defined);
}

ArrayParts partsToWrite(const char *name, const ArrayState &state, DType dtype, const Shape &shape,
                        SourceLocation where) {
  const Size size = sizeOf(state, where);
  const bool isEmpty = size.is_known() && std::int64_t(size) == 0;
  if (!state.options.overwrite && isAllWritten(state) && !isEmpty)
    throw AssertionError(absl::StrCat(name, ": an element was written before; with .overwrite = true it may be"),
                         where);
  if (state.hasType())
    return partsOf(state, where);
  return {zeros(withSize(size, shape), dtype, where), zeros({size}, DType::Bool, where)};
}

const ArrayState &usable(const std::shared_ptr<ArrayState> &state, const char *name, SourceLocation where) {
  if (!state)
    throwEmptyHandle("array", where);
  requireUsable(name, *state, where);
  return *state;
}

} // namespace calque::detail::arrays
