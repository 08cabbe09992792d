#include "calque/control_flow.h"

#include "absl/strings/str_cat.h"
#include "calque/call_site.h"
#include "calque/custom_gradient.h"
#include "frontend/core/Apply.h"
#include "frontend/core/CallNames.h"
#include "frontend/gradients/Tape.h"
#include "frontend/operations/LoopVariables.h"
#include "frontend/operations/Regions.h"

#include <algorithm>

namespace calque::detail {

using schema::OpId;

//===-- cond ------------------------------------------------------------------------------------===//

std::vector<Tensor> runCond(const char *operation, const Tensor &predicate, const BranchBody &then,
                            const BranchBody &otherwise, SourceLocation where) {
  requireDecision(operation, "predicate", predicate, where);
  if (!currentTrace())
    return own((predicate.item<bool>(where) ? then : otherwise)().tensors, where);
  Produced produced[2];
  Regions regions(where);
  auto branch = [&](int which, const BranchBody &body) -> Trace & {
    return regions.trace("a branch", {}, [&](const std::vector<Tensor> &) {
      produced[which] = body();
      return produced[which].tensors;
    });
  };
  Trace &first = branch(0, then), &second = branch(1, otherwise);
  if (differ(produced[0], produced[1]))
    throw ValueError(absl::StrCat(operation, ": the branches give different host values or structures; what differs "
                                             "between them is a tensor"),
                     where);
  for (std::size_t i = 0; i < produced[0].tensors.size(); ++i) {
    const Tensor &a = produced[0].tensors[i], &b = produced[1].tensors[i];
    requireType(absl::StrCat(operation, ": result ", i, " is ", describe(a), " in the first branch and ", describe(b),
                             " in the second"),
                *implOf(b).type, *implOf(a).type, where);
  }
  std::vector<Tensor> operands = regions.operands({}, false);
  schema::Attribute attributes[] = {regions.program(first, operands, true), regions.program(second, operands, true)};
  operands.insert(operands.begin(), predicate);
  CalledAs name(operation);
  return regions.assignLast(applyAll(OpId::Cond, operands, attributes, where));
}

std::vector<Tensor> runSwitch(const Tensor &index, const std::vector<BranchBody> &branches, SourceLocation where) {
  const schema::TensorType &type = *implOf(index, where).type;
  if (branches.empty())
    throw ValueError("switch_case: there is no branch", where);
  if (!is_integer(type.dtype) || type.rank() != 0)
    throw ShapeError(absl::StrCat("switch_case: the index must be an integer scalar, not ", type.str()), where);
  const auto last = static_cast<std::int64_t>(branches.size()) - 1;
  Tensor known; // in range
  {
    CallSite site(where, "switch_case");
    Operand given(index, where);
    Tensor isOutside = logical_or(Operand(less(given, Operand(0, where)), where),
                                  Operand(greater(given, Operand(last, where)), where));
    known = calque::where(Operand(isOutside, where), Operand(last, where), given);
  }
  // Halves the branches, so that few decisions lead to each.
  std::function<Produced(std::int64_t, std::int64_t)> among = [&](std::int64_t first, std::int64_t end) {
    if (end - first == 1)
      return branches[static_cast<std::size_t>(first)]();
    std::int64_t middle = first + (end - first) / 2;
    Produced produced;
    Tensor isBefore = less(Operand(known, where), Operand(middle, where));
    auto half = [&](std::int64_t from, std::int64_t to) { return produced = among(from, to); };
    produced.tensors =
        runCond("switch_case", isBefore, [&] { return half(first, middle); }, [&] { return half(middle, end); }, where);
    return produced;
  };
  return among(0, last + 1).tensors;
}

//===-- while_loop ------------------------------------------------------------------------------===//

namespace {

// for_range has its index before the user's loop variables.
Iterated loopVariables(const char *operation) {
  return {operation, false, std::string_view(operation) == "for_range" ? std::size_t(1) : 0};
}

// Runs the loop eagerly, one iteration after the other.
std::vector<Tensor> iterate(const char *operation, const LoopCondition &condition, const LoopBody &body,
                            const Produced &initial, const WhileOptions &options, const Varying &varying,
                            SourceLocation where) {
  std::vector<Tensor> variables = own(initial.tensors, where);
  for (std::int64_t done = 0; !options.maximum_iterations || done < *options.maximum_iterations; ++done) {
    Tensor decision = condition(variables);
    requireDecision(operation, "condition", decision, where);
    if (!decision.item<bool>(where))
      break;
    std::vector<Tensor> next =
        nextValues(loopVariables(operation), body(variables), initial, variables, where, varying);
    variables = own(std::move(next), where);
  }
  return variables;
}

} // namespace

std::vector<Tensor> runWhile(const char *operation, const LoopCondition &condition, const LoopBody &body,
                             const Produced &initial, const WhileOptions &options, SourceLocation where) {
  for (const Tensor &variable : initial.tensors)
    implOf(variable, where);
  if (options.maximum_iterations.value_or(0) < 0)
    throw ValueError(absl::StrCat(operation, ": maximum_iterations is ", *options.maximum_iterations,
                                  ", and it must not be negative"),
                     where);
  if (options.shape_invariants.size() > initial.tensors.size())
    throw ValueError(absl::StrCat(operation, ": there are ", options.shape_invariants.size(),
                                  " shape invariants for loop variables that are ",
                                  schema::counted(initial.tensors.size(), "tensor")),
                     where);
  Varying varying;
  for (std::size_t i = 0; i < initial.tensors.size(); ++i) {
    varying.types.push_back(typeInLoop(initial.tensors[i], i, options, loopVariables(operation), where));
    for (std::size_t d = 0;
         i < options.shape_invariants.size() && options.shape_invariants[i] && d < varying.types[i].dims.size(); ++d)
      if (mayVary((*options.shape_invariants[i])[d]))
        varying.pairs.insert(varying.pairs.end(), {static_cast<std::int64_t>(i), static_cast<std::int64_t>(d)});
  }
  if (!varying.pairs.empty() && options.checkpoint)
    throw ValueError(absl::StrCat(operation,
                                  ": checkpoint needs loop variables that keep their shapes; shape_invariants "
                                  "says that sizes vary"),
                     where);
  const std::vector<schema::TensorType> &types = varying.types;
  if (!currentTrace() && options.checkpoint && eagerTapesActive())
    return runRecorded(
        operation, initial.tensors,
        [&](const std::vector<Tensor> &given) {
          Produced first = initial;
          first.tensors = given;
          return runWhile(operation, condition, body, first, options, where);
        },
        where);
  if (!currentTrace())
    return iterate(operation, condition, body, initial, options, varying, where);
  // A limit of iterations is one more loop variable: the number of iterations to go.
  std::vector<Tensor> variables = initial.tensors;
  if (options.maximum_iterations)
    variables.push_back(full({}, Operand(*options.maximum_iterations, where), DType::Int64));
  auto own = [&](const std::vector<Tensor> &all) {
    return std::vector<Tensor>(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(initial.tensors.size()));
  };
  Regions regions(where);
  Trace &bodyTrace = regions.trace(
      "the body of a loop", variables,
      [&](const std::vector<Tensor> &parameters) {
        std::vector<Tensor> next =
            nextValues(loopVariables(operation), body(own(parameters)), initial, own(parameters), where, varying);
        if (options.maximum_iterations)
          next.push_back(sub(Operand(parameters.back(), where), Operand(1, where)));
        return next;
      },
      types);
  Trace &conditionTrace = regions.trace(
      "the condition of a loop", variables,
      [&](const std::vector<Tensor> &parameters) {
        Tensor decision = condition(own(parameters));
        requireDecision(operation, "condition", decision, where);
        if (options.maximum_iterations)
          decision = logical_and(Operand(decision, where),
                                 Operand(greater(Operand(parameters.back(), where), Operand(0, where)), where));
        return std::vector<Tensor>{decision};
      },
      types);
  for (const Trace::Held &held : conditionTrace.held())
    if (held.assigned)
      throw StateError(absl::StrCat(operation, ": the condition assigns variable '",
                                    currentTrace()->root().variables[held.index]->name, "'; assign it in the body"),
                       where);
  std::vector<Tensor> operands = regions.operands(variables, true);
  const Regions::Change unchanged = [](schema::Recording &) {};
  schema::Attribute attributes[] = {options.checkpoint, varying.pairs,
                                    regions.program(conditionTrace, operands, false, unchanged, types),
                                    regions.program(bodyTrace, operands, true, unchanged, types)};
  CalledAs name(operation);
  std::vector<Tensor> results = regions.assignLast(applyAll(OpId::While, operands, attributes, where));
  results.resize(initial.tensors.size());
  return results;
}

//===-- Ranges ----------------------------------------------------------------------------------===//

Tensor rangeBound(const char *operation, const char *what, const Tensor &bound, SourceLocation where) {
  const schema::TensorType &type = *implOf(bound, where).type;
  if (type.rank() != 0 || !is_integer(type.dtype))
    throw ShapeError(absl::StrCat(operation, ": ", what, " must be an integer scalar, not ", type.str()), where);
  return type.dtype == DType::Int64 ? bound : asInt64(bound, where);
}

Tensor isBefore(const Tensor &i, const Tensor &end, std::int64_t step, SourceLocation where) {
  CallSite site(where, "for_range");
  return step > 0 ? less(Operand(i, where), Operand(end, where)) : greater(Operand(i, where), Operand(end, where));
}

Tensor advanced(const Tensor &i, std::int64_t step, SourceLocation where) {
  CallSite site(where, "for_range");
  return add(Operand(i, where), Operand(step, where));
}

void throwStep(SourceLocation where) { throw ValueError("for_range: the step is 0", where); }

//===-- Checkpoints -----------------------------------------------------------------------------===//

namespace {
// StateError if a program, or a program inside of its operations, has a host call or an ordered operation of
// CallOrder::Once.
void refuseHostCalls(const schema::Recording &program) {
  for (const schema::RecordedOp &op : program.ops()) {
    if (schema::runsOnce(program, op))
      throw StateError(
          absl::StrCat(op.op == OpId::HostCall ? "a host call" : std::get<std::string>(program.attributesOf(op)[0]),
                       " can't stand in a pullback or a checkpoint, which may run any number of times"),
          locationOf(op.line));
    for (const schema::Attribute &attribute : program.attributesOf(op))
      if (const auto *inner = std::get_if<schema::RecordingRef>(&attribute))
        refuseHostCalls(**inner);
  }
}
} // namespace

// The values of variables, such as the states of generators, are operands, and their new values are results. So a
// gradient that computes the program again draws the same numbers, and variables are assigned once.
std::vector<Tensor> checkpointed(const std::vector<Tensor> &inputs,
                                 const std::function<std::vector<Tensor>(const std::vector<Tensor> &)> &body,
                                 SourceLocation where) {
  where = userLine(where);
  return runRecorded(
      "checkpoint", inputs,
      [&](const std::vector<Tensor> &given) {
        Regions regions(where);
        Trace &trace = regions.trace("a checkpoint", given, body);
        refuseHostCalls(trace.recording);
        std::vector<Tensor> operands = regions.operands(given, false);
        schema::Attribute attribute = regions.program(trace, operands, true);
        return regions.assignLast(applyAll(OpId::Checkpoint, operands, {&attribute, 1}, where));
      },
      where);
}

} // namespace calque::detail
