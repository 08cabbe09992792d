// Helpers of the solvers, which include the public headers alone, as a user's own library would.
#ifndef CALQUE_SOLVERS_COMMON_H
#define CALQUE_SOLVERS_COMMON_H

#include "calque/call_site.h"
#include "calque/functions.h"
#include "calque/tensor.h"

#include <string>
#include <vector>

namespace calque::solvers {

// "float32[2,3]".
inline std::string describe(DType dtype, const Shape &shape) { return name_of(dtype) + shape.str(); }
inline std::string describe(const Tensor &x) { return describe(x.dtype(), x.shape()); }

// Throws with the user's line: that of the call into the library, else `where`.
template <typename E> [[noreturn]] void fail(const std::string &message, SourceLocation where = {}) {
  throw E(message, CallSite::resolve(where));
}

// A scalar of a float type, which double does not choose: literals are float32.
inline Tensor number(double value, DType dtype) { return full({}, value, dtype); }

// The distance between 1 and the next number of a float type.
inline double epsilon(DType dtype) { return dtype == DType::Float32 ? 1.1920928955078125e-07 : 2.220446049250313e-16; }
// The least normal number.
inline double tiny(DType dtype) { return dtype == DType::Float32 ? 1.17549435e-38 : 2.2250738585072014e-308; }

} // namespace calque::solvers
#endif
