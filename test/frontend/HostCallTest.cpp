#include "Testing.h"

using namespace calque;
using namespace calque::testing;

namespace {
using In = std::span<const Tensor>;
const std::vector<TensorSpec<>> kPair = {TensorSpec<float>({2})};
} // namespace

TEST(HostCall, RunsAtEveryCallOnTheValuesOfTheCall) {
  int runs = 0;
  auto f = function([&](const Tensor &x) {
    Tensor y = host_call(
        [&](In in) {
          ++runs;
          EXPECT_TRUE(executing_eagerly());
          return in[0] * 10 + in[1];
        },
        {x + 1, scalar(0.5f)}, kPair);
    return y - 1;
  });
  expectValues(f(tensor<float>({1, 2})), {19.5f, 29.5f});
  expectValues(f(tensor<float>({3, 4})), {39.5f, 49.5f});
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(f.trace_count(), 1);
  expectValues(f.eager(tensor<float>({1, 2})), {19.5f, 29.5f});
  EXPECT_EQ(runs, 3);
}

TEST(HostCall, TakesAndGivesAllTypesAndNumbersOfTensors) {
  auto f = function([](const Tensor &x, const Tensor &flags) {
    std::vector<Tensor> all = host_call(
        [](In in) {
          return std::vector<Tensor>{tensor<bool>({!in[1].to_vector<bool>()[0]}), scalar<std::int64_t>(in[0].size()),
                                     zeros({0, 3}), in[0] + 1};
        },
        {x, flags},
        {TensorSpec<bool>({1}), TensorSpec<std::int64_t>({}), TensorSpec<float>({0, 3}), TensorSpec<double>({2, 2})});
    return all;
  });
  std::vector<Tensor> all = f(tensor<double>({1, 2, 3, 4}, {2, 2}), tensor<bool>({true, false}));
  EXPECT_EQ(all[0].to_vector<bool>(), std::vector<bool>{false});
  EXPECT_EQ(all[1].item<std::int64_t>(), 4);
  EXPECT_EQ(all[2].shape(), (Shape{0, 3}));
  EXPECT_EQ(all[3].to_vector<double>(), (std::vector<double>{2, 3, 4, 5}));
}

TEST(HostCall, KeepsTheOrderOfTheProgramUsedOrNot) {
  Variable v(0.0f);
  std::vector<Tensor> kept;
  auto f = function([&](const Tensor &x) {
    print("first", x);
    host_call([](In in) { std::cout << "second " << in[0] << "\n"; }, {x + 1});
    print("third", x + 2);
    host_call([&](In in) { kept.push_back(in[0]); }, {x});
    v.assign(x);
    assert_true(x < 5.0f, "too large");
    host_call([](In) { std::cout << "last\n"; }, {});
  });
  ::testing::internal::CaptureStdout();
  f(scalar(1.0f));
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "first 1.0\nsecond 2.0\nthird 3.0\nlast\n");
  f(scalar(2.0f));
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[0].item<float>(), 1) << "what a host call is given is its own";
  // After a failed assertion nothing is called.
  ::testing::internal::CaptureStdout();
  EXPECT_THROW(f(scalar(7.0f)), AssertionError);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "first 7.0\nsecond 8.0\nthird 9.0\n");
  EXPECT_EQ(v.value().item<float>(), 2);
}

TEST(HostCall, WhatItThrowsReachesTheCallerAndNoVariableIsWritten) {
  struct Mine {
    int code;
  };
  Variable v(1.0f);
  int later = 0;
  auto f = function([&](const Tensor &x) {
    v.assign(x);
    Tensor y = host_call(
        [](In in) -> Tensor {
          if (in[0].item<float>() > 3)
            throw Mine{42};
          return in[0];
        },
        {x}, {TensorSpec<float>({})});
    host_call([&](In) { ++later; }, {y});
    return y + v;
  });
  EXPECT_EQ(f(scalar(2.0f)).item<float>(), 4);
  try {
    f(scalar(5.0f));
    FAIL();
  } catch (const Mine &mine) {
    EXPECT_EQ(mine.code, 42);
  }
  EXPECT_EQ(v.value().item<float>(), 2);
  EXPECT_EQ(later, 1);
  EXPECT_EQ(f(scalar(3.0f)).item<float>(), 6) << "the next call is not poisoned";
}

TEST(HostCall, MustGiveWhatItsSpecsSay) {
  auto f = function([](const Tensor &x) { return host_call([](In in) { return in[0]; }, {x}, kPair); });
  std::string message = errorOf<SignatureError>([&] { f(ones({3})); });
  EXPECT_CONTAINS(message, "result 0 of a host call must be float32[2], not float32[3]");
  EXPECT_CONTAINS(message, "HostCallTest.cpp:" + std::to_string(__LINE__ - 3));
  EXPECT_THROW(f(ones({2}, DType::Int32)), SignatureError);
  EXPECT_THROW(f.eager(ones({3})), SignatureError);
  auto none = function([](const Tensor &x) { host_call([](In) { return std::vector<Tensor>(); }, {x}, kPair); });
  EXPECT_CONTAINS(errorOf<SignatureError>([&] { none(ones({2})); }), "must give 1 tensor by its specs, and gives 0");
}

TEST(HostCall, ItsResultsHaveKnownSizes) {
  auto f = function(
      [](const Tensor &x) { return host_call([](In in) { return in[0]; }, {x}, {TensorSpec<float>({kDynamic})}); });
  EXPECT_CONTAINS(errorOf<ValueError>([&] { f(ones({2})); }),
                  "the results of a host call have known sizes; float32[?] has not");
  EXPECT_THROW(host_call([](In in) { return in[0]; }, {ones({2})}, {TensorSpec<float>(kAnyShape)}), ValueError);
}

// A part of another tensor, whose rows do not stand one behind the other. Found by the fuzzer, seed 2166896747, program
// 8948.
TEST(HostCall, TakesPartsOfOpenSizes) {
  const TensorSpec<float> rows({2, kDynamic}), any({kDynamic, kDynamic});
  for (const TensorSpec<float> &spec : {rows, any}) {
    auto f = function(
        [](const Tensor &a, const Tensor &b, const Tensor &w) {
          GradientTape tape;
          tape.watch(a);
          Tensor part = *tape.gradient(sum(concat({a, b}, 1) * w), a); // of w's columns those that a has
          print("part", part);
          return host_call([](In in) { return in[0] * 10; }, {part}, {TensorSpec<float>({2, 2})});
        },
        {.input_signature = {spec, spec, spec}});
    ::testing::internal::CaptureStdout();
    expectValues(f(ones({2, 2}), ones({2, 1}), tensor<float>({1, 2, 3, 4, 5, 6}, {2, 3})), {10, 20, 40, 50});
    EXPECT_EQ(::testing::internal::GetCapturedStdout(), "part [[1. 2.]\n [4. 5.]]\n");
  }
}

TEST(HostCall, TouchingAVariableOfItsOwnCallIsAnError) {
  Variable v(1.0f, {.name = "v"}), other(1.0f);
  auto inner = function([&] { return v + 1; });
  int kind = 0;
  auto f = function([&](const Tensor &x) {
    v.assign_add(x);
    return host_call(
        [&](In in) {
          switch (kind) {
          case 0:
            return v.value();
          case 1:
            v.assign(2);
            break;
          case 2:
            v.assign_add(2);
            break;
          case 3:
            return inner();
          }
          other.assign_add(1);
          return in[0];
        },
        {x}, {TensorSpec<float>({})});
  });
  for (; kind < 4; ++kind)
    EXPECT_CONTAINS(errorOf<StateError>([&] { f(scalar(1.0f)); }),
                    "variable 'v' is touched by a host call of a function that holds it");
  EXPECT_EQ(v.value().item<float>(), 1);
  EXPECT_EQ(f(scalar(1.0f)).item<float>(), 1);
  EXPECT_EQ(v.value().item<float>(), 2);
  EXPECT_EQ(other.value().item<float>(), 2);
}

TEST(HostCall, PrintingAVariableOfItsOwnCallHasTheLineOfTheHostCall) {
  Variable v(1.0f, {.name = "v"});
  unsigned line = 0;
  auto f = function([&](const Tensor &x) {
    auto print = [&](std::span<const Tensor> in) {
      std::ostringstream() << v;
      return in[0];
    };
    line = __LINE__ + 1;
    return v + host_call(print, {x}, {TensorSpec<float>({})});
  });
  std::string text = errorOf<StateError>([&] { f(scalar(1.0f)); });
  EXPECT_CONTAINS(text, "HostCallTest.cpp:" + std::to_string(line));
}

TEST(HostCall, MayCallFunctionsButNotWithoutEnd) {
  std::function<Tensor(const Tensor &)> again;
  auto square = function([](const Tensor &x) { return x * x; });
  auto f = function([&](const Tensor &x) {
    return host_call([&](In in) { return square(in[0]) + 1; }, {x}, {TensorSpec<float>({})});
  });
  EXPECT_EQ(f(scalar(3.0f)).item<float>(), 10);
  auto endless = function(
      [&](const Tensor &x) { return host_call([&](In in) { return again(in[0]); }, {x}, {TensorSpec<float>({})}); });
  again = endless;
  EXPECT_THROW(endless(scalar(1.0f)), RecursionError);
}

TEST(HostCall, HasNoGradient) {
  auto f = function([](const Tensor &x) {
    Tensor y = host_call([](In in) { return in[0] * 3; }, {x}, {TensorSpec<float>({})});
    return x * y;
  });
  // d(x y)/dx with y a constant: y, whether the tape is outside of the function or inside.
  Tensor x = scalar(2.0f);
  GradientTape tape;
  tape.watch(x);
  Tensor z = f(x);
  EXPECT_EQ(z.item<float>(), 12);
  EXPECT_EQ(tape.gradient(z, x)->item<float>(), 6);
  auto inside = function([&](const Tensor &given) {
    GradientTape inner;
    inner.watch(given);
    return *inner.gradient(f(given), given);
  });
  EXPECT_EQ(inside(x).item<float>(), 6);
  GradientTape ofEager;
  ofEager.watch(x);
  EXPECT_EQ(ofEager.gradient(f.eager(x), x)->item<float>(), 6);
}

// A tape outside takes what the host gave, of all examples, and asks it no second time.
TEST(HostCall, StandsInVmapWithTapesOutside) {
  int calls = 0;
  auto twice = [&](const Tensor &x) {
    return host_call(
        [&](std::span<const Tensor> in) {
          ++calls;
          return in[0] + in[0];
        },
        {x}, {TensorSpec<float>({2})});
  };
  auto product = [&](const Tensor &one) { return sum(twice(one) * one * one); };
  auto rows = [&](const Tensor &x) { return vmap(product)(x); };
  auto nested = [&](const Tensor &x) {
    return vmap([&](const Tensor &matrix) { return sum(vmap(product)(matrix)); })(x);
  };
  auto transposed = [&](const Tensor &x) { return vmap(twice, {.out_axes = {1}})(x) * transpose(x); };
  Tensor x = tensor<float>({1, 2, 3, 4, 5, 6}, {3, 2});
  Tensor y = tensor<float>({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {3, 2, 2});
  auto expect = [&](auto &&f, const Tensor &at, float factor) {
    calls = 0;
    GradientTape tape;
    tape.watch(at);
    Tensor value = f(at);
    int before = calls;
    // 2 x is constant: of 2 x x x it is 4 x x, of 2 x x it is 2 x.
    Tensor gradient = *tape.gradient(value, at);
    std::vector<float> expected, elements = at.to_vector<float>();
    for (float element : elements)
      expected.push_back(factor == 4 ? 4 * element * element : 2 * element);
    EXPECT_EQ(gradient.to_vector<float>(), expected);
    EXPECT_EQ(calls, before);
    EXPECT_EQ(before, static_cast<int>(at.size() / 2));
  };
  expect(rows, x, 4);
  expect(function(rows), x, 4);
  expect(nested, y, 4);
  expect(function(nested), y, 4);
  expect(transposed, x, 2);
  expect(function(transposed), x, 2);
  // What all examples share is asked for once, and is a result like any other.
  auto shared = function([&](const Tensor &at) {
    Tensor same = ones({2});
    return vmap([&](const Tensor &one) { return twice(same) * one; })(at);
  });
  calls = 0;
  GradientTape tape;
  tape.watch(x);
  Tensor value = shared(x);
  EXPECT_EQ(tape.gradient(value, x)->to_vector<float>(), std::vector<float>(6, 2));
  EXPECT_EQ(calls, 1);
  // Without a result it is called all the same.
  calls = 0;
  function([&](const Tensor &at) {
    vmap([&](const Tensor &one) {
      twice(one);
      return std::vector<Tensor>();
    })(at);
    return at;
  })(x);
  EXPECT_EQ(calls, 3);
}

TEST(HostCall, IsNoInitialValue) {
  auto f = function([](const Tensor &x) {
    Variable v(host_call([](In) { return scalar(1.0f); }, {}, {TensorSpec<float>({})}));
    return x + v;
  });
  EXPECT_CONTAINS(errorOf<StateError>([&] { f(scalar(1.0f)); }), "on a host call");
}

TEST(HostCall, TakesInputsAllAtOnceOrOneByOne) {
  const TensorSpec<float> spec({2});
  auto f = function([&](const Tensor &x, const Tensor &y) {
    Tensor one = host_call([](const Tensor &a) { return a * 2; }, {x}, {spec});
    Tensor two = host_call([](Tensor a, const Tensor &b) { return a - b; }, {x, y}, {spec});
    Tensor all = host_call([](const std::vector<Tensor> &in) { return in[0] * in[1]; }, {x, y}, {spec});
    Tensor generic = host_call([](auto in) { return in[1] + 1; }, {x, y}, {spec});
    return std::array{one, two, all, generic};
  });
  Tensor x = tensor<float>({1, 2}), y = tensor<float>({5, 7});
  for (auto [one, two, all, generic] : {f(x, y), f.eager(x, y)}) {
    expectValues(one, {2, 4});
    expectValues(two, {-4, -5});
    expectValues(all, {5, 14});
    expectValues(generic, {6, 8});
  }
  int calls = 0;
  host_call([&](const Tensor &) { ++calls; }, {x});
  EXPECT_EQ(calls, 1);
}

TEST(HostCall, NeedsAnInputForEachTensorOfItsCallable) {
  auto two = [](const Tensor &a, const Tensor &b) { return a + b; };
  unsigned line = __LINE__ + 1;
  std::string text = errorOf<SignatureError>([&] { host_call(two, {ones({2})}, {TensorSpec<float>({2})}); });
  EXPECT_CONTAINS(text, "host_call: the number of inputs is 1, and the callable takes 2");
  EXPECT_CONTAINS(text, "HostCallTest.cpp:" + std::to_string(line));
}
