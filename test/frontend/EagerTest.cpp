// Eager calls: which of them share native code.
#include "Testing.h"
#include "test/Tensors.h"

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
