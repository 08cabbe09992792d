// Fourier transforms against sums in long double, and all options against NumPy and SciPy.
#include "calque/fft.h"
#include "calque/warnings.h"
#include "test/Errors.h"
#include "test/operations/Linalg.h"

#include <complex>
#include <map>

using namespace calque;
using namespace calque::testing;

namespace {

using Exact = std::complex<Real>;

// The operands of fft_reference.py.
Tensor numbers(const Shape &shape) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < sizeOf(shape); ++i)
    values.push_back(static_cast<double>((7 * i * i + 3 * i + 1) % 23 - 11) / 4);
  return makeTensor(DType::Float64, values, shape);
}
Tensor pairs(const Shape &shape) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < sizeOf(shape); ++i)
    values.push_back(static_cast<double>((5 * i * i + 2 * i + 3) % 19 - 9) / 4);
  return complex(numbers(shape), makeTensor(DType::Float64, values, shape));
}

// All numbers, of complex ones both parts in turn.
std::vector<double> flatOf(const Tensor &x) {
  if (!is_complex(x.dtype()))
    return valuesOf(x);
  return valuesOf(stack({real(x), imag(x)}, x.rank()));
}

std::vector<Exact> rootsOf(std::int64_t n) {
  std::vector<Exact> roots;
  for (std::int64_t k = 0; k < n; ++k) {
    const Real angle = 2 * std::acos(Real(-1)) * static_cast<Real>(k) / static_cast<Real>(n);
    roots.emplace_back(std::cos(angle), -std::sin(angle));
  }
  return roots;
}

// The relative error of rows of frequencies, in units of eps log2(n), of which 4 are promised. Of many rows and of many
// frequencies some are computed.
void expectTransforms(const Tensor &x, const Tensor &spectra, std::int64_t n, bool isInverse, DType dtype) {
  const std::vector<double> from = flatOf(x), to = flatOf(spectra);
  const std::vector<Exact> roots = rootsOf(n);
  const bool isReal = !is_complex(x.dtype());
  const std::int64_t m = spectra.shape().back();
  const std::int64_t rows = sizeOf(spectra.shape()) / m, rowStep = rows > 4 ? 6 : 1, step = n > 300 ? n / 61 : 1;
  for (std::int64_t row = 0; row < rows; row += rowStep) {
    Real error = 0, norm = 0;
    for (std::int64_t k = 0; k < m; k += step) {
      Exact sum = 0;
      for (std::int64_t j = 0; j < n; ++j) {
        const auto at = static_cast<std::size_t>(row * n + j);
        const Exact number = isReal ? Exact(from[at]) : Exact(from[2 * at], from[2 * at + 1]);
        const Exact root = roots[static_cast<std::size_t>(j * k % n)];
        sum += number * (isInverse ? std::conj(root) : root);
      }
      const auto at = static_cast<std::size_t>(row * m + k);
      error += std::norm(Exact(to[2 * at], to[2 * at + 1]) - sum);
      norm += std::norm(sum);
    }
    EXPECT_LE(std::sqrt(error),
              4 * epsilonOf(dtype) * std::max(Real(1), std::log2(static_cast<Real>(n))) * std::sqrt(norm))
        << n << ", row " << row;
  }
}

Tensor randomComplex(std::mt19937 &random, DType dtype, const Shape &shape) {
  return complex(randomMatrices(random, dtype, shape), randomMatrices(random, dtype, shape));
}

} // namespace

TEST(Fft, AllLengthsAreExact) {
  std::mt19937 random(1);
  for (DType dtype : kFloats)
    for (std::int64_t n = 1; n <= 200; ++n) {
      const Tensor z = randomComplex(random, dtype, {2, n}), x = randomMatrices(random, dtype, {19, n});
      expectTransforms(z, fft::fft(z), n, false, dtype);
      expectTransforms(z, fft::ifft(z, {.norm = "forward"}), n, true, dtype);
      expectTransforms(x, fft::rfft(x), n, false, dtype);
      const Tensor columns = transpose(fft::fft(transpose(z), {.axis = 0}));
      expectTransforms(z, columns, n, false, dtype);
    }
}

TEST(Fft, LongLengthsAreExact) {
  std::mt19937 random(2);
  for (DType dtype : kFloats)
    // Whole ones, such in two steps, smooth ones, and primes.
    for (std::int64_t n : {256, 1000, 1024, 2187, 2310, 4096, 3721, 257, 1009, 4093}) {
      const Tensor z = randomComplex(random, dtype, {1, n}), x = randomMatrices(random, dtype, {1, n});
      expectTransforms(z, fft::fft(z), n, false, dtype);
      expectTransforms(x, fft::rfft(x), n, false, dtype);
    }
}

TEST(Fft, TransformsThatNoSumChecksComeBack) {
  std::mt19937 random(3);
  for (DType dtype : kFloats)
    for (std::int64_t n : {1 << 16, 1 << 18, 3 * 5 * 7 * 11 * 13, 65537, 100003}) {
      SCOPED_TRACE(n);
      const Tensor z = randomComplex(random, dtype, {n}), x = randomMatrices(random, dtype, {n});
      const double limit = static_cast<double>(epsilonOf(dtype)) * 40;
      auto distance = [&](const Tensor &a, const Tensor &b) {
        return valuesOf(cast(max(abs(a - b)), DType::Float64))[0];
      };
      EXPECT_LE(distance(fft::ifft(fft::fft(z)), z), limit);
      EXPECT_LE(distance(fft::irfft(fft::rfft(x), {.n = n}), x), limit);
      // One frequency alone.
      const double turn = 2 * std::acos(-1.0) * 5 / static_cast<double>(n);
      const Tensor angles = turn * iota({n}, DType::Float64);
      const Tensor wave = fft::fft(cast(complex(cos(angles), sin(angles)), z.dtype()), {.norm = "forward"});
      EXPECT_LE(distance(wave, cast(one_hot(scalar<std::int64_t>(5), n, dtype), z.dtype())), limit);
    }
}

namespace {

using Words = std::vector<std::string>; // of the name of a case

Tensor byName(const std::string &name, const Tensor &x, const fft::FftOptions &options) {
  static const std::map<std::string, Tensor (*)(const Operand &, fft::FftOptions)> functions{
      {"fft", fft::fft},     {"ifft", fft::ifft}, {"rfft", fft::rfft},
      {"irfft", fft::irfft}, {"hfft", fft::hfft}, {"ihfft", fft::ihfft}};
  return functions.at(name)(x, options);
}

struct Reference {
  const char *name;
  std::vector<std::int64_t> shape;
  std::vector<double> values;
};
const std::vector<Reference> &references() {
  static const std::vector<Reference> all{
#include "test/operations/FftReferences.inc"
  };
  return all;
}

Words wordsOf(const std::string &text) {
  std::istringstream stream(text);
  Words words;
  for (std::string word; stream >> word;)
    words.push_back(word);
  return words;
}

// The operands of a case, and the function of them.
struct Computed {
  std::vector<Tensor> inputs;
  std::function<Tensor(const std::vector<Tensor> &)> function;
};

Computed computedBy(const Words &words) {
  const std::string &name = words[0];
  const auto has = [&](std::initializer_list<const char *> names) {
    return std::any_of(names.begin(), names.end(), [&](const char *each) { return name == each; });
  };
  const bool isRealIn = has({"rfft", "ihfft", "rfftn", "rfft2"});
  if (has({"fft", "ifft", "rfft", "irfft", "hfft", "ihfft"})) {
    fft::FftOptions options{.axis = std::stoi(words[2]), .norm = words[3]};
    if (words[1] != "None")
      options.n = std::stoi(words[1]);
    return {{isRealIn ? numbers({3, 6}) : pairs({3, 6})},
            [=](const std::vector<Tensor> &x) { return byName(name, x[0], options); }};
  }
  using Several = Tensor (*)(const Operand &, fft::FftnOptions);
  static const std::map<std::string, Several> several{
      {"fftn", fft::fftn}, {"ifftn", fft::ifftn}, {"rfftn", fft::rfftn}, {"irfftn", fft::irfftn},
      {"fft2", fft::fft2}, {"ifft2", fft::ifft2}, {"rfft2", fft::rfft2}, {"irfft2", fft::irfft2}};
  if (auto found = several.find(name); found != several.end()) {
    static const fft::FftnOptions all[] = {{},
                                           {.s = {2, 5}, .axes = {0, 1}, .norm = "ortho"},
                                           {.s = {3, 3}, .axes = {-2, -1}, .norm = "forward"},
                                           {.axes = {2, 0}}};
    const fft::FftnOptions options = words.size() > 1 ? all[std::stoi(words[1])] : fft::FftnOptions();
    return {{isRealIn ? numbers({2, 3, 4}) : pairs({2, 3, 4})},
            [=](const std::vector<Tensor> &x) { return found->second(x[0], options); }};
  }
  if (has({"fftshift", "ifftshift"}))
    return {{numbers({2, 3, 4})}, [=](const std::vector<Tensor> &x) {
              return name == "fftshift" ? fft::fftshift(x[0], {0, 1}) : fft::ifftshift(x[0], {0, 1});
            }};
  if (has({"fftfreq", "rfftfreq"}))
    return {{}, [=](const std::vector<Tensor> &) {
              const fft::FrequencyOptions options{.d = 0.5, .dtype = DType::Float64};
              return name == "fftfreq" ? fft::fftfreq(std::stoi(words[1]), options)
                                       : fft::rfftfreq(std::stoi(words[1]), options);
            }};
  if (has({"dct", "idct", "dst", "idst"})) {
    if (words[1] == "axis")
      return {{numbers({3, 4})}, [](const std::vector<Tensor> &x) { return fft::dct(x[0], {.n = 5, .axis = 0}); }};
    static const std::map<std::string, Tensor (*)(const Operand &, fft::DctOptions)> functions{
        {"dct", fft::dct}, {"idct", fft::idct}, {"dst", fft::dst}, {"idst", fft::idst}};
    const fft::DctOptions options{.type = std::stoi(words[1]), .norm = words[3]};
    return {{numbers({std::stoi(words[2])})},
            [=](const std::vector<Tensor> &x) { return functions.at(name)(x[0], options); }};
  }
  if (name == "fftconvolve") {
    const bool isComplex = words.size() > 2;
    const fft::ConvolveOptions options{.mode = words[1], .axes = isComplex ? AxisList(1) : AxisList()};
    return {isComplex ? std::vector<Tensor>{pairs({2, 7}), pairs({2, 3})}
                      : std::vector<Tensor>{numbers({5, 4}), numbers({2, 3})},
            [=](const std::vector<Tensor> &x) { return fft::fftconvolve(x[0], x[1], options); }};
  }
  if (has({"stft", "istft"})) {
    fft::StftOptions options{.nperseg = 8};
    if (words[1] == "overlap")
      options.noverlap = 5;
    if (words[1] == "long")
      options.nfft = 11;
    if (words[1] == "bare")
      options.boundary = options.padded = false;
    if (words[1] == "hamming")
      options.noverlap = 6;
    if (words[1] == "bare" || words[1] == "hamming")
      options.window = fft::hamming(8, {.dtype = DType::Float64});
    if (name == "stft")
      return {{numbers({2, 21})}, [=](const std::vector<Tensor> &x) { return fft::stft(x[0], options); }};
    return {{fft::stft(numbers({2, 21}), options)},
            [=](const std::vector<Tensor> &x) { return fft::istft(x[0], options); }};
  }
  using Window = Tensor (*)(std::int64_t, fft::WindowOptions, SourceLocation);
  static const std::map<std::string, Window> windows{{"boxcar", fft::boxcar},
                                                     {"bartlett", fft::bartlett},
                                                     {"hann", fft::hann},
                                                     {"hamming", fft::hamming},
                                                     {"blackman", fft::blackman},
                                                     {"nuttall", fft::nuttall},
                                                     {"blackmanharris", fft::blackmanharris},
                                                     {"flattop", fft::flattop},
                                                     {"cosine", fft::cosine}};
  return {{}, [=](const std::vector<Tensor> &) {
            const std::int64_t n = std::stoi(words[1]);
            const fft::WindowOptions options{.sym = words[2] == "sym", .dtype = DType::Float64};
            if (name == "gaussian")
              return fft::gaussian(n, 1.5, options);
            if (name == "tukey")
              return fft::tukey(n, 0.6, options);
            if (name == "kaiser")
              return fft::kaiser(n, 8, options);
            return windows.at(name)(n, options, SourceLocation::current());
          }};
}

} // namespace

TEST(Fft, AllOptionsAreThoseOfNumPyAndSciPy) {
  for (const Reference &reference : references()) {
    SCOPED_TRACE(reference.name);
    const Computed computed = computedBy(wordsOf(reference.name));
    auto compiled = function<Tensor(const std::vector<Tensor> &)>(computed.function);
    for (const Tensor &found : {computed.function(computed.inputs), compiled(computed.inputs)}) {
      ASSERT_EQ(found.shape(), Shape(reference.shape));
      const std::vector<double> values = flatOf(found);
      ASSERT_EQ(values.size(), reference.values.size());
      for (std::size_t i = 0; i < values.size(); ++i)
        ASSERT_NEAR(values[i], reference.values[i], 1e-13 * (1 + std::fabs(reference.values[i])) + 1e-13) << i;
    }
  }
}

TEST(Fft, IsTheSameCompiledAndForAnySizes) {
  std::mt19937 random(4);
  for (DType dtype : kFloats) {
    const Tensor x = randomMatrices(random, dtype, {3, 4, 10}), y = randomMatrices(random, dtype, {3, 4, 10});
    everyWay(
        [](const std::vector<Tensor> &in) {
          const Tensor z = complex(in[0], in[1]);
          const Tensor last = fft::fft(z), middle = fft::ifft(z, {.axis = 1}), first = fft::fft(z, {.axis = 0});
          const Tensor cut = fft::fft(z, {.n = 7}), longer = fft::fft(z, {.n = 16}), all = fft::fftn(z);
          const Tensor half = fft::rfft(in[0], {.n = 12}), again = fft::irfft(half, {.n = 11});
          const Tensor moved = fft::fftshift(in[0], {1});
          std::vector<Tensor> results{again, moved};
          for (const Tensor &each : {last, middle, first, cut, longer, all, half}) {
            results.push_back(real(each));
            results.push_back(imag(each));
          }
          return results;
        },
        {x, y});
  }
}

TEST(Fft, ASequenceHasTheSameBitsInAnyBatchOnAnyNumberOfThreads) {
  std::mt19937 random(5);
  const int before = num_threads();
  for (DType dtype : kFloats)
    for (std::int64_t n : {5, 30, 256, 1001, 211, 1 << 15}) {
      SCOPED_TRACE(n);
      const std::int64_t count = n > 10000 ? 3 : 37;
      const Tensor z = randomComplex(random, dtype, {count, n});
      set_num_threads(2);
      const Tensor all = fft::fft(z), half = fft::rfft(real(z));
      set_num_threads(1);
      for (std::int64_t k : {std::int64_t(0), count - 1}) {
        expectSameBits(real(fft::fft(z[k])), real(all[k]));
        expectSameBits(imag(fft::fft(z[k])), imag(all[k]));
        expectSameBits(real(fft::rfft(real(z[k]))), real(half[k]));
      }
      expectSameBits(real(fft::fft(z)), real(all));
    }
  set_num_threads(before);
}

TEST(Fft, Derivatives) {
  std::mt19937 random(6);
  const Tensor x = randomTensor(random, {2, 5}, -1, 1), y = randomTensor(random, {2, 5}, -1, 1);
  // Of both parts, with a factor that differs from frequency to frequency.
  auto weighed = [](const Tensor &z) {
    const Tensor w = reshape(cos(iota({sizeOf(z.shape())}, DType::Float64)), z.shape());
    return is_complex(z.dtype()) ? real(z) * w + imag(z) * square(w) : z * w;
  };
  for (const char *norm : {"backward", "ortho"})
    for (std::int64_t axis : {0, 1}) {
      SCOPED_TRACE(std::string(norm) + " along " + std::to_string(axis));
      const fft::FftOptions options{.axis = axis, .norm = norm};
      expectAllDerivatives(
          [=](const std::vector<Tensor> &in) {
            return square(weighed(fft::fft(complex(in[0], in[1]), options))) +
                   weighed(fft::ifft(complex(in[1], in[0]), options));
          },
          {x, y}, 2, true);
      expectAllDerivatives([=](const std::vector<Tensor> &in) { return square(weighed(fft::rfft(in[0], options))); },
                           {x}, 2, true);
      for (std::int64_t n : {6, 9})
        expectDerivatives(
            [=](const std::vector<Tensor> &in) {
              return square(weighed(fft::irfft(complex(in[0], in[1]), {.n = n, .axis = axis, .norm = norm})));
            },
            {x, y}, 2);
    }
  // One part alone.
  expectDerivatives([](const std::vector<Tensor> &in) { return square(imag(fft::fft(in[0]))); }, {x}, 2);
  for (int type = 1; type <= 4; ++type) {
    expectDerivatives([=](const std::vector<Tensor> &in) { return square(fft::dct(in[0], {.type = type})); }, {x}, 1);
    expectDerivatives([=](const std::vector<Tensor> &in) { return square(fft::dst(in[0], {.type = type})); }, {x}, 1);
  }
  expectDerivatives([](const std::vector<Tensor> &in) { return fft::fftconvolve(in[0], in[1], {.mode = "same"}); },
                    {x, y}, 2);
  expectDerivatives(
      [](const std::vector<Tensor> &in) {
        const fft::StftOptions options{.nperseg = 4};
        const Tensor z = fft::stft(in[0], options);
        return square(fft::istft(complex(square(real(z)), imag(z)), options));
      },
      {x}, 1);
}

// Eagerly the window's numbers are there to be checked, and its derivative is that of the compiled function all the
// same.
TEST(Fft, DerivativesByTheWindow) {
  std::mt19937 random(17);
  const Tensor x = randomTensor(random, {2, 11}, -1, 1), window = randomTensor(random, {4}, 0.5, 1.5);
  auto loss = [x](const Tensor &w) {
    const fft::StftOptions options{.nperseg = 4, .window = w};
    const Tensor z = fft::stft(x, options);
    return sum(square(fft::istft(complex(square(real(z)), imag(z)), options)));
  };
  expectDerivatives([=](const std::vector<Tensor> &in) { return loss(in[0]); }, {window}, 2);
  GradientTape tape;
  tape.watch(window);
  const Tensor value = loss(window);
  const std::vector<double> eager = flatOf(*tape.gradient(value, window));
  const std::vector<double> compiled = flatOf(function(grad(loss))(window));
  ASSERT_EQ(eager.size(), compiled.size());
  for (std::size_t i = 0; i < eager.size(); ++i)
    EXPECT_NEAR(eager[i], compiled[i], 1e-12 * (1 + std::abs(compiled[i]))) << i;
}

TEST(Fft, DerivativesWithUnknownSizes) {
  std::mt19937 random(7);
  const Tensor x = randomTensor(random, {3, 6}, -1, 1), y = randomTensor(random, {3, 6}, -1, 1);
  expectOpenDerivatives(
      [](const std::vector<Tensor> &in) {
        const Tensor z = fft::fft(complex(in[0], in[1]));
        return square(real(z)) * imag(z);
      },
      {x, y});
}

TEST(Fft, Vmap) {
  std::mt19937 random(8);
  const Tensor z = randomComplex(random, DType::Float64, {4, 3, 5});
  auto close = [](const Tensor &a, const Tensor &b) {
    ASSERT_EQ(a.shape(), b.shape());
    const std::vector<double> found = flatOf(a), expected = flatOf(b);
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i], expected[i], 1e-13);
  };
  close(vmap([](const Tensor &x) { return fft::fft(x); })(z), fft::fft(z));
  close(vmap([](const Tensor &x) { return fft::fft(x, {.axis = 0}); })(z), fft::fft(z, {.axis = 1}));
  close(vmap([](const Tensor &x) { return fft::rfft(real(x)); })(z), fft::rfft(real(z)));
  close(vmap([](const Tensor &x) { return fft::irfft(x); })(z), fft::irfft(z));
}

TEST(Fft, EmptyAndSmallest) {
  for (DType dtype : {DType::Complex64, DType::Complex128}) {
    EXPECT_EQ(fft::fft(zeros({0, 5}, dtype)).shape(), Shape({0, 5}));
    EXPECT_EQ(fft::fft(zeros({0, 5}, dtype), {.n = 3}).shape(), Shape({0, 3}));
    EXPECT_EQ(fft::fft(zeros({5, 0}, dtype), {.axis = 0}).shape(), Shape({5, 0}));
    EXPECT_EQ(fft::irfft(zeros({0, 5}, dtype)).shape(), Shape({0, 8}));
    EXPECT_EQ(fft::rfft(zeros({0, 5}, real_of(dtype))).shape(), Shape({0, 3}));
    EXPECT_EQ(fft::rfft(zeros({0}, real_of(dtype)), {.n = 4}).shape(), Shape({3}));
  }
  EXPECT_EQ(flatOf(fft::fft(pairs({1}))), flatOf(pairs({1})));
  EXPECT_EQ(flatOf(fft::irfft(pairs({1}), {.n = 1})), flatOf(real(pairs({1}))));
  EXPECT_EQ(flatOf(fft::rfft(numbers({1}))), (std::vector<double>{-2.5, 0}));
}

TEST(Fft, WhatIsNotFiniteSpreads) {
  for (std::int64_t n : {4, 64, 67}) {
    Tensor x = concat({scalar<double>(std::numeric_limits<double>::infinity()) * ones({1}, DType::Float64),
                       zeros({n - 1}, DType::Float64)});
    for (double value : valuesOf(real(fft::fft(complex(x, x)))))
      EXPECT_FALSE(std::isfinite(value)) << n;
  }
}

TEST(Fft, NextFastLengths) {
  EXPECT_EQ(fft::next_fast_len(1), 1);
  EXPECT_EQ(fft::next_fast_len(7), 8);
  EXPECT_EQ(fft::next_fast_len(121), 125);
  EXPECT_EQ(fft::next_fast_len(1025), 1080);
  // Python's integers find the last ones.
  const std::int64_t last = 9216000000000000000;
  EXPECT_EQ(fft::next_fast_len((std::int64_t(1) << 62) + 1), 4613203125000000000);
  EXPECT_EQ(fft::next_fast_len(last), last);
  for (std::int64_t n : {last + 1, std::numeric_limits<std::int64_t>::max()})
    EXPECT_MESSAGE(ValueError, "next_fast_len: no such length from " + std::to_string(n) + " on is below 2^63",
                   fft::next_fast_len(n));
}

TEST(Fft, NumbersWithoutMemoryAreRefusedAtOnce) {
  for (std::int64_t shift : {40, 45, 55}) {
    const std::int64_t n = std::int64_t(1) << shift;
    using Window = Tensor (*)(std::int64_t, fft::WindowOptions, SourceLocation);
    for (Window window :
         std::initializer_list<Window>{fft::boxcar, fft::bartlett, fft::hann, fft::hamming, fft::blackman, fft::nuttall,
                                       fft::blackmanharris, fft::flattop, fft::cosine})
      EXPECT_THROW(window(n, {}, SourceLocation::current()), MemoryError);
    EXPECT_MESSAGE(MemoryError, "gaussian: there is no memory for float32[" + std::to_string(n) + "], which has ",
                   fft::gaussian(n, 1));
    EXPECT_THROW(fft::tukey(n), MemoryError);
    EXPECT_THROW(fft::kaiser(n, 8), MemoryError);
    EXPECT_THROW(fft::fftfreq(n, {.dtype = DType::Float16}), MemoryError);
    EXPECT_THROW(fft::rfftfreq(2 * n, {.dtype = DType::Float64}), MemoryError);
  }
  EXPECT_MESSAGE(MemoryError, "stft: there is no memory for int64[900001,100000]",
                 fft::stft(zeros({1000000}), {.nperseg = 100000, .noverlap = 99999, .boundary = false}));
}

// I0 overflows from 713 on, and the quotient does not.
TEST(Fft, KaiserWindowsOfLargeParameters) {
  const fft::WindowOptions wide{.dtype = DType::Float64};
  const std::vector<double> found = valuesOf(fft::kaiser(101, 600, wide));
  EXPECT_NEAR(found[49], std::exp(-600 * (1 - std::sqrt(1 - 4e-4))), 1e-3);
  const std::vector<double> below = valuesOf(fft::kaiser(201, 699.999, wide)),
                            above = valuesOf(fft::kaiser(201, 700.001, wide));
  for (std::size_t i = 0; i < below.size(); ++i)
    EXPECT_NEAR(below[i], above[i], 3e-3 * above[i] + 1e-300);
  for (double beta : {1e5, -1e300}) {
    const std::vector<double> narrow = valuesOf(fft::kaiser(5, beta));
    EXPECT_EQ(narrow, (std::vector<double>{0, 0, 1, 0, 0}));
  }
  EXPECT_MESSAGE(ValueError, "kaiser: beta must be finite, not inf",
                 fft::kaiser(5, std::numeric_limits<double>::infinity()));
}

// With scipy.signal.stft of SciPy 1.17.1 the shapes are [11,3] for 20 numbers, and [11,2] with noverlap = 5.
TEST(Fft, SegmentsAreNotLongerThanTheSignal) {
  const Tensor signal = numbers({2, 20});
  std::vector<std::string> warned;
  WarningHandler before = set_warning_handler([&](const Warning &warning) { warned.push_back(warning.message); });
  const Tensor found = fft::stft(signal), given = fft::stft(signal, {.nperseg = 64, .noverlap = 5});
  const Tensor bare = function([](const Tensor &x) { return fft::stft(x, {.boundary = false}); })(signal);
  set_warning_handler(before);
  EXPECT_EQ(warned, (std::vector<std::string>{
                        "stft: nperseg = 256 is more than the 20 numbers of float64[2,20], and 20 is taken",
                        "stft: nperseg = 64 is more than the 20 numbers of float64[2,20], and 20 is taken",
                        "stft: nperseg = 256 is more than the 20 numbers of float64[2,20], and 20 is taken"}));
  EXPECT_EQ(found.shape(), Shape({2, 11, 3}));
  EXPECT_EQ(given.shape(), fft::stft(signal, {.nperseg = 20, .noverlap = 5}).shape());
  EXPECT_EQ(bare.shape(), Shape({2, 11, 1}));
  EXPECT_EQ(flatOf(found), flatOf(fft::stft(signal, {.nperseg = 20})));
  const Tensor back = fft::istft(found, {.nperseg = 20});
  EXPECT_EQ(back.shape(), signal.shape());
  EXPECT_LT(valuesOf(max(abs(back - signal)))[0], 1e-14);
}

TEST(Fft, MisuseIsRefused) {
  const Tensor z = pairs({2, 3}), x = numbers({2, 3});
  EXPECT_MESSAGE(DTypeError, "fft: takes float32, float64, complex64 and complex128, not int32[3]",
                 fft::fft(ones({3}, DType::Int32)));
  EXPECT_MESSAGE(DTypeError, "rfft: takes float32 and float64, not float16[3]; use cast(x, DType::Float32)",
                 fft::rfft(ones({3}, DType::Float16)));
  EXPECT_MESSAGE(DTypeError, "rfft: takes float32 and float64, not complex128[2,3]; use real(x)", fft::rfft(z));
  EXPECT_MESSAGE(ValueError, "fft: axis 2 is out of range for a tensor of rank 2", fft::fft(z, {.axis = 2}));
  EXPECT_MESSAGE(ValueError, "fft: the length must be 1 or more, not 0", fft::fft(z, {.n = 0}));
  EXPECT_MESSAGE(ValueError, "irfft: the length must be 1 or more, not -3", fft::irfft(z, {.n = -3}));
  EXPECT_MESSAGE(ValueError, R"(ifft: the norm is "backward", "ortho" or "forward", not "orthogonal")",
                 fft::ifft(z, {.norm = "orthogonal"}));
  EXPECT_MESSAGE(ShapeError, "fft: there is no transform of no numbers, along axis 1 of complex64[2,0]",
                 fft::fft(zeros({2, 0}, DType::Complex64)));
  EXPECT_MESSAGE(ShapeError, "irfft: of 1 frequencies no length follows; give n", fft::irfft(pairs({1})));
  EXPECT_MESSAGE(ShapeError, "irfft: of 1 frequencies no length follows; give n, in float64[1]",
                 fft::irfft(numbers({1})));
  EXPECT_MESSAGE(ShapeError, "irfft2: of 1 frequencies no length follows; give n, in float64[2,1]",
                 fft::irfft2(numbers({2, 1})));
  EXPECT_MESSAGE(ShapeError, "hfft: of 1 frequencies no length follows; give n, in float64[1]",
                 fft::hfft(numbers({1})));
  EXPECT_MESSAGE(ValueError, "fftn: there are 1 lengths for 2 axes", fft::fftn(z, {.s = {3}, .axes = {0, 1}}));
  EXPECT_MESSAGE(ValueError, "rfftn: there is no axis of a scalar", fft::rfftn(scalar<double>(1)));
  EXPECT_MESSAGE(ValueError, "dct: the type is 1, 2, 3 or 4, not 5", fft::dct(x, {.type = 5}));
  EXPECT_MESSAGE(ValueError, R"(dct: the norm is "backward", "ortho" or "forward", not "")", fft::dct(x, {.norm = ""}));
  EXPECT_MESSAGE(ShapeError, "dct: type 1 takes 2 numbers or more, not float64[1]",
                 fft::dct(numbers({1}), {.type = 1}));
  EXPECT_MESSAGE(ShapeError, "fftconvolve: takes two tensors of one rank, not float64[2,3] and float64[3]",
                 fft::fftconvolve(x, numbers({3})));
  EXPECT_MESSAGE(DTypeError, "fftconvolve: takes two tensors of one type, not float64[2,3] and complex128[2,3]",
                 fft::fftconvolve(x, z));
  EXPECT_MESSAGE(ValueError, R"(fftconvolve: the mode is "full", "same" or "valid", not "all")",
                 fft::fftconvolve(x, x, {.mode = "all"}));
  EXPECT_MESSAGE(ValueError, "fftconvolve: for \"valid\" one operand must be as large as the other along all axes",
                 fft::fftconvolve(numbers({2, 3}), numbers({3, 2}), {.mode = "valid"}));
  EXPECT_MESSAGE(ShapeError, "fftconvolve: there is nothing to convolve along axis 0",
                 fft::fftconvolve(numbers({0}), numbers({3})));
  EXPECT_MESSAGE(ValueError, "hann: a window has 0 numbers or more, not -1", fft::hann(-1));
  EXPECT_MESSAGE(DTypeError, "hann: the result is of a float type, not int32", fft::hann(3, {.dtype = DType::Int32}));
  EXPECT_MESSAGE(ValueError, "fftfreq: the length must be 1 or more, not 0", fft::fftfreq(0));
  EXPECT_MESSAGE(ValueError, "fftfreq: the distance d of samples must be finite and not 0, not 0",
                 fft::fftfreq(4, {.d = 0}));
  EXPECT_MESSAGE(ValueError, "rfftfreq: the distance d of samples must be finite and not 0, not inf",
                 fft::rfftfreq(4, {.d = 1 / 0.0}));
  EXPECT_MESSAGE(ValueError, "gaussian: std must be above 0, not 0", fft::gaussian(3, 0));
  EXPECT_MESSAGE(ValueError, "gaussian: std must be above 0, not nan", fft::gaussian(3, 0.0 / 0.0));
  EXPECT_MESSAGE(ValueError, "tukey: alpha must be a number, not nan", fft::tukey(3, 0.0 / 0.0));
  EXPECT_MESSAGE(ValueError, "next_fast_len: the length must be 1 or more, not 0", fft::next_fast_len(0));
  const Tensor signal = numbers({20});
  EXPECT_MESSAGE(ValueError, "stft: noverlap must be from 0 to nperseg - 1 = 7, not 8",
                 fft::stft(signal, {.nperseg = 8, .noverlap = 8}));
  EXPECT_MESSAGE(ValueError, "stft: nfft must be nperseg = 8 or more, not 7",
                 fft::stft(signal, {.nperseg = 8, .nfft = 7}));
  EXPECT_MESSAGE(ShapeError, "stft: the window is float64 [8], not float64[7]",
                 fft::stft(signal, {.nperseg = 8, .window = fft::hann(7, {.dtype = DType::Float64})}));
  EXPECT_MESSAGE(ValueError, "stft: the window of 64 numbers is longer than the 20 of float64[20]",
                 fft::stft(signal, {.nperseg = 64, .window = fft::hann(64, {.sym = false, .dtype = DType::Float64})}));
  WarningHandler before = set_warning_handler([](const Warning &) {});
  EXPECT_MESSAGE(ValueError, "stft: noverlap must be from 0 to nperseg - 1 = 19, not 20",
                 fft::stft(signal, {.nperseg = 64, .noverlap = 20}));
  set_warning_handler(before);
  EXPECT_MESSAGE(ShapeError, "stft: there is no transform of no numbers, along axis 0", fft::stft(numbers({0})));
  EXPECT_MESSAGE(ShapeError, "stft: takes numbers along an axis, not float64[]", fft::stft(scalar<double>(1)));
  EXPECT_MESSAGE(ShapeError, "istft: takes complex numbers [..., frequencies, segments], not float64[20]",
                 fft::istft(signal));
  EXPECT_MESSAGE(ShapeError, "istft: a transform of 8 numbers has 5 frequencies, not complex128[4,3]",
                 fft::istft(pairs({4, 3}), {.nperseg = 8}));
  EXPECT_MESSAGE(ShapeError, "istft: there is no segment in complex128[5,0]",
                 fft::istft(pairs({5, 0}), {.nperseg = 8}));
  EXPECT_MESSAGE(ValueError, "istft: 1 segments of 8 numbers leave none between the boundaries",
                 fft::istft(pairs({5, 1}), {.nperseg = 8}));
  EXPECT_MESSAGE(ValueError, "istft: the squares of the windows sum to 0 at place 0",
                 fft::istft(pairs({5, 2}), {.nperseg = 8, .boundary = false}));
  // A size that no program knows.
  auto open =
      function([](const Tensor &y) { return fft::rfft(y); }, {.input_signature = {TensorSpec<float>({kDynamic})}});
  auto cosines =
      function([](const Tensor &y) { return fft::dct(y); }, {.input_signature = {TensorSpec<float>({kDynamic})}});
  EXPECT_MESSAGE(StateError, "dct: the size along axis 0 must be known while tracing, in float32[?]",
                 cosines(ones({4})));
  EXPECT_MESSAGE(ShapeError, "rfft: the length of the transform must be known while tracing", open(ones({4})));
}
