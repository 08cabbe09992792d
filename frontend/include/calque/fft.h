// Fourier transforms, and what is computed by them.
//
//   Tensor spectrum = fft::rfft(signal);                            // [..., n / 2 + 1]
//   Tensor again = fft::irfft(spectrum, {.n = 1000});               // [..., 1000]
//   Tensor slope = real(fft::ifft(complex(0, k) * fft::fft(u)));    // of a periodic u
//   Tensor picture = abs(fft::stft(sound, {.nperseg = 512}));       // a spectrogram
//
// Names and options are those of NumPy and SciPy. Transforms run along one axis, the last one by default, or along
// several. They have any length, and all other dimensions may be unknown while tracing. The time grows as n log n for
// each n, primes too. All have derivatives of any order, in both modes.
//
// Element types are complex64 and complex128, and float32 and float64 where real numbers do; a function of complex
// numbers takes real ones as such. DTypeError for others: halves and integers are not converted. ShapeError for a
// transform of no numbers, ValueError for an axis that is not there or is given twice, for a length below 1, and for
// another word in `norm`. See docs/fft.md.
#ifndef CALQUE_FFT_H
#define CALQUE_FFT_H

#include "calque/functions.h"

#include <optional>
#include <string>
#include <vector>

namespace calque::fft {

//===-- Transforms ------------------------------------------------------------------------------===//

struct FftOptions {
  // The length along the axis. The operand is cut, or filled up with zeros behind its end. None: the operand's.
  std::optional<std::int64_t> n = std::nullopt;
  std::int64_t axis = -1;
  // By what a transform is multiplied: "backward" leaves the one forward as it is and divides the inverse one by n,
  // "forward" does it the other way round, and "ortho" divides both by the root of n.
  std::string norm = "backward";
};

// X[k] = sum over j of x[j] exp(-2 pi i j k / n), and with + i, divided by n, the inverse.
CALQUE_API Tensor fft(const Operand &x, FftOptions options = {});
CALQUE_API Tensor ifft(const Operand &x, FftOptions options = {});

// The transform of real numbers, of which the frequencies up to n / 2 determine the others: n / 2 + 1 of them, rounded
// down. The length must be known while tracing, or be given.
CALQUE_API Tensor rfft(const Operand &x, FftOptions options = {});
// The inverse: n real numbers, by default 2 (m - 1) of m frequencies. Imaginary parts of frequencies that are their own
// conjugates are not read, that of 0 and for an even n the one of n / 2.
CALQUE_API Tensor irfft(const Operand &x, FftOptions options = {});

// The real spectrum of numbers x[j] that are conjugates of x[-j], of which the first n / 2 + 1 are given; n is by
// default 2 (m - 1). And half of the numbers whose spectrum is real. Their norms are those of fft and ifft.
CALQUE_API Tensor hfft(const Operand &x, FftOptions options = {});
CALQUE_API Tensor ihfft(const Operand &x, FftOptions options = {});

struct FftnOptions {
  // The lengths along the axes; -1 keeps that of the operand. None: those of the operand.
  std::vector<std::int64_t> s = {};
  // None: all axes, or the last ones, as many as there are lengths. For the functions of two axes: the last two.
  AxisList axes = {};
  std::string norm = "backward";
};
// Transforms along several axes. Those of real numbers are such along the last of the axes, and complex along the
// others.
CALQUE_API Tensor fftn(const Operand &x, FftnOptions options = {});
CALQUE_API Tensor ifftn(const Operand &x, FftnOptions options = {});
CALQUE_API Tensor rfftn(const Operand &x, FftnOptions options = {});
CALQUE_API Tensor irfftn(const Operand &x, FftnOptions options = {});
CALQUE_API Tensor fft2(const Operand &x, FftnOptions options = {});
CALQUE_API Tensor ifft2(const Operand &x, FftnOptions options = {});
CALQUE_API Tensor rfft2(const Operand &x, FftnOptions options = {});
CALQUE_API Tensor irfft2(const Operand &x, FftnOptions options = {});

//===-- Frequencies -----------------------------------------------------------------------------===//

// Moves the frequency 0 to the middle of axes, and back; no axes mean all. Any element type.
CALQUE_API Tensor fftshift(const Operand &x, const AxisList &axes = {});
CALQUE_API Tensor ifftshift(const Operand &x, const AxisList &axes = {});

struct FrequencyOptions {
  double d = 1;                              // the distance of samples
  std::optional<DType> dtype = std::nullopt; // none: the default type
};
// The frequencies of fft and of rfft, in cycles for each unit of d: 0, 1, ..., -2, -1, divided by n d. ValueError for n
// below 1. DTypeError for types other than floats.
CALQUE_API Tensor fftfreq(std::int64_t n, FrequencyOptions options = {},
                          SourceLocation where = SourceLocation::current());
CALQUE_API Tensor rfftfreq(std::int64_t n, FrequencyOptions options = {},
                           SourceLocation where = SourceLocation::current());

// The smallest length from n on whose prime factors are 2, 3 and 5 alone, which is fast. ValueError for n below 1, and
// for one above the largest such length below 2^63, which is 9216000000000000000.
CALQUE_API std::int64_t next_fast_len(std::int64_t n, SourceLocation where = SourceLocation::current());

//===-- Cosine and sine transforms --------------------------------------------------------------===//

struct DctOptions {
  int type = 2; // 1 to 4
  std::optional<std::int64_t> n = std::nullopt;
  std::int64_t axis = -1;
  // As for fft, where 2 n stands for the length, or for type 1 2 (n - 1) of dct and 2 (n + 1) of dst. With "ortho" the
  // matrix of the transform is orthogonal: its first and last rows or columns are scaled too.
  std::string norm = "backward";
};
// Discrete cosine and sine transforms of real numbers, as SciPy defines them: dct of type 2 is
// y[k] = 2 sum over j of x[j] cos(pi k (2 j + 1) / (2 n)). The functions with i are the inverse ones of that type.
// ValueError for another type, and for dct of type 1 of less than 2 numbers. The length must be known while tracing.
CALQUE_API Tensor dct(const Operand &x, DctOptions options = {});
CALQUE_API Tensor idct(const Operand &x, DctOptions options = {});
CALQUE_API Tensor dst(const Operand &x, DctOptions options = {});
CALQUE_API Tensor idst(const Operand &x, DctOptions options = {});

//===-- Convolutions ----------------------------------------------------------------------------===//

struct ConvolveOptions {
  std::string mode = "full"; // or "same", as large as a, from the middle, or "valid": where one covers the other
  AxisList axes = {};        // none: all
};
// The convolution of two tensors of the same rank and type by transforms: time n log n. Other dimensions than the axes
// broadcast. Sizes along the axes must be known. ValueError for another mode, and for "valid" where neither is as large
// as the other in each of the axes.
CALQUE_API Tensor fftconvolve(const Operand &a, const Operand &b, ConvolveOptions options = {});

//===-- Windows ---------------------------------------------------------------------------------===//

struct WindowOptions {
  bool sym =
      true; // symmetric, for filters; else periodic, for spectra: a symmetric one of n + 1 without its last number
  std::optional<DType> dtype = std::nullopt; // none: the default type
};
// n numbers, computed in float64 and rounded. ValueError for a negative n, DTypeError for types other than floats,
// MemoryError for more numbers than there is memory for.
CALQUE_API Tensor boxcar(std::int64_t n, WindowOptions options = {}, SourceLocation where = SourceLocation::current());
CALQUE_API Tensor bartlett(std::int64_t n, WindowOptions options = {},
                           SourceLocation where = SourceLocation::current());
CALQUE_API Tensor hann(std::int64_t n, WindowOptions options = {}, SourceLocation where = SourceLocation::current());
CALQUE_API Tensor hamming(std::int64_t n, WindowOptions options = {}, SourceLocation where = SourceLocation::current());
CALQUE_API Tensor blackman(std::int64_t n, WindowOptions options = {},
                           SourceLocation where = SourceLocation::current());
CALQUE_API Tensor nuttall(std::int64_t n, WindowOptions options = {}, SourceLocation where = SourceLocation::current());
CALQUE_API Tensor blackmanharris(std::int64_t n, WindowOptions options = {},
                                 SourceLocation where = SourceLocation::current());
CALQUE_API Tensor flattop(std::int64_t n, WindowOptions options = {}, SourceLocation where = SourceLocation::current());
CALQUE_API Tensor cosine(std::int64_t n, WindowOptions options = {}, SourceLocation where = SourceLocation::current());
CALQUE_API Tensor gaussian(std::int64_t n, double std, WindowOptions options = {},
                           SourceLocation where = SourceLocation::current());
CALQUE_API Tensor tukey(std::int64_t n, double alpha = 0.5, WindowOptions options = {},
                        SourceLocation where = SourceLocation::current());
CALQUE_API Tensor kaiser(std::int64_t n, double beta, WindowOptions options = {},
                         SourceLocation where = SourceLocation::current());

//===-- Short-time transforms -------------------------------------------------------------------===//

struct StftOptions {
  std::int64_t nperseg = 256; // numbers in a segment; stft of fewer numbers takes as many as there are, with a warning
  std::optional<std::int64_t> noverlap = std::nullopt; // how many of them the next one has too; none: half of them
  std::optional<std::int64_t> nfft = std::nullopt;     // the length of a transform; none: nperseg
  std::optional<Tensor> window = std::nullopt;         // [nperseg]; none: hann, periodic
  // Zeros in front and behind, half a segment each, so that each number stands in the middle of some segment; and
  // behind, so many that all numbers are in segments.
  bool boundary = true, padded = true;
};
// The transforms of segments of real numbers [..., length], as scipy.signal.stft gives them with its scaling
// "spectrum":
// [..., nfft / 2 + 1, segments], divided by the sum of the window. The length must be known while tracing. For a
// signal that is shorter than nperseg, nperseg is its length, with a warning, and so is what follows from it: noverlap
// and nfft that are not given, and the window. istft takes that nperseg. ValueError for options that don't fit: a given
// noverlap of nperseg or more, a given nfft below it, and a given window that is longer than the signal. ShapeError for
// a signal of no numbers.
CALQUE_API Tensor stft(const Operand &x, StftOptions options = {});
// The numbers of which stft made this, with the same options, [..., length]: overlapping segments are added, and
// divided by the sum of the squares of windows. As in SciPy, the result may have more numbers than there were, zeros
// that were added. ValueError where that sum is 0 somewhere within, so that a number can't be found.
CALQUE_API Tensor istft(const Operand &z, StftOptions options = {});

} // namespace calque::fft
#endif
