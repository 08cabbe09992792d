// Nests that read operands across the direction in which they write.
#include "test/codegen/Testing.h"

using namespace calque;
using namespace calque::testing;

namespace {

using Order = std::vector<std::int64_t>;

// Each element is its own number, so that one in a wrong place is seen.
Tensor numbered(const Shape &shape, DType dtype) {
  std::vector<double> values(static_cast<std::size_t>(sizeOf(shape)));
  std::iota(values.begin(), values.end(), 0);
  return makeTensor(dtype, values, shape);
}

std::vector<double> transposed(const Tensor &x, const Order &order) {
  std::vector<double> from = valuesOf(x), into;
  Shape shape = x.shape(), strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  Shape index(shape.size(), 0);
  for (std::size_t count = from.size(); count > 0; --count) {
    std::int64_t place = 0;
    for (std::size_t i = 0; i < order.size(); ++i)
      place += index[i] * strides[static_cast<std::size_t>(order[i])];
    into.push_back(from[static_cast<std::size_t>(place)]);
    for (std::size_t i = order.size(); i-- > 0;) {
      if (++index[i] < shape[static_cast<std::size_t>(order[i])])
        break;
      index[i] = 0;
    }
  }
  return into;
}

} // namespace

TEST(Transposes, OfEachSizeAndType) {
  for (DType dtype : {DType::Float32, DType::Float64, DType::Int32, DType::Int64})
    for (const Shape &shape : {Shape{16, 16}, Shape{4, 4}, Shape{17, 33}, Shape{64, 64}, Shape{37, 53}, Shape{3, 100},
                               Shape{129, 15}, Shape{255, 257}, Shape{1, 70}}) {
      SCOPED_TRACE(text(shape));
      Tensor x = numbered(shape, dtype);
      auto f = function([](const Tensor &x) { return transpose(x); });
      EXPECT_EQ(valuesOf(f(x)), transposed(x, {1, 0}));
    }
}

TEST(Transposes, OfSeveralDimensions) {
  Tensor x = numbered({5, 33, 40, 18}, DType::Float32);
  for (const Order &order :
       {Order{0, 2, 1, 3}, Order{3, 2, 1, 0}, Order{1, 0, 3, 2}, Order{2, 3, 0, 1}, Order{0, 3, 1, 2}}) {
    auto f = function([&](const Tensor &x) { return transpose(x, order); });
    EXPECT_EQ(valuesOf(f(x)), transposed(x, order));
  }
}

// Operands in both directions, of one element, and of several types.
TEST(Transposes, WithinOtherOperations) {
  for (const Shape &shape : {Shape{48, 80}, Shape{51, 67}}) {
    Tensor x = numbered(shape, DType::Float32), y = numbered({shape[1], shape[0]}, DType::Float64);
    auto body = [](const Tensor &x, const Tensor &y, const Tensor &row) {
      return cast(transpose(x), DType::Float64) * 0.5 + y - cast(transpose(x * x + row), DType::Float64);
    };
    Tensor row = numbered({shape[1]}, DType::Float32);
    EXPECT_EQ(valuesOf(function(body)(x, y, row)), valuesOf(body(x, y, row)));
    auto masked = [](const Tensor &x, const Tensor &y) {
      return where(y > 100, transpose(x), cast(y, DType::Float32));
    };
    EXPECT_EQ(valuesOf(function(masked)(x, y)), valuesOf(masked(x, y)));
  }
}

// One trace for all sizes: squares and what is left of them are counted at run time.
TEST(Transposes, OfOpenSizes) {
  for (DType dtype : {DType::Float32, DType::Float64, DType::Int32}) {
    auto flat = function([](const Tensor &x) { return transpose(x); },
                         {.input_signature = {TensorSpec(dtype, {kDynamic, kDynamic})}});
    auto deep = function([](const Tensor &x) { return transpose(x, {2, 0, 1}); },
                         {.input_signature = {TensorSpec(dtype, {kDynamic, 5, kDynamic})}});
    for (const Shape &shape :
         {Shape{0, 7}, Shape{1, 70}, Shape{16, 16}, Shape{17, 33}, Shape{3, 100}, Shape{129, 15}, Shape{300, 257}}) {
      SCOPED_TRACE(text(shape));
      Tensor x = numbered(shape, dtype), y = numbered({shape[0], 5, shape[1]}, dtype);
      EXPECT_EQ(valuesOf(flat(x)), transposed(x, {1, 0}));
      EXPECT_EQ(valuesOf(deep(y)), transposed(y, {2, 0, 1}));
    }
  }
  auto sum = function([](const Tensor &x, const Tensor &y) { return transpose(x) * 2 + y; },
                      {.input_signature = {TensorSpec<float>({kDynamic, 40}), TensorSpec<float>({40, kDynamic})}});
  for (std::int64_t rows : {1, 15, 16, 37, 500}) {
    Tensor x = numbered({rows, 40}, DType::Float32), y = numbered({40, rows}, DType::Float32);
    EXPECT_EQ(valuesOf(sum(x, y)), valuesOf(transpose(x) * 2 + y));
  }
}

// Threads share the squares; the bits don't depend on how.
TEST(Transposes, OnThreads) {
  Tensor x = numbered({1100, 900}, DType::Float32);
  auto f = function([](const Tensor &x) { return transpose(x) + 1; });
  std::vector<double> expected = transposed(x, {1, 0});
  for (double &value : expected)
    value += 1;
  for (int threads : {1, 2, 5}) {
    set_num_threads(threads);
    EXPECT_EQ(valuesOf(f(x)), expected);
  }
  set_num_threads(2);
}
