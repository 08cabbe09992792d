// Structures of Python objects: nested lists, tuples, dicts and named tuples of tensors, variables, numbers and texts,
// as the arguments and results of functions. calque/structure.h has the C++ ones: a list is visited as a std::vector, a
// tuple as a std::tuple, a dict as a std::map, None as an empty std::optional, and a number or text as a host value. So
// a saved function may be called from either language.
#ifndef CALQUE_PYTHON_TREES_H
#define CALQUE_PYTHON_TREES_H

#include "Support.h"

#include <calque/arguments.h>
#include <calque/control_flow.h>
#include <calque/tensor_spec.h>

#include <cstring>

namespace calque::python {

// A structure that was taken apart. `code` says how it was put together, a letter for each part; it holds no Python
// object, so that traces may keep it.
struct Flat {
  std::string code;
  std::vector<Tensor> tensors;
  std::vector<Variable> variables;
  std::vector<std::uint64_t> hosts;
  std::vector<std::string> texts; // of host values, and the keys of dicts
};

enum class Leaves {
  Arguments, // numbers are host values; arrays become tensors; TensorSpecs stand for tensors
  Results,   // the same without specs
  Tensors,   // numbers become scalars
};
// Appends an object. `what` is what messages call it. DTypeError for objects that are no part of a structure.
void flatten(PyObject *object, Flat &into, Leaves leaves, const char *what, SourceLocation where);
inline Flat flattened(PyObject *object, Leaves leaves, const char *what, SourceLocation where) {
  Flat made;
  flatten(object, made, leaves, what, where);
  return made;
}

// Puts objects together: each call of next() takes the next one of the structure.
class Unflattener {
public:
  Unflattener(const Flat &structure, std::span<const Tensor> tensors, std::span<const Variable> variables)
      : structure_(structure), tensors_(tensors), variables_(variables) {}
  nb::object next();
  bool done() const { return code_ == structure_.code.size(); }
  bool atNames() {
    const bool found = !done() && structure_.code[code_] == '=';
    code_ += found;
    return found;
  }

private:
  const Flat &structure_;
  std::span<const Tensor> tensors_;
  std::span<const Variable> variables_;
  std::size_t code_ = 0, tensor_ = 0, variable_ = 0, host_ = 0, text_ = 0;
};
inline nb::object unflattened(const Flat &structure, std::span<const Tensor> tensors) {
  return Unflattener(structure, tensors, structure.variables).next();
}
// "(tensor, [tensor, tensor])", for messages.
std::string described(const Flat &structure);

// A count in a code.
inline std::uint32_t countAt(const std::string &code, std::size_t at) {
  std::uint32_t count = 0;
  std::memcpy(&count, code.data() + at, sizeof(count));
  return count;
}

// Passes the parts of a structure to a visitor, as visit_structure does.
template <typename V> class Visit {
public:
  Visit(const Flat &flat, V &visitor) : flat_(flat), visitor_(visitor) {}
  bool done() const { return code_ == flat_.code.size(); }
  // Whether the arguments with names follow, as a dict. The mark is passed over.
  bool atNames() {
    const bool found = !done() && flat_.code[code_] == '=';
    code_ += found;
    return found;
  }
  // Visits the next part with all that is in it.
  void next() {
    switch (flat_.code[code_++]) {
    case 'T':
      part(Tensor(), [&] { visitor_.tensor(flat_.tensors[tensor_++]); });
      break;
    case 'V':
      part(Tensor(), [&] { visitor_.variable(flat_.variables[variable_++]); });
      break;
    case 'N':
      part(Tensor(), [&] { visitor_.count(0); });
      break;
    case 'b':
      host(flat_.hosts[host_] != 0);
      break;
    case 'i':
      host(static_cast<std::int64_t>(flat_.hosts[host_]));
      break;
    case 'f': {
      double value = 0;
      std::memcpy(&value, &flat_.hosts[host_], sizeof(value));
      host(value);
      break;
    }
    case 's':
      part(flat_.texts[text_], [&] { visitor_.text(flat_.texts[text_]); });
      ++text_;
      break;
    case '(':
      part(Tensor(), [&] { repeat(count()); });
      break;
    case '<':
      code_ += sizeof(std::uint32_t); // the type
      part(Tensor(), [&] { repeat(count()); });
      break;
    case '[':
      part(Tensor(), [&] {
        const std::uint32_t n = count();
        visitor_.count(n);
        repeat(n);
      });
      break;
    default: // '{'
      part(Tensor(), [&] {
        const std::uint32_t n = count();
        visitor_.count(n);
        for (std::uint32_t i = 0; i < n; ++i) {
          const std::string &key = flat_.texts[text_++];
          code_ = flat_.code.find(':', code_) + 1 + key.size();
          visitor_.text(key);
          next();
        }
      });
    }
  }

private:
  std::uint32_t count() {
    const std::uint32_t n = countAt(flat_.code, code_);
    code_ += sizeof(n);
    return n;
  }
  void repeat(std::uint32_t n) {
    for (std::uint32_t i = 0; i < n; ++i)
      next();
  }
  template <typename T> void host(T value) {
    part(value, [&] { visitor_.host(flat_.hosts[host_]); });
    ++host_;
  }
  // `like` has the type that messages show.
  template <typename T, typename F> void part(const T &like, F visit) {
    if constexpr (requires { visitor_.enter(like); }) {
      visitor_.enter(like);
      visit();
      visitor_.leave();
    } else {
      visit();
    }
  }

  const Flat &flat_;
  V &visitor_;
  std::size_t code_ = 0, tensor_ = 0, variable_ = 0, host_ = 0, text_ = 0;
};
template <typename V> void visit(const Flat &flat, V &visitor) {
  Visit<V> parts(flat, visitor);
  while (!parts.done()) {
    parts.atNames();
    parts.next();
  }
}
inline detail::Produced producedBy(const Flat &flat) {
  detail::ProducedCollector collector;
  visit(flat, collector);
  return collector;
}

// TensorSpec in Python, and the specs of an input signature.
TensorSpec<> specOf(PyObject *object, SourceLocation where);
bool isSpec(PyObject *object);
nb::object specObject(const TensorSpec<> &spec);
void bindTrees(nb::module_ &m);

} // namespace calque::python
#endif
