// Compiled with exceptions, by which the standard library says that there are no more threads.
#include "codegen/native/Threads.h"

#include "codegen/native/Memory.h"

#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace calque::codegen {

void onThreads(std::size_t others, const std::function<void()> &here, const std::function<void()> &there) {
  std::vector<std::thread> threads;
  threads.reserve(others);
  try {
    OutsideCompiler outside; // the threads that run already use this frame, so no failure may jump over it
    while (threads.size() < others)
      threads.emplace_back(there);
  } catch (const std::system_error &) { // the others do the work
  } catch (const std::bad_alloc &) {
  }
  here();
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace calque::codegen
