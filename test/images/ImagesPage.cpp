// The program of docs/images.md, which check_snippets.py compares with the page.
#include "calque/calque.h"
#include "calque/image.h"

#include <gtest/gtest.h>

#include <iostream>

using namespace calque;

TEST(ImagesPage, Begins) {
  ::testing::internal::CaptureStdout();
  Tensor photos = reshape(cast(iota({16}, DType::Int32), DType::Float32), {1, 4, 4, 1});
  // clang-format off
  Tensor small = image::resize(photos, {2, 2}, {.antialias = true}); // [1,2,2,1]
  std::cout << reshape(small, {2, 2}) << '\n';

  // The middle and the right edge of each image, as PyTorch's grids have them: (x, y) from -1 to 1.
  Tensor grid = tensor({0.0f, 0.0f, 1.0f, 0.0f}, {1, 1, 2, 2});
  std::cout << reshape(image::grid_sample(photos, grid, {.padding = "border"}), {-1}) << '\n';

  // Of two boxes that are the same thing, the one with the larger score.
  Tensor boxes = tensor({{0.0f, 0.0f, 2.0f, 2.0f}, {0.0f, 0.0f, 2.0f, 1.9f}, {3.0f, 3.0f, 4.0f, 4.0f}});
  auto [indices, count] = image::non_max_suppression(boxes, tensor({0.6f, 0.9f, 0.5f}), 3);
  std::cout << indices << ' ' << count << '\n'; // [1 2 0] 2
  // clang-format on
  EXPECT_EQ(::testing::internal::GetCapturedStdout(),
            "[[ 3.5714288  5.142857 ]\n [ 9.857143  11.428572 ]]\n[7.5 9. ]\n[1 2 0] 2\n");
}
