// Models of several outputs in compile, fit and evaluate.
#include "test/training/Points.h"

using namespace calque;
using namespace calque::testing;

// Numbers of Keras 3.15.1: reference/sample_weights.py prints them.
TEST(Fit, WeighsTheExamplesOfEachOutput) {
  auto made = [] {
    SymbolicTensor x = Input({2});
    models::Functional model(
        x, {{"score", layers::Dense(1, {.kernel_initializer = ones, .name = "score"})(x)},
            {"kind", layers::Dense(2, {.kernel_initializer = initializers::Constant(0.5), .name = "kind"})(x)}});
    model.compile({.optimizer = optimizers::SGD(0.1),
                   .loss = "mse",
                   .metrics = {{"score", "mae"}},
                   .loss_weights = {{"score", 1.0}, {"kind", 0.5}},
                   .weighted_metrics = {{"score", "mse"}, {"kind", "mae"}}});
    return model;
  };
  const Tensor x = tensor<float>({1, 2, 3, 4, -1, 1, 2, 0}, {4, 2}), score = tensor<float>({1, 2, 3, 4}, {4, 1}),
               kind = tensor<float>({1, 0, 0, 1, 1, 1, 0, 0}, {4, 2});
  const Tensor a = tensor<float>({1, 2, 0, 3}), b = tensor<float>({0.5, 0, 4, 1});
  const Tensors y = {{"score", score}, {"kind", kind}};
  const std::vector<double> each{17.20312, 16.5, 1.40625, 3, 11, 1}, forAll{19.34375, 16.5, 5.6875, 3, 11, 1.666667},
      ofKind{11.20312, 10.5, 1.40625, 3, 10.5, 1}, second{43.03076, 42.495, 1.071521, 4.9, 28.33, 0.8693182};
  auto expect = [](const Logs &logs, const std::vector<double> &numbers) {
    std::size_t i = 0;
    for (const char *name : {"loss", "score_loss", "kind_loss", "score_mae", "score_mse", "kind_mae"}) {
      SCOPED_TRACE(name);
      EXPECT_NEAR(logs[name], numbers[i++], 1e-4);
    }
  };
  expect(made().evaluate(x, y, {.sample_weight = {{"score", a}, {"kind", b}}}), each);
  expect(made().evaluate(x, y, {.sample_weight = {{"kind", b}, {"score", a}}}), each);
  expect(made().evaluate(x, y, {.sample_weight = {a, b}}), each);
  expect(made().test_on_batch(x, {score, kind}, {.sample_weight = {a, b}}), each);
  expect(made().evaluate(x, y, {.sample_weight = a}), forAll);
  // An output without weights has 1 for each.
  expect(made().evaluate(x, y, {.sample_weight = {{"kind", b}}}), ofKind);
  // The weights after steps.
  auto expectTrained = [](const models::Functional &model) {
    expectNear(model.get_layer("score").weights()[0], {3.605, 2.01}, 1e-5);
    expectNear(model.get_layer("kind").weights()[0], {0.3543359, 0.3419141, 0.5791406, 0.5552344}, 1e-5);
  };
  models::Functional model = made();
  for (int step = 0; step < 2; ++step)
    expect(model.train_on_batch(x, y, {.sample_weight = {{"score", a}, {"kind", b}}}), step == 0 ? each : second);
  expectTrained(model);
  model = made();
  model.fit(
      x, y,
      {.batch_size = 4, .epochs = 2, .verbose = 0, .shuffle = false, .sample_weight = {{"kind", b}, {"score", a}}});
  expectTrained(model);
  // A data set, whose elements have maps, and one with a number for all.
  using Map = std::map<std::string, Tensor>;
  const Map targets{{"score", score}, {"kind", kind}};
  auto weighted = data::from_tensor_slices(std::tuple(x, targets, Map{{"score", a}, {"kind", b}})).batch(4);
  expect(made().evaluate(weighted), each);
  model = made();
  model.fit(weighted, {.epochs = 2, .verbose = 0});
  expectTrained(model);
  expect(made().evaluate(data::from_tensor_slices(std::tuple(x, targets, a)).batch(4)), forAll);
  // In batches of fewer examples and for validation, split off and given.
  History split = made().fit(
      x, y, {.batch_size = 1, .verbose = 0, .validation_split = 0.5, .shuffle = false, .sample_weight = {a, b}});
  EXPECT_TRUE(split.history.contains("val_score_loss"));
  History given =
      made().fit(x, y, {.verbose = 0, .validation_data = {x, y, {{"score", a}, {"kind", b}}}, .shuffle = false});
  History same = made().fit(x, y, {.verbose = 0, .validation_data = weighted, .shuffle = false});
  EXPECT_EQ(given.history.at("val_loss"), same.history.at("val_loss"));

  EXPECT_MISUSE(LookupError, made().evaluate(x, y, {.sample_weight = {{"score", a}, {"knd", b}}}),
                "evaluate: there are sample weights for 'knd', and the model has the outputs 'score', 'kind'");
  EXPECT_MISUSE(
      ValueError, made().evaluate(x, y, {.sample_weight = {a, b, a}}),
      "evaluate: the model has 2 outputs, and there are 3 tensors of sample weights; give one for all outputs, or one "
      "for each");
  EXPECT_MISUSE(ValueError, made().evaluate(x, y, {.sample_weight = {a, ones({3})}}),
                "evaluate: x float32[4,2] and sample_weight float32[3] have different numbers of examples");
  // Of one output, by its name too, with weights of classes.
  Sequential single = line();
  single.compile({.loss = "mse"});
  const Tensor labels = tensor<float>({1, 2}, {2, 1});
  const double expected = (2 * 1 + 3 * 4) / 2.0;
  EXPECT_EQ(single.train_on_batch(zeros({2, 2}), labels,
                                  {.sample_weight = {tensor<float>({2, 1})}, .class_weight = {{2, 3}}})["loss"],
            expected);
  EXPECT_MISUSE(ValueError,
                single.train_on_batch(zeros({2, 2}), labels, {.sample_weight = {a, b}, .class_weight = {{2, 3}}}),
                "train_on_batch: x float32[2,2] and sample_weight float32[4] have different numbers of examples");
  EXPECT_MISUSE(
      ValueError,
      single.train_on_batch(zeros({2, 2}), labels, {.sample_weight = {ones({2}), ones({2})}, .class_weight = {{2, 3}}}),
      "fit: class_weight is of one target, and there are 2 tensors of sample weights");
  SymbolicTensor in = Input({2});
  models::Functional named(in, {{"out", layers::Dense(1, {.kernel_initializer = zeros})(in)}});
  named.compile({.loss = "mse"});
  EXPECT_EQ(named.train_on_batch(zeros({2, 2}), labels,
                                 {.sample_weight = {{"out", tensor<float>({2, 1})}}, .class_weight = {{2, 3}}})["loss"],
            expected);
}

namespace {
// A trunk with two heads.
struct TwoHeads : Model {
  layers::Dense trunk = submodule("trunk", layers::Dense(4, {.activation = "relu"}));
  layers::Dense number = submodule("number", layers::Dense(1));
  layers::Dense kind = submodule("kind", layers::Dense(2));

protected:
  Tensors call_inputs(const Tensors &inputs, const layers::CallOptions &) override {
    Tensor h = trunk(inputs[0]);
    return {{"number", number(h)}, {"kind", kind(h)}};
  }
};
} // namespace

// As Keras' lists and dicts of lists.
TEST(Fit, TakesMetricsOfSeveralOutputsInBraces) {
  Points points(8);
  TwoHeads model;
  auto namesOf = [&](MetricsOption metrics) {
    losses::SparseCategoricalCrossentropy crossentropy({.from_logits = true});
    model.compile({.loss = {{"number", "mse"}, {"kind", crossentropy}}, .metrics = std::move(metrics)});
    std::string names;
    const Logs logs = model.evaluate(points.x, {points.y, points.label}, {.verbose = 0});
    for (const auto &[name, value] : logs)
      names += name.ends_with("loss") ? "" : name + " ";
    return names;
  };
  EXPECT_EQ(namesOf({{"kind", {"accuracy"}}}), "kind_accuracy ");
  EXPECT_EQ(namesOf({{"number", {"mae", "mse"}}, {"kind", {"accuracy"}}}), "kind_accuracy number_mae number_mse ");
  EXPECT_EQ(namesOf({{"number", "mae"}, {"kind", "accuracy"}}), "kind_accuracy number_mae ");
  EXPECT_EQ(namesOf({{"number", {metrics::MeanAbsoluteError("far")}},
                     {"kind", {"accuracy", metrics::SparseTopKCategoricalAccuracy({.k = 2}, "top")}}}),
            "kind_accuracy kind_top number_far ");
  EXPECT_EQ(namesOf({{"mae"}, {"accuracy"}}), "number_mae kind_accuracy ");
  EXPECT_EQ(namesOf({{"mae", "mse"}, {"accuracy"}}), "number_mae number_mse kind_accuracy ");
  EXPECT_EQ(namesOf({{}, {"accuracy"}}), "kind_accuracy ");
  EXPECT_EQ(namesOf({"mae", {"accuracy"}}), "number_mae kind_accuracy ");
  const MetricsOption::List list = {"mae"};
  EXPECT_EQ(namesOf({{"number", list}}), "number_mae ");
  EXPECT_EQ(namesOf({}), "");
  // Of one output.
  Sequential single{Input({1}), layers::Dense(1)};
  for (const MetricsOption &option : {MetricsOption("mae"), MetricsOption({"mae"}), MetricsOption({{"mae"}}),
                                      MetricsOption(list), MetricsOption({list}), MetricsOption(metrics::get("mae"))}) {
    single.compile({.loss = "mse", .metrics = option});
    EXPECT_EQ(single.evaluate(ones({2, 1}), ones({2, 1}), {.verbose = 0}).size(), 2u);
  }
  single.compile({.loss = "mse", .metrics = "mae"});
  EXPECT_MISUSE(LookupError, single.compile({.metrics = {"kind"}}), "metrics: no metric has the name 'kind'");
  EXPECT_MISUSE(LookupError, single.compile({.metrics = {{"kind", "mae", "mse"}}}), "no metric has the name 'kind'");
  EXPECT_MISUSE(ValueError, single.compile({.metrics = {{{"mae"}}, {"mse"}}}), "and in it stands another list");
  EXPECT_MISUSE(ValueError, single.compile({.metrics = {{"kind", {"mae"}}, {"kind", {"mse"}}}}),
                "compile: metrics has the output 'kind' twice");
}

TEST(Fit, TrainsSeveralOutputs) {
  Points points(12);
  TwoHeads model;
  losses::SparseCategoricalCrossentropy crossentropy({.from_logits = true});
  model.compile({.optimizer = optimizers::SGD(0.0),
                 .loss = {{"number", "mse"}, {"kind", crossentropy}},
                 .metrics = std::map<std::string, MetricsOption::List>{{"kind", {"accuracy"}}},
                 .loss_weights = {{"kind", 0.5}}});
  Tensors y = {{"kind", points.label}, {"number", points.y}};
  Logs logs = model.evaluate(points.x, y);
  EXPECT_EQ(logs.names(), "'loss', 'number_loss', 'kind_loss', 'kind_accuracy'");
  EXPECT_NEAR(logs["loss"], logs["number_loss"] + 0.5 * logs["kind_loss"], 1e-5);
  // By position, and an output that is not trained.
  model.compile({.optimizer = "sgd", .loss = {"mse", std::nullopt}});
  model.fit(points.x, {points.y, points.label}, {.verbose = 0});
  EXPECT_EQ(model.evaluate(points.x, Tensors{{"number", points.y}}).names(), "'loss'");
  model.compile({.loss = {{"size", "mse"}}});
  EXPECT_MISUSE(LookupError, model.fit(points.x, y, {.verbose = 0}),
                "compile: loss names the output 'size', and the model has 'number', 'kind'");
  model.compile({.loss = {"mse", "mse", "mse"}});
  EXPECT_MISUSE(ValueError, model.fit(points.x, y, {.verbose = 0}),
                "compile: loss has 3 entries, and the model 2 outputs");
  model.compile({.loss = "mse"});
  EXPECT_MISUSE(ValueError, model.fit(points.x, points.y, {.verbose = 0}),
                "fit: the model has 2 outputs, and there are 1 targets");
  EXPECT_MISUSE(LookupError, model.fit(points.x, Tensors{{"size", points.y}}, {.verbose = 0}),
                "fit: there is a target 'size', and the model has the outputs 'number', 'kind'");
  EXPECT_MISUSE(ValueError, model.fit(points.x, Tensors{{"number", points.y}}, {.verbose = 0}),
                "fit: the output 'kind' has a loss, and there is no target for it");
  model.compile({.loss = {"mse", std::nullopt}, .metrics = {"mae"}});
  EXPECT_MISUSE(ValueError, model.fit(points.x, {points.y, points.label}, {.verbose = 0}),
                "compile: metrics has 1 lists, and the model 2 outputs; give a list for each, or a map by their names");
  model.compile(
      {.loss = {"mse", std::nullopt}, .metrics = std::map<std::string, MetricsOption::List>{{"size", {"mae"}}}});
  EXPECT_MISUSE(LookupError, model.fit(points.x, {points.y, points.label}, {.verbose = 0}),
                "compile: metrics names the output 'size', which the model has not");
  model.compile(
      {.loss = {"mse", std::nullopt}, .metrics = std::map<std::string, MetricsOption::List>{{"kind", {"mae"}}}});
  EXPECT_MISUSE(ValueError, model.fit(points.x, Tensors{{"number", points.y}}, {.verbose = 0}),
                "fit: the output 'kind' has a metric, and there is no target for it");
}

// As in Keras.
TEST(Fit, LogsTheLossesOfOutputsWhereThereAreSeveral) {
  SymbolicTensor x = Input({2});
  models::Functional model(x, {{"score", layers::Dense(1)(x)}, {"kind", layers::Dense(1)(x)}});
  const Tensor in = ones({2, 2}), y = ones({2, 1});
  model.compile({.loss = {{"score", "mse"}, {"kind", "mae"}}});
  EXPECT_EQ(model.fit(in, {{"score", y}, {"kind", y}}, {.verbose = 0}).history.size(), 3u);
  model.compile({.loss = {{"score", "mse"}, {"kind", std::nullopt}}});
  EXPECT_EQ(model.fit(in, {{"score", y}, {"kind", y}}, {.verbose = 0}).history.size(), 1u);
  // One metric has one sum.
  metrics::MeanAbsoluteError metric;
  model.compile({.loss = "mse", .metrics = {{"score", {metric}}, {"kind", {metric}}}});
  EXPECT_MISUSE(ValueError, model.fit(in, {{"score", y}, {"kind", y}}, {.verbose = 0}),
                "compile: one metric is given for 'kind_mean_absolute_error' and for 'score_mean_absolute_error', and "
                "would add both up; make one for each");
}
