#include "test/fuzz/Kernels.h"

#include <array>

namespace calque::fuzz {

namespace {

void constant(const Call &call) {
  const schema::ConstantData &data = *call.attribute<schema::ConstantRef>(0);
  std::size_t size = size_of(call.dtype());
  for (std::int64_t i = 0; i < call.count(); ++i) {
    const void *at = data.bytes.data() + (data.splat ? 0 : static_cast<std::size_t>(i) * size);
    dispatch(call.dtype(), [&]<typename T>(std::type_identity<T>) {
      using Stored = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;
      call.out(i).value = static_cast<T>(*static_cast<const Stored *>(at));
    });
  }
}

void iotaAlong(const Call &call, std::int64_t axis) {
  for (std::int64_t i = 0; i < call.count(); ++i)
    call.out(i).value =
        roundTo(call.dtype(), static_cast<Real>(unravel(i, call.shape())[normal(axis, call.shape().size())]));
}
void iota(const Call &call) { iotaAlong(call, call.attribute<std::int64_t>(2)); }
void iotaOpen(const Call &call) { iotaAlong(call, call.attribute<std::int64_t>(3)); }

void sizeOf(const Call &call) {
  const Shape &shape = call.shape(0);
  call.out(0).value = static_cast<Real>(shape[normal(call.attribute<std::int64_t>(0), shape.size())]);
}

// Philox 4x32-10 (Salmon, Moraes, Dror and Shaw, 2011).
std::array<std::uint32_t, 4> philox(std::uint64_t key, std::uint64_t counter) {
  std::array<std::uint32_t, 4> c = {static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), 0,
                                    0};
  auto k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
    std::uint64_t a = 0xD2511F53ull * c[0], b = 0xCD9E8D57ull * c[2];
    c = {static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ k0, static_cast<std::uint32_t>(b),
         static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ k1, static_cast<std::uint32_t>(a)};
  }
  return c;
}
void randomUniform(const Call &call) {
  for (std::int64_t i : {0, 1})
    if (call.in(0, i).off > 0 || call.in(0, i).apart > 0)
      throw Undecided("a random state is not known exactly");
  auto word = [&](std::int64_t i) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(call.in(0, i).value));
  };
  bool isDouble = call.dtype() == DType::Float64;
  for (std::int64_t i = 0; i < call.count(); ++i) {
    auto position = static_cast<std::uint64_t>(i);
    std::array<std::uint32_t, 4> words = philox(word(0), word(1) + position / (isDouble ? 2 : 4));
    if (isDouble) {
      std::uint64_t bits = static_cast<std::uint64_t>(words[position % 2 * 2 + 1]) << 32 | words[position % 2 * 2];
      call.out(i).value = static_cast<Real>(bits >> 11) * 0x1p-53L;
    } else {
      call.out(i).value = static_cast<Real>(words[position % 4] >> 8) * 0x1p-24L;
    }
  }
}

} // namespace

const KernelTable &sourceKernels() {
  static const auto *table = new KernelTable{
      {"constant", constant},
      {"iota", iota},
      {"iota_open", iotaOpen},
      {"size_of", sizeOf},
      {"random_uniform", randomUniform},
      {"random_uniform_open", randomUniform},
  };
  return *table;
}

} // namespace calque::fuzz
