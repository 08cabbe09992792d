// Counts compilations for tests and tools, because compilations take most of the time.
#ifndef CALQUE_FRONTEND_COMPILED_COMPILATIONCOUNT_H
#define CALQUE_FRONTEND_COMPILED_COMPILATIONCOUNT_H

#include "calque/export.h"

#include <cstdint>

namespace calque::detail {

// The number of compilations so far, of all threads.
CALQUE_API std::uint64_t compilationCount();

} // namespace calque::detail
#endif
