#include "benchmarks/linalg/Peers.h"

#if CALQUE_HAS_EIGEN
#include <Eigen/Cholesky>
#include <Eigen/Dense>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <unsupported/Eigen/MatrixFunctions>
#endif

namespace calque::benchmarks::peers {

#if CALQUE_HAS_EIGEN
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <int N> using Fixed = Eigen::Matrix<double, N, N, N == Eigen::Dynamic ? Eigen::ColMajor : Eigen::RowMajor>;

// These would take minutes to compile for each size.
double ofAnySize(Task task, const Eigen::MatrixXd &a, Eigen::MatrixXd &out) {
  if (task == Task::Eig) {
    Eigen::EigenSolver<Eigen::MatrixXd> solver(a);
    out = solver.eigenvectors().real();
    return solver.eigenvalues().cwiseAbs2().sum();
  }
  if (task == Task::Expm) {
    out = a.exp();
    return out.trace();
  }
  Eigen::BDCSVD<Eigen::MatrixXd> svd(a, Eigen::ComputeThinU | Eigen::ComputeThinV); // Jacobi's below 16 columns
  out = svd.matrixU();
  return svd.singularValues().sum();
}

// What a factorisation gives is written to memory, as every system does, and one number of it is returned.
template <int N> double one(Task task, const Fixed<N> &a, Fixed<N> &out, Eigen::Matrix<double, N, 1> &values) {
  const int n = static_cast<int>(a.rows());
  switch (task) {
  case Task::Cholesky:
    out = a.llt().matrixL();
    return out(n - 1, n - 1);
  case Task::Solve:
    values = a.partialPivLu().solve(Eigen::Matrix<double, N, 1>::Ones(n));
    return values.sum();
  case Task::Inverse:
    out = a.inverse();
    return out.trace();
  case Task::Lu:
    out = a.partialPivLu().matrixLU();
    return out(n - 1, n - 1);
  case Task::Qr: {
    Eigen::HouseholderQR<Fixed<N>> qr(a);
    out = qr.householderQ() * Fixed<N>::Identity(n, n);
    return std::abs(qr.matrixQR()(n - 1, n - 1));
  }
  case Task::Eigh: {
    Eigen::SelfAdjointEigenSolver<Fixed<N>> solver(a);
    out = solver.eigenvectors();
    values = solver.eigenvalues();
    return values.squaredNorm();
  }
  case Task::Eig:
  case Task::Svd:
  case Task::Expm:
    if constexpr (N == Eigen::Dynamic)
      return ofAnySize(task, a, out);
  }
  return 0;
}
template <int N> double all(Task task, const std::vector<double> &matrices, std::int64_t count, int n) {
  Fixed<N> a(n, n), out(n, n);
  Eigen::Matrix<double, N, 1> values(n);
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    a = Eigen::Map<const Matrix>(matrices.data() + i * n * n, n, n);
    sum += one<N>(task, a, out, values);
  }
  return sum;
}

} // namespace

std::function<double()> eigen(Task task, std::vector<double> matrices, std::int64_t count, int n) {
  const bool hasSizes = task != Task::Eig && task != Task::Svd && task != Task::Expm;
  return [=] {
    switch (hasSizes ? n : 0) {
    case 3:
      return all<3>(task, matrices, count, n);
    case 6:
      return all<6>(task, matrices, count, n);
    case 12:
      return all<12>(task, matrices, count, n);
    default:
      return all<Eigen::Dynamic>(task, matrices, count, n);
    }
  };
}
#else
std::function<double()> eigen(Task, std::vector<double>, std::int64_t, int) { return nullptr; }
#endif

} // namespace calque::benchmarks::peers
