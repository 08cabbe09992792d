// LAPACK's tests of residuals for factorisations and what they solve: dchkpo, dchkge, dchkqr, dchktr, ddrvls, dchkgb
// and dchkpb, with the matrices of dlatb4.
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

// Types 1 to 11 of DGE: with `isRegular`, those that have no columns of zeros.
std::vector<Named> generalMatrices(Matrices &of, bool isRegular) {
  const Precision &p = of.precision;
  const std::int64_t n = of.n;
  const Dense random = of.general(of.values(Spread::Geometric, 2));
  std::vector<Named> made{
      {"diagonal", Dense::diagonal(of.values(Spread::Geometric, 2), of.m, n)},
      {"upper", triangleOf(random, false, false)},
      {"lower", triangleOf(random, true, false)},
      {"of condition 2", random},
      {"of condition sqrt(0.1 / eps)", of.general(of.values(Spread::Geometric, p.condition))},
      {"of condition 0.1 / eps", of.general(of.values(Spread::Geometric, p.badCondition))},
      {"near underflow", of.general(of.values(Spread::Geometric, 2), p.small)},
      {"near overflow", of.general(of.values(Spread::Geometric, 2), p.large)},
  };
  auto withZeros = [&](const char *name, std::int64_t first, std::int64_t last) {
    Named each{name, random};
    for (std::int64_t i = 0; i < of.m; ++i)
      for (std::int64_t j = first; j < last; ++j) {
        each.matrix.re[each.matrix.at(i, j)] = 0;
        if (of.isComplex)
          each.matrix.im[each.matrix.at(i, j)] = 0;
      }
    made.push_back(each);
  };
  if (!isRegular && n > 0) {
    withZeros("first column zero", 0, 1);
    withZeros("last column zero", n - 1, n);
    withZeros("second half zero", n / 2, n);
  }
  return made;
}

// Types 1, 2 and 6 to 9 of DPO.
std::vector<Named> positiveMatrices(Matrices &of) {
  const Precision &p = of.precision;
  return {
      {"diagonal", Dense::diagonal(of.values(Spread::Geometric, 2), of.n, of.n)},
      {"of condition 2", of.hermitian(of.values(Spread::Geometric, 2))},
      {"of condition sqrt(0.1 / eps)", of.hermitian(of.values(Spread::Geometric, p.condition))},
      // Of 0.1 / eps a rounded matrix of size n may be indefinite.
      {"of condition 0.1 / (n eps)",
       of.hermitian(of.values(Spread::Geometric, std::max<double>(1, p.badCondition / static_cast<double>(of.n + 1))))},
      {"near underflow", of.hermitian(of.values(Spread::Geometric, 2), p.small)},
      {"near overflow", of.hermitian(of.values(Spread::Geometric, 2), p.large)}};
}

// Calls test(matrices of one size, their size).
template <typename Test> void forSizes(DType dtype, unsigned seed, Test &&test) {
  for (std::int64_t n : kResidualSizes) {
    Matrices of(n, n, dtype, seed);
    test(of, n);
  }
}

// The largest ratio of a column: |b - A x| / (|A| |x| eps), of dget02.
void addSolution(Ratios &ratios, const char *test, const Dense &a, const Dense &x, const Dense &b, const Matrices &of,
                 DType dtype, const std::string &name) {
  const Dense residual = b - a * x;
  const double norm = a.norm();
  for (std::int64_t j = 0; j < b.columns; ++j)
    ratios.add(test, dtype, residual.column(j).norm(), norm * x.column(j).norm() * of.precision.eps, kLinearThreshold,
               of.n, name);
}
// |residual| / (n |A| eps).
void addFactors(Ratios &ratios, const char *test, const Dense &residual, double norm, const Matrices &of, DType dtype,
                const std::string &name) {
  ratios.add(test, dtype, residual.norm(),
             static_cast<double>(std::max<std::int64_t>({of.m, of.n, 1})) * norm * of.precision.eps, kLinearThreshold,
             of.n, name);
}

// Right-hand sides A X of random X.
std::vector<Dense> rightSides(const std::vector<Dense> &all, Matrices &like, std::int64_t columns) {
  std::vector<Dense> made;
  for (const Dense &a : all) {
    Dense x(a.columns, columns, like.isComplex);
    for (std::vector<double> *part : {&x.re, &x.im})
      for (double &each : *part)
        each = std::uniform_real_distribution<double>(-1, 1)(like.engine);
    made.push_back(a * x);
  }
  return made;
}

} // namespace

TEST(LinalgResiduals, CholeskyOfDchkpo) {
  Ratios ratios("cholesky");
  for (DType dtype : kAllTypes)
    forSizes(dtype, 1, [&](Matrices &of, std::int64_t n) {
      const std::vector<Named> named = positiveMatrices(of);
      const std::vector<Dense> a = rounded(matricesOf(named), dtype), b = rounded(rightSides(a, of, 2), dtype);
      const Tensor given = batchOf(a, dtype), factors = linalg::cholesky(given),
                   x = linalg::cho_solve(factors, batchOf(b, dtype)),
                   inverse =
                       linalg::cho_solve(factors, batchOf(std::vector<Dense>(a.size(), Dense::identity(n)), dtype));
      for (std::size_t i = 0; i < a.size(); ++i) {
        const auto k = static_cast<std::int64_t>(i);
        const Dense l = Dense::of(factors, k), turned = Dense::of(inverse, k);
        addFactors(ratios, "1: A - L L^H", l * l.adjoint() - a[i], a[i].norm(), of, dtype, named[i].name);
        addSolution(ratios, "3: B - A X", a[i], Dense::of(x, k), b[i], of, dtype, named[i].name);
        // An inverse near underflow overflows, and neither has LAPACK a bound for subnormal numbers.
        if (i < 4)
          addFactors(ratios, "2: I - A^-1 A", Dense::identity(n) - turned * a[i], a[i].norm() * turned.norm(), of,
                     dtype, named[i].name);
      }
      // Types 3 to 5: a row and a column of zeros.
      for (std::int64_t zero : {std::int64_t(0), n - 1, n / 2})
        if (n > 0) {
          Dense singular = a[1];
          for (std::int64_t i = 0; i < n; ++i)
            for (std::size_t e : {singular.at(i, zero), singular.at(zero, i)}) {
              singular.re[e] = 0;
              if (of.isComplex)
                singular.im[e] = 0;
            }
          EXPECT_MESSAGE(LinAlgError,
                         "its leading minor " + std::to_string(zero + 1) + " of " + std::to_string(n) +
                             " is not positive",
                         linalg::cholesky(batchOf({singular}, dtype)));
        }
    });
}

TEST(LinalgResiduals, LuOfDchkge) {
  Ratios ratios("lu");
  for (DType dtype : kAllTypes)
    forSizes(dtype, 2, [&](Matrices &of, std::int64_t n) {
      const std::vector<Named> named = generalMatrices(of, false);
      const std::vector<Dense> a = rounded(matricesOf(named), dtype);
      const linalg::LuFactors factors = linalg::lu_factor(batchOf(a, dtype));
      const std::vector<std::int64_t> order = factors.order.to_vector<std::int64_t>();
      for (std::size_t i = 0; i < a.size(); ++i) {
        const Dense lu = Dense::of(factors.factors, static_cast<std::int64_t>(i));
        const Dense product = triangleOf(lu, true, true) * triangleOf(lu, false, false);
        Dense exchanged = a[i];
        for (std::int64_t r = 0; r < n; ++r)
          for (std::int64_t c = 0; c < n; ++c) {
            const std::int64_t from = order[i * static_cast<std::size_t>(n) + static_cast<std::size_t>(r)];
            exchanged.re[a[i].at(r, c)] = a[i].re[a[i].at(from, c)];
            if (of.isComplex)
              exchanged.im[a[i].at(r, c)] = a[i].im[a[i].at(from, c)];
          }
        addFactors(ratios, "1: A - P L U", product - exchanged, a[i].norm(), of, dtype, named[i].name);
      }
    });
}

TEST(LinalgResiduals, SolveAndInverseOfDchkge) {
  Ratios ratios("solve");
  for (DType dtype : kAllTypes)
    forSizes(dtype, 3, [&](Matrices &of, std::int64_t n) {
      const std::vector<Named> named = generalMatrices(of, true);
      const std::vector<Dense> a = rounded(matricesOf(named), dtype), b = rounded(rightSides(a, of, 3), dtype);
      const Tensor given = batchOf(a, dtype), right = batchOf(b, dtype), x = linalg::solve(given, right);
      const linalg::LuFactors factors = linalg::lu_factor(given);
      const Tensor turned = linalg::lu_solve(factors, right, {.transpose = true}),
                   adjoint = linalg::lu_solve(factors, right, {.adjoint = true});
      for (std::size_t i = 0; i < a.size(); ++i) {
        const auto k = static_cast<std::int64_t>(i);
        addSolution(ratios, "3: B - A X", a[i], Dense::of(x, k), b[i], of, dtype, named[i].name);
        addSolution(ratios, "3: B - A^T X", a[i].transposed(), Dense::of(turned, k), b[i], of, dtype, named[i].name);
        addSolution(ratios, "3: B - A^H X", a[i].adjoint(), Dense::of(adjoint, k), b[i], of, dtype, named[i].name);
      }
      const std::vector<Dense> first(a.begin(), a.begin() + 6);
      const Tensor inverses = linalg::inv(batchOf(first, dtype));
      for (std::size_t i = 0; i < first.size(); ++i) {
        const Dense inverse = Dense::of(inverses, static_cast<std::int64_t>(i));
        addFactors(ratios, "2: I - A^-1 A", Dense::identity(n) - inverse * a[i], a[i].norm() * inverse.norm(), of,
                   dtype, named[i].name);
      }
      const std::vector<Named> all = generalMatrices(of, false);
      for (std::size_t i = named.size(); i < all.size(); ++i) {
        const Tensor singular = batchOf({all[i].matrix}, dtype);
        EXPECT_MESSAGE(LinAlgError, "singular", linalg::solve(singular, singular));
        EXPECT_MESSAGE(LinAlgError, "singular", linalg::inv(singular));
      }
    });
}

TEST(LinalgResiduals, TrianglesOfDchktr) {
  Ratios ratios("triangular_solve");
  for (DType dtype : kAllTypes)
    forSizes(dtype, 4, [&](Matrices &of, std::int64_t n) {
      const Precision &p = of.precision;
      std::vector<Named> named{{"diagonal", Dense::diagonal(of.values(Spread::Geometric, 2), n, n)},
                               {"identity", Dense::identity(n)}};
      // The factors of A = Q R have its singular values.
      auto add = [&](const char *name, double condition, double norm) {
        const Tensor full = batchOf({of.general(of.values(Spread::Geometric, condition), norm)}, dtype);
        named.push_back({name, Dense::of(linalg::qr(full).r, 0)});
      };
      add("of condition 2", 2, 1);
      add("of condition sqrt(0.1 / eps)", p.condition, 1);
      add("of condition 0.1 / eps", p.badCondition, 1);
      add("near underflow", 2, p.small);
      add("near overflow", 2, p.large);
      for (bool lower : {false, true})
        for (bool unit : {false, true})
          for (int form = 0; form < 6; ++form) {
            const bool left = form % 2 == 0, isTransposed = form / 2 == 1, isAdjoint = form / 2 == 2;
            std::vector<Dense> all;
            for (const Named &each : named) {
              // Type 8: a small triangle below a diagonal of ones.
              Dense a = lower ? each.matrix.adjoint() : each.matrix;
              if (unit && a.norm() > 0)
                a = triangleOf(a.scaled(1 / (a.norm() * static_cast<double>(n))), lower, true);
              all.push_back(a);
            }
            const std::vector<Dense> a = rounded(all, dtype);
            auto applied = [&](const Dense &x) { return isTransposed ? x.transposed() : isAdjoint ? x.adjoint() : x; };
            std::vector<Dense> ops;
            for (const Dense &each : a)
              ops.push_back(left ? applied(each) : applied(each).transposed());
            const std::vector<Dense> b = rounded(rightSides(ops, of, 2), dtype);
            std::vector<Dense> given;
            for (const Dense &each : b)
              given.push_back(left ? each : each.transposed());
            const Tensor x = linalg::triangular_solve(
                batchOf(a, dtype), batchOf(given, dtype),
                {.lower = lower, .transpose = isTransposed, .unit_diagonal = unit, .left = left, .adjoint = isAdjoint});
            for (std::size_t i = 0; i < a.size(); ++i) {
              const Dense found = Dense::of(x, static_cast<std::int64_t>(i));
              addSolution(ratios, left ? "2: B - op(A) X" : "2: B - X op(A)", ops[i], left ? found : found.transposed(),
                          b[i], of, dtype, named[i].name);
            }
          }
    });
}

TEST(LinalgResiduals, OrthogonalFactorsOfDchkqr) {
  Ratios ratios("qr");
  for (DType dtype : kAllTypes)
    for (std::int64_t n : kResidualSizes)
      for (std::int64_t m : {n, n / 2, 2 * n + 1}) {
        if (m > 100)
          continue;
        Matrices of(m, n, dtype, 5);
        std::vector<Named> named = generalMatrices(of, false);
        const std::vector<Dense> a = rounded(matricesOf(named), dtype);
        for (bool complete : {false, true}) {
          const linalg::Qr factors = linalg::qr(batchOf(a, dtype), {.complete = complete});
          for (std::size_t i = 0; i < a.size(); ++i) {
            const auto k = static_cast<std::int64_t>(i);
            const Dense q = Dense::of(factors.q, k), r = Dense::of(factors.r, k);
            addFactors(ratios, "1: R - Q^H A", r - q.adjoint() * a[i], a[i].norm(), of, dtype, named[i].name);
            addFactors(ratios, "1: A - Q R", q * r - a[i], a[i].norm(), of, dtype, named[i].name);
            addFactors(ratios, "2: I - Q^H Q", Dense::identity(q.columns) - q.adjoint() * q, 1, of, dtype,
                       named[i].name);
          }
        }
      }
}

TEST(LinalgResiduals, LeastSquaresOfDdrvls) {
  Ratios ratios("lstsq");
  for (DType dtype : kAllTypes)
    for (std::int64_t n : {0, 1, 2, 3, 5, 16, 17, 33, 50})
      for (std::int64_t m : {n, n / 2, 2 * n}) {
        Matrices of(m, n, dtype, 6);
        const Precision &p = of.precision;
        const std::int64_t rank = std::min(m, n);
        std::vector<double> half = of.values(Spread::Geometric, 2);
        for (std::int64_t i = (3 * rank + 3) / 4; i < rank; ++i)
          half[static_cast<std::size_t>(i)] = 0;
        std::vector<Named> named;
        for (bool isFull : {true, false}) {
          const std::vector<double> values = isFull ? of.values(Spread::Geometric, 2) : half;
          const std::string kind = isFull ? "of full rank" : "of three quarters of the rank";
          named.push_back({kind, of.general(values)});
          // The norm of the inverse stays far from the edges, as in LAPACK, where drivers scale.
          named.push_back({kind + ", scaled down", of.general(values, p.rootSmall)});
          named.push_back({kind + ", scaled up", of.general(values, p.rootLarge)});
        }
        const std::vector<Dense> a = rounded(matricesOf(named), dtype), b = rounded(rightSides(a, of, 2), dtype);
        std::vector<Dense> noise;
        for (std::size_t i = 0; i < a.size(); ++i) {
          Dense other = b[i];
          for (std::vector<double> *part : {&other.re, &other.im})
            for (double &x : *part)
              x = std::uniform_real_distribution<double>(-1, 1)(of.engine) * std::max<double>(b[i].norm(), p.rootSmall);
          noise.push_back(other);
        }
        noise = rounded(noise, dtype);
        const Tensor given = batchOf(a, dtype), x = linalg::lstsq(given, batchOf(b, dtype)),
                     y = linalg::lstsq(given, batchOf(noise, dtype));
        const double size = static_cast<double>(std::max<std::int64_t>({m, n, 1}));
        for (std::size_t i = 0; i < a.size(); ++i) {
          const auto k = static_cast<std::int64_t>(i);
          const Dense solved = Dense::of(x, k), nearest = Dense::of(y, k), rest = noise[i] - a[i] * nearest;
          ratios.add("1: B - A X", dtype, (b[i] - a[i] * solved).norm(), size * a[i].norm() * solved.norm() * p.eps,
                     kLinearThreshold, n, named[i].name);
          ratios.add("2: A^H (B - A X)", dtype, (a[i].adjoint() * rest).norm(),
                     size * a[i].norm() * noise[i].norm() * p.eps, kLinearThreshold, n, named[i].name);
        }
      }
}

TEST(LinalgResiduals, BandsOfDchkgbAndDchkpb) {
  Ratios ratios("solve_banded");
  Ratios positive("solveh_banded");
  for (DType dtype : {DType::Float32, DType::Float64})
    for (std::int64_t n : kResidualSizes)
      for (std::int64_t width : {std::int64_t(0), std::int64_t(1), std::int64_t(3), n / 3, n - 1}) {
        if (width < 0 || width >= std::max<std::int64_t>(n, 1))
          continue;
        Matrices of(n, n, dtype, 7);
        const Precision &p = of.precision;
        const std::int64_t lower = width, upper = (width + 1) / 2;
        // The bands of matrices of these singular values. Their own may be others, but those of scales stay.
        const std::vector<Named> named{
            {"of condition 2", of.general(of.values(Spread::Geometric, 2))},
            {"of condition sqrt(0.1 / eps)", of.general(of.values(Spread::Geometric, p.condition))},
            {"random", of.random()},
            {"near underflow", of.general(of.values(Spread::Geometric, 2), p.small)},
            {"near overflow", of.general(of.values(Spread::Geometric, 2), p.large)}};
        std::vector<Dense> a, band;
        for (const Dense &each : rounded(matricesOf(named), dtype)) {
          Dense kept(n, n, false), rows(lower + upper + 1, n, false);
          for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = std::max<std::int64_t>(0, i - lower); j <= std::min(n - 1, i + upper); ++j)
              kept.re[kept.at(i, j)] = rows.re[rows.at(upper + i - j, j)] = each.re[each.at(i, j)];
          a.push_back(kept);
          band.push_back(rows);
        }
        const std::vector<Dense> b = rounded(rightSides(a, of, 2), dtype);
        const Tensor x = linalg::solve_banded(lower, upper, batchOf(band, dtype), batchOf(b, dtype));
        for (std::size_t i = 0; i < a.size(); ++i)
          addSolution(ratios, "3: B - A X", a[i], Dense::of(x, static_cast<std::int64_t>(i)), b[i], of, dtype,
                      named[i].name);
        // Positive definite ones: triangles of bands, times their transposes.
        std::vector<Dense> factors;
        for (const Dense &each : a) {
          Dense l = triangleOf(each, true, false);
          const double norm = l.norm();
          for (std::int64_t i = 0; i < n; ++i)
            l.re[l.at(i, i)] += 2 * norm;
          factors.push_back(l);
        }
        std::vector<Dense> products, bands;
        for (std::size_t i = 0; i < 3; ++i)
          for (double norm : {double(1), p.small, p.large}) {
            const Dense product = factors[i] * factors[i].transposed();
            products.push_back(n ? product.scaled(norm / product.norm()) : product);
          }
        products = rounded(products, dtype);
        for (const Dense &each : products) {
          Dense rows(width + 1, n, false);
          for (std::int64_t j = 0; j < n; ++j)
            for (std::int64_t i = j; i <= std::min(n - 1, j + width); ++i)
              rows.re[rows.at(i - j, j)] = each.re[each.at(i, j)];
          bands.push_back(rows);
        }
        const std::vector<Dense> right = rounded(rightSides(products, of, 2), dtype);
        const Tensor given = batchOf(bands, dtype),
                     y = linalg::solveh_banded(given, batchOf(right, dtype), {.lower = true}),
                     // A loop, which is compiled for each size.
            made = width == 3 ? linalg::cholesky_banded(given, {.lower = true}) : given;
        for (std::size_t k = 0; k < products.size(); ++k) {
          const Dense rows = Dense::of(made, static_cast<std::int64_t>(k));
          Dense l(n, n, false);
          for (std::int64_t j = 0; j < n; ++j)
            for (std::int64_t i = j; i <= std::min(n - 1, j + width); ++i)
              l.re[l.at(i, j)] = rows.re[rows.at(i - j, j)];
          const std::string name = k % 3 == 0 ? "of norm 1" : k % 3 == 1 ? "near underflow" : "near overflow";
          if (width == 3)
            addFactors(positive, "1: A - L L^T", l * l.transposed() - products[k], products[k].norm(), of, dtype, name);
          addSolution(positive, "2: B - A X", products[k], Dense::of(y, static_cast<std::int64_t>(k)), right[k], of,
                      dtype, name);
        }
      }
}
