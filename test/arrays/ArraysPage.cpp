// The programs of docs/arrays.md, which check_snippets.py compares with the page.
#include "calque/arrays.h"
#include "calque/calque.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

using namespace calque;

TEST(ArraysPage, Begins) {
  ::testing::internal::CaptureStdout();
  Tensor x = linspace(0, 1, 5);
  Tensor powers = pow(expand_dims(x, 1), arange(3.0f)); // [5,3]: 1, x and x^2
  Tensor y = matmul(powers, tensor({1.0f, 0.0f, 2.0f}));
  std::cout << y << '\n';                  // [1.    1.125 1.5   2.125 3.   ]
  std::cout << roll(arange(5), 2) << '\n'; // [3 4 0 1 2]
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "[1.    1.125 1.5   2.125 3.   ]\n[3 4 0 1 2]\n");
}

TEST(ArraysPage, UnknownSizes) {
  auto ranked = function([](const Tensor &x) { return x * arange(x.shape()[0]); },
                         {.input_signature = {TensorSpec<std::int64_t>({kDynamic})}});
  ranked(tensor<std::int64_t>({5, 5, 5})); // [0 5 10]
  EXPECT_EQ(ranked(tensor<std::int64_t>({5, 5, 5})).to_vector<std::int64_t>(), (std::vector<std::int64_t>{0, 5, 10}));
}

TEST(ArraysPage, Places) {
  // clang-format off
  Tensor x = zeros({3, 4}), i = tensor({0, 2, 0});
  at(x, 1) = 5;                    // NumPy: x[1] = 5
  at(x, rows(1, 3), -1) += 1;      // x[1:3, -1] += 1
  at(x, i, 0) += 1;                // numpy.add.at(x, (i, 0), 1): element [0,0] is 2
  at(x, x > 4) *= 10;              // x[x > 4] *= 10
  x = at(x, 0, 0).max(3);          // x[0, 0] = max(x[0, 0], 3)
  Tensor y = at(x, rows({}, {}, -1), i).get(); // x[::-1, i]
  // clang-format on
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{3, 0, 0, 0, 50, 50, 50, 60, 1, 0, 0, 1}));
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{1, 0, 1, 50, 50, 50, 3, 0, 3}));
}

TEST(ArraysPage, Sets) {
  auto smallest = function([](const Tensor &x) { return unique(x, {.size = 3}); });
  smallest(tensor({7, 3, 7, 9, 5})); // [3 5 7]
  EXPECT_EQ(smallest(tensor({7, 3, 7, 9, 5})).to_vector<std::int32_t>(), (std::vector<std::int32_t>{3, 5, 7}));
}

TEST(ArraysPage, Statistics) {
  Tensor x = tensor({{1.0f, 2.0f, 4.0f}, {3.0f, 5.0f, 9.0f}});
  Tensor spread = stddev(x, 1, {.ddof = 1});
  Tensor halves = quantile(x, tensor({0.0f, 0.5f}), 1); // [[1. 3.] [2. 5.]]
  Tensor totals = segment_sum(x, tensor({1, 1}), 2);    // [[0. 0. 0.] [4. 7. 13.]]
  EXPECT_FLOAT_EQ(spread.to_vector<float>()[0], std::sqrt(7.0f / 3));
  EXPECT_EQ(halves.to_vector<float>(), (std::vector<float>{1, 3, 2, 5}));
  EXPECT_EQ(totals.to_vector<float>(), (std::vector<float>{0, 0, 0, 4, 7, 13}));
}
