// Random numbers, the same for a seed in every process.
#ifndef CALQUE_TEST_FUZZ_RANDOM_H
#define CALQUE_TEST_FUZZ_RANDOM_H

#include <cstdint>
#include <random>
#include <vector>

namespace calque::fuzz {

class Random {
public:
  explicit Random(std::uint64_t seed) : engine(seed) {}
  std::uint64_t next() { return engine(); }
  int below(int n) { return static_cast<int>(engine() % static_cast<std::uint64_t>(n)); }
  bool chance(double p) { return static_cast<double>(engine() >> 11) * 0x1p-53 < p; }
  double uniform(double low, double high) {
    return low + (high - low) * (static_cast<double>(engine() >> 11) * 0x1p-53);
  }
  template <typename T> const T &of(const std::vector<T> &values) {
    return values[static_cast<std::size_t>(below(static_cast<int>(values.size())))];
  }

private:
  std::mt19937_64 engine;
};

// A seed of something within something.
inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a * 0x9e3779b97f4a7c15ull + b + 0x632be59bd9b4e019ull;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

} // namespace calque::fuzz
#endif
