// Values that TensorFlow's notebooks print, or that follow from what they define, and that the ports in
// examples/notebooks do not show: above all their cells compiled, which the ports run line by line.
#include "Testing.h"

#include <chrono>

using namespace calque;
using namespace calque::testing;

namespace {

using Optional = std::optional<Tensor>;

// Line by line, and compiled.
template <typename F> void expectBoth(F f, const std::vector<std::vector<double>> &expected) {
  for (const std::vector<Tensor> &found : {f(), function(f)()}) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      expectNear(found[i], expected[i], 1e-6);
  }
}

} // namespace

//===-- The guide to automatic differentiation ----------------------------------------------------===//

TEST(NotebookOfTapes, CellsAreThoseOfCompiledCode) {
  Variable x(3.0);
  expectBoth( // cells 2 and 3
      [&] {
        GradientTape tape;
        Tensor y = pow(x, 2);
        return std::vector{tape.gradient(y, x).value()};
      },
      {{6}});
  Variable w(ones({3, 2})), b(zeros({2}));
  Tensor row = tensor({{1., 2., 3.}});
  const std::vector<double> dw{6, 6, 12, 12, 18, 18}, db{6, 6};
  auto loss = [&] { return mean(pow(matmul(row, w) + b, 2)); };
  expectBoth( // cells 4 to 6, and 7 with a map
      [&] {
        GradientTape tape({.persistent = true});
        Tensor l = loss();
        auto pair = tape.gradient(l, std::pair(w, b));
        auto map = tape.gradient(l, std::map<std::string, Variable>{{"w", w}, {"b", b}});
        return std::vector{*pair.first, *pair.second, *map.at("w"), *map.at("b")};
      },
      {dw, db, dw, db});
  expectBoth( // cell 15: at an intermediate value
      [&] {
        GradientTape tape;
        Tensor y = x * x, z = y * y;
        return std::vector{tape.gradient(z, y).value()};
      },
      {{18}});
  Tensor two = tensor({1.0, 3.0});
  expectBoth( // cells 16 and 17
      [&] {
        GradientTape tape({.persistent = true});
        tape.watch(two);
        Tensor y = two * two, z = y * y;
        return std::vector{tape.gradient(z, two).value(), tape.gradient(y, two).value()};
      },
      {{4, 108}, {2, 6}});
  Variable at2(2.0);
  expectBoth( // several targets
      [&] {
        GradientTape tape;
        Tensor y0 = pow(at2, 2), y1 = 1 / at2;
        return std::vector{tape.gradient({y0, y1}, at2).value()};
      },
      {{3.75}});
  expectBoth( // x^x
      [&] {
        GradientTape tape;
        Tensor y = pow(x, x);
        return std::vector{tape.gradient(y, x).value()};
      },
      {{27 * (1 + std::log(3.0))}}); // 56.6625
}

TEST(NotebookOfTapes, NoneIsKnownWhileTracing) {
  std::vector<bool> found;
  auto note = [&](const Optional &gradient) { found.push_back(gradient.has_value()); };
  // Cells 10 to 12: trainable, not trainable, a variable plus 1, a constant.
  Variable x0(3.0), x1(3.0, {.trainable = false}), x3(1.0);
  Tensor constant = scalar(3.0);
  auto watched = [&] {
    GradientTape tape({.persistent = true});
    Tensor x2 = x3 + 1.0;
    Tensor y = pow(x0, 2) + pow(x1, 2) + pow(constant, 2);
    Optional of0 = tape.gradient(y, x0);
    note(of0);
    note(tape.gradient(y, x1));
    note(tape.gradient(y, x2));
    note(tape.gradient(y, constant));
    return *of0;
  };
  // Cells 22, 23 and 25: integers, state, zeros instead.
  Variable sum0(3.0), sum1(0.0), pair(tensor({2., 2.}));
  auto others = [&] {
    WarningHandler before = set_warning_handler([](const Warning &) {});
    Tensor ten = scalar(10);
    GradientTape integers;
    integers.watch(ten);
    Tensor product = ten * ten;
    note(integers.gradient(product, ten));
    set_warning_handler(before);
    GradientTape tape({.persistent = true});
    sum1.assign(0.0);
    sum1.assign_add(sum0);
    Tensor y = pow(sum1, 2);
    note(tape.gradient(y, sum0));
    return tape.gradient(y, pair, UnconnectedGradients::Zero).value();
  };
  for (bool compiles : {false, true}) {
    found.clear();
    EXPECT_EQ((compiles ? function(watched)() : watched()).item<float>(), 6);
    EXPECT_EQ(found, (std::vector<bool>{true, false, false, false}));
    found.clear();
    expectNear(compiles ? function(others)() : others(), {0, 0});
    EXPECT_EQ(found, (std::vector<bool>{false, false}));
    EXPECT_EQ(sum1.item<float>(), 3);
  }
}

// Cell 18: the gradient goes through the branch that ran. Compiled, the variable of the other branch has zeros: which
// one runs is not known while tracing.
TEST(NotebookOfTapes, ABranchIsTaken) {
  Variable v0(2.0), v1(2.0);
  auto cell = [&](const Tensor &x) {
    GradientTape tape({.persistent = true});
    tape.watch(x);
    Tensor result;
    if (sum(x) > 0.0)
      result = v0;
    else
      result = pow(v1, 2);
    // A line each, by which paths know that a source is connected on none of them.
    auto d0 = tape.gradient(result, v0);
    auto d1 = tape.gradient(result, v1);
    auto dx = tape.gradient(result, x);
    return std::tuple(result, d0, d1, dx);
  };
  auto compiled = function(cell);
  for (double sign : {1.0, -1.0}) {
    Tensor x = tensor({sign, sign});
    auto [value, d0, d1, dx] = cell(x);
    auto [compiledValue, compiled0, compiled1, compiledX] = compiled(x);
    const bool isPositive = sign > 0;
    EXPECT_EQ(value.item<float>(), isPositive ? 2 : 4);
    EXPECT_EQ(compiledValue.item<float>(), isPositive ? 2 : 4);
    EXPECT_EQ(d0.has_value(), isPositive);
    EXPECT_EQ(d1.has_value(), !isPositive);
    EXPECT_FALSE(dx || compiledX);
    expectNear(*(isPositive ? d0 : d1), {isPositive ? 1.0 : 4.0});
    expectNear(compiled0.value(), {isPositive ? 1.0 : 0.0});
    expectNear(compiled1.value(), {isPositive ? 0.0 : 4.0});
  }
  EXPECT_EQ(compiled.trace_count(), 1);
}

//===-- Eager execution ---------------------------------------------------------------------------===//

TEST(NotebookOfEagerExecution, FunctionsOfGradients) {
  auto square = [](const Tensor &x) { return x * x; };
  EXPECT_EQ(grad(grad(grad(square)))(3.).item<float>(), 0); // TensorFlow gives none: functions give zeros
  expectNear(grad(square, {.argnums = {0}})(3.)[0], {6});   // as a list
  auto absolute = [](const Tensor &x) { return x > 0. ? x : -x; };
  for (double sign : {1.0, -1.0}) {
    Tensor x = scalar(3 * sign);
    EXPECT_EQ(function(grad(absolute))(x).item<float>(), sign);
    EXPECT_EQ(jvp(absolute, x, scalar(1.0)).second.item<float>(), sign);
    expectNear(vmap(grad(absolute))(stack({x, -x})), {sign, -sign});
    EXPECT_EQ(hessian(absolute)(x).item<float>(), 0);
  }
  auto log1pexp = [](const Tensor &x) { return log(1 + exp(x)); };
  auto better = custom_gradient([](const Tensor &x) {
    Tensor e = exp(x);
    return std::pair(log(1 + e), [e](const Tensor &dy) { return dy * (1 - 1 / (1 + e)); });
  });
  EXPECT_EQ(function(grad(log1pexp))(0.).item<float>(), 0.5f);
  EXPECT_TRUE(std::isnan(function(grad(log1pexp))(100.).item<float>()));
  EXPECT_EQ(function(grad(better))(0.).item<float>(), 0.5f);
  EXPECT_EQ(function(grad(better))(100.).item<float>(), 1);
}

// With as many steps as the line search has rounds, x is (1, 2) - rate * (4, 32): the rate is 1/64 after 7.
TEST(NotebookOfEagerExecution, TheLineSearchTakesSevenRounds) {
  auto f = [](const Tensor &x) { return sum(pow(x, 4)); };
  auto search = [&](const Tensor &start, Tensor rate) {
    auto [first, slope] = value_and_grad(f)(start);
    Tensor norm = sum(slope * slope), x = start, value = first, rounds = scalar(0);
    while (value > first - rate * norm) {
      x = start - rate * slope;
      value = f(x);
      rate /= 2;
      rounds += 1;
    }
    return std::tuple(x, value, rounds);
  };
  auto compiled = function(search);
  for (auto [x, value, rounds] : {search(tensor({1., 2.}), scalar(1.)), compiled(tensor({1., 2.}), 1.)}) {
    expectNear(x, {0.9375, 1.5});
    expectNear(value, {5.834976}, 1e-7);
    EXPECT_EQ(rounds.item<int>(), 7);
  }
}

// On a line without noise, whose inputs have a mean of 0 and a mean square of 1, the distances from 3 and 2 shrink by
// 1 - 2 * 0.01 in each step.
TEST(NotebookOfEagerExecution, TheLineIsFittedAsItsStepsSay) {
  Variable w(5.), b(10.);
  Tensor inputs = tensor({1., -1., 1., -1.}), outputs = 3 * inputs + 2;
  optimizers::SGD sgd(0.01);
  auto loss = [&] { return mean(square(inputs * w + b - outputs)); };
  EXPECT_FLOAT_EQ(loss().item<float>(), 2 * 2 + 8 * 8); // and 1 of the notebook's noise: 69
  auto step = function([&] { sgd.minimize(loss, {w, b}); });
  auto expectLine = [&](int steps, double slope, double offset) {
    while (std::int64_t(sgd.iterations().item<std::int64_t>()) < steps)
      step();
    const double shrunk = std::pow(0.98, steps);
    EXPECT_NEAR(w.item<float>(), 3 + 2 * shrunk, 1e-5);
    EXPECT_NEAR(b.item<float>(), 2 + 8 * shrunk, 1e-5);
    EXPECT_NEAR(w.item<float>(), slope, 5e-4 + 5e-3);
    EXPECT_NEAR(b.item<float>(), offset, 5e-4 + 5e-3);
  };
  expectLine(200, 3.04, 2.14);
  expectLine(300, 3.005, 2.019);
  EXPECT_NEAR(loss().item<float>(), (2 * 2 + 8 * 8) * std::pow(0.98, 600), 1e-6);
}

//===-- Functions and control flow ----------------------------------------------------------------===//

TEST(NotebookOfFunctions, IntegersDivide) {
  auto all = [](const Tensor &a, const Tensor &b) {
    return std::vector{floor_divide(a, b), mod(a, b), a / b, pow(a, b)};
  };
  for (const std::vector<Tensor> &found : {all(scalar(-3), scalar(2)), function(all)(-3, 2)}) {
    std::vector<int> values;
    for (const Tensor &each : found)
      values.push_back(each.item<int>());
    EXPECT_EQ(values, (std::vector<int>{-2, 1, -1, 9})); // Python's // and %, and C++'s /
  }
}

TEST(NotebookOfFunctions, ALoopOverATensorRangeIsTracedOnce) {
  auto f = function([](const Tensor &n) {
    Tensor all = cast(n * 0, DType::Int64);
    for (Tensor i : range(n))
      all += i;
    return all;
  });
  for (int n : {0, 1, 5, 1000})
    EXPECT_EQ(f(n).item<std::int64_t>(), n * (n - 1) / 2);
  EXPECT_EQ(f.trace_count(), 1);
}

// The notebook's host loop. Compile times that grew faster than its square made 343 s of this.
TEST(NotebookOfFunctions, FiveThousandUnrolledRounds) {
  auto rounds = [](const Tensor &x) {
    Tensor y = x;
    for (int i = 0; i < 5000; ++i)
      y = tanh(y) * 1.01 + x;
    return y;
  };
  Tensor x = tensor({0.25, -0.5, 1.0});
  const auto start = std::chrono::steady_clock::now();
  Tensor compiled = function(rounds)(x);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(120));
  EXPECT_EQ(compiled.to_vector<float>(), rounds(x).to_vector<float>());
}

TEST(NotebookOfFunctions, RowsAtThreeHundredPlacesAreOneProgram) {
  Tensor images = reshape(iota({600, 4, 4, 1}, DType::Int32), {600, 4, 4, 1});
  images.rows(0, 64);
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < 300; ++i) {
    Tensor batch = images.rows(i, i + 64);
    EXPECT_EQ(batch.shape(), (Shape{64, 4, 4, 1}));
    EXPECT_EQ(batch.data<int>()[0], i);
  }
  // 10 ms where nothing else runs. To compile each took 2.7 s.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

//===-- The notebook on Keras ---------------------------------------------------------------------===//

// K.function([model.input], [outputs, gradients]) of 1 and of 10,000 examples: one trace for both, and after the
// softmax no gradient.
TEST(NotebookOfKeras, OutputsAndGradientsOfTenThousandExamples) {
  using namespace layers;
  SymbolicTensor vis = Input({8, 8});
  SymbolicTensor x = Conv2D(4, 3, {.padding = "same", .activation = "relu"})(Reshape({8, 8, 1})(vis));
  SymbolicTensor logits = Dense(10, {.name = "logits"})(Flatten()(MaxPool2D(2)(x)));
  models::Functional model(vis, Softmax()(logits));
  SymbolicTensors outputs;
  for (const Layer &layer : model.layers())
    outputs.push_back(layer.output());
  models::Functional features(model.inputs(), outputs);
  auto f = function(
      [&](const Tensor &images) {
        GradientTape tape;
        tape.watch(images);
        std::vector<Tensor> values = features.apply(images).tensors();
        return std::pair(values, tape.gradient(values.back(), values));
      },
      {.input_signature = {TensorSpec<float>({kDynamic, 8, 8})}});
  for (std::int64_t examples : {1, 10'000}) {
    auto [values, gradients] = f(random::uniform({examples, 8, 8}));
    EXPECT_EQ(values.back().shape(), (Shape{examples, 10}));
    expectNear(sum(values.back()) / static_cast<double>(examples), {1}, 1e-5);
    for (std::size_t i = 0; i + 1 < gradients.size(); ++i) {
      EXPECT_EQ(gradients[i]->shape(), values[i].shape());
      EXPECT_LT(max(abs(*gradients[i])).item<float>(), 1e-5f);
    }
  }
  EXPECT_EQ(f.trace_count(), 1);
}
