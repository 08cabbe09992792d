// Parts of the class Tensor that are in several files.
#ifndef CALQUE_PYTHON_TENSORS_H
#define CALQUE_PYTHON_TENSORS_H

#include "Support.h"

namespace calque::python {

// The elements as NumPy prints them.
std::string printed(const Tensor &x);
// The capsule of Tensor.__dlpack__. Without a version it is a copy, because that form can't say that nobody may write
// to the elements: BufferError if `copy` is false.
nb::object capsuleOf(const Tensor &x, bool versioned, std::optional<bool> copy, SourceLocation where);
// x / y of floats. DTypeError for integers.
Tensor trueDivide(const Operand &x, const Operand &y);
// The operators of Variable.
PyType_Slot *variableSlots();

} // namespace calque::python

extern "C" int calquePythonGetBuffer(PyObject *self, Py_buffer *view, int flags);
extern "C" void calquePythonReleaseBuffer(PyObject *self, Py_buffer *view);
#endif
