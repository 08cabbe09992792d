// Derivatives of complex linear algebra, compared with differences of both parts.
#include "test/operations/LinalgComplex.h"

using namespace calque;
using namespace calque::testing;

TEST(LinalgComplexDerivatives, OfFactors) {
  std::mt19937 random(10);
  for (std::int64_t n : {1, 2, 4}) {
    SCOPED_TRACE(n);
    expectMatrixDerivatives(
        ofParts([](const std::vector<Tensor> &x) { return linalg::cholesky(positiveComplex(x[0])); }),
        drawn(random, {{n, n}}));
    expectMatrixDerivatives(ofParts([](const std::vector<Tensor> &x) {
                              return linalg::solve(x[0] + 3 * cast(positiveComplex(x[0] * 0), x[0].dtype()), x[1]);
                            }),
                            drawn(random, {{n, n}, {n, 2}}));
    expectMatrixDerivatives(
        ofParts([](const std::vector<Tensor> &x) { return linalg::inv(x[0] + 3 * positiveComplex(x[0] * 0)); }),
        drawn(random, {{n, n}}));
    expectMatrixDerivatives(ofParts([](const std::vector<Tensor> &x) {
                              return linalg::lu_factor(x[0] + 3 * positiveComplex(x[0] * 0)).factors;
                            }),
                            drawn(random, {{n, n}}));
    expectMatrixDerivatives(ofParts([](const std::vector<Tensor> &x) {
                              const Tensor l = linalg::cholesky(positiveComplex(x[0]));
                              return linalg::cho_solve(l, x[1]);
                            }),
                            drawn(random, {{n, n}, {n, 2}}));
  }
}

TEST(LinalgComplexDerivatives, OfTriangles) {
  std::mt19937 random(11);
  for (int turned = 0; turned < 3; ++turned)
    for (bool lower : {false, true}) {
      SCOPED_TRACE(turned);
      expectMatrixDerivatives(ofParts([=](const std::vector<Tensor> &x) {
                                const Tensor a = x[0] + 3 * positiveComplex(x[0] * 0);
                                return linalg::triangular_solve(
                                    a, x[1], {.lower = lower, .transpose = turned == 1, .adjoint = turned == 2});
                              }),
                              drawn(random, {{3, 3}, {3, 2}}));
    }
}

TEST(LinalgComplexDerivatives, OfDeterminants) {
  std::mt19937 random(12);
  for (std::int64_t n : {1, 2, 3}) {
    SCOPED_TRACE(n);
    expectMatrixDerivatives(ofParts([](const std::vector<Tensor> &x) { return expand_dims(linalg::det(x[0]), {-1}); }),
                            drawn(random, {{n, n}}));
    expectMatrixDerivatives(ofParts([](const std::vector<Tensor> &x) {
                              auto [sign, logarithm] = linalg::slogdet(x[0] + 3 * positiveComplex(x[0] * 0));
                              return expand_dims(sign * complex(logarithm, logarithm * 2), {-1});
                            }),
                            drawn(random, {{n, n}}));
  }
}

TEST(LinalgComplexDerivatives, OfUnitaryFactors) {
  std::mt19937 random(13);
  for (auto [m, n] : {Sizes{1, 1}, Sizes{3, 3}, Sizes{4, 2}}) {
    SCOPED_TRACE(m * 10 + n);
    expectMatrixDerivatives(ofParts([](const std::vector<Tensor> &x) {
                              auto [q, r] = linalg::qr(x[0]);
                              return matmul(q, x[1]) + matmul(x[2], r);
                            }),
                            drawn(random, {{m, n}, {n, n}, {m, n}}));
  }
  for (std::int64_t n : {1, 3}) {
    // With the phase that eigh chooses, all derivatives are defined.
    expectMatrixDerivatives(ofParts([](const std::vector<Tensor> &x) {
                              auto [values, vectors] = linalg::eigh(hermitian(x[0]));
                              return vectors * expand_dims(complex(values, values * 0), {-2});
                            }),
                            drawn(random, {{n, n}}));
  }
  for (auto [m, n] : {Sizes{1, 1}, Sizes{3, 3}, Sizes{4, 2}, Sizes{2, 4}}) {
    SCOPED_TRACE(m * 10 + n);
    expectMatrixDerivatives(ofParts([](const std::vector<Tensor> &x) {
                              auto [u, s, vh] = linalg::svd(x[0]);
                              return matmul(u * expand_dims(complex(square(s), s * 0), {-2}), vh) + matmul(u, x[1]) +
                                     matmul(x[2], vh);
                            }),
                            drawn(random, {{m, n}, {std::min(m, n), n}, {m, std::min(m, n)}}));
    expectMatrixDerivatives(ofParts([](const std::vector<Tensor> &x) { return linalg::pinv(x[0]); }),
                            drawn(random, {{m, n}}));
    expectMatrixDerivatives(ofParts([](const std::vector<Tensor> &x) { return linalg::svdvals(x[0]); }),
                            drawn(random, {{m, n}}));
  }
}

TEST(LinalgComplexDerivatives, OfFunctionsOfMatrices) {
  std::mt19937 random(14);
  expectMatrixDerivatives(ofParts([](const std::vector<Tensor> &x) { return linalg::expm(x[0]); }),
                          drawn(random, {{3, 3}}));
  expectMatrixDerivatives(ofParts([](const std::vector<Tensor> &x) { return linalg::eigvals(x[0]); }),
                          drawn(random, {{3, 3}}));
  expectMatrixDerivatives(ofParts([](const std::vector<Tensor> &x) { return linalg::matrix_power(x[0], 3); }),
                          drawn(random, {{3, 3}}));
  expectMatrixDerivatives(
      ofParts([](const std::vector<Tensor> &x) { return expand_dims(linalg::matrix_norm(x[0]), {-1}); }),
      drawn(random, {{3, 2}}));
}

// A projector does not depend on phases, and its gradient is right even where eigenvalues inside of it repeat.
// Those without derivatives are mapped over examples, too.
TEST(LinalgComplexDerivatives, ManyExamplesOfCompleteFactors) {
  std::mt19937 random(17);
  expectBatched({{[=](const std::vector<Tensor> &x) {
                    const auto [q, r] = linalg::qr(complex(x[0], x[1]), {.complete = true});
                    return partsOf({q, r});
                  },
                  drawn(random, {{4, 3}}), true},
                 {[=](const std::vector<Tensor> &x) {
                    const auto [u, s, vh] = linalg::svd(complex(x[0], x[1]), {.full_matrices = true});
                    return partsOf({u, s, vh});
                  },
                  drawn(random, {{3, 5}}), true},
                 {[=](const std::vector<Tensor> &x) {
                    const auto [t, z] = linalg::schur(complex(x[0], x[1]));
                    return partsOf({t, z});
                  },
                  drawn(random, {{4, 4}}), true}});
}

TEST(LinalgComplexDerivatives, TheGradientOfALossWithoutPhasesIsHermitian) {
  std::mt19937 random(15);
  const Tensor a = hermitian(randomComplex(random, DType::Float64, {5, 5})),
               b = randomComplex(random, DType::Float64, {5, 5});
  auto loss = [&](const Tensor &x) {
    auto [values, vectors] = linalg::eigh(x);
    const Tensor some = slice(vectors, {0, 0}, {5, 2});
    return sum(real(matmul(some, adjoint(some)) * b));
  };
  const Tensor g = grad(loss)(a);
  expectSmall(embedded(g) - embedded(adjoint(g)), 1, 5, DType::Float64, "g - g^H");
  const Tensor direction = hermitian(randomComplex(random, DType::Float64, {5, 5}));
  const double h = 1e-6,
               difference = (loss(a + h * direction).item<double>() - loss(a - h * direction).item<double>()) / (2 * h);
  EXPECT_NEAR(sum(real(conj(g) * direction)).item<double>(), difference, 1e-7 * (1 + std::fabs(difference)));
}
