#include "calque/tensor_array.h"

#include "absl/strings/str_cat.h"
#include "calque/call_site.h"
#include "calque/functions.h"
#include "frontend/core/Apply.h"
#include "frontend/core/Shape.h"
#include "frontend/gradients/Tape.h"
#include "runtime/Fork.h"

#include <algorithm>
#include <mutex>
#include <numeric>

namespace calque {

using detail::ArrayParts;
using detail::ArrayState;
using schema::OpId;

namespace detail {

// An array is a list as long as every index is known that it is written at: what is written is known too, and a write
// moves nothing. Else it is whole.
struct ArrayState {
  ArrayState(TensorArrayOptions options, bool grows, SourceLocation where)
      : options(options), grows(grows), where(where) {
    noteHome(where);
  }
  ArrayState(const ArrayState &other)
      : options(other.options), grows(other.grows), where(other.where), dtype(other.dtype), shape(other.shape),
        openSize(other.openSize), items(other.items), home(other.home), homeId(other.homeId),
        writtenAt(other.writtenAt), whole(other.whole), allWritten(other.allWritten) {}

  void noteHome(SourceLocation at) {
    const std::shared_ptr<Trace> &trace = currentTrace();
    home = trace;
    homeId = trace ? trace->id : 0;
    writtenAt = at;
  }
  bool isWhole() const { return whole.elements.defined(); }
  // A list whose number of elements only the call knows, and whose type nobody does.
  bool isOpen() const { return !isWhole() && !openSize.is_known(); }
  bool hasType() const { return isWhole() || dtype; }
  schema::TensorType elementType() const {
    if (!isWhole())
      return {*dtype, openDims(shape)};
    schema::TensorType type = *implOf(whole.elements).type;
    type.dims.erase(type.dims.begin());
    return type;
  }
  Shape elementShape(SourceLocation at) const {
    Shape sizes = shape;
    if (isWhole()) {
      sizes = whole.elements.shape(at);
      sizes.erase(sizes.begin());
    }
    return sizes;
  }

  TensorArrayOptions options;
  bool grows;
  SourceLocation where; // it is made

  // A list.
  std::optional<DType> dtype; // of elements, where known
  Shape shape;
  Size openSize;             // 0 where the list has its number of elements
  std::vector<Tensor> items; // those that are not written are empty
  std::weak_ptr<Trace> home; // the trace that it was made or written in last; none for an eager list
  std::uint64_t homeId = 0;
  SourceLocation writtenAt;
  mutable runtime::ForkMutex mutex; // threads may share an array that they only read
  mutable ArrayParts made;          // of the list, as they were asked for last

  ArrayParts whole;
  bool allWritten = false; // as far as is known
};

} // namespace detail

namespace {

Tensor indexTensor(std::int64_t index, SourceLocation where) { return Operand(index, where).toTensor(DType::Int64); }

Tensor gatherAt(const Tensor &x, const Tensor &indices, SourceLocation where) {
  return calque::gather(Operand(x, where), Operand(indices, where));
}

Tensor updateAt(const Tensor &x, const Tensor &index, const Tensor &slice, SourceLocation where) {
  Tensor operands[] = {x, index, slice};
  schema::Attribute axis = std::int64_t(0);
  return detail::apply(OpId::UpdateAt, operands, {&axis, 1}, where);
}

Tensor joined(const std::vector<Tensor> &tensors, SourceLocation where) {
  return tensors.size() == 1 ? tensors[0] : calque::concat(tensors, 0, where);
}

Tensor withAxis(const Tensor &x, SourceLocation where) { return expand_dims(Operand(x, where), {0}); }

Shape withSize(const Size &size, Shape shape) {
  shape.insert(shape.begin(), size);
  return shape;
}

bool isTraced(const Tensor &x) { return x.impl()->trace != 0; }

// The elements of indices, where they are known.
std::optional<std::vector<std::int64_t>> knownIndices(const Tensor &indices) {
  if (isTraced(indices))
    return std::nullopt;
  if (indices.dtype() == DType::Int64)
    return indices.to_vector<std::int64_t>();
  std::vector<std::int32_t> narrow = indices.to_vector<std::int32_t>();
  return std::vector<std::int64_t>(narrow.begin(), narrow.end());
}

// Whether it is integers of a rank.
bool isIndex(const Tensor &indices, std::int64_t rank, SourceLocation where) {
  const schema::TensorType &type = *detail::implOf(indices, where).type;
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

[[noreturn]] void throwOutOfRange(const char *name, std::int64_t index, std::int64_t size, SourceLocation where) {
  throw IndexError(absl::StrCat(name, ": index ", index, " is out of range [0, ", size, ")"), where);
}
[[noreturn]] void throwNotWritten(const char *name, std::int64_t index, SourceLocation where) {
  throw AssertionError(absl::StrCat(name, ": element ", index, " was not written"), where);
}
[[noreturn]] void throwWritten(const char *name, std::int64_t index, SourceLocation where) {
  throw AssertionError(absl::StrCat(name, ": element ", index, " was written before; with .overwrite = true it may be"),
                       where);
}
[[noreturn]] void throwCannotGrow(const char *name, SourceLocation where) {
  throw StateError(absl::StrCat(name, ": an array that is made without a size can't grow where the index is known at "
                                      "the call only, nor in a traced loop as its variable; make it with its size"),
                   where);
}

// The first place where an eager bool tensor does not hold.
std::optional<std::size_t> firstFalse(const Tensor &flags) {
  std::vector<bool> values = flags.to_vector<bool>();
  auto found = std::ranges::find(values, false);
  return found == values.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - values.begin()));
}

// Refuses elements that are not written, or that are, by the flags of elements at indices: now, or at the call.
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

// Refuses a trace's tensors outside of it, and what transforms have made of an array.
void requireUsable(const char *name, const ArrayState &state, SourceLocation where) {
  auto isLeaked = [](std::uint64_t trace) {
    return trace && !(detail::currentTrace() && detail::currentTrace()->sees(trace));
  };
  bool leaked = isLeaked(state.homeId);
  SourceLocation line = state.writtenAt;
  if (state.isWhole()) {
    const detail::TensorImpl &elements = detail::implOf(state.whole.elements),
                             &written = detail::implOf(state.whole.written);
    leaked = isLeaked(elements.trace) || isLeaked(written.trace);
    line = elements.where;
    if (written.type->rank() != 1)
      throw StateError(absl::StrCat(name,
                                    ": vmap, scan and map_fn neither take an array apart nor put arrays together; "
                                    "give them what stack() returns"),
                       where);
  }
  if (leaked)
    throw LeakedTensorError(absl::StrCat(name, ": the array holds what was written in a trace, at ",
                                         detail::lineOf(line).str(),
                                         ", and is used outside of it; make it a loop variable, or return it"),
                            where);
}

void requireTyped(const char *name, const ArrayState &state, SourceLocation where) {
  if (!state.hasType())
    throw StateError(absl::StrCat(name, ": the type of the elements is not known, as nothing was written; make the "
                                        "array with a dtype and a shape"),
                     where);
}

// Refuses another type than that of the elements. Sizes that are not known are compared at the call.
void requireElement(const char *name, const ArrayState &state, const schema::TensorType &given, SourceLocation where) {
  if (!state.hasType())
    return;
  const schema::TensorType wanted = state.elementType();
  auto fits = [](std::int64_t a, std::int64_t b) { return a == b || a == schema::kOpenSize || b == schema::kOpenSize; };
  if (given.dtype != wanted.dtype ||
      !std::equal(given.dims.begin(), given.dims.end(), wanted.dims.begin(), wanted.dims.end(), fits))
    detail::requireType(
        absl::StrCat(name, ": the elements are ", wanted.str(), ", and one is given that is ", given.str()), given,
        wanted, where);
}

// What is written: a number has the type of the elements.
Tensor valueOf(const ArrayState &state, const Operand &x) {
  return x.isNumber() && state.hasType() ? x.toTensor(state.elementType().dtype) : x.toTensor();
}

// The type of the slices along axis 0.
schema::TensorType sliceType(const char *name, const Tensor &x, SourceLocation where) {
  schema::TensorType type = *detail::implOf(x, where).type;
  if (type.rank() == 0)
    throw ShapeError(absl::StrCat(name, ": slices are written, and a scalar has none"), where);
  type.dims.erase(type.dims.begin());
  return type;
}

// Refuses a list of other sizes: now, or at the call.
void requireSlices(const char *name, const Size &wanted, const Tensor &x, SourceLocation where) {
  const Size given = x.shape(where)[0];
  if (!given.is_known() || !wanted.is_known())
    assert_true(Operand(equal(Operand(given, where), Operand(wanted, where)), where),
                absl::StrCat(name, ": the slices are more, or fewer, than what they are for"));
  else if (std::int64_t(given) != std::int64_t(wanted))
    throw ShapeError(absl::StrCat(name, ": slices are needed for ", std::int64_t(wanted), ", and given is ",
                                  detail::implOf(x).type->str()),
                     where);
}

Size sizeOf(const ArrayState &state, SourceLocation where) {
  if (state.isWhole())
    return state.whole.elements.shape(where)[0];
  return state.isOpen() ? state.openSize : Size(state.items.size());
}

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

// The parts of an array whose elements have a type. Those of a list are made where it was written, once: outside of the
// loop, for a list that the loop's body only reads. A tape may have begun to watch the elements since they were made.
ArrayParts partsOf(const ArrayState &state, SourceLocation where) {
  if (state.isWhole())
    return state.whole;
  std::lock_guard lock(state.mutex);
  if (!state.made.elements.defined() || !detail::activeTapes().empty()) {
    detail::TraceScope around(state.home.lock(), false);
    state.made = made(state, where);
  }
  return state.made;
}

// Whether all elements are known to be written.
bool isAllWritten(const ArrayState &state) {
  if (state.isWhole())
    return state.allWritten;
  return !state.isOpen() && std::ranges::all_of(state.items, &Tensor::defined);
}

// The parts of an array that tensors of a type are written to. Refuses one that has no place left.
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
    detail::throwEmptyHandle("array", where);
  requireUsable(name, *state, where);
  return *state;
}

} // namespace

//===-- Making ----------------------------------------------------------------------------------===//

TensorArray::TensorArray(TensorArrayOptions options, SourceLocation where)
    : state_(std::make_shared<ArrayState>(options, true, detail::userLine(where))) {}

TensorArray::TensorArray(const Size &size, TensorArrayOptions options, SourceLocation where)
    : state_(std::make_shared<ArrayState>(options, false, detail::userLine(where))) {
  where = detail::userLine(where);
  CallSite site(where, "TensorArray");
  if (!size.is_known()) {
    (void)Operand(size, where); // refuses kDynamic
    state_->openSize = size;
    return;
  }
  if (std::int64_t(size) < 0)
    throw ValueError(absl::StrCat("TensorArray: the size must not be negative, and is ", std::int64_t(size)), where);
  state_->items.resize(static_cast<std::size_t>(std::int64_t(size)));
}

TensorArray::TensorArray(const Size &size, DType dtype, const Shape &element_shape, TensorArrayOptions options,
                         SourceLocation where)
    : TensorArray(size, options, where) {
  where = detail::userLine(where);
  CallSite site(where, "TensorArray");
  detail::requireElementType(dtype, where);
  if (size.is_known() && element_shape.is_known()) {
    detail::checkShape(element_shape, dtype, where);
    state_->dtype = dtype;
    state_->shape = element_shape;
    return;
  }
  setParts({zeros(withSize(size, element_shape), dtype, where), zeros({size}, DType::Bool, where)}, false);
}

//===-- Parts -----------------------------------------------------------------------------------===//

ArrayState &TensorArray::own() {
  if (state_.use_count() > 1)
    state_ = std::make_shared<ArrayState>(*state_);
  return *state_;
}

void TensorArray::setParts(ArrayParts parts, bool allWritten) {
  auto next = std::make_shared<ArrayState>(state_->options, state_->grows, state_->where);
  next->whole = std::move(parts);
  next->allWritten = allWritten;
  state_ = std::move(next);
}

detail::ArrayTraits TensorArray::traits() const {
  const ArrayState &state = usable(state_, "TensorArray", detail::userLine({}));
  return {state.options.overwrite, state.options.zeros, state.grows};
}

ArrayParts TensorArray::parts() const {
  const SourceLocation where = detail::userLine(state_ ? state_->where : SourceLocation());
  CallSite site(where, "TensorArray");
  const ArrayState &state = usable(state_, "TensorArray", where);
  requireTyped("TensorArray", state, where);
  return partsOf(state, where);
}

ArrayParts TensorArray::lastParts() const {
  if (state_) {
    std::lock_guard lock(state_->mutex);
    if (const ArrayParts &last = state_->isWhole() ? state_->whole : state_->made; last.elements.defined())
      return last;
  }
  return parts();
}

TensorArray TensorArray::withParts(ArrayParts parts) const {
  TensorArray made = *this;
  made.setParts(std::move(parts), false);
  return made;
}

Size TensorArray::size(SourceLocation where) const {
  where = detail::userLine(where);
  return sizeOf(usable(state_, "TensorArray::size", where), where);
}

DType TensorArray::dtype(SourceLocation where) const {
  where = detail::userLine(where);
  const ArrayState &state = usable(state_, "TensorArray::dtype", where);
  requireTyped("TensorArray::dtype", state, where);
  return state.elementType().dtype;
}

Shape TensorArray::element_shape(SourceLocation where) const {
  where = detail::userLine(where);
  const ArrayState &state = usable(state_, "TensorArray::element_shape", where);
  requireTyped("TensorArray::element_shape", state, where);
  return state.elementShape(where);
}

//===-- Writing ---------------------------------------------------------------------------------===//

TensorArray &TensorArray::write(const Operand &index, const Operand &x) {
  const char *name = "TensorArray::write";
  const SourceLocation where = detail::userLine(index.where());
  CallSite site(where, name);
  const ArrayState &state = usable(state_, name, where);
  const Tensor at = indexOf(name, index, where), value = valueOf(state, x);
  requireElement(name, state, *detail::implOf(value, where).type, where);
  if (auto known = knownIndices(at)) {
    writeKnown(known->front(), value, name, where);
    return *this;
  }
  if (state.grows)
    throwCannotGrow(name, where);
  writeWhole(at, value, name, where);
  return *this;
}

void TensorArray::writeKnown(std::int64_t index, const Tensor &x, const char *name, SourceLocation where) {
  const ArrayState &state = *state_;
  const Size size = sizeOf(state, where);
  const bool adds = state.grows && size.is_known() && index == std::int64_t(size);
  if (size.is_known() && !adds && (index < 0 || index >= std::int64_t(size)))
    throwOutOfRange(name, index, size, where);
  if (state.isWhole() || state.isOpen()) {
    if (!adds)
      return writeWhole(indexTensor(index, where), x, name, where);
    if (const std::shared_ptr<detail::Trace> &trace = detail::currentTrace(); trace && trace->isInside())
      throwCannotGrow(name, where);
    const ArrayParts &parts = state.whole;
    return setParts({calque::concat({parts.elements, withAxis(x, where)}, 0, where),
                     calque::concat({parts.written, ones({1}, DType::Bool, where)}, 0, where)},
                    state.allWritten);
  }
  const auto place = static_cast<std::size_t>(index);
  if (!adds && state.items[place].defined() && !state.options.overwrite)
    throwWritten(name, index, where);
  ArrayState &next = own();
  if (adds)
    next.items.push_back(x);
  else
    next.items[place] = x;
  if (!next.dtype) {
    next.dtype = x.dtype(where);
    next.shape = x.shape(where);
  }
  next.noteHome(where);
  next.made = {};
}

void TensorArray::writeWhole(const Tensor &index, const Tensor &x, const char *name, SourceLocation where) {
  const ArrayState &state = *state_;
  const bool allWritten = isAllWritten(state);
  ArrayParts parts = partsToWrite(name, state, x.dtype(where), x.shape(where), where);
  if (!state.options.overwrite) {
    requireNotWritten(name, gatherAt(parts.written, index, where), knownIndices(index), where);
  }
  parts.elements = updateAt(parts.elements, index, x, where);
  if (!allWritten)
    parts.written = updateAt(parts.written, index, Operand(true, where).toTensor(), where);
  setParts(std::move(parts), allWritten);
}

TensorArray &TensorArray::scatter(const Operand &indices, const Operand &x) {
  const char *name = "TensorArray::scatter";
  const SourceLocation where = detail::userLine(indices.where());
  CallSite site(where, name);
  const ArrayState &state = usable(state_, name, where);
  const Tensor at = indicesOf(indices), values = valueOf(state, x);
  if (!isIndex(at, 1, where))
    throw ShapeError(absl::StrCat(name, ": the indices must be integers of rank 1, not ", at.impl()->type->str()),
                     where);

  requireElement(name, state, sliceType(name, values, where), where);
  requireSlices(name, at.shape(where)[0], values, where);
  const std::optional<std::vector<std::int64_t>> known = knownIndices(at);
  if (!known || state.isWhole() || state.isOpen()) {
    if (state.grows)
      throwCannotGrow(name, where);
    scatterWhole(at, values, name, where);
    return *this;
  }
  // In the order of the indices, in which an array grows.
  std::vector<std::size_t> order(known->size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::size_t i) { return (*known)[i]; });
  TensorArray next = *this;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::int64_t index = (*known)[order[k]];
    if (k > 0 && (*known)[order[k - 1]] == index)
      throw AssertionError(absl::StrCat(name, ": index ", index, " is given twice"), where);
    const Tensor row = gatherAt(values, indexTensor(static_cast<std::int64_t>(order[k]), where), where);
    next.writeKnown(index, row, name, where);
  }
  *this = std::move(next);
  return *this;
}

void TensorArray::scatterWhole(const Tensor &indices, const Tensor &x, const char *name, SourceLocation where) {
  const ArrayState &state = *state_;
  const bool allWritten = isAllWritten(state);
  Shape shape = x.shape(where);
  shape.erase(shape.begin());
  ArrayParts parts = partsToWrite(name, state, x.dtype(where), shape, where);
  const Size size = parts.elements.shape(where)[0], count = x.shape(where)[0];
  auto put = [&](const Tensor &numbers) {
    Tensor operands[] = {numbers, zeros({size}, DType::Int64, where), indices};
    schema::Attribute axis = std::int64_t(0);
    return Operand(detail::apply(OpId::GatherPut, operands, {&axis, 1}, where), where);
  };
  const Tensor times = put(ones({count}, DType::Int64, where)).tensor();
  const Tensor isOnce = less_equal(Operand(times, where), Operand(1, where));
  if (isTraced(isOnce))
    assert_true(Operand(isOnce, where), absl::StrCat(name, ": an index is given twice"));
  else if (std::optional<std::size_t> place = firstFalse(isOnce))
    throw AssertionError(absl::StrCat(name, ": index ", *place, " is given twice"), where);
  if (!state.options.overwrite)
    requireNotWritten(name, gatherAt(parts.written, indices, where), knownIndices(indices), where);
  // Each place takes its element from the elements, or from x behind them. An index that is given twice gives a place
  // behind both, which is not looked at.
  const Tensor own = iota({size}, DType::Int64, 0, where), numbers = iota({count}, DType::Int64, 0, where);
  const Tensor wide = cast(Operand(indices, where), DType::Int64);
  const Tensor moved = sub(Operand(add(Operand(numbers, where), Operand(size, where)), where), Operand(wide, where));
  const Tensor from = add(Operand(own, where), put(moved));
  parts.elements = gatherAt(calque::concat({parts.elements, x}, 0, where), from, where);
  if (!allWritten)
    parts.written =
        logical_or(Operand(parts.written, where), Operand(greater(Operand(times, where), Operand(0, where)), where));
  setParts(std::move(parts), allWritten);
}

TensorArray &TensorArray::unstack(const Operand &x) {
  const char *name = "TensorArray::unstack";
  const SourceLocation where = detail::userLine(x.where());
  CallSite site(where, name);
  const ArrayState &state = usable(state_, name, where);
  const Tensor values = valueOf(state, x);
  requireElement(name, state, sliceType(name, values, where), where);
  if (!state.grows)
    requireSlices(name, sizeOf(state, where), values, where);
  if (!state.options.overwrite && state.isWhole()) {
    requireNotWritten(name, state.whole.written, std::nullopt, where);
  } else if (!state.options.overwrite) {
    auto written = std::ranges::find_if(state.items, &Tensor::defined);
    if (written != state.items.end())
      throwWritten(name, written - state.items.begin(), where);
  }
  setParts({values, ones({values.shape(where)[0]}, DType::Bool, where)}, true);
  return *this;
}

//===-- Reading ---------------------------------------------------------------------------------===//

Tensor TensorArray::read(const Operand &index) const {
  const char *name = "TensorArray::read";
  const SourceLocation where = detail::userLine(index.where());
  CallSite site(where, name);
  const ArrayState &state = usable(state_, name, where);
  requireTyped(name, state, where);
  const Tensor at = indexOf(name, index, where);
  const std::optional<std::vector<std::int64_t>> known = knownIndices(at);
  const Size size = sizeOf(state, where);
  if (known && size.is_known()) {
    const std::int64_t place = known->front();
    if (place < 0 || place >= std::int64_t(size))
      throwOutOfRange(name, place, size, where);
    if (!state.isWhole()) {
      const Tensor &item = state.items[static_cast<std::size_t>(place)];
      if (item.defined())
        return item;
      if (!state.options.zeros)
        throwNotWritten(name, place, where);
      return zeros(state.shape, *state.dtype, where);
    }
  }
  return gatherWritten(at, name, where);
}

Tensor TensorArray::gather(const Operand &indices) const {
  const char *name = "TensorArray::gather";
  const SourceLocation where = detail::userLine(indices.where());
  CallSite site(where, name);
  const ArrayState &state = usable(state_, name, where);
  requireTyped(name, state, where);
  return gatherWritten(indicesOf(indices), name, where);
}

Tensor TensorArray::gatherWritten(const Tensor &indices, const char *name, SourceLocation where) const {
  const ArrayParts parts = partsOf(*state_, where);
  if (!state_->options.zeros && !isAllWritten(*state_)) {
    const Tensor flags = gatherAt(parts.written, indices, where); // refuses what are no indices
    requireWritten(name, flags, knownIndices(indices), where);
  }
  return gatherAt(parts.elements, indices, where);
}

Tensor TensorArray::stackWritten(const char *name, SourceLocation where) const {
  const ArrayState &state = usable(state_, name, where);
  requireTyped(name, state, where);
  if (!state.options.zeros && !isAllWritten(state)) {
    if (state.isWhole())
      requireWritten(name, state.whole.written, std::nullopt, where);
    else
      throwNotWritten(name, std::ranges::find_if_not(state.items, &Tensor::defined) - state.items.begin(), where);
  }
  return partsOf(state, where).elements;
}

Tensor TensorArray::stack(SourceLocation where) const {
  where = detail::userLine(where);
  CallSite site(where, "TensorArray::stack");
  return stackWritten("TensorArray::stack", where);
}

Tensor TensorArray::concat(SourceLocation where) const {
  const char *name = "TensorArray::concat";
  where = detail::userLine(where);
  CallSite site(where, name);
  const Tensor stacked = stackWritten(name, where);
  if (stacked.rank(where) == 1)
    throw ShapeError(absl::StrCat(name, ": scalars have no axis to be put one after the other along; stack() gives "
                                        "them a new one"),
                     where);
  schema::Attribute axis = std::int64_t(0);
  return detail::apply(OpId::MergeDims, {&stacked, 1}, {&axis, 1}, where);
}

} // namespace calque
