// Vectors of CALQUE_FOURIER_BYTES, and short transforms of numbers that are lanes of them: what FourierCode.h is made
// of.
#ifndef CALQUE_RUNTIME_LIBRARIES_FOURIERLANES_H
#define CALQUE_RUNTIME_LIBRARIES_FOURIERLANES_H

#include "runtime/libraries/FourierKernels.h"

namespace calque::runtime {
namespace {

//===-- Vectors ---------------------------------------------------------------------------------===//

#define CALQUE_FOURIER static inline __attribute__((always_inline))

template <typename T> struct VectorOf;
template <> struct VectorOf<float> {
  typedef float Type __attribute__((vector_size(CALQUE_FOURIER_BYTES)));
  typedef float Unaligned __attribute__((vector_size(CALQUE_FOURIER_BYTES), aligned(4), may_alias));
};
template <> struct VectorOf<double> {
  typedef double Type __attribute__((vector_size(CALQUE_FOURIER_BYTES)));
  typedef double Unaligned __attribute__((vector_size(CALQUE_FOURIER_BYTES), aligned(8), may_alias));
};
template <typename T> using Vector = typename VectorOf<T>::Type;
template <typename T> inline constexpr int64_t kWidth = CALQUE_FOURIER_BYTES / sizeof(T);

template <typename T> CALQUE_FOURIER Vector<T> load(const T *x) {
  return *reinterpret_cast<const typename VectorOf<T>::Unaligned *>(x);
}
template <typename T> CALQUE_FOURIER void store(T *x, Vector<T> value) {
  *reinterpret_cast<typename VectorOf<T>::Unaligned *>(x) = value;
}
template <typename T> CALQUE_FOURIER Vector<T> splat(T x) { return Vector<T>{} + x; }

// The first, or the second, halves of a and b in turn.
template <typename T> CALQUE_FOURIER Vector<T> zipLow(Vector<T> a, Vector<T> b) {
  if constexpr (kWidth<T> == 2)
    return __builtin_shufflevector(a, b, 0, 2);
  else if constexpr (kWidth<T> == 4)
    return __builtin_shufflevector(a, b, 0, 4, 1, 5);
  else if constexpr (kWidth<T> == 8)
    return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
  else
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
template <typename T> CALQUE_FOURIER Vector<T> zipHigh(Vector<T> a, Vector<T> b) {
  if constexpr (kWidth<T> == 2)
    return __builtin_shufflevector(a, b, 1, 3);
  else if constexpr (kWidth<T> == 4)
    return __builtin_shufflevector(a, b, 2, 6, 3, 7);
  else if constexpr (kWidth<T> == 8)
    return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
  else
    return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}
// The elements of a and then b at even, or odd, places.
template <typename T> CALQUE_FOURIER Vector<T> evenOf(Vector<T> a, Vector<T> b) {
  if constexpr (kWidth<T> == 2)
    return __builtin_shufflevector(a, b, 0, 2);
  else if constexpr (kWidth<T> == 4)
    return __builtin_shufflevector(a, b, 0, 2, 4, 6);
  else if constexpr (kWidth<T> == 8)
    return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14);
  else
    return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
}
template <typename T> CALQUE_FOURIER Vector<T> oddOf(Vector<T> a, Vector<T> b) {
  if constexpr (kWidth<T> == 2)
    return __builtin_shufflevector(a, b, 1, 3);
  else if constexpr (kWidth<T> == 4)
    return __builtin_shufflevector(a, b, 1, 3, 5, 7);
  else if constexpr (kWidth<T> == 8)
    return __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15);
  else
    return __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
}
template <typename T> CALQUE_FOURIER Vector<T> reversed(Vector<T> a) {
  if constexpr (kWidth<T> == 2)
    return __builtin_shufflevector(a, a, 1, 0);
  else if constexpr (kWidth<T> == 4)
    return __builtin_shufflevector(a, a, 3, 2, 1, 0);
  else if constexpr (kWidth<T> == 8)
    return __builtin_shufflevector(a, a, 7, 6, 5, 4, 3, 2, 1, 0);
  else
    return __builtin_shufflevector(a, a, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
}

// Rows become columns: each stage is a perfect shuffle of the rows.
template <typename T> CALQUE_FOURIER void transposeVectors(Vector<T> *rows) {
  constexpr int64_t width = kWidth<T>;
#pragma GCC unroll 4
  for (int64_t stage = 1; stage < width; stage *= 2) {
    Vector<T> next[width];
#pragma GCC unroll 16
    for (int64_t i = 0; i < width / 2; ++i) {
      next[2 * i] = zipLow<T>(rows[i], rows[i + width / 2]);
      next[2 * i + 1] = zipHigh<T>(rows[i], rows[i + width / 2]);
    }
#pragma GCC unroll 16
    for (int64_t i = 0; i < width; ++i)
      rows[i] = next[i];
  }
}

// Complex numbers in lanes.
template <typename T> struct Lane {
  Vector<T> re, im;
};
template <typename T> CALQUE_FOURIER Lane<T> operator+(Lane<T> a, Lane<T> b) { return {a.re + b.re, a.im + b.im}; }
template <typename T> CALQUE_FOURIER Lane<T> operator-(Lane<T> a, Lane<T> b) { return {a.re - b.re, a.im - b.im}; }
template <typename T> CALQUE_FOURIER Lane<T> operator*(Lane<T> a, Lane<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <typename T> CALQUE_FOURIER Lane<T> timesMinusI(Lane<T> a) { return {a.im, -a.re}; }

// Pairs in memory as lanes, and lanes as pairs.
template <typename T> CALQUE_FOURIER Lane<T> loadPairs(const T *x) {
  const Vector<T> a = load(x), b = load(x + kWidth<T>);
  return {evenOf<T>(a, b), oddOf<T>(a, b)};
}
template <typename T> CALQUE_FOURIER void storePairs(T *x, Lane<T> value) {
  store(x, zipLow<T>(value.re, value.im));
  store(x + kWidth<T>, zipHigh<T>(value.re, value.im));
}

//===-- Butterflies: short transforms in registers ----------------------------------------------===//

template <int Radix> struct RootsOf; // cos and sin of 2 pi j / Radix, for j from 1 to Radix / 2
template <> struct RootsOf<3> {
  static constexpr double re[] = {-0.5}, im[] = {0.8660254037844386};
};
template <> struct RootsOf<5> {
  static constexpr double re[] = {0.30901699437494745, -0.8090169943749475},
                          im[] = {0.9510565162951535, 0.5877852522924731};
};
template <> struct RootsOf<7> {
  static constexpr double re[] = {0.6234898018587336, -0.22252093395631440, -0.9009688679024191},
                          im[] = {0.7818314824680298, 0.9749279121818236, 0.4338837391175581};
};
template <> struct RootsOf<11> {
  static constexpr double re[] = {0.8412535328311812, 0.41541501300188643, -0.14231483827328514, -0.6548607339452851,
                                  -0.9594929736144974},
                          im[] = {0.5406408174555976, 0.9096319953545184, 0.9898214418809327, 0.7557495743542583,
                                  0.28173255684142967};
};
template <> struct RootsOf<13> {
  static constexpr double re[] = {0.8854560256532099,  0.5680647467311558,  0.12053668025532305,
                                  -0.3546048870425356, -0.7485107481711011, -0.9709418174260520},
                          im[] = {0.4647231720437685, 0.8229838658936564, 0.9927088740980540,
                                  0.9350162426854148, 0.6631226582407952, 0.23931566428755777};
};

// An odd radix: sums and differences of x[j] and x[radix - j] are multiplied by cosines and sines.
template <int Radix, typename T> CALQUE_FOURIER void butterfly(Lane<T> *x) {
  if constexpr (Radix == 2) {
    const Lane<T> a = x[0], b = x[1];
    x[0] = a + b;
    x[1] = a - b;
  } else if constexpr (Radix == 4) {
    const Lane<T> a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3], d = timesMinusI<T>(x[1] - x[3]);
    x[0] = a + c;
    x[1] = b + d;
    x[2] = a - c;
    x[3] = b - d;
  } else if constexpr (Radix == 8) {
    const Vector<T> half = splat<T>(static_cast<T>(0.7071067811865476));
    Lane<T> even[4] = {x[0], x[2], x[4], x[6]}, odd[4] = {x[1], x[3], x[5], x[7]};
    butterfly<4>(even);
    butterfly<4>(odd);
    odd[1] = {half * (odd[1].re + odd[1].im), half * (odd[1].im - odd[1].re)};
    odd[2] = timesMinusI<T>(odd[2]);
    odd[3] = {half * (odd[3].im - odd[3].re), -half * (odd[3].re + odd[3].im)};
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      x[k] = even[k] + odd[k];
      x[k + 4] = even[k] - odd[k];
    }
  } else if constexpr (Radix == 16) {
    const T re[] = {
        1, static_cast<T>(0.9238795325112867),  static_cast<T>(0.7071067811865476),  static_cast<T>(0.3826834323650898),
        0, static_cast<T>(-0.3826834323650898), static_cast<T>(-0.7071067811865476), 0,
        0, static_cast<T>(-0.9238795325112867)};
    const T im[] = {0,
                    static_cast<T>(-0.3826834323650898),
                    static_cast<T>(-0.7071067811865476),
                    static_cast<T>(-0.9238795325112867),
                    -1,
                    static_cast<T>(-0.9238795325112867),
                    static_cast<T>(-0.7071067811865476),
                    0,
                    0,
                    static_cast<T>(0.3826834323650898)};
#pragma GCC unroll 4
    for (int b = 0; b < 4; ++b) {
      Lane<T> column[4] = {x[b], x[4 + b], x[8 + b], x[12 + b]};
      butterfly<4>(column);
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k)
        x[4 * k + b] = b * k != 0 ? column[k] * Lane<T>{splat<T>(re[b * k]), splat<T>(im[b * k])} : column[k];
    }
    Lane<T> result[16];
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      butterfly<4>(x + 4 * k);
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j)
        result[k + 4 * j] = x[4 * k + j];
    }
#pragma GCC unroll 16
    for (int k = 0; k < 16; ++k)
      x[k] = result[k];
  } else {
    constexpr int half = Radix / 2;
    Lane<T> sums[half], differences[half];
    Lane<T> total = x[0];
#pragma GCC unroll 16
    for (int j = 1; j <= half; ++j) {
      sums[j - 1] = x[j] + x[Radix - j];
      differences[j - 1] = x[j] - x[Radix - j];
      total = total + sums[j - 1];
    }
    const Lane<T> first = x[0];
    x[0] = total;
#pragma GCC unroll 16
    for (int k = 1; k <= half; ++k) {
      Lane<T> even = first, odd{};
#pragma GCC unroll 16
      for (int j = 1; j <= half; ++j) {
        const int at = j * k % Radix, place = at <= half ? at : Radix - at;
        const Vector<T> c = splat<T>(static_cast<T>(RootsOf<Radix>::re[place - 1]));
        const Vector<T> s =
            splat<T>(static_cast<T>(at <= half ? RootsOf<Radix>::im[place - 1] : -RootsOf<Radix>::im[place - 1]));
        even = {even.re + c * sums[j - 1].re, even.im + c * sums[j - 1].im};
        odd = {odd.re + s * differences[j - 1].re, odd.im + s * differences[j - 1].im};
      }
      x[k] = even + timesMinusI<T>(odd);
      x[Radix - k] = even - timesMinusI<T>(odd);
    }
  }
}

// The same for a radix without code of its own.
template <typename T> CALQUE_FOURIER void longButterfly(Lane<T> *x, int64_t radix, const T *roots) {
  const int64_t half = radix / 2;
  Lane<T> sums[kMostRadix / 2], differences[kMostRadix / 2];
  const Lane<T> first = x[0];
  for (int64_t j = 1; j <= half; ++j) {
    sums[j - 1] = x[j] + x[radix - j];
    differences[j - 1] = x[j] - x[radix - j];
    x[0] = x[0] + sums[j - 1];
  }
  for (int64_t k = 1; k <= half; ++k) {
    Lane<T> even = first, odd{};
    int64_t at = 0;
    for (int64_t j = 0; j < half; ++j) {
      at += k;
      if (at >= radix)
        at -= radix;
      const Vector<T> c = splat<T>(roots[2 * at]), s = splat<T>(-roots[2 * at + 1]);
      even = {even.re + c * sums[j].re, even.im + c * sums[j].im};
      odd = {odd.re + s * differences[j].re, odd.im + s * differences[j].im};
    }
    x[k] = even + timesMinusI<T>(odd);
    x[radix - k] = even - timesMinusI<T>(odd);
  }
}

} // namespace
} // namespace calque::runtime
#endif
