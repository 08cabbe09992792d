// Fourier transforms on CPUs of the class avx2, for which Sources.cmake has this file compiled.
#if defined(__x86_64__)
#define CALQUE_FOURIER_BYTES 32
#include "runtime/libraries/FourierCode.h"

namespace calque::runtime {
extern constexpr FourierKernelTable kFourierAvx2 = fourierTable();
} // namespace calque::runtime
#endif
