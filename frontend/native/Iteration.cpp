// Loops by declaration: over the numbers of a range and the slices of a tensor.
#include "absl/strings/str_cat.h"
#include "calque/call_site.h"
#include "calque/control_flow.h"
#include "calque/functions.h"
#include "frontend/core/Apply.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/Trace.h"
#include "frontend/native/Capture.h"

namespace calque {

using namespace detail;

namespace {

Tensor number(std::int64_t n, SourceLocation where) { return makeScalar(Number(n), DType::Int64, where); }

// What an eager tensor says. A tensor never changes, so that a trace may know it too.
std::optional<std::int64_t> knownNumber(const Tensor &x) {
  const TensorImpl &impl = *x.impl();
  return impl.trace ? std::nullopt : std::optional(*static_cast<const std::int64_t *>(impl.buffer.data()));
}

Tensor boundOf(const char *what, const Operand &bound, SourceLocation where) {
  if (bound.isNumber() && is_integer(bound.defaultDType()))
    return bound.toTensor(DType::Int64);
  return rangeBound("range", what, bound.toTensor(), where);
}

} // namespace

Range range(const Operand &begin, const Operand &end, const Operand &step) {
  const SourceLocation where = CallSite::resolve(begin.where());
  CallSite site(where, "range");
  Range made(boundOf("the beginning", begin, where), boundOf("the end", end, where), boundOf("the step", step, where));
  if (std::optional<std::int64_t> known = knownNumber(made.step_)) {
    if (*known == 0)
      throw ValueError("range: the step is 0", userLine(where));
  } else {
    assert_true(Operand(not_equal(Operand(made.step_, where), Operand(0, where)), where), "range: the step is 0");
  }
  return made;
}

Range range(const Operand &end) { return range(Operand(0, end.where()), end); }

Range range(const Operand &begin, const Operand &end, RangeOptions options) {
  Range made = range(begin, end, Operand(options.step, begin.where()));
  return options.checkpoint ? checkpointed(std::move(made)) : made;
}

Range range(const Operand &end, RangeOptions options) { return range(Operand(0, end.where()), end, options); }

Range checkpointed(Range range) {
  range.isCheckpointed_ = true;
  return range;
}

LoopIterator Range::begin(SourceLocation where) const {
  LoopIterator iterator(Tensor(), first_, end_, step_, where);
  iterator.isCheckpointed_ = isCheckpointed_;
  return iterator;
}

Checkpointed checkpointed(const Operand &x) {
  const SourceLocation where = CallSite::resolve(x.where());
  return Checkpointed(x.toTensor(), where);
}

Checkpointed::operator bool() const { return isTrue(x_, where_, {.isCheckpointed = true}); }

LoopIterator Checkpointed::begin(SourceLocation where) const {
  LoopIterator iterator = x_.begin(where);
  iterator.isCheckpointed_ = true;
  return iterator;
}

LoopIterator Tensor::begin(SourceLocation where) const {
  where = CallSite::resolve(where);
  const schema::TensorType &type = *implOf(*this, where).type;
  if (type.rank() == 0)
    throw ShapeError(
        absl::StrCat("a loop over a tensor takes its slices along axis 0, and a scalar has none; it is ", type.str()),
        userLine(where));
  Tensor count = Operand(shape(where)[0], where).toTensor(DType::Int64);
  return LoopIterator(*this, number(0, where), count, number(1, where), where);
}

LoopIterator::LoopIterator(Tensor rows, Tensor first, Tensor end, Tensor step, SourceLocation where)
    : rows_(std::move(rows)), at_(std::move(first)), end_(std::move(end)), step_(std::move(step)),
      where_(CallSite::resolve(where)) {
  if (!currentTrace())
    counts_ = Counts{at_.item<std::int64_t>(where_), end_.item<std::int64_t>(where_), step_.item<std::int64_t>(where_)};
  enter();
}

void LoopIterator::enter() {
  element_ = Tensor();
  if (counts_)
    return;
  CallSite site(where_, "range");
  Operand at(at_, where_), end(end_, where_);
  goesOn_ = Tensor();
  const std::optional<std::int64_t> step = knownNumber(step_);
  if (step && knownNumber(at_) && knownNumber(end_))
    return; // whether there is a first iteration is no decision: no run takes the other way
  if (step)
    goesOn_ = *step > 0 ? less(at, end) : greater(at, end);
  else
    goesOn_ = calque::where(Operand(greater(Operand(step_, where_), Operand(0, where_)), where_),
                            Operand(less(at, end), where_), Operand(greater(at, end), where_));
}

bool LoopIterator::operator==(std::default_sentinel_t) const {
  auto isAtEnd = [](std::int64_t at, std::int64_t end, std::int64_t step) { return step > 0 ? at >= end : at <= end; };
  if (counts_)
    return isAtEnd(counts_->at, counts_->end, counts_->step);
  if (!goesOn_.defined())
    return isAtEnd(*knownNumber(at_), *knownNumber(end_), *knownNumber(step_));
  return goesOn_.impl()->trace && currentTrace()
             ? !decideOn(goesOn_, where_, {.isDeclared = true, .isCheckpointed = isCheckpointed_})
             : !bool(goesOn_);
}

const Tensor &LoopIterator::operator*() const {
  if (counts_ && *this == std::default_sentinel)
    throw StateError("the iterator of a loop is at its end, where there is no element", userLine(where_));
  if (element_.defined())
    return element_;
  const Tensor at = counts_ ? number(counts_->at, where_) : at_;
  CallSite site(where_, "range");
  schema::Attribute axis = std::int64_t(0);
  Tensor operands[] = {rows_, at};
  return element_ = rows_.defined() ? apply(schema::OpId::Gather, operands, {&axis, 1}, where_) : at;
}

LoopIterator &LoopIterator::operator++() {
  if (counts_) {
    if (*this == std::default_sentinel)
      throw StateError("the iterator of a loop is at its end and can't go further", userLine(where_));
    counts_->at += counts_->step;
  } else {
    CallSite site(where_, "range");
    at_ = add(Operand(at_, where_), Operand(step_, where_));
  }
  enter();
  return *this;
}

} // namespace calque
