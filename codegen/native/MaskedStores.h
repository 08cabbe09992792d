// Mends what LLVM 22 makes of stores to one lane.
#ifndef CALQUE_CODEGEN_NATIVE_MASKEDSTORES_H
#define CALQUE_CODEGEN_NATIVE_MASKEDSTORES_H

#include "llvm/IR/Module.h"

namespace calque::codegen {

// Makes masked stores whose mask is known to have one lane stores of that lane's element.
//
// LLVM's x86 backend does that itself, but where a vector of wider numbers is truncated for the store it stores the
// wider number: of eight int64 that become int32, 8 bytes to the place of 4. What is stored behind the element is the
// bytes of a neighbour, or of nobody.
void storeSingleLanes(llvm::Module &module);

} // namespace calque::codegen
#endif
