// Helpers of the training library, which includes the public headers alone, as a user's own library would.
#ifndef CALQUE_TRAINING_SUPPORT_H
#define CALQUE_TRAINING_SUPPORT_H

#include "calque/call_site.h"
#include "calque/tensor.h"

#include <cstdint>
#include <string>

namespace calque::training {

// "float32[2,3]".
inline std::string describe(DType dtype, const Shape &shape) { return name_of(dtype) + shape.str(); }

// Throws with the user's line: that of the call into the library, else `where`.
template <typename E> [[noreturn]] void fail(const std::string &message, SourceLocation where = {}) {
  throw E(message, CallSite::resolve(where));
}

// Whether both are integers, of which weights take either: Keras' counts are int32 or int64, by its backend.
inline bool areIntegers(DType a, DType b) { return is_integer(a) && is_integer(b); }

// How often a module of this process was made trainable, or not.
std::uint64_t trainableChanges();

} // namespace calque::training
#endif
