// Arrays of other libraries: the buffer protocol and DLPack, both ways.
#include "Support.h"

#include <calque/dlpack.h>

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace calque::python {

static_assert(std::endian::native == std::endian::little, "formats below are of machines with the least byte first");

//===-- The buffer protocol ---------------------------------------------------------------------===//

namespace {

// The format of an element in the buffer protocol. It has none for bfloat16.
const char *formatOf(DType dtype) {
  switch (dtype) {
  case DType::Bool:
    return "?";
  case DType::Int8:
    return "b";
  case DType::UInt8:
    return "B";
  case DType::Int16:
    return "h";
  case DType::UInt16:
    return "H";
  case DType::Int32:
    return "i";
  case DType::UInt32:
    return "I";
  case DType::Int64:
    return "q";
  case DType::UInt64:
    return "Q";
  case DType::Float16:
    return "e";
  case DType::Float32:
    return "f";
  case DType::Float64:
    return "d";
  case DType::Complex64:
    return "Zf";
  case DType::Complex128:
    return "Zd";
  case DType::BFloat16:
    return nullptr;
  }
  return nullptr;
}

std::optional<DType> typeOf(const Py_buffer &view) {
  std::string_view format = view.format ? view.format : "B";
  if (!format.empty() &&
      (format[0] == '@' || format[0] == '=' || format[0] == '<' || (format[0] == '>' && view.itemsize == 1)))
    format.remove_prefix(1);
  if (format == "l" || format == "L" || format == "n" || format == "N") // of the machine's width
    format = format == "l" || format == "n" ? (view.itemsize == 8 ? "q" : "i") : (view.itemsize == 8 ? "Q" : "I");
  for (const DTypeInfo &info : kDTypes)
    if (const char *own = formatOf(info.dtype);
        own && format == own && static_cast<std::size_t>(view.itemsize) == info.size)
      return info.dtype;
  return std::nullopt;
}

struct Buffer {
  Py_buffer view;
};
void releaseBuffer(void *context) {
  auto *buffer = static_cast<Buffer *>(context);
  PyBuffer_Release(&buffer->view);
  delete buffer;
}

Tensor tensorOfBytes(DType dtype, std::span<const std::byte> bytes, const Shape &shape,
                     std::shared_ptr<const void> owner, SourceLocation where) {
  const bool isAligned =
      reinterpret_cast<std::uintptr_t>(bytes.data()) % std::max<std::size_t>(size_of(real_of(dtype)), 1) == 0;
  // Other libraries may have bools of any bits, and kernels rely on 0 and 1.
  if (dtype == DType::Bool && !std::ranges::all_of(bytes, [](std::byte each) { return each <= std::byte(1); })) {
    std::vector<std::byte> bools(bytes.begin(), bytes.end());
    for (std::byte &each : bools)
      each = std::byte(each != std::byte(0));
    return tensor_from_bytes(dtype, bools, shape, where);
  }
  return owner && isAligned ? tensor_from_memory(dtype, bytes, shape, std::move(owner), where)
                            : tensor_from_bytes(dtype, bytes, shape, where);
}

// `asType` is what the elements are if the format does not say it.
std::optional<Tensor> tensorOfBuffer(PyObject *object, bool share, std::optional<DType> asType, SourceLocation where) {
  auto buffer = std::make_unique<Buffer>();
  if (PyObject_GetBuffer(object, &buffer->view, PyBUF_FULL_RO) != 0) {
    PyErr_Clear();
    return std::nullopt;
  }
  std::shared_ptr<Buffer> owner(buffer.release(), [](Buffer *last) { releaseLater(&releaseBuffer, last); });
  const Py_buffer &view = owner->view;
  std::optional<DType> dtype = asType ? asType : typeOf(view);
  if (!dtype)
    throw DTypeError(std::string("an array with elements of the format '") + (view.format ? view.format : "B") +
                         "' is of no type that Calque has",
                     where);
  Shape shape;
  for (int i = 0; i < view.ndim; ++i)
    shape.push_back(Size(static_cast<std::int64_t>(view.shape[i]), where));
  if (!PyBuffer_IsContiguous(&view, 'C')) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(view.len));
    if (PyBuffer_ToContiguous(bytes.data(), &view, view.len, 'C') != 0)
      throw nb::python_error();
    return tensorOfBytes(*dtype, bytes, shape, nullptr, where);
  }
  std::span<const std::byte> bytes(static_cast<const std::byte *>(view.buf), static_cast<std::size_t>(view.len));
  const bool shared = share || view.readonly;
  return tensorOfBytes(*dtype, bytes, shape, shared ? std::shared_ptr<const void>(owner) : nullptr, where);
}

// What a view keeps besides the tensor's object.
struct View {
  std::vector<Py_ssize_t> shape, strides;
};

} // namespace

extern "C" int calquePythonGetBuffer(PyObject *self, Py_buffer *view, int flags) {
  view->obj = nullptr;
  try {
    const Tensor &x = *tensorIn(self);
    const SourceLocation where = here();
    const DType dtype = x.dtype(where);
    const char *format = formatOf(dtype);
    if (flags & PyBUF_WRITABLE) {
      PyErr_SetString(PyExc_BufferError, "the elements of a Tensor don't change: ask for a read-only buffer, or copy");
      return -1;
    }
    if (!format) {
      PyErr_SetString(PyExc_BufferError, "the buffer protocol has no bfloat16: use DLPack, or numpy() with ml_dtypes");
      return -1;
    }
    std::span<const std::byte> bytes = x.bytes(where);
    auto made = std::make_unique<View>();
    for (const Size &size : x.shape(where))
      made->shape.push_back(static_cast<Py_ssize_t>(std::int64_t(size)));
    made->strides.resize(made->shape.size());
    auto step = static_cast<Py_ssize_t>(size_of(dtype));
    for (std::size_t i = made->shape.size(); i-- > 0;) {
      made->strides[i] = step;
      step *= std::max<Py_ssize_t>(made->shape[i], 1);
    }
    view->buf = const_cast<std::byte *>(bytes.data());
    view->len = static_cast<Py_ssize_t>(bytes.size());
    view->itemsize = static_cast<Py_ssize_t>(size_of(dtype));
    view->readonly = 1;
    view->ndim = static_cast<int>(made->shape.size());
    view->format = flags & PyBUF_FORMAT ? const_cast<char *>(format) : nullptr;
    view->shape = flags & PyBUF_ND ? made->shape.data() : nullptr;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? made->strides.data() : nullptr;
    view->suboffsets = nullptr;
    view->internal = made.release();
    view->obj = Py_NewRef(self);
    return 0;
  } catch (...) {
    setError();
    // What asks for a buffer may try something else after a BufferError.
    PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    nb::object error = nb::steal(value);
    PyErr_Format(PyExc_BufferError, "%S", error.ptr());
    Py_XDECREF(type);
    Py_XDECREF(trace);
    return -1;
  }
}
extern "C" void calquePythonReleaseBuffer(PyObject *, Py_buffer *view) { delete static_cast<View *>(view->internal); }

//===-- DLPack ----------------------------------------------------------------------------------===//

namespace {

constexpr const char *kVersioned = "dltensor_versioned", *kOld = "dltensor";

template <typename Managed> void deleteUnused(PyObject *capsule, const char *name) {
  // A consumer renames the capsule, and calls the deleter itself.
  if (PyCapsule_IsValid(capsule, name)) {
    auto *managed = static_cast<Managed *>(PyCapsule_GetPointer(capsule, name));
    if (managed->deleter)
      managed->deleter(managed);
  }
}

// The deleter of what Python made may need the interpreter's lock, which a thread that drops the last tensor may lack.
template <typename Managed> struct Given {
  Managed own; // passed on to from_dlpack
  Managed *theirs;
};
template <typename Managed> Managed *guardedBy(Managed *theirs) {
  auto *given = new Given<Managed>{*theirs, theirs};
  given->own.context = given;
  given->own.deleter = [](Managed *self) {
    auto *holder = static_cast<Given<Managed> *>(self->context);
    releaseLater(
        [](void *context) {
          auto *managed = static_cast<Managed *>(context);
          if (managed->deleter)
            managed->deleter(managed);
        },
        holder->theirs);
    delete holder;
  };
  return &given->own;
}

template <typename Managed>
Tensor taken(nb::handle capsule, const char *name, const char *used, bool copy, SourceLocation where) {
  auto *theirs = static_cast<Managed *>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (!theirs)
    throw nb::python_error();
  Managed *given = guardedBy(theirs);
  Tensor x;
  try {
    x = from_dlpack(given, where);
  } catch (...) { // the capsule still owns the array
    delete static_cast<Given<Managed> *>(given->context);
    throw;
  }
  PyCapsule_SetName(capsule.ptr(), used);
  return copy ? tensor_from_bytes(x.dtype(where), x.bytes(where), x.shape(where), where) : x;
}

Tensor fromCapsule(nb::handle capsule, bool share, SourceLocation where) {
  if (PyCapsule_IsValid(capsule.ptr(), kVersioned)) {
    auto *theirs = static_cast<dlpack::ManagedTensorVersioned *>(PyCapsule_GetPointer(capsule.ptr(), kVersioned));
    const bool copy = !share && !(theirs->flags & (dlpack::kReadOnly | dlpack::kIsCopied));
    return taken<dlpack::ManagedTensorVersioned>(capsule, kVersioned, "used_dltensor_versioned", copy, where);
  }
  if (PyCapsule_IsValid(capsule.ptr(), kOld))
    return taken<dlpack::ManagedTensor>(capsule, kOld, "used_dltensor", !share, where);
  throw ValueError("from_dlpack: the capsule holds no array that nobody has taken yet", where);
}

nb::object capsuleOf(nb::handle array) {
  nb::object method = array.attr("__dlpack__");
  try {
    return method(nb::arg("max_version") = nb::make_tuple(dlpack::kMajorVersion, dlpack::kMinorVersion));
  } catch (nb::python_error &error) {
    if (!error.matches(PyExc_TypeError)) // a library from before version 1
      throw;
  }
  return method();
}

} // namespace

std::optional<Tensor> tensorOfArray(PyObject *object, bool share, SourceLocation where) {
  nb::handle array(object);
  if (PyObject_CheckBuffer(object) && !PyBytes_Check(object) && !PyByteArray_Check(object))
    if (std::optional<Tensor> x = tensorOfBuffer(object, share, std::nullopt, where))
      return x;
  // NumPy has bfloat16 by ml_dtypes, which neither protocol knows there.
  if (nb::object dtype = nb::getattr(array, "dtype", nb::none());
      nb::hasattr(array, "__array_interface__") && nb::hasattr(dtype, "name"))
    if (nb::object name = dtype.attr("name");
        PyUnicode_Check(name.ptr()) && textOf(name.ptr(), "dtype", where) == "bfloat16")
      return tensorOfBuffer(nb::object(array.attr("view")("uint16")).ptr(), share, DType::BFloat16, where);
  if (nb::hasattr(array, "__dlpack__") && !tensorIn(object))
    return fromCapsule(capsuleOf(array), share, where);
  if (nb::hasattr(array, "__array_interface__") || PyByteArray_Check(object) || PyBytes_Check(object))
    return std::nullopt;
  if (nb::hasattr(array, "__array__"))
    return tensorOfArray(nb::object(array.attr("__array__")()).ptr(), share, where);
  return std::nullopt;
}

void bindArrays(nb::module_ &m) {
  m.def(
      "tensor",
      [](nb::handle data, nb::handle dtype) {
        const SourceLocation where = here();
        std::optional<DType> type;
        if (!dtype.is_none())
          type = dtypeOf(dtype.ptr(), where);
        return wrapped(tensorOf(data.ptr(), type, false, where));
      },
      nb::arg("data"), nb::arg("dtype") = nb::none(),
      nb::sig("def tensor(data: ArrayLike, dtype: DTypeLike | None = None) -> Tensor"),
      "A tensor of numbers, of nested lists of numbers, or of an array, whose elements are copied unless nobody may "
      "write "
      "to them. Without dtype, floats have the default type, integers int32, or int64 where one needs it, and arrays "
      "their own type.");
  m.def(
      "asarray",
      [](nb::handle data, nb::handle dtype, std::optional<bool> copy) {
        const SourceLocation where = here();
        std::optional<DType> type;
        if (!dtype.is_none())
          type = dtypeOf(dtype.ptr(), where);
        return wrapped(tensorOf(data.ptr(), type, !copy.value_or(false), where));
      },
      nb::arg("data"), nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none(),
      nb::sig("def asarray(data: ArrayLike, dtype: DTypeLike | None = None, copy: bool | None = None) -> Tensor"),
      "As tensor(), but an array's memory is shared unless copy is True. Nobody may write to it as long as the tensor "
      "lives.");
  m.def(
      "from_dlpack",
      [](nb::handle x) {
        const SourceLocation where = here();
        if (const Tensor *own = tensorIn(x.ptr()))
          return wrapped(*own);
        return wrapped(fromCapsule(PyCapsule_CheckExact(x.ptr()) ? nb::borrow(x) : capsuleOf(x), true, where));
      },
      nb::arg("x"), nb::sig("def from_dlpack(x: object, /) -> Tensor"),
      "A tensor in the memory of another library's array, which lives as long as the tensor. Nobody may write to it "
      "until "
      "then. Elements that are not in row-major order are copied.");
}

//===-- What a Tensor's methods do --------------------------------------------------------------===//

// The capsule of Tensor.__dlpack__.
nb::object capsuleOf(const Tensor &x, bool versioned, std::optional<bool> copy, SourceLocation where) {
  if (versioned) {
    dlpack::ManagedTensorVersioned *made = to_dlpack(x, {.copy = copy.value_or(false)}, where);
    return nb::steal(PyCapsule_New(made, kVersioned, [](PyObject *capsule) {
      deleteUnused<dlpack::ManagedTensorVersioned>(capsule, kVersioned);
    }));
  }
  if (copy && !*copy) {
    PyErr_SetString(PyExc_BufferError, "the form of DLPack before version 1 can't say that elements must not be "
                                       "written to: ask for max_version=(1, 0), or for a copy");
    throw nb::python_error();
  }
  dlpack::ManagedTensor *made = to_unversioned_dlpack(x, {.copy = true}, where);
  return nb::steal(
      PyCapsule_New(made, kOld, [](PyObject *capsule) { deleteUnused<dlpack::ManagedTensor>(capsule, kOld); }));
}

} // namespace calque::python
