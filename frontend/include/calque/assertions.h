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
#include <vector>

namespace calque {

// AssertionError with the message unless all elements of a bool tensor are true.
CALQUE_API void assert_true(const Operand &condition, std::string message);

// AssertionError unless the relation holds for all elements of x and y, which broadcast. No relation holds for NaN. The
// error contains the message and the first elements that fail. ShapeError and DTypeError are those of the comparison.
CALQUE_API void assert_equal(const Operand &x, const Operand &y, const std::string &message = {});
CALQUE_API void assert_less(const Operand &x, const Operand &y, const std::string &message = {});
CALQUE_API void assert_less_equal(const Operand &x, const Operand &y, const std::string &message = {});
CALQUE_API void assert_greater(const Operand &x, const Operand &y, const std::string &message = {});
CALQUE_API void assert_greater_equal(const Operand &x, const Operand &y, const std::string &message = {});

// Returns x. AssertionError, which ends with the message, if an element is NaN or infinite. DTypeError for types other
// than floats.
CALQUE_API Tensor check_numerics(const Operand &x, const std::string &message = {});

// ShapeError for another rank, already while tracing.
CALQUE_API void assert_rank(const Operand &x, std::int64_t rank, const std::string &message = {});

// A dimension that assert_shapes() expects: a size, or a name. All dimensions with one name have the same size.
// kDynamic is any size.
class ExpectedSize {
public:
  ExpectedSize(std::int64_t size) : size_(size) {}
  ExpectedSize(int size) : size_(size) {}
  ExpectedSize(const Size &size) : size_(size.is_known() ? std::int64_t(size) : std::int64_t(-1)) {}
  ExpectedSize(const char *name) : name_(name), isName_(true) {}
  ExpectedSize(std::string name) : name_(std::move(name)), isName_(true) {}
  // Null for a size. size() is -1 for any size.
  const std::string *name() const { return isName_ ? &name_ : nullptr; }
  std::int64_t size() const { return size_; }

private:
  std::int64_t size_ = 0;
  std::string name_;
  bool isName_ = false;
};
// ShapeError, already while tracing, for a tensor of another rank and for a known size that differs. AssertionError at
// the call for an unknown size that differs.
CALQUE_API void assert_shapes(const std::vector<std::pair<Tensor, std::vector<ExpectedSize>>> &shapes,
                              SourceLocation where = SourceLocation::current());

} // namespace calque
#endif
