// Derivatives and vmap of Python callables, on structures of tensors.
#include "Functions.h"

#include <calque/custom_gradient.h>
#include <calque/transforms.h>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace calque::python {

namespace {

// The one tensor of a result that is differentiated.
Tensor oneTensor(const char *operation, PyObject *result, SourceLocation where) {
  if (const Tensor *y = tensorIn(result))
    return *y;
  throw DTypeError(std::string(operation) + ": the function returns one Tensor, and not " + typeName(result) +
                       "; vjp() and jvp() take structures, and has_aux=True a pair with a Tensor",
                   where);
}

// A differentiated argument: numbers become scalars, and a variable stands for its value.
Flat primalsOf(const char *operation, nb::handle x, SourceLocation where) {
  Flat flat;
  if (const Variable *variable = variableIn(x.ptr())) {
    flat.code = "T";
    flat.tensors.push_back(variable->value(where));
  } else {
    flat = flattened(x.ptr(), Leaves::Tensors, operation, where);
  }
  detail::requireSources(operation, flat.tensors, !flat.variables.empty(), where);
  return flat;
}

std::vector<Tensor> seeded(detail::PullbackTape &tape, const std::vector<Tensor> &targets,
                           const std::vector<Tensor> &sources, const std::vector<Tensor> &seeds, SourceLocation where) {
  return withoutLock([&] { return tape.cotangents(targets, sources, seeds, where); });
}

// (value, derivatives, aux) with respect to the arguments with these numbers.
nb::object valueAndGrad(const std::string &name, nb::handle f, nb::handle argnums, nb::tuple given, nb::dict names,
                        bool hasAux) {
  const SourceLocation where = here();
  const char *operation = detail::interned(name);
  const bool isOne = !PyTuple_Check(argnums.ptr()) && !PyList_Check(argnums.ptr());
  std::vector<std::int64_t> numbers;
  if (isOne)
    numbers.push_back(integerOf(argnums.ptr(), "argnums", where));
  else
    for (nb::handle each : nb::borrow<nb::object>(argnums))
      numbers.push_back(integerOf(each.ptr(), "argnums", where));
  const auto count = static_cast<std::int64_t>(nb::len(given));
  nb::list chosen;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::int64_t &number = numbers[i];
    if (number < -count || number >= count)
      throw ValueError(name + ": 'argnums' has " + std::to_string(number) + ", and the call has " +
                           std::to_string(count) + " arguments by position",
                       where);
    number += number < 0 ? count : 0;
    for (std::size_t j = 0; j < i; ++j)
      if (numbers[j] == number)
        throw ValueError(name + ": 'argnums' has " + std::to_string(number) + " twice", where);
    const Variable *variable = variableIn(nb::handle(given[static_cast<std::size_t>(number)]).ptr());
    chosen.append(variable ? wrapped(variable->value(where)) : nb::object(given[static_cast<std::size_t>(number)]));
  }
  const Flat primals = primalsOf(operation, nb::tuple(chosen), where);
  std::shared_ptr<detail::PullbackTape> tape = detail::PullbackTape::make(operation, where);
  const std::vector<Tensor> sources = detail::aliases(primals.tensors, where);
  for (const Tensor &source : sources)
    tape->watch(source, where);
  nb::object replaced = unflattened(primals, sources);
  nb::list arguments;
  for (std::int64_t i = 0; i < count; ++i) {
    std::size_t at = 0;
    while (at < numbers.size() && numbers[at] != i)
      ++at;
    arguments.append(at < numbers.size() ? nb::object(replaced[at]) : nb::object(given[static_cast<std::size_t>(i)]));
  }
  nb::object result = callPython(f, nb::tuple(arguments), names);
  tape->stop();
  nb::object aux = nb::none();
  if (hasAux) {
    if (!PyTuple_Check(result.ptr()) || PyTuple_GET_SIZE(result.ptr()) != 2)
      throw DTypeError(name + ": with has_aux=True the function returns a pair, its value and anything else", where);
    aux = result[1];
    result = nb::object(result[0]);
  }
  const Tensor y = oneTensor(operation, result.ptr(), where);
  detail::requireFloating(operation, {y}, where);
  nb::object derivatives = unflattened(primals, seeded(*tape, {y}, sources, {detail::onesLike(y, where)}, where));
  if (isOne)
    derivatives = nb::object(derivatives[0]);
  return nb::make_tuple(wrapped(detail::alias(y, where)), derivatives, aux);
}

// The function from cotangents of a result to those of the primals.
struct Pullback {
  std::shared_ptr<detail::PullbackTape> tape;
  Flat primals, result; // without tensors
  std::vector<Tensor> sources, targets;
  nb::object operator()(nb::handle cotangents) const {
    const SourceLocation where = here();
    Flat seeds = flattened(cotangents.ptr(), Leaves::Tensors, "the cotangents", where);
    if (result.code == "T" && !tensorIn(cotangents.ptr()))
      seeds.tensors = {operandOf(cotangents.ptr(), "cotangents", where).toTensor(targets[0].dtype(where))};
    else if (seeds.code != result.code)
      throw ValueError("vjp: the cotangents are " + described(seeds) + ", and the result is " + described(result),
                       where);
    nb::object all = unflattened(primals, seeded(*tape, targets, sources, seeds.tensors, where));
    return all;
  }
};

nb::object vjp(nb::handle f, nb::args given) {
  const SourceLocation where = here();
  nb::list values;
  for (nb::handle each : given) {
    const Variable *variable = variableIn(each.ptr());
    values.append(variable ? wrapped(variable->value(where)) : nb::borrow<nb::object>(each));
  }
  Flat primals = primalsOf("vjp", nb::tuple(values), where);
  std::shared_ptr<detail::PullbackTape> tape = detail::PullbackTape::make("vjp", where);
  const std::vector<Tensor> sources = detail::aliases(primals.tensors, where);
  for (const Tensor &source : sources)
    tape->watch(source, where);
  Flat y = flattened(callPython(f, unflattened(primals, sources)).ptr(), Leaves::Tensors, "vjp: the result", where);
  tape->stop();
  detail::requireNoVariable("vjp", !y.variables.empty(), where);
  nb::object value = unflattened(y, detail::aliases(y.tensors, where));
  std::vector<Tensor> targets = std::move(y.tensors);
  primals.tensors.clear();
  return nb::make_tuple(value, Pullback{tape, std::move(primals), std::move(y), sources, std::move(targets)});
}

// Records f on the structure of `primals`; `made` gets the structure of its result.
std::vector<Tensor> called(nb::handle f, const Flat &primals, std::span<const Tensor> tensors, Flat &made,
                           const char *what, SourceLocation where) {
  nb::gil_scoped_acquire lock;
  made = flattened(callPython(f, unflattened(primals, tensors)).ptr(), Leaves::Tensors, what, where);
  return made.tensors;
}

nb::object jvp(nb::handle f, nb::tuple given, nb::tuple directions) {
  const SourceLocation where = here();
  nb::list values;
  for (nb::handle each : given) {
    const Variable *variable = variableIn(each.ptr());
    values.append(variable ? wrapped(variable->value(where)) : nb::borrow<nb::object>(each));
  }
  const Flat primals = primalsOf("jvp", nb::tuple(values), where);
  Flat tangents = flattened(directions.ptr(), Leaves::Tensors, "jvp: the tangents", where);
  if (tangents.code != primals.code)
    throw ValueError("jvp: the tangents are " + described(tangents) + ", and the primals " + described(primals), where);
  // A Python number has the element type of its primal.
  if (nb::len(given) == primals.tensors.size())
    for (std::size_t i = 0; i < primals.tensors.size(); ++i)
      if (std::optional<Number> number = numberIn(nb::handle(directions[i]).ptr(), where))
        tangents.tensors[i] = Operand(*number, where).toTensor(primals.tensors[i].dtype(where));
  std::vector<Tensor> inputs = primals.tensors;
  inputs.insert(inputs.end(), tangents.tensors.begin(), tangents.tensors.end());
  const auto count = static_cast<std::ptrdiff_t>(primals.tensors.size());
  Flat result;
  auto body = [&](const std::vector<Tensor> &tensors) {
    const std::vector<Tensor> sources = detail::aliases({tensors.begin(), tensors.begin() + count}, where);
    std::vector<Tensor> made = called(f, primals, sources, result, "jvp: the result", where);
    detail::requireNoVariable("jvp", !result.variables.empty(), where);
    std::vector<Tensor> changes =
        detail::tangentsOf("jvp", made, sources, {tensors.begin() + count, tensors.end()}, where);
    made.insert(made.end(), changes.begin(), changes.end());
    return made;
  };
  const std::vector<Tensor> outputs = withoutLock([&] { return detail::runRecorded("jvp", inputs, body, where); });
  const std::span<const Tensor> all(outputs);
  return nb::make_tuple(unflattened(result, all.first(all.size() / 2)),
                        unflattened(result, all.subspan(all.size() / 2)));
}

// The axes of all tensors of an argument: one for all of them, or a structure like the argument.
void axesOf(PyObject *axes, PyObject *argument, std::vector<std::optional<std::int64_t>> &into, const char *what,
            SourceLocation where) {
  if (axes == Py_None || PyIndex_Check(axes)) {
    const Flat flat = flattened(argument, Leaves::Arguments, what, where);
    const std::optional<std::int64_t> axis =
        axes == Py_None ? std::nullopt : std::optional(integerOf(axes, what, where));
    into.insert(into.end(), flat.tensors.size(), axis);
    return;
  }
  nb::object listed = nb::borrow<nb::object>(axes), given = nb::borrow<nb::object>(argument);
  if (PyDict_Check(axes) && PyDict_Check(argument)) {
    for (nb::handle key :
         nb::steal<nb::object>(PySequence_List(nb::module_::import_("builtins").attr("sorted")(given).ptr())))
      axesOf(nb::object(listed[key]).ptr(), nb::object(given[key]).ptr(), into, what, where);
    return;
  }
  if (!(PyList_Check(axes) || PyTuple_Check(axes)) || !(PyList_Check(argument) || PyTuple_Check(argument)) ||
      nb::len(listed) != nb::len(given))
    throw ValueError(std::string("vmap: '") + what + "' is an axis, None, or a structure like that of the arguments",
                     where);
  for (std::size_t i = 0; i < nb::len(listed); ++i)
    axesOf(nb::object(listed[i]).ptr(), nb::object(given[i]).ptr(), into, what, where);
}

nb::object vmap(nb::handle f, nb::handle inAxes, nb::handle outAxes, nb::args given) {
  const SourceLocation where = here();
  const Flat arguments = flattened(given.ptr(), Leaves::Arguments, "vmap", where);
  VmapOptions options;
  axesOf(inAxes.ptr(), given.ptr(), options.in_axes, "in_axes", where);
  Flat result;
  auto body = [&](const std::vector<Tensor> &tensors) {
    const std::vector<Tensor> slices = detail::takeSlices(tensors, options, where);
    std::vector<Tensor> made;
    {
      nb::gil_scoped_acquire lock;
      nb::object y = callPython(f, unflattened(arguments, slices));
      result = flattened(y.ptr(), Leaves::Tensors, "vmap: the result", where);
      made = result.tensors;
      std::vector<std::optional<std::int64_t>> axes;
      axesOf(outAxes.ptr(), y.ptr(), axes, "out_axes", where);
      options.out_axes.clear();
      for (const std::optional<std::int64_t> &axis : axes) {
        if (!axis)
          throw ValueError("vmap: 'out_axes' has None, and every result has the mapped axis", where);
        options.out_axes.push_back(*axis);
      }
      options.out_axes.resize(made.size(), 0); // of numbers among the results
    }
    return detail::stackSlices(made, slices, tensors, options, where);
  };
  const std::vector<Tensor> outputs =
      withoutLock([&] { return detail::runRecorded("vmap", arguments.tensors, body, where); });
  return unflattened(result, outputs);
}

// A Python function of one tensor, with further arguments, as a C++ function.
struct OfTensor {
  nb::handle f;
  nb::handle others; // a tuple
  const char *operation;
  SourceLocation where;
  Tensor operator()(const Tensor &x) const {
    nb::gil_scoped_acquire lock;
    nb::list arguments;
    arguments.append(wrapped(x));
    for (nb::handle each : others)
      arguments.append(each);
    return oneTensor(operation, callPython(f, nb::tuple(arguments)).ptr(), where);
  }
};
template <typename F>
nb::object byTensor(const char *operation, nb::handle f, nb::handle x, nb::handle others, F compute) {
  const SourceLocation where = here();
  const Tensor given = operandOf(x.ptr(), "x", where).toTensor();
  OfTensor call{f, others, operation, where};
  return wrapped(withoutLock([&] { return compute(call, given, where); }));
}

nb::object customGradient(nb::handle f, nb::args given) {
  const SourceLocation where = here();
  const Flat arguments = flattened(given.ptr(), Leaves::Arguments, "custom_gradient", where);
  nb::object pair = callPython(f, given);
  if (!PyTuple_Check(pair.ptr()) || PyTuple_GET_SIZE(pair.ptr()) != 2 ||
      !PyCallable_Check(PyTuple_GET_ITEM(pair.ptr(), 1)))
    throw DTypeError("custom_gradient: the function returns a pair, its result and the pullback", where);
  nb::object pullback = pair[1];
  const Flat y = flattened(PyTuple_GET_ITEM(pair.ptr(), 0), Leaves::Tensors, "custom_gradient: the result", where);
  auto pull = [&](const std::vector<Tensor> &cotangents) {
    nb::gil_scoped_acquire lock;
    nb::object seeds = unflattened(y, cotangents);
    nb::object made = callPython(pullback, nb::make_tuple(seeds));
    return flattened(made.ptr(), Leaves::Tensors, "custom_gradient: the cotangents", where).tensors;
  };
  return unflattened(y, detail::withGradient("custom_gradient", arguments.tensors, y.tensors, pull, where));
}

nb::object checkpoint(nb::handle f, nb::args given) {
  const SourceLocation where = here();
  const Flat arguments = flattened(given.ptr(), Leaves::Arguments, "checkpoint", where);
  Flat result;
  auto body = [&](const std::vector<Tensor> &tensors) {
    nb::gil_scoped_acquire lock;
    result = flattened(callPython(f, unflattened(arguments, tensors)).ptr(), Leaves::Tensors, "checkpoint: the result",
                       where);
    return result.tensors;
  };
  const std::vector<Tensor> values = withoutLock([&] { return detail::checkpointed(arguments.tensors, body, where); });
  return unflattened(result, values);
}

} // namespace

void bindTransforms(nb::module_ &m) {
  nb::class_<Pullback>(m, "_Pullback").def("__call__", &Pullback::operator(), nb::arg("cotangents"));
  m.def("_value_and_grad", &valueAndGrad, nb::arg("name"), nb::arg("f"), nb::arg("argnums"), nb::arg("args"),
        nb::arg("names"), nb::arg("has_aux"));
  m.def("vjp", &vjp, nb::arg("f"), nb::arg("primals"),
        nb::sig("def vjp(f: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]"),
        "f(*primals) and the pullback: from cotangents of the result to a tuple of those of the primals.");
  m.def(
      "jvp", &jvp, nb::arg("f"), nb::arg("primals"), nb::arg("tangents"),
      nb::sig("def jvp(f: Callable[..., Any], primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]"),
      "f(*primals) and how it changes along the tangents, by forward mode.");
  m.def("_vmap", &vmap);
  m.def("_jacobian", [](nb::handle f, nb::handle x, nb::args others) {
    return byTensor("jacobian", f, x, others, [](OfTensor &call, const Tensor &given, SourceLocation where) {
      return detail::jacobianBy<static_cast<detail::TapeJacobian>(&GradientTape::jacobian)>("jacobian", call, 0, where,
                                                                                            given);
    });
  });
  m.def("_batch_jacobian", [](nb::handle f, nb::handle x, nb::args others) {
    return byTensor("batch_jacobian", f, x, others, [](OfTensor &call, const Tensor &given, SourceLocation where) {
      return detail::jacobianBy<static_cast<detail::TapeJacobian>(&GradientTape::batch_jacobian)>(
          "batch_jacobian", call, 1, where, given);
    });
  });
  m.def("_hessian", [](nb::handle f, nb::handle x, nb::args others) {
    return byTensor("hessian", f, x, others, [](OfTensor &call, const Tensor &given, SourceLocation where) {
      return detail::hessianOf(call, where, given);
    });
  });
  m.def("_hvp", [](nb::handle f, nb::handle x, nb::handle v, nb::args others) {
    const SourceLocation line = here();
    const Tensor direction = operandOf(v.ptr(), "v", line).toTensor();
    return byTensor("hvp", f, x, others, [&](OfTensor &call, const Tensor &given, SourceLocation where) {
      auto gradient = detail::gradAs("hvp", call, where);
      auto at = [&](const Tensor &primal) { return gradient(primal, where); };
      return detail::jvpAs("hvp", at, given, direction, where).second;
    });
  });
  m.def("_custom_gradient", &customGradient);
  m.def("_checkpoint", &checkpoint);
}

} // namespace calque::python
