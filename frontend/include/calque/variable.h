// Variables: named tensors that can be assigned new values of the same type.
//
//   Variable w(zeros({10}), {.name = "w"});
//   w.assign_add(1);
//   Tensor y = x * w; // its value at this point of the program
#ifndef CALQUE_VARIABLE_H
#define CALQUE_VARIABLE_H

#include "calque/tensor.h"

#include <concepts>
#include <cstddef>
#include <functional>
#include <string>

namespace calque {

namespace detail {
struct VariableState;
}

struct VariableOptions {
  std::string name = "Variable";
  bool trainable = true; // a tape watches the variable when it is read
  // After each step, an optimiser calls this function with the variable's value, and assigns the result to the
  // variable. Null: no constraint.
  std::function<Tensor(const Tensor &)> constraint = {};
};

// A shared handle: copies are the same variable. A handle that was moved from, or made of a null pointer, is empty.
// Several threads may read and assign a variable.
class CALQUE_API Variable {
public:
  // While tracing, a variable may be made in a function's first trace only (else StateError). Its initial value is
  // computed once, while tracing: from the values that other variables have then, and with random numbers that are
  // drawn then. The initial value must not depend on the function's arguments or on values that the function has
  // assigned (else StateError).
  explicit Variable(const Operand &initial, VariableOptions options = {});
  // A template, so that 0 is a number and not a null pointer.
  template <std::same_as<std::shared_ptr<detail::VariableState>> State>
  explicit Variable(State state) : state_(std::move(state)) {}
  template <std::same_as<std::nullptr_t> Nothing> explicit Variable(Nothing) {}
  Variable(const Variable &other) = default;
  Variable(Variable &&other) noexcept = default;
  // Makes the handle refer to another variable. assign() gives a variable another value.
  Variable &operator=(const Variable &other) & = default;
  Variable &operator=(Variable &&other) & noexcept = default;

  // All members but state() and same_as() throw a StateError for an empty handle.
  const std::string &name(SourceLocation where = SourceLocation::current()) const;
  DType dtype(SourceLocation where = SourceLocation::current()) const;
  Shape shape(SourceLocation where = SourceLocation::current()) const;
  bool trainable(SourceLocation where = SourceLocation::current()) const;
  // Empty if the variable has no constraint.
  const std::function<Tensor(const Tensor &)> &constraint(SourceLocation where = SourceLocation::current()) const;
  // Whether the variable stands for an argument of the function that is being traced.
  bool is_argument(SourceLocation where = SourceLocation::current()) const;

  // The value at this point of the program. A Variable also converts to a Tensor: `Tensor y = v`.
  Tensor value(SourceLocation where = SourceLocation::current()) const;
  // The value's number of dimensions, and its number of elements.
  std::int64_t rank(SourceLocation where = SourceLocation::current()) const;
  std::int64_t size(SourceLocation where = SourceLocation::current()) const;
  // The value's elements, as of a Tensor.
  template <typename T> T item(SourceLocation where = SourceLocation::current()) const {
    return value(where).template item<T>(where);
  }
  template <typename T> std::vector<T> to_vector(SourceLocation where = SourceLocation::current()) const {
    return value(where).template to_vector<T>(where);
  }
  // The pointer is valid until the variable is assigned.
  template <typename T> const T *data(SourceLocation where = SourceLocation::current()) const {
    return value(where).template data<T>(where);
  }
  // The value's entries along its first dimension, as of a Tensor: v[0], v[-1], v.rows(0, 2), `for (Tensor row : v)`.
  // The loop iterates over the value that the variable has at the beginning of the loop.
  Tensor operator[](const Operand &i) const;
  Tensor rows(std::int64_t start, std::int64_t end, SourceLocation where = SourceLocation::current()) const;
  LoopIterator begin(SourceLocation where = SourceLocation::current()) const;
  std::default_sentinel_t end() const { return {}; }

  // "Variable([1. 2.], shape=[2], dtype=float32, name='w')".
  std::string repr() const;

  // Assigns a value of the same dtype and shape. DTypeError or ShapeError for any other value; the variable then keeps
  // its value.
  void assign(const Operand &value);
  // Adds or subtracts a value atomically: no assignment of another thread comes between.
  void assign_add(const Operand &value);
  void assign_sub(const Operand &value);
  // Write updates to the slices at the indices along the first dimension, atomically. The updates replace the elements,
  // are added to them, are subtracted from them, or replace the elements that are smaller (scatter_max) or larger
  // (scatter_min). The updates have the shape of gather(v, indices), and are written one after the other. Of equal
  // indices all updates count; for scatter_update, the last one counts. Errors are those of scatter_set(),
  // scatter_add() and scatter_max(); the variable then keeps its value.
  void scatter_update(const Operand &indices, const Operand &updates);
  void scatter_add(const Operand &indices, const Operand &updates);
  void scatter_sub(const Operand &indices, const Operand &updates);
  void scatter_max(const Operand &indices, const Operand &updates);
  void scatter_min(const Operand &indices, const Operand &updates);

  const std::shared_ptr<detail::VariableState> &state() const noexcept { return state_; }
  // Whether two handles are the same variable.
  bool same_as(const Variable &other) const noexcept { return state_ == other.state_; }

private:
  std::shared_ptr<detail::VariableState> state_;
};

// Prints the value as a tensor is printed. A tape does not count this as a read of the variable. While tracing, and for
// an argument of a traced function, prints the name and the type: <variable 'w' float32[3]>.
CALQUE_API std::ostream &operator<<(std::ostream &os, const Variable &x);

namespace detail {
// Called when a layer becomes a part of a model, because the model renames the layer's variables. No other thread may
// use the variable meanwhile.
CALQUE_API void rename(const Variable &x, std::string name);
} // namespace detail

// Makes a variable with a name.
inline Variable variable(std::string name, const Operand &initial, bool trainable = true) {
  return Variable(initial, {.name = std::move(name), .trainable = trainable});
}

} // namespace calque
#endif
