// Options of solvers that are a number or a tensor, or are left out.
#ifndef CALQUE_SOLVERS_VALUES_H
#define CALQUE_SOLVERS_VALUES_H

#include "calque/tensor.h"

#include <optional>

namespace calque::solvers {

// A number or a tensor with the user's line, or nothing. A number gets the element type of the problem.
class OptionalValue {
public:
  OptionalValue() = default;
  template <typename T>
    requires std::is_arithmetic_v<T>
  OptionalValue(T number, SourceLocation where = SourceLocation::current())
      : value_(Operand(number, where)), number_(static_cast<double>(number)) {}
  OptionalValue(const Tensor &x, SourceLocation where = SourceLocation::current()) : value_(Operand(x, where)) {}
  OptionalValue(const Variable &x, SourceLocation where = SourceLocation::current()) : value_(Operand(x, where)) {}

  explicit operator bool() const { return value_.has_value(); }
  const Operand &operator*() const { return *value_; }
  // The number, if it is one.
  const std::optional<double> &number() const { return number_; }

private:
  std::optional<Operand> value_;
  std::optional<double> number_;
};

} // namespace calque::solvers
#endif
