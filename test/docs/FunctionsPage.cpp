// The programs of docs/functions.md, which check_snippets.py compares with the page.
#include "calque/calque.h"

#include <gtest/gtest.h>

#include <iostream>

using namespace calque;

namespace {
class Output {
public:
  Output() { ::testing::internal::CaptureStdout(); }
  std::string text() { return ::testing::internal::GetCapturedStdout(); }
};

class Model {
public:
  Method<Tensor(const Tensor &)> predict{this, &Model::forward};

private:
  Tensor forward(const Tensor &x) { return x * w; }
  Variable w{2.0f};
};
} // namespace

TEST(FunctionsPage, Kinds) {
  auto f = function([](const Tensor &x, int n) { return x * n; });
  f(ones({2}), 3);       // traces, compiles, runs
  f(ones({2}), 3);       // runs
  f(ones({2}), 4);       // another number: another trace
  f.eager(ones({2}), 3); // the lambda itself
  EXPECT_EQ(f.trace_count(), 2);
}

TEST(FunctionsPage, Listing) {
  Output output;
  auto g = function([](const Tensor &x, int n) { return x * n; }, {.name = "scale", .argument_names = {"x", "n"}});
  g(ones({2}), 3);
  std::cout << g.pretty_printed_concrete_signatures();
  EXPECT_EQ(output.text(), R"(scale
  argument 0 'x': float32[2]
  argument 1 'n': int 3
  result: float32[2]
)");
}

TEST(FunctionsPage, ManyShapes) {
  auto h = function([](const Tensor &x) { return sum(x, {1}); },
                    {.input_signature = {TensorSpec<float>({kDynamic, 3}, "x")}});
  h(ones({2, 3}));
  h(ones({5, 3})); // the same trace
  EXPECT_EQ(h.trace_count(), 1);
}

TEST(FunctionsPage, OpenSizes) {
  auto noisy = function(
      [](const Tensor &x) {
        Tensor rows = reshape(x, {x.shape()[0], -1});
        Tensor offset = full({x.shape()[0], 1}, 0.5f) + random::normal(rows.shape());
        return (rows + offset) / x.shape()[0];
      },
      {.input_signature = {TensorSpec<float>({kDynamic, 2, 3})}});
  noisy(ones({4, 2, 3}));
  noisy(ones({7, 2, 3})); // the same trace
  EXPECT_EQ(noisy.trace_count(), 1);
  EXPECT_EQ(noisy(ones({7, 2, 3})).shape(), (Shape{7, 6}));
}

TEST(FunctionsPage, ConcreteFunctions) {
  Output output;
  auto power = function([](const Tensor &x, int n) { return n == 2 ? x * x : x; });
  auto square = power.get_concrete_function(TensorSpec<float>({2}), 2);
  square(ones({2}), 2); // as the function is called
  square(ones({2}));    // host values may be left out
  std::cout << square.str() << square.ir("traced");
  EXPECT_NE(output.text().find("calque.mul"), std::string::npos);
  EXPECT_EQ(power.trace_count(), 1);
}

TEST(FunctionsPage, Retracing) {
  Output output;
  auto k = function([](const Tensor &x, int n) { return x + n; });
  k(ones({2}), 1);
  k(ones({3}), 1);
  for (const Retrace &retrace : k.explain_retraces())
    std::cout << retrace.str();
  EXPECT_NE(output.text().find("argument 0 was float32[2] and is float32[3]"), std::string::npos);
}

TEST(FunctionsPage, RelaxedRetracing) {
  auto r = function([](const Tensor &x) { return x * 2; }, {.reduce_retracing = true});
  for (std::int64_t rows : {1, 2, 3})
    r(ones({rows, 2}));
  EXPECT_EQ(r.trace_count(), 2);
}

TEST(FunctionsPage, Caps) {
  auto c = function([](const Tensor &x, int n) { return x + n; }, {.max_traces = 2});
  for (int n : {1, 2, 3, 1})
    c(ones({2}), n);
  EXPECT_EQ(c.trace_count(), 4);
}

TEST(FunctionsPage, ArgumentsAndResults) {
  Output output;
  auto twice = function([](const Tensor &x) { return std::pair(x, x); });
  auto [first, second] = twice(ones({2}));
  GradientTape tape;
  tape.watch(second);
  std::cout << tape.gradient(first * second, second).value(); // the first; twice that if they were one
  EXPECT_EQ(output.text(), "[1. 1.]");
}

TEST(FunctionsPage, Methods) {
  Model model;
  EXPECT_EQ(model.predict(scalar(3.0f)).item<float>(), 6);
}

TEST(FunctionsPage, Prints) {
  Output output;
  // clang-format off
  auto p = function([](const Tensor &x, int n) {
    print("x", x, "of", x.shape(), "times", n);
    return x * n;
  });
  p(ones({2}), 3); // x [1. 1.] of [2] times 3
  // clang-format on
  EXPECT_EQ(output.text(), "x [1. 1.] of [2] times 3\n");
}

TEST(FunctionsPage, HostCalls) {
  auto s = function([](const Tensor &x) {
    Tensor y = host_call([](std::span<const Tensor> in) { return in[0] * 10; }, {x}, {TensorSpec<float>({2})});
    return y + 1;
  });
  s(ones({2}));
  EXPECT_EQ(s(ones({2})).to_vector<float>(), (std::vector<float>{11, 11}));
}
