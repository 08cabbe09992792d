// Compiled with exceptions, by which the standard library says that there is no more memory.
#include "codegen/native/Memory.h"

#include "llvm/Support/ErrorHandling.h"

#include <csetjmp>
#include <new>
#include <utility>

namespace calque::codegen {

namespace {
struct Place {
  std::jmp_buf buffer;
};
thread_local Place *innermost = nullptr; // where this thread goes on
std::new_handler before = nullptr;

// What operator new calls where it has no memory.
void leave() {
  if (innermost)
    std::longjmp(innermost->buffer, 1);
  if (!before)
    throw std::bad_alloc();
  before();
}
} // namespace

void leaveForMemory() {
  llvm::install_bad_alloc_error_handler([](void *, const char *, bool) {
    leave();
    throw std::bad_alloc();
  });
  before = std::set_new_handler(leave);
}

void failForMemory() { throw std::bad_alloc(); }

bool withinMemory(llvm::function_ref<void()> run) {
  Place place;
  Place *const outer = innermost;
  bool isDone = false;
  if (setjmp(place.buffer) == 0) {
    innermost = &place;
    try { // an operator new of the user's may not call what std::set_new_handler was given
      run();
      isDone = true;
    } catch (const std::bad_alloc &) {
    }
  }
  innermost = outer;
  return isDone;
}

OutsideCompiler::OutsideCompiler() : suspended(std::exchange(innermost, nullptr)) {}
OutsideCompiler::~OutsideCompiler() { innermost = static_cast<Place *>(suspended); }

} // namespace calque::codegen
