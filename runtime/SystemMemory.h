// How much memory the system has left.
#ifndef CALQUE_RUNTIME_SYSTEMMEMORY_H
#define CALQUE_RUNTIME_SYSTEMMEMORY_H

#include <cstddef>

namespace calque::runtime {

// The bytes that may be written to without a process being ended for them: what the system says is available, with
// swap, and what the control group may take. The most there can be where neither is known. Takes some 30 us.
size_t availableMemory() noexcept;

} // namespace calque::runtime
#endif
