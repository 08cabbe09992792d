// The class Tensor: its operators, elements and properties. Functions of tensors are made from the public headers.
#include "Tensors.h"
#include "Support.h"

#include <calque/arrays.h>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <complex>
#include <sstream>

namespace calque::python {

std::string printed(const Tensor &x) {
  std::ostringstream text;
  text << x;
  return text.str();
}

// Python's quotient of two integers is no integer, and C++'s is. Neither is what everyone expects here.
Tensor trueDivide(const Operand &x, const Operand &y) {
  const DType dtype = (x.isNumber() && (!y.isNumber() || y.isFloat()) ? y : x).defaultDType();
  if (!is_inexact(dtype))
    throw DTypeError(std::string("x / y of ") + name_of(dtype) +
                         " would be no integer: cast the operands to floats, or write x // y, which rounds down",
                     x.where());
  return div(x, y);
}

namespace {
PyTypeObject *tensorType = nullptr; // the module owns it

//===-- Operators -------------------------------------------------------------------------------===//

using Unary = Tensor (*)(const Operand &);
using Binary = Tensor (*)(const Operand &, const Operand &);

// A tensor so small that computing takes no longer than letting other threads in between.
constexpr std::int64_t kSmall = 1 << 14;

bool isLarge(const Operand &x) {
  return !x.isNumber() && x.tensor().is_known(x.where()) && std::int64_t(x.tensor().size(x.where())) > kSmall;
}

template <Binary f> PyObject *binary(PyObject *a, PyObject *b) {
  return guarded([&]() -> PyObject * {
    const SourceLocation where = here();
    const std::optional<Operand> x = operandIn(a, where), y = x ? operandIn(b, where) : std::nullopt;
    if (!y)
      return Py_NewRef(Py_NotImplemented);
    if (isLarge(*x) || isLarge(*y))
      return wrap(withoutLock([&] { return f(*x, *y); }));
    return wrap(f(*x, *y));
  });
}
template <Unary f> PyObject *unary(PyObject *a) {
  return guarded([&]() -> PyObject * {
    const Operand x = *operandIn(a, here());
    if (isLarge(x))
      return wrap(withoutLock([&] { return f(x); }));
    return wrap(f(x));
  });
}
template <Binary f> PyObject *ternary(PyObject *a, PyObject *b, PyObject *modulus) {
  if (modulus != Py_None)
    return Py_NewRef(Py_NotImplemented);
  return binary<f>(a, b);
}

Tensor product(const Operand &x, const Operand &y) { return matmul(x, y); }
Tensor bitAnd(const Operand &x, const Operand &y) { return x & y; }
Tensor bitOr(const Operand &x, const Operand &y) { return x | y; }
Tensor bitXor(const Operand &x, const Operand &y) { return x ^ y; }
Tensor bitNot(const Operand &x) { return ~x; }
Tensor negative(const Operand &x) { return neg(x); }
Tensor magnitude(const Operand &x) { return abs(x); }
PyObject *positive(PyObject *a) { return Py_NewRef(a); }

PyObject *compare(PyObject *a, PyObject *b, int operation) {
  switch (operation) {
  case Py_LT:
    return binary<static_cast<Binary>(less)>(a, b);
  case Py_LE:
    return binary<static_cast<Binary>(less_equal)>(a, b);
  case Py_EQ:
    return binary<static_cast<Binary>(equal)>(a, b);
  case Py_NE:
    return binary<static_cast<Binary>(not_equal)>(a, b);
  case Py_GT:
    return binary<static_cast<Binary>(greater)>(a, b);
  default:
    return binary<static_cast<Binary>(greater_equal)>(a, b);
  }
}

//===-- Elements as Python numbers --------------------------------------------------------------===//

[[noreturn]] void throwTraced(const std::string &what, SourceLocation where) {
  throw StateError(what + " asks for the value of a tensor that is being traced: the traced function would follow one "
                          "way for all values. Write cond(), switch_case(), while_loop(), for_range() or where(), or "
                          "compute with the tensor",
                   where);
}
void requireKnown(const Tensor &x, const char *what, SourceLocation where) {
  if (!x.is_known(where))
    throwTraced(what, where);
}

template <typename T> nb::object pythonNumber(T value) {
  if constexpr (std::is_same_v<T, bool>)
    return nb::bool_(value);
  else if constexpr (detail::kIsComplex<T>)
    return nb::steal(PyComplex_FromDoubles(value.real(), value.imag()));
  else if constexpr (std::is_integral_v<T>)
    return nb::int_(value);
  else if constexpr (detail::kIsHalf<T>)
    return nb::float_(static_cast<double>(float(value)));
  else
    return nb::float_(static_cast<double>(value));
}

nb::object itemOf(const Tensor &x, SourceLocation where) {
  return dispatch_all(x.dtype(where),
                      [&]<typename T>(std::type_identity<T>) { return pythonNumber(x.item<T>(where)); });
}

nb::object listOf(const Tensor &x, SourceLocation where) {
  const std::vector<std::int64_t> dims = x.shape(where);
  return dispatch_all(x.dtype(where), [&]<typename T>(std::type_identity<T>) {
    const T *next = x.data<T>(where);
    auto level = [&](auto &self, std::size_t depth) -> nb::object {
      if (depth == dims.size())
        return pythonNumber(*next++);
      nb::object list = nb::steal(PyList_New(static_cast<Py_ssize_t>(dims[depth])));
      for (std::int64_t i = 0; i < dims[depth]; ++i)
        PyList_SET_ITEM(list.ptr(), i, self(self, depth + 1).release().ptr());
      return list;
    };
    return level(level, 0);
  });
}

int truth(PyObject *self) {
  try {
    const Tensor &x = *tensorIn(self);
    const SourceLocation where = here();
    requireKnown(x, "`if`, `while`, `and`, `or`, `not` or bool()", where);
    return bool(x) ? 1 : 0;
  } catch (...) {
    setError();
    return -1;
  }
}
PyObject *toInt(PyObject *self) {
  return guarded([&] {
    const SourceLocation where = here();
    requireKnown(*tensorIn(self), "int()", where);
    return PyNumber_Long(itemOf(*tensorIn(self), where).ptr());
  });
}
PyObject *toFloat(PyObject *self) {
  return guarded([&] {
    const SourceLocation where = here();
    requireKnown(*tensorIn(self), "float()", where);
    return PyNumber_Float(itemOf(*tensorIn(self), where).ptr());
  });
}
PyObject *toIndex(PyObject *self) {
  return guarded([&]() -> PyObject * {
    const Tensor &x = *tensorIn(self);
    const SourceLocation where = here();
    requireKnown(x, "an index or a count", where);
    if (!is_integer(x.dtype(where)))
      throw DTypeError(std::string("an index or a count is an integer, and not ") + name_of(x.dtype(where)), where);
    return itemOf(x, where).release().ptr();
  });
}

std::int64_t lengthOf(const Tensor &x, const char *what, SourceLocation where) {
  if (x.rank(where) == 0)
    throw ShapeError(std::string(what) + " of a scalar", where);
  const Shape shape = x.shape(where);
  if (!shape[0].is_known())
    throwTraced(std::string(what) + ", whose first size only the call knows,", where);
  return shape[0];
}
Py_ssize_t length(PyObject *self) {
  try {
    return lengthOf(*tensorIn(self), "len()", here());
  } catch (...) {
    setError();
    return -1;
  }
}
PyObject *subscript(PyObject *self, PyObject *key) {
  return guarded([&] { return wrap(indexed(*tensorIn(self), key, here())); });
}
int assignSubscript(PyObject *, PyObject *, PyObject *) {
  PyErr_SetString(PyExc_TypeError, "the elements of a Tensor don't change: x = x.at[i].set(y) makes another tensor");
  return -1;
}

// Slices along the first axis. In a trace the loop is unrolled, as Python's loops are.
struct Slices {
  Tensor x;
  std::int64_t next, count;
};

// Those of tensors, and of variables, which stand for their values.
#define CALQUE_PYTHON_OPERATORS                                                                                        \
  {Py_nb_add, reinterpret_cast<void *>(&binary<static_cast<Binary>(add)>)},                                            \
      {Py_nb_subtract, reinterpret_cast<void *>(&binary<static_cast<Binary>(sub)>)},                                   \
      {Py_nb_multiply, reinterpret_cast<void *>(&binary<static_cast<Binary>(mul)>)},                                   \
      {Py_nb_true_divide, reinterpret_cast<void *>(&binary<trueDivide>)},                                              \
      {Py_nb_floor_divide, reinterpret_cast<void *>(&binary<static_cast<Binary>(floor_divide)>)},                      \
      {Py_nb_remainder, reinterpret_cast<void *>(&binary<static_cast<Binary>(mod)>)},                                  \
      {Py_nb_power, reinterpret_cast<void *>(&ternary<static_cast<Binary>(pow)>)},                                     \
      {Py_nb_matrix_multiply, reinterpret_cast<void *>(&binary<product>)},                                             \
      {Py_nb_and, reinterpret_cast<void *>(&binary<bitAnd>)}, {Py_nb_or, reinterpret_cast<void *>(&binary<bitOr>)},    \
      {Py_nb_xor, reinterpret_cast<void *>(&binary<bitXor>)},                                                          \
      {Py_nb_lshift, reinterpret_cast<void *>(&binary<static_cast<Binary>(left_shift)>)},                              \
      {Py_nb_rshift, reinterpret_cast<void *>(&binary<static_cast<Binary>(right_shift)>)},                             \
      {Py_nb_negative, reinterpret_cast<void *>(&unary<negative>)},                                                    \
      {Py_nb_positive, reinterpret_cast<void *>(&positive)}, {Py_nb_invert, reinterpret_cast<void *>(&unary<bitNot>)}, \
      {Py_nb_absolute, reinterpret_cast<void *>(&unary<magnitude>)},                                                   \
      {Py_tp_richcompare, reinterpret_cast<void *>(&compare)}, {                                                       \
    Py_tp_hash, reinterpret_cast<void *>(&PyObject_HashNotImplemented)                                                 \
  }

PyType_Slot slots[] = {CALQUE_PYTHON_OPERATORS,
                       {Py_nb_bool, reinterpret_cast<void *>(&truth)},
                       {Py_nb_int, reinterpret_cast<void *>(&toInt)},
                       {Py_nb_float, reinterpret_cast<void *>(&toFloat)},
                       {Py_nb_index, reinterpret_cast<void *>(&toIndex)},
                       {Py_mp_length, reinterpret_cast<void *>(&length)},
                       {Py_mp_subscript, reinterpret_cast<void *>(&subscript)},
                       {Py_mp_ass_subscript, reinterpret_cast<void *>(&assignSubscript)},
                       {Py_bf_getbuffer, reinterpret_cast<void *>(&calquePythonGetBuffer)},
                       {Py_bf_releasebuffer, reinterpret_cast<void *>(&calquePythonReleaseBuffer)},
                       {0, nullptr}};

PyObject *variableSubscript(PyObject *self, PyObject *key) {
  return guarded([&] {
    const SourceLocation where = here();
    return wrap(indexed(variableIn(self)->value(where), key, where));
  });
}
PyType_Slot slotsOfVariables[] = {
    CALQUE_PYTHON_OPERATORS, {Py_mp_subscript, reinterpret_cast<void *>(&variableSubscript)}, {0, nullptr}};
#undef CALQUE_PYTHON_OPERATORS

//===-- Places ----------------------------------------------------------------------------------===//

// A key with the axes that None adds, and rows() in place of an ellipsis.
struct Key {
  std::vector<detail::Place> places;
  std::vector<std::int64_t> added; // axes of size 1 in x
};

std::optional<std::int64_t> boundOf(PyObject *object, SourceLocation where) {
  if (object == Py_None)
    return std::nullopt;
  if (PyBool_Check(object) || !PyIndex_Check(object))
    throw DTypeError("the bounds of a slice are integers or None, and not " + typeName(object), where);
  Py_ssize_t value = PyNumber_AsSsize_t(object, nullptr); // too large a number is an end
  if (value == -1 && PyErr_Occurred())
    throw nb::python_error();
  return value;
}

// A bool tensor alone may stay one, for an update; otherwise it stands for the places where it holds.
Key keyOf(const Tensor &x, PyObject *given, bool isUpdate, SourceLocation where) {
  std::vector<PyObject *> entries;
  if (PyTuple_Check(given))
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(given); ++i)
      entries.push_back(PyTuple_GET_ITEM(given, i));
  else
    entries.push_back(given);
  std::int64_t taken = 0;
  bool hasEllipsis = false;
  std::vector<std::optional<Tensor>> tensors(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    PyObject *entry = entries[i];
    if (entry == Py_Ellipsis) {
      if (hasEllipsis)
        throw ValueError("an index has one ellipsis (...) at most", where);
      hasEllipsis = true;
    } else if (entry != Py_None) {
      if (!PySlice_Check(entry) && (tensorIn(entry) || PyBool_Check(entry) || !PyIndex_Check(entry) ||
                                    nb::hasattr(nb::handle(entry), "__array__"))) {
        tensors[i] = tensorOf(entry, std::nullopt, false, where);
        const DType dtype = tensors[i]->dtype(where);
        if (PyList_Check(entry) && tensors[i]->shape(where).is_known() && std::int64_t(tensors[i]->size(where)) == 0)
          tensors[i] = cast(Operand(*tensors[i], where), DType::Int64); // an empty list of places
        else if (!is_integer(dtype) && dtype != DType::Bool)
          throw DTypeError(
              std::string("an index is an integer, a slice, None, ... or a tensor of integers or bools, and "
                          "not of ") +
                  name_of(dtype),
              where);
        if (tensors[i]->dtype(where) == DType::Bool) {
          taken += tensors[i]->rank(where);
          continue;
        }
      }
      ++taken;
    }
  }
  Key key;
  const std::int64_t rank = x.rank(where);
  if (taken > rank)
    throw IndexError("an index with " + std::to_string(taken) + " entries, of a tensor with " + std::to_string(rank) +
                         " dimensions",
                     where);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    PyObject *entry = entries[i];
    if (entry == Py_Ellipsis) {
      for (std::int64_t n = taken; n < rank; ++n)
        key.places.emplace_back(rows());
    } else if (entry == Py_None) {
      key.added.push_back(static_cast<std::int64_t>(key.places.size()));
      key.places.emplace_back(rows());
    } else if (PySlice_Check(entry)) {
      auto *slice = reinterpret_cast<PySliceObject *>(entry);
      key.places.emplace_back(
          rows(boundOf(slice->start, where), boundOf(slice->stop, where), boundOf(slice->step, where).value_or(1)));
    } else if (tensors[i] && tensors[i]->dtype(where) == DType::Bool && !(isUpdate && entries.size() == 1)) {
      if (tensors[i]->rank(where) == 0)
        throw ValueError("a bool scalar is no index: where() chooses by one", where);
      CallSite site(where, "an index of bools");
      for (Tensor &places : nonzero(Operand(*tensors[i], where)))
        key.places.emplace_back(std::move(places));
    } else if (tensors[i]) {
      key.places.emplace_back(*tensors[i]);
    } else {
      key.places.emplace_back(integerOf(entry, "index", where));
    }
  }
  return key;
}

At placesOf(const Tensor &x, PyObject *given, SourceLocation where) {
  Key key = keyOf(x, given, true, where);
  if (!key.added.empty())
    throw ValueError("x.at[...] takes no None: a new axis has no elements to update", where);
  return At(x, std::move(key.places));
}

// What x.at is, before the brackets.
struct Indexer {
  Tensor x;
};

} // namespace

Tensor indexed(const Tensor &x, PyObject *given, SourceLocation where) {
  if (PyLong_CheckExact(given)) {
    CallSite site(where);
    return x[Operand(static_cast<std::int64_t>(integerOf(given, "index", where)), where)];
  }
  Key key = keyOf(x, given, false, where);
  const Tensor source = key.added.empty() ? x : expand_dims(Operand(x, where), AxisList(key.added));
  if (key.places.empty())
    return source;
  return At(source, std::move(key.places)).get(where);
}

PyType_Slot *variableSlots() { return slotsOfVariables; }

bool isTensor(PyObject *object) { return tensorIn(object) != nullptr; }
const Tensor *tensorIn(PyObject *object) {
  if (Py_TYPE(object) == tensorType || PyType_IsSubtype(Py_TYPE(object), tensorType))
    return nb::inst_ptr<Tensor>(nb::handle(object));
  return nullptr;
}
PyObject *wrap(Tensor x) {
  nb::object made = nb::inst_alloc(nb::handle(reinterpret_cast<PyObject *>(tensorType)));
  new (nb::inst_ptr<Tensor>(made)) Tensor(std::move(x));
  nb::inst_mark_ready(made);
  return made.release().ptr();
}

void bindTensors(nb::module_ &m) {
  nb::class_<Slices>(m, "_Slices")
      .def("__iter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__next__", [](Slices &self) {
        if (self.next == self.count)
          throw nb::stop_iteration();
        const SourceLocation where = here();
        CallSite site(where);
        return wrapped(self.x[Operand(self.next++, where)]);
      });
  auto update = [](auto method) {
    return [method](const At &self, nb::handle v) { return wrapped((self.*method)(operandOf(v.ptr(), "v", here()))); };
  };
  nb::class_<At>(m, "At", "Elements of a tensor that are to be updated: x.at[i].set(v) is x with v there.")
      .def(
          "get", [](const At &self) { return wrapped(self.get(here())); }, nb::sig("def get(self) -> Tensor"))
      .def("set", update(&At::set), nb::arg("v"), nb::sig("def set(self, v: TensorLike) -> Tensor"))
      .def("add", update(&At::add), nb::arg("v"), nb::sig("def add(self, v: TensorLike) -> Tensor"))
      .def("subtract", update(&At::subtract), nb::arg("v"), nb::sig("def subtract(self, v: TensorLike) -> Tensor"))
      .def("multiply", update(&At::multiply), nb::arg("v"), nb::sig("def multiply(self, v: TensorLike) -> Tensor"))
      .def("divide", update(&At::divide), nb::arg("v"), nb::sig("def divide(self, v: TensorLike) -> Tensor"))
      .def("min", update(&At::min), nb::arg("v"), nb::sig("def min(self, v: TensorLike) -> Tensor"))
      .def("max", update(&At::max), nb::arg("v"), nb::sig("def max(self, v: TensorLike) -> Tensor"));
  nb::class_<Indexer>(m, "_Indexer")
      .def(
          "__getitem__", [](const Indexer &self, nb::handle key) { return placesOf(self.x, key.ptr(), here()); },
          nb::sig("def __getitem__(self, key: Index, /) -> At"));

  nb::class_<Tensor> tensor(m, "Tensor", nb::type_slots(slots), nb::is_weak_referenceable(),
                            "A dense array, whose elements don't change. In a traced function it stands for an array.");
  tensorType = reinterpret_cast<PyTypeObject *>(tensor.ptr());
  auto property = [&](const char *name, auto f, const char *signature, const char *doc) {
    tensor.def_prop_ro(name, f, nb::sig(signature), doc);
  };
  property(
      "shape", [](const Tensor &x) { return tupleOf(x.shape(here())); }, "def shape(self) -> tuple[int, ...]",
      "The sizes of the dimensions.");
  property(
      "dtype", [](const Tensor &x) { return dtypeObject(x.dtype(here())); }, "def dtype(self) -> DType",
      "The type of the elements.");
  property(
      "ndim", [](const Tensor &x) { return x.rank(here()); }, "def ndim(self) -> int", "The number of dimensions.");
  property(
      "size", [](const Tensor &x) { return sizeObject(x.size(here())); }, "def size(self) -> int",
      "The number of elements.");
  property(
      "itemsize", [](const Tensor &x) { return size_of(x.dtype(here())); }, "def itemsize(self) -> int",
      "The bytes of an element.");
  property(
      "nbytes",
      [](const Tensor &x) {
        const SourceLocation where = here();
        return static_cast<std::int64_t>(x.size(where)) * static_cast<std::int64_t>(size_of(x.dtype(where)));
      },
      "def nbytes(self) -> int", "The bytes of all elements.");
  property(
      "is_known", [](const Tensor &x) { return x.is_known(here()); }, "def is_known(self) -> bool",
      "Whether the elements are known now: False for a traced tensor.");
  property("device", [](const Tensor &) { return "cpu"; }, "def device(self) -> str", "'cpu'.");
  property(
      "T", [](const Tensor &x) { return wrapped(transpose(Operand(x, here()))); }, "def T(self) -> Tensor",
      "The dimensions in the opposite order.");
  property(
      "mT", [](const Tensor &x) { return wrapped(swapaxes(Operand(x, here()), -1, -2)); }, "def mT(self) -> Tensor",
      "The last two dimensions swapped.");
  property(
      "real", [](const Tensor &x) { return wrapped(real(Operand(x, here()))); }, "def real(self) -> Tensor",
      "The real parts.");
  property(
      "imag", [](const Tensor &x) { return wrapped(imag(Operand(x, here()))); }, "def imag(self) -> Tensor",
      "The imaginary parts.");
  property(
      "at", [](const Tensor &x) { return Indexer{x}; }, "def at(self) -> _Indexer",
      "Places to update: x.at[i].set(v), add, subtract, multiply, divide, min, max.");
  tensor
      .def(
          "item",
          [](const Tensor &x) {
            const SourceLocation where = here();
            requireKnown(x, "item()", where);
            return itemOf(x, where);
          },
          nb::sig("def item(self) -> bool | int | float | complex"), "The only element, as a Python number.")
      .def(
          "tolist",
          [](const Tensor &x) {
            const SourceLocation where = here();
            requireKnown(x, "tolist()", where);
            return listOf(x, where);
          },
          nb::sig("def tolist(self) -> Any"), "The elements as nested lists of Python numbers.")
      .def(
          "astype",
          [](const Tensor &x, nb::handle dtype) {
            const SourceLocation where = here();
            return wrapped(cast(Operand(x, where), dtypeOf(dtype.ptr(), where)));
          },
          nb::arg("dtype"), nb::sig("def astype(self, dtype: DTypeLike) -> Tensor"),
          "The elements as another type; floats truncate towards zero and saturate, NaN becomes 0.")
      .def(
          "__iter__", [](const Tensor &x) { return Slices{x, 0, lengthOf(x, "a loop over the entries", here())}; },
          nb::sig("def __iter__(self) -> Iterator[Tensor]"))
      .def("__complex__",
           [](const Tensor &x) {
             const SourceLocation where = here();
             requireKnown(x, "complex()", where);
             return nb::steal(
                 PyObject_CallOneArg(reinterpret_cast<PyObject *>(&PyComplex_Type), itemOf(x, where).ptr()));
           })
      .def("__divmod__",
           [](const Tensor &x, nb::handle y) {
             const SourceLocation where = here();
             const Operand lhs(x, where), rhs = operandOf(y.ptr(), "y", where);
             return nb::make_tuple(wrapped(floor_divide(lhs, rhs)), wrapped(mod(lhs, rhs)));
           })
      .def("__repr__", [](const Tensor &x) { return x.repr(); })
      .def("__str__",
           [](const Tensor &x) {
             // Of a known tensor the elements; of a traced one its type.
             return x.is_known() ? printed(x) : x.repr();
           })
      .def(
          "__format__",
          [](const Tensor &x, const std::string &format) {
            const SourceLocation where = here();
            if (x.is_known(where) && x.rank(where) == 0)
              return textOf(
                  nb::object(nb::module_::import_("builtins").attr("format")(itemOf(x, where), nb::str(format.c_str())))
                      .ptr(),
                  "format", where);
            if (!format.empty())
              throw DTypeError("the format '" + format + "' is one of a number, and the tensor is no known scalar",
                               where);
            return x.is_known(where) ? printed(x) : x.repr();
          })
      .def(
          "__dlpack__",
          [](const Tensor &x, nb::handle, nb::handle version, nb::handle device, std::optional<bool> copy) {
            const SourceLocation where = here();
            if (!device.is_none() && nb::cast<std::pair<int, int>>(device) != std::pair(1, 0)) {
              PyErr_SetString(PyExc_BufferError, "the elements are in the memory of device (1, 0), the CPU");
              throw nb::python_error();
            }
            const bool versioned = !version.is_none() && nb::cast<int>(version[0]) >= 1;
            return capsuleOf(x, versioned, copy, where);
          },
          nb::kw_only(), nb::arg("stream") = nb::none(), nb::arg("max_version") = nb::none(),
          nb::arg("dl_device") = nb::none(), nb::arg("copy") = nb::none())
      .def("__dlpack_device__", [](const Tensor &) { return nb::make_tuple(1, 0); });
  tensor.attr("__array_ufunc__") = nb::none(); // NumPy's operators leave it to ours
  m.def("_from_bytes", [](const std::string &dtype, nb::handle shape, nb::bytes bytes) {
    const SourceLocation where = here();
    return wrapped(tensor_from_bytes(dtypeOf(nb::str(dtype.c_str()).ptr(), where),
                                     {static_cast<const std::byte *>(bytes.data()), bytes.size()},
                                     shapeOf(shape.ptr(), where), where));
  });
  // The elements of any type as bytes, for types that the buffer protocol lacks.
  m.def("_bits", [](const Tensor &x) {
    const SourceLocation where = here();
    const std::size_t size = size_of(x.dtype(where));
    const DType type = size == 1 ? DType::UInt8 : size == 2 ? DType::UInt16 : size == 4 ? DType::UInt32 : DType::UInt64;
    if (size > 8)
      throw DTypeError("no integer has the bits of complex128", where);
    return wrapped(tensor_from_memory(type, x.bytes(where), x.shape(where), std::make_shared<Tensor>(x), where));
  });
}

} // namespace calque::python
