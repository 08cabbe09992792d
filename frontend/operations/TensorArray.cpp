#include "calque/tensor_array.h"

#include "absl/strings/str_cat.h"
#include "calque/call_site.h"
#include "calque/functions.h"
#include "frontend/core/Apply.h"
#include "frontend/core/CallNames.h"
#include "frontend/operations/ArrayState.h"

#include <algorithm>
#include <mutex>
#include <numeric>

namespace calque {

using namespace detail::arrays;
using detail::ArrayParts;
using detail::ArrayState;
using schema::OpId;

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
  // Writes in the order of the indices, because an array grows in this order.
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
  // Each place takes its element from the elements, or from x, which is put behind them. For an index that is given
  // twice, `from` means nothing, and the check above has failed.
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
    const Tensor flags = gatherAt(parts.written, indices, where); // refuses tensors that are no indices
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
