#include "Functions.h"

#include <calque/init_scope.h>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace calque::python {

nb::object callPython(nb::handle f, nb::handle arguments, nb::handle names) {
  nb::object result = nb::steal(PyObject_Call(f.ptr(), arguments.ptr(), names.ptr()));
  if (!result.is_valid())
    throw nb::python_error();
  return result;
}

Flat PythonFunction::take(nb::handle arguments, nb::handle names, SourceLocation line) {
  nb::object positions = nb::borrow(arguments), named;
  if (names.is_valid() && PyDict_GET_SIZE(names.ptr()) != 0) {
    nb::object bound = nb::module_::import_("calque._function").attr("bind")(callable, positions, names);
    positions = bound[0];
    named = bound[1];
  }
  Flat flat;
  const Py_ssize_t count = PyTuple_GET_SIZE(positions.ptr());
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject *argument = PyTuple_GET_ITEM(positions.ptr(), i);
    if (const Tensor *x = tensorIn(argument)) {
      flat.code += 'T';
      flat.tensors.push_back(*x);
    } else {
      flatten(argument, flat, Leaves::Arguments, ("argument " + std::to_string(i)).c_str(), line);
    }
  }
  if (named.is_valid() && PyDict_GET_SIZE(named.ptr()) != 0) {
    flat.code += '=';
    flatten(named.ptr(), flat, Leaves::Arguments, "arguments by name", line);
  }
  return flat;
}

const std::shared_ptr<detail::FunctionCore> &PythonFunction::shareCore(const Flat &flat) {
  auto found = cores.find(flat.code);
  if (found == cores.end())
    found = cores.emplace(flat.code, detail::makeFunctionCore(options, where)).first;
  return found->second;
}

// The caller has the interpreter's lock.
nb::object PythonFunction::run(const Flat &flat, std::span<const Tensor> tensors,
                               std::span<const Variable> variables) const {
  Unflattener parts(flat, tensors, variables.empty() ? std::span<const Variable>(flat.variables) : variables);
  nb::list arguments;
  nb::object names;
  while (!parts.done()) {
    if (parts.atNames())
      names = parts.next();
    else
      arguments.append(parts.next());
  }
  return callPython(callable, nb::tuple(arguments), names);
}

void CallInProgress::trace(void *context, std::span<const Tensor> tensors, std::span<const Variable> variables,
                           detail::Results &results) {
  const auto &call = *static_cast<const CallInProgress *>(context);
  nb::gil_scoped_acquire lock;
  detail::DepthGuard guard(call.where);
  auto made = std::make_shared<Flat>(
      flattened(call.function.run(call.flat, tensors, variables).ptr(), Leaves::Results, "the result", call.where));
  visit(*made, results);
  results.signature.begin("result");
  visit(*made, results.signature);
  made->tensors.clear();
  results.prototype = std::move(made);
}

void CallInProgress::describe(void *context, const std::vector<std::string> &names, detail::SignatureBuilder &builder) {
  const auto &call = *static_cast<const CallInProgress *>(context);
  Visit<detail::SignatureBuilder> parts(call.flat, builder);
  for (std::size_t index = 0; !parts.done(); ++index) {
    if (parts.atNames())
      builder.begin("arguments by name");
    else
      builder.begin("argument " + std::to_string(index) + (index < names.size() ? " '" + names[index] + "'" : ""));
    parts.next();
  }
}

nb::object PythonFunction::call(const Flat &flat, SourceLocation line) {
  const std::shared_ptr<detail::FunctionCore> core = shareCore(flat);
  CallInProgress progress{*this, flat, line};
  if (detail::callsInline()) {
    if (detail::hasInputSignature(*core))
      detail::checkInlinedCall(*core, progress.body(), line);
    detail::InlinedCall inlined(flat.tensors, line);
    Flat made = flattened(run(flat, inlined.arguments(), {}).ptr(), Leaves::Results, "the result", line);
    return unflattened(made, inlined.own(made.tensors, line));
  }
  detail::Arguments arguments(line);
  visit(flat, arguments);
  detail::CallResults results;
  withoutLock([&] { detail::callFunction(*core, arguments, progress.body(), results, line); });
  const auto *prototype = static_cast<const Flat *>(results.prototype);
  return unflattened(*prototype, {results.tensors.data(), results.tensors.size()});
}

FunctionOptions optionsFrom(nb::handle name, nb::handle names, nb::handle signature, bool reduce, std::size_t most,
                            SourceLocation where) {
  FunctionOptions options;
  if (!name.is_none())
    options.name = textOf(name.ptr(), "name", where);
  if (!names.is_none())
    options.argument_names = nb::cast<std::vector<std::string>>(names);
  if (!signature.is_none())
    for (nb::handle each : nb::borrow<nb::object>(signature))
      options.input_signature.push_back(specOf(each.ptr(), where));
  options.reduce_retracing = reduce;
  options.max_traces = most;
  return options;
}

namespace {

PythonFunction &functionIn(PyObject *self) { return *nb::inst_ptr<PythonFunction>(nb::handle(self)); }

PyObject *callFunctionObject(PyObject *self, PyObject *arguments, PyObject *names) {
  return guarded([&] {
    const SourceLocation line = here();
    PythonFunction &function = functionIn(self);
    // The function may be dropped while it runs.
    nb::object holder = nb::borrow(self);
    return function.call(function.take(arguments, names, line), line).release().ptr();
  });
}
int traverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self))
    Py_VISIT(functionIn(self).callable.ptr());
  return 0;
}
int clear(PyObject *self) {
  if (nb::inst_ready(self))
    functionIn(self).callable.reset();
  return 0;
}
// A method is a function of its own for each object, which the object keeps.
PyObject *descriptor(PyObject *self, PyObject *object, PyObject *) {
  if (!object || object == Py_None)
    return Py_NewRef(self);
  return guarded([&] {
    return nb::object(nb::module_::import_("calque._function").attr("bound_to")(nb::handle(self), nb::handle(object)))
        .release()
        .ptr();
  });
}
PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void *>(&callFunctionObject)},
                       {Py_tp_traverse, reinterpret_cast<void *>(&traverse)},
                       {Py_tp_clear, reinterpret_cast<void *>(&clear)},
                       {Py_tp_descr_get, reinterpret_cast<void *>(&descriptor)},
                       {0, nullptr}};

PythonConcrete concreteOf(nb::handle self, nb::args given, nb::kwargs names) {
  const SourceLocation line = here();
  PythonFunction &function = functionIn(self.ptr());
  Flat flat = function.take(given, names, line);
  CallInProgress progress{function, flat, line};
  detail::Arguments arguments(line);
  visit(flat, arguments);
  const std::shared_ptr<detail::FunctionCore> core = function.shareCore(flat);
  auto concrete = withoutLock([&] { return detail::makeConcrete(core, arguments, progress.body(), line); });
  flat.tensors.clear();
  return {std::move(concrete), nb::borrow(self), std::move(flat)};
}

// Arguments without the host values, which are bound, or with them.
nb::object callConcreteObject(PythonConcrete &self, nb::args given, nb::kwargs names) {
  const SourceLocation line = here();
  PythonFunction &function = functionIn(self.function.ptr());
  Flat flat = function.take(given, names, line);
  if (flat.code != self.structure.code) {
    // The other arguments take the places between numbers and texts.
    const Flat &bound = self.structure;
    Flat whole;
    std::size_t host = 0, text = 0;
    bool isSimple = true;
    for (char letter : bound.code) {
      isSimple = isSimple &&
                 (letter == 'T' || letter == 'V' || letter == 'b' || letter == 'i' || letter == 'f' || letter == 's');
      if (letter == 'b' || letter == 'i' || letter == 'f')
        whole.hosts.push_back(bound.hosts[host++]);
      else if (letter == 's')
        whole.texts.push_back(bound.texts[text++]);
      else
        whole.code += letter;
    }
    if (!isSimple || whole.code != flat.code)
      throw SignatureError(function.options.name + ": a concrete function of " + described(bound) + " is given " +
                               described(flat),
                           line);
    whole.code = bound.code;
    whole.tensors = std::move(flat.tensors);
    whole.variables = std::move(flat.variables);
    flat = std::move(whole);
  }
  CallInProgress progress{function, flat, line};
  if (detail::callsInline()) {
    detail::checkInlinedCall(*self.core, progress.body(), line);
    detail::InlinedCall inlined(flat.tensors, line);
    Flat made = flattened(function.run(flat, inlined.arguments(), {}).ptr(), Leaves::Results, "the result", line);
    return unflattened(made, inlined.own(made.tensors, line));
  }
  detail::Arguments arguments(line);
  visit(flat, arguments);
  detail::CallResults results;
  withoutLock([&] { detail::callConcrete(*self.core, arguments, progress.body(), results, line); });
  return unflattened(*static_cast<const Flat *>(results.prototype), {results.tensors.data(), results.tensors.size()});
}

nb::list specList(const std::vector<TensorSpec<>> &specs) {
  nb::list list;
  for (const TensorSpec<> &spec : specs)
    list.append(specObject(spec));
  return list;
}

template <typename F> auto withCall(PythonFunction &self, nb::handle given, nb::handle names, F f) {
  const SourceLocation line = here();
  Flat flat = self.take(given, names, line);
  CallInProgress progress{self, flat, line};
  detail::Arguments arguments(line);
  visit(flat, arguments);
  detail::FunctionCore &core = self.coreOf(flat);
  return withoutLock([&] { return f(core, arguments, progress.body(), line); });
}

} // namespace

void bindFunctions(nb::module_ &m) {
  bindTrees(m);
  nb::class_<PythonConcrete>(m, "ConcreteFunction", "One trace of a Function, with its numbers and texts bound.")
      .def("__call__", &callConcreteObject)
      .def(
          "ir",
          [](const PythonConcrete &self, const std::string &stage) {
            return detail::printConcrete(*self.core, stage, here());
          },
          nb::arg("stage"), "The program after a stage, as text: Function.ir lists the stages.")
      .def(
          "graph", [](const PythonConcrete &self) { return detail::graphConcrete(*self.core, here()); },
          "The trace as a picture, in Graphviz's language.")
      .def_prop_ro(
          "argument_specs", [](const PythonConcrete &self) { return specList(detail::argumentSpecs(*self.core)); },
          nb::sig("def argument_specs(self) -> list[TensorSpec]"))
      .def_prop_ro(
          "result_specs", [](const PythonConcrete &self) { return specList(detail::resultSpecs(*self.core, here())); },
          nb::sig("def result_specs(self) -> list[TensorSpec]"))
      .def("__str__", [](const PythonConcrete &self) { return detail::describeConcrete(*self.core); })
      .def("__repr__", [](const PythonConcrete &self) {
        return "<calque.ConcreteFunction " + detail::describeConcrete(*self.core) + ">";
      });

  nb::class_<PythonFunction>(
      m, "Function", nb::type_slots(slots), nb::is_weak_referenceable(), nb::dynamic_attr(),
      "A Python callable that is traced once for each kind of arguments, and then runs as native code.")
      .def(
          "__init__",
          [](PythonFunction *self, nb::object callable, nb::handle name, nb::handle names, nb::handle signature,
             bool reduce, std::size_t most) {
            const SourceLocation where = here();
            if (!PyCallable_Check(callable.ptr()))
              throw DTypeError("function: a callable is traced, and not " + typeName(callable.ptr()), where);
            new (self)
                PythonFunction(std::move(callable), optionsFrom(name, names, signature, reduce, most, where), where);
          },
          nb::arg("callable"), nb::arg("name") = nb::none(), nb::arg("argument_names") = nb::none(),
          nb::arg("input_signature") = nb::none(), nb::arg("reduce_retracing") = false, nb::arg("max_traces") = 0)
      .def(
          "eager",
          [](PythonFunction &self, nb::args given, nb::kwargs names) {
            return callPython(self.callable, given, names);
          },
          "Runs the callable itself, without a trace.")
      .def(
          "ir",
          [](PythonFunction &self, const std::string &stage, nb::args given, nb::kwargs names) {
            return withCall(self, given, names,
                            [&](auto &core, const auto &arguments, detail::CallBody body, SourceLocation line) {
                              return detail::printFunction(core, arguments, body, stage, line);
                            });
          },
          nb::arg("stage"), nb::arg("args"), nb::arg("kwargs"),
          "The program for these arguments after a stage: traced, differentiated, simplified, linalg, bufferized, "
          "outlined, "
          "planned, scheduled, llvm or object.")
      .def(
          "graph",
          [](PythonFunction &self, nb::args given, nb::kwargs names) {
            return withCall(self, given, names,
                            [&](auto &core, const auto &arguments, detail::CallBody body, SourceLocation line) {
                              return detail::graphFunction(core, arguments, body, line);
                            });
          },
          "The trace for these arguments as a picture, in Graphviz's language.")
      .def("get_concrete_function", &concreteOf,
           "The trace for these arguments, among which TensorSpecs may take the places of tensors.")
      .def(
          "trace_count",
          [](const PythonFunction &self) {
            std::int64_t count = 0;
            for (const auto &[code, core] : self.cores)
              count += detail::traceCount(*core);
            return count;
          },
          "The number of traces that were made so far.")
      .def(
          "explain_retraces",
          [](const PythonFunction &self) {
            std::vector<std::string> texts;
            for (const auto &[code, core] : self.cores)
              for (const Retrace &each : detail::retracesOf(*core))
                texts.push_back(each.str());
            return texts;
          },
          "Why each trace but the first of its structure was made.")
      .def(
          "signatures",
          [](const PythonFunction &self) {
            std::string text;
            for (const auto &[code, core] : self.cores)
              text += detail::listFunction(*core);
            return text;
          },
          "The signatures of all traces, as text.")
      .def(
          "clear",
          [](PythonFunction &self) {
            for (const auto &[code, core] : self.cores)
              detail::clearFunction(*core);
          },
          "Drops all traces.")
      .def_prop_ro("callable", [](const PythonFunction &self) { return self.callable; })
      .def_prop_ro("_options", [](const PythonFunction &self) {
        nb::dict options;
        options["name"] = self.options.name;
        options["argument_names"] = self.options.argument_names;
        nb::list specs = specList(self.options.input_signature);
        if (nb::len(specs))
          options["input_signature"] = specs;
        options["reduce_retracing"] = self.options.reduce_retracing;
        options["max_traces"] = self.options.max_traces;
        return options;
      });
  m.def("executing_eagerly", &executing_eagerly, "Whether operations run at once: False while a function is traced.");
  m.def("run_functions_eagerly", &config::run_functions_eagerly, nb::arg("enable"),
        "For debugging: while enabled, every Function runs its callable.");
}

} // namespace calque::python
