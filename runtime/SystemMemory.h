// How much memory the system has left.
#ifndef CALQUE_RUNTIME_SYSTEMMEMORY_H
#define CALQUE_RUNTIME_SYSTEMMEMORY_H

#include <cstddef>

namespace calque::runtime {

// The bytes that the process may write without being ended for it: the smaller of what the system says is available,
// with swap, and what the control group may still take. The largest number if neither is known. Takes some 30 us.
size_t availableMemory() noexcept;

} // namespace calque::runtime
#endif
