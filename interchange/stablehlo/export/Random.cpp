// Random numbers: Calque's own, composed of operations on integers, so that they have the same bits.
#include "stablehlo/export/Emit.h"

#include "calque/calque.h"

#include <array>

namespace calque::stablehlo {

namespace {

constexpr std::uint64_t kLow = 0xFFFFFFFF;

Tensor wide(std::uint64_t number) { return calque::scalar<std::uint64_t>(number); }

// Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3; SC 2011) for a key and
// counters of 64 bits. Words of 32 bits are the lower halves of numbers of 64.
std::array<Tensor, 4> philox(const Tensor &key, const Tensor &counter) {
  auto low = [](const Tensor &x) { return bitwise_and(x, wide(kLow)); };
  auto high = [](const Tensor &x) { return right_shift(x, wide(32)); };
  const Tensor zero = wide(0);
  std::array<Tensor, 4> c = {low(counter), high(counter), zero, zero};
  Tensor k0 = low(key), k1 = high(key);
  for (int round = 0; round < 10; ++round) {
    const Tensor p0 = mul(c[0], wide(0xD2511F53)), p1 = mul(c[2], wide(0xCD9E8D57));
    c = {bitwise_xor(bitwise_xor(high(p1), c[1]), k0), low(p1), bitwise_xor(bitwise_xor(high(p0), c[3]), k1), low(p0)};
    k0 = low(add(k0, wide(0x9E3779B9)));
    k1 = low(add(k1, wide(0xBB67AE85)));
  }
  return c;
}

// Numbers in [0, 1): a float32 takes the upper 24 bits of one word, a float64 the upper 53 bits of two.
Tensor uniform(const Tensor &state, const Shape &shape, DType dtype) {
  const Tensor words = cast(state, DType::UInt64);
  const Tensor key = reshape(slice(words, {0}, {1}), Shape{}), base = reshape(slice(words, {1}, {2}), Shape{});
  Tensor linear = broadcast_to(wide(0), shape);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const Tensor place = iota(shape, DType::UInt64, static_cast<std::int64_t>(i));
    linear = i == 0 ? place : add(mul(linear, cast(shape[i], DType::UInt64)), place);
  }
  const bool isDouble = dtype == DType::Float64;
  const std::uint64_t perBlock = isDouble ? 2 : 4;
  const Tensor block = right_shift(linear, wide(isDouble ? 1 : 2)), lane = bitwise_and(linear, wide(perBlock - 1));
  const std::array<Tensor, 4> made = philox(key, add(base, block));
  auto pick = [&](std::initializer_list<Tensor> choices) {
    Tensor result = *choices.begin();
    std::uint64_t i = 0;
    for (const Tensor &each : choices)
      result = i == 0 ? result : where(equal(lane, wide(i)), each, result), ++i;
    return result;
  };
  if (!isDouble) {
    const Tensor bits = right_shift(pick({made[0], made[1], made[2], made[3]}), wide(8));
    return mul(cast(bits, dtype), cast(calque::scalar<double>(0x1p-24), dtype));
  }
  const Tensor lower = pick({made[0], made[2]}), upper = pick({made[1], made[3]});
  const Tensor bits = right_shift(bitwise_or(left_shift(upper, wide(32)), lower), wide(11));
  return mul(cast(bits, dtype), calque::scalar<double>(0x1p-53));
}

// The sizes are those of attributes, or of tensors that are operands.
Values randomUniform(Emit &e) {
  const Ints &shape = e.list("shape");
  const bool isOpen = e.op.name == "random_uniform_open";
  const Ints sizes = isOpen ? e.list("sizes") : Ints{};
  const DType dtype = *e.result().dtype;
  std::string name = "random_uniform_" + std::string(nameOf(dtype));
  for (std::int64_t size : shape)
    name += "_" + (size == kUnknownSize ? std::string("n") : std::to_string(size));
  for (std::int64_t each : sizes)
    name += "_" + std::to_string(each < 0 ? -each : each);
  return e.composed(name, e.operands(), [&](const std::vector<Tensor> &x) {
    Shape made;
    std::size_t next = 0;
    for (std::int64_t size : shape) {
      if (size != kUnknownSize) {
        made.push_back(Size(size));
        continue;
      }
      const Shape source = x[static_cast<std::size_t>(sizes[next])].shape();
      const std::int64_t axis =
          sizes[next + 1] < 0 ? sizes[next + 1] + static_cast<std::int64_t>(source.size()) : sizes[next + 1];
      made.push_back(source[static_cast<std::size_t>(axis)]);
      next += 2;
    }
    return std::vector<Tensor>{uniform(x[0], made, dtype)};
  });
}

constexpr Rule kRules[] = {{"random_uniform", randomUniform}, {"random_uniform_open", randomUniform}};

} // namespace

Rules randomRules() { return kRules; }

} // namespace calque::stablehlo
