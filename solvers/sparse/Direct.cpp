// Direct solutions by Eigen's sparse factorisations.
#include "absl/strings/str_cat.h"
#include "calque/call_site.h"
#include "calque/operation.h"
#include "calque/solvers/linear.h"
#include "implicit/Function.h"
#include "sparse/Examples.h"
#include "sparse/Pattern.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#if CALQUE_HAS_EIGEN
#define EIGEN_MPL2_ONLY
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/SparseCholesky>
#include <Eigen/SparseLU>
#endif

namespace calque::sparse {

using namespace solvers::internal;
using namespace sparse::internal;

#if CALQUE_HAS_EIGEN
namespace {

constexpr std::int32_t kSingular = 1, kNotSymmetric = 2, kInexact = 3, kNoMemory = 4, kFault = 5, kTooWide = 6;

// A matrix of sorted rows.
template <typename T> using RowsMap = Eigen::Map<const Eigen::SparseMatrix<T, Eigen::RowMajor, std::int32_t>>;
template <typename T> using DenseColumns = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
constexpr double kInfinite = std::numeric_limits<double>::infinity();
using DenseOfDouble = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic>;

// Whether the triangles are equal but for what the rounding of sums leaves of numbers as large as the largest ones of
// a row.
template <typename T> bool isNearlySymmetric(const RowsMap<T> &a) {
  const T tolerance = 1024 * std::numeric_limits<T>::epsilon();
  const T *values = a.valuePtr();
  const std::int32_t *begins = a.outerIndexPtr(), *columns = a.innerIndexPtr();
  std::vector<T> largest(static_cast<std::size_t>(a.rows()));
  for (std::int64_t i = 0; i < a.rows(); ++i)
    for (std::int32_t p = begins[i]; p < begins[i + 1]; ++p)
      largest[static_cast<std::size_t>(i)] = std::max(largest[static_cast<std::size_t>(i)], std::fabs(values[p]));
  for (std::int32_t i = 0; i < a.rows(); ++i)
    for (std::int32_t p = begins[i]; p < begins[i + 1]; ++p) {
      const std::int32_t j = columns[p], *end = columns + begins[j + 1],
                         *found = std::lower_bound(columns + begins[j], end, i);
      const T other = found != end && *found == i ? values[found - columns] : T(0);
      if (std::fabs(values[p] - other) >
          tolerance * std::max(largest[static_cast<std::size_t>(i)], largest[static_cast<std::size_t>(j)]))
        return false;
    }
  return true;
}

// B - A X, and the largest element of it over what its row may make of X and B, which is a number of the least size or
// more: the backward error. Columns of B or X with infinities or NaN, which nobody takes for a solution, have none.
template <typename T>
double residualOf(const RowsMap<T> &a, const DenseColumns<T> &b, const DenseColumns<T> &x, DenseOfDouble &residual) {
  const T *values = a.valuePtr();
  const std::int32_t *begins = a.outerIndexPtr(), *columns = a.innerIndexPtr();
  const auto least = static_cast<double>(std::numeric_limits<T>::min());
  double largest = 0;
  for (std::int64_t c = 0; c < b.cols(); ++c) {
    if (!b.col(c).allFinite() || !x.col(c).allFinite()) {
      residual.col(c).setZero();
      continue;
    }
    const double size = static_cast<double>(x.col(c).cwiseAbs().maxCoeff());
    for (std::int64_t i = 0; i < a.rows(); ++i) {
      double rest = static_cast<double>(b(i, c)), sum = 0;
      for (std::int32_t p = begins[i]; p < begins[i + 1]; ++p) {
        rest -= static_cast<double>(values[p]) * static_cast<double>(x(columns[p], c));
        sum += std::fabs(static_cast<double>(values[p]));
      }
      residual(i, c) = rest;
      const double whole = sum * size + std::fabs(static_cast<double>(b(i, c))) + (sum + 1) * least;
      largest = std::isfinite(rest) ? std::max(largest, std::fabs(rest) / whole) : kInfinite;
    }
  }
  return largest;
}

//===-- Scales --------------------------------------------------------------------------------------===//

// The least e with |x| < 2^e, or the least number of all for 0, infinities and NaN.
constexpr int kNoExponent = std::numeric_limits<int>::min();
template <typename T> int exponentOf(T x) {
  if (x == 0 || !std::isfinite(x))
    return kNoExponent;
  int exponent = 0;
  std::frexp(x, &exponent);
  return exponent;
}

// Powers of two for rows and columns, with which the largest element of each is near 1: neither the factors nor their
// products with right-hand sides leave the range of T where the solution does not. A symmetric matrix stays so.
struct Scales {
  std::vector<int> rows, columns;
};
template <typename T, bool isSymmetric> Scales scalesOf(const RowsMap<T> &a) {
  const T *values = a.valuePtr();
  const std::int32_t *begins = a.outerIndexPtr(), *columns = a.innerIndexPtr();
  const auto n = static_cast<std::size_t>(a.rows());
  Scales scales{std::vector<int>(n, 0), std::vector<int>(n, 0)};
  auto largestOf = [&](bool ofRows) {
    std::vector<int> largest(n, kNoExponent);
    for (std::size_t i = 0; i < n; ++i)
      for (std::int32_t p = begins[i]; p < begins[i + 1]; ++p) {
        const auto j = static_cast<std::size_t>(columns[p]);
        if (const int exponent = exponentOf(values[p]); exponent != kNoExponent) {
          int &most = largest[ofRows ? i : j];
          most = std::max(most, exponent + scales.rows[i] + scales.columns[j]);
        }
      }
    return largest;
  };
  // A symmetric matrix takes half of the exponent on each side, so that it needs some passes (Ruiz: A scaling algorithm
  // to equilibrate both rows and columns norms in matrices, 2001).
  constexpr int kPasses = 5;
  if constexpr (isSymmetric) {
    for (int pass = 0; pass < kPasses; ++pass) {
      const std::vector<int> largest = largestOf(true);
      for (std::size_t i = 0; i < n; ++i)
        if (largest[i] != kNoExponent)
          scales.rows[i] -= largest[i] / 2;
      scales.columns = scales.rows;
    }
  } else {
    for (const bool ofRows : {true, false}) {
      const std::vector<int> largest = largestOf(ofRows);
      for (std::size_t i = 0; i < n; ++i)
        if (largest[i] != kNoExponent)
          (ofRows ? scales.rows : scales.columns)[i] -= largest[i];
    }
  }
  return scales;
}

//===-- Solutions -----------------------------------------------------------------------------------===//

template <typename T, bool isSymmetric> class Solver {
public:
  // The tables are those of a matrix of sorted rows with `count` places.
  Solver(std::int64_t n, std::int64_t count, const std::int32_t *begins, const std::int32_t *columns)
      : n_(n), count_(count), begins_(begins), columns_(columns), scaled_(static_cast<std::size_t>(count)) {}

  // Factors the matrix of these values. Examples have one pattern, which is analysed once.
  std::int32_t factor(const T *values) {
    isFinite_ = std::all_of(values, values + count_, [](T value) { return std::isfinite(value); });
    if (!isFinite_)
      return 0;
    const RowsMap<T> rows(n_, n_, count_, begins_, columns_, values);
    if (isSymmetric && !isNearlySymmetric<T>(rows))
      return kNotSymmetric;
    scales_ = scalesOf<T, isSymmetric>(rows);
    for (std::size_t i = 0; i < static_cast<std::size_t>(n_); ++i)
      for (std::int32_t p = begins_[i]; p < begins_[i + 1]; ++p)
        scaled_[static_cast<std::size_t>(p)] =
            std::ldexp(values[p], scales_.rows[i] + scales_.columns[static_cast<std::size_t>(columns_[p])]);
    matrix_ = Columns(scaled());
    if (!isAnalysed_)
      factors_.analyzePattern(matrix_);
    isAnalysed_ = true;
    factors_.factorize(matrix_);
    return factors_.info() == Eigen::Success ? 0 : kSingular;
  }

  // Solves for b, [n, k], row by row.
  std::int32_t solve(const T *given, std::int64_t k, T *result) {
    const Eigen::Map<const InRows> b(given, n_, k);
    Eigen::Map<InRows> x(result, n_, k);
    if (!isFinite_) {
      x.setConstant(std::numeric_limits<T>::quiet_NaN());
      return 0;
    }
    // A right-hand side is scaled as the rows, and to elements of at most 1; or of more where small ones would vanish,
    // which may be all that other unknowns depend on.
    using Limits = std::numeric_limits<T>;
    constexpr int kMostExponent = Limits::max_exponent - 24;
    std::vector<int> sizes(static_cast<std::size_t>(k), 0);
    DenseColumns<T> right(n_, k);
    for (std::int64_t c = 0; c < k; ++c) {
      int largest = kNoExponent, least = std::numeric_limits<int>::max();
      for (std::int64_t i = 0; i < n_; ++i)
        if (const int exponent = exponentOf(b(i, c)); exponent != kNoExponent) {
          largest = std::max(largest, exponent + rowScale(i));
          least = std::min(least, exponent + rowScale(i));
        }
      int &size = sizes[static_cast<std::size_t>(c)];
      if (largest != kNoExponent) {
        size = largest - std::clamp(Limits::min_exponent - (least - largest), 0, kMostExponent);
        if (least - size < Limits::min_exponent)
          return kTooWide;
      }
      for (std::int64_t i = 0; i < n_; ++i)
        right(i, c) = std::ldexp(b(i, c), rowScale(i) - size);
    }
    DenseColumns<T> solved = factors_.solve(right);
    if (!correct(right, solved))
      return kInexact;
    for (std::int64_t i = 0; i < n_; ++i)
      for (std::int64_t c = 0; c < k; ++c)
        x(i, c) =
            std::ldexp(solved(i, c), scales_.columns[static_cast<std::size_t>(i)] + sizes[static_cast<std::size_t>(c)]);
    return 0;
  }

private:
  using InRows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Columns = Eigen::SparseMatrix<T, Eigen::ColMajor, std::int32_t>;

  int rowScale(std::int64_t i) const { return scales_.rows[static_cast<std::size_t>(i)]; }
  RowsMap<T> scaled() const { return RowsMap<T>(n_, n_, count_, begins_, columns_, scaled_.data()); }

  // Makes the residual small, by corrections. False where it stays large.
  bool correct(const DenseColumns<T> &right, DenseColumns<T> &solved) {
    // Corrections double the digits at most; a residual that does not become smaller will not.
    constexpr int kMostCorrections = 8;
    const double accepted = 256 * static_cast<double>(std::numeric_limits<T>::epsilon());
    DenseOfDouble residual(n_, right.cols());
    double error = residualOf<T>(scaled(), right, solved, residual);
    for (int i = 0; i < kMostCorrections && error > accepted; ++i) {
      const DenseColumns<T> rest = residual.cast<T>(), correction = factors_.solve(rest), next = solved + correction;
      const double nextError = residualOf<T>(scaled(), right, next, residual);
      if (!next.allFinite() || !(nextError < error))
        break;
      solved = next;
      error = nextError;
    }
    return error <= accepted;
  }

  std::int64_t n_, count_;
  const std::int32_t *begins_, *columns_;
  std::vector<T> scaled_; // the values
  Scales scales_;
  bool isFinite_ = false, isAnalysed_ = false;
  Columns matrix_;
  std::conditional_t<isSymmetric, Eigen::SimplicialLDLT<Columns>, Eigen::SparseLU<Columns>> factors_;
};

// Inputs: values [...,nnz], the rows' beginnings and the columns of a matrix of sorted rows, int32; and b [...,n,k].
// Axes before these are examples.
template <typename T, bool isSymmetric> std::int32_t solveAs(const KernelTensor *in, const KernelTensor *out) {
  const Examples examples({{in[0], 1}, {in[3], 2}});
  const std::int64_t n = in[3].sizes[in[3].rank - 2], k = in[3].sizes[in[3].rank - 1],
                     count = in[0].sizes[in[0].rank - 1];
  Solver<T, isSymmetric> solver(n, count, static_cast<const std::int32_t *>(in[1].data),
                                static_cast<const std::int32_t *>(in[2].data));
  std::int64_t factored = -1;
  for (std::int64_t e = 0; e < examples.count(); ++e) {
    if (const std::int64_t of = examples.of(0, e); of != factored) {
      if (const std::int32_t code = solver.factor(static_cast<const T *>(in[0].data) + of * count))
        return code;
      factored = of;
    }
    if (const std::int32_t code = solver.solve(static_cast<const T *>(in[3].data) + examples.of(1, e) * n * k, k,
                                               static_cast<T *>(out[0].data) + e * n * k))
      return code;
  }
  return 0;
}

template <bool isSymmetric> std::int32_t solveKernel(const KernelTensor *in, const KernelTensor *out, void *) {
  if (out[0].data == nullptr) // no elements
    return 0;
  try {
    return in[0].dtype == DType::Float32 ? solveAs<float, isSymmetric>(in, out) : solveAs<double, isSymmetric>(in, out);
  } catch (const std::bad_alloc &) {
    return kNoMemory;
  } catch (...) {
    return kFault;
  }
}

const Operation &operationFor(bool isSymmetric) {
  auto make = [](const char *name, bool isSymmetric, const char *inexact) {
    return Operation({.name = name,
                      .types = typesOfSolution,
                      .kernel = isSymmetric ? solveKernel<true> : solveKernel<false>,
                      .batching =
                          [isSymmetric](const std::vector<Tensor> &in, const std::vector<bool> &batched) {
                            return mapped(operationFor(isSymmetric), in, batched);
                          },
                      .failure = [inexact](std::int32_t code) -> std::string {
                        if (code == kSingular)
                          return "sparse::solve: the matrix is singular, or has no factors of this kind";
                        if (code == kNotSymmetric)
                          return "sparse::solve: the matrix is not symmetric, as .symmetric says that it is";
                        if (code == kInexact)
                          return inexact;
                        if (code == kTooWide)
                          return "sparse::solve: numbers of the right-hand side, over the largest ones in their rows "
                                 "of the matrix, are too far apart for the element type";
                        return "sparse::solve: there is not enough memory for the factors of the matrix";
                      }});
  };
  static const Operation general =
      make("sparse_solve", false,
           "sparse::solve: the factors of the matrix are too inexact for a solution, whose residual is large");
  static const Operation symmetric =
      make("sparse_solve_symmetric", true,
           "sparse::solve: a pivot of the factors L D L^T is too small for a solution; leave out .symmetric");
  return isSymmetric ? symmetric : general;
}

// The solution with constant values.
Tensor solveWith(const Pattern &pattern, const Tensor &values, const Tensor &b, bool isSymmetric,
                 SourceLocation where) {
  const CallSite site(where, "sparse::solve"); // customLinearSolve calls this as code of the user
  const auto &indptr = pattern.indptr();
  const Tensor begins = detail::toTensor(indptr, {static_cast<std::int64_t>(indptr.size())});
  const Tensor right = b.rank() == 2 ? b : expand_dims(b, {1});
  const Tensor x = operationFor(isSymmetric)({values, begins, pattern.data().columnOf, right})[0];
  return b.rank() == 2 ? x : reshape(x, b.shape());
}

} // namespace
#endif

Tensor solve(const Csr &a, const Operand &right, SolveOptions options) {
  CallSite site(right.where(), "sparse::solve");
  const Tensor b = right.toTensor(a.values().dtype());
  const Pattern &pattern = a.pattern();
  if (b.dtype() != a.values().dtype())
    fail<DTypeError>(absl::StrCat("sparse::solve: the values are ", describe(a.values()), " and b is ", describe(b),
                                  "; they must have one element type"));
  if (pattern.rows() != pattern.columns() || (b.rank() != 1 && b.rank() != 2) || !b.shape()[0].is_known() ||
      b.shape()[0] != pattern.rows() || !b.size().is_known())
    fail<ShapeError>(absl::StrCat("sparse::solve: the matrix is [", pattern.rows(), ",", pattern.columns(), "] and b ",
                                  describe(b), "; they must be [n,n] and [n] or [n,k], of known sizes"));
#if CALQUE_HAS_EIGEN
  const Csr turned = options.symmetric ? a : a.transposed();
  const Tensor values = stop_gradient(a.values()), turnedValues = stop_gradient(turned.values());
  return solvers::detail::customLinearSolve(
      a, b,
      [&](const Map &, const Tensor &c) { return solveWith(pattern, values, c, options.symmetric, right.where()); },
      options.symmetric
          ? solvers::detail::LinearSolve()
          : [&](const Map &,
                const Tensor &c) { return solveWith(turned.pattern(), turnedValues, c, false, right.where()); },
      options.symmetric, right.where());
#else
  (void)options;
  fail<StateError>("sparse::solve: this library was built without Eigen (libeigen3-dev)");
#endif
}

} // namespace calque::sparse
