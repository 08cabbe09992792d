// The cases that Calque is measured on. Names, inputs and checks are those of the other systems' scripts, so that their
// lines can be set side by side.
#include "benchmarks/Harness.h"
#include "benchmarks/Models.h"

#include <calque/image.h>

#include <numbers>

using namespace calque;
using namespace calque::benchmarks;

namespace {

constexpr std::int64_t kRows = 4096, kColumns = 1024; // 4M elements, 16 MiB
constexpr std::int64_t kOptions = 1'000'000;
constexpr int kIterations = 100'000;

// A function of tensors, compiled and called on these arguments.
template <typename F, typename... Inputs> Work compiled(F body, const Inputs &...inputs) {
  return {[f = function(body), inputs...] { return f(inputs...); }, sumOf};
}

// The same with one body for all sizes: those of the inputs are unknown where the specs say so.
template <typename F, typename... Inputs>
Work compiledForAll(F body, std::vector<TensorSpec<>> specs, const Inputs &...inputs) {
  return {[f = function(body, {.input_signature = std::move(specs)}), inputs...] { return f(inputs...); }, sumOf};
}

Tensor matrix() { return lcg(7, {kRows, kColumns}); }

// The prices of European call options: spot, strike, time, rate, volatility (Black, Scholes 1973).
Tensor optionPrice(const Tensor &s, const Tensor &k, const Tensor &t, const Tensor &r, const Tensor &v) {
  Tensor q = v * sqrt(t);
  Tensor d1 = (log(s / k) + (r + 0.5f * v * v) * t) / q;
  auto cdf = [](const Tensor &x) { return 0.5f * (1.f + erf(x * std::sqrt(0.5f))); };
  return s * cdf(d1) - k * exp(-r * t) * cdf(d1 - q);
}

Work layerNormGradient() {
  auto f = function([](const Tensor &x, const Tensor &gain, const Tensor &bias) {
    GradientTape tape;
    for (const Tensor &source : {x, gain, bias})
      tape.watch(source);
    return tape.gradient(sum(square(layerNorm(x, gain, bias))), std::vector<Tensor>{x, gain, bias});
  });
  return {[f, x = matrix(), gain = lcg(9, {kColumns}), bias = lcg(10, {kColumns})] { return *f(x, gain, bias)[1]; },
          sumOf};
}

Work blackScholesGreeks() {
  auto f = function([](const Tensor &s, const Tensor &k, const Tensor &t, const Tensor &r, const Tensor &v) {
    GradientTape tape;
    for (const Tensor &source : {s, t, r, v})
      tape.watch(source);
    Tensor total = sum(optionPrice(s, k, t, r, v));
    return std::pair(total, tape.gradient(total, std::vector<Tensor>{s, t, r, v}));
  });
  Tensor s = lcg(90, {kOptions}, 50, 150), k = lcg(91, {kOptions}, 50, 150), t = lcg(92, {kOptions}, 0.1f, 2),
         r = lcg(93, {kOptions}, 0, 0.05f), v = lcg(94, {kOptions}, 0.1f, 0.6f);
  return {[=] { return *f(s, k, t, r, v).second[0]; }, sumOf};
}

// Of the square of sum tanh(w x), forward over reverse.
Work hessianOfTanh() {
  auto f = [](const Tensor &w, const Tensor &x) {
    return hessian([&](const Tensor &v) { return square(sum(tanh(matmul(w, expand_dims(v, {1}))))); })(x);
  };
  return compiled(f, lcg(97, {32, 32}), lcg(98, {32}));
}

Work power100() {
  auto f = [](const Tensor &x) {
    Tensor y = eye(10);
    for (int i = 0; i < 100; ++i)
      y = matmul(x, y);
    return y;
  };
  return compiled(f, lcg(3, {10, 10}, 0, 0.2f));
}

// 200 products of a matrix with itself, scaled so that the elements stay near 1.
Work matmulChain() {
  auto f = [](const Tensor &x) {
    return for_range(0, 200, x, [&](const Tensor &, const Tensor &y) { return matmul(y, x); });
  };
  Work work = compiled(f, lcg(4, {1000, 1000}, -1, 1, 0.0548f));
  work.check = [](const Tensor &y) { return sumOf(abs(y)) / 1e6; };
  return work;
}

Work mlpStep() {
  auto model = std::make_shared<Mlp>();
  return compiled([model](const Tensor &x, const Tensor &y) { return model->step(x, y); }, lcg(30, {128, 784}),
                  cyclicLabels(128));
}

Work mlpStepForAll() {
  auto model = std::make_shared<Mlp>();
  return compiledForAll([model](const Tensor &x, const Tensor &y) { return model->step(x, y); },
                        {TensorSpec<float>({kDynamic, 784}), TensorSpec<std::int32_t>({kDynamic})}, lcg(30, {128, 784}),
                        cyclicLabels(128));
}

Work cnnStep() {
  auto model = std::make_shared<Cnn>();
  auto step = [model](const Tensor &x, const Tensor &y, const Tensor &keep) { return model->step(x, y, keep); };
  return compiled(step, Cnn::images(), cyclicLabels(64), Cnn::keepMask());
}

Work cnnStepForAll() {
  auto model = std::make_shared<Cnn>();
  auto step = [model](const Tensor &x, const Tensor &y, const Tensor &keep) { return model->step(x, y, keep); };
  return compiledForAll(step,
                        {TensorSpec<float>({kDynamic, 28, 28, 1}), TensorSpec<std::int32_t>({kDynamic}),
                         TensorSpec<float>({kDynamic, 256})},
                        Cnn::images(), cyclicLabels(64), Cnn::keepMask());
}

Work transformerStep() {
  auto model = std::make_shared<TransformerBlock>();
  return compiled([model](const Tensor &x) { return model->step(x); }, TransformerBlock::sequences());
}

Work cnnForward() {
  auto model = std::make_shared<Cnn>();
  auto forward = [model](const Tensor &x, const Tensor &y) { return model->loss(x, y, ones({64, 256}), false); };
  return compiled(forward, Cnn::images(), cyclicLabels(64));
}

// A loop of numbers: Newton's method with small steps, for the root of 2.
Work scalarLoop() {
  auto f = [](const Tensor &x0) {
    auto [i, x] = while_loop(
        [](const Tensor &i, const Tensor &) { return i < kIterations; },
        [](const Tensor &i, const Tensor &x) { return std::tuple(i + 1, x - 0.001f * (x * x - 2.f) / (2.f * x)); },
        std::tuple(scalar(0), x0));
    return x;
  };
  return compiled(f, scalar(1.5f));
}

// A loop of small matrices.
Work scalarLoopOps() {
  auto f = [](const Tensor &x) {
    return for_range(0, 1000, x, [&](const Tensor &, const Tensor &y) { return tanh(matmul(y, x)) * 0.5f + y; });
  };
  return compiled(f, lcg(95, {8, 8}));
}

// 300 steps of gradient descent for a line through 1000 points, in one call.
Work lineTraining() {
  auto f = [](const Tensor &slope, const Tensor &offset, const Tensor &x, const Tensor &y) {
    auto loss = [&](const std::vector<Tensor> &line) { return mean(square(x * line[0] + line[1] - y)); };
    return for_range(0, 300, std::vector<Tensor>{slope, offset}, [&](const Tensor &, const std::vector<Tensor> &line) {
      std::vector<Tensor> gradient = grad(loss)(line);
      return std::vector<Tensor>{line[0] - 0.01f * gradient[0], line[1] - 0.01f * gradient[1]};
    })[0];
  };
  Tensor x = lcg(96, {1000});
  return compiled(f, scalar(5.f), scalar(10.f), x, 3.f * x + 2.f);
}

// The loss of a long short-term memory (Hochreiter, Schmidhuber 1997) over a sequence, and its gradients.
Work lstmGradient() {
  constexpr std::int64_t kBatch = 32, kSteps = 64, kInputs = 64, kHidden = 128;
  auto loss = [](const std::vector<Tensor> &p, const Tensor &xs) {
    auto cell = [&](const std::pair<Tensor, Tensor> &state, const Tensor &x) {
      auto [h, c] = state;
      std::vector<Tensor> gates =
          split(matmul(x, p[0]) + matmul(h, p[1]) + p[2], std::vector{kHidden, kHidden, kHidden, kHidden}, -1);
      c = sigmoid(gates[1]) * c + sigmoid(gates[0]) * tanh(gates[2]);
      return std::pair(sigmoid(gates[3]) * tanh(c), c);
    };
    Tensor start = zeros({kBatch, kHidden});
    return mean(square(fold(cell, std::pair(start, start), xs).first));
  };
  auto f = function([loss](const std::vector<Tensor> &p, const Tensor &xs) { return value_and_grad(loss)(p, xs); });
  auto parameter = [](std::uint64_t seed, std::int64_t rows) {
    return lcg(seed, {rows, 4 * kHidden}, -1, 1, std::pow(static_cast<float>(rows), -0.5f));
  };
  std::vector<Tensor> parameters{parameter(70, kInputs), parameter(71, kHidden), zeros({4 * kHidden})};
  return {[f, parameters, xs = lcg(72, {kSteps, kBatch, kInputs})] { return f(parameters, xs).first; }, sumOf};
}

// A step of Adam on 100 parameters, weights of [64, 64] and biases of [64] in turn, whose gradients are given.
Work adamOfMany() {
  struct State {
    std::vector<Variable> parameters, moments, squares;
    std::vector<Tensor> gradients;
  };
  auto state = std::make_shared<State>();
  for (std::uint64_t i = 0; i < 100; ++i) {
    const Shape shape = i % 2 ? Shape{64} : Shape{64, 64};
    state->parameters.push_back(Variable(lcg(100 + i, shape)));
    state->moments.push_back(Variable(zeros(shape)));
    state->squares.push_back(Variable(zeros(shape)));
    state->gradients.push_back(lcg(200 + i, shape));
  }
  auto step = function([state](const std::vector<Tensor> &gradients, const Tensor &rate) {
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      const Tensor &g = gradients[i];
      state->moments[i].assign(0.9f * state->moments[i] + 0.1f * g);
      state->squares[i].assign(0.999f * state->squares[i] + 0.001f * g * g);
      state->parameters[i].assign_sub(rate * state->moments[i] / (sqrt(state->squares[i]) + 1e-7f));
    }
    return state->parameters[0].value();
  });
  // A rate of 0 leaves the parameters as they are, so that every step has the same check.
  return {[state, step, rate = scalar(0.f)] { return step(state->gradients, rate); }, sumOf};
}

// A model of layers, and the data of an epoch of its training, in an order that stays. A rate of 0 leaves the weights
// as they are, so that every epoch has the same loss, which is the check.
struct Training {
  Sequential model;
  optimizers::Optimizer optimizer;
  data::Dataset<> batches;
};

data::Dataset<> batchesOf(const Tensor &x, std::int64_t size) {
  const std::int64_t examples = x.shape()[0];
  return data::from_tensor_slices(x, cyclicLabels(examples))
      .shuffle(examples, {.seed = 1, .reshuffle_each_iteration = false})
      .batch(size)
      .prefetch(2);
}

Training mlpTraining() {
  using layers::Dense;
  Training training{Sequential{layers::Input({784}), Dense(512, {.activation = "relu"}),
                               Dense(512, {.activation = "relu"}), Dense(10)},
                    optimizers::SGD(0.0), batchesOf(lcg(30, {2560, 784}), 128)};
  std::vector<Tensor> weights;
  for (const Variable &parameter : Mlp().parameters)
    weights.push_back(parameter.value());
  training.model.set_weights(weights);
  return training;
}

Training cnnTraining() {
  using namespace layers;
  Training training{Sequential{Input({28, 28, 1})}, optimizers::Adam(0.0),
                    batchesOf(lcg(60, {1280, 28, 28, 1}, 0, 1), 64)};
  for (auto [filters, isLast] : {std::pair(16, true), {32, false}, {32, true}, {64, false}, {64, false}, {64, true}}) {
    training.model.add(Conv2D(filters, 3, {.padding = "same", .activation = "relu"}));
    training.model.add(BatchNormalization());
    if (isLast)
      training.model.add(MaxPool2D(2));
  }
  training.model.add(Flatten());
  training.model.add(Dense(256, {.activation = "relu"}));
  training.model.add(BatchNormalization());
  training.model.add(Dense(10));
  Cnn cnn;
  std::vector<Tensor> weights;
  for (std::size_t i = 0; i < 7; ++i) { // kernel, bias, gamma, beta, mean, variance
    for (std::size_t j = 0; j < 4; ++j)
      weights.push_back(cnn.parameters[4 * i + j].value());
    weights.push_back(zeros(weights.back().shape()));
    weights.push_back(ones(weights.back().shape()));
  }
  weights.push_back(cnn.parameters[28].value());
  weights.push_back(cnn.parameters[29].value());
  training.model.set_weights(weights);
  return training;
}

Work fitEpoch(Training training) {
  training.model.compile({.optimizer = training.optimizer,
                          .loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
                          .metrics = {"accuracy"}});
  return {[training]() mutable {
            History history = training.model.fit(training.batches, {.verbose = 0});
            return scalar(history.history.at("loss")[0]);
          },
          sumOf};
}

// The same written out, as docs/training.md has it.
Work loopEpoch(const Training &training) {
  losses::SparseCategoricalCrossentropy lossOf({.from_logits = true});
  metrics::Mean loss;
  metrics::SparseCategoricalAccuracy accuracy;
  auto step = function([=, model = training.model, optimizer = training.optimizer](const Tensor &x, const Tensor &y) {
    GradientTape tape;
    Tensor logits = model(x, {.training = true});
    Tensor value = lossOf(y, logits);
    std::vector<Variable> weights = model.trainable_variables();
    optimizer.apply_gradients(tape.gradient(value, weights), weights);
    loss.update_state(value);
    accuracy.update_state(y, logits);
  });
  return {[=] {
            loss.reset_state();
            accuracy.reset_state();
            for (const auto &[x, y] : training.batches)
              step(x, y);
            return loss.result();
          },
          sumOf};
}

std::vector<Case> allCases() {
  std::vector<Case> cases;
  auto add = [&](std::string name, std::function<Work()> make) { cases.push_back({std::move(name), std::move(make)}); };
  add("call_overhead", [] { return compiled([](const Tensor &x) { return x + 1.f; }, scalar(1.f)); });
  add("eager_add", [] { return Work{[x = lcg(1, {8}), y = lcg(2, {8})] { return x + y; }, sumOf}; });

  const std::int64_t products[][3] = {{16, 16, 16},    {32, 32, 32},    {64, 64, 64},       {128, 128, 128},
                                      {256, 256, 256}, {512, 512, 512}, {1024, 1024, 1024}, {64, 3136, 256},
                                      {64, 256, 10},   {1, 1024, 1024}};
  for (auto [m, k, n] : products)
    add("gemm_" + std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n), [=] {
      return compiled([](const Tensor &x, const Tensor &y) { return matmul(x, y); }, lcg(1, {m, k}), lcg(2, {k, n}));
    });
  // Products of bytes with sums of 32 bits, as quantised models have them, and of halves.
  auto bytes = [](DType dtype) {
    return [=] {
      const Tensor x = cast(lcg(1, {1024, 1024}, dtype == DType::UInt8 ? 0 : -128, dtype == DType::UInt8 ? 255 : 127),
                            dtype),
                   y = cast(lcg(2, {1024, 1024}, -128, 127), DType::Int8);
      return compiled(
          [](const Tensor &a, const Tensor &b) { return matmul(cast(a, DType::Int32), cast(b, DType::Int32)); }, x, y);
    };
  };
  add("gemm_int8", bytes(DType::Int8));
  add("gemm_uint8", bytes(DType::UInt8));
  for (DType dtype : {DType::Float16, DType::BFloat16})
    add("gemm_" + std::string(name_of(dtype)), [dtype] {
      return compiled([](const Tensor &x, const Tensor &y) { return matmul(x, y); }, cast(lcg(1, {1024, 1024}), dtype),
                      cast(lcg(2, {1024, 1024}), dtype));
    });
  add("power100", power100);
  add("matmul_1000_x200", matmulChain);
  add("conv_200", [] {
    return compiled([](const Tensor &x, const Tensor &w) { return conv2d(x, w, {1, 1}, "valid"); },
                    lcg(5, {1, 200, 200, 100}), lcg(6, {3, 3, 100, 100}));
  });

  // Linear algebra: batches of small matrices, and large ones.
  for (auto [count, n] :
       {std::pair<std::int64_t, std::int64_t>{10'000, 3}, {10'000, 6}, {10'000, 12}, {1, 100}, {1, 500}}) {
    const std::string suffix = "_" + std::to_string(count) + "x" + std::to_string(n);
    auto matrices = [count = count, n = n] { // symmetric and positive definite
      Tensor x = lcg(21, {count, n, n}, -1, 1);
      return matmul(x, x, {.transpose_b = true}) + static_cast<float>(n) * eye(n);
    };
    add("cholesky" + suffix, [=] { return compiled([](const Tensor &a) { return linalg::cholesky(a); }, matrices()); });
    add("inv" + suffix, [=] { return compiled([](const Tensor &a) { return linalg::inv(a); }, matrices()); });
    add("solve" + suffix, [=, count = count, n = n] {
      return compiled([](const Tensor &a, const Tensor &b) { return linalg::solve(a, b); }, matrices(),
                      lcg(22, {count, n, 1}));
    });
    add("eigh" + suffix, [=] { return compiled([](const Tensor &a) { return linalg::eigh(a).values; }, matrices()); });
    add("svd" + suffix, [=] { return compiled([](const Tensor &a) { return linalg::svdvals(a); }, matrices()); });
  }

  // Fourier transforms: single ones, of which one is of a prime length, a batch, three dimensions, and a gradient.
  auto waves = [](const Shape &shape) { return complex(lcg(23, shape, -1, 1), lcg(24, shape, -1, 1)); };
  for (std::int64_t n : {1024, 1009, 65'536, 1'048'576})
    add("fft_" + std::to_string(n), [=] { return compiled([](const Tensor &z) { return fft::fft(z); }, waves({n})); });
  add("fft_1000x1024", [=] { return compiled([](const Tensor &z) { return fft::fft(z); }, waves({1000, 1024})); });
  add("rfft_1000x1024",
      [] { return compiled([](const Tensor &x) { return fft::rfft(x); }, lcg(23, {1000, 1024}, -1, 1)); });
  add("fftn_128x128x128",
      [=] { return compiled([](const Tensor &z) { return fft::fftn(z); }, waves({128, 128, 128})); });
  add("fft_1000x1024_grad", [=] {
    return compiled(grad([](const Tensor &z) { return sum(square(abs(fft::fft(z)))); }), waves({1000, 1024}));
  });

  // Eight photographs, made larger, and the gradient with respect to them.
  add("resize_linear",
      [] { return compiled([](const Tensor &x) { return image::resize(x, {256, 256}); }, lcg(40, {8, 224, 224, 3})); });
  add("resize_linear_grad", [] {
    return compiled(
        [](const Tensor &x) {
          return grad([](const Tensor &x) { return sum(square(image::resize(x, {256, 256}))); })(x);
        },
        lcg(40, {8, 224, 224, 3}));
  });
  add("gelu_bias", [] {
    return compiled([](const Tensor &x, const Tensor &bias) { return gelu(x + bias); }, matrix(), lcg(8, {kColumns}));
  });
  add("softmax", [] { return compiled([](const Tensor &x) { return softmax(x, -1); }, matrix()); });
  add("layernorm", [] { return compiled(layerNorm, matrix(), lcg(9, {kColumns}), lcg(10, {kColumns})); });
  add("layernorm_grad", layerNormGradient);
  add("sum_all", [] { return compiled([](const Tensor &x) { return sum(x); }, matrix()); });
  add("mlp_step", mlpStep);
  add("mnist_cnn_step", cnnStep);
  add("mnist_cnn_forward", cnnForward);
  add("transformer_block_step", transformerStep);
  add("adam_100", adamOfMany);
  add("black_scholes_greeks", blackScholesGreeks);
  add("hessian_32", hessianOfTanh);
  add("lstm_grad", lstmGradient);
  add("scalar_loop", scalarLoop);
  add("scalar_loop_ops", scalarLoopOps);
  add("linreg_300_steps", lineTraining);
  // Against the cases of the same names without `_any`: what it costs to know the sizes only when called.
  add("gemm_512x512x512_any", [] {
    TensorSpec<> any = TensorSpec<float>({kDynamic, kDynamic});
    return compiledForAll([](const Tensor &x, const Tensor &y) { return matmul(x, y); }, {any, any}, lcg(1, {512, 512}),
                          lcg(2, {512, 512}));
  });
  add("softmax_any", [] {
    return compiledForAll([](const Tensor &x) { return softmax(x, -1); }, {TensorSpec<float>({kDynamic, kDynamic})},
                          matrix());
  });
  add("mlp_step_any", mlpStepForAll);
  add("mnist_cnn_step_any", cnnStepForAll);
  // An epoch of 20 steps by fit(), and beside it as a loop of one's own.
  add("mlp_fit", [] { return fitEpoch(mlpTraining()); });
  add("mlp_loop", [] { return loopEpoch(mlpTraining()); });
  add("mnist_cnn_fit", [] { return fitEpoch(cnnTraining()); });
  add("mnist_cnn_loop", [] { return loopEpoch(cnnTraining()); });
  return cases;
}

} // namespace

int main(int argc, char **argv) {
  set_seed(0);
  return runCases(allCases(), compilePrograms(), argc, argv);
}
