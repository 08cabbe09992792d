// Whole training steps against other systems: on the inputs of benchmarks/Inputs.h JAX 0.10, TensorFlow 2.21 (graph,
// XLA, eager) and PyTorch 2.15 agree on these first losses within 1e-4.
#include "benchmarks/Models.h"

#include <gtest/gtest.h>

#include <chrono>

namespace calque::benchmarks {

TEST(ReferenceLoss, OfThePerceptronsStep) {
  Mlp model;
  auto step = function([&](const Tensor &x, const Tensor &y) { return model.step(x, y); });
  EXPECT_NEAR(step(lcg(30, {128, 784}), cyclicLabels(128)).item<float>(), 2.30530, 1e-4);
}

TEST(ReferenceLoss, OfTheCnnForward) {
  Cnn model;
  Tensor keep = ones({64, 256}), labels = cyclicLabels(64);
  auto forward = function([&](const Tensor &x) { return model.loss(x, labels, keep, false); });
  EXPECT_NEAR(forward(Cnn::images()).item<float>(), 2.46171, 1e-4);
}

TEST(ReferenceLoss, OfTheCnnsStepEagerAndCompiled) {
  Cnn compiled, eager;
  Tensor x = Cnn::images(), y = cyclicLabels(64), keep = Cnn::keepMask();
  auto step = function([&](const Tensor &images, const Tensor &labels, const Tensor &mask) {
    return compiled.step(images, labels, mask);
  });
  for (int i = 0; i < 10; ++i) {
    float loss = step(x, y, keep).item<float>();
    if (i == 0) {
      EXPECT_NEAR(loss, 2.61244, 1e-4);
    }
    EXPECT_NEAR(eager.step(x, y, keep).item<float>(), loss, 1e-3) << "step " << i;
  }
  EXPECT_EQ(step.trace_count(), 1);
}

} // namespace calque::benchmarks
