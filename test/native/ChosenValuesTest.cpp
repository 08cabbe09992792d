// Branches in a row that choose among values: on many paths two C++ variables are one value, and only some paths tell
// which of the two an edge of the captured program gives on.
#include "test/frontend/Testing.h"

#include <cstdint>
#include <functional>

using namespace calque;
using namespace calque::testing;

namespace {

using Lambda = std::function<Tensor(const Tensor &, const Tensor &)>; // of a value, and of what decides

// Compiled as eagerly, for numbers that take hundreds of different paths.
void expectAlike(const Lambda &f) {
  auto compiled = function(f);
  const Tensor x = scalar<double>(10.0);
  int differ = 0;
  for (std::int64_t n = 0; n < 400; ++n) {
    const Tensor p = scalar<std::int64_t>(n);
    differ += f(x, p).item<double>() != compiled(x, p).item<double>();
  }
  EXPECT_EQ(differ, 0);
}

} // namespace

TEST(NativeChosenValues, OfThreeWays) {
  expectAlike([](const Tensor &x0, const Tensor &p0) {
    Tensor x = x0 + 1.0, p = p0, y = x0;
    for (int i = 0; i < 5; ++i) {
      p = p * 5 % 1021;
      if (p % 2 == 0) {
        y = x;
      } else if (p % 3 == 0) {
        if (p % 5 == 0) {
        }
      }
    }
    return y;
  });
}

TEST(NativeChosenValues, OfBranchesInARow) {
  expectAlike([](const Tensor &x0, const Tensor &p0) {
    Tensor x = x0 + 1.0, z = x0 * 3.0, p = p0, y = x0;
    for (int i = 0; i < 5; ++i) {
      p = p * 5 % 1021;
      if (p % 2 == 0)
        y = x;
      if (p % 3 == 0)
        y = z;
      if (p % 5 == 0)
        y = x0;
    }
    return y;
  });
}

TEST(NativeChosenValues, ThatLagBehind) {
  expectAlike([](const Tensor &x0, const Tensor &p0) {
    Tensor x = x0, p = p0, y = x0;
    for (int i = 0; i < 12; ++i) {
      p = p * 5 % 1021;
      if (p % 3 == 0) {
        x = y;
        y = y * 0.25;
      }
    }
    return y + 2.0 * x;
  });
}

TEST(NativeChosenValues, InLoopsByDeclaration) {
  expectAlike([](const Tensor &x0, const Tensor &p0) {
    Tensor a = x0 * 2.0, p = p0, y = x0, x = x0 + 1.0, z = x0 * 3.0;
    for (Tensor k : range(p0 % 6))
      for (int i = 0; i < 5; ++i) {
        p = p * 5 % 1021;
        y = z;
        if (p % 2 == 0)
          y = a;
        if (p % 3 == 0)
          y = x;
      }
    return y;
  });
}

TEST(NativeChosenValues, ByCountsOfTwoLoops) {
  expectAlike([](const Tensor &x0, const Tensor &p0) {
    Tensor p = p0, y = x0;
    int k = 0;
    for (int i = 0; i < 5; ++i) {
      p = (p * 1103 + 12345) % 65537;
      if (p % 4 == 0) {
        ++k;
        y = y * 0.75 - 1.0;
      } else {
        y = y * 0.75 + 1.0;
      }
    }
    for (int i = 0; i < 5; ++i) {
      p = (p * 1103 + 12345) % 65537;
      if (p % 4 == 0) {
        k += 2;
        y = y * 0.75 - 1.0;
      }
      y = y * 0.5;
    }
    if (k >= 4)
      y = y + 100.0;
    return y;
  });
}
