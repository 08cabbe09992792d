// Small matrices on CPUs of the class avx512, for which Sources.cmake has this file compiled.
#if defined(__x86_64__)
#define CALQUE_SMALL_TABLE kSmallAvx512
#include "runtime/libraries/SmallMatricesCode.h"
#endif
