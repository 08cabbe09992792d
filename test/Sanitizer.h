// Whether a sanitizer sees what tests call: tests of memory know of what it takes.
#ifndef CALQUE_TEST_SANITIZER_H
#define CALQUE_TEST_SANITIZER_H

#include <cstdlib>

#ifndef __has_feature
#define __has_feature(name) 0
#endif

namespace calque::testing {

// That of this program, or of the libraries that it runs with: see calque_borrow_programs in test/CMakeLists.txt.
inline bool isSanitized() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || __has_feature(address_sanitizer) ||               \
    __has_feature(thread_sanitizer)
  return true;
#else
  return std::getenv("CALQUE_TESTS_A_SANITIZER") != nullptr;
#endif
}

} // namespace calque::testing
#endif
