// Before LLVM's headers where a sanitizer watches addresses: LLVM's arenas poison what they have not given away yet,
// and Debian's LLVM, which is not instrumented, takes memory from the same arenas without saying so. An attribute of
// ours would have MLIR's next one reported as an error. Memory from the heap is watched as ever.
#ifndef CALQUE_CMAKE_PLAINALLOCATORS_H
#define CALQUE_CMAKE_PLAINALLOCATORS_H

#include "llvm/Support/Compiler.h"

#if LLVM_ADDRESS_SANITIZER_BUILD
#undef LLVM_ADDRESS_SANITIZER_BUILD
#define LLVM_ADDRESS_SANITIZER_BUILD 0
#define __asan_poison_memory_region(address, size)
#define __asan_unpoison_memory_region(address, size)
#endif

#endif
