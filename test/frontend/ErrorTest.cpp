#include "Testing.h"

#include <limits>

using namespace calque;
using namespace calque::testing;

TEST(Error, NamesTheUsersLine) {
  Tensor a = ones({2, 3}), b = ones({4});
  unsigned line = 0;
  try {
    line = __LINE__ + 1;
    a + b;
    FAIL();
  } catch (const ShapeError &error) {
    EXPECT_EQ(error.location().line, line);
    EXPECT_STREQ(error.category(), "ShapeError");
    EXPECT_CONTAINS(error.what(), "[2,3] and [4]");
    EXPECT_CONTAINS(error.what(), "ErrorTest.cpp:" + std::to_string(line));
  }
}

TEST(Error, IsTheSameWhileTracing) {
  auto f = function([](const Tensor &x) { return x + ones({4}); });
  std::string eager = errorOf<ShapeError>([&] { f.eager(ones({3})); });
  EXPECT_EQ(errorOf<ShapeError>([&] { f(ones({3})); }), eager);
}

TEST(Error, MatmulNamesTheInnerDimensions) {
  std::string text = errorOf<ShapeError>([] { matmul(ones({2, 3}), ones({4, 5})); });
  EXPECT_CONTAINS(text, "3 and 4");
  EXPECT_CONTAINS(text, "[2,3] and [4,5]");
  EXPECT_THROW(matmul(ones({4}), ones({3, 1})), ShapeError);
  EXPECT_THROW(matmul(ones({2, 2, 2}), ones({3, 2, 2})), ShapeError);
  EXPECT_THROW(matmul(ones({2, 2}), ones({2, 2}, DType::Float64)), DTypeError);
}

TEST(Error, AttributesOutOfRangeAreValueErrors) {
  EXPECT_THROW(sum(ones({2}), {3}), ValueError);
  EXPECT_THROW(sum(ones({2, 2}), {0, 0}), ValueError);
}

TEST(Error, AnIndexOutsideNamesIndexAndRange) {
  Tensor x = ones({5});
  std::string text = errorOf<IndexError>([&] { gather(x, tensor<int>({7})); });
  EXPECT_CONTAINS(text, "gather: index 7 is out of range [0, 5)");
  EXPECT_CONTAINS(text, "ErrorTest.cpp");
  auto f = function([](const Tensor &x, const Tensor &i) { return gather(x, i); });
  EXPECT_CONTAINS(errorOf<IndexError>([&] { f(x, tensor<int>({-1})); }), "index -1 is out of range [0, 5)");
  expectValues(f(x, tensor<int>({4})), {1}); // a failed call does not poison the next
}

TEST(Error, IntegerDivisionByZeroIsADivisionError) {
  auto f = function([](const Tensor &a, const Tensor &b) { return a / b; });
  EXPECT_CONTAINS(errorOf<DivisionError>([&] { f(tensor<int>({1}), tensor<int>({0})); }), "ErrorTest.cpp");
  EXPECT_EQ(f(tensor<int>({7}), tensor<int>({-2})).item<int>(), -3);
}

TEST(Error, AssertionsCarryTheirMessage) {
  assert_true(scalar(true), "fine");
  EXPECT_CONTAINS(errorOf<AssertionError>([] { assert_true(scalar(false), "x must be positive"); }),
                  "x must be positive");
  auto f = function([](const Tensor &x) {
    assert_true(x > 0, "x must be positive");
    return x;
  });
  expectValues(f(ones({2})), {1, 1});
  EXPECT_CONTAINS(errorOf<AssertionError>([&] { f(zeros({2})); }), "x must be positive");
}

TEST(Error, AssertionsLookAtAllElementsOfAnyShape) {
  auto check = [](const Tensor &x) { assert_true(x > 0, "x must be positive"); };
  auto known = function(check), open = function(check, {.input_signature = {TensorSpec<float>(kAnyShape)}});
  for (const Shape &shape : {Shape{}, Shape{1}, Shape{17}, Shape{3, 5}, Shape{2, 1, 3, 7}, Shape{0}, Shape{3, 0}}) {
    known(ones(shape));
    open(ones(shape));
    const std::int64_t count = ones(shape).size();
    for (std::int64_t at : {std::int64_t(0), count / 2, count - 1}) {
      if (at < 0 || at >= count)
        continue;
      std::vector<float> elements(static_cast<std::size_t>(count), 1.0f);
      elements[static_cast<std::size_t>(at)] = 0;
      Tensor wrong = reshape(tensor(elements), shape);
      for (const auto &f : {known, open})
        EXPECT_CONTAINS(errorOf<AssertionError>([&] { f(wrong); }), "x must be positive");
    }
  }
}

TEST(Error, DecisionsThatCanNotBeCapturedAreRefusedWithTheLine) {
  auto f = function([](const Tensor &x) {
    Tensor positive = x > 0, y = x;
    while (positive)
      y = y + 1;
    return y;
  });
  EXPECT_CONTAINS(errorOf<StateError>([&] { f(scalar(1.0f)); }), "ErrorTest.cpp");
}

TEST(Error, ElementsAreNotKnownWhileTracing) {
  auto f = function([](const Tensor &x) { return x * x.item<float>(); });
  EXPECT_CONTAINS(errorOf<StateError>([&] { f(scalar(1.0f)); }), "not known while tracing");
}

TEST(Error, ACallSiteIsTheUsersLine) {
  unsigned line = 0;
  try {
    CallSite site(SourceLocation::at("user.cpp", 7));
    line = 7;
    ones({2}) + ones({3});
    FAIL();
  } catch (const ShapeError &error) {
    EXPECT_EQ(error.location().line, line);
    EXPECT_STREQ(error.location().file, "user.cpp");
  }
}

TEST(Error, SizesThatDoNotFitAreRefused) {
  const std::int64_t many = std::int64_t(1) << 32, most = std::numeric_limits<std::int64_t>::max();
  auto f = function([=](const Tensor &x) { return broadcast_to(x, {many, many}); });
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { broadcast_to(scalar(1.0f), {many, many}); }),
                  "broadcast_to: result 0, float32[4294967296,4294967296], has more bytes than can be addressed");
  EXPECT_THROW(f(scalar(1.0f)), ShapeError);
  EXPECT_THROW(pad(ones({3}), {most}, {0}), ValueError);
  EXPECT_THROW(pad(ones({3}), {most / 2}, {most / 2}), ValueError);
  EXPECT_THROW(reshape(zeros({0}), {many, many}), ShapeError);
  EXPECT_THROW(max_pool2d(ones({1, 1, 1, 1}), {most, most}, {1, 1}, "same"), ValueError);
  expectValues(slice(tensor<float>({1, 2, 3}), {1}, {3}, {most}), {2});
}
