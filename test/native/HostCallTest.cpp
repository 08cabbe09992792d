// Host calls beside branches and loops of host code.
#include "test/Tensors.h"
#include "test/frontend/Testing.h"

#include <functional>

using namespace calque;
using namespace calque::testing;

namespace {

Tensor add(const Tensor &x, double k) {
  return host_call([k](const Tensor &t) { return t + k; }, {x}, {TensorSpec<double>({})});
}
Tensor applied(const Tensor &x, std::function<Tensor(const Tensor &)> fn) {
  return host_call(fn, {x}, {TensorSpec<double>({})});
}
Tensor times50(const Tensor &x) { return x * 50; }
Tensor plusOne(const Tensor &x) { return x + 1; }
Tensor applyPointer(const Tensor &x, Tensor (*fn)(const Tensor &)) {
  return host_call(fn, {x}, {TensorSpec<double>({})});
}

template <typename F> void expectAsEagerly(F f, const std::vector<double> &inputs) {
  auto compiled = function(f);
  for (double input : inputs)
    EXPECT_EQ(compiled(scalar<double>(input)).template item<double>(), f(scalar<double>(input)).template item<double>())
        << input;
}

} // namespace

// Several at one line, each with a callable of its own.
TEST(NativeHostCall, IsToldFromOthersOfTheLine) {
  const std::vector<double> inputs{2, -2};
  expectAsEagerly(
      [](const Tensor &given) {
        Tensor x = add(given, 1);
        x = add(x, 10);
        if (given > 0)
          x = x * 2;
        return x;
      },
      inputs);
  expectAsEagerly(
      [](const Tensor &given) {
        Tensor x = given;
        if (given > 0)
          x = add(x, 1);
        x = x * 2;
        return add(x, 10);
      },
      inputs);
  expectAsEagerly(
      [](const Tensor &given) {
        Tensor x = given;
        if (given > 0)
          for (int k : {1, 10, 100})
            x = add(x, k);
        return x;
      },
      inputs);
}

// Callables that own memory can't be compared.
TEST(NativeHostCall, IsToldFromOthersThatCanNotBeCompared) {
  expectAsEagerly(
      [](const Tensor &given) {
        double one = 1;
        Tensor x = applied(given, [one, text = std::string("any")](const Tensor &t) { return t + one; });
        x = applied(x, times50);
        if (given > 0)
          x = x + 1;
        return x;
      },
      {2, -2});
  expectAsEagerly(
      [](const Tensor &given) {
        Tensor x = applyPointer(given, plusOne);
        x = applyPointer(x, times50);
        if (given > 0)
          x = x + 1;
        return x;
      },
      {2, -2});
}

TEST(NativeHostCall, StandsBehindLoops) {
  int calls = 0;
  std::vector<double> seen;
  auto f = function([&](const Tensor &given) {
    Tensor x = given;
    while (x < 50)
      x = x * 2;
    host_call(
        [&](const Tensor &t) {
          ++calls;
          seen.push_back(t.item<double>());
        },
        {x});
    return x;
  });
  f(scalar<double>(3.0));
  f(scalar<double>(70.0));
  EXPECT_EQ(seen, (std::vector<double>{96, 70}));
}

TEST(NativeHostCall, StandsInLoops) {
  int calls = 0;
  auto body = [&](const Tensor &given) {
    Tensor x = given;
    while (x < 9) {
      x = host_call(
          [&calls](const Tensor &t) {
            ++calls;
            return t + 1;
          },
          {x}, {TensorSpec<double>({})});
      if (x > 7)
        x = add(x, 0.5);
    }
    return x;
  };
  auto f = function(body);
  for (double input : {1.0, 8.25, 20.0}) {
    calls = 0;
    double eager = body(scalar<double>(input)).item<double>();
    int eagerCalls = std::exchange(calls, 0);
    EXPECT_EQ(f(scalar<double>(input)).item<double>(), eager) << input;
    EXPECT_EQ(calls, eagerCalls) << input;
  }
}

// One that changes itself or owns memory might do something else in each iteration.
TEST(NativeHostCall, ThatMayDifferByIterationIsRefused) {
  auto owns = function([](const Tensor &given) {
    Tensor x = given;
    while (x < 9)
      x = applied(x, plusOne);
    return x;
  });
  EXPECT_CONTAINS(errorOf<StateError>([&] { owns(scalar<double>(1.0)); }), "can't be captured");
  auto counts = function([](const Tensor &given) {
    Tensor x = given;
    while (x < 9)
      x = host_call([n = 0.0](const Tensor &t) mutable { return t + ++n; }, {x}, {TensorSpec<double>({})});
    return x;
  });
  EXPECT_CONTAINS(errorOf<StateError>([&] { counts(scalar<double>(1.0)); }), "can't be captured");
  auto differs = function([](const Tensor &given) {
    Tensor x = given;
    double k = 1;
    while (x < 1000) {
      x = add(x, k);
      k *= 1.5;
    }
    return x;
  });
  EXPECT_CONTAINS(errorOf<StateError>([&] { differs(scalar<double>(1.0)); }), "can't be captured");
}
