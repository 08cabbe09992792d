// Linear algebra of complex matrices. Residuals have the bound of LAPACK's own tests; values are those of NumPy and
// SciPy.
#include "test/operations/LinalgComplex.h"

using namespace calque;
using namespace calque::testing;

namespace {

const double kInfinity = std::numeric_limits<double>::infinity();
const std::vector<std::int64_t> kSizes = {0, 1, 2, 3, 5, 16, 17, 33, 100};

const std::vector<Sizes> kShapes = {{0, 0}, {0, 3},  {3, 0},   {1, 1},  {1, 4},  {5, 1},   {3, 3},   {7, 4},
                                    {4, 7}, {16, 5}, {17, 17}, {17, 3}, {3, 17}, {33, 20}, {20, 33}, {64, 40}};

// A real diagonal matrix in that form.
Matrix diagonalOf(const Tensor &values, std::int64_t index, std::int64_t rows, std::int64_t columns) {
  const std::vector<Real> all = valuesOf<Real>(values);
  Matrix result(2 * rows, 2 * columns);
  const std::int64_t count = std::min(rows, columns);
  for (std::int64_t i = 0; i < count; ++i)
    result.at(i, i) = result.at(i + rows, i + columns) = all[static_cast<std::size_t>(index * count + i)];
  return result;
}
void expectUnitary(const Matrix &columns, DType dtype, const char *what) {
  expectSmall(Matrix::identity(columns.columns) - columns.transposed() * columns, 1,
              std::max(columns.rows, columns.columns), dtype, what);
}

Tensor identity(std::int64_t n, DType dtype) { return cast(eye(n, real_of(dtype)), dtype); }
// The triangle of x, with zeros elsewhere.
Tensor triangle(const Tensor &x, bool lower, bool strict = false) {
  const Size n = x.shape()[x.shape().size() - 2], m = x.shape().back();
  const Tensor rows = iota(Shape{n, 1}, DType::Int64, 0), columns = iota(Shape{1, m}, DType::Int64, 1);
  const Tensor high = lower ? rows : columns, low = lower ? columns : rows;
  return where(strict ? high > low : high >= low, x, 0);
}

} // namespace

TEST(LinalgComplex, CholeskyHasSmallResiduals) {
  std::mt19937 random(1);
  forBatches(kSizes, [&](DType dtype, std::int64_t n, const Shape &batch) {
    Tensor a = positiveComplex(randomComplex(random, dtype, with(batch, {n, n})));
    for (bool upper : {false, true}) {
      Tensor l = allWays(
          [=](const std::vector<Tensor> &x) { return std::vector<Tensor>{linalg::cholesky(x[0], {.upper = upper})}; },
          {a})[0];
      for (std::int64_t k = 0; k < sizeOf(batch); ++k) {
        const Matrix given = embedded(a, k), factor = embedded(l, k);
        const Matrix lower = upper ? factor.transposed() : factor;
        expectSmall(given - lower * lower.transposed(), given.norm(), n, dtype, "A - L L^H");
      }
    }
  });
}

TEST(LinalgComplex, TrianglesSolve) {
  std::mt19937 random(2);
  forBatches(kSizes, [&](DType dtype, std::int64_t n, const Shape &batch) {
    Tensor b = randomComplex(random, dtype, with(batch, {n, 3}));
    Tensor a = randomComplex(random, dtype, with(batch, {n, n})) / static_cast<double>(std::max<std::int64_t>(n, 1)) +
               identity(n, b.dtype()) * 2;
    for (bool lower : {false, true})
      for (bool unit : {false, true})
        for (int turned = 0; turned < 3; ++turned) {
          Tensor x = allWays(
              [=](const std::vector<Tensor> &x) {
                return std::vector<Tensor>{linalg::triangular_solve(
                    x[0], x[1],
                    {.lower = lower, .transpose = turned == 1, .unit_diagonal = unit, .adjoint = turned == 2})};
              },
              {a, b})[0];
          Tensor kept = triangle(a, lower, unit);
          if (unit)
            kept = kept + identity(n, kept.dtype());
          for (std::int64_t k = 0; k < sizeOf(batch); ++k) {
            Matrix op = embedded(turned == 1 ? conj(kept) : kept, k);
            if (turned)
              op = op.transposed();
            const Matrix solved = embedded(x, k), right = embedded(b, k);
            expectSmall(right - op * solved, op.norm() * solved.norm(), n, dtype, "B - op(A) X");
          }
        }
  });
}

TEST(LinalgComplex, TrianglesSolveFromTheRight) {
  std::mt19937 random(3);
  const Tensor a = randomComplex(random, DType::Float64, {4, 4}) + identity(4, DType::Complex128) * 4;
  const Tensor b = randomComplex(random, DType::Float64, {2, 4});
  for (int turned = 0; turned < 3; ++turned) {
    const Tensor x = linalg::triangular_solve(
        a, b, {.lower = true, .transpose = turned == 1, .left = false, .adjoint = turned == 2});
    const Tensor kept = triangle(a, true), op = turned == 2 ? adjoint(kept) : turned ? transpose(kept, {1, 0}) : kept;
    expectSmall(embedded(b) - embedded(x) * embedded(op), 1, 4, DType::Float64, "B - X op(A)");
  }
}

TEST(LinalgComplex, FactorsSolve) {
  std::mt19937 random(4);
  forBatches(kSizes, [&](DType dtype, std::int64_t n, const Shape &batch) {
    Tensor a = randomComplex(random, dtype, with(batch, {n, n})), b = randomComplex(random, dtype, with(batch, {n, 2}));
    std::vector<Tensor> found = allWays(
        [=](const std::vector<Tensor> &x) {
          const linalg::LuFactors factors = linalg::lu_factor(x[0]);
          return std::vector<Tensor>{linalg::solve(x[0], x[1]), linalg::lu_solve(factors, x[1]),
                                     linalg::lu_solve(factors, x[1], {.transpose = true}),
                                     linalg::lu_solve(factors, x[1], {.adjoint = true}), linalg::inv(x[0])};
        },
        {a, b});
    const linalg::Lu lu = linalg::lu(a);
    for (std::int64_t k = 0; k < sizeOf(batch); ++k) {
      const Matrix given = embedded(a, k), right = embedded(b, k), turned = embedded(conj(a), k).transposed();
      auto expectSolved = [&](const Matrix &op, const Tensor &x, const Matrix &of) {
        const Matrix solved = embedded(x, k);
        expectSmall(of - op * solved, op.norm() * solved.norm(), n, dtype, "B - op(A) X");
      };
      expectSolved(given, found[0], right);
      expectSolved(given, found[1], right);
      expectSolved(turned, found[2], right);
      expectSolved(given.transposed(), found[3], right);
      expectSolved(given, found[4], Matrix::identity(2 * n));
      expectSmall(given - embedded(lu.p, k) * embedded(lu.l, k) * embedded(lu.u, k), given.norm(), n, dtype,
                  "A - P L U");
    }
  });
}

TEST(LinalgComplex, DeterminantsAreThoseOfTriangles) {
  std::mt19937 random(5);
  forBatches({0, 1, 2, 3, 5, 17, 33}, [&](DType dtype, std::int64_t n, const Shape &batch) {
    // Of a unitary matrix and a triangle of known determinants.
    Tensor a = randomComplex(random, dtype, with(batch, {n, n}));
    std::vector<Tensor> found = allWays(
        [](const std::vector<Tensor> &x) {
          auto [sign, logarithm] = linalg::slogdet(x[0]);
          return std::vector<Tensor>{linalg::det(x[0]), sign, logarithm};
        },
        {a});
    const linalg::Lu lu = linalg::lu(a);
    ASSERT_EQ(found[2].dtype(), dtype);
    for (std::int64_t k = 0; k < sizeOf(batch); ++k) {
      const Matrix p(real(lu.p), k), re(real(lu.u), k), im(imag(lu.u), k);
      std::complex<Real> expected = 1;
      for (std::int64_t i = 0; i < n; ++i)
        expected *= std::complex<Real>(re.at(i, i), im.at(i, i));
      std::vector<std::int64_t> places;
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j)
          if (p.at(i, j) == 1)
            places.push_back(j);
      for (std::size_t i = 0; i < places.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
          if (places[j] > places[i])
            expected = -expected;
      const auto at = static_cast<std::size_t>(k);
      auto number = [&](const Tensor &x) {
        return std::complex<Real>(valuesOf<Real>(real(x))[at], valuesOf<Real>(imag(x))[at]);
      };
      const Real allowed = std::abs(expected) * static_cast<Real>(n + 1) * 30 * epsilonOf(dtype);
      EXPECT_LE(std::abs(number(found[0]) - expected), allowed);
      EXPECT_NEAR(static_cast<double>(std::abs(number(found[1]))), 1, static_cast<double>(8 * epsilonOf(dtype)));
      const Real magnitude = std::exp(valuesOf<Real>(found[2])[at]);
      EXPECT_LE(std::abs(number(found[1]) * magnitude - expected), 4 * allowed);
    }
  });
}

TEST(LinalgComplex, UnitaryFactorsHaveSmallResiduals) {
  std::mt19937 random(6);
  for (DType dtype : kFloats)
    for (auto [m, n] : kShapes)
      for (const Shape &batch : {Shape{}, Shape{2, 9}}) {
        if (std::max(m, n) > 17 && !batch.empty())
          continue;
        SCOPED_TRACE(std::string(name_of(dtype)) + " [" + std::to_string(m) + "," + std::to_string(n) + "], batch " +
                     batch.str());
        Tensor a = randomComplex(random, dtype, with(batch, {m, n}));
        for (bool all : {false, true}) {
          ManyBody factors = [all](const std::vector<Tensor> &x) {
            auto [q, r] = linalg::qr(x[0], {.complete = all});
            auto [u, s, vh] = linalg::svd(x[0], {.full_matrices = all});
            return std::vector<Tensor>{q, r, u, s, vh};
          };
          // Of a wide matrix, the last columns of R are a product, whose bits depend on how it is compiled.
          std::vector<Tensor> found =
              m < n ? function<std::vector<Tensor>(const std::vector<Tensor> &)>(factors)({a}) : allWays(factors, {a});
          const std::int64_t both = std::min(m, n);
          ASSERT_EQ(found[0].shape(), with(batch, {m, all ? m : both}));
          ASSERT_EQ(found[1].shape(), with(batch, {all ? m : both, n}));
          ASSERT_EQ(found[2].shape(), with(batch, {m, all ? m : both}));
          ASSERT_EQ(found[4].shape(), with(batch, {all ? n : both, n}));
          ASSERT_EQ(found[3].dtype(), dtype);
          for (std::int64_t k = 0; k < sizeOf(batch); ++k) {
            const Matrix given = embedded(a, k), q = embedded(found[0], k), r = embedded(found[1], k);
            expectSmall(given - q * r, given.norm(), std::max(m, n), dtype, "A - Q R");
            expectUnitary(q, dtype, "1 - Q^H Q");
            for (std::int64_t i = 0; i < r.rows / 2; ++i)
              for (std::int64_t j = 0; j < std::min(i + 1, n); ++j)
                EXPECT_EQ(i == j ? r.at(i + r.rows / 2, j) : r.at(i, j), 0);
            const Matrix u = embedded(found[2], k), vh = embedded(found[4], k);
            const Matrix s = diagonalOf(found[3], k, all ? m : both, all ? n : both);
            expectSmall(given - u * s * vh, given.norm(), std::max(m, n), dtype, "A - U s V^H");
            expectUnitary(u, dtype, "1 - U^H U");
            expectUnitary(vh.transposed(), dtype, "1 - V^H V");
          }
        }
      }
}

TEST(LinalgComplex, EigenvaluesHaveSmallResiduals) {
  std::mt19937 random(7);
  forBatches(kSizes, [&](DType dtype, std::int64_t n, const Shape &batch) {
    Tensor a = hermitian(randomComplex(random, dtype, with(batch, {n, n})));
    std::vector<Tensor> found = allWays(
        [](const std::vector<Tensor> &x) {
          auto [values, vectors] = linalg::eigh(x[0]);
          return std::vector<Tensor>{values, vectors, linalg::eigvalsh(x[0])};
        },
        {triangle(a, true)});
    expectSameBits(found[0], found[2]);
    ASSERT_EQ(found[0].dtype(), dtype);
    for (std::int64_t k = 0; k < sizeOf(batch); ++k) {
      const Matrix given = embedded(a, k), v = embedded(found[1], k), w = diagonalOf(found[0], k, n, n);
      expectSmall(given * v - v * w, given.norm(), n, dtype, "A V - V w");
      expectUnitary(v, dtype, "1 - V^H V");
      for (std::int64_t j = 0; j < n; ++j) {
        EXPECT_TRUE(j == 0 || w.at(j - 1, j - 1) <= w.at(j, j));
        // The largest element is positive.
        std::int64_t largest = 0;
        auto square = [&](std::int64_t i) { return v.at(i, j) * v.at(i, j) + v.at(i + n, j) * v.at(i + n, j); };
        for (std::int64_t i = 0; i < n; ++i)
          largest = square(i) > square(largest) ? i : largest;
        EXPECT_GT(v.at(largest, j), 0);
        EXPECT_NEAR(static_cast<double>(v.at(largest + n, j)), 0, static_cast<double>(4 * epsilonOf(dtype)));
      }
    }
  });
}

TEST(LinalgComplex, GeneralMatricesHaveSmallResiduals) {
  std::mt19937 random(8);
  forBatches({0, 1, 2, 3, 5, 17, 33}, [&](DType dtype, std::int64_t n, const Shape &batch) {
    Tensor a = randomComplex(random, dtype, with(batch, {n, n}));
    std::vector<Tensor> found = allWays(
        [](const std::vector<Tensor> &x) {
          auto [values, vectors] = linalg::eig(x[0]);
          auto [t, z] = linalg::schur(x[0]);
          return std::vector<Tensor>{values, vectors, t, z};
        },
        {a});
    const Tensor scaled = found[1] * expand_dims(found[0], {-2});
    for (std::int64_t k = 0; k < sizeOf(batch); ++k) {
      const Matrix given = embedded(a, k), v = embedded(found[1], k), t = embedded(found[2], k),
                   z = embedded(found[3], k);
      expectSmall(given * v - embedded(scaled, k), given.norm(), n, dtype, "A V - V w");
      expectSmall(given - z * t * z.transposed(), given.norm(), n, dtype, "A - Z T Z^H");
      expectUnitary(z, dtype, "1 - Z^H Z");
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < i; ++j)
          EXPECT_TRUE(t.at(i, j) == 0 && t.at(i + n, j) == 0);
    }
  });
}

TEST(LinalgComplex, PseudoInversesAndExponentials) {
  std::mt19937 random(9);
  for (DType dtype : kFloats)
    for (auto [m, n] : {Sizes{0, 2}, Sizes{1, 1}, Sizes{5, 3}, Sizes{3, 5}, Sizes{20, 18}, Sizes{18, 20}})
      for (const Shape &batch : {Shape{}, Shape{11}}) {
        Tensor a = randomComplex(random, dtype, with(batch, {m, n}));
        Tensor p =
            allWays([](const std::vector<Tensor> &x) { return std::vector<Tensor>{linalg::pinv(x[0])}; }, {a})[0];
        const Tensor rank = linalg::matrix_rank(a);
        for (std::int64_t k = 0; k < sizeOf(batch); ++k) {
          const Matrix given = embedded(a, k), inverse = embedded(p, k);
          const Real condition = given.norm() * inverse.norm();
          expectSmall(given * inverse * given - given, condition * given.norm(), std::max(m, n), dtype, "A P A - A");
          const Matrix projector = inverse * given;
          expectSmall(projector - projector.transposed(), condition, std::max(m, n), dtype, "P A is Hermitian");
          EXPECT_EQ(valuesOf<Real>(rank)[static_cast<std::size_t>(k)], std::min(m, n));
        }
      }
  forBatches({0, 1, 2, 5, 17}, [&](DType dtype, std::int64_t n, const Shape &batch) {
    Tensor a = randomComplex(random, dtype, with(batch, {n, n}));
    Tensor e = allWays([](const std::vector<Tensor> &x) { return std::vector<Tensor>{linalg::expm(x[0])}; }, {a})[0];
    Tensor back = linalg::expm(-a);
    for (std::int64_t k = 0; k < sizeOf(batch); ++k) {
      const Matrix forth = embedded(e, k), other = embedded(back, k);
      expectSmall(forth * other - Matrix::identity(2 * n), forth.norm() * other.norm(), n, dtype, "exp(A) exp(-A) - 1");
    }
  });
}

//===-- Values ----------------------------------------------------------------------------------===//
// Of linalg_complex_reference.py.

namespace {

const Tensor kA = numbers({3, 3}, {{4, 1}, {1, -2}, {0, 0.5}, {-1, 1}, {3, 0}, {2, 1}, {0.5, 0}, {-1, 3}, {5, -1}});
const Tensor kWide = numbers({2, 3}, {{1, 1}, {2, 0}, {0, 3}, {4, -1}, {0, 5}, {6, 2}});

void expectReals(const Tensor &x, const std::vector<double> &expected) {
  const std::vector<double> found = valuesOf<double>(x);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], 1e-13 * (1 + std::fabs(expected[i]))) << i;
}

} // namespace

TEST(LinalgComplex, HasTheValuesOfNumPy) {
  const Tensor h = matmul(kA, adjoint(kA)), b = numbers({3}, {{1, 0}, {0, 2}, {3, -1}}),
               c = numbers({2}, {{1, 0}, {0, 1}});
  const Tensor reflections = numbers({3, 3}, {{-4.387482193696061, 0.0},
                                              {0.3418817293789136, 2.393172105652398},
                                              {-0.45584230583855173, 0.3418817293789137},
                                              {-0.10353884993482707, 0.13156973981586922},
                                              {-4.260967514056421, 0.0},
                                              {0.8595084685006518, 2.747683987068572},
                                              {0.05877714743767407, -0.0070077224702605415},
                                              {-0.18685367247040563, 0.46831742182456826},
                                              {-4.757814895002462, 0.0}}),
               tau = numbers({3}, {{1.9116846116771038, 0.2279211529192759},
                                   {1.5844053703154357, -0.12707265080818175},
                                   {1.916180847997625, -0.4007650855081479}});
  expectNumbers(linalg::cholesky(h), {{4.716990566028302, 0.0},
                                      {0.0, 0.0},
                                      {0.0, 0.0},
                                      {0.105999788000636, 2.11999576001272},
                                      {3.39033656477818, 0.0},
                                      {0.0, 0.0},
                                      {-1.1659976680069961, -0.423999152002544},
                                      {1.923842009632193, -0.27341423909501467},
                                      {5.561901719118905, 0.0}});
  expectNumbers(linalg::solve(kA, b), {{0.19656357388316156, -0.34226804123711335},
                                       {-0.36132243156772126, 0.1658490342457636},
                                       {0.5680293873681715, 0.19779594738713116}});
  expectNumbers(linalg::inv(kA), {{0.24192439862542953, -0.010996563573883168},
                                  {-0.08659793814432988, 0.09484536082474225},
                                  {0.059106529209622005, -0.03298969072164948},
                                  {0.07342102144803886, -0.03990994193624837},
                                  {0.2201919658727337, 0.08560255954496974},
                                  {-0.05559900462140064, -0.09674132006161869},
                                  {-0.022372318995141603, -0.055409408697713},
                                  {0.12399573409171702, -0.09968005687877711},
                                  {0.11679108899158666, 0.040668325630998925}});
  expectNumbers(linalg::det(kA), {{83.99999999999999, -29.24999999999999}});
  expectNumbers(linalg::slogdet(kA).sign, {{0.9443829864131721, -0.32884764705458663}});
  expectReals(linalg::slogdet(kA).logarithm, {4.488040288010198});
  expectReals(linalg::eigvalsh(h), {7.286189183786455, 27.004320120539475, 40.20949069567408});
  expectNumbers(linalg::eigh(h).vectors, {{-0.09376726602233999, 0.5743838065000288},
                                          {0.7180257301677676, 0.0},
                                          {-0.3812616918206194, -0.019222794291053506},
                                          {0.7841305823679124, -2.9734419789777272e-18},
                                          {0.20257138781641865, 0.5092349396578971},
                                          {0.19935227034295688, -0.2122322105011758},
                                          {-0.20636807142106062, 0.06198702724396278},
                                          {0.38924679843330795, -0.18047323844884022},
                                          {0.8772036067325624, -2.3549468522413364e-18}});
  expectReals(linalg::svdvals(kWide), {9.248994155257257, 3.384687151867524});
  expectNumbers(linalg::pinv(kWide), {{0.03367346938775505, -0.03979591836734693},
                                      {0.038775510204081653, 0.011224489795918382},
                                      {0.23367346938775502, 0.04591836734693873},
                                      {-0.018367346938775498, -0.10306122448979585},
                                      {-0.02857142857142854, -0.1530612244897959},
                                      {0.05204081632653064, -0.0030612244897959577}});
  expectNumbers(linalg::lstsq(kWide, c), {{0.02244897959183667, -0.001020408163265292},
                                          {0.33673469387755095, 0.027551020408163287},
                                          {-0.025510204081632584, -0.1010204081632653}});
  expectNumbers(linalg::orthogonalise(kA), {{0.9116846116771038, 0.2279211529192759},
                                            {0.17982623986361146, 0.0609580474113937},
                                            {-0.10644335255083129, 0.263627710025258},
                                            {-0.2279211529192759, 0.22792115291927587},
                                            {0.5577661338142526, -0.10972448534050867},
                                            {0.5899487505783361, 0.4742592593525386},
                                            {0.11396057645963793, -1.734723475976807e-18},
                                            {-0.22554477542215678, 0.7680713973835609},
                                            {0.5556703828077293, -0.1934923654419772}});
  expectNumbers(linalg::expm(kA), {{0.49087011500864475, 80.33467025301093},
                                   {59.58963925098093, 52.836539465209285},
                                   {80.44069917336951, 13.080791061619164},
                                   {-20.405235877757036, -42.873582498118466},
                                   {-83.03477595872953, 69.58701275830731},
                                   {25.155835073832183, 61.96746419065476},
                                   {30.713212118371242, -67.89314348897696},
                                   {-80.97701382094696, 42.830422161706345},
                                   {12.103503821587013, 32.62615649657329}});
  expectNumbers(linalg::matrix_power(kA, -2), {{0.05268336462724812, 0.0025620859460799886},
                                               {-0.0430538137244482, 0.027386544797534263},
                                               {0.03617151427120605, -0.006975826926937561},
                                               {0.03279007580256326, -0.007720353201883587},
                                               {0.022046647724766767, 0.041664354639411136},
                                               {-0.003497265199839795, -0.044401796033265835},
                                               {-0.0012555343568822852, -0.03280731332744174},
                                               {0.06156387233835154, -0.015257009094816374},
                                               {-0.007701263303038065, 0.0005089950715366358}});
  expectReals(linalg::matrix_norm(kWide, linalg::MatrixNorm::Frobenius), {9.848857801796104});
  expectReals(linalg::matrix_norm(kWide, linalg::MatrixNorm::Nuclear), {12.633681307124782});
  expectReals(linalg::matrix_norm(kWide, linalg::MatrixNorm::Two), {9.248994155257257});
  expectReals(linalg::matrix_norm(kWide, linalg::MatrixNorm::MinusTwo), {3.384687151867524});
  expectReals(linalg::matrix_norm(kWide, linalg::MatrixNorm::One), {9.32455532033676});
  expectReals(linalg::matrix_norm(kWide, linalg::MatrixNorm::MinusOne), {5.5373191879907555});
  expectReals(linalg::matrix_norm(kWide, linalg::MatrixNorm::Infinity), {15.447660945954421});
  expectReals(linalg::matrix_norm(kWide, linalg::MatrixNorm::MinusInfinity), {6.414213562373095});
  expectReals(linalg::cond(kA, linalg::MatrixNorm::Two), {2.349167935697146});
  expectReals(linalg::cond(kA, linalg::MatrixNorm::One), {4.398826830424644});
  expectReals(linalg::vector_norm(kWide, {}, {.order = 1}), {21.861874508327514});
  expectReals(linalg::vector_norm(kWide, {}, {.order = 2}), {9.848857801796104});
  expectReals(linalg::vector_norm(kWide, {}, {.order = 3}), {7.861703427169777});
  expectNumbers(linalg::householder_product(reflections, tau), {{-0.9116846116771038, -0.2279211529192759},
                                                                {-0.17982623986361146, -0.0609580474113937},
                                                                {0.10644335255083129, -0.263627710025258},
                                                                {0.2279211529192759, -0.22792115291927587},
                                                                {-0.5577661338142526, 0.10972448534050867},
                                                                {-0.5899487505783361, -0.4742592593525386},
                                                                {-0.11396057645963793, 1.734723475976807e-18},
                                                                {0.22554477542215678, -0.7680713973835609},
                                                                {-0.5556703828077293, 0.1934923654419772}});
}

//===-- Errors ----------------------------------------------------------------------------------===//

TEST(LinalgComplex, FailsWhereRealMatricesDo) {
  const Tensor good = identity(3, DType::Complex128);
  const Tensor indefinite = numbers({3, 3}, {{1, 0}, {0, 0}, {0, 0}, {0, 2}, {4, 0}, {0, 0}, {0, 0}, {0, 0}, {1, 0}});
  const Tensor batch = concat({expand_dims(good, {0}), expand_dims(indefinite, {0})}, 0);
  EXPECT_MESSAGE(
      LinAlgError,
      "cholesky: matrix 1 of the batch, counted from 0, is not positive definite: its leading minor 2 of 3 is",
      (void)linalg::cholesky(batch).to_vector<Complex>());
  const Tensor singular = numbers({2, 2}, {{1, 1}, {2, 2}, {2, 0}, {4, 0}});
  EXPECT_MESSAGE(LinAlgError, "solve: the matrix is singular: its pivot 2 of 2 is 0",
                 (void)linalg::solve(singular, numbers({2}, {{1, 0}, {0, 1}})).to_vector<Complex>());
  EXPECT_MESSAGE(LinAlgError, "inv: the matrix is singular: its pivot 2 of 2 is 0",
                 (void)linalg::inv(singular).to_vector<Complex>());
  EXPECT_EQ(linalg::slogdet(singular).logarithm.item<double>(), -kInfinity);
  EXPECT_EQ(linalg::cond(singular, linalg::MatrixNorm::One).item<double>(), kInfinity);
  EXPECT_MESSAGE(ValueError, "triangular_solve: solves by the transposed matrix or by the adjoint one, not both",
                 linalg::triangular_solve(good, good, {.transpose = true, .adjoint = true}));
  EXPECT_MESSAGE(ValueError, "lu_solve: solves by the transposed matrix or by the adjoint one, not both",
                 linalg::lu_solve(linalg::lu_factor(good), good, {.transpose = true, .adjoint = true}));
  EXPECT_MESSAGE(DTypeError, "complex128[3,3]", linalg::solve(good, real(good)));
}

TEST(LinalgComplex, NanStaysNan) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (std::int64_t n : {2, 20}) {
    const Tensor a = identity(n, DType::Complex128) * scalar<Complex>(Complex(nan, 0));
    for (const Tensor &x : {linalg::eigvalsh(a), linalg::svdvals(a), real(linalg::eigvals(a)), real(linalg::pinv(a))})
      for (double each : x.to_vector<double>())
        EXPECT_TRUE(std::isnan(each));
  }
}

TEST(LinalgComplex, LargeMatricesNeedLapack) {
  withLapack("none", [] {
    const Tensor small = identity(17, DType::Complex64), large = identity(33, DType::Complex64);
    EXPECT_MESSAGE(LinAlgError, "cholesky: a matrix of size 33 needs LAPACK",
                   (void)linalg::cholesky(large).to_vector<std::complex<float>>());
    EXPECT_MESSAGE(LinAlgError, "eigvalsh: a matrix of size 17 needs LAPACK",
                   (void)linalg::eigvalsh(small).to_vector<float>());
    EXPECT_MESSAGE(LinAlgError, "eigvals: a matrix of size 17 needs LAPACK",
                   (void)linalg::eigvals(small).to_vector<std::complex<float>>());
  });
}
