// A network of two convolutions, pooling and a dense layer, trained by gradient descent: small, and every kind of
// kernel.
#ifndef CALQUE_TEST_CODEGEN_SMALLCNN_H
#define CALQUE_TEST_CODEGEN_SMALLCNN_H

#include "test/codegen/Testing.h"

namespace calque::testing {

class SmallCnn {
public:
  SmallCnn() {
    std::mt19937 random(25);
    for (const Shape &shape :
         {Shape{3, 3, 1, 8}, Shape{8}, Shape{3, 3, 8, 17}, Shape{17}, Shape{5 * 5 * 17, 10}, Shape{10}})
      parameters.emplace_back(operand(random, shape, DType::Float32) * 0.2f);
  }

  Tensor loss(const Tensor &images, const Tensor &labels) const {
    Tensor x = relu(conv2d(images, parameters[0], {1, 1}, "same") + parameters[1]);
    x = max_pool2d(x, {2, 2}, {2, 2});
    x = relu(conv2d(x, parameters[2], {1, 1}, "same") + parameters[3]);
    x = x - mean(x, {0, 1, 2});
    x = reshape(max_pool2d(x, {2, 2}, {2, 2}), {images.shape()[0], -1});
    Tensor logits = matmul(x, parameters[4]) + parameters[5];
    return mean(logsumexp(logits, {1}) - sum(logits * one_hot(labels, 10, DType::Float32), {1}));
  }

  Tensor step(const Tensor &images, const Tensor &labels) {
    GradientTape tape;
    Tensor l = loss(images, labels);
    std::vector<std::optional<Tensor>> gradients = tape.gradient(l, parameters);
    for (std::size_t i = 0; i < parameters.size(); ++i)
      parameters[i].assign_sub(0.1f * *gradients[i]);
    return l;
  }

  static Tensor images(int batch) {
    std::mt19937 random(static_cast<unsigned>(26 + batch));
    return operand(random, {19, 21, 21, 1}, DType::Float32);
  }
  static Tensor labels() {
    std::vector<std::int32_t> values;
    for (int i = 0; i < 19; ++i)
      values.push_back(i % 10);
    return tensor(values, {19});
  }

  std::vector<Variable> parameters;
};

} // namespace calque::testing
#endif
