// Every function of linear algebra with each of its options, of all element types, against values of NumPy and SciPy
// (linalg_options_reference.py).
#include "test/operations/LinalgComplex.h"

#include <algorithm>
#include <functional>
#include <map>

using namespace calque;
using namespace calque::testing;

namespace {

const double kInfinity = std::numeric_limits<double>::infinity();

#include "test/operations/LinalgOptionsReferences.inc"

// The script's operands, of real types their real parts.
struct Operands {
  explicit Operands(DType dtype) : dtype(dtype) {}
  Tensor of(const Shape &shape, const std::vector<Complex> &all) const {
    const Tensor whole = numbers(shape, all);
    return is_complex(dtype) ? cast(whole, dtype) : cast(real(whole), dtype);
  }
  // The transposed matrix, of complex numbers the adjoint one.
  static Tensor turned(const Tensor &x) { return is_complex(x.dtype()) ? adjoint(x) : transpose(x, {1, 0}); }

  const DType dtype;
  const Tensor a = of({3, 3}, {{4, 1}, {1, -2}, {0, 0.5}, {-1, 1}, {3, 0}, {2, 1}, {0.5, 0}, {-1, 3}, {5, -1}});
  const Tensor b = of({3, 2}, {{1, 0}, {0, 2}, {3, -1}, {-4, 0}, {5, 0}, {6, 1}});
  const Tensor wide = of({2, 3}, {{1, 1}, {2, 0}, {0, 3}, {4, -1}, {0, 5}, {6, 2}});
  const Tensor band =
      of({4, 3}, {{0, 0}, {0, 0}, {-1, 1}, {0, 0}, {2, 1}, {1, -1}, {5, 1}, {4, -2}, {-6, 2}, {1, 2}, {2, -1}, {0, 0}});
  const Tensor half = of({3, 3}, {{0, 0}, {0, 0}, {0.5, 1}, {0, 0}, {-1, 1}, {2, -1}, {4, 0}, {5, 0}, {6, 0}});
  const Tensor halfBelow = of({3, 3}, {{4, 0}, {5, 0}, {6, 0}, {-1, -1}, {2, 1}, {0, 0}, {0.5, -1}, {0, 0}, {0, 0}});
  const Tensor h = matmul(a, turned(a)) + of({3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1});
  const Tensor vector = gather(b, 0, 1), other = of({3}, {{4, 1}, {1, -2}, {0, 0.5}}),
               third = of({3}, {{-1, 1}, {3, 0}, {2, 1}});
};

using OfOperands = std::function<Tensor(const Operands &)>;

// The matrix's eigenvalues, ascending by their real parts and then by the imaginary ones.
Tensor sorted(const Tensor &values) {
  std::vector<Complex> all = cast(values, DType::Complex128).to_vector<Complex>();
  std::sort(all.begin(), all.end(), [](Complex x, Complex y) {
    return std::abs(x.real() - y.real()) > 1e-3 ? x.real() < y.real() : x.imag() < y.imag();
  });
  return numbers({static_cast<std::int64_t>(all.size())}, all);
}

const std::map<std::string, linalg::MatrixNorm> kNorms{
    {"fro", linalg::MatrixNorm::Frobenius}, {"nuc", linalg::MatrixNorm::Nuclear},
    {"2", linalg::MatrixNorm::Two},         {"-2", linalg::MatrixNorm::MinusTwo},
    {"1", linalg::MatrixNorm::One},         {"-1", linalg::MatrixNorm::MinusOne},
    {"inf", linalg::MatrixNorm::Infinity},  {"-inf", linalg::MatrixNorm::MinusInfinity}};
const std::map<std::string, double> kOrders{
    {"-inf", -kInfinity}, {"-1", -1}, {"0", 0}, {"0.5", 0.5}, {"1", 1}, {"2", 2}, {"3", 3}, {"inf", kInfinity}};

std::map<std::string, OfOperands> functions() {
  std::map<std::string, OfOperands> all{
      {"cholesky upper", [](const Operands &x) { return linalg::cholesky(x.h, {.upper = true}); }},
      {"cholesky lower", [](const Operands &x) { return linalg::cholesky(x.h); }},
      {"cho_solve", [](const Operands &x) { return linalg::cho_solve(linalg::cholesky(x.h), x.b); }},
      {"cho_solve upper",
       [](const Operands &x) {
         return linalg::cho_solve(linalg::cholesky(x.h, {.upper = true}), x.b, {.upper = true});
       }},
      {"lu_solve 0", [](const Operands &x) { return linalg::lu_solve(linalg::lu_factor(x.a), x.b); }},
      {"lu_solve 1",
       [](const Operands &x) { return linalg::lu_solve(linalg::lu_factor(x.a), x.b, {.transpose = true}); }},
      {"lu_solve 2",
       [](const Operands &x) { return linalg::lu_solve(linalg::lu_factor(x.a), x.b, {.adjoint = true}); }},
      {"lu p", [](const Operands &x) { return linalg::lu(x.a).p; }},
      {"lu l", [](const Operands &x) { return linalg::lu(x.a).l; }},
      {"lu u", [](const Operands &x) { return linalg::lu(x.a).u; }},
      {"solve vector", [](const Operands &x) { return linalg::solve(x.a, x.vector); }},
      {"inv", [](const Operands &x) { return linalg::inv(x.a); }},
      {"det", [](const Operands &x) { return linalg::det(x.a); }},
      {"slogdet sign", [](const Operands &x) { return linalg::slogdet(x.a).sign; }},
      {"slogdet logarithm", [](const Operands &x) { return linalg::slogdet(x.a).logarithm; }},
      {"qr complete",
       [](const Operands &x) { return abs(linalg::qr(transpose(x.wide, {1, 0}), {.complete = true}).r); }},
      {"qr", [](const Operands &x) { return abs(linalg::qr(x.a).r); }},
      {"eigvalsh", [](const Operands &x) { return linalg::eigvalsh(x.h); }},
      {"svdvals", [](const Operands &x) { return linalg::svdvals(x.wide); }},
      {"svd full", [](const Operands &x) { return abs(linalg::svd(x.wide, {.full_matrices = true}).vh); }},
      {"expm", [](const Operands &x) { return linalg::expm(x.a); }},
      {"sqrtm", [](const Operands &x) { return linalg::sqrtm(x.a); }},
      {"logm", [](const Operands &x) { return linalg::logm(x.a); }},
      {"eigvals", [](const Operands &x) { return sorted(linalg::eigvals(x.a)); }},
      {"schur",
       [](const Operands &x) {
         auto [t, z] = linalg::schur(x.h);
         return matmul(matmul(z, t), Operands::turned(z));
       }},
      {"solve_sylvester",
       [](const Operands &x) { return linalg::solve_sylvester(x.a, slice(x.a, {0, 0}, {2, 2}), x.b); }},
      {"solve_continuous_lyapunov", [](const Operands &x) { return linalg::solve_continuous_lyapunov(x.a, x.h); }},
      {"solve_discrete_lyapunov", [](const Operands &x) { return linalg::solve_discrete_lyapunov(x.a / 8, x.h); }},
      {"toeplitz", [](const Operands &x) { return linalg::toeplitz(x.vector); }},
      {"toeplitz row", [](const Operands &x) { return linalg::toeplitz(x.vector, x.other); }},
      {"solve_toeplitz", [](const Operands &x) { return linalg::solve_toeplitz(x.other, x.third, x.b); }},
      {"solve_tridiagonal",
       [](const Operands &x) {
         return linalg::solve_tridiagonal(x.other, gather(x.other, 0, 0) + gather(x.a, 2, 0), x.third, x.b);
       }},
      {"solve_banded", [](const Operands &x) { return linalg::solve_banded(1, 2, x.band, x.b); }},
      {"orthogonalise", [](const Operands &x) { return linalg::orthogonalise(x.a); }}};
  for (bool lower : {false, true})
    for (int trans : {0, 1, 2})
      for (bool unit : {false, true})
        for (bool left : {false, true})
          all["triangular_solve " + std::to_string(lower) + std::to_string(trans) + std::to_string(unit) +
              std::to_string(left)] = [=](const Operands &x) {
            return linalg::triangular_solve(
                x.a, left ? x.b : Operands::turned(x.b),
                {.lower = lower, .transpose = trans == 1, .unit_diagonal = unit, .left = left, .adjoint = trans == 2});
          };
  for (const auto &[name, tolerance] : {std::pair("0.25", 0.25), std::pair("0.5", 0.5)}) {
    const std::string own = name;
    all["pinv " + own] = [tolerance](const Operands &x) { return linalg::pinv(x.wide, {.tolerance = tolerance}); };
    all["lstsq " + own] = [tolerance](const Operands &x) {
      return linalg::lstsq(x.wide, slice(x.wide, {0, 0}, {2, 2}), {.tolerance = tolerance});
    };
    all["matrix_rank " + own] = [tolerance](const Operands &x) {
      return linalg::matrix_rank(x.wide, {.tolerance = tolerance});
    };
  }
  for (const auto &[name, order] : kOrders) {
    all["vector_norm " + name] = [order = order](const Operands &x) {
      return linalg::vector_norm(x.wide, {}, {.order = order});
    };
    all["vector_norm " + name + " of columns"] = [order = order](const Operands &x) {
      const Tensor kept = linalg::vector_norm(x.wide, {0}, {.order = order, .keepdims = true});
      EXPECT_EQ(kept.shape(), Shape({1, 3}));
      expectSameBits(squeeze(kept, {0}), linalg::vector_norm(x.wide, {0}, {.order = order}));
      return kept;
    };
  }
  for (const auto &[name, order] : kNorms) {
    all["matrix_norm " + name] = [order = order](const Operands &x) { return linalg::matrix_norm(x.wide, order); };
    all["cond " + name] = [order = order](const Operands &x) { return linalg::cond(x.a, order); };
  }
  for (std::int64_t exponent : {-2, -1, 0, 1, 5})
    all["matrix_power " + std::to_string(exponent)] = [exponent](const Operands &x) {
      return linalg::matrix_power(x.a, exponent);
    };
  for (bool lower : {false, true}) {
    const std::string own = lower ? " lower" : " upper";
    auto halfOf = [lower](const Operands &x) { return lower ? x.halfBelow : x.half; };
    all["solveh_banded" + own] = [=](const Operands &x) {
      return linalg::solveh_banded(halfOf(x), x.b, {.lower = lower});
    };
    all["cholesky_banded" + own] = [=](const Operands &x) {
      return linalg::cholesky_banded(halfOf(x), {.lower = lower});
    };
    all["cho_solve_banded" + own] = [=](const Operands &x) {
      return linalg::cho_solve_banded(linalg::cholesky_banded(halfOf(x), {.lower = lower}), x.b, {.lower = lower});
    };
  }
  return all;
}

} // namespace

TEST(LinalgOptions, HaveTheValuesOfSciPy) {
  const std::map<std::string, OfOperands> all = functions();
  for (DType dtype : {DType::Float32, DType::Float64, DType::Complex64, DType::Complex128}) {
    const auto &references = is_complex(dtype) ? kComplexReferences : kRealReferences;
    ASSERT_EQ(references.size(), all.size());
    const Operands operands(dtype);
    const double tolerance = 1000 * static_cast<double>(epsilonOf(real_of(dtype)));
    for (const auto &[name, f] : all) {
      SCOPED_TRACE(name + " of " + std::string(name_of(dtype)));
      ASSERT_TRUE(references.contains(name));
      const std::vector<Complex> &expected = references.at(name);
      const std::vector<Complex> found = cast(f(operands), DType::Complex128).to_vector<Complex>();
      ASSERT_EQ(found.size(), expected.size());
      double largest = 1;
      for (Complex x : expected)
        largest = std::max(largest, std::abs(x));
      for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_TRUE(found[i] == expected[i] || std::abs(found[i] - expected[i]) <= tolerance * largest)
            << i << ": " << found[i] << " instead of " << expected[i];
    }
  }
}
