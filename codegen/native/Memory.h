// The end of memory within the compiler.
//
//   if (!withinMemory([&] { compile(program); }))
//     ... // it has no result, and what it has used must not be used again
//
// LLVM and this library are compiled without exceptions, and some of LLVM's frames can't be unwound. Where an
// allocation fails, withinMemory() returns at once: the frames above it are left as they stand, with objects half made,
// locks locked and memory that nobody frees.
#ifndef CALQUE_CODEGEN_NATIVE_MEMORY_H
#define CALQUE_CODEGEN_NATIVE_MEMORY_H

#include "llvm/ADT/STLFunctionalExtras.h"

namespace calque::codegen {

// Has LLVM and the operator new of the process call what leaves withinMemory(). On threads that are not within it,
// operator new does what it did before.
void leaveForMemory();
// Throws std::bad_alloc.
[[noreturn]] void failForMemory();

// Calls a function. False where memory has run out in it.
bool withinMemory(llvm::function_ref<void()> run);

// While an object lives, its thread is in code that cleans up after std::bad_alloc, and catches it.
class OutsideCompiler {
public:
  OutsideCompiler();
  ~OutsideCompiler();
  OutsideCompiler(const OutsideCompiler &) = delete;
  OutsideCompiler &operator=(const OutsideCompiler &) = delete;

private:
  void *suspended;
};

} // namespace calque::codegen
#endif
