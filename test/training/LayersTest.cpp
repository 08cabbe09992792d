#include "Testing.h"

using namespace calque;
using namespace calque::testing;

namespace {

Tensor randomInput(const Shape &shape, unsigned seed = 1) {
  std::mt19937 random(seed);
  return randomTensor(random, shape);
}

// Gives every variable of a layer that was built other numbers than its initialiser's.
void randomise(const layers::Layer &layer, double low = -1, double high = 1) {
  std::mt19937 random(5);
  for (Variable variable : layer.variables())
    if (is_floating(variable.dtype()))
      variable.assign(randomTensor(random, variable.shape(), low, high));
}

std::vector<std::string> namesOf(const layers::Layer &layer) {
  std::vector<std::string> names;
  for (const auto &[name, variable] : layer.named_variables())
    names.push_back(name);
  return names;
}

// What a layer gives eagerly, which must be what it gives compiled.
Tensor callBoth(const layers::Layer &layer, const Tensor &x, layers::CallOptions options = {}) {
  auto f = function([&](const Tensor &x) { return layer(x, options); });
  Tensor eager = f.eager(x), compiled = f(x);
  EXPECT_EQ(eager.shape(), compiled.shape());
  expectNear(compiled, valuesOf(eager));
  return eager;
}

// The sum over a window of an image, as plain loops have it; `first` is where the window of output 0 begins.
struct Window {
  std::int64_t first, outputs;
  Window(std::int64_t size, std::int64_t window, std::int64_t stride, bool same) {
    outputs = same ? (size + stride - 1) / stride : (size - window) / stride + 1;
    first = same ? -(std::max<std::int64_t>((outputs - 1) * stride + window - size, 0) / 2) : 0;
  }
};

} // namespace

//===-- Dense -----------------------------------------------------------------------------------===//
TEST(Dense, MultipliesTheLastDimension) {
  for (const Shape &shape : {Shape{3, 5}, Shape{2, 3, 5}, Shape{1, 5}, Shape{0, 5}}) {
    layers::Dense dense(7);
    dense.build(shape, DType::Float64);
    randomise(dense);
    Tensor x = randomInput(shape);
    std::vector<double> in = valuesOf(x), kernel = valuesOf(dense.variables()[0].value()),
                        bias = valuesOf(dense.variables()[1].value()), expected;
    for (std::size_t row = 0; row < in.size() / 5; ++row)
      for (std::size_t u = 0; u < 7; ++u) {
        double y = bias[u];
        for (std::size_t i = 0; i < 5; ++i)
          y += in[row * 5 + i] * kernel[i * 7 + u];
        expected.push_back(y);
      }
    Tensor y = callBoth(dense, x);
    Shape result = shape;
    result.back() = 7;
    EXPECT_EQ(y.shape(), result);
    expectNear(y, expected);
  }
}

TEST(Dense, TakesOptions) {
  layers::Dense dense(3, {.activation = "relu", .use_bias = false, .kernel_initializer = ones});
  EXPECT_FALSE(dense.built());
  expectValues(dense(tensor<float>({1, 2, -4, 1}, {2, 2})), {3, 3, 3, 0, 0, 0});
  EXPECT_TRUE(dense.built());
  EXPECT_EQ(namesOf(dense), (std::vector<std::string>{"kernel"}));
  layers::Dense biased(1, {.activation = [](const Tensor &x) { return x * 10; },
                           .kernel_initializer = [](const Shape &shape, DType dtype) { return full(shape, 2, dtype); },
                           .bias_initializer = ones});
  expectValues(biased(tensor<float>({1, 2}, {2, 1})), {30, 50});
}

TEST(Dense, HasTheGradientsOfItsDifferences) {
  layers::Dense dense(2, {.activation = "tanh"});
  dense.build({3, 4}, DType::Float64);
  Tensor x = randomInput({3, 4});
  expectDerivatives([&](const std::vector<Tensor> &x) { return dense(x[0]); }, {x}, 1);
  expectVariableGradients([&] { return sum(square(dense(x))); }, dense.variables());
}

TEST(Dense, MisuseNamesTheLine) {
  EXPECT_MISUSE(ValueError, layers::Dense(0), "dense: the number of units is 0");
  EXPECT_MISUSE(ValueError, layers::Dense(1, {.activation = "swoosh"}),
                "activation: there is no 'swoosh'; there are linear, relu");
  layers::Dense dense(2);
  EXPECT_MISUSE(ShapeError, dense(ones({3})),
                "dense: takes inputs of rank 2 or more, a batch first; this one has shape [3]");
  EXPECT_MISUSE(DTypeError, layers::Dense(2)(ones({2, 3}, DType::Int32)),
                "dense: takes inputs of floating-point numbers, not int32[2,3]");
  EXPECT_MISUSE(DTypeError, dense(ones({3, 2}, DType::Int32)), "not int32[3,2]");
  EXPECT_MISUSE(StateError, dense.variables(), "its variables are not made yet");
  dense(ones({3, 2}));
  EXPECT_MISUSE(ShapeError, dense(ones({3, 5})),
                "built for inputs whose last dimension is 2; this one has shape [3,5]");
  EXPECT_MISUSE(DTypeError, dense(ones({3, 2}, DType::Float64)), "float64");
}

//===-- Conv2D and MaxPool2D --------------------------------------------------------------------===//
TEST(Conv2D, IsTheSumOverItsWindows) {
  struct Case {
    layers::Extent size, strides;
    bool same;
  };
  for (const Case &c : {Case{3, 1, true}, Case{{2, 3}, {1, 2}, false}, Case{{3, 2}, {2, 1}, true}, Case{1, 1, false}}) {
    const std::int64_t images = 2, height = 5, width = 7, in = 3, out = 2;
    layers::Conv2D conv(out, c.size, {.strides = c.strides, .padding = c.same ? "same" : "valid"});
    conv.build({images, height, width, in}, DType::Float64);
    randomise(conv);
    Tensor x = randomInput({images, height, width, in});
    std::vector<double> pixels = valuesOf(x), kernel = valuesOf(conv.variables()[0].value()),
                        bias = valuesOf(conv.variables()[1].value()), expected;
    auto [kernelHeight, kernelWidth] = c.size.sizes;
    auto [strideDown, strideAcross] = c.strides.sizes;
    Window rows(height, kernelHeight, strideDown, c.same), columns(width, kernelWidth, strideAcross, c.same);
    for (std::int64_t n = 0; n < images; ++n)
      for (std::int64_t i = 0; i < rows.outputs; ++i)
        for (std::int64_t j = 0; j < columns.outputs; ++j)
          for (std::int64_t f = 0; f < out; ++f) {
            double y = bias[static_cast<std::size_t>(f)];
            for (std::int64_t a = 0; a < kernelHeight; ++a)
              for (std::int64_t b = 0; b < kernelWidth; ++b)
                for (std::int64_t k = 0; k < in; ++k) {
                  std::int64_t row = i * strideDown + rows.first + a, column = j * strideAcross + columns.first + b;
                  if (row >= 0 && row < height && column >= 0 && column < width)
                    y += pixels[static_cast<std::size_t>(((n * height + row) * width + column) * in + k)] *
                         kernel[static_cast<std::size_t>(((a * kernelWidth + b) * in + k) * out + f)];
                }
            expected.push_back(y);
          }
    Tensor y = callBoth(conv, x);
    EXPECT_EQ(y.shape(), (Shape{images, rows.outputs, columns.outputs, out}));
    expectNear(y, expected);
  }
}

TEST(Conv2D, HasTheGradientsOfItsDifferences) {
  layers::Conv2D conv(2, 2, {.activation = "sigmoid"});
  conv.build({1, 3, 4, 2}, DType::Float64);
  Tensor x = randomInput({1, 3, 4, 2});
  expectVariableGradients([&] { return sum(square(conv(x))); }, conv.variables());
}

TEST(Conv2D, MisuseNamesTheLine) {
  EXPECT_MISUSE(ValueError, layers::Conv2D(-1, 3), "conv2d: the number of filters is -1");
  EXPECT_MISUSE(ValueError, layers::Conv2D(1, {3, 0}), "conv2d: the kernel's size is 0");
  EXPECT_MISUSE(ValueError, layers::Conv2D(1, 3, {.strides = 0}), "conv2d: the stride is 0");
  EXPECT_MISUSE(ValueError, layers::Conv2D(1, 3, {.padding = "full"}), "there is no padding 'full'");
  layers::Conv2D conv(1, 3);
  EXPECT_MISUSE(ShapeError, conv(ones({2, 3, 4})), "takes inputs of rank 4, channels last; this one has shape [2,3,4]");
  conv(ones({1, 3, 3, 2}));
  EXPECT_MISUSE(ShapeError, conv(ones({1, 3, 3, 1})), "last dimension is 2; this one has shape [1,3,3,1]");
}

TEST(MaxPool2D, TakesTheLargestOfEachWindow) {
  Tensor x = tensor<double>({1, 5, 2, /**/ 7, 3, 4, /**/ 0, 6, -1}, {1, 3, 3, 1});
  expectNear(callBoth(layers::MaxPool2D(2), x), {7});
  expectNear(callBoth(layers::MaxPool2D(2, {.strides = 1}), x), {7, 5, 7, 6});
  expectNear(callBoth(layers::MaxPool2D({1, 2}, {.padding = "same"}), x), {5, 2, 7, 4, 6, -1});
  EXPECT_TRUE(layers::MaxPool2D(2).variables().empty());
  EXPECT_MISUSE(ShapeError, layers::MaxPool2D(2)(ones({2, 2})), "max_pool2d: takes inputs of rank 4");
  EXPECT_MISUSE(ValueError, layers::MaxPool2D(0), "max_pool2d: the window's size is 0");
  EXPECT_MISUSE(ValueError, layers::MaxPool2D(2, {.strides = -1}), "max_pool2d: the stride is -1");
  EXPECT_MISUSE(ValueError, layers::MaxPool2D(2, {.padding = "none"}), "there is no padding 'none'");
}

//===-- BatchNormalization ----------------------------------------------------------------------===//
namespace {
struct Statistics {
  std::vector<double> mean, variance;
};
Statistics statisticsOf(const std::vector<double> &x, std::size_t channels) {
  Statistics s{std::vector<double>(channels), std::vector<double>(channels)};
  double rows = static_cast<double>(x.size() / channels);
  for (std::size_t i = 0; i < x.size(); ++i)
    s.mean[i % channels] += x[i] / rows;
  for (std::size_t i = 0; i < x.size(); ++i)
    s.variance[i % channels] += std::pow(x[i] - s.mean[i % channels], 2) / rows;
  return s;
}
} // namespace

TEST(BatchNormalization, NormalisesByTheBatchInTrainingAndByTheMovingStatisticsElse) {
  for (const Shape &shape : {Shape{5, 3}, Shape{2, 3, 2, 3}}) {
    layers::BatchNormalization norm({.momentum = 0.75, .epsilon = 0.01});
    norm.build(shape, DType::Float64);
    EXPECT_EQ(namesOf(norm), (std::vector<std::string>{"gamma", "beta", "moving_mean", "moving_variance"}));
    EXPECT_EQ(norm.trainable_variables().size(), 2u);
    std::vector<Variable> v = norm.variables();
    expectNear(v[2].value(), {0, 0, 0});
    expectNear(v[3].value(), {1, 1, 1});
    v[0].assign(tensor<double>({1, 2, -1}));
    v[1].assign(tensor<double>({0.5, 0, 3}));
    std::vector<double> gamma = {1, 2, -1}, beta = {0.5, 0, 3}, movingMean = {0, 0, 0}, movingVariance = {1, 1, 1};
    auto normalised = [&](const std::vector<double> &x, const std::vector<double> &mean,
                          const std::vector<double> &variance) {
      std::vector<double> y;
      for (std::size_t i = 0; i < x.size(); ++i)
        y.push_back((x[i] - mean[i % 3]) / std::sqrt(variance[i % 3] + 0.01) * gamma[i % 3] + beta[i % 3]);
      return y;
    };
    auto train = function([&](const Tensor &x) { return norm(x, {.training = true}); });
    for (unsigned seed : {1, 2, 3}) {
      Tensor x = randomInput(shape, seed);
      Statistics batch = statisticsOf(valuesOf(x), 3);
      Tensor y = seed == 3 ? train.eager(x) : train(x);
      expectNear(y, normalised(valuesOf(x), batch.mean, batch.variance));
      for (std::size_t c = 0; c < 3; ++c) {
        movingMean[c] = 0.75 * movingMean[c] + 0.25 * batch.mean[c];
        movingVariance[c] = 0.75 * movingVariance[c] + 0.25 * batch.variance[c];
      }
      expectNear(v[2].value(), movingMean);
      expectNear(v[3].value(), movingVariance);
      expectNear(callBoth(norm, x), normalised(valuesOf(x), movingMean, movingVariance));
      expectNear(v[2].value(), movingMean); // inference changes nothing
    }
  }
}

TEST(BatchNormalization, HasKerasDefaults) {
  layers::BatchNormalization norm;
  norm(tensor<float>({1, 3}, {2, 1}), {.training = true});
  expectNear(norm.variables()[2].value(), {0.02}, 1e-6);
  expectNear(norm.variables()[3].value(), {1.0}, 1e-6); // 0.99 + 0.01 * 1
  expectNear(norm(tensor<float>({2}, {1, 1})), {1.98 / std::sqrt(1.001)}, 1e-5);
}

TEST(BatchNormalization, HasTheGradientsOfItsDifferences) {
  layers::BatchNormalization norm;
  Tensor x = randomInput({4, 2});
  norm.build(x.shape(), DType::Float64);
  for (bool training : {false, true}) {
    expectDerivatives([&](const std::vector<Tensor> &x) { return norm(x[0], {.training = training}); }, {x}, 1);
    expectVariableGradients([&] { return sum(square(norm(x, {.training = training}))); }, norm.trainable_variables());
  }
}

TEST(BatchNormalization, GoesWithoutScaleAndCenter) {
  layers::BatchNormalization norm({.epsilon = 0, .center = false, .scale = false});
  expectNear(norm(tensor<float>({1, 3}, {2, 1}), {.training = true}), {-1, 1}, 1e-6);
  EXPECT_EQ(namesOf(norm), (std::vector<std::string>{"moving_mean", "moving_variance"}));
}

TEST(BatchNormalization, MisuseNamesTheLine) {
  EXPECT_MISUSE(ValueError, layers::BatchNormalization({.momentum = 1.5}), "the momentum is in [0, 1], unlike 1.5");
  EXPECT_MISUSE(ValueError, layers::BatchNormalization({.epsilon = -1}), "epsilon is not below 0");
  layers::BatchNormalization norm;
  EXPECT_MISUSE(ShapeError, norm(ones({3})), "takes inputs of rank 2 or more");
  EXPECT_MISUSE(DTypeError, norm(ones({3, 1}, DType::Int64)), "not int64[3,1]");
  norm(ones({3, 2}));
  EXPECT_MISUSE(ShapeError, norm(ones({3, 4})), "last dimension is 2; this one has shape [3,4]");
  EXPECT_MISUSE(ShapeError, norm(ones({0, 2}), {.training = true}), "a batch without elements, of shape [0,2]");
  expectValues(norm.variables()[2].value(), {0, 0});
}

//===-- Dropout, Flatten, Activation ------------------------------------------------------------===//
TEST(Dropout, DropsAndScalesInTrainingAlone) {
  layers::Dropout dropout(0.25, {.seed = 3});
  Tensor x = full({100, 31}, 2.0f);
  expectSameBits(dropout(x), x);
  auto train = function([&](const Tensor &x) { return dropout(x, {.training = true}); });
  std::vector<double> first = valuesOf(train(x)), second = valuesOf(train(x));
  EXPECT_NE(first, second);
  std::size_t dropped = 0;
  for (double value : first) {
    EXPECT_TRUE(value == 0 || std::fabs(value - 2 / 0.75) < 1e-6) << value;
    dropped += value == 0;
  }
  EXPECT_NEAR(static_cast<double>(dropped) / 3100, 0.25, 0.04);
  EXPECT_EQ(train.trace_count(), 1);
  // The same seed, eagerly.
  layers::Dropout again(0.25, {.seed = 3});
  EXPECT_EQ(valuesOf(again(x, {.training = true})), first);
  EXPECT_EQ(valuesOf(again(x, {.training = true})), second);
  EXPECT_TRUE(dropout.trainable_variables().empty());
}

TEST(Dropout, PassesTheGradientWhereItKeeps) {
  layers::Dropout dropout(0.5, {.seed = 1});
  Tensor x = randomInput({4, 5});
  GradientTape tape;
  tape.watch(x);
  Tensor y = dropout(x, {.training = true});
  std::vector<double> gradient = valuesOf(*tape.gradient(y, x)), kept = valuesOf(y);
  for (std::size_t i = 0; i < kept.size(); ++i)
    EXPECT_EQ(gradient[i], kept[i] == 0 ? 0 : 2);
}

TEST(Dropout, FollowsTheGlobalSeed) {
  Tensor x = ones({50});
  std::vector<std::vector<double>> runs;
  for (int seed : {1, 1, 2}) {
    set_seed(seed);
    layers::Dropout a(0.5), b(0.5);
    runs.push_back(valuesOf(a(x, {.training = true})));
    EXPECT_NE(valuesOf(b(x, {.training = true})), runs.back());
  }
  EXPECT_EQ(runs[0], runs[1]);
  EXPECT_NE(runs[0], runs[2]);
}

TEST(Dropout, OfRateZeroIsTheIdentity) {
  Tensor x = randomInput({7});
  expectSameBits(layers::Dropout(0)(x, {.training = true}), x);
  EXPECT_MISUSE(ValueError, layers::Dropout(1), "dropout: the rate is in [0, 1), unlike 1");
  EXPECT_MISUSE(ValueError, layers::Dropout(-0.5), "unlike -0.5");
  EXPECT_MISUSE(DTypeError, layers::Dropout(0.5)(ones({2}, DType::Int32), {.training = true}), "not int32[2]");
}

TEST(Flatten, KeepsTheFirstDimension) {
  layers::Flatten flatten;
  EXPECT_EQ(callBoth(flatten, randomInput({3, 2, 5})).shape(), (Shape{3, 10}));
  EXPECT_EQ(flatten(ones({4})).shape(), (Shape{4, 1}));
  EXPECT_EQ(flatten(ones({0, 2, 3})).shape(), (Shape{0, 6}));
  EXPECT_MISUSE(ShapeError, flatten(1.0f), "flatten: takes inputs of rank 1 or more");
}

TEST(Activation, AppliesAFunctionOrANamedOne) {
  Tensor x = tensor<double>({-1, 0.5, 2}, {1, 3});
  std::map<std::string, std::function<double(double)>> functions = {
      {"linear", [](double x) { return x; }},
      {"relu", [](double x) { return std::max(x, 0.0); }},
      {"gelu", [](double x) { return x * 0.5 * std::erfc(-x / std::sqrt(2.0)); }},
      {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"tanh", [](double x) { return std::tanh(x); }},
      {"softmax", [](double x) { return std::exp(x) / (std::exp(-1.0) + std::exp(0.5) + std::exp(2.0)); }}};
  for (const auto &[name, f] : functions) {
    SCOPED_TRACE(name);
    expectNear(callBoth(layers::Activation(name.c_str()), x), {f(-1), f(0.5), f(2)});
  }
  expectNear(layers::Activation(square)(x), {1, 0.25, 4});
}

//===-- Building, Sequential, layers of one's own -----------------------------------------------===//
TEST(Layer, MakesItsVariablesInAFunctionsFirstTrace) {
  set_seed(9);
  layers::Dense eager(3);
  Tensor x = ones({2, 4}), expected = eager(x);
  set_seed(9);
  layers::Dense traced(3);
  auto f = function([&](const Tensor &x) { return traced(x); });
  expectNear(f(x), valuesOf(expected), 1e-6);
  expectSameBits(traced.variables()[0].value(), eager.variables()[0].value());
  expectNear(f(x), valuesOf(expected), 1e-6); // and not anew in each call
  expectNear(f(ones({1, 4})), valuesOf(eager(ones({1, 4}))), 1e-6);
  EXPECT_EQ(f.trace_count(), 2);
}

TEST(Layer, IsNotBuiltInALaterTrace) {
  layers::Dense late(3);
  auto f = function([&](const Tensor &x) { return x.shape()[0] == 1 ? x : late(x); });
  f(ones({1, 4}));
  EXPECT_CONTAINS(errorOf<StateError>([&] { f(ones({2, 4})); }), "/kernel' is made in a later trace");
  EXPECT_FALSE(late.built());
  late.build({2, 4});
  EXPECT_EQ(f(ones({2, 4})).shape(), (Shape{2, 3}));
}

TEST(Layer, IsBuiltByThreadsOnce) {
  for (int round = 0; round < 5; ++round) {
    layers::Dense dense(3);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] { dense(ones({2, 4})); });
    for (std::thread &thread : threads)
      thread.join();
    EXPECT_EQ(dense.variables().size(), 2u);
  }
}

TEST(Layer, ABuildThatFailsLeavesNothing) {
  int attempts = 0;
  layers::Dense dense(2, {.bias_initializer = [&](const Shape &shape, DType dtype) {
                        if (attempts++ == 0)
                          throw std::runtime_error("not now");
                        return zeros(shape, dtype);
                      }});
  EXPECT_THROW(dense(ones({1, 2})), std::runtime_error);
  EXPECT_FALSE(dense.built());
  EXPECT_EQ(dense(ones({1, 3})).shape(), (Shape{1, 2})); // built for another size now
  EXPECT_EQ(dense.variables().size(), 2u);
}

TEST(Sequential, CallsItsLayersInOrderAndNamesThem) {
  layers::Dense shared(4, {.activation = "relu"});
  layers::Sequential net({shared, layers::Dropout(0.5), shared, layers::BatchNormalization(), layers::Dense(2)});
  net.build({1, 4});
  EXPECT_EQ(namesOf(net),
            (std::vector<std::string>{"dense/kernel", "dense/bias", "dropout/generator", "batch_normalization/gamma",
                                      "batch_normalization/beta", "batch_normalization/moving_mean",
                                      "batch_normalization/moving_variance", "dense_1/kernel", "dense_1/bias"}));
  EXPECT_EQ(net.trainable_variables().size(), 6u);
  EXPECT_EQ(net.variables()[7].name(), "dense_1/kernel");
  EXPECT_EQ(net.layers().size(), 5u);
  Tensor x = cast(randomInput({64, 4}), DType::Float32);
  expectNear(net(x), valuesOf(net.layers()[4](net.layers()[3](shared(shared(x))))), 1e-6);
  // Training reaches the layers: dropout draws.
  Tensor first = net(x, {.training = true}), second = net(x, {.training = true});
  EXPECT_NE(valuesOf(first), valuesOf(second));
}

TEST(Sequential, Nests) {
  layers::Sequential inner({layers::Dense(3), layers::Activation("relu")});
  layers::Sequential outer;
  outer.add(inner);
  outer.add(layers::Dense(1));
  EXPECT_EQ(outer(ones({2, 2})).shape(), (Shape{2, 1}));
  EXPECT_EQ(namesOf(outer), (std::vector<std::string>{"sequential/dense/kernel", "sequential/dense/bias",
                                                      "dense/kernel", "dense/bias"}));
  EXPECT_MISUSE(ValueError, inner.add(outer), "has this module as a part itself");
  EXPECT_MISUSE(ValueError, outer.add(outer), "has this module as a part itself");
  expectNear(outer(ones({2, 2})), valuesOf(outer(ones({2, 2})))); // as it was
}

TEST(Sequential, ErrorsInsideNameTheCallersLine) {
  layers::Sequential net({layers::Dense(3), layers::Flatten(), layers::Conv2D(2, 3)});
  EXPECT_MISUSE(ShapeError, net(ones({2, 2})),
                "conv2d 'conv2d': takes inputs of rank 4, channels last; this one has shape [2,3]");
}

namespace {
struct ScaleBody : layers::LayerBody {
  ScaleBody() : LayerBody("scale") {}
  void build(const Shape &input, DType dtype) override { factor = weight("factor", {input.back()}, dtype, ones); }
  Tensor call(const Tensor &x, const layers::CallOptions &options) override {
    return options.training ? x * factor * 2 : x * factor;
  }
  Variable factor{nullptr};
};
} // namespace

TEST(Layer, MayBeOnesOwn) {
  layers::Layer scale(std::make_shared<ScaleBody>());
  layers::Sequential net({scale, scale});
  expectValues(net(ones({1, 3}), {.training = true}), {4, 4, 4});
  EXPECT_EQ(namesOf(net), (std::vector<std::string>{"scale/factor"}));
}

TEST(Layers, ThatAssignNameThemselvesInVmap) {
  layers::Dropout dropout(0.5);
  auto drop = [&](const Tensor &x) { return dropout(x, {.training = true}); };
  try {
    vmap(drop)(ones({2, 3}));
    ADD_FAILURE() << "no error";
  } catch (const CompileError &error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("dropout: assigns a variable")) << error.what();
  }
}
