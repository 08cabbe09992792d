#include "test/operations/LinalgResiduals.h"

namespace calque::testing {

//===-- Matrices --------------------------------------------------------------------------------===//
// Calls f with the C++ type of the elements. Matrices are read and made without operations, each of which would be
// compiled for each size.
template <typename F> static auto withElements(DType dtype, F &&f) {
  switch (dtype) {
  case DType::Float32:
    return f(std::type_identity<float>());
  case DType::Complex64:
    return f(std::type_identity<std::complex<float>>());
  case DType::Complex128:
    return f(std::type_identity<std::complex<double>>());
  default:
    return f(std::type_identity<double>());
  }
}

Dense Dense::of(const Tensor &x, std::int64_t index) {
  const Shape shape = x.shape();
  const std::int64_t rows = shape[1], columns = shape.size() > 2 ? std::int64_t(shape[2]) : 1;
  Dense made(rows, columns, is_complex(x.dtype()));
  withElements(x.dtype(), [&]<typename T>(std::type_identity<T>) {
    const T *first = x.data<T>() + index * rows * columns;
    for (std::size_t e = 0; e < made.re.size(); ++e) {
      made.re[e] = static_cast<double>(std::real(first[e]));
      if (made.isComplex)
        made.im[e] = static_cast<double>(std::imag(first[e]));
    }
  });
  return made;
}

Dense Dense::transposed() const {
  Dense made(columns, rows, isComplex);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      made.re[made.at(j, i)] = re[at(i, j)];
      if (isComplex)
        made.im[made.at(j, i)] = im[at(i, j)];
    }
  return made;
}
Dense Dense::adjoint() const {
  Dense made = transposed();
  for (double &x : made.im)
    x = -x;
  return made;
}

Dense Dense::operator*(const Dense &other) const {
  Dense made(rows, other.columns, isComplex || other.isComplex);
  auto add = [&](const std::vector<double> &a, const std::vector<double> &b, std::vector<double> &to, double sign) {
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t k = 0; k < columns; ++k) {
        const double factor = sign * a[at(i, k)];
        if (factor == 0)
          continue;
        const double *from = b.data() + k * other.columns;
        double *row = to.data() + i * made.columns;
        for (std::int64_t j = 0; j < other.columns; ++j)
          row[j] += factor * from[j];
      }
  };
  add(re, other.re, made.re, 1);
  if (isComplex && other.isComplex)
    add(im, other.im, made.re, -1);
  if (isComplex)
    add(im, other.re, made.im, 1);
  if (other.isComplex)
    add(re, other.im, made.im, 1);
  return made;
}

Dense Dense::operator-(const Dense &other) const {
  Dense made(rows, columns, isComplex || other.isComplex);
  for (std::size_t e = 0; e < re.size(); ++e)
    made.re[e] = re[e] - other.re[e];
  for (std::size_t e = 0; e < made.im.size(); ++e)
    made.im[e] = (isComplex ? im[e] : 0) - (other.isComplex ? other.im[e] : 0);
  return made;
}
Dense Dense::scaled(double factor) const {
  Dense made = *this;
  for (std::vector<double> *part : {&made.re, &made.im})
    for (double &x : *part)
      x *= factor;
  return made;
}
Dense Dense::column(std::int64_t j) const {
  Dense made(rows, 1, isComplex);
  for (std::int64_t i = 0; i < rows; ++i) {
    made.re[static_cast<std::size_t>(i)] = re[at(i, j)];
    if (isComplex)
      made.im[static_cast<std::size_t>(i)] = im[at(i, j)];
  }
  return made;
}
Dense Dense::identity(std::int64_t n) { return diagonal(std::vector<double>(static_cast<std::size_t>(n), 1), n, n); }
Dense Dense::diagonal(const std::vector<double> &values, std::int64_t rows, std::int64_t columns) {
  Dense made(rows, columns, false);
  for (std::int64_t i = 0; i < std::min(rows, columns); ++i)
    made.re[made.at(i, i)] = values[static_cast<std::size_t>(i)];
  return made;
}
double Dense::norm() const {
  std::vector<double> sums(static_cast<std::size_t>(columns));
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      sums[static_cast<std::size_t>(j)] += isComplex ? std::hypot(re[at(i, j)], im[at(i, j)]) : std::fabs(re[at(i, j)]);
  double largest = 0;
  for (double sum : sums)
    if (!(sum <= largest))
      largest = sum;
  return largest;
}

Tensor batchOf(const std::vector<Dense> &all, DType dtype) {
  const Shape shape{static_cast<std::int64_t>(all.size()), all[0].rows, all[0].columns};
  return withElements(dtype, [&]<typename T>(std::type_identity<T>) {
    std::vector<T> elements;
    for (const Dense &each : all)
      for (std::size_t e = 0; e < each.re.size(); ++e)
        if constexpr (std::is_floating_point_v<T>)
          elements.push_back(static_cast<T>(each.re[e]));
        else
          elements.emplace_back(static_cast<typename T::value_type>(each.re[e]),
                                static_cast<typename T::value_type>(each.isComplex ? each.im[e] : 0));
    return tensor(elements, shape);
  });
}
std::vector<Dense> rounded(const std::vector<Dense> &all, DType dtype) {
  const Tensor batch = batchOf(all, dtype);
  std::vector<Dense> made;
  for (std::size_t i = 0; i < all.size(); ++i)
    made.push_back(Dense::of(batch, static_cast<std::int64_t>(i)));
  return made;
}

Dense triangleOf(const Dense &a, bool lower, bool unit) {
  Dense made = a;
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < a.columns; ++j)
      if ((i == j && unit) || (lower ? j > i : j < i)) {
        made.re[made.at(i, j)] = i == j ? 1 : 0;
        if (a.isComplex)
          made.im[made.at(i, j)] = 0;
      }
  return made;
}

//===-- Types of matrices -----------------------------------------------------------------------===//
Precision::Precision(DType dtype) {
  const bool isSingle = dtype == DType::Float32 || dtype == DType::Complex64;
  const double least =
      isSingle ? double(std::numeric_limits<float>::min()) : double(std::numeric_limits<double>::min());
  ulp = isSingle ? double(std::numeric_limits<float>::epsilon()) : double(std::numeric_limits<double>::epsilon());
  eps = ulp / 2;
  small = least / eps / 4;
  large = 1 / small;
  rootSmall = std::sqrt(least) / ulp;
  rootLarge = std::sqrt(1 / least) * ulp;
  badCondition = double(0.1) / eps;
  condition = std::sqrt(badCondition);
}

std::vector<double> spread(Spread how, std::int64_t n, double condition, std::mt19937 &random) {
  std::vector<double> made(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    const double share = n > 1 ? static_cast<double>(i) / static_cast<double>(n - 1) : 0;
    double &x = made[static_cast<std::size_t>(i)];
    switch (how) {
    case Spread::Geometric:
      x = std::pow(condition, -share);
      break;
    case Spread::Arithmetic:
      x = 1 - share * (1 - 1 / condition);
      break;
    case Spread::Clustered:
      x = i == 0 ? 1 : 1 / condition;
      break;
    case Spread::Random:
      x = std::exp(std::uniform_real_distribution<double>(-std::log(static_cast<double>(condition)), 0)(random));
      break;
    }
  }
  return made;
}

namespace {

// A matrix of Haar's measure, by reflections along normal vectors. Stewart: The efficient generation of random
// orthogonal matrices, 1980; LAPACK's dlarge.
Dense randomUnitary(std::int64_t n, bool isComplex, std::mt19937 &random) {
  std::normal_distribution<double> normal;
  Dense made = Dense::identity(n);
  if (isComplex) {
    made.isComplex = true;
    made.im.assign(made.re.size(), 0);
  }
  for (std::int64_t k = n - 1; k >= 0; --k) {
    Dense v(n, 1, isComplex);
    double square = 0;
    for (std::int64_t i = k; i < n; ++i) {
      const auto e = static_cast<std::size_t>(i);
      v.re[e] = normal(random);
      if (isComplex)
        v.im[e] = normal(random);
      square += v.re[e] * v.re[e] + (isComplex ? v.im[e] * v.im[e] : 0);
    }
    made = made - (v * (v.adjoint() * made)).scaled(2 / square);
  }
  return made;
}

} // namespace

Matrices::Matrices(std::int64_t m, std::int64_t n, DType dtype, unsigned seed)
    : m(m), n(n), precision(dtype), isComplex(is_complex(dtype)), engine(seed + static_cast<unsigned>(1000 * m + n)),
      u(randomUnitary(m, isComplex, engine)), v(m == n && seed % 2 ? u : randomUnitary(n, isComplex, engine)) {}

Dense Matrices::general(const std::vector<double> &values, double norm) {
  Dense made = u * (Dense::diagonal(values, m, n) * v.adjoint());
  const double now = made.norm();
  return now > 0 && norm != 1 ? made.scaled(norm / now) : made;
}
Dense Matrices::hermitian(const std::vector<double> &values, double norm) {
  Dense made = u * (Dense::diagonal(values, m, m) * u.adjoint());
  for (std::int64_t i = 0; i < m; ++i) // exactly
    for (std::int64_t j = 0; j <= i; ++j) {
      made.re[made.at(j, i)] = made.re[made.at(i, j)];
      if (isComplex)
        made.im[made.at(j, i)] = i == j ? made.im[made.at(i, i)] = 0 : -made.im[made.at(i, j)];
    }
  const double now = made.norm();
  return now > 0 && norm != 1 ? made.scaled(norm / now) : made;
}
Dense Matrices::random(double norm) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  Dense made(m, n, isComplex);
  for (std::vector<double> *part : {&made.re, &made.im})
    for (double &x : *part)
      x = uniform(engine) * norm;
  return made;
}

//===-- Ratios ----------------------------------------------------------------------------------===//
void Ratios::add(const char *test, DType dtype, double residual, double scale, double threshold, std::int64_t n,
                 const std::string &of) {
  const double ratio = residual == 0 ? 0 : residual / scale;
  double &worst = worst_[test][dtype];
  if (!(ratio <= worst))
    worst = ratio;
  EXPECT_LT(ratio, threshold) << family_ << ", " << test << ", " << name_of(dtype) << ", size " << n << ", " << of;
}
Ratios::~Ratios() {
  for (const auto &[test, types] : worst_) {
    std::printf("%s: %s:", family_, test.c_str());
    for (const auto &[dtype, ratio] : types) {
      char text[32];
      std::snprintf(text, sizeof text, "%.2g", ratio);
      std::printf(" %s %s", std::string(name_of(dtype)).c_str(), text);
      ::testing::Test::RecordProperty(test + " " + std::string(name_of(dtype)), text);
    }
    std::printf("\n");
  }
}

} // namespace calque::testing
