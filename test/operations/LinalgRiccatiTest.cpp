// Riccati's equations. Numbers of SciPy come from linalg_forms_reference.py.
#include "test/operations/LinalgReferences.h"

namespace calque::testing {
namespace {

Tensor riccatiE() {
  return tensor<double>({1, 0.1, 0.2, 0, 0, 1.2, 0, 0.1, 0.3, 0, 1.1, 0.2, 0, -0.1, 0, 1.3}, {4, 4});
}
Tensor riccatiS() { return reshape(0.1 * iota({8}, DType::Float64), {4, 2}); }

void expectSolution(const Tensor &found, const std::string &name, double tolerance) {
  expectReference(found, name, tolerance, 0);
}

Tensor solved(bool isDiscrete, const std::vector<Tensor> &x, const linalg::RiccatiOptions &options = {}) {
  return isDiscrete ? linalg::solve_discrete_are(x[0], x[1], x[2], x[3], options)
                    : linalg::solve_continuous_are(x[0], x[1], x[2], x[3], options);
}

std::vector<Tensor> alongAllWays(const ManyBody &f, const std::vector<Tensor> &inputs) {
  return nearlyAllWays(f, inputs, [](const Tensor &found, const Tensor &expected) {
    EXPECT_EQ(found.shape(), expected.shape());
    EXPECT_LT(valuesOf(max(abs(found - expected)))[0], 1e-9 * valuesOf(max(abs(expected)))[0]);
  });
}

} // namespace

TEST(LinalgRiccati, SolutionsAreThoseOfSciPy) {
  const Tensor a = formA(), b = formB(), q = formQ(), r = formR(), z = complex(a, 0.5 * transpose(a));
  const Tensor c = complex(b, -0.5 * b),
               h = complex(q, tensor<double>({0, 1, 0, -0.5, -1, 0, 1, 0, 0, -1, 0, 0, 0.5, 0, 0, 0}, {4, 4}));
  for (bool isDiscrete : {false, true}) {
    const std::string name = isDiscrete ? "discrete" : "continuous";
    auto equation = [&](const std::vector<Tensor> &x) { return std::vector<Tensor>{solved(isDiscrete, x)}; };
    expectSolution(alongAllWays(equation, {a, b, q, r})[0], name, 1e-11);
    // A matrix without a cost stabilises with the least effort.
    expectSolution(solved(isDiscrete, {a, b, 0 * q, r}), name + " without a cost", 1e-11);
    auto general = [&](const std::vector<Tensor> &x) {
      return std::vector<Tensor>{solved(isDiscrete, {x[0], x[1], x[2], x[3]}, {.e = x[4], .s = x[5]})};
    };
    expectSolution(alongAllWays(general, {a / 4, b, q, r, riccatiE(), riccatiS()})[0], name + " e s", 1e-11);
    expectSolution(alongAllWays(equation, {z, c, h, cast(r, DType::Complex128)})[0], name + " complex", 1e-10);
    auto narrow = [](const Tensor &x) { return cast(x, DType::Float32); };
    const Tensor found = solved(isDiscrete, {narrow(a), narrow(b), narrow(q), narrow(r)});
    EXPECT_EQ(found.dtype(), DType::Float32);
    expectSolution(found, name, 1e-7);
    EXPECT_EQ(solved(isDiscrete, {cast(z, DType::Complex64), cast(c, DType::Complex64), cast(h, DType::Complex64),
                                  cast(r, DType::Complex64)})
                  .dtype(),
              DType::Complex64);
    // Many matrices, and one for all.
    const Tensor many = solved(isDiscrete, {stack({a, a / 2}), b, q, stack({r, 2 * r})});
    expectAlike(many[1], solved(isDiscrete, {a / 2, b, q, 2 * r}), false);
    EXPECT_EQ(solved(isDiscrete, {zeros({0, 0}, DType::Float64), zeros({0, 1}, DType::Float64),
                                  zeros({0, 0}, DType::Float64), eye(1, DType::Float64)})
                  .shape(),
              Shape({0, 0}));
  }
}

TEST(LinalgRiccati, SolutionsFitTheirEquationsAndStabilise) {
  std::mt19937 random(3);
  for (std::int64_t n : {1, 2, 5, 20, 40})
    for (bool isDiscrete : {false, true})
      for (double cost : {1.0, 1e7, 1e-6}) {
        SCOPED_TRACE(std::to_string(n) + (isDiscrete ? " discrete " : " continuous ") + std::to_string(cost));
        const Tensor a = randomMatrices(random, DType::Float64, {n, n}) * (1.5 / std::sqrt(static_cast<double>(n))),
                     b = randomMatrices(random, DType::Float64, {n, 2}), q = cost * positive(a),
                     r = positive(randomMatrices(random, DType::Float64, {2, 2}));
        const Tensor x = solved(isDiscrete, {a, b, q, r});
        const Tensor xb = matmul(x, b), xa = matmul(x, a);
        const Tensor gain = isDiscrete ? linalg::solve(r + matmul(transpose(b), xb), matmul(transpose(b), xa))
                                       : linalg::solve(r, transpose(xb));
        const Tensor loop = a - matmul(b, gain);
        const Tensor rest =
            isDiscrete ? matmul(transpose(a), matmul(x, loop)) - x + q : matmul(transpose(a), x) + matmul(x, loop) + q;
        EXPECT_LT(valuesOf(max(abs(rest)))[0],
                  1e-10 * valuesOf(max(abs(x)))[0] * std::max(1.0, valuesOf(max(abs(gain)))[0]));
        const Tensor w = linalg::eigvals(loop);
        EXPECT_LT(valuesOf(isDiscrete ? max(abs(w)) - 1 : max(real(w)))[0], 0);
        expectAlike(x, transpose(x), true);
      }
}

// R and Q count their Hermitian parts, also beside S.
TEST(LinalgRiccati, CostsCountTheirSymmetricParts) {
  const Tensor a = tensor<double>({0, 1, -1, 0.5}, {2, 2}), one = eye(2, DType::Float64);
  const Tensor r = tensor<double>({2, 0.5, 0.5, 1}, {2, 2}), s = tensor<double>({0.1, 0.2, 0, 0.1}, {2, 2}),
               skew = tensor<double>({0, 0.4, -0.4, 0}, {2, 2});
  for (bool isDiscrete : {false, true}) {
    auto solved = [&](const Tensor &q, const Tensor &weights) {
      return isDiscrete ? linalg::solve_discrete_are(a, one, q, weights, {.s = s})
                        : linalg::solve_continuous_are(a, one, q, weights, {.s = s});
    };
    const Tensor x = solved(one, r);
    EXPECT_LT(max(abs(solved(one + skew, r + skew) - x)).item<double>(), 1e-13);
    const Tensor slope = grad([&](const Tensor &weights) { return sum(solved(one, weights) * r); })(r);
    EXPECT_LT(max(abs(slope - transpose(slope))).item<double>(), 1e-12);
  }
}

TEST(LinalgRiccati, Derivatives) {
  const Tensor a = formA() / 4, b = formB(), q = formQ(), r = formR();
  for (bool isDiscrete : {false, true}) {
    const Body f = [=](const std::vector<Tensor> &x) {
      return solved(isDiscrete, {x[0], x[1], positive(x[2]), positive(x[3])});
    };
    expectMatrixDerivatives(f, {a, b, q, r});
    const Body general = [=](const std::vector<Tensor> &x) {
      return solved(isDiscrete, {a, b, q, r}, {.e = x[0], .s = x[1]});
    };
    expectDerivatives(general, {riccatiE(), riccatiS()}, 2);
  }
  // x = sqrt(q) for a = 0 and b = r = 1, with its first three derivatives.
  auto root = [](const Tensor &value) {
    const Tensor one = ones({1, 1}, DType::Float64);
    return reshape(linalg::solve_continuous_are(0 * one, one, reshape(value, {1, 1}), one), {});
  };
  const Tensor at = scalar<double>(4);
  EXPECT_NEAR(root(at).item<double>(), 2, 1e-14);
  EXPECT_NEAR(grad(root)(at).item<double>(), 1.0 / 4, 1e-14);
  EXPECT_NEAR(grad(grad(root))(at).item<double>(), -1.0 / 32, 1e-14);
  EXPECT_NEAR(grad(grad(grad(root)))(at).item<double>(), 3.0 / 256, 1e-14);
  // A complex one, by parts.
  const Body parts = [=](const std::vector<Tensor> &x) {
    const Tensor z = complex(x[0], x[1]), turned = complex(x[1], x[0]);
    const Tensor found = linalg::solve_continuous_are(z, slice(turned, {0, 0}, {4, 2}), cast(q, DType::Complex128),
                                                      cast(r, DType::Complex128));
    return real(found) + 2 * imag(found);
  };
  expectDerivatives(parts, {a, riccatiE()}, 1);
}

TEST(LinalgRiccati, WhatHasNoSolutionIsRefused) {
  const Tensor a = formA(), b = formB(), q = formQ(), r = formR(), one = ones({1, 1}, DType::Float64);
  auto read = [](const Tensor &x) { (void)x.to_vector<double>(); };
  // What grows and is not reached, and an eigenvalue at the limit that costs nothing.
  EXPECT_MESSAGE(AssertionError, "solve_continuous_are: there is no solution that stabilises",
                 read(linalg::solve_continuous_are(one, 0 * one, one, one)));
  EXPECT_MESSAGE(AssertionError, "solve_discrete_are: there is no solution that stabilises",
                 read(linalg::solve_discrete_are(2 * one, 0 * one, one, one)));
  EXPECT_MESSAGE(AssertionError, "solve_continuous_are: there is no",
                 read(linalg::solve_continuous_are(0 * one, one, 0 * one, one)));
  EXPECT_MESSAGE(AssertionError, "solve_discrete_are: there is no",
                 read(linalg::solve_discrete_are(one, one, 0 * one, one)));
  EXPECT_MESSAGE(AssertionError, "solve_continuous_are: there is no",
                 read(linalg::solve_continuous_are(a, b, q * std::numeric_limits<double>::quiet_NaN(), r)));
  EXPECT_MESSAGE(LinAlgError, "solve_continuous_are: of R: the matrix is singular: its pivot 1 of 2 is 0",
                 read(linalg::solve_continuous_are(a, b, q, 0 * r)));
  EXPECT_MESSAGE(ShapeError,
                 "solve_discrete_are: takes A and Q [n, n], B [n, m] and R [m, m], not float64[4,4], float64[4,4], "
                 "float64[4,2] and float64[1,1]",
                 linalg::solve_discrete_are(a, b, q, one));
  EXPECT_MESSAGE(ShapeError, "solve_continuous_are: takes square matrices, not float64[4,2]",
                 linalg::solve_continuous_are(b, b, q, r));
  EXPECT_MESSAGE(ShapeError, "solve_continuous_are: .e has the size of A and .s that of B, unlike float64[1,1] of",
                 linalg::solve_continuous_are(a, b, q, r, {.e = one}));
  EXPECT_MESSAGE(DTypeError, "solve_continuous_are: the operands' types differ",
                 linalg::solve_continuous_are(a, b, cast(q, DType::Float32), r));
}

} // namespace calque::testing
