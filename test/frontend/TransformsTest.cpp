#include "Testing.h"
#include "test/Tensors.h"

#include <cmath>

using namespace calque;
using namespace calque::testing;

namespace {

// Runs a body eagerly and in a function; expected elements are in row-major order.
void inBothModes(const std::function<Tensor(const Tensor &)> &body, const Tensor &x, const std::vector<float> &expected,
                 const Shape &shape, float tolerance = 1e-5f) {
  for (bool compiled : {false, true}) {
    SCOPED_TRACE(compiled ? "compiled" : "eager");
    auto f = function<Tensor(const Tensor &)>(body);
    Tensor result = compiled ? f(x) : f.eager(x);
    ASSERT_EQ(result.shape(), shape);
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(result.data<float>()[i], expected[i], tolerance * (1 + std::abs(expected[i]))) << "element " << i;
  }
}

Tensor cubes(const Tensor &x) { return x * x * x; }

} // namespace

//===-- jvp and vjp -----------------------------------------------------------------------------===//

TEST(Jvp, GivesValueAndTangent) {
  // d(x^3) = 3 x^2 dx
  auto f = [](const Tensor &x) {
    auto [y, dy] = jvp(cubes, x, tensor({1.0f, 10.0f, 100.0f}));
    return concat({y, dy});
  };
  inBothModes(f, tensor({1.0f, 2.0f, 3.0f}), {1, 8, 27, 3, 120, 2700}, {6});
}

TEST(Jvp, TakesSeveralArgumentsAndStructures) {
  Tensor x = scalar(2.0f), y = scalar(5.0f);
  auto [values, tangents] = jvp([](const Tensor &a, const Tensor &b) { return std::pair(a * b, a + b); },
                                std::tuple(x, y), std::tuple(scalar(1.0f), scalar(10.0f)));
  EXPECT_EQ(values.first.item<float>(), 10);
  EXPECT_EQ(tangents.first.item<float>(), 5 * 1 + 2 * 10);
  EXPECT_EQ(tangents.second.item<float>(), 11);
}

TEST(Jvp, HoldsWhatIsCapturedConstant) {
  // x * x with one x captured: d = x dx
  auto f = [](const Tensor &x) { return jvp([&](const Tensor &a) { return a * x; }, x, scalar(1.0f)).second; };
  inBothModes(f, scalar(3.0f), {3}, {});
}

TEST(Jvp, OfNothingIsZeroAndIntegersDoNotChange) {
  Tensor x = tensor({1.0f, 2.0f});
  auto [values, tangents] = jvp([](const Tensor &a) { return std::pair(ones({3}), argmax(a)); }, x, x);
  EXPECT_EQ(tangents.first.to_vector<float>(), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(values.second.item<std::int64_t>(), 1);
  EXPECT_EQ(tangents.second.item<std::int64_t>(), 0);
}

// Their gradients would be themselves, since only tensors are replaced.
TEST(Grad, RefusesArgumentsWithoutTensors) {
  Variable v(tensor({1.f, 2.f}));
  auto loss = [](const Variable &v) { return sum(square(v.value())); };
  const std::string message =
      ": there is a variable among the arguments that derivatives are with respect to; those of variables are given by "
      "GradientTape";
  EXPECT_CONTAINS(errorOf<ValueError>([&] { grad(loss)(v); }), "grad" + message);
  EXPECT_CONTAINS(errorOf<ValueError>([&] { value_and_grad(loss)(v); }), "value_and_grad" + message);
  EXPECT_CONTAINS(errorOf<ValueError>([&] { vjp(loss, v); }), "vjp" + message);
  EXPECT_CONTAINS(errorOf<ValueError>([&] { jvp(loss, v, v); }), "jvp" + message);
  EXPECT_CONTAINS(errorOf<ValueError>([&] { hvp(loss)(v, v); }), "hvp" + message);
  EXPECT_CONTAINS(errorOf<ValueError>([&] { vjp([](int n) { return scalar(static_cast<float>(n)); }, 3); }),
                  "vjp: the primals hold no tensor, and derivatives are with respect to tensors");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { grad([](int n) { return scalar(static_cast<float>(n)); })(3); }),
                  "grad: the first argument holds no tensor, and derivatives are with respect to tensors");
}

namespace {
struct Affine {
  Tensor scale;
  Variable shift;
};
struct Power {
  Tensor base;
  int exponent;
};
} // namespace

TEST(Grad, RefusesStructuresOfTensorsAndVariables) {
  Affine affine{scalar(3.0f), Variable(scalar(2.0f), {.name = "shift"})};
  auto at2 = [](const Affine &a) { return a.scale * 2 + a.shift; };
  const std::string message = ": there is a variable among the arguments that derivatives are with respect to";
  EXPECT_CONTAINS(errorOf<ValueError>([&] { grad(at2)(affine); }), "grad" + message);
  EXPECT_CONTAINS(errorOf<ValueError>([&] { value_and_grad(at2)(affine); }), "value_and_grad" + message);
  EXPECT_CONTAINS(errorOf<ValueError>([&] { vjp(at2, affine); }), "vjp" + message);
  EXPECT_CONTAINS(errorOf<ValueError>([&] { jvp(at2, affine, affine); }), "jvp" + message);
  EXPECT_CONTAINS(errorOf<ValueError>([&] { hvp(at2)(affine, affine); }), "hvp" + message);
  auto compiled = function([&](const Affine &a) { return grad(at2)(a).scale; });
  EXPECT_CONTAINS(errorOf<ValueError>([&] { compiled(affine); }), "grad" + message);
  EXPECT_CONTAINS(errorOf<ValueError>([&] {
                    auto product = [](const Tensor &x, const Variable &w) { return x * w; };
                    jvp(product, std::tuple(affine.scale, affine.shift), std::tuple(affine.scale, affine.shift));
                  }),
                  "jvp" + message);
  // Results have no place for the derivative of a variable either.
  auto keeps = [&](const Tensor &x) { return Affine{x * 2, affine.shift}; };
  EXPECT_CONTAINS(errorOf<ValueError>([&] { jvp(keeps, affine.scale, affine.scale); }),
                  "jvp: there is a variable in the result, which has no place for a derivative");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { vjp(keeps, affine.scale); }), "vjp: there is a variable in the result");

  // A variable behind the first argument, or captured, is held constant.
  auto behind = [](const Tensor &scale, const Variable &shift) { return scale * shift; };
  EXPECT_EQ(grad(behind)(affine.scale, affine.shift).item<float>(), 2);
}

TEST(Grad, KeepsHostValuesOfStructures) {
  auto power = [](const Power &p) {
    Tensor y = scalar(1.0f);
    for (int i = 0; i < p.exponent; ++i)
      y = y * p.base;
    return y;
  };
  Power gradient = grad(power)(Power{scalar(2.0f), 3});
  EXPECT_EQ(gradient.base.item<float>(), 12);
  EXPECT_EQ(gradient.exponent, 3);
}

TEST(Transforms, ErrorsNameWhatTheUserHasCalled) {
  auto loss = [](const Tensor &x) { return sum(x * x); };
  Tensor integers = tensor({1, 2}), x = ones({2});
  const std::string message = ": derivatives are with respect to floating-point numbers, not int32[2]";
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { grad(loss)(integers); }), "grad" + message);
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { value_and_grad(loss)(integers); }), "value_and_grad" + message);
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { vjp(loss, integers); }), "vjp" + message);
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { jvp(loss, integers, integers); }), "jvp" + message);
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { hvp(loss)(integers, integers); }), "hvp" + message);
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { hessian(loss)(integers); }), "hessian" + message);
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { jacobian(loss)(integers); }), "jacobian" + message);
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { batch_jacobian(loss)(integers); }), "batch_jacobian" + message);

  EXPECT_CONTAINS(errorOf<ShapeError>([&] { hvp(loss)(x, ones({3})); }),
                  "hvp: tangent 0 is float32[3] and its primal float32[2]");
  auto halves = [](const Tensor &x) { return std::vector<Tensor>{x * 2, sum(x)}; };
  auto [y, pullback] = vjp(halves, x);
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { pullback({x, x}); }),
                  "vjp: cotangent 1 is float32[2] and its result float32[]");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { pullback({cast(x, DType::Float64), sum(x)}); }),
                  "vjp: cotangent 0 is float64[2] and its result float32[2]");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { pullback({x}); }), "vjp: the pullback is given 1 cotangent for 2 results");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { pullback({}); }), "vjp: the pullback is given 0 cotangents for 2 results");

  auto inside = function([&](const Tensor &x) { return pullback({x, sum(x)}); });
  EXPECT_CONTAINS(errorOf<StateError>([&] { inside(x); }), "a pullback from outside of a trace is called inside");
  std::function<Tensor(const std::vector<Tensor> &)> leaked;
  function([&](const Tensor &x) {
    auto traced = vjp(halves, x);
    leaked = [pull = traced.second](const std::vector<Tensor> &cotangents) { return pull(cotangents); };
    return traced.first[0];
  })(x);
  EXPECT_CONTAINS(errorOf<StateError>([&] { leaked({x, sum(x)}); }),
                  "a pullback of a trace is called outside of the trace");

  // Sizes that are open are compared at the call.
  TensorSpec<float> open({kDynamic});
  auto pulled = function(
      [&](const Tensor &x) {
        return vjp(loss, x).second(ones({})) + vjp([](const Tensor &x) { return x * 3; }, x).second(ones({2}));
      },
      {.input_signature = {open}});
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { pulled(ones({3})); }), "vjp: dimension 0 of ");
  auto pushed = function([&](const Tensor &x) { return jvp(loss, x, ones({2})).second; }, {.input_signature = {open}});
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { pushed(ones({3})); }), "jvp: dimension 0 of ");
  auto product = function([&](const Tensor &x) { return hvp(loss)(x, ones({2})); }, {.input_signature = {open}});
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { product(ones({3})); }), "hvp: dimension 0 of ");
  auto seeded = function(
      [&](const Tensor &x) {
        GradientTape tape;
        tape.watch(x);
        Tensor y = x * x;
        return *tape.gradient(y, x, {ones({2})});
      },
      {.input_signature = {open}});
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { seeded(ones({3})); }), "gradient: dimension 0 of ");
  auto custom = function(
      [](const Tensor &x) {
        auto three =
            custom_gradient([](const Tensor &z) { return std::pair(z * 3, [](const Tensor &) { return ones({2}); }); });
        return grad([&](const Tensor &z) { return sum(three(z)); })(x);
      },
      {.input_signature = {open}});
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { custom(ones({3})); }), "custom_gradient: dimension 0 of ");
}

TEST(Transforms, TapesRefuseJacobiansByIntegers) {
  Tensor integers = tensor({1, 2}), x = ones({2});
  Variable count(tensor({1, 2}), {.name = "count"});
  GradientTape tape;
  tape.watch(x);
  Tensor y = x * cast(integers, DType::Float32);
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { tape.jacobian(y, integers); }),
                  "jacobian: derivatives are with respect to floating-point numbers, not int32[2]");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { tape.jacobian(y, count); }), "jacobian: derivatives are with respect to");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { tape.batch_jacobian(y, integers); }),
                  "batch_jacobian: derivatives are with respect to");
  EXPECT_EQ(tape.jacobian(y, x)->to_vector<float>(), (std::vector<float>{1, 0, 0, 2})) << "a refusal is no use";
}

TEST(Jvp, RefusesTangentsUnlikeThePrimals) {
  Tensor x = tensor({1.0f, 2.0f});
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { jvp(cubes, x, ones({3})); }),
                  "jvp: tangent 0 is float32[3] and its primal float32[2]");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { jvp(cubes, x, ones({2}, DType::Float64)); }), "tangent 0 is float64[2]");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { jvp(cubes, tensor({1, 2}), tensor({1, 2})); }), "not int32[2]");
  EXPECT_CONTAINS(errorOf<ValueError>([&] {
                    jvp([](const std::vector<Tensor> &xs) { return xs[0]; }, std::vector<Tensor>{x, x},
                        std::vector<Tensor>{x});
                  }),
                  "the call gives 1 tangent for 2 primals");
}

TEST(Vjp, PullbackServesManyTimes) {
  auto f = [](const Tensor &x) {
    auto [y, pullback] = vjp(cubes, x);
    return concat({y, pullback(ones({2})), pullback(tensor({1.0f, 10.0f}))});
  };
  inBothModes(f, tensor({1.0f, 2.0f}), {1, 8, 3, 12, 3, 120}, {6});
}

TEST(Vjp, KeepsStructures) {
  Tensor a = scalar(2.0f), b = scalar(5.0f);
  auto [y, pullback] = vjp([](const Tensor &x, const Tensor &z) { return std::pair(x * z, x + z); }, std::tuple(a, b));
  auto [da, db] = pullback(std::pair(scalar(1.0f), scalar(10.0f)));
  EXPECT_EQ(da.item<float>(), 5 + 10);
  EXPECT_EQ(db.item<float>(), 2 + 10);
  EXPECT_EQ(y.second.item<float>(), 7);
  EXPECT_CONTAINS(errorOf<DTypeError>([] { vjp(cubes, scalar(1)); }),
                  "vjp: derivatives are with respect to floating-point numbers, not int32[]");
}

//===-- grad ------------------------------------------------------------------------------------===//

TEST(Grad, HoldsWhatIsCapturedConstant) {
  // The classic: d/dx x * (d/dy (x + y) at y = x) = 1
  auto f = [](const Tensor &x) {
    return grad([](const Tensor &a) { return a * grad([&](const Tensor &b) { return a + b; })(a); })(x);
  };
  inBothModes(f, scalar(3.0f), {1}, {});
}

TEST(Vmap, OfAConstantFollowsNoExample) {
  for (bool compiled : {false, true}) {
    auto body = [](const Tensor &x) {
      GradientTape tape;
      tape.watch(x);
      Tensor y = vmap([](const Tensor &) { return ones({3}); })(x);
      return sum(y) + (tape.gradient(y, x) ? 100.0f : 0.0f);
    };
    auto f = function(body);
    EXPECT_EQ((compiled ? f(ones({2})) : body(ones({2}))).item<float>(), 6);
  }
}

// JAX and TensorFlow give NaN, too: the extreme equals none of the elements, and no gradient is made up.
TEST(Grad, OfExtremesAmongNaNIsNaN) {
  Tensor x = tensor({1.0f, NAN, 3.0f, 7.0f, 2.0f, 7.0f}, {2, 3});
  auto expectRows = [](const Tensor &gradients, std::vector<float> second) {
    std::vector<float> values = gradients.to_vector<float>();
    for (int i = 0; i < 3; ++i)
      EXPECT_TRUE(std::isnan(values[i])) << i;
    EXPECT_EQ(std::vector<float>(values.begin() + 3, values.end()), second);
  };
  auto largest = [](const Tensor &x) { return sum(max(x, {1})); };
  auto smallest = [](const Tensor &x) { return sum(min(x, {1})); };
  expectRows(grad(largest)(x), {0.5f, 0, 0.5f});
  expectRows(grad(smallest)(x), {0, 1, 0});
  expectRows(function(grad(largest))(x), {0.5f, 0, 0.5f});
  auto tangents = jvp([](const Tensor &x) { return max(x, {1}); }, x, ones({2, 3})).second;
  EXPECT_TRUE(std::isnan(tangents.to_vector<float>()[0]));
  EXPECT_EQ(tangents.to_vector<float>()[1], 1);
  // No axis is reduced: the value passes, and the gradient with it.
  EXPECT_EQ(grad([](const Tensor &x) { return max(x); })(scalar(NAN)).item<float>(), 1);
}

TEST(Grad, NestsToAnyOrder) {
  auto fourth = [](const Tensor &x) {
    return grad(grad(grad(grad([](const Tensor &a) { return a * a * a * a * a; }))))(x);
  };
  inBothModes(fourth, scalar(2.0f), {240}, {});
}

TEST(Grad, TakesStructures) {
  std::vector<Tensor> parameters{scalar(2.0f), scalar(3.0f)};
  auto [value, gradients] = value_and_grad(
      [](const std::vector<Tensor> &p, const Tensor &x) { return p[0] * x + p[1]; })(parameters, scalar(4.0f));
  EXPECT_EQ(value.item<float>(), 11);
  EXPECT_EQ(gradients[0].item<float>(), 4);
  EXPECT_EQ(gradients[1].item<float>(), 1);
}

//===-- vmap ------------------------------------------------------------------------------------===//

TEST(Vmap, DoesAllExamplesAtOnce) {
  Tensor w = tensor({1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f}, {2, 3});
  auto f = [&](const Tensor &x) {
    return vmap([&](const Tensor &row) { return sum(matmul(w, expand_dims(row, {1}))); })(x);
  };
  inBothModes(f, tensor({1.0f, 0.0f, 0.0f, 0.0f, 1.0f, 1.0f}, {2, 3}), {5, 16}, {2});
}

TEST(Vmap, TakesAxesAndGivesThem) {
  Tensor x = reshape(iota({6}, DType::Float32), {2, 3}), y = tensor({10.0f, 20.0f});
  auto columns =
      vmap([](const Tensor &column, const Tensor &shared) { return std::pair(column * shared, sum(column)); },
           {.in_axes = {1, std::nullopt}, .out_axes = {-1, 0}})(x, y);
  EXPECT_EQ(columns.first.shape(), (Shape{2, 3}));
  EXPECT_EQ(columns.first.to_vector<float>(), (std::vector<float>{0, 10, 20, 60, 80, 100}));
  EXPECT_EQ(columns.second.to_vector<float>(), (std::vector<float>{3, 5, 7}));
}

TEST(Vmap, NestsAndRepeatsWhatIsTheSame) {
  // All pairs: x_i y_j, and a result that depends on no example.
  auto f = [](const Tensor &x) {
    Tensor y = tensor({1.0f, 10.0f});
    return vmap([&](const Tensor &a) { return vmap([&](const Tensor &b) { return a * b + full({}, 0.5f); })(y); })(x);
  };
  inBothModes(f, tensor({1.0f, 2.0f, 3.0f}), {1.5, 10.5, 2.5, 20.5, 3.5, 30.5}, {3, 2});
  auto same = [](const Tensor &x) { return vmap([](const Tensor &) { return tensor({1.0f, 2.0f}); })(x); };
  inBothModes(same, ones({2}), {1, 2, 1, 2}, {2, 2});
}

TEST(Vmap, OfGradientsIsOneGradientForEachExample) {
  Tensor w = tensor({1.0f, 2.0f});
  auto loss = [](const Tensor &p, const Tensor &x) { return square(sum(p * x)); };
  auto f = [&](const Tensor &x) { return vmap([&](const Tensor &row) { return grad(loss)(w, row); })(x); };
  // 2 (w . x) x
  inBothModes(f, tensor({1.0f, 0.0f, 1.0f, 1.0f}, {2, 2}), {2, 0, 6, 6}, {2, 2});
}

TEST(Vmap, GradientsGoThrough) {
  auto f = [](const Tensor &x) {
    return grad([](const Tensor &all) { return sum(vmap([](const Tensor &row) { return square(sum(row)); })(all)); })(
        x);
  };
  inBothModes(f, tensor({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2}), {6, 6, 14, 14}, {2, 2});
  auto tangent = [](const Tensor &x) {
    return jvp([](const Tensor &all) { return vmap(cubes)(all); }, x, ones({2})).second;
  };
  inBothModes(tangent, tensor({1.0f, 2.0f}), {3, 12}, {2});
}

TEST(Vmap, GradientsReachWhatIsCaptured) {
  Variable w(tensor({1.0f, 2.0f}), {.name = "w"});
  auto body = [&](const Tensor &x) {
    GradientTape tape;
    Tensor y = sum(vmap([&](const Tensor &row) { return sum(row * w); })(x));
    return *tape.gradient(y, w);
  };
  inBothModes(body, tensor({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2}), {4, 6}, {2});
}

// Found by calque-fuzz: compiled, an argument that is the same for all examples was the captured tensor itself.
TEST(Vmap, ArgumentsWithoutAnAxisAreNotWhatIsCaptured) {
  inBothModes(
      [](const Tensor &x) {
        auto f = [&](const Tensor &, const Tensor &same) {
          GradientTape tape;
          tape.watch(same);
          return *tape.gradient(same * x, same);
        };
        return vmap(f, {.in_axes = {0, std::nullopt}})(ones({2}), x);
      },
      scalar(3.0f), {3, 3}, {2});
}

TEST(Vmap, IndexesPerExample) {
  Tensor rows = tensor({1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f}, {2, 3});
  auto pick = vmap([](const Tensor &row, const Tensor &i) { return gather(row, i); });
  EXPECT_EQ(pick(rows, tensor({2, 0})).to_vector<float>(), (std::vector<float>{3, 4}));
  EXPECT_CONTAINS(errorOf<IndexError>([&] { pick(rows, tensor({3, 0})); }), "out of range");
  EXPECT_CONTAINS(errorOf<IndexError>([&] { pick(rows, tensor({0, -1})); }), "out of range");
}

TEST(Vmap, RefusesWhatHasNoExamples) {
  auto f = [](const Tensor &x, const Tensor &y) { return x + y; };
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { vmap(f)(ones({2}), ones({3})); }),
                  "different numbers of examples: 2, and 3");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { vmap(f)(ones({2}), ones({})); }), "axis");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { vmap(f, {.in_axes = {0}})(ones({2}), ones({2})); }),
                  "in_axes has 1 entry, and the arguments have 2 tensors");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { vmap(f, {.out_axes = {0, 0}})(ones({2}), ones({2})); }),
                  "out_axes has 2 entries, and the result has 1 tensor\n");
  EXPECT_CONTAINS(
      errorOf<ValueError>([&] { vmap(f, {.in_axes = {std::nullopt, std::nullopt}})(ones({2}), ones({2})); }),
      "no argument has a mapped axis");
  Variable w(scalar(0.0f), {.name = "w"});
  EXPECT_CONTAINS(errorOf<CompileError>([&] {
                    vmap([&](const Tensor &x) {
                      w.assign(x);
                      return x;
                    })(ones({2}));
                  }),
                  "assigns a variable, which can't hold a value for each of many examples");
  EXPECT_EQ(w.value().item<float>(), 0);
  // One value for all indices, too: one after the other, each would add to what the last one left.
  EXPECT_CONTAINS(errorOf<CompileError>([&] {
                    vmap([&](const Tensor &x) {
                      w.assign_add(1.0f);
                      return x * w;
                    })(ones({2}));
                  }),
                  "assigns a variable, which can't hold a value for each of many examples");
  EXPECT_EQ(w.value().item<float>(), 0);
  random::Generator generator(1);
  EXPECT_CONTAINS(
      errorOf<CompileError>([&] { vmap([&](const Tensor &x) { return x + generator.uniform({}); })(ones({2})); }),
      "random::uniform: assigns a variable, which can't hold a value for each of many examples; do it outside of vmap, "
      "or draw random numbers by stateless functions from a state for each");
  std::optional<Tensor> leaked;
  vmap([&](const Tensor &x) { return *(leaked = x + 1); })(ones({2}));
  EXPECT_THROW(*leaked + 1, LeakedTensorError);
}

//===-- Jacobians and Hessians ------------------------------------------------------------------===//

TEST(Jacobian, HasTheShapeOfTargetAndSource) {
  // y = (x0 x1, x1 x2): the rows are their gradients.
  auto f = [](const Tensor &x) {
    return jacobian([](const Tensor &a) { return slice(a, {0}, {2}) * slice(a, {1}, {3}); })(x);
  };
  inBothModes(f, tensor({2.0f, 3.0f, 5.0f}), {3, 2, 0, 0, 5, 3}, {2, 3});
  auto matrices = [](const Tensor &x) { return jacobian([](const Tensor &a) { return matmul(a, a); })(x); };
  // d(A A)_ij / dA_kl = delta_ik A_lj + A_ik delta_jl
  inBothModes(matrices, tensor({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2}), {2, 3, 2, 0, 2, 5, 0, 2, 3, 0, 5, 3, 0, 3, 2, 8},
              {2, 2, 2, 2});
}

TEST(Jacobian, OfVariablesAndNothing) {
  Variable w(tensor({1.0f, 2.0f}), {.name = "w"});
  GradientTape tape({.persistent = true});
  Tensor y = square(w.value());
  EXPECT_EQ(tape.jacobian(y, w)->to_vector<float>(), (std::vector<float>{2, 0, 0, 4}));
  EXPECT_FALSE(tape.jacobian(ones({2}), w));
  EXPECT_EQ(jacobian([](const Tensor &) { return ones({2}); })(ones({3})).shape(), (Shape{2, 3}));
}

TEST(Jacobian, OfExamplesLeavesOutWhatDoesNotDepend) {
  auto f = [](const Tensor &x) { return batch_jacobian([](const Tensor &a) { return a * sum(a, {1}, true); })(x); };
  // For each row r: d(r_i s)/dr_j = s delta_ij + r_i
  inBothModes(f, tensor({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2}), {4, 1, 2, 5, 10, 3, 4, 11}, {2, 2, 2});
  EXPECT_CONTAINS(errorOf<ShapeError>([] { batch_jacobian([](const Tensor &x) { return sum(x); })(ones({2})); }),
                  "first dimension runs over the examples");
  EXPECT_CONTAINS(
      errorOf<ShapeError>([] { batch_jacobian([](const Tensor &x) { return concat({x, x}); })(ones({2})); }),
      "must have one number of examples");
}

TEST(Hessian, IsForwardOverReverse) {
  auto cubic = [](const Tensor &a) { return sum(a * a * a) + gather(a, scalar(0)) * gather(a, scalar(1)); };
  auto f = [&](const Tensor &x) { return hessian(cubic)(x); };
  inBothModes(f, tensor({1.0f, 2.0f}), {6, 1, 1, 12}, {2, 2});
  auto product = [&](const Tensor &x) { return hvp(cubic)(x, tensor({1.0f, 10.0f})); };
  inBothModes(product, tensor({1.0f, 2.0f}), {16, 121}, {2});
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { hessian(cubic)(tensor({1, 2})); }),
                  "hessian: derivatives are with respect to");
}

TEST(Hessian, AgreesWithJacobianOfGradient) {
  Tensor w = tensor({0.5f, -1.0f, 2.0f, 0.25f, 1.5f, -0.75f, 1.0f, 0.0f, -0.5f}, {3, 3});
  auto f = [&](const Tensor &x) { return square(sum(tanh(matmul(w, expand_dims(x, {1}))))); };
  Tensor x = tensor({0.1f, -0.2f, 0.3f}), a = hessian(f)(x), b = jacobian(grad(f))(x);
  ASSERT_EQ(a.shape(), b.shape());
  for (std::int64_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a.data<float>()[i], b.data<float>()[i], 1e-5f);
}

TEST(Grad, TakesTheNumbersOfArguments) {
  auto f = [](const Tensor &x, int n, const Tensor &y) { return x * x * y * n; };
  auto gradients = grad(f, {.argnums = {2, 0}})(scalar(3.0), 2, scalar(5.0));
  ASSERT_EQ(gradients.size(), 2u);
  EXPECT_EQ(gradients[0].item<float>(), 18);
  EXPECT_EQ(gradients[1].item<float>(), 60);
  auto [value, one] = value_and_grad(f, {.argnums = {2}})(scalar(3.0), 2, scalar(5.0));
  EXPECT_EQ(value.item<float>(), 90);
  EXPECT_EQ(one[0].item<float>(), 18);
  Variable v(5.0);
  auto compiled = function<std::vector<Tensor>(const Tensor &, const Tensor &)>(
      [&](const Tensor &x, const Tensor &y) { return grad(f, {.argnums = {0, 2}})(x, 2, y); });
  expectValues(compiled(scalar(3.0), v)[0], {60});
  auto wrapped = function(grad(f, {.argnums = {2, 0}}));
  expectValues(wrapped(scalar(3.0), 2, scalar(5.0))[1], {60});
  expectValues(function(value_and_grad(f, {.argnums = {2}}))(scalar(3.0), 2, scalar(5.0)).second[0], {18});
  expectValues(grad(f, {.argnums = {2}})(scalar(3.0), 2, v)[0], {18});

  auto at = [&](std::vector<std::int64_t> numbers) {
    return errorOf<ValueError>([&] { grad(f, {.argnums = numbers})(scalar(3.0), 2, scalar(5.0)); });
  };
  EXPECT_CONTAINS(at({}), "grad: argnums names no argument");
  EXPECT_CONTAINS(at({3}), "grad: argnums has 3, and the call has 3 arguments");
  EXPECT_CONTAINS(at({-1}), "grad: argnums has -1");
  EXPECT_CONTAINS(at({0, 0}), "grad: argnums has 0 twice");
  EXPECT_CONTAINS(at({1}), "grad: argument 1 of argnums is no tensor");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { grad(f, {.argnums = {0}})(scalar(3), 2, scalar(5)); }), "grad");
}

TEST(Grad, TakesNumbersAndVariablesForTensors) {
  auto square = [](const Tensor &x) { return x * x; };
  Variable v(3.0);
  EXPECT_EQ(grad(square)(v).item<float>(), 6);
  EXPECT_EQ(grad(square)(3.0f).item<float>(), 6);
  EXPECT_EQ(grad(square)(3.0).dtype(), DType::Float32);
  EXPECT_EQ(grad(grad(square))(3.0).item<float>(), 2);
  EXPECT_EQ(value_and_grad([](const auto &x) { return x * x; })(v).second.item<float>(), 6);
  EXPECT_EQ(jacobian(square)(v).item<float>(), 6);
  EXPECT_EQ(hessian(square)(v).item<float>(), 2);
  EXPECT_EQ(function(square)(v).item<float>(), 9);
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { grad(square)(3); }), "int32");
  // What takes the variable itself is not differentiated by it.
  EXPECT_CONTAINS(errorOf<ValueError>([&] { grad([](Variable &x) { return x * 2; })(v); }), "there is a variable");
}

TEST(Vmap, TakesOneAxisForAllTensors) {
  auto f = [](const Tensor &x, const Tensor &y) { return sum(x) * y; };
  Tensor x = tensor<float>({{1, 2, 3}, {4, 5, 6}}), y = tensor<float>({{1, 1, 1}, {2, 2, 2}});
  expectValues(vmap(f, 0)(x, y), {6, 6, 6, 30, 30, 30});
  EXPECT_EQ(vmap(f, 1)(x, y).shape(), (Shape{3, 2}));
  expectValues(vmap(f, -1)(x, y), {5, 10, 7, 14, 9, 18});
  EXPECT_CONTAINS(errorOf<ValueError>([&] { vmap(f, 2)(x, y); }), "vmap");
}
