// The memory that gradients keep of the iterations of loops.
//
//   set_loop_memory(std::size_t(2) << 30); // 2 GiB
//
// Reverse mode keeps values of each iteration of a loop. Where these would take more than a limit in a call, the call
// stops before it has changed a variable, and is repeated with a checkpoint around the iterations (WhileOptions): the
// program is compiled once more, and stays so in this process. A warning says how many bytes were kept, and the limit.
// A call that has printed, called the host or communicated can't be repeated, and goes on beyond the limit; so does a
// loop whose variables change their sizes, as it can't have a checkpoint. A warning says so.
#ifndef CALQUE_LOOP_MEMORY_H
#define CALQUE_LOOP_MEMORY_H

#include "calque/export.h"

#include <cstddef>

namespace calque {

// Sets the limit for calls that begin from now on, in bytes. 0 sets the default: that of CALQUE_LOOP_MEMORY, a number
// of bytes with K, M, G or T for powers of 1,024, or "off" for no limit; else a quarter of the memory of the machine,
// or of the control group of the process if that may take less.
CALQUE_API void set_loop_memory(std::size_t bytes);
// The largest number if there is no limit. ValueError for an environment that is invalid.
CALQUE_API std::size_t loop_memory();

} // namespace calque
#endif
