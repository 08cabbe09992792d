// The training library with a batch whose size only the call knows: it computes what it computes for that size, in one
// trace.
#include "Testing.h"

using namespace calque;
using namespace calque::testing;

namespace {
struct Case {
  const char *name;
  std::function<layers::Layer()> make;
  Shape row; // of an input, without the batch
};

std::vector<Case> allLayers() {
  std::vector<Case> cases = {
      {"dense", [] { return layers::Dense(3); }, {4}},
      {"dense, rank 3", [] { return layers::Dense(3, {.activation = "gelu"}); }, {2, 4}},
      {"dense without bias", [] { return layers::Dense(3, {.use_bias = false}); }, {4}},
      {"conv2d", [] { return layers::Conv2D(3, 3); }, {6, 5, 2}},
      {"conv2d, same, strides", [] { return layers::Conv2D(3, 3, {.strides = 2, .padding = "same"}); }, {6, 5, 2}},
      {"max_pool2d", [] { return layers::MaxPool2D(2); }, {6, 5, 2}},
      {"max_pool2d, same", [] { return layers::MaxPool2D(3, {.strides = 2, .padding = "same"}); }, {6, 5, 2}},
      {"batch_normalization", [] { return layers::BatchNormalization(); }, {3}},
      {"batch_normalization of images", [] { return layers::BatchNormalization(); }, {4, 3, 2}},
      {"dropout", [] { return layers::Dropout(0.4, {.seed = 5}); }, {7}},
      {"dropout of images", [] { return layers::Dropout(0.4, {.seed = 5}); }, {4, 3, 2}},
      {"spatial_dropout1d", [] { return layers::SpatialDropout1D(0.4, {.seed = 5}); }, {4, 3}},
      {"spatial_dropout2d", [] { return layers::SpatialDropout2D(0.4, {.seed = 5}); }, {4, 3, 2}},
      {"spatial_dropout3d", [] { return layers::SpatialDropout3D(0.4, {.seed = 5}); }, {2, 3, 2, 4}},
      {"gaussian_noise", [] { return layers::GaussianNoise(0.4, {.seed = 5}); }, {4, 3}},
      {"gaussian_dropout", [] { return layers::GaussianDropout(0.4, {.seed = 5}); }, {4, 3}},
      {"normalization",
       [] {
         layers::Normalization scale;
         scale.adapt(tensor<double>({{1, 2, 3}, {2, 5, 2}, {4, 1, 7}}));
         return scale;
       },
       {3}},
      {"activity_regularization", [] { return layers::ActivityRegularization({.l1 = 0.25, .l2 = 0.5}); }, {4, 3}},
      {"flatten", [] { return layers::Flatten(); }, {4, 3, 2}},
      {"flatten of vectors", [] { return layers::Flatten(); }, {4}},
      {"flatten of numbers", [] { return layers::Flatten(); }, {}},
      {"all of a network",
       [] {
         return layers::Sequential(
             {layers::Conv2D(4, 3, {.padding = "same", .activation = "relu"}), layers::BatchNormalization(),
              layers::MaxPool2D(2), layers::Dropout(0.3, {.seed = 3}), layers::Flatten(),
              layers::Dense(10, {.activation = "tanh"}), layers::BatchNormalization(), layers::Dense(3)});
       },
       {6, 6, 2}},
  };
  for (const char *name : {"linear", "relu", "gelu", "sigmoid", "tanh", "softmax"})
    cases.push_back({name, [name] { return layers::Activation(name); }, {4}});
  return cases;
}

Shape with(Size batch, Shape row) {
  row.insert(row.begin(), batch);
  return row;
}

// The layer's result, the gradient of the inputs and of the variables.
std::vector<Tensor> stepOf(const layers::Layer &layer, const Tensor &x, bool training) {
  GradientTape tape({.persistent = true});
  tape.watch(x);
  Tensor y = layer(x, {.training = training});
  Tensor loss = sum(square(y + 1));
  for (const Tensor &own : layer.losses())
    loss = loss + own;
  std::vector<Tensor> results{y, *tape.gradient(loss, x)};
  for (const std::optional<Tensor> &gradient : tape.gradient(loss, layer.trainable_variables()))
    results.push_back(*gradient);
  return results;
}
} // namespace

TEST(OpenBatch, EveryLayerTakesItForwardAndInTraining) {
  for (const Case &each : allLayers())
    for (bool training : {false, true}) {
      SCOPED_TRACE(std::string(each.name) + (training ? ", training" : ""));
      set_seed(3);
      layers::Layer eager = each.make();
      eager.build(with(2, each.row), DType::Float64);
      set_seed(3);
      layers::Layer open = each.make();
      auto step = function<std::vector<Tensor>(const Tensor &)>(
          [&](const Tensor &x) { return stepOf(open, x, training); },
          {.input_signature = {TensorSpec<double>(with(kDynamic, each.row))}});
      std::mt19937 random(17);
      for (std::int64_t batch : {3, 1, 8}) {
        SCOPED_TRACE("batch of " + std::to_string(batch));
        Tensor x = randomTensor(random, with(batch, each.row));
        std::vector<Tensor> found = step(x), expected = stepOf(eager, x, training);
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
          ASSERT_EQ(found[i].shape(), expected[i].shape()) << "result " << i;
          expectNear(found[i], valuesOf(expected[i]), 1e-9);
        }
        std::vector<Variable> variables = open.variables(), others = eager.variables();
        for (std::size_t i = 0; i < variables.size(); ++i)
          expectNear(variables[i].value(), valuesOf(others[i].value()), 1e-9);
      }
      EXPECT_EQ(step.trace_count(), 1);
    }
}

TEST(OpenBatch, CroppingCutsOpenLengths) {
  auto cut = function([](const Tensor &x) { return layers::Cropping1D(1, 2)(x); },
                      {.input_signature = {TensorSpec<double>({kDynamic, kDynamic, 1})}});
  expectNear(cut(tensor<double>({0, 1, 2, 3, 4}, {1, 5, 1})), {1, 2}, 0);
  expectNear(cut(tensor<double>({0, 1, 2, 3}, {1, 4, 1})), {1}, 0);
  EXPECT_THROW(cut(ones({1, 2, 1}, DType::Float64)), ShapeError);
}

TEST(OpenBatch, UpSamplingInterpolatesImagesOfOpenSizes) {
  const Tensor image = sin(reshape(iota({2 * 7 * 3}, DType::Float64), {2, 7, 3, 1}) * 1.7);
  for (const char *interpolation : {"nearest", "bilinear", "bicubic", "lanczos3", "lanczos5"}) {
    SCOPED_TRACE(interpolation);
    layers::UpSampling2D larger({2, 3}, {.interpolation = interpolation});
    auto step = [&](const Tensor &x) {
      return value_and_grad([&](const Tensor &at) { return sum(square(larger(at))); })(x);
    };
    auto open = function(step, {.input_signature = {TensorSpec<double>({kDynamic, kDynamic, kDynamic, kDynamic})}});
    auto [value, gradient] = step(image);
    auto [openValue, openGradient] = open(image);
    EXPECT_NEAR(openValue.item<double>(), value.item<double>(), 1e-10);
    expectNear(openGradient, valuesOf(gradient), 1e-10);
  }
}

TEST(OpenBatch, NetworksAreBuiltWithoutKnowingIt) {
  layers::Sequential model{layers::Flatten(), layers::Dense(3)};
  model.build({kDynamic, 2, 2});
  EXPECT_EQ(model.variables()[0].shape(), (Shape{4, 3}));
  EXPECT_MISUSE(ShapeError, layers::Dense(3).build({2, kDynamic}),
                "dense: its variables are made by the last dimension of the input, which is not known in [2,?]");
}

TEST(OpenBatch, OfNoneHasNoMean) {
  layers::BatchNormalization norm;
  int line = 0;
  auto f = function(
      [&](const Tensor &x) {
        line = __LINE__ + 1;
        return norm(x, {.training = true});
      },
      {.input_signature = {TensorSpec<float>({kDynamic, 3})}});
  f(ones({2, 3}));
  std::string text = errorOf<AssertionError>([&] { f(ones({0, 3})); });
  EXPECT_CONTAINS(text, "a batch without elements has no mean in training");
  EXPECT_CONTAINS(text, "OpenSizesTest.cpp:" + std::to_string(line));
}

TEST(OpenBatch, OfLaterLayersIsComparedAtTheCall) {
  layers::Dense dense(3, {.name = "head"});
  dense.build({2, 4});
  auto f = function([&](const Tensor &x) { return dense(x); },
                    {.input_signature = {TensorSpec<float>({kDynamic, kDynamic})}});
  EXPECT_EQ(f(ones({5, 4})).shape(), (Shape{5, 3}));
  std::string text = errorOf<ShapeError>([&] { f(ones({5, 3})); });
  EXPECT_CONTAINS(text, "is 3 and dimension 0 of variable 'head/kernel' is 4, and they must be equal");
  EXPECT_CONTAINS(text, "OpenSizesTest.cpp:");
}

TEST(OpenBatch, LossesTakeIt) {
  std::mt19937 random(5);
  for (bool logits : {true, false})
    for (losses::Reduction reduction : {losses::Reduction::Mean, losses::Reduction::Sum, losses::Reduction::None})
      for (bool column : {false, true})
        for (bool classes : {false, true}) {
          auto body = [=](const Tensor &labels, const Tensor &y) {
            return losses::SparseCategoricalCrossentropy({.from_logits = logits}, {.reduction = reduction})(labels, y);
          };
          Shape labels = {kDynamic}, predictions = {kDynamic, classes ? kDynamic : Size(4)};
          if (column)
            labels.push_back(1);
          auto f =
              function(body, {.input_signature = {TensorSpec<std::int32_t>(labels), TensorSpec<double>(predictions)}});
          for (std::int64_t batch : {3, 1, 6}) {
            labels[0] = batch;
            Tensor x = cast(iota(labels, DType::Int32) < 2, DType::Int32),
                   y = softmax(randomTensor(random, {batch, 4}));
            expectNear(f(x, y), valuesOf(body(x, y)), 1e-12);
          }
          EXPECT_EQ(f.trace_count(), 1);
        }
  auto one =
      function([](const Tensor &labels, const Tensor &y) { return losses::sparse_categorical_crossentropy(labels, y); },
               {.input_signature = {TensorSpec<std::int32_t>({1}), TensorSpec<float>({kDynamic, 4})}});
  EXPECT_THROW(one(zeros({1}, DType::Int32), ones({3, 4})), ShapeError) << "one label is not repeated";
}

TEST(OpenBatch, MetricsTakeIt) {
  metrics::Mean mean, weighted, known;
  metrics::SparseCategoricalAccuracy accuracy;
  auto f = function(
      [&](const Tensor &x, const Tensor &labels) {
        mean.update_state(x);
        weighted.update_state(x, sum(x, {1}, true));
        accuracy.update_state(labels, x);
      },
      {.input_signature = {TensorSpec<float>({kDynamic, 2}), TensorSpec<std::int64_t>({kDynamic})}});
  Tensor x = tensor<float>({1, 2, 3, 5, 7, 6}, {3, 2}), more = tensor<float>({8, 9}, {1, 2});
  f(x, tensor<std::int64_t>({1, 0, 0}));
  f(more, tensor<std::int64_t>({1}));
  EXPECT_FLOAT_EQ(mean.result().item<float>(), 41.0f / 8);
  EXPECT_FLOAT_EQ(accuracy.result().item<float>(), 0.75f);
  known.update_state(x, sum(x, {1}, true));
  known.update_state(more, sum(more, {1}, true));
  EXPECT_EQ(weighted.result().item<float>(), known.result().item<float>());
}

TEST(OpenBatch, RandomStreamsAreThoseOfKnownSizes) {
  random::Generator open(7), known(7);
  auto draw = [](random::Generator &from, const Tensor &x) {
    return std::vector<Tensor>{from.normal(x.shape()), from.uniform({x.shape()[0], 3}, {.dtype = DType::Float64}),
                               from.bernoulli(x.shape()), from.normal(x.shape(), {.dtype = DType::Float64})};
  };
  auto f = function<std::vector<Tensor>(const Tensor &)>(
      [&](const Tensor &x) { return draw(open, x); }, {.input_signature = {TensorSpec<float>({kDynamic, kDynamic})}});
  for (const Shape &shape : {Shape{3, 2}, Shape{1, 1}, Shape{7, 5}, Shape{0, 4}}) {
    Tensor x = zeros(shape);
    std::vector<Tensor> found = f(x), expected = draw(known, x);
    for (std::size_t i = 0; i < found.size(); ++i)
      expectNear(found[i], valuesOf(expected[i]), 1e-6);
    expectSameBits(open.state().value(), known.state().value());
  }
  auto global = function([](const Tensor &x) { return random::normal(x.shape()) + random::uniform(x.shape()); },
                         {.input_signature = {TensorSpec<float>({kDynamic})}});
  EXPECT_EQ(global(ones({5})).shape(), Shape{5});
}

TEST(OpenBatch, RelaxedStepsOfANetworkAreTracedOnce) {
  layers::Sequential model{layers::Conv2D(2, 3), layers::BatchNormalization(), layers::Dropout(0.2), layers::Flatten(),
                           layers::Dense(4)};
  optimizers::Adam adam(1e-3);
  metrics::Mean loss;
  metrics::SparseCategoricalAccuracy accuracy;
  auto step = function(
      [&](const Tensor &x, const Tensor &labels) {
        GradientTape tape;
        Tensor y = model(x, {.training = true});
        Tensor value = losses::SparseCategoricalCrossentropy({.from_logits = true})(labels, y);
        std::vector<Variable> variables = model.trainable_variables();
        adam.apply_gradients(tape.gradient(value, variables), variables);
        loss.update_state(value, x.shape()[0]);
        accuracy.update_state(labels, y);
        return value;
      },
      {.reduce_retracing = true});
  for (std::int64_t batch : {4, 3, 5, 2, 7})
    EXPECT_TRUE(std::isfinite(step(ones({batch, 5, 5, 1}), zeros({batch}, DType::Int64)).item<float>()));
  EXPECT_EQ(step.trace_count(), 2);
}
