// The networks whose training steps are measured and checked: a perceptron of three layers, the CNN of the reference
// training programme and a block of a transformer, on the inputs of Inputs.h.
#ifndef CALQUE_BENCHMARKS_MODELS_H
#define CALQUE_BENCHMARKS_MODELS_H

#include "benchmarks/Inputs.h"

#include <cmath>
#include <numbers>

namespace calque::benchmarks {

// The mean cross-entropy of integer labels [N] and logits [N, C].
inline Tensor sparseCrossEntropy(const Tensor &logits, const Tensor &labels) {
  Tensor picked = sum(logits * one_hot(labels, logits.shape()[1], DType::Float32), {1});
  return mean(logsumexp(logits, {1}) - picked);
}

// 0, 1, ... 9, 0, 1, ...
inline Tensor cyclicLabels(std::int64_t count) {
  std::vector<std::int32_t> labels(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < labels.size(); ++i)
    labels[i] = static_cast<std::int32_t>(i % 10);
  return tensor(labels, {count});
}

// 784-512-512-10, trained by gradient descent at 0.01 on batches of 128.
class Mlp {
public:
  Mlp() {
    const std::int64_t sizes[] = {784, 512, 512, 10};
    for (int i = 0; i < 3; ++i) {
      parameters.push_back(
          Variable(lcg(20 + i, {sizes[i], sizes[i + 1]}, -1, 1, std::pow(static_cast<float>(sizes[i]), -0.5f))));
      parameters.push_back(Variable(zeros({sizes[i + 1]})));
    }
  }

  Tensor loss(const Tensor &x, const Tensor &labels) const {
    Tensor h = relu(matmul(x, parameters[0]) + parameters[1]);
    h = relu(matmul(h, parameters[2]) + parameters[3]);
    return sparseCrossEntropy(matmul(h, parameters[4]) + parameters[5], labels);
  }

  Tensor step(const Tensor &x, const Tensor &labels) {
    GradientTape tape;
    Tensor l = loss(x, labels);
    std::vector<std::optional<Tensor>> gradients = tape.gradient(l, parameters);
    for (std::size_t i = 0; i < parameters.size(); ++i)
      parameters[i].assign_sub(0.01f * *gradients[i]);
    return l;
  }

  std::vector<Variable> parameters;
};

// Six convolutions and two dense layers with batch normalisation, trained by Adam at 1e-3 on batches of 64.
class Cnn {
public:
  Cnn() {
    const std::int64_t channels[][2] = {{1, 16}, {16, 32}, {32, 32}, {32, 64}, {64, 64}, {64, 64}};
    for (int i = 0; i < 6; ++i) {
      auto [in, out] = channels[i];
      parameters.push_back(Variable(lcg(40 + i, {3, 3, in, out}, -1, 1, std::pow(static_cast<float>(9 * in), -0.5f))));
      addNormalisation(out);
    }
    parameters.push_back(Variable(lcg(50, {576, 256}, -1, 1, std::pow(576.f, -0.5f))));
    addNormalisation(256);
    parameters.push_back(Variable(lcg(51, {256, 10}, -1, 1, std::pow(256.f, -0.5f))));
    parameters.push_back(Variable(zeros({10})));
    for (const Variable &parameter : parameters) {
      moments.push_back(Variable(zeros(parameter.shape()), {.trainable = false}));
      squares.push_back(Variable(zeros(parameter.shape()), {.trainable = false}));
    }
  }

  // `keep` is the dropout's mask [N, 256]; with `update` the moving statistics take part of the batch's.
  Tensor loss(Tensor x, const Tensor &labels, const Tensor &keep, bool update) {
    for (int i = 0; i < 6; ++i) {
      x = relu(conv2d(x, parameters[4 * i], {1, 1}, "same") + parameters[4 * i + 1]);
      x = normalise(x, i, {0, 1, 2}, update);
      if (i == 0 || i == 2 || i == 5)
        x = max_pool2d(x, {2, 2}, {2, 2});
    }
    x = relu(matmul(reshape(x, {x.shape()[0], -1}), parameters[24]) + parameters[25]);
    x = normalise(x, 6, {0}, update) * keep;
    return sparseCrossEntropy(matmul(x, parameters[28]) + parameters[29], labels);
  }

  Tensor step(const Tensor &x, const Tensor &labels, const Tensor &keep) {
    GradientTape tape;
    Tensor l = loss(x, labels, keep, true);
    count.assign_add(1.f);
    // Kingma, Ba: Adam, a method for stochastic optimization; section 2, the bias corrections folded into the rate.
    Tensor rate = 1e-3f * sqrt(1.f - pow(0.999f, count)) / (1.f - pow(0.9f, count));
    std::vector<std::optional<Tensor>> gradients = tape.gradient(l, parameters);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const Tensor &g = *gradients[i];
      moments[i].assign(0.9f * moments[i] + 0.1f * g);
      squares[i].assign(0.999f * squares[i] + 0.001f * g * g);
      parameters[i].assign_sub(rate * moments[i] / (sqrt(squares[i]) + 1e-7f));
    }
    return l;
  }

  static Tensor images() { return lcg(60, {64, 28, 28, 1}, 0, 1); }
  static Tensor keepMask() { return cast(lcg(61, {64, 256}) > 0.f, DType::Float32) * 2.f; }

  std::vector<Variable> parameters, statistics, moments, squares;
  Variable count{zeros({}), {.trainable = false}};

private:
  void addNormalisation(std::int64_t channels) {
    parameters.push_back(Variable(zeros({channels})));
    parameters.push_back(Variable(ones({channels})));
    parameters.push_back(Variable(zeros({channels})));
    statistics.push_back(Variable(zeros({channels}), {.trainable = false}));
    statistics.push_back(Variable(zeros({channels}), {.trainable = false}));
  }

  Tensor normalise(const Tensor &x, std::size_t layer, const std::vector<std::int64_t> &axes, bool update) {
    Tensor m = mean(x, axes);
    Tensor centred = x - m;
    Tensor v = mean(square(centred), axes);
    if (update) {
      statistics[2 * layer].assign(0.99f * statistics[2 * layer] + 0.01f * m);
      statistics[2 * layer + 1].assign(0.99f * statistics[2 * layer + 1] + 0.01f * v);
    }
    return centred * (rsqrt(v + 1e-3f) * parameters[4 * layer + 2]) + parameters[4 * layer + 3];
  }
};

// The approximation of the Gaussian error linear unit by tanh (Hendrycks, Gimpel: Gaussian error linear units).
inline Tensor gelu(const Tensor &x) {
  const float scale = std::sqrt(2 / std::numbers::pi_v<float>);
  return x * (0.5f * (1.f + tanh(scale * (x + 0.044715f * (x * x * x)))));
}

inline Tensor layerNorm(const Tensor &x, const Tensor &gain, const Tensor &bias) {
  Tensor centred = x - mean(x, {-1}, true);
  return centred * rsqrt(mean(square(centred), {-1}, true) + 1e-5f) * gain + bias;
}

// A block of a causal transformer (Vaswani et al.: Attention is all you need) that normalises first, with 4 heads and
// weights without biases, on sequences [8, 128, 256]. The loss is the mean square of what it gives.
class TransformerBlock {
public:
  static constexpr std::int64_t kBatch = 8, kLength = 128, kWidth = 256, kHeads = 4;

  TransformerBlock() {
    auto weight = [&](std::uint64_t seed, std::int64_t rows, std::int64_t columns) {
      parameters.push_back(Variable(lcg(seed, {rows, columns}, -1, 1, std::pow(static_cast<float>(rows), -0.5f))));
    };
    weight(80, kWidth, 3 * kWidth);
    weight(81, kWidth, kWidth);
    weight(82, kWidth, 4 * kWidth);
    weight(83, 4 * kWidth, kWidth);
    for (int i = 0; i < 2; ++i) {
      parameters.push_back(Variable(ones({kWidth})));
      parameters.push_back(Variable(zeros({kWidth})));
    }
    std::vector<float> later(kLength * kLength, 0.f);
    for (std::int64_t row = 0; row < kLength; ++row)
      for (std::int64_t column = row + 1; column < kLength; ++column)
        later[static_cast<std::size_t>(row * kLength + column)] = -1e9f;
    mask = tensor(later, {kLength, kLength});
  }

  Tensor loss(Tensor x) const {
    const std::int64_t size = kWidth / kHeads;
    Tensor h = layerNorm(x, parameters[4], parameters[5]);
    std::vector<Tensor> heads = split(matmul(h, parameters[0]), std::vector{kWidth, kWidth, kWidth}, -1);
    for (Tensor &each : heads)
      each = transpose(reshape(each, {kBatch, kLength, kHeads, size}), {0, 2, 1, 3});
    Tensor scores =
        matmul(heads[0], heads[1], {.transpose_b = true}) * std::pow(static_cast<float>(size), -0.5f) + mask;
    Tensor mixed = transpose(matmul(softmax(scores, -1), heads[2]), {0, 2, 1, 3});
    x = x + matmul(reshape(mixed, {kBatch, kLength, kWidth}), parameters[1]);
    h = layerNorm(x, parameters[6], parameters[7]);
    x = x + matmul(gelu(matmul(h, parameters[2])), parameters[3]);
    return mean(square(x));
  }

  // By gradient descent at 0.01.
  Tensor step(const Tensor &x) {
    GradientTape tape;
    Tensor l = loss(x);
    std::vector<std::optional<Tensor>> gradients = tape.gradient(l, parameters);
    for (std::size_t i = 0; i < parameters.size(); ++i)
      parameters[i].assign_sub(0.01f * *gradients[i]);
    return l;
  }

  static Tensor sequences() { return lcg(84, {kBatch, kLength, kWidth}); }

  std::vector<Variable> parameters;
  Tensor mask;
};

} // namespace calque::benchmarks
#endif
