// Windows, spectra and mel filters. A Fourier transform is a product with the matrix of its sines and cosines: n^2
// operations for n points, of any length.
#include "onnx/Support.h"

#include <cmath>
#include <numbers>

namespace calque::onnx {

namespace {

constexpr double kPi = std::numbers::pi;

// a0 - a1 cos(2 pi i / n) + a2 cos(4 pi i / n); a symmetric window has n - 1 in place of n.
Tensor cosineWindow(const Call &call, double a0, double a1, double a2) {
  const std::int64_t size = call.integer(0);
  if (size < 0)
    call.refuse("a window of " + std::to_string(size) + " numbers");
  const auto n = static_cast<double>(call.flag("periodic", true) ? size : size - 1);
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < size; ++i) {
    const double at = n == 0 ? 0 : 2 * kPi * static_cast<double>(i) / n;
    numbers.push_back(a0 - a1 * std::cos(at) + a2 * std::cos(2 * at));
  }
  return ofNumbers(numbers, call.type("output_datatype", DType::Float32), Shape{Size(size)});
}

struct Complex {
  Tensor real, imaginary; // the latter is empty for real numbers
};

// The transform along the last axis, of `length` points, of which the first `bins` are kept.
Complex transformed(const Complex &x, std::int64_t length, std::int64_t bins, bool inverse) {
  const std::int64_t size = x.real.shape()[static_cast<std::size_t>(x.real.rank() - 1)], used = std::min(size, length);
  const DType dtype = x.real.dtype();
  std::vector<double> cosines, sines;
  const double scale = inverse ? 1.0 / static_cast<double>(length) : 1.0;
  for (std::int64_t i = 0; i < used; ++i)
    for (std::int64_t k = 0; k < bins; ++k) {
      const double at = 2 * kPi * static_cast<double>(i * k % length) / static_cast<double>(length);
      cosines.push_back(scale * std::cos(at));
      sines.push_back(scale * (inverse ? -std::sin(at) : std::sin(at)));
    }
  // Points beyond the length are left out, and those that are missing are zeros.
  auto cut = [&](const Tensor &part) { return sliceAlong(part, part.rank() - 1, 0, used); };
  const Tensor c = ofNumbers(cosines, dtype, {used, bins}), s = ofNumbers(sines, dtype, {used, bins});
  const Tensor real = cut(x.real);
  if (!x.imaginary.defined())
    return {matmul(real, c), -matmul(real, s)};
  const Tensor imaginary = cut(x.imaginary);
  return {matmul(real, c) + matmul(imaginary, s), matmul(imaginary, c) - matmul(real, s)};
}

// The last axis of a tensor has the real part alone, or also the imaginary one.
Complex partsOf(const Call &call, const Tensor &x) {
  const std::int64_t parts = x.rank() < 2 ? 0 : std::int64_t(x.shape()[static_cast<std::size_t>(x.rank() - 1)]);
  if (parts != 1 && parts != 2)
    call.refuse("an input of shape " + x.shape().str() + ": the last size is 1 for real numbers, 2 for complex ones");
  const std::vector<Tensor> all = unstack(x, x.rank() - 1);
  return {all[0], parts == 2 ? all[1] : Tensor()};
}

Results dft(const Call &call) {
  const Tensor x = call.tensor(0);
  const std::int64_t rank = x.rank();
  const std::int64_t named = call.version() < 20 ? call.integer("axis", 1) : call.has(2) ? call.integer(2) : -2;
  const std::int64_t axis = call.axis(named, rank);
  if (axis == rank - 1)
    call.refuse("axis " + std::to_string(named) + " is that of the real and imaginary parts");
  const bool inverse = call.flag("inverse", false), onesided = call.flag("onesided", false);
  if (inverse && onesided)
    call.refuse("inverse=1 with onesided=1 is not supported");
  const std::int64_t length = call.has(1) ? call.integer(1) : std::int64_t(x.shape()[static_cast<std::size_t>(axis)]);
  if (length < 1)
    call.refuse("a transform of " + std::to_string(length) + " points");
  Complex parts = partsOf(call, x);
  parts.real = moveaxis(parts.real, axis, -1);
  if (parts.imaginary.defined())
    parts.imaginary = moveaxis(parts.imaginary, axis, -1);
  const Complex y = transformed(parts, length, onesided ? length / 2 + 1 : length, inverse);
  return moveaxis(stack({y.real, y.imaginary}, rank - 1), rank - 2, axis);
}

Results stft(const Call &call) {
  const Tensor signal = call.tensor(0);
  if (signal.rank() != 3)
    call.refuse("a signal of rank " + std::to_string(signal.rank()) + ", expected 3");
  const std::int64_t step = call.integer(1), size = signal.shape()[1];
  if (!call.has(2) && !call.has(3))
    call.refuse("neither a window nor a frame_length is given");
  const std::int64_t length = call.has(3) ? call.integer(3) : std::int64_t(call.value(2).shape()[0]);
  if (step < 1 || length < 1 || length > size)
    call.refuse("frames of " + std::to_string(length) + " numbers, " + std::to_string(step) + " apart, of " +
                std::to_string(size));
  const std::int64_t frames = (size - length) / step + 1;
  std::vector<std::int64_t> places;
  for (std::int64_t frame = 0; frame < frames; ++frame)
    for (std::int64_t i = 0; i < length; ++i)
      places.push_back(frame * step + i);
  Complex parts = partsOf(call, signal);
  auto framed = [&](const Tensor &x) {
    const Tensor all = gather(x, ofIntegers(places, {frames, length}), 1);
    return call.has(2) ? all * call.tensor(2) : all;
  };
  const bool onesided = call.flag("onesided", true);
  const Complex y = transformed({framed(parts.real), parts.imaginary.defined() ? framed(parts.imaginary) : Tensor()},
                                length, onesided ? length / 2 + 1 : length, false);
  return stack({y.real, y.imaginary}, 3);
}

Results melWeights(const Call &call) {
  const std::int64_t filters = call.integer(0), length = call.integer(1), rate = call.integer(2);
  const double low = call.number(3), high = call.number(4);
  if (filters < 1 || length < 1 || rate < 1 || !(low >= 0) || !(high > low))
    call.refuse("filters from " + std::to_string(low) + " to " + std::to_string(high) + " Hz");
  const std::int64_t bins = length / 2 + 1;
  auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  auto hertz = [](double mels) { return 700 * (std::pow(10.0, mels / 2595) - 1); };
  // The bins at which the filters begin, have their peaks, and end.
  std::vector<std::int64_t> edges;
  for (std::int64_t i = 0; i < filters + 2; ++i) {
    const double at = mel(low) + static_cast<double>(i) * (mel(high) - mel(low)) / static_cast<double>(filters + 2);
    edges.push_back(
        static_cast<std::int64_t>(std::floor(static_cast<double>(length + 1) * hertz(at) / static_cast<double>(rate))));
  }
  std::vector<double> weights(static_cast<std::size_t>(bins * filters), 0);
  auto set = [&](std::int64_t bin, std::int64_t filter, double weight) {
    if (bin >= 0 && bin < bins)
      weights[static_cast<std::size_t>(bin * filters + filter)] = weight;
  };
  for (std::int64_t i = 0; i < filters; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const std::int64_t begin = edges[k], peak = edges[k + 1], end = edges[k + 2];
    if (peak == begin)
      set(peak, i, 1);
    for (std::int64_t bin = begin; peak > begin && bin <= peak; ++bin)
      set(bin, i, static_cast<double>(bin - begin) / static_cast<double>(peak - begin));
    for (std::int64_t bin = peak; bin < end; ++bin)
      set(bin, i, static_cast<double>(end - bin) / static_cast<double>(end - peak));
  }
  return ofNumbers(weights, call.type("output_datatype", DType::Float32), {bins, filters});
}

constexpr Operator kTable[] = {
    {"BlackmanWindow", {17}, 1, 1, 0b1, [](const Call &call) { return Results(cosineWindow(call, 0.42, 0.5, 0.08)); }},
    {"DFT", {17, 20}, 1, 3, 0b110, dft},
    {"HammingWindow",
     {17},
     1,
     1,
     0b1,
     [](const Call &call) { return Results(cosineWindow(call, 25.0 / 46, 21.0 / 46, 0)); }},
    {"HannWindow", {17}, 1, 1, 0b1, [](const Call &call) { return Results(cosineWindow(call, 0.5, 0.5, 0)); }},
    {"MelWeightMatrix", {17}, 5, 5, 0b11111, melWeights},
    {"STFT", {17}, 2, 4, 0b1010, stft},
};

} // namespace

Table signalOperators() { return kTable; }

} // namespace calque::onnx
