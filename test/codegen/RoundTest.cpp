// Operations whose pieces share the threads give what they give one by one, eagerly, bit for bit.
#include "test/codegen/Testing.h"

#include <thread>

using namespace calque;
using namespace calque::testing;

namespace {

// Sizes that are many pieces, one and less than one, and that leave a rest.
const std::vector<Shape> kMixed = {{300, 400}, {400},      {100'003}, {7},    {64, 64}, {},        {33, 50, 129}, {64},
                                   {1},        {257, 129}, {0, 5},    {4099}, {2, 3},   {500, 70}, {16'384}};

std::vector<Tensor> inputsOf(const std::vector<Shape> &shapes, unsigned seed = 44) {
  std::mt19937 random(seed);
  std::vector<Tensor> inputs;
  for (const Shape &shape : shapes)
    inputs.push_back(operand(random, shape, DType::Float32));
  return inputs;
}

std::vector<Variable> variablesOf(const std::vector<Tensor> &values) {
  return std::vector<Variable>(values.begin(), values.end());
}

// A step that assigns variables, against the same step run eagerly on others, on each number of threads.
using Step = std::function<void(std::vector<Variable> &, const std::vector<Tensor> &)>;
void expectAsEagerly(const std::vector<Tensor> &initial, const std::vector<Tensor> &inputs, const Step &step,
                     bool joins = true) {
  std::vector<Variable> eager = variablesOf(initial);
  for (int i = 0; i < 3; ++i)
    step(eager, inputs);
  for (int threads : {1, 2, 3, 7}) {
    SCOPED_TRACE(std::to_string(threads) + " threads");
    set_num_threads(threads);
    std::vector<Variable> compiled = variablesOf(initial);
    auto f = function([&](const std::vector<Tensor> &given) { step(compiled, given); });
    for (int i = 0; i < 3; ++i)
      f(inputs);
    for (std::size_t i = 0; i < eager.size() && !::testing::Test::HasFailure(); ++i) {
      SCOPED_TRACE("variable " + std::to_string(i));
      expectSameBits(eager[i].value(), compiled[i].value());
    }
    EXPECT_EQ(f.ir("schedule", inputs).find("share the threads") != std::string::npos, joins);
  }
  set_num_threads(0);
}

} // namespace

TEST(Rounds, OfUpdates) {
  std::vector<Tensor> weights = inputsOf(kMixed), gradients = inputsOf(kMixed, 45), initial;
  for (const Tensor &weight : weights)
    initial.insert(initial.end(), {weight, zeros(weight.shape()), zeros(weight.shape())});
  expectAsEagerly(initial, gradients, [](std::vector<Variable> &of, const std::vector<Tensor> &gradients) {
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      Variable &weight = of[3 * i], &moment = of[3 * i + 1], &square = of[3 * i + 2];
      const Tensor &g = gradients[i];
      moment.assign(0.9f * moment + 0.1f * g);
      square.assign(0.999f * square + 0.001f * g * g);
      weight.assign_sub(0.01f * moment / (sqrt(square) + 1e-7f));
    }
  });
}

// An update that reads what another one writes runs before it or behind it, as the program says.
TEST(Rounds, KeepTheOrderOfWhatDepends) {
  std::vector<Tensor> initial = inputsOf(std::vector<Shape>(6, {300, 401}));
  // What reads the same input would be a group.
  std::vector<Tensor> inputs = inputsOf(std::vector<Shape>(4, {300, 401}), 46);
  expectAsEagerly(initial, inputs, [](std::vector<Variable> &v, const std::vector<Tensor> &in) {
    v[0].assign(v[0] + v[1] * in[0]); // reads 1 before it is written
    v[1].assign(v[1] * 0.5f - in[1]);
    v[2].assign_add(v[1]); // and behind it
    v[3].assign_sub(in[2]);
    v[3].assign(v[3] * v[3]); // twice
    v[4].assign_add(v[3]);
    v[5].assign_add(in[3]);
    v[0].assign_sub(v[5]);
  });
}

TEST(Rounds, AreNoneWhereEachUpdateNeedsTheOneBefore) {
  expectAsEagerly(
      inputsOf({{300, 401}, {300, 401}, {300, 401}}), {},
      [](std::vector<Variable> &v, const std::vector<Tensor> &) {
        v[1].assign(tanh(v[0]) + v[1]);
        v[2].assign(tanh(transpose(reshape(v[1], {401, 300}))) + v[2]);
        v[0].assign(tanh(transpose(reshape(v[2], {401, 300}))) + v[0]);
      },
      /*joins=*/false);
}

// The values that two products leave for a round live until all of it has read them.
TEST(Rounds, BehindAndBetweenProducts) {
  std::vector<Tensor> initial = inputsOf({{64, 80}, {80}, {80, 300}, {300}, {300, 90}, {90}});
  std::vector<Tensor> x = inputsOf({{128, 64}}, 47);
  auto step = [](std::vector<Variable> &v, const std::vector<Tensor> &in) {
    GradientTape tape;
    Tensor h = in[0];
    for (std::size_t i = 0; i < v.size(); i += 2)
      h = tanh(matmul(h, v[i]) + v[i + 1]);
    auto gradients = tape.gradient(sum(h * h), v);
    for (std::size_t i = 0; i < v.size(); ++i)
      v[i].assign_sub(*gradients[i] * 0.001f);
  };
  // Sums of eager kernels have another order: the bits are compared between numbers of threads.
  std::vector<std::vector<Tensor>> results;
  for (int threads : {1, 2, 3, 7}) {
    set_num_threads(threads);
    std::vector<Variable> of = variablesOf(initial);
    auto f = function([&](const std::vector<Tensor> &given) { step(of, given); });
    for (int i = 0; i < 3; ++i)
      f(x);
    std::vector<Tensor> &values = results.emplace_back();
    for (const Variable &each : of)
      values.push_back(each.value());
    for (std::size_t i = 0; i < values.size(); ++i)
      expectSameBits(results[0][i], values[i]);
  }
  set_num_threads(0);
}

TEST(Rounds, OfResultsAndOfWhatOnlyLivesInBetween) {
  auto body = [](const std::vector<Tensor> &in) {
    std::vector<Tensor> a, b;
    for (const Tensor &x : in)
      a.push_back(tanh(x) * 3);
    for (const Tensor &x : a) // reads across the direction in which the one before is written
      b.push_back(reshape(transpose(x) + 1, {-1}));
    std::vector<Tensor> all = a;
    all.insert(all.end(), b.begin(), b.end());
    return all;
  };
  std::vector<Tensor> inputs = inputsOf({{300, 200}, {31, 17}, {128, 1000}, {64, 64}, {65, 63}});
  std::vector<Tensor> eager = body(inputs);
  for (int threads : {1, 2, 4}) {
    set_num_threads(threads);
    std::vector<Tensor> compiled = compile(body)(inputs);
    ASSERT_EQ(eager.size(), compiled.size());
    for (std::size_t i = 0; i < eager.size(); ++i)
      expectSameBits(eager[i], compiled[i]);
  }
  set_num_threads(0);
}

TEST(Rounds, OfSizesThatAreNotKnown) {
  auto body = [](const Tensor &x, const Tensor &y, const Tensor &z) {
    return std::vector<Tensor>{tanh(x) * 2, exp(y) + 1, sqrt(abs(z)), x * x - 1, y * y - 1};
  };
  auto f = function(body, {.input_signature = {TensorSpec<float>({kDynamic}), TensorSpec<float>({kDynamic, 65}),
                                               TensorSpec<float>({kDynamic, kDynamic})}});
  for (int threads : {1, 2, 4}) {
    set_num_threads(threads);
    for (const std::vector<Shape> &shapes : {std::vector<Shape>{{100'003}, {1000, 65}, {300, 301}},
                                             {{7}, {1, 65}, {3, 2}},
                                             {{0}, {0, 65}, {0, 0}},
                                             {{50'000}, {0, 65}, {1, 1}},
                                             {{1}, {4000, 65}, {17, 16}}}) {
      std::vector<Tensor> in = inputsOf(shapes), eager = body(in[0], in[1], in[2]), open = f(in[0], in[1], in[2]);
      for (std::size_t i = 0; i < eager.size(); ++i)
        expectSameBits(eager[i], open[i]);
    }
  }
  set_num_threads(0);
  std::vector<Tensor> in = inputsOf({{100'003}, {1000, 65}, {300, 301}});
  EXPECT_NE(f.ir("schedule", in[0], in[1], in[2]).find("share the threads"), std::string::npos);
}

TEST(Rounds, InTheBodiesOfLoopsAndBranches) {
  std::vector<Tensor> initial = inputsOf({{300, 400}, {100'003}, {64}, {257, 129}});
  expectAsEagerly(initial, inputsOf({{300, 400}, {100'003}, {64}, {257, 129}}, 48),
                  [](std::vector<Variable> &v, const std::vector<Tensor> &in) {
                    Tensor count = scalar(0);
                    std::vector<Tensor> state;
                    for (const Variable &each : v)
                      state.push_back(each.value());
                    state.push_back(count);
                    state = while_loop([](const std::vector<Tensor> &s) { return s.back() < 5; },
                                       [&](const std::vector<Tensor> &s) {
                                         std::vector<Tensor> next;
                                         for (std::size_t i = 0; i < in.size(); ++i)
                                           next.push_back(s[i] * 0.9f + tanh(s[i]) * in[i]);
                                         next.push_back(s.back() + 1);
                                         return next;
                                       },
                                       state);
                    for (std::size_t i = 0; i < v.size(); ++i)
                      v[i].assign(state[i]);
                  });
}

// What fails comes before what variables become, however large the round is that writes them.
TEST(Rounds, LeaveVariablesAsTheyWereAfterAFailure) {
  std::vector<Variable> v = variablesOf(inputsOf({{300, 400}, {300, 400}, {300, 400}}));
  std::vector<Tensor> before;
  for (const Variable &each : v)
    before.push_back(each.value() + 0);
  auto f = function([&](const Tensor &x) {
    v[0].assign_add(x);
    v[1].assign_add(x * 2);
    assert_less(x, 1, "too large");
    v[2].assign_add(x * 3);
  });
  EXPECT_THROW(f(ones({300, 400})), AssertionError);
  for (std::size_t i = 0; i < v.size(); ++i)
    expectSameBits(before[i], v[i].value());
}

// A value that others hold stays theirs.
TEST(Rounds, WriteOverNothingThatIsHeld) {
  std::vector<Tensor> initial = inputsOf({{300, 400}, {300, 400}, {300, 400}});
  std::vector<Variable> v = variablesOf(initial);
  auto f = function([&](const Tensor &x) {
    for (Variable &each : v)
      each.assign(each * 2 + x);
  });
  f(initial[0]);
  std::vector<Tensor> held{v[0].value(), v[1].value()}, kept{held[0] + 0, held[1] + 0};
  f(held[0]);
  for (std::size_t i = 0; i < held.size(); ++i)
    expectSameBits(kept[i], held[i]);
  expectSameBits(kept[0] * 2 + kept[0], v[0].value());
  expectSameBits(kept[1] * 2 + kept[0], v[1].value());
}

TEST(Rounds, OfSeveralThreadsThatCall) {
  std::vector<Tensor> inputs = inputsOf(kMixed);
  auto body = [](const std::vector<Tensor> &in) {
    std::vector<Tensor> results;
    for (const Tensor &x : in)
      results.push_back(tanh(x) * 3 + x);
    return results;
  };
  auto f = compile(body);
  std::vector<Tensor> expected = f(inputs);
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int caller = 0; caller < 3; ++caller)
    callers.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        std::vector<Tensor> found = f(inputs);
        for (std::size_t k = 0; k < found.size(); ++k)
          wrong += valuesOf(found[k]) != valuesOf(expected[k]);
      }
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(wrong, 0);
}
