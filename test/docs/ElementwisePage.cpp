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

TEST(ElementwisePage, Bits) {
  Tensor key = tensor({12345, -7});
  Tensor mixed = (key ^ (key >> 7)) * 0x45d9f3b;
  Tensor row = mixed & 31, bit = left_shift(1, row);
  std::vector<int> rows;
  std::vector<int> bits;
  for (std::int32_t each : {12345, -7}) {
    auto product = static_cast<std::uint32_t>(each ^ (each >> 7)) * 0x45d9f3bu;
    rows.push_back(static_cast<int>(product % 32));
    bits.push_back(static_cast<int>(1u << product % 32));
  }
  EXPECT_EQ(row.to_vector<int>(), rows);
  EXPECT_EQ(bit.to_vector<int>(), bits);
}

TEST(ElementwisePage, Tail) {
  Tensor x = tensor({-40.0f});
  Tensor logarithm = log_ndtr(x);                                             // -804.608
  Tensor slope = grad([](const Tensor &at) { return sum(log_ndtr(at)); })(x); // 40.025
  EXPECT_NEAR(logarithm.item<float>(), -804.608, 1e-3);
  EXPECT_NEAR(slope.item<float>(), 40.025, 1e-3);
}

TEST(ElementwisePage, CensoredTimes) {
  Tensor shape = scalar(2.5f), ends = tensor({1.0f, 4.0f});
  Tensor survives = gammaincc(shape, ends);                                                    // {0.849, 0.156}
  Tensor byShape = grad([&](const Tensor &a) { return sum(log(gammaincc(a, ends))); })(shape); // of the log-likelihood
  expectNear(survives, {0.849145f, 0.1562356f});
  EXPECT_NEAR(byShape.item<float>(), 1.157186, 1e-4);
}
