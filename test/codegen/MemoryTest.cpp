// A step that runs for long takes no more memory than at its start, and many buffers that are alive at once keep apart.
#include "test/Sanitizer.h"
#include "test/codegen/SmallCnn.h"

#include <fstream>
#include <unistd.h>

using namespace calque;
using namespace calque::testing;

namespace {

// The process's resident bytes.
double residentBytes() {
  std::ifstream statm("/proc/self/statm");
  long total = 0, resident = 0;
  statm >> total >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

} // namespace

TEST(Memory, StaysFlatOverAThousandSteps) {
  if (isSanitized())
    GTEST_SKIP() << "sanitizers keep freed memory";
  SmallCnn model;
  Tensor x = SmallCnn::images(0), y = SmallCnn::labels();
  auto step = function([&](const Tensor &images, const Tensor &labels) { return model.step(images, labels); });
  float first = step(x, y).item<float>(), last = 0;
  for (int i = 1; i < 50; ++i)
    step(x, y);
  double before = residentBytes();
  for (int i = 50; i < 1000; ++i)
    last = step(x, y).item<float>();
  EXPECT_LE(residentBytes(), before * 1.01);
  EXPECT_LT(last, first);
}

// Above a thousand buffers are placed in another way.
TEST(Memory, KeepsThousandsOfBuffersApart) {
  constexpr int kCount = 1100;
  auto f = function([](const Tensor &x) {
    std::vector<Tensor> made;
    for (int i = 0; i < kCount; ++i)
      made.push_back(matmul(x * (i * 0.5), ones({3, 1 + i % 5}, DType::Float64)));
    Tensor total = zeros({}, DType::Float64);
    for (int i = kCount - 1; i >= 0; i -= 2) // every other one dies, and leaves gaps
      total = total + sum(made[static_cast<std::size_t>(i)] * made[static_cast<std::size_t>(i)]);
    for (int i = 0; i < kCount; i += 2)
      total = total + sum(made[static_cast<std::size_t>(i)] * made[static_cast<std::size_t>(i)]);
    return total;
  });
  double expected = 0; // whole numbers and quarters, which are exact
  for (int i = 0; i < kCount; ++i)
    expected += 2 * (1 + i % 5) * (1.5 * i) * (1.5 * i);
  EXPECT_EQ(f(ones({2, 3}, DType::Float64)).item<double>(), expected);
}
