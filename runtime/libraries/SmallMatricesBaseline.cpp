// Small matrices on any CPU of the instruction set.
#define CALQUE_SMALL_TABLE kSmallBaseline
#include "runtime/libraries/SmallMatricesCode.h"
