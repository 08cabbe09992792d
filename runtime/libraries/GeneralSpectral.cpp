// Eigenvalues and Schur factors of general matrices, and what is computed from them: Sylvester's equation, square roots
// and logarithms. All take LAPACK. float32 is computed in float64.
//
// A = Z T Z^T has a triangle T with blocks of 2 x 2 for pairs of complex eigenvalues. Roots and logarithms are those of
// the complex triangle that a rotation of each block makes: ComplexTriangles.h.
#include "runtime/libraries/Batches.h"
#include "runtime/libraries/ComplexTriangles.h"
#include "runtime/libraries/SquareMatrices.h"

#include <cmath>

using namespace calque::runtime;

namespace {

using Complex = ComplexMatrix::Number;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

bool isFinite(const double *x, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i)
    sum += x[i] * 0;
  return sum == 0;
}

// to[j, i] = from[i, j]
void transpose(const double *from, double *to, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      to[j * n + i] = from[i * n + j];
}

//===-- LAPACK's factors ------------------------------------------------------------------------===//

// Real Schur factors of a matrix in column-major order, which becomes T.
struct Schur {
  Schur(const Lapack<double> &lapack, double *a, int64_t n) : vectors(n * n), re(n), im(n) {
    const LapackInt size = lapackInt(n), query = -1;
    LapackInt info = 0, found = 0, unused = 0;
    double best = 0;
    if (n > kMostSmall)
      lapack.gees("V", "N", nullptr, &size, a, &size, &found, re.get(), im.get(), vectors.get(), &size, &best, &query,
                  &unused, &info, 1, 1);
    const auto words = static_cast<LapackInt>(std::max<int64_t>(static_cast<int64_t>(best), 3 * n));
    Scratch<double> space(words);
    lapack.gees("V", "N", nullptr, &size, a, &size, &found, re.get(), im.get(), vectors.get(), &size, space.get(),
                &words, &unused, &info, 1, 1);
    converges = info == 0;
  }
  Scratch<double> vectors; // Z, in column-major order
  Scratch<double> re, im;  // of the eigenvalues
  bool converges = false;
};

bool eigenpairs(const Lapack<double> &lapack, const double *a, int64_t n, double *re, double *im, double *vectorsRe,
                double *vectorsIm) {
  Scratch<double> turned(n * n), vectors(n * n);
  transpose(a, turned.get(), n);
  const LapackInt size = lapackInt(n), query = -1, one = 1;
  LapackInt info = 0;
  double best = 0, none = 0;
  if (n > kMostSmall) // a small one has no use for more, and asking takes as long as a matrix of 3 x 3
    lapack.geev("N", "V", &size, turned.get(), &size, re, im, &none, &one, vectors.get(), &size, &best, &query, &info,
                1, 1);
  const auto words = static_cast<LapackInt>(std::max<int64_t>(static_cast<int64_t>(best), 4 * n));
  Scratch<double> space(words);
  lapack.geev("N", "V", &size, turned.get(), &size, re, im, &none, &one, vectors.get(), &size, space.get(), &words,
              &info, 1, 1);
  // Of a pair of complex eigenvalues, one column has the real parts of both vectors and the next the imaginary ones.
  for (int64_t j = 0; j < n; ++j) {
    const bool isPair = im[j] != 0 && j + 1 < n;
    for (int64_t i = 0; i < n; ++i) {
      vectorsRe[i * n + j] = vectors[j * n + i];
      vectorsIm[i * n + j] = isPair ? vectors[(j + 1) * n + i] : 0;
      if (isPair) {
        vectorsRe[i * n + j + 1] = vectors[j * n + i];
        vectorsIm[i * n + j + 1] = -vectors[(j + 1) * n + i];
      }
    }
    j += isPair;
  }
  return info == 0;
}

//===-- Complex triangles -----------------------------------------------------------------------===//

// Factors A = Z T Z^H with a complex triangle.
struct ComplexSchur {
  explicit ComplexSchur(const Schur &real, const double *t, int64_t n) : t(n), z(n) {
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j) {
        this->t(i, j) = j + 1 >= i ? t[j * n + i] : 0;
        z(i, j) = real.vectors[j * n + i];
      }
    for (int64_t k = 0; k + 1 < n; ++k)
      if (real.im[k] > 0)
        rotate(k, Complex(real.re[k], real.im[k]));
      else if (real.im[k] == 0)
        this->t(k + 1, k) = 0;
  }
  ComplexMatrix t, z;

private:
  // Makes the block at k a triangle, by the eigenvector of one of its eigenvalues.
  void rotate(int64_t k, Complex eigenvalue) {
    const int64_t n = t.n;
    Complex x = eigenvalue - t(k + 1, k + 1);
    double y = t(k + 1, k).real();
    const double length = std::hypot(std::abs(x), y);
    x /= length;
    y /= length;
    for (int64_t j = k; j < n; ++j) {
      const Complex above = t(k, j), below = t(k + 1, j);
      t(k, j) = std::conj(x) * above + y * below;
      t(k + 1, j) = -y * above + x * below;
    }
    auto columns = [&](ComplexMatrix &m, int64_t rows) {
      for (int64_t i = 0; i < rows; ++i) {
        const Complex left = m(i, k), right = m(i, k + 1);
        m(i, k) = left * x + right * y;
        m(i, k + 1) = -left * y + right * std::conj(x);
      }
    };
    columns(t, k + 2);
    columns(z, n);
    t(k + 1, k) = 0;
    // What is known to be exact.
    t(k, k) = eigenvalue;
    t(k + 1, k + 1) = std::conj(eigenvalue);
  }
};

// The real part of Z F Z^H.
void turnBack(const SquareMatrices &matrices, const ComplexMatrix &f, const ComplexMatrix &z, double *result) {
  const int64_t n = f.n, elements = n * n;
  Scratch<double> memory(7 * elements);
  double *fRe = memory.get(), *fIm = fRe + elements, *zRe = fIm + elements, *zIm = zRe + elements,
         *left = zIm + elements, *right = left + elements, *turned = right + elements;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) {
      fRe[i * n + j] = f(i, j).real();
      fIm[i * n + j] = f(i, j).imag();
      zRe[i * n + j] = z(i, j).real();
      zIm[i * n + j] = z(i, j).imag();
    }
  auto add = [&](double *to, const double *x, double factor) {
    for (int64_t e = 0; e < elements; ++e)
      to[e] += factor * x[e];
  };
  // W = Z F; the result is W_re Z_re^T + W_im Z_im^T.
  matrices.multiply(zRe, fRe, left);
  matrices.multiply(zIm, fIm, right);
  add(left, right, -1);
  transpose(zRe, turned, n);
  matrices.multiply(left, turned, result);
  matrices.multiply(zRe, fIm, left);
  matrices.multiply(zIm, fRe, right);
  add(left, right, 1);
  transpose(zIm, turned, n);
  matrices.multiply(left, turned, right);
  add(result, right, 1);
}

//===-- Calls -----------------------------------------------------------------------------------===//

// The ways in which these kernels fail.
struct Failures {
  Failures(int64_t examples, int64_t size) : notConverged(examples, size), other(examples, size) {}
  FirstFailure notConverged, other;
};

// Runs body(example) on the threads, if LAPACK is there. `n`: the size that the error of its absence names.
template <typename Body>
void forMatrices(CalqueCallFrame *frame, int32_t missing, int64_t examples, int64_t n, Body &&body) {
  if (n == 0 || examples == 0)
    return;
  const Lapack<double> *lapack = requireLapack<double>(frame, missing, n, 0);
  if (!lapack)
    return;
  OneThread oneThread;
  parallelFor(examples, pieceOf(25 * n * n * n), [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k)
      body(*lapack, k);
  });
}

template <typename T> void widen(const T *from, double *to, int64_t count) { std::copy_n(from, count, to); }
template <typename T> void narrow(const double *from, T *to, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i] = static_cast<T>(from[i]);
}

// Calls compute(schur, function) for each matrix that has a real function of this kind: `compute` gives the function of
// the complex triangle.
template <typename Compute> void functionOfMatrices(const int64_t *words, bool ofZero, Compute &&compute) {
  KernelCall call(words);
  CalqueCallFrame *frame = call.frame();
  const int32_t notConverged = call.site(), notReal = call.site(), missing = call.site();
  const int64_t examples = call.number();
  const KernelTensor given = call.tensor(2), result = call.tensor(2);
  const int64_t n = given.sizes[0], elements = n * n;
  Failures failures(examples, n);
  dispatchFloat(given.dtype, [&]<typename T>(std::type_identity<T>) {
    forMatrices(frame, missing, examples, n, [&](const Lapack<double> &lapack, int64_t k) {
      Scratch<double> own(elements), turned(elements);
      widen(given.as<T>() + k * elements, own.get(), elements);
      if (!isFinite(own.get(), elements)) {
        std::fill_n(result.as<T>() + k * elements, elements, static_cast<T>(kNaN));
        return;
      }
      transpose(own.get(), turned.get(), n);
      const Schur schur(lapack, turned.get(), n);
      int64_t refused = 0, zeros = 0;
      for (int64_t i = 0; i < n; ++i) {
        refused += schur.im[i] == 0 && schur.re[i] < 0;
        zeros += schur.im[i] == 0 && schur.re[i] == 0 && !ofZero;
      }
      if (!schur.converges)
        failures.notConverged.note(k);
      else if (zeros || refused)
        failures.other.note(k, zeros ? zeros : refused, zeros > 0);
      if (!schur.converges || zeros || refused)
        return;
      const ComplexSchur factors(schur, turned.get(), n);
      turnBack(SquareMatrices(n), compute(factors.t), factors.z, own.get());
      narrow(own.get(), result.as<T>() + k * elements, elements);
    });
  });
  failures.notConverged.report(frame, notConverged);
  failures.other.report(frame, notReal);
}

} // namespace

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_eig(const int64_t *words) {
  KernelCall call(words);
  CalqueCallFrame *frame = call.frame();
  const int32_t notConverged = call.site(), missing = call.site();
  const int64_t examples = call.number();
  const KernelTensor given = call.tensor(2);
  const KernelTensor results[] = {call.tensor(1), call.tensor(1), call.tensor(2), call.tensor(2)};
  const int64_t n = given.sizes[0], elements = n * n;
  FirstFailure failure(examples, n);
  dispatchFloat(given.dtype, [&]<typename T>(std::type_identity<T>) {
    forMatrices(frame, missing, examples, n, [&](const Lapack<double> &lapack, int64_t k) {
      Scratch<double> own(elements), found(2 * (n + elements));
      widen(given.as<T>() + k * elements, own.get(), elements);
      double *re = found.get(), *im = re + n, *vectorsRe = im + n, *vectorsIm = vectorsRe + elements;
      if (!isFinite(own.get(), elements))
        std::fill_n(found.get(), 2 * (n + elements), kNaN);
      else if (!eigenpairs(lapack, own.get(), n, re, im, vectorsRe, vectorsIm))
        failure.note(k);
      narrow(re, results[0].as<T>() + k * n, n);
      narrow(im, results[1].as<T>() + k * n, n);
      narrow(vectorsRe, results[2].as<T>() + k * elements, elements);
      narrow(vectorsIm, results[3].as<T>() + k * elements, elements);
    });
  });
  failure.report(frame, notConverged);
}

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_schur(const int64_t *words) {
  KernelCall call(words);
  CalqueCallFrame *frame = call.frame();
  const int32_t notConverged = call.site(), missing = call.site();
  const int64_t examples = call.number();
  const KernelTensor given = call.tensor(2), t = call.tensor(2), z = call.tensor(2);
  const int64_t n = given.sizes[0], elements = n * n;
  FirstFailure failure(examples, n);
  dispatchFloat(given.dtype, [&]<typename T>(std::type_identity<T>) {
    forMatrices(frame, missing, examples, n, [&](const Lapack<double> &lapack, int64_t k) {
      Scratch<double> own(elements), turned(elements);
      widen(given.as<T>() + k * elements, own.get(), elements);
      if (!isFinite(own.get(), elements)) {
        std::fill_n(t.as<T>() + k * elements, elements, static_cast<T>(kNaN));
        std::fill_n(z.as<T>() + k * elements, elements, static_cast<T>(kNaN));
        return;
      }
      transpose(own.get(), turned.get(), n);
      const Schur schur(lapack, turned.get(), n);
      if (!schur.converges)
        failure.note(k);
      transpose(turned.get(), own.get(), n);
      narrow(own.get(), t.as<T>() + k * elements, elements);
      transpose(schur.vectors.get(), own.get(), n);
      narrow(own.get(), z.as<T>() + k * elements, elements);
    });
  });
  failure.report(frame, notConverged);
}

namespace {
// Whether eigenvalues of one matrix are those of the other one with the other sign, up to the rounding of triangles of
// this largest element. LAPACK asks for less than an eigenvalue is rounded by.
bool haveInCommon(const Schur &a, int64_t m, const Schur &b, int64_t n, double largest) {
  const double least = 4 * std::numeric_limits<double>::epsilon() * std::sqrt(static_cast<double>(m + n)) * largest;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      if (std::fabs(a.re[i] + b.re[j]) + std::fabs(a.im[i] + b.im[j]) <= least)
        return true;
  return false;
}
double largestOf(const double *x, int64_t count) {
  double largest = 0;
  for (int64_t e = 0; e < count; ++e)
    largest = std::max(largest, std::fabs(x[e]));
  return largest;
}
} // namespace

// In column-major order the equation is that of the transposed matrices: B^T X^T + X^T A^T = C^T.
extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_sylvester(const int64_t *words) {
  KernelCall call(words);
  CalqueCallFrame *frame = call.frame();
  const int32_t notConverged = call.site(), notSingle = call.site(), missing = call.site();
  const int64_t examples = call.number();
  const KernelTensor a = call.tensor(2), b = call.tensor(2), c = call.tensor(2), result = call.tensor(2);
  const int64_t n = a.sizes[0], m = b.sizes[0];
  Failures failures(examples, n);
  dispatchFloat(a.dtype, [&]<typename T>(std::type_identity<T>) {
    forMatrices(frame, missing, examples, n && m ? std::max(n, m) : 0, [&](const Lapack<double> &lapack, int64_t k) {
      Scratch<double> right(n * n), left(m * m), x(m * n), product(m * n);
      widen(a.as<T>() + k * n * n, right.get(), n * n);
      widen(b.as<T>() + k * m * m, left.get(), m * m);
      widen(c.as<T>() + k * n * m, x.get(), n * m);
      T *to = result.as<T>() + k * n * m;
      if (!isFinite(right.get(), n * n) || !isFinite(left.get(), m * m) || !isFinite(x.get(), n * m)) {
        std::fill_n(to, n * m, static_cast<T>(kNaN));
        return;
      }
      const Schur ofLeft(lapack, left.get(), m), ofRight(lapack, right.get(), n);
      const LapackInt rows = lapackInt(m), columns = lapackInt(n), plus = 1;
      const double one = 1, zero = 0, *u = ofLeft.vectors.get(), *v = ofRight.vectors.get();
      // U^T C V, the solution of triangles, and U Y V^T.
      auto between = [&](const char *first, const char *second) {
        lapack.gemm(first, "N", &rows, &columns, &rows, &one, u, &rows, x.get(), &rows, &zero, product.get(), &rows, 1,
                    1);
        lapack.gemm("N", second, &rows, &columns, &columns, &one, product.get(), &rows, v, &columns, &zero, x.get(),
                    &rows, 1, 1);
      };
      between("T", "N");
      double scale = 1;
      LapackInt info = 0;
      lapack.trsyl("N", "N", &plus, &rows, &columns, left.get(), &rows, right.get(), &columns, x.get(), &rows, &scale,
                   &info, 1, 1);
      between("N", "T");
      if (!ofLeft.converges || !ofRight.converges)
        failures.notConverged.note(k);
      else if (info != 0 || haveInCommon(ofLeft, m, ofRight, n,
                                         std::max(largestOf(left.get(), m * m), largestOf(right.get(), n * n))))
        failures.other.note(k);
      for (int64_t i = 0; i < n * m; ++i)
        to[i] = static_cast<T>(x[i] / scale);
    });
  });
  failures.notConverged.report(frame, notConverged);
  failures.other.report(frame, notSingle);
}

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_sqrtm(const int64_t *words) {
  functionOfMatrices(words, true, rootOfTriangle);
}

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_logm(const int64_t *words) {
  functionOfMatrices(words, false, logarithmOfTriangle);
}
