// What the front end's tests share.
#ifndef CALQUE_TEST_FRONTEND_TESTING_H
#define CALQUE_TEST_FRONTEND_TESTING_H

#include "test/Errors.h"

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

} // namespace calque::testing
#endif
