// Assertions, and debug::enable_check_numerics: the first operation that makes a NaN or an infinity.
#include "test/Tensors.h"
#include "test/frontend/Misuse.h"
#include "test/frontend/Testing.h"

using namespace calque;
using namespace calque::testing;

namespace {

struct Checking {
  Checking() { debug::enable_check_numerics(); }
  ~Checking() { debug::enable_check_numerics(false); }
};

// The message of the AssertionError that a call throws, and its line.
template <typename F> std::pair<std::string, unsigned> failureOf(F f) {
  try {
    f();
  } catch (const AssertionError &error) {
    const std::string text = error.what();
    return {text.substr(0, text.find('\n')), error.location().line};
  }
  return {"", 0};
}

std::string fault(const std::string &operation, const std::string &elements) {
  return operation + ": the result has a NaN or an infinity, and the operands are finite (check_numerics); " + elements;
}

unsigned logLine = 0;
// Five lines, of which one takes the logarithm of -1.
Tensor badly(const Tensor &x) {
  Tensor a = x * 2;
  Tensor b = a - 3;
  logLine = __LINE__ + 1;
  Tensor c = log(b);
  Tensor d = c + 1;
  return sum(d * d);
}

} // namespace

TEST(CheckNumerics, NamesTheFirstOperationAndItsLine) {
  Tensor good = tensor<float>({2, 3}), bad = tensor<float>({2, 1});
  auto f = function(badly);
  EXPECT_TRUE(std::isnan(f(bad).item<float>())) << "off: no check";
  {
    Checking checking;
    EXPECT_TRUE(debug::checks_numerics());
    EXPECT_FLOAT_EQ(f(good).item<float>(), badly(good).item<float>());
    // Eagerly, and by code of a function that has run before without checks.
    for (const auto &[message, line] : {failureOf([&] { badly(bad); }), failureOf([&] { f(bad); })}) {
      EXPECT_EQ(message, fault("log", "1 of 2 elements fails: nan at [1]"));
      EXPECT_EQ(line, logLine);
    }
    // A function that is traced now.
    auto g = function(badly);
    EXPECT_EQ(failureOf([&] { g(bad); }).first, fault("log", "1 of 2 elements fails: nan at [1]"));
  }
  EXPECT_FALSE(debug::checks_numerics());
  EXPECT_TRUE(std::isnan(f(bad).item<float>()));
  EXPECT_TRUE(std::isnan(badly(bad).item<float>()));
}

TEST(CheckNumerics, LooksIntoGradients) {
  unsigned root = 0;
  // The root of 0 is finite, and its gradient is not.
  auto slope = [&](const Tensor &x) {
    GradientTape tape;
    tape.watch(x);
    root = __LINE__ + 1;
    Tensor y = sqrt(x);
    return *tape.gradient(sum(y), x);
  };
  Tensor x = tensor<double>({4, 0});
  auto f = function(slope);
  EXPECT_FALSE(std::isfinite(valuesOf(f(x))[1]));
  Checking checking;
  for (const auto &[message, line] : {failureOf([&] { slope(x); }), failureOf([&] { f(x); })}) {
    EXPECT_NE(message.find("the operands are finite (check_numerics); 1 of 2 elements fails: inf at [1]"),
              std::string::npos)
        << message;
    EXPECT_EQ(line, root);
  }
  EXPECT_DOUBLE_EQ(valuesOf(f(tensor<double>({4, 1})))[1], 0.5);
}

// A tape that has recorded while there were no checks has not kept all that they read.
TEST(CheckNumerics, LooksIntoGradientsOfWhatWasRecordedBefore) {
  Tensor x = tensor<float>({0, 1});
  GradientTape tape;
  tape.watch(x);
  Tensor y = sum(sqrt(x));
  Checking checking;
  EXPECT_EQ(failureOf([&] { tape.gradient(y, x); }).first, fault("sqrt", "1 of 2 elements fails: inf at [0]"));
}

TEST(CheckNumerics, LooksIntoBranchesAndLoops) {
  Checking checking;
  auto f = function([](const Tensor &x) {
    Tensor y = x;
    for (Tensor i : range(cast(x[0], DType::Int64)))
      if (y[1] > 0)
        y = log(y - 1);
    return y;
  });
  EXPECT_EQ(failureOf([&] { f(tensor<float>({3, 5})); }).first, fault("log", "1 of 2 elements fails: nan at [0]"));
  EXPECT_FLOAT_EQ(valuesOf(f(tensor<float>({1.5f, 5})))[1], std::log(4.0f));
}

TEST(CheckNumerics, TakesGivenInfinitiesForMeant) {
  Checking checking;
  const double infinity = std::numeric_limits<double>::infinity();
  Tensor mask = tensor<double>({0, -infinity, 0}), x = tensor<double>({1, 2, 3});
  auto f = [&](const Tensor &a) { return softmax(a + mask, -1) * 1.0; };
  EXPECT_EQ(valuesOf(f(x))[1], 0);
  EXPECT_EQ(valuesOf(function(f)(x))[1], 0);
  EXPECT_EQ(valuesOf(max(tensor<double>({-infinity, 2}))), (std::vector<double>{2}));
  EXPECT_EQ(valuesOf(pad(x, {1}, {0}, -infinity))[0], -infinity);
  // A product that overflows, and a quotient by 0.
  EXPECT_EQ(failureOf([&] { x * 1e308 * 10.0; }).first, fault("mul", "2 of 3 elements fail: inf at [1], inf at [2]"));
  EXPECT_EQ(failureOf([&] { function([](const Tensor &a) { return 1.0 / (a - 1.0); })(x); }).first,
            fault("div", "1 of 3 elements fails: inf at [0]"));
}

// Which they are, how many of how many, and where the first ones stand: the same eagerly and compiled.
TEST(CheckNumerics, ShowsTheFirstElements) {
  Checking checking;
  auto quotient = [](const Tensor &x) { return (x - 2.0f) / (x * 0.0f); };
  Tensor x = tensor<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  const std::string mixed = fault("div", "6 of 6 elements fail: -inf at [0,0], nan at [0,1], inf at [0,2], ...");
  EXPECT_EQ(failureOf([&] { quotient(x); }).first, mixed);
  EXPECT_EQ(failureOf([&] { function(quotient)(x); }).first, mixed);
  auto open = function(quotient, {.input_signature = {TensorSpec<float>({kDynamic, 3})}});
  EXPECT_EQ(failureOf([&] { open(x); }).first, mixed);
  EXPECT_EQ(valuesOf(open(zeros({0, 3}))).size(), 0u);
  // A scalar.
  auto root = [](const Tensor &a) { return log(sum(a)); };
  EXPECT_EQ(failureOf([&] { root(-x); }).first, fault("log", "it fails for nan"));
  EXPECT_EQ(failureOf([&] { function(root)(-x); }).first, fault("log", "it fails for nan"));
}

TEST(CheckNumerics, KeepsVariables) {
  Checking checking;
  Variable v(tensor<float>({1, 1}));
  auto f = function([&](const Tensor &x) {
    v.assign_add(x);
    return log(x);
  });
  EXPECT_EQ(failureOf([&] { f(tensor<float>({1, -1})); }).first, fault("log", "1 of 2 elements fails: nan at [1]"));
  EXPECT_EQ(valuesOf(v.value()), (std::vector<double>{1, 1}));
}

TEST(Assertions, HoldOrFailTheCall) {
  auto all = [](const Tensor &x) {
    assert_equal(x, x);
    assert_less(x, x + 1);
    assert_less_equal(x, x, "of itself");
    assert_greater(x, x - 1);
    assert_greater_equal(x, 0);
    assert_rank(x, 1);
    return check_numerics(x);
  };
  Tensor x = tensor<float>({0, 2});
  EXPECT_EQ(valuesOf(all(x)), valuesOf(function(all)(x)));
  auto expectFault = [](const std::string &message, auto f) {
    Tensor x = tensor<float>({0, 2});
    auto compiled = function([&](const Tensor &a) {
      f(a);
      return a;
    });
    EXPECT_EQ(failureOf([&] { f(x); }).first, message);
    EXPECT_EQ(failureOf([&] { compiled(x); }).first, message);
  };
  expectFault("assert_equal: not all elements are equal: the shares; 1 of 2 elements fails: 0.0 and 2 at [0]",
              [](const Tensor &x) { assert_equal(x, 2, "the shares"); });
  expectFault("assert_less: not all elements are less; 1 of 2 elements fails: 2.0 and 2 at [1]",
              [](const Tensor &x) { assert_less(x, 2); });
  expectFault("assert_less_equal: not all elements are less or equal; 1 of 2 elements fails: 2.0 and 1 at [1]",
              [](const Tensor &x) { assert_less_equal(x, 1); });
  expectFault("assert_greater: not all elements are greater; 1 of 2 elements fails: 0.0 and 0 at [0]",
              [](const Tensor &x) { assert_greater(x, 0); });
  expectFault("assert_greater_equal: not all elements are greater or equal; 1 of 2 elements fails: 0.0 and 1 at [0]",
              [](const Tensor &x) { assert_greater_equal(x, 1); });
  expectFault("check_numerics: an element is NaN or infinite: the loss; 1 of 2 elements fails: inf at [0]",
              [](const Tensor &x) { check_numerics(1 / x, "the loss"); });
  // The gradient passes through the check.
  EXPECT_EQ(valuesOf(grad([](const Tensor &a) { return sum(check_numerics(a) * a); })(x)), (std::vector<double>{0, 4}));
}

// The first elements that don't hold, with their indices: the same eagerly, compiled, and for sizes that are not known.
TEST(Assertions, ShowTheFirstElements) {
  auto expectFault = [](const std::string &message, auto f, const Tensor &x, const Tensor &y) {
    auto give = [f](const Tensor &a, const Tensor &b) {
      f(a, b);
      return a;
    };
    EXPECT_EQ(failureOf([&] { f(x, y); }).first, message);
    EXPECT_EQ(failureOf([&] { function(give)(x, y); }).first, message);
    auto specOf = [](const Tensor &of) {
      Shape shape = of.shape();
      for (Size &size : shape)
        size = size == 1 ? size : Size(kDynamic);
      return TensorSpec<>(of.dtype(), shape);
    };
    auto open = function(give, {.input_signature = {specOf(x), specOf(y)}});
    EXPECT_EQ(failureOf([&] { open(x, y); }).first, message);
  };
  auto equal = [](const Tensor &a, const Tensor &b) { assert_equal(a, b); };
  const std::string unequal = "assert_equal: not all elements are equal; ";
  Tensor x = tensor<int>({1, 2, 3, 4, 5, 6}, {2, 3});
  expectFault(unequal + "2 of 6 elements fail: 2 and 0 at [0,1], 6 and -6 at [1,2]", equal, x,
              tensor<int>({1, 0, 3, 4, 5, -6}, {2, 3}));
  // No more than three are shown. One operand is a row, a column, or computed.
  expectFault(
      unequal + "4 of 6 elements fail: 2 and 1 at [0,1], 3 and 1 at [0,2], 4 and 1 at [1,0], ...",
      [](const Tensor &a, const Tensor &b) { assert_equal(a - b, a * 0 + 1 - minimum(b, 0)); }, x,
      tensor<int>({0, 0, 0, 0, 0, 5}, {2, 3}));
  expectFault(
      "assert_less: not all elements are less; 3 of 6 elements fail: 4 and 4 at [1,0], 5 and 4 at [1,1], 6 and "
      "4 at [1,2]",
      [](const Tensor &a, const Tensor &b) { assert_less(a, b); }, x, tensor<int>({4}, {1, 1}));
  expectFault(unequal + "1 of 2 elements fails: nan and nan at [1]", equal, tensor<double>({1, std::nan("")}),
              tensor<double>({1, std::nan("")}));
  expectFault(unequal + "1 of 2 elements fails: True and False at [0]", equal, tensor<bool>({true, true}),
              tensor<bool>({false, true}));
  expectFault(unequal + "it fails for 1.5 and 2.0", equal, scalar(1.5f), scalar(2.0f));
  EXPECT_EQ(failureOf([&] { assert_equal(x, tensor<int>({1, 2, 4})); }).first,
            unequal + "4 of 6 elements fail: 3 and 4 at [0,2], 4 and 1 at [1,0], 5 and 2 at [1,1], ...");
  // What assert_true() checks has no values to show, but indices.
  auto holds = [](const Tensor &a, const Tensor &b) { assert_true(a < b, "in order"); };
  expectFault("in order; 1 of 2 elements fails: at [1]", holds, tensor<int>({1, 2}), tensor<int>({2, 2}));
  EXPECT_EQ(failureOf([] { assert_true(scalar(false), "in order"); }).first, "in order");
  // Nothing fails of no elements.
  assert_equal(zeros({0, 3}), ones({0, 3}));
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { assert_equal(x, ones({2}, DType::Int32)); }), "assert_equal: ");
}

TEST(Assertions, ShowElementsOfExamplesAndOfLoops) {
  auto each = [](const Tensor &row) {
    assert_less(sum(row), 5, "a row's sum");
    return row;
  };
  Tensor rows = tensor<int>({1, 2, 3, 4, 5, 6}, {3, 2});
  const std::string ofExamples =
      "assert_less: not all elements are less: a row's sum; 2 of 3 elements fail: 7 and 5 at "
      "[1], 11 and 5 at [2]";
  EXPECT_EQ(failureOf([&] { vmap(each)(rows); }).first, ofExamples);
  EXPECT_EQ(failureOf([&] { function(vmap(each))(rows); }).first, ofExamples);
  auto loop = function([](const Tensor &x) {
    Tensor y = x;
    for (Tensor i : range(10)) {
      assert_less(y, 8);
      y = y * 2;
    }
    return y;
  });
  EXPECT_EQ(failureOf([&] { loop(tensor<int>({1, 0, 3})); }).first,
            "assert_less: not all elements are less; 1 of 3 elements fails: 12 and 8 at [2]");
}

TEST(Assertions, CompareShapes) {
  Tensor x = ones({5, 3}), y = ones({5}), z = ones({4});
  assert_shapes({{x, {"N", 3}}, {y, {"N"}}, {z, {kDynamic}}});
  EXPECT_CONTAINS(errorOf<ValueError>([&] { assert_shapes({{x, {"N", -5}}}); }),
                  "assert_shapes: dimension 1 of tensor 0, float32[5,3], can't have the size -5");
  auto same = function(
      [](const Tensor &a, const Tensor &b) {
        assert_shapes({{a, {"N", 3}}, {b, {"N"}}});
        return sum(a);
      },
      {.input_signature = {TensorSpec<float>({kDynamic, kDynamic}), TensorSpec<float>({kDynamic})}});
  EXPECT_EQ(same(x, y).item<float>(), 15);
  EXPECT_EQ(failureOf([&] { same(x, z); }).first,
            "assert_shapes: dimension 0 of tensor 1, float32[?], must be 'N', dimension 0 of tensor 0, float32[?,?]");
  EXPECT_EQ(failureOf([&] { same(ones({5, 2}), y); }).first,
            "assert_shapes: dimension 1 of tensor 0, float32[?,?], must be 3");
}
