// For libraries on top of Calque: code that reads variables of floats in another type.
//
//   AutoCast reads(DType::BFloat16);
//   Tensor y = matmul(x, w); // x is bfloat16; w keeps float32, and is read as bfloat16
#ifndef CALQUE_AUTO_CAST_H
#define CALQUE_AUTO_CAST_H

#include "calque/dtype.h"
#include "calque/export.h"
#include "calque/source_location.h"

#include <memory>
#include <optional>

namespace calque {

namespace detail {
class ModeScope;
}

// While an AutoCast lives, this thread reads variables as this type where they stand for a tensor: matmul(x, w), w + 1,
// Tensor(w). Gradients with respect to the variable have the variable's type. Variables that have no floats stay as
// they are, and so do the members of Variable: w.value(), w.dtype(), w.assign(). The innermost AutoCast counts, and one
// of no type ends those around it. Functions that are called meanwhile are traced for the type. DTypeError for a type
// that is not floating-point.
class CALQUE_API AutoCast {
public:
  explicit AutoCast(std::optional<DType> dtype, SourceLocation where = SourceLocation::current());
  ~AutoCast();
  AutoCast(const AutoCast &) = delete;
  AutoCast &operator=(const AutoCast &) = delete;

private:
  std::optional<DType> before;
  std::unique_ptr<detail::ModeScope> ended, begun; // of the keys of functions
};

} // namespace calque
#endif
