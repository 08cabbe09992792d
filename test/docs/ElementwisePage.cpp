// The programs of docs/elementwise.md, which check_snippets.py compares with the page.
#include "calque/calque.h"

#include <gtest/gtest.h>

using namespace calque;

namespace {
void expectNear(const Tensor &found, const std::vector<float> &expected) {
  std::vector<float> values = found.to_vector<float>();
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], expected[i], 1e-4);
}
} // namespace

TEST(ElementwisePage, Polar) {
  Tensor x = tensor({3.0f, -1.0f}), y = tensor({4.0f, 0.0f});
  Tensor radius = hypot(x, y), angle = atan2(y, x);                            // {5, 1} and {0.9273, 3.1416}
  Tensor turns = grad([&](const Tensor &at) { return sum(atan2(y, at)); })(x); // -y / (x^2 + y^2): {-0.16, 0}
  expectNear(radius, {5, 1});
  expectNear(angle, {0.9273f, 3.1416f});
  expectNear(turns, {-0.16f, 0});
}

TEST(ElementwisePage, Entropy) {
  Tensor p = tensor({0.5f, 0.5f, 0.0f});
  Tensor entropy = -sum(xlogy(p, p)); // log(2)
  EXPECT_NEAR(entropy.item<float>(), 0.6931472f, 1e-6);
}
