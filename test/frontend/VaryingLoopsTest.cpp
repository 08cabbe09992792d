// Loops whose variables change their sizes from iteration to iteration.
#include "test/Tensors.h"
#include "test/frontend/Misuse.h"

#include <sys/resource.h>

using namespace calque;
using namespace calque::testing;

namespace {

void expectSame(const Tensor &found, const Tensor &expected, double tolerance = 1e-12) {
  ASSERT_EQ(found.dtype(), expected.dtype());
  ASSERT_EQ(found.shape(), expected.shape());
  for (std::size_t i = 0; i < valuesOf(expected).size(); ++i)
    EXPECT_NEAR(valuesOf(found)[i], valuesOf(expected)[i], tolerance) << i;
}

Tensor ramp(std::int64_t rows) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < 2 * rows; ++i)
    values.push_back(std::cos(static_cast<double>(i)));
  return tensor(values, {rows, 2});
}

const std::vector<std::optional<Shape>> kRows{std::nullopt, Shape{kDynamic, 2}};

// n times, a row that all rows make is added.
Tensor grown(const Tensor &x, const Tensor &w, const Tensor &n) {
  return std::get<1>(while_loop([&](const Tensor &i, const Tensor &) { return i < n; },
                                [&](const Tensor &i, const Tensor &xs) {
                                  return std::tuple(i + 1, concat({xs, tanh(sum(xs * w, {0}, true))}, 0));
                                },
                                std::tuple(scalar(0), x), {.shape_invariants = kRows}));
}

// Rows are taken from the front until few are left.
Tensor shrunk(const Tensor &x, std::int64_t left) {
  return while_loop([&](const Tensor &xs) { return size(xs, 0) > left; },
                    [&](const Tensor &xs) { return split(xs, {1, -1}, 0)[1] * 0.5; }, x,
                    {.shape_invariants = {Shape{kDynamic, 2}}});
}

} // namespace

TEST(VaryingLoops, GiveWhatHasGrown) {
  const Tensor w = scalar<double>(0.3);
  auto f = function(grown);
  for (std::int64_t rows : {1, 3, 8})
    for (int n : {0, 1, 5, 20}) {
      const Tensor expected = grown(ramp(rows), w, scalar(n)), found = f(ramp(rows), w, scalar(n));
      EXPECT_EQ(found.shape(), (Shape{rows + n, 2}));
      expectSame(found, expected);
    }
}

TEST(VaryingLoops, GiveWhatHasShrunk) {
  auto f = function([](const Tensor &x) { return shrunk(x, 2); });
  for (std::int64_t rows : {1, 2, 3, 9})
    expectSame(f(ramp(rows)), shrunk(ramp(rows), 2));
}

// One trace for all sizes, with sizes that are open before, in and behind the loop.
TEST(VaryingLoops, HaveOpenSizesAround) {
  auto f = function(
      [](const Tensor &x, const Tensor &n) {
        Tensor y = grown(x, scalar<double>(0.3), n);
        return std::tuple(y, sum(y, {0}), x * 2., concat({x, y}, 0), reshape(y, {-1}));
      },
      {.input_signature = {TensorSpec<double>({kDynamic, 2}), TensorSpec<std::int32_t>({})}});
  for (std::int64_t rows : {1, 4})
    for (int n : {0, 7}) {
      Tensor y = grown(ramp(rows), scalar<double>(0.3), scalar(n));
      auto [all, sums, twice, joined, flat] = f(ramp(rows), scalar(n));
      expectSame(all, y);
      expectSame(sums, sum(y, {0}));
      expectSame(twice, ramp(rows) * 2.);
      expectSame(joined, concat({ramp(rows), y}, 0));
      expectSame(flat, reshape(y, {-1}));
    }
  EXPECT_EQ(f.trace_count(), 1);
}

// What a loop of this kind gives is the beginning of another one.
TEST(VaryingLoops, FollowEachOther) {
  auto f = [](const Tensor &x, const Tensor &n) {
    Tensor y = shrunk(grown(x, scalar<double>(0.3), n), 3);
    return std::pair(sum(y), grown(y, scalar<double>(-0.2), n + 1));
  };
  auto compiled = function(f);
  for (int n : {0, 6}) {
    auto [total, rows] = compiled(ramp(2), scalar(n));
    auto [expectedTotal, expectedRows] = f(ramp(2), scalar(n));
    expectSame(total, expectedTotal);
    expectSame(rows, expectedRows);
  }
}

TEST(VaryingLoops, StandInsideOfEachOther) {
  auto f = [](const Tensor &x, const Tensor &n) {
    return std::get<1>(while_loop([&](const Tensor &i, const Tensor &) { return i < n; },
                                  [&](const Tensor &i, const Tensor &xs) {
                                    Tensor more = grown(xs, scalar<double>(0.1), i);
                                    return std::tuple(i + 1, concat({shrunk(more, 4), xs * 0.9}, 0));
                                  },
                                  std::tuple(scalar(0), x), {.shape_invariants = kRows}));
  };
  auto compiled = function(f);
  for (int n : {0, 1, 3})
    expectSame(compiled(ramp(2), scalar(n)), f(ramp(2), scalar(n)));
}

// In a branch, in a loop whose own variables keep their shapes, and around both.
TEST(VaryingLoops, StandInOtherControlFlow) {
  auto f = [](const Tensor &x, const Tensor &n) {
    Tensor inBranch =
        cond(n > 2, [&] { return sum(grown(x, scalar<double>(0.3), n), {0}); }, [&] { return sum(x, {0}); });
    Tensor inRange = for_range(0, n, inBranch, [&](const Tensor &i, const Tensor &y) {
      return y * 0.5 + max(grown(x, scalar<double>(0.2), cast(i, DType::Int32)), {0});
    });
    Tensor around =
        while_loop([](const Tensor &xs) { return size(xs, 0) < 9; },
                   [](const Tensor &xs) {
                     Tensor row =
                         cond(sum(xs) > 0, [&] { return sum(xs, {0}, true); }, [&] { return max(xs, {0}, true); });
                     return concat({xs, row * 0.5}, 0);
                   },
                   x, {.shape_invariants = {Shape{kDynamic, 2}}});
    return std::tuple(inBranch, inRange, around);
  };
  auto compiled = function(f);
  for (int n : {0, 5}) {
    auto [a, b, c] = compiled(ramp(3), scalar(n));
    auto [ea, eb, ec] = f(ramp(3), scalar(n));
    expectSame(a, ea);
    expectSame(b, eb);
    expectSame(c, ec);
  }
}

// Of several dimensions, some of which vary, and of other element types; an empty beginning.
TEST(VaryingLoops, VaryInSeveralDimensions) {
  auto f = [](const Tensor &x, const Tensor &flags, const Tensor &n) {
    return while_loop([&](const Tensor &i, const Tensor &, const Tensor &) { return i < n; },
                      [](const Tensor &i, const Tensor &x, const Tensor &flags) {
                        Tensor wider = concat({x, x + i}, 1);
                        return std::tuple(i + 1, concat({wider, wider * 2}, 0),
                                          concat({flags, reshape(i > 1, {1})}, 0));
                      },
                      std::tuple(scalar(0), x, flags),
                      {.shape_invariants = {std::nullopt, Shape{kDynamic, kDynamic, 2}, Shape{kDynamic}}});
  };
  auto compiled = function(f);
  const Tensor x = tensor<std::int32_t>({1, 2, 3, 4}, {1, 2, 2}), none = zeros({0}, DType::Bool);
  for (int n : {0, 1, 3}) {
    auto [i, y, flags] = compiled(x, none, scalar(n));
    auto [ei, ey, eflags] = f(x, none, scalar(n));
    expectSame(i, ei);
    expectSame(y, ey);
    expectSame(flags, eflags);
  }
}

// What an iteration gives may have a known size, whatever it was before.
TEST(VaryingLoops, TakeWhatHasAKnownSize) {
  auto f = [](const Tensor &x, const Tensor &n) {
    return std::get<1>(
        while_loop([&](const Tensor &i, const Tensor &) { return i < n; },
                   [](const Tensor &i, const Tensor &xs) { return std::tuple(i + 1, tanh(sum(xs, {0}, true)) * 3.); },
                   std::tuple(scalar(0), x), {.shape_invariants = kRows}));
  };
  auto compiled = function(f);
  auto slope = function(grad([&](const Tensor &x) { return sum(f(x, scalar(2))); }));
  for (int n : {0, 1, 2})
    expectSame(compiled(ramp(3), scalar(n)), f(ramp(3), scalar(n)));
  expectSame(slope(ramp(3)), slope.eager(ramp(3)));
}

TEST(VaryingLoops, AssignVariablesAndDraw) {
  Variable count(scalar(0)), last(zeros({2}, DType::Float64));
  auto f = [&](const Tensor &x) {
    Tensor y = while_loop([&](const Tensor &xs) { return size(xs, 0) < 6; },
                          [&](const Tensor &xs) {
                            count.assign_add(1);
                            last.assign(sum(xs, {0}));
                            return concat({xs, expand_dims(last, 0)}, 0);
                          },
                          x, {.shape_invariants = {Shape{kDynamic, 2}}});
    count.assign_add(10);
    return y;
  };
  auto compiled = function(f);
  const Tensor expected = f(ramp(2));
  EXPECT_EQ(count.value().item<int>(), 14);
  const Tensor lastRow = last.value();
  expectSame(compiled(ramp(2)), expected);
  EXPECT_EQ(count.value().item<int>(), 28);
  expectSame(last.value(), lastRow);
}

// Loop variables and values around whose sizes only the call knows, and which keep them.
TEST(VaryingLoops, LeaveOtherOpenSizesAsTheyAre) {
  auto f = [](const Tensor &x, const Tensor &w) {
    return while_loop([](const Tensor &xs, const Tensor &, const Tensor &) { return size(xs, 0) < 7; },
                      [&](const Tensor &xs, const Tensor &v, const Tensor &total) {
                        Tensor y = grown(xs, scalar<double>(0.2), scalar(1));
                        return std::tuple(concat({y, xs}, 0), v * 0.5 + sum(y) * w, total + sum(v * w));
                      },
                      std::tuple(x, w * 1.5, scalar<double>(0)),
                      {.shape_invariants = {Shape{kDynamic, 2}, std::nullopt, std::nullopt}});
  };
  auto loss = [&](const Tensor &x, const Tensor &w) {
    auto [xs, v, total] = f(x, w);
    return sum(xs * xs) + sum(v * v) + total;
  };
  FunctionOptions open{.input_signature = {TensorSpec<double>({kDynamic, 2}), TensorSpec<double>({kDynamic})}};
  auto compiled = function(f, open);
  auto slopes = function(grad(loss, {.argnums = {0, 1}}), open);
  for (std::int64_t n : {1, 3}) {
    const Tensor w = (iota({n}, DType::Float64) + 1) * 0.125;
    auto [xs, v, total] = compiled(ramp(2), w);
    auto [exs, ev, etotal] = f(ramp(2), w);
    expectSame(xs, exs);
    expectSame(v, ev);
    expectSame(total, etotal);
    auto found = slopes(ramp(2), w), expected = slopes.eager(ramp(2), w);
    for (int i : {0, 1})
      expectSame(found[static_cast<std::size_t>(i)], expected[static_cast<std::size_t>(i)], 1e-9);
  }
}

TEST(VaryingLoops, StandInBranchesThatGiveThem) {
  auto f = [](const Tensor &x, const Tensor &n) {
    Tensor y = cond(n > 2, [&] { return grown(x, scalar<double>(0.3), n); }, [&] { return shrunk(x, 2); });
    return y * 2.;
  };
  auto loss = [&](const Tensor &x, const Tensor &n) { return sum(square(f(x, n))); };
  auto compiled = function(f);
  auto slope = function(grad(loss));
  for (int n : {1, 4}) {
    expectSame(compiled(ramp(3), scalar(n)), f(ramp(3), scalar(n)));
    expectSame(slope(ramp(3), scalar(n)), slope.eager(ramp(3), scalar(n)));
  }
}

//===-- Derivatives -----------------------------------------------------------------------------===//

TEST(VaryingLoops, HaveGradients) {
  auto loss = [](const Tensor &x, const Tensor &w, const Tensor &n) {
    Tensor y = shrunk(grown(x, w, n), 3);
    return sum(y * y * y) + sum(sin(y));
  };
  auto slopes = function(grad(loss, {.argnums = {0, 1}}));
  for (int n : {0, 1, 6}) {
    auto found = slopes(ramp(4), scalar<double>(0.3), scalar(n)),
         expected = slopes.eager(ramp(4), scalar<double>(0.3), scalar(n));
    expectSame(found[0], expected[0]);
    expectSame(found[1], expected[1]);
  }
}

TEST(VaryingLoops, HaveGradientsOfLateResults) {
  auto slope = [](const Tensor &x, const Tensor &w) {
    GradientTape tape;
    tape.watch(x);
    Tensor y = grown(x, w, scalar(3));
    return std::pair(*tape.gradient(y * y, x), y);
  };
  auto compiled = function(slope);
  auto [found, y] = compiled(ramp(2), scalar<double>(0.4));
  auto [expected, ey] = slope(ramp(2), scalar<double>(0.4));
  expectSame(found, expected);
  expectSame(y, ey);
}

// A compiled function under an eager tape.
TEST(VaryingLoops, HaveGradientsOfCalls) {
  auto f = function(grown);
  auto slope = [&](auto &&f) {
    GradientTape tape;
    const Tensor x = ramp(2), w = scalar<double>(0.4);
    tape.watch(x);
    tape.watch(w);
    Tensor y = f(x, w, scalar(4));
    Tensor loss = sum(y * y);
    auto gradients = tape.gradient(loss, std::vector<Tensor>{x, w});
    return std::pair(*gradients[0], *gradients[1]);
  };
  auto [x, w] = slope(f);
  auto [ex, ew] = slope(grown);
  expectSame(x, ex);
  expectSame(w, ew);
}

TEST(VaryingLoops, HaveForwardDerivatives) {
  auto f = [](const Tensor &x, const Tensor &w) {
    Tensor y = shrunk(grown(x, w, scalar(5)), 3);
    return sum(y * sin(y));
  };
  auto derivative = [&](const Tensor &x) {
    return jvp(f, std::tuple(x, scalar<double>(0.3)), std::tuple(ramp(2) + 0.5, scalar<double>(1.0)));
  };
  auto [value, tangent] = function(derivative)(ramp(2));
  auto [expected, expectedTangent] = derivative(ramp(2));
  expectSame(value, expected);
  expectSame(tangent, expectedTangent);
}

// Derivatives of derivatives: forward over reverse, and reverse over reverse.
TEST(VaryingLoops, HaveSecondDerivatives) {
  auto f = [](const Tensor &x) { return sum(sin(grown(x, scalar<double>(0.3), scalar(3)))); };
  auto product = [&](const Tensor &x) { return hvp(f)(x, ramp(2) + 0.25); };
  auto twice = [&](const Tensor &x) { return grad([&](const Tensor &x) { return sum(grad(f)(x) * ramp(2)); })(x); };
  expectSame(function(product)(ramp(2)), product(ramp(2)));
  expectSame(function(twice)(ramp(2)), twice(ramp(2)));
}

//===-- Cost ------------------------------------------------------------------------------------===//

// What an iteration leaves does not stay until the call ends: 100,000 iterations make 800 MB of rows.
TEST(VaryingLoops, KeepNoMoreThanAnIteration) {
  auto f = function([](const Tensor &x, const Tensor &n) {
    return std::get<1>(while_loop([&](const Tensor &i, const Tensor &) { return i < n; },
                                  [](const Tensor &i, const Tensor &xs) {
                                    std::vector<Tensor> parts = split(xs, {1, -1}, 0);
                                    return std::tuple(i + 1, concat({parts[1], parts[0]}, 0));
                                  },
                                  std::tuple(scalar(0), x),
                                  {.shape_invariants = {std::nullopt, Shape{kDynamic, 250}}}));
  });
  const Tensor x = reshape(iota({1000}, DType::Float64), {4, 250});
  expectSame(f(x, scalar(2)), concat({x.rows(2, 4), x.rows(0, 2)}, 0));
  auto peak = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss; // in kB
  };
  const auto before = peak();
  expectSame(f(x, scalar(100000)), x);
  EXPECT_LT(peak() - before, 50'000);
}

//===-- Refused ---------------------------------------------------------------------------------===//

TEST(VaryingLoops, RefuseWhatIsNotDeclared) {
  auto grow = [](const Tensor &x, const WhileOptions &options) {
    return while_loop([](const Tensor &xs) { return size(xs, 0) < 6; },
                      [](const Tensor &xs) { return concat({xs, xs}, 0); }, x, options);
  };
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { grow(ramp(2), {}); }), "while_loop: loop variable 0 is float64[2,2]");
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { function([&](const Tensor &x) { return grow(x, {}); })(ramp(2)); }),
                  "while_loop: loop variable 0 is float64[2,2]");
  for (bool traced : {false, true}) {
    auto run = [&](WhileOptions options) {
      auto f = [&](const Tensor &x) { return grow(x, options); };
      traced ? function(f)(ramp(2)) : f(ramp(2));
    };
    EXPECT_CONTAINS(errorOf<ShapeError>([&] { run({.shape_invariants = {Shape{kDynamic, 3}}}); }),
                    "and its shape invariant is [?,3]");
    EXPECT_CONTAINS(errorOf<ShapeError>([&] { run({.shape_invariants = {Shape{kDynamic}}}); }),
                    "and its shape invariant is [?]");
    EXPECT_CONTAINS(errorOf<ShapeError>([&] { run({.shape_invariants = {Shape{2, kDynamic}}}); }),
                    "while_loop: loop variable 0 is float64[2,2]");
    EXPECT_CONTAINS(errorOf<ValueError>([&] { run({.shape_invariants = {std::nullopt, std::nullopt}}); }),
                    "while_loop: there are 2 shape invariants for loop variables that are 1 tensor");
    EXPECT_CONTAINS(errorOf<ValueError>([&] { run({.checkpoint = true, .shape_invariants = {Shape{kDynamic, 2}}}); }),
                    "while_loop: checkpoint needs loop variables that keep their shapes");
  }
  EXPECT_CONTAINS(errorOf<Error>([&] {
                    vmap([&](const Tensor &x) { return sum(grow(x, {.shape_invariants = {Shape{kDynamic, 2}}})); })(
                        ones({3, 2, 2}));
                  }),
                  "loop variables whose sizes vary, which differ from example to example");
}

// Sizes that do not vary are those that were declared, whatever else the body does to the shape.
TEST(VaryingLoops, RefuseOtherSizesOfWhatDoesNotVary) {
  auto turned = [](const Tensor &m) {
    return while_loop([](const Tensor &a) { return size(a) < 20; },
                      [](const Tensor &a) { return transpose(concat({a, a}, 0)); }, m,
                      {.shape_invariants = {Shape{kDynamic, 2}}});
  };
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { turned(ramp(2)); }), "and the body gives float64[2,4]");
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { function(turned)(ramp(2)); }), "and the body gives float64[2,?]");
  // The size of a tensor is no kDynamic, though it is not known either.
  auto widened = [](const Tensor &m) {
    return while_loop([](const Tensor &a) { return size(a) < 20; }, [](const Tensor &a) { return concat({a, a}, 1); },
                      m, {.shape_invariants = {Shape{kDynamic, m.shape()[1]}}});
  };
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { widened(ramp(2)); }), "and the body gives float64[2,4]");
  auto open = function(widened, {.input_signature = {TensorSpec<double>({kDynamic, kDynamic})}});
  EXPECT_CONTAINS(errorOf<AssertionError>([&] { open(ramp(2)); }),
                  "while_loop: dimension 1 of loop variable 0 changes its size, and does not vary");
}

// A few iterations of a known number are no less checked than many.
TEST(VaryingLoops, RefuseToVaryUndeclaredHoweverFewIterations) {
  for (int n : {1, 3, 10}) {
    auto grows = [n](const Tensor &v) {
      return for_range(0, n, v, [&](const Tensor &, const Tensor &a) { return concat({a, v}); });
    };
    auto f = function(grows, {.input_signature = {TensorSpec<float>({kDynamic})}});
    EXPECT_CONTAINS(errorOf<ShapeError>([&] { f(ones({2})); }), "for_range: ");
  }
}

TEST(VaryingLoops, SayWhatIsAssignedInside) {
  Variable w(zeros({3}));
  auto assigns = function(
      [&](const Tensor &y, const Tensor &n) {
        return cond(
            n > 0,
            [&] {
              w.assign(y);
              return sum(y);
            },
            [&] { return sum(y) * 2; });
      },
      {.input_signature = {TensorSpec<float>({kDynamic}), TensorSpec<std::int32_t>({})}});
  EXPECT_EQ(assigns(ones({3}), scalar(1)).item<float>(), 3);
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { assigns(ones({2}), scalar(1)); }),
                  "a variable can't be assigned a value of other sizes in a branch or a loop: ");
  EXPECT_EQ(valuesOf(w.value())[0], 1);
}
