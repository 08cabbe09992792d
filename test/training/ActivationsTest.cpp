// Activations: their names, their formulas and their derivatives.
#include "Testing.h"

#include <cmath>

using namespace calque;
using namespace calque::testing;

TEST(Activations, AreNamedOrRegistered) {
  EXPECT_EQ(layers::ActivationFunction("swish").get_config(), "silu");
  EXPECT_EQ(layers::ActivationFunction(relu).get_config(), "relu") << "an operation is known by its name";
  EXPECT_EQ(layers::ActivationFunction(activations::selu).get_config(), "selu");
  auto twice = [](const Tensor &x) { return x * 2; };
  layers::ActivationFunction nameless(twice);
  EXPECT_MISUSE(StateError, nameless.get_config(), "activation: a callable has no config");
  EXPECT_MISUSE(StateError, layers::Dense(1, {.activation = twice}).get_config(), "register_activation()");
  register_activation("twice", twice);
  expectValues(layers::ActivationFunction("twice")(ones({2})), {2, 2});
  EXPECT_EQ(layers::Activation("twice").get_config()["activation"].as<std::string>(), "twice");
  EXPECT_MISUSE(ValueError, register_activation("twice", twice),
                "register_activation: there is an activation 'twice' already");
}

namespace {
// All digits but the last ones, of small numbers as well.
void expectDigits(const Tensor &x, const std::vector<double> &expected, double tolerance) {
  const std::vector<double> values = valuesOf(x);
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], expected[i], tolerance * std::fabs(expected[i])) << "element " << i;
}
} // namespace

// The numbers are of Python's decimal with 60 digits.
TEST(Activations, SquareplusKeepsItsDigits) {
  auto slopes = [](const Tensor &x) {
    return grad([](const Tensor &a) { return sum(activations::squareplus(a)); })(x);
  };
  const Tensor x = tensor<double>({-1e4, -1e8, -3, -0.5, 0, 2.5, 1e4, 1e160});
  expectDigits(activations::squareplus(x),
               {9.9999999000000022e-05, 9.9999999999999986e-09, 0.30277563773199467, 0.78077640640441515, 1,
                2.8507810593582121, 10000.000099999999, 1e160},
               4e-16);
  expectDigits(slopes(x),
               {9.99999970000001e-09, 9.9999999999999973e-17, 0.083974852831078153, 0.37873218748183352, 0.5,
                0.89043440472151514, 0.99999999000000028, 1},
               1e-15);
  const Tensor narrow = tensor<float>({-1e20f, -1e4f, 1e20f, 3e38f});
  expectDigits(activations::squareplus(narrow), {1e-20, 9.9999999e-05, 1e20, 3e38}, 3e-7);
  const double infinity = std::numeric_limits<double>::infinity();
  const Tensor edges = tensor<double>({-infinity, infinity});
  EXPECT_EQ(valuesOf(activations::squareplus(edges)), (std::vector<double>{0, infinity}));
  EXPECT_EQ(valuesOf(slopes(edges)), (std::vector<double>{0, 1}));
}

// The formulas of Keras 3's documentation, by plain numbers.
TEST(Activations, AreKerasFormulas) {
  using Plain = std::function<double(double)>;
  auto sigmoidOf = [](double x) { return 1 / (1 + std::exp(-x)); };
  const std::vector<std::pair<const char *, Plain>> all = {
      {"celu", [](double x) { return std::max(x, 0.0) + std::min(0.0, std::exp(x) - 1); }},
      {"hard_tanh", [](double x) { return std::min(1.0, std::max(-1.0, x)); }},
      {"hard_shrink", [](double x) { return std::fabs(x) > 0.5 ? x : 0; }},
      {"soft_shrink", [](double x) { return x > 0.5    ? x - 0.5
                                            : x < -0.5 ? x + 0.5
                                                       : 0; }},
      {"tanh_shrink", [](double x) { return x - std::tanh(x); }},
      {"log_sigmoid", [&](double x) { return std::log(sigmoidOf(x)); }},
      {"squareplus", [](double x) { return (x + std::sqrt(x * x + 4)) / 2; }},
      {"sparse_plus", [](double x) { return x <= -1 ? 0
                                            : x < 1 ? (x + 1) * (x + 1) / 4
                                                    : x; }},
      {"hard_swish", [](double x) { return x * std::min(6.0, std::max(0.0, x + 3)) / 6; }},
  };
  std::vector<double> x;
  for (int i = -24; i <= 24; ++i)
    x.push_back(i * 0.25 + 1.0 / 128);
  const Tensor in = tensor<double>(x);
  for (const auto &[name, plain] : all) {
    SCOPED_TRACE(name);
    std::vector<double> expected, slopes;
    for (double each : x) {
      expected.push_back(plain(each));
      slopes.push_back((plain(each + 1e-6) - plain(each - 1e-6)) / 2e-6);
    }
    layers::Activation layer(name);
    expectNear(layer(in), expected, 1e-9);
    expectNear(grad([&](const Tensor &x) { return sum(layer(x)); })(in), slopes, 1e-6);
  }
  // Options, and edges.
  Tensor some = tensor<double>({-2, -0.5, 0, 0.5, 1});
  expectNear(activations::celu(some, 2), {2 * std::expm1(-1), 2 * std::expm1(-0.25), 0, 0.5, 1});
  expectNear(activations::hard_shrink(some), {-2, 0, 0, 0, 1});
  expectNear(activations::hard_shrink(some, 0.25), {-2, -0.5, 0, 0.5, 1});
  expectNear(activations::soft_shrink(some, 1), {-1, 0, 0, 0, 0});
  expectNear(activations::squareplus(some, 0), {0, 0, 0, 0.5, 1});
  expectNear(activations::threshold(some, 0, 7), {7, 7, 7, 0.5, 1});
  expectNear(activations::threshold(some, 0.25, -1.5), {-1.5, -1.5, -1.5, 0.5, 1});
  expectNear(activations::sparse_plus(tensor<double>({-1, 1})), {0, 1});
  // The first half by the sigmoid of the second.
  Tensor rows = tensor<double>({{1, 2, 0, 1}, {3, 4, -1, 2}});
  expectNear(activations::glu(rows), {1 * sigmoidOf(0), 2 * sigmoidOf(1), 3 * sigmoidOf(-1), 4 * sigmoidOf(2)});
  expectNear(activations::glu(rows, 0), {1 * sigmoidOf(3), 2 * sigmoidOf(4), 0, 1 * sigmoidOf(2)});
  EXPECT_EQ(layers::Dense(6, {.activation = "glu"})(ones({2, 3})).shape(), (Shape{2, 3}));
  EXPECT_MISUSE(ValueError, activations::glu(ones({2, 3})), "split: float32[2,3] has no 2 parts of one size along");
  EXPECT_EQ(activations::celu(ones({2})).dtype(), DType::Float32);
  // They are names, known to configs, and in one trace for any batch.
  auto open = function([](const Tensor &x) { return layers::Activation("sparsemax")(layers::Activation("glu")(x)); },
                       {.input_signature = {TensorSpec<double>({kDynamic, kDynamic})}});
  expectNear(open(rows), valuesOf(activations::sparsemax(activations::glu(rows))), 1e-12);
}

// Probabilities nearest to the numbers: what is above a threshold, less the threshold, adds up to 1. Bisected here.
TEST(Activations, SparsemaxIsAProjection) {
  auto projected = [](const std::vector<double> &row) {
    double low = -100, high = 100;
    auto total = [&](double tau) {
      double sum = 0;
      for (double each : row)
        sum += std::max(0.0, each - tau);
      return sum;
    };
    for (int i = 0; i < 200; ++i)
      (total((low + high) / 2) > 1 ? low : high) = (low + high) / 2;
    std::vector<double> result;
    for (double each : row)
      result.push_back(std::max(0.0, each - low));
    return result;
  };
  const std::vector<std::vector<double>> rows = {
      {-1, 0, 1, 0.25}, {0.5, 0.5, 0.5, 0.5}, {5, -3, 4.5, 4.75}, {2, 2, -9, 1.5}};
  std::vector<double> expected;
  for (const std::vector<double> &row : rows)
    for (double each : projected(row))
      expected.push_back(each);
  Tensor x = tensor(rows);
  expectNear(activations::sparsemax(x), expected, 1e-12);
  expectNear(transpose(activations::sparsemax(transpose(x), 0)), expected, 1e-12);
  expectNear(activations::sparsemax(tensor<double>({{1, -INFINITY, 0.5}})), {0.75, 0, 0.25}, 1e-12);
  // Its derivative: of those above, what is one's own less the mean of all.
  Tensor w = tensor<double>({1, 2, 3, 4});
  Tensor g =
      grad([&](const Tensor &x) { return sum(activations::sparsemax(x) * w); })(tensor<double>({5, -3, 4.5, 4.75}));
  expectNear(g, {1 - 8.0 / 3, 0, 3 - 8.0 / 3, 4 - 8.0 / 3}, 1e-12);
}

TEST(Activations, StayFiniteFarOut) {
  Tensor x = tensor<double>({-1000, 1000});
  for (const char *name :
       {"softplus", "elu", "selu", "silu", "mish", "gelu", "gelu_tanh", "softsign", "celu", "hard_tanh", "hard_shrink",
        "soft_shrink", "tanh_shrink", "log_sigmoid", "squareplus", "sparse_plus", "sparsemax"}) {
    SCOPED_TRACE(name);
    GradientTape tape;
    tape.watch(x);
    Tensor y = layers::ActivationFunction(name)(x);
    Tensor dx = *tape.gradient(y, x);
    for (const Tensor &each : {y, dx})
      for (double value : valuesOf(each))
        EXPECT_TRUE(std::isfinite(value)) << value;
  }
}

// Where a formula changes: what TensorFlow 2.21 and PyTorch 2 give, and where they differ (celu), PyTorch.
TEST(Activations, HaveTheDerivativesOfKerasWhereTheyBend) {
  struct Bend {
    const char *name;
    std::vector<double> at, slopes, curvatures;
  };
  const Bend all[] = {
      {"softplus", {0, -0.0}, {0.5, 0.5}, {0.25, 0.25}},
      {"log_sigmoid", {0, -0.0}, {0.5, 0.5}, {-0.25, -0.25}},
      {"mish", {0}, {0.6}, {0.64}},
      {"celu", {0}, {1}, {1}},
      {"relu", {0}, {0}, {0}},
      {"relu6", {0, 6}, {0, 0}, {0, 0}},
      {"leaky_relu", {0, -0.0}, {0.2, 0.2}, {0, 0}},
      {"hard_sigmoid", {-3, 3}, {0, 0}, {0, 0}},
      {"hard_silu", {-3, 3}, {0, 1}, {0, 0}},
  };
  for (DType dtype : {DType::Float32, DType::Float64})
    for (const auto &[name, at, slopes, curvatures] : all) {
      SCOPED_TRACE(name);
      layers::Activation layer(name);
      auto slope = [&](const Tensor &x) { return grad([&](const Tensor &x) { return sum(layer(x)); })(x); };
      auto curvature = [&](const Tensor &x) { return grad([&](const Tensor &x) { return sum(slope(x)); })(x); };
      Tensor x = cast(tensor<double>(at), dtype);
      expectNear(slope(x), slopes, 1e-6);
      expectNear(function(slope)(x), slopes, 1e-6);
      expectNear(curvature(x), curvatures, 1e-6);
      expectNear(jvp([&](const Tensor &x) { return layer(x); }, x, ones(x.shape(), dtype)).second, slopes, 1e-6);
    }
  for (activations::ReluOptions options : {activations::ReluOptions{.threshold = 1},
                                           {.max_value = 6},
                                           {.negative_slope = 0.5},
                                           {.max_value = 2, .threshold = 1}}) {
    Tensor y = activations::relu(tensor<double>({NAN, -INFINITY, INFINITY}), options);
    EXPECT_TRUE(std::isnan(valuesOf(y)[0]));
    EXPECT_EQ(valuesOf(y)[1], options.negative_slope > 0 ? -INFINITY : 0);
    EXPECT_EQ(valuesOf(y)[2], options.max_value.value_or(INFINITY));
  }
  // Far below, an error of the error function would grow with what it is multiplied by.
  expectNear(activations::gelu(tensor<float>({-20, -1e4, -1e8})), {0, 0, 0}, 0);
}
