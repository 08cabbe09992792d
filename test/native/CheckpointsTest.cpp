// Loops of C++ code with checkpoints: the conditions, ranges and tensors that checkpointed() and RangeOptions mark.
#include "calque/calque.h"
#include "test/Tensors.h"
#include "test/frontend/Testing.h"

using namespace calque;
using namespace calque::testing;

namespace {

std::size_t count(const std::string &text, const std::string &part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

using F = Tensor (*)(const Tensor &);

// Each form, and the same without a checkpoint.
template <bool isMarked> auto mark(const Tensor &x) {
  if constexpr (isMarked)
    return checkpointed(x);
  else
    return x;
}

template <bool isMarked> Tensor byRange(const Tensor &x) {
  Tensor y = x;
  for (Tensor i : range(9, {.checkpoint = isMarked}))
    y = sin(y) * x + 0.125 * cast(i, DType::Float64);
  return sum(y);
}
template <bool isMarked> Tensor byRangeOfTwoBounds(const Tensor &x) {
  Tensor y = x;
  for (Tensor i : range(9, cast(sum(x) * 0, DType::Int64), {.step = -2, .checkpoint = isMarked}))
    y = sin(y) * x + 0.125 * cast(i, DType::Float64);
  return sum(y);
}
template <bool isMarked> Tensor byRangeOfTensors(const Tensor &x) {
  const Range numbers = range(0, 12, cast(sum(x) * 0, DType::Int64) + 3);
  Tensor y = x;
  for (Tensor i : isMarked ? checkpointed(numbers) : numbers)
    y = sin(y) * x + 0.125 * cast(i, DType::Float64);
  return sum(y);
}
template <bool isMarked> Tensor byRows(const Tensor &x) {
  const Tensor rows = reshape(cos(iota({14}, DType::Float64)), {7, 2}) * x;
  Tensor y = x;
  for (Tensor row : mark<isMarked>(rows))
    y = sin(y) * row;
  return sum(y);
}
template <bool isMarked> Tensor byWhile(const Tensor &x) {
  Tensor y = x;
  while (mark<isMarked>(sum(y) < 40))
    y = y * 1.25 + square(x) * 0.5;
  return sum(sin(y));
}
template <bool isMarked> Tensor byWhileOfTwoConditions(const Tensor &x) {
  Tensor y = x, n = scalar(0);
  while (mark<isMarked>(sum(y) < 40) && n < 7) {
    y = y * 1.25 + square(x) * 0.5;
    n = n + 1;
  }
  return sum(sin(y));
}
template <bool isMarked> Tensor byDoWhile(const Tensor &x) {
  Tensor y = x;
  do
    y = y * 1.25 + square(x) * 0.5;
  while (mark<isMarked>(sum(y) < 40));
  return sum(sin(y));
}
template <bool isMarked> Tensor byBreak(const Tensor &x) {
  Tensor y = x;
  for (int i = 0; i < 40; ++i) {
    y = y * 1.25 + square(x) * 0.5;
    if (mark<isMarked>(sum(y) > 40))
      break;
  }
  return sum(sin(y));
}
template <bool isMarked> Tensor byReturnAndContinue(const Tensor &x) {
  Tensor y = x;
  for (Tensor i : range(20, {.checkpoint = isMarked})) {
    if (sum(y) > 30)
      return sum(y * x);
    y = y * 1.25;
    if (i < 3)
      continue;
    y = y + square(x) * 0.5;
  }
  return sum(sin(y));
}
template <bool isOuter, bool isInner> Tensor nested(const Tensor &x) {
  Tensor y = x;
  for (Tensor i : range(6, {.checkpoint = isOuter})) {
    Tensor z = y;
    while (mark<isInner>(sum(z) < 12))
      z = z * 1.5 + square(x);
    y = y * 0.5 + 0.05 * z * (cast(i, DType::Float64) - 2.0);
  }
  return sum(y);
}

struct Form {
  const char *name;
  F marked, plain;
};
const Form kForms[] = {
    {"range", byRange<true>, byRange<false>},
    {"two bounds", byRangeOfTwoBounds<true>, byRangeOfTwoBounds<false>},
    {"range of tensors", byRangeOfTensors<true>, byRangeOfTensors<false>},
    {"rows", byRows<true>, byRows<false>},
    {"while", byWhile<true>, byWhile<false>},
    {"two conditions", byWhileOfTwoConditions<true>, byWhileOfTwoConditions<false>},
    {"do", byDoWhile<true>, byDoWhile<false>},
    {"break", byBreak<true>, byBreak<false>},
    {"return and continue", byReturnAndContinue<true>, byReturnAndContinue<false>},
    {"outer", nested<true, false>, nested<false, false>},
    {"inner", nested<false, true>, nested<false, false>},
    {"both", nested<true, true>, nested<false, false>},
};

Tensor start() { return tensor<double>({0.3, 1.2}); }

void expectClose(const Tensor &found, const Tensor &expected, double tolerance = 1e-11) {
  ASSERT_EQ(found.shape(), expected.shape());
  for (std::size_t i = 0; i < valuesOf(expected).size(); ++i)
    EXPECT_NEAR(valuesOf(found)[i], valuesOf(expected)[i], tolerance * (1 + std::abs(valuesOf(expected)[i]))) << i;
}

} // namespace

TEST(NativeCheckpoints, HaveTheValuesAndGradientsOfLoopsWithoutThem) {
  const Tensor x = start();
  for (const Form &form : kForms) {
    SCOPED_TRACE(form.name);
    const F f = form.marked;
    auto [y, g] = value_and_grad(form.plain)(x); // eagerly
    auto [eagerY, eager] = value_and_grad(f)(x);
    expectClose(eagerY, y);
    expectClose(eager, g);
    expectClose(function(f)(x), y);
    expectClose(function(grad(f))(x), g);
    expectClose(grad(function(f))(x), g);
    // By differences.
    const double step = 1e-6;
    for (int i = 0; i < 2; ++i) {
      const Tensor moved = step * tensor<double>({i == 0 ? 1.0 : 0.0, i == 1 ? 1.0 : 0.0});
      expectClose(gather(g, i), (f(x + moved) - f(x - moved)) / (2 * step), 1e-6);
    }
  }
}

TEST(NativeCheckpoints, HaveForwardDerivatives) {
  const Tensor x = start(), direction = tensor<double>({1, -0.5});
  for (const Form &form : kForms) {
    SCOPED_TRACE(form.name);
    auto along = [&](F f) { return function([=](const Tensor &at) { return jvp(f, at, direction).second; })(x); };
    expectClose(along(form.marked), along(form.plain));
  }
}

TEST(NativeCheckpoints, AreBatched) {
  const Tensor x = tensor<double>({0.3, 1.2, 0.4, 0.9, 2, 0.1}, {3, 2});
  for (const Form &form : kForms) {
    SCOPED_TRACE(form.name);
    if (std::string(form.name) == "two bounds" || std::string(form.name) == "range of tensors")
      continue; // whose bounds would differ from example to example
    const Tensor all = function([&](const Tensor &many) { return vmap(function(grad(form.marked)))(many); })(x);
    for (int i = 0; i < 3; ++i)
      expectClose(gather(all, i), grad(form.plain)(gather(x, i)));
  }
}

// The mark goes to the loop that the user has given it, and to no loop around it or inside of it.
TEST(NativeCheckpoints, MarkTheirLoopAlone) {
  auto marks = [](F f) {
    const std::string ir = function(f).ir("traced", start());
    std::vector<bool> found;
    for (std::size_t at = ir.find("calque.while"); at != std::string::npos; at = ir.find("calque.while", at + 1)) {
      const std::string line = ir.substr(at, ir.find('\n', at) - at);
      found.push_back(line.find("checkpoint = true") != std::string::npos);
    }
    return found;
  };
  for (const Form &form : kForms) {
    SCOPED_TRACE(form.name);
    const std::vector<bool> plain = marks(form.plain);
    EXPECT_EQ(std::ranges::count(plain, true), 0);
    if (plain.size() == 1)
      EXPECT_EQ(marks(form.marked), std::vector<bool>{true}) << function(form.marked).ir("traced", start());
    else
      EXPECT_EQ(plain.size(), 2u);
  }
  // The outer loop stands first.
  EXPECT_EQ(marks(nested<true, false>), (std::vector<bool>{true, false}));
  EXPECT_EQ(marks(nested<false, true>), (std::vector<bool>{false, true}));
  EXPECT_EQ(marks(nested<true, true>), (std::vector<bool>{true, true}));
}

TEST(NativeCheckpoints, ReadElementsEagerly) {
  Tensor y = start();
  double last = 0;
  int steps = 0;
  while (checkpointed(sum(y) < 40)) {
    y = y * 2;
    last = sum(y).item<double>();
    ++steps;
  }
  EXPECT_EQ(steps, 5);
  EXPECT_EQ(last, 48);
  for (Tensor row : checkpointed(tensor<double>({1, 2, 3})))
    last += row.item<double>();
  EXPECT_EQ(last, 54);
  Variable v(scalar(1));
  EXPECT_TRUE(bool(checkpointed(v)));
  EXPECT_FALSE(bool(checkpointed(scalar(0.0f))));
}

TEST(NativeCheckpoints, AssignVariablesAndDrawNumbersOnce) {
  auto run = [](bool isMarked) {
    random::Generator generator(7);
    Variable steps(scalar<std::int64_t>(0)), w(scalar<double>(0.5));
    auto f = function([&](const Tensor &n) {
      GradientTape tape;
      Tensor y = scalar<double>(1.0);
      for (Tensor i : range(0, n, {.checkpoint = isMarked})) {
        steps.assign_add(i);
        y = sin(y * w) + generator.uniform({}, {.dtype = DType::Float64});
      }
      return std::pair(y, tape.gradient(y, w).value());
    });
    auto [y, g] = f(scalar(7));
    return std::tuple(valuesOf(y), valuesOf(g), valuesOf(steps.value()), valuesOf(generator.uniform({2})));
  };
  auto [y, g, steps, drawn] = run(true);
  auto [expectedY, expectedG, expectedSteps, expectedDrawn] = run(false);
  EXPECT_EQ(y, expectedY);
  EXPECT_NEAR(g[0], expectedG[0], 1e-12);
  EXPECT_EQ(steps, expectedSteps);
  EXPECT_EQ(drawn, expectedDrawn);
}

// The loop variables of 3 sqrt(n) of n iterations, where n is known to the call alone.
TEST(NativeCheckpoints, KeepFewIterations) {
  auto pushes = [](bool isMarked) {
    auto f = function([=](const Tensor &x, const Tensor &n) {
      return grad([&](const Tensor &from) {
        Tensor y = from;
        for (Tensor i : range(0, n, {.checkpoint = isMarked}))
          y = sin(y) * from;
        return sum(y);
      })(x);
    });
    return count(f.ir("simplified", start(), scalar(5)), "calque.while");
  };
  EXPECT_EQ(pushes(false), 2u); // forward and back
  EXPECT_EQ(pushes(true), 5u);  // segments, and their iterations; back, and again, and back
}

TEST(NativeCheckpoints, AreRefusedWhereThereIsNoLoop) {
  int line = 0;
  auto f = function([&](const Tensor &x) {
    Tensor y = x;
    line = __LINE__ + 1;
    if (checkpointed(sum(x) < 3))
      y = y * 2;
    return y;
  });
  const std::string text = errorOf<StateError>([&] { f(start()); });
  EXPECT_CONTAINS(text, "checkpointed() is about the C++ loop whose condition it is given, and this condition is in "
                        "no loop on tensors");
  EXPECT_CONTAINS(text, "CheckpointsTest.cpp:" + std::to_string(line));
}

TEST(NativeCheckpoints, TakeOneElement) {
  int line = 0;
  auto check = [&](auto f) {
    const std::string text = errorOf<ShapeError>([&] { f(start()); });
    EXPECT_CONTAINS(text, "a tensor of shape [2] is used as a condition (bool), which needs one element");
    EXPECT_CONTAINS(text, "CheckpointsTest.cpp:" + std::to_string(line));
  };
  auto f = [&](const Tensor &x) {
    Tensor y = x;
    line = __LINE__ + 1;
    while (checkpointed(y < 3))
      y = y * 2;
    return y;
  };
  check(f);
  check(function(f));
  EXPECT_CONTAINS(errorOf<ShapeError>([] {
                    for (Tensor row : checkpointed(scalar(1.0)))
                      (void)row;
                  }),
                  "a loop over a tensor takes its slices along axis 0, and a scalar has none");
}
