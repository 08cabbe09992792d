// The exponential of matrices, by scaling, Pade's approximants and squaring: N. J. Higham, The scaling and squaring
// method for the matrix exponential revisited, SIAM J. Matrix Anal. Appl. 26, 2005, algorithm 2.3. float32 is computed
// in float64.
#include "runtime/libraries/Batches.h"
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

double normOf(const double *a, int64_t n) {
  double largest = 0;
  for (int64_t j = 0; j < n; ++j) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i)
      sum += std::fabs(a[i * n + j]);
    largest = sum <= largest ? largest : sum; // NaN is one
  }
  return largest;
}

// exp(a), in place.
void exponential(const SquareMatrices &matrices, double *a, int64_t n) {
  const int64_t elements = n * n;
  const double norm = normOf(a, n);
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
  const SquareMatrices matrices(n);
  dispatchFloat(given.dtype, [&]<typename T>(std::type_identity<T>) {
    const T *from = given.as<T>();
    T *to = result.as<T>();
    parallelFor(examples, pieceOf(20 * n * elements), [&](int64_t begin, int64_t end) {
      Scratch<double> own(elements);
      for (int64_t k = begin; k < end; ++k) {
        std::copy_n(from + k * elements, elements, own.get());
        exponential(matrices, own.get(), n);
        std::copy_n(own.get(), elements, to + k * elements);
      }
    });
  });
}
