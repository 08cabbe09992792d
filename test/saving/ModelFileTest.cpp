// Whole models in files: structure, weights, optimiser, the options of compile().
#include "calque/safetensors.h"
#include "test/training/Idx.h"
#include "test/training/Testing.h"

#include <fstream>

using namespace calque;
using namespace calque::testing;

namespace {

Tensor points(std::int64_t count, std::int64_t columns) {
  return sin(reshape(iota({count * columns}, DType::Float32), {count, columns}) * 1.7f);
}

std::vector<std::vector<double>> stateOf(const ModelHandle &model) {
  std::vector<std::vector<double>> values;
  for (const auto &[name, variable] : model.named_variables())
    values.push_back(valuesOf(variable.value()));
  if (model.model().compiled())
    for (const auto &[name, variable] : model.optimizer().named_variables())
      values.push_back(valuesOf(variable.value()));
  return values;
}

// Trained on, both have the same bits.
void expectTrainsOn(const ModelHandle &model, const ModelHandle &loaded, const Tensors &x, const Tensors &y) {
  ASSERT_EQ(stateOf(loaded), stateOf(model));
  for (int i = 0; i < 2; ++i) {
    const Logs expected = model.train_on_batch(x, y), actual = loaded.train_on_batch(x, y);
    EXPECT_EQ(actual.str(), expected.str());
    EXPECT_EQ(actual.names(), expected.names());
  }
  EXPECT_EQ(stateOf(loaded), stateOf(model));
}

// A layer of one's own, and a model.
struct ScaleBody : layers::LayerBody {
  explicit ScaleBody(double start) : LayerBody("scale"), start(start) {}
  using Module::set_name;
  void build(const Shape &input, DType dtype) override {
    factor = weight("factor", {input.back()}, dtype, initializers::Constant(start));
  }
  Tensor call(const Tensor &x, const layers::CallOptions &) override { return x * factor; }
  Config get_config() const override { return {{"name", name()}, {"start", start}}; }
  double start;
  Variable factor{nullptr};
};

struct Own : Model {
  explicit Own(std::int64_t units) : Model("own"), units(units) {}
  std::int64_t units;
  layers::Dense hidden = submodule("hidden", layers::Dense(units, {.activation = "tanh"}));
  layers::Dropout dropout = submodule("dropout", layers::Dropout(0.25));
  layers::Layer scale = submodule("scale", layers::Layer(std::make_shared<ScaleBody>(2)));
  layers::Dense head = submodule("head", layers::Dense(1));
  Tensor call(const Tensor &x, const layers::CallOptions &options) override {
    return head(scale(dropout(hidden(x), options)));
  }
  Config get_config() const override { return {{"units", units}}; }
};

struct Unknown : Model {
  Unknown() : Model("unknown") {}
  layers::Dense head = submodule("head", layers::Dense(1));
  Tensor call(const Tensor &x, const layers::CallOptions &) override { return head(x); }
  Config get_config() const override { return {}; }
};

struct Tilted : losses::Loss {
  explicit Tilted(double slope, losses::LossOptions options = {.name = "tilted"})
      : Loss(std::move(options)), slope(slope) {}
  Tensor call(const Tensor &y_true, const Tensor &y_pred) const override {
    return mean(abs(y_true - y_pred), {-1}) * slope;
  }
  Config own_config() const override { return {{"slope", slope}}; }
  double slope;
};

struct PositivesBody : metrics::MetricBody {
  explicit PositivesBody(double least) : MetricBody("positives"), least(least) {}
  void update(const Tensor &, const Tensor &y_pred, const std::optional<Tensor> &) override {
    count.assign_add(sum(cast(y_pred > least, DType::Float64)));
  }
  Tensor compute() const override { return count.value(); }
  Config own_config() const override { return {{"least", least}}; }
  double least;
  Variable count = variable("count", zeros({}, DType::Float64), false);
};

Tensor worst(const Tensor &y_true, const Tensor &y_pred) { return max(abs(y_true - y_pred), {-1}); }

// What a program makes known before it saves or loads such classes.
void registerAll() {
  static const bool done = [] {
    layers::register_layer<ScaleBody>("Scale", [](const Config &config) {
      auto body = std::make_shared<ScaleBody>(config["start"].as<double>());
      body->set_name(config["name"].as<std::string>());
      return layers::Layer(body);
    });
    layers::register_layer<Own>("Own", [](const Config &config) {
      return ModelHandle(std::make_shared<Own>(config["units"].as<std::int64_t>()));
    });
    losses::register_loss<Tilted>("TiltedLoss", [](const Config &own, losses::LossOptions options) {
      return Tilted(own["slope"].as<double>(), std::move(options));
    });
    losses::register_loss("worst_error", worst);
    metrics::register_metric("largest_error", worst);
    metrics::register_metric<PositivesBody>("Positives", [](const Config &own, const std::string &, DType) {
      return metrics::Metric(std::make_shared<PositivesBody>(own["least"].as<double>()));
    });
    return true;
  }();
  static_cast<void>(done);
}

} // namespace

TEST(ModelFile, SequentialTrainsOn) {
  TemporaryDirectory directory;
  set_seed(3);
  Sequential model({layers::Dense(8, {.activation = "relu", .kernel_regularizer = regularizers::l2(1e-3)}),
                    layers::BatchNormalization(), layers::Dropout(0.5), layers::Dense(3)});
  model.compile({.optimizer = optimizers::Adam(schedules::CosineDecay(0.05, 30), {}, {.global_clipnorm = 1}),
                 .loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {"accuracy"}});
  Tensor x = points(24, 4), y = cast(argmax(points(24, 3)), DType::Int32);
  model.fit(x, y, {.batch_size = 8, .epochs = 2, .verbose = 0});
  model.save(directory.file("new/net")); // the folder is made
  ModelHandle loaded = load_model(directory.file("new/net.safetensors"));
  EXPECT_EQ(valuesOf(loaded.predict(x)[0]), valuesOf(model.predict(x)[0]));
  EXPECT_EQ(loaded.summary().find("float32[?,3]") != std::string::npos, true);
  // By batches as before: the code for any size that another one would get adds in another order on some CPUs.
  const Tensor few = slice(x, {0, 0}, {8, 4}), labels = slice(y, {0}, {8});
  expectTrainsOn(model, loaded, few, labels);
  // What was loaded is saved as any other.
  loaded.save(directory.file("again"));
  expectTrainsOn(model, load_model(directory.file("again")), few, labels);
}

TEST(ModelFile, TwoAndTwoEpochsAreFour) {
  TemporaryDirectory directory;
  Tensor x = points(30, 4), y = points(30, 1);
  auto made = [] {
    set_seed(7);
    Sequential model({Input({4}), layers::Dense(8, {.activation = "tanh"}), layers::Dropout(0.3), layers::Dense(1)});
    model.compile({.optimizer = "adam", .loss = "mse"});
    return model;
  };
  Sequential whole = made();
  whole.fit(x, y, {.batch_size = 8, .epochs = 4, .verbose = 0});
  Sequential half = made();
  half.fit(x, y, {.batch_size = 8, .epochs = 2, .verbose = 0});
  half.save(directory.file("half"));
  set_seed(99);
  const std::vector<double> before = valuesOf(random::global_generator().state().value());
  load_model(directory.file("half"));
  EXPECT_EQ(valuesOf(random::global_generator().state().value()), before); // unless it is asked for
  ModelHandle rest = load_model(directory.file("half"), {.restore_generator = true});
  rest.fit(x, y, {.batch_size = 8, .epochs = 4, .verbose = 0, .initial_epoch = 2});
  EXPECT_EQ(stateOf(rest), stateOf(whole));
  EXPECT_EQ(rest.history().epoch, (std::vector<std::int64_t>{2, 3}));
}

TEST(ModelFile, GraphsWithSharedAndNestedLayers) {
  TemporaryDirectory directory;
  set_seed(5);
  Sequential tower({Input({4}), layers::Dense(8, {.activation = "relu", .name = "hidden"}), layers::Dropout(0.2)});
  SymbolicTensor left = Input({4}, {.name = "left"}), right = Input({4}, {.name = "right"});
  SymbolicTensor difference = tower(left) - tower(right);
  layers::Dense twice(8, {.name = "twice"});
  models::Functional model({left, right},
                           {{"same", layers::Dense(1, {.activation = "sigmoid", .name = "same"})(difference)},
                            {"code", twice(twice(difference)) * 0.5}},
                           {.name = "pair"});
  model.get_layer("twice").set_trainable(false);
  model.compile({.optimizer = optimizers::SGD(0.1, {.momentum = 0.9}),
                 .loss = {{"same", "binary_crossentropy"}, {"code", losses::AnyLoss(losses::mean_absolute_error)}},
                 .metrics = std::map<std::string, MetricsOption::List>{{"same", {"accuracy", metrics::AUC()}}},
                 .loss_weights = {{"same", 1.0}, {"code", 0.25}}});
  Tensors x = {{"left", points(6, 4)}, {"right", cos(points(6, 4))}};
  Tensors y = {{"same", cast(points(6, 1) > 0, DType::Float32)}, {"code", points(6, 8)}};
  model.train_on_batch(x, y);
  model.save(directory.file("pair"));
  ModelHandle loaded = load_model(directory.file("pair"));
  EXPECT_EQ(loaded.name(), "pair");
  EXPECT_EQ(loaded.trainable_variables().size(), model.trainable_variables().size());
  expectTrainsOn(model, loaded, x, y);
}

// A layer that a model and models inside of it share is one, before and after.
TEST(ModelFile, LayersSharedWithNestedModelsStayOne) {
  TemporaryDirectory directory;
  set_seed(9);
  layers::Dense tied(4, {.activation = "tanh", .name = "tied"});
  Sequential inner({Input({4}), tied, layers::Dense(4)}, SourceLocation());
  SymbolicTensor at = Input({4});
  models::Functional middle({at}, {inner(at) + tied(at)}, {.name = "middle"});
  SymbolicTensor x = Input({4}), rows = Input({3, 4});
  models::Functional model({x, rows},
                           {layers::Dense(1)(tied(x) + inner(x) + middle(x) +
                                             layers::GlobalAveragePooling1D()(layers::TimeDistributed(tied)(rows)))},
                           {.name = "outer"});
  ASSERT_EQ(model.variables().size(), 6u);
  model.compile({.optimizer = optimizers::Adam(0.1), .loss = "mse"});
  Tensors given = {points(6, 4), reshape(points(18, 4), {6, 3, 4})}, y = {points(6, 1)};
  model.train_on_batch(given, y);
  model.save(directory.file("net"));
  ModelHandle loaded = load_model(directory.file("net"));
  EXPECT_EQ(loaded.variables().size(), 6u);
  expectTrainsOn(model, loaded, given, y);
  EXPECT_EQ(valuesOf(loaded.predict(given)), valuesOf(model.predict(given)));

  // By configs alone, where a layer that occurs once has no number, and that of a model inside is read by itself.
  const Config config = layers::serialize(model);
  layers::Layer made = layers::deserialize(Config::parse(config.str()));
  EXPECT_EQ(layers::serialize(made), config);
  const auto &copy = dynamic_cast<const Model &>(*made.body());
  EXPECT_EQ(copy.variables().size(), 6u);
  const layers::Layer innerCopy = copy.get_layer("sequential"), tiedCopy = copy.get_layer("tied");
  EXPECT_TRUE(dynamic_cast<const Model &>(*innerCopy.body()).layers()[0].same_as(tiedCopy));
  EXPECT_FALSE(tiedCopy.same_as(tied));
  EXPECT_EQ(layers::serialize(inner).str().find("shared_object_id"), std::string::npos);
  layers::Layer alone = layers::deserialize(layers::serialize(innerCopy));
  EXPECT_FALSE(dynamic_cast<const Model &>(*alone.body()).layers()[0].same_as(tiedCopy));
}

// The copies of a layer that a Bidirectional makes are its own, wherever the layer occurs.
TEST(ModelFile, LayersOfWrappersInSharedConfigs) {
  layers::LSTM lstm(3, {.return_sequences = true, .name = "lstm"});
  SymbolicTensor x = Input({5, 2});
  models::Functional inner({x}, {layers::Bidirectional(lstm)(x)});
  models::Functional model({x}, {layers::Concatenate()({lstm(x), inner(x), layers::Bidirectional(lstm)(x)})});
  layers::Layer made = layers::deserialize(layers::serialize(model));
  EXPECT_EQ(dynamic_cast<const Model &>(*made.body()).variables().size(), model.variables().size());
}

TEST(ModelFile, LayersOfAllFamiliesTrainOn) {
  TemporaryDirectory directory;
  auto check = [&](const ModelHandle &model, const Tensors &x, const Tensors &y) {
    model.compile({.optimizer = optimizers::Nadam(0.01), .loss = "mse"});
    model.train_on_batch(x, y);
    model.save(directory.file("net"));
    expectTrainsOn(model, load_model(directory.file("net")), x, y);
  };
  set_seed(11);
  Tensor words = cast(iota({4 * 6}, DType::Int64) * 7 % 9, DType::Int32);
  check(Sequential({layers::Embedding(9, 4, {.mask_zero = true}),
                    layers::Bidirectional(layers::GRU(3, {.dropout = 0.25, .return_sequences = true})),
                    layers::TimeDistributed(layers::Dense(4)), layers::SimpleRNN(3), layers::PReLU(),
                    layers::GaussianNoise(0.1), layers::Dense(1)}),
        reshape(words, {4, 6}), points(4, 1));
  layers::Normalization normalization;
  Tensor images = reshape(points(3, 8 * 8 * 2), {3, 8, 8, 2});
  normalization.adapt(images);
  check(Sequential({layers::Rescaling(0.5, 1), normalization, layers::SeparableConv2D(4, 3),
                    layers::GroupNormalization({.groups = 2}), layers::SpatialDropout2D(0.25),
                    layers::DepthwiseConv2D(2, {.strides = 2}), layers::LeakyReLU(), layers::UpSampling2D(),
                    layers::GlobalAveragePooling2D(),
                    layers::Dense(1, {.kernel_initializer = initializers::RandomNormal({.stddev = 0.1, .seed = 5})})}),
        images, points(3, 1));
  SymbolicTensor x = Input({5, 4});
  SymbolicTensor attended = layers::MultiHeadAttention(2, 3, {.dropout = 0.25})({x, x});
  check(models::Functional(x, layers::Dense(1)(layers::Flatten()(layers::Add()({x, attended})))),
        reshape(points(2, 20), {2, 5, 4}), points(2, 1));
}

TEST(ModelFile, ClassesAndFunctionsOfOnesOwn) {
  registerAll();
  TemporaryDirectory directory;
  set_seed(5);
  ModelHandle model(std::make_shared<Own>(5));
  model.compile({.optimizer = optimizers::AdamW(0.01),
                 .loss = Tilted(2.5),
                 .metrics = {"largest_error", metrics::Metric(std::make_shared<PositivesBody>(0.25)),
                             metrics::get("largest_error").name() == "largest_error" ? "mae" : "mse"}});
  Tensor x = points(6, 4), y = points(6, 1);
  model.train_on_batch(x, y); // builds it
  dynamic_cast<Own &>(model.model()).hidden.set_trainable(false);
  model.optimizer().exclude_from_weight_decay({}, {"bias"});
  model.train_on_batch(x, y);
  model.save(directory.file("own"));
  ModelHandle loaded = load_model(directory.file("own"));
  auto &own = dynamic_cast<Own &>(loaded.model());
  EXPECT_EQ(own.units, 5);
  EXPECT_TRUE(own.head.built());
  EXPECT_FALSE(own.hidden.trainable());
  EXPECT_TRUE(own.head.trainable());
  EXPECT_EQ(loaded.optimizer().excluded_from_weight_decay(loaded.variables()).size(), 2u);
  model.compile({.optimizer = model.optimizer(), .loss = Tilted(2.5), .metrics = {"largest_error"}});
  model.save(directory.file("own"));
  expectTrainsOn(model, load_model(directory.file("own")), x, y);
  // A model that is a variable of the program, built by a call by hand.
  Own plain(3);
  plain(x);
  plain.compile({.optimizer = "sgd", .loss = "worst_error"});
  plain.save(directory.file("plain"));
  ModelHandle same = load_model(directory.file("plain"));
  EXPECT_EQ(valuesOf(same.predict(x)[0]), valuesOf(plain(x)));
  EXPECT_FALSE(load_model(directory.file("plain"), {.compile = false}).model().compiled());
}

TEST(ModelFile, WhatHasNoNameIsRefusedBeforeTheFileIsTouched) {
  registerAll();
  TemporaryDirectory directory;
  const std::string file = directory.file("net");
  Sequential good({Input({2}), layers::Dense(1)});
  good.save(file);
  const auto written = std::filesystem::last_write_time(file + ".safetensors");
  auto compiled = [](CompileOptions options) {
    Sequential model({Input({2}), layers::Dense(1)});
    model.compile(std::move(options));
    return model;
  };
  Sequential nameless = compiled({.loss = [](const Tensor &y, const Tensor &p) { return mean(abs(y - p), {-1}); }});
  EXPECT_MISUSE(
      StateError, nameless.save(file),
      "serialize: the loss 'loss' is a function or a class that has no name; register_loss() gives it one, and use "
      "that");
  Sequential metric = compiled({.loss = "mse", .metrics = {metrics::MeanMetricWrapper(worst, "mine")}});
  EXPECT_MISUSE(StateError, metric.save(file),
                "serialize: the metric 'mine' is of a function or a class that has no name; register_metric() gives it "
                "one, and use that");
  Sequential schedule = compiled({.optimizer = optimizers::SGD([](const Tensor &step) { return 0.1 / (step + 1); })});
  EXPECT_MISUSE(StateError, schedule.save(file),
                "schedule: a function of the step has no config; give it a name by register_schedule(), and use "
                "schedules::Schedule(name)");
  // Options of layers say which layer they are of.
  Sequential own(
      {Input({2}), layers::Dense(1), layers::Dense(1, {.activation = [](const Tensor &x) { return x * 2; }})});
  EXPECT_MISUSE(StateError, own.save(file),
                "dense 'dense_1': activation: a callable has no config; give it a name by "
                "register_activation(), and use that");
  SymbolicTensor in = Input({2});
  models::Functional graph(in, layers::Dense(1, {.kernel_regularizer = [](const Tensor &x) { return sum(x); },
                                                 .name = "head"})(Sequential({layers::Dense(2)})(in)));
  EXPECT_MISUSE(StateError, graph.save(file), "dense 'head': regularizer: a callable has no config");
  Sequential lambda({Input({2}), layers::Lambda([](const Tensor &x) { return x * 2; }, {.name = "twice"})});
  EXPECT_MISUSE(StateError, lambda.save(file), "lambda 'twice': a callable has no config; make a class of it");
  Unknown unknown;
  unknown(ones({1, 2}));
  EXPECT_MISUSE(StateError, unknown.save(file), "serialize: the class of the layer 'unknown' is not known");
  Sequential infinite = compiled({.loss = "mse", .loss_weights = std::numeric_limits<double>::infinity()});
  EXPECT_MISUSE(ValueError, infinite.save(file), "config: JSON has no number inf, which compile.loss_weights.all is");
  Sequential unbuilt({layers::Dense(1)});
  EXPECT_MISUSE(StateError, unbuilt.save(file), "dense 'dense': its variables are not made yet");
  EXPECT_MISUSE(ValueError, good.save(file, {.overwrite = false}),
                "save: " + file + ".safetensors is there already, and overwrite is off");
  EXPECT_EQ(std::filesystem::last_write_time(file + ".safetensors"), written);
  EXPECT_MISUSE(DataError, good.save(file + ".safetensors/x"), "the directory can't be made: ");
  auto traced = function([&](const Tensor &x) {
    good.save(file);
    return x;
  });
  EXPECT_CONTAINS(errorOf<StateError>([&] { traced(ones({1})); }), "write: a checkpoint holds values");
  EXPECT_MISUSE(ValueError, losses::register_loss("worst_error", worst),
                "register_loss: there is a loss 'worst_error' already");
  EXPECT_MISUSE(ValueError, losses::register_loss("mse", worst), "register_loss: there is a loss 'mse' already");
  EXPECT_MISUSE(ValueError, metrics::register_metric("mse", worst), "register_metric: there is a metric 'mse' already");
}

TEST(ModelFile, WhatTheProgramHasNotIsNamed) {
  TemporaryDirectory directory;
  const std::string file = directory.file("net.safetensors");
  Sequential model({Input({2}), layers::Dense(1)});
  model.compile({.optimizer = "adam", .loss = "mse", .metrics = {metrics::AUC()}});
  model.save(file);
  // The file as it would be of another program.
  std::map<std::string, Tensor> tensors = load_safetensors(file);
  const std::string structure = load_safetensors_metadata(file).at("structure");
  auto changed = [&](const std::string &from, const std::string &to) {
    std::string text = structure;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    Checkpoint other{{"structure", text}, {"model", model}, {"optimizer", model.optimizer()}};
    other.write(file);
  };
  changed("\"Dense\"", "\"Rotate\"");
  EXPECT_MISUSE(LookupError, load_model(file), "deserialize: there is no layer 'Rotate'; the nearest are ");
  changed("\"MeanSquaredError\"", "\"Pinball\"");
  EXPECT_MISUSE(LookupError, load_model(file),
                "deserialize: there is no loss 'Pinball'; register_loss() makes one of your own known");
  EXPECT_FALSE(load_model(file, {.compile = false}).model().compiled());
  changed("\"AUC\"", "\"Gini\"");
  EXPECT_MISUSE(LookupError, load_model(file),
                "deserialize: there is no metric 'Gini'; register_metric() makes one of your own known");
  changed("\"Adam\"", "\"Muon\"");
  EXPECT_MISUSE(LookupError, load_model(file), "deserialize: there is no optimizer 'Muon'");
  changed("\"sum_over_batch_size\"", "\"median\"");
  EXPECT_MISUSE(ValueError, load_model(file), "deserialize: a loss has no reduction 'median'");
  changed("\"version\":1", "\"version\":2");
  EXPECT_MISUSE(DataError, load_model(file), file + ": version 2 of models is not known; this is version 1");
  changed("\"Sequential\"", "\"Flatten\"");
  changed(structure, R"({"version":1,"model":{"class_name":"Flatten","config":{"name":"f"}}})");
  EXPECT_MISUSE(DataError, load_model(file), "\"Flatten\" is registered in this program as a layer that is no model");
  changed("\"units\":1", "\"units\":2");
  EXPECT_MISUSE(ShapeError, load_model(file), "kernel");
  // A file can't ask for more memory than it is long, or for more of the stack than there is.
  changed("\"units\":1", "\"units\":1000000000000");
  EXPECT_MISUSE(DataError, load_model(file), file + ": its structure has more weights than the ");
  changed(structure, "{\"version\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}");
  EXPECT_MISUSE(ValueError, load_model(file), "config: values are nested deeper than 500 levels");
  changed("\"name\":\"dense\"", "\"name\":\"other\"");
  EXPECT_MISUSE(DataError, load_model(file),
                file +
                    ": the model of its structure has 'model/other/kernel', 'model/other/bias', and the file has not");
  changed("\"layers\":[", "\"layers\":[],\"before\":[");
  EXPECT_MISUSE(DataError, load_model(file),
                file + ": it has 'model/dense/bias', 'model/dense/kernel', and the model of its structure has not");
  // Files that have no model.
  Checkpoint{{"model", model}}.write(file);
  EXPECT_MISUSE(DataError, load_model(file), file + ": this checkpoint has no model, as save() writes it");
  save_safetensors(file, tensors);
  EXPECT_MISUSE(DataError, load_model(file), file + ": this is no checkpoint");
  EXPECT_MISUSE(DataError, load_model(directory.file("none")), directory.file("none.safetensors") + ": ");
}

TEST(ModelFile, IsNotMixedWithWhatIsWrittenMeanwhile) {
  static std::string file;
  TemporaryDirectory directory;
  file = directory.file("net.safetensors");
  struct RewriterBody : layers::LayerBody {
    RewriterBody() : LayerBody("rewriter", false) {}
    Tensor call(const Tensor &x, const layers::CallOptions &) override { return x; }
    Config get_config() const override { return {}; }
  };
  layers::register_layer<RewriterBody>("Rewriter", [](const Config &) {
    Sequential({Input({2}), layers::Dense(1)}).save(file);
    return layers::Layer(std::make_shared<RewriterBody>());
  });
  Sequential model({Input({2}), layers::Layer(std::make_shared<RewriterBody>()), layers::Dense(1)});
  model.save(file);
  // The file is read once.
  const std::vector<std::vector<double>> saved = stateOf(model);
  ModelHandle loaded = load_model(file);
  EXPECT_EQ(stateOf(loaded), saved);
  EXPECT_NE(stateOf(load_model(file)), saved);
}

TEST(ModelFile, WeightsOfAModel) {
  TemporaryDirectory directory;
  Sequential model({Input({2}), layers::Dense(3), layers::Dropout(0.5), layers::Dense(1)});
  Sequential other({Input({2}), layers::Dense(3), layers::Dropout(0.5), layers::Dense(1)});
  model.compile({.optimizer = "adam", .loss = "mse"});
  model.train_on_batch(points(4, 2), points(4, 1));
  model.save(directory.file("net"));
  other.load_weights(directory.file("net"));
  EXPECT_EQ(valuesOf(other(points(4, 2))), valuesOf(model(points(4, 2))));
  // It is a checkpoint, which has its parts.
  Checkpoint{{"model", other}}.restore(directory.file("net")).expect_partial();
}

TEST(ModelFile, LossesAndMetricsHaveConfigs) {
  registerAll();
  using namespace losses;
  for (const AnyLoss &loss :
       std::vector<AnyLoss>{"mse",
                            MeanAbsoluteError({.reduction = Reduction::Sum, .name = "mine"}),
                            Huber({.delta = 2}),
                            "log_cosh",
                            losses::BinaryCrossentropy({.from_logits = true, .label_smoothing = 0.1}),
                            BinaryFocalCrossentropy({.gamma = 1, .apply_class_balancing = true}),
                            losses::CategoricalCrossentropy({.label_smoothing = 0.2}),
                            CategoricalFocalCrossentropy({.alpha = 0.5}),
                            losses::SparseCategoricalCrossentropy({.from_logits = true, .ignore_class = 255}),
                            losses::CosineSimilarity({.axis = 1}),
                            "kld",
                            "poisson",
                            "hinge",
                            "squared_hinge",
                            "categorical_hinge",
                            "mape",
                            "msle",
                            losses::mean_squared_error,
                            losses::binary_crossentropy,
                            "worst_error",
                            Tilted(3)}) {
    const Config config = serialize(loss);
    const AnyLoss same = deserialize(Config::parse(config.str()));
    EXPECT_EQ(serialize(same), config) << config.str();
    EXPECT_EQ(same.name(), loss.name());
    EXPECT_EQ(same.loss().reduction(), loss.loss().reduction());
  }
  EXPECT_EQ(losses::serialize(losses::Huber({.delta = 2})).str(),
            R"({"class_name":"Huber","config":{"name":"huber","reduction":"sum_over_batch_size","delta":2.0}})");
  EXPECT_EQ(losses::serialize(losses::mean_squared_error).str(), R"({"function":"mean_squared_error"})");
  EXPECT_MISUSE(ValueError, losses::deserialize(Config{{"class_name", "Huber"}, {"config", Config{{"deltas", 1}}}}),
                "Huber: its config has 'deltas', which is no option of it");
  using namespace metrics;
  std::vector<Metric> all = {metrics::BinaryAccuracy({.threshold = 0.25}, "b", DType::Float64),
                             metrics::TopKCategoricalAccuracy({.k = 2}),
                             metrics::SparseTopKCategoricalAccuracy({.k = 3}),
                             metrics::CosineSimilarity({.axis = 0}),
                             metrics::BinaryCrossentropy({.from_logits = true}),
                             metrics::CategoricalCrossentropy({.label_smoothing = 0.1}),
                             metrics::SparseCategoricalCrossentropy({.from_logits = true}),
                             metrics::Precision({.thresholds = {0.25, 0.5}, .class_id = 1}),
                             metrics::Recall({.top_k = 2}),
                             metrics::TruePositives({.thresholds = {0.5}}),
                             metrics::FalsePositives(),
                             metrics::TrueNegatives(),
                             metrics::FalseNegatives(),
                             metrics::AUC({.num_thresholds = 20, .curve = "PR"}),
                             metrics::F1Score({.average = "macro", .threshold = 0.5}),
                             metrics::R2Score({.class_aggregation = ""}),
                             metrics::ConfusionMatrix(4, {.ignore_class = 3}),
                             metrics::MeanIoU(3, {.sparse_y_pred = false}),
                             metrics::Mean("m"),
                             metrics::Sum(),
                             metrics::Metric(std::make_shared<PositivesBody>(2)),
                             metrics::get("largest_error")};
  for (const char *name : {"accuracy", "categorical_accuracy", "sparse_categorical_accuracy", "mse", "rmse", "mae",
                           "mape", "msle", "kld", "poisson", "log_cosh", "hinge", "squared_hinge", "categorical_hinge"})
    all.push_back(metrics::get(name));
  for (const Metric &metric : all) {
    const Config config = metrics::serialize(metric);
    const Metric same = metrics::deserialize(Config::parse(config.str()));
    EXPECT_EQ(metrics::serialize(same), config) << config.str();
    EXPECT_EQ(same.name(), metric.name());
    EXPECT_EQ(same.body()->dtype(), metric.body()->dtype());
  }
  EXPECT_MISUSE(LookupError, metrics::get("mean"), "metrics: no metric has the name 'mean'");
}

TEST(ModelFile, EveryByteAndEveryLengthIsFound) {
  TemporaryDirectory directory;
  const std::string file = directory.file("net.safetensors"), damaged = directory.file("damaged.safetensors");
  Sequential model({Input({1}), layers::Dense(1), layers::Dropout(0.5)});
  model.compile({.optimizer = optimizers::SGD(0.1, {.momentum = 0.5}), .loss = "mse"});
  model.train_on_batch(ones({2, 1}), ones({2, 1}));
  model.save(file);
  std::ifstream stream(file, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(stream)), {});
  const auto expected = stateOf(load_model(file));
  int found = 0;
  auto check = [&] {
    try {
      EXPECT_EQ(stateOf(load_model(damaged)), expected);
    } catch (const DataError &error) {
      ++found;
      if (!std::string(error.what()).starts_with(damaged))
        ADD_FAILURE() << error.what();
    }
  };
  std::filesystem::copy_file(file, damaged);
  {
    std::fstream at(damaged, std::ios::binary | std::ios::in | std::ios::out);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      at.seekp(static_cast<std::streamoff>(i)).put(static_cast<char>(bytes[i] ^ (1 << (i % 8)))).flush();
      check();
      at.seekp(static_cast<std::streamoff>(i)).put(bytes[i]).flush();
    }
  }
  EXPECT_EQ(found, static_cast<int>(bytes.size()));
  for (std::size_t length = bytes.size(); length-- > 0;) {
    std::filesystem::resize_file(damaged, length);
    check();
  }
  EXPECT_EQ(found, 2 * static_cast<int>(bytes.size()));
}
