// debug::verify: what it confirms, and what it finds.
#include "test/Tensors.h"
#include "test/frontend/Testing.h"

#include <stdexcept>

using namespace calque;
using namespace calque::testing;

namespace {

// A C++ flag that only a rare sequence of decisions sets, which tracing does not come to.
Tensor lock(const Tensor &digits) {
  Tensor sum = scalar<double>(0.0);
  int right = 0;
  const int code[] = {1, 1, 0, 1, 0, 0, 1, 0, 1, 1, 1, 0, 0, 1, 0, 1};
  for (int i = 0; i < 16; ++i) {
    Tensor digit = gather(digits, i);
    if (digit > 0) {
      right += code[i] == 1;
      sum = sum + digit;
    } else {
      right += code[i] == 0;
    }
  }
  Tensor opened = sum * 2;
  return right == 16 ? opened + 1000 : opened;
}

template <typename Error, typename F> std::string messageOf(F f) {
  try {
    f();
  } catch (const Error &error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

} // namespace

TEST(Verify, GivesWhatTheLambdaGives) {
  auto f = [](const Tensor &x, const Tensor &y) {
    Tensor z = x;
    while (sum(z) < 100)
      z = z * y + 1;
    return std::pair(z, tanh(z));
  };
  Tensor x = tensor<float>({1, 2, 3}), y = tensor<float>({1.5f, 2, 1});
  auto [a, b] = debug::verify(f, std::tuple(x, y));
  auto [c, d] = f(x, y);
  EXPECT_EQ(valuesOf(a), valuesOf(c));
  EXPECT_EQ(valuesOf(b), valuesOf(d));
  EXPECT_EQ(debug::verify(function([](const Tensor &x) { return x * 2; }), scalar<double>(3.0)).item<double>(), 6);
  EXPECT_EQ(debug::verify([](const Tensor &x, int n) { return x * n; }, std::tuple(scalar(3), 4)).item<int>(), 12);
}

TEST(Verify, TakesStructures) {
  Tensor a = scalar<double>(2.0), b = scalar<double>(3.0);
  EXPECT_EQ(debug::verify([](const std::array<Tensor, 2> &x) { return x[0] * x[1]; }, std::array{a, b}).item<double>(),
            6);
  EXPECT_EQ(debug::verify([](const std::tuple<Tensor, Tensor> &x) { return std::get<0>(x); }, std::tuple(a, b))
                .item<double>(),
            2);
  EXPECT_EQ(debug::verify([](const std::vector<Tensor> &x) { return x[1]; }, std::vector{a, b}).item<double>(), 3);
  Variable v(a);
  debug::verify([](Variable &w, const Tensor &x) { w.assign(x); }, std::tuple(v, b));
  EXPECT_EQ(v.value().item<double>(), 3);
}

TEST(Verify, LeavesVariablesAsOneCallDoes) {
  Variable w(tensor<double>({1, 2}), {.name = "w"});
  auto step = [&](const Tensor &x) {
    GradientTape tape;
    Tensor loss = sum(square(w - x));
    w.assign_sub(0.25 * tape.gradient(loss, w).value());
    return loss;
  };
  debug::verify(step, tensor<double>({3, 3}));
  EXPECT_EQ(valuesOf(w.value()), (std::vector<double>{2, 2.5}));
}

TEST(Verify, DrawsTheSameNumbers) {
  random::Generator generator(7), other(7);
  auto noisy = [&](const Tensor &x) { return x + generator.normal({3}, {.dtype = DType::Float64}); };
  Tensor got = debug::verify(noisy, tensor<double>({1, 2, 3}));
  EXPECT_EQ(valuesOf(got), valuesOf(tensor<double>({1, 2, 3}) + other.normal({3}, {.dtype = DType::Float64})));
  EXPECT_EQ(valuesOf(generator.normal({2})), valuesOf(other.normal({2})));
}

TEST(Verify, FindsHostStateThatTracingHasNotSeen) {
  std::vector<double> digits;
  for (int digit : {1, 1, 0, 1, 0, 0, 1, 0, 1, 1, 1, 0, 0, 1, 0, 1})
    digits.push_back(digit);
  std::string message = messageOf<AssertionError>([&] { debug::verify(lock, tensor(digits)); });
  EXPECT_NE(
      message.find("each operation that both have done gives the same, but result 0 is 1018 eagerly and 18 compiled"),
      std::string::npos)
      << message;
  digits[3] = 0;
  debug::verify(lock, tensor(digits));
}

// The lambda does something else than when it was traced.
TEST(Verify, NamesTheFirstOperationThatDiffers) {
  double factor = 1;
  int line = 0;
  auto f = [&](const Tensor &x) {
    factor += executing_eagerly() ? 1 : 0;
    Tensor y = exp(x);
    line = __LINE__ + 1;
    Tensor z = y * factor;
    return sum(z) + 1;
  };
  std::string message = messageOf<AssertionError>([&] { debug::verify(f, tensor<double>({0, 0})); });
  EXPECT_NE(
      message.find("debug::verify: mul at element [0] gives 2 eagerly and 1 compiled; result 0 is 5 eagerly and 3 "
                   "compiled"),
      std::string::npos)
      << message;
  EXPECT_NE(message.find("VerifyTest.cpp:" + std::to_string(line)), std::string::npos) << message;
}

TEST(Verify, NamesTheIterationThatDiffers) {
  double offset = 0;
  auto f = [&](const Tensor &x) {
    return for_range(0, 5, x, [&](const Tensor &i, const Tensor &y) {
      offset += executing_eagerly() ? 0.5 : 0; // the trace has 0
      return y * 2 + offset;
    });
  };
  std::string message = messageOf<AssertionError>([&] { debug::verify(f, scalar<double>(1.0)); });
  EXPECT_NE(message.find("add gives 2.5 eagerly and 2 compiled"), std::string::npos) << message;
}

TEST(Verify, NamesGradientsThatDiffer) {
  Variable w(scalar<double>(3.0), {.name = "w"});
  double factor = 1;
  auto f = [&](const Tensor &x) {
    factor += executing_eagerly() ? 1 : 0;
    GradientTape tape;
    Tensor y = custom_gradient(
        [&](const Tensor &a) { return std::pair(a * 1, [factor](const Tensor &g) { return g * factor; }); })(w * x);
    return tape.gradient(y, w).value();
  };
  std::string message = messageOf<AssertionError>([&] { debug::verify(f, scalar<double>(2.0)); });
  EXPECT_NE(message.find("gives 4 eagerly and 2 compiled"), std::string::npos) << message;
}

TEST(Verify, ComparesFailures) {
  auto both = [](const Tensor &x) {
    assert_true(x > 0, "x is positive");
    return x;
  };
  EXPECT_NE(messageOf<AssertionError>([&] { debug::verify(both, scalar<double>(-1.0)); }).find("x is positive"),
            std::string::npos);
  auto eager = [](const Tensor &x) {
    if (executing_eagerly())
      throw std::runtime_error("not today");
    return x;
  };
  EXPECT_NE(messageOf<AssertionError>([&] {
              debug::verify(eager, scalar<double>(1.0));
            }).find("it fails eagerly and not compiled: not today"),
            std::string::npos);
  auto compiled = [](const Tensor &x) {
    if (!executing_eagerly())
      assert_true(x < 0, "x is negative");
    return x;
  };
  EXPECT_NE(messageOf<AssertionError>([&] {
              debug::verify(compiled, scalar<double>(1.0));
            }).find("it fails compiled and not eagerly: x is negative"),
            std::string::npos);
}

TEST(Verify, ComparesVariables) {
  Variable v(scalar<double>(1.0), {.name = "v"});
  double step = 0;
  auto f = [&](const Tensor &x) {
    step += executing_eagerly() ? 1 : 0;
    v.assign_add(step);
    return x;
  };
  std::string message = messageOf<AssertionError>([&] { debug::verify(f, scalar<double>(1.0)); });
  EXPECT_NE(message.find("variable 'v' is 2 eagerly and 1 compiled"), std::string::npos) << message;
  EXPECT_EQ(v.value().item<double>(), 2);
}

TEST(Verify, TakesTolerances) {
  double offset = 0;
  auto f = [&](const Tensor &x) {
    offset += executing_eagerly() ? 0.01 : 0;
    return x + offset;
  };
  debug::verify(f, scalar<double>(1.0), {.atol = 0.1});
  EXPECT_THROW(debug::verify(f, scalar<double>(1.0)), AssertionError);
}

TEST(Verify, IsRefusedInATrace) {
  auto f = function([](const Tensor &x) { return debug::verify([](const Tensor &y) { return y * 2; }, x); });
  EXPECT_NE(messageOf<StateError>([&] { f(scalar<double>(1.0)); }).find("can't do so while another one is traced"),
            std::string::npos);
}
