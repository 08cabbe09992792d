// Eigenvalues and Schur factors of general complex matrices, Sylvester's equation, square roots and logarithms. All
// take LAPACK, and are computed in float64.
#include "runtime/libraries/ComplexMatrices.h"
#include "runtime/libraries/ComplexTriangles.h"

using namespace calque::runtime;

namespace {

using Complex = ComplexMatrix::Number;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kOperations = 4;

//===-- Matrices as LAPACK has them -------------------------------------------------------------===//

// A row-major matrix [rows, columns] of parts as one in column-major order.
template <typename T> void joinColumns(PartsOf<const T> from, Complex *to, int64_t rows, int64_t columns) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      to[j * rows + i] = {static_cast<double>(from.re[i * columns + j]), static_cast<double>(from.im[i * columns + j])};
}
// A square one back to row-major parts.
template <typename T> void turnApart(const Complex *from, PartsOf<T> to, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) {
      to.re[i * n + j] = static_cast<T>(from[j * n + i].real());
      to.im[i * n + j] = static_cast<T>(from[j * n + i].imag());
    }
}

// Runs body(lapack, example) on the threads, if LAPACK is there. `n`: the size that the error of its absence names.
template <typename Body>
void forExamples(CalqueCallFrame *frame, int32_t missing, int64_t examples, int64_t n, Body &&body) {
  if (n == 0 || examples == 0)
    return;
  const auto *lapack = requireLapack<Complex>(frame, missing, n, 0);
  if (!lapack)
    return;
  OneThread oneThread;
  parallelFor(examples, pieceOf(25 * kOperations * n * n * n), [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k)
      body(*lapack, k);
  });
}

// Runs body(lapack, example, matrix) with the matrix in column-major order, or without one where it is not finite: then
// the results of all are NaN.
template <typename T, typename Body>
void forGeneral(KernelParts given, int64_t examples, CalqueCallFrame *frame, int32_t missing, Body &&body) {
  const int64_t n = given.size(0), elements = n * n;
  forExamples(frame, missing, examples, n, [&](const auto &lapack, int64_t k) {
    const PartsOf<const T> own = partsAt(given.as<const T>(), k * elements);
    if (!areFinite(own, elements))
      return body(lapack, k, static_cast<Complex *>(nullptr));
    Scratch<Complex> turned(elements);
    joinColumns(own, turned.get(), n, n);
    body(lapack, k, turned.get());
  });
}

LapackInt workOf(Complex best, int64_t least) {
  return static_cast<LapackInt>(std::max<int64_t>(static_cast<int64_t>(best.real()), least));
}

// Schur factors A = Z T Z^H of a matrix in column-major order, which becomes T.
struct Schur {
  Schur(const Lapack<Complex> &lapack, Complex *a, int64_t n) : vectors(n * n), values(n) {
    const LapackInt size = lapackInt(n);
    LapackInt info = 0, selected = 0;
    Scratch<double> reals(n);
    Scratch<LapackInt> flags(n);
    auto gees = [&](Complex *space, LapackInt count) {
      lapack.gees("V", "N", nullptr, &size, a, &size, &selected, values.get(), vectors.get(), &size, space, &count,
                  reals.get(), flags.get(), &info, 1, 1);
    };
    // Small matrices are not worked on in blocks, and the question for the best size takes as long as the answer.
    Complex best = 0;
    if (n > kMostSmall)
      gees(&best, -1);
    const LapackInt count = workOf(best, 2 * n);
    Scratch<Complex> space(count);
    gees(space.get(), count);
    converges = info == 0;
    // Below the diagonal are zeros.
    for (int64_t j = 0; j < n; ++j)
      std::fill_n(a + j * n + j + 1, n - j - 1, Complex());
  }
  Scratch<Complex> vectors; // Z, in column-major order
  Scratch<Complex> values;
  bool converges = false;
};

//===-- Functions of matrices -------------------------------------------------------------------===//

// Z F Z^H, in column-major order in place of `to`.
void turnBack(const Lapack<Complex> &lapack, const ComplexMatrix &f, const Complex *z, Complex *to) {
  const int64_t n = f.n;
  const LapackInt size = lapackInt(n);
  const Complex one = 1, zero = 0;
  Scratch<Complex> product(n * n);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      to[j * n + i] = f(i, j);
  lapack.gemm("N", "N", &size, &size, &size, &one, z, &size, to, &size, &zero, product.get(), &size, 1, 1);
  lapack.gemm("N", "C", &size, &size, &size, &one, product.get(), &size, z, &size, &zero, to, &size, 1, 1);
}

// compute(triangle) is the function of a triangle. `noLogarithm` is the site of matrices that have an eigenvalue of 0,
// or null where the function has one there.
template <typename Compute>
void functionOfMatrices(KernelCall &call, CalqueCallFrame *frame, int32_t notConverged, const int32_t *noLogarithm,
                        int32_t missing, Compute &&compute) {
  const int64_t examples = call.number();
  const KernelParts given(call, 2), result(call, 2);
  const int64_t n = given.size(0), elements = n * n;
  FirstFailure failure(examples, n), singular(examples, n);
  dispatchFloat(given.dtype(), [&]<typename T>(std::type_identity<T>) {
    forGeneral<T>(given, examples, frame, missing, [&](const auto &lapack, int64_t k, Complex *a) {
      const PartsOf<T> to = partsAt(result.as<T>(), k * elements);
      if (!a)
        return fillParts(to, elements, static_cast<T>(kNaN));
      const Schur schur(lapack, a, n);
      const int64_t zeros = noLogarithm ? std::count(schur.values.get(), schur.values.get() + n, Complex()) : 0;
      if (!schur.converges)
        return failure.note(k);
      if (zeros)
        return singular.note(k, zeros, true);
      ComplexMatrix t(n);
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = i; j < n; ++j)
          t(i, j) = a[j * n + i];
      turnBack(lapack, compute(t), schur.vectors.get(), a);
      turnApart(a, to, n);
    });
  });
  failure.report(frame, notConverged);
  if (noLogarithm)
    singular.report(frame, *noLogarithm);
}

} // namespace

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_eig_parts(const int64_t *words) {
  KernelCall call(words);
  CalqueCallFrame *frame = call.frame();
  const int32_t notConverged = call.site(), missing = call.site();
  const int64_t examples = call.number();
  const KernelParts given(call, 2), values(call, 1), vectors(call, 2);
  const int64_t n = given.size(0), elements = n * n;
  FirstFailure failure(examples, n);
  dispatchFloat(given.dtype(), [&]<typename T>(std::type_identity<T>) {
    forGeneral<T>(given, examples, frame, missing, [&](const auto &lapack, int64_t k, Complex *a) {
      const PartsOf<T> ownValues = partsAt(values.as<T>(), k * n), ownVectors = partsAt(vectors.as<T>(), k * elements);
      if (!a) {
        fillParts(ownValues, n, static_cast<T>(kNaN));
        return fillParts(ownVectors, elements, static_cast<T>(kNaN));
      }
      const LapackInt size = lapackInt(n), query = -1, one = 1;
      LapackInt info = 0;
      Scratch<Complex> w(n), v(elements);
      Scratch<double> reals(2 * n);
      Complex best = 0;
      lapack.geev("N", "V", &size, a, &size, w.get(), nullptr, &one, v.get(), &size, &best, &query, reals.get(), &info,
                  1, 1);
      const LapackInt count = workOf(best, 2 * n);
      Scratch<Complex> space(count);
      lapack.geev("N", "V", &size, a, &size, w.get(), nullptr, &one, v.get(), &size, space.get(), &count, reals.get(),
                  &info, 1, 1);
      if (info != 0)
        failure.note(k);
      apart(w.get(), ownValues, n);
      turnApart(v.get(), ownVectors, n);
    });
  });
  failure.report(frame, notConverged);
}

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_schur_parts(const int64_t *words) {
  KernelCall call(words);
  CalqueCallFrame *frame = call.frame();
  const int32_t notConverged = call.site(), missing = call.site();
  const int64_t examples = call.number();
  const KernelParts given(call, 2), t(call, 2), z(call, 2);
  const int64_t n = given.size(0), elements = n * n;
  FirstFailure failure(examples, n);
  dispatchFloat(given.dtype(), [&]<typename T>(std::type_identity<T>) {
    forGeneral<T>(given, examples, frame, missing, [&](const auto &lapack, int64_t k, Complex *a) {
      const PartsOf<T> ownT = partsAt(t.as<T>(), k * elements), ownZ = partsAt(z.as<T>(), k * elements);
      if (!a) {
        fillParts(ownT, elements, static_cast<T>(kNaN));
        return fillParts(ownZ, elements, static_cast<T>(kNaN));
      }
      const Schur schur(lapack, a, n);
      if (!schur.converges)
        failure.note(k);
      turnApart(a, ownT, n);
      turnApart(schur.vectors.get(), ownZ, n);
    });
  });
  failure.report(frame, notConverged);
}

namespace {
// As of real matrices.
bool haveInCommon(const Schur &a, int64_t m, const Schur &b, int64_t n, double largest) {
  const double least = 4 * std::numeric_limits<double>::epsilon() * std::sqrt(static_cast<double>(m + n)) * largest;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      if (partsSize(a.values[i] + b.values[j]) <= least)
        return true;
  return false;
}
double largestOf(const Complex *x, int64_t count) {
  double largest = 0;
  for (int64_t e = 0; e < count; ++e)
    largest = std::max(largest, partsSize(x[e]));
  return largest;
}
} // namespace

// In column-major order the equation is that of the transposed matrices: B^T X^T + X^T A^T = C^T. What is row-major is
// the transposed matrix as it is.
extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_sylvester_parts(const int64_t *words) {
  KernelCall call(words);
  CalqueCallFrame *frame = call.frame();
  const int32_t notConverged = call.site(), notSingle = call.site(), missing = call.site();
  const int64_t examples = call.number();
  const KernelParts a(call, 2), b(call, 2), c(call, 2), result(call, 2);
  const int64_t n = a.size(0), m = b.size(0);
  FirstFailure failure(examples, n), severalSolutions(examples, n);
  dispatchFloat(a.dtype(), [&]<typename T>(std::type_identity<T>) {
    forExamples(frame, missing, examples, n && m ? std::max(n, m) : 0, [&](const auto &lapack, int64_t k) {
      const PartsOf<T> to = partsAt(result.as<T>(), k * n * m);
      const PartsOf<const T> ownA = partsAt(a.as<const T>(), k * n * n), ownB = partsAt(b.as<const T>(), k * m * m),
                             ownC = partsAt(c.as<const T>(), k * n * m);
      if (!areFinite(ownA, n * n) || !areFinite(ownB, m * m) || !areFinite(ownC, n * m))
        return fillParts(to, n * m, static_cast<T>(kNaN));
      Scratch<Complex> right(n * n), left(m * m), x(m * n), product(m * n);
      auto widen = [](PartsOf<const T> from, Complex *numbers, int64_t count) {
        for (int64_t e = 0; e < count; ++e)
          numbers[e] = {static_cast<double>(from.re[e]), static_cast<double>(from.im[e])};
      };
      widen(ownA, right.get(), n * n);
      widen(ownB, left.get(), m * m);
      widen(ownC, x.get(), n * m);
      const Schur ofLeft(lapack, left.get(), m), ofRight(lapack, right.get(), n);
      const LapackInt rows = lapackInt(m), columns = lapackInt(n), plus = 1;
      const Complex one = 1, zero = 0, *u = ofLeft.vectors.get(), *v = ofRight.vectors.get();
      // U^H C V, the solution of triangles, and U Y V^H.
      auto between = [&](const char *first, const char *second) {
        lapack.gemm(first, "N", &rows, &columns, &rows, &one, u, &rows, x.get(), &rows, &zero, product.get(), &rows, 1,
                    1);
        lapack.gemm("N", second, &rows, &columns, &columns, &one, product.get(), &rows, v, &columns, &zero, x.get(),
                    &rows, 1, 1);
      };
      between("C", "N");
      double scale = 1;
      LapackInt info = 0;
      lapack.trsyl("N", "N", &plus, &rows, &columns, left.get(), &rows, right.get(), &columns, x.get(), &rows, &scale,
                   &info, 1, 1);
      between("N", "C");
      if (!ofLeft.converges || !ofRight.converges)
        failure.note(k);
      else if (info != 0 || haveInCommon(ofLeft, m, ofRight, n,
                                         std::max(largestOf(left.get(), m * m), largestOf(right.get(), n * n))))
        severalSolutions.note(k);
      for (int64_t e = 0; e < n * m; ++e) {
        to.re[e] = static_cast<T>(x[e].real() / scale);
        to.im[e] = static_cast<T>(x[e].imag() / scale);
      }
    });
  });
  failure.report(frame, notConverged);
  severalSolutions.report(frame, notSingle);
}

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_sqrtm_parts(const int64_t *words) {
  KernelCall call(words);
  CalqueCallFrame *frame = call.frame();
  const int32_t notConverged = call.site(), missing = call.site();
  functionOfMatrices(call, frame, notConverged, nullptr, missing, rootOfTriangle);
}

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_logm_parts(const int64_t *words) {
  KernelCall call(words);
  CalqueCallFrame *frame = call.frame();
  const int32_t notConverged = call.site(), singular = call.site(), missing = call.site();
  functionOfMatrices(call, frame, notConverged, &singular, missing, logarithmOfTriangle);
}
