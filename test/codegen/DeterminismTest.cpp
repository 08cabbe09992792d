// Results don't depend on the number of threads, nor on the run: bit for bit.
#include "test/codegen/SmallCnn.h"

using namespace calque;
using namespace calque::testing;

namespace {

// The same inputs twice on each number of threads.
void expectSameOnAllThreads(const ManyBody &body, const std::vector<Tensor> &inputs) {
  auto f = compile(body);
  set_num_threads(1);
  std::vector<Tensor> first = f(inputs);
  for (int threads : {1, 2, 3, 7})
    for (int run = 0; run < 2; ++run) {
      set_num_threads(threads);
      std::vector<Tensor> again = f(inputs);
      SCOPED_TRACE(std::to_string(threads) + " threads, run " + std::to_string(run));
      for (std::size_t i = 0; i < first.size(); ++i)
        expectSameBits(first[i], again[i]);
      if (::testing::Test::HasFailure())
        break;
    }
  set_num_threads(0);
}

std::vector<Tensor> inputsOf(const std::vector<Shape> &shapes) {
  std::mt19937 random(24);
  std::vector<Tensor> inputs;
  for (const Shape &shape : shapes)
    inputs.push_back(operand(random, shape, DType::Float32));
  return inputs;
}

} // namespace

TEST(Determinism, OfContractions) {
  auto body = [](const std::vector<Tensor> &in) { return std::vector<Tensor>{matmul(in[0], in[1])}; };
  expectSameOnAllThreads(body, inputsOf({{257, 300}, {300, 129}}));
  expectSameOnAllThreads(body, inputsOf({{3, 100'003}, {100'003, 3}}));
  expectSameOnAllThreads(body, inputsOf({{1, 700}, {700, 1000}}));
  expectSameOnAllThreads(body, inputsOf({{9, 65, 33}, {9, 33, 65}}));
  auto transposed = [](const std::vector<Tensor> &in) {
    return std::vector<Tensor>{matmul(in[0], in[1], {.transpose_a = true, .transpose_b = true})};
  };
  expectSameOnAllThreads(transposed, inputsOf({{3000, 64}, {10, 3000}}));
}

TEST(Determinism, OfConvolutions) {
  expectSameOnAllThreads(
      [](const std::vector<Tensor> &in) {
        GradientTape tape;
        tape.watch(in[0]);
        tape.watch(in[1]);
        Tensor y = conv2d(in[0], in[1], {1, 1}, "same");
        auto gradients = tape.gradient(sum(y * y), std::vector<Tensor>{in[0], in[1]});
        return std::vector<Tensor>{y, *gradients[0], *gradients[1]};
      },
      inputsOf({{17, 13, 11, 9}, {3, 3, 9, 19}}));
}

TEST(Determinism, OfReductions) {
  for (const Shape &shape : {Shape{100'003}, Shape{3, 40'009}, Shape{40'009, 3}, Shape{301, 257}, Shape{33, 50, 41}})
    expectSameOnAllThreads(
        [](const std::vector<Tensor> &in) {
          return std::vector<Tensor>{sum(in[0]),      sum(in[0], {0}),           sum(in[0], {-1}),
                                     max(in[0], {0}), mean(in[0] * in[0], {-1}), softmax(in[0])};
        },
        inputsOf({shape}));
}

TEST(Determinism, OfElementwiseCodeAndMovement) {
  expectSameOnAllThreads(
      [](const std::vector<Tensor> &in) {
        Tensor turned = transpose(in[0]);
        return std::vector<Tensor>{tanh(in[0] * in[1] + 1),
                                   turned,
                                   turned + turned,
                                   exp(in[0]) > 1,
                                   pad(in[0], {3, 5}, {1, 2}),
                                   concat({in[0], in[0]}, 1),
                                   random::stateless_uniform({400, 100}, random::state(7, 0))};
      },
      inputsOf({{401, 257}, {257}}));
}

TEST(Determinism, OfPooling) {
  expectSameOnAllThreads(
      [](const std::vector<Tensor> &in) {
        GradientTape tape(GradientTapeOptions{.persistent = true});
        tape.watch(in[0]);
        Tensor tiled = max_pool2d(in[0], {2, 2}, {2, 2}), overlapping = max_pool2d(in[0], {3, 3}, {2, 2}, "same");
        return std::vector<Tensor>{tiled, overlapping, *tape.gradient(sum(tiled), in[0]),
                                   *tape.gradient(sum(overlapping), in[0])};
      },
      inputsOf({{9, 27, 25, 17}}));
}

TEST(Determinism, OfStores) {
  expectSameOnAllThreads(
      [](const std::vector<Tensor> &in) {
        GradientTape tape;
        tape.watch(in[0]);
        // Half of all rows are the first one.
        Tensor place = cast(maximum(in[1], 0.0f) * 70.0f, DType::Int64) % scalar(std::int64_t(301));
        Tensor rows = gather(in[0], place), columns = take_along_axis(in[0], reshape(place, {-1, 37}), 0);
        Tensor gradient = *tape.gradient(sum(rows * in[2]) + sum(sin(columns)), in[0]);
        return std::vector<Tensor>{gradient, scatter_add(in[0], place, in[2]), cumsum(in[0], 0), cumsum(in[0], 1),
                                   cumprod(in[2], 0)};
      },
      inputsOf({{301, 37}, {37 * 200}, {37 * 200, 37}}));
}

TEST(Determinism, OfGroups) {
  for (const Shape &shape : {Shape{4099, 37}, Shape{1030, 515}, Shape{40'009, 3}})
    expectSameOnAllThreads(
        [](const std::vector<Tensor> &in) {
          GradientTape tape;
          for (const Tensor &x : in)
            tape.watch(x);
          Tensor centred = in[0] - mean(in[0], {-1}, true), scale = rsqrt(mean(centred * centred, {-1}, true) + 1e-5);
          Tensor y = centred * scale * in[1];
          auto gradients = tape.gradient(sum(tanh(y)), in);
          return std::vector<Tensor>{y, *gradients[0], *gradients[1]};
        },
        inputsOf({shape, {shape[1]}}));
}

TEST(Determinism, OfATrainingStep) {
  std::vector<std::vector<Tensor>> after;
  std::vector<Tensor> initial;
  SmallCnn model;
  for (const Variable &parameter : model.parameters)
    initial.push_back(parameter.value());
  auto step = function([&](const Tensor &x, const Tensor &y) { return model.step(x, y); });
  for (int threads : {1, 1, 2, 3, 7}) {
    set_num_threads(threads);
    for (std::size_t i = 0; i < initial.size(); ++i)
      model.parameters[i].assign(initial[i]);
    for (int i = 0; i < 3; ++i)
      step(SmallCnn::images(i), SmallCnn::labels());
    after.emplace_back();
    for (const Variable &parameter : model.parameters)
      after.back().push_back(parameter.value());
  }
  set_num_threads(0);
  EXPECT_EQ(step.trace_count(), 1);
  for (std::size_t run = 1; run < after.size(); ++run)
    for (std::size_t i = 0; i < initial.size(); ++i)
      expectSameBits(after[0][i], after[run][i]);
}
