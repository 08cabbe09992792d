// Loops whose reverse keeps the loop variables of some iterations, and computes the others again.
#include "test/Tensors.h"
#include "test/frontend/Testing.h"

using namespace calque;
using namespace calque::testing;

namespace {

void expectClose(const Tensor &found, const Tensor &expected, double tolerance = 1e-12) {
  ASSERT_EQ(found.shape(), expected.shape());
  for (std::size_t i = 0; i < valuesOf(expected).size(); ++i)
    EXPECT_NEAR(valuesOf(found)[i], valuesOf(expected)[i], tolerance) << i;
}

// A function of x that computes y = sin(y) * x + z for n iterations, as each kind of loop does.
enum class Kind { While, Limited, Range, Down, Fold, Scan, Backwards };
constexpr Kind kKinds[] = {Kind::While, Kind::Limited, Kind::Range,    Kind::Down,
                           Kind::Fold,  Kind::Scan,    Kind::Backwards};

Tensor looped(Kind kind, bool checkpoint, const Tensor &x, const Tensor &steps) {
  const Tensor n = cast(steps.shape()[0], DType::Int64), y = x * 0.5;
  auto next = [&](const Tensor &y, const Tensor &z) { return sin(y) * x + z; };
  auto at = [&](const Tensor &i) { return gather(steps, i); };
  switch (kind) {
  case Kind::While:
  case Kind::Limited: {
    WhileOptions options{.checkpoint = checkpoint};
    if (kind == Kind::Limited)
      options.maximum_iterations = 5;
    return std::get<1>(while_loop([&](const Tensor &i, const Tensor &) { return i < n; },
                                  [&](const Tensor &i, const Tensor &y) { return std::tuple(i + 1, next(y, at(i))); },
                                  std::tuple(cast(scalar(0), DType::Int64), y), options));
  }
  case Kind::Range:
    return for_range(0, n, y, [&](const Tensor &i, const Tensor &y) { return next(y, at(i)); },
                     {.checkpoint = checkpoint});
  case Kind::Down:
    return for_range(n - 1, -1, y, [&](const Tensor &i, const Tensor &y) { return next(y, at(i)); },
                     {.step = -1, .checkpoint = checkpoint});
  case Kind::Fold:
    return fold(next, y, steps, {.checkpoint = checkpoint});
  default: {
    auto [last, all] = scan(
        [&](const Tensor &y, const Tensor &z) {
          Tensor made = next(y, z);
          return std::pair(made, made * made);
        },
        y, steps, {.reverse = kind == Kind::Backwards, .checkpoint = checkpoint});
    return last + sum(all, {0});
  }
  }
}

Tensor ramp(std::int64_t n) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < 2 * n; ++i)
    values.push_back(std::cos(static_cast<double>(i)));
  return tensor(values, {n, 2});
}

std::size_t count(const std::string &text, const std::string &part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

} // namespace

TEST(CheckpointedLoops, HaveTheSameGradients) {
  Tensor x = tensor<double>({0.3, 1.2});
  for (Kind kind : kKinds) {
    auto gradients = [&](bool checkpoint) {
      return [=](const Tensor &x, const Tensor &steps) {
        return value_and_grad([&](const std::pair<Tensor, Tensor> &at) {
          return sum(looped(kind, checkpoint, at.first, at.second));
        })(std::pair(x, steps));
      };
    };
    std::vector<TensorSpec<>> open{TensorSpec<double>({2}), TensorSpec<double>({kDynamic, 2})};
    auto checkpointed = function(gradients(true), {.input_signature = open});
    for (std::int64_t n : {0, 1, 2, 3, 7, 11}) {
      auto [y, g] = checkpointed(x, ramp(n));
      auto [expectedY, expected] = gradients(false)(x, ramp(n)); // eagerly
      expectClose(y, expectedY);
      expectClose(g.first, expected.first);
      expectClose(g.second, expected.second);
      if (n != 7)
        continue;
      auto [eagerY, eager] = gradients(true)(x, ramp(n));
      expectClose(eagerY, expectedY);
      expectClose(eager.first, expected.first);
      expectClose(eager.second, expected.second);
    }
  }
}

TEST(CheckpointedLoops, HaveDerivativesOfAllKinds) {
  Tensor x = tensor<double>({0.3, 1.2}), steps = ramp(5), direction = tensor<double>({1, -0.5});
  for (Kind kind : {Kind::While, Kind::Scan}) {
    auto f = [&](bool checkpoint) {
      return [=](const Tensor &at) { return sum(looped(kind, checkpoint, at, steps)); };
    };
    auto all = [&](bool checkpoint) {
      return function([=](const Tensor &at) {
        auto g = f(checkpoint);
        return std::tuple(jvp(g, at, direction).second, jvp(grad(g), at, direction).second, jacobian(grad(g))(at),
                          grad([&](const Tensor &from) { return jvp(g, from, direction).second; })(at));
      });
    };
    auto [tangent, forwardOverReverse, reverseTwice, reverseOverForward] = all(true)(x);
    auto [tangent0, forwardOverReverse0, reverseTwice0, reverseOverForward0] = all(false)(x);
    expectClose(tangent, tangent0);
    expectClose(forwardOverReverse, forwardOverReverse0);
    expectClose(reverseTwice, reverseTwice0);
    expectClose(reverseOverForward, reverseOverForward0);
    // By differences of gradients.
    Tensor change = (grad(f(false))(x + direction * 1e-6) - grad(f(false))(x - direction * 1e-6)) / 2e-6;
    expectClose(forwardOverReverse, change, 1e-7);
  }
}

// Together, and where each example ends on its own.
TEST(CheckpointedLoops, AreBatched) {
  Tensor x = tensor<double>({0.3, 1.2, -0.4, 0.9, 2, 0.1}, {3, 2}), steps = ramp(6);
  auto doubled = [](const Tensor &x) {
    return sum(while_loop([](const Tensor &y) { return sum(y) < 20; },
                          [&](const Tensor &y) { return y * 1.5 + square(x); }, x, {.checkpoint = true}));
  };
  auto together = [&](const Tensor &x) { return sum(looped(Kind::Scan, true, x, steps)); };
  auto check = [&](auto f) {
    Tensor all = function([&](const Tensor &many) { return vmap(grad(f))(many); })(x),
           around = function(
               [&](const Tensor &many) { return grad([&](const Tensor &at) { return sum(vmap(f)(at)); })(many); })(x);
    for (int i = 0; i < 3; ++i) {
      Tensor expected = function(grad(f))(gather(x, i));
      expectClose(gather(all, i), expected);
      expectClose(gather(around, i), expected);
    }
  };
  check(doubled);
  check(together);
}

// What is computed again are values. Variables are assigned, numbers drawn and texts printed once.
TEST(CheckpointedLoops, ActOnce) {
  struct Seen {
    std::vector<double> y, gradient, assigned, drawn;
    std::string printed;
  };
  auto run = [](bool isCompiled, bool checkpoint) {
    random::Generator generator(7);
    Variable steps(scalar(0)), w(scalar<double>(0.5));
    auto f = [&](const Tensor &n) {
      GradientTape tape;
      Tensor y = std::get<1>(while_loop(
          [&](const Tensor &i, const Tensor &) {
            print("asked", i);
            return i < n;
          },
          [&](const Tensor &i, const Tensor &y) {
            steps.assign_add(i);
            return std::tuple(i + 1, sin(y * w) + generator.uniform({}, {.dtype = DType::Float64}));
          },
          std::tuple(scalar(0), scalar<double>(1.0)), {.checkpoint = checkpoint}));
      return std::pair(y, tape.gradient(y, w).value());
    };
    std::function<std::pair<Tensor, Tensor>(const Tensor &)> call = f;
    if (isCompiled)
      call = function(f);
    ::testing::internal::CaptureStdout();
    auto [y, g] = call(scalar(7));
    return Seen{valuesOf(y), valuesOf(g), valuesOf(steps.value()), valuesOf(generator.uniform({2})),
                ::testing::internal::GetCapturedStdout()};
  };
  const Seen expected = run(true, false);
  EXPECT_EQ(count(expected.printed, "asked"), 8u);
  for (bool isCompiled : {true, false}) {
    const Seen seen = run(isCompiled, true);
    EXPECT_EQ(seen.y, expected.y);
    EXPECT_NEAR(seen.gradient[0], expected.gradient[0], 1e-12);
    EXPECT_EQ(seen.assigned, (std::vector<double>{21}));
    EXPECT_EQ(seen.drawn, expected.drawn);
    EXPECT_EQ(seen.printed, expected.printed);
  }
}

// Without a gradient the loop is as it was, and a scan does not keep what it has stacked.
TEST(CheckpointedLoops, KeepNoMoreThanTheyNeed) {
  Tensor x = tensor<double>({0.3, 1.2});
  auto value = [](const Tensor &x) { return sum(looped(Kind::Scan, true, x, ramp(9))); };
  EXPECT_EQ(count(function(value).ir("simplified", x), "calque.while"), 1u);
  std::string ir = function(grad(value)).ir("simplified", x);
  EXPECT_EQ(count(ir, "calque.while"), 5u);
  EXPECT_EQ(count(ir, "calque.stack_push"), 6u); // the index, y and the length; in a segment the index and y
  EXPECT_EQ(count(ir, "tensor<f64>, tensor<9x2xf64>) -> tensor<f64>"), 0u) << ir;
}
