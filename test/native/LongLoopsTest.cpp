// Loops of host code that go on farther than they were followed while tracing.
#include "calque/warnings.h"
#include "test/Tensors.h"
#include "test/frontend/Testing.h"

#include <string>

using namespace calque;
using namespace calque::testing;

namespace {

// Collects warnings while it lives.
class Warnings {
public:
  Warnings() : before(set_warning_handler([this](const Warning &warning) { texts.push_back(warning.message); })) {}
  ~Warnings() { set_warning_handler(before); }
  std::vector<std::string> texts;

private:
  WarningHandler before;
};

// One more, as long as it is less.
Tensor countTo(const Tensor &n) {
  Tensor x = n * 0;
  while (x < n)
    x = x + 1;
  return x;
}

} // namespace

TEST(LongLoops, AreFollowedAsFarAsCallsGo) {
  auto f = function(countTo);
  EXPECT_EQ(f(scalar<double>(100.0)).item<double>(), 100);
  EXPECT_EQ(f.trace_count(), 1);
  EXPECT_EQ(f(scalar<double>(30'000.0)).item<double>(), 30'000);
  EXPECT_EQ(f.trace_count(), 2);
  EXPECT_EQ(f(scalar<double>(40'000.0)).item<double>(), 40'000);
  EXPECT_EQ(f(scalar<double>(5.5)).item<double>(), 6);
  EXPECT_EQ(f.trace_count(), 2);
}

// The host counts farther than the first trace looks.
TEST(LongLoops, EndWhereTheHostDoes) {
  auto counted = [](const Tensor &a) {
    Tensor x = a;
    for (int i = 0; i < 25'000 && bool(x > 0); ++i)
      x = x + a;
    return x;
  };
  auto f = function(counted);
  EXPECT_EQ(f(scalar<double>(2.0)).item<double>(), 50'002);
  EXPECT_EQ(f(scalar<double>(-1.0)).item<double>(), -1);
  EXPECT_EQ(function(grad(counted))(scalar<double>(2.0)).item<double>(), 25'001);
}

// The gradient by what all iterations read does not keep it for each of them.
TEST(LongLoops, KeepNothingThatTheyGiveOn) {
  auto byRows = [](const Tensor &x) {
    Tensor h = zeros({2}, DType::Float64);
    for (Tensor row : x)
      h = tanh(h * 0.5 + row);
    return sum(h);
  };
  auto byFold = [](const Tensor &x) {
    auto step = [](const Tensor &h, const Tensor &row) { return tanh(h * 0.5 + row); };
    return sum(fold(step, zeros({2}, DType::Float64), x));
  };
  Tensor x = (iota({400}, DType::Float64) - 150) / 200;
  x = reshape(x, {200, 2});
  auto f = function(grad(byRows));
  std::string ir = f.ir("simplified", x);
  EXPECT_NE(ir.find("calque.while"), std::string::npos) << ir;
  EXPECT_EQ(ir.find("tensor<f64>, tensor<200x2xf64>) -> tensor<f64>"), std::string::npos) << ir;
  expectSameBits(f(x), function(grad(byFold))(x));
  auto twice = [](auto value) {
    return [value](const Tensor &x) { return grad([&](const Tensor &x) { return sum(square(grad(value)(x))); })(x); };
  };
  std::vector<double> found = valuesOf(function(twice(byRows))(x)), expected = valuesOf(function(twice(byFold))(x));
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], 1e-12) << i;
}

TEST(LongLoops, AreRefusedWhereTheHostChangesThem) {
  auto f = function([](const Tensor &a) {
    Tensor x = a;
    int i = 0;
    while (x < 50'000)
      x = x + (i++ < 15'000 ? 1 : 2);
    return x;
  });
  EXPECT_EQ(f(scalar<double>(49'000.0)).item<double>(), 50'000); // 1,000 iterations
  EXPECT_THROW(f(scalar<double>(0.0)), StateError);
}

TEST(LongLoops, AreCompiledWithAWarningInTheEnd) {
  Warnings warnings;
  auto f = function(countTo);
  EXPECT_EQ(f(scalar<double>(1e6)).item<double>(), 1e6);
  ASSERT_EQ(warnings.texts.size(), 1u);
  EXPECT_NE(warnings.texts[0].find("the loop goes on beyond 320000 iterations"), std::string::npos)
      << warnings.texts[0];
  EXPECT_NE(warnings.texts[0].find("; it is compiled all the same"), std::string::npos) << warnings.texts[0];
  EXPECT_EQ(f(scalar<double>(2e6)).item<double>(), 2e6);
  EXPECT_EQ(warnings.texts.size(), 1u);
}

TEST(LongLoops, MayBeNestedAndHoldTensors) {
  auto onScalars = [](const Tensor &n) {
    Tensor outer = n * 0, sum = n * 0;
    while (outer < 3) {
      Tensor inner = n * 0;
      while (inner < n)
        inner = inner + 1;
      if (inner > 11'000)
        sum = sum + inner;
      outer = outer + 1;
    }
    return sum;
  };
  EXPECT_EQ(function(onScalars)(scalar<double>(12'000.0)).item<double>(), 36'000);
  EXPECT_EQ(function(onScalars)(scalar<double>(10'500.0)).item<double>(), 0);
  auto onVectors = [](const Tensor &n) {
    Tensor outer = n * 0, x = n * zeros({3}, DType::Float64);
    while (outer < 2) {
      Tensor inner = n * 0;
      while (inner < n) {
        x = x + 1;
        inner = inner + 1;
      }
      outer = outer + 1;
    }
    return x;
  };
  EXPECT_EQ(valuesOf(function(onVectors)(scalar<double>(12'000.0))), (std::vector<double>{24'000, 24'000, 24'000}));
}

TEST(LongLoops, AreFollowedInTransformsAndConcreteFunctions) {
  EXPECT_EQ(valuesOf(vmap(countTo)(tensor<double>({20'000.0, 3.0}))), (std::vector<double>{20'000, 3}));
  EXPECT_EQ(valuesOf(function(vmap(countTo))(tensor<double>({20'000.0, 3.0}))), (std::vector<double>{20'000, 3}));
  auto concrete = function(countTo).get_concrete_function(scalar<double>(1.0));
  EXPECT_EQ(concrete(scalar<double>(20'000.0)).item<double>(), 20'000);
  GradientTape tape;
  Tensor x = scalar<double>(1.0);
  tape.watch(x);
  Tensor y = function([](const Tensor &a) {
    Tensor z = a, n = a * 0;
    while (n < 20'000) {
      z = z * 0.9999;
      n = n + 1;
    }
    return z;
  })(x);
  EXPECT_NEAR(tape.gradient(y, x)->item<double>(), y.item<double>(), 1e-9);
}

// What is given up is repeated, so that it must not have changed anything.
TEST(LongLoops, AssignVariablesOnce) {
  Variable v(scalar<double>(0.0), {.name = "v"});
  auto f = function([&](const Tensor &n) {
    while (v < n)
      v.assign_add(1.0);
    return v.value();
  });
  EXPECT_EQ(f(scalar<double>(20'000.0)).item<double>(), 20'000);
  EXPECT_EQ(v.value().item<double>(), 20'000);
}

TEST(LongLoops, AreNotRepeatedWhereTheHostWasCalled) {
  int calls = 0;
  Variable v(scalar<double>(0.0), {.name = "v"});
  auto f = function([&](const Tensor &n) {
    Tensor x = n * 0;
    v.assign_add(1.0);
    host_call([&](std::span<const Tensor>) { ++calls; }, {x});
    while (x < n)
      x = x + 1;
    return x;
  });
  EXPECT_EQ(f(scalar<double>(10.0)).item<double>(), 10);
  EXPECT_EQ(calls, 1);
  try {
    f(scalar<double>(20'000.0));
    FAIL();
  } catch (const StateError &error) {
    EXPECT_NE(std::string(error.what()).find("the next call follows the loop farther"), std::string::npos)
        << error.what();
  }
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(v.value().item<double>(), 1);
  EXPECT_EQ(f(scalar<double>(20'000.0)).item<double>(), 20'000);
  EXPECT_EQ(calls, 3);
}

// A loop over a range begins with its body where that has its first decision; its iterations are known all the same.
TEST(LongLoops, OverRangesInRangesAreNotFollowed) {
  auto longest = [](const Tensor &x) { // what a sum of rising elements may be, looking back
    TensorArray best(x.shape()[0], DType::Float64, {}, {.overwrite = true, .zeros = true});
    for (Tensor i : range(size(x))) {
      Tensor b = scalar<double>(0.0);
      for (Tensor j : range(i))
        if (x[j] < x[i]) {
          Tensor c = best.read(j) * 0.9;
          if (c > b)
            b = c;
        }
      best.write(i, b + x[i]);
    }
    return max(best.stack());
  };
  Warnings warnings;
  const Tensor x = tensor<double>({3, 1, 2, 5, 4, 9, 0.5, 7, 6, 8, 11, 2.5, 3.5, 10});
  EXPECT_DOUBLE_EQ(function(longest)(x).item<double>(), longest(x).item<double>());
  EXPECT_TRUE(warnings.texts.empty());
}
