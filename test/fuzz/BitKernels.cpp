// Bits and divisors of integers, of as many bits as the type has.
#include "test/fuzz/Kernels.h"

#include <bit>
#include <cstdint>
#include <numeric>

namespace calque::fuzz {

namespace {

// The operands as numbers of the type, and the bits that a result of it has.
struct Numbers {
  __int128 x, y;
  int bits;
  bool isUnsigned;
  bool isOut() const { return y < 0 || y >= bits; } // a count of places
  // The low bits of a number, as bits alone and as a number of the type.
  std::uint64_t bitsOf(__int128 z) const { return static_cast<std::uint64_t>(z) & (~std::uint64_t(0) >> (64 - bits)); }
  __int128 numberOf(__int128 z) const {
    const auto low = static_cast<__int128>(bitsOf(z));
    return isUnsigned || !(low >> (bits - 1) & 1) ? low : low - (static_cast<__int128>(1) << bits);
  }
};
std::uint64_t magnitude(__int128 x) { return static_cast<std::uint64_t>(x < 0 ? -x : x); }
std::uint64_t divisor(const Numbers &n) { return std::gcd(magnitude(n.x), magnitude(n.y)); }

// The low bits of a result, as a number of the type. A number that is off has other bits altogether.
template <__int128 (*f)(const Numbers &)> void bitsBy(const Call &call) {
  const DType dtype = call.dtype();
  const bool isBool = call.dtype() == DType::Bool;
  const int bits = isBool ? 1 : static_cast<int>(8 * size_of(call.dtype()));
  elementwiseBy(
      call,
      [=, count = call.x.size()](const Real *x) -> Real {
        for (std::size_t i = 0; i < count; ++i)
          if (!(std::fabs(x[i]) < 0x1p64L))
            return kUnknown;
        const Numbers numbers{static_cast<__int128>(x[0]), count > 1 ? static_cast<__int128>(x[1]) : 0, bits,
                              isBool || is_unsigned(dtype)};
        return static_cast<Real>(numbers.numberOf(f(numbers)));
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

__int128 bitwiseAnd(const Numbers &n) { return n.x & n.y; }
__int128 bitwiseOr(const Numbers &n) { return n.x | n.y; }
__int128 bitwiseXor(const Numbers &n) { return n.x ^ n.y; }
__int128 bitwiseNot(const Numbers &n) { return ~n.x; }
__int128 leftShift(const Numbers &n) { return n.isOut() ? 0 : static_cast<__int128>(n.bitsOf(n.x)) << n.y; }
__int128 rightShift(const Numbers &n) { return n.isOut() ? (n.x < 0 ? -1 : 0) : n.x >> n.y; }
__int128 popcount(const Numbers &n) { return std::popcount(n.bitsOf(n.x)); }
__int128 bitLength(const Numbers &n) { return std::bit_width(n.bitsOf(n.x)); }
__int128 gcd(const Numbers &n) { return divisor(n); }
// abs of the product, which may wrap.
__int128 lcm(const Numbers &n) {
  const std::uint64_t common = divisor(n);
  if (common == 0)
    return 0;
  const __int128 wrapped = n.numberOf(static_cast<__int128>(magnitude(n.x) / common * magnitude(n.y)));
  return wrapped < 0 ? -wrapped : wrapped;
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
