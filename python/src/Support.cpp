#include "Support.h"

#include <calque/callable.h>
#include <calque/warnings.h>

#include <atomic>
#include <mutex>
#include <new>

namespace calque::python {

//===-- Lines -----------------------------------------------------------------------------------===//

namespace {

// What is known of a code object. Python frees it with the code object.
struct CodeLines {
  bool isOurs = false;
  const char *file = "";
  std::vector<unsigned> lines; // of each instruction, 0 before the first question
};
void freeLines(void *lines) { delete static_cast<CodeLines *>(lines); }

#if PY_VERSION_HEX >= 0x030C0000
Py_ssize_t requestIndex() { return PyUnstable_Eval_RequestCodeExtraIndex(&freeLines); }
int getExtra(PyObject *code, Py_ssize_t index, void **extra) { return PyUnstable_Code_GetExtra(code, index, extra); }
int setExtra(PyObject *code, Py_ssize_t index, void *extra) { return PyUnstable_Code_SetExtra(code, index, extra); }
#else
Py_ssize_t requestIndex() { return _PyEval_RequestCodeExtraIndex(&freeLines); }
int getExtra(PyObject *code, Py_ssize_t index, void **extra) { return _PyCode_GetExtra(code, index, extra); }
int setExtra(PyObject *code, Py_ssize_t index, void *extra) { return _PyCode_SetExtra(code, index, extra); }
#endif

std::string &packageFolder() {
  static auto *folder = new std::string;
  return *folder;
}

CodeLines *linesOf(PyCodeObject *code) {
  static const Py_ssize_t index = requestIndex();
  void *extra = nullptr;
  auto *object = reinterpret_cast<PyObject *>(code);
  if (index < 0 || getExtra(object, index, &extra) != 0) {
    PyErr_Clear();
    return nullptr;
  }
  if (!extra) {
    auto lines = std::make_unique<CodeLines>();
    if (const char *file = PyUnicode_AsUTF8(code->co_filename)) {
      const std::string &folder = packageFolder();
      lines->isOurs = !folder.empty() && std::string(file).starts_with(folder);
      lines->file = detail::interned(file);
    } else {
      PyErr_Clear();
    }
    if (setExtra(object, index, lines.get()) != 0) {
      PyErr_Clear();
      return nullptr;
    }
    extra = lines.release();
  }
  return static_cast<CodeLines *>(extra);
}

} // namespace

void setPackageFolder(const std::string &folder) { packageFolder() = folder; }

SourceLocation here() {
  PyFrameObject *frame = PyEval_GetFrame();
  nb::object holder; // of a frame further out
  while (frame) {
    PyCodeObject *code = PyFrame_GetCode(frame);
    CodeLines *lines = linesOf(code);
    Py_DECREF(code);
    if (!lines)
      return {};
    if (!lines->isOurs) {
      const int at = PyFrame_GetLasti(frame) / static_cast<int>(sizeof(_Py_CODEUNIT));
      if (at < 0)
        return SourceLocation::at(lines->file, static_cast<unsigned>(PyFrame_GetLineNumber(frame)));
      if (static_cast<std::size_t>(at) >= lines->lines.size())
        lines->lines.resize(static_cast<std::size_t>(at) + 1);
      unsigned &line = lines->lines[static_cast<std::size_t>(at)];
      if (line == 0)
        line = static_cast<unsigned>(PyFrame_GetLineNumber(frame));
      return SourceLocation::at(lines->file, line);
    }
    PyFrameObject *back = PyFrame_GetBack(frame);
    holder = nb::steal(reinterpret_cast<PyObject *>(back));
    frame = back;
  }
  return {};
}

//===-- Errors ----------------------------------------------------------------------------------===//

namespace {
// The classes live as long as the module, which has them as attributes; these are references that are not counted.
struct ErrorClass {
  const char *name;
  const char *base; // a built-in class that Python code may expect, or null
  const char *doc;
  PyObject *object = nullptr;
};
ErrorClass base{"Error", nullptr,
                "The base of all errors of Calque. `file` and `line` are the user's, or empty and 0."};
ErrorClass classes[] = {
    {"ShapeError", "ValueError", "Shapes that don't fit."},
    {"DTypeError", "TypeError", "Element types that don't fit."},
    {"ValueError", "ValueError", "An attribute or host value that is out of range."},
    {"IndexError", "IndexError", "An index in a tensor that is out of range."},
    {"DivisionError", "ZeroDivisionError", "An integer divided by zero."},
    {"LinAlgError", "ValueError", "A matrix that has no such factors or inverse."},
    {"AssertionError", "AssertionError", "A failed assert_true or check."},
    {"LeakedTensorError", nullptr, "A traced tensor outside of its trace."},
    {"SignatureError", "TypeError", "Arguments that a function does not take."},
    {"LookupError", "LookupError", "A name that nothing has, a gradient that is not registered."},
    {"StateError", "RuntimeError", "Misuse, such as a second use of a tape."},
    {"DataError", "OSError", "A file that is missing or does not hold what it should."},
    {"RecursionError", "RecursionError", "A function that calls itself without end."},
    {"MemoryError", "MemoryError", "Memory that the system does not have."},
    {"CompileError", "RuntimeError", "A program that can't be compiled, or no compiler."},
    {"InternalError", "RuntimeError", "A fault of Calque."},
};
PyObject *classOf(const char *category) {
  for (const ErrorClass &each : classes)
    if (std::string_view(each.name) == category)
      return each.object;
  return base.object;
}
PyObject *warningClass = nullptr; // the module owns it

// Calque's warnings are Python's, at the user's line. Where warnings are errors, they reach the caller.
void warnPython(const Warning &warning) {
  if (!Py_IsInitialized())
    return;
  nb::gil_scoped_acquire lock;
  const bool known = warning.location.line != 0;
  if (PyErr_WarnExplicit(warningClass, warning.message.c_str(), known ? warning.location.file : "calque",
                         static_cast<int>(warning.location.line), nullptr, nullptr) != 0)
    throw nb::python_error();
}
} // namespace

void bindErrors(nb::module_ &m) {
  auto make = [&](ErrorClass &error, nb::object bases) {
    nb::object made = nb::steal(
        PyErr_NewExceptionWithDoc((std::string("calque.") + error.name).c_str(), error.doc, bases.ptr(), nullptr));
    if (!made.is_valid())
      throw nb::python_error();
    error.object = made.ptr();
    m.attr(error.name) = made;
  };
  make(base, nb::borrow(PyExc_Exception));
  nb::object builtins = nb::module_::import_("builtins");
  for (ErrorClass &error : classes) {
    if (error.base)
      make(error, nb::make_tuple(nb::borrow(base.object), builtins.attr(error.base)));
    else
      make(error, nb::borrow(base.object));
  }
  nb::object warning = nb::steal(PyErr_NewExceptionWithDoc("calque.Warning",
                                                           "A probable mistake, such as a function that is traced "
                                                           "again and again.",
                                                           PyExc_UserWarning, nullptr));
  warningClass = warning.ptr();
  m.attr("Warning") = warning;
  set_warning_handler(&warnPython);
  nb::register_exception_translator([](const std::exception_ptr &pointer, void *) {
    try {
      std::rethrow_exception(pointer);
    } catch (const Error &) {
      setError();
    }
  });
}

void setError() noexcept {
  try {
    throw;
  } catch (nb::python_error &error) {
    error.restore();
  } catch (const Error &error) {
    try {
      nb::object made = nb::borrow(classOf(error.category()))(error.what());
      made.attr("file") = error.location().file;
      made.attr("line") = error.location().line;
      PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(made.ptr())), made.ptr());
    } catch (nb::python_error &second) {
      second.restore();
    }
  } catch (const std::bad_alloc &) {
    PyErr_NoMemory();
  } catch (const nb::builtin_exception &error) {
    PyErr_SetString(PyExc_TypeError, error.what());
  } catch (const std::exception &error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  } catch (...) {
    PyErr_SetString(PyExc_RuntimeError, "an exception of unknown type");
  }
}

//===-- Objects that C++ keeps ------------------------------------------------------------------===//

namespace {
struct Release {
  void (*release)(void *);
  void *context;
};
struct Pending {
  std::mutex mutex;
  std::vector<Release> list;
  std::atomic<bool> any{false};
};
Pending &pending() {
  static auto *made = new Pending; // never destroyed: threads may end later
  return *made;
}
int releasePending(void *) {
  std::vector<Release> list;
  {
    std::lock_guard guard(pending().mutex);
    list.swap(pending().list);
    pending().any = false;
  }
  for (const Release &each : list)
    each.release(each.context);
  return 0;
}
} // namespace

void releaseLater(void (*release)(void *), void *context) {
  if (!Py_IsInitialized())
    return; // the memory goes with the process
  if (PyGILState_Check()) {
    release(context);
    // Python's main thread may wait for others, and run no pending calls.
    if (pending().any.load(std::memory_order_relaxed))
      releasePending(nullptr);
    return;
  }
  {
    std::lock_guard guard(pending().mutex);
    pending().list.push_back({release, context});
    pending().any = true;
  }
  Py_AddPendingCall(&releasePending, nullptr); // if its queue is full, a call in the queue empties the list
}

std::shared_ptr<PyObject> kept(nb::object object) {
  return {object.release().ptr(), [](PyObject *last) {
            releaseLater([](void *context) { Py_DECREF(static_cast<PyObject *>(context)); }, last);
          }};
}

} // namespace calque::python
