// Functions of complex matrices, equations of Sylvester and Lyapunov, and systems of a special form. Residuals have the
// bound of LAPACK's own tests; values are those of SciPy (linalg_complex_reference.py).
#include "test/operations/LinalgComplex.h"

#include "calque/saved_functions.h"

#include <filesystem>
#include <unistd.h>

using namespace calque;
using namespace calque::testing;

namespace {

const double kNan = std::numeric_limits<double>::quiet_NaN(), kPi = std::acos(-1.0);

const Tensor kA = numbers({3, 3}, {{4, 1}, {1, -2}, {0, 0.5}, {-1, 1}, {3, 0}, {2, 1}, {0.5, 0}, {-1, 3}, {5, -1}});
const Tensor kB = numbers({2, 2}, {{1, 1}, {2, 0}, {0, -1}, {0.5, -2}});
const Tensor kC = numbers({3, 2}, {{1, 0}, {0, 2}, {3, -1}, {-4, 0}, {5, 0}, {6, 1}});
const Tensor kQ = numbers({3, 3}, {{2, 0}, {0, 1}, {0, 0}, {1, 0}, {3, 1}, {1, 0}, {0, 0.5}, {1, 0}, {4, 0}});
// Its eigenvalues are on the cut of roots and logarithms.
const Tensor kNegative = numbers({3, 3}, {{-4, 0}, {1, 2}, {3, 0}, {0, 0}, {-9, 0}, {0, 1}, {0, 0}, {0, 0}, {-1, 0}});

Tensor identity(std::int64_t n, DType dtype) { return cast(eye(n, real_of(dtype)), dtype); }
// Whose eigenvalues are away from 0 and from negative numbers.
Tensor shifted(const Tensor &x, double by) { return x + by * positiveComplex(x * 0); }

// Half of a band of a positive definite matrix.
Tensor dominantHalf(const Tensor &x) { return x + 8 * cast(iota({3, 1}, DType::Int64, 0) == 2, DType::Complex128); }

std::vector<Tensor> one(const Tensor &x) { return {x}; }

} // namespace

TEST(LinalgComplexGeneral, RootsAndLogarithmsHaveSmallResiduals) {
  std::mt19937 random(21);
  forBatches({0, 1, 2, 3, 5, 17, 33, 80}, [&](DType dtype, std::int64_t n, const Shape &batch) {
    Tensor a = randomComplex(random, dtype, with(batch, {n, n}));
    a = a + identity(n, a.dtype()) * (1 + std::sqrt(static_cast<double>(n)) * 1.5);
    const Tensor root = allWays([](const std::vector<Tensor> &x) { return one(linalg::sqrtm(x[0])); }, {a})[0],
                 logarithm = allWays([](const std::vector<Tensor> &x) { return one(linalg::logm(x[0])); }, {a})[0],
                 back = linalg::expm(logarithm);
    for (std::int64_t k = 0; k < sizeOf(batch); ++k) {
      const Matrix given = embedded(a, k), x = embedded(root, k);
      expectSmall(given - x * x, x.norm() * x.norm(), n, dtype, "A - X X");
      expectSmall(given - embedded(back, k), given.norm() * (1 + embedded(logarithm, k).norm()), n, dtype,
                  "A - exp(log(A))");
    }
  });
}

TEST(LinalgComplexGeneral, SolutionsFitTheirEquations) {
  std::mt19937 random(22);
  for (DType dtype : kFloats)
    for (auto [n, m] : {Sizes{0, 0}, Sizes{0, 2}, Sizes{2, 0}, Sizes{1, 1}, Sizes{3, 2}, Sizes{2, 5}, Sizes{20, 33}})
      for (const Shape &batch : {Shape{}, Shape{2, 3}}) {
        SCOPED_TRACE(std::string(name_of(dtype)) + " of sizes " + std::to_string(n) + " and " + std::to_string(m));
        Tensor a = randomComplex(random, dtype, with(batch, {n, n})),
               b = randomComplex(random, dtype, with(batch, {m, m})),
               c = randomComplex(random, dtype, with(batch, {n, m}));
        a = a + identity(n, a.dtype()) * static_cast<double>(n + m);
        const Tensor x =
            allWays([](const std::vector<Tensor> &in) { return one(linalg::solve_sylvester(in[0], in[1], in[2])); },
                    {a, b, c})[0];
        const Tensor q = randomComplex(random, dtype, with(batch, {n, n})), y = linalg::solve_continuous_lyapunov(a, q);
        const Tensor small = a / (4 * static_cast<double>(n + m + 1)), z = linalg::solve_discrete_lyapunov(small, q);
        for (std::int64_t k = 0; k < sizeOf(batch); ++k) {
          const Matrix ownA = embedded(a, k), ownB = embedded(b, k), ownX = embedded(x, k), ownY = embedded(y, k),
                       ownZ = embedded(z, k), ownQ = embedded(q, k), s = embedded(small, k);
          const std::int64_t most = std::max(n, m);
          expectSmall(embedded(c, k) - ownA * ownX - ownX * ownB, (ownA.norm() + ownB.norm()) * ownX.norm(), most,
                      dtype, "C - A X - X B");
          expectSmall(ownQ - ownA * ownY - ownY * ownA.transposed(), 2 * ownA.norm() * ownY.norm(), n, dtype,
                      "Q - A X - X A^H");
          expectSmall(ownZ - s * ownZ * s.transposed() - ownQ, ownZ.norm() * 2, n, dtype, "X - A X A^H - Q");
        }
      }
}

TEST(LinalgComplexGeneral, HasTheValuesOfSciPy) {
  const Tensor column = numbers({3}, {{4, 1}, {1, -2}, {0, 0.5}}), row = numbers({3}, {{9, 0}, {-1, 1}, {2, 0}}),
               v = numbers({3}, {{1, 1}, {2, 0}, {3, -2}});
  const Tensor below = numbers({3}, {{7, 7}, {1, -1}, {0, 2}}), diagonal = numbers({3}, {{5, 1}, {4, 0}, {6, -2}}),
               above = numbers({3}, {{0, 1}, {2, -1}, {7, 7}});
  expectNumbers(linalg::sqrtm(kA), {{2.001075803274358, 0.19519526117755778},
                                    {0.27330022465038667, -0.5040091629775448},
                                    {-0.06584095858260587, 0.1488797144305066},
                                    {-0.26775950266349585, 0.24883016636907532},
                                    {1.821664505412268, -0.11808964772443337},
                                    {0.45853802555872397, 0.29661071140791345},
                                    {0.13480014629423648, 0.06422474207760223},
                                    {-0.32246267734670875, 0.7042529133415514},
                                    {2.333693543275451, -0.2663420071867891}});
  expectNumbers(linalg::sqrtm(kNegative), {{0.0, 2.0},
                                           {0.4, -0.2},
                                           {0.016666666666666666, -0.9666666666666666},
                                           {0.0, 0.0},
                                           {0.0, 3.0},
                                           {0.25, 0.0},
                                           {0.0, 0.0},
                                           {0.0, 0.0},
                                           {0.0, 1.0}});
  expectNumbers(linalg::logm(kA), {{1.3923243826464697, 0.14080911774963145},
                                   {0.30092753205079953, -0.48395563684157367},
                                   {-0.1298409534523378, 0.15853830448494163},
                                   {-0.28306516980434554, 0.23187144571987253},
                                   {1.296148358517608, -0.21949222692778597},
                                   {0.39584240560293976, 0.3392996988633225},
                                   {0.1323010716125611, 0.12514018714159267},
                                   {-0.39416752726297544, 0.627756830822331},
                                   {1.7995675468461179, -0.25639998851263307}});
  expectNumbers(linalg::logm(kNegative), {{1.38629436111989, 3.1415926535897927},
                                          {-0.16218604324326577, -0.3243720864865315},
                                          {-1.311316341837382, -0.0374890096412539},
                                          {0.0, 0.0},
                                          {2.1972245773362182, 3.1415926535897927},
                                          {-3.5128150388530344e-17, -0.27465307216702745},
                                          {0.0, 0.0},
                                          {0.0, 0.0},
                                          {-2.740863092043355e-16, 3.141592653589793}});
  expectNumbers(linalg::solve_sylvester(kA, kB, kC), {{0.32501125349698884, 0.2134219937304589},
                                                      {0.32732737275674756, 0.18482375411486662},
                                                      {0.5434095607334294, -0.5567571248579384},
                                                      {-0.8127620114354721, -0.5811840039924069},
                                                      {0.5075422868705456, -0.37413730968711184},
                                                      {0.048872945800783135, 0.6653788381878452}});
  expectNumbers(linalg::solve_continuous_lyapunov(kA, kQ), {{0.33495985165744624, 0.03591360679564858},
                                                            {-0.012211348311280795, 0.28513862487793884},
                                                            {-0.14708148307866398, 0.007929847921144609},
                                                            {0.2065729692669306, -0.16382437009684606},
                                                            {0.5151702531819007, 0.18667192522819537},
                                                            {-0.012315683289114532, 0.1708004790502388},
                                                            {-0.08919043105838033, -0.03984126354755976},
                                                            {0.1356836696669173, -0.1347666450331884},
                                                            {0.5158205315696603, 0.04959876006983532}});
  expectNumbers(linalg::solve_discrete_lyapunov(kA / 8, kQ), {{3.3062929858716363, -0.04171787474492286},
                                                              {0.15868968965651373, 0.29502994324120857},
                                                              {0.006457583547146789, -0.4408905835492},
                                                              {1.2341140580087806, 1.0620059602280185},
                                                              {4.838973911443113, 1.0738771032042111},
                                                              {2.4922527585573575, 0.07974338855716724},
                                                              {-0.34017067768585263, 1.1471082899178076},
                                                              {2.421199596152649, 0.0017038059581535037},
                                                              {6.919183951813334, 0.3669732967955537}});
  expectNumbers(
      linalg::toeplitz(column),
      {{4.0, 1.0}, {1.0, 2.0}, {0.0, -0.5}, {1.0, -2.0}, {4.0, 1.0}, {1.0, 2.0}, {0.0, 0.5}, {1.0, -2.0}, {4.0, 1.0}});
  expectNumbers(
      linalg::toeplitz(column, row),
      {{4.0, 1.0}, {-1.0, 1.0}, {2.0, 0.0}, {1.0, -2.0}, {4.0, 1.0}, {-1.0, 1.0}, {0.0, 0.5}, {1.0, -2.0}, {4.0, 1.0}});
  expectNumbers(linalg::solve_toeplitz(column, row, v), {{-0.15157032316795638, 0.22530723714155668},
                                                         {0.41647701411015015, -0.5380063723258992},
                                                         {0.8550295857988167, -0.35207100591715984}});
  expectNumbers(linalg::solve_tridiagonal(below, diagonal, above, v), {{0.28008130081300814, 0.12073170731707317},
                                                                       {0.116260162601626, 0.2796747967479675},
                                                                       {0.6455284552845529, -0.15691056910569107}});
}

TEST(LinalgComplexGeneral, ComplexFunctionsOfRealMatricesAreThoseOfNegativeOnes) {
  // A real matrix without a real root has a complex one.
  const Tensor turned = cast(tensor<double>({{-1, 0}, {0, -4}}), DType::Complex128);
  expectNumbers(linalg::sqrtm(turned), {{0, 1}, {0, 0}, {0, 0}, {0, 2}});
  expectNumbers(linalg::logm(turned), {{0, kPi}, {0, 0}, {0, 0}, {std::log(4), kPi}});
  // On the other side of the cut.
  const Tensor below = numbers({1, 1}, {{-4, -0.0}});
  expectNumbers(linalg::sqrtm(below), {{0, -2}});
  expectNumbers(linalg::logm(below), {{std::log(4), -kPi}});
}

TEST(LinalgComplexGeneral, OneMatrixForManyEquations) {
  std::mt19937 random(23);
  const Tensor c = randomComplex(random, DType::Float64, {4, 3, 2}), x = linalg::solve_sylvester(kA, kB, c);
  ASSERT_EQ(x.shape(), Shape({4, 3, 2}));
  for (std::int64_t k = 0; k < 4; ++k)
    expectSmall(embedded(c, k) - embedded(kA) * embedded(x, k) - embedded(x, k) * embedded(kB), 30, 3, DType::Float64,
                "C - A X - X B");
}

TEST(LinalgComplexGeneral, BlockTridiagonalSystemsSolve) {
  std::mt19937 random(24);
  const std::int64_t n = 5, s = 2;
  auto random3 = [&] { return randomComplex(random, DType::Float64, {n, s, s}); };
  const Tensor below = random3(), diagonal = random3() + 4 * identity(s, DType::Complex128), above = random3(),
               b = randomComplex(random, DType::Float64, {n, s});
  auto solve = [](const std::vector<Tensor> &x) {
    return one(linalg::solve_block_tridiagonal(x[0], x[1], x[2], x[3]));
  };
  const Tensor x = solve({below, diagonal, above, b})[0],
               compiled =
                   function<std::vector<Tensor>(const std::vector<Tensor> &)>(solve)({below, diagonal, above, b})[0];
  for (std::int64_t i = 0; i < n; ++i) {
    auto times = [&](const Tensor &blocks, std::int64_t j) {
      return matmul(gather(blocks, i, 0), expand_dims(gather(x, j, 0), {-1}));
    };
    Tensor rest = expand_dims(gather(b, i, 0), {-1}) - times(diagonal, i);
    rest = i > 0 ? rest - times(below, i - 1) : rest;
    rest = i + 1 < n ? rest - times(above, i + 1) : rest;
    expectSmall(embedded(rest), 10, 2, DType::Float64, "B - A X");
  }
  expectSmall(embedded(x) - embedded(compiled), embedded(x).norm(), n, DType::Float64, "compiled");
}

TEST(LinalgComplexGeneral, SavedProgramsHaveThem) {
  std::mt19937 random(27);
  const auto all = [](const Tensor &a, const Tensor &band) {
    const Tensor x = linalg::solve_banded(1, 1, band, linalg::sqrtm(a)),
                 half = linalg::solveh_banded(dominantHalf(band), x);
    return linalg::solve_sylvester(a, linalg::logm(a), x + half) + linalg::expm(a / 8);
  };
  const auto gradient = [all](const Tensor &a, const Tensor &band) {
    return grad([&](const Tensor &x) { return sum(square(abs(all(x, band)))); })(a);
  };
  const Tensor a = shifted(randomComplex(random, DType::Float64, {3, 3}), 4),
               band = randomComplex(random, DType::Float64, {3, 3}) + 4;
  const TensorSpec<> matrix(DType::Complex128, {kDynamic, kDynamic}), three(DType::Complex128, {3, kDynamic});
  auto values = function(all), slopes = function(gradient);
  const std::string path =
      (std::filesystem::temp_directory_path() / ("complex-matrices-" + std::to_string(getpid()) + ".calque")).string();
  save_functions(path, {{"values", values.get_concrete_function(matrix, three)},
                        {"slopes", slopes.get_concrete_function(matrix, three)}});
  const SavedFunctions saved = load_functions(path);
  std::filesystem::remove(path);
  auto same = [&](const char *name, const Tensor &expected) {
    const Tensor found = saved[name]({a, band})[0];
    expectSmall(embedded(found) - embedded(expected), embedded(expected).norm(), 3, DType::Float64, name);
  };
  same("values", all(a, band));
  same("slopes", gradient(a, band));
}

TEST(LinalgComplexGeneral, Derivatives) {
  std::mt19937 random(25);
  for (std::int64_t n : {1, 3}) {
    SCOPED_TRACE(n);
    expectMatrixDerivatives(ofParts([](const std::vector<Tensor> &x) { return linalg::expm(x[0]); }),
                            drawn(random, {{n, n}}));
    expectMatrixDerivatives(ofParts([](const std::vector<Tensor> &x) { return linalg::sqrtm(shifted(x[0], 4)); }),
                            drawn(random, {{n, n}}));
    expectMatrixDerivatives(ofParts([](const std::vector<Tensor> &x) { return linalg::logm(shifted(x[0], 4)); }),
                            drawn(random, {{n, n}}));
    expectMatrixDerivatives(
        ofParts([](const std::vector<Tensor> &x) { return linalg::solve_sylvester(shifted(x[0], 4), x[1], x[2]); }),
        drawn(random, {{n, n}, {2, 2}, {n, 2}}));
    expectMatrixDerivatives(
        ofParts([](const std::vector<Tensor> &x) { return linalg::solve_continuous_lyapunov(shifted(x[0], 4), x[1]); }),
        drawn(random, {{n, n}, {n, n}}));
    expectMatrixDerivatives(
        ofParts([](const std::vector<Tensor> &x) { return linalg::solve_discrete_lyapunov(x[0] / 8, x[1]); }),
        drawn(random, {{n, n}, {n, n}}));
  }
}

TEST(LinalgComplexGeneral, DerivativesOfSpecialForms) {
  std::mt19937 random(26);
  const Body toeplitz = ofParts([](const std::vector<Tensor> &x) { return linalg::toeplitz(x[0]); });
  expectAllDerivatives(toeplitz, drawn(random, {{3}}), 1, true);
  const Body system = ofParts([](const std::vector<Tensor> &x) {
    return expand_dims(linalg::solve_tridiagonal(x[0], x[1] + 4, x[2], x[3]), {0});
  });
  expectAllDerivatives(system, drawn(random, {{3}, {3}, {3}, {3}}), 2, true);
}

TEST(LinalgComplexGeneral, Fails) {
  const Tensor good = identity(2, DType::Complex128), singular = numbers({2, 2}, {{1, 1}, {2, 2}, {0, 0}, {0, 0}});
  const Tensor batch = concat({expand_dims(good, {0}), expand_dims(singular, {0})}, 0);
  EXPECT_MESSAGE(
      LinAlgError,
      "logm: matrix 1 of the batch, counted from 0, is singular, and has no logarithm: of its eigenvalues 1 of 2 "
      "are 0",
      (void)linalg::logm(batch).to_vector<Complex>());
  EXPECT_MESSAGE(LinAlgError, "solve_sylvester: in the equation A and -B have an eigenvalue in common",
                 (void)linalg::solve_sylvester(good, -good, good).to_vector<Complex>());
  EXPECT_MESSAGE(
      LinAlgError,
      "solve_discrete_lyapunov: A has the eigenvalue -1, so that A^H + I has no inverse: the matrix is singular",
      (void)linalg::solve_discrete_lyapunov(-good, good).to_vector<Complex>());
  EXPECT_MESSAGE(ShapeError, "solve_sylvester: C of A X + X B = C has as many rows as A",
                 linalg::solve_sylvester(good, good, numbers({1, 2}, {{1, 0}, {0, 1}})));
  EXPECT_MESSAGE(DTypeError, "complex128[2,2]", linalg::solve_sylvester(good, real(good), good));
  EXPECT_MESSAGE(ShapeError, "sqrtm: takes square matrices", linalg::sqrtm(kC));
  // A root of a singular matrix where there is one, and where there is none.
  const Tensor root = linalg::sqrtm(singular);
  expectSmall(embedded(singular) - embedded(root) * embedded(root), 4, 2, DType::Float64, "A - X X");
  const std::vector<Complex> none =
      linalg::sqrtm(numbers({2, 2}, {{0, 0}, {0, 1}, {0, 0}, {0, 0}})).to_vector<Complex>();
  EXPECT_FALSE(std::isfinite(std::abs(none[1])));
}

TEST(LinalgComplexGeneral, NanStaysNan) {
  for (std::int64_t n : {1, 3, 40}) {
    const Tensor a = identity(n, DType::Complex128) * numbers({}, {{1, kNan}}), good = identity(n, DType::Complex128);
    for (const Tensor &x : {linalg::sqrtm(a), linalg::logm(a), linalg::expm(a), linalg::solve_sylvester(good, good, a)})
      for (Complex each : x.to_vector<Complex>())
        EXPECT_TRUE(std::isnan(each.real()) && std::isnan(each.imag()));
  }
}

// Parts whose sum leaves the range are finite numbers.
TEST(LinalgComplexGeneral, TheRangeOfNumbersIsUsed) {
  for (double scale : {1e300, 1e-300}) {
    const Tensor a = numbers({2, 2}, {{scale, scale}, {0, 0}, {0, 0}, {2 * scale, 0}});
    const double root = std::sqrt(scale);
    const Complex first = root * std::sqrt(Complex(1, 1));
    expectNumbers(linalg::sqrtm(a) / root, {first / root, {0, 0}, {0, 0}, {std::sqrt(2.0), 0}});
    expectNumbers(
        linalg::logm(a),
        {{std::log(scale) + std::log(2.0) / 2, kPi / 4}, {0, 0}, {0, 0}, {std::log(scale) + std::log(2.0), 0}});
  }
  const double large = 1e308;
  const Complex root = std::sqrt(Complex(large / 4, large / 4)) * 2.0;
  expectNumbers(linalg::sqrtm(numbers({1, 1}, {{large, large}})) / 1e154, {root / 1e154});
  expectNumbers(linalg::eigvals(numbers({1, 1}, {{large, large}})) / 1e308, {{1, 1}});
  const Tensor band = numbers({1, 2}, {{1e300, 1e300}, {1e-300, -1e-300}});
  expectNumbers(linalg::solve_banded(0, 0, band, numbers({2}, {{2e300, 0}, {0, 2e-300}})), {{1, -1}, {-1, 1}});
}

TEST(LinalgComplexGeneral, NeedsLapack) {
  withLapack("none", [] {
    const Tensor small = identity(2, DType::Complex64), large = identity(33, DType::Complex64);
    EXPECT_MESSAGE(LinAlgError, "sqrtm: a matrix of size 2 needs LAPACK",
                   (void)linalg::sqrtm(small).to_vector<std::complex<float>>());
    EXPECT_MESSAGE(LinAlgError, "logm: a matrix of size 2 needs LAPACK",
                   (void)linalg::logm(small).to_vector<std::complex<float>>());
    EXPECT_MESSAGE(LinAlgError, "solve_sylvester: a matrix of size 2 needs LAPACK",
                   (void)linalg::solve_sylvester(small, small, small).to_vector<std::complex<float>>());
    EXPECT_MESSAGE(LinAlgError, "expm: a matrix of size 33 needs LAPACK",
                   (void)linalg::expm(large).to_vector<std::complex<float>>());
    EXPECT_EQ(linalg::expm(small).shape(), small.shape());
  });
}
