// LAPACK's tests of residuals for eigenvalues and singular values: ddrvst, ddrvbd, ddrvev, ddrves and dget35, with the
// matrices of dchkst, dchkbd and dchkhs.
#include "test/operations/LinalgResiduals.h"

using namespace calque;
using namespace calque::testing;

namespace {

struct Named {
  std::string name;
  Dense matrix;
};
std::vector<Dense> matricesOf(const std::vector<Named> &all) {
  std::vector<Dense> made;
  for (const Named &each : all)
    made.push_back(each.matrix);
  return made;
}
const std::vector<std::pair<const char *, Spread>> kSpreads = {{"evenly spread", Spread::Arithmetic},
                                                               {"geometrically spread", Spread::Geometric},
                                                               {"clustered", Spread::Clustered}};

// All types of matrices at a norm of 1, and those of the last three near the roots of underflow and of overflow.
template <typename Make, typename Diagonal>
std::vector<Named> spectralMatrices(Matrices &of, Make &&make, Diagonal &&diagonal) {
  const Precision &p = of.precision;
  std::vector<Named> made{
      {"zero", Dense(of.m, of.n, of.isComplex)},
      {"identity", Dense::diagonal(std::vector<double>(static_cast<std::size_t>(of.m + of.n), 1), of.m, of.n)}};
  for (const auto &[name, how] : kSpreads) {
    const std::vector<double> values = of.values(how, 1 / p.ulp);
    made.push_back({std::string("diagonal, ") + name, diagonal(values)});
    made.push_back({name, make(values, double(1))});
    made.push_back({std::string(name) + ", scaled down", make(values, p.rootSmall)});
    made.push_back({std::string(name) + ", scaled up", make(values, p.rootLarge)});
  }
  return made;
}

double sizeOfMatrix(const Matrices &of) { return static_cast<double>(std::max<std::int64_t>({of.m, of.n, 1})); }
void addUnitary(Ratios &ratios, const char *test, const Dense &columns, const Matrices &of, DType dtype,
                double threshold, const std::string &name) {
  ratios.add(test, dtype, (Dense::identity(columns.columns) - columns.adjoint() * columns).norm(),
             sizeOfMatrix(of) * of.precision.ulp, threshold, of.n, name);
}
// The largest difference over the largest magnitude.
void addValues(Ratios &ratios, const char *test, const std::vector<double> &a, const std::vector<double> &b,
               const Matrices &of, DType dtype, double threshold, const std::string &name) {
  double difference = 0, largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference = std::max(difference, std::fabs(a[i] - b[i]));
    largest = std::max({largest, std::fabs(a[i]), std::fabs(b[i])});
  }
  ratios.add(test, dtype, difference, largest * of.precision.ulp, threshold, of.n, name);
}
// Signs of random values.
std::vector<double> signedValues(std::vector<double> values, Matrices &of) {
  for (double &x : values)
    if (of.engine() % 2)
      x = -x;
  return values;
}

} // namespace

TEST(LinalgSpectraResiduals, SymmetricOfDdrvst) {
  Ratios ratios("eigh");
  // From 200 rows on, real matrices become tridiagonal in tiles, and from 256 on, these are joined of halves.
  std::vector<std::int64_t> sizes = kResidualSizes;
  sizes.insert(sizes.end(), {200, 270});
  for (DType dtype : kAllTypes)
    for (std::int64_t n : sizes) {
      Matrices of(n, n, dtype, 11);
      if (n > kResidualSizes.back() && of.isComplex)
        continue;
      const Precision &p = of.precision;
      std::vector<Named> named = spectralMatrices(
          of,
          [&](const std::vector<double> &values, double norm) { return of.hermitian(signedValues(values, of), norm); },
          [&](const std::vector<double> &values) { return Dense::diagonal(signedValues(values, of), n, n); });
      for (double norm : {double(1), p.rootSmall, p.rootLarge}) {
        Dense random = of.random(norm);
        const Dense turned = random.adjoint();
        for (std::size_t e = 0; e < random.re.size(); ++e) {
          random.re[e] = (random.re[e] + turned.re[e]) / 2;
          if (of.isComplex)
            random.im[e] = (random.im[e] + turned.im[e]) / 2;
        }
        named.push_back({"random", random});
      }
      const std::vector<Dense> a = rounded(matricesOf(named), dtype);
      const Tensor given = batchOf(a, dtype);
      const linalg::Eigh made = linalg::eigh(given);
      const Tensor alone = linalg::eigvalsh(given);
      for (std::size_t i = 0; i < a.size(); ++i) {
        const auto k = static_cast<std::int64_t>(i);
        const Dense v = Dense::of(made.vectors, k);
        const std::vector<double> w = Dense::of(made.values, k).re;
        EXPECT_TRUE(std::is_sorted(w.begin(), w.end())) << named[i].name;
        ratios.add("1: A - V w V^H", dtype, (a[i] - v * (Dense::diagonal(w, n, n) * v.adjoint())).norm(),
                   sizeOfMatrix(of) * a[i].norm() * p.ulp, kSpectralThreshold, n, named[i].name);
        addUnitary(ratios, "2: I - V^H V", v, of, dtype, kSpectralThreshold, named[i].name);
        addValues(ratios, "3: w alone", w, Dense::of(alone, k).re, of, dtype, kSpectralThreshold, named[i].name);
      }
    }
}

TEST(LinalgSpectraResiduals, SingularValuesOfDdrvbd) {
  Ratios ratios("svd");
  for (DType dtype : kAllTypes)
    for (std::int64_t n : kResidualSizes)
      for (std::int64_t m : {n, n / 2, 2 * n + 1}) {
        if (m > 100)
          continue;
        Matrices of(m, n, dtype, 12);
        const Precision &p = of.precision;
        std::vector<Named> named = spectralMatrices(
            of, [&](const std::vector<double> &values, double norm) { return of.general(values, norm); },
            [&](const std::vector<double> &values) { return Dense::diagonal(values, m, n); });
        for (double norm : {double(1), p.rootSmall, p.rootLarge})
          named.push_back({"random", of.random(norm)});
        const std::vector<Dense> a = rounded(matricesOf(named), dtype);
        const Tensor given = batchOf(a, dtype), alone = linalg::svdvals(given);
        for (bool full : {false, true}) {
          const linalg::Svd made = linalg::svd(given, {.full_matrices = full});
          for (std::size_t i = 0; i < a.size(); ++i) {
            const auto k = static_cast<std::int64_t>(i);
            const Dense u = Dense::of(made.u, k), vh = Dense::of(made.vh, k);
            const std::vector<double> s = Dense::of(made.s, k).re;
            ratios.add("1: A - U s V^H", dtype, (a[i] - u * (Dense::diagonal(s, u.columns, vh.rows) * vh)).norm(),
                       sizeOfMatrix(of) * a[i].norm() * p.ulp, kSpectralThreshold, n, named[i].name);
            addUnitary(ratios, "2: I - U^H U", u, of, dtype, kSpectralThreshold, named[i].name);
            addUnitary(ratios, "3: I - V^H V", vh.adjoint(), of, dtype, kSpectralThreshold, named[i].name);
            EXPECT_TRUE(std::is_sorted(s.rbegin(), s.rend()) && (s.empty() || s.back() >= 0)) << named[i].name;
            addValues(ratios, "7: s alone", s, Dense::of(alone, k).re, of, dtype, kSpectralThreshold, named[i].name);
          }
        }
      }
}

namespace {

// Types of dchkhs: Jordan's block, and triangles T in unitary coordinates, and in those of a condition of 1 /
// sqrt(ulp).
std::vector<Named> nonsymmetricMatrices(Matrices &of) {
  const Precision &p = of.precision;
  const std::int64_t n = of.n;
  std::vector<Named> made{{"zero", Dense(n, n, of.isComplex)}, {"identity", Dense::identity(n)}};
  Dense jordan = Dense::identity(n);
  for (std::int64_t i = 1; i < n; ++i)
    jordan.re[jordan.at(i, i - 1)] = 1;
  made.push_back({"Jordan's block", jordan});
  auto triangle = [&](Spread how) {
    Dense t = triangleOf(of.random(), false, false);
    const std::vector<double> values = signedValues(of.values(how, 1 / p.ulp), of);
    for (std::int64_t i = 0; i < n; ++i)
      t.re[t.at(i, i)] = values[static_cast<std::size_t>(i)];
    return t;
  };
  for (const auto &[name, how] : kSpreads) {
    const Dense t = triangle(how);
    made.push_back({std::string("diagonal, ") + name, Dense::diagonal(of.values(how, 1 / p.ulp), n, n)});
    made.push_back({std::string("triangle, ") + name, t});
    made.push_back({std::string("normal coordinates, ") + name, of.unitary() * (t * of.unitary().adjoint())});
    // X = U d U^H, and its inverse.
    std::vector<double> d = of.values(Spread::Geometric, 1 / std::sqrt(p.ulp)), inverse;
    for (double x : d)
      inverse.push_back(1 / x);
    made.push_back({std::string("skewed coordinates, ") + name, of.hermitian(d) * (t * of.hermitian(inverse))});
  }
  for (double norm : {double(1), p.rootSmall, p.rootLarge})
    made.push_back({"random", of.random(norm)});
  return made;
}

} // namespace

TEST(LinalgSpectraResiduals, NonsymmetricOfDdrvev) {
  Ratios ratios("eig");
  for (DType dtype : kAllTypes)
    for (std::int64_t n : kResidualSizes) {
      Matrices of(n, n, dtype, 13);
      const Precision &p = of.precision;
      const std::vector<Named> named = nonsymmetricMatrices(of);
      const std::vector<Dense> a = rounded(matricesOf(named), dtype);
      const Tensor given = batchOf(a, dtype);
      const linalg::Eig made = linalg::eig(given);
      const Tensor alone = linalg::eigvals(given);
      for (std::size_t i = 0; i < a.size(); ++i) {
        const auto k = static_cast<std::int64_t>(i);
        const Dense v = Dense::of(made.vectors, k), w = Dense::of(made.values, k), values = Dense::of(alone, k);
        Dense scaled = v;
        for (std::int64_t r = 0; r < n; ++r)
          for (std::int64_t c = 0; c < n; ++c) {
            const std::size_t e = v.at(r, c), j = static_cast<std::size_t>(c);
            scaled.re[e] = v.re[e] * w.re[j] - v.im[e] * w.im[j];
            scaled.im[e] = v.re[e] * w.im[j] + v.im[e] * w.re[j];
          }
        ratios.add("1: A V - V w", dtype, (a[i] * v - scaled).norm(), a[i].norm() * v.norm() * p.ulp,
                   kNonsymmetricThreshold, n, named[i].name);
        for (std::int64_t c = 0; c < n; ++c) {
          const Dense one = v.column(c);
          double square = 0;
          for (std::size_t e = 0; e < one.re.size(); ++e)
            square += one.re[e] * one.re[e] + one.im[e] * one.im[e];
          ratios.add("2: |v| - 1", dtype, std::fabs(std::sqrt(square) - 1), sizeOfMatrix(of) * p.ulp,
                     kNonsymmetricThreshold, n, named[i].name);
        }
        ratios.add("5: w alone", dtype, (w - values).norm(), std::max(w.norm(), values.norm()) * p.ulp,
                   kNonsymmetricThreshold, n, named[i].name);
      }
    }
}

TEST(LinalgSpectraResiduals, TrianglesOfDdrves) {
  Ratios ratios("schur");
  for (DType dtype : kAllTypes)
    for (std::int64_t n : kResidualSizes) {
      Matrices of(n, n, dtype, 14);
      const std::vector<Named> named = nonsymmetricMatrices(of);
      const std::vector<Dense> a = rounded(matricesOf(named), dtype);
      const linalg::Schur made = linalg::schur(batchOf(a, dtype));
      for (std::size_t i = 0; i < a.size(); ++i) {
        const auto k = static_cast<std::int64_t>(i);
        const Dense t = Dense::of(made.t, k), z = Dense::of(made.z, k);
        for (std::int64_t r = 0; r < n; ++r)
          for (std::int64_t c = 0; c < r; ++c) {
            const bool isBlock = !of.isComplex && c == r - 1; // of 2 x 2, of which no two touch
            const bool isTouching = isBlock && r > 1 && t.re[t.at(r, c)] != 0 && t.re[t.at(r - 1, c - 1)] != 0;
            EXPECT_TRUE(!isTouching && (isBlock || t.re[t.at(r, c)] == 0) && (!of.isComplex || t.im[t.at(r, c)] == 0))
                << named[i].name << " of size " << n << ", element " << r << ", " << c;
          }
        ratios.add("2: A - Z T Z^H", dtype, (a[i] - z * (t * z.adjoint())).norm(),
                   sizeOfMatrix(of) * a[i].norm() * of.precision.ulp, kNonsymmetricThreshold, n, named[i].name);
        addUnitary(ratios, "3: I - Z^H Z", z, of, dtype, kNonsymmetricThreshold, named[i].name);
      }
    }
}

TEST(LinalgSpectraResiduals, SylvesterOfDget35) {
  Ratios ratios("solve_sylvester");
  for (DType dtype : {DType::Float32, DType::Float64})
    for (std::int64_t n : kResidualSizes)
      for (std::int64_t m : {n, std::int64_t(3), n / 2}) {
        Matrices left(n, n, dtype, 15), right(m, m, dtype, 16), mixed(n, m, dtype, 17);
        const Precision &p = left.precision;
        // Dget35 scales by sqrt(small) to sqrt(large); eigenvalues of A are around 1 and of -B around -1.
        std::vector<Dense> a, b, c;
        std::vector<std::string> names;
        for (double norm : {double(1), p.rootSmall, p.rootLarge})
          for (double other : {double(1), double(0.01), double(100)})
            for (bool isNormal : {true, false}) {
              const double factor = norm * (n ? 1 / static_cast<double>(n + m) : 1);
              Dense x =
                  isNormal ? left.hermitian(left.values(Spread::Geometric, p.condition), norm) : left.random(factor);
              Dense y = isNormal ? right.hermitian(right.values(Spread::Geometric, p.condition), norm * other)
                                 : right.random(factor * other);
              if (!isNormal) {
                for (std::int64_t i = 0; i < n; ++i)
                  x.re[x.at(i, i)] += 2 * norm;
                for (std::int64_t i = 0; i < m; ++i)
                  y.re[y.at(i, i)] += 2 * norm * other;
              }
              a.push_back(x);
              b.push_back(y);
              c.push_back(mixed.random(norm));
              names.push_back(std::string(isNormal ? "symmetric" : "random") + (norm < 1   ? ", scaled down"
                                                                                : norm > 1 ? ", scaled up"
                                                                                           : ""));
            }
        a = rounded(a, dtype), b = rounded(b, dtype), c = rounded(c, dtype);
        const Tensor x = linalg::solve_sylvester(batchOf(a, dtype), batchOf(b, dtype), batchOf(c, dtype));
        for (std::size_t i = 0; i < a.size(); ++i) {
          const Dense found = Dense::of(x, static_cast<std::int64_t>(i));
          ratios.add("A X + X B - C", dtype, (c[i] - a[i] * found - found * b[i]).norm(),
                     // Dget35 has triangles. These are those of schur, whose own ratio is of n ulp.
                     static_cast<double>(std::max<std::int64_t>({n, m, 1})) * (a[i].norm() + b[i].norm()) *
                         found.norm() * p.ulp,
                     kNonsymmetricThreshold, n, names[i]);
        }
      }
}
