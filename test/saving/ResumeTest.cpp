// A program whose whole state is in a checkpoint goes on with the bits that it would have had, wherever it was stopped:
// every optimiser, moving averages, gradients that are accumulated, schedules, metrics, generators, and places in data
// sets of all kinds.
#include "test/saving/Testing.h"

using namespace calque;
using namespace calque::testing;

namespace {

constexpr int kSteps = 9;

struct Optimized {
  const char *name;
  std::function<optimizers::Optimizer()> make;
};
void PrintTo(const Optimized &of, std::ostream *out) { *out << of.name; }

using optimizers::OptimizerOptions;
const Optimized kOptimizers[] = {
    {"sgd",
     [] { return optimizers::SGD(0.05, {.momentum = 0.9, .nesterov = true}, {.gradient_accumulation_steps = 2}); }},
    {"rmsprop", [] { return optimizers::RMSprop(0.01, {.momentum = 0.5, .centered = true}, {.clipvalue = 0.5}); }},
    {"adagrad", [] { return optimizers::Adagrad(0.1, {}, {.decay = 0.1}); }},
    {"adadelta", [] { return optimizers::Adadelta(1.0); }},
    {"adam",
     [] {
       return optimizers::Adam(schedules::ExponentialDecay(0.05, 2, 0.9), {.amsgrad = true},
                               {.global_clipnorm = 1.0,
                                .use_ema = true,
                                .ema_momentum = 0.9,
                                .ema_overwrite_frequency = 2,
                                .gradient_accumulation_steps = 3});
     }},
    {"adamw", [] { return optimizers::AdamW(0.05, {}, {.weight_decay = 0.01, .clipnorm = 0.5, .use_ema = true}); }},
    {"adamax", [] { return optimizers::Adamax(schedules::CosineDecay(0.05, 6)); }},
    {"nadam", [] { return optimizers::Nadam(0.05); }},
    {"lion", [] { return optimizers::Lion(0.01, {}, {.gradient_accumulation_steps = 4}); }},
    {"ftrl", [] { return optimizers::Ftrl(0.1); }},
};

struct Program {
  explicit Program(optimizers::Optimizer of) : optimizer(std::move(of)) {
    model.build(Shape{2, 3});
    optimizer.build(model.trainable_variables());
  }

  layers::Sequential model{layers::Dense(4), layers::BatchNormalization(), layers::Dropout(0.3),
                           layers::GaussianNoise(0.1), layers::Dense(2, {.activation = "softmax"})};
  optimizers::Optimizer optimizer;
  metrics::Mean mean_loss;
  std::vector<metrics::Metric> of = {metrics::AUC({.num_thresholds = 20}),
                                     metrics::Precision({.thresholds = {0.4, 0.6}}),
                                     metrics::F1Score(),
                                     metrics::R2Score(),
                                     metrics::CategoricalAccuracy(),
                                     metrics::ConfusionMatrix(2, {.sparse_y_true = false, .sparse_y_pred = false}),
                                     metrics::MeanIoU(2, {.sparse_y_true = false, .sparse_y_pred = false}),
                                     metrics::RootMeanSquaredError()};
  random::Generator noise{3};
  // Eight examples of three numbers, in another order in each epoch; a step takes two.
  data::Dataset<Tensor> batches = data::from_tensor_slices(reshape(sin(iota({24}, DType::Float32)), {8, 3}))
                                      .shuffle(5, {.seed = 2})
                                      .repeat()
                                      .batch(2)
                                      .prefetch(3);
  data::Dataset<Tensor> others =
      data::range(7)
          .cache()
          .interleave([](const Tensor &i) { return data::range(3).map([i](const Tensor &j) { return i * 10 + j; }); },
                      {.cycle_length = 2})
          .filter([](const Tensor &i) { return (i % 4 != 0).item<bool>(); })
          .shuffle(4, {.seed = 1})
          .repeat();
  data::Dataset<Tensor>::Iterator at = batches.begin(), other = others.begin();
  std::int64_t steps = 0;
  Tensor seen = zeros({}, DType::Int64);
  Checkpoint checkpoint{parts()};
  Function<Tensor(Tensor)> step = function([this](const Tensor &x) {
    const Tensor y = one_hot(cast(sum(x, {1}) > 0.f, DType::Int32), 2);
    GradientTape tape;
    const Tensor predicted = model(x + noise.normal({2, 3}) * 0.01f, {.training = true});
    const Tensor loss = mean(square(predicted - y));
    optimizer.apply_gradients(tape.gradient(loss, model.trainable_variables()), model.trainable_variables());
    mean_loss(loss);
    for (const metrics::Metric &metric : of)
      metric(y, predicted);
    return loss;
  });

  std::vector<Checkpoint::Entry> parts() {
    std::vector<Checkpoint::Entry> list = {{"model", model},
                                           {"optimizer", optimizer},
                                           {"loss", mean_loss},
                                           {"noise", noise},
                                           {"global", random::global_generator()},
                                           {"at", at},
                                           {"other", other},
                                           {"steps", steps},
                                           {"seen", seen}};
    for (std::size_t i = 0; i < of.size(); ++i)
      list.emplace_back("metric " + std::to_string(i), of[i]);
    return list;
  }
  void train(int count) {
    for (int i = 0; i < count; ++i, ++at, ++other, ++steps) {
      step(*at);
      seen = seen * 31 + *other;
    }
  }
  std::vector<std::byte> bits() {
    std::vector<std::byte> all(seen.bytes().begin(), seen.bytes().end());
    auto add = [&](const std::vector<Variable> &variables) {
      for (const Variable &each : variables)
        for (std::byte byte : each.value().bytes())
          all.push_back(byte);
    };
    add(model.variables());
    add(optimizer.variables());
    for (const metrics::Metric &metric : of)
      add(metric.variables());
    add(mean_loss.variables());
    add({noise.state(), random::global_generator().state()});
    return all;
  }
};

class Resume : public ::testing::TestWithParam<Optimized> {};

TEST_P(Resume, HasTheBitsOfOneRun) {
  TemporaryDirectory directory;
  set_seed(1);
  Program whole(GetParam().make());
  std::vector<std::string> paths;
  for (int i = 0; i < kSteps; ++i) {
    paths.push_back(whole.checkpoint.save(directory.file("at")));
    whole.train(1);
  }
  const std::vector<std::byte> expected = whole.bits();
  for (int from : {1, 2, 5, kSteps - 1}) {
    SCOPED_TRACE("from step " + std::to_string(from));
    set_seed(99);
    Program other(GetParam().make());
    const RestoreStatus status = other.checkpoint.restore(paths[static_cast<std::size_t>(from)]);
    other.train(kSteps - from);
    status.assert_consumed(); // some metrics make their variables at the first step
    EXPECT_EQ(other.steps, kSteps);
    EXPECT_EQ(other.bits(), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Optimizers, Resume, ::testing::ValuesIn(kOptimizers),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
