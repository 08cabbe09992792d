// Calls in a process that gets little more memory, to see what is thrown where a file takes more.
#ifndef CALQUE_TEST_TRAINING_WITHINLIMIT_H
#define CALQUE_TEST_TRAINING_WITHINLIMIT_H

#include "test/Sanitizer.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <malloc.h>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

namespace calque::testing {

// Far more than what tests before this one have left free in the process.
inline constexpr std::size_t kLarge = std::size_t(96) << 20, kLimit = std::size_t(40) << 20;

inline std::size_t addressSpace() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

// Begins a test: the sanitizers' shadows take more address space than the limit.
#define CALQUE_SKIP_WITHOUT_LIMITS()                                                                                   \
  if (calque::testing::isSanitized())                                                                                  \
  GTEST_SKIP() << "sanitizers take addresses as they like"

// What `read` throws in a process that gets kLimit more bytes of memory.
template <typename E> void expectWithinLimit(const std::function<void()> &read, const std::string &text) {
  auto inChild = [&] {
    ::malloc_trim(0); // what tests before this one have left free
    const rlimit limit{addressSpace() + kLimit, RLIM_INFINITY};
    ::setrlimit(RLIMIT_AS, &limit);
    std::string given = "nothing";
    try {
      read();
    } catch (const E &error) {
      given = error.what();
      if (given.find(text) != std::string::npos)
        std::_Exit(0);
    } catch (const std::exception &error) {
      given = error.what();
    }
    std::fprintf(stderr, "expected '%s', and it throws '%s'\n", text.c_str(), given.c_str());
    std::_Exit(1);
  };
  EXPECT_EXIT(inChild(), ::testing::ExitedWithCode(0), "");
}

} // namespace calque::testing
#endif
