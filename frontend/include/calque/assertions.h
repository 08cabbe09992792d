// Assertions about tensors, in compiled code at every call. A call that fails leaves all variables as they were.
//
//   assert_greater(rate, 0, "the rate");
//   assert_shapes({{x, {"N", 3}}, {y, {"N"}}});  // as many rows as labels
//   Tensor y = check_numerics(log(x), "the log-likelihood");
//
// debug::enable_check_numerics() in debug.h checks every operation.
#ifndef CALQUE_ASSERTIONS_H
#define CALQUE_ASSERTIONS_H

#include "calque/tensor.h"

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace calque {

// AssertionError with the message unless all elements of a bool tensor hold.
CALQUE_API void assert_true(const Operand &condition, std::string message);

// AssertionError unless the relation holds of all elements of x and y, which broadcast. NaN is related to nothing. The
// message is appended, with the first elements that fail. ShapeError and DTypeError are those of the comparison.
CALQUE_API void assert_equal(const Operand &x, const Operand &y, const std::string &message = {});
CALQUE_API void assert_less(const Operand &x, const Operand &y, const std::string &message = {});
CALQUE_API void assert_less_equal(const Operand &x, const Operand &y, const std::string &message = {});
CALQUE_API void assert_greater(const Operand &x, const Operand &y, const std::string &message = {});
CALQUE_API void assert_greater_equal(const Operand &x, const Operand &y, const std::string &message = {});

// x. AssertionError if an element is NaN or infinite; the message is appended. DTypeError for other types than floats.
CALQUE_API Tensor check_numerics(const Operand &x, const std::string &message = {});

// ShapeError, while tracing, for another rank.
CALQUE_API void assert_rank(const Operand &x, std::int64_t rank, const std::string &message = {});

// A dimension that assert_shapes() expects: a size, or the name of one that is the same wherever the name stands.
// kDynamic is any size.
class ExpectedSize {
public:
  ExpectedSize(std::int64_t size) : value_(size) {}
  ExpectedSize(int size) : value_(std::int64_t(size)) {}
  ExpectedSize(const Size &size) : value_(size.is_known() ? std::int64_t(size) : std::int64_t(-1)) {}
  ExpectedSize(const char *name) : value_(std::string(name)) {}
  ExpectedSize(std::string name) : value_(std::move(name)) {}
  // Null for a size; -1 is any.
  const std::string *name() const { return std::get_if<std::string>(&value_); }
  std::int64_t size() const { return std::get<std::int64_t>(value_); }

private:
  std::variant<std::int64_t, std::string> value_;
};
// ShapeError, while tracing, for a tensor of another rank and for a known size that is another one; AssertionError for
// one that only the call knows.
CALQUE_API void assert_shapes(const std::vector<std::pair<Tensor, std::vector<ExpectedSize>>> &shapes,
                              SourceLocation where = SourceLocation::current());

} // namespace calque
#endif
