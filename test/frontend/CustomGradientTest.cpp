#include "Testing.h"

#include <cmath>

using namespace calque;
using namespace calque::testing;

namespace {

void inBothModes(const std::function<Tensor(const Tensor &)> &body, const Tensor &x,
                 const std::vector<float> &expected) {
  for (bool compiled : {false, true}) {
    SCOPED_TRACE(compiled ? "compiled" : "eager");
    auto f = function<Tensor(const Tensor &)>(body);
    Tensor result = compiled ? f(x) : f.eager(x);
    ASSERT_EQ(static_cast<std::size_t>(result.size()), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(result.data<float>()[i], expected[i], 1e-5f * (1 + std::abs(expected[i]))) << "element " << i;
  }
}

// The example of TensorFlow's documentation: naively, the gradient at 100 is nan.
const auto log1pexp = custom_gradient([](const Tensor &x) {
  Tensor e = exp(x);
  return std::pair(log(1 + e), [=](const Tensor &g) { return g * (1 - 1 / (1 + e)); });
});

} // namespace

TEST(CustomGradient, TakesThePlaceOfTheOperationsOwn) {
  Tensor x = tensor({0.0f, 100.0f});
  auto naive = [](const Tensor &a) { return log(1 + exp(a)); };
  EXPECT_TRUE(std::isnan(grad(naive)(x).to_vector<float>()[1]));
  inBothModes([](const Tensor &a) { return grad(log1pexp)(a); }, x, {0.5f, 1});
  inBothModes([](const Tensor &a) { return log1pexp(a); }, tensor({0.0f}), {std::log(2.0f)});
}

TEST(CustomGradient, IsDifferentiableItself) {
  // The second derivative of log(1 + e^x) at 0 is 1/4.
  inBothModes([](const Tensor &x) { return grad(grad(log1pexp))(x); }, scalar(0.0f), {0.25f});
  inBothModes([](const Tensor &x) { return jvp(log1pexp, x, tensor({2.0f, 1.0f})).second; }, tensor({0.0f, 100.0f}),
              {1, 1});
  inBothModes([](const Tensor &x) { return vmap(grad(log1pexp))(x); }, tensor({0.0f, 100.0f}), {0.5f, 1});
  inBothModes([](const Tensor &x) { return grad([](const Tensor &a) { return sum(vmap(log1pexp)(a)); })(x); },
              tensor({0.0f, 100.0f}), {0.5f, 1});
  inBothModes([](const Tensor &x) { return hessian([](const Tensor &a) { return sum(log1pexp(a)); })(x); },
              tensor({0.0f, 0.0f}), {0.25f, 0, 0, 0.25f});
}

TEST(CustomGradient, TakesManyArgumentsAndGivesStructures) {
  // Wrong on purpose: gradients 3 g and 5 h.
  auto f = custom_gradient([](const Tensor &a, const Tensor &b, int n) {
    auto pullback = [](const std::pair<Tensor, Tensor> &g) { return std::pair(3 * g.first, 5 * g.second); };
    return std::pair(std::pair(a * b, a + float(n)), pullback);
  });
  inBothModes(
      [&](const Tensor &x) {
        GradientTape tape;
        tape.watch(x);
        Tensor y = x + 1;
        auto [product, sum] = f(x, y, 7);
        auto gradients = tape.gradient({product, sum}, std::vector<Tensor>{x, y});
        return concat({expand_dims(*gradients[0], {0}), expand_dims(*gradients[1], {0}), expand_dims(sum, {0})});
      },
      scalar(2.0f), {3 + 5, 5, 9});
}

// Found by calque-fuzz: compiled, the gradient went on from one result as long as the tape could have followed the
// other.
TEST(CustomGradient, NothingPassesAResultFromBeforeTheTape) {
  auto twice = custom_gradient([](const Tensor &x) {
    return std::pair(std::pair(2 * x, 3 * x),
                     [](const std::pair<Tensor, Tensor> &g) { return 2 * g.first + 3 * g.second; });
  });
  inBothModes(
      [&](const Tensor &x) {
        auto [y, z] = twice(x);
        GradientTape tape;
        tape.watch(x);
        tape.watch(y);
        auto gradients =
            tape.gradient(square(y), std::vector<Tensor>{x, y}, {.unconnected_gradients = UnconnectedGradients::Zero});
        return concat({expand_dims(*gradients[0], {0}), expand_dims(*gradients[1], {0}), expand_dims(z, {0})});
      },
      scalar(2.0f), {0, 8, 6});
}

TEST(CustomGradient, WhatIsTheSameForAllExamplesGetsTheSum) {
  auto scale = custom_gradient([](const Tensor &w, const Tensor &x) {
    return std::pair(w * x, [=](const Tensor &g) { return std::pair(10 * g * x, g * w); });
  });
  inBothModes(
      [&](const Tensor &x) {
        return grad([&](const Tensor &w) { return sum(vmap([&](const Tensor &row) { return scale(w, row); })(x)); })(
            scalar(2.0f));
      },
      tensor({1.0f, 2.0f, 4.0f}), {70});
}

// Found by calque-fuzz: a small tensor that a trace captures is a constant of it, which a pullback must not hold
// another of.
TEST(CustomGradient, SecondDerivativesReachCapturedTensors) {
  auto cube = custom_gradient(
      [](const Tensor &x) { return std::pair(x * x * x, [=](const Tensor &g) { return 3 * square(x) * g; }); });
  Tensor captured = tensor({1.0f, 2.0f});
  inBothModes(
      [&](const Tensor &) {
        GradientTape outer, inner;
        outer.watch(captured);
        inner.watch(captured);
        return *outer.gradient(*inner.gradient(cube(captured), captured), captured);
      },
      scalar(0.0f), {6, 12});
}

TEST(CustomGradient, DerivativesOfGradientsReachWhatAPullbackCaptures) {
  // f(x) = x with the gradient w: d/dw of it is 1, though f does not follow w; with w = v^2 captured in turn, d/dv is 2
  // v.
  inBothModes(
      [](const Tensor &w) {
        Tensor x = scalar(5.0f);
        auto f = custom_gradient([&](const Tensor &a) { return std::pair(a, [&](const Tensor &g) { return g * w; }); });
        GradientTape outer, inner;
        outer.watch(w);
        inner.watch(x);
        Tensor slope = *inner.gradient(f(x), x);
        return *outer.gradient(slope * slope, w);
      },
      scalar(3.0f), {6});
  inBothModes(
      [](const Tensor &v) {
        auto slopeOf = [&](const Tensor &w) {
          auto f =
              custom_gradient([&](const Tensor &a) { return std::pair(a, [&](const Tensor &g) { return g * w; }); });
          return grad(f)(v + 1);
        };
        return vjp([&](const Tensor &a) { return slopeOf(square(a)); }, v).second(scalar(1.0f));
      },
      scalar(3.0f), {6});
}

TEST(CustomGradient, NoneReachesWhatIsCaptured) {
  Variable w(scalar(3.0f), {.name = "w"});
  auto f = custom_gradient([&](const Tensor &x) { return std::pair(x * w, [&](const Tensor &g) { return g * w; }); });
  GradientTape tape({.persistent = true});
  Tensor x = scalar(2.0f);
  tape.watch(x);
  Tensor y = f(x);
  EXPECT_EQ(tape.gradient(y, x)->item<float>(), 3);
  EXPECT_FALSE(tape.gradient(y, w));
}

TEST(CustomGradient, RefusesOtherGradientsThanTheArgumentsNeed) {
  auto with = [](auto pullback) {
    return custom_gradient([=](const Tensor &a, const Tensor &b) { return std::pair(a + b, pullback); });
  };
  Tensor x = ones({2});
  EXPECT_CONTAINS(errorOf<ValueError>([&] { with([](const Tensor &g) { return g; })(x, x); }),
                  "custom_gradient: the pullback gives 1 gradient for 2 floating-point arguments");
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { with([](const Tensor &g) { return std::pair(g, sum(g)); })(x, x); }),
                  "gives float32[] as gradient 1, and the argument is float32[2]");
  EXPECT_CONTAINS(
      errorOf<DTypeError>([&] { with([](const Tensor &g) { return std::pair(g, cast(g, DType::Float64)); })(x, x); }),
      "gives float64[2]");
  Variable w(scalar(3.0f), {.name = "w"});
  EXPECT_CONTAINS(errorOf<StateError>([&] {
                    with([&](const Tensor &g) {
                      w.assign(1.0f);
                      return std::pair(g, g);
                    })(x, x);
                  }),
                  "variable 'w' is assigned in a pullback");
  EXPECT_EQ(w.value().item<float>(), 3);
  // What the user's own code throws passes through, and nothing is left behind.
  EXPECT_THROW(with([](const Tensor &g) -> std::pair<Tensor, Tensor> {
                 throw std::logic_error("mine");
                 (void)g;
               })(x, x),
               std::logic_error);
  EXPECT_TRUE(executing_eagerly());
}

TEST(GradientOverride, HoldsInItsScope) {
  auto f = [](const Tensor &x) { return grad([](const Tensor &a) { return relu(a); })(x); };
  auto compiled = function<Tensor(const Tensor &)>(f);
  Tensor x = tensor({-1.0f, 2.0f});
  EXPECT_EQ(compiled(x).to_vector<float>(), (std::vector<float>{0, 1}));
  {
    // Guided backpropagation, and a use of the operation inside of its own override.
    GradientOverride guided("relu", [](const std::vector<Tensor> &operands, const Tensor &result, const Tensor &g) {
      EXPECT_EQ(operands.size(), 1u);
      return std::vector<Tensor>{10 * relu(g) + 0 * result};
    });
    EXPECT_EQ(f(x).to_vector<float>(), (std::vector<float>{10, 10}));
    EXPECT_EQ(compiled(x).to_vector<float>(), (std::vector<float>{10, 10})); // the override is part of the key
  }
  EXPECT_EQ(f(x).to_vector<float>(), (std::vector<float>{0, 1}));
  EXPECT_EQ(compiled(x).to_vector<float>(), (std::vector<float>{0, 1}));
  EXPECT_EQ(compiled.trace_count(), 2);
}

TEST(GradientOverride, TakesAFunctionOverAnOperationOfAnotherName) {
  Tensor a = ones({2, 3}), b = ones({3, 2});
  auto loss = [](const Tensor &a, const Tensor &b) { return sum(matmul(a, b)); };
  auto compiled = function(loss);
  {
    GradientOverride tripled("matmul", [](const std::vector<Tensor> &operands, const Tensor &, const Tensor &g) {
      return std::vector<Tensor>{3 * matmul(g, operands[1], {.transpose_b = true}), zeros(operands[1].shape())};
    });
    expectValues(grad(loss)(a, b), {6, 6, 6, 6, 6, 6});
    expectValues(grad(compiled)(a, b), {6, 6, 6, 6, 6, 6});
  }
  expectValues(grad(loss)(a, b), {2, 2, 2, 2, 2, 2});
  expectValues(grad(compiled)(a, b), {2, 2, 2, 2, 2, 2});
  EXPECT_CONTAINS(errorOf<LookupError>([] {
                    GradientOverride("sparse_categorical_crossentropy",
                                     [](const std::vector<Tensor> &, const Tensor &, const Tensor &g) {
                                       return std::vector<Tensor>{g};
                                     });
                  }),
                  "'sparse_categorical_crossentropy' is made of log_softmax, where and sum; override the gradient of "
                  "one of them, or call it in custom_gradient");
}

TEST(GradientOverride, RefusesWhatIsNotThere) {
  auto nothing = [](const std::vector<Tensor> &, const Tensor &, const Tensor &) { return std::vector<Tensor>(); };
  EXPECT_CONTAINS(errorOf<LookupError>([&] { GradientOverride("rellu", nothing); }),
                  "there is no operation 'rellu' whose gradient could be overridden");
  EXPECT_CONTAINS(errorOf<LookupError>([&] { GradientOverride("split", nothing); }),
                  "operation 'split' gives several tensors");
  EXPECT_CONTAINS(errorOf<LookupError>([&] { GradientOverride("floor", nothing); }),
                  "operation 'floor' has no gradient");
  GradientOverride wrong("relu", nothing);
  EXPECT_CONTAINS(errorOf<ValueError>([&] { relu(ones({2})); }), "gradient_override: the pullback gives 0 gradients");
}

TEST(Checkpoint, ComputesAgainWhatGradientsNeed) {
  auto f = checkpoint([](const Tensor &x) { return sin(sin(sin(x))); });
  float a = std::sin(1.0f), b = std::sin(a);
  inBothModes([&](const Tensor &x) { return f(x); }, scalar(1.0f), {std::sin(b)});
  inBothModes([&](const Tensor &x) { return grad(f)(x); }, scalar(1.0f), {std::cos(b) * std::cos(a) * std::cos(1.0f)});
  auto compiled = function<Tensor(const Tensor &)>([&](const Tensor &x) { return grad(f)(x); });
  std::string ir = compiled.ir("differentiated", scalar(1.0f));
  EXPECT_CONTAINS(ir, "calque.barrier");
}

TEST(Checkpoint, PassesGradientsToWhatIsCaptured) {
  Variable w(scalar(3.0f), {.name = "w"});
  auto layer = checkpoint([&](const Tensor &x) { return std::pair(square(x * w), x + w); });
  inBothModes(
      [&](const Tensor &x) {
        GradientTape tape;
        tape.watch(x);
        auto [a, b] = layer(x);
        auto gradients = tape.gradient(a + b, std::tuple(x, w), GradientOptions());
        return concat({expand_dims(*std::get<0>(gradients), {0}), expand_dims(*std::get<1>(gradients), {0})});
      },
      scalar(2.0f), {2 * 6 * 3 + 1, 2 * 6 * 2 + 1});
}

// Behind the second argument is an infinite derivative, which makes NaN of zeros.
TEST(Checkpoint, PassesNoCotangentWithoutAPath) {
  auto first = checkpoint([](const Tensor &x, const Tensor &y) { return std::pair(x * 2.f, y * 3.f); });
  auto unused = checkpoint([](const Tensor &x, const Tensor &) { return x * 2.f; });
  auto nested = checkpoint([=](const Tensor &x, const Tensor &y) { return first(x, y).first; });
  for (auto &call : std::vector<std::function<Tensor(const Tensor &)>>{
           [&](const Tensor &x) { return first(x, sqrt(x)).first; },
           [&](const Tensor &x) { return unused(x, sqrt(x)); },
           [&](const Tensor &x) { return nested(x, sqrt(x)); },
       })
    inBothModes([&](const Tensor &x) { return grad([&](const Tensor &a) { return sum(call(a)); })(x); }, zeros({2}),
                {2, 2});
}

// What the tape has not seen is at its boundary, however far the operands are from there in the checkpoint.
TEST(Checkpoint, EndsTapesAtOperandsFromBeforeThem) {
  auto direct = checkpoint([](const Tensor &x, const Tensor &y) { return x * y; });
  auto computed = checkpoint([](const Tensor &x, const Tensor &y) { return x * exp(y); });
  auto nested = checkpoint([=](const Tensor &x, const Tensor &y) { return computed(x, y * 2); });
  auto derived = checkpoint(
      [](const Tensor &x, const Tensor &y) { return x * grad([](const Tensor &at) { return sum(at * at); })(exp(y)); });
  auto captured = [](const Tensor &x, const Tensor &y) {
    return checkpoint([&](const Tensor &at) { return at * exp(y); })(x);
  };
  auto gradient = [](const std::function<Tensor(const Tensor &, const Tensor &)> &call) {
    return [call](const Tensor &x) {
      Tensor y = log(x);
      GradientTape tape;
      tape.watch(x);
      return *tape.gradient(call(x, y), x);
    };
  };
  const Tensor x = tensor({2.0f, 4.0f});
  inBothModes(gradient(direct), x, {std::log(2.0f), std::log(4.0f)});
  inBothModes(gradient(computed), x, {2, 4});
  inBothModes(gradient(nested), x, {4, 16});
  inBothModes(gradient(derived), x, {4, 8});
  inBothModes(gradient(captured), x, {2, 4});
}

TEST(Checkpoint, ComposesWithOtherTransforms) {
  auto cube = checkpoint([](const Tensor &x) { return x * x * x; });
  inBothModes([&](const Tensor &x) { return grad(grad(cube))(x); }, scalar(2.0f), {12});
  inBothModes([&](const Tensor &x) { return jvp(cube, x, ones({2})).second; }, tensor({1.0f, 2.0f}), {3, 12});
  inBothModes([&](const Tensor &x) { return vmap(grad(cube))(x); }, tensor({1.0f, 2.0f}), {3, 12});
  inBothModes([&](const Tensor &x) { return grad([&](const Tensor &a) { return sum(vmap(cube)(a)); })(x); },
              tensor({1.0f, 2.0f}), {3, 12});
  inBothModes([&](const Tensor &x) { return hessian([&](const Tensor &a) { return sum(checkpoint(cube)(a)); })(x); },
              tensor({1.0f, 2.0f}), {6, 0, 0, 12});
}

namespace {
using Block = std::function<Tensor(const Tensor &)>;
// How a block with a generator is called: as it is, or as a checkpoint somewhere.
using Called = std::function<Tensor(const Block &, const Tensor &)>;

// Two steps' values, gradients and the generator's states after them.
std::vector<float> stepsOf(const Called &called, bool compiled) {
  random::Generator generator(5);
  const Block block = [&](const Tensor &x) {
    Tensor kept = where(generator.bernoulli({8}, 0.5), x, 0);
    return sin(kept * generator.uniform({8})) + exp(x * generator.normal({8}));
  };
  auto step = function<Tensor(const Tensor &)>([&](const Tensor &x) {
    GradientTape tape;
    tape.watch(x);
    Tensor y = called(block, x);
    return concat({y, *tape.gradient(y * y, x)}, 0);
  });
  const Tensor x = tensor<float>({0.5, -1, 2, 0.25, -0.75, 1.5, 1, -2});
  std::vector<float> all;
  for (int i = 0; i < 2; ++i) {
    for (float each : (compiled ? step(x) : step.eager(x)).to_vector<float>())
      all.push_back(each);
    all.push_back(static_cast<float>(generator.state().value().to_vector<std::int64_t>()[1]));
  }
  return all;
}
} // namespace

TEST(Checkpoint, DrawsTheSameNumbersAgain) {
  const Called once = [](const Block &block, const Tensor &x) { return checkpoint(block)(x); };
  const Called nested = [](const Block &block, const Tensor &x) { return checkpoint(checkpoint(block))(x); };
  const Called inBranch = [](const Block &block, const Tensor &x) {
    return checkpoint([&](const Tensor &a) { return cond(sum(a) > 0, [&] { return block(a); }, [&] { return a; }); })(
        x);
  };
  const Called ofBranch = [](const Block &block, const Tensor &x) {
    return cond(sum(x) > 0, [&] { return checkpoint(block)(x); }, [&] { return x; });
  };
  const Called inLoop = [](const Block &block, const Tensor &x) {
    return for_range(0, 3, x, [&](const Tensor &, const Tensor &a) { return checkpoint(block)(a); });
  };
  const Called ofLoop = [](const Block &block, const Tensor &x) {
    auto loop = [&](const Tensor &first) {
      return for_range(0, 3, first, [&](const Tensor &, const Tensor &a) { return block(a); });
    };
    return checkpoint(loop)(x);
  };
  const Called plain = [](const Block &block, const Tensor &x) { return block(x); };
  const Called loop = [](const Block &block, const Tensor &x) {
    return for_range(0, 3, x, [&](const Tensor &, const Tensor &a) { return block(a); });
  };
  for (bool compiled : {false, true}) {
    const std::vector<float> expected = stepsOf(plain, compiled), expectedOfLoop = stepsOf(loop, compiled);
    EXPECT_NE(expected[0], expected[17]); // the second step draws others
    auto near = [&](const Called &called, const std::vector<float> &wanted, const char *what) {
      SCOPED_TRACE(what);
      const std::vector<float> given = stepsOf(called, compiled);
      ASSERT_EQ(given.size(), wanted.size());
      for (std::size_t i = 0; i < given.size(); ++i)
        EXPECT_NEAR(given[i], wanted[i], 1e-5f * (1 + std::abs(wanted[i]))) << "number " << i;
    };
    near(once, expected, "once");
    near(nested, expected, "nested");
    near(inBranch, expected, "in a branch");
    near(ofBranch, expected, "of a branch");
    near(inLoop, expectedOfLoop, "in a loop");
    near(ofLoop, expectedOfLoop, "of a loop");
  }
}

// What is computed again reads the values from before, and assigns nothing.
TEST(Checkpoint, AssignsVariablesOnce) {
  for (bool compiled : {false, true}) {
    Variable calls(0.0f, {.name = "calls", .trainable = false});
    auto layer = checkpoint([&](const Tensor &x) {
      calls.assign_add(1);
      return exp(x * calls.value());
    });
    auto f = function<Tensor(const Tensor &)>([&](const Tensor &x) { return grad(layer)(x); });
    for (float n : {1.0f, 2.0f, 3.0f}) {
      Tensor gradient = compiled ? f(scalar(0.5f)) : f.eager(scalar(0.5f));
      EXPECT_NEAR(gradient.item<float>(), n * std::exp(0.5f * n), 1e-4f);
      EXPECT_EQ(calls.value().item<float>(), n);
    }
  }
}

TEST(Checkpoint, RefusesWhatItCantDoAgain) {
  Variable w(scalar(3.0f), {.name = "w"});
  EXPECT_CONTAINS(errorOf<StateError>([&] {
                    GradientTape tape;
                    Tensor y = checkpoint([&](const Tensor &x) {
                      w.assign(x);
                      return x * w.value();
                    })(scalar(1.0f));
                    tape.gradient(y, w);
                  }),
                  "variable 'w' is assigned and read in a checkpoint, and a tape around it watches the variable");
  EXPECT_EQ(w.value().item<float>(), 3);
  auto drawing = custom_gradient(
      [](const Tensor &x) { return std::pair(x, [](const Tensor &g) { return g * random::uniform({}); }); });
  EXPECT_CONTAINS(errorOf<StateError>([&] { grad(drawing)(scalar(1.0f)); }),
                  "variable 'generator' is assigned in a pullback");
}
