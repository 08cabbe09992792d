// Small matrices on any CPU of the instruction set.
#include "runtime/libraries/SmallMatricesCode.h"

namespace calque::runtime {
extern constexpr SmallKernelTable kSmallBaseline = kernelTable();
} // namespace calque::runtime
