#include "calque/control_flow.h"

#include "absl/strings/str_cat.h"
#include "calque/assertions.h"
#include "calque/call.h"
#include "calque/call_site.h"
#include "calque/custom_gradient.h"
#include "frontend/core/Apply.h"
#include "frontend/core/Tracer.h"
#include "frontend/gradients/Tape.h"
#include "frontend/operations/Concatenation.h"
#include "schema/HashTables.h"

#include <algorithm>
#include <cmath>

namespace calque::detail {

using schema::OpId;
using schema::ValueId;

namespace {

//===-- What branches and bodies give -----------------------------------------------------------===//

std::string lineAfter(const char *before, SourceLocation where) {
  return where.line ? absl::StrCat(before, lineOf(where).str()) : "";
}

// Whether two structures differ in what is no tensor.
bool differ(const Produced &a, const Produced &b) {
  return a.host != b.host || a.texts != b.texts || a.states != b.states || a.tensors.size() != b.tensors.size();
}

// A bool scalar. ShapeError for any other.
void requireDecision(const char *operation, const char *what, const Tensor &x, SourceLocation where) {
  const schema::TensorType &type = *implOf(x, where).type;
  if (type.dtype != DType::Bool || type.rank() != 0)
    throw ShapeError(absl::StrCat(operation, ": the ", what, " must be a bool scalar, not ", type.str()), where);
}

std::string describe(const Tensor &x) {
  const TensorImpl &impl = implOf(x);
  return absl::StrCat(impl.type->str(), lineAfter(" of ", impl.where));
}

// How messages speak of what goes from iteration to iteration, and of what makes the next.
struct Iterated {
  const char *operation;
  bool isScan;
  std::size_t before = 0; // tensors before the user's own
};

// Tensors that nothing else holds, as a trace has values of their own for what a branch or an iteration gives: a tape
// tells them from each other and from what they are the same as.
std::vector<Tensor> own(std::vector<Tensor> tensors, SourceLocation where) {
  for (Tensor &x : tensors)
    if (x.impl().use_count() > 1)
      x = alias(x, where);
  return tensors;
}

// The loop variables whose sizes vary: the types of all in each iteration, and pairs of a variable and a dimension.
struct Varying {
  std::vector<schema::TensorType> types = {};
  std::vector<std::int64_t> pairs = {};

  bool of(std::size_t variable, std::optional<std::size_t> dimension = {}) const {
    for (std::size_t i = 0; i < pairs.size(); i += 2)
      if (pairs[i] == static_cast<std::int64_t>(variable) &&
          (!dimension || pairs[i + 1] == static_cast<std::int64_t>(*dimension)))
        return true;
    return false;
  }
};

// kDynamic itself, and no size that a tensor leaves open.
bool mayVary(const Size &size) { return !size.is_known() && !size.origin(); }

// The type of a loop variable in all iterations; its sizes that vary are open.
schema::TensorType typeInLoop(const Tensor &initial, std::size_t i, const WhileOptions &options, const Iterated &what,
                              SourceLocation where) {
  schema::TensorType type = *implOf(initial, where).type;
  if (i >= options.shape_invariants.size() || !options.shape_invariants[i])
    return type;
  const Shape &shape = *options.shape_invariants[i];
  bool fits = shape.size() == static_cast<std::size_t>(type.rank());
  for (std::size_t d = 0; fits && d < shape.size(); ++d)
    if (mayVary(shape[d]))
      type.dims[d] = schema::kOpenSize;
    else
      fits = shape[d].is_known() ? type.dims[d] == shape[d] : type.dims[d] == schema::kOpenSize;
  if (!fits)
    throw ShapeError(absl::StrCat(what.operation, ": loop variable ", i, " is ", describe(initial),
                                  ", and its shape invariant is ", shape.str()),
                     where);
  return type;
}

// A tensor whose trace does not know some of its sizes.
Tensor withOpenSizes(const Tensor &x, const Tensor &like, SourceLocation where) {
  const Tensor operands[] = {full({}, Operand(0.0, where), DType::Float64), x};
  const Tensor popped[] = {applyAll(OpId::SizedPush, operands, {}, where)[0], like};
  const schema::Attribute optional = false;
  return applyAll(OpId::SizedPop, popped, {&optional, 1}, where)[1];
}

// Checks at the call that a variable of which some sizes vary keeps those that only the call knows.
void requireKept(const Iterated &what, std::size_t i, const Tensor &next, const Tensor &variable,
                 const Varying &varying, SourceLocation where) {
  const schema::TensorType &type = *implOf(next, where).type;
  for (std::size_t d = 0; varying.of(i) && type.rank() == varying.types[i].rank() && d < type.dims.size(); ++d)
    if (varying.types[i].dims[d] == schema::kOpenSize && !varying.of(i, d) && implOf(variable).trace != 0) {
      CallSite site(where, what.operation);
      const auto axis = static_cast<std::int64_t>(d);
      assert_true(Operand(equal(Operand(size(Operand(next, where), axis), where),
                                Operand(size(Operand(variable, where), axis), where)),
                          where),
                  absl::StrCat(what.operation, ": dimension ", d, " of loop variable ", i - what.before,
                               " changes its size, and does not vary"));
    }
}

// The tensors that a body gives, as those that its variables can take.
std::vector<Tensor> nextValues(const Iterated &what, const Produced &next, const Produced &initial,
                               const std::vector<Tensor> &variables, SourceLocation where,
                               const Varying &varying = {}) {
  if (differ(initial, next))
    throw ValueError(absl::StrCat(what.operation,
                                  what.isScan ? ": the step gives other host values than the carry has"
                                              : ": the body gives other host values than the loop variables have",
                                  "; what changes from iteration to iteration is a tensor"),
                     where);
  std::vector<Tensor> result;
  for (std::size_t i = 0; i < next.tensors.size(); ++i) {
    const schema::TensorType &given = *implOf(next.tensors[i], where).type;
    requireKept(what, i, next.tensors[i], variables[i], varying, where);
    if (given == *implOf(variables[i], where).type) {
      result.push_back(next.tensors[i]);
      continue;
    }
    const std::string is = describe(initial.tensors[i]), gives = describe(next.tensors[i]);
    std::string message = what.isScan ? absl::StrCat(what.operation, ": tensor ", i, " of the carry is ", is,
                                                     ", and the step gives ", gives)
                                      : absl::StrCat(what.operation, ": loop variable ", i - what.before, " is ", is,
                                                     ", and the body gives ", gives);
    if (!varying.of(i)) {
      result.push_back(fitting(message, next.tensors[i], variables[i], what.operation, where));
      continue;
    }
    // Sizes that vary may be any; the others are known to be those that the variable has.
    schema::TensorType wanted = varying.types[i];
    for (std::size_t d = 0; d < wanted.dims.size() && wanted.rank() == given.rank(); ++d)
      if (varying.of(i, d))
        wanted.dims[d] = given.dims[d];
    requireType(message, given, wanted, where);
    const bool isTraced = implOf(variables[i]).trace != 0;
    result.push_back(isTraced ? withOpenSizes(next.tensors[i], variables[i], where) : next.tensors[i]);
  }
  return result;
}

//===-- Regions ---------------------------------------------------------------------------------===//

// The programs of an operation with regions, which take the same operands: loop variables, if any, and what they
// capture.
class Regions {
public:
  explicit Regions(SourceLocation where) : where(where), outer(*currentTrace()) {}

  // Traces one. The parameters have the types of `like`, or those of `types`.
  Trace &trace(const char *what, const std::vector<Tensor> &like,
               absl::FunctionRef<std::vector<Tensor>(const std::vector<Tensor> &)> body,
               std::span<const schema::TensorType> types = {}) {
    DepthGuard depth(where);
    TraceOptions options{.where = where, .inside = what, .isRegion = true, .isCalled = false};
    std::vector<TracedParameter> parameters = parametersLike(like, false, where);
    for (std::size_t i = 0; i < types.size(); ++i)
      parameters[i].type = sharedType(types[i].dtype, types[i].dims);
    TracedProgram program = traceProgram(
        options, parameters, [&](Trace &, const std::vector<Tensor> &parameters) { return body(parameters); });
    traces.push_back(program.trace);
    for (const Trace::Held &held : program.trace->held())
      if (held.assigned && std::ranges::find(assigned, held.index) == assigned.end())
        assigned.push_back(held.index);
    return *program.trace;
  }

  // The operands: given ones, the values that assigned variables have now, and captures.
  std::vector<Tensor> operands(const std::vector<Tensor> &given, bool carried) {
    refuseWatched(carried);
    std::vector<Tensor> all = given;
    for (std::size_t variable : assigned)
      all.push_back(variableOf(variable).value(where));
    numLeading = all.size();
    if (!carried) // branches capture them
      for (std::size_t i = given.size(); i < all.size(); ++i)
        placeOfCapture.push_back(capture(all[i]));
    for (const std::shared_ptr<Trace> &trace : traces)
      for (std::size_t i = 0; i < trace->captures.size(); ++i)
        if (!isConstant(*trace, i) && !(carried && placeOfVariable(*trace, trace->numArguments + i)))
          capture(trace->captures[i]);
    if (!carried)
      all = given;
    numGiven = given.size();
    isCarried = carried;
    all.insert(all.end(), captures.begin(), captures.end());
    return all;
  }

  // A traced program with the operands as its parameters, and after its results the last values of assigned variables.
  // `change` may append to it, and change the results.
  using Change = absl::FunctionRef<void(schema::Recording &)>;
  schema::RecordingRef program(
      Trace &trace, std::span<const Tensor> operands, bool withAssigned, Change change = [](schema::Recording &) {},
      std::span<const schema::TensorType> types = {}) {
    const schema::Recording &from = trace.recording;
    auto made = std::make_shared<schema::Recording>();
    made->name = from.name;
    made->line = from.line;
    for (std::size_t i = 0; i < operands.size(); ++i)
      made->addParameter(i < types.size() ? types[i] : *implOf(operands[i]).type);
    std::vector<ValueId> renamed(from.numValues(), -1);
    for (std::size_t i = 0; i < from.parameters.size(); ++i)
      renamed[schema::index(from.parameters[i])] = parameterOf(trace, i, *made);
    for (const schema::RecordedOp &op : from.ops())
      made->appendCopy(from, op, renamed);
    for (ValueId result : from.results)
      made->results.push_back(renamed[schema::index(result)]);
    change(*made);
    for (std::size_t i = 0; withAssigned && i < assigned.size(); ++i) {
      auto held = std::ranges::find(trace.held(), assigned[i], &Trace::Held::index);
      made->results.push_back(held != trace.held().end() ? renamed[schema::index(held->value)]
                                                         : made->parameters[placeOf(i)]);
    }
    return made;
  }

  // Gives assigned variables their new values, which come last among an operation's results.
  std::vector<Tensor> assignLast(std::vector<Tensor> results) {
    std::size_t first = results.size() - assigned.size();
    for (std::size_t i = 0; i < assigned.size(); ++i)
      outer.assign(root().variables[assigned[i]], results[first + i], where);
    results.resize(first);
    return results;
  }

private:
  // StateError for a variable whose reads a tape around watches, where some are of what was assigned inside: that tape
  // does not see these. In a loop, what an iteration reads an earlier one may have assigned.
  void refuseWatched(bool isLoop) {
    for (const std::shared_ptr<Trace> &trace : traces)
      for (const Trace::Held &held : trace->held()) {
        const VariableState &variable = *root().variables[held.index];
        bool isUnseen =
            isLoop ? held.read && std::ranges::find(assigned, held.index) != assigned.end() : held.readAssigned;
        if (isUnseen && std::ranges::any_of(activeTapes(), [&](TapeState *tape) { return tape->isWatching(variable); }))
          throw StateError(
              absl::StrCat("variable '", variable.name, "' is assigned and read in ", trace->recording.name,
                           ", and a tape around it watches the variable, which would see no such read; make "
                           "the tape inside, or stop recording around it"),
              where);
      }
  }
  Trace &root() { return outer.root(); }
  Variable variableOf(std::size_t index) { return Variable(root().variables[index]); }
  std::size_t placeOf(std::size_t numberOfAssigned) const {
    if (isCarried)
      return numGiven + numberOfAssigned;
    return numGiven + placeOfCapture[numberOfAssigned];
  }
  // Where a captured parameter is that of an assigned variable's value: its number among these.
  std::optional<std::size_t> placeOfVariable(const Trace &trace, std::size_t parameter) const {
    for (const Trace::Held &held : trace.held())
      if (held.parameter == trace.recording.parameters[parameter])
        if (auto found = std::ranges::find(assigned, held.index); found != assigned.end())
          return static_cast<std::size_t>(found - assigned.begin());
    return std::nullopt;
  }
  // A small tensor that nothing else holds is a constant, as in the trace of a function.
  bool isConstant(const Trace &trace, std::size_t capture) {
    const std::shared_ptr<const TensorImpl> &impl = trace.captures[capture].impl();
    return !impl->trace && impl.use_count() == 1 && impl->type->numElements() <= root().mostConstantElements;
  }
  // The number of a capture among all; one for each value of the trace around.
  std::size_t capture(const Tensor &x) {
    auto [found, isNew] = numbers.try_emplace(outer.valueOf(x, where), captures.size());
    if (isNew)
      captures.push_back(x);
    return found->second;
  }
  ValueId parameterOf(Trace &trace, std::size_t parameter, schema::Recording &made) {
    if (parameter < trace.numArguments)
      return made.parameters[parameter];
    std::size_t number = parameter - trace.numArguments;
    if (isConstant(trace, number))
      return trace.appendConstantOf(number, made);
    if (isCarried)
      if (std::optional<std::size_t> place = placeOfVariable(trace, parameter))
        return made.parameters[numGiven + *place];
    std::size_t first = isCarried ? numLeading : numGiven;
    return made.parameters[first + numbers.at(outer.valueOf(trace.captures[number], where))];
  }

  const SourceLocation where;
  Trace &outer;
  std::vector<std::shared_ptr<Trace>> traces;
  std::vector<std::size_t> assigned; // variables, by their index in the outermost trace
  std::size_t numGiven = 0, numLeading = 0;
  bool isCarried = false;
  std::vector<std::size_t> placeOfCapture; // of assigned variables that are no loop variables
  HashMap<ValueId, std::size_t> numbers;   // of captures, by their values in the trace around
  std::vector<Tensor> captures;
};

} // namespace

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
  if ((type.dtype != DType::Int32 && type.dtype != DType::Int64) || type.rank() != 0)
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

// Before the user's loop variables, a range has its index.
Iterated loopVariables(const char *operation) {
  return {operation, false, std::string_view(operation) == "for_range" ? std::size_t(1) : 0};
}

// The loop by iterations, eagerly.
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
  // A limit is one more loop variable: the number of iterations to go.
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

//===-- Ranges and scans ------------------------------------------------------------------------===//

Tensor rangeBound(const char *operation, const char *what, const Tensor &bound, SourceLocation where) {
  const schema::TensorType &type = *implOf(bound, where).type;
  if (type.rank() != 0 || !is_integer(type.dtype))
    throw ShapeError(absl::StrCat(operation, ": ", what, " must be an integer scalar, not ", type.str()), where);
  return type.dtype == DType::Int64 ? bound : cast(Operand(bound, where), DType::Int64);
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

namespace {

// The size that xs have along axis 0.
Size slicesOf(const char *operation, const std::vector<Tensor> &xs, SourceLocation where) {
  CallSite site(where, operation);
  if (xs.empty())
    throw ValueError(absl::StrCat(operation, ": there is no tensor to go through"), where);
  std::int64_t known = schema::kOpenSize;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const schema::TensorType &type = *implOf(xs[i], where).type;
    if (type.rank() == 0)
      throw ShapeError(absl::StrCat(operation, ": tensor ", i, " is a scalar, which has no slices"), where);
    if (known != schema::kOpenSize && type.dims[0] != schema::kOpenSize && type.dims[0] != known)
      throw ShapeError(absl::StrCat(operation, ": the tensors have different numbers of slices: ", known, ", and ",
                                    type.dims[0], " of ", type.str()),
                       where);
    if (type.dims[0] != schema::kOpenSize)
      known = type.dims[0];
  }
  auto known0 = std::ranges::find_if(xs, [&](const Tensor &x) { return implOf(x).type->dims[0] != schema::kOpenSize; });
  return (known0 == xs.end() ? xs[0] : *known0).shape(where)[0];
}

// Slices along axis 0.
std::vector<Tensor> slicesAt(const char *operation, const std::vector<Tensor> &xs, const Tensor &index,
                             SourceLocation where) {
  CallSite site(where, operation);
  std::vector<Tensor> slices;
  schema::Attribute axis = std::int64_t(0);
  for (const Tensor &x : xs) {
    Tensor operands[] = {x, index};
    slices.push_back(apply(OpId::Gather, operands, {&axis, 1}, where));
  }
  return slices;
}

// The same eagerly, for all places one after the other. The gradient of a slice is as large as what it is taken from,
// and those of all slices of a tensor together are its size squared: where a tape records them, they are taken from
// blocks, of which there are as many as each has slices.
class SlicesInOrder {
public:
  SlicesInOrder(const char *operation, const std::vector<Tensor> &xs, std::int64_t count, SourceLocation where)
      : operation(operation), xs(xs), count(count), where(where) {
    constexpr std::int64_t kFew = 64;
    if (count > kFew && eagerTapesActive())
      length = static_cast<std::int64_t>(std::sqrt(static_cast<double>(count)));
  }
  std::vector<Tensor> at(std::int64_t i) {
    if (const std::int64_t from = i - i % length; length < count && from != begin) {
      CallSite site(where, operation);
      block.clear();
      for (const Tensor &x : xs)
        block.push_back(x.rows(from, std::min(from + length, count), where));
      begin = from;
    }
    return slicesAt(operation, length < count ? block : xs, makeScalar(Number(i % length), DType::Int64, where), where);
  }

private:
  const char *operation;
  const std::vector<Tensor> &xs;
  const std::int64_t count;
  SourceLocation where;
  std::int64_t length = count, begin = -1; // of a block
  std::vector<Tensor> block;
};

// The results of all steps are stacked, so that they must be alike.
void requireSameResults(const char *operation, const Produced &before, const Produced &now, SourceLocation where) {
  if (differ(before, now))
    throw ValueError(absl::StrCat(operation, ": a step gives other host values than the one before"), where);
  for (std::size_t i = 0; i < now.tensors.size(); ++i) {
    const schema::TensorType &given = *implOf(now.tensors[i], where).type, &wanted = *implOf(before.tensors[i]).type;
    if (given != wanted)
      requireType(absl::StrCat(operation, ": result ", i, " of a step is ", describe(now.tensors[i]),
                               ", and that of the step before ", describe(before.tensors[i])),
                  given, wanted, where);
  }
}

// The shape of the results of so many slices. ShapeError where that of one is not known.
Shape stackedShape(const char *operation, const Tensor &one, const Size &count, SourceLocation where) {
  const schema::TensorType &type = *implOf(one, where).type;
  if (!type.isStatic())
    throw ShapeError(absl::StrCat(operation, ": the sizes of a step's result must be known; it is ", describe(one)),
                     where);
  Shape shape = Shape(type.dims);
  shape.insert(shape.begin(), count);
  return shape;
}

} // namespace

Scanned runScan(const char *operation, const ScanBody &body, const Produced &initial, const std::vector<Tensor> &xs,
                const ScanOptions &options, SourceLocation where) {
  for (const Tensor &carried : initial.tensors)
    implOf(carried, where);
  if (!currentTrace() && options.checkpoint && eagerTapesActive()) {
    std::vector<Tensor> inputs = initial.tensors;
    inputs.insert(inputs.end(), xs.begin(), xs.end());
    const auto numCarry = static_cast<std::ptrdiff_t>(initial.tensors.size());
    std::vector<Tensor> made = runRecorded(
        operation, inputs,
        [&](const std::vector<Tensor> &given) {
          Produced first = initial;
          first.tensors = {given.begin(), given.begin() + numCarry};
          Scanned scanned = runScan(operation, body, first, {given.begin() + numCarry, given.end()}, options, where);
          scanned.carry.insert(scanned.carry.end(), scanned.results.begin(), scanned.results.end());
          return scanned.carry;
        },
        where);
    return {{made.begin(), made.begin() + numCarry}, {made.begin() + numCarry, made.end()}};
  }
  const Size count = slicesOf(operation, xs, where);
  std::optional<ScanStep> made;
  auto step = [&](const std::vector<Tensor> &carry, const std::vector<Tensor> &x) {
    ScanStep now = body(carry, x);
    if (made)
      requireSameResults(operation, made->result, now.result, where);
    now.carry.tensors = nextValues({operation, true}, now.carry, initial, carry, where);
    made = now;
    return now;
  };
  auto at = [&](std::int64_t i) { return full({}, Operand(i, where), DType::Int64); };

  if (!currentTrace()) {
    const std::int64_t n = count;
    if (n == 0) { // the types of results are found without running anything
      std::vector<Tensor> like;
      for (const Tensor &x : xs) {
        schema::TensorType type = *implOf(x, where).type;
        type.dims.erase(type.dims.begin());
        like.push_back(zeros(Shape(type.dims), type.dtype, where));
      }
      std::vector<Tensor> parameters = initial.tensors;
      parameters.insert(parameters.end(), like.begin(), like.end());
      TracedProgram program =
          traceProgram({.name = operation, .where = where, .call = where, .isCalled = false},
                       parametersLike(parameters, true, where), [&](Trace &, const std::vector<Tensor> &given) {
                         auto middle = given.begin() + static_cast<std::ptrdiff_t>(initial.tensors.size());
                         return step({given.begin(), middle}, {middle, given.end()}).result.tensors;
                       });
      Scanned scanned{initial.tensors, {}};
      for (schema::ValueId result : program.trace->recording.results) {
        schema::TensorType type = program.trace->recording.typeOf(result);
        type.dims.insert(type.dims.begin(), 0);
        scanned.results.push_back(zeros(Shape(type.dims), type.dtype, where));
      }
      return scanned;
    }
    Scanned scanned{own(initial.tensors, where), {}};
    std::vector<std::vector<Tensor>> parts;
    SlicesInOrder slices(operation, xs, n, where);
    for (std::int64_t i = 0; i < n; ++i) {
      ScanStep now = step(scanned.carry, slices.at(options.reverse ? n - 1 - i : i));
      scanned.carry = own(now.carry.tensors, where);
      parts.resize(now.result.tensors.size());
      for (std::size_t r = 0; r < parts.size(); ++r) {
        schema::Attribute axes = std::vector<std::int64_t>{0};
        parts[r].push_back(apply(OpId::ExpandDims, {&now.result.tensors[r], 1}, {&axes, 1}, where));
      }
    }
    for (std::vector<Tensor> &part : parts) {
      if (options.reverse)
        std::ranges::reverse(part);
      scanned.results.push_back(concatenated(std::move(part), 0, where));
    }
    return scanned;
  }

  // Numbers of slices that only the call knows are compared there.
  for (std::size_t i = 0; i < xs.size(); ++i)
    if (implOf(xs[i]).type->dims[0] == schema::kOpenSize && (count.is_known() || i > 0)) {
      CallSite site(where, operation);
      Tensor isEqual = equal(Operand(xs[i].shape(where)[0], where), Operand(count, where));
      assert_true(Operand(isEqual, where), absl::StrCat(operation, ": the tensors have different numbers of slices"));
    }
  // A loop over the index. The results are loop variables, of which each iteration sets a slice.
  const std::size_t numCarry = initial.tensors.size();
  const Tensor steps = Operand(count, where).toTensor(DType::Int64);
  std::vector<Tensor> variables{at(0)};
  variables.insert(variables.end(), initial.tensors.begin(), initial.tensors.end());
  Regions regions(where);
  Trace &bodyTrace = regions.trace("the body of a loop", variables, [&](const std::vector<Tensor> &parameters) {
    Tensor i = parameters[0], place = i;
    if (options.reverse)
      place = sub(Operand(sub(Operand(steps, where), Operand(1, where)), where), Operand(i, where));
    ScanStep now = step({parameters.begin() + 1, parameters.end()}, slicesAt(operation, xs, place, where));
    std::vector<Tensor> results{add(Operand(i, where), Operand(1, where))};
    results.insert(results.end(), now.carry.tensors.begin(), now.carry.tensors.end());
    results.push_back(place);
    results.insert(results.end(), now.result.tensors.begin(), now.result.tensors.end());
    return results;
  });
  Trace &conditionTrace =
      regions.trace("the condition of a loop", {variables[0]}, [&](const std::vector<Tensor> &parameters) {
        return std::vector<Tensor>{less(Operand(parameters[0], where), Operand(steps, where))};
      });
  for (const Tensor &one : made->result.tensors)
    variables.push_back(zeros(stackedShape(operation, one, count, where), implOf(one).type->dtype, where));
  std::vector<Tensor> operands = regions.operands(variables, true);
  schema::Attribute attributes[] = {
      options.checkpoint, std::vector<std::int64_t>(), regions.program(conditionTrace, operands, false),
      regions.program(bodyTrace, operands, true, [&](schema::Recording &program) {
        schema::ValueId place = program.results[1 + numCarry];
        for (std::size_t r = 0; r < made->result.tensors.size(); ++r) {
          schema::ValueId stacked = program.parameters[1 + numCarry + r], &result = program.results[2 + numCarry + r];
          schema::ValueId values[] = {stacked, place, result};
          schema::Attribute axis = std::int64_t(0);
          const schema::TensorType type = program.typeOf(stacked);
          result = program.append(OpId::UpdateAt, values, {&axis, 1}, {&type, 1}, recordedLine(where));
        }
        program.results.erase(program.results.begin() + 1 + static_cast<std::ptrdiff_t>(numCarry));
      })};
  std::vector<Tensor> results = regions.assignLast(applyAll(OpId::While, operands, attributes, where));
  auto carry = results.begin() + 1, stacked = carry + static_cast<std::ptrdiff_t>(numCarry);
  return {{carry, stacked}, {stacked, results.end()}};
}

//===-- Checkpoints -----------------------------------------------------------------------------===//

namespace {
// Of a program, and of those inside of its operations.
void refuseHostCalls(const schema::Recording &program) {
  for (const schema::RecordedOp &op : program.ops()) {
    if (op.op == OpId::HostCall)
      throw StateError("a host call can't stand in a pullback or a checkpoint, which may run any number of times",
                       locationOf(op.line));
    for (const schema::Attribute &attribute : program.attributesOf(op))
      if (const auto *inner = std::get_if<schema::RecordingRef>(&attribute))
        refuseHostCalls(**inner);
  }
}
} // namespace

// The state of variables, such as generators, is an operand, and what they are assigned is a result. So what a gradient
// computes again draws the same numbers, and variables are assigned once.
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
