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
