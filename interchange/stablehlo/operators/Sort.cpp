// Sorting by any comparison, and the largest elements.
#include "stablehlo/Support.h"

#include <algorithm>

namespace calque::stablehlo {

namespace {

// The comparison of two elements of one operand: LT or GT of its number, and how NaN and zeros of both signs are
// ordered.
struct Order {
  std::size_t operand = 0;
  bool descends = false;
  bool isTotal = false; // -0 before 0, NaN by their signs
};

const Operation *definition(const Region &region, int value) {
  for (const Operation &each : region.operations)
    if (!each.results.empty() && each.results[0] == value)
      return &each;
  return nullptr;
}
std::string wordOf(const Operation &operation, const char *name, const char *placed) {
  const Attribute *found = operation.find(name);
  if (!found)
    found = operation.find(placed);
  return found ? found->text : "";
}
// The argument of which this is a copy that has one zero and one NaN, as JAX makes it: select(x == 0, 0, x), then
// select(x != x, NaN, ...).
int plainOf(const Region &region, int value, bool &isCanonical) {
  const Operation *made = definition(region, value);
  if (!made || made->name != "stablehlo.select")
    return value;
  const Operation *isNan = definition(region, made->operands[0]);
  const Operation *inner = definition(region, made->operands[2]);
  if (!isNan || !inner || isNan->name != "stablehlo.compare" || inner->name != "stablehlo.select" ||
      isNan->operands[0] != isNan->operands[1] || wordOf(*isNan, "comparison_direction", "word0") != "NE")
    return value;
  const Operation *isZero = definition(region, inner->operands[0]);
  if (!isZero || isZero->name != "stablehlo.compare" || wordOf(*isZero, "comparison_direction", "word0") != "EQ" ||
      isZero->operands[0] != inner->operands[2] || isNan->operands[0] != inner->operands[2])
    return value;
  for (int each : {isZero->operands[1], inner->operands[1], made->operands[1]}) {
    const Operation *constant = definition(region, each);
    if (!constant || constant->name != "stablehlo.constant")
      return value;
  }
  isCanonical = true;
  return inner->operands[2];
}

std::optional<Order> orderOf(const Region &region) {
  const Operation &back = region.operations.back();
  if (back.operands.size() != 1)
    return {};
  const Operation *compare = definition(region, back.operands[0]);
  if (!compare || compare->name != "stablehlo.compare")
    return {};
  const std::string direction = wordOf(*compare, "comparison_direction", "word0");
  if (direction != "LT" && direction != "GT")
    return {};
  bool isCanonical = false, isOther = false;
  const int a = plainOf(region, compare->operands[0], isCanonical), b = plainOf(region, compare->operands[1], isOther);
  const auto first = std::ranges::find(region.arguments, a), second = std::ranges::find(region.arguments, b);
  if (first == region.arguments.end() || second == region.arguments.end() || isCanonical != isOther)
    return {};
  const auto i = first - region.arguments.begin(), k = second - region.arguments.begin();
  if (i / 2 != k / 2 || i == k)
    return {};
  Order order{.operand = static_cast<std::size_t>(i / 2), .descends = (direction == "GT") == (i < k)};
  order.isTotal = !isCanonical && wordOf(*compare, "compare_type", "word1") == "TOTALORDER";
  return order;
}

// The places of sorted elements along the last axis, by merges of sorted runs: log2(n)^2 / 2 rounds of comparisons of
// all elements (Batcher, Sorting networks and their applications, 1968). Places break ties, so that it is stable.
Tensor placesBy(const Call &call, const Region &comparison, const std::vector<Tensor> &xs) {
  const Shape shape = xs[0].shape();
  const std::size_t last = shape.size() - 1;
  if (!shape[last].is_known())
    call.refuse("its comparison is no LT or GT of one operand, and the dimension has an unknown size");
  const std::int64_t n = shape[last];
  std::int64_t width = 1;
  while (width < n)
    width *= 2;
  Tensor places = iota(shape, DType::Int64, static_cast<std::int64_t>(last));
  if (n < 2)
    return places;
  Numbers none(shape.size(), 0), behind = none;
  behind[last] = width - n;
  // What fills up is behind all others, in the order of its places.
  Shape line;
  for (std::size_t i = 0; i < last; ++i)
    line.push_back(shape[i]);
  line.push_back(Size(width));
  places = iota(line, DType::Int64, static_cast<std::int64_t>(last));
  std::vector<Tensor> now;
  for (const Tensor &x : xs)
    now.push_back(width == n ? x : pad(x, none, behind));
  for (std::int64_t run = 2; run <= width; run *= 2)
    for (std::int64_t step = run / 2; step > 0; step /= 2) {
      // In the first step of a run each element meets the one that mirrors it, in the others the one `step` behind.
      const bool isMirrored = step == run / 2;
      Numbers partner(static_cast<std::size_t>(width));
      for (std::int64_t i = 0; i < width; ++i)
        partner[static_cast<std::size_t>(i)] = isMirrored ? (i / run) * run + (run - 1 - i % run) : i ^ step;
      std::vector<bool> isFirst(static_cast<std::size_t>(width));
      std::vector<unsigned char> first(static_cast<std::size_t>(width));
      for (std::int64_t i = 0; i < width; ++i)
        first[static_cast<std::size_t>(i)] = i < partner[static_cast<std::size_t>(i)];
      const Tensor other = ofIntegers(partner);
      const Tensor isLower = tensor_from_bytes(DType::Bool, std::as_bytes(std::span(first)), Shape{Size(width)});
      auto across = [&](const Tensor &x) { return gather(x, other, static_cast<std::int64_t>(last)); };
      std::vector<Tensor> pairs, mirrored;
      for (const Tensor &x : now) {
        const Tensor y = across(x);
        pairs.insert(pairs.end(), {x, y});
        mirrored.insert(mirrored.end(), {y, x});
      }
      const Tensor otherPlaces = across(places);
      const Tensor isMine = call.lift(comparison, pairs)[0], isTheirs = call.lift(comparison, mirrored)[0];
      const Tensor isReal = places < n, isOtherReal = otherPlaces < n;
      const Tensor both = logical_and(isReal, isOtherReal);
      const Tensor isBefore = where(both, logical_or(isMine, logical_and(logical_not(isTheirs), places < otherPlaces)),
                                    places < otherPlaces);
      const Tensor keeps = equal(isBefore, broadcast_to(isLower, line));
      for (std::size_t i = 0; i < now.size(); ++i)
        now[i] = where(keeps, now[i], pairs[2 * i + 1]);
      places = where(keeps, places, otherPlaces);
    }
  return width == n ? places : split(places, {n, width - n}, static_cast<std::int64_t>(last))[0];
}

Results sorted(const Call &call) {
  std::vector<Tensor> xs = call.tensors();
  const std::int64_t rank = xs[0].rank();
  if (rank == 0)
    call.refuse("its operands are scalars");
  std::int64_t axis = call.integer("dimension", -1);
  axis = call.axis(axis < 0 ? axis + rank : axis, rank);
  for (const Tensor &each : xs)
    if (each.rank() != rank)
      call.refuse("operands of the ranks " + std::to_string(rank) + " and " + std::to_string(each.rank()));
  const Region &comparison = call.region(0);
  Results all;
  Tensor places;
  const std::optional<Order> order = orderOf(comparison);
  if (order && order->operand < xs.size() && !is_complex(xs[order->operand].dtype())) {
    Tensor keys = xs[order->operand];
    if (is_floating(keys.dtype()) && order->isTotal)
      keys = inTotalOrder(keys);
    if (keys.dtype() == DType::Bool)
      keys = cast(keys, DType::UInt8);
    if (xs.size() == 1 && keys.dtype() == xs[0].dtype() && !order->descends)
      return sort(xs[0], axis);
    places = argsort(keys, axis, order->descends);
    for (const Tensor &x : xs)
      all.push_back(take_along_axis(x, places, axis));
    return all;
  }
  for (Tensor &x : xs)
    x = moveaxis(x, axis, rank - 1);
  places = placesBy(call, comparison, xs);
  for (const Tensor &x : xs)
    all.push_back(moveaxis(take_along_axis(x, places, rank - 1), rank - 1, axis));
  return all;
}

Results largest(const Call &call) {
  const Tensor x = call.tensor(0);
  if (x.rank() == 0)
    call.refuse("its operand is a scalar");
  // NaN with a sign are the smallest, and 0 is larger than -0.
  const Tensor places = top_k(is_floating(x.dtype()) ? inTotalOrder(x) : x, call.integer("k")).indices;
  return {take_along_axis(x, places, -1), as(places, call.dtype(1))};
}

constexpr Operator kTable[] = {
    {"chlo.top_k", 1, 1, largest},
    {"stablehlo.sort", 1, kAnyNumber, sorted, Trait::None, 1},
};

} // namespace

Table sortOperators() { return kTable; }

} // namespace calque::stablehlo
