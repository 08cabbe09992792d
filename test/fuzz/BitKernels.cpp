// Bits and divisors of integers, of as many bits as the type has.
#include "test/fuzz/Kernels.h"

#include <bit>
#include <cstdint>
#include <numeric>

namespace calque::fuzz {

namespace {

// The operands as numbers of the type, and the bits that a result of it has.
struct Numbers {
  std::int64_t x, y;
  int bits;
  bool isOut() const { return y < 0 || y >= bits; } // a count of places
  // The bits of x as those of an unsigned number of the type.
  std::uint64_t unsignedX() const { return static_cast<std::uint64_t>(x) & (~std::uint64_t(0) >> (64 - bits)); }
};
std::uint64_t magnitude(std::int64_t x) {
  return x < 0 ? -static_cast<std::uint64_t>(x) : static_cast<std::uint64_t>(x);
}
std::uint64_t divisor(const Numbers &n) { return std::gcd(magnitude(n.x), magnitude(n.y)); }

// The low bits of a result, as a number of the type. A number that is off has other bits altogether.
template <std::uint64_t (*f)(const Numbers &)> void bitsBy(const Call &call) {
  const bool isBool = call.dtype() == DType::Bool;
  const int bits = isBool ? 1 : static_cast<int>(8 * size_of(call.dtype()));
  elementwiseBy(
      call,
      [=, count = call.x.size()](const Real *x) -> Real {
        for (std::size_t i = 0; i < count; ++i)
          if (!(std::fabs(x[i]) <= 0x1p63L) || x[i] == 0x1p63L)
            return kUnknown;
        std::uint64_t result =
            f({static_cast<std::int64_t>(x[0]), count > 1 ? static_cast<std::int64_t>(x[1]) : 0, bits});
        auto moved = static_cast<std::int64_t>(result << (64 - bits)) >> (64 - bits);
        return static_cast<Real>(isBool ? -moved : moved);
      },
      0);
  if (!call.machine)
    return;
  // Operands broadcast: whether any is off says enough.
  for (Real Num::*bound : {&Num::off, &Num::apart})
    for (std::size_t i = 0; i < call.x.size(); ++i)
      for (const Num &element : call[i].elements)
        if (element.*bound > 0) {
          for (std::int64_t k = 0; k < call.count(); ++k)
            call.out(k).*bound = kUnknown;
          break;
        }
}

std::uint64_t bitwiseAnd(const Numbers &n) { return static_cast<std::uint64_t>(n.x & n.y); }
std::uint64_t bitwiseOr(const Numbers &n) { return static_cast<std::uint64_t>(n.x | n.y); }
std::uint64_t bitwiseXor(const Numbers &n) { return static_cast<std::uint64_t>(n.x ^ n.y); }
std::uint64_t bitwiseNot(const Numbers &n) { return static_cast<std::uint64_t>(~n.x); }
std::uint64_t leftShift(const Numbers &n) { return n.isOut() ? 0 : static_cast<std::uint64_t>(n.x) << n.y; }
std::uint64_t rightShift(const Numbers &n) {
  return static_cast<std::uint64_t>(n.isOut() ? (n.x < 0 ? -1 : 0) : n.x >> n.y);
}
std::uint64_t popcount(const Numbers &n) { return static_cast<std::uint64_t>(std::popcount(n.unsignedX())); }
std::uint64_t bitLength(const Numbers &n) { return static_cast<std::uint64_t>(std::bit_width(n.unsignedX())); }
std::uint64_t gcd(const Numbers &n) { return divisor(n); }
// abs of the product, which may wrap.
std::uint64_t lcm(const Numbers &n) {
  std::uint64_t common = divisor(n);
  if (common == 0)
    return 0;
  std::uint64_t product = magnitude(n.x) / common * magnitude(n.y);
  auto wrapped = static_cast<std::int64_t>(product << (64 - n.bits)) >> (64 - n.bits);
  return magnitude(wrapped);
}

} // namespace

const KernelTable &bitKernels() {
  static const auto *table = new KernelTable{
      {"bitwise_and", bitsBy<bitwiseAnd>},
      {"bitwise_or", bitsBy<bitwiseOr>},
      {"bitwise_xor", bitsBy<bitwiseXor>},
      {"bitwise_not", bitsBy<bitwiseNot>},
      {"left_shift", bitsBy<leftShift>},
      {"right_shift", bitsBy<rightShift>},
      {"popcount", bitsBy<popcount>},
      {"bit_length", bitsBy<bitLength>},
      {"gcd", bitsBy<gcd>},
      {"lcm", bitsBy<lcm>},
  };
  return *table;
}

} // namespace calque::fuzz
