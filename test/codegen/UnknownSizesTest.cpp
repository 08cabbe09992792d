// Functions of unknown sizes, called through the front end.
#include "calque/calque.h"
#include "test/codegen/Recordings.h"

#include <functional>

namespace calque::testing {
namespace {

std::string messageOf(const std::function<void()> &call) {
  try {
    call();
  } catch (const ShapeError &error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(FunctionsOfUnknownSizes, RunOnAll) {
  auto f = function([](const Tensor &x, const Tensor &w) { return sum(matmul(x, w), {0}); },
                    {.input_signature = {TensorSpec<float>({kDynamic, 3}), TensorSpec<float>({3, kDynamic})}});
  for (std::int64_t n : {0, 1, 5})
    for (std::int64_t m : {0, 2, 9}) {
      Tensor y = f(ones({n, 3}), ones({3, m}));
      EXPECT_EQ(y.shape(), Shape{m});
      for (std::int64_t i = 0; i < m; ++i)
        EXPECT_EQ(y.data<float>()[i], static_cast<float>(3 * n));
    }
  EXPECT_EQ(f.trace_count(), 1);
}

// The arithmetic on sizes is so long that it is compiled in parts.
TEST(FunctionsOfUnknownSizes, MayBeManyInALongProgram) {
  auto body = [](const Tensor &x, const Tensor &z) {
    Tensor y = x;
    for (std::int64_t i = 0; i < 200; ++i)
      y = concat({slice(y, {0}, {1}), y * 0.5f, slice(z, {i % 3}, {i % 3 + 1})});
    return y;
  };
  auto f = function(body, {.input_signature = {TensorSpec<float>({kDynamic}), TensorSpec<float>({kDynamic})}});
  for (Shape sizes : {Shape{1, 3}, Shape{4, 3}, Shape{9, 7}}) {
    Tensor x = ones({sizes[0]}), z = full({sizes[1]}, 3.0f);
    EXPECT_EQ(f(x, z).to_vector<float>(), body(x, z).to_vector<float>());
  }
  EXPECT_EQ(f.trace_count(), 1);
  for (Shape sizes : {Shape{0, 3}, Shape{4, 2}}) {
    Tensor x = ones({sizes[0]}), z = ones({sizes[1]});
    EXPECT_THROW(f(x, z), ShapeError);
  }
}

// What depends on sizes is a ShapeError whether they are known to the operation, to the trace or to the call alone.
TEST(FunctionsOfUnknownSizes, RefuseWithTheClassOfKnownOnes) {
  std::int64_t many = std::int64_t(1) << 32;
  struct Refused {
    const char *name;
    Tensor (*body)(const Tensor &);
    Shape shape;
  } cases[] = {
      {"max", [](const Tensor &x) { return max(x, {0}); }, {0, 3}},
      {"softmax", [](const Tensor &x) { return softmax(x, 0); }, {0, 3}},
      {"argmax", [](const Tensor &x) { return argmax(x, 0); }, {0, 3}},
      {"argmin", [](const Tensor &x) { return argmin(x, 0); }, {0, 3}},
      {"slice", [](const Tensor &x) { return slice(x, {1, 0}, {4, 3}); }, {3, 3}},
      {"split", [](const Tensor &x) { return split(x, {4, -1}, 0)[1]; }, {3, 3}},
      {"reshape", [](const Tensor &x) { return reshape(x, {2, 3}); }, {3, 3}},
      {"matmul", [](const Tensor &x) { return matmul(x, transpose(x)); }, {many, 0}},
  };
  for (const Refused &refused : cases) {
    SCOPED_TRACE(refused.name);
    Tensor x = zeros(refused.shape);
    EXPECT_THROW(refused.body(x), ShapeError);
    EXPECT_THROW(function(refused.body)(x), ShapeError);
    EXPECT_THROW(function(refused.body, {.input_signature = {TensorSpec<float>({kDynamic, kDynamic})}})(x), ShapeError);
  }
}

// No size is two numbers: each call is refused, by the check that it fails.
TEST(FunctionsOfUnknownSizes, RefuseWhatContradictsItself) {
  auto parts = function([](const Tensor &x) { return sum(reshape(x, {3})) + sum(reshape(x, {4})); },
                        {.input_signature = {TensorSpec<float>({kDynamic})}});
  EXPECT_THROW(parts(ones({3})), ShapeError);
  EXPECT_THROW(parts(ones({4})), ShapeError);
  auto shapes = function([](const Tensor &x) { return broadcast_to(x, {3, 4}) + sum(reshape(x, {1, 1})); },
                         {.input_signature = {TensorSpec<float>({kDynamic})}});
  EXPECT_THROW(shapes(ones({1})), ShapeError);
  EXPECT_THROW(shapes(ones({4})), ShapeError);
  auto scalars = function([](const Tensor &x) { return reshape(x, {}) + sum(reshape(x, {2, 3})); },
                          {.input_signature = {TensorSpec<float>({kDynamic})}});
  EXPECT_THROW(scalars(ones({6})), ShapeError);
}

// From no elements no size follows, and none has to: the mapped axis brings its own.
TEST(FunctionsOfUnknownSizes, MapReshapesToNoElements) {
  for (Shape signature : {Shape{kDynamic, 0, 5, 4}, Shape{kDynamic, kDynamic, 5, 4}}) {
    auto f = function([](const Tensor &x) { return vmap([](const Tensor &r) { return reshape(r, {5, 0, 4}); })(x); },
                      {.input_signature = {TensorSpec<float>(signature)}});
    EXPECT_EQ(f(ones({3, 0, 5, 4})).shape(), (Shape{3, 5, 0, 4}));
    auto g = function(
        [](const Tensor &x) {
          return vmap(grad([](const Tensor &r) { return sum(reshape(r, {5, 0, 4}) * reshape(r, {5, 0, 4})); }))(x);
        },
        {.input_signature = {TensorSpec<float>(signature)}});
    EXPECT_EQ(g(ones({3, 0, 5, 4})).shape(), (Shape{3, 0, 5, 4}));
  }
}

TEST(FunctionsOfUnknownSizes, SayWhatDoesNotFit) {
  TensorSpec<> rows = TensorSpec<float>({kDynamic, 3});
  auto sums = function([](const Tensor &x, const Tensor &y) { return x + y; }, {.input_signature = {rows, rows}});
  std::string message = messageOf([&] { sums(ones({3, 3}), ones({4, 3})); });
  EXPECT_NE(
      message.find("add: dimension 0 of argument 0 is 3 and dimension 0 of argument 1 is 4, and they must be equal"),
      std::string::npos)
      << message;
  EXPECT_NE(message.find("UnknownSizesTest.cpp"), std::string::npos) << message;
  auto parts = function([](const Tensor &x) { return reshape(x, {2, 3}); }, {.input_signature = {rows}});
  message = messageOf([&] { parts(ones({3, 3})); });
  EXPECT_NE(message.find("reshape: the number of elements of argument 0 is 9, and it must be 6"), std::string::npos)
      << message;
  auto largest = function([](const Tensor &x) { return max(x, {0}); }, {.input_signature = {rows}});
  message = messageOf([&] { largest(ones({0, 3})); });
  EXPECT_NE(message.find("dimension 0 of argument 0 is 0, and it must be at least 1"), std::string::npos) << message;
  TensorSpec<> columns = TensorSpec<float>({0, kDynamic}), many = TensorSpec<float>({kDynamic, 0});
  auto products =
      function([](const Tensor &x, const Tensor &y) { return matmul(x, y); }, {.input_signature = {many, columns}});
  message = messageOf([&] { products(zeros({std::int64_t(1) << 32, 0}), zeros({0, std::int64_t(1) << 32})); });
  EXPECT_NE(message.find("a result has more bytes than can be addressed with the sizes of this call's arguments"),
            std::string::npos)
      << message;
}

} // namespace
} // namespace calque::testing
