// Functional models: graphs of layers.
#include "Testing.h"

using namespace calque;
using namespace calque::testing;

TEST(Functional, HasSeveralInputsAndOutputs) {
  SymbolicTensor image = Input({2, 3}, {.name = "image"}), age = Input({1}, {.name = "age"});
  EXPECT_EQ(image.shape().str(), "[?,2,3]");
  layers::Dense hidden(4, {.activation = "relu", .name = "hidden"});
  SymbolicTensor x = hidden(layers::Flatten()(image));
  EXPECT_EQ(x.shape().str(), "[?,4]");
  SymbolicTensor both = layers::Concatenate()({x, age});
  models::Functional model({image, age}, {{"class", layers::Dense(5)(both)}, {"score", layers::Dense(1)(x)}});
  Tensor images = random::normal({6, 2, 3}), ages = random::normal({6, 1});
  Tensors y = model.apply({images, ages});
  EXPECT_EQ(y["class"].shape(), (Shape{6, 5}));
  EXPECT_EQ(y["score"].shape(), (Shape{6, 1}));
  Tensor h = hidden(reshape(images, {6, 6}));
  expectNear(y["class"], valuesOf(model.get_layer("dense")(concat({h, ages}, 1))), 1e-6);
  expectNear(y["score"], valuesOf(model.get_layer("dense_1")(h)), 1e-6);
  // By name, in any order; in one trace for all batches.
  auto f = function([&](const Tensors &x) { return model.apply(x); }, {.reduce_retracing = true});
  for (std::int64_t batch : {6, 2, 3}) {
    Tensors named = {{"age", slice(ages, {0, 0}, {batch, 1})}, {"image", slice(images, {0, 0, 0}, {batch, 2, 3})}};
    expectNear(f(named)["class"], valuesOf(slice(y["class"], {0, 0}, {batch, 5})), 1e-6);
  }
  EXPECT_EQ(f.trace_count(), 2);
  EXPECT_EQ(model.named_variables().front().first, "hidden/kernel");
  EXPECT_EQ(model.count_params(), 7 * 4 + 6 * 5 + 5);
}

TEST(Functional, HasSharedLayersAndResiduals) {
  SymbolicTensor a = Input({3}), b = Input({3});
  layers::Dense shared(3);
  SymbolicTensor x = shared(a), y = shared(b);
  SymbolicTensor z = (x - y) * 2 + 1 - a / 4;
  models::Functional model({a, b}, 1 - (-z));
  EXPECT_EQ(model.variables().size(), 2u) << "a shared layer is one";
  Tensor p = random::normal({2, 3}), q = random::normal({2, 3});
  expectNear(model({p, q}), valuesOf(1 + (shared(p) - shared(q)) * 2 + 1 - p / 4), 1e-5);
  EXPECT_MISUSE(ValueError, shared.output(), "dense 'dense': is called 2 times in graphs");
  EXPECT_TRUE(shared.output(1).same_as(y));
  EXPECT_MISUSE(IndexError, shared.output(2), "there is no call 2 of 2");
}

// By which get_weights() of Keras fits: what Keras 3.15.1 gives for the same graphs.
TEST(Functional, HasItsLayersInKerasOrder) {
  auto dense = [](const char *name) { return layers::Dense(3, {.use_bias = false, .name = name}); };
  auto namesOf = [](const models::Functional &model) {
    std::string names;
    for (const Variable &weight : model.weights())
      names += weight.name().substr(0, 1);
    return names;
  };
  SymbolicTensor a = Input({3}, {.name = "a"}), b = Input({3}, {.name = "b"});
  layers::Dense shared = dense("s");
  SymbolicTensor x = dense("p")(a), y = dense("q")(b), h = shared(x), w = dense("r")(h), k = shared(b);
  SymbolicTensor z = dense("u")(layers::Add()({w, k, y})), o = dense("v")(dense("t")(y));
  models::Functional model({a, b}, {{"o", o}, {"z", z}});
  EXPECT_EQ(namesOf(model), "psqrtvu");
  SymbolicTensor c = Input({3});
  SymbolicTensor side = dense("s")(c), deep = dense("g")(dense("h")(c));
  EXPECT_EQ(namesOf(models::Functional(c, layers::Add()({side, deep}))), "hsg");
  // The order survives a config, and so do the results.
  layers::Layer again = layers::deserialize(layers::serialize(model));
  again.set_weights(model.get_weights());
  Tensor p = random::normal({2, 3}), q = random::normal({2, 3});
  Tensors found = again.apply({p, q}), expected = model.apply({p, q});
  expectSameBits(found["o"], expected["o"]);
  expectSameBits(found["z"], expected["z"]);
  // Layers without names are counted in the order of the calls.
  SymbolicTensor d = Input({3});
  layers::Dense first(3), second(3), third(3);
  SymbolicTensor near = first(d), far = third(second(d));
  models::Functional counted(d, layers::Add()({near, far}));
  EXPECT_EQ(first.kernel().name(), "dense/kernel");
  EXPECT_EQ(counted.weights()[0].name(), "dense_1/kernel");
}

TEST(Functional, NestsAndExtractsFeatures) {
  Sequential inner{layers::Dense(4, {.activation = "relu"}), layers::Dense(3)};
  SymbolicTensor x = Input({5});
  models::Functional outer(x, layers::Dense(2)(inner(x)), {.name = "outer"});
  EXPECT_EQ(outer.named_variables()[0].first, "sequential/dense/kernel");
  SymbolicTensor z = Input({5});
  models::Functional twice(z, outer(z) + outer(z));
  Tensor in = random::normal({3, 5});
  expectNear(twice(in), valuesOf(outer(in) * 2), 1e-6);

  // Every layer's result in one call.
  inner.build({kDynamic, 5});
  SymbolicTensors all;
  for (const layers::Layer &layer : inner.layers())
    all.push_back(layer.output(layer.same_as(inner.layers()[0]) ? 0 : 0));
  models::Functional features(inner.inputs(), all);
  Tensors found = features.apply(in);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].shape(), (Shape{3, 4}));
  expectNear(found[1], valuesOf(inner(in)), 1e-6);
  // To a layer in the middle, with the same weights.
  models::Functional part(outer.input(), outer.get_layer("sequential").output(0));
  expectNear(part(in), valuesOf(inner(in)), 1e-6);
}

TEST(Functional, TrainsAndPassesMasksAndTraining) {
  SymbolicTensor tokens = Input({kDynamic}, {.dtype = DType::Int32});
  SymbolicTensor x = layers::Embedding(10, 4, {.mask_zero = true})(tokens);
  layers::LSTM lstm(3);
  models::Functional model(tokens, layers::Dense(1)(layers::Dropout(0.5)(lstm(x))));
  Tensor short_ = tensor<std::int32_t>({3, 4}, {1, 2}), padded = tensor<std::int32_t>({3, 4, 0, 0}, {1, 4});
  expectNear(model(padded), valuesOf(model(short_)), 1e-6);
  Tensor many = broadcast_to(short_, {20, 2}); // of one, dropout may well be the same twice
  EXPECT_NE(valuesOf(model(many, {.training = true})), valuesOf(model(many, {.training = true})));
  GradientTape tape;
  Tensor loss = sum(square(model(padded)));
  for (const auto &gradient : tape.gradient(loss, model.trainable_variables()))
    EXPECT_TRUE(gradient.has_value());
}

TEST(Functional, TrainsOnDataSetsOfMaps) {
  SymbolicTensor a = layers::Input({2}, {.name = "a"}), b = layers::Input({1}, {.name = "b"});
  models::Functional model({b, a}, layers::Dense(1, {.kernel_initializer = "ones"})(layers::Concatenate()({a, b})));
  model.compile({.optimizer = optimizers::SGD(0.0), .loss = "mae"});
  using Map = std::map<std::string, Tensor>;
  data::Dataset pairs = data::from_tensor_slices(Map{{"a", ones({6, 2})}, {"b", zeros({6, 1})}}, ones({6, 1}));
  static_assert(std::is_same_v<decltype(pairs), data::Dataset<std::pair<Map, Tensor>>>);
  EXPECT_EQ(model.fit(pairs.batch(4), {.verbose = 0}).history.at("loss")[0], 1); // |2 - 1|
  EXPECT_EQ(model.evaluate(pairs.batch(4))["loss"], 1);
}

TEST(Functional, RefusesNamesThatNoInputHas) {
  SymbolicTensor left = Input({1}, {.name = "left"}), right = Input({1}, {.name = "right"});
  models::Functional model({left, right}, left - right);
  const Tensor one = ones({2, 1}), none = zeros({2, 1});
  expectValues(model.predict({{"right", one}, {"left", none}}), {-1, -1});
  // Taken by position they would be swapped in silence.
  const char *message = "functional: there is an argument 'rigth', and no input of that name: there are left, right";
  EXPECT_MISUSE(LookupError, model.predict({{"rigth", one}, {"lefft", none}}), message);
  EXPECT_MISUSE(LookupError, model.apply({{"rigth", one}, {"left", none}}), message);
  // One less and one more.
  EXPECT_MISUSE(LookupError, model.apply({{"left", one}}),
                "functional: takes the inputs 'left', 'right', and there is no argument 'right'");
  EXPECT_MISUSE(LookupError, model.apply({{"left", one}, {"right", one}, {"middle", one}}),
                "functional: there is an argument 'middle', and no input of that name: there are left, right");
  EXPECT_MISUSE(LookupError, model.apply(SymbolicTensors{{"rigth", left}, {"left", right}}), message);
  model.compile({.loss = "mse"});
  using Map = std::map<std::string, Tensor>;
  data::Dataset pairs = data::from_tensor_slices(Map{{"left", one}, {"rigth", none}}, ones({2, 1})).batch(2);
  EXPECT_MISUSE(LookupError, model.fit(pairs, {.verbose = 0}), message);
  EXPECT_MISUSE(LookupError, model.evaluate(pairs), message);
  EXPECT_MISUSE(LookupError, model.predict(pairs), message);
  EXPECT_MISUSE(LookupError, model.fit({{"rigth", one}, {"left", none}}, one, {.verbose = 0}), message);
  // A single name that is wrong, and an input without a name.
  models::Functional single(left, left * 2);
  EXPECT_MISUSE(LookupError, single.predict({{"right", one}}),
                "functional: there is an argument 'right', and no input of that name: there are left");
  SymbolicTensor nameless = Input({1});
  EXPECT_MISUSE(LookupError, models::Functional(nameless, nameless * 2).predict({{"x", one}}), "there are input");
  // In a call of another model, whose results have names: without them by position, also in a file of before.
  models::Functional trunk(left, {{"wide", left * 3}});
  EXPECT_MISUSE(LookupError, single.apply(trunk.apply(left)),
                "functional: there is an argument 'wide', and no input of that name: there are left");
  models::Functional both(left, single(trunk.apply(left)[0]), {.name = "both"});
  expectValues(both(one), {6, 6});
  std::string text = layers::serialize(both).str();
  const std::size_t place = text.find("[[0,0,\"\"]]", text.rfind("\"calls\""));
  ASSERT_NE(place, std::string::npos);
  expectValues(layers::deserialize(Config::parse(text.replace(place, 10, "[[0,0,\"wide\"]]")))(one), {6, 6});
}

TEST(Functional, ComesBackFromItsConfig) {
  SymbolicTensor a = Input({3}, {.name = "a"}), b = Input({3}, {.name = "b"});
  layers::Dense shared(3);
  auto [h, c] = [&] {
    SymbolicTensors r = layers::LSTM(3, {.return_state = true}).apply(layers::RepeatVector(2)(shared(a)));
    return std::pair(r[0], r[2]);
  }();
  models::Functional model({a, b}, {{"sum", h + shared(b) * 0.5}, {"cell", c}}, {.name = "two"});
  Config config = layers::serialize(model);
  layers::Layer again = layers::deserialize(Config::parse(config.str()));
  EXPECT_EQ(layers::serialize(again), config);
  again.set_weights(model.get_weights());
  Tensor p = random::normal({2, 3}), q = random::normal({2, 3});
  Tensors expected = model.apply({p, q}), found = again.apply({p, q});
  for (const char *name : {"sum", "cell"})
    expectNear(found[name], valuesOf(expected[name]), 1e-6);

  Sequential chain{Input({3}), shared, layers::Dense(3), shared};
  EXPECT_EQ(layers::serialize(layers::deserialize(layers::serialize(chain))), layers::serialize(chain));
}

// A model that a file gave is a ModelHandle: its own graph is what another model is cut from.
TEST(Functional, IsCutFromAHandle) {
  SymbolicTensor a = Input({3}, {.name = "a"}), b = Input({2}, {.name = "b"});
  SymbolicTensor both = layers::Concatenate()({layers::Dense(4, {.name = "left"})(a), b});
  models::Functional model({a, b}, {{"score", layers::Dense(1, {.name = "score"})(both)}});
  ModelHandle base = model;
  models::Functional cut(base.inputs(), base.get_layer("concatenate").output());
  Tensor x = ones({2, 3}), y = zeros({2, 2});
  EXPECT_EQ(cut.apply({x, y})[0].shape(), (Shape{2, 6}));
  EXPECT_EQ(base.outputs().size(), 1u);
  expectNear(models::Functional(base.inputs(), base.output()).apply({x, y})[0], valuesOf(model.apply({x, y})[0]));
  EXPECT_MISUSE(ValueError, base.input(), "2");

  Sequential chain{Input({3}), layers::Dense(2, {.name = "gap"}), layers::Dense(1)};
  ModelHandle handle = chain;
  EXPECT_EQ(models::Functional(handle.input(), handle.get_layer("gap").output())(x).shape(), (Shape{2, 2}));
  expectNear(models::Functional(handle.inputs(), handle.outputs())(x), valuesOf(chain(x)));
  // One of the user's has no graph of its own; it is a layer in that of others.
  struct Own : Model {
    layers::Dense dense = submodule("dense", layers::Dense(1));
    Tensor call(const Tensor &given, const layers::CallOptions &) override { return dense(given); }
  };
  ModelHandle own(std::make_shared<Own>());
  EXPECT_MISUSE(StateError, own.inputs(),
                "model: is no graph of layers, as functional models and built Sequentials are");
  SymbolicTensor result = own(a);
  EXPECT_EQ(own.output().shape(), result.shape());
  EXPECT_EQ(own.input().name(), "a");
}

TEST(Functional, PrintsATableAndAPicture) {
  SymbolicTensor x = Input({3}, {.name = "x"});
  layers::Dense shared(3);
  models::Functional model(x, layers::Dense(1000)(shared(x) + shared(shared(x))));
  model.get_layer("dense").set_trainable(false);
  EXPECT_EQ(model.summary(), R"(Model: "functional"
Layer (type)     Output           Param #  Connected to
-------------------------------------------------------
x (input)        float32[?,3]           0
dense (dense)    float32[?,3]          12  x
dense (dense)    float32[?,3]           0  x
dense (dense)    float32[?,3]           0  dense
add (add)        float32[?,3]           0  dense, dense
dense_1 (dense)  float32[?,1000]    4,000  add
-------------------------------------------------------
Total params: 4,012
Trainable params: 4,000
Non-trainable params: 12
)");
  EXPECT_CONTAINS(model.dot(), "\"add\" -> \"dense_1\"");
  Sequential net{layers::Dense(2), layers::Dropout(0.5)};
  EXPECT_EQ(net.summary(), R"(Model: "sequential"
Layer (type)       Output      Param #
--------------------------------------
dense (dense)      ?       0 (unbuilt)
dropout (dropout)  ?       0 (unbuilt)
--------------------------------------
Total params: 0
Trainable params: 0
Non-trainable params: 0
)");
  layers::Dense known(4);
  known(ones({1, 2}));
  EXPECT_CONTAINS(Sequential({known, layers::Dense(2)}).summary(), "12\ndense_1 (dense)  ?       0 (unbuilt)\n");
  EXPECT_CONTAINS(Sequential({known, layers::Dense(2)}).summary(), "Total params: 12\nTrainable params: 12\n");
  net(ones({1, 3}));
  EXPECT_EQ(net.summary(), R"(Model: "sequential"
Layer (type)       Output        Param #
----------------------------------------
dense (dense)      float32[?,2]        8
dropout (dropout)  float32[?,2]        0
----------------------------------------
Total params: 8
Trainable params: 8
Non-trainable params: 0
)");
  net.build({7, 3});
  EXPECT_CONTAINS(net.summary(), "dense (dense)      float32[7,2]        8\n");
}

TEST(Sequential, IsAPictureOfAChain) {
  layers::Dense twice(3);
  Sequential net{twice, layers::Dropout(0.5), twice};
  EXPECT_EQ(net.dot(), R"dot(digraph model {
  node [shape=box];
  "input" [label="input (input)"];
  "dense" [label="dense (dense)"];
  "dropout" [label="dropout (dropout)"];
  "dense" [label="dense (dense)"];
  "input" -> "dense";
  "dense" -> "dropout";
  "dropout" -> "dense";
}
)dot");
  EXPECT_EQ(Sequential({Input({2}, {.name = "x"}), layers::Dense(1)}).dot(), R"dot(digraph model {
  node [shape=box];
  "x" [label="x (input)\nfloat32[?,2]"];
  "dense" [label="dense (dense)\nfloat32[?,1]"];
  "x" -> "dense";
}
)dot");
}

TEST(Sequential, HasAGraphAfterItsFirstCall) {
  Sequential net{layers::Dense(3, {.activation = "relu"}), layers::Dense(2)};
  EXPECT_MISUSE(StateError, net.input(), "sequential: there is no graph of its layers before a first call, build()");
  Tensor x = random::normal({4, 5});
  Tensor y = net(x);
  EXPECT_EQ(net.input().shape().str(), "[?,5]");
  EXPECT_EQ(net.output().shape().str(), "[?,2]");
  models::Functional features(net.input(), {net.get_layer(0).output(), net.output()});
  Tensors all = features.apply(x);
  expectNear(all[1], valuesOf(y), 1e-6);
  EXPECT_EQ(all[0].shape(), (Shape{4, 3}));
  EXPECT_TRUE(net.input().same_as(net.input()));
  Sequential regular{layers::ActivityRegularization({.l1 = 1})};
  regular(ones({2, 3}));
  EXPECT_CONTAINS(regular.summary(), "float32[?,3]");
  regular.get_layer(0)(ones({2, 4}));
  EXPECT_CONTAINS(regular.summary(), "float32[?,3]");
  EXPECT_EQ(regular.get_layer(0).losses()[0].item<float>(), 4) << "of its latest call, not of the graph";
  // It is no input of the config: a model of the file takes others, too.
  EXPECT_FALSE(layers::serialize(net).at("config").as<Config>().find("input"));
  // With another layer it is another.
  net.add(layers::Dense(1));
  net(x);
  EXPECT_EQ(net.output().shape().str(), "[?,1]");
  // get_layer() comes first, after a call in a trace, and the batch must be known.
  struct Counts : layers::LayerBody {
    Counts() : LayerBody("counts", false) {}
    Tensor call(const Tensor &x, const layers::CallOptions &) override { return x + std::int64_t(x.shape()[0]); }
  };
  Sequential counts{layers::Dense(4), std::make_shared<Counts>()};
  function([&](const Tensor &x) { return counts(x); })(ones({2, 3}));
  EXPECT_EQ(counts.get_layer("counts").output().shape().str(), "[2,4]");
  // What can't be traced has none, and still a table.
  struct Reads : layers::LayerBody {
    Reads() : LayerBody("reads", false) {}
    Tensor call(const Tensor &x, const layers::CallOptions &) override { return x * sum(x).item<float>(); }
  };
  Sequential reads{std::make_shared<Reads>()};
  reads(x);
  EXPECT_CONTAINS(reads.summary(), "reads (reads)  ?             0\n");
  EXPECT_CONTAINS(errorOf<StateError>([&] { reads.input(); }), "the elements of a traced tensor are not known");
}

namespace {
struct ProbeBody : layers::LayerBody {
  ProbeBody() : LayerBody("probe") {}
  void build(const Shape &input, DType dtype) override { factor = weight("factor", {input.back()}, dtype, ones); }
  Tensor call(const Tensor &x, const layers::CallOptions &) override { return x * factor; }
  Variable factor{nullptr};
};
} // namespace

TEST(Layer, HasANameByItsClass) {
  layers::Layer a(std::make_shared<ProbeBody>()), b(std::make_shared<ProbeBody>());
  EXPECT_EQ(a.name(), "probe");
  EXPECT_EQ(b.name(), "probe_1");
  Tensor x = ones({2, 3});
  b(a(x));
  EXPECT_EQ(a.variables()[0].name(), "probe/factor");
  EXPECT_EQ(b.variables()[0].name(), "probe_1/factor");
  EXPECT_EQ(a.named_variables()[0].first, "factor") << "paths begin at the layer";
  optimizers::SGD sgd(0.1, {.momentum = 0.5});
  sgd.minimize([&] { return sum(b(a(x))); }, {a.variables()[0], b.variables()[0]});
  EXPECT_EQ(sgd.named_variables()[2].first, "momentum/probe/factor");
  EXPECT_EQ(sgd.named_variables()[3].first, "momentum/probe_1/factor");
  // Messages and configs have only the names that were given.
  EXPECT_EQ(layers::Dense(2).get_config().at("name").as<std::string>(), "");
  EXPECT_CONTAINS(layers::Dense(2).name(), "dense");
  EXPECT_EQ(layers::Dense(2, {.name = "mine"}).name(), "mine");
}

TEST(Functional, NamesItsLayersByTheirClasses) {
  for (int again = 0; again < 2; ++again) {
    SymbolicTensor in = Input({4});
    layers::Dense a(3), b(2);
    models::Functional model(in, b(a(in)));
    std::vector<std::string> names;
    for (const Variable &variable : model.variables())
      names.push_back(variable.name());
    EXPECT_EQ(names, (std::vector<std::string>{"dense/kernel", "dense/bias", "dense_1/kernel", "dense_1/bias"}));
    EXPECT_EQ(b.name(), "dense_1");
    optimizers::SGD sgd(0.1, {.momentum = 0.5});
    sgd.build(model.trainable_variables());
    EXPECT_EQ(sgd.named_variables()[2].first, "momentum/dense/kernel");
    EXPECT_EQ(sgd.named_variables()[3].first, "momentum/dense/bias");
  }
  // Of a layer that has its variables before, and of one in another module.
  layers::Dense built(2), part(2);
  built(ones({1, 3}));
  struct Net : Model {
    explicit Net(const layers::Dense &dense) { submodule("head", dense); }
  };
  part(ones({1, 3}));
  Net net(part);
  EXPECT_EQ(part.variables()[0].name(), "head/kernel");
  Sequential chain{built};
  EXPECT_EQ(built.variables()[1].name(), "dense/bias");
  // A name that was given stays.
  layers::Dense given(2, {.name = "mine"});
  Sequential{layers::Dense(1), given};
  EXPECT_EQ(given.name(), "mine");
}

TEST(Functional, MisuseNamesTheLine) {
  SymbolicTensor x = Input({3}, {.name = "x"}), y = Input({3}, {.name = "y"});
  layers::Dense dense(2);
  SymbolicTensor z = dense(layers::Add()({x, y}));
  EXPECT_MISUSE(ValueError, models::Functional(x, z),
                "functional: an output needs the input 'y' of type float32[?,3], which is not among the inputs");
  SymbolicTensor nameless = layers::Add()({x, Input({3})});
  EXPECT_MISUSE(ValueError, models::Functional(x, nameless),
                "functional: an output needs the input 'input' of type float32[?,3]");
  EXPECT_MISUSE(ValueError, models::Functional(z, z), "functional: an input is the result of the layer 'dense'");
  EXPECT_MISUSE(ValueError, models::Functional({x, x}, z), "functional: an input is given twice");
  EXPECT_MISUSE(ValueError, models::Functional({x, y}, SymbolicTensors()), "functional: there are no outputs");
  models::Functional model({x, y}, z);
  EXPECT_MISUSE(ValueError, model(ones({2, 3})), "functional: takes 2 inputs, and there are 1");
  EXPECT_MISUSE(ShapeError, model({ones({2, 3}), ones({2, 4})}),
                "functional: the input 'y' takes float32[?,3], and is given float32[2,4]");
  EXPECT_MISUSE(DTypeError, model({ones({2, 3}), ones({2, 3}, DType::Float64)}), "and is given float64[2,3]");
  EXPECT_MISUSE(LookupError, model.predict({{"x", ones({2, 3})}, {"z", ones({2, 3})}}),
                "functional: there is an argument 'z', and no input of that name: there are x, y");
  EXPECT_MISUSE(LookupError, model.predict({{"p", ones({2, 3})}, {"q", ones({2, 3})}}),
                "functional: there is an argument 'p', and no input of that name: there are x, y");
  EXPECT_MISUSE(ShapeError, layers::Conv2D(2, 3)(x),
                "conv2d: takes inputs of rank 4, channels last; this one has shape [?,3]");
  EXPECT_MISUSE(LookupError, model.get_layer("conv"), "functional: there is no layer 'conv'; there are 'add', 'dense'");
  EXPECT_MISUSE(IndexError, model.get_layer(2), "functional: there is no layer 2 of 2");
  EXPECT_MISUSE(IndexError, model.get_layer(-3), "functional: there is no layer -3 of 2");
  EXPECT_EQ(model.get_layer(-1).body(), model.get_layer(1).body());
  EXPECT_EQ(model.get_layer(-2).body(), model.get_layer(0).body());
  EXPECT_MISUSE(ValueError, model.input(), "tensors: 1 asked for, and there are 2");
  EXPECT_MISUSE(StateError, layers::Dense(2).output(), "dense: is in no graph of layers");
  EXPECT_MISUSE(ValueError, model.get_layer("add").input(), "add 'add': has 2 inputs, not one");
  layers::LSTM lstm(2, {.return_state = true});
  SymbolicTensors states = lstm.apply(Input({3, 2}));
  EXPECT_MISUSE(ValueError, lstm.output(), "lstm: has 3 results, not one");
  EXPECT_MISUSE(ValueError, lstm(Input({3, 2})), "lstm: gives 3 results; apply() returns all of them");
  EXPECT_MISUSE(IndexError, states.at(3), "tensors: there is no number 3 of 3");
  EXPECT_MISUSE(LookupError, model.inputs().at("z"), "tensors: there is no 'z'; there are 'x', 'y'");
  EXPECT_MISUSE(StateError, Sequential{layers::Flatten()}.output(), "sequential: there is no graph of its layers");
  EXPECT_MISUSE(ValueError, (Sequential{layers::Flatten(), x}), "sequential: an input must be the first part");
  EXPECT_MISUSE(ValueError, Sequential({z}), "sequential: an input is the result of the layer 'dense'");
}

namespace {
struct Block : Module {
  explicit Block(double by) : scale(variable("scale", full({}, by))) {}
  Variable scale;
  Tensor operator()(const Tensor &x) const { return x * scale; }
};
} // namespace

TEST(Sequential, TakesModulesOfTheUsersAndAnInput) {
  auto block = std::make_shared<Block>(3);
  Sequential net{Input({2}), layers::Dense(2, {.kernel_initializer = initializers::Identity()}), block};
  EXPECT_TRUE(net.layers()[0].built()) << "the input says what it is built for";
  EXPECT_EQ(net.output().shape().str(), "[?,2]");
  expectValues(net(ones({1, 2})), {3, 3});
  EXPECT_EQ(net.named_variables().back().first, "module/scale");
  EXPECT_TRUE(net.variables().back().same_as(block->scale));
  EXPECT_MISUSE(StateError, net.add(std::shared_ptr<Block>()), "module");
}

TEST(Sequential, TakesWhatItsInputSays) {
  Sequential model{Input({4}), layers::Dense(2)};
  EXPECT_EQ(model(ones({3, 4})).shape(), (Shape{3, 2}));
  EXPECT_MISUSE(ShapeError, model(ones({3, 5, 4})),
                "sequential: its input takes float32[?,4], and is given float32[3,5,4]");
  layers::Layer again = layers::deserialize(layers::serialize(model));
  EXPECT_MISUSE(ShapeError, again(ones({3, 5, 4})), "sequential: its input takes float32[?,4]");
  // One that was only built takes what its layers take.
  Sequential built{layers::Dense(2)};
  built.build({kDynamic, 4});
  EXPECT_EQ(built(ones({3, 5, 4})).shape(), (Shape{3, 5, 2}));
  EXPECT_EQ(layers::deserialize(layers::serialize(built))(ones({3, 5, 4})).shape(), (Shape{3, 5, 2}));
}
