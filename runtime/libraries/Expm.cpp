// The exponential of matrices, by scaling, Pade's approximants and squaring: N. J. Higham, The scaling and squaring
// method for the matrix exponential revisited, SIAM J. Matrix Anal. Appl. 26, 2005, algorithm 2.3. float32 is computed
// in float64. Products of complex matrices are four of their parts.
#include "runtime/libraries/ComplexMatrices.h"
#include "runtime/libraries/SquareMatrices.h"

#include <cmath>

using namespace calque::runtime;

namespace {

struct Approximant {
  int degree;
  double bound; // of the 1-norm, up to which the error is below the unit roundoff of float64
  double coefficients[14];
};
constexpr Approximant kApproximants[] = {
    {3, 1.495585217958292e-2, {120, 60, 12, 1}},
    {5, 2.539398330063230e-1, {30240, 15120, 3360, 420, 30, 1}},
    {7, 9.504178996162932e-1, {17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1}},
    {9,
     2.097847961257068e0,
     {17643225600., 8821612800., 2075673600., 302702400., 30270240., 2162160., 110880., 3960., 90., 1.}},
    {13,
     5.371920351148152e0,
     {64764752532480000., 32382376266240000., 7771770303897600., 1187353796428800., 129060195264000., 10559470521600.,
      670442572800., 33522128640., 1323241920., 40840800., 960960., 16380., 182., 1.}}};

// The largest sum of a column, of magnitudes that size(i, j) gives. NaN is one.
template <typename Size> double normOf(int64_t n, Size &&size) {
  double largest = 0;
  for (int64_t j = 0; j < n; ++j) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i)
      sum += size(i, j);
    largest = sum <= largest ? largest : sum;
  }
  return largest;
}

// Matrices of real numbers, and of complex ones: then the real parts of all elements are first, and the imaginary ones
// behind them.
class RealMatrices : public SquareMatrices {
public:
  explicit RealMatrices(int64_t n) : SquareMatrices(n), n(n) {}
  int64_t elements() const { return n * n; }
  double norm(const double *a) const {
    return normOf(n, [&](int64_t i, int64_t j) { return std::fabs(a[i * n + j]); });
  }

  const int64_t n;
};

class ComplexMatrices {
public:
  explicit ComplexMatrices(int64_t n) : n(n), real(n) {}
  int64_t elements() const { return 2 * n * n; }
  double norm(const double *a) const {
    return normOf(n, [&](int64_t i, int64_t j) { return std::hypot(a[i * n + j], a[(n + i) * n + j]); });
  }
  void multiply(const double *a, const double *b, double *product) const {
    const int64_t half = n * n;
    Scratch<double> other(half);
    auto add = [&](double *to, double factor) {
      for (int64_t e = 0; e < half; ++e)
        to[e] += factor * other[e];
    };
    real.multiply(a, b, product);
    real.multiply(a + half, b + half, other.get());
    add(product, -1);
    real.multiply(a, b + half, product + half);
    real.multiply(a + half, b, other.get());
    add(product + half, 1);
  }
  // X of A X = B in place of B.
  void solve(const double *a, double *b) const {
    const int64_t half = n * n;
    Scratch<int64_t> order(n);
    const PartsOf<const double> ownA{a, a + half}, ownB{b, b + half};
    if (n <= kMostSmall) {
      Scratch<double> memory(8 * half);
      const PartsOf<double> lu{memory.get(), memory.get() + half}, x{lu.im + half, lu.im + 2 * half};
      double *scratch = x.im + half;
      int64_t failed = 0;
      const auto &kernels = smallKernels().f64.complexSingle;
      kernels.luFactor(ownA, lu, order.get(), n, 1, scratch);
      kernels.luSolve({lu.re, lu.im}, order.get(), ownB, x, n, n, false, 1, scratch, &failed);
      std::copy_n(x.re, 2 * half, b);
      return;
    }
    const auto &lapack = *Lapack<std::complex<double>>::get();
    const Joined<double> joined(ownA, half), right(ownB, half);
    Scratch<std::complex<double>> lu(half), x(half);
    largeLu(lapack, joined.get(), lu.get(), order.get(), n);
    largeLuSolve(lapack, lu.get(), order.get(), right.get(), x.get(), n, n, false);
    apart(x.get(), PartsOf<double>{b, b + half}, half);
  }

  const int64_t n;

private:
  const SquareMatrices real;
};

// exp(a), in place.
template <typename Matrices> void exponential(const Matrices &matrices, double *a) {
  const int64_t n = matrices.n, elements = matrices.elements();
  const double norm = matrices.norm(a);
  if (!std::isfinite(norm)) {
    std::fill_n(a, elements, std::numeric_limits<double>::quiet_NaN());
    return;
  }
  const Approximant *chosen = kApproximants;
  while (chosen->degree < 13 && norm > chosen->bound)
    ++chosen;
  int squarings = 0;
  if (norm > chosen->bound) {
    (void)std::frexp(norm / chosen->bound, &squarings); // 2^squarings is larger
    for (int64_t e = 0; e < elements; ++e)
      a[e] = std::ldexp(a[e], -squarings);
  }
  // The odd powers are a times `odd`, the even ones `even`.
  const double *c = chosen->coefficients;
  Scratch<double> square(elements), power(elements), next(elements), odd(elements), even(elements);
  matrices.multiply(a, a, square.get());
  std::fill_n(odd.get(), elements, 0.0);
  std::fill_n(even.get(), elements, 0.0);
  auto add = [&](double *to, const double *x, double factor) {
    for (int64_t e = 0; e < elements; ++e)
      to[e] += factor * x[e];
  };
  auto addDiagonal = [&](double *to, double factor) {
    for (int64_t i = 0; i < n; ++i)
      to[i * n + i] += factor;
  };
  if (chosen->degree < 13) {
    addDiagonal(even.get(), c[0]);
    addDiagonal(odd.get(), c[1]);
    std::copy_n(square.get(), elements, power.get());
    for (int k = 2; k < chosen->degree; k += 2) {
      add(even.get(), power.get(), c[k]);
      add(odd.get(), power.get(), c[k + 1]);
      if (k + 2 < chosen->degree) {
        matrices.multiply(power.get(), square.get(), next.get());
        std::copy_n(next.get(), elements, power.get());
      }
    }
  } else {
    Scratch<double> fourth(elements), sixth(elements);
    matrices.multiply(square.get(), square.get(), fourth.get());
    matrices.multiply(fourth.get(), square.get(), sixth.get());
    auto combine = [&](double *to, int first) { // of degrees 8, 10 and 12, or one more, and below
      std::fill_n(power.get(), elements, 0.0);
      add(power.get(), sixth.get(), c[first + 12]);
      add(power.get(), fourth.get(), c[first + 10]);
      add(power.get(), square.get(), c[first + 8]);
      matrices.multiply(sixth.get(), power.get(), to);
      add(to, sixth.get(), c[first + 6]);
      add(to, fourth.get(), c[first + 4]);
      add(to, square.get(), c[first + 2]);
      addDiagonal(to, c[first]);
    };
    combine(even.get(), 0);
    combine(odd.get(), 1);
  }
  matrices.multiply(a, odd.get(), next.get());
  for (int64_t e = 0; e < elements; ++e) {
    const double u = next[e], v = even[e];
    even[e] = v - u;
    a[e] = v + u;
  }
  matrices.solve(even.get(), a);
  for (; squarings > 0; --squarings) {
    matrices.multiply(a, a, next.get());
    std::copy_n(next.get(), elements, a);
  }
}

} // namespace

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_expm(const int64_t *words) {
  KernelCall call(words);
  CalqueCallFrame *frame = call.frame();
  const int32_t missing = call.site();
  const int64_t examples = call.number();
  const KernelTensor given = call.tensor(2), result = call.tensor(2);
  const int64_t n = given.sizes[0], elements = n * n;
  if (n > kMostSmall && !requireLapack<double>(frame, missing, n, kMostSmall))
    return;
  const RealMatrices matrices(n);
  dispatchFloat(given.dtype, [&]<typename T>(std::type_identity<T>) {
    const T *from = given.as<T>();
    T *to = result.as<T>();
    parallelFor(examples, pieceOf(20 * n * elements), [&](int64_t begin, int64_t end) {
      Scratch<double> own(elements);
      for (int64_t k = begin; k < end; ++k) {
        std::copy_n(from + k * elements, elements, own.get());
        exponential(matrices, own.get());
        std::copy_n(own.get(), elements, to + k * elements);
      }
    });
  });
}

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_expm_parts(const int64_t *words) {
  KernelCall call(words);
  CalqueCallFrame *frame = call.frame();
  const int32_t missing = call.site();
  const int64_t examples = call.number();
  const KernelParts given(call, 2), result(call, 2);
  const int64_t n = given.size(0), half = n * n;
  if (n > kMostSmall && !requireLapack<std::complex<double>>(frame, missing, n, kMostSmall))
    return;
  const ComplexMatrices matrices(n);
  dispatchFloat(given.dtype(), [&]<typename T>(std::type_identity<T>) {
    const PartsOf<const T> from = given.as<const T>();
    const PartsOf<T> to = result.as<T>();
    parallelFor(examples, pieceOf(80 * n * half), [&](int64_t begin, int64_t end) {
      Scratch<double> own(2 * half);
      for (int64_t k = begin; k < end; ++k) {
        std::copy_n(from.re + k * half, half, own.get());
        std::copy_n(from.im + k * half, half, own.get() + half);
        exponential(matrices, own.get());
        std::copy_n(own.get(), half, to.re + k * half);
        std::copy_n(own.get() + half, half, to.im + k * half);
      }
    });
  });
}
