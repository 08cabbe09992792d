// Configs, and layers, initialisers and optimisers that are made of them.
#include "Testing.h"

using namespace calque;
using namespace calque::testing;

TEST(Config, PrintsAsJsonAndReadsItBack) {
  Config config{{"name", "a \"b\""},
                {"units", 3},
                {"rate", 0.1},
                {"bias", true},
                {"none", std::nullopt},
                {"sizes", {1, 2.5, "x"}},
                {"inner", Config{{"axis", -1}}},
                {"big", std::int64_t(1) << 62}};
  EXPECT_EQ(config.str(), R"({"name":"a \"b\"","units":3,"rate":0.1,"bias":true,"none":null,"sizes":[1,2.5,"x"],)"
                          R"("inner":{"axis":-1},"big":4611686018427387904})");
  Config again = Config::parse(config.str(2));
  EXPECT_EQ(again, config);
  EXPECT_EQ(again["inner"].as<Config>()["axis"].as<std::int64_t>(), -1);
  EXPECT_EQ(again["units"].as<double>(), 3.0);
  EXPECT_TRUE(again["none"].is_null());
  again.set("units", 4);
  EXPECT_NE(again, config);
  again.erase("units");
  EXPECT_FALSE(again.contains("units"));
  EXPECT_EQ(Config::parse("{}"), Config());
}

TEST(Config, MisuseNamesTheValue) {
  Config config{{"units", 3}, {"rate", std::numeric_limits<double>::infinity()}};
  EXPECT_MISUSE(LookupError, config.at("unit"), "config: there is no 'unit'; there are 'units', 'rate'");
  EXPECT_MISUSE(ValueError, config["units"].as<std::string>(), "config: 3 is not of the kind that is asked for: text");
  EXPECT_MISUSE(ValueError, config.str(), "config: JSON has no number inf, which rate is");
  EXPECT_MISUSE(ValueError, Config::parse("[1]"), "config: this is no object of JSON: [1]");
  EXPECT_MISUSE(ValueError, Config::parse("{\"a\":"), "config: this is no object of JSON");
  EXPECT_MISUSE(ValueError, Config::parse("{\"a\":1e400}"), "config: this is no object of JSON");
  EXPECT_MISUSE(ValueError, Config::parse("{} x"), "config: this is no object of JSON");
  EXPECT_MISUSE(ValueError, Config::parse("{\"a\":1,\"b\":2,\"a\":1}"),
                "config: the name 'a' stands twice in one object");
  EXPECT_MISUSE(ValueError, Config::parse("{\"a\":[{\"b\":1,\"b\":1}]}"),
                "config: the name 'b' stands twice in one object");
  EXPECT_EQ(Config::parse("{\"a\":{\"a\":[{\"a\":1},{\"a\":2}]}}").str(), "{\"a\":{\"a\":[{\"a\":1},{\"a\":2}]}}");
  EXPECT_MISUSE(ValueError, Config::parse("{\"a\":18446744073709551615}"), "config: int64 does not hold");
  EXPECT_MISUSE(ValueError, Config({{"a", "\xff"}}).str(), "config: a text in it is not UTF-8");
}

//===-- Initialisers ----------------------------------------------------------------------------===//
TEST(Initializers, HaveTheDistributionOfTheirFormula) {
  set_seed(4);
  auto moments = [](const Initializer &initializer, const Shape &shape) {
    std::vector<double> x = valuesOf(initializer(shape, DType::Float64));
    double mean = 0, variance = 0, largest = 0;
    for (double value : x) {
      mean += value / static_cast<double>(x.size());
      largest = std::max(largest, std::fabs(value));
    }
    for (double value : x)
      variance += (value - mean) * (value - mean) / static_cast<double>(x.size());
    return std::array{mean, variance, largest};
  };
  const Shape shape = {120, 80};
  for (auto [name, variance] : std::vector<std::pair<const char *, double>>{{"glorot_uniform", 2.0 / 200},
                                                                            {"glorot_normal", 2.0 / 200},
                                                                            {"he_uniform", 2.0 / 120},
                                                                            {"he_normal", 2.0 / 120},
                                                                            {"lecun_uniform", 1.0 / 120},
                                                                            {"lecun_normal", 1.0 / 120},
                                                                            {"random_normal", 0.0025},
                                                                            {"variance_scaling", 1.0 / 120}}) {
    SCOPED_TRACE(name);
    auto [mean, found, largest] = moments(name, shape);
    EXPECT_NEAR(mean, 0, 5 * std::sqrt(variance / 9600));
    EXPECT_NEAR(found / variance, 1, 0.06);
    if (std::string(name) == "he_normal") { // truncated at two deviations of the normal numbers
      EXPECT_LE(largest, 2 * std::sqrt(variance) / 0.87962566103423978 + 1e-12);
    }
  }
  auto [mean, variance, largest] = moments(initializers::TruncatedNormal({.stddev = 3}), shape);
  EXPECT_LE(largest, 6 + 1e-12);
  EXPECT_GT(largest, 5.9);
  EXPECT_NEAR(variance / 9, 0.7737, 0.04); // 0.8796^2
  expectValues(initializers::Constant(3)({2}, DType::Float32), {3, 3});
  expectValues(initializers::Identity(2)({2, 3}, DType::Float32), {2, 0, 0, 0, 2, 0});
  EXPECT_EQ(valuesOf(initializers::RandomUniform({.seed = 7})({5}, DType::Float32)),
            valuesOf(initializers::RandomUniform({.seed = 7})({5}, DType::Float32)));
}

TEST(Initializers, OrthogonalMatricesHaveOrthonormalRowsOrColumns) {
  for (const Shape &shape : {Shape{5, 3}, Shape{3, 5}, Shape{2, 2, 4}}) {
    Tensor q = initializers::Orthogonal({.gain = 2, .seed = 1})(shape, DType::Float64);
    Tensor m = reshape(q, {-1, shape.back()});
    const bool tall = m.shape()[0] >= m.shape()[1];
    Tensor product = tall ? matmul(m, m, {.transpose_a = true}) : matmul(m, m, {.transpose_b = true});
    expectNear(product, valuesOf(eye(product.shape()[0], DType::Float64) * 4), 1e-12);
  }
}

TEST(Initializers, GoThroughConfigs) {
  for (const Initializer &each :
       {Initializer(zeros), Initializer("ones"), Initializer(he_normal), initializers::Constant(2),
        initializers::RandomNormal({.mean = 1, .seed = 3}), initializers::TruncatedNormal({.stddev = 2, .seed = 3}),
        initializers::RandomUniform({.minval = 1, .maxval = 2, .seed = 3}),
        initializers::VarianceScaling({2, "fan_out", "untruncated_normal", 3}),
        initializers::Orthogonal({.gain = 2, .seed = 3}), initializers::Identity(3),
        initializers::GlorotUniform({.seed = 3}), initializers::GlorotNormal({.seed = 3}),
        initializers::HeUniform({.seed = 3}), initializers::HeNormal({.seed = 3}),
        initializers::LecunUniform({.seed = 3}), initializers::LecunNormal({.seed = 3})}) {
    Config config = Config::parse(each.get_config().str());
    SCOPED_TRACE(config.str());
    Initializer again = Initializer::from_config(config);
    EXPECT_EQ(again.get_config(), each.get_config());
    if (each.name() != "he_normal")
      expectSameBits(again({3, 3}, DType::Float32), each({3, 3}, DType::Float32));
  }
  EXPECT_EQ(initializers::HeNormal().get_config(), Initializer(he_normal).get_config());
  set_seed(5);
  Tensor drawn = he_normal({3, 3});
  set_seed(5);
  expectSameBits(initializers::HeNormal()({3, 3}, DType::Float32), drawn);
  register_initializer("seven", [](const Config &) { return initializers::Constant(7); });
  layers::Dense dense(1, {.use_bias = false, .kernel_initializer = "seven"});
  expectValues(dense(ones({1, 2})), {14});
  EXPECT_EQ(layers::deserialize(layers::serialize(dense))(ones({1, 2})).item<float>(), 14);
}

TEST(Initializers, HaveTheNamesOfKerasClasses) {
  const std::pair<const char *, const char *> names[] = {
      {"Zeros", "zeros"},
      {"Ones", "ones"},
      {"GlorotUniform", "glorot_uniform"},
      {"GlorotNormal", "glorot_normal"},
      {"HeUniform", "he_uniform"},
      {"HeNormal", "he_normal"},
      {"LecunUniform", "lecun_uniform"},
      {"LecunNormal", "lecun_normal"},
      {"Constant", "constant"},
      {"RandomNormal", "random_normal"},
      {"TruncatedNormal", "truncated_normal"},
      {"RandomUniform", "random_uniform"},
      {"VarianceScaling", "variance_scaling"},
      {"Orthogonal", "orthogonal"},
      {"OrthogonalInitializer", "orthogonal"},
      {"Identity", "identity"},
      {"IdentityInitializer", "identity"},
      {"uniform", "random_uniform"},
      {"normal", "random_normal"},
      {"zero", "zeros"},
      {"one", "ones"},
  };
  for (const auto &[name, known] : names) {
    SCOPED_TRACE(name);
    EXPECT_EQ(Initializer(name).get_config(), Initializer(known).get_config());
    Config config{{"class_name", name}, {"config", Config()}};
    EXPECT_EQ(Initializer::from_config(config).name(), known);
  }
  layers::Dense dense(2, {.kernel_initializer = "HeNormal", .bias_initializer = "Ones"});
  dense.build({1, 3});
  expectValues(dense.bias().value(), {1, 1});
  EXPECT_MISUSE(ValueError, Initializer("Henormal"), "initializer: there is no 'Henormal'; there are zeros, ones");
  EXPECT_MISUSE(ValueError, Initializer(""), "initializer: there is no ''");
}

TEST(Initializers, MisuseNamesTheValue) {
  EXPECT_MISUSE(ValueError, Initializer("he"), "initializer: there is no 'he'; there are zeros, ones");
  Initializer nameless([](const Shape &shape, DType dtype) { return zeros(shape, dtype); });
  EXPECT_MISUSE(StateError, nameless.get_config(), "initializer: a callable has no config");
  EXPECT_MISUSE(ValueError, register_initializer("zeros", [](const Config &) { return Initializer("ones"); }),
                "register_initializer: there is an initializer 'zeros' already");
  EXPECT_MISUSE(ValueError, initializers::VarianceScaling({.scale = 0}),
                "variance_scaling: the scale is finite and above 0, unlike 0");
  EXPECT_MISUSE(ValueError, initializers::VarianceScaling({.mode = "fan"}), "variance_scaling: there is no mode 'fan'");
  EXPECT_MISUSE(ValueError, initializers::VarianceScaling({.distribution = "normal"}),
                "variance_scaling: there is no distribution 'normal'");
  EXPECT_CONTAINS(errorOf<ShapeError>([] { initializers::Orthogonal()({3}, DType::Float32); }),
                  "orthogonal: takes a shape of rank 2 or more, not [3]");
  EXPECT_CONTAINS(errorOf<ShapeError>([] { initializers::Identity()({3}, DType::Float32); }),
                  "identity: takes the shape of a matrix, not [3]");
}

TEST(Regularizers, AddToTheLosses) {
  layers::Dense dense(2, {.kernel_initializer = "ones",
                          .kernel_regularizer = regularizers::l1_l2(0.5, 0.25),
                          .activity_regularizer = regularizers::l2(1)});
  Sequential net{dense, layers::Dense(1, {.bias_initializer = "ones", .bias_regularizer = regularizers::l1(3)})};
  net(ones({2, 3}));
  std::vector<double> losses;
  for (const Tensor &loss : net.losses())
    losses.push_back(loss.item<float>());
  // 4 outputs of 3, by example; 6 ones of the kernel; one of the bias.
  EXPECT_EQ(losses, (std::vector<double>{18, 4.5, 3}));
  GradientTape tape;
  net(ones({2, 3}));
  Tensor loss = net.losses()[1];
  expectValues(*tape.gradient(loss, dense.kernel()), {1, 1, 1, 1, 1, 1});
  EXPECT_MISUSE(ValueError, regularizers::l2(-1), "regularizer: a factor is finite and not below 0, unlike -1");
}

//===-- Layers ----------------------------------------------------------------------------------===//
namespace {
struct ScaledBody : layers::LayerBody {
  explicit ScaledBody(double factor) : LayerBody("scaled", false), factor(factor) {}
  Tensor call(const Tensor &x, const layers::CallOptions &) override { return x * factor; }
  Config get_config() const override { return {{"factor", factor}}; }
  double factor;
};
} // namespace

TEST(Registry, TakesLayersOfTheUsers) {
  layers::Layer scaled(std::make_shared<ScaledBody>(3));
  EXPECT_MISUSE(StateError, layers::serialize(scaled), "serialize: the class of the layer 'scaled' is not known");
  auto make = [](const Config &config) {
    return layers::Layer(std::make_shared<ScaledBody>(config["factor"].as<double>()));
  };
  layers::register_layer<ScaledBody>("Scaled", make);
  Sequential net{scaled, layers::Flatten()};
  layers::Layer again = layers::deserialize(Config::parse(layers::serialize(net).str()));
  expectValues(again(ones({1, 2})), {3, 3});
  EXPECT_MISUSE(ValueError, layers::register_layer<ScaledBody>("Scaled", make),
                "register_layer: there is a layer 'Scaled' already");
  EXPECT_MISUSE(LookupError, layers::deserialize({{"class_name", "Dens"}}),
                "deserialize: there is no layer 'Dens'; the nearest are Dense, ");
  EXPECT_MISUSE(ValueError, layers::deserialize({{"class_name", "Dense"}, {"config", Config{{"unitz", 3}}}}),
                "dense: its config has 'unitz', which is no option of it");
  EXPECT_MISUSE(ValueError, layers::deserialize({{"class_name", "Dense"}, {"config", Config{{"units", 0}}}}),
                "dense: the number of units is 0");
  EXPECT_MISUSE(ValueError, layers::deserialize({{"class_name", "Dense"}, {"config", Config{{"units", "three"}}}}),
                "dense: 'units' of its config: \"three\" is not of the kind that is asked for: integer");
  EXPECT_MISUSE(
      LookupError,
      layers::deserialize({{"class_name", "Dense"}, {"config", Config{{"units", 3}, {"kernel_constraint", "max"}}}}),
      "dense: 'kernel_constraint' of its config: constraint: there is no 'max'; there are max_norm, ");
  EXPECT_MISUSE(StateError, layers::Lambda([](const Tensor &x) { return x; }).get_config(),
                "lambda: a callable has no config; make a class of it");
  struct Own : layers::LayerBody {
    Own() : LayerBody("own") {}
  };
  EXPECT_MISUSE(
      StateError, layers::Layer(std::make_shared<Own>()).get_config(),
      "own: its class does not override get_config(), or calls that of its base, which has nothing to say; begin with "
      "Config{{\"name\", name()}}");
}

TEST(Registry, OptionsComeBackFromAConfig) {
  const std::vector<layers::Layer> all = {
      layers::Dense(3, {.activation = "gelu",
                        .kernel_initializer = initializers::RandomNormal({.stddev = 2}),
                        .kernel_regularizer = regularizers::l2(0.1),
                        .activity_regularizer = "l1",
                        .kernel_constraint = constraints::MinMaxNorm({.rate = 0.5, .axis = {0, 1}}),
                        .bias_constraint = "non_neg",
                        .name = "head"}),
      layers::Embedding(5, 2, {.mask_zero = true, .dtype = DType::Float64}),
      layers::Conv2D(2, {3, 5}, {.strides = 2, .padding = "same"}),
      layers::Conv3D(4, {1, 2, 3}, {.dilation_rate = {3, 2, 1}, .groups = 2}),
      layers::Conv1DTranspose(2, 3, {.strides = 2, .padding = "same"}),
      layers::DepthwiseConv2D(3, {.depth_multiplier = 2, .depthwise_regularizer = regularizers::l2(0.1)}),
      layers::SeparableConv2D(2, {3, 2}, {.depth_multiplier = 2, .pointwise_initializer = "he_normal"}),
      layers::MaxPool2D(3, {.strides = 2}),
      layers::AveragePooling3D({1, 2, 3}, {.padding = "same"}),
      layers::UpSampling3D({1, 2, 3}),
      layers::Cropping3D(layers::Borders<3>(1, 2, 3)),
      layers::BatchNormalization({.momentum = 0.5, .axis = 1}),
      layers::LayerNormalization({.axes = {1, 2}}),
      layers::Dropout(0.25, {.seed = 4}),
      layers::ReLU({.max_value = 6}),
      layers::ReLU(),
      layers::LSTM(3, {.recurrent_constraint = "unit_norm", .return_sequences = true, .name = "encoder"}),
      layers::ActivityRegularization({.l1 = 0.5}),
      layers::Bidirectional(layers::GRU(2, {.reset_after = false}), {.merge_mode = "sum"}),
      layers::TimeDistributed(layers::Dense(2)),
      layers::MultiHeadAttention(2, 3, {.output_dim = 7}),
      layers::ZeroPadding2D(layers::Border({1, 2}, {3, 4})),
      layers::Dot(1, 2, {.normalize = true}),
      Sequential{layers::Dense(2), layers::Dense(1)}};
  for (const layers::Layer &layer : all) {
    Config config = layers::serialize(layer);
    SCOPED_TRACE(config.str());
    layers::Layer again = layers::deserialize(Config::parse(config.str()));
    EXPECT_EQ(layers::serialize(again), config);
    EXPECT_EQ(again.body()->has_given_name(), layer.body()->has_given_name());
    if (layer.body()->has_given_name()) {
      EXPECT_EQ(again.name(), layer.name());
    }
    EXPECT_FALSE(again.same_as(layer));
  }
  layers::Dense frozen(2);
  frozen.set_trainable(false);
  EXPECT_FALSE(layers::deserialize(layers::serialize(frozen)).trainable());
}

//===-- Optimisers and schedules ----------------------------------------------------------------===//
TEST(OptimizerConfig, MakesTheSameOptimizer) {
  const std::vector<optimizers::Optimizer> all = {
      optimizers::SGD(0.1, {.momentum = 0.9, .nesterov = true}, {.clipnorm = 2, .name = "mine"}),
      optimizers::RMSprop(0.1, {.rho = 0.8, .momentum = 0.5, .centered = true}, {.clipvalue = 0.5}),
      optimizers::Adagrad(0.1, {.initial_accumulator_value = 0.3}),
      optimizers::Adadelta(0.1, {.rho = 0.7}),
      optimizers::Adam(0.1, {.beta_1 = 0.8, .amsgrad = true}, {.gradient_accumulation_steps = 2}),
      optimizers::AdamW(0.1, {.weight_decay = 0.02}, {.global_clipnorm = 1}),
      optimizers::Adamax(0.1, {.beta_2 = 0.9}),
      optimizers::Nadam(0.1, {.epsilon = 1e-3}, {.use_ema = true, .ema_overwrite_frequency = 2}),
      optimizers::Lion(schedules::CosineDecay(0.1, 10, {.warmup_target = 0.3, .warmup_steps = 2}), {.beta_2 = 0.5}),
      optimizers::Ftrl(0.1, {.l1_regularization_strength = 0.01}, {.decay = 0.1}),
  };
  for (const optimizers::Optimizer &optimizer : all) {
    SCOPED_TRACE(optimizer.str());
    Config config = Config::parse(optimizers::serialize(optimizer).str());
    optimizers::Optimizer same = optimizers::deserialize(config);
    EXPECT_EQ(optimizers::serialize(same), config);
    EXPECT_EQ(same.str(), optimizer.str());
    Variable a(tensor<double>({1, -2})), b(tensor<double>({1, -2}));
    for (int i = 0; i < 4; ++i) {
      Tensor gradient = tensor<double>({0.3, 5}) * (i + 1);
      optimizer.apply_gradients({gradient}, {a});
      same.apply_gradients({gradient}, {b});
    }
    EXPECT_EQ(valuesOf(a.value()), valuesOf(b.value()));
  }
}

TEST(OptimizerConfig, HasTheNamesOfKeras) {
  EXPECT_EQ(optimizers::serialize(optimizers::SGD(0.5, {.momentum = 0.25})).str(),
            R"({"class_name":"SGD","config":{"name":"sgd","learning_rate":0.5,"momentum":0.25,"nesterov":false,)"
            R"("weight_decay":null,"clipnorm":null,"global_clipnorm":null,"clipvalue":null,"use_ema":false,)"
            R"("ema_momentum":0.99,"ema_overwrite_frequency":null,"gradient_accumulation_steps":null,"decay":0.0}})");
  optimizers::Optimizer adam = optimizers::deserialize({{"class_name", "AdamW"}});
  EXPECT_EQ(adam.str(), optimizers::AdamW().str()) << "what a config lacks has its default";
  adam.learning_rate().assign(0.25);
  EXPECT_EQ(adam.get_config()["learning_rate"].as<double>(), 0.25);
}

TEST(ScheduleConfig, MakesTheSameSchedule) {
  const std::vector<schedules::Schedule> all = {
      schedules::ExponentialDecay(0.1, 3, 0.5, {.staircase = true}),
      schedules::InverseTimeDecay(0.1, 3, 0.5),
      schedules::PiecewiseConstantDecay({2, 5}, {0.3, 0.2, 0.1}),
      schedules::PolynomialDecay(0.1, 3, {.power = 2, .cycle = true}),
      schedules::CosineDecay(0.1, 5, {.alpha = 0.2}),
      schedules::CosineDecayRestarts(0.1, 3, {.t_mul = 1.5, .m_mul = 0.9}),
  };
  for (const schedules::Schedule &schedule : all) {
    auto config = schedule.get_config().as<Config>();
    SCOPED_TRACE(config.str());
    auto same = schedules::Schedule::from_config(Config::parse(config.str()));
    EXPECT_EQ(same.get_config(), schedule.get_config());
    for (int step : {0, 2, 3, 7})
      EXPECT_EQ(same(step).item<double>(), schedule(step).item<double>());
  }
}

namespace {
Tensor rootRate(const Tensor &step) { return 0.1 / sqrt(step + 1); }
struct SignBody : optimizers::OptimizerBody {
  SignBody(LearningRate rate, double scale, optimizers::OptimizerOptions options)
      : OptimizerBody("sign", std::move(rate), {}, std::move(options)), scale(scale) {}
  Config own_config() const override { return {{"scale", scale}}; }
  void update(Variable &variable, const Tensor &gradient, const std::vector<Tensor> &rate,
              std::vector<Variable> &) override {
    variable.assign_sub(rate[0] * scale * sign(gradient));
  }
  double scale;
};
} // namespace

TEST(OptimizerConfig, KnowsThoseOfOnesOwn) {
  optimizers::Optimizer mine(std::make_shared<SignBody>(rootRate, 2, optimizers::OptimizerOptions{.clipvalue = 3}));
  EXPECT_MISUSE(StateError, mine.get_config(), "schedule: a function of the step has no config");
  register_schedule("root", rootRate);
  EXPECT_MISUSE(ValueError, register_schedule("root", rootRate), "there is a schedule 'root' already");
  mine = optimizers::Optimizer(
      std::make_shared<SignBody>(schedules::Schedule("root"), 2, optimizers::OptimizerOptions{.clipvalue = 3}));
  EXPECT_MISUSE(StateError, optimizers::serialize(mine), "the class of the optimizer 'sign' is not known");
  auto make = [](std::optional<LearningRate> rate, const Config &own, optimizers::OptimizerOptions options) {
    return optimizers::Optimizer(std::make_shared<SignBody>(
        rate.value_or(0.5), own.contains("scale") ? own["scale"].as<double>() : 1, std::move(options)));
  };
  optimizers::register_optimizer<SignBody>("Sign", make);
  EXPECT_MISUSE(ValueError, optimizers::register_optimizer<SignBody>("Sign", make),
                "register_optimizer: there is an optimizer 'Sign' already");
  Config config = optimizers::serialize(mine);
  EXPECT_EQ(config["config"].as<Config>()["learning_rate"].as<std::string>(), "root");
  optimizers::Optimizer same = optimizers::deserialize(config);
  EXPECT_EQ(optimizers::serialize(same), config);
  EXPECT_EQ(optimizers::Optimizer("Sign").learning_rate().item<double>(), 0.5);

  struct NeedyBody : SignBody {
    using SignBody::SignBody;
  };
  struct WrongBody : SignBody {
    using SignBody::SignBody;
  };
  optimizers::register_optimizer<NeedyBody>(
      "Needy", [](std::optional<LearningRate> rate, const Config &own, optimizers::OptimizerOptions options) {
        return optimizers::Optimizer(
            std::make_shared<NeedyBody>(rate.value_or(0.5), own["scale"].as<double>(), std::move(options)));
      });
  optimizers::register_optimizer<WrongBody>(
      "Wrong", [](std::optional<LearningRate> rate, const Config &, optimizers::OptimizerOptions options) {
        return optimizers::Optimizer(std::make_shared<WrongBody>(rate.value_or(-1), 1, std::move(options)));
      });
  EXPECT_MISUSE(LookupError, optimizers::Optimizer("Needy"),
                "optimizers: 'Needy' can't be made by its name alone: there is no 'scale'; it is empty");
  EXPECT_MISUSE(ValueError, optimizers::Optimizer("Wrong"), "optimizers: 'Wrong' can't be made by its name alone: ");
}

// Keras writes null for what a class has not here: its own Adam's loss_scale_factor, a layer's kernel_constraint.
TEST(OptimizerConfig, LeavesOutWhatIsNull) {
  EXPECT_EQ(
      optimizers::deserialize({{"class_name", "Adam"}, {"config", Config{{"loss_scale_factor", std::nullopt}}}}).str(),
      optimizers::Adam().str());
  EXPECT_EQ(regularizers::l2(0.01).get_config().str(), Regularizer("l2").get_config().str());
  EXPECT_MISUSE(LookupError, Regularizer("l3"), "regularizer: there is no 'l3'; there are l1, l2, l1_l2");
}

TEST(OptimizerConfig, MisuseIsNamed) {
  EXPECT_MISUSE(LookupError, optimizers::deserialize({{"class_name", "Adm"}}), "there is no optimizer 'Adm'; ");
  EXPECT_MISUSE(LookupError, optimizers::deserialize(Config()), "config: there is no 'class_name'");
  EXPECT_MISUSE(ValueError, optimizers::deserialize({{"class_name", "Adam"}, {"config", Config{{"beta_3", 0.5}}}}),
                "adam: its config has 'beta_3', which is no option of it");
  EXPECT_MISUSE(ValueError, optimizers::deserialize({{"class_name", "Adam"}, {"config", Config{{"beta_1", 1.5}}}}),
                "adam: beta_1 is in [0, 1), unlike 1.5");
  EXPECT_MISUSE(LookupError, schedules::Schedule::from_config("rot"),
                "; register_schedule() makes one of your own known");
  EXPECT_MISUSE(LookupError, schedules::Schedule::from_config(Config{{"class_name", "Rot"}}),
                "schedule: there is no class 'Rot'; there are CosineDecay, ");
  EXPECT_MISUSE(LookupError, Config().at("rate"), "config: there is no 'rate'; it is empty");
  EXPECT_MISUSE(ValueError, schedules::Schedule::from_config(Config{{"class_name", "CosineDecay"}}),
                "cosine_decay: the number of steps is above 0, unlike 0");
  EXPECT_MISUSE(ValueError, schedules::CosineDecayRestarts(0.1, 10, {.t_mul = 0.5}),
                "cosine_decay_restarts: t_mul is at least 1, unlike 0.5, whose periods would all be over by step 20");
  EXPECT_MISUSE(ValueError, schedules::CosineDecayRestarts(0.1, 10, {.t_mul = -1}), "t_mul is above 0, unlike -1");
  EXPECT_MISUSE(ValueError, schedules::ExponentialDecay(NAN, 10, 0.5), "initial_learning_rate is finite, unlike nan");
  EXPECT_MISUSE(ValueError, schedules::InverseTimeDecay(0.1, 10, -0.5), "decay_rate is at least 0, unlike -0.5");
  EXPECT_MISUSE(ValueError, schedules::PiecewiseConstantDecay({5, 5}, {1, 2, 3}),
                "the boundaries ascend, unlike 5 and 5");
}
