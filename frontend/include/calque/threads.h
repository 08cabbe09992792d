// The number of threads that operations and functions use.
//
//   set_num_threads(2); // from the next loop on
#ifndef CALQUE_THREADS_H
#define CALQUE_THREADS_H

#include "calque/export.h"

namespace calque {

// The largest number of threads that a loop of compiled code uses, including the calling thread. Results don't depend
// on it. A count below 1 sets the default: CALQUE_NUM_THREADS, else OMP_NUM_THREADS, else the number of hardware
// threads.
CALQUE_API void set_num_threads(int count);
CALQUE_API int num_threads();

} // namespace calque
#endif
