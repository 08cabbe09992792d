// The class Function: a Python callable that is traced once for each kind of arguments.
#ifndef CALQUE_PYTHON_FUNCTIONS_H
#define CALQUE_PYTHON_FUNCTIONS_H

#include "Trees.h"

#include <calque/function.h>
#include <calque/saved_functions.h>

#include <map>

namespace calque::python {
// Takes the place of a C++ signature in Function<Structures> and ConcreteFunction<Structures>: the handles by which
// save_functions() gets functions of Python.
struct Structures {};
} // namespace calque::python

namespace calque {
template <> class Function<python::Structures> {
public:
  struct State {
    std::shared_ptr<detail::FunctionCore> core;
  };
  const State *state_;
};
template <> class ConcreteFunction<python::Structures> {
public:
  std::shared_ptr<detail::ConcreteCore> core_;
};
} // namespace calque

namespace calque::python {

// Calls a Python callable. Exceptions are those of Python.
nb::object callPython(nb::handle f, nb::handle arguments, nb::handle names = {});

class PythonFunction {
public:
  PythonFunction(nb::object callable, FunctionOptions options, SourceLocation where)
      : callable(std::move(callable)), options(std::move(options)), where(where) {}

  // Takes the arguments of a call apart. Arguments by name get their positions.
  Flat take(nb::handle arguments, nb::handle names, SourceLocation line);
  nb::object call(const Flat &flat, SourceLocation line);
  nb::object run(const Flat &flat, std::span<const Tensor> tensors, std::span<const Variable> variables) const;
  detail::FunctionCore &coreOf(const Flat &flat) { return *shareCore(flat); }
  const std::shared_ptr<detail::FunctionCore> &shareCore(const Flat &flat);

  nb::object callable;
  const FunctionOptions options;
  const SourceLocation where;
  // Arguments of another structure are another C++ signature, and have traces of their own.
  std::map<std::string, std::shared_ptr<detail::FunctionCore>, std::less<>> cores;
};

struct PythonConcrete {
  std::shared_ptr<detail::ConcreteCore> core;
  nb::object function; // the Function
  Flat structure;      // of the arguments, with the host values that are bound
};

// What a call is traced by.
struct CallInProgress {
  const PythonFunction &function;
  const Flat &flat;
  const SourceLocation &where;
  detail::CallBody body() { return {this, &trace, &describe}; }
  static void trace(void *context, std::span<const Tensor> tensors, std::span<const Variable> variables,
                    detail::Results &results);
  static void describe(void *context, const std::vector<std::string> &names, detail::SignatureBuilder &builder);
};

FunctionOptions optionsFrom(nb::handle name, nb::handle names, nb::handle signature, bool reduce, std::size_t most,
                            SourceLocation where);

} // namespace calque::python
#endif
