// The program of docs/quantized.md, which check_snippets.py compares with the page.
#include "calque/calque.h"
#include "calque/quantized.h"

#include <gtest/gtest.h>

#include <iostream>

using namespace calque;

TEST(QuantizedPage, Numbers) {
  // clang-format off
  Tensor signal = tensor({-1.0f, -0.26f, 0.26f, 2.0f});
  Tensor q = quantize(signal, 1.0f / 127); // int8: [-127  -33   33  127]
  Tensor sums = matmul(cast(q, DType::Int32), cast(q, DType::Int32)); // by the machine's dot products of bytes
  Tensor again = dequantize(q, 1.0f / 127);
  // clang-format on
  EXPECT_EQ(q.to_vector<std::int8_t>(), (std::vector<std::int8_t>{-127, -33, 33, 127}));
  EXPECT_EQ(sums.item<std::int32_t>(), 2 * 127 * 127 + 2 * 33 * 33);
  EXPECT_NEAR(again[0].item<float>(), -1.0f, 1e-6f);
}

TEST(QuantizedPage, Convolutions) {
  ::testing::internal::CaptureStdout();
  // clang-format off
  Tensor pixels = tensor<std::uint8_t>({0, 10, 200, 255}, {1, 4, 1}); // [N,W,C]
  Tensor filter = tensor<std::int8_t>({-1, 0, 1}, {3, 1, 1});         // [W,C,F]
  std::cout << reshape(conv_integer(pixels, filter, {.padding = "same"}), {-1}) << '\n'; // [  10  200  245 -200]
  std::cout << conv_integer(pixels, filter, {.input_zero_point = scalar<std::uint8_t>(10)}).shape() << '\n'; // [1,2,1]
  // clang-format on
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "[  10  200  245 -200]\n[1,2,1]\n");
}

TEST(QuantizedPage, Begins) {
  ::testing::internal::CaptureStdout();
  // clang-format off
  Tensor weights = tensor({{0.5f, -1.0f, 0.25f, 0.125f}, {3.0f, 2.0f, -4.0f, 1.0f}}); // [n, k]: a row for each output
  quantized::Weights small = quantized::quantize(weights, {.block = 4});
  std::cout << quantized::dequantize(small) << '\n';

  Tensor x = tensor({1.0f, 2.0f, 4.0f, 8.0f});
  std::cout << quantized::matmul(x, small) << '\n'; // [ 0.5 -1. ]

  // Two codes are in a byte, the first one in its lower half.
  std::cout << small.codes << ' ' << quantized::unpack_4bit(small.codes) << '\n';
  // clang-format on
  EXPECT_EQ(::testing::internal::GetCapturedStdout(),
            "[[ 0.5   -1.     0.25   0.125]\n [ 3.     2.    -4.     1.   ]]\n"
            "[ 0.5 -1. ]\n"
            "[[[ 12 154]]\n\n [[206 160]]] [[[12  0 10  9]]\n\n [[14 12  0 10]]]\n");
}
