// Small matrices on CPUs of the class avx512, for which Sources.cmake has this file compiled.
#if defined(__x86_64__)
#include "runtime/libraries/SmallMatricesCode.h"

namespace calque::runtime {
extern constexpr SmallKernelTable kSmallAvx512 = kernelTable();
} // namespace calque::runtime
#endif
