// Eager calls: which of them share native code.
#include "Testing.h"
#include "test/Tensors.h"

#include "frontend/compiled/CompilationCount.h"

using namespace calque;
using namespace calque::testing;

TEST(EagerOperations, OfSeveralResultsArePassedByGradients) {
  Tensor x = reshape(iota({6}, DType::Float32), {2, 3});
  auto loss = [](const Tensor &x) {
    std::vector<Tensor> parts = split(x, {1, -1}, 1);
    return sum(parts[0] * 3) + sum(square(parts[1]));
  };
  GradientTape tape;
  tape.watch(x);
  Tensor y = loss(x);
  Tensor expected = tensor({3.f, 2.f, 4.f, 3.f, 8.f, 10.f}, {2, 3});
  expectSameBits(*tape.gradient(y, x), expected);
  expectSameBits(function<Tensor(const Tensor &)>(grad(loss))(x), expected);
  // A part that nothing is computed from has a gradient of zeros.
  GradientTape one;
  one.watch(x);
  expectSameBits(*one.gradient(split(x, {2, 1}, 1)[1], x), tensor({0.f, 0.f, 1.f, 0.f, 0.f, 1.f}, {2, 3}));
}

// Eager calls that differ in one attribute alone are different code.
TEST(EagerOperations, AreKeptApartByEachAttribute) {
  Tensor image = reshape(iota({40}, DType::Float32), {1, 5, 8, 1}), filter = ones({2, 3, 1, 1});
  Tensor x = reshape(iota({12}, DType::Float32), {3, 4}), index = tensor({2, 0});
  std::function<Tensor()> calls[] = {
      [&] { return conv2d(image, filter, {1, 1}, "valid"); },
      [&] { return conv2d(image, filter, {1, 1}, "same"); },
      [&] { return conv2d(image, filter, {2, 1}, "same"); },
      [&] { return max_pool2d(image, {2, 3}, {1, 1}, "valid"); },
      [&] { return max_pool2d(image, {2, 3}, {1, 1}, "same"); },
      [&] { return max_pool2d(image, {3, 2}, {1, 1}, "same"); },
      [&] { return max_pool2d(image, {3, 2}, {1, 2}, "same"); },
      [&] { return sum(x, {0}); },
      [&] { return sum(x, {1}); },
      [&] { return sum(x, {1}, true); },
      [&] { return softmax(x, 0); },
      [&] { return softmax(x, 1); },
      [&] { return argmax(x, 0); },
      [&] { return argmax(x, 1); },
      [&] { return gather(x, index, 0); },
      [&] { return gather(x, index, 1); },
      [&] { return one_hot(index, 3, DType::Float32); },
      [&] { return one_hot(index, 4, DType::Float32); },
      [&] { return one_hot(index, 4, DType::Float64); },
      [&] { return iota({3, 4}, DType::Int32, 0); },
      [&] { return iota({3, 4}, DType::Int32, 1); },
      [&] { return iota({3, 4}, DType::Int64, 1); },
      [&] { return pad(x, {1, 0}, {0, 0}, 0); },
      [&] { return pad(x, {1, 0}, {0, 0}, 1); },
      [&] { return cast(x, DType::Int32); },
      [&] { return cast(x, DType::Int64); },
  };
  // A function is compiled for itself, whatever eager code there is.
  for (const std::function<Tensor()> &call : calls)
    expectSameBits(call(), function(call)());
}

namespace {
// Calls eager code and compiled code of each function on all pairs of elements.
template <typename T> void expectSameBitsOfPairs(const std::vector<T> &elements, const auto &functions) {
  std::vector<T> xs, ys;
  for (T a : elements)
    for (T b : elements) {
      xs.push_back(a);
      ys.push_back(b);
    }
  Tensor x = tensor(xs), y = tensor(ys);
  int number = 0;
  for (const auto &f : functions) {
    SCOPED_TRACE(number++);
    expectSameBits(f(x, y), function(f)(x, y));
  }
}
} // namespace

namespace {
// Elements that differ, so that no operand is taken for another or read in another order.
Tensor numbered(const Shape &shape, int first) {
  std::vector<float> elements(static_cast<std::size_t>(sizeOf(shape)));
  for (std::size_t i = 0; i < elements.size(); ++i)
    elements[i] = static_cast<float>(first) + 0.37f * static_cast<float>(i);
  return tensor(elements, shape);
}
// All shapes of up to `rank` dimensions of the sizes 1 to 3.
std::vector<Shape> smallShapes(std::size_t rank) {
  std::vector<Shape> all{{}};
  for (std::size_t begin = 0, end = 1; rank > 0; --rank, begin = end, end = all.size())
    for (std::size_t i = begin; i < end; ++i)
      for (std::int64_t size : {1, 2, 3}) {
        std::vector<std::int64_t> sizes(all[i].begin(), all[i].end());
        sizes.push_back(size);
        all.push_back(Shape(sizes));
      }
  return all;
}
} // namespace

// Eager code is that of a form in which dimensions are merged and left open.
TEST(EagerOperations, BroadcastAsFunctionsOfTheseShapesDo) {
  auto f = [](const Tensor &x, const Tensor &y) { return x - y; };
  std::vector<Shape> shapes = smallShapes(3);
  std::size_t pairs = 0;
  for (const Shape &a : shapes)
    for (const Shape &b : shapes) {
      Tensor x = numbered(a, 1), y = numbered(b, 1000);
      Tensor difference;
      try {
        difference = f(x, y);
      } catch (const ShapeError &) {
        continue; // they don't broadcast
      }
      // By strides, as NumPy defines it.
      std::size_t rank = std::max(a.size(), b.size());
      Shape result = difference.shape();
      std::vector<float> expected;
      for (std::int64_t i = 0; i < sizeOf(result); ++i) {
        auto elementOf = [&](const Tensor &operand) {
          std::int64_t rest = i, offset = 0, stride = 1;
          for (std::size_t axis = rank; axis-- > 0;) {
            std::int64_t position = rest % result[axis];
            rest /= result[axis];
            std::size_t missing = rank - operand.shape().size();
            if (axis < missing)
              continue;
            std::int64_t size = operand.shape()[axis - missing];
            offset += size == 1 ? 0 : position * stride;
            stride *= size;
          }
          return operand.data<float>()[offset];
        };
        expected.push_back(elementOf(x) - elementOf(y));
      }
      expectSameBits(difference, tensor(expected, result));
      ++pairs;
    }
  EXPECT_GT(pairs, 400u);
}

// A new size costs nothing once there is code for any, which it takes a few sizes to be worth.
TEST(EagerOperations, OfManySizesShareCode) {
  std::function<Tensor(std::int64_t)> calls[] = {
      [](std::int64_t n) { return cos(numbered({n}, 0)) * numbered({3, n}, 1); },
      [](std::int64_t n) { return sum(numbered({n, 3}, 0), {0}); },
      [](std::int64_t n) { return matmul(numbered({2, n}, 0), numbered({n, 5}, 7)); },
      [](std::int64_t n) { return conv2d(numbered({1, n, 4, 1}, 0), numbered({2, 2, 1, 3}, 7), {1, 1}, "same"); },
      [](std::int64_t n) { return softmax(numbered({n, 2, 3}, 0), 0); },
      [](std::int64_t n) { return gather(numbered({n, 2}, 0), tensor({1, 0, 1}), 0); },
  };
  constexpr std::int64_t kSizes = 40;
  for (const auto &call : calls) {
    SCOPED_TRACE(&call - calls);
    std::uint64_t before = detail::compilationCount();
    std::vector<Tensor> results;
    for (std::int64_t n = 2; n < 2 + kSizes; ++n)
      results.push_back(call(n));
    EXPECT_LE(detail::compilationCount() - before, 2 * 9u);
    for (std::int64_t n : {2, 17, 41}) { // where the own code, or that for any size, is used
      std::vector<double> found = valuesOf(results[static_cast<std::size_t>(n - 2)]);
      std::vector<double> expected = valuesOf(function([&] { return call(n); })());
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) // sums may be taken in another order
        EXPECT_NEAR(found[i], expected[i], 1e-5 * std::abs(expected[i])) << n << ", element " << i;
    }
  }
  // Tensors without elements, and of sizes that broadcast, have code of their own.
  expectSameBits(sum(numbered({0, 3}, 0), {0}), zeros({3}));
  expectSameBits(sum(numbered({1, 3}, 5), {0}), numbered({3}, 5));
}

// An index is checked by the code that is shared, and the error is the caller's.
TEST(EagerOperations, OfManySizesCheckIndices) {
  for (std::int64_t n = 2; n < 20; ++n) {
    std::string message =
        errorOf<IndexError>([&] { gather(numbered({n, 2}, 0), tensor({0, static_cast<int>(n)}), 0); });
    EXPECT_CONTAINS(message, "gather: index " + std::to_string(n) + " is out of range [0, " + std::to_string(n) + ")");
  }
}

// Each of these is simplified, or looks like what is and differs for one of the elements.
TEST(EagerOperations, HaveTheBitsOfWhatCompiledCodeSimplifies) {
  using Binary = std::function<Tensor(const Tensor &, const Tensor &)>;
  const float inf = std::numeric_limits<float>::infinity(), small = std::numeric_limits<float>::denorm_min();
  const Binary floats[] = {
      [](const Tensor &x, const Tensor &) { return x + -0.f; },
      [](const Tensor &x, const Tensor &) { return x + 0.f; },
      [](const Tensor &x, const Tensor &) { return x - 0.f; },
      [](const Tensor &x, const Tensor &) { return x - -0.f; },
      [](const Tensor &x, const Tensor &) { return 0.f - x; },
      [](const Tensor &x, const Tensor &) { return x * 1.f; },
      [](const Tensor &x, const Tensor &) { return 0.f * x; },
      [](const Tensor &x, const Tensor &) { return x / 1.f; },
      [](const Tensor &x, const Tensor &) { return x / x; },
      [](const Tensor &x, const Tensor &) { return x - x; },
      [](const Tensor &x, const Tensor &) { return -(-x); },
      [](const Tensor &x, const Tensor &y) { return -x * y; },
      [](const Tensor &x, const Tensor &y) { return -x * -y; },
      [](const Tensor &x, const Tensor &y) { return x / -y; },
      [](const Tensor &x, const Tensor &y) { return -x + y; },
      [](const Tensor &x, const Tensor &y) { return x + -y; },
      [](const Tensor &x, const Tensor &y) { return -x + -y; },
      [](const Tensor &x, const Tensor &y) { return x - -y; },
      [](const Tensor &x, const Tensor &y) { return -x - y; },
      [](const Tensor &x, const Tensor &y) { return -(x - y); },
      [](const Tensor &x, const Tensor &y) { return -(x + y); },
      [](const Tensor &x, const Tensor &y) { return x - -x * y; },
      [](const Tensor &x, const Tensor &y) { return x * y + y * x; },
      [](const Tensor &x, const Tensor &y) { return x * y * -x + y; },
      [](const Tensor &x, const Tensor &) { return abs(abs(-x)); },
      [](const Tensor &x, const Tensor &) { return square(-x); },
      [](const Tensor &x, const Tensor &) { return sign(sign(x)); },
      [](const Tensor &x, const Tensor &) { return relu(relu(x)); },
      [](const Tensor &x, const Tensor &) { return floor(floor(x)); },
      [](const Tensor &x, const Tensor &) { return maximum(x, x) + minimum(x, x); },
      [](const Tensor &x, const Tensor &y) { return where(!(x < y), x, y); },
      [](const Tensor &x, const Tensor &y) { return where(x < y, x, x); },
      [](const Tensor &x, const Tensor &) { return cast(cast(x, DType::Float64), DType::Float32); },
      [](const Tensor &x, const Tensor &) { return cast(cast(x, DType::Int64), DType::Float32); },
  };
  expectSameBitsOfPairs<float>({0.f, -0.f, 1.f, -1.f, 0.1f, -3.7f, 16777216.f, 3e38f, -3e38f, small, -small, inf, -inf,
                                std::numeric_limits<float>::quiet_NaN()},
                               floats);
  const Binary integers[] = {
      [](const Tensor &x, const Tensor &) { return x + 0; },
      [](const Tensor &x, const Tensor &) { return x * 1; },
      [](const Tensor &x, const Tensor &) { return x / 1; },
      [](const Tensor &x, const Tensor &) { return -(-x); },
      [](const Tensor &x, const Tensor &y) { return -x * y; },
      [](const Tensor &x, const Tensor &y) { return -x / y; },
      [](const Tensor &x, const Tensor &y) { return x / -y; },
      [](const Tensor &x, const Tensor &y) { return -x + y; },
      [](const Tensor &x, const Tensor &y) { return x - -y; },
      [](const Tensor &x, const Tensor &) { return abs(abs(-x)); },
      [](const Tensor &x, const Tensor &) { return square(-x); },
      [](const Tensor &x, const Tensor &) { return sign(sign(x)); },
      [](const Tensor &x, const Tensor &) { return cast(cast(x, DType::Float64), DType::Int32); },
      [](const Tensor &x, const Tensor &) { return cast(cast(x, DType::Float32), DType::Int32); },
      [](const Tensor &x, const Tensor &) { return cast(cast(x, DType::Bool), DType::Int32); },
  };
  const std::int32_t least = std::numeric_limits<std::int32_t>::min();
  expectSameBitsOfPairs<std::int32_t>({1, -1, 2, -7, 16777217, least, least + 1, -(least + 1)}, integers);
}
