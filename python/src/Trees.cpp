#include "Trees.h"

#include <nanobind/stl/string.h>

#include <algorithm>

namespace calque::python {

namespace {

void append(std::string &code, char letter, std::size_t count) {
  const auto n = static_cast<std::uint32_t>(count);
  code += letter;
  code.append(reinterpret_cast<const char *>(&n), sizeof(n));
}

// Classes of named tuples, by their numbers in codes. The module owns the list.
nb::list classes() { return nb::cast<nb::list>(nb::module_::import_("calque._native").attr("_named_tuples")); }
std::size_t numberOf(PyObject *type) {
  nb::list list = classes();
  for (std::size_t i = 0; i < nb::len(list); ++i)
    if (nb::handle(list[i]).ptr() == type)
      return i;
  list.append(nb::handle(type));
  return nb::len(list) - 1;
}

// A TensorSpec as Python sees it.
struct Spec {
  TensorSpec<> spec;
};

} // namespace

void flatten(PyObject *object, Flat &into, Leaves leaves, const char *what, SourceLocation where) {
  if (const Tensor *x = tensorIn(object)) {
    into.code += 'T';
    into.tensors.push_back(*x);
  } else if (object == Py_None) {
    into.code += 'N';
  } else if (PyTuple_Check(object)) {
    if (PyTuple_CheckExact(object)) {
      append(into.code, '(', static_cast<std::size_t>(PyTuple_GET_SIZE(object)));
    } else if (nb::hasattr(nb::handle(object), "_fields")) {
      append(into.code, '<', numberOf(reinterpret_cast<PyObject *>(Py_TYPE(object))));
      const auto n = static_cast<std::uint32_t>(PyTuple_GET_SIZE(object));
      into.code.append(reinterpret_cast<const char *>(&n), sizeof(n));
    } else {
      append(into.code, '(', static_cast<std::size_t>(PyTuple_GET_SIZE(object)));
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object); ++i)
      flatten(PyTuple_GET_ITEM(object, i), into, leaves, what, where);
  } else if (PyList_Check(object)) {
    append(into.code, '[', static_cast<std::size_t>(PyList_GET_SIZE(object)));
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(object); ++i)
      flatten(PyList_GET_ITEM(object, i), into, leaves, what, where);
  } else if (PyDict_Check(object)) {
    append(into.code, '{', static_cast<std::size_t>(PyDict_GET_SIZE(object)));
    std::vector<std::pair<std::string, PyObject *>> entries;
    PyObject *key = nullptr, *value = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(object, &at, &key, &value);) {
      if (!PyUnicode_Check(key))
        throw DTypeError(std::string(what) + ": the keys of a dict are texts, and not " + typeName(key), where);
      entries.emplace_back(textOf(key, "key", where), value);
    }
    std::ranges::sort(entries, {}, &std::pair<std::string, PyObject *>::first); // as a std::map
    for (const auto &[text, entry] : entries) {
      into.code += std::to_string(text.size()) + ":" + text; // other keys are another structure
      into.texts.push_back(text);
      flatten(entry, into, leaves, what, where);
    }
  } else if (const Variable *x = variableIn(object)) {
    into.code += 'V';
    into.variables.push_back(*x);
  } else if (leaves == Leaves::Tensors) {
    into.code += 'T';
    into.tensors.push_back(operandOf(object, what, where).toTensor());
  } else if (PyBool_Check(object)) {
    into.code += 'b';
    into.hosts.push_back(object == Py_True);
  } else if (PyLong_Check(object)) {
    into.code += 'i';
    into.hosts.push_back(static_cast<std::uint64_t>(integerOf(object, what, where)));
  } else if (PyFloat_CheckExact(object)) {
    const double value = PyFloat_AS_DOUBLE(object);
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(bits));
    into.code += 'f';
    into.hosts.push_back(bits);
  } else if (PyUnicode_Check(object)) {
    into.code += 's';
    into.texts.push_back(textOf(object, what, where));
  } else if (isSpec(object) && leaves == Leaves::Arguments) {
    into.code += 'T';
    into.tensors.push_back(Tensor(specOf(object, where)));
  } else if (std::optional<Tensor> x = tensorOfArray(object, false, where)) {
    into.code += 'T';
    into.tensors.push_back(*x);
  } else {
    throw DTypeError(std::string(what) +
                         ": tensors, variables, numbers, texts, None and lists, tuples, named tuples and "
                         "dicts of these are taken apart, and " +
                         typeName(object) + " is not",
                     where);
  }
}

nb::object Unflattener::next() {
  const std::string &code = structure_.code;
  auto count = [&] {
    const std::uint32_t n = countAt(code, code_);
    code_ += sizeof(n);
    return n;
  };
  auto tuple = [&](std::uint32_t n) {
    nb::object made = nb::steal(PyTuple_New(n));
    for (std::uint32_t i = 0; i < n; ++i)
      PyTuple_SET_ITEM(made.ptr(), i, next().release().ptr());
    return made;
  };
  switch (code[code_++]) {
  case 'T':
    return wrapped(tensors_[tensor_++]);
  case 'V':
    return nb::cast(variables_[variable_++]);
  case 'N':
    return nb::none();
  case 'b':
    return nb::bool_(structure_.hosts[host_++] != 0);
  case 'i':
    return nb::int_(static_cast<std::int64_t>(structure_.hosts[host_++]));
  case 'f': {
    double value = 0;
    std::memcpy(&value, &structure_.hosts[host_++], sizeof(value));
    return nb::float_(value);
  }
  case 's': {
    const std::string &text = structure_.texts[text_++];
    return nb::str(text.c_str(), text.size());
  }
  case '(':
    return tuple(count());
  case '<': {
    const std::uint32_t type = count();
    nb::object fields = tuple(count());
    return nb::object(classes()[type])(*fields);
  }
  case '[': {
    const std::uint32_t n = count();
    nb::object made = nb::steal(PyList_New(n));
    for (std::uint32_t i = 0; i < n; ++i)
      PyList_SET_ITEM(made.ptr(), i, next().release().ptr());
    return made;
  }
  default: { // '{'
    const std::uint32_t n = count();
    nb::dict made;
    for (std::uint32_t i = 0; i < n; ++i) {
      const std::string &key = structure_.texts[text_++];
      code_ = code.find(':', code_) + 1 + key.size();
      made[nb::str(key.c_str(), key.size())] = next();
    }
    return made;
  }
  }
}

std::string described(const Flat &structure) {
  std::vector<Tensor> none;
  std::size_t at = 0, text = 0;
  auto describe = [&](auto &self) -> std::string {
    auto count = [&] {
      const std::uint32_t n = countAt(structure.code, at);
      at += sizeof(n);
      return n;
    };
    auto list = [&](const char *open, const char *close, std::uint32_t n, bool keys) {
      std::string made = open;
      for (std::uint32_t i = 0; i < n; ++i) {
        made += i ? ", " : "";
        if (keys) {
          const std::string &key = structure.texts[text++];
          at = structure.code.find(':', at) + 1 + key.size();
          made += "'" + key + "': ";
        }
        made += self(self);
      }
      return made + close;
    };
    switch (structure.code[at++]) {
    case 'T':
      return "tensor";
    case 'V':
      return "variable";
    case 'N':
      return "None";
    case 'b':
      return "bool";
    case 'i':
      return "int";
    case 'f':
      return "float";
    case 's':
      ++text;
      return "str";
    case '(':
      return list("(", ")", count(), false);
    case '<':
      count();
      return list("namedtuple(", ")", count(), false);
    case '[':
      return list("[", "]", count(), false);
    default:
      return list("{", "}", count(), true);
    }
  };
  std::string all;
  while (at < structure.code.size())
    all += (all.empty() ? "" : ", ") + describe(describe);
  return all;
}

bool isSpec(PyObject *object) {
  Spec *spec = nullptr;
  return nb::try_cast(nb::handle(object), spec) && spec;
}
TensorSpec<> specOf(PyObject *object, SourceLocation where) {
  if (Spec *spec = nullptr; nb::try_cast(nb::handle(object), spec) && spec)
    return spec->spec;
  throw DTypeError("an input signature has TensorSpecs, and not " + typeName(object), where);
}
nb::object specObject(const TensorSpec<> &spec) { return nb::cast(Spec{spec}); }

void bindTrees(nb::module_ &m) {
  m.attr("_named_tuples") = nb::list();
  nb::class_<Spec>(m, "TensorSpec",
                   "The type of a tensor, whose sizes may be unknown: None. The shape None is any shape.")
      .def(
          "__init__",
          [](Spec *self, nb::handle shape, nb::handle dtype, const std::string &name) {
            const SourceLocation where = here();
            const DType type = dtype.is_none() ? default_dtype() : dtypeOf(dtype.ptr(), where);
            if (shape.is_none())
              new (self) Spec{TensorSpec<>(type, kAnyShape, name, where)};
            else
              new (self) Spec{TensorSpec<>(type, shapeOf(shape.ptr(), where, true), name, where)};
          },
          nb::arg("shape").none(), nb::arg("dtype") = nb::none(), nb::arg("name") = "",
          nb::sig("def __init__(self, shape: Sequence[int | None] | None, dtype: DTypeLike | None = None, name: str = "
                  "'') -> None"))
      .def_prop_ro(
          "dtype", [](const Spec &self) { return dtypeObject(self.spec.dtype()); }, nb::sig("def dtype(self) -> DType"))
      .def_prop_ro(
          "shape",
          [](const Spec &self) -> nb::object {
            if (!self.spec.has_rank())
              return nb::none();
            nb::list sizes;
            for (const Size &size : self.spec.shape())
              sizes.append(size.is_known() ? nb::object(nb::int_(std::int64_t(size))) : nb::none());
            return nb::tuple(sizes);
          },
          nb::sig("def shape(self) -> tuple[int | None, ...] | None"))
      .def_prop_ro("name", [](const Spec &self) { return self.spec.name(); })
      .def(
          "__eq__",
          [](const Spec &self, nb::handle other) {
            Spec *spec = nullptr;
            return nb::try_cast(other, spec) && spec && spec->spec == self.spec;
          },
          nb::arg("other").none())
      .def("__hash__", [](const Spec &self) { return std::hash<std::string>()(self.spec.str()); })
      .def("__repr__", [](const Spec &self) { return "TensorSpec(" + self.spec.str() + ")"; });
}

} // namespace calque::python
