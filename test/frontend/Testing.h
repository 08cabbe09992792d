// What the front end's tests share.
#ifndef CALQUE_TEST_FRONTEND_TESTING_H
#define CALQUE_TEST_FRONTEND_TESTING_H

#include "calque/calque.h"

#include <gtest/gtest.h>

#include <sstream>
#include <thread>

namespace calque::testing {

inline void expectValues(const Tensor &x, const std::vector<float> &expected) {
  ASSERT_EQ(x.size(), static_cast<std::int64_t>(expected.size()));
  std::vector<float> values = x.to_vector<float>();
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_FLOAT_EQ(values[i], expected[i]) << "element " << i;
}

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
