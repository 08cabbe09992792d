#include "Call.h"

#include <string_view>

namespace calque::python {

Call::Call(const Entry &entry, PyObject *const *arguments, Py_ssize_t count, PyObject *names)
    : entry_(entry), where_(here()), isLarge_(true) {
  auto refuse = [&](const std::string &message) {
    throw SignatureError(std::string(entry.name) + ": " + message, where_);
  };
  if (count > entry.positional)
    refuse("takes " + std::to_string(entry.positional) + " arguments by position, and is given " +
           std::to_string(count));
  for (Py_ssize_t i = 0; i < count; ++i)
    given_[static_cast<std::size_t>(i)] = arguments[i];
  const Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
  for (Py_ssize_t i = 0; i < named; ++i) {
    const char *text = PyUnicode_AsUTF8(PyTuple_GET_ITEM(names, i));
    if (!text)
      throw nb::python_error();
    std::size_t at = 0;
    while (at < entry.parameters.size() && std::string_view(entry.parameters[at]) != text)
      ++at;
    if (at == entry.parameters.size()) {
      std::string all;
      for (const char *parameter : entry.parameters)
        all += (all.empty() ? "" : ", ") + std::string(parameter);
      refuse("has no parameter '" + std::string(text) + "'; it has " + all);
    }
    if (given_[at])
      refuse("is given '" + std::string(text) + "' twice");
    given_[at] = arguments[count + i];
  }
  for (int i = 0; i < static_cast<int>(entry.parameters.size()); ++i) {
    // None stands for an argument that is left out, as in NumPy.
    if (given_[static_cast<std::size_t>(i)] == Py_None)
      given_[static_cast<std::size_t>(i)] = nullptr;
    if (i < entry.required && !given_[static_cast<std::size_t>(i)])
      refuse("lacks the argument '" + std::string(name(i)) + "'");
  }
}

// A call of small tensors takes no longer than letting other threads in between. Tensors alone decide: a function
// without them makes some.
Operand Call::checked(Operand x) {
  constexpr std::int64_t small = 1 << 14;
  if (!x.isNumber()) {
    const bool large = x.tensor().is_known(where_) && std::int64_t(x.tensor().size(where_)) > small;
    isLarge_ = large || (hasTensor_ && isLarge_);
    hasTensor_ = true;
  }
  return x;
}

namespace {
bool isSequence(PyObject *object) { return PyList_Check(object) || PyTuple_Check(object); }
} // namespace

std::vector<Tensor> Call::tensors(int i) {
  if (!isSequence(given(i)))
    throw DTypeError(std::string("'") + name(i) + "' is a list of tensors, and not " + typeName(given(i)), where_);
  std::vector<Tensor> list;
  for (nb::handle each : nb::borrow<nb::object>(given(i)))
    list.push_back(operandOf(each.ptr(), name(i), where_).toTensor());
  return list;
}

std::vector<Operand> Call::operands(int i) {
  if (!isSequence(given(i)))
    throw DTypeError(std::string("'") + name(i) + "' is a list of numbers and scalars, and not " + typeName(given(i)),
                     where_);
  std::vector<Operand> list;
  for (nb::handle each : nb::borrow<nb::object>(given(i)))
    list.push_back(operandOf(each.ptr(), name(i), where_));
  return list;
}

double Call::real(int i) const {
  double value = PyFloat_AsDouble(given(i));
  if (value == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    throw DTypeError(std::string("'") + name(i) + "' is a number, and not " + typeName(given(i)), where_);
  }
  return value;
}

bool Call::flag(int i) const {
  if (!PyBool_Check(given(i)))
    throw DTypeError(std::string("'") + name(i) + "' is True or False, and not " + typeName(given(i)), where_);
  return given(i) == Py_True;
}

Number Call::number(int i) const {
  if (std::optional<Number> number = numberIn(given(i), where_))
    return *number;
  throw DTypeError(std::string("'") + name(i) + "' is a number, and not " + typeName(given(i)), where_);
}

Size Call::size(int i) const { return shapeOf(nb::make_tuple(nb::handle(given(i))).ptr(), where_)[0]; }

std::vector<std::int64_t> Call::integers(int i) const {
  if (!isSequence(given(i)))
    return {integer(i)};
  std::vector<std::int64_t> list;
  for (nb::handle each : nb::borrow<nb::object>(given(i)))
    list.push_back(integerOf(each.ptr(), name(i), where_));
  return list;
}

int Call::choice(int i, std::initializer_list<const char *> names) const {
  const std::string chosen = text(i);
  int position = 0;
  std::string all;
  for (const char *each : names) {
    if (chosen == each)
      return position;
    all += (all.empty() ? "'" : ", '") + std::string(each) + "'";
    ++position;
  }
  throw ValueError(std::string("'") + name(i) + "' is one of " + all + ", and not '" + chosen + "'", where_);
}

std::vector<std::pair<std::int64_t, std::int64_t>> Call::pairs(int i) const {
  std::vector<std::pair<std::int64_t, std::int64_t>> list;
  if (!isSequence(given(i)))
    throw DTypeError(std::string("'") + name(i) + "' is a list of pairs, and not " + typeName(given(i)), where_);
  for (nb::handle each : nb::borrow<nb::object>(given(i))) {
    if (!isSequence(each.ptr()) || PySequence_Fast_GET_SIZE(each.ptr()) != 2)
      throw ValueError(std::string("'") + name(i) + "' has a pair of integers for each dimension", where_);
    list.emplace_back(integerOf(PySequence_Fast_GET_ITEM(each.ptr(), 0), name(i), where_),
                      integerOf(PySequence_Fast_GET_ITEM(each.ptr(), 1), name(i), where_));
  }
  return list;
}

std::pair<double, double> Call::interval(int i) const {
  if (!isSequence(given(i)) || PySequence_Fast_GET_SIZE(given(i)) != 2)
    throw ValueError(std::string("'") + name(i) + "' is a pair of numbers", where_);
  std::pair<double, double> pair(PyFloat_AsDouble(PySequence_Fast_GET_ITEM(given(i), 0)),
                                 PyFloat_AsDouble(PySequence_Fast_GET_ITEM(given(i), 1)));
  if (PyErr_Occurred())
    throw nb::python_error();
  return pair;
}

//===-- Results ---------------------------------------------------------------------------------===//

PyObject *resultOf(const std::vector<Tensor> &list) {
  nb::object made = nb::steal(PyList_New(static_cast<Py_ssize_t>(list.size())));
  for (std::size_t i = 0; i < list.size(); ++i)
    PyList_SET_ITEM(made.ptr(), static_cast<Py_ssize_t>(i), wrap(list[i]));
  return made.release().ptr();
}

PyObject *resultOf(PyObject *type, std::initializer_list<Tensor> fields) {
  nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(fields.size())));
  Py_ssize_t i = 0;
  for (const Tensor &field : fields)
    PyTuple_SET_ITEM(tuple.ptr(), i++, wrap(field));
  nb::object made = nb::steal(PyObject_Call(type, tuple.ptr(), nullptr));
  if (!made.is_valid())
    throw nb::python_error();
  return made.release().ptr();
}

PyObject *namedTuple(const char *name, std::initializer_list<const char *> fields) {
  nb::object module = nb::module_::import_("calque._native");
  if (!nb::hasattr(module, name)) {
    nb::list names;
    for (const char *field : fields)
      names.append(field);
    module.attr(name) =
        nb::module_::import_("collections").attr("namedtuple")(name, names, nb::arg("module") = "calque");
  }
  return nb::object(module.attr(name)).ptr(); // the module keeps it
}

//===-- Functions -------------------------------------------------------------------------------===//

namespace {

PyObject *callEntry(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names) {
  return guarded([&] {
    const auto &entry = *static_cast<const Entry *>(PyCapsule_GetPointer(self, nullptr));
    Call call(entry, arguments, count, names);
    return entry.call(call);
  });
}

} // namespace

void bindCalls(nb::module_ &m) {
  for (const Entry &entry : entries()) {
    nb::object module = m;
    if (*entry.module)
      module = nb::getattr(m, entry.module, nb::none());
    if (module.is_none())
      module = m.def_submodule(entry.module);
    // Python keeps a pointer to the definition as long as the function lives.
    auto *definition = new PyMethodDef{entry.name, reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(&callEntry)),
                                       METH_FASTCALL | METH_KEYWORDS, entry.doc};
    nb::object capsule = nb::steal(PyCapsule_New(const_cast<Entry *>(&entry), nullptr, nullptr));
    nb::object name = nb::str(*entry.module ? (std::string("calque.") + entry.module).c_str() : "calque");
    nb::object function = nb::steal(PyCFunction_NewEx(definition, capsule.ptr(), name.ptr()));
    module.attr(entry.name) = function;
    // x.exp() is exp(x), for each function whose first parameter is a tensor x.
    if (!*entry.module && !entry.parameters.empty() && std::string_view(entry.parameters[0]) == "x" &&
        entry.required > 0) {
      nb::object type = m.attr("Tensor");
      if (!nb::hasattr(type, entry.name))
        type.attr(entry.name) = nb::steal(PyInstanceMethod_New(function.ptr()));
    }
  }
}

} // namespace calque::python
