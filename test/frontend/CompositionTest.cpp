// Transformations of transformations, of functions and in functions: against formulas and against central differences,
// eagerly and compiled.
#include "Composition.h"

using namespace calque;
using namespace calque::testing;

namespace {

// A network with what networks have: a convolution, pooling, matrices, softmax.
Tensor network(const Tensor &image, const Tensor &filter, const Tensor &w) {
  Tensor h = max_pool2d(tanh(conv2d(image, filter, {1, 1}, "same")), {2, 2}, {2, 2});
  Tensor logits = matmul(reshape(h, {image.shape()[0], -1}), w);
  return sum(softmax(logits) * logits) + sum(logsumexp(logits, {1}));
}

struct NetworkInputs {
  std::vector<Tensor> inputs;
  explicit NetworkInputs(std::uint32_t seed) {
    std::mt19937 random(seed);
    inputs = {randomTensor(random, {2, 4, 4, 1}), randomTensor(random, {3, 3, 1, 2}), randomTensor(random, {8, 3})};
  }
};

} // namespace

//===-- vmap, gradients and Jacobians of each other -----------------------------------------------===//

TEST(Composition, VmapOfGradOfVmap) {
  // For each matrix: d/dx of the sum over rows r of (r . w)^2 is 2 (r . w) w.
  Tensor w = tensor<double>({1, -2});
  auto f = [](const std::vector<Tensor> &in) {
    return vmap([&](const Tensor &matrix) {
      return grad([&](const Tensor &rows) {
        return sum(vmap([&](const Tensor &row) { return square(sum(row * in[1])); })(rows));
      })(matrix);
    })(in[0]);
  };
  inBothModes(f, {tensor<double>({1, 0, 0, 1, 2, 3, 1, 1}, {2, 2, 2}), w}, {2, -4, -4, 8, -8, 16, -2, 4}, {2, 2, 2});
}

TEST(Composition, JacobianOfVmapIsDiagonal) {
  auto f = [](const std::vector<Tensor> &in) {
    return jacobian([](const Tensor &x) { return vmap(cubes)(x); })(in[0]);
  };
  inBothModes(f, {tensor<double>({1, 2, 3})}, {3, 0, 0, 0, 12, 0, 0, 0, 27}, {3, 3});
}

TEST(Composition, VmapOfJacobianIsBatchJacobian) {
  auto row = [](const Tensor &x) { return x * sum(x); };
  std::mt19937 random(1);
  Tensor x = randomTensor(random, {4, 3});
  auto all = [&](const Tensor &rows) { return rows * sum(rows, {1}, true); };
  inBothModes([&](const std::vector<Tensor> &in) { return vmap(jacobian(row))(in[0]); }, {x},
              valuesOf(batch_jacobian(all)(x)), {4, 3, 3});
}

TEST(Composition, JacobianOfJacobianIsTheThirdDerivativesOfAPotential) {
  // f = (x0^2 x1, x1^2): d2 f0 = [[2 x1, 2 x0], [2 x0, 0]], d2 f1 = [[0, 0], [0, 2]]
  auto f = [](const Tensor &x) {
    Tensor a = gather(x, scalar(0)), b = gather(x, scalar(1));
    return concat({reshape(a * a * b, {1}), reshape(b * b, {1})});
  };
  inBothModes([&](const std::vector<Tensor> &in) { return jacobian(jacobian(f))(in[0]); }, {tensor<double>({3, 5})},
              {10, 6, 6, 0, 0, 0, 0, 2}, {2, 2, 2});
}

TEST(Composition, VmapOfHessian) {
  // sum x^3 has the Hessian diag(6 x).
  auto f = [](const std::vector<Tensor> &in) {
    return vmap(hessian([](const Tensor &x) { return sum(cubes(x)); }))(in[0]);
  };
  inBothModes(f, {tensor<double>({1, 2, 3, 4}, {2, 2})}, {6, 0, 0, 12, 18, 0, 0, 24}, {2, 2, 2});
}

TEST(Composition, HessianOfVmapAgreesWithJacobianOfGrad) {
  std::mt19937 random(2);
  Tensor x = randomTensor(random, {2, 3}), w = randomTensor(random, {3, 2});
  auto f = [&](const Tensor &all) {
    return sum(square(vmap([&](const Tensor &row) { return tanh(matmul(expand_dims(row, {0}), w)); })(all)));
  };
  Tensor expected = jacobian(grad(f))(x);
  inBothModes([&](const std::vector<Tensor> &in) { return hessian(f)(in[0]); }, {x}, valuesOf(expected), {2, 3, 2, 3});
}

TEST(Composition, VmapOfVjpWithOneSeedForEach) {
  // Rows of the Jacobian of x^3: one for each seed.
  auto f = [](const std::vector<Tensor> &in) {
    auto pullback = vjp(cubes, in[0]).second;
    return vmap([&](const Tensor &seed) { return pullback(seed); })(in[1]);
  };
  Tensor x = tensor<double>({1, 2}), seeds = tensor<double>({1, 0, 0, 1, 1, 1}, {3, 2});
  auto compiled = function<Tensor(const std::vector<Tensor> &)>(f);
  EXPECT_EQ(valuesOf(compiled({x, seeds})), (std::vector<double>{3, 0, 0, 12, 3, 12}));
}

//===-- Forward mode of everything ----------------------------------------------------------------===//

TEST(Composition, JvpOfJvp) {
  // d/du d/dt x^3 = 6 x t u
  auto f = [](const std::vector<Tensor> &in) {
    auto first = [&](const Tensor &x) { return jvp(cubes, x, in[1]).second; };
    return jvp(first, in[0], in[2]).second;
  };
  inBothModes(f, {tensor<double>({1, 2}), tensor<double>({10, 1}), tensor<double>({1, 100})}, {60, 1200}, {2});
}

TEST(Composition, JvpHoldsTangentsOfInnerOnesApart) {
  // d/dx (x * d/dy (x + y)) = 1, not 2: the inner derivative does not see the outer tangent.
  auto f = [](const std::vector<Tensor> &in) {
    Tensor one = ones({}, DType::Float64);
    auto outer = [&](const Tensor &x) { return x * jvp([&](const Tensor &y) { return x + y; }, x, one).second; };
    return jvp(outer, in[0], one).second;
  };
  inBothModes(f, {full({}, 3, DType::Float64)}, {1}, {});
}

TEST(Composition, ForwardAndReverseInEitherOrder) {
  std::mt19937 random(3);
  Tensor x = randomTensor(random, {3}), v = randomTensor(random, {3});
  auto f = [](const Tensor &a) { return sum(exp(a) * sin(a)); };
  // (e^x sin x)'' = 2 e^x cos x
  std::vector<double> xs = valuesOf(x), vs = valuesOf(v), expected;
  for (std::size_t i = 0; i < xs.size(); ++i)
    expected.push_back(2 * std::exp(xs[i]) * std::cos(xs[i]) * vs[i]);
  inBothModes([&](const std::vector<Tensor> &in) { return jvp(grad(f), in[0], in[1]).second; }, {x, v}, expected, {3});
  inBothModes(
      [&](const std::vector<Tensor> &in) {
        return grad([&](const Tensor &a) { return jvp(f, a, in[1]).second; })(in[0]);
      },
      {x, v}, expected, {3});
  inBothModes([&](const std::vector<Tensor> &in) { return hvp(f)(in[0], in[1]); }, {x, v}, expected, {3});
}

TEST(Composition, VmapOfJvpIsAJacobianByColumns) {
  std::mt19937 random(4);
  Tensor x = randomTensor(random, {3}), w = randomTensor(random, {2, 3});
  auto f = [&](const Tensor &a) { return tanh(matmul(w, expand_dims(a, {1}))); };
  auto forward = [&](const std::vector<Tensor> &in) {
    return vmap([&](const Tensor &direction) { return jvp(f, in[0], direction).second; },
                {.out_axes = {-1}})(eye(3, DType::Float64));
  };
  inBothModes(forward, {x}, valuesOf(jacobian(f)(x)), {2, 1, 3});
}

//===-- Networks ----------------------------------------------------------------------------------===//

TEST(Composition, DerivativesOfNetworks) {
  NetworkInputs n(5);
  // First and second order, forward and reverse, against central differences.
  expectDerivatives([](const std::vector<Tensor> &in) { return network(in[0], in[1], in[2]); }, n.inputs, 2);
}

TEST(Composition, HvpOfNetworksAgainstDifferencesOfGradients) {
  NetworkInputs n(6);
  std::mt19937 random(7);
  using Three = std::vector<Tensor>;
  auto loss = [](const Three &in) { return network(in[0], in[1], in[2]); };
  Three v;
  for (const Tensor &x : n.inputs)
    v.push_back(randomTensor(random, x.shape(), -1, 1));
  auto compiled = function<Three(const Three &, const Three &)>(
      [&](const Three &x, const Three &direction) { return hvp(loss)(x, direction); });
  auto gradient = function<Three(const Three &)>([&](const Three &x) { return grad(loss)(x); });
  const double epsilon = 1e-6;
  Three after, before;
  for (std::size_t i = 0; i < v.size(); ++i) {
    after.push_back(n.inputs[i] + v[i] * epsilon);
    before.push_back(n.inputs[i] - v[i] * epsilon);
  }
  Three high = gradient(after), low = gradient(before), found[] = {compiled(n.inputs, v), hvp(loss)(n.inputs, v)};
  for (const Three &products : found)
    for (std::size_t i = 0; i < v.size(); ++i) {
      std::vector<double> a = valuesOf(products[i]), numeric = valuesOf((high[i] - low[i]) / (2 * epsilon));
      for (std::size_t j = 0; j < a.size(); ++j)
        EXPECT_NEAR(a[j], numeric[j], 1e-5 + 1e-4 * std::fabs(numeric[j])) << "input " << i << ", element " << j;
    }
}

TEST(Composition, GradientsForEachExampleOfANetwork) {
  // One gradient for each image, and their sum is that of the sum.
  NetworkInputs n(8);
  auto one = [](const Tensor &filter, const Tensor &image, const Tensor &w) {
    return network(expand_dims(image, {0}), filter, w);
  };
  auto each = function<Tensor(const std::vector<Tensor> &)>([&](const std::vector<Tensor> &in) {
    return vmap([&](const Tensor &image) { return grad(one)(in[1], image, in[2]); })(in[0]);
  });
  Tensor found = each(n.inputs),
         total = grad([&](const Tensor &filter) { return network(n.inputs[0], filter, n.inputs[2]); })(n.inputs[1]);
  ASSERT_EQ(found.shape(), (Shape{2, 3, 3, 1, 2}));
  std::vector<double> summed = valuesOf(sum(found, {0})), expected = valuesOf(total);
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(summed[i], expected[i], 1e-10) << "element " << i;
  for (std::int64_t k : {0, 1}) {
    Tensor image = reshape(slice(n.inputs[0], {k, 0, 0, 0}, {k + 1, 4, 4, 1}), {4, 4, 1});
    std::vector<double> single = valuesOf(grad(one)(n.inputs[1], image, n.inputs[2])),
                        own = valuesOf(gather(found, scalar(k)));
    for (std::size_t i = 0; i < own.size(); ++i)
      EXPECT_NEAR(own[i], single[i], 1e-10) << "image " << k << ", element " << i;
  }
}

TEST(Composition, HessianOfANetworksFilterIsSymmetricAndThatOfJacobianOfGrad) {
  NetworkInputs n(9);
  auto f = [&](const Tensor &w) { return network(n.inputs[0], n.inputs[1], w); };
  auto compiled = function<std::vector<Tensor>(const Tensor &)>(
      [&](const Tensor &w) { return std::vector<Tensor>{hessian(f)(w), jacobian(grad(f))(w)}; });
  std::vector<Tensor> found = compiled(n.inputs[2]);
  ASSERT_EQ(found[0].shape(), (Shape{8, 3, 8, 3}));
  std::vector<double> h = valuesOf(found[0]), j = valuesOf(found[1]);
  for (std::size_t a = 0; a < 24; ++a)
    for (std::size_t b = 0; b < 24; ++b) {
      EXPECT_NEAR(h[a * 24 + b], h[b * 24 + a], 1e-10);
      EXPECT_NEAR(h[a * 24 + b], j[a * 24 + b], 1e-10);
    }
}

//===-- Functions in transformations, transformations in functions --------------------------------===//

TEST(Composition, TransformsOfFunctions) {
  auto inner = function([](const Tensor &x) { return cubes(x); });
  auto outer = function([&](const Tensor &x) { return inner(x) + inner(2 * x); }); // 9 x^3
  Tensor x = tensor<double>({1, 2}), t = tensor<double>({1, 10});
  auto f = [&](const Tensor &a) { return outer(a); };
  inBothModes([&](const std::vector<Tensor> &in) { return jvp(f, in[0], in[1]).second; }, {x, t}, {27, 1080}, {2});
  inBothModes([&](const std::vector<Tensor> &in) { return grad(f)(in[0]); }, {x}, {27, 108}, {2});
  inBothModes([&](const std::vector<Tensor> &in) { return vmap(f)(in[0]); }, {x}, {9, 72}, {2});
  inBothModes([&](const std::vector<Tensor> &in) { return jacobian(f)(in[0]); }, {x}, {27, 0, 0, 108}, {2, 2});
  inBothModes([&](const std::vector<Tensor> &in) { return hessian(f)(in[0]); }, {x}, {54, 0, 0, 108}, {2, 2});
  inBothModes([&](const std::vector<Tensor> &in) { return hvp(f)(in[0], in[1]); }, {x, t}, {54, 1080}, {2});
  inBothModes([&](const std::vector<Tensor> &in) { return vmap(grad(f))(in[0]); }, {x}, {27, 108}, {2});
}

TEST(Composition, TransformsOfFunctionsOfTransforms) {
  // function, grad, function, vmap, function: d/dx sum of (x_i w)^2 = 2 w^2 x_i
  auto square_of = function([](const Tensor &a, const Tensor &w) { return square(a * w); });
  auto all = function([&](const Tensor &x, const Tensor &w) {
    return vmap([&](const Tensor &a, const Tensor &b) { return square_of(a, b); }, {.in_axes = {0, std::nullopt}})(x,
                                                                                                                   w);
  });
  auto derivative =
      function([&](const Tensor &x, const Tensor &w) { return grad([&](const Tensor &a) { return all(a, w); })(x); });
  Tensor x = tensor<double>({1, 2, 3}), w = full({}, 3, DType::Float64);
  inBothModes([&](const std::vector<Tensor> &in) { return derivative(in[0], in[1]); }, {x, w}, {18, 36, 54}, {3});
  // Its derivative with respect to what is shared: 4 w x_i, along 1.
  inBothModes(
      [&](const std::vector<Tensor> &in) {
        return jvp([&](const Tensor &b) { return derivative(in[0], b); }, in[1], ones({}, DType::Float64)).second;
      },
      {x, w}, {12, 24, 36}, {3});
}

TEST(Composition, FunctionsWithVariables) {
  Variable w(tensor<double>({2, 3}), {.name = "w"}), count(full({}, 0, DType::Float64), {.name = "count"});
  auto inner = function([&](const Tensor &x) {
    count.assign_add(ones({}, DType::Float64));
    return x * w * w;
  });
  Tensor x = tensor<double>({1, 10});
  EXPECT_EQ(valuesOf(jvp([&](const Tensor &a) { return inner(a); }, x, ones({2}, DType::Float64)).second),
            (std::vector<double>{4, 9}));
  auto compiled = function([&](const Tensor &a) {
    return jvp([&](const Tensor &b) { return inner(b); }, a, ones({2}, DType::Float64)).second;
  });
  EXPECT_EQ(valuesOf(compiled(x)), (std::vector<double>{4, 9}));
  EXPECT_EQ(count.value().item<double>(), 2); // one for each run of the function
  // vmap reads variables, and assigns none.
  auto rows = function([&](const Tensor &a) {
    GradientTape tape;
    Tensor y = vmap([&](const Tensor &row) { return row * w * w; })(a);
    return *tape.gradient(sum(y), w);
  });
  EXPECT_EQ(valuesOf(rows(tensor<double>({1, 10, 2, 20}, {2, 2}))), (std::vector<double>{2 * 2 * 3, 2 * 3 * 30}));
  EXPECT_CONTAINS(
      errorOf<CompileError>([&] { vmap([&](const Tensor &row) { return inner(row); })(ones({2, 2}, DType::Float64)); }),
      "assigns a variable");
  EXPECT_EQ(count.value().item<double>(), 2);
}

//===-- Tapes around and inside -------------------------------------------------------------------===//

TEST(Composition, TapesAroundTransforms) {
  // The tape sees what a transformation computes: d/dx of the derivative 3 x^2, of the product 6 x t, of the sum of
  // rows' cubes.
  auto gradientOf = [](const std::function<Tensor(const Tensor &)> &f) {
    return [f](const std::vector<Tensor> &in) {
      GradientTape tape;
      tape.watch(in[0]);
      return *tape.gradient(f(in[0]), in[0]);
    };
  };
  Tensor x = tensor<double>({1, 2}), t = tensor<double>({10, 100});
  inBothModes(gradientOf([](const Tensor &a) { return grad(cubes)(a); }), {x}, {6, 12}, {2});
  inBothModes(gradientOf([&](const Tensor &a) { return jvp(cubes, a, t).second; }), {x}, {60, 1200}, {2});
  inBothModes(gradientOf([&](const Tensor &a) { return vmap(cubes)(a); }), {x}, {3, 12}, {2});
  inBothModes(
      gradientOf([&](const Tensor &a) { return hessian([](const Tensor &b) { return sum(b * cubes(b)); })(a); }), {x},
      {24, 48}, {2});
  inBothModes(gradientOf([&](const Tensor &a) { return jacobian(cubes)(a); }), {x}, {6, 12}, {2});
}

TEST(Composition, TapesInsideOfVmap) {
  auto f = [](const std::vector<Tensor> &in) {
    return vmap([&](const Tensor &row) {
      GradientTape outer;
      outer.watch(row);
      GradientTape inner;
      inner.watch(row);
      Tensor derivative = *inner.gradient(sum(cubes(row)), row);
      return *outer.gradient(derivative, row);
    })(in[0]);
  };
  inBothModes(f, {tensor<double>({1, 2, 3, 4}, {2, 2})}, {6, 12, 18, 24}, {2, 2});
}

TEST(Composition, ATapeAroundVmapThatIsAskedInsideIsRefused) {
  Tensor x = tensor<double>({1, 2});
  auto f = function([](const Tensor &all) {
    GradientTape tape;
    tape.watch(all);
    return vmap([&](const Tensor &one) {
      std::optional<Tensor> g = tape.gradient(cubes(one), all, GradientOptions{{}, UnconnectedGradients::Zero});
      return one + sum(*g);
    })(all);
  });
  EXPECT_CONTAINS(errorOf<CompileError>([&] { f(x); }), "a tape that is asked inside of vmap begins there too");
}

TEST(Composition, FunctionsWithTapesUnderTapes) {
  auto derivative = function([](const Tensor &x) {
    GradientTape tape;
    tape.watch(x);
    return *tape.gradient(cubes(x), x);
  });
  auto f = [&](const std::vector<Tensor> &in) {
    GradientTape tape;
    tape.watch(in[0]);
    return *tape.gradient(derivative(in[0]), in[0]);
  };
  inBothModes(f, {tensor<double>({1, 2})}, {6, 12}, {2});
  std::mt19937 random(10);
  // Differences of the function's derivative, in both modes of differentiation, up to the third of x^3.
  expectDerivatives([&](const std::vector<Tensor> &in) { return derivative(in[0]); }, {randomTensor(random, {3})}, 2);
}

TEST(Composition, DerivativesOfTransforms) {
  std::mt19937 random(11);
  Tensor w = randomTensor(random, {3, 2});
  auto loss = [](const Tensor &row, const Tensor &matrix) { return logsumexp(matmul(expand_dims(row, {0}), matrix)); };
  // Functions that are transformations themselves, differentiated twice against differences.
  std::vector<Body> bodies = {
      [&](const std::vector<Tensor> &in) {
        return vmap([&](const Tensor &row) { return grad(loss)(row, in[1]); })(in[0]);
      },
      [&](const std::vector<Tensor> &in) {
        return vmap([&](const Tensor &row) { return hvp([&](const Tensor &a) { return loss(a, in[1]); })(row, row); })(
            in[0]);
      },
      [&](const std::vector<Tensor> &in) {
        return jacobian([&](const Tensor &a) { return softmax(matmul(a, in[1])); })(in[0]);
      },
  };
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    SCOPED_TRACE("body " + std::to_string(i));
    expectDerivatives(bodies[i], {randomTensor(random, {2, 3}), w}, 2);
  }
}

TEST(Composition, AnExampleThatLeavesVmapIsRefused) {
  auto f = function([](const Tensor &x) {
    Tensor kept;
    vmap([&](const Tensor &one) { return kept = cubes(one); })(x);
    return kept + 1;
  });
  EXPECT_CONTAINS(errorOf<CompileError>([&] { f(tensor<double>({1, 2})); }),
                  "gives one of many examples, which nothing puts together again");
}

//===-- Sizes that are not known ------------------------------------------------------------------===//

TEST(Composition, JacobiansNeedSizes) {
  const TensorSpec<float> anySize({kDynamic});
  auto refused = [&](const std::function<Tensor(const Tensor &)> &f) {
    auto traced = function<Tensor(const Tensor &)>(f);
    return errorOf<ShapeError>([&] { traced.get_concrete_function(anySize); });
  };
  auto squares = [](const Tensor &x) { return x * x; };
  auto total = [](const Tensor &x) { return sum(x * x); };
  EXPECT_CONTAINS(refused([&](const Tensor &x) { return jacobian(squares)(x); }),
                  "jacobian: the target's sizes must be known; it is float32[?]");
  EXPECT_CONTAINS(refused([&](const Tensor &x) { return batch_jacobian(squares)(x); }),
                  "batch_jacobian: the target's sizes must be known; it is float32[?]; vmap(jacobian(f)) leaves the "
                  "number of examples open");
  EXPECT_CONTAINS(refused([&](const Tensor &x) { return jacobian(total)(x); }),
                  "jacobian: the source's sizes must be known; it is float32[?]");
  EXPECT_CONTAINS(refused([&](const Tensor &x) { return hessian(total)(x); }),
                  "hessian: the argument's sizes must be known; it is float32[?]");
}
