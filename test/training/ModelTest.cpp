#include "Testing.h"

using namespace calque;
using namespace calque::testing;

namespace {

struct Net : Model {
  Net() : Model("net") {}
  layers::Dense hidden = submodule("hidden", layers::Dense(4, {.activation = "relu"}));
  layers::Dropout dropout = submodule("dropout", layers::Dropout(0.5, {.seed = 1}));
  layers::Dense head = submodule("head", layers::Dense(2));
  Tensor call(const Tensor &x, const layers::CallOptions &options) override {
    return head(dropout(hidden(x), options));
  }
};

// Several inputs and results, and a loss of its own.
struct Difference : layers::LayerBody {
  Difference() : LayerBody("difference", false) {}
  Tensors call_inputs(const Tensors &x, const layers::CallOptions &) override {
    if (x.size() != 2)
      throw ValueError(title() + ": takes two inputs");
    Tensor difference = x[0] - x[1];
    add_loss(sum(square(difference)));
    return {{"difference", difference}, {"sign", sign(difference)}};
  }
};

// A mask out of zeros, and what a mask makes of a sequence.
struct Marking : layers::LayerBody {
  Marking() : LayerBody("marking", false) {}
  Tensor call(const Tensor &x, const layers::CallOptions &) override {
    ++calls;
    return x + 1;
  }
  layers::Mask compute_mask(const Tensor &x, const layers::Mask &) override { return not_equal(x, 0); }
  int calls = 0;
};
struct Passing : layers::LayerBody {
  Passing() : LayerBody("passing", false) {}
  Tensor call(const Tensor &x, const layers::CallOptions &) override { return x; }
  layers::Mask compute_mask(const Tensor &, const layers::Mask &mask) override { return mask; }
};
struct Masking : layers::LayerBody {
  Masking() : LayerBody("masking", false) {}
  Tensor call(const Tensor &x, const layers::CallOptions &options) override {
    return options.mask ? where(*options.mask, x, 0) : x;
  }
};

} // namespace

TEST(Model, IsAClassOfTheUsers) {
  Net net;
  net.build_for({TensorSpec<float>({kDynamic, 3})});
  EXPECT_EQ(net.count_params(), 3 * 4 + 4 + 4 * 2 + 2);
  EXPECT_EQ(net.variables().size(), 5u); // the generator of dropout is no weight
  EXPECT_EQ(net.weights().size(), 4u);
  Tensor x = random::normal({5, 3});
  expectNear(net(x), valuesOf(net.head(net.hidden(x))), 1e-6);
  auto f = function([&](const Tensor &x) { return net(x, {.training = true}); });
  EXPECT_NE(valuesOf(f(x)), valuesOf(f(x)));
}

TEST(Model, IsBuiltForAShape) {
  struct Net : Model {
    layers::Dense dense = submodule("dense", layers::Dense(3));
    Tensor call(const Tensor &x, const layers::CallOptions &) override { return dense(x); }
  };
  Net net;
  EXPECT_MISUSE(StateError, net.count_params(), "build");
  net.build({kDynamic, 4});
  EXPECT_EQ(net.count_params(), 15);
}

namespace {
// Knows its own address, as models that were compiled do.
struct Selfish : Model {
  layers::Dense dense = submodule("dense", layers::Dense(2));
  const Selfish *const self = this;
  Tensor call(const Tensor &x, const layers::CallOptions &) override { return self == this ? dense(x) : Tensor(); }
};
Selfish made(std::int64_t inputs) {
  Selfish model;
  model.build({kDynamic, inputs});
  model.compile({.optimizer = optimizers::SGD(0.1), .loss = losses::mean_squared_error});
  if (inputs > 3)
    model.set_trainable(false);
  return model;
}
} // namespace

TEST(Model, IsReturnedByAFunction) {
  Selfish model = made(3);
  EXPECT_EQ(model.self, &model);
  EXPECT_EQ(model.count_params(), 8);
  model.fit(ones({4, 3}), zeros({4, 2}), {.epochs = 1, .verbose = 0});
  EXPECT_EQ(model(ones({4, 3})).shape(), (Shape{4, 2}));
}

TEST(Model, IsALayerOfAnother) {
  auto inner = std::make_shared<Net>();
  Sequential outer{layers::Layer(inner), layers::Dense(1)};
  outer.build({kDynamic, 3});
  EXPECT_EQ(outer.named_variables().front().first, "net/hidden/kernel");
  EXPECT_EQ(outer.submodules().size(), 5u);
  EXPECT_EQ(&ModelHandle(inner).model(), inner.get());
  EXPECT_MISUSE(StateError, ModelHandle(nullptr).model(), "model");
}

TEST(Model, HasANameWithoutSlashes) {
  struct Named : Module {
    explicit Named(const char *text) : Module(text) {}
  };
  EXPECT_EQ(Named("encoder").name(), "encoder");
  EXPECT_CONTAINS(errorOf<ValueError>([] { Named("a/b"); }), "module: the name 'a/b' must have no '/'");
}

TEST(Model, FreezesItsParts) {
  Net net;
  net(ones({1, 3}));
  net.hidden.set_trainable(false);
  EXPECT_EQ(net.trainable_variables().size(), 2u);
  EXPECT_EQ(net.non_trainable_variables().size(), 3u);
  net.hidden.set_trainable(true);
  net.set_trainable(false);
  EXPECT_TRUE(net.trainable_variables().empty());
  EXPECT_TRUE(net.head.trainable_variables().empty()) << "its parts are frozen with it, as in Keras";
  net.set_trainable(true);
  EXPECT_EQ(net.head.trainable_variables().size(), 2u);
}

// Keras 3.15.1: a batch normalisation inside of a frozen model keeps its moving statistics and uses them.
TEST(Model, FreezesBatchNormalizationsInIt) {
  Sequential base{Input({1}), layers::BatchNormalization({.momentum = 0.5})};
  base.set_trainable(false);
  Tensor x = tensor({{1.}, {3.}});
  Tensor y = base(x, {.training = true});
  EXPECT_NEAR(valuesOf(y)[0], 0.9995, 1e-4);
  EXPECT_NEAR(valuesOf(y)[1], 2.9985, 1e-4);
  EXPECT_EQ(valuesOf(base.layers()[0].variables()[2].value()), (std::vector<double>{0}));
  EXPECT_FALSE(base.layers()[0].trainable());
  layers::Layer again = layers::deserialize(layers::serialize(base));
  EXPECT_TRUE(again.trainable_variables().empty());
}

TEST(Model, GivesAndTakesWeights) {
  Net net, other;
  net(ones({1, 3}));
  other(ones({1, 3}));
  other.set_weights(net.get_weights());
  Tensor x = random::normal({2, 3});
  expectSameBits(net(x), other(x));
  std::vector<Tensor> values = net.get_weights();
  values[0] = zeros({3, 4});
  values.back() = ones({3});
  EXPECT_MISUSE(ShapeError, net.set_weights(values),
                "set_weights: weight 3, 'head/bias', is float32[2] and its value float32[3]");
  EXPECT_MISUSE(ValueError, net.set_weights({}), "set_weights: the number of values is 0, and that of weights 4");
  values.back() = ones({2}, DType::Float64);
  EXPECT_MISUSE(DTypeError, net.set_weights(values), "is float32[2] and its value float64[2]");
  expectSameBits(net(x), other(x)); // nothing was assigned
}

TEST(Layer, IsMadeInOneLine) {
  struct Scaled : layers::LayerBody {
    explicit Scaled(float by) : LayerBody("scaled"), by(by) {}
    void build(const Shape &input, DType dtype) override {
      factor = weight("factor", {Size(input.back())}, dtype, "ones");
    }
    Tensor call(const Tensor &x, const layers::CallOptions &) override { return x * factor * by; }
    const float by;
    Variable factor{nullptr};
  };
  auto scaled = layers::make_layer<Scaled>(4);
  expectValues(scaled(ones({1, 2})), {4, 4});
  scaled->factor.assign(tensor<float>({1, 2}));
  Sequential model{scaled, layers::Flatten()};
  expectValues(model(ones({1, 2})), {4, 8});
  EXPECT_EQ((*scaled).by, 4);
  struct Outer : Model {
    layers::LayerOf<Scaled> inner = submodule("inner", layers::make_layer<Scaled>(2));
    Tensor call(const Tensor &x, const layers::CallOptions &) override { return inner(x); }
  } outer;
  expectValues(outer(ones({1, 2})), {2, 2});
  EXPECT_EQ(outer.named_variables()[0].first, "inner/factor");
  auto moved = std::move(scaled);
  EXPECT_CONTAINS(errorOf<StateError>([&] { scaled->by; }), "empty");
}

// What Keras' K.function and K.gradients give.
TEST(Model, GivesWhatItsLayersGive) {
  set_seed(1);
  Sequential chain{Input({3}), layers::Dense(4, {.activation = "tanh", .name = "hidden"}), layers::Dropout(0.5),
                   layers::Dense(2, {.name = "logits"}), layers::Softmax({}, {.name = "output"})};
  const Tensor x = tensor<float>({{1, -2, 0.5}, {0, 1, 2}});
  auto of = [&](models::LayerValuesOptions options) {
    return function([&chain, options](const Tensor &a) { return models::layer_values(chain, a, options); })(x);
  };
  for (bool compiled : {false, true}) {
    const models::LayerValues values =
        compiled ? of({.layer = "logits"}) : models::layer_values(chain, x, {.layer = "logits"});
    EXPECT_EQ(values.outputs.names(), (std::vector<std::string>{"hidden", "dropout", "logits", "output"}));
    expectNear(values.outputs["output"], valuesOf(chain(x)), 1e-6);
    const Tensor kernel = chain.get_layer("logits").variable("kernel").value();
    expectNear(*values.gradients.at("hidden"), valuesOf(matmul(ones({2, 2}), transpose(kernel))), 1e-6);
    expectNear(*values.gradients.at("logits"), {1, 1, 1, 1});
    EXPECT_FALSE(values.gradients.at("output")); // which comes behind
  }
  const models::LayerValues loss =
      models::layer_values(chain, x, {.target = [](const Tensors &y) { return sum(square(y[0])); }});
  expectNear(*loss.gradients.at("output"), valuesOf(2 * chain(x)), 1e-6);

  // Several calls of a layer and several results; a model of one's own.
  SymbolicTensor in = Input({2}, {.name = "in"});
  layers::Dense shared(2, {.name = "shared"});
  SymbolicTensors both = layers::Layer(std::make_shared<Difference>()).apply(SymbolicTensors{shared(shared(in)), in});
  models::Functional graph({in}, {both[0], both[1]});
  const models::LayerValues several = models::layer_values(graph, ones({1, 2}));
  EXPECT_EQ(several.outputs.names(),
            (std::vector<std::string>{"shared", "shared@1", "difference[0]", "difference[1]"}));
  Net net;
  const models::LayerValues own = models::layer_values(net, ones({1, 3}));
  EXPECT_EQ(own.outputs.names(), (std::vector<std::string>{"hidden", "dropout", "head"}));
  expectNear(*own.gradients.at("head"), {1, 1});

  EXPECT_MISUSE(LookupError, models::layer_values(chain, x, {.layer = "logit"}),
                "layer_values: no layer 'logit' is called; there are dropout, hidden, logits, output");
  EXPECT_MISUSE(ValueError,
                models::layer_values(chain, x, {.layer = "logits", .target = [](const Tensors &y) { return y[0]; }}),
                "layer_values: the gradients are of a layer or of a target, and both are given");
  struct Counting : Model {
    Tensor call(const Tensor &a, const layers::CallOptions &) override { return cast(a, DType::Int32); }
  } counting;
  EXPECT_MISUSE(DTypeError, models::layer_values(counting, x),
                "layer_values: gradients are of floating-point numbers, and there are none");
}

TEST(Layer, TakesAndGivesSeveral) {
  layers::Layer difference(std::make_shared<Difference>());
  Tensor x = tensor<float>({1, 5}), y = tensor<float>({4, 2});
  Tensors found = difference.apply({x, y});
  expectValues(found["difference"], {-3, 3});
  expectValues(found["sign"], {-1, 1});
  EXPECT_MISUSE(ValueError, difference({x, y}), "difference: gives 2 results; apply() returns all of them");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { difference(x); }), "takes two inputs");
  EXPECT_MISUSE(ValueError, layers::Dense(1)({x, y}), "dense: takes one input, and there are 2");
  EXPECT_MISUSE(ValueError, layers::Dense(1)(Tensors()), "dense: takes an input, and there is none");
  EXPECT_MISUSE(ValueError, layers::Flatten()({x, y}), "flatten: takes one input, and there are 2");
  // As many as the program has found.
  std::vector<Tensor> parts;
  std::vector<SymbolicTensor> inputs;
  for (int i = 0; i < 3; ++i) {
    parts.push_back(x);
    inputs.push_back(Input({2}));
  }
  expectValues(layers::Add()(parts), {3, 15});
  expectValues(
      models::Functional(inputs, layers::Concatenate()(inputs)).apply({ones({1, 2}), zeros({1, 2}), ones({1, 2})})[0],
      {1, 1, 0, 0, 1, 1});
}

TEST(Layer, KeepsTheLossesOfItsLatestCall) {
  layers::Layer difference(std::make_shared<Difference>());
  Tensor x = tensor<float>({1, 5}), y = tensor<float>({4, 2});
  difference.apply({x, y});
  ASSERT_EQ(difference.losses().size(), 1u);
  expectValues(difference.losses()[0], {18});
  difference.apply({x, x});
  ASSERT_EQ(difference.losses().size(), 1u);
  expectValues(difference.losses()[0], {0});

  struct Twice : Model {
    explicit Twice(layers::Layer part) : part(submodule("part", part)) {}
    layers::Layer part;
    Tensor call(const Tensor &x, const layers::CallOptions &) override {
      return part.apply({part.apply({x, x * 2})["difference"], x})["sign"];
    }
  };
  Twice twice(difference);
  auto f = function([&](const Tensor &x) {
    twice(x);
    return twice.losses()[0] + 10 * twice.losses()[1];
  });
  expectValues(f(tensor<float>({1, 2})), {5 + 10 * 20});

  struct Outside : layers::LayerBody {
    Outside() : LayerBody("outside") {}
    using LayerBody::add_loss;
  };
  EXPECT_MISUSE(StateError, Outside().add_loss(1.0f), "outside: add_loss is called outside of a call of the layer");
  EXPECT_CONTAINS(errorOf<ShapeError>([] { Outside().add_loss(ones({2})); }), "takes a floating-point scalar");
  EXPECT_MISUSE(StateError, layers::Layer(std::make_shared<Outside>())(1.0f),
                "outside: its class overrides neither call() nor call_inputs()");
}

TEST(Layer, PassesMasksOn) {
  auto marking = std::make_shared<Marking>();
  layers::Layer pass(std::make_shared<Passing>()), mask(std::make_shared<Masking>());
  Tensor x = tensor<float>({3, 0, 5}, {1, 3});
  Sequential marked{layers::Layer(marking), pass, mask}, dropped{layers::Layer(marking), layers::Flatten(), mask};
  expectValues(marked(x), {4, 0, 6});
  expectValues(dropped(x), {4, 1, 6});
  marking->calls = 0;
  Sequential nested{Sequential{layers::Layer(marking), pass}, mask};
  expectValues(nested(x), {4, 0, 6});
  EXPECT_EQ(marking->calls, 1) << "a nested model is called once, for its mask too";
  expectValues(mask(x, {.mask = tensor<bool>({false, true, true}, {1, 3})}), {0, 0, 5});
  EXPECT_FALSE(layers::Flatten().compute_mask(x, not_equal(x, 0)).has_value());
  EXPECT_TRUE(pass.compute_mask(x, not_equal(x, 0)).has_value());
}
