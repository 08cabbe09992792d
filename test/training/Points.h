// What tests of fit() train on.
#ifndef CALQUE_TEST_TRAINING_POINTS_H
#define CALQUE_TEST_TRAINING_POINTS_H

#include "test/training/Testing.h"

#include <random>

namespace calque::testing {

// Rows of 2 numbers with the label whether their sum is above 0, and a float column 3 a - b.
struct Points {
  explicit Points(std::int64_t n, int seed = 1) {
    std::mt19937 random(static_cast<unsigned>(seed));
    x = cast(randomTensor(random, {n, 2}, -1, 1), DType::Float32);
    label = cast(sum(x, {1}) > 0, DType::Int32);
    y = matmul(x, tensor<float>({3, -1}, {2, 1}));
  }
  Tensor x, label, y;
};

inline Sequential line() { return Sequential({layers::Dense(1, {.kernel_initializer = zeros})}); }

} // namespace calque::testing
#endif
