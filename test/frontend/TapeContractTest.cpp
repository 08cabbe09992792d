// Rows of the contract on tapes and derivatives that no other test has; docs/contract.md maps rows to tests.
#include "Testing.h"
#include "calque/training.h"

using namespace calque;
using namespace calque::testing;

namespace {
// Runs a body eagerly and in a function; it says what it expects.
void inBothModes(const std::function<Tensor(const Tensor &)> &body, const Tensor &x) {
  for (bool compiled : {false, true}) {
    SCOPED_TRACE(compiled ? "compiled" : "eager");
    auto f = function<Tensor(const Tensor &)>(body);
    compiled ? f(x) : f.eager(x);
  }
}
} // namespace

TEST(TapeContract, AVectorTargetIsSummed) {
  inBothModes(
      [](const Tensor &x) {
        GradientTape tape;
        tape.watch(x);
        Tensor y = x * tensor({1.0f, 10.0f, 100.0f});
        Tensor g = *tape.gradient(y, x);
        EXPECT_EQ(g.shape(), x.shape());
        return g;
      },
      scalar(2.0f));
  GradientTape tape;
  Tensor x = scalar(2.0f);
  tape.watch(x);
  EXPECT_EQ(tape.gradient(x * tensor({1.0f, 10.0f, 100.0f}), x)->item<float>(), 111);
}

TEST(TapeContract, WatchedVariablesAreListedAfterTheGradientAndThroughFunctions) {
  Variable a(scalar(2.0f), {.name = "a"}), b(scalar(3.0f), {.name = "b"}),
      frozen(scalar(5.0f), {.name = "frozen", .trainable = false});
  auto inner = function([&](const Tensor &x) { return x * b * frozen; });
  for (bool compiled : {false, true}) {
    SCOPED_TRACE(compiled ? "compiled" : "eager");
    auto body = [&](const Tensor &x) {
      GradientTape tape;
      Tensor y = inner(x * a);
      Tensor g = *tape.gradient(y, a);
      std::vector<Variable> watched = tape.watched_variables();
      EXPECT_EQ(watched.size(), 2u);
      if (watched.size() == 2) {
        EXPECT_TRUE(watched[0].same_as(a));
        EXPECT_TRUE(watched[1].same_as(b));
      }
      return g;
    };
    auto f = function<Tensor(const Tensor &)>(body);
    EXPECT_EQ((compiled ? f(scalar(7.0f)) : f.eager(scalar(7.0f))).item<float>(), 7 * 3 * 5);
  }
}

TEST(TapeContract, NoPathThroughWhatIsOutside) {
  // A variable replaced by a tensor, a computation outside of Calque, integers, and state.
  Variable w(scalar(2.0f), {.name = "w"}), state(scalar(1.0f), {.name = "state"});
  GradientTape tape({.persistent = true});
  Tensor x = scalar(3.0f);
  tape.watch(x);
  Tensor replaced = x * w;
  replaced = scalar(1.0f) * 2;
  EXPECT_FALSE(tape.gradient(replaced, w));
  Tensor outside = scalar(x.item<float>() * 2);
  EXPECT_FALSE(tape.gradient(outside, x));
  Tensor throughInteger = cast(cast(x, DType::Int32), DType::Float32);
  EXPECT_FALSE(tape.gradient(throughInteger, x));
  state.assign_add(x);
  EXPECT_FALSE(tape.gradient(state.value() * 2, x));
  Tensor compared = cast(x > 2, DType::Float32);
  EXPECT_FALSE(tape.gradient(compared, x));
}

// TensorFlow gives None as well: 2 x, then 2, which does not depend on x any more.
TEST(TapeContract, NoPathIsLeftOnceAPolynomialIsUsedUp) {
  struct Case {
    const char *name;
    std::function<Tensor(const Tensor &)> f;
    std::vector<float> derivatives; // at 2, those that there are
  };
  const Case cases[] = {
      {"3 x", [](const Tensor &x) { return x * 3; }, {3}},
      {"x x", [](const Tensor &x) { return x * x; }, {4, 2}},
      {"x x x", [](const Tensor &x) { return x * x * x; }, {12, 12, 6}},
      {"sum of slices", [](const Tensor &x) { return sum(slice(reshape(x * x, {1}), {0}, {1})); }, {4, 2}},
      {"exp", [](const Tensor &x) { return exp(x - 2); }, {1, 1, 1, 1, 1}},
  };
  for (const Case &each : cases) {
    SCOPED_TRACE(each.name);
    auto body = [&](const Tensor &x) {
      std::vector<std::unique_ptr<GradientTape>> tapes;
      for (int i = 0; i < 5; ++i) {
        tapes.push_back(std::make_unique<GradientTape>());
        tapes.back()->watch(x);
      }
      std::vector<Tensor> found;
      Tensor y = each.f(x);
      for (; !tapes.empty(); tapes.pop_back()) {
        std::optional<Tensor> next = tapes.back()->gradient(y, x);
        if (!next)
          break;
        found.push_back(y = *next);
      }
      return found;
    };
    auto compiled = function(body);
    for (const std::vector<Tensor> &found : {body(scalar(2.0f)), compiled(scalar(2.0f))}) {
      ASSERT_EQ(found.size(), each.derivatives.size());
      for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_FLOAT_EQ(found[i].item<float>(), each.derivatives[i]);
    }
  }
}

TEST(TapeContract, FunctionsAndZerosAskedForGiveZerosWhereNoPathIsLeft) {
  auto f = [](const Tensor &x) { return x * x; };
  auto third = grad(grad(grad(f)));
  EXPECT_EQ(third(scalar(2.0f)).item<float>(), 0);
  EXPECT_EQ(function([&](const Tensor &x) { return third(x); })(scalar(2.0f)).item<float>(), 0);
  inBothModes(
      [&](const Tensor &x) {
        GradientTape outer;
        outer.watch(x);
        auto both =
            outer.gradient(grad(grad(f))(x), std::tuple(x), {.unconnected_gradients = UnconnectedGradients::Zero});
        EXPECT_TRUE(std::get<0>(both));
        return *std::get<0>(both);
      },
      scalar(2.0f));
  // One of two sources is left.
  inBothModes(
      [](const Tensor &x) {
        Tensor w = exp(x);
        GradientTape outer;
        outer.watch(x);
        outer.watch(w);
        GradientTape inner;
        inner.watch(x);
        auto found = outer.gradient(*inner.gradient(x * w, x), std::vector<Tensor>{x, w});
        EXPECT_FALSE(found[0]);
        EXPECT_TRUE(found[1]);
        return *found[1];
      },
      scalar(2.0f));
  inBothModes(
      [](const Tensor &x) {
        GradientTape outer;
        outer.watch(x);
        GradientTape inner;
        inner.watch(x);
        EXPECT_FALSE(outer.jacobian(*inner.gradient(sum(x * 3), x), x));
        return x;
      },
      ones({2}));
}

// As in TensorFlow, where the source is not watched either.
TEST(TapeContract, ATargetThatIsASourceGetsItsSeedUnwatched) {
  inBothModes(
      [](const Tensor &x) {
        Tensor other = x * 2, integer = cast(x, DType::Int32);
        GradientTape tape({.persistent = true});
        EXPECT_FALSE(tape.gradient(other, x));
        EXPECT_FALSE(tape.gradient(integer, integer));
        Tensor ones = tape.gradient(x, x).value(), seed = tape.gradient(x, x, {x * 5}).value();
        auto both = tape.gradient({x, other}, std::vector<Tensor>{x, other});
        Tensor first = both[0].value(), second = both[1].value();
        if (executing_eagerly()) {
          expectValues(ones, {1});
          expectValues(seed, {15});
          expectValues(first, {1});
          expectValues(second, {1});
        }
        return ones + seed + first + second;
      },
      scalar(3.0f));
  auto compiled = function([](const Tensor &x) { return GradientTape().gradient(x, x, {x * 5}).value(); });
  expectValues(compiled(scalar(3.0f)), {15});
}

TEST(TapeContract, SeveralTargetsAndATargetThatIsASource) {
  inBothModes(
      [](const Tensor &x) {
        GradientTape tape({.persistent = true});
        tape.watch(x);
        Tensor y = x * x;
        auto summed = tape.gradient({y, x}, std::vector<Tensor>{x}, {scalar(10.0f), scalar(1.0f)});
        auto itself = tape.gradient({y}, std::vector<Tensor>{y}, {scalar(7.0f)});
        if (executing_eagerly()) {
          EXPECT_EQ(summed[0]->item<float>(), 10 * 6 + 1);
          EXPECT_EQ(itself[0]->item<float>(), 7);
        }
        return *summed[0] + *itself[0];
      },
      scalar(3.0f));
  auto f = function([](const Tensor &x) {
    GradientTape tape;
    tape.watch(x);
    Tensor y = x * x;
    return *tape.gradient({y, x}, std::vector<Tensor>{x}, {scalar(10.0f), scalar(1.0f)})[0];
  });
  EXPECT_EQ(f(scalar(3.0f)).item<float>(), 61);
}

TEST(TapeContract, AtLayersGradientsOfOutputsAndWeightsComeFromOneCall) {
  layers::Dense first(3, {.activation = "tanh"}), second(1);
  Tensor x = tensor({0.5f, -1.0f}, {1, 2});
  auto body = [&](const Tensor &input) {
    GradientTape tape;
    tape.watch(input);
    Tensor hidden = first(input);
    Tensor output = second(hidden);
    Tensor loss = mean(square(output - 1));
    std::vector<Variable> weights = first.trainable_variables();
    auto [byInput, byHidden, byOutput, byWeights] =
        tape.gradient(loss, std::tuple(input, hidden, output, weights), GradientOptions());
    EXPECT_EQ(byWeights.size(), weights.size());
    for (std::size_t i = 0; i < weights.size(); ++i) {
      EXPECT_TRUE(byWeights[i]);
      EXPECT_EQ(byWeights[i]->shape(), weights[i].shape());
    }
    EXPECT_EQ(byHidden->shape(), hidden.shape());
    // 2 (output - 1), whatever the weights are.
    return std::pair(*byOutput, 2 * (output - 1));
  };
  auto [eager, expected] = body(x);
  EXPECT_FLOAT_EQ(eager.to_vector<float>()[0], expected.to_vector<float>()[0]);
  auto compiled = function<std::pair<Tensor, Tensor>(const Tensor &)>(body);
  auto [native, same] = compiled(x);
  EXPECT_FLOAT_EQ(native.to_vector<float>()[0], same.to_vector<float>()[0]);
}

TEST(TapeContract, ReluKeepsItsOutputOnly) {
  // The reverse pass of relu reads what relu gave: its operand is used by relu alone.
  auto f = function([](const Tensor &x) { return grad([](const Tensor &a) { return relu(exp(a)) * 2; })(x); });
  std::string ir = f.ir("differentiated", ones({4}));
  std::size_t at = ir.find("calque.relu ");
  ASSERT_NE(at, std::string::npos);
  std::string operand = ir.substr(at + 12, ir.find(' ', at + 12) - at - 12),
              result = ir.substr(ir.rfind('%', at), ir.find(' ', ir.rfind('%', at)) - ir.rfind('%', at));
  EXPECT_CONTAINS(ir, "calque.greater " + result + ",");
  EXPECT_EQ(ir.find("calque.greater " + operand + ","), std::string::npos) << ir;
}

TEST(TapeContract, CheckpointsKeepNoIntermediateValues) {
  // A chain of wide layers: with a checkpoint the workspace holds the values of one segment at a time.
  auto segment = [](const Tensor &x) {
    Tensor y = x;
    for (int i = 0; i < 8; ++i)
      y = sin(softmax(y) + y);
    return y;
  };
  auto workspaceOf = [&](bool checkpoints) {
    auto f = function([&](const Tensor &x) {
      return grad([&](const Tensor &a) {
        Tensor y = a;
        for (int i = 0; i < 4; ++i)
          y = checkpoints ? checkpoint(segment)(y) : segment(y);
        return y;
      })(x);
    });
    Tensor x = ones({64, 64});
    f(x);
    std::string ir = f.ir("scheduled", x);
    std::size_t end = ir.find("xi8>");
    std::size_t begin = ir.rfind('<', end) + 1;
    return std::stoll(ir.substr(begin, end - begin));
  };
  EXPECT_LT(workspaceOf(true), workspaceOf(false) * 2 / 3);
}

TEST(TapeContract, RecordsFromConstructionToDestruction) {
  Tensor x = scalar(3.0f), y;
  {
    GradientTape tape;
    tape.watch(x);
    y = x * x;
  }
  GradientTape later;
  later.watch(x);
  EXPECT_FALSE(later.gradient(y, x)); // the earlier tape saw it
  GradientTape ended;
  ended.watch(x);
  y = x * x;
  EXPECT_TRUE(ended.gradient(y, x));
  EXPECT_CONTAINS(errorOf<StateError>([&] { ended.watch(x); }), "does not record any more");
}
