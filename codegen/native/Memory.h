// What happens when memory runs out within the compiler.
//
//   if (!withinMemory([&] { compile(program); }))
//     ... // it has no result, and what it has used must not be used again
//
// LLVM and this library are compiled without exceptions, and some of LLVM's frames can't be unwound. If an allocation
// fails, withinMemory() returns at once. The frames of the functions that it has called are abandoned, with objects
// half made, locks locked and memory that nobody frees.
#ifndef CALQUE_CODEGEN_NATIVE_MEMORY_H
#define CALQUE_CODEGEN_NATIVE_MEMORY_H

#include "llvm/ADT/STLFunctionalExtras.h"

namespace calque::codegen {

// Installs handlers that leave withinMemory() when an allocation of LLVM or of the process's operator new fails. On
// threads that are not within it, operator new does what it did before.
void leaveForMemory();
// Throws std::bad_alloc.
[[noreturn]] void failForMemory();

// Calls a function. Returns false if memory has run out in it.
bool withinMemory(llvm::function_ref<void()> run);

// While an object lives, a failed allocation of its thread does not leave withinMemory(). For code that cleans up after
// std::bad_alloc, and catches it.
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
