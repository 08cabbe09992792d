#include "calque/variable.h"

#include "absl/strings/str_cat.h"
#include "calque/call_site.h"
#include "calque/functions.h"
#include "frontend/compiled/VariableLocks.h"
#include "frontend/core/Apply.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/Shape.h"
#include "frontend/gradients/Tape.h"
#include "frontend/operations/HostCall.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <span>
#include <sstream>

namespace calque {

using detail::VariableState;

namespace {
// Checks that the variable can hold the value. Sizes that are open while tracing are compared at the call.
Tensor assignable(const VariableState &variable, const Tensor &value, SourceLocation where) {
  const schema::TensorType &given = *detail::implOf(value, where).type, &wanted = *variable.type;
  if (given == wanted)
    return value;
  bool mayFit = given.dtype == wanted.dtype &&
                std::equal(given.dims.begin(), given.dims.end(), wanted.dims.begin(), wanted.dims.end(),
                           [](std::int64_t a, std::int64_t b) { return a == b || a == schema::kOpenSize; });
  if (mayFit) {
    schema::Attribute shape = wanted.dims;
    detail::CalledAs scope(detail::recordedNameOf(detail::LibraryCheck::AssignedFits));
    return detail::apply(schema::OpId::BroadcastTo, {&value, 1}, {&shape, 1}, where);
  }
  detail::requireType(
      absl::StrCat("variable '", variable.name, "' is ", wanted.str(), " and can't be assigned ", given.str()), given,
      wanted, where);
  return value;
}
} // namespace

Variable::Variable(const Operand &initial, VariableOptions options) {
  Tensor value = initial.toTensor();
  SourceLocation where = detail::userLine(initial.where());
  // Made inside of a container, as by emplace() of an optional: the line of what it is made of is the user's.
  if (detail::isInStandardLibrary(where) && value.impl()->where.line)
    where = value.impl()->where;
  if (const std::shared_ptr<detail::Trace> &trace = detail::currentTrace()) {
    if (trace->isInside())
      throw StateError(absl::StrCat("variable '", options.name, "' is made in ", trace->recording.name,
                                    ", which may run any number of times; make it outside"),
                       where);
    if (!trace->mayMakeVariables)
      throw StateError(absl::StrCat("variable '", options.name,
                                    "' is made in a later trace of a function; a function makes its variables in its "
                                    "first trace only, so keep them outside of the lambda"),
                       where);
    value = trace->evaluate(value, where);
  } else if (detail::implOf(value, where).trace) {
    detail::throwLeaked(*value.impl(), where);
  }
  auto state = std::make_shared<VariableState>();
  state->name = std::move(options.name);
  state->type = value.impl()->type;
  state->constraint = std::move(options.constraint);
  state->trainable = options.trainable && is_inexact(value.dtype());
  // A tensor of its own: tapes tell variables that are made of one tensor apart by their values.
  const detail::TensorImpl &impl = *value.impl();
  state->value = detail::makeEager(impl.type, impl.buffer, impl.where);
  state_ = std::move(state);
}

const std::shared_ptr<VariableState> &detail::stateOf(const Variable &x, SourceLocation where) {
  if (!x.state())
    throw StateError("an empty variable is used", userLine(where));
  return x.state();
}

void detail::rename(const Variable &x, std::string name) { stateOf(x, {})->name = std::move(name); }
const std::string &Variable::name(SourceLocation where) const { return detail::stateOf(*this, where)->name; }
DType Variable::dtype(SourceLocation where) const { return detail::stateOf(*this, where)->type->dtype; }
Shape Variable::shape(SourceLocation where) const { return detail::shapeOf(detail::stateOf(*this, where)->type->dims); }
std::int64_t Variable::rank(SourceLocation where) const { return detail::stateOf(*this, where)->type->rank(); }
std::int64_t Variable::size(SourceLocation where) const { return detail::stateOf(*this, where)->type->numElements(); }
bool Variable::trainable(SourceLocation where) const { return detail::stateOf(*this, where)->trainable; }
const std::function<Tensor(const Tensor &)> &Variable::constraint(SourceLocation where) const {
  return detail::stateOf(*this, where)->constraint;
}
bool Variable::is_argument(SourceLocation where) const { return detail::stateOf(*this, where)->standIn; }

Tensor Variable::value(SourceLocation where) const {
  where = detail::userLine(where);
  detail::stateOf(*this, where);
  Tensor value;
  if (const std::shared_ptr<detail::Trace> &trace = detail::currentTrace()) {
    value = trace->read(state_, where);
  } else {
    if (state_->standIn)
      throw LeakedTensorError("a variable that was an argument of a traced function is used outside of the trace",
                              where);
    detail::refuseHeld(*state_, where);
    std::shared_lock lock(state_->mutex);
    value = state_->value;
  }
  detail::noteVariableRead(state_, value);
  return value;
}

Tensor Variable::operator[](const Operand &i) const { return value(i.where())[i]; }
Tensor Variable::rows(std::int64_t start, std::int64_t end, SourceLocation where) const {
  where = detail::userLine(where);
  return value(where).rows(start, end, where);
}
LoopIterator Variable::begin(SourceLocation where) const {
  where = detail::userLine(where);
  return value(where).begin(where);
}

std::string Variable::repr() const {
  std::ostringstream text;
  text << *this;
  if (!state_ || detail::currentTrace() || state_->standIn)
    return text.str();
  return absl::StrCat("Variable(", text.str(), ", shape=", shape().str(), ", dtype=", name_of(dtype()), ", name='",
                      state_->name, "')");
}

std::ostream &operator<<(std::ostream &os, const Variable &x) {
  const std::shared_ptr<VariableState> &state = x.state();
  if (!state)
    return os << "<empty variable>";
  if (detail::currentTrace() || state->standIn)
    return os << "<variable '" << state->name << "' " << state->type->str() << ">";
  detail::refuseHeld(*state, detail::hostCallLine()); // a stream has no line
  Tensor value;
  {
    std::shared_lock lock(state->mutex);
    value = state->value;
  }
  return os << value;
}

namespace {
// LeakedTensorError for a traced value, or a stand-in, outside of its trace.
void checkEager(const VariableState &variable, const Tensor &value, SourceLocation where) {
  const detail::TensorImpl &impl = detail::implOf(value, where);
  if (impl.trace)
    detail::throwLeaked(impl, where);
  if (variable.standIn)
    throw LeakedTensorError("a variable that was an argument of a traced function is used outside of the trace", where);
}

// Assigns what f makes of the variable's value and of others. No other thread assigns between the read and the
// assignment.
template <std::size_t N, typename F>
void update(const Variable &variable, std::array<Tensor, N> operands, SourceLocation where, F f) {
  const std::shared_ptr<VariableState> &state = detail::stateOf(variable, where);
  if (const std::shared_ptr<detail::Trace> &trace = detail::currentTrace()) {
    operands[0] = variable.value(where);
    Tensor value = assignable(*state, f(operands), where);
    trace->assign(state, value, where);
    return;
  }
  for (std::size_t i = 1; i < N; ++i)
    checkEager(*state, operands[i], where);
  detail::refuseHeld(*state, where);
  Tensor fresh; // holds the old value in the end, and frees it after the lock
  std::unique_lock lock(state->mutex);
  operands[0] = state->value;
  detail::noteVariableRead(state, operands[0]);
  Tensor value = assignable(*state, f(operands), where);
  fresh = detail::makeEager(state->type, value.impl()->buffer, where);
  std::swap(state->value, fresh);
}

// Adds a value to the variable's, or subtracts it.
void assignBy(const Variable &variable, schema::OpId op, const char *name, const Operand &operand) {
  SourceLocation where = detail::userLine(operand.where());
  CallSite site(where, name);
  std::array<Tensor, 2> operands{Tensor(), operand.toTensor(variable.dtype(where))};
  update(variable, std::move(operands), where,
         [&](std::span<const Tensor> of) { return detail::apply(op, of, {}, where); });
}

// Writes updates to slices along the first dimension. With `turns`, the order of all numbers is turned round before and
// after.
void scatter(const Variable &variable, Tensor (*write)(const Operand &, const Operand &, const Operand &, std::int64_t),
             const char *name, const Operand &indices, const Operand &updates, bool turns = false) {
  SourceLocation where = detail::userLine(indices.where());
  CallSite site(where, name);
  auto at = [&](const Tensor &x) { return Operand(x, where); };
  // -x has no largest negative integer, and -1 - x has all.
  auto turned = [&](const Tensor &x) { return !turns ? x : is_integer(x.dtype()) ? bitwise_not(at(x)) : neg(at(x)); };
  std::array<Tensor, 3> operands{Tensor(), indices.toTensor(DType::Int64), updates.toTensor(variable.dtype(where))};
  update(variable, std::move(operands), where,
         [&](std::span<const Tensor> of) { return turned(write(at(turned(of[0])), at(of[1]), at(turned(of[2])), 0)); });
}
} // namespace

void Variable::assign(const Operand &operand) {
  SourceLocation where = detail::userLine(operand.where());
  Tensor value = assignable(*detail::stateOf(*this, where), operand.toTensor(dtype(where)), where);
  if (const std::shared_ptr<detail::Trace> &trace = detail::currentTrace()) {
    trace->assign(state_, value, where);
    return;
  }
  checkEager(*state_, value, where);
  // A fresh tensor with the same elements, so that tapes do not follow the variable to the value's computation.
  detail::refuseHeld(*state_, where);
  Tensor fresh = detail::makeEager(state_->type, value.impl()->buffer, where);
  std::unique_lock lock(state_->mutex);
  std::swap(state_->value, fresh);
}

void Variable::assign_add(const Operand &value) { assignBy(*this, schema::OpId::Add, "assign_add", value); }
void Variable::assign_sub(const Operand &value) { assignBy(*this, schema::OpId::Sub, "assign_sub", value); }

void Variable::scatter_update(const Operand &indices, const Operand &updates) {
  scatter(*this, scatter_set, "scatter_update", indices, updates);
}
void Variable::scatter_add(const Operand &indices, const Operand &updates) {
  scatter(*this, calque::scatter_add, "scatter_add", indices, updates);
}
void Variable::scatter_sub(const Operand &indices, const Operand &updates) {
  const SourceLocation where = detail::userLine(indices.where());
  CallSite site(where, "scatter_sub");
  Tensor negative = neg(Operand(updates.toTensor(dtype(where)), where));
  scatter(*this, calque::scatter_add, "scatter_sub", indices, Operand(negative, where));
}
void Variable::scatter_max(const Operand &indices, const Operand &updates) {
  scatter(*this, calque::scatter_max, "scatter_max", indices, updates);
}
void Variable::scatter_min(const Operand &indices, const Operand &updates) {
  scatter(*this, calque::scatter_max, "scatter_min", indices, updates, true);
}

} // namespace calque
