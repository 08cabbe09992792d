// A step that runs for long takes no more memory than at its start.
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
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers keep freed memory";
#endif
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
