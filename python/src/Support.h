// What all files of the module share: the Python line of a call, errors, the interpreter's lock, and how Python objects
// become C++ values.
#ifndef CALQUE_PYTHON_SUPPORT_H
#define CALQUE_PYTHON_SUPPORT_H

#include <calque/call_site.h>
#include <calque/functions.h>
#include <calque/variable.h>

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace calque::python {

namespace nb = nanobind;

// The file and line of the innermost Python frame that is not of this package. Unknown if no Python code runs.
SourceLocation here();
// Frames of files below this folder are the package's own.
void setPackageFolder(const std::string &folder);

// Sets Python's error from the C++ exception that is being handled. Call it in a catch block.
void setError() noexcept;
// The classes of errors, as attributes of the module.
void bindErrors(nb::module_ &m);
// For slots of Python types, which report errors by null.
template <typename F> PyObject *guarded(F &&f) noexcept {
  try {
    return f();
  } catch (...) {
    setError();
    return nullptr;
  }
}

// Runs f without the interpreter's lock, so that other Python threads go on. f must use no Python object.
template <typename F> decltype(auto) withoutLock(F &&f) {
  nb::gil_scoped_release unlocked;
  return f();
}

// Keeps a Python object alive from C++ code of any thread, which may hold the interpreter's lock or not. A thread
// without the lock must not wait for it here, because it may hold a lock of the library for which another Python thread
// waits: it leaves the object to a thread that has the lock.
std::shared_ptr<PyObject> kept(nb::object object);
// Calls `release` on a thread that has the interpreter's lock: at once, or as soon as one is there.
void releaseLater(void (*release)(void *), void *context);

//===-- Values ----------------------------------------------------------------------------------===//

bool isTensor(PyObject *object);
const Tensor *tensorIn(PyObject *object);     // null if the object is no Tensor
const Variable *variableIn(PyObject *object); // null if the object is no Variable
PyObject *wrap(Tensor x);
inline nb::object wrapped(Tensor x) { return nb::steal(wrap(std::move(x))); }

// A tensor of an array that another library has made, or nothing if the object is none. The memory is shared if
// nobody may write to it or `share` is set, else the elements are copied. DTypeError for types that Calque lacks.
std::optional<Tensor> tensorOfArray(PyObject *object, bool share, SourceLocation where);
// A Python number; nothing for other objects. ValueError for an integer beyond 64 bits.
std::optional<Number> numberIn(PyObject *object, SourceLocation where);
// An operand: a tensor, a variable, a Python number, a size, or an array. Nothing for other objects.
std::optional<Operand> operandIn(PyObject *object, SourceLocation where);
// DTypeError, which names the parameter, for other objects.
Operand operandOf(PyObject *object, const char *parameter, SourceLocation where);
// A tensor of what tensor() takes: nested lists of numbers, arrays, tensors. `share` is as above.
Tensor tensorOf(PyObject *object, std::optional<DType> dtype, bool share, SourceLocation where);

// A DType, its name, a type of NumPy, or Python's bool, int, float or complex.
DType dtypeOf(PyObject *object, SourceLocation where);
nb::object dtypeObject(DType dtype);
// A tuple of sizes, or one size. None is an unknown size where `open` is set.
Shape shapeOf(PyObject *object, SourceLocation where, bool open = false);
nb::tuple tupleOf(const Shape &shape);
// A size that the trace does not know is an object, with which Python can't compute.
nb::object sizeObject(const Size &size);
std::int64_t integerOf(PyObject *object, const char *parameter, SourceLocation where);
std::string textOf(PyObject *object, const char *parameter, SourceLocation where);
std::string typeName(PyObject *object);

// `x[key]` and `x.at[key]` take apart what Python gives.
Tensor indexed(const Tensor &x, PyObject *key, SourceLocation where);

void bindDTypes(nb::module_ &m);
void bindTensors(nb::module_ &m);
void bindArrays(nb::module_ &m);
void bindVariables(nb::module_ &m);
void bindCalls(nb::module_ &m);
void bindFunctions(nb::module_ &m);
void bindTransforms(nb::module_ &m);
void bindControlFlow(nb::module_ &m);
void bindFiles(nb::module_ &m);

} // namespace calque::python
#endif
