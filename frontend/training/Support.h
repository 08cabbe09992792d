// Helpers of the training library, which includes the public headers alone, as a user's own library would.
#ifndef CALQUE_FRONTEND_TRAINING_SUPPORT_H
#define CALQUE_FRONTEND_TRAINING_SUPPORT_H

#include "calque/call_site.h"
#include "calque/tensor.h"

#include <string>

namespace calque::training {

// "[2,3]", as the messages of operations have it.
inline std::string describe(const Shape &shape) { return shape.str(); }

// "float32[2,3]".
inline std::string describe(DType dtype, const Shape &shape) { return name_of(dtype) + describe(shape); }

// A number as people write it: "0.9", not "0.900000".
std::string describe(double number);

// Throws with the user's line: that of the call into the library, else `where`.
template <typename E> [[noreturn]] void fail(const std::string &message, SourceLocation where = {}) {
  throw E(message, CallSite::resolve(where));
}

} // namespace calque::training
#endif
