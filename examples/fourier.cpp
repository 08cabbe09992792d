// Fourier transforms: a spectrogram, a filter that is fitted through its spectrum, and a fluid computed by its waves.
#include <calque/arrays.h>
#include <calque/calque.h>

#include <cmath>
#include <complex>
#include <iostream>

using namespace calque;

const double kPi = std::acos(-1.0);

// The shock of Burgers' equation u_t + u u_x = nu u_xx on a circle, by its waves: derivatives multiply a wave by i k.
// Steps of Runge and Kutta, and two thirds of the waves, so that products don't disguise themselves as others (Orszag
// 1971).
Tensor burgers(const Tensor &start, const Tensor &viscosity) {
  const std::int64_t n = start.shape()[0];
  const Tensor k = fft::rfftfreq(n, {.d = 1.0 / static_cast<double>(n), .dtype = DType::Float64}), none = zeros_like(k);
  const Tensor slope = complex(none, k), kept = cast(k < static_cast<double>(n) / 3, DType::Float64);
  auto rate = [&](const Tensor &waves) {
    const Tensor u = fft::irfft(waves, {.n = n});
    const Tensor product = fft::rfft(0.5 * square(u));
    return -complex(kept, none) * (slope * product) - complex(viscosity * square(k), none) * waves;
  };
  const std::complex<double> step(0.002, 0), half = step / 2.0;
  Tensor waves = fft::rfft(start);
  for (Tensor i : range(400)) {
    const Tensor a = rate(waves), b = rate(waves + half * a), c = rate(waves + half * b), d = rate(waves + step * c);
    waves = waves + step / 6.0 * (a + 2 * b + 2 * c + d);
  }
  return fft::irfft(waves, {.n = n});
}

int main() {
  // A tone that rises from 100 to 400 cycles a second. Where is most of its sound?
  const std::int64_t rate = 2048;
  const Tensor t = iota({2 * rate}, DType::Float64) / static_cast<double>(rate);
  const Tensor tone = sin(2 * kPi * (100 * t + 75 * square(t)));
  const fft::StftOptions options{.nperseg = 256, .noverlap = 128};
  auto spectrogram = function([&](const Tensor &sound) { return abs(fft::stft(sound, options)); });
  const Tensor picture = spectrogram(tone), loudest = argmax(picture, 0) * (rate / 256);
  std::cout << "spectrogram " << picture.shape() << ", the tone is at " << loudest[8] << " and then at " << loudest[24]
            << '\n';

  // A filter of 32 numbers is found by what it does to a signal: the gradient goes through the transforms.
  const Tensor signal = random::normal({512}, {.dtype = DType::Float64});
  const Tensor wanted = exp(-iota({32}, DType::Float64) / 5), heard = fft::fftconvolve(signal, wanted);
  auto improve = function([&](const Tensor &filter) {
    auto loss = [&](const Tensor &w) { return mean(square(fft::fftconvolve(signal, w) - heard)); };
    return filter - 0.3 * grad(loss)(filter);
  });
  Tensor filter = zeros({32}, DType::Float64);
  for (int i = 0; i < 200; ++i)
    filter = improve(filter);
  std::cout << "filter      " << (max(abs(filter - wanted)) < 1e-3 ? "found" : "not found") << '\n';

  // The energy of a fluid, and how it changes with the viscosity.
  const Tensor x = 2 * kPi * iota({128}, DType::Float64) / 128.0;
  auto energy = [&](const Tensor &viscosity) { return mean(square(burgers(sin(x), viscosity))); };
  auto [value, slope] = function(value_and_grad(energy))(scalar<double>(0.05));
  std::cout << "fluid       " << round(value, 4) << ", by viscosity " << round(slope, 3) << '\n';
}
