// Branches and loops of host code beside everything else: variables, random numbers, transforms, operators.
#include "test/frontend/Testing.h"
#include "test/native/Same.h"

#include <stdexcept>

using namespace calque;
using namespace calque::testing;

//===-- Values ----------------------------------------------------------------------------------===//

// A loop assigns one tensor another, which it leaves as it is. Without an iteration the first one is still its own.
TEST(NativeValues, StayWhereALoopHasNoIteration) {
  const std::vector<double> inputs{1, 3, 101, 200, 300};
  auto all = [&](auto f) {
    expectSame(f, inputs);
    expectSame(grad(f), inputs);
    expectSame([f](const Tensor &x) { return grad(function(f))(x); }, inputs);
    expectSame([f](const Tensor &x) { return function(grad(f))(x); }, inputs);
  };
  all([](Tensor x) {
    Tensor a = x * x, c = x * 0.5;
    while (x > 100) {
      c = a;
      x = x - 60;
    }
    return c;
  });
  all([](Tensor x) {
    Tensor a = sin(x), c = cos(x), d = x * 3;
    while (x > 100) {
      c = a;
      d = d + 1;
      x = x - 60;
    }
    return c + d * a;
  });
  all([](const Tensor &x) {
    Tensor a = x * 3, c = x * x;
    if (x > 100)
      for (Tensor i : range(1))
        c = a;
    return c * 1;
  });
  all([](const Tensor &x) {
    Tensor a = sin(x), c = cos(x);
    if (x > 100)
      for (Tensor i : range(3))
        c = a;
    return c * 1;
  });
  all([](const Tensor &x) {
    Tensor a = x * 3, c = x * x, rows = stack({x, x * 2});
    if (x > 100)
      for (Tensor row : rows)
        c = a;
    return c * 1;
  });
  all([](const Tensor &x) {
    Tensor a = x * 3, c = x * x, k = x * 0;
    if (x > 100)
      do {
        c = a;
        k = k + 1;
      } while (k < 3);
    return c + k;
  });
  all([](const Tensor &x) {
    Tensor a = x * 3, c = x * x;
    for (int j = 0; j < 2; ++j)
      if (x > 100 + j)
        for (Tensor i : range(2))
          c = a;
    return c * 1;
  });
  all([](const Tensor &x) {
    Tensor a = x * 3, b = x * 5, c = x * x;
    for (Tensor i : range(cast(x / 100, DType::Int64))) {
      c = b;
      b = a;
    }
    return c * b;
  });
  Variable v(scalar<double>(5)), w(scalar<double>(0));
  auto assigns = function([&](const Tensor &x) {
    Tensor a = x * 2, c = v * 1;
    if (x > 100)
      for (Tensor i : range(3))
        c = a;
    w.assign(c);
    return w * 1;
  });
  EXPECT_EQ(assigns(scalar<double>(1)).item<double>(), 5);
  EXPECT_EQ(assigns(scalar<double>(200)).item<double>(), 400);
}

//===-- Transforms ------------------------------------------------------------------------------===//

TEST(NativeVmap, TakesEachExampleItsWay) {
  auto f = [](const Tensor &v) {
    Tensor y = v;
    while (y < 100)
      y = y * v;
    return y;
  };
  Tensor x = tensor<double>({2, 3.5, 9, 30});
  std::vector<double> all = valuesOf(vmap(f)(x)),
                      inside = valuesOf(function([&](const Tensor &v) { return vmap(f)(v); })(x));
  for (std::size_t i = 0; i < kInputs.size(); ++i) {
    EXPECT_EQ(all[i], f(scalar<double>(kInputs[i])).item<double>());
    EXPECT_EQ(inside[i], all[i]);
  }
}

TEST(NativeVmap, TakesConstantsAsTheyCome) {
  auto f = [](const Tensor &k) {
    Tensor x = k, n = scalar(0);
    while (x > 1.0) {
      x = x * 0.5;
      n = n + 1;
    }
    return n;
  };
  EXPECT_EQ(valuesOf(vmap(f)(tensor<double>({0.5, 3, 20}))), (std::vector<double>{0, 2, 5}));
}

// Behind a decision that is the same for all examples, what follows belongs to no side.
TEST(NativeVmap, GoesThroughDecisionsOfAll) {
  auto f = function([](const Tensor &x, const Tensor &n) {
    Tensor y = vmap([&](const Tensor &v) {
      if (n > 3)
        return tanh(v);
      return v * 2;
    })(x);
    for (Tensor i : range(n))
      y = y + 1;
    return y;
  });
  EXPECT_EQ(valuesOf(f(tensor<double>({1, 2}), scalar(3))), (std::vector<double>{5, 7}));
  EXPECT_NEAR(valuesOf(f(tensor<double>({1, 2}), scalar(4)))[1], std::tanh(2.0) + 4, 1e-12);
}

//===-- State -----------------------------------------------------------------------------------===//

TEST(NativeState, IsAssignedWhereThePathDoes) {
  Variable count(scalar<double>(0.0), {.name = "count"});
  auto f = [&](const Tensor &x) {
    Tensor y = x;
    while (y < 100) {
      y = y * x;
      count.assign_add(1.0);
    }
    if (y > 500)
      count.assign(count * 10);
    return y + count;
  };
  auto compiled = function(f);
  for (double input : kInputs) {
    count.assign(scalar<double>(0.0));
    double eager = f(scalar<double>(input)).item<double>(), after = count.value().item<double>();
    count.assign(scalar<double>(0.0));
    EXPECT_EQ(compiled(scalar<double>(input)).item<double>(), eager);
    EXPECT_EQ(count.value().item<double>(), after);
  }
}

TEST(NativeState, DrawsRandomNumbersAsOftenAsThePathDoes) {
  random::Generator generator(7);
  auto f = [&](const Tensor &x) {
    Tensor s = x * 0, n = x * 0;
    while (s < x) {
      s = s + generator.uniform({}, {.dtype = DType::Float64});
      n = n + 1;
    }
    return n;
  };
  auto compiled = function(f);
  for (double input : kInputs) {
    generator.reset(7);
    double eager = f(scalar<double>(input)).item<double>();
    generator.reset(7);
    EXPECT_EQ(compiled(scalar<double>(input)).item<double>(), eager);
  }
}

TEST(NativeState, StaysWhereACallThrows) {
  Variable count(scalar<double>(1.0), {.name = "count"});
  auto f = function([&](const Tensor &x) {
    count.assign_add(1.0);
    if (x < 0)
      throw std::runtime_error("x is negative");
    return x;
  });
  EXPECT_EQ(f(scalar<double>(1.0)).item<double>(), 1);
  EXPECT_EQ(count.value().item<double>(), 2);
  EXPECT_CONTAINS(errorOf<AssertionError>([&] { f(scalar<double>(-1.0)); }), "x is negative");
  EXPECT_EQ(count.value().item<double>(), 2);
}

//===-- Beside operators ------------------------------------------------------------------------===//

TEST(NativeAndOperators, StandInsideOfEachOther) {
  expectSame(
      [](const Tensor &x) {
        Tensor y = x;
        while (y < 100)
          y = for_range(0, 3, y, [&](const Tensor &i, const Tensor &v) {
            if (v > 20) // decides in the body of an operator
              return v + x;
            return v * 1.5 + cast(i, DType::Float64);
          });
        return y;
      },
      kInputs);
}

TEST(NativeAndOperators, FailAsChecksDo) {
  auto f = function([](const Tensor &x) {
    Tensor y = x;
    while (y > 1) {
      assert_true(y != 4, "four");
      y = y / 2;
    }
    return y;
  });
  EXPECT_EQ(f(scalar<double>(12.0)).item<double>(), 0.75);
  EXPECT_CONTAINS(errorOf<AssertionError>([&] { f(scalar<double>(16.0)); }), "four");
}

TEST(NativeAndOperators, CallTheHostOnceAPath) {
  int calls = 0;
  auto f = function([&](const Tensor &x) {
    Tensor y = x;
    if (x > 0)
      y = y * 2;
    return host_call(
        [&](const Tensor &v) {
          ++calls;
          return v + 1;
        },
        {y}, {TensorSpec<double>({})});
  });
  EXPECT_EQ(f(scalar<double>(3.0)).item<double>(), 7);
  EXPECT_EQ(f(scalar<double>(-3.0)).item<double>(), -2);
  EXPECT_EQ(calls, 2);
}

TEST(NativeAndOperators, CallTheHostInBodies) {
  int calls = 0;
  auto f = function([&](const Tensor &x) {
    Tensor y = x;
    if (x > 0)
      y = y * 2;
    return for_range(0, 3, y, [&](const Tensor &, const Tensor &v) {
      return host_call(
          [&](const Tensor &given) {
            ++calls;
            return given + 1;
          },
          {v}, {TensorSpec<double>({})});
    });
  });
  EXPECT_EQ(f(scalar<double>(3.0)).item<double>(), 9);
  EXPECT_EQ(f(scalar<double>(-3.0)).item<double>(), 0);
  EXPECT_EQ(calls, 6);
}

// Host code that catches everything does not hide that a run has no end.
TEST(NativeRefused, IsWhatHostCodeCatches) {
  auto f = function([](const Tensor &x) {
    Tensor condition = x > 0, y = x;
    try {
      while (condition)
        y = y + 1;
    } catch (...) {
      y = y * 2;
    }
    return y;
  });
  EXPECT_CONTAINS(errorOf<StateError>([&] { f(scalar<double>(1.0)); }), "the condition does not change in its loop");
}

//===-- Host state ------------------------------------------------------------------------------===//

// What one loop counts or sets, and another one uses.
TEST(NativeHostState, IsFollowedFromLoopToLoop) {
  auto count = [](const Tensor &x) {
    Tensor s = x, k = scalar<double>(0.0);
    int h = 0;
    for (; k < 9; k = k + 1)
      ++h;
    for (k = scalar<double>(0.0); k < 5; k = k + 1) {
      if (h > 7)
        s = s + 100;
      s = s - 1;
    }
    return s;
  };
  try {
    expectSame(count, kInputs);
  } catch (const StateError &error) {
    EXPECT_CONTAINS(error.what(), "can't be captured");
  }
  auto flags = [](const Tensor &x) {
    Tensor s = x, n = scalar<double>(0.0), r = n;
    bool a = false, b = false, c = false, d = false;
    while (n < 100) {
      n = n + 1;
      s = s * 3.7 - floor(s * 3.7);
      if (s > 0.5) {
        if (s > 0.75)
          a = !a;
        else
          b = !b;
      } else if (s > 0.25) {
        c = !c;
      } else {
        d = !d;
      }
      if (a && b && c && d)
        r = r + n;
    }
    return r;
  };
  try {
    expectSame(flags, {0.3, 0.7, 0.9});
  } catch (const StateError &error) {
    EXPECT_CONTAINS(error.what(), "can't be captured");
  }
}

//===-- Conditions ------------------------------------------------------------------------------===//

TEST(NativeConditions, AreOfAnyElementType) {
  auto f = function([](const Tensor &x) {
    if (x)
      return ones({});
    return zeros({});
  });
  EXPECT_EQ(f(scalar(0.0f)).item<float>(), 0);
  EXPECT_EQ(f(scalar(0.5f)).item<float>(), 1);
  EXPECT_EQ(f(scalar(std::nanf(""))).item<float>(), 1);
  EXPECT_EQ(f(scalar(0)).item<float>(), 0);
  EXPECT_EQ(f(scalar<std::int64_t>(std::int64_t(1) << 40)).item<float>(), 1);
  EXPECT_EQ(f(scalar(false)).item<float>(), 0);
  EXPECT_EQ(f(tensor<float>({2}, {1, 1})).item<float>(), 1); // one element
}

TEST(NativeConditions, HaveOneElement) {
  auto f = function([](const Tensor &x) { return x > 0 ? x : -x; });
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { f(tensor<float>({1, 2})); }), "needs one element");
  auto open = function<Tensor(Tensor)>([](const Tensor &x) { return x > 0 ? x : -x; },
                                       {.input_signature = {TensorSpec<float>({kDynamic})}});
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { open(tensor<float>({1})); }),
                  "a tensor of type bool[?] is used as a condition (bool), which needs one element");
}

TEST(NativeConditions, TakeOpenSizesAsTheyCome) {
  auto f = function<Tensor(Tensor)>(
      [](const Tensor &x) {
        Tensor y = x;
        while (sum(y) > 10)
          y = y * 0.5f;
        return sum(y) < 6 ? y + 1 : y;
      },
      {.input_signature = {TensorSpec<float>({kDynamic})}});
  EXPECT_EQ(valuesOf(f(tensor<float>({8, 8}))), (std::vector<double>{4, 4}));
  EXPECT_EQ(valuesOf(f(tensor<float>({8, 8, 4}))), (std::vector<double>{4, 4, 2}));
  EXPECT_EQ(f.trace_count(), 1);
}

//===-- What is refused -------------------------------------------------------------------------===//

// A loop that is left at several places has a variable for what each of them gives.
TEST(NativeOpenSizes, LeaveLoopsAtSeveralPlaces) {
  // Eager products are compiled for their sizes or for all, by what ran before, and so may round otherwise.
  auto expectNear = [](const Tensor &found, const Tensor &expected) {
    ASSERT_EQ(found.shape(), expected.shape());
    const std::vector<double> x = valuesOf(found), y = valuesOf(expected);
    for (std::size_t i = 0; i < y.size(); ++i)
      EXPECT_NEAR(x[i], y[i], 1e-13 * (1 + std::abs(y[i])));
  };
  auto expectSame = [&](auto f, const TensorSpec<double> &spec) {
    auto open = function(f).get_concrete_function(spec);
    for (std::int64_t rows : {0, 3}) {
      const Tensor x = sin(reshape(iota({2 * rows}, DType::Float64), {rows, 2})) * 2.0 + 0.5;
      expectNear(open(x), f(x));
      auto total = [](auto &g) { return [&g](const Tensor &y) { return sum(square(g(y))); }; };
      const std::vector<double> found = valuesOf(grad(total(open))(x)), expected = valuesOf(grad(total(f))(x));
      for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_NEAR(found[i], expected[i], 1e-9 * (1 + std::abs(expected[i])));
    }
  };
  const TensorSpec<double> rows({kDynamic, 2}), any({kDynamic, kDynamic});
  for (const TensorSpec<double> &spec : {rows, any}) {
    expectSame(
        [](const Tensor &x) {
          Tensor y = x;
          for (Tensor i : range(7))
            if (sum(square(y)) < 50)
              y = y * 1.5;
            else
              return -y;
          return y;
        },
        spec);
    expectSame(
        [](const Tensor &x) { // of sizes that are none of the argument's
          Tensor y = matmul(x, transpose(x)), z = concat({x, x});
          for (Tensor i : range(5)) {
            z = z * 2.0;
            if (sum(y) > 40)
              break;
            y = y * 1.5 + 1.0;
          }
          return matmul(transpose(concat({y, y})), z);
        },
        spec);
  }
}

TEST(NativeOpenSizes, AreRefusedWhereTheyAreNewInALoop) {
  auto f = function([](const Tensor &x) {
    Tensor y = x;
    while (sum(y) < 50) {
      y = y * 1.5;
      if (max(y) > 4)
        return concat({y, y});
    }
    return concat({x, y});
  });
  EXPECT_CONTAINS(errorOf<StateError>([&] { f.get_concrete_function(TensorSpec<double>({kDynamic})); }),
                  "a value whose sizes only the call knows, float64[?], leaves the loop or branch at one of several "
                  "places");
}

TEST(NativeRefused, AreShapesThatChange) {
  auto f = function([](const Tensor &x) {
    Tensor y = x;
    while (sum(y) < 10)
      y = concat({y, y}, 0);
    return y;
  });
  EXPECT_CONTAINS(errorOf<StateError>([&] { f(tensor<float>({1, 2})); }), "can't be captured");
}

// A container that grows in a loop: the error says what to write instead.
TEST(NativeRefused, AreContainersThatGrow) {
  auto pushed = function([](const Tensor &n) {
    std::vector<Tensor> v;
    Tensor i = scalar(0);
    while (i < n) {
      v.push_back(cast(i, DType::Float32));
      i = i + 1;
    }
    return stack(v);
  });
  const char *way = "and on this path of the lambda there is none: what a C++ loop on tensors appends to a std::vector "
                    "can't be captured; a TensorArray or scan() keeps what each iteration gives";
  std::string text = errorOf<ValueError>([&] { pushed(scalar(3)); });
  EXPECT_CONTAINS(text, std::string("stack: needs at least one tensor, ") + way);
  EXPECT_CONTAINS(text, "NativeTest.cpp");
  auto joined = function([](const Tensor &n) {
    std::vector<Tensor> v;
    for (Tensor i = scalar(0); i < n; i = i + 1)
      v.push_back(ones({1, 2}));
    return concat(v);
  });
  EXPECT_CONTAINS(errorOf<ValueError>([&] { joined(scalar(3)); }),
                  std::string("concat: needs at least one tensor, ") + way);
  auto rows = function([](const Tensor &x) {
    std::vector<Tensor> v;
    for (Tensor row : x)
      v.push_back(row * 2);
    return stack(v);
  });
  text = errorOf<StateError>([&] { rows(ones({30, 2})); });
  EXPECT_CONTAINS(
      text, "the branches and loops of the lambda can't be captured: behind the loop that decides at NativeTest.cpp:");
  EXPECT_CONTAINS(text,
                  "another number of tensors each time: a std::vector or another C++ container grows in the loop; a "
                  "TensorArray or scan() keeps what each iteration gives; cond, while_loop");
  // Nothing of that where no decision leads to the list.
  auto none = function([](const Tensor &x) { return stack({}) + x; });
  EXPECT_EQ(errorOf<ValueError>([&] { none(scalar(1)); }).find("on this path"), std::string::npos);
  // The ways out that it names.
  auto array = function(
      [](const Tensor &x) {
        TensorArray v(x.shape()[0], DType::Float32, {});
        for (Tensor i : range(x.shape()[0]))
          v.write(i, x[i] * 2);
        return v.stack();
      },
      {.input_signature = {TensorSpec<float>({kDynamic})}});
  EXPECT_EQ(array(tensor({1., 2., 3.})).to_vector<float>(), (std::vector<float>{2, 4, 6}));
  EXPECT_EQ(array(tensor({5.})).to_vector<float>(), (std::vector<float>{10}));
  auto counted = function([](const Tensor &n) {
    TensorArray v(4, DType::Int32, {}, {.zeros = true});
    for (Tensor i = scalar(0); i < n; i = i + 1)
      v.write(i, i * i);
    return v.stack();
  });
  EXPECT_EQ(counted(scalar(3)).to_vector<std::int32_t>(), (std::vector<std::int32_t>{0, 1, 4, 0}));
}

TEST(NativeRefused, AreBranchesOfDifferentTypes) {
  auto f = function([](const Tensor &x) {
    if (x > 0)
      return x;
    return cast(x, DType::Int32);
  });
  EXPECT_CONTAINS(errorOf<StateError>([&] { f(scalar(1.0f)); }),
                  "its paths return results of different types or structures, int32[] and float32[];");
}

TEST(NativeRefused, AreHostValuesThatDiffer) {
  auto f = function([](const Tensor &x) {
    if (x > 0)
      return std::pair(x, 1);
    return std::pair(x, 2);
  });
  EXPECT_CONTAINS(errorOf<StateError>([&] { f(scalar(1.0f)); }),
                  "its paths return results of different types or structures");
}

TEST(NativeRefused, IsAnErrorOnAPathThatMayCome) {
  auto f = function([](const Tensor &x, const Tensor &y) {
    if (sum(x) > 0)
      return x + y; // shapes that don't fit
    return x;
  });
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { f(tensor<float>({-1, 2}), tensor<float>({1, 2, 3})); }), "NativeTest.cpp");
}
