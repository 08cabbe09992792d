// Branches, loops and calls. What is known while tracing decides at once; the rest becomes branches and loops of the
// program.
#include "stablehlo/Support.h"

#include "calque/control_flow.h"
#include "calque/function.h"

namespace calque::stablehlo {

namespace {

void refuseInBodies(const Call &call) {
  if (call.isLifted())
    call.refuse("it stands in the body of an operation that is applied to many elements at once");
}

// Only tensors pass branches and loops of a program; a token is none.
bool areTensors(const Call &call) {
  for (std::size_t i = 0; i < call.results(); ++i)
    if (!call.type(i).isTensor())
      return false;
  return true;
}

Results ofTensors(const Call &call, const std::vector<Tensor> &tensors) {
  Results all;
  std::size_t next = 0;
  for (std::size_t i = 0; i < call.results(); ++i)
    all.push_back(call.type(i).isTensor() ? Value(tensors.at(next++)) : Value());
  return all;
}
std::vector<Tensor> onlyTensors(const Call &call, const std::vector<Value> &values) {
  std::vector<Tensor> all;
  for (const Value &each : values) {
    if (each.isSequence())
      call.refuse("a tuple passes a branch or a loop that depends on what only the call knows");
    if (each.isTensor())
      all.push_back(each.tensor());
  }
  return all;
}

Results decided(const Call &call, const Region &region) {
  Results all;
  for (Value &each : call.run(region, {}))
    all.push_back(std::move(each));
  return all;
}

Results branch(const Call &call) {
  refuseInBodies(call);
  const Tensor condition = call.tensor(0);
  if (condition.rank() != 0 || condition.dtype() != DType::Bool)
    call.refuse("the condition is no scalar of the type i1");
  if (call.value(0).isKnown())
    return decided(call, call.region(hostIntegers(condition)[0] != 0 ? 0 : 1));
  if (!areTensors(call))
    call.refuse("a result is no tensor, and the condition is not known while tracing");
  return ofTensors(call, cond(
                             Operand(condition, call.where()),
                             [&] { return onlyTensors(call, call.run(call.region(0), {})); },
                             [&] { return onlyTensors(call, call.run(call.region(1), {})); }));
}

Results chosen(const Call &call) {
  refuseInBodies(call);
  const Tensor index = call.tensor(0);
  const std::size_t count = call.operation().regions.size();
  if (index.rank() != 0 || !is_integer(index.dtype()))
    call.refuse("the index is no scalar of integers");
  if (call.value(0).isKnown()) {
    const std::int64_t which = hostIntegers(index)[0];
    return decided(call, call.region(which < 0 || which >= static_cast<std::int64_t>(count)
                                         ? count - 1
                                         : static_cast<std::size_t>(which)));
  }
  std::vector<std::function<std::vector<Tensor>()>> branches;
  for (std::size_t i = 0; i < count; ++i)
    branches.emplace_back([&call, i] { return onlyTensors(call, call.run(call.region(i), {})); });
  return ofTensors(call, switch_case(Operand(index, call.where()), branches));
}

Results loop(const Call &call) {
  refuseInBodies(call);
  const Region &condition = call.region(0), &body = call.region(1);
  std::vector<Value> initial;
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < call.size(); ++i) {
    initial.push_back(call.value(i));
    if (initial.back().isTensor())
      tensors.push_back(initial.back().tensor());
    if (initial.back().isSequence())
      call.refuse("a value of a loop is a tuple");
  }
  auto all = [&](const std::vector<Tensor> &at) {
    std::vector<Value> values;
    std::size_t next = 0;
    for (const Value &each : initial)
      values.push_back(each.isTensor() ? Value(at.at(next++)) : Value());
    return values;
  };
  auto decide = [&](const std::vector<Tensor> &at) {
    const std::vector<Value> made = call.run(condition, all(at));
    if (made.size() != 1 || !made[0].isTensor() || made[0].dtype() != DType::Bool || made[0].rank() != 0)
      call.refuse("the condition gives no scalar of the type i1");
    return made[0].tensor();
  };
  auto next = [&](const std::vector<Tensor> &at) {
    std::vector<Tensor> made = onlyTensors(call, call.run(body, all(at)));
    if (made.size() != at.size())
      call.refuse("the body gives " + std::to_string(made.size()) + " values for " + std::to_string(at.size()));
    return made;
  };
  return ofTensors(call, while_loop(decide, next, tensors, {}, call.where()));
}

// Slices along a dimension one after the other, with values that pass from one to the next.
Results scanned(const Call &call) {
  refuseInBodies(call);
  const Numbers counts = call.integers("operandSegmentSizes");
  call.requireCount(counts, 2, "operandSegmentSizes");
  if (counts[0] < 1 || counts[1] < 0 || counts[0] + counts[1] != static_cast<std::int64_t>(call.size()))
    call.refuse("operandSegmentSizes don't fit " + std::to_string(call.size()) + " operands");
  const auto inputs = static_cast<std::size_t>(counts[0]);
  std::vector<Tensor> xs = call.tensors(0, inputs);
  const std::vector<Tensor> initial = call.tensors(inputs);
  const std::int64_t axis = call.axis(call.integer("dimension"), xs[0].rank());
  for (Tensor &x : xs)
    x = moveaxis(x, call.axis(axis, x.rank()), 0);
  const std::size_t carries = initial.size();
  auto step = [&](const std::vector<Tensor> &carry, const std::vector<Tensor> &slices) {
    std::vector<Value> arguments(slices.begin(), slices.end());
    arguments.insert(arguments.end(), carry.begin(), carry.end());
    const std::vector<Tensor> made = call.tensorsOf(call.run(call.region(0), std::move(arguments)), "a result");
    if (made.size() < carries)
      call.refuse("its body gives " + std::to_string(made.size()) + " values, of which " + std::to_string(carries) +
                  " are passed on");
    const auto end = made.end() - static_cast<std::ptrdiff_t>(carries);
    return std::pair(std::vector<Tensor>(end, made.end()), std::vector<Tensor>(made.begin(), end));
  };
  const auto [last, stacked] = scan(step, initial, xs, {.reverse = call.flag("is_reverse", false)}, call.where());
  Results all;
  for (const Tensor &each : stacked)
    all.push_back(moveaxis(each, 0, axis));
  for (const Tensor &each : last)
    all.push_back(each);
  return all;
}

Results called(const Call &call) {
  std::vector<Value> arguments;
  for (std::size_t i = 0; i < call.size(); ++i)
    arguments.push_back(call.value(i));
  Results all;
  for (Value &each : call.apply(*call.operation().callee, std::move(arguments)))
    all.push_back(std::move(each));
  return all;
}

constexpr Operator kTable[] = {
    {"chlo.scan", 1, kAnyNumber, scanned, Trait::Control, 1},
    {"func.call", 0, kAnyNumber, called, Trait::Control},
    {"stablehlo.case", 1, 1, chosen, Trait::Control, kAnyNumber},
    {"stablehlo.composite", 0, kAnyNumber, called, Trait::Control},
    {"stablehlo.if", 1, 1, branch, Trait::Control, 2},
    {"stablehlo.while", 0, kAnyNumber, loop, Trait::Control, 2},
};

} // namespace

Table controlFlowOperators() { return kTable; }

} // namespace calque::stablehlo
