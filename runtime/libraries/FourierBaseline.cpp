// Fourier transforms on any CPU of the instruction set.
#define CALQUE_FOURIER_BYTES 16
#include "runtime/libraries/FourierCode.h"

namespace calque::runtime {
extern constexpr FourierKernelTable kFourierBaseline = fourierTable();
} // namespace calque::runtime
