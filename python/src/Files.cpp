// Files: saved functions, ONNX models, safetensors and NumPy's.
#include "Functions.h"

#include <calque/data/npy.h>
#include <calque/onnx.h>
#include <calque/safetensors.h>
#include <calque/saved_functions.h>

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace calque::python {

namespace {

// A path as os.fspath has it.
std::string pathOf(nb::handle x, SourceLocation where) {
  nb::object path = nb::steal(PyOS_FSPath(x.ptr()));
  if (!path.is_valid())
    throw nb::python_error();
  if (PyBytes_Check(path.ptr()))
    return PyBytes_AsString(path.ptr());
  return textOf(path.ptr(), "path", where);
}

std::map<std::string, Tensor> tensorsOf(nb::handle given, SourceLocation where) {
  if (!PyDict_Check(given.ptr()))
    throw DTypeError("'tensors' is a dict of tensors by their names, and not " + typeName(given.ptr()), where);
  std::map<std::string, Tensor> tensors;
  for (auto [name, value] : nb::borrow<nb::dict>(given))
    tensors.emplace(textOf(name.ptr(), "name", where), operandOf(value.ptr(), "tensors", where).toTensor());
  return tensors;
}
nb::dict dictOf(const std::map<std::string, Tensor> &tensors) {
  nb::dict made;
  for (const auto &[name, x] : tensors)
    made[nb::str(name.c_str(), name.size())] = wrapped(x);
  return made;
}
nb::dict dictOf(const std::map<std::string, Variable> &variables) {
  nb::dict made;
  for (const auto &[name, x] : variables)
    made[nb::str(name.c_str(), name.size())] = nb::cast(x);
  return made;
}
nb::list listOf(const std::vector<TensorSpec<>> &specs) {
  nb::list list;
  for (const TensorSpec<> &spec : specs)
    list.append(specObject(spec));
  return list;
}

//===-- Saved functions -------------------------------------------------------------------------===//

FunctionToSave toSave(nb::handle given, const std::string &name, SourceLocation where) {
  if (PythonConcrete *concrete = nullptr; nb::try_cast(given, concrete) && concrete)
    return FunctionToSave(ConcreteFunction<Structures>{concrete->core});
  if (PythonFunction *function = nullptr; nb::try_cast(given, function) && function) {
    std::shared_ptr<detail::FunctionCore> core;
    for (const auto &[code, each] : function->cores) {
      if (core && detail::traceCount(*each) > 0)
        throw ValueError("save: function '" + name +
                             "' has traces of several structures of arguments; save a concrete "
                             "function of each",
                         where);
      if (detail::traceCount(*each) > 0)
        core = each;
    }
    if (!core)
      throw StateError("save: function '" + name + "' has no trace yet; call it, or save a concrete function", where);
    const Function<Structures>::State state{core};
    return FunctionToSave(Function<Structures>{&state});
  }
  throw DTypeError("save: '" + name + "' is a Function or a ConcreteFunction, and not " + typeName(given.ptr()), where);
}

void save(nb::handle path, nb::dict functions, nb::handle variables) {
  const SourceLocation where = here();
  std::vector<std::pair<std::string, FunctionToSave>> list;
  for (auto [name, function] : functions) {
    const std::string text = textOf(name.ptr(), "name", where);
    list.emplace_back(text, toSave(function, text, where));
  }
  SaveFunctionsOptions options;
  if (!variables.is_none())
    for (auto [name, value] : nb::borrow<nb::dict>(variables)) {
      const Variable *variable = variableIn(value.ptr());
      if (!variable)
        throw DTypeError("save: 'variables' has variables by their names, and not " + typeName(value.ptr()), where);
      options.variables.emplace_back(textOf(name.ptr(), "name", where), *variable);
    }
  const std::string file = pathOf(path, where);
  withoutLock([&] { save_functions(file, list, std::move(options), where); });
}

// A function of a file, on its tensors in order.
struct SavedFunction {
  Function<std::vector<Tensor>(const std::vector<Tensor> &)> function;
};

nb::list callSaved(const SavedFunction &self, nb::handle tensors) {
  const SourceLocation where = here();
  std::vector<Tensor> list;
  for (nb::handle each : nb::borrow<nb::object>(tensors))
    list.push_back(operandOf(each.ptr(), "tensors", where).toTensor());
  std::vector<Tensor> results = withoutLock([&] { return self.function(list, where); });
  nb::list made;
  for (Tensor &x : results)
    made.append(wrapped(std::move(x)));
  return made;
}

//===-- ONNX ------------------------------------------------------------------------------------===//

OnnxValue valueOf(nb::handle given, SourceLocation where) {
  if (given.is_none())
    return {};
  if (PyList_Check(given.ptr())) {
    std::vector<OnnxValue> values;
    for (nb::handle each : nb::borrow<nb::object>(given))
      values.push_back(valueOf(each, where));
    return OnnxValue(std::move(values));
  }
  return OnnxValue(operandOf(given.ptr(), "inputs", where).toTensor());
}
nb::object objectOf(const OnnxValue &value) {
  if (value.sequence) {
    nb::list list;
    for (const OnnxValue &each : *value.sequence)
      list.append(objectOf(each));
    return list;
  }
  return value.tensor.defined() ? wrapped(value.tensor) : nb::none();
}
nb::list portsOf(const std::vector<OnnxPort> &ports) {
  nb::list list;
  for (const OnnxPort &port : ports)
    list.append(nb::make_tuple(port.name, port.type));
  return list;
}

OnnxModel loadOnnx(nb::handle path, const std::string &weights, nb::handle sizes, nb::handle constants) {
  const SourceLocation where = here();
  OnnxOptions options;
  if (weights == "frozen")
    options.weights = OnnxWeights::Frozen;
  else if (weights == "trainable")
    options.weights = OnnxWeights::Trainable;
  else if (weights != "constants")
    throw ValueError("load_onnx: 'weights' is 'constants', 'frozen' or 'trainable', and not '" + weights + "'", where);
  if (!sizes.is_none())
    options.sizes = nb::cast<std::map<std::string, std::int64_t>>(sizes);
  if (!constants.is_none())
    options.constants = tensorsOf(constants, where);
  const std::string file = pathOf(path, where);
  return withoutLock([&] { return load_onnx(file, std::move(options), where); });
}

nb::object callOnnx(const OnnxModel &self, nb::args given, nb::kwargs named) {
  const SourceLocation where = here();
  if (nb::len(named) != 0) {
    if (nb::len(given) != 0)
      throw SignatureError("a model is given its inputs by position or by name, and not both", where);
    const std::map<std::string, Tensor> inputs = tensorsOf(named, where);
    return dictOf(withoutLock([&] { return self.call(inputs, where); }));
  }
  std::vector<OnnxValue> inputs;
  for (nb::handle each : given)
    inputs.push_back(valueOf(each, where));
  const std::vector<OnnxValue> outputs = withoutLock([&] { return self.run(inputs, where); });
  if (outputs.size() == 1)
    return objectOf(outputs[0]);
  nb::list list;
  for (const OnnxValue &each : outputs)
    list.append(objectOf(each));
  return nb::tuple(list);
}

} // namespace

void bindFiles(nb::module_ &m) {
  m.def("save", &save, nb::arg("path"), nb::arg("functions"), nb::arg("variables") = nb::none(),
        nb::sig("def save(path: str | os.PathLike[str], functions: dict[str, Function | ConcreteFunction], "
                "variables: dict[str, Variable] | None = None) -> None"),
        "Saves functions and the present values of their variables in one file, which Python and C++ programs load.");
  nb::class_<SavedFunction>(m, "_SavedFunction").def("__call__", &callSaved);
  nb::class_<SavedFunctions>(m, "_SavedFunctions")
      .def("names", [](const SavedFunctions &self) { return self.names(here()); })
      .def("variables", [](const SavedFunctions &self) { return dictOf(self.variables(here())); })
      .def("on_tensors",
           [](const SavedFunctions &self, const std::string &name, const std::vector<std::size_t> &traces) {
             return SavedFunction{self.on_tensors(FunctionName(name, here()), traces)};
           })
      .def("argument_specs",
           [](const SavedFunctions &self, const std::string &name) {
             nb::list traces;
             for (const auto &specs : self.argument_specs(name, here()))
               traces.append(listOf(specs));
             return traces;
           })
      .def("host_values",
           [](const SavedFunctions &self, const std::string &name) {
             nb::list traces;
             for (const auto &values : self.host_values(name, here())) {
               nb::list list;
               for (const SavedHostValue &value : values)
                 list.append(nb::make_tuple(value.name, value.value));
               traces.append(list);
             }
             return traces;
           })
      .def("argument_names", [](const SavedFunctions &self, const std::string &name,
                                std::size_t trace) { return self.argument_names(name, trace, here()); })
      .def("result_names", [](const SavedFunctions &self, const std::string &name,
                              std::size_t trace) { return self.result_names(name, trace, here()); })
      .def("__str__", [](const SavedFunctions &self) { return self.str(here()); });
  m.def("_load_functions", [](nb::handle path) {
    const SourceLocation where = here();
    const std::string file = pathOf(path, where);
    return withoutLock([&] { return load_functions(file, where); });
  });

  nb::class_<OnnxModel>(m, "OnnxModel", "A model of an ONNX file: called with its inputs, by position or by name.")
      .def("__call__", &callOnnx)
      .def_prop_ro(
          "inputs", [](const OnnxModel &self) { return portsOf(self.inputs(here())); },
          nb::sig("def inputs(self) -> list[tuple[str, str]]"), "The names and types of the inputs.")
      .def_prop_ro(
          "outputs", [](const OnnxModel &self) { return portsOf(self.outputs(here())); },
          nb::sig("def outputs(self) -> list[tuple[str, str]]"), "The names and types of the outputs.")
      .def_prop_ro("name", [](const OnnxModel &self) { return self.name(here()); })
      .def_prop_ro("producer", [](const OnnxModel &self) { return self.producer(here()); })
      .def_prop_ro("opset", [](const OnnxModel &self) { return self.opset(here()); })
      .def_prop_ro("known_inputs", [](const OnnxModel &self) { return self.known_inputs(here()); })
      .def_prop_ro(
          "variables", [](const OnnxModel &self) { return dictOf(self.variables(here())); },
          nb::sig("def variables(self) -> dict[str, Variable]"))
      .def_prop_ro(
          "trainable_variables",
          [](const OnnxModel &self) {
            nb::list list;
            for (const Variable &each : self.trainable_variables(here()))
              list.append(nb::cast(each));
            return list;
          },
          nb::sig("def trainable_variables(self) -> list[Variable]"))
      .def("__str__", [](const OnnxModel &self) { return self.str(here()); });
  m.def("load_onnx", &loadOnnx, nb::arg("path"), nb::kw_only(), nb::arg("weights") = "constants",
        nb::arg("sizes") = nb::none(), nb::arg("constants") = nb::none(),
        nb::sig("def load_onnx(path: str | os.PathLike[str], *, weights: Literal['constants', 'frozen', 'trainable'] = "
                "'constants', "
                "sizes: dict[str, int] | None = None, constants: dict[str, TensorLike] | None = None) -> OnnxModel"),
        "A model in ONNX's format. Its weights are constants, variables that are not trained, or variables that are.");

  m.def(
      "save_safetensors",
      [](nb::handle path, nb::handle tensors, nb::handle metadata) {
        const SourceLocation where = here();
        const std::string file = pathOf(path, where);
        const std::map<std::string, Tensor> all = tensorsOf(tensors, where);
        std::map<std::string, std::string> texts;
        if (!metadata.is_none())
          texts = nb::cast<std::map<std::string, std::string>>(metadata);
        withoutLock([&] { save_safetensors(file, all, texts, where); });
      },
      nb::arg("path"), nb::arg("tensors"), nb::arg("metadata") = nb::none(),
      nb::sig("def save_safetensors(path: str | os.PathLike[str], tensors: dict[str, TensorLike], "
              "metadata: dict[str, str] | None = None) -> None"),
      "Writes tensors by name in the format safetensors.");
  m.def(
      "load_safetensors",
      [](nb::handle path) {
        const SourceLocation where = here();
        const std::string file = pathOf(path, where);
        return dictOf(withoutLock([&] { return load_safetensors(file, {}, where); }));
      },
      nb::arg("path"), nb::sig("def load_safetensors(path: str | os.PathLike[str]) -> dict[str, Tensor]"),
      "All tensors of a file in the format safetensors.");
  m.def(
      "load_safetensors_metadata",
      [](nb::handle path) {
        const SourceLocation where = here();
        return load_safetensors_metadata(pathOf(path, where), where);
      },
      nb::arg("path"), nb::sig("def load_safetensors_metadata(path: str | os.PathLike[str]) -> dict[str, str]"),
      "The texts in the metadata of a file in the format safetensors.");
  m.def(
      "read_npy",
      [](nb::handle path) {
        const SourceLocation where = here();
        const std::string file = pathOf(path, where);
        return wrapped(withoutLock([&] { return data::read_npy(file, where); }));
      },
      nb::arg("path"), nb::sig("def read_npy(path: str | os.PathLike[str]) -> Tensor"),
      "The array of a file of numpy.save.");
  m.def(
      "write_npy",
      [](nb::handle path, nb::handle x) {
        const SourceLocation where = here();
        data::write_npy(pathOf(path, where), operandOf(x.ptr(), "x", where).toTensor(), where);
      },
      nb::arg("path"), nb::arg("x"), nb::sig("def write_npy(path: str | os.PathLike[str], x: TensorLike) -> None"),
      "Writes a file that numpy.load reads.");
  m.def(
      "read_npz",
      [](nb::handle path) {
        const SourceLocation where = here();
        const std::string file = pathOf(path, where);
        return dictOf(withoutLock([&] { return data::read_npz(file, where); }));
      },
      nb::arg("path"), nb::sig("def read_npz(path: str | os.PathLike[str]) -> dict[str, Tensor]"),
      "The arrays of a file of numpy.savez.");
  m.def(
      "write_npz",
      [](nb::handle path, nb::handle arrays, bool compressed) {
        const SourceLocation where = here();
        data::write_npz(pathOf(path, where), tensorsOf(arrays, where), {compressed}, where);
      },
      nb::arg("path"), nb::arg("arrays"), nb::kw_only(), nb::arg("compressed") = false,
      nb::sig("def write_npz(path: str | os.PathLike[str], arrays: dict[str, TensorLike], *, compressed: bool = False) "
              "-> None"),
      "Writes a file of arrays by name that numpy.load reads.");
}

} // namespace calque::python
