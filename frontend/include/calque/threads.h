// How many threads operations and functions run on.
//
//   set_num_threads(2); // from the next loop on
#ifndef CALQUE_THREADS_H
#define CALQUE_THREADS_H

#include "calque/export.h"

namespace calque {

// How many threads a loop of compiled code may use, the calling one among them; results don't depend on it. Less than 1
// means the default: CALQUE_NUM_THREADS, else OMP_NUM_THREADS, else the number of hardware threads.
CALQUE_API void set_num_threads(int count);
CALQUE_API int num_threads();

} // namespace calque
#endif
