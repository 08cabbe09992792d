// Numbers, element types, shapes and operands of Python objects.
#include "Support.h"

#include <nanobind/stl/string.h>

#include <complex>

namespace calque::python {

std::string typeName(PyObject *object) { return Py_TYPE(object)->tp_name; }

//===-- Element types ---------------------------------------------------------------------------===//

namespace {

// What Python sees: one object for each type.
struct ElementType {
  DType dtype;
};

std::optional<DType> dtypeNamed(std::string_view name) {
  for (const DTypeInfo &info : kDTypes)
    if (name == info.name)
      return info.dtype;
  return std::nullopt;
}

std::optional<DType> dtypeIn(PyObject *object) {
  if (ElementType *own = nullptr; nb::try_cast(nb::handle(object), own) && own)
    return own->dtype;
  if (object == reinterpret_cast<PyObject *>(&PyBool_Type))
    return DType::Bool;
  if (object == reinterpret_cast<PyObject *>(&PyLong_Type))
    return DType::Int32; // the type of a literal
  if (object == reinterpret_cast<PyObject *>(&PyFloat_Type))
    return default_dtype();
  if (object == reinterpret_cast<PyObject *>(&PyComplex_Type))
    return promote(default_dtype(), DType::Complex64);
  if (PyUnicode_Check(object))
    return dtypeNamed(textOf(object, "dtype", {}));
  // A type of NumPy or ml_dtypes: np.float32, or an instance of np.dtype.
  const char *attribute = PyType_Check(object) ? "__name__" : "name";
  if (nb::object name = nb::getattr(nb::handle(object), attribute, nb::none()); PyUnicode_Check(name.ptr())) {
    const std::string text = textOf(name.ptr(), "dtype", {});
    return dtypeNamed(text == "bool_" ? "bool" : text);
  }
  return std::nullopt;
}

std::string allNames() {
  std::string names;
  for (const DTypeInfo &info : kDTypes)
    names += (names.empty() ? "" : " ") + std::string(info.name);
  return names;
}

// An unknown size. It stands for a number that each call knows: operations take it, and Python can't compute with it.
struct UnknownSize {
  Size size;
};

} // namespace

DType dtypeOf(PyObject *object, SourceLocation where) {
  if (std::optional<DType> dtype = dtypeIn(object))
    return *dtype;
  nb::str text = nb::repr(nb::handle(object));
  throw DTypeError(std::string(text.c_str()) + " is no element type; Calque has " + allNames(), where);
}

namespace {
PyObject *objects[std::size(kDTypes)] = {}; // one for each type; attributes of the module own them
}
nb::object dtypeObject(DType dtype) { return nb::borrow(objects[static_cast<std::size_t>(dtype)]); }

void bindDTypes(nb::module_ &m) {
  nb::class_<ElementType>(m, "DType", "The type of a tensor's elements: calque.float32 and so on.")
      .def_prop_ro(
          "name", [](const ElementType &self) { return name_of(self.dtype); }, "The name, as NumPy has it.")
      .def_prop_ro(
          "itemsize", [](const ElementType &self) { return size_of(self.dtype); }, "The bytes of an element.")
      .def_prop_ro(
          "kind",
          [](const ElementType &self) -> const char * {
            constexpr const char *kinds[] = {"bool", "integer", "float", "complex"};
            return kinds[static_cast<std::size_t>(info_of(self.dtype).kind)];
          },
          "'bool', 'integer', 'float' or 'complex'.")
      .def("__repr__", [](const ElementType &self) { return std::string("calque.") + name_of(self.dtype); })
      .def("__str__", [](const ElementType &self) { return name_of(self.dtype); })
      .def("__hash__", [](const ElementType &self) { return static_cast<std::size_t>(self.dtype); })
      .def(
          "__eq__",
          [](const ElementType &self, nb::handle other) {
            std::optional<DType> dtype = dtypeIn(other.ptr());
            return dtype && *dtype == self.dtype;
          },
          nb::arg("other").none());
  nb::list all;
  for (const DTypeInfo &info : kDTypes) {
    nb::object object = nb::cast(ElementType{info.dtype});
    m.attr(info.kind == DTypeKind::Bool ? "bool_" : info.name) = object;
    objects[static_cast<std::size_t>(info.dtype)] = object.ptr();
    all.append(object);
  }
  m.attr("dtypes") = nb::tuple(all);
  m.def(
      "dtype", [](nb::handle x) { return dtypeObject(dtypeOf(x.ptr(), here())); }, nb::arg("name"),
      "The element type with this name, or that of a type of NumPy or Python.");
  m.def(
      "default_dtype", [] { return dtypeObject(default_dtype()); },
      "The element type of a Python float that no tensor or argument determines.");
  m.def(
      "set_default_dtype", [](nb::handle x) { set_default_dtype(dtypeOf(x.ptr(), here()), here()); }, nb::arg("dtype"));
  m.def(
      "promote_types",
      [](nb::handle a, nb::handle b) {
        return dtypeObject(promote(dtypeOf(a.ptr(), here()), dtypeOf(b.ptr(), here())));
      },
      nb::arg("type1"), nb::arg("type2"), "The smallest type that holds all elements of both, as NumPy's.");
  nb::class_<UnknownSize>(m, "UnknownSize", "A size that a traced function does not know before the call.")
      .def("__repr__", [](const UnknownSize &) { return "?"; })
      .def("__index__", [](const UnknownSize &self) {
        CallSite site(here());
        return std::int64_t(self.size);
      });
}

//===-- Numbers ---------------------------------------------------------------------------------===//

std::optional<Number> numberIn(PyObject *object, SourceLocation where) {
  if (PyBool_Check(object))
    return Number(object == Py_True);
  if (PyLong_Check(object)) {
    int overflow = 0;
    long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow == 0)
      return Number(static_cast<std::int64_t>(value));
    if (overflow > 0) {
      unsigned long long large = PyLong_AsUnsignedLongLong(object);
      if (!PyErr_Occurred())
        return Number(static_cast<std::uint64_t>(large));
      PyErr_Clear();
    }
    nb::str text = nb::repr(nb::handle(object));
    throw ValueError(std::string("no element type holds the integer ") + text.c_str(), where);
  }
  // Scalars of NumPy, of which one is a subclass of float, have an element type of their own: they are arrays.
  if (PyFloat_CheckExact(object))
    return Number(PyFloat_AS_DOUBLE(object));
  if (PyComplex_CheckExact(object))
    return Number(std::complex<double>(PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object)));
  return std::nullopt;
}

std::optional<Operand> operandIn(PyObject *object, SourceLocation where) {
  if (const Tensor *x = tensorIn(object))
    return Operand(*x, where);
  if (std::optional<Number> number = numberIn(object, where))
    return Operand(*number, where);
  if (const Variable *x = variableIn(object))
    return Operand(*x, where);
  if (UnknownSize *size = nullptr; nb::try_cast(nb::handle(object), size) && size)
    return Operand(size->size, where);
  if (std::optional<Tensor> x = tensorOfArray(object, false, where))
    return Operand(*x, where);
  return std::nullopt;
}

Operand operandOf(PyObject *object, const char *parameter, SourceLocation where) {
  if (std::optional<Operand> operand = operandIn(object, where))
    return *operand;
  throw DTypeError(std::string("'") + parameter + "' is a tensor, a variable, a number or an array, and not " +
                       typeName(object),
                   where);
}

std::int64_t integerOf(PyObject *object, const char *parameter, SourceLocation where) {
  if (PyBool_Check(object) || !PyIndex_Check(object))
    throw DTypeError(std::string("'") + parameter + "' is an integer, and not " + typeName(object), where);
  Py_ssize_t value = PyNumber_AsSsize_t(object, PyExc_OverflowError);
  if (value == -1 && PyErr_Occurred())
    throw nb::python_error();
  return value;
}

std::string textOf(PyObject *object, const char *parameter, SourceLocation where) {
  Py_ssize_t size = 0;
  const char *text = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, &size) : nullptr;
  if (text)
    return std::string(text, static_cast<std::size_t>(size));
  if (PyErr_Occurred())
    throw nb::python_error();
  throw DTypeError(std::string("'") + parameter + "' is a text, and not " + typeName(object), where);
}

//===-- Shapes ----------------------------------------------------------------------------------===//

nb::object sizeObject(const Size &size) {
  return size.is_known() ? nb::object(nb::int_(std::int64_t(size))) : nb::cast(UnknownSize{size});
}

nb::tuple tupleOf(const Shape &shape) {
  nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(shape.size())));
  for (std::size_t i = 0; i < shape.size(); ++i)
    PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i), sizeObject(shape[i]).release().ptr());
  return nb::cast<nb::tuple>(tuple);
}

Shape shapeOf(PyObject *object, SourceLocation where, bool open) {
  Shape shape;
  auto add = [&](PyObject *size) {
    if (UnknownSize *unknown = nullptr; nb::try_cast(nb::handle(size), unknown) && unknown)
      shape.push_back(unknown->size);
    else if (open && size == Py_None)
      shape.push_back(kDynamic);
    else
      shape.push_back(Size(integerOf(size, "shape", where), where));
  };
  if (PyTuple_Check(object) || PyList_Check(object))
    for (nb::handle size : nb::borrow<nb::object>(object))
      add(size.ptr());
  else
    add(object);
  return shape;
}

//===-- Tensors of lists ------------------------------------------------------------------------===//

namespace {

struct Elements {
  std::vector<Number> numbers;
  std::vector<std::int64_t> dims;
  bool isWide = false; // an integer that int32 does not hold
};

void collect(PyObject *object, std::size_t depth, Elements &into, SourceLocation where) {
  if (PyList_Check(object) || PyTuple_Check(object)) {
    const auto size = static_cast<std::int64_t>(PySequence_Fast_GET_SIZE(object));
    if (depth > 64)
      throw ValueError("tensor: lists nest more than 64 deep", where);
    if (into.dims.size() == depth) {
      if (!into.numbers.empty())
        throw ValueError("tensor: a list stands where the other entries are numbers", where);
      into.dims.push_back(size);
    } else if (into.dims[depth] != size) {
      throw ValueError("tensor: a list has " + std::to_string(size) + " entries, and others of its level have " +
                           std::to_string(into.dims[depth]),
                       where);
    }
    for (std::int64_t i = 0; i < size; ++i)
      collect(PySequence_Fast_GET_ITEM(object, i), depth + 1, into, where);
    return;
  }
  if (depth < into.dims.size())
    throw ValueError("tensor: a number stands where the other entries are lists", where);
  std::optional<Number> number = numberIn(object, where);
  if (!number)
    throw DTypeError("tensor: the entries of lists are numbers, and not " + typeName(object) +
                         "; stack() puts tensors together",
                     where);
  if (!number->isFloat() && !number->isBool()) {
    int overflow = 0;
    long value = PyLong_AsLongAndOverflow(object, &overflow);
    into.isWide |= overflow != 0 || value > std::numeric_limits<std::int32_t>::max() ||
                   value < std::numeric_limits<std::int32_t>::min();
  }
  into.numbers.push_back(*number);
}

// By the rule for literals: a number with a point has the default type, an integer int32 or, if one needs it, int64.
DType literalType(const Elements &elements) {
  std::optional<DType> type;
  for (const Number &number : elements.numbers)
    type = type ? promote(*type, number.defaultDType()) : number.defaultDType();
  if (!type)
    return default_dtype();
  if (*type == DType::Int32 && elements.isWide)
    return DType::Int64;
  bool anyFloat = false, anyComplex = false;
  for (const Number &number : elements.numbers) {
    anyFloat |= number.isFloat();
    anyComplex |= number.isComplex();
  }
  // Integers among numbers with a point don't widen them.
  return anyComplex ? promote(default_dtype(), DType::Complex64) : anyFloat ? default_dtype() : *type;
}

} // namespace

Tensor tensorOf(PyObject *object, std::optional<DType> dtype, bool share, SourceLocation where) {
  auto as = [&](Tensor x) { return dtype && x.dtype(where) != *dtype ? cast(Operand(x, where), *dtype) : x; };
  if (const Tensor *x = tensorIn(object))
    return as(*x);
  if (const Variable *x = variableIn(object))
    return as(x->value(where));
  if (UnknownSize *size = nullptr; nb::try_cast(nb::handle(object), size) && size)
    return Operand(size->size, where).toTensor(dtype.value_or(DType::Int64));
  Elements elements;
  if (!PyList_Check(object) && !PyTuple_Check(object) && !numberIn(object, where)) {
    if (std::optional<Tensor> x = tensorOfArray(object, share, where))
      return as(*x);
    throw DTypeError(
        "tensor: numbers, lists of numbers and arrays become tensors, and " + typeName(object) + " does not", where);
  }
  collect(object, 0, elements, where);
  const DType type = dtype.value_or(literalType(elements));
  std::vector<std::byte> bytes(elements.numbers.size() * size_of(type));
  for (std::size_t i = 0; i < elements.numbers.size(); ++i)
    elements.numbers[i].convert(type, bytes.data() + i * size_of(type), where);
  return tensor_from_bytes(type, bytes, Shape(elements.dims), where);
}

} // namespace calque::python
