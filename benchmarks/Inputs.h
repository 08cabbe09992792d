// The deterministic inputs that all systems are measured on, so that their results can be compared.
#ifndef CALQUE_BENCHMARKS_INPUTS_H
#define CALQUE_BENCHMARKS_INPUTS_H

#include "calque/calque.h"

namespace calque::benchmarks {

// Uniform float32 values in [lo, hi): u_k = mix(seed * 2^32 + k) / 2^24, where mix is the finaliser of MurmurHash3.
inline Tensor lcg(std::uint64_t seed, Shape shape, float lo = -1, float hi = 1, float scale = 1) {
  std::int64_t count = 1;
  for (std::int64_t dim : shape)
    count *= dim;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint64_t k = i + (seed << 32);
    k ^= k >> 33;
    k *= 0xFF51AFD7ED558CCDULL;
    k ^= k >> 33;
    k *= 0xC4CEB9FE1A85EC53ULL;
    k ^= k >> 33;
    values[i] = (lo + (hi - lo) * (static_cast<float>(k >> 40) / static_cast<float>(1 << 24))) * scale;
  }
  return tensor(values, std::move(shape));
}

} // namespace calque::benchmarks
#endif
