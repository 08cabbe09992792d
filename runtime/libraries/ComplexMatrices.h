// What the kernels of complex matrices share: parts that are apart, and numbers as LAPACK has them.
#ifndef CALQUE_RUNTIME_LIBRARIES_COMPLEXMATRICES_H
#define CALQUE_RUNTIME_LIBRARIES_COMPLEXMATRICES_H

#include "runtime/libraries/Triangles.h"

namespace calque::runtime {

// Two tensors, which are the parts of one.
struct KernelParts {
  KernelTensor re, im;

  KernelParts(KernelCall &call, std::size_t rank) : re(call.tensor(rank)), im(call.tensor(rank)) {}
  DType dtype() const { return re.dtype; }
  int64_t size(std::size_t dimension) const { return re.sizes[dimension]; }
  template <typename T> PartsOf<T> as() const { return {static_cast<T *>(re.elements), static_cast<T *>(im.elements)}; }
};

template <typename T> PartsOf<T> partsAt(PartsOf<T> parts, int64_t offset) {
  return {parts.re + offset, parts.im + offset};
}

// Parts as numbers, and back.
template <typename T> void join(PartsOf<const T> from, std::complex<T> *to, int64_t count) {
  for (int64_t e = 0; e < count; ++e)
    to[e] = {from.re[e], from.im[e]};
}
template <typename T, typename From> void apart(const std::complex<From> *from, PartsOf<T> to, int64_t count) {
  for (int64_t e = 0; e < count; ++e) {
    to.re[e] = static_cast<T>(from[e].real());
    to.im[e] = static_cast<T>(from[e].imag());
  }
}
template <typename T> void fillParts(PartsOf<T> to, int64_t count, T x) {
  std::fill_n(to.re, count, x);
  std::fill_n(to.im, count, x);
}
template <typename T> bool areFinite(PartsOf<const T> x, int64_t count) {
  T sum = 0;
  for (int64_t e = 0; e < count; ++e)
    sum += x.re[e] * 0 + x.im[e] * 0; // a sum of the parts may leave the range
  return sum == 0;
}

// The numbers of some parts, in memory for the time of a piece.
template <typename T> class Joined {
public:
  Joined(PartsOf<const T> parts, int64_t count) : numbers(count) { join(parts, numbers.get(), count); }
  std::complex<T> *get() const { return numbers.get(); }

private:
  Scratch<std::complex<T>> numbers;
};

// Runs body(lapack, example) on the threads, where LAPACK is there. Else fails at the site.
template <typename T, typename Body>
void forLarge(CalqueCallFrame *frame, int32_t missing, int64_t examples, int64_t n, int64_t most, Body &&body) {
  const auto *lapack = requireLapack<std::complex<T>>(frame, missing, n, most);
  if (!lapack)
    return;
  OneThread oneThread;
  parallelFor(examples, 1, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k)
      body(*lapack, k);
  });
}

} // namespace calque::runtime
#endif
