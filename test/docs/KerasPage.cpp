// The programs of docs/from-keras.md, which check_snippets.py compares with the page.
#include <calque/training.h>
using namespace calque;

#include <filesystem>
#include <gtest/gtest.h>

#include <iostream>

namespace {
Tensor inputs() { return reshape(cast(iota({64}, DType::Int32), DType::Float32) / 64, {32, 2}); }
Tensor targets() { return sum(inputs(), 1, true) * 3 - 1; }
} // namespace

TEST(KerasPage, Chain) {
  // clang-format off
  Sequential model{Input({28, 28, 1}),
                   layers::Conv2D(8, 3, {.activation = "relu"}),
                   layers::MaxPooling2D(),
                   layers::Flatten(),
                   layers::Dense(10, {.activation = "softmax"})};
  // clang-format on
  EXPECT_EQ(model(ones({3, 28, 28, 1})).shape(), (Shape{3, 10}));
}

TEST(KerasPage, Graph) {
  SymbolicTensor a = Input({4}, {.name = "a"}), b = Input({4}, {.name = "b"});
  SymbolicTensor h = layers::Concatenate()({a, b});
  models::Functional model({a, b}, layers::Dense(1)(h));
  Tensor y = model({ones({2, 4}), zeros({2, 4})});
  EXPECT_EQ(y.shape(), (Shape{2, 1}));
}

TEST(KerasPage, Class) {
  struct Net : Model {
    layers::Dense hidden = submodule("hidden", layers::Dense(8, {.activation = "relu"}));
    layers::Dense out = submodule("out", layers::Dense(2));
    Tensor call(const Tensor &x, const layers::CallOptions &) override { return out(hidden(x)); }
  };
  Net net;
  EXPECT_EQ(net(ones({3, 5})).shape(), (Shape{3, 2}));
}

TEST(KerasPage, Layer) {
  struct Scaled : layers::LayerBody {
    Scaled() : LayerBody("scaled") {}
    void build(const Shape &input, DType dtype) override {
      factor = weight("factor", {std::int64_t(input.back())}, dtype, "ones");
    }
    Tensor call(const Tensor &x, const layers::CallOptions &) override { return x * factor; }
    Variable factor{nullptr};
  };
  auto scaled = layers::make_layer<Scaled>(); // a handle; its fields are scaled->factor
  EXPECT_EQ(scaled(ones({2, 3})).to_vector<float>(), std::vector<float>(6, 1));
  EXPECT_EQ(scaled.trainable_variables().size(), 1u);
  EXPECT_EQ(scaled->factor.size(), 3);
}

TEST(KerasPage, Fit) {
  set_seed(1);
  Tensor x = inputs(), y = targets();
  // clang-format off
  Sequential model{layers::Dense(8, {.activation = "relu"}), layers::Dense(1)};
  model.compile({.optimizer = optimizers::Adam(1e-2), .loss = "mse", .metrics = {"mae"}});
  callbacks::EarlyStopping early({.monitor = "loss", .patience = 3, .restore_best_weights = true});
  History history = model.fit(x, y, {.batch_size = 16, .epochs = 3, .verbose = 0, .callbacks = {early}});
  auto [loss, mae] = model.evaluate(x, y).unpack<2>();
  Tensor predicted = model.predict(x);
  // clang-format on
  EXPECT_EQ(history.history.at("loss").size(), 3u);
  EXPECT_LT(loss, history.history.at("loss")[0]);
  EXPECT_GT(mae, 0);
  EXPECT_EQ(predicted.shape(), (Shape{32, 1}));
  ::testing::internal::CaptureStdout();
  // clang-format off
  model.compile({.loss = [](const Tensor &y_true, const Tensor &y_pred) { return mean(abs(y_true - y_pred), -1); }});
  model.fit(x, y, {.verbose = 0, .callbacks = {callbacks::LambdaCallback({.on_epoch_end = [](std::int64_t epoch, Logs &logs) {
                                                std::cout << epoch << ' ' << (logs["loss"] > 0) << '\n';
                                              }})}});
  // clang-format on
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "0 1\n");
}

TEST(KerasPage, Loop) {
  set_seed(1);
  Tensor x = inputs(), y = targets();
  Sequential model{layers::Dense(8, {.activation = "relu"}), layers::Dense(1)};
  optimizers::Adam adam(1e-2);
  // clang-format off
  auto step = function([&](const Tensor &x, const Tensor &y) {
    GradientTape tape;
    Tensor loss = mean(square(model(x, {.training = true}) - y));
    std::vector<Variable> weights = model.trainable_variables();
    adam.apply_gradients(tape.gradient(loss, weights), weights);
    return loss;
  });
  for (auto [xs, ys] : data::from_tensor_slices(x, y).shuffle(64).batch(16))
    step(xs, ys);
  // clang-format on
  EXPECT_EQ(step.trace_count(), 1);
  EXPECT_EQ(adam.iterations().value().item<std::int64_t>(), 2);
}

TEST(KerasPage, Tensors) {
  Tensor x = tensor({{1., 2.}, {3., 4.}});
  Tensor rows = sum(x, 1);
  Tensor last = x[-1];
  Tensor tail = x.rows(1, 2);
  std::vector<float> values = rows.to_vector<float>();
  EXPECT_EQ(values, (std::vector<float>{3, 7}));
  EXPECT_EQ(last.to_vector<float>(), (std::vector<float>{3, 4}));
  EXPECT_EQ(tail.shape(), (Shape{1, 2}));
}

TEST(KerasPage, Data) {
  Tensor x = inputs() * 255, y = targets();
  // clang-format off
  auto pairs = data::from_tensor_slices(x, y).map([](const Tensor &x, const Tensor &y) { return std::pair(x / 255, y); });
  auto [first_x, first_y] = *pairs.shuffle(8, {.seed = 1}).batch(4, true).begin();
  // clang-format on
  EXPECT_EQ(first_x.shape(), (Shape{4, 2}));
  EXPECT_LE(max(first_x).item<float>(), 1);
  EXPECT_EQ(first_y.shape(), (Shape{4, 1}));
}

TEST(KerasPage, Saving) {
  const std::filesystem::path before = std::filesystem::current_path();
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "calque-keras-page";
  std::filesystem::create_directories(folder);
  std::filesystem::current_path(folder);
  Sequential model{Input({2}), layers::Dense(1)};
  model.save("net");
  ModelHandle same = load_model("net");
  same.save_weights("weights");
  model.load_weights("weights", {.skip_mismatch = true});
  std::filesystem::current_path(before);
  std::filesystem::remove_all(folder);
}

// The calls in the page's tables.
TEST(KerasPage, Tables) {
  set_seed(1);
  Sequential model{layers::Dense(3, {.name = "h"}), layers::Dense(1)};
  Tensor x = ones({4, 2}), y = ones({4, 1});
  model(x, {.training = true});
  EXPECT_NE(model.summary().find("h (dense)"), std::string::npos);
  EXPECT_EQ(model.layers().size(), 2u);
  model.get_layer("h").set_trainable(false);
  EXPECT_EQ(model.trainable_variables().size(), 2u);
  EXPECT_EQ(model.non_trainable_variables().size(), 2u);
  model.set_weights(model.get_weights());
  EXPECT_NE(model.dot().find("digraph"), std::string::npos);
  model.compile({.optimizer = optimizers::Adam(1e-3, {.beta_1 = 0.8}), .loss = "mse", .metrics = {"mae"}});
  model.compile({.optimizer = optimizers::SGD(0.1, {}, {.clipnorm = 1}), .loss = "mse"});
  auto dataset = data::from_tensor_slices(x, y).batch(2);
  model.fit(dataset, {.verbose = 0});
  model.fit(x, y, {.verbose = 0, .validation_split = 0.2});

  Variable v(3.0), w(2.0);
  v.assign_add(1);
  GradientTape tape;
  Tensor z = v * v;
  auto gradients = tape.gradient(z, std::vector{v, w});
  EXPECT_EQ(gradients[0]->item<float>(), 8);
  EXPECT_FALSE(gradients[1].has_value());
  assert_true(all(x > 0), "x > 0");
  EXPECT_EQ(size(x, 0).item<std::int64_t>(), 4);
  EXPECT_EQ(x.shape()[0], 4);
  EXPECT_EQ(cast(x, DType::Int32).dtype(), DType::Int32);
  EXPECT_EQ(one_hot(tensor({1, 2}), 10, DType::Float32).shape(), (Shape{2, 10}));
  EXPECT_EQ(conv2d(ones({1, 4, 4, 1}), ones({3, 3, 1, 2}), {2, 2}, "same").shape(), (Shape{1, 2, 2, 2}));
  EXPECT_EQ(matmul(x, ones({2, 3})).shape(), (Shape{4, 3}));
  EXPECT_EQ(train_test_split(x, y, {.test_size = 0.25}).x_test.shape(), (Shape{1, 2}));
  EXPECT_EQ(grad([](const Tensor &x) { return sum(x * x); })(x).shape(), x.shape());
}
