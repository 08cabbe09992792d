// Fourier transforms on CPUs of the class avx512, for which Sources.cmake has this file compiled.
#if defined(__x86_64__)
#define CALQUE_FOURIER_BYTES 64
#include "runtime/libraries/FourierCode.h"

namespace calque::runtime {
extern constexpr FourierKernelTable kFourierAvx512 = fourierTable();
} // namespace calque::runtime
#endif
