#include "Testing.h"

#include <atomic>

using namespace calque;
using namespace calque::testing;

TEST(Function, TracesOnceForEachSignature) {
  int runs = 0;
  auto f = function([&](const Tensor &x, const Tensor &y) {
    ++runs;
    return x * y + 1;
  });
  EXPECT_EQ(f(scalar(2.0f), scalar(3.0f)).item<float>(), 7);
  EXPECT_EQ(f(scalar(4.0f), scalar(5.0f)).item<float>(), 21);
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(f.trace_count(), 1);
  f(ones({2}), ones({2}));
  f(ones({2}), ones({1}));
  f(scalar<double>(1.0), scalar<double>(2.0));
  EXPECT_EQ(f.trace_count(), 4);
  EXPECT_EQ(runs, 4);
}

TEST(Function, TheEagerTwinRunsTheLambda) {
  int runs = 0;
  auto f = function([&](const Tensor &x) {
    ++runs;
    EXPECT_TRUE(executing_eagerly());
    return x + x;
  });
  EXPECT_EQ(f.eager(scalar(2.0f)).item<float>(), 4);
  EXPECT_EQ(f.eager(scalar(2.0f)).item<float>(), 4);
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(f.trace_count(), 0);
}

TEST(Function, RunsEagerlyOnRequest) {
  auto f = function([](const Tensor &x) { return executing_eagerly() ? x * 10 : x; });
  config::run_functions_eagerly(true);
  EXPECT_EQ(f(scalar(1.0f)).item<float>(), 10);
  config::run_functions_eagerly(false);
  EXPECT_EQ(f(scalar(1.0f)).item<float>(), 1);
}

TEST(Function, GenericLambdasGetTheirSignature) {
  auto f = function<Tensor(Tensor, int)>([](auto x, auto n) { return x * n; });
  EXPECT_EQ(f(scalar(2.0f), 3).item<float>(), 6);
  EXPECT_EQ(f(scalar(2.0f), 4).item<float>(), 8);
}

TEST(Function, CopiesShareTracesAndOthersDoNot) {
  auto lambda = [](const Tensor &x) { return -x; };
  auto f = function(lambda), g = f;
  auto h = function(lambda);
  f(scalar(1.0f));
  EXPECT_EQ(g.trace_count(), 1);
  EXPECT_EQ(h.trace_count(), 0);
}

TEST(Function, ClearForgetsTraces) {
  auto f = function([](const Tensor &x) { return x + 1; });
  f(scalar(1.0f));
  f.clear();
  EXPECT_EQ(f(scalar(2.0f)).item<float>(), 3);
  EXPECT_EQ(f.trace_count(), 2);
}

TEST(Function, NestedFunctionsAreInlined) {
  auto square = function([](const Tensor &x) { return x * x; });
  auto f = function([&](const Tensor &x) { return square(x) + square(x + 1); });
  EXPECT_EQ(f(scalar(2.0f)).item<float>(), 13);
  EXPECT_EQ(square.trace_count(), 0);
  EXPECT_EQ(square(scalar(3.0f)).item<float>(), 9);
}

TEST(Function, FunctionsWithoutResultsRunTheirEffects) {
  Variable v(0.0f);
  auto f = function([&](const Tensor &x) { v.assign_add(x); });
  f(scalar(2.0f));
  f(scalar(3.0f));
  EXPECT_EQ(v.value().item<float>(), 5);
}

TEST(Function, CapturesSmallAndLargeKeepTheirValues) {
  Tensor small = tensor<float>({1, 2}), large = ones({100});
  auto f = function([&](const Tensor &x) { return sum(large) + sum(small * x); });
  EXPECT_EQ(f(tensor<float>({1, 1})).item<float>(), 103);
  small = zeros({2});
  large = zeros({100});
  EXPECT_EQ(f(tensor<float>({1, 1})).item<float>(), 103); // frozen while tracing
  EXPECT_EQ(f.trace_count(), 1);
}

// What a tape can be asked for is never a constant, however small it is and whenever the tape begins.
TEST(Function, CapturesOfAnySizeHaveGradients) {
  for (std::int64_t size : {0, 1, 2, 16, 17}) {
    SCOPED_TRACE(size);
    Tensor x = full({size}, 3), c = full({size}, 2), element = scalar(5.0f);
    auto gradientsOf = [&](const std::function<Tensor(const Tensor &)> &f) {
      GradientTape tape;
      tape.watch(c);
      tape.watch(element);
      auto [dc, de] = tape.gradient(f(x), std::tuple(c, element), GradientOptions());
      expectValues(dc.value(), std::vector<float>(static_cast<std::size_t>(size), 3 * 5));
      expectValues(de.value(), {3 * 2 * static_cast<float>(size)});
    };
    auto body = [&](const Tensor &a) { return a * c * element; };
    auto captured = function(body);
    captured(x); // traced without a tape
    gradientsOf(captured);
    auto copied = function([c, element](const Tensor &a) { return a * c * element; });
    copied(x);
    gradientsOf(copied);
    auto nested = function([&](const Tensor &a) { return captured(a); });
    nested(x);
    gradientsOf(nested);
    Tensor kept;
    auto keeps = function([&](const Tensor &a) {
      kept = tensor<float>({7}); // made while tracing, and watched later
      return a * kept;
    });
    keeps(x);
    GradientTape tape;
    tape.watch(kept);
    expectValues(tape.gradient(keeps(x), kept).value(), {3 * static_cast<float>(size)});
    if (size == 0)
      continue;
    auto each = [&](const Tensor &a) { return a * element; };
    auto mapped = function([&](const Tensor &a) { return vmap(each)(a) * c; });
    mapped(x);
    gradientsOf(mapped);
    auto again = function([&](const Tensor &a) { return checkpoint(body)(a); });
    again(x);
    gradientsOf(again);
    auto pushed = function([&](const Tensor &a) { return jvp(body, a, a).second; });
    pushed(x);
    gradientsOf(pushed);
    gradientsOf([&](const Tensor &a) { return vmap(each)(a) * c; });
    gradientsOf([&](const Tensor &a) { return checkpoint(body)(a); });
  }
}

// What the trace alone holds is known to the compiler.
TEST(Function, NumbersAndTensorsOfTheLambdaAreConstants) {
  auto f = function([](const Tensor &x) {
    Tensor c = tensor<float>({1, 2});
    return x * 3 + c;
  });
  std::string ir = f.ir("traced", ones({2}));
  EXPECT_CONTAINS(ir, "dense<3.000000e+00>");
  EXPECT_CONTAINS(ir, "dense<[1.000000e+00, 2.000000e+00]>");
  EXPECT_CONTAINS(ir, "(%arg0: tensor<2xf32>");
  EXPECT_EQ(ir.find("%arg1"), std::string::npos) << ir;
}

TEST(Function, ArgumentsAndCapturesMayBeResults) {
  Tensor large = full({20}, 7);
  auto f = function([&](const Tensor &x) { return std::vector<Tensor>{x, large, x, scalar(1.0f)}; });
  std::vector<Tensor> results = f(scalar(2.0f));
  EXPECT_EQ(results[0].item<float>(), 2);
  EXPECT_EQ(results[1].to_vector<float>()[19], 7);
  EXPECT_EQ(results[2].item<float>(), 2);
  EXPECT_EQ(results[3].item<float>(), 1);
}

TEST(Function, LeakedTensorsNameWhereTheyWereMade) {
  Tensor leaked;
  auto f = function([&](const Tensor &x) {
    leaked = x + 1;
    return leaked;
  });
  EXPECT_EQ(f(scalar(1.0f)).item<float>(), 2);
  EXPECT_CONTAINS(errorOf<LeakedTensorError>([&] { leaked + 1; }), "FunctionTest.cpp");
  EXPECT_THROW(leaked.item<float>(), LeakedTensorError);
  EXPECT_THROW(f(leaked), LeakedTensorError);
  auto g = function([&](const Tensor &x) { return x + leaked; });
  EXPECT_THROW(g(scalar(1.0f)), LeakedTensorError);
}

TEST(Function, ExceptionsOfTheLambdaPassAndLeaveNothing) {
  struct Mine {
    int code;
  };
  bool fail = true;
  Variable v(1.0f);
  auto f = function([&](const Tensor &x) {
    v.assign(x);
    if (fail)
      throw Mine{42};
    return x + 1;
  });
  try {
    f(scalar(5.0f));
    FAIL();
  } catch (const Mine &mine) {
    EXPECT_EQ(mine.code, 42);
  }
  EXPECT_TRUE(executing_eagerly());
  EXPECT_EQ(f.trace_count(), 0);
  EXPECT_EQ(v.value().item<float>(), 1);
  fail = false;
  EXPECT_EQ(f(scalar(5.0f)).item<float>(), 6);
  EXPECT_EQ(v.value().item<float>(), 5);
}

TEST(Function, RecursionEndsByAHostValueOrAnError) {
  std::function<Tensor(const Tensor &, int)> recurse;
  auto power = function([&](const Tensor &x, int n) { return n == 0 ? ones({}) : x * recurse(x, n - 1); });
  recurse = power;
  EXPECT_EQ(power(scalar(2.0f), 10).item<float>(), 1024);

  std::function<Tensor(const Tensor &)> endless;
  auto f = function([&](const Tensor &x) { return endless(x + 1); });
  endless = f;
  EXPECT_THROW(f(scalar(1.0f)), RecursionError);
  EXPECT_TRUE(executing_eagerly());
}

TEST(Function, ConcurrentFirstCallsTraceOnce) {
  std::atomic<int> runs{0}, wrong{0};
  auto f = function([&](const Tensor &x) {
    ++runs;
    return x * 2;
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < 100; ++i)
    threads.emplace_back([&, i] {
      for (int j = 0; j < 10; ++j)
        wrong += f(scalar(float(i))).item<float>() != 2 * float(i);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(wrong, 0);
}

TEST(Function, PrintsAtEveryCallInOrder) {
  auto f = function([](const Tensor &x) {
    print("x", x);
    print("twice", x * 2);
    return x;
  });
  ::testing::internal::CaptureStdout();
  f(scalar(1.0f));
  f(scalar(2.0f));
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "x 1.0\ntwice 2.0\nx 2.0\ntwice 4.0\n");
}

TEST(Function, PrintsLabelsAndValuesOnOneLine) {
  struct Pair {
    Tensor x;
    int n;
  };
  Variable w(2.0);
  auto f = function([&](const Tensor &x) {
    print("x", x, "of", x.shape(), "and", x * w, 3, 0.5, true);
    print(x);
    print("no {tensor} {}", "{{}}");
    print("in {", x, "}");
    print(std::vector<Tensor>{x, x + 1}, std::tuple(x, "a", std::optional<Tensor>()));
    print(std::map<std::string, Pair>{{"p", {x, 1}}}, std::vector<bool>{true}, std::optional(w), DType::Float32);
    return x;
  });
  auto output = [](auto call) {
    ::testing::internal::CaptureStdout();
    call();
    return ::testing::internal::GetCapturedStdout();
  };
  const std::string expected = "x [1. 2.] of [2] and [2. 4.] 3 0.5 True\n"
                               "[1. 2.]\n"
                               "no {tensor} {} {{}}\n"
                               "in { [1. 2.] }\n"
                               "[[1. 2.], [2. 3.]] ([1. 2.], 'a', none)\n"
                               "{'p': ([1. 2.], 1)} [True] 2.0 float32\n";
  Tensor x = tensor({1., 2.});
  EXPECT_EQ(output([&] { f(x); }), expected);
  EXPECT_EQ(output([&] { f(x); }), expected);
  EXPECT_EQ(output([&] { f.eager(x); }), expected);
  auto open = function([](const Tensor &each) { print(each.shape(), each.shape()[0], each); },
                       {.input_signature = {TensorSpec<float>({kDynamic})}});
  EXPECT_EQ(output([&] { open(x); }), "[2] 2 [1. 2.]\n");
  auto rows = [](const Tensor &row) {
    print("row", row, "twice", row * 2);
    return row;
  };
  EXPECT_EQ(output([&] { vmap(rows)(x); }), "row 1.0 twice 2.0\nrow 2.0 twice 4.0\n");
}

TEST(Function, PrintsWhatHasNoElements) {
  auto f = function([](const Tensor &x) {
    print("none", x);
    return x;
  });
  for (const Shape &shape : {Shape{0}, Shape{2, 0, 3}}) {
    ::testing::internal::CaptureStdout();
    f(zeros(shape));
    f.eager(zeros(shape));
    EXPECT_EQ(::testing::internal::GetCapturedStdout(), "none []\nnone []\n"); // as NumPy prints both
  }
}

TEST(Function, IsAtTheLineWhereItIsMade) {
  std::string line = std::to_string(__LINE__ + 1);
  auto f = function([](const Tensor &x) { return x; });
  std::string ir = f.ir("traced", ones({3})), at = " loc(\"" __FILE__ "\":" + line + ":0)";
  EXPECT_CONTAINS(ir, "%arg0: tensor<3xf32>" + at);
  EXPECT_CONTAINS(ir, "return %0 : tensor<3xf32>" + at);
  EXPECT_CONTAINS(ir, "}" + at);
}

TEST(Function, ShowsItsStages) {
  auto f = function([](const Tensor &x) { return x + 1; });
  EXPECT_CONTAINS(f.ir("traced", ones({3})), "calque.add");
  EXPECT_EQ(f.trace_count(), 1);
  EXPECT_CONTAINS(errorOf<ValueError>([&] { f.ir("nonsense", ones({3})); }), "traced, differentiated");
}

TEST(Function, IsNamedByItsOptionsOrItsLine) {
  auto body = [](const Tensor &x) { return x + 1; };
  EXPECT_CONTAINS(function(body, {.name = "next"}).ir("traced", ones({3})), "func.func @next(");
  EXPECT_CONTAINS(function(body, {.name = "the next"}).ir("traced", ones({3})), "func.func @the_next(");
  std::string line = std::to_string(__LINE__ + 1);
  EXPECT_CONTAINS(function(body).ir("traced", ones({3})), "func.func @FunctionTest_" + line + "(");
  // Names that native code has a meaning for.
  for (const char *name :
       {"entry", "shapes", "piece_0", "print_0", "rt_fail", "calque_entry", "calque_rt_fail", "main", "exp", "malloc"})
    EXPECT_EQ(function(body, {.name = name})(scalar(1.0f)).item<float>(), 2) << name;
}
