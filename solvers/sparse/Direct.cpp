// Direct solutions by Eigen's sparse factorisations.
#include "absl/strings/str_cat.h"
#include "calque/call_site.h"
#include "calque/operation.h"
#include "calque/solvers/linear.h"
#include "implicit/Function.h"
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

#if CALQUE_HAS_EIGEN
namespace {

constexpr std::int32_t kSingular = 1, kNotSymmetric = 2, kInexact = 3, kNoMemory = 4, kFault = 5;

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

// Inputs: the values, the rows' beginnings and the columns of a matrix of sorted rows, int32; and b [n, k].
template <typename T, bool isSymmetric> std::int32_t solveAs(const KernelTensor *in, const KernelTensor *out) {
  using InRows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Columns = Eigen::SparseMatrix<T, Eigen::ColMajor, std::int32_t>;
  const std::int64_t n = in[3].sizes[0], k = in[3].sizes[1], count = in[0].sizes[0];
  const auto *values = static_cast<const T *>(in[0].data);
  const RowsMap<T> rows(n, n, count, static_cast<const std::int32_t *>(in[1].data),
                        static_cast<const std::int32_t *>(in[2].data), values);
  const Eigen::Map<const InRows> b(static_cast<const T *>(in[3].data), n, k);
  Eigen::Map<InRows> x(static_cast<T *>(out[0].data), n, k);
  if (std::any_of(values, values + count, [](T value) { return !std::isfinite(value); })) {
    x.setConstant(std::numeric_limits<T>::quiet_NaN());
    return 0;
  }
  if (isSymmetric && !isNearlySymmetric<T>(rows))
    return kNotSymmetric;
  const Columns matrix(rows);
  const DenseColumns<T> right = b;
  std::conditional_t<isSymmetric, Eigen::SimplicialLDLT<Columns>, Eigen::SparseLU<Columns>> factors;
  factors.compute(matrix);
  if (factors.info() != Eigen::Success)
    return kSingular;
  DenseColumns<T> solved = factors.solve(right);
  // Corrections double the digits at most; a residual that does not become smaller will not.
  constexpr int kMostCorrections = 8;
  const double accepted = 256 * static_cast<double>(std::numeric_limits<T>::epsilon());
  DenseOfDouble residual(n, k);
  double error = residualOf<T>(rows, right, solved, residual);
  for (int i = 0; i < kMostCorrections && error > accepted; ++i) {
    const DenseColumns<T> rest = residual.cast<T>(), correction = factors.solve(rest), corrected = solved + correction;
    const double next = residualOf<T>(rows, right, corrected, residual);
    if (!corrected.allFinite() || !(next < error))
      break;
    solved = corrected;
    error = next;
  }
  if (!(error <= accepted))
    return kInexact;
  x = solved;
  return 0;
}

template <bool isSymmetric> std::int32_t solveKernel(const KernelTensor *in, const KernelTensor *out, void *) {
  if (in[3].sizes[0] == 0 || in[3].sizes[1] == 0)
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
  auto make = [](const char *name, Kernel kernel, const char *inexact) {
    return Operation({.name = name,
                      .types = [](const std::vector<TensorSpec<>> &in) { return std::vector<TensorSpec<>>{in[3]}; },
                      .kernel = kernel,
                      .failure = [inexact](std::int32_t code) -> std::string {
                        if (code == kSingular)
                          return "sparse::solve: the matrix is singular, or has no factors of this kind";
                        if (code == kNotSymmetric)
                          return "sparse::solve: the matrix is not symmetric, as .symmetric says that it is";
                        if (code == kInexact)
                          return inexact;
                        return "sparse::solve: there is not enough memory for the factors of the matrix";
                      }});
  };
  static const Operation general =
      make("sparse_solve", solveKernel<false>,
           "sparse::solve: the factors of the matrix are too inexact for a solution, whose residual is large");
  static const Operation symmetric =
      make("sparse_solve_symmetric", solveKernel<true>,
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
