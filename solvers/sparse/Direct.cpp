// Direct solutions by Eigen's sparse factorisations.
#include "absl/strings/str_cat.h"
#include "calque/call_site.h"
#include "calque/operation.h"
#include "calque/solvers/linear.h"
#include "implicit/Function.h"
#include "sparse/Pattern.h"

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

constexpr std::int32_t kSingular = 1, kNoMemory = 2, kFault = 3;

// Inputs: the values, the rows' beginnings and the columns of a matrix of sorted rows, int32; and b [n, k].
template <typename T, bool isSymmetric> std::int32_t solveAs(const KernelTensor *in, const KernelTensor *out) {
  using Matrix = Eigen::SparseMatrix<T, Eigen::RowMajor, std::int32_t>;
  using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Columns = Eigen::SparseMatrix<T, Eigen::ColMajor, std::int32_t>;
  const std::int64_t n = in[3].sizes[0], k = in[3].sizes[1];
  const Eigen::Map<const Matrix> rows(n, n, in[0].sizes[0], static_cast<const std::int32_t *>(in[1].data),
                                      static_cast<const std::int32_t *>(in[2].data),
                                      static_cast<const T *>(in[0].data));
  const Eigen::Map<const Dense> b(static_cast<const T *>(in[3].data), n, k);
  Eigen::Map<Dense> x(static_cast<T *>(out[0].data), n, k);
  const Columns matrix(rows);
  using Right = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>; // the factors solve by columns
  const Right right = b;
  std::conditional_t<isSymmetric, Eigen::SimplicialLDLT<Columns>, Eigen::SparseLU<Columns>> factors;
  factors.compute(matrix);
  if (factors.info() != Eigen::Success)
    return kSingular;
  const Right solved = factors.solve(right);
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
  auto make = [](const char *name, Kernel kernel) {
    return Operation({.name = name,
                      .types = [](const std::vector<TensorSpec<>> &in) { return std::vector<TensorSpec<>>{in[3]}; },
                      .kernel = kernel,
                      .failure = [](std::int32_t code) -> std::string {
                        if (code == kSingular)
                          return "sparse::solve: the matrix is singular, or has no factors of this kind";
                        return "sparse::solve: there is not enough memory for the factors of the matrix";
                      }});
  };
  static const Operation general = make("sparse_solve", solveKernel<false>);
  static const Operation symmetric = make("sparse_solve_symmetric", solveKernel<true>);
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
