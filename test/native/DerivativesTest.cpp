// Derivatives through branches and loops of host code.
#include "test/frontend/Testing.h"
#include "test/native/Same.h"

#include <array>

using namespace calque;
using namespace calque::testing;

namespace {

Tensor newton(const Tensor &y) {
  Tensor x = y, d = y * 0 + 1;
  while (abs(d) > 1e-9) {
    d = (x * x - y) / (2 * x);
    x = x - d;
  }
  return x;
}
Tensor power(const Tensor &x) {
  Tensor y = x;
  while (y < 100)
    y = y * x;
  if (y > 500)
    y = y * 2;
  return y;
}

} // namespace

TEST(NativeDerivatives, AreThoseOfThePathTaken) {
  expectSame(grad(newton), kInputs);
  expectSame(grad(power), kInputs);
  expectSame(grad(grad(newton)), kInputs);
  expectSame(grad(grad(power)), kInputs);
  expectSame([](const Tensor &x) { return jvp(power, x, x * 0 + 1).second; }, kInputs);
  // d sqrt(y) = 1 / (2 sqrt(y))
  EXPECT_NEAR(function(grad(newton))(scalar<double>(16.0)).item<double>(), 0.125, 1e-9);
}

// What does not depend on the argument, and loops without an iteration.
TEST(NativeDerivatives, GoThroughLoopsOfOtherValues) {
  auto integral = [](const Tensor &k) {
    Tensor t = scalar<double>(0.0), s = scalar<double>(0.0);
    while (t < 3.0) {
      s = s + k * t;
      t = t + 1.0;
    }
    return s;
  };
  expectSame(grad(integral), kInputs);
  EXPECT_EQ(function(grad(integral))(scalar<double>(1.3)).item<double>(), 3);
  expectSame(grad([](const Tensor &k) {
               Tensor r = k, p = r + 1.0, x = scalar<double>(0.0);
               while (abs(r) > 1e-3) {
                 x = x + p;
                 r = r * 0.5;
                 p = r + p * 0.1;
               }
               return x;
             }),
             kInputs);
}

TEST(NativeDerivatives, ConnectAllPathsIfOneIs) {
  auto f = function([](const Tensor &x) {
    GradientTape tape;
    tape.watch(x);
    Tensor y = scalar<double>(1.0);
    if (x > 1.0)
      y = x * x;
    return tape.gradient(y, x).value();
  });
  EXPECT_EQ(f(scalar<double>(3.0)).item<double>(), 6);
  EXPECT_EQ(f(scalar<double>(0.5)).item<double>(), 0);
}

// Two questions of one line are two questions, in a helper that is called twice as well: no path connects the second
// variable.
namespace {
std::optional<Tensor> asked(GradientTape &tape, const Tensor &y, const Variable &of) { return tape.gradient(y, of); }
} // namespace
TEST(NativeDerivatives, AreToldApartOnOneLine) {
  Variable w(2.0), v(3.0);
  auto sumOf = [](const std::optional<Tensor> &a, const std::optional<Tensor> &b) {
    return a.value_or(scalar(100.0f)) + b.value_or(scalar(1000.0f));
  };
  auto onOneLine = [&](const Tensor &x) {
    if (x > 0) {
      GradientTape tape({.persistent = true});
      Tensor y = x * w;
      auto a = tape.gradient(y, w), b = tape.gradient(y, v);
      return sumOf(a, b);
    }
    return x * 1;
  };
  auto byAHelper = [&](const Tensor &x) {
    GradientTape tape({.persistent = true});
    Tensor y = x * 5;
    if (x > 0)
      y = x * w;
    auto a = asked(tape, y, w);
    auto b = asked(tape, y, v);
    return sumOf(a, b);
  };
  auto inALoop = [&](const Tensor &x) {
    Tensor total = x * 0;
    for (Tensor i = x; i > 0; i = i - 1) {
      GradientTape tape({.persistent = true});
      Tensor y = i * w;
      auto a = asked(tape, y, w);
      auto b = asked(tape, y, v);
      total = total + sumOf(a, b);
    }
    return total;
  };
  auto all = [](const auto &f) {
    auto compiled = function(f);
    return std::array{compiled(scalar(3.0)).template item<float>(), compiled(scalar(-3.0)).template item<float>()};
  };
  EXPECT_EQ(all(onOneLine), (std::array{1003.0f, -3.0f}));
  EXPECT_EQ(all(byAHelper), (std::array{1003.0f, 1000.0f}));
  EXPECT_EQ(all(inALoop), (std::array{3006.0f, 0.0f}));
}

// A loop in a checkpoint whose operand was made before the tape, at whose boundary it is.
TEST(NativeDerivatives, EndAtOperandsOfACheckpoint) {
  auto f = [](const Tensor &x) {
    Tensor before = log(x);
    GradientTape tape;
    tape.watch(x);
    Tensor y = checkpoint([](const Tensor &a, const Tensor &b) {
      Tensor first = a * 1, second = b * 1;
      for (int done = 0; done < 1; ++done) {
        if (!(first > second))
          break;
        std::swap(first, second);
      }
      return first;
    })(x, before);
    return tape.gradient(y, x, {.unconnected_gradients = UnconnectedGradients::Zero}).value();
  };
  EXPECT_EQ(function(f)(scalar(1.0)).item<float>(), 0);
}

// Of tensors that the lambda makes, each is itself, whatever its elements.
TEST(NativeDerivatives, AreTakenByConstantsOfTheLambda) {
  expectSame(
      [](const Tensor &x) {
        Tensor y = x;
        if (x > 3)
          y = x * 2;
        Tensor w = scalar<double>(3.0), v = scalar<double>(3.0);
        GradientTape tape({.persistent = true});
        tape.watch(w);
        tape.watch(v);
        Tensor z = w * w * v * y;
        Tensor slope = grad([](const Tensor &at) { return at * at; })(scalar<double>(3.0));
        return y * slope + *tape.gradient(z, w) - *tape.gradient(z, v);
      },
      kInputs);
  expectSame(
      [](const Tensor &x) {
        Tensor y = x;
        while (y < 500) {
          Tensor w = scalar<double>(3.0), v = scalar<double>(3.0);
          GradientTape tape;
          tape.watch(w);
          y = y + *tape.gradient(w * w * v * y, w);
        }
        return y;
      },
      kInputs);
}

TEST(NativeDerivatives, GoThroughTapesAround) {
  expectSame(
      [](const Tensor &x) {
        GradientTape tape({.persistent = true});
        tape.watch(x);
        Tensor y = power(x) * x, z = newton(x);
        return *tape.gradient(y, x) + *tape.gradient(z, x);
      },
      kInputs);
}

TEST(NativeDerivatives, AreTakenInsideOfLoops) {
  expectSame(
      [](const Tensor &x) {
        Tensor w = x * 0, loss = x;
        while (loss > 1e-6) {
          GradientTape tape;
          tape.watch(w);
          loss = square(w - x);
          w = w - 0.1 * *tape.gradient(loss, w);
        }
        return w;
      },
      kInputs);
  expectSame(
      [](const Tensor &x) {
        auto slope = value_and_grad([&](const Tensor &w) { return square(w * w - x); });
        Tensor w = x * 0 + 5, g = x;
        while (abs(g) > 1e-6) {
          auto [value, gradient] = slope(w);
          g = gradient;
          w = w - 0.002 * g;
        }
        return w;
      },
      {2, 3.5, 9});
}

// What a branch is followed by belongs to no side of it: derivatives begin there and go through the next loop.
TEST(NativeDerivatives, BeginBehindBranches) {
  auto halved = [](const Tensor &x) {
    Tensor z = x;
    if (z > 3)
      z = z * 0.5;
    return z;
  };
  auto doubled = [](Tensor y, const Tensor &x) {
    Tensor i = x * 0;
    while (i < 3) {
      y = y * 2;
      i = i + 1;
    }
    return y;
  };
  expectSame(
      [&](const Tensor &x) {
        Tensor z = halved(x), v = x * x;
        GradientTape tape;
        tape.watch(v);
        return *tape.gradient(doubled(v, x), v) + z;
      },
      kInputs);
  // The source is computed before the tape begins, and what is computed from it enters the loop.
  expectSame(
      [&](const Tensor &x) {
        Tensor z = halved(x), v = x * x;
        GradientTape tape;
        tape.watch(x);
        return *tape.gradient(doubled(v * x, x), x) + z;
      },
      kInputs);
  auto cubed = [&](const Tensor &x) { return grad([&](const Tensor &v) { return doubled(v * v * v, x); })(halved(x)); };
  expectSame(cubed, kInputs);
  EXPECT_EQ(function(cubed)(scalar<double>(2.0)).item<double>(), 8 * 3 * 2 * 2); // 8 v^3
  expectSame(
      [&](const Tensor &x) {
        auto slope = grad([&](const Tensor &v) { return doubled(v * v * v, x); });
        return grad(slope)(halved(x));
      },
      kInputs);
  expectSame(
      [&](const Tensor &x) {
        Tensor z = halved(x), v = sin(x);
        return jvp([&](const Tensor &v) { return doubled(v * z, x) * v; }, v, v * 0 + 1).second;
      },
      kInputs);
  // A value that is another one on one side: there, derivatives by the one are derivatives by the other.
  expectSame(
      [&](const Tensor &x) {
        Tensor z = halved(x);
        GradientTape tape;
        tape.watch(z);
        return *tape.gradient(doubled(z * x, x), z);
      },
      kInputs);
  // In each iteration of a loop.
  expectSame(
      [&](const Tensor &x) {
        Tensor w = x, s = x * 0, k = x * 0;
        while (k < 3) {
          Tensor v = halved(w) * w;
          GradientTape tape;
          tape.watch(v);
          s = s + *tape.gradient(doubled(v * 3, x) * v, v);
          k = k + 1;
        }
        return s;
      },
      kInputs);
}

// A tape that begins before a branch in an iteration and is asked behind it.
TEST(NativeDerivatives, AreAskedBehindBranchesOfAnIteration) {
  auto descend = [](const Tensor &x) {
    Tensor p = x, k = scalar(4);
    while (k > 0) {
      GradientTape tape;
      tape.watch(p);
      Tensor loss = p * p;
      if (loss > 1)
        loss = abs(p) * 2 - 1; // Huber's
      p = p - 0.3 * *tape.gradient(loss, p);
      k = k - 1;
    }
    return p;
  };
  expectSame(descend, {-2.5, 0.3, 2, 30});
  auto compiled = function(descend);
  for (double x : {-2.5, 0.3, 2.0})
    EXPECT_NEAR(grad(compiled)(scalar<double>(x)).item<double>(), grad(descend)(scalar<double>(x)).item<double>(),
                1e-12);
  EXPECT_NEAR(compiled(scalar<double>(30.0)).item<double>(), 30 - 4 * 0.3 * 2, 1e-12);
}

TEST(NativeDerivatives, EndWhereAnOperationHasNone) {
  auto gcd = [](const Tensor &x) {
    Tensor a = x * 0 + 84, b = floor(x) + 30;
    while (b > 0.5) {
      Tensor rest = a - floor(a / b) * b;
      a = b;
      b = rest;
    }
    return a + x;
  };
  expectSame(grad(gcd), kInputs);
  auto f = [](auto stops) {
    return [stops](const Tensor &x) {
      Tensor y = x * x + 30;
      while (y > 0.5)
        y = y - abs(stops(y * 0.1)) - 1;
      return y;
    };
  };
  expectSame(grad(f([](const Tensor &y) { return stop_gradient(y); })), kInputs);
  expectSame(grad(f([](const Tensor &y) { return sign(y); })), kInputs);
  expectSame(grad([&](const Tensor &x) { return x * f([](const Tensor &y) { return floor(y) * 2; })(floor(x)); }),
             kInputs);
}

// The steps of a branch at a loop's end and those of the next loop can be one loop's, in which derivatives would be 0.
TEST(NativeDerivatives, AreNotLostInLoopsThatOverlap) {
  auto f = [](const Tensor &x) {
    Tensor w = x, k = scalar(2);
    while (k > 0) {
      if (w > 1)
        w = w * 0.5;
      GradientTape tape;
      tape.watch(w);
      Tensor y = w * 3, j = k;
      while (j > 0) {
        y = y * w;
        j = j - 1;
      }
      w = w - 0.01 * *tape.gradient(y, w);
      k = k - 1;
    }
    return w;
  };
  expectSame(f, {3, 0.5, 1.5, 7});
}

// A path from the source would be lost: it is part of a branch, or the source is a value of another name on each side.
TEST(NativeDerivatives, RefuseWhatABranchHasBegun) {
  auto begun = function([](const Tensor &x) {
    GradientTape tape;
    Tensor v, y;
    auto begin = [&](const Tensor &a) {
      v = sin(a);
      tape.watch(v);
      y = v * 3;
    };
    if (x < 4) {
      begin(x * 2);
      y = y + 1;
    } else {
      begin(x + 1);
      y = y * 7;
    }
    while (y < 5)
      y = y * 2 + 9;
    return *tape.gradient(y, v);
  });
  EXPECT_CONTAINS(errorOf<StateError>([&] { begun(scalar<double>(2.0)); }),
                  "a derivative is asked for behind a branch or a loop that has begun it");
  auto chosen = function([](const Tensor &x) {
    Tensor a = sin(x), b = cos(x);
    GradientTape tape;
    tape.watch(a);
    tape.watch(b);
    Tensor source = a;
    if (x < 4)
      source = b;
    return *tape.gradient(a * a * b, source, {.unconnected_gradients = UnconnectedGradients::Zero});
  });
  EXPECT_CONTAINS(errorOf<StateError>([&] { chosen(scalar<double>(2.0)); }),
                  "a derivative is asked for behind a branch or a loop that has begun it");
}

TEST(NativeDerivatives, RefuseATapeThatBeganOutside) {
  auto inLoop = function([](const Tensor &x) {
    GradientTape tape({.persistent = true});
    tape.watch(x);
    Tensor y = x, s = x * 0;
    while (y < 100) {
      y = y * x;
      s = s + *tape.gradient(y, x);
    }
    return s;
  });
  std::string text = errorOf<StateError>([&] { inLoop(scalar<double>(2.0)); });
  EXPECT_CONTAINS(text, "a derivative is asked for inside of a branch or a loop");
  EXPECT_CONTAINS(text, "DerivativesTest.cpp");
}

TEST(NativeDerivatives, GoThroughCallsOfFunctions) {
  auto inner = function([](const Tensor &x) { return power(x); });
  expectSame([&](const Tensor &x) { return inner(x) + grad([&](const Tensor &v) { return inner(v); })(x); }, kInputs);
}
