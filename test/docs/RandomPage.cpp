// The programs of docs/random.md, which check_snippets.py compares with the page.
#include "calque/calque.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace calque;

TEST(RandomPage, Streams) {
  random::Generator dice(7);
  Tensor waits = dice.exponential({1000}, 2.0);                                  // of mean 2
  Tensor same = random::stateless_exponential({1000}, random::state(7, 0), 2.0); // those of `waits`
  EXPECT_TRUE(std::ranges::equal(waits.bytes(), same.bytes()));
  EXPECT_NEAR(mean(waits).item<float>(), 2, 0.3);
}

TEST(RandomPage, Parameters) {
  set_seed(1);
  Tensor rates = tensor({0.5f, 3.0f, 200.0f});
  Tensor counts = random::poisson({1000, 3}, rates); // a column for each rate
  Tensor means = mean(cast(counts, DType::Float32), {0});
  EXPECT_NEAR(means[0].item<float>(), 0.5, 0.1);
  EXPECT_NEAR(means[1].item<float>(), 3, 0.3);
  EXPECT_NEAR(means[2].item<float>(), 200, 3);
}

TEST(RandomPage, Gradients) {
  Tensor alpha = scalar(3.0f);
  Tensor slope = grad(
      [](const Tensor &a) { return mean(square(random::stateless_gamma({100000}, random::state(1, 0), a))); })(alpha);
  // The mean of squares is alpha (alpha + 1), and its derivative 2 alpha + 1 = 7.
  EXPECT_NEAR(slope.item<float>(), 7, 0.15);
}

TEST(RandomPage, Sequences) {
  set_seed(1);
  Tensor shift = random::uniform({2});
  Tensor points = random::sobol(1024, 2, {.shift = shift});
  Tensor area = 4 * mean(cast(less(sum(square(points), {-1}), 1.0f), DType::Float32)); // near pi
  EXPECT_NEAR(area.item<float>(), 3.14159, 0.03);
}
