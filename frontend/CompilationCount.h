// For tests and tools: what is compiled is what takes time.
#ifndef CALQUE_FRONTEND_COMPILATIONCOUNT_H
#define CALQUE_FRONTEND_COMPILATIONCOUNT_H

#include "calque/export.h"

#include <cstdint>

namespace calque::detail {

// How often the compiler was asked, by any thread.
CALQUE_API std::uint64_t compilationCount();

} // namespace calque::detail
#endif
