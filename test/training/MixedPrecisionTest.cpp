// Layers that compute in 16 bits and keep float32, and scaled losses.
#include "test/training/Testing.h"

#include <calque/arrays.h>
#include <calque/auto_cast.h>

#include <cmath>

using namespace calque;
using namespace calque::testing;

namespace {

// Layers that are made meanwhile have a policy.
struct Policy {
  explicit Policy(const char *name) { layers::set_dtype_policy(name); }
  ~Policy() { layers::set_dtype_policy(""); }
};

void expectEqual(const Tensor &x, const Tensor &y) {
  ASSERT_EQ(x.dtype(), y.dtype());
  EXPECT_TRUE(array_equal(x, y).item<bool>()) << x << '\n' << y;
}

Tensor someInputs(std::int64_t rows, std::int64_t columns) {
  return random::stateless_normal({rows, columns}, random::state(3, 0));
}

TEST(MixedPrecision, ReadsVariablesInTheTypeOfComputing) {
  const Tensor x = someInputs(5, 4);
  for (DType half : {DType::BFloat16, DType::Float16}) {
    Policy policy(half == DType::BFloat16 ? "mixed_bfloat16" : "mixed_float16");
    layers::Dense dense(3);
    const Tensor y = dense(x);
    EXPECT_EQ(y.dtype(), half);
    const Variable kernel = dense.variable("kernel"), bias = dense.variable("bias");
    EXPECT_EQ(kernel.dtype(), DType::Float32);
    expectEqual(y, matmul(cast(x, half), cast(kernel, half)) + cast(bias, half));
    expectEqual(function([&](const Tensor &x) { return dense(x); })(x), y);
    GradientTape tape;
    const Tensor loss = sum(cast(dense(x), DType::Float32));
    const std::vector<std::optional<Tensor>> gradients = tape.gradient(loss, dense.trainable_variables());
    EXPECT_EQ(gradients[0]->dtype(), DType::Float32);
    expectEqual(*gradients[1], full({3}, 5));
  }
  layers::Dense plain(3);
  EXPECT_EQ(plain(cast(x, DType::Float64)).dtype(), DType::Float64);
  EXPECT_EQ(plain.dtype_policy().name(), "");
}

TEST(MixedPrecision, PoliciesOfOneLayer) {
  const Tensor x = cast(someInputs(5, 4), DType::BFloat16);
  layers::Dense dense(3);
  dense.set_dtype_policy("float32");
  EXPECT_EQ(dense(x).dtype(), DType::Float32);
  EXPECT_EQ(dense.variable("kernel").dtype(), DType::Float32);
  layers::Dense other(3);
  other.set_dtype_policy("mixed_bfloat16");
  EXPECT_EQ(other(cast(x, DType::Float64)).dtype(), DType::BFloat16);
  EXPECT_MISUSE(StateError, other.set_dtype_policy("float32"),
                "dense: has made its variables, and its dtype policy stays 'mixed_bfloat16'");
  EXPECT_MISUSE(ValueError, layers::DTypePolicy("mixed_float32"),
                "dtype_policy: there is no policy 'mixed_float32'; there are '', 'float32', 'float64', 'float16', "
                "'bfloat16', 'mixed_float16', 'mixed_bfloat16'");
  // Integers stay what they are.
  Policy policy("mixed_bfloat16");
  layers::Embedding rows(7, 2);
  EXPECT_EQ(rows(tensor({1, 6})).dtype(), DType::BFloat16);
  EXPECT_EQ(rows.variable("embeddings").dtype(), DType::Float32);
}

TEST(MixedPrecision, NormalisesInFull) {
  Policy policy("mixed_float16");
  layers::BatchNormalization batch;
  layers::LayerNormalization layer;
  // The sum of the squares is more than float16 holds.
  const Tensor x = 300 * someInputs(64, 32);
  const Tensor y = batch(x, {.training = true}), z = layer(x);
  EXPECT_EQ(y.dtype(), DType::Float16);
  EXPECT_EQ(batch.variable("moving_variance").dtype(), DType::Float32);
  for (const Tensor &result : {y, z})
    EXPECT_NEAR(mean(square(cast(result, DType::Float32))).item<float>(), 1, 0.01);
}

TEST(MixedPrecision, IsKeptInConfigs) {
  Policy policy("mixed_bfloat16");
  models::Sequential net({layers::Dense(4, {.activation = "relu"}), layers::Dense(2)});
  net.layers()[1].set_dtype_policy("float32");
  net(someInputs(3, 5));
  const Config config = layers::serialize(net);
  layers::set_dtype_policy("");
  layers::Layer again = layers::deserialize(config);
  EXPECT_EQ(again(someInputs(3, 5)).dtype(), DType::Float32);
  const auto parts = static_cast<const Model &>(*again.body()).layers();
  EXPECT_EQ(parts[0].dtype_policy().name(), "mixed_bfloat16");
  EXPECT_EQ(parts[1].dtype_policy().name(), "float32");
  // And of layers without one it is not that of the moment.
  const Config plain = layers::serialize(layers::Dense(2));
  layers::set_dtype_policy("mixed_float16");
  EXPECT_EQ(layers::deserialize(plain).dtype_policy().name(), "");
}

TEST(MixedPrecision, FunctionsAreTracedForTheType) {
  Variable w(tensor({1.00390625f, 2.0f})); // 1 + 1/256, which bfloat16 rounds to 1
  auto f = function([&](const Tensor &x) { return cast(w + cast(x, Tensor(w).dtype()), DType::Float32); });
  const Tensor x = zeros({2});
  EXPECT_EQ(f(x).to_vector<float>()[0], 1.00390625f);
  {
    AutoCast reads(DType::BFloat16);
    EXPECT_EQ(f(x).to_vector<float>()[0], 1);
    {
      AutoCast again(DType::BFloat16);
      EXPECT_EQ(f(x).to_vector<float>()[0], 1);
      AutoCast none(std::nullopt);
      EXPECT_EQ(f(x).to_vector<float>()[0], 1.00390625f);
    }
    EXPECT_EQ(w.value().dtype(), DType::Float32);
    w.assign_add(tensor({1.0f, 1.0f}));
    EXPECT_EQ(f(x).to_vector<float>()[0], 2);
  }
  EXPECT_EQ(f(x).to_vector<float>()[0], 2.00390625f);
  EXPECT_MISUSE(DTypeError, AutoCast(static_cast<DType>(99)),
                "AutoCast: variables are read as floating-point numbers, not as an unknown type");
  EXPECT_MISUSE(DTypeError, AutoCast(DType::Int32),
                "AutoCast: variables are read as floating-point numbers, not as int32");
}

// A gradient on whose way there is a number that float16 does not have.
TEST(LossScale, KeepsSmallGradients) {
  for (bool compiled : {false, true}) {
    Variable w(tensor({1.0f}));
    auto loss = [&] {
      return sum(cast(w, DType::Float16) * cast(tensor({0x1p8f}), DType::Float16)) * 0x1p-14 * 0x1p-14;
    };
    optimizers::SGD plain(1.0), scaled(1.0, {}, {.loss_scale = 0x1p15});
    auto step = [&](const optimizers::Optimizer &by) {
      auto once = [&] { return by.minimize(loss, {w}); };
      compiled ? function(once)() : once();
    };
    step(plain);
    EXPECT_EQ(w.item<float>(), 1);
    step(scaled);
    EXPECT_EQ(w.item<float>(), 1 - 0x1p-20f);
  }
}

TEST(LossScale, SkipsWhatIsNotFiniteAndGrows) {
  for (bool compiled : {false, true}) {
    Variable w(tensor({1.0f, 2.0f}));
    optimizers::Adam adam(0.5, {}, {.loss_scale = 8, .loss_scale_growth_steps = 2});
    auto once = [&](const Tensor &gradient) { adam.apply_gradients({gradient}, {w}); };
    auto step = function(once);
    auto take = [&](const Tensor &gradient) { compiled ? step(gradient) : once(gradient); };
    auto scale = [&] { return adam.loss_scale()->item<float>(); };
    take(tensor({8.0f, INFINITY}));
    EXPECT_EQ(w.to_vector<float>(), (std::vector<float>{1, 2}));
    EXPECT_EQ(adam.iterations().item<std::int64_t>(), 0);
    EXPECT_EQ(scale(), 4);
    take(tensor({4.0f, 4.0f}));
    EXPECT_EQ(scale(), 4);
    take(tensor({4.0f, 4.0f}));
    EXPECT_EQ(scale(), 8);
    EXPECT_EQ(adam.iterations().item<std::int64_t>(), 2);
    EXPECT_NEAR(w.to_vector<float>()[0], 0, 1e-5);
    for (int i = 0; i < 5; ++i)
      take(tensor({NAN, 1.0f}));
    EXPECT_EQ(scale(), 1);
    EXPECT_NEAR(w.to_vector<float>()[0], 0, 1e-5);
  }
  optimizers::SGD fixed(1.0, {}, {.loss_scale = 4, .loss_scale_growth_steps = 0});
  Variable w(tensor({1.0f}));
  for (int i = 0; i < 3; ++i)
    fixed.apply_gradients({tensor({4.0f})}, {w});
  EXPECT_EQ(fixed.loss_scale()->item<float>(), 4);
  EXPECT_EQ(w.item<float>(), -2);
  EXPECT_FALSE(optimizers::SGD().loss_scale());
  EXPECT_EQ(optimizers::SGD().scale_loss(scalar(2.0f)).item<float>(), 2);
  EXPECT_EQ(fixed.scale_loss(scalar(2.0f)).item<float>(), 8);
  const Config config = optimizers::serialize(fixed);
  EXPECT_EQ(optimizers::deserialize(config).loss_scale()->item<float>(), 4);
  EXPECT_MISUSE(ValueError, optimizers::SGD(1.0, {}, {.loss_scale = 0.5}), "sgd: loss_scale is at least 1, unlike 0.5");
  EXPECT_MISUSE(ValueError, fixed.set_loss_scale(INFINITY), "sgd: loss_scale is at least 1, unlike inf");
  EXPECT_MISUSE(ValueError, optimizers::SGD(1.0, {}, {.loss_scale_growth_steps = -1}),
                "sgd: loss_scale_growth_steps is not below 0, unlike -1");
  EXPECT_MISUSE(DTypeError, fixed.scale_loss(tensor({1})),
                "sgd: scale_loss takes floating-point numbers, not int32[1]");
}

// Each kind of layer beside one in float32 that has its weights, with masks and in training.
TEST(MixedPrecision, EveryKindOfLayer) {
  const Tensor rows = someInputs(4, 12), sequences = reshape(someInputs(8, 30), {8, 5, 6}),
               images = reshape(someInputs(2, 8 * 8 * 3), {2, 8, 8, 3}), ids = tensor({{1, 2, 0}, {3, 0, 0}});
  struct Case {
    const char *name;
    std::function<layers::Layer()> make;
    std::vector<Tensor> inputs;
  };
  using namespace layers;
  const Case cases[] = {
      {"conv1d", [] { return Conv1D(4, 3); }, {sequences}},
      {"conv2d", [] { return Conv2D(4, 3, {.padding = "same", .activation = "gelu"}); }, {images}},
      {"transpose", [] { return Conv2DTranspose(4, 3); }, {images}},
      {"depthwise", [] { return DepthwiseConv2D(3); }, {images}},
      {"separable", [] { return SeparableConv2D(4, 3); }, {images}},
      {"maximum", [] { return MaxPool2D(); }, {images}},
      {"average", [] { return AveragePooling2D(); }, {images}},
      {"global", [] { return GlobalAveragePooling2D(); }, {images}},
      {"rnn", [] { return SimpleRNN(5); }, {sequences}},
      {"lstm", [] { return LSTM(5, {.return_sequences = true}); }, {sequences}},
      {"gru", [] { return GRU(5); }, {sequences}},
      {"bidirectional", [] { return Bidirectional(LSTM(5)); }, {sequences}},
      {"distributed", [] { return TimeDistributed(Dense(3)); }, {sequences}},
      {"attention", [] { return MultiHeadAttention(2, 4); }, {sequences, sequences}},
      {"batch", [] { return BatchNormalization(); }, {images}},
      {"layer", [] { return LayerNormalization(); }, {rows}},
      {"group", [] { return GroupNormalization({.groups = 3}); }, {images}},
      {"softmax", [] { return Softmax(); }, {rows}},
      {"prelu", [] { return PReLU(); }, {rows}},
      {"embedding", [] { return Embedding(5, 4, {.mask_zero = true}); }, {ids}},
      {"add", [] { return Add(); }, {rows, rows}},
      {"concatenate", [] { return Concatenate(); }, {rows, rows}},
      {"dot", [] { return Dot(1); }, {rows, rows}},
      {"rescaling", [] { return Rescaling(0.5, 1); }, {rows}},
      {"upsampling", [] { return UpSampling2D(2); }, {images}},
  };
  int number = 0;
  for (const Case &each : cases)
    for (const char *policy : {number++ % 5 == 0 ? "mixed_float16" : "mixed_bfloat16"}) {
      SCOPED_TRACE(std::string(each.name) + " " + policy);
      const Layer exact = each.make();
      const Tensors expected = exact.apply(each.inputs);
      Policy scope(policy);
      const Layer mixed = each.make();
      mixed.apply(each.inputs);
      mixed.set_weights(exact.get_weights());
      GradientTape tape;
      const Tensor result = mixed.apply(each.inputs, {.training = true})[0], plain = mixed.apply(each.inputs)[0];
      EXPECT_EQ(plain.dtype(), *dtype_policy().compute());
      const Tensor wide = cast(plain, DType::Float32);
      const double unit = plain.dtype() == DType::Float16 ? 0x1p-11 : 0x1p-8;
      EXPECT_LT(max(abs(wide - expected[0])).item<float>(), 30 * unit * (1 + max(abs(expected[0])).item<float>()));
      const std::vector<Variable> weights = mixed.trainable_variables();
      if (weights.empty())
        continue;
      for (const std::optional<Tensor> &gradient : tape.gradient(sum(cast(result, DType::Float32)), weights)) {
        ASSERT_TRUE(gradient);
        EXPECT_EQ(gradient->dtype(), DType::Float32);
        EXPECT_TRUE(all(isfinite(*gradient)).item<bool>());
      }
    }
}

// Two classes of points, which all policies tell apart.
TEST(MixedPrecision, TrainsByFit) {
  const Tensor points = someInputs(512, 8), labels = cast(sum(points * points, 1) > 8, DType::Int32);
  for (const char *name : {"float32", "mixed_bfloat16", "mixed_float16"}) {
    set_seed(5);
    Policy policy(name);
    models::Sequential net({layers::Dense(64, {.activation = "relu"}), layers::BatchNormalization(),
                            layers::Dropout(0.05), layers::Dense(64, {.activation = "relu"}), layers::Dense(2)});
    optimizers::Adam adam(3e-3);
    net.compile({.optimizer = adam,
                 .loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {"accuracy"}});
    net.fit(points, labels, {.batch_size = 64, .epochs = 25, .verbose = 0});
    EXPECT_EQ(adam.loss_scale().has_value(), std::string(name) == "mixed_float16");
    EXPECT_GT(net.evaluate(points, labels)["accuracy"], 0.95) << name;
    for (const Variable &weight : net.variables())
      EXPECT_NE(weight.dtype(), DType::Float16);
    EXPECT_EQ(Tensor(net.predict(points)).dtype(), *layers::dtype_policy().compute());
  }
}

} // namespace
