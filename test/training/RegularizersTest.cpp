// Regularisers and constraints, against what Keras gives: reference/regularizers.py writes the cases.
#include "Testing.h"

#include <fstream>
#include <nlohmann/json.hpp>

using namespace calque;
using namespace calque::testing;

namespace {

using Json = nlohmann::json;

Tensor tensorOf(const Json &array) {
  const Shape shape(array[1].get<std::vector<std::int64_t>>());
  if (array[0] == "int32")
    return tensor(array[2].get<std::vector<std::int32_t>>(), shape);
  return tensor<double>(array[2].get<std::vector<double>>(), shape);
}

std::vector<Json> cases(const char *what) {
  std::ifstream file(CALQUE_REGULARIZERS_REFERENCE);
  std::vector<Json> found;
  for (std::string line; std::getline(file, line);)
    if (Json json = Json::parse(line); json.contains(what))
      found.push_back(json);
  return found;
}

void expectAll(const std::vector<Tensor> &found, const Json &expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    SCOPED_TRACE("value " + std::to_string(i));
    expectNear(found[i], expected[i][2].get<std::vector<double>>(), 1e-9);
  }
}

} // namespace

TEST(Constraints, AreKeras) {
  for (const Json &json : cases("constraint")) {
    SCOPED_TRACE(json["constraint"].dump());
    Constraint made = Constraint::from_config(ConfigValue(Config::parse(json["constraint"].dump())));
    expectNear(made(tensorOf(json["before"])), json["after"][2].get<std::vector<double>>(), 1e-12);
    // Its config makes it again.
    Constraint again = Constraint::from_config(made.get_config());
    EXPECT_EQ(again.get_config().str(), made.get_config().str());
    expectNear(again(tensorOf(json["before"])), json["after"][2].get<std::vector<double>>(), 1e-12);
  }
}

TEST(Regularizers, OfActivitiesAndConstraintsAreKeras) {
  for (const Json &json : cases("layer"))
    for (bool compiled : {false, true}) {
      SCOPED_TRACE(json["layer"].dump() + (compiled ? ", compiled for a batch of any size" : ", eager"));
      layers::Layer layer = layers::deserialize(Config::parse(json["layer"].dump()));
      Tensor x = tensorOf(json["inputs"]);
      layer.build(x.shape(), x.dtype());
      std::vector<Tensor> weights;
      for (const Json &weight : json["weights"])
        weights.push_back(tensorOf(weight));
      layer.set_weights(weights);
      optimizers::SGD sgd(0.1);
      auto losses = [&](const Tensor &of) {
        layer.apply(of);
        return layer.losses();
      };
      auto step = [&](const Tensor &of) {
        GradientTape tape;
        Tensor loss = scalar<double>(0);
        for (const auto &[name, y] : layer.apply(of)) {
          Tensor flat = reshape(y, {-1});
          loss = loss + sum(flat * cos(cumsum(full(flat.shape(), 1, flat.dtype())) - 1));
        }
        for (const Tensor &each : layer.losses())
          loss = loss + each;
        std::vector<Variable> variables = layer.trainable_variables();
        if (!variables.empty())
          sgd.apply_gradients(tape.gradient(loss, variables), variables);
      };
      Shape open = x.shape();
      open[0] = kDynamic;
      auto f =
          function<std::vector<Tensor>(const Tensor &)>(losses, {.input_signature = {TensorSpec<>(x.dtype(), open)}});
      auto g = function<void(const Tensor &)>(step, {.input_signature = {TensorSpec<>(x.dtype(), open)}});
      expectAll(compiled ? f(x) : losses(x), json["losses"]);
      for (int i = 0; i < 3; ++i)
        compiled ? g(x) : step(x);
      expectAll(layer.get_weights(), json["after"]);
    }
}

TEST(Regularizers, OfOnesOwn) {
  Regularizer own = [](const Tensor &w) { return 2 * sum(abs(w)); };
  layers::Dense dense(1, {.kernel_initializer = "ones", .kernel_regularizer = own});
  dense(ones({1, 3}));
  EXPECT_EQ(dense.losses()[0].item<float>(), 6);
  EXPECT_MISUSE(StateError, dense.get_config(), "regularizer: a callable has no config; give it a name by");

  auto make = [](const Config &options) {
    double factor = options["factor"].as<double>();
    return Regularizer("cubes", options, [factor](const Tensor &w) { return factor * sum(w * w * abs(w)); });
  };
  register_regularizer("cubes", make);
  EXPECT_MISUSE(ValueError, register_regularizer("cubes", make),
                "register_regularizer: there is a regularizer 'cubes' already");
  EXPECT_MISUSE(ValueError, register_regularizer("L2", make), "there is a regularizer 'L2' already");
  EXPECT_MISUSE(StateError, register_regularizer("none", nullptr), "register_regularizer");
  layers::Dense named(2, {.kernel_initializer = "ones", .activity_regularizer = make({{"factor", 0.5}})});
  layers::Layer again = layers::deserialize(layers::serialize(named));
  again(ones({4, 2}));
  EXPECT_EQ(again.losses()[0].item<float>(), 8); // 8 results of 2, each 4, by 4 examples

  layers::Dense wrong(1, {.kernel_regularizer = [](const Tensor &w) { return square(w); }});
  wrong(ones({1, 3}));
  EXPECT_MISUSE(ValueError, wrong.losses(),
                "regularizer: a callable gives float32[3,1], and what is added to the loss is a number");
  EXPECT_MISUSE(LookupError, Regularizer("l4"), "regularizer: there is no 'l4'; there are l1, l2, l1_l2");
  EXPECT_MISUSE(LookupError, Regularizer::from_config(ConfigValue(Config{{"class_name", "L4"}})),
                "regularizer: there is no 'L4'");
  EXPECT_CONTAINS(errorOf<ValueError>([] {
                    Regularizer::from_config(
                        ConfigValue(Config{{"class_name", "L2"}, {"config", Config{{"rate", 0.1}}}}));
                  }),
                  "regularizer l2: its config has 'rate', which is no option of it");
}

TEST(Constraints, OfOnesOwn) {
  register_constraint("at_most", [](const Config &options) {
    double bound = options["bound"].as<double>();
    return Constraint("at_most", options, [bound](const Tensor &w) { return minimum(w, bound); });
  });
  layers::Dense dense(1, {.use_bias = false,
                          .kernel_initializer = "ones",
                          .kernel_constraint = Constraint::from_config(
                              ConfigValue(Config{{"class_name", "at_most"}, {"config", Config{{"bound", 1.5}}}}))});
  layers::Layer again = layers::deserialize(layers::serialize(dense));
  again.build({1, 2});
  std::vector<Variable> weights = again.trainable_variables();
  optimizers::SGD(1.0).apply_gradients({tensor<float>({{-2}, {1}})}, weights);
  expectValues(weights[0], {1.5, 0});

  // Of a variable alone, whose step averages first.
  Variable rates(tensor<float>({1, 2}), {.constraint = constraints::NonNeg()});
  ASSERT_TRUE(rates.constraint());
  optimizers::SGD(1.0).apply_gradients({tensor<float>({3, 1})}, {rates});
  expectValues(rates, {0, 1});
  // Without a gradient it stays as it is.
  Variable still(tensor<float>({-1}), {.constraint = constraints::NonNeg()});
  optimizers::SGD(1.0).apply_gradients({tensor<float>({0, 0}), std::nullopt}, {rates, still});
  expectValues(still, {-1});

  Variable wrong(tensor<float>({1, 2}), {.constraint = [](const Tensor &w) { return sum(w); }});
  EXPECT_MISUSE(ShapeError, optimizers::SGD(1.0).apply_gradients({tensor<float>({3, 1})}, {wrong}),
                "can't be assigned");
}

TEST(Constraints, MisuseNamesTheLine) {
  EXPECT_MISUSE(ValueError, constraints::MaxNorm({.max_value = -1}), "max_norm: max_value is not below 0, unlike -1");
  EXPECT_MISUSE(ValueError, constraints::MinMaxNorm({.min_value = 2}),
                "min_max_norm: min_value is not below 0 and max_value not below it, unlike 2 and 1");
  EXPECT_MISUSE(ValueError, constraints::MinMaxNorm({.rate = 2}), "min_max_norm: the rate is in [0, 1], unlike 2");
  EXPECT_MISUSE(LookupError, Constraint("max"),
                "constraint: there is no 'max'; there are max_norm, non_neg, unit_norm, min_max_norm");
  layers::Dense own(1, {.kernel_constraint = [](const Tensor &w) { return w; }});
  EXPECT_MISUSE(StateError, own.get_config(),
                "constraint: a callable has no config; give it a name by register_constraint(), and use that");
}
