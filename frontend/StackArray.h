// An array whose elements are on the stack if they are few.
#ifndef CALQUE_FRONTEND_STACKARRAY_H
#define CALQUE_FRONTEND_STACKARRAY_H

#include "calque/small_vector.h"

namespace calque::detail {

template <typename T, std::size_t N> using StackArray = SmallVector<T, N>;

} // namespace calque::detail
#endif
