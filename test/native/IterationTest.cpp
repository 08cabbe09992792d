// Loops by declaration: over ranges, and the slices of tensors. Those over data sets are in DatasetLoopsTest.cpp.
#include "calque/training.h"
#include "test/Tensors.h"
#include "test/frontend/Testing.h"

#include <algorithm>
#include <iterator>
#include <ranges>

using namespace calque;
using namespace calque::testing;

static_assert(std::input_iterator<LoopIterator> && std::copyable<LoopIterator>);
static_assert(std::sentinel_for<std::default_sentinel_t, LoopIterator>);
static_assert(std::ranges::input_range<Tensor> && std::ranges::input_range<Range>);
static_assert(!std::ranges::forward_range<Tensor>);

namespace {

Tensor numbers(const Shape &shape, double first = 0.25) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < sizeOf(shape); ++i)
    values.push_back(first + 0.375 * static_cast<double>(i));
  return tensor(values, shape);
}

Tensor asDouble(const Tensor &i) { return cast(i, DType::Float64); }

// Values and gradients, eagerly and compiled, in the lambda and around it.
template <typename F> void expectSame(F f, const std::vector<Tensor> &inputs) {
  auto total = [f](const Tensor &v) { return sum(f(v)); };
  auto compiled = function(f);
  auto inside = function(grad(total)), around = grad(function(total));
  auto expectNear = [](const Tensor &expected, const Tensor &found) {
    std::vector<double> a = valuesOf(expected), b = valuesOf(found);
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i)
      EXPECT_NEAR(a[i], b[i], 1e-9 * (1 + std::abs(a[i])));
  };
  for (const Tensor &x : inputs) {
    Tensor slope = grad(total)(x);
    expectNear(f(x), compiled(x));
    expectNear(slope, inside(x));
    expectNear(slope, around(x));
  }
}

} // namespace

//===-- Ranges ----------------------------------------------------------------------------------===//

TEST(NativeRange, CountsLikeACppLoop) {
  auto digits = [](const Range &numbers) {
    Tensor all = scalar<std::int64_t>(0);
    for (Tensor i : numbers)
      all = all * 10 + i;
    return all;
  };
  auto check = [&](std::int64_t expected, const std::function<Range()> &make) {
    EXPECT_EQ(digits(make()).item<std::int64_t>(), expected);
    EXPECT_EQ(function([&] { return digits(make()); })().item<std::int64_t>(), expected);
  };
  check(123, [] { return range(4); });
  check(2345, [] { return range(2, 6); });
  check(135, [] { return range(1, 6, 2); });
  check(6420, [] { return range(6, -1, -2); });
  check(0, [] { return range(0); });
  check(0, [] { return range(5, 2); });
  check(12, [] { return range(scalar(3)); });
  check(345, [] { return range(scalar<std::int64_t>(3), 6, scalar(1)); });
  check(12, [] { return range(ones({3, 7}).shape()[0]); });
}

TEST(NativeRange, TakesTracedBounds) {
  auto f = function([](const Tensor &begin, const Tensor &end, const Tensor &step) {
    Tensor all = scalar<std::int64_t>(0);
    for (Tensor i : range(begin, end, step))
      all = all * 10 + i;
    return all;
  });
  auto at = [&](int begin, int end, int step) {
    return f(scalar(begin), scalar<std::int64_t>(end), scalar(step)).item<std::int64_t>();
  };
  EXPECT_EQ(at(1, 4, 1), 123);
  EXPECT_EQ(at(1, 8, 3), 147);
  EXPECT_EQ(at(7, 1, -3), 74);
  EXPECT_EQ(at(4, 4, 1), 0);
  EXPECT_EQ(f.trace_count(), 1);
  std::string text = errorOf<AssertionError>([&] { at(1, 2, 0); });
  EXPECT_CONTAINS(text, "range: the step is 0");
  EXPECT_CONTAINS(text, "IterationTest.cpp");
}

// The number of operations does not depend on the bound.
TEST(NativeRange, IsALoopOfTheProgram) {
  auto textOf = [](int n) {
    auto f = function([n](const Tensor &x) {
      Tensor y = x;
      for (Tensor i : range(n))
        y = y * x + asDouble(i);
      return y;
    });
    return f.ir("traced", scalar<double>(1.0));
  };
  std::string few = textOf(3), many = textOf(1000);
  EXPECT_CONTAINS(few, "while");
  EXPECT_EQ(std::ranges::count(few, '\n'), std::ranges::count(many, '\n'));
}

TEST(NativeRange, LeavesAndGoesOnAsCppDoes) {
  auto f = [](const Tensor &x) {
    Tensor all = x * 0, last = x;
    for (Tensor i : range(20)) {
      Tensor t = asDouble(i);
      if (t * t > 50)
        break;
      if (sum(x) * t < 3)
        continue;
      for (const Tensor &j : range(i, 8)) {
        if (j == 6)
          break;
        all = all + x * asDouble(j);
      }
      last = t * x;
    }
    return all + last;
  };
  expectSame(f, {numbers({2}, 0.25), numbers({2}, -3), numbers({2}, 4.5)});
  auto find = [](const Tensor &x) {
    for (auto i : range(0, 100)) {
      Tensor t = asDouble(i);
      if (t * t > sum(x))
        return t * x;
    }
    return -x;
  };
  expectSame(find, {numbers({2}, 0.25), numbers({2}, 30), numbers({2}, 9000)});
}

TEST(NativeRange, AssignsVariablesAndTrains) {
  Variable w(scalar<double>(0.0), {.name = "w"});
  auto f = [&](const Tensor &x) {
    for (Tensor i : range(30)) {
      GradientTape tape;
      Tensor loss = square(w * x - 3.0);
      w.assign_sub(0.01 * *tape.gradient(loss, w) / (asDouble(i) + 1));
    }
    return w.value();
  };
  Tensor eager = f(scalar<double>(2.0));
  w.assign(scalar<double>(0.0));
  EXPECT_NEAR(function(f)(scalar<double>(2.0)).item<double>(), eager.item<double>(), 1e-12);
}

// The path that leaves after one iteration finds elements unwritten, which no call does.
TEST(NativeRange, FillsAnArrayOfKnownSize) {
  auto powers = [](const Tensor &x) {
    TensorArray all(4);
    Tensor power = x;
    for (Tensor i : range(4)) {
      all.write(i, power);
      power = power * x;
    }
    return all.stack();
  };
  expectSame(powers, {numbers({3}), numbers({3}, -1)});
  auto some = [](const Tensor &x, const Tensor &n) {
    TensorArray all(3, DType::Float64, {});
    for (Tensor i : range(n))
      all.write(i, x * asDouble(i));
    return all.stack();
  };
  auto compiled = function(some);
  Tensor x = scalar<double>(2);
  EXPECT_EQ(valuesOf(compiled(x, scalar(3))), (std::vector<double>{0, 2, 4}));
  for (int n : {0, 1, 2})
    EXPECT_CONTAINS(errorOf<AssertionError>([&] { compiled(x, scalar(n)); }), "TensorArray::stack: ");
}

// An assertion in a branch or a loop, such as that an element is written once, is one of each example.
TEST(NativeRange, FillsAnArrayForEachExample) {
  auto powers = [](const Tensor &x) {
    TensorArray all(4, DType::Float64, {});
    for (Tensor i : range(4))
      all.write(i, x * asDouble(i + 1));
    return sum(all.stack() * all.stack());
  };
  Tensor x = numbers({3});
  Tensor expected = stack({powers(x[0]), powers(x[1]), powers(x[2])});
  for (const Tensor &found : {vmap(powers)(x), vmap(function(powers))(x), function(vmap(powers))(x)})
    EXPECT_EQ(valuesOf(found), valuesOf(expected));
  EXPECT_EQ(valuesOf(vmap(grad(powers))(x)),
            valuesOf(stack({grad(powers)(x[0]), grad(powers)(x[1]), grad(powers)(x[2])})));
  // As many iterations as the example says; the third example writes an element twice.
  auto some = [](const Tensor &n) {
    TensorArray all(3, DType::Float64, {}, {.zeros = true});
    for (Tensor i : range(n))
      all.write(minimum(i, 2), asDouble(i) + 1);
    return sum(all.stack());
  };
  EXPECT_EQ(valuesOf(vmap(some)(tensor({1, 3}))), (std::vector<double>{1, 6}));
  EXPECT_CONTAINS(errorOf<AssertionError>([&] { vmap(some)(tensor({1, 3, 4})); }), "an element was written before");
}

TEST(NativeRange, IsRefusedWithTheLine) {
  auto refused = [](const char *part, const std::function<void()> &statement) {
    for (bool traced : {false, true}) {
      std::string text = traced ? errorOf<Error>([&] {
        function([&](const Tensor &x) {
          statement();
          return x;
        })(scalar<double>(1.0));
      })
                                : errorOf<Error>(statement);
      EXPECT_CONTAINS(text, part);
      EXPECT_CONTAINS(text, "IterationTest.cpp");
    }
  };
  refused("range: the step is 0", [] { range(0, 3, 0); });
  refused("range: the step is 0", [] { range(0, 3, scalar(0)); });
  refused("range: the end must be an integer scalar, not float32[]", [] { range(2.5f); });
  refused("range: the end must be an integer scalar, not bool[]", [] { range(true); });
  refused("range: the beginning must be an integer scalar, not int32[2]", [] { range(tensor({1, 2}), 3); });
  refused("range: the step must be an integer scalar, not float64[]", [] { range(0, 3, scalar<double>(1.0)); });
  refused("a loop over a tensor takes its slices along axis 0, and a scalar has none; it is float64[]", [] {
    for (Tensor row : scalar<double>(1.0))
      (void)row;
  });
  EXPECT_CONTAINS(errorOf<StateError>([] {
                    for (Tensor row : Tensor())
                      (void)row;
                  }),
                  "an empty tensor is used");
  auto done = range(0).begin();
  EXPECT_CONTAINS(errorOf<StateError>([&] { *done; }),
                  "the iterator of a loop is at its end, where there is no element");
  EXPECT_CONTAINS(errorOf<StateError>([&] { ++done; }), "the iterator of a loop is at its end and can't go further");
}

//===-- Slices ----------------------------------------------------------------------------------===//

TEST(NativeRows, AreTheSlicesOfATensor) {
  auto norms = [](const Tensor &x) {
    Tensor all = scalar<double>(0.0), before = scalar<double>(1.0);
    for (Tensor row : x) {
      all = all * 0.5 + sum(square(row)) * before;
      before = tanh(sum(row));
    }
    return all;
  };
  expectSame(norms, {numbers({3}), numbers({1, 5}), numbers({2, 3, 2})});
  both(norms, zeros({0, 3}, DType::Float64));
  both(
      [](const Tensor &x) {
        Tensor all = scalar(0.0f);
        for (const Tensor &row : x)
          all = all + row;
        return all;
      },
      tensor<float>({1, 2, 3}));
  both(
      [](const Tensor &x) {
        Tensor all = scalar(0);
        for (auto &row : x)
          all = all * 10 + row;
        return all;
      },
      tensor<int>({1, 2, 3}));
  expectDerivatives([&](const std::vector<Tensor> &x) { return norms(x[0]); }, {numbers({3, 2})}, 2);
}

TEST(NativeRows, CarryStateAndLeaveEarly) {
  Tensor w = numbers({2, 2}, -0.5);
  auto f = [&](const Tensor &x) {
    Tensor h = zeros({1, 2}, DType::Float64);
    for (Tensor row : x) {
      h = tanh(matmul(h, w) + row);
      if (sum(h) > 1.7)
        break;
    }
    return h;
  };
  expectSame(f, {numbers({4, 2}, -3), numbers({4, 2}, -0.5), numbers({4, 2}, 0.5)});
  // By what the loop captures.
  GradientTape tape({.persistent = true});
  tape.watch(w);
  Tensor x = numbers({4, 2}, -0.5), eager = sum(f(x)), compiled = sum(function(f)(x));
  std::vector<double> a = valuesOf(*tape.gradient(eager, w)), b = valuesOf(*tape.gradient(compiled, w));
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a[i], b[i], 1e-9);
}

TEST(NativeRows, MayBeAsManyAsTheCallSays) {
  auto f = function<Tensor(Tensor)>(
      [](const Tensor &x) {
        Tensor all = zeros({2}, DType::Float64);
        for (Tensor row : x)
          for (Tensor i : range(x.shape()[0]))
            all = all + row * asDouble(i);
        return all;
      },
      {.input_signature = {TensorSpec<double>({kDynamic, 2})}});
  EXPECT_EQ(valuesOf(f(tensor<double>({1, 2, 3, 4}, {2, 2}))), (std::vector<double>{4, 6}));
  EXPECT_EQ(valuesOf(f(tensor<double>({1, 2, 3, 4, 5, 6}, {3, 2}))), (std::vector<double>{27, 36}));
  EXPECT_EQ(valuesOf(f(zeros({0, 2}, DType::Float64))), (std::vector<double>{0, 0}));
  EXPECT_EQ(f.trace_count(), 1);
}

TEST(NativeRows, AreBatched) {
  auto f = [](const Tensor &x) {
    Tensor all = scalar<double>(1.0);
    for (Tensor row : x)
      all = all * 0.5 + sum(square(row));
    return all;
  };
  Tensor x = numbers({3, 2, 2});
  std::vector<double> all = valuesOf(vmap(f)(x)), slopes = valuesOf(function(vmap(grad(f)))(x)), each, eachSlope;
  for (Tensor one : x) {
    each.push_back(f(one).item<double>());
    for (double slope : valuesOf(grad(f)(one)))
      eachSlope.push_back(slope);
  }
  EXPECT_EQ(all, each);
  for (std::size_t i = 0; i < slopes.size(); ++i)
    EXPECT_NEAR(slopes[i], eachSlope[i], 1e-12);
}

TEST(NativeRows, AreAnInputRange) {
  Tensor x = tensor<int>({4, 7, 9});
  auto third = x.begin();
  ++third;
  auto second = third; // a copy goes on by itself
  ++third;
  EXPECT_EQ(second->item<int>(), 7);
  EXPECT_EQ(third->item<int>(), 9);
  EXPECT_EQ(std::ranges::distance(x), 3);
  EXPECT_TRUE(std::ranges::any_of(x, [](const Tensor &row) { return bool(row == 7); }));
  EXPECT_EQ(std::ranges::find_if(x, [](const Tensor &row) { return bool(row > 5); })->item<int>(), 7);
  both(
      [](const Tensor &v) {
        Tensor all = scalar(0);
        std::ranges::for_each(v, [&](const Tensor &row) { all = all * 10 + row; });
        return all;
      },
      x);
  // A tensor stays a leaf of structures, and is printed as one.
  EXPECT_EQ(detail::tensorsIn(std::pair(x, x)).size(), 2u);
  EXPECT_EQ(::testing::PrintToString(x), "[4 7 9]");
}
