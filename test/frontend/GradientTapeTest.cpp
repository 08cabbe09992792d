#include "Testing.h"

using namespace calque;
using namespace calque::testing;

namespace {
// Runs a test's body eagerly and in a function.
void inBothModes(const std::function<std::vector<Tensor>(const Tensor &)> &body, const Tensor &x,
                 const std::vector<float> &expected) {
  for (bool compiled : {false, true}) {
    SCOPED_TRACE(compiled ? "compiled" : "eager");
    auto f = function<std::vector<Tensor>(const Tensor &)>(body);
    std::vector<Tensor> results = compiled ? f(x) : f.eager(x);
    ASSERT_EQ(results.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_FLOAT_EQ(results[i].item<float>(), expected[i]) << "result " << i;
  }
}
} // namespace

// No gradient passes from a variable to what it was made of, or to another one that was made of the same.
TEST(GradientTape, TellsVariablesApartThatAreMadeOfOneTensor) {
  Tensor initial = tensor<float>({1, 2});
  Variable a(initial), b(initial), c(a.value());
  auto body = [&](const Tensor &x) { return a * 5 + b * 7 + c * 11 + x * 13; };
  auto f = function(body);
  for (bool isCompiled : {false, true}) {
    GradientTape tape({.persistent = true});
    tape.watch(initial);
    Tensor y = sum(isCompiled ? f(initial) : body(initial));
    expectValues(*tape.gradient(y, a), {5, 5});
    expectValues(*tape.gradient(y, b), {7, 7});
    expectValues(*tape.gradient(y, c), {11, 11});
    expectValues(*tape.gradient(y, initial), {13, 13});
  }
  GradientTape tape;
  Tensor unused = b.value();
  Tensor y = sum(a * 3);
  EXPECT_FALSE(tape.gradient(y, b));
}

TEST(GradientTape, DifferentiatesWhatItWatches) {
  inBothModes(
      [](const Tensor &x) {
        GradientTape tape;
        tape.watch(x);
        return std::vector<Tensor>{tape.gradient(x * x * 3, x).value()};
      },
      scalar(2.0f), {12});
}

TEST(GradientTape, IntermediatesCanBeSources) {
  inBothModes(
      [](const Tensor &x) {
        GradientTape tape({.persistent = true});
        tape.watch(x);
        Tensor y = x * x, z = y * y;
        return std::vector<Tensor>{tape.gradient(z, y).value(), tape.gradient(z, x).value(),
                                   tape.gradient(y, x).value()};
      },
      scalar(3.0f), {18, 108, 6});
}

// As in TensorFlow: targets and sources in braces, tensors and variables side by side.
TEST(GradientTape, TakesTargetsAndSourcesInBraces) {
  Variable v(scalar(3.0f)), w(scalar(5.0f));
  auto all = [&](const Tensor &x) {
    GradientTape tape({.persistent = true});
    tape.watch({x});
    tape.watch({x, v});
    Tensor q = v * w * x, r = v * v;
    std::vector<std::optional<Tensor>> found;
    auto add = [&](const std::vector<std::optional<Tensor>> &more) {
      found.insert(found.end(), more.begin(), more.end());
    };
    add(tape.gradient(v * w * x, {v, w}));
    add(tape.gradient({q, r}, {v, w}));
    add(tape.gradient({q, r}, {x, w}));
    add(tape.gradient({q, r}, {v, w}, {scalar(2.0f), scalar(10.0f)}));
    add(tape.gradient(r, {v, x, w}, UnconnectedGradients::Zero));
    add(tape.gradient(r, {v, w},
                      {.output_gradients = {scalar(3.0f)}, .unconnected_gradients = UnconnectedGradients::Zero}));
    add(tape.gradient({v, r}, {v, w}, UnconnectedGradients::Zero));
    add({tape.gradient(q, {v}), tape.gradient({q}, x), tape.jacobian(q, {v}), tape.gradient(v, v)});
    EXPECT_FALSE(tape.gradient(r, {v, w})[1]);
    std::vector<Tensor> result;
    for (const std::optional<Tensor> &each : found)
      result.push_back(each.value());
    return result;
  };
  inBothModes(all, scalar(7.0f), {35, 21, 41, 21, 15, 21, 130, 42, 6, 0, 0, 18, 0, 7, 0, 35, 15, 35, 1});
}

// What is asked of an optional gradient without taking it.
TEST(GradientTape, GradientsAreAskedWhetherTheyAreThere) {
  Tensor x = scalar(2.0f), other = scalar(1.0f);
  GradientTape tape({.persistent = true});
  tape.watch(x);
  Tensor y = x * x;
  std::optional<Tensor> some = tape.gradient(y, x), none = tape.gradient(y, other);
  EXPECT_FALSE(!some);
  EXPECT_TRUE(!none);
  EXPECT_TRUE(none == std::nullopt && some != std::nullopt);
  std::optional<Tensor> either = none ? none : x;
  EXPECT_EQ(either.value().item<float>(), 2);
  Tensor taken = none.value_or(other);
  EXPECT_EQ(taken.item<float>(), 1);
}

// The read of a variable that becomes a Tensor would be another value than those that the target is made of.
TEST(GradientTape, BatchJacobianTakesAVariable) {
  Variable v(tensor<float>({{1, 2}, {3, 4}}));
  GradientTape tape({.persistent = true});
  Tensor y = v * v;
  expectValues(*tape.batch_jacobian(y, v), {2, 0, 0, 4, 6, 0, 0, 8});
}

TEST(GradientTape, ServesOneGradientUnlessPersistent) {
  Tensor x = scalar(3.0f);
  GradientTape tape;
  tape.watch(x);
  Tensor y = x * x;
  EXPECT_TRUE(tape.gradient(y, x));
  EXPECT_CONTAINS(errorOf<StateError>([&] { tape.gradient(y, x); }), "persistent");
  EXPECT_THROW(tape.watch(x), StateError);
}

TEST(GradientTape, NoPathIsNone) {
  Tensor x = scalar(3.0f), other = scalar(1.0f), integer = scalar(3);
  GradientTape tape({.persistent = true});
  tape.watch(x);
  tape.watch(integer);
  Tensor y = x * x;
  EXPECT_FALSE(tape.gradient(y, other));                       // unconnected
  EXPECT_FALSE(tape.gradient(integer * integer, integer));     // integers
  EXPECT_FALSE(tape.gradient(stop_gradient(y), x));            // stopped
  EXPECT_FALSE(tape.gradient(cast(x > 1, DType::Float32), x)); // a comparison
  EXPECT_FALSE(tape.gradient(scalar(y.item<float>()), x));     // computed outside
  EXPECT_TRUE(tape.gradient(y, x));
  std::vector<std::optional<Tensor>> both = tape.gradient(y, std::vector<Tensor>{other, x});
  EXPECT_FALSE(both[0]);
  EXPECT_TRUE(both[1]);
}

TEST(GradientTape, AComputationBeforeTheWatchIsNotSeen) {
  inBothModes(
      [](const Tensor &x) {
        GradientTape tape;
        Tensor before = x * x;
        tape.watch(x);
        Tensor y = before * x;
        return std::vector<Tensor>{tape.gradient(y, x).value()};
      },
      scalar(3.0f), {9});
}

// y = x x is from before the tape: of z = x y, dz/dx = y = 9 and dz/dy = x = 3, with both as sources, too.
TEST(GradientTape, ASourceFromBeforeHasNoPast) {
  auto body = [](const Tensor &x) {
    Tensor y = x * x;
    GradientTape tape;
    tape.watch(x);
    tape.watch(y);
    auto gradients = tape.gradient(x * y, std::vector<Tensor>{x, y});
    return std::vector<Tensor>{*gradients[0], *gradients[1]};
  };
  auto compiled = function(body);
  GradientTape outer; // so that the eager recording has y's past as well
  Tensor x = scalar(3.0f);
  outer.watch(x);
  for (const std::vector<Tensor> &found : {body(x), compiled(x)}) {
    expectValues(found[0], {9});
    expectValues(found[1], {3});
  }
}

TEST(GradientTape, WatchesTrainableVariables) {
  Variable w(2.0f, {.name = "w"}), frozen(3.0f, {.trainable = false});
  inBothModes(
      [&](const Tensor &x) {
        GradientTape tape;
        Tensor y = x * w * w * frozen;
        EXPECT_EQ(tape.watched_variables().size(), 1u);
        std::vector<std::optional<Tensor>> gradients = tape.gradient(y, std::vector<Variable>{w, frozen});
        EXPECT_FALSE(gradients[1]);
        return std::vector<Tensor>{gradients[0].value()};
      },
      scalar(5.0f), {60});
  GradientTape tape({.watch_accessed_variables = false});
  EXPECT_FALSE(tape.gradient(w * w, w));
  GradientTape asking({.watch_accessed_variables = false});
  asking.watch(frozen);
  EXPECT_EQ(asking.gradient(frozen * frozen, frozen)->item<float>(), 6);
}

TEST(GradientTape, AssigningHidesWhereAValueCameFrom) {
  Variable v(2.0f), w(3.0f);
  GradientTape tape;
  v.assign(w * w);
  Tensor y = v * 5;
  std::vector<std::optional<Tensor>> gradients = tape.gradient(y, std::vector<Variable>{v, w});
  EXPECT_EQ(gradients[0]->item<float>(), 5);
  EXPECT_FALSE(gradients[1]);
}

TEST(GradientTape, TargetsAreSummedAndSeeded) {
  inBothModes(
      [](const Tensor &x) {
        GradientTape tape({.persistent = true});
        tape.watch(x);
        Tensor y = x * x, z = x * 3;
        return std::vector<Tensor>{tape.gradient(std::vector<Tensor>{y, z}, std::vector<Tensor>{x})[0].value(),
                                   tape.gradient(y, x, {scalar(10.0f)}).value(), tape.gradient(x, x).value()};
      },
      scalar(2.0f), {7, 40, 1});
  Tensor x = ones({2});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  Tensor y = x * 2;
  expectValues(tape.gradient(y, x).value(), {2, 2}); // of the sum of the elements
  EXPECT_THROW(tape.gradient(y, x, {ones({3})}), ShapeError);
  EXPECT_THROW(tape.gradient(y, x, {ones({2}, DType::Float64)}), DTypeError);
  EXPECT_THROW(tape.gradient(y, x, {ones({2}), ones({2})}), ValueError);
}

TEST(GradientTape, TapesNest) {
  inBothModes(
      [](const Tensor &x) {
        GradientTape outer;
        outer.watch(x);
        Tensor inside;
        {
          GradientTape inner;
          inner.watch(x);
          inside = inner.gradient(x * x * x, x).value();
        }
        return std::vector<Tensor>{inside, outer.gradient(inside, x).value()};
      },
      scalar(2.0f), {12, 12});
}

TEST(GradientTape, OuterTapesSeeWhatOnlyInnerOnesWatch) {
  Tensor x = scalar(3.0f), w = scalar(5.0f);
  GradientTape outer;
  outer.watch(w);
  GradientTape inner;
  inner.watch(x);
  Tensor dx = inner.gradient(x * x * w, x).value();
  EXPECT_EQ(dx.item<float>(), 30);
  EXPECT_EQ(outer.gradient(dx, w)->item<float>(), 6);
}

TEST(GradientTape, GradComposes) {
  auto cube = [](const Tensor &x) { return x * x * x; };
  Tensor x = scalar(2.0f);
  EXPECT_EQ(grad(cube)(x).item<float>(), 12);
  EXPECT_EQ(grad(grad(cube))(x).item<float>(), 12);
  EXPECT_EQ(grad(grad(grad(cube)))(x).item<float>(), 6);
  auto compiled = function([&](const Tensor &x) { return grad(grad(cube))(x); });
  EXPECT_EQ(compiled(x).item<float>(), 12);
  auto [value, gradient] = value_and_grad(cube)(x);
  EXPECT_EQ(value.item<float>(), 8);
  EXPECT_EQ(gradient.item<float>(), 12);
  EXPECT_EQ(grad([](const Tensor &) { return scalar(1.0f); })(x).item<float>(), 0);
}

TEST(GradientTape, PassesThroughCompiledFunctions) {
  Variable w(2.0f);
  auto f = function([&](const Tensor &x) { return x * x * w; });
  f(scalar(1.0f));
  Tensor x = scalar(3.0f);
  GradientTape tape({.persistent = true});
  tape.watch(x);
  Tensor y = f(x) * 2;
  EXPECT_EQ(tape.gradient(y, x)->item<float>(), 24);
  EXPECT_EQ(tape.gradient(y, w)->item<float>(), 18);
}

TEST(GradientTape, ATapeOfATraceIsOfNoUseOutside) {
  std::optional<GradientTape> kept;
  Tensor inside;
  auto f = function([&](const Tensor &x) {
    kept.emplace();
    kept->watch(x);
    inside = x * x;
    return inside;
  });
  f(scalar(2.0f));
  EXPECT_THROW(kept->gradient(inside, inside), StateError);
}

TEST(GradientTape, TrainsInACompiledStep) {
  Variable w(0.0f), b(0.0f);
  Tensor x = tensor<float>({0, 1, 2, 3}), y = tensor<float>({1, 3, 5, 7});
  auto step = function([&](const Tensor &x, const Tensor &y) {
    GradientTape tape;
    Tensor loss = mean(square(x * w + b - y));
    std::vector<std::optional<Tensor>> gradients = tape.gradient(loss, std::vector<Variable>{w, b});
    w.assign_sub(*gradients[0] * 0.1);
    b.assign_sub(*gradients[1] * 0.1);
    return loss;
  });
  for (int i = 0; i < 300; ++i)
    step(x, y);
  EXPECT_NEAR(w.value().item<float>(), 2, 1e-3);
  EXPECT_NEAR(b.value().item<float>(), 1, 1e-3);
  EXPECT_EQ(step.trace_count(), 1);
}

TEST(GradientTape, WatchingAnIntegerIsWarnedOf) {
  std::vector<Warning> warnings;
  WarningHandler before = set_warning_handler([&](const Warning &warning) { warnings.push_back(warning); });
  Tensor x = scalar(3);
  GradientTape tape;
  tape.watch(x);
  Tensor y = x * 2;
  EXPECT_FALSE(tape.gradient(y, x));
  set_warning_handler(before);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].message, "a tensor of type int32 is watched; only floating-point tensors have gradients");
  EXPECT_EQ(warnings[0].location.line, __LINE__ - 6u);
}

TEST(GradientTape, UnconnectedGradientsCanBeZeros) {
  Tensor x = tensor<float>({1, 2}), unrelated = tensor<double>({1, 2, 3});
  Variable w(ones({2, 2})), unused(ones({3}));
  GradientTape tape;
  tape.watch(x);
  Tensor y = sum(x * x) + sum(w);
  auto [dx, du, dw, dn] =
      tape.gradient(y, std::tuple(x, unrelated, w, unused), {.unconnected_gradients = UnconnectedGradients::Zero});
  expectValues(*dx, {2, 4});
  EXPECT_EQ(du->dtype(), DType::Float64);
  EXPECT_EQ(du->to_vector<double>(), std::vector<double>(3, 0));
  expectValues(*dw, {1, 1, 1, 1});
  expectValues(*dn, {0, 0, 0});
}

TEST(GradientTape, UnconnectedGradientsAreAnArgument) {
  Tensor x = tensor<float>({1, 2}), y = x;
  Variable unused(ones({3}));
  GradientTape tape({.persistent = true});
  tape.watch(x);
  Tensor z = x * x;
  expectValues(*tape.gradient(z, x, UnconnectedGradients::Zero), {2, 4});
  expectValues(*tape.gradient(z, unused, UnconnectedGradients::Zero), {0, 0, 0});
  EXPECT_FALSE(tape.gradient(z, unused, UnconnectedGradients::None).has_value());
  EXPECT_EQ(tape.gradient({z, z}, {x, x}, UnconnectedGradients::Zero).size(), 2u);
  auto [dx, rest] = tape.gradient(z, std::pair(x, std::vector{unused}), UnconnectedGradients::Zero);
  expectValues(*dx, {2, 4});
  expectValues(*rest.at(0), {0, 0, 0});
  unsigned line = __LINE__ + 1;
  std::string text = errorOf<ValueError>([&] { tape.gradient(z, x, static_cast<UnconnectedGradients>(7)); });
  EXPECT_CONTAINS(text, "unconnected gradients are None or Zero; there is no 7");
  EXPECT_CONTAINS(text, "GradientTapeTest.cpp:" + std::to_string(line));
}

TEST(GradientTape, GradientsHaveTheStructureOfTheirSources) {
  std::map<std::string, Variable> weights{{"a", Variable(scalar(2.0f))}, {"b", Variable(scalar(3.0f))}};
  std::pair<Tensor, std::array<Tensor, 2>> inputs{scalar(5.0f), {scalar(7.0f), scalar(11.0f)}};
  auto step = [&] {
    GradientTape tape({.persistent = true});
    tape.watch(inputs.first);
    tape.watch(inputs.second[1]);
    Tensor y = weights.at("a") * inputs.first * inputs.second[1] + inputs.second[0];
    auto ofWeights = tape.gradient(y, weights);
    auto ofInputs = tape.gradient(y, inputs);
    return std::tuple(*ofWeights.at("a"), ofWeights.at("b").has_value(), *ofInputs.first,
                      ofInputs.second[0].has_value(), *ofInputs.second[1]);
  };
  auto [a, hasB, first, hasSecond, third] = step();
  expectValues(a, {55});
  EXPECT_FALSE(hasB);
  expectValues(first, {22});
  EXPECT_FALSE(hasSecond);
  expectValues(third, {10});
}

TEST(GradientTape, APausedTapeSeesNothing) {
  Variable w(scalar(3.0f)), other(scalar(1.0f));
  auto f = [&](const Tensor &x) {
    GradientTape tape({.persistent = true});
    tape.watch(x);
    Tensor y = x * w, hidden;
    {
      auto pause = tape.stop_recording();
      hidden = y * y * other;
      auto inner = tape.stop_recording(); // pauses nest
    }
    Tensor z = y * hidden;
    EXPECT_EQ(tape.watched_variables().size(), 1u);
    return std::pair(*tape.gradient(z, x), tape.gradient(hidden, x).has_value());
  };
  auto [eager, eagerHidden] = f(scalar(2.0f));
  expectValues(eager, {108}); // w * hidden
  EXPECT_FALSE(eagerHidden);
  auto compiled = function<Tensor(const Tensor &)>([&](const Tensor &x) { return f(x).first; });
  expectValues(compiled(scalar(2.0f)), {108});
  GradientTape done;
  done.watch(scalar(1.0f));
  EXPECT_THROW(
      (void)[&] {
        (void)done.gradient(scalar(1.0f), scalar(1.0f));
        return done.stop_recording();
      }(),
      StateError);
}

TEST(GradientTape, ResetForgets) {
  Tensor x = scalar(2.0f);
  GradientTape tape;
  tape.watch(x);
  Tensor y = x * x;
  tape.reset();
  tape.watch(x);
  Tensor z = y * x;
  expectValues(*tape.gradient(z, x), {4});
  EXPECT_CONTAINS(errorOf<StateError>([&] { tape.reset(); }), "does not record any more");
}

TEST(CheckGradients, AcceptsRightAndNamesWrongGradients) {
  Tensor a = tensor<double>({0.5, -1.5, 2, 0.25, 1, -0.75}, {2, 3}), b = tensor<double>({1.25, -0.5, 3});
  check_gradients([](const std::vector<Tensor> &x) { return sin(x[0]) * x[1]; }, {a, b});
  check_gradients([](const std::vector<Tensor> &x) { return x[1] * 2; }, {a, b}); // no path is zero
  std::string text = errorOf<AssertionError>([&] {
    check_gradients([](const std::vector<Tensor> &x) { return x[0] * x[1] + 3 * stop_gradient(x[1]); }, {a, b});
  });
  EXPECT_CONTAINS(text, "at element [0] of input 1 the gradient is 0.75 and the difference 6.75");
  EXPECT_CONTAINS(text, "GradientTapeTest.cpp");
}

TEST(CheckGradients, RefusesWhatDifferencesCanNotDo) {
  auto square = [](const std::vector<Tensor> &x) { return x[0] * x[0]; };
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { check_gradients(square, {ones({2})}); }), "input 0 is float32");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] {
                    check_gradients([](const std::vector<Tensor> &x) { return cast(x[0], DType::Float32); },
                                    {ones({2}, DType::Float64)});
                  }),
                  "the result is float32");
  EXPECT_THROW(check_gradients(square, {ones({2}, DType::Float64)}, {.eps = 0}), ValueError);
  auto traced = function([&](const Tensor &x) { check_gradients(square, {x}); });
  std::string text = errorOf<StateError>([&] { traced(ones({2}, DType::Float64)); });
  EXPECT_EQ(text.find("CheckGradients.cpp"), std::string::npos) << text;
  EXPECT_CONTAINS(text, "GradientTapeTest.cpp");
  text = errorOf<StateError>([&, calls = 0]() mutable {
    check_gradients([&](const std::vector<Tensor> &x) { return ++calls == 1 ? x[0] : Tensor(); },
                    {ones({2}, DType::Float64)});
  });
  EXPECT_EQ(text.find("CheckGradients.cpp"), std::string::npos) << text;
  EXPECT_CONTAINS(text, "GradientTapeTest.cpp");
}

TEST(GradientTape, ListsOfTargetsHaveOneSource) {
  Tensor x = tensor<float>({1, 3});
  Variable v(2.0f);
  GradientTape tape({.persistent = true});
  tape.watch(x);
  Tensor y = sum(x * v), z = sum(x * x);
  expectValues(*tape.gradient({y, z}, x), {4, 8});
  expectValues(*tape.gradient({y, z}, v), {4});
  expectValues(*tape.gradient({y, z}, x, {scalar(1.0f), scalar(10.0f)}), {22, 62});
  expectValues(*tape.gradient({y, z}, v, UnconnectedGradients::Zero), {4});
  expectValues(*tape.gradient({y}, x), {2, 2});
  EXPECT_FALSE(tape.gradient({z, z}, v));
  auto [dx, dv] = tape.gradient({y, z}, std::pair(x, v));
  expectValues(*dx, {4, 8});
  expectValues(*dv, {4});
}

TEST(GradientTape, SourcesMayBeATupleOfReferences) {
  struct {
    Variable w{2.0f}, b{1.0f};
  } weights;
  GradientTape tape({.persistent = true});
  Tensor y = weights.w * weights.w + weights.b;
  auto [dw, db] = tape.gradient(y, std::tie(weights.w, weights.b));
  static_assert(std::is_same_v<decltype(dw), std::optional<Tensor>>);
  expectValues(*dw, {4});
  expectValues(*db, {1});
  std::pair<const Variable &, const Variable &> both(weights.w, weights.b);
  expectValues(*tape.gradient({y, y}, both).first, {8});
}

TEST(GradientTape, AStructOfSources) {
  struct Parameters {
    Variable w, b;
    Tensor unused;
  };
  Parameters p{Variable(tensor({2.0, 3.0})), Variable(1.0), ones({2})};
  GradientTape tape;
  Tensor y = sum(p.w * p.w) * p.b;
  auto [dw, db, none] = tape.gradient(y, p);
  expectValues(*dw, {4, 6});
  expectValues(*db, {13});
  EXPECT_FALSE(none);
  // Inside of other structures, and while tracing.
  auto f = function([&] {
    GradientTape inner({.persistent = true});
    Tensor z = sum(p.w * p.w) * p.b;
    auto [one, two] = inner.gradient(z, std::pair(p, p.b));
    return std::pair(*std::get<0>(one), *two);
  });
  expectValues(f().first, {4, 6});
  expectValues(f().second, {13});
}

TEST(GradientTape, VariablesAreTargets) {
  Variable v(3.0), w(2.0);
  GradientTape tape({.persistent = true});
  Tensor y = v * w;
  expectValues(*tape.gradient({y, y * v}, v), {2 + 2 * 3 * 2});
  EXPECT_EQ(tape.gradient(v, v)->item<float>(), 1);
  EXPECT_FALSE(tape.gradient(v, w));
}
