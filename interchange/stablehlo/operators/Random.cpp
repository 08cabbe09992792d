// Random numbers: those of ThreeFry are XLA's, bit by bit, those without an algorithm are Calque's.
#include "stablehlo/Support.h"

#include "calque/random.h"

#include <array>

namespace calque::stablehlo {

namespace {

Tensor word(std::uint32_t bits) { return tensor_from_bytes(DType::UInt32, std::as_bytes(std::span(&bits, 1)), {}); }
Tensor rotated(const Tensor &x, int by) {
  return bitwise_or(left_shift(x, word(static_cast<std::uint32_t>(by))),
                    right_shift(x, word(static_cast<std::uint32_t>(32 - by))));
}
Tensor low(const Tensor &x) { return cast(x, DType::UInt32); }
Tensor high(const Tensor &x) { return cast(right_shift(x, cast(word(32), DType::UInt64)), DType::UInt32); }

// Threefry-2x32 with 20 rounds (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, 2011).
std::array<Tensor, 2> threefry(std::array<Tensor, 2> x, const std::array<Tensor, 2> &key) {
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const std::array<Tensor, 3> keys{key[0], key[1], bitwise_xor(bitwise_xor(key[0], key[1]), word(0x1BD11BDA))};
  x = {x[0] + keys[0], x[1] + keys[1]};
  for (std::uint32_t round = 0; round < 5; ++round) {
    for (int by : kRotations[round % 2]) {
      x[0] = x[0] + x[1];
      x[1] = bitwise_xor(x[0], rotated(x[1], by));
    }
    x = {x[0] + keys[(round + 1) % 3], x[1] + keys[(round + 2) % 3] + word(round + 1)};
  }
  return x;
}

Results bits(const Call &call) {
  const std::string algorithm = call.word("rng_algorithm", "DEFAULT");
  if (algorithm != "THREE_FRY")
    call.refuse("the algorithm '" + algorithm + "'; THREE_FRY is known");
  const Tensor state = call.tensor(0);
  if (state.dtype() != DType::UInt64 || state.rank() != 1 || state.shape()[0] != 2)
    call.refuse("a state that is no tensor<2xui64>");
  const Shape shape = call.shape(1);
  const DType dtype = call.dtype(1);
  if (!is_integer(dtype) || size_of(dtype) < 4)
    call.refuse("numbers of the type " + std::string(name_of(dtype)) + "; integers of 32 and 64 bits are known");
  std::int64_t count = 1;
  for (const Size &each : shape)
    count *= each;
  const std::vector<Tensor> parts = unstack(state);
  const bool isWide = size_of(dtype) == 8;
  // Two words of 32 bits from each counter: one number of 64 bits, or two that are next to each other along the first
  // dimension of an even size; if there is none, along the largest.
  Shape halves = shape.empty() ? Shape{1} : shape;
  std::size_t axis = 0;
  for (std::size_t i = 1; i < halves.size(); ++i)
    if (halves[axis] % 2 != 0 && (halves[i] % 2 == 0 || halves[i] > halves[axis]))
      axis = i;
  halves[axis] = Size((halves[axis] + 1) / 2);
  std::int64_t counters = count;
  if (!isWide) {
    counters = 1;
    for (const Size &each : halves)
      counters *= each;
  }
  const Tensor counter = parts[1] + cast(iota({Size(counters)}, DType::Int64), DType::UInt64);
  const std::array<Tensor, 2> made = threefry({low(counter), high(counter)}, {low(parts[0]), high(parts[0])});
  Tensor numbers;
  if (isWide) {
    numbers = bitwise_or(cast(made[0], DType::UInt64),
                         left_shift(cast(made[1], DType::UInt64), cast(word(32), DType::UInt64)));
  } else {
    const auto at = static_cast<std::int64_t>(axis);
    Shape doubled = halves;
    doubled[axis] = Size(2 * halves[axis]);
    numbers = reshape(stack({reshape(made[0], halves), reshape(made[1], halves)}, at + 1), doubled);
    numbers = split(numbers, {shape.empty() ? std::int64_t(1) : std::int64_t(shape[axis]), -1}, at)[0];
  }
  const Tensor next = stack({parts[0], parts[1] + cast(ofIntegers({counters}, {}), DType::UInt64)});
  return {next, reshape(as(numbers, dtype), shape)};
}

Results drawn(const Call &call) {
  const std::string distribution = call.word("rng_distribution", "UNIFORM");
  const Tensor a = call.tensor(0), b = call.tensor(1);
  const Numbers sizes = call.known(2);
  const DType dtype = call.dtype();
  if (distribution == "NORMAL" && is_floating(dtype))
    return a + b * random::normal(Shape(sizes), {.dtype = dtype});
  if (distribution != "UNIFORM")
    call.refuse("the distribution '" + distribution + "' of elements of the type " + name_of(dtype));
  if (is_floating(dtype))
    return a + (b - a) * random::uniform(Shape(sizes), {.dtype = dtype});
  const Tensor u = random::uniform(Shape(sizes), {.dtype = DType::Float64});
  return cast(floor(cast(a, DType::Float64) + (cast(b, DType::Float64) - cast(a, DType::Float64)) * u), dtype);
}

constexpr Operator kTable[] = {
    {"stablehlo.rng", 3, 3, drawn},
    {"stablehlo.rng_bit_generator", 1, 1, bits},
};

} // namespace

Table randomOperators() { return kTable; }

} // namespace calque::stablehlo
