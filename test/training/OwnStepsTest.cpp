// Steps and layers of the user's own in a model that is fitted: what they give, and what errors in them say.
#include "test/training/Points.h"

#include <tuple>

using namespace calque;
using namespace calque::testing;

namespace {
struct OwnStep : Model {
  layers::Dense dense = submodule("dense", layers::Dense(1));
  metrics::Mean distance = metrics::Mean("distance");
  int traces = 0;

protected:
  Tensor call(const Tensor &x, const layers::CallOptions &options) override {
    if (options.training)
      add_loss(0.25f);
    return dense(x);
  }
  Tensors train_step(const Batch &data) override {
    ++traces;
    GradientTape tape;
    Tensor y_pred = (*this)(data.x, {.training = true});
    Tensor loss = compute_loss(data, y_pred);
    std::vector<Variable> weights = trainable_variables();
    optimizer().apply_gradients(tape.gradient(loss, weights), weights);
    distance.update_state(abs(y_pred - data.y[0]));
    return {{"loss", loss}, {"distance", distance.result()}};
  }

public:
  std::vector<metrics::Metric> metrics() override { return {distance}; }
};
} // namespace

TEST(Fit, TakesAStepOfTheModelsOwn) {
  Points points(8);
  OwnStep model;
  model.compile({.optimizer = optimizers::SGD(0.0), .loss = "mse"});
  History history = model.fit(points.x, points.y, {.batch_size = 4, .epochs = 3, .verbose = 0});
  EXPECT_EQ(model.traces, 1);
  // The metric begins anew in each epoch; the loss is that of the last step.
  EXPECT_NEAR(history.history.at("distance")[0], mean(abs(model(points.x) - points.y)).item<float>(), 1e-6);
  EXPECT_NEAR(history.history.at("distance")[2], history.history.at("distance")[0], 1e-6);
  EXPECT_GT(history.history.at("loss")[0], 0.25);
}

namespace {
struct ManyNumbers : OwnStep {
protected:
  Tensors train_step(const Batch &data) override { return {{"each", (*this)(data.x)}}; }
};
} // namespace

TEST(Fit, RefusesAStepThatGivesNoNumbers) {
  ManyNumbers model;
  model.compile({.loss = "mse"});
  EXPECT_MISUSE(ValueError, model.fit(ones({4, 2}), ones({4, 1}), {.verbose = 0}),
                "fit: 'each' is float32[4,1], and what a step gives is a number");
}

namespace {
struct WrongStep : OwnStep {
  unsigned line = 0;

protected:
  Tensors train_step(const Batch &data) override {
    line = __LINE__ + 1;
    return {{"loss", matmul(data.x[0], data.x[0])}};
  }
};
struct WrongLayer : layers::LayerBody {
  WrongLayer() : LayerBody("wrong", false) {}
  Tensor call(const Tensor &x, const layers::CallOptions &) override {
    line = __LINE__ + 1;
    return matmul(x, x);
  }
  unsigned line = 0;
};
// What an error says without its line, and its line.
template <typename F> std::pair<std::string, unsigned> failureOf(F f) {
  try {
    f();
  } catch (const Error &error) {
    const std::string text = error.what();
    return {text.substr(0, text.find(';')), error.location().line};
  }
  return {};
}
} // namespace

// Errors in a layer or a step of the user's have its lines, not those of what calls it.
TEST(Fit, NamesTheLineInTheUsersOwnCode) {
  const std::string misfit = "matmul: the inner dimensions are 2 and 4 and must be equal";
  for (bool eager : {false, true}) {
    WrongStep model;
    model.compile({.loss = "mse", .run_eagerly = eager});
    auto [text, line] = failureOf([&] { model.fit(ones({4, 2}), ones({4, 1}), {.verbose = 0}); });
    EXPECT_EQ(text, misfit);
    EXPECT_EQ(line, model.line);

    auto body = std::make_shared<WrongLayer>();
    layers::Layer wrong(body);
    Sequential net{layers::Dense(2), wrong};
    net.compile({.loss = "mse", .run_eagerly = eager});
    std::tie(text, line) = failureOf([&] { net.fit(ones({4, 2}), ones({4, 1}), {.verbose = 0}); });
    EXPECT_EQ(text, misfit);
    EXPECT_EQ(line, body->line);
    std::tie(text, line) = failureOf([&] { wrong(ones({4, 2})); });
    EXPECT_EQ(text, misfit);
    EXPECT_EQ(line, body->line);
  }
}

namespace {
// What it builds goes wrong in one of several ways, at a line that it knows.
struct WrongBuild : layers::LayerBody {
  explicit WrongBuild(int way) : LayerBody("wrong"), way(way) {}
  int way;
  unsigned line = 0;
  Tensor call(const Tensor &x, const layers::CallOptions &) override { return x; }

protected:
  void build(const Shape &input, DType dtype) override {
    weight("fine", {2}, dtype, zeros);
    if (way == 0) {
      line = __LINE__ + 1;
      throw ValueError("wrong: takes three columns", SourceLocation::current());
    }
    if (way == 1) {
      line = __LINE__ + 1;
      matmul(ones({4, 2}), ones({4, 3}));
    }
    if (way == 2) {
      line = __LINE__ + 1;
      weight("fine", {2}, dtype, zeros);
    }
    if (way == 3) {
      line = __LINE__ + 1;
      weight("kernel", {3}, dtype, initializers::Orthogonal());
    }
    if (way == 4) {
      line = __LINE__ + 1;
      layers::Conv2D(3, 3).build(input);
    }
  }
};
struct Silent : layers::LayerBody {
  Silent() : LayerBody("silent") {}
};
} // namespace

TEST(Layer, NamesTheLineInTheUsersBuild) {
  const std::vector<std::string> texts = {
      "wrong: takes three columns", "matmul: the inner dimensions are 2 and 4 and must be equal",
      "module: there is a part 'fine' already", "orthogonal: takes a shape of rank 2 or more, not [3]", "conv2d: "};
  for (int way = 0; way < 5; ++way) {
    SCOPED_TRACE(way);
    auto body = std::make_shared<WrongBuild>(way);
    layers::Layer wrong(body);
    Sequential net{layers::Dense(2), wrong};
    net.compile({.loss = "mse"});
    auto expect = [&](auto f) {
      auto [text, line] = failureOf(f);
      EXPECT_CONTAINS(text, texts[static_cast<std::size_t>(way)]);
      EXPECT_EQ(line, body->line) << text;
    };
    expect([&] { wrong(ones({4, 2})); });
    expect([&] { wrong.build({4, 2}); });
    expect([&] { net(ones({4, 2})); });
    expect([&] { net.build({4, 2}); });
    expect([&] { net.fit(ones({4, 2}), ones({4, 2}), {.verbose = 0}); });
    expect([&] { wrong(Input({2})); });
  }
  // What the library finds wrong about a class of the user's has the caller's line, inside of a model, too.
  layers::Layer silent(std::make_shared<Silent>());
  Sequential around{layers::Dense(2), silent};
  EXPECT_MISUSE(StateError, around(ones({4, 2})),
                "silent 'silent': its class overrides neither call() nor call_inputs()");
  layers::Layer one(std::make_shared<WrongBuild>(0));
  EXPECT_MISUSE(ValueError, one({ones({4, 2}), ones({4, 2})}),
                "wrong: takes one input, and there are 2; a layer of several overrides call_inputs()");
}
