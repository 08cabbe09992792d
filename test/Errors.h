// What the tests of errors share.
#ifndef CALQUE_TEST_ERRORS_H
#define CALQUE_TEST_ERRORS_H

#include <gtest/gtest.h>

#include <exception>
#include <string>

namespace calque::testing {

// Runs the statement, which must throw such an error, and gives its text.
template <typename E, typename F> std::string errorOf(F &&statement) {
  try {
    statement();
  } catch (const E &error) {
    return error.what();
  } catch (const std::exception &error) {
    ADD_FAILURE() << "another error: " << error.what();
    return "";
  }
  ADD_FAILURE() << "no error";
  return "";
}

#define EXPECT_CONTAINS(text, part) EXPECT_NE(std::string(text).find(part), std::string::npos) << text

} // namespace calque::testing
#endif
