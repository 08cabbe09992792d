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
  bool trainable = true; // tapes watch it when it is read
  // After each step, an optimiser assigns the result of this function to the variable, and passes it the variable's
  // value. Null: it assigns nothing.
  std::function<Tensor(const Tensor &)> constraint = {};
};

// A shared handle: copies are the same variable. One that was moved from, or made of a null pointer, is empty. Reads
// and assignments may come from several threads.
class CALQUE_API Variable {
public:
  // While tracing, a variable may be made in a function's first trace only (StateError later). Its initial value is
  // computed at once, not in each call: from the values that other variables have then, and random numbers are drawn
  // for it then. It must not depend on the function's arguments or on what the function has assigned (StateError).
  explicit Variable(const Operand &initial, VariableOptions options = {});
  // A template, so that 0 is a number and no null pointer.
  template <std::same_as<std::shared_ptr<detail::VariableState>> State>
  explicit Variable(State state) : state_(std::move(state)) {}
  template <std::same_as<std::nullptr_t> Nothing> explicit Variable(Nothing) {}
  Variable(const Variable &other) = default;
  Variable(Variable &&other) noexcept = default;
  // The handle is that of another variable from now on; assign() gives a variable another value.
  Variable &operator=(const Variable &other) & = default;
  Variable &operator=(Variable &&other) & noexcept = default;

  // StateError for an empty handle. All members but state() and same_as() throw it.
  const std::string &name(SourceLocation where = SourceLocation::current()) const;
  DType dtype(SourceLocation where = SourceLocation::current()) const;
  Shape shape(SourceLocation where = SourceLocation::current()) const;
  bool trainable(SourceLocation where = SourceLocation::current()) const;
  // Empty where there is none.
  const std::function<Tensor(const Tensor &)> &constraint(SourceLocation where = SourceLocation::current()) const;
  // Whether it stands for an argument of the function that is being traced.
  bool is_argument(SourceLocation where = SourceLocation::current()) const;

  // The value at this point of the program. A Variable is also taken wherever a Tensor is: `Tensor y = v`.
  Tensor value(SourceLocation where = SourceLocation::current()) const;
  // The value's number of dimensions and of elements.
  std::int64_t rank(SourceLocation where = SourceLocation::current()) const;
  std::int64_t size(SourceLocation where = SourceLocation::current()) const;
  // The value's elements, as of a Tensor.
  template <typename T> T item(SourceLocation where = SourceLocation::current()) const {
    return value(where).template item<T>(where);
  }
  template <typename T> std::vector<T> to_vector(SourceLocation where = SourceLocation::current()) const {
    return value(where).template to_vector<T>(where);
  }
  // They stay there until the variable is assigned.
  template <typename T> const T *data(SourceLocation where = SourceLocation::current()) const {
    return value(where).template data<T>(where);
  }
  // The value's entries along its first dimension, as of a Tensor: v[0], v[-1], v.rows(0, 2), `for (Tensor row : v)`.
  // The loop goes through the value that the variable has at the loop's begin.
  Tensor operator[](const Operand &i) const;
  Tensor rows(std::int64_t start, std::int64_t end, SourceLocation where = SourceLocation::current()) const;
  LoopIterator begin(SourceLocation where = SourceLocation::current()) const;
  std::default_sentinel_t end() const { return {}; }

  // "Variable([1. 2.], shape=[2], dtype=float32, name='w')".
  std::string repr() const;

  // Assigns a value of the same dtype and shape. DTypeError or ShapeError for any other, and the variable keeps its
  // value.
  void assign(const Operand &value);
  // Adds or subtracts a value atomically: no assignment of another thread comes between.
  void assign_add(const Operand &value);
  void assign_sub(const Operand &value);
  // Writes the updates to the slices along the first dimension at the indices, atomically: instead of what is there,
  // added to it, subtracted from it, or the larger or smaller of both. The updates are shaped like gather(v, indices),
  // and go one after the other: of equal indices all count, and the last one of scatter_update. Errors are those of
  // scatter_set(), scatter_add() and scatter_max(), and the variable keeps its value.
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

// Prints the value as a tensor's is printed, and no tape notes it as a read. While tracing, and for an argument of a
// traced function, prints the name and the type: <variable 'w' float32[3]>.
CALQUE_API std::ostream &operator<<(std::ostream &os, const Variable &x);

namespace detail {
// Called when a layer becomes a part of a model, which renames the layer's variables. No other thread uses the variable
// meanwhile.
CALQUE_API void rename(const Variable &x, std::string name);
} // namespace detail

// Makes a variable with a name.
inline Variable variable(std::string name, const Operand &initial, bool trainable = true) {
  return Variable(initial, {.name = std::move(name), .trainable = trainable});
}

} // namespace calque
#endif
