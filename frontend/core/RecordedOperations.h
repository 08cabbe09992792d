// How much a thread has recorded: what its traces have cost so far, also those inside of operations and those that were
// given up.
#ifndef CALQUE_FRONTEND_CORE_RECORDEDOPERATIONS_H
#define CALQUE_FRONTEND_CORE_RECORDEDOPERATIONS_H

#include <cstddef>

namespace calque::detail {

// The number of operations that this thread has recorded in any trace.
std::size_t numRecordedOperations();

} // namespace calque::detail
#endif
