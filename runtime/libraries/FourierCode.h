// The code of FourierKernels.h, which each class of CPUs compiles for itself, with vectors of CALQUE_FOURIER_BYTES, to
// make its table. It includes nothing that has inline functions, because the linker might give those that are compiled
// here to code for all CPUs.
#include "runtime/libraries/FourierLanes.h"

namespace calque::runtime {
namespace {

//===-- Passes ----------------------------------------------------------------------------------===//

// Where passes read and write: memory of lanes, or columns of pairs.
template <typename T> struct InLanes {
  T *base;
  CALQUE_FOURIER Lane<T> get(InLanes at, int64_t i) {
    const auto *x = reinterpret_cast<const Vector<T> *>(at.base) + 2 * i;
    return {x[0], x[1]};
  }
  CALQUE_FOURIER void put(InLanes at, int64_t i, Lane<T> value) {
    auto *x = reinterpret_cast<Vector<T> *>(at.base) + 2 * i;
    x[0] = value.re;
    x[1] = value.im;
  }
};
template <typename T> struct ReadColumns {
  const T *base;
  int64_t stride;
  T sign;
  CALQUE_FOURIER Lane<T> get(ReadColumns at, int64_t i) {
    const Lane<T> x = loadPairs(at.base + i * at.stride);
    return {x.re, x.im * splat<T>(at.sign)};
  }
};
template <typename T> struct WriteColumns {
  T *base;
  int64_t stride;
  T scale, scaleImag;
  CALQUE_FOURIER void put(WriteColumns at, int64_t i, Lane<T> x) {
    storePairs<T>(at.base + i * at.stride, {x.re * splat<T>(at.scale), x.im * splat<T>(at.scaleImag)});
  }
};

template <int Radix, bool Twiddles, typename T, typename From, typename To>
void pass(const FourierPass<T> &pass, From from, To to) {
  const int64_t count = pass.count, stride = pass.stride;
  const T *twiddles = pass.twiddles;
  for (int64_t p = 0; p < count; ++p) {
    Lane<T> factors[Radix];
    if constexpr (Twiddles) {
#pragma GCC unroll 16
      for (int j = 1; j < Radix; ++j)
        factors[j] = {splat<T>(twiddles[2 * j - 2]), splat<T>(twiddles[2 * j - 1])};
      twiddles += 2 * (Radix - 1);
    }
    for (int64_t q = 0; q < stride; ++q) {
      Lane<T> x[Radix];
#pragma GCC unroll 16
      for (int t = 0; t < Radix; ++t)
        x[t] = From::get(from, q + stride * (p + count * t));
      butterfly<Radix>(x);
#pragma GCC unroll 16
      for (int j = 0; j < Radix; ++j)
        To::put(to, q + stride * (Radix * p + j), Twiddles && j ? x[j] * factors[j] : x[j]);
    }
  }
}
template <typename T, typename From, typename To> void longPass(const FourierPass<T> &pass, From from, To to) {
  const int64_t count = pass.count, stride = pass.stride, radix = pass.radix;
  const T *twiddles = pass.twiddles;
  for (int64_t p = 0; p < count; ++p, twiddles += 2 * (radix - 1))
    for (int64_t q = 0; q < stride; ++q) {
      Lane<T> x[kMostRadix];
      for (int64_t t = 0; t < radix; ++t)
        x[t] = From::get(from, q + stride * (p + count * t));
      longButterfly(x, radix, pass.roots);
      To::put(to, q + stride * radix * p, x[0]);
      for (int64_t j = 1; j < radix; ++j)
        To::put(to, q + stride * (radix * p + j),
                x[j] * Lane<T>{splat<T>(twiddles[2 * j - 2]), splat<T>(twiddles[2 * j - 1])});
    }
}
template <bool Twiddles, typename T, typename From, typename To>
void anyPass(const FourierPass<T> &given, From from, To to) {
  switch (given.radix) {
  case 2:
    return pass<2, Twiddles>(given, from, to);
  case 3:
    return pass<3, Twiddles>(given, from, to);
  case 4:
    return pass<4, Twiddles>(given, from, to);
  case 5:
    return pass<5, Twiddles>(given, from, to);
  case 7:
    return pass<7, Twiddles>(given, from, to);
  case 8:
    return pass<8, Twiddles>(given, from, to);
  case 11:
    return pass<11, Twiddles>(given, from, to);
  case 13:
    return pass<13, Twiddles>(given, from, to);
  default:
    return longPass(given, from, to);
  }
}

// All passes. Returns which of the two memories of scratch was written last.
template <typename T, typename From, typename To>
void transform(const FourierPasses<T> &passes, From from, To to, T *scratch, T *other) {
  const int64_t count = passes.passCount;
  if (count == 0)
    return To::put(to, 0, From::get(from, 0));
  if (count == 1)
    return anyPass<false>(passes.passes[0], from, to);
  anyPass<true>(passes.passes[0], from, InLanes<T>{scratch});
  for (int64_t i = 1; i + 1 < count; ++i) {
    anyPass<true>(passes.passes[i], InLanes<T>{scratch}, InLanes<T>{other});
    T *last = scratch;
    scratch = other;
    other = last;
  }
  anyPass<false>(passes.passes[count - 1], InLanes<T>{scratch}, to);
}

// The second memory of scratch.
template <typename T> CALQUE_FOURIER T *behind(T *scratch, int64_t length) { return scratch + 2 * kWidth<T> * length; }

//===-- Kernels ---------------------------------------------------------------------------------===//

template <typename T>
void columns(const FourierPasses<T> &passes, const T *from, int64_t fromStride, T *to, int64_t toStride,
             FourierForm<T> form, T *scratch) {
  transform(passes, ReadColumns<T>{from, fromStride, form.sign},
            WriteColumns<T>{to, toStride, form.scale, form.scale * form.sign}, scratch, behind(scratch, passes.length));
}

// A block of rows as lanes, from column b on.
template <typename T> CALQUE_FOURIER void loadBlock(const T *from, int64_t row, Vector<T> *re, Vector<T> *im) {
  constexpr int64_t width = kWidth<T>;
#pragma GCC unroll 16
  for (int64_t v = 0; v < width; ++v) {
    const Lane<T> x = loadPairs(from + v * row);
    re[v] = x.re;
    im[v] = x.im;
  }
  transposeVectors<T>(re);
  transposeVectors<T>(im);
}

// Columns of a block, the last of which may overlap the one before.
template <typename Body> CALQUE_FOURIER void forBlocks(int64_t count, int64_t width, Body &&body) {
  for (int64_t at = 0; at < count; at += width)
    body(at + width <= count ? at : count - width);
}

template <typename T>
void rows(const FourierPasses<T> &passes, int64_t count, const FourierRows<T> &rows, FourierForm<T> form, T *scratch) {
  constexpr int64_t width = kWidth<T>;
  const int64_t n = passes.length;
  const bool inBlocks = count == width && n >= width;
  T *other = behind(scratch, n);
  if (inBlocks && rows.fromElement == 2) {
    forBlocks(n, width, [&](int64_t at) __attribute__((always_inline)) {
      Vector<T> re[width], im[width];
      loadBlock(rows.from + 2 * at, rows.fromRow, re, im);
      for (int64_t b = 0; b < width; ++b)
        InLanes<T>::put({scratch}, at + b, {re[b], im[b] * splat<T>(form.sign)});
    });
  } else {
    for (int64_t j = 0; j < n; ++j) {
      T *lanes = scratch + 2 * width * j;
      for (int64_t v = 0; v < width; ++v) {
        const T *x = rows.from + v * rows.fromRow + j * rows.fromElement;
        lanes[v] = v < count ? x[0] : 0;
        lanes[width + v] = v < count ? x[1] * form.sign : 0;
      }
    }
  }
  const bool odd = passes.passCount % 2 != 0;
  if (passes.passCount) {
    T *a = scratch, *b = other;
    for (int64_t i = 0; i < passes.passCount; ++i) {
      if (i + 1 < passes.passCount)
        anyPass<true>(passes.passes[i], InLanes<T>{a}, InLanes<T>{b});
      else
        anyPass<false>(passes.passes[i], InLanes<T>{a}, InLanes<T>{b});
      T *last = a;
      a = b;
      b = last;
    }
  }
  T *result = odd ? other : scratch;
  const T scale = form.scale, scaleImag = form.scale * form.sign;
  if (inBlocks && rows.toElement == 2) {
    forBlocks(n, width, [&](int64_t at) __attribute__((always_inline)) {
      Vector<T> re[width], im[width];
      for (int64_t b = 0; b < width; ++b) {
        const Lane<T> x = InLanes<T>::get({result}, at + b);
        re[b] = x.re * splat<T>(scale);
        im[b] = x.im * splat<T>(scaleImag);
      }
      transposeVectors<T>(re);
      transposeVectors<T>(im);
      for (int64_t v = 0; v < width; ++v)
        storePairs<T>(rows.to + v * rows.toRow + 2 * at, {re[v], im[v]});
    });
  } else {
    for (int64_t j = 0; j < n; ++j) {
      const T *lanes = result + 2 * width * j;
      for (int64_t v = 0; v < count; ++v) {
        T *x = rows.to + v * rows.toRow + j * rows.toElement;
        x[0] = lanes[v] * scale;
        x[1] = lanes[width + v] * scaleImag;
      }
    }
  }
}

template <typename T>
void whole(const FourierPasses<T> &passes, const T *twiddles, const T *from, T *to, FourierForm<T> form, T *scratch) {
  constexpr int64_t width = kWidth<T>;
  const int64_t m = passes.length;
  T *other = behind(scratch, m);
  const T *result = passes.passCount % 2 ? scratch : other;
  // The last pass writes the memory that the one before did not.
  transform(passes, ReadColumns<T>{from, 2 * width, form.sign}, InLanes<T>{const_cast<T *>(result)}, scratch, other);
  const WriteColumns<T> write{to, 2 * m, form.scale, form.scale * form.sign};
  for (int64_t group = 0; group < m; group += width) {
    const int64_t k = group + width <= m ? group : m - width;
    Vector<T> re[width], im[width];
    for (int64_t v = 0; v < width; ++v) {
      const Lane<T> x = InLanes<T>::get({const_cast<T *>(result)}, k + v);
      re[v] = x.re;
      im[v] = x.im;
    }
    transposeVectors<T>(re);
    transposeVectors<T>(im);
    Lane<T> x[width];
    x[0] = {re[0], im[0]};
#pragma GCC unroll 16
    for (int64_t b = 1; b < width; ++b, twiddles += 2 * width)
      x[b] = Lane<T>{re[b], im[b]} * Lane<T>{load(twiddles), load(twiddles + width)};
    butterfly<static_cast<int>(width)>(x);
#pragma GCC unroll 16
    for (int64_t c = 0; c < width; ++c)
      WriteColumns<T>::put({write.base + 2 * k, write.stride, write.scale, write.scaleImag}, c, x[c]);
  }
}

template <typename T>
void secondStep(const FourierPasses<T> &passes, const T *from, const T *coarse, const T *fine, T *to, int64_t toStride,
                FourierForm<T> form, T *scratch) {
  constexpr int64_t width = kWidth<T>;
  const int64_t length = passes.length;
  T *other = behind(scratch, length);
  forBlocks(length, width, [&](int64_t at) __attribute__((always_inline)) {
    Vector<T> re[width], im[width];
    loadBlock(from + 2 * at, 2 * length, re, im);
    for (int64_t b = 0; b < width; ++b) {
      const T *step = fine + 2 * width * (at + b);
      const Lane<T> factor = Lane<T>{load(step), load(step + width)} *
                             Lane<T>{splat<T>(coarse[2 * (at + b)]), splat<T>(coarse[2 * (at + b) + 1])};
      InLanes<T>::put({other}, at + b, Lane<T>{re[b], im[b] * splat<T>(form.sign)} * factor);
    }
  });
  transform(passes, InLanes<T>{other}, WriteColumns<T>{to, toStride, form.scale, form.scale * form.sign}, scratch,
            other);
}

template <typename T> void split(T *x, int64_t m, const T *roots, T inner) {
  constexpr int64_t width = kWidth<T>;
  const T re = x[0], im = x[1], half = inner / 2;
  x[0] = re + im;
  x[1] = 0;
  x[2 * m] = re - im;
  x[2 * m + 1] = 0;
  int64_t k = 1;
  // Numbers from both ends: the vectors of these must not meet.
  for (; 2 * (k + width) <= m; k += width) {
    T *low = x + 2 * k, *high = x + 2 * (m - k - width + 1);
    const Lane<T> a = loadPairs(low), z = loadPairs(high), b = {reversed<T>(z.re), -reversed<T>(z.im)};
    const Lane<T> even = a + b, difference = a - b;
    const Lane<T> odd = timesMinusI<T>(difference) * loadPairs(roots + 2 * k);
    const Vector<T> factor = splat<T>(half);
    const Lane<T> first = even + odd, second = even - odd;
    storePairs<T>(low, {first.re * factor, first.im * factor});
    storePairs<T>(high, {reversed<T>(second.re) * factor, -reversed<T>(second.im) * factor});
  }
  for (; 2 * k <= m; ++k) {
    T *low = x + 2 * k, *high = x + 2 * (m - k);
    const T evenRe = low[0] + high[0], evenIm = low[1] - high[1], dRe = low[0] - high[0], dIm = low[1] + high[1];
    const T wRe = roots[2 * k], wIm = roots[2 * k + 1];
    const T oddRe = dIm * wRe + dRe * wIm, oddIm = dIm * wIm - dRe * wRe;
    // In the middle both are the same number, which the second one writes.
    low[0] = (evenRe + oddRe) * half;
    low[1] = (evenIm + oddIm) * half;
    high[0] = (evenRe - oddRe) * half;
    high[1] = -(evenIm - oddIm) * half;
  }
}

template <typename T> void join(const T *x, T *z, int64_t m, const T *roots, T inner) {
  constexpr int64_t width = kWidth<T>;
  const T half = inner / 2;
  z[0] = x[0] + x[2 * m];
  z[1] = x[0] - x[2 * m];
  int64_t k = 1;
  for (; 2 * (k + width) <= m; k += width) {
    const Lane<T> a = loadPairs(x + 2 * k), y = loadPairs(x + 2 * (m - k - width + 1));
    const Lane<T> b = {reversed<T>(y.re), -reversed<T>(y.im)};
    const Lane<T> w = loadPairs(roots + 2 * k), even = a + b, difference = a - b;
    // i conj(w) times the difference
    const Lane<T> odd = {difference.re * w.im - difference.im * w.re, difference.re * w.re + difference.im * w.im};
    const Vector<T> factor = splat<T>(half);
    const Lane<T> first = even + odd, second = even - odd;
    storePairs<T>(z + 2 * k, {first.re * factor, first.im * factor});
    storePairs<T>(z + 2 * (m - k - width + 1), {reversed<T>(second.re) * factor, -reversed<T>(second.im) * factor});
  }
  for (; 2 * k <= m; ++k) {
    const T *low = x + 2 * k, *high = x + 2 * (m - k);
    const T evenRe = low[0] + high[0], evenIm = low[1] - high[1], dRe = low[0] - high[0], dIm = low[1] + high[1];
    const T wRe = roots[2 * k], wIm = roots[2 * k + 1];
    const T oddRe = dRe * wIm - dIm * wRe, oddIm = dRe * wRe + dIm * wIm;
    T *first = z + 2 * k, *second = z + 2 * (m - k);
    first[0] = (evenRe + oddRe) * half;
    first[1] = (evenIm + oddIm) * half;
    second[0] = (evenRe - oddRe) * half;
    second[1] = -(evenIm - oddIm) * half;
  }
}

template <typename T> void multiply(const T *a, const T *b, T *to, int64_t count, T sign) {
  constexpr int64_t width = kWidth<T>;
  int64_t i = 0;
  for (; i + width <= count; i += width) {
    const Lane<T> x = loadPairs(a + 2 * i);
    storePairs<T>(to + 2 * i, Lane<T>{x.re, x.im * splat<T>(sign)} * loadPairs(b + 2 * i));
  }
  for (; i < count; ++i) {
    const T re = a[2 * i], im = a[2 * i + 1] * sign, bRe = b[2 * i], bIm = b[2 * i + 1];
    to[2 * i] = re * bRe - im * bIm;
    to[2 * i + 1] = re * bIm + im * bRe;
  }
}

template <typename T> constexpr FourierKernels<T> kernelsOf() {
  return {kWidth<T>, columns<T>, rows<T>, whole<T>, secondStep<T>, split<T>, join<T>, multiply<T>};
}
constexpr FourierKernelTable fourierTable() { return {kernelsOf<float>(), kernelsOf<double>()}; }

} // namespace
} // namespace calque::runtime
