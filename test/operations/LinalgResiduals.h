// LAPACK's own tests of residuals (TESTING/LIN and TESTING/EIG of LAPACK 3.12), for what <calque/linalg.h> computes:
// its types of matrices by its descriptions of them, its ratios and its thresholds. Residuals are computed in double.
#ifndef CALQUE_TEST_OPERATIONS_LINALGRESIDUALS_H
#define CALQUE_TEST_OPERATIONS_LINALGRESIDUALS_H

#include "test/operations/Linalg.h"

#include <complex>
#include <cstdio>
#include <map>

namespace calque::testing {

// A matrix in row-major order; the imaginary parts of a real one are left out.
struct Dense {
  std::int64_t rows = 0, columns = 0;
  bool isComplex = false;
  std::vector<double> re, im;

  Dense() = default;
  Dense(std::int64_t m, std::int64_t n, bool complex)
      : rows(m), columns(n), isComplex(complex), re(static_cast<std::size_t>(m * n)), im(complex ? re.size() : 0) {}
  std::size_t at(std::int64_t i, std::int64_t j) const { return static_cast<std::size_t>(i * columns + j); }
  // Matrix `index` of a batch, [count, m, n] or [count, m], of columns.
  static Dense of(const Tensor &x, std::int64_t index = 0);
  Dense adjoint() const;
  Dense transposed() const;
  Dense operator*(const Dense &other) const;
  Dense operator-(const Dense &other) const;
  Dense scaled(double factor) const;
  Dense column(std::int64_t j) const;
  static Dense identity(std::int64_t n);
  static Dense diagonal(const std::vector<double> &values, std::int64_t rows, std::int64_t columns);
  double norm() const; // the largest sum of magnitudes of a column; NaN if there is one
};
// A batch of matrices of one size, rounded.
Tensor batchOf(const std::vector<Dense> &all, DType dtype);
// The matrices as they are rounded.
std::vector<Dense> rounded(const std::vector<Dense> &all, DType dtype);

inline const std::vector<std::int64_t> kResidualSizes = {0, 1, 2, 3, 5, 10, 16, 17, 31, 32, 33, 50, 65, 100};
inline constexpr DType kAllTypes[] = {DType::Float32, DType::Float64, DType::Complex64, DType::Complex128};

// What LAPACK knows of a type: eps is half of the distance of numbers at 1, ulp all of it.
struct Precision {
  explicit Precision(DType dtype);
  double eps, ulp;
  double small, large;            // norms near underflow and overflow, of dlatb4
  double rootSmall, rootLarge;    // of the drivers of eigenproblems
  double badCondition, condition; // 0.1 / eps, and its root
};

// How singular values or eigenvalues are spread over [1 / condition, 1]: LAPACK's modes of dlatms.
enum class Spread { Geometric = 3, Arithmetic = 4, Clustered = 1, Random = 5 };
std::vector<double> spread(Spread how, std::int64_t n, double condition, std::mt19937 &random);

// Matrices of one size by random orthogonal or unitary factors, which are made once.
class Matrices {
public:
  Matrices(std::int64_t m, std::int64_t n, DType dtype, unsigned seed);
  // U diag(values) V^H, or U diag(values) U^H, which is Hermitian.
  Dense general(const std::vector<double> &values, double norm = 1);
  Dense hermitian(const std::vector<double> &values, double norm = 1);
  Dense random(double norm = 1); // elements between -1 and 1
  std::vector<double> values(Spread how, double condition) { return spread(how, std::min(m, n), condition, engine); }
  const Dense &unitary() const { return u; } // [m, m]

  const std::int64_t m, n;
  const Precision precision;
  const bool isComplex;
  std::mt19937 engine;

private:
  Dense u, v;
};

// The largest ratios of a family: one for each test and element type. Its destructor prints them and records them with
// the test.
class Ratios {
public:
  explicit Ratios(const char *family) : family_(family) {}
  ~Ratios();
  Ratios(const Ratios &) = delete;
  Ratios &operator=(const Ratios &) = delete;
  // Expects residual / scale below the threshold. A residual of 0 is 0 whatever the scale is.
  void add(const char *test, DType dtype, double residual, double scale, double threshold, std::int64_t n,
           const std::string &of);

private:
  const char *family_;
  std::map<std::string, std::map<DType, double>> worst_;
};

inline constexpr double kLinearThreshold = 30, kSpectralThreshold = 50, kNonsymmetricThreshold = 20;

// A^T, A^H or A of a triangle, with a diagonal of ones or its own.
Dense triangleOf(const Dense &a, bool lower, bool unit);

} // namespace calque::testing
#endif
