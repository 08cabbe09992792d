// Each optimiser and each schedule against Keras' numbers.
#include "Reference.h"

using namespace calque;
using namespace calque::testing;

namespace {
struct Case {
  const char *name;
  std::function<optimizers::Optimizer()> make;
};
std::vector<Case> cases() {
  using namespace optimizers;
  return {
      {"sgd", [] { return SGD(); }},
      {"sgd", [] { return SGD(0.01, {.momentum = 0.9}); }},
      {"sgd", [] { return SGD(0.01, {.momentum = 0.9, .nesterov = true}); }},
      {"rm_sprop", [] { return RMSprop(); }},
      {"rm_sprop", [] { return RMSprop(0.001, {.rho = 0.8, .momentum = 0.5, .centered = true}); }},
      {"adagrad", [] { return Adagrad(); }},
      {"adadelta", [] { return Adadelta(1); }},
      {"adam", [] { return Adam(); }},
      {"adam", [] { return Adam(0.001, {.beta_2 = 0.5, .amsgrad = true}); }},
      {"adam_w", [] { return AdamW(0.1); }},
      {"adamax", [] { return Adamax(); }},
      {"nadam", [] { return Nadam(); }},
      {"lion", [] { return Lion(); }},
      {"ftrl",
       [] {
         return Ftrl(0.1, {.l1_regularization_strength = 0.01,
                           .l2_regularization_strength = 0.02,
                           .l2_shrinkage_regularization_strength = 0.03,
                           .beta = 0.1});
       }},
      {"sgd", [] { return SGD(0.1, {}, {.clipnorm = 1}); }},
      {"sgd", [] { return SGD(0.1, {}, {.global_clipnorm = 1}); }},
      {"sgd", [] { return SGD(0.1, {}, {.clipvalue = 0.5}); }},
      {"sgd", [] { return SGD(0.1, {}, {.weight_decay = 0.1}); }},
      {"adam", [] { return Adam(0.1, {}, {.use_ema = true, .ema_momentum = 0.5, .ema_overwrite_frequency = 2}); }},
      {"adam", [] { return Adam(0.1, {}, {.gradient_accumulation_steps = 2}); }},
      {"adam",
       [] {
         return Adam(
             0.1, {},
             {.use_ema = true, .ema_momentum = 0.5, .ema_overwrite_frequency = 2, .gradient_accumulation_steps = 2});
       }},
  };
}
} // namespace

TEST(Optimizers, AreKeras) {
  int index = 0;
  for (const Case &c : cases()) {
    std::string name = "optimizer " + std::string(c.name) + " " + std::to_string(index++);
    for (DType dtype : {DType::Float32, DType::Float64})
      for (bool compile : {true, false}) {
        optimizers::Optimizer optimizer = c.make();
        std::vector<Variable> variables = {Variable(referenceInput("logits", dtype), {.name = "dense/kernel"}),
                                           Variable(referenceInput("weights", dtype), {.name = "dense/bias"})};
        Tensor targets = referenceInput("targets", dtype);
        auto step = function([&](int) {
          return optimizer.minimize(
              [&] { return sum(square(variables[0] - targets)) / 2 + sum(square(variables[1])) / 2; }, variables);
        });
        for (int i = 0; i < 6; ++i) {
          compile ? step(0) : step.eager(0);
          if (i == 0 || i == 2 || i == 5) {
            const double units = dtype == DType::Float64 ? 1000 : 100;
            expectReference(variables[0].value(), name, dtype, "a" + std::to_string(i), units);
            expectReference(variables[1].value(), name, dtype, "b" + std::to_string(i), units);
          }
        }
        EXPECT_EQ(optimizer.iterations().value().item<std::int64_t>(), 6);
        EXPECT_LE(step.trace_count(), 1);
      }
  }
}

TEST(Schedules, AreKeras) {
  using namespace schedules;
  const std::vector<std::pair<const char *, Schedule>> all = {
      {"exponential_decay", ExponentialDecay(0.1, 7, 0.9)},
      {"exponential_decay", ExponentialDecay(0.1, 7, 0.9, {.staircase = true})},
      {"inverse_time_decay", InverseTimeDecay(0.1, 7, 0.5)},
      {"inverse_time_decay", InverseTimeDecay(0.1, 7, 0.5, {.staircase = true})},
      {"piecewise_constant_decay", PiecewiseConstantDecay({3, 8}, {0.1, 0.05, 0.01})},
      {"polynomial_decay", PolynomialDecay(0.1, 10, {.end_learning_rate = 0.01, .power = 2})},
      {"polynomial_decay", PolynomialDecay(0.1, 10, {.cycle = true})},
      {"cosine_decay", CosineDecay(0.1, 12, {.alpha = 0.1})},
      {"cosine_decay", CosineDecay(0.01, 12, {.warmup_target = 0.1, .warmup_steps = 4})},
      {"cosine_decay_restarts", CosineDecayRestarts(0.1, 5, {.m_mul = 0.8, .alpha = 0.05})},
      {"cosine_decay_restarts", CosineDecayRestarts(0.1, 5, {.t_mul = 1, .m_mul = 0.5})},
  };
  int index = 0;
  for (const auto &[kind, schedule] : all) {
    std::vector<double> rates;
    for (int step : {0, 1, 3, 4, 8, 9, 13, 24})
      rates.push_back(schedule(step).item<double>());
    SCOPED_TRACE(kind);
    expectReference(tensor(rates), "schedule " + std::string(kind) + " " + std::to_string(index++), DType::Float64,
                    "rates", 2000);
    // An optimiser asks for the rate of the steps before, in a trace too.
    optimizers::SGD sgd(schedule);
    EXPECT_EQ(sgd.learning_rate().value().item<double>(), schedule(0).item<double>());
    Variable x(10.0f);
    auto step = function([&](const Tensor &g) { sgd.apply_gradients({g}, {x}); });
    step(scalar(1.0f));
    step(scalar(1.0f));
    EXPECT_NEAR(x.value().item<float>(), 10 - schedule(0).item<double>() - schedule(1).item<double>(), 1e-6);
    // As in Keras, the rate is that of the step to come.
    auto rate = function([&] { return sgd.learning_rate().value(); });
    EXPECT_EQ(sgd.learning_rate().value().item<double>(), schedule(2).item<double>());
    EXPECT_EQ(rate().item<double>(), schedule(2).item<double>());
    sgd.iterations().assign(1);
    EXPECT_EQ(sgd.learning_rate().value().item<double>(), schedule(1).item<double>());
    EXPECT_EQ(rate().item<double>(), schedule(1).item<double>());
    EXPECT_TRUE(sgd.has_schedule());
  }
}
