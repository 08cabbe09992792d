// Calls of functions that are made from the public headers: the arguments of a Python call by the types that the C++
// function takes, and its result as a Python object. make_bindings.py writes a table of the functions.
#ifndef CALQUE_PYTHON_CALL_H
#define CALQUE_PYTHON_CALL_H

#include "Support.h"

#include <array>
#include <span>

namespace calque::python {

class Call;

// A function that Python can call.
struct Entry {
  const char *module; // "", "linalg", "random"
  const char *name;
  std::vector<const char *> parameters;
  int required;   // the number of parameters without a default value
  int positional; // the number of parameters that need no name in a call
  PyObject *(*call)(Call &);
  const char *doc;
};

// The arguments of a call, by the numbers of the parameters.
class Call {
public:
  static constexpr int kMost = 16;
  Call(const Entry &entry, PyObject *const *arguments, Py_ssize_t count, PyObject *names);

  SourceLocation where() const { return where_; }
  bool has(int i) const { return given_[static_cast<std::size_t>(i)] != nullptr; }
  PyObject *given(int i) const { return given_[static_cast<std::size_t>(i)]; }

  Operand operand(int i) { return checked(operandOf(given(i), name(i), where_)); }
  Tensor tensor(int i) { return operand(i).toTensor(); }
  std::vector<Tensor> tensors(int i);
  std::vector<Operand> operands(int i);
  std::int64_t integer(int i) const { return integerOf(given(i), name(i), where_); }
  double real(int i) const;
  bool flag(int i) const;
  Number number(int i) const;
  std::string text(int i) const { return textOf(given(i), name(i), where_); }
  DType dtype(int i) const { return dtypeOf(given(i), where_); }
  Shape shape(int i) const { return shapeOf(given(i), where_); }
  Size size(int i) const;
  std::vector<std::int64_t> integers(int i) const;
  // One of the names of an enumeration, as its position.
  int choice(int i, std::initializer_list<const char *> names) const;
  // Pairs of integers, and two numbers.
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs(int i) const;
  std::pair<double, double> interval(int i) const;
  bool isText(int i) const { return PyUnicode_Check(given(i)); }

  // Runs f, without the interpreter's lock where that is worth the time, and returns what it returns.
  template <typename F> auto run(F &&f) {
    if (isLarge_)
      return withoutLock(std::forward<F>(f));
    return f();
  }

private:
  const char *name(int i) const { return entry_.parameters[static_cast<std::size_t>(i)]; }
  Operand checked(Operand x);

  const Entry &entry_;
  const SourceLocation where_;
  std::array<PyObject *, kMost> given_{};
  bool isLarge_, hasTensor_ = false;
};

inline PyObject *resultOf(Tensor x) { return wrap(std::move(x)); }
PyObject *resultOf(const std::vector<Tensor> &list);
inline PyObject *resultOf(bool x) { return PyBool_FromLong(x); }
inline PyObject *resultOf(std::int64_t x) { return PyLong_FromLongLong(x); }
// A named tuple: `type` is made once for each C++ type.
PyObject *resultOf(PyObject *type, std::initializer_list<Tensor> fields);
PyObject *namedTuple(const char *name, std::initializer_list<const char *> fields);

// Of all functions that the headers have.
std::span<const Entry> entries();

} // namespace calque::python
#endif
