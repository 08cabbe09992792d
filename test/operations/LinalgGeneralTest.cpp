// General eigenvalues, functions of matrices, equations of Sylvester and Lyapunov, and systems of a special form.
// Numbers of SciPy come from linalg_general_reference.py.
#include "test/operations/Linalg.h"

#include <complex>

namespace calque::testing {
namespace {

using Complex = std::complex<double>;

Tensor matrixA() { return tensor<double>({4, 1, -2, 0.5, -1, 3, 1, 2, 0.5, -1, 5, 1, 1, 0, -3, 2}, {4, 4}); }
Tensor matrixB() { return tensor<double>({1, 2, 0, -1, 0.5, 1, 0, 0.25, 2}, {3, 3}); }
Tensor matrixC() { return tensor<double>({-5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6}, {4, 3}); }
Tensor matrixQ() { return tensor<double>({2, 1, 0, 0, 1, 3, 1, 0, 0, 1, 4, 1, 0, 0, 1, 5}, {4, 4}); }

// Sizes around what becomes blocks, and one with a batch of its own threads.
const std::vector<std::int64_t> kSizes = {0, 1, 2, 3, 5, 8, 17, 33, 60};

TEST(LinalgGeneral, EigenvaluesAreThoseOfNumPy) {
  std::vector<Complex> w = linalg::eigvals(matrixA()).to_vector<Complex>();
  std::ranges::sort(w, {}, [](Complex z) { return std::pair(z.real(), z.imag()); });
  const Complex expected[] = {{2.6074973305114573, -1.5383721320908852},
                              {2.6074973305114573, 1.5383721320908852},
                              {4.392502669488547, -1.492157234776048},
                              {4.392502669488547, 1.492157234776048}};
  ASSERT_EQ(w.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_LT(std::abs(w[i] - expected[i]), 2e-14);
  EXPECT_EQ(w[0], std::conj(w[1])); // exactly
  EXPECT_EQ(linalg::eigvals(cast(matrixA(), DType::Float32)).dtype(), DType::Complex64);
}

TEST(LinalgGeneral, EigenvectorsAreVectorsOfTheMatrix) {
  std::mt19937 random(1);
  forBatches(kSizes, [&](DType dtype, std::int64_t n, const Shape &batch) {
    const Tensor a = randomMatrices(random, dtype, with(batch, {n, n}));
    const std::vector<Tensor> found = everyWay(
        [](const std::vector<Tensor> &x) {
          const auto [w, v] = linalg::eig(x[0]);
          return std::vector<Tensor>{real(w), imag(w), real(v), imag(v)};
        },
        {a});
    for (std::int64_t k = 0; k < sizeOf(batch); k += 5) {
      const Matrix x(a, k), re(found[2], k), im(found[3], k);
      Matrix residualRe = x * re, residualIm = x * im;
      const std::vector<Real> wRe = valuesOf<Real>(found[0]), wIm = valuesOf<Real>(found[1]);
      for (std::int64_t j = 0; j < n; ++j) {
        const Real p = wRe[static_cast<std::size_t>(k * n + j)], q = wIm[static_cast<std::size_t>(k * n + j)];
        Real length = 0;
        for (std::int64_t i = 0; i < n; ++i) {
          residualRe.at(i, j) -= p * re.at(i, j) - q * im.at(i, j);
          residualIm.at(i, j) -= p * im.at(i, j) + q * re.at(i, j);
          length += re.at(i, j) * re.at(i, j) + im.at(i, j) * im.at(i, j);
        }
        EXPECT_NEAR(static_cast<double>(length), 1, 8 * static_cast<double>(epsilonOf(dtype)));
      }
      expectSmall(residualRe, x.norm(), n, dtype, "A V - V w");
      expectSmall(residualIm, x.norm(), n, dtype, "A V - V w");
    }
  });
}

TEST(LinalgGeneral, SchurFactorsAreOrthogonalAndTriangular) {
  std::mt19937 random(2);
  forBatches(kSizes, [&](DType dtype, std::int64_t n, const Shape &batch) {
    const Tensor a = randomMatrices(random, dtype, with(batch, {n, n}));
    const std::vector<Tensor> found = everyWay(
        [](const std::vector<Tensor> &x) {
          const auto [t, z] = linalg::schur(x[0]);
          return std::vector<Tensor>{t, z};
        },
        {a});
    for (std::int64_t k = 0; k < sizeOf(batch); k += 5) {
      const Matrix x(a, k), t(found[0], k), z(found[1], k);
      expectSmall(z * t * z.transposed() - x, x.norm(), n, dtype, "Z T Z^T - A");
      expectSmall(z * z.transposed() - Matrix::identity(n), 1, n, dtype, "Z Z^T - 1");
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j + 1 < i; ++j)
          ASSERT_EQ(t.at(i, j), 0);
    }
  });
}

TEST(LinalgGeneral, SchurFactorsOfManyExamples) {
  std::mt19937 random(12);
  const auto factors = [](const std::vector<Tensor> &x) {
    const auto [t, z] = linalg::schur(x[0]);
    return std::vector<Tensor>{t, z};
  };
  expectBatched({{factors, {randomMatrices(random, DType::Float64, {4, 4})}, true},
                 {factors, {randomMatrices(random, DType::Float32, {2, 3, 3})}, true}});
}

TEST(LinalgGeneral, RootsAndLogarithmsAreThoseOfSciPy) {
  expectRealNumbers(linalg::sqrtm(matrixA()),
                    {2.0170120967471656, 0.2365824383510989, -0.455219570819469, 0.1410791922421405,
                     -0.31529567241140266, 1.7880808466839837, 0.3174126143897865, 0.5944101407602315,
                     0.07755794022622879, -0.24293326428625572, 2.3098103883890913, 0.2981182452207507,
                     0.2945970426903379, -0.07659629208191829, -0.7473814806014437, 1.492238638906607});
  expectRealNumbers(linalg::logm(matrixA()),
                    {1.416404568317738, 0.22561356986096862, -0.4084099007397693, 0.15660775434618068,
                     -0.38523339395165923, 1.2299809579928471, 0.3848953498789038, 0.6901498097488419,
                     0.026188576532619405, -0.22459943764270687, 1.752519493043839, 0.34756463274297417,
                     0.3287995622644532, -0.15995786816344473, -0.7305701886880785, 0.8855669403715671});
}

TEST(LinalgGeneral, RootsAndLogarithmsGiveTheMatrixBack) {
  std::mt19937 random(3);
  forBatches(kSizes, [&](DType dtype, std::int64_t n, const Shape &batch) {
    // exp of a small matrix: a root and a logarithm exist, and pairs of complex eigenvalues are usual.
    const Tensor small =
        randomMatrices(random, dtype, with(batch, {n, n})) * (2 / std::sqrt(std::max<double>(1, double(n))));
    const Tensor a = linalg::expm(small);
    const std::vector<Tensor> found = everyWay(
        [](const std::vector<Tensor> &x) { return std::vector<Tensor>{linalg::sqrtm(x[0]), linalg::logm(x[0])}; }, {a});
    for (std::int64_t k = 0; k < sizeOf(batch); k += 5) {
      const Matrix x(a, k), root(found[0], k);
      expectSmall(root * root - x, root.norm() * root.norm(), n, dtype, "X X - A");
      const Matrix back(linalg::expm(found[1]), k);
      // The condition of the exponential is at least the norm of its argument.
      expectSmall(back - x, x.norm() * std::max<Real>(1, Matrix(found[1], k).norm()), n, dtype, "exp(log(A)) - A");
    }
  });
}

TEST(LinalgGeneral, LogarithmsOfSpecialMatrices) {
  expectRealNumbers(linalg::logm(eye(3, DType::Float64)), std::vector<double>(9, 0));
  expectRealNumbers(linalg::sqrtm(zeros({2, 2}, DType::Float64)), std::vector<double>(4, 0));
  // A rotation by t has the generator [[0, -t], [t, 0]], up to half a turn.
  for (double t : {1e-8, 0.3, 1.5, 3.0, 3.14159}) {
    const Tensor rotation = tensor<double>({std::cos(t), -std::sin(t), std::sin(t), std::cos(t)}, {2, 2});
    expectRealNumbers(linalg::logm(rotation), {0, -t, t, 0}, 1e-14);
    expectRealNumbers(linalg::sqrtm(rotation), {std::cos(t / 2), -std::sin(t / 2), std::sin(t / 2), std::cos(t / 2)},
                      2e-10);
  }
  // Equal and nearly equal eigenvalues, far and small numbers: [[a, b], [0, c]] has b (log c - log a) / (c - a).
  for (const auto &[a, c] :
       {std::pair(2.0, 2.0), {2.0, 2.0 + 1e-14}, {2.0, 2.0 + 1e-6}, {1e-300, 3e-300}, {1e-8, 1e8}, {1e200, 1e-200}}) {
    const std::vector<double> found = valuesOf(linalg::logm(tensor<double>({a, a, 0, c}, {2, 2})));
    const long double ratio = (static_cast<long double>(c) - a) / a;
    const double expected = ratio == 0 ? 1 : static_cast<double>(std::log1p(ratio) / ratio);
    EXPECT_NEAR(found[0], std::log(a), 1e-15 * std::fabs(std::log(a)));
    EXPECT_NEAR(found[1], expected, 4e-15 * std::fabs(expected)) << a << ' ' << c;
    EXPECT_NEAR(found[3], std::log(c), 1e-15 * std::fabs(std::log(c)));
    EXPECT_EQ(found[2], 0);
  }
}

TEST(LinalgGeneral, EquationsAreThoseOfSciPy) {
  expectRealNumbers(linalg::solve_sylvester(matrixA(), matrixB(), matrixC()),
                    {-1.0320473280339246, -0.36685867950404516, -0.41015508173754933, -1.584969590577689,
                     -0.07102735816573628, -0.6693083492754268, -0.25295405876244276, 0.2961004414228401,
                     0.11322488288736146, 1.74487886743677, 0.9614514505637133, 1.4470945699589808});
  expectRealNumbers(linalg::solve_continuous_lyapunov(matrixA(), matrixQ()),
                    {0.25040473901005533, 0.15556561105581965, 0.07312812475290797, -0.02185663518044933,
                     0.15556561105581965, 0.7865276919051382, 0.21266343045019168, -0.45834044755489384,
                     0.07312812475290799, 0.21266343045019173, 0.4236991912293314, 0.05760341192708157,
                     -0.02185663518044928, -0.4583404475548937, 0.0576034119270817, 1.347333435480848});
  expectRealNumbers(linalg::solve_discrete_lyapunov(matrixA() / 8, matrixQ()),
                    {3.6971726814512382, 0.9300429148991045, -0.8952769032937562, 1.201089419970293, 0.9300429148991046,
                     4.139056273381931, 1.9627957135465954, -0.24150237905695268, -0.8952769032937563,
                     1.9627957135465954, 6.219192901120499, -0.16958857579748274, 1.201089419970293,
                     -0.2415023790569527, -0.16958857579748363, 6.531349846679155},
                    1e-14);
}

TEST(LinalgGeneral, SylvesterSolutionsFitTheirEquations) {
  std::mt19937 random(4);
  for (DType dtype : kFloats)
    for (const auto &[n, m] : {std::pair(0, 3), {3, 0}, {1, 1}, {2, 5}, {17, 4}, {33, 40}})
      for (const Shape &batch : {Shape{}, Shape{3, 2}}) {
        // Eigenvalues of A are right of 0, those of -B left of it.
        const Tensor a = randomMatrices(random, dtype, with(batch, {n, n})) + 2 * std::sqrt(n + 1.0) * eye(n, dtype);
        const Tensor b = randomMatrices(random, dtype, with(batch, {m, m})) + 2 * std::sqrt(m + 1.0) * eye(m, dtype);
        const Tensor c = randomMatrices(random, dtype, with(batch, {n, m}));
        const Tensor x = everyWay(
            [](const std::vector<Tensor> &in) {
              return std::vector<Tensor>{linalg::solve_sylvester(in[0], in[1], in[2])};
            },
            {a, b, c})[0];
        for (std::int64_t k = 0; k < sizeOf(batch); k += 5) {
          const Matrix p(a, k), q(b, k), y(x, k);
          expectSmall(p * y - (Matrix(c, k) - y * q), (p.norm() + q.norm()) * y.norm(), n + m, dtype, "A X + X B - C");
        }
      }
  // One equation for many right-hand sides.
  const Tensor many = randomMatrices(random, DType::Float64, {5, 4, 3});
  const Tensor x = linalg::solve_sylvester(matrixA(), matrixB(), many);
  for (std::int64_t k = 0; k < 5; ++k)
    expectSameBits(exampleAt(x, k), linalg::solve_sylvester(matrixA(), matrixB(), exampleAt(many, k)));
}

// Eigenvalues of one matrix and its opposite are one, however they are rounded.
TEST(LinalgGeneral, SylvesterEquationsOfOppositeMatricesAreRefused) {
  std::mt19937 random(15);
  for (DType dtype : {DType::Float32, DType::Float64, DType::Complex128})
    for (std::int64_t n : {1, 2, 3, 9, 40}) {
      const Tensor a = cast(randomMatrices(random, DType::Float64, {n, n}), dtype);
      EXPECT_THROW(linalg::solve_sylvester(a, -a, a), LinAlgError) << n;
      EXPECT_THROW(linalg::solve_sylvester(a * 1e20, -a * 1e20, a), LinAlgError) << n;
    }
}

TEST(LinalgGeneral, Derivatives) {
  std::mt19937 random(5);
  const Tensor b = randomTensor(random, {3, 3}) + 3 * eye(3, DType::Float64), c = randomTensor(random, {4, 3});
  expectMatrixDerivatives([](const std::vector<Tensor> &in) { return linalg::solve_sylvester(in[0], in[1], in[2]); },
                          {matrixA(), b, c});
  expectMatrixDerivatives([](const std::vector<Tensor> &in) { return linalg::sqrtm(in[0]); }, {matrixA()});
  expectMatrixDerivatives([](const std::vector<Tensor> &in) { return linalg::logm(in[0]); }, {matrixA()});
  expectDerivatives([](const std::vector<Tensor> &in) { return linalg::solve_continuous_lyapunov(in[0], in[1]); },
                    {matrixA(), matrixQ()}, 2);
  expectDerivatives([](const std::vector<Tensor> &in) { return linalg::solve_discrete_lyapunov(in[0] / 8, in[1]); },
                    {matrixA(), matrixQ()}, 1);
}

// Of what does not depend on the order and the phases of vectors.
TEST(LinalgGeneral, DerivativesOfEigenvaluesAndVectors) {
  const Tensor realOnes = tensor<double>({4, 1, 0.2, 0.5, 1, 0.3, -0.4, 0.2, -2}, {3, 3});
  for (const Tensor &a : {matrixA(), realOnes}) {
    // Sums of real and imaginary parts of functions of each value.
    expectMatrixDerivatives(
        [](const std::vector<Tensor> &in) {
          const Tensor w = linalg::eigvals(in[0]), re = real(w), im = imag(w);
          return sum(re * re * re - 3 * re * im * im + square(im), {-1});
        },
        {a});
    // |v|^4 of elements of each vector, weighted by its value's square: no phase, no order.
    expectMatrixDerivatives(
        [](const std::vector<Tensor> &in) {
          const auto [w, v] = linalg::eig(in[0]);
          const Tensor sizes = square(real(v)) + square(imag(v));
          const Tensor weights = 2 + square(real(w)) - square(imag(w));
          return sum(square(sizes) * expand_dims(weights, {-2}), {-1});
        },
        {a});
    // A itself, from its factors, by a solution with complex numbers in parts.
    expectDerivatives(
        [](const std::vector<Tensor> &in) {
          const auto [w, v] = linalg::eig(in[0]);
          const Tensor re = real(v), im = imag(v), top = concat({re, -im}, -1), below = concat({im, re}, -1);
          const Tensor vw = v * expand_dims(w, {-2});
          const Tensor right = concat({concat({real(vw), -imag(vw)}, -1), concat({imag(vw), real(vw)}, -1)}, -2);
          // (V W) V^-1 = A, in both parts.
          const Tensor all = concat({top, below}, -2);
          return linalg::solve(transpose(all), transpose(right));
        },
        {a}, 1);
  }
}

TEST(LinalgGeneral, SpecialFormsAreThoseOfSciPy) {
  expectRealNumbers(linalg::toeplitz(tensor<double>({1, 2, 3}), tensor<double>({9, 5, 6, 7})),
                    {1, 5, 6, 7, 2, 1, 5, 6, 3, 2, 1, 5});
  expectRealNumbers(linalg::toeplitz(tensor<double>({1, 2, 3})), {1, 2, 3, 2, 1, 2, 3, 2, 1});
  expectRealNumbers(
      linalg::solve_toeplitz(tensor<double>({4, 1, 0.5}), tensor<double>({4, -1, 2}), tensor<double>({1, 2, 3})),
      {0.11347517730496445, 0.6170212765957447, 0.5815602836879434});
  const Tensor qr =
      tensor<double>({-4.272001872658765, -0.11704114719613079, 2.223781796726481, -0.12088972118167358,
                      -3.314559000811875, 1.1282725775830944, 0.06044486059083679, -0.16551720441674386,
                      -5.725538883914942, 0.12088972118167358, -0.02093755256584494, -0.23013721557638567},
                     {4, 3});
  const Tensor tau = tensor<double>({1.9363291775690448, 1.9458388859770166, 1.8994017243676933});
  expectRealNumbers(linalg::householder_product(qr, tau),
                    {-0.9363291775690448, -0.26863632799597487, -0.0672926672674952, 0.23408229439226114,
                     -0.9133635151863145, -0.26372627851435826, -0.11704114719613057, 0.30583212725695597,
                     -0.8584715028105699, -0.23408229439226114, 0.008265733169106925, 0.4346801419609075},
                    2e-14);
  // Reflections of one batch, and scales of another.
  const Tensor batch = stack({qr, 2 * qr}), scales = stack({tau, 0 * tau});
  for (std::int64_t i = 0; i < 2; ++i) {
    expectRealNumbers(linalg::householder_product(qr, scales)[i],
                      linalg::householder_product(qr, scales[i]).to_vector<double>(), 1e-14);
    expectRealNumbers(linalg::householder_product(batch, tau)[i],
                      linalg::householder_product(batch[i], tau).to_vector<double>(), 1e-14);
  }
  // Without reflections.
  expectRealNumbers(linalg::householder_product(qr, zeros({3}, DType::Float64)), {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0});
}

TEST(LinalgGeneral, SpecialFormsInEveryWay) {
  std::mt19937 random(6);
  for (DType dtype : kFloats) {
    const Tensor a = randomMatrices(random, dtype, {2, 7, 4}), tau = randomMatrices(random, dtype, {2, 4});
    const std::vector<Tensor> found = everyWay(
        [](const std::vector<Tensor> &x) {
          return std::vector<Tensor>{linalg::householder_product(x[0], x[1]), linalg::orthogonalise(x[0]),
                                     linalg::toeplitz(x[1]), linalg::toeplitz(x[1], x[1] + 1)};
        },
        {a, tau});
    for (std::int64_t k = 0; k < 2; ++k) {
      const Matrix q(found[1], k), x(a, k);
      expectSmall(q.transposed() * q - Matrix::identity(4), 1, 7, dtype, "Q^T Q - 1");
      const Matrix r = q.transposed() * x;
      expectSmall(q * r - x, x.norm(), 7, dtype, "Q Q^T A - A");
      for (std::int64_t i = 0; i < 4; ++i)
        EXPECT_GT(r.at(i, i), 0);
    }
  }
  const Tensor a = randomTensor(random, {5, 3}), tau = randomTensor(random, {3});
  expectDerivatives([](const std::vector<Tensor> &in) { return linalg::householder_product(in[0], in[1]); }, {a, tau},
                    2);
  expectDerivatives([](const std::vector<Tensor> &in) { return linalg::orthogonalise(in[0]); }, {a}, 2);
  expectDerivatives([](const std::vector<Tensor> &in) { return linalg::toeplitz(in[0], in[0] * 2); }, {tau}, 1);
}

TEST(LinalgGeneral, OrthonormalColumnsOfWhatIsNotFiniteAreNan) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  for (DType dtype : {DType::Float32, DType::Float64, DType::Complex64, DType::Complex128})
    for (const Tensor &bad :
         {tensor<double>({1, 2, 3, nan}, {2, 2}), tensor<double>({1, 2, 3, infinity}, {2, 2}),
          tensor<double>({infinity, 0, 0, 1}, {2, 2}), tensor<double>({1, nan, 0, 1}, {2, 2}), tensor({nan}, {1, 1})}) {
      const Tensor a = cast(bad, dtype), b = stack({a, cast(eye(a.shape()[0]), dtype)});
      const Tensor found = linalg::orthogonalise(b);
      const Tensor parts = is_complex(dtype) ? real(found) : found;
      for (double value : valuesOf(parts[0]))
        EXPECT_TRUE(std::isnan(value)) << a;
      EXPECT_EQ(valuesOf(parts[1]), valuesOf(eye(a.shape()[0])));
    }
}

// Q does not depend on the scale, also where elements of R leave the range.
TEST(LinalgGeneral, OrthogonalFactorsUseTheRangeOfNumbers) {
  std::mt19937 random(29);
  for (DType dtype : {DType::Float32, DType::Float64})
    for (std::int64_t n : {2, 3, 16, 20, 32, 33, 40, 100, 300})
      for (bool isComplex : {false, true})
        for (int exponent : dtype == DType::Float32 ? std::vector<int>{126, -130} : std::vector<int>{1022, -1050}) {
          SCOPED_TRACE(std::string(name_of(dtype)) + " " + std::to_string(n) + (isComplex ? " complex " : " ") +
                       std::to_string(exponent));
          const double half = std::ldexp(1.0, exponent / 2);
          const Tensor whole = round(8 * randomMatrices(random, DType::Float64, {2, n, n})) / 8;
          auto made = [&](const Tensor &x) {
            const Tensor part = cast(x, dtype);
            return isComplex ? complex(part, 0.5 * part) : part;
          };
          const Tensor plain = minimum(maximum(whole, -1), 1), a = made(plain), b = made(plain * half * half);
          for (const auto &[found, expected] : {std::pair(linalg::orthogonalise(b), linalg::orthogonalise(a)),
                                                std::pair(linalg::qr(b).q, linalg::qr(a).q)})
            EXPECT_LT(valuesOf(max(abs(found - expected)))[0], dtype == DType::Float32 ? 1e-4 : 1e-12);
        }
}

// Triangular factors are those of the matrix near 1, and solutions have the digits that U has.
TEST(LinalgGeneral, TriangularFactorsUseTheRangeOfNumbers) {
  std::mt19937 random(31);
  for (DType dtype : {DType::Float32, DType::Float64})
    for (std::int64_t n : {33, 40, 100})
      for (bool isComplex : {false, true})
        for (int exponent : dtype == DType::Float32 ? std::vector<int>{110, -130} : std::vector<int>{1000, -1050}) {
          SCOPED_TRACE(std::string(name_of(dtype)) + " " + std::to_string(n) + (isComplex ? " complex " : " ") +
                       std::to_string(exponent));
          const double half = std::ldexp(1.0, exponent / 2), tolerance = dtype == DType::Float32 ? 1e-2 : 1e-4;
          auto made = [&](const Tensor &x) {
            const Tensor part = cast(x, dtype);
            return isComplex ? complex(part, 0.5 * part) : part;
          };
          const Tensor plain =
              round(4 * randomMatrices(random, DType::Float64, {n, n})) / 4 + 8 * eye(n, DType::Float64);
          const Tensor a = made(plain), b = made(plain * half * half);
          const auto found = linalg::lu_factor(b), expected = linalg::lu_factor(a);
          EXPECT_EQ(found.order.to_vector<std::int64_t>(), expected.order.to_vector<std::int64_t>());
          EXPECT_LT(valuesOf(max(abs(linalg::lu(b).l - linalg::lu(a).l)))[0], dtype == DType::Float32 ? 1e-6 : 1e-15);
          const Tensor x = round(8 * randomMatrices(random, DType::Float64, {n, 2})) / 8;
          const Tensor columns = isComplex ? cast(x, a.dtype()) : cast(x, dtype);
          const Tensor product = matmul(plain, x), right = made(product * half * half);
          EXPECT_LT(valuesOf(max(abs(linalg::solve(b, right) - columns)))[0], tolerance);
          const Tensor vector = gather(right, 0, -1), one = gather(columns, 0, -1);
          EXPECT_LT(valuesOf(max(abs(linalg::solve(b, vector) - one)))[0], tolerance);
          EXPECT_LT(valuesOf(max(abs(
                        linalg::triangular_solve(linalg::lu(b).u, matmul(linalg::lu(b).u, columns), {.lower = false}) -
                        columns)))[0],
                    tolerance);
        }
}

// As everyWay, but of the sizes only the first is unknown, and products add their terms in an order of each way's own.
Tensor withOpenRows(const Body &f, const std::vector<Tensor> &inputs) {
  const Tensor eager = f(inputs);
  std::vector<TensorSpec<>> signature;
  for (const Tensor &x : inputs) {
    Shape shape = x.shape();
    shape[0] = kDynamic;
    signature.push_back(TensorSpec<>(x.dtype(), shape));
  }
  expectAlike(function<Tensor(const std::vector<Tensor> &)>(f)(inputs), eager, false);
  expectAlike(function<Tensor(const std::vector<Tensor> &)>(f, {.input_signature = signature})(inputs), eager, false);
  return eager;
}

TEST(LinalgGeneral, TridiagonalSystems) {
  std::mt19937 random(7);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (std::int64_t n : {1, 2, 3, 50})
    for (bool hasMany : {false, true}) {
      std::vector<double> below = valuesOf(randomTensor(random, {n})), above = valuesOf(randomTensor(random, {n}));
      below.front() = above.back() = nan; // is not read
      const Tensor lower = tensor<double>(below, {n}), upper = tensor<double>(above, {n});
      const Tensor diagonal = 3 + randomTensor(random, {n}), b = randomTensor(random, hasMany ? Shape{n, 4} : Shape{n});
      const Tensor x = withOpenRows(
          [](const std::vector<Tensor> &in) { return linalg::solve_tridiagonal(in[0], in[1], in[2], in[3]); },
          {lower, diagonal, upper, b});
      Matrix matrix(n, n);
      const std::vector<double> middle = valuesOf(diagonal);
      for (std::int64_t i = 0; i < n; ++i) {
        matrix.at(i, i) = middle[static_cast<std::size_t>(i)];
        if (i > 0)
          matrix.at(i, i - 1) = below[static_cast<std::size_t>(i)];
        if (i + 1 < n)
          matrix.at(i, i + 1) = above[static_cast<std::size_t>(i)];
      }
      const Shape columns{n, hasMany ? 4 : 1};
      const Matrix y(reshape(x, columns));
      expectSmall(matrix * y - Matrix(reshape(b, columns)), matrix.norm() * y.norm(), n, DType::Float64, "A X - B");
    }
  const Tensor lower = randomTensor(random, {5}), upper = randomTensor(random, {5}),
               diagonal = 3 + randomTensor(random, {5});
  expectMatrixDerivatives(
      [](const std::vector<Tensor> &in) { return linalg::solve_tridiagonal(in[0], in[1], in[2], in[3]); },
      {lower, diagonal, upper, randomTensor(random, {5})});
}

TEST(LinalgGeneral, BlockTridiagonalSystems) {
  std::mt19937 random(8);
  for (std::int64_t n : {1, 2, 6}) {
    const std::int64_t s = 3;
    const Tensor lower = randomTensor(random, {n, s, s}), upper = randomTensor(random, {n, s, s});
    const Tensor diagonal = randomTensor(random, {n, s, s}) + 5 * eye(s, DType::Float64);
    for (const Shape &right : {Shape{n, s}, Shape{n, s, 2}}) {
      const Tensor b = randomTensor(random, right);
      const Tensor x = withOpenRows(
          [](const std::vector<Tensor> &in) { return linalg::solve_block_tridiagonal(in[0], in[1], in[2], in[3]); },
          {lower, diagonal, upper, b});
      Matrix matrix(n * s, n * s);
      for (std::int64_t k = 0; k < n; ++k)
        for (std::int64_t i = 0; i < s; ++i)
          for (std::int64_t j = 0; j < s; ++j) {
            matrix.at(k * s + i, k * s + j) = Matrix(diagonal, k).at(i, j);
            if (k > 0)
              matrix.at(k * s + i, (k - 1) * s + j) = Matrix(lower, k).at(i, j);
            if (k + 1 < n)
              matrix.at(k * s + i, (k + 1) * s + j) = Matrix(upper, k).at(i, j);
          }
      const Shape columns{n * s, right.size() == 2 ? 1 : 2};
      const Matrix y(reshape(x, columns));
      expectSmall(matrix * y - Matrix(reshape(b, columns)), matrix.norm() * y.norm(), n * s, DType::Float64, "A X - B");
    }
  }
  const Tensor lower = randomTensor(random, {3, 2, 2}), upper = randomTensor(random, {3, 2, 2});
  const Tensor diagonal = randomTensor(random, {3, 2, 2}) + 4 * eye(2, DType::Float64);
  expectDerivatives(
      [](const std::vector<Tensor> &in) { return linalg::solve_block_tridiagonal(in[0], in[1], in[2], in[3]); },
      {lower, diagonal, upper, randomTensor(random, {3, 2})}, 2);
}

TEST(LinalgGeneral, MisuseIsRefused) {
  const Tensor turn = tensor<double>({0, -1, 1, 0}, {2, 2}), minus = -eye(3, DType::Float64);
  const Tensor batch = stack({eye(3, DType::Float64), minus, minus}), bad = eye(2, DType::Float64) / 0.0;
  const char *negative = ": matrix 1 of the batch, counted from 0, has real eigenvalues that are negative, 3 of 3, so "
                         "that no real matrix is "
                         "its principal one";
  EXPECT_MESSAGE(LinAlgError, std::string("sqrtm") + negative, linalg::sqrtm(batch));
  EXPECT_MESSAGE(LinAlgError, std::string("logm") + negative, linalg::logm(batch));
  EXPECT_MESSAGE(LinAlgError, std::string("logm") + negative,
                 function([](const Tensor &x) { return linalg::logm(x); })(batch));
  EXPECT_MESSAGE(LinAlgError, "sqrtm: the matrix has real eigenvalues that are negative, 3 of 3, so",
                 linalg::sqrtm(minus));
  EXPECT_MESSAGE(LinAlgError, "logm: the matrix is singular, and has no logarithm: of its eigenvalues 1 of 2 are 0",
                 linalg::logm(tensor<double>({0, 0, 0, -1}, {2, 2})));
  EXPECT_MESSAGE(LinAlgError, "logm: matrix 1 of the batch, counted from 0, is singular, and has no logarithm: of its",
                 linalg::logm(stack({eye(3, DType::Float64), zeros({3, 3}, DType::Float64)})));
  EXPECT_TRUE(std::isnan(valuesOf(linalg::sqrtm(tensor<double>({0, 1, 0, 0}, {2, 2})))[1])); // it has no root
  EXPECT_MESSAGE(LinAlgError,
                 "solve_sylvester: in the equation A and -B have an eigenvalue in common, so that there is no "
                 "single solution",
                 linalg::solve_sylvester(turn, turn, eye(2, DType::Float64)));
  EXPECT_MESSAGE(LinAlgError,
                 "solve_continuous_lyapunov: with the adjoint of A as B: in the equation A and -B have an eigenvalue",
                 linalg::solve_continuous_lyapunov(turn, eye(2, DType::Float64)));
  EXPECT_MESSAGE(
      LinAlgError,
      "solve_discrete_lyapunov: A has the eigenvalue -1, so that A^H + I has no inverse: the matrix is singular",
      linalg::solve_discrete_lyapunov(minus, eye(3, DType::Float64)));
  EXPECT_MESSAGE(LinAlgError,
                 "solve_discrete_lyapunov: A has eigenvalues that are each other's inverses, and as an equation of "
                 "Sylvester: in the equation A and -B have an eigenvalue in common",
                 linalg::solve_discrete_lyapunov(tensor<double>({2, 0, 0, 0.5}, {2, 2}), eye(2, DType::Float64)));
  // A matrix without a basis of eigenvectors has no derivatives: not even of the sum of squares of eigenvalues, which
  // the rule would take for that of a diagonal matrix.
  std::mt19937 random(9);
  const Tensor block = tensor<double>({1, 1, 0, 0, 1, 0, 0, 0, 3}, {3, 3}),
               turned = linalg::qr(randomTensor(random, {3, 3})).q;
  for (const Tensor &x : {block, matmul(matmul(turned, block), transpose(turned))}) {
    const Tensor slopes =
        gradients([](const std::vector<Tensor> &in) { return sum(square(real(linalg::eigvals(in[0])))); },
                  std::vector<Tensor>{x})[0];
    EXPECT_TRUE(std::isnan(valuesOf(sum(slopes))[0]));
  }
  EXPECT_MESSAGE(ShapeError, "eig: takes square matrices, not float32[2,3]", linalg::eig(ones({2, 3})));
  EXPECT_MESSAGE(ShapeError, "schur: takes square matrices, not float32[2,3]", linalg::schur(ones({2, 3})));
  EXPECT_MESSAGE(ShapeError, "sqrtm: takes matrices, which have rank 2 or more, not float32[3]",
                 linalg::sqrtm(ones({3})));
  EXPECT_MESSAGE(DTypeError, "logm: takes floating-point numbers, not int32[3,3]",
                 linalg::logm(ones({3, 3}, DType::Int32)));
  EXPECT_MESSAGE(
      ShapeError,
      "solve_sylvester: C of A X + X B = C has as many rows as A and as many columns as B, unlike float64[2,2] "
      "of float64[4,4] and float64[3,3]",
      linalg::solve_sylvester(matrixA(), matrixB(), ones({2, 2}, DType::Float64)));
  EXPECT_MESSAGE(ShapeError, "toeplitz: the column and the row are vectors, or batches of them, not float32[]",
                 linalg::toeplitz(scalar(1.f), ones({2})));
  EXPECT_MESSAGE(ShapeError,
                 "solve_tridiagonal: takes diagonals and right-hand sides [n], and [n] or [n, k], not float32[3], "
                 "float32[3,1], float32[3] and float32[3]",
                 linalg::solve_tridiagonal(ones({3}), ones({3, 1}), ones({3}), ones({3})));
  EXPECT_MESSAGE(
      ShapeError,
      "solve_block_tridiagonal: takes diagonals and right-hand sides [n, s, s], and [n, s] or [n, s, k], not",
      linalg::solve_block_tridiagonal(ones({3}), ones({3}), ones({3}), ones({3})));
  EXPECT_MESSAGE(ShapeError, "householder_product: takes a [..., m, n] with m >= n, and tau [..., n], not float32[2,3]",
                 linalg::householder_product(ones({2, 3}), ones({3})));
  EXPECT_MESSAGE(ShapeError, "orthogonalise: takes matrices with no more columns than rows, not float32[2,3]",
                 linalg::orthogonalise(ones({2, 3})));
  for (const Tensor &x : {linalg::sqrtm(bad), linalg::logm(bad), linalg::schur(bad).t, real(linalg::eigvals(bad)),
                          linalg::solve_sylvester(bad, bad, bad)})
    EXPECT_TRUE(std::isnan(valuesOf(x)[0]));
}

} // namespace

TEST(LinalgGeneralDeathTest, NeedsALibrary) {
  withLapack("none", [] {
    EXPECT_MESSAGE(LinAlgError, "eig: a matrix of size 2 needs LAPACK, as all of more than 0 do", linalg::eig(eye(2)));
    EXPECT_MESSAGE(LinAlgError, "solve_sylvester: a matrix of size 3 needs LAPACK",
                   linalg::solve_sylvester(eye(2), eye(3), ones({2, 3})));
    EXPECT_EQ(linalg::sqrtm(ones({0, 0})).shape(), Shape({0, 0}));
  });
}

TEST(LinalgGeneralDeathTest, IterationsThatDoNotConvergeAreErrors) {
  withLapack(CALQUE_FAILING_LAPACK, [] {
    for (const auto &call : std::vector<std::pair<const char *, std::function<void()>>>{
             {"eig", [] { linalg::eig(ones({3, 2, 2})); }},
             {"schur", [] { linalg::schur(ones({3, 2, 2})); }},
             {"sqrtm", [] { linalg::sqrtm(ones({3, 2, 2})); }},
             {"logm", [] { linalg::logm(ones({3, 2, 2})); }},
             {"solve_sylvester", [] { linalg::solve_sylvester(ones({3, 2, 2}), ones({3, 2, 2}), ones({3, 2, 2})); }}})
      EXPECT_MESSAGE(LinAlgError,
                     std::string(call.first) +
                         ": the iteration for matrix 0 of the batch, counted from 0, does not converge",
                     call.second());
    EXPECT_MESSAGE(LinAlgError, "eig: the iteration for the matrix does not converge", linalg::eig(ones({2, 2})));
  });
}

} // namespace calque::testing
