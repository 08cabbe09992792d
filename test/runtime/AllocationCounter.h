// Counts what the whole test program asks of `operator new`, on all threads.
//
//   size_t before = allocationCount();
//   ...
//   EXPECT_EQ(allocationCount(), before);
#ifndef CALQUE_TEST_RUNTIME_ALLOCATIONCOUNTER_H
#define CALQUE_TEST_RUNTIME_ALLOCATIONCOUNTER_H

#include <cstddef>

namespace calque::test {
size_t allocationCount();
} // namespace calque::test
#endif
