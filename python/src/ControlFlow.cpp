// Branches and loops on the values of tensors, as functions that take Python callables.
#include "Functions.h"

#include <calque/control_flow.h>

#include <nanobind/stl/optional.h>

namespace calque::python {

namespace {

nb::object none() { return nb::make_tuple(); }

// A branch keeps the structure of its result, which is the same in all branches.
struct Branches {
  const char *operation;
  SourceLocation where;
  std::optional<Flat> kept = {};
  detail::Produced run(nb::handle f, nb::handle operands) {
    nb::gil_scoped_acquire lock;
    Flat made = flattened(callPython(f, operands).ptr(), Leaves::Tensors, operation, where);
    if (kept && kept->code != made.code)
      throw ValueError(std::string(operation) + ": one branch returns " + described(*kept) + " and another one " +
                           described(made),
                       where);
    kept = made;
    return producedBy(made);
  }
};

nb::object cond(nb::handle predicate, nb::handle then, nb::handle otherwise, nb::args operands) {
  const SourceLocation where = here();
  const Tensor decides = operandOf(predicate.ptr(), "predicate", where).toTensor();
  Branches branches{"cond", where};
  const std::vector<Tensor> tensors = withoutLock([&] {
    return detail::runCond(
        "cond", decides, [&] { return branches.run(then, operands); },
        [&] { return branches.run(otherwise, operands); }, where);
  });
  return unflattened(*branches.kept, tensors);
}

nb::object switchCase(nb::handle index, nb::handle given, nb::args operands) {
  const SourceLocation where = here();
  const Tensor decides = operandOf(index.ptr(), "index", where).toTensor();
  Branches branches{"switch_case", where};
  std::vector<detail::BranchBody> bodies;
  nb::object list = nb::borrow<nb::object>(given);
  for (std::size_t i = 0; i < nb::len(list); ++i) {
    nb::handle f = nb::object(list[i]); // the list keeps it
    bodies.emplace_back([&branches, f, &operands] { return branches.run(f, operands); });
  }
  const std::vector<Tensor> tensors = withoutLock([&] { return detail::runSwitch(decides, bodies, where); });
  return unflattened(*branches.kept, tensors);
}

// The arguments of a callable that takes loop variables: the elements of a tuple, or the one structure.
nb::object arguments(const Flat &state, std::span<const Tensor> tensors, nb::object first = {}) {
  nb::object made = unflattened(state, tensors);
  nb::list list;
  if (first.is_valid())
    list.append(first);
  if (PyTuple_CheckExact(made.ptr()))
    for (nb::handle each : made)
      list.append(each);
  else
    list.append(made);
  return nb::tuple(list);
}

// Loop variables: numbers would be the same in all iterations.
Flat stateOf(const char *operation, nb::handle initial, SourceLocation where) {
  const Flat given = flattened(initial.ptr(), Leaves::Arguments, operation, where);
  if (!given.hosts.empty() || given.code.find('s') != std::string::npos)
    throw DTypeError(std::string(operation) + ": loop variables are tensors, and the initial ones are " +
                         described(given) + ": begin with tensor(0) instead of a number",
                     where);
  return given;
}
// The next loop variables, as a body returns them.
Flat nextOf(const char *operation, const Flat &state, nb::handle made, SourceLocation where) {
  Flat next = flattened(made.ptr(), Leaves::Tensors, operation, where);
  if (next.code != state.code)
    throw ValueError(std::string(operation) + ": the body returns " + described(next) +
                         ", and the loop variables are " + described(state),
                     where);
  return next;
}

WhileOptions optionsOf(std::optional<std::int64_t> maximum, bool checkpoint, nb::handle invariants,
                       SourceLocation where) {
  WhileOptions options{.maximum_iterations = maximum, .checkpoint = checkpoint};
  if (!invariants.is_none())
    for (nb::handle each : nb::borrow<nb::object>(invariants)) {
      std::optional<Shape> shape;
      if (!each.is_none())
        shape = shapeOf(each.ptr(), where, true);
      options.shape_invariants.push_back(std::move(shape));
    }
  return options;
}

nb::object whileLoop(nb::handle condition, nb::handle body, nb::handle initial, std::optional<std::int64_t> maximum,
                     bool checkpoint, nb::handle invariants) {
  const SourceLocation where = here();
  const Flat state = stateOf("while_loop", initial, where);
  const WhileOptions options = optionsOf(maximum, checkpoint, invariants, where);
  auto decide = [&](const std::vector<Tensor> &tensors) {
    nb::gil_scoped_acquire lock;
    nb::object made = callPython(condition, arguments(state, tensors));
    return operandOf(made.ptr(), "the condition of while_loop", where).toTensor();
  };
  auto next = [&](const std::vector<Tensor> &tensors) {
    nb::gil_scoped_acquire lock;
    return producedBy(nextOf("while_loop", state, callPython(body, arguments(state, tensors)), where));
  };
  const std::vector<Tensor> last =
      withoutLock([&] { return detail::runWhile("while_loop", decide, next, producedBy(state), options, where); });
  return unflattened(state, last);
}

nb::object forRange(nb::handle begin, nb::handle end, nb::handle initial, nb::handle body, std::int64_t step,
                    bool checkpoint) {
  const SourceLocation where = here();
  if (step == 0)
    detail::throwStep(where);
  const Flat state = stateOf("for_range", initial, where);
  const Tensor first =
      detail::rangeBound("for_range", "the beginning", operandOf(begin.ptr(), "begin", where).toTensor(), where);
  const Tensor last = detail::rangeBound("for_range", "the end", operandOf(end.ptr(), "end", where).toTensor(), where);
  // The index is the first loop variable.
  Flat all;
  all.code = "T" + state.code;
  all.tensors = state.tensors;
  all.tensors.insert(all.tensors.begin(), first);
  all.variables = state.variables;
  all.texts = state.texts;
  auto decide = [&](const std::vector<Tensor> &tensors) { return detail::isBefore(tensors[0], last, step, where); };
  auto next = [&](const std::vector<Tensor> &tensors) {
    nb::gil_scoped_acquire lock;
    nb::object made = callPython(body, arguments(state, std::span(tensors).subspan(1), wrapped(tensors[0])));
    Flat now = nextOf("for_range", state, made, where);
    now.code = all.code;
    now.tensors.insert(now.tensors.begin(), detail::advanced(tensors[0], step, where));
    return producedBy(now);
  };
  const std::vector<Tensor> made = withoutLock([&] {
    return detail::runWhile("for_range", decide, next, producedBy(all), WhileOptions{.checkpoint = checkpoint}, where);
  });
  return unflattened(state, std::span(made).subspan(1));
}

// scan, fold and map_fn: what the step returns is the next carry, a result for each slice, or both.
nb::object scanWith(const char *operation, nb::handle step, nb::object initial, nb::handle xs, bool carries,
                    bool collects, bool reverse, bool checkpoint) {
  const SourceLocation where = here();
  const Flat state = stateOf(operation, initial, where);
  const Flat slices = flattened(xs.ptr(), Leaves::Tensors, operation, where);
  std::optional<Flat> kept;
  auto body = [&](const std::vector<Tensor> &carry, const std::vector<Tensor> &x) {
    nb::gil_scoped_acquire lock;
    nb::object slice = unflattened(slices, x);
    nb::object given =
        carries ? nb::object(nb::make_tuple(unflattened(state, carry), slice)) : nb::object(nb::make_tuple(slice));
    nb::object made = callPython(step, given);
    nb::object next = made, result = made;
    if (carries && collects) {
      if (!PyTuple_CheckExact(made.ptr()) || PyTuple_GET_SIZE(made.ptr()) != 2)
        throw DTypeError(
            std::string(operation) + ": the step returns a pair: the next carry and a result of this slice", where);
      next = made[0];
      result = made[1];
    }
    detail::ScanStep both;
    if (carries)
      both.carry = producedBy(nextOf(operation, state, next, where));
    if (collects) {
      kept = flattened(result.ptr(), Leaves::Tensors, operation, where);
      both.result = producedBy(*kept);
    }
    return both;
  };
  const detail::Produced begin = carries ? producedBy(state) : detail::Produced();
  const detail::Scanned scanned = withoutLock(
      [&] { return detail::runScan(operation, body, begin, slices.tensors, {reverse, checkpoint}, where); });
  if (!collects)
    return unflattened(state, scanned.carry);
  nb::object results = unflattened(*kept, scanned.results);
  return carries ? nb::object(nb::make_tuple(unflattened(state, scanned.carry), results)) : results;
}

} // namespace

void bindControlFlow(nb::module_ &m) {
  m.def(
      "cond", &cond, nb::arg("predicate"), nb::arg("then"), nb::arg("otherwise"), nb::arg("operands"),
      nb::sig(
          "def cond(predicate: TensorLike, then: Callable[..., T], otherwise: Callable[..., T], *operands: Any) -> T"),
      "then(*operands) if the predicate, a bool scalar, is true, else otherwise(*operands). In a traced function both "
      "are "
      "traced, and the compiled program chooses. Both return the same structure, with tensors of the same types.");
  m.def("switch_case", &switchCase, nb::arg("index"), nb::arg("branches"), nb::arg("operands"),
        nb::sig("def switch_case(index: TensorLike, branches: Sequence[Callable[..., T]], *operands: Any) -> T"),
        "The result of branch number `index`; the last branch serves any other index.");
  m.def("while_loop", &whileLoop, nb::arg("condition"), nb::arg("body"), nb::arg("initial"), nb::kw_only(),
        nb::arg("maximum_iterations") = nb::none(), nb::arg("checkpoint") = false,
        nb::arg("shape_invariants") = nb::none(),
        nb::sig("def while_loop(condition: Callable[..., TensorLike], body: Callable[..., T], initial: T, *, "
                "maximum_iterations: int | None = None, checkpoint: bool = False, "
                "shape_invariants: Sequence[Sequence[int | None] | None] | None = None) -> T"),
        "Runs the body as long as the condition returns true. Both take the loop variables: the entries of a tuple, or "
        "one "
        "structure. The body returns the next ones, of the same types.");
  m.def(
      "for_range", &forRange, nb::arg("begin"), nb::arg("end"), nb::arg("initial"), nb::arg("body"), nb::kw_only(),
      nb::arg("step") = 1, nb::arg("checkpoint") = false,
      nb::sig("def for_range(begin: TensorLike, end: TensorLike, initial: T, body: Callable[..., T], *, step: int = 1, "
              "checkpoint: bool = False) -> T"),
      "Runs the body for the indices begin, begin + step, ... before end. It takes the index and the loop variables, "
      "and "
      "returns the next ones.");
  m.def(
      "scan",
      [](nb::handle step, nb::object initial, nb::handle xs, bool reverse, bool checkpoint) {
        return scanWith("scan", step, initial, xs, true, true, reverse, checkpoint);
      },
      nb::arg("step"), nb::arg("initial"), nb::arg("xs"), nb::kw_only(), nb::arg("reverse") = false,
      nb::arg("checkpoint") = false,
      nb::sig("def scan(step: Callable[[C, Any], tuple[C, Y]], initial: C, xs: Any, *, reverse: bool = False, "
              "checkpoint: bool = False) -> tuple[C, Y]"),
      "Calls the step for each slice of xs along axis 0: it takes the carry and a slice, and returns the next carry "
      "and a "
      "result. Returns the last carry and the stacked results.");
  m.def(
      "fold",
      [](nb::handle step, nb::object initial, nb::handle xs, bool reverse, bool checkpoint) {
        return scanWith("fold", step, initial, xs, true, false, reverse, checkpoint);
      },
      nb::arg("step"), nb::arg("initial"), nb::arg("xs"), nb::kw_only(), nb::arg("reverse") = false,
      nb::arg("checkpoint") = false,
      nb::sig("def fold(step: Callable[[C, Any], C], initial: C, xs: Any, *, reverse: bool = False, checkpoint: bool = "
              "False) -> C"),
      "The last carry of a scan whose step returns the next carry alone.");
  m.def(
      "map_fn",
      [](nb::handle f, nb::handle xs) { return scanWith("map_fn", f, none(), xs, false, true, false, false); },
      nb::arg("f"), nb::arg("xs"), nb::sig("def map_fn(f: Callable[[Any], Y], xs: Any) -> Y"),
      "Applies f to each slice of xs along axis 0, one after the other, and stacks the results.");
}

} // namespace calque::python
