// Kernels for discrete Fourier transforms, made once for each class of CPUs.
//
// A kernel transforms several sequences at once, one in each lane of vectors, by Stockham's algorithm: each pass of a
// radix reads one memory of lanes and writes the other one, and the last one has the frequencies in order. So all
// lengths are vectorised alike, and no pass moves numbers from lane to lane. What lanes are, is the caller's: columns
// beside each other, rows, or the residues of one long sequence (Fourier.cpp).
//
// Transforms are those with exp(-2 pi i j k / n). The conjugate of the transform of conjugates is the one with the
// other sign: `sign` is -1 for it, else 1, and multiplies the imaginary parts that are read; `scale` multiplies the
// results, the imaginary ones also by the sign.
//
// Complex numbers are pairs of a real and an imaginary part. Strides count real numbers. Memory of lanes has, of each
// element, the real parts of all lanes and then the imaginary ones, and is aligned to kFourierAlignment.
#ifndef CALQUE_RUNTIME_LIBRARIES_FOURIERKERNELS_H
#define CALQUE_RUNTIME_LIBRARIES_FOURIERKERNELS_H

#include <cstddef>
#include <cstdint>

namespace calque::runtime {

inline constexpr int64_t kFourierAlignment = 64;
// No pass has a larger radix: longer prime factors are left to Bluestein's algorithm.
inline constexpr int64_t kMostRadix = 61;

// A pass: with q < stride and p < count, elements q + stride * (p + count * t), for t < radix, become elements
// q + stride * (radix * p + j), for j < radix.
template <typename T> struct FourierPass {
  int64_t radix, count, stride;
  const T *twiddles; // for each p, and each j from 1 on, exp(-2 pi i j p / (radix * count))
  const T *roots;    // exp(-2 pi i j / radix) for each j, for a radix without code of its own
};

// The passes of a length, the product of the radices. None for the length 1.
template <typename T> struct FourierPasses {
  int64_t length = 1, passCount = 0;
  const FourierPass<T> *passes = nullptr;
};

// What is read and how, and what is written.
template <typename T> struct FourierForm {
  T sign, scale;
};

// Sequences as rows: where each begins, and how far elements are from each other.
template <typename T> struct FourierRows {
  const T *from;
  int64_t fromRow, fromElement;
  T *to;
  int64_t toRow, toElement;
};

template <typename T> struct FourierKernels {
  int64_t lanes;
  // The sequences in columns beside each other, as many as there are lanes. Scratch: the length, twice, in lanes.
  void (*columns)(const FourierPasses<T> &passes, const T *from, int64_t fromStride, T *to, int64_t toStride,
                  FourierForm<T> form, T *scratch);
  // Up to so many rows. Scratch: the length, twice, in lanes.
  void (*rows)(const FourierPasses<T> &passes, int64_t count, const FourierRows<T> &rows, FourierForm<T> form,
               T *scratch);
  // One dense sequence of `lanes` times the length of the passes, which is at least `lanes`. `twiddles` has, for each
  // group of frequencies and each lane b from 1 on, exp(-2 pi i b k / n) in lanes. Scratch: the length, twice, in
  // lanes.
  void (*whole)(const FourierPasses<T> &passes, const T *twiddles, const T *from, T *to, FourierForm<T> form,
                T *scratch);
  // The second step for one sequence of n numbers, of which the first one left a matrix of rows of the length:
  // multiplies as many rows as there are lanes by their twiddles exp(-2 pi i b k / n), and transforms them. `coarse`
  // has, for each b, the number for the first of these rows, `fine`, in lanes, that for those beyond it. The results
  // are columns. Scratch: the length, twice, in lanes.
  void (*secondStep)(const FourierPasses<T> &passes, const T *from, const T *coarse, const T *fine, T *to,
                     int64_t toStride, FourierForm<T> form, T *scratch);
  // The transform of n = 2 m real numbers from that of the m pairs of them, in place; x has room for m + 1 numbers.
  // Those between the first and the last one are multiplied by `inner`. `roots` has exp(-2 pi i k / n) for k <= m / 2.
  void (*split)(T *x, int64_t m, const T *roots, T inner);
  // From m + 1 frequencies the m numbers z whose transform by exp(+2 pi i) has the pairs of real numbers. Imaginary
  // parts of the first and the last one are not read; those between are multiplied by `inner`.
  void (*join)(const T *x, T *z, int64_t m, const T *roots, T inner);
  // to = a * b, where the imaginary parts of a are first multiplied by `sign`.
  void (*multiply)(const T *a, const T *b, T *to, int64_t count, T sign);
};

// Of each class of CPUs that has some.
struct FourierKernelTable {
  FourierKernels<float> f32;
  FourierKernels<double> f64;
  template <typename T> const FourierKernels<T> &of() const {
    if constexpr (sizeof(T) == sizeof(float))
      return f32;
    else
      return f64;
  }
};
extern const FourierKernelTable kFourierBaseline;
#if defined(__x86_64__)
extern const FourierKernelTable kFourierAvx2, kFourierAvx512;
#endif

} // namespace calque::runtime
#endif
