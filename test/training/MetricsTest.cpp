#include "Testing.h"

using namespace calque;
using namespace calque::testing;

TEST(Mean, IsThatOfAllElementsSinceTheReset) {
  metrics::Mean mean;
  EXPECT_EQ(mean.result().item<float>(), 0); // of none
  mean.update_state(0);
  mean.update_state(5);
  EXPECT_EQ(mean.result().item<float>(), 2.5);
  mean.update_state(tensor<int>({8, 9}));
  EXPECT_EQ(mean.result().item<float>(), 5.5);
  mean.reset_state();
  EXPECT_EQ(mean.result().item<float>(), 0);
  mean.update_state(tensor<bool>({true, false, true, true}));
  EXPECT_EQ(mean.result().item<float>(), 0.75);
}

TEST(Mean, WeighsElements) {
  metrics::Mean mean;
  mean.update_state(tensor<float>({1, 2, 3, 4}, {2, 2}), tensor<float>({1, 3}));
  EXPECT_EQ(mean.result().item<float>(), (1 + 6 + 3 + 12) / 8.0f);
  mean.update_state(100, 0);
  EXPECT_EQ(mean.result().item<float>(), (1 + 6 + 3 + 12) / 8.0f);
  EXPECT_MISUSE(ShapeError, mean.update_state(ones({2}), ones({3})), "[3]");
}

TEST(Mean, CountsBeyondTheIntegersOfFloat32) {
  metrics::Mean mean;
  mean.update_state(1, 0x1p24);
  for (int i = 0; i < 4; ++i)
    mean.update_state(0x1p24, 1);
  EXPECT_EQ(mean.result().item<float>(), static_cast<float>(5 * 0x1p24 / (0x1p24 + 4)));
}

TEST(Mean, IsStateInATracedFunction) {
  metrics::Mean mean;
  auto f = function([&](const Tensor &x) {
    mean.update_state(x);
    return mean.result();
  });
  EXPECT_EQ(f(tensor<float>({1, 2})).item<float>(), 1.5);
  EXPECT_EQ(f(tensor<float>({3, 6})).item<float>(), 3);
  mean.reset_state();
  EXPECT_EQ(f(tensor<float>({4, 5})).item<float>(), 4.5);
  EXPECT_EQ(f.trace_count(), 1);
}

TEST(SparseCategoricalAccuracy, IsTheFractionOfHits) {
  metrics::SparseCategoricalAccuracy accuracy;
  Tensor scores = tensor<float>({0.1f, 0.9f, 0, /**/ 3, 2, 1, /**/ -3, -2, -1}, {3, 3});
  accuracy.update_state(tensor<int>({1, 1, 2}), scores);
  EXPECT_FLOAT_EQ(accuracy.result().item<float>(), 2 / 3.0f);
  auto update = function([&](const Tensor &y, const Tensor &x) { accuracy.update_state(y, x); });
  update(tensor<std::int64_t>({0, 0, 0}, {3, 1}), scores);
  EXPECT_FLOAT_EQ(accuracy.result().item<float>(), 0.5);
  accuracy.reset_state();
  EXPECT_EQ(accuracy.result().item<float>(), 0);
  EXPECT_EQ(accuracy.variables().size(), 2u);
  EXPECT_TRUE(accuracy.trainable_variables().empty());
}

TEST(SparseCategoricalAccuracy, RefusesShapesAndTypesThatDontFit) {
  metrics::SparseCategoricalAccuracy accuracy;
  EXPECT_MISUSE(ShapeError, accuracy.update_state(tensor<int>({1, 2}), ones({3, 4})), "int32[2] and float32[3,4]");
  EXPECT_MISUSE(DTypeError, accuracy.update_state(ones({3}), ones({3, 4})), "takes integer labels");
}
