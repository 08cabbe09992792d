#include "codegen/lowering/Windows.h"

#include "schema/TypeRules.h"

using namespace mlir;

namespace calque::codegen::windows {

Ints tapsOf(const Window &window) {
  return llvm::map_to_vector(window, [](const WindowDimension &extent) { return extent.taps; });
}

WindowDimension extentOf(Sizes &sizes, Size input, bool same, int64_t padLow, int64_t padHigh, int64_t taps,
                         int64_t stride, int64_t dilation) {
  const int64_t window = (taps - 1) * dilation + 1;
  if (std::optional<int64_t> known = constantOf(input)) {
    schema::WindowExtent extent = schema::windowExtent(*known, window, stride, same, padLow, padHigh);
    return {sizes.constant(extent.output),
            sizes.constant(extent.padLow),
            sizes.constant(extent.padHigh),
            taps,
            stride,
            dilation};
  }
  Size zero = sizes.constant(0), by = sizes.constant(stride), size = sizes.constant(window);
  if (!same) {
    Size padded = sizes.add(input, sizes.constant(padLow + padHigh));
    Size output = sizes.divide(sizes.maximum(sizes.add(sizes.subtract(padded, size), by), zero), by);
    return {output, sizes.constant(padLow), sizes.constant(padHigh), taps, stride, dilation};
  }
  Size output = sizes.divide(sizes.add(input, sizes.constant(stride - 1)), by);
  Size covered = sizes.add(sizes.subtract(sizes.multiply(output, by), by), size);
  Size padding = sizes.maximum(sizes.subtract(covered, input), zero), low = sizes.divide(padding, sizes.constant(2));
  return {output, low, sizes.subtract(padding, low), taps, stride, dilation};
}

WindowDimension clipped(Sizes &sizes, WindowDimension extent, Size input) {
  std::optional<int64_t> length = constantOf(input);
  if (!length || *length == 0 || constantOf(extent.output) == 0)
    return extent;
  int64_t before = *constantOf(extent.padLow), lastStart = (*constantOf(extent.output) - 1) * extent.stride;
  int64_t first = std::max<int64_t>(before - lastStart, 0), end = std::min(extent.taps, before + *length);
  before -= first;
  int64_t after = std::max<int64_t>(lastStart + (end - first) - before - *length, 0);
  return {extent.output, sizes.constant(before), sizes.constant(after), end - first, extent.stride, 1};
}

Value padImages(LinalgBuilder &b, Value images, const Window &window, Value value) {
  if (llvm::none_of(window, [](const WindowDimension &extent) { return extent.isPadded(); }))
    return images;
  SizeList shape = b.sizesOf(images), starts = b.sizes.constants(Ints(shape.size(), 0));
  for (auto [i, extent] : llvm::enumerate(window)) {
    shape[i + 1] = b.sizes.add(shape[i + 1], b.sizes.add(extent.padLow, extent.padHigh));
    starts[i + 1] = extent.padLow;
  }
  return b.insert(images, b.filled(shape, value), starts, Ints(shape.size(), 1));
}

bool isEmpty(ArrayRef<Size> sizes) {
  return llvm::any_of(sizes, [](Size size) { return constantOf(size) == 0; });
}

Value zeroOf(LinalgBuilder &b, Value like) {
  return ir::ScalarBuilder(b.builder, b.location).constant(0, elementOf(like));
}

SizeList slidOver(LinalgBuilder &b, Value images, const Window &window, Size channels) {
  SizeList shape{b.sizes.of(images, 0)};
  for (const WindowDimension &extent : window)
    shape.push_back(extent.output);
  shape.push_back(channels);
  return shape;
}

void equalSizes(LinalgBuilder &b, Operation *op, unsigned operand, ArrayRef<Size> expected, LoweringContext &context) {
  for (auto [i, size] : llvm::enumerate(expected))
    context.equal(op, b.sizes.named(op, operand, i), b.sizes.named(size));
}

Value spreadOver(LinalgBuilder &b, Value values, ArrayRef<Size> images, const Window &window) {
  SizeList shape = b.sizesOf(values), whole = shape, starts = b.sizes.constants(Ints(shape.size(), 0)), first = starts;
  Ints strides(shape.size(), 1), ones = strides;
  bool reachesFurther = false;
  for (auto [i, extent] : llvm::enumerate(window)) {
    // Given padding may be wider than the window, so that windows lie outside of what is looked at.
    int64_t reach = extent.reach(), before = std::max(reach, constantOf(extent.padLow).value_or(0)),
            behind = std::max(reach, constantOf(extent.padHigh).value_or(0)) - reach;
    shape[i + 1] = b.sizes.add(images[i + 1], b.sizes.constant(reach));
    whole[i + 1] = b.sizes.add(images[i + 1], b.sizes.constant(before + behind));
    starts[i + 1] = b.sizes.subtract(b.sizes.constant(before), extent.padLow);
    first[i + 1] = b.sizes.constant(before - reach);
    strides[i + 1] = extent.stride;
    reachesFurther |= before != reach;
  }
  Value spread = b.insert(values, b.zeros(whole, elementOf(values)), starts, strides);
  return reachesFurther ? b.extract(spread, first, shape, ones) : spread;
}

Tiles tilesOf(LinalgBuilder &b, const WindowDimension &extent, Size images) {
  const int64_t stride = extent.stride, taps = stride == 1 ? extent.taps : extent.reach() + 1;
  Size by = b.sizes.constant(stride), first = b.sizes.divide(extent.padLow, by);
  Size end = b.sizes.divide(b.sizes.add(b.sizes.add(extent.padLow, images), b.sizes.constant(stride - 1)), by);
  return {
      llvm::divideCeilSigned(taps, stride), std::min(stride, taps), stride, stride == 1 ? extent.dilation : 1, first,
      b.sizes.subtract(end, first)};
}

Value lookedAt(LinalgBuilder &b, Value results, ArrayRef<Tiles> tiles, SmallVector<Zeros> *zeros) {
  SizeList given = b.sizesOf(results), whole = given, looked = given;
  SizeList starts = b.sizes.constants(Ints(given.size(), 0)), first = starts;
  for (auto [i, tile] : llvm::enumerate(tiles)) {
    Size reach = b.sizes.constant(tile.reach());
    // Where sizes are unknown, the padding is half a window at most.
    if (std::optional<int64_t> known = constantOf(tile.first)) {
      starts[i + 1] = b.sizes.constant(std::max<int64_t>(tile.reach() - *known, 0));
      first[i + 1] = b.sizes.constant(std::max<int64_t>(*known - tile.reach(), 0));
    } else {
      starts[i + 1] = b.sizes.subtract(reach, tile.first);
    }
    looked[i + 1] = b.sizes.add(tile.count, reach);
    whole[i + 1] = b.sizes.maximum(b.sizes.add(starts[i + 1], given[i + 1]), b.sizes.add(first[i + 1], looked[i + 1]));
  }
  if (zeros)
    for (auto [i, tile] : llvm::enumerate(tiles)) {
      Size behind = b.sizes.subtract(whole[i + 1], b.sizes.add(starts[i + 1], given[i + 1]));
      std::optional<int64_t> low = constantOf(starts[i + 1]), high = constantOf(behind);
      bool areKnown = low && high && looked[i + 1] == whole[i + 1] && tile.dilation == 1;
      zeros->push_back(areKnown ? Zeros{*low, *high} : Zeros());
    }
  const Ints ones(given.size(), 1);
  if (whole != given)
    results = b.insert(results, b.zeros(whole, elementOf(results)), starts, ones);
  return looked == whole ? results : b.extract(results, first, looked, ones);
}

Value imagesOf(LinalgBuilder &b, Value tiled, ArrayRef<Size> images, const Window &window, ArrayRef<Tiles> tiles,
               Size groups, Size channels, bool areEqual) {
  const unsigned rank = tiles.size();
  const bool isGrouped = constantOf(groups) != 1;
  if (llvm::all_of(tiles, [](const Tiles &tile) { return tile.stride == 1; }))
    return b.reshape(tiled, images);
  // From [N, tiles, (groups,) places, channels] to [N, tile, place, tile, place, (groups,) channels].
  SizeList split = b.sizesOf(tiled), ordered{split[0]}, whole{split[0]}, joined{split[0]};
  split.pop_back();
  Ints ones;
  auto d = [&](unsigned i) { return b.builder.getAffineDimExpr(i); };
  SmallVector<AffineExpr> from{d(0)}, places;
  for (const Tiles &tile : tiles) {
    from.push_back(d(ordered.size()));
    ordered.push_back(tile.count);
    whole.push_back(tile.count);
    joined.push_back(b.sizes.multiply(tile.count, b.sizes.constant(tile.stride)));
    if (tile.stride == 1)
      continue;
    whole.push_back(b.sizes.constant(tile.stride));
    if (tile.places == 1) { // a dimension of size 1, which only `whole` has
      ordered.push_back(b.sizes.constant(1));
      continue;
    }
    if (!areEqual) {
      split.push_back(b.sizes.constant(tile.places));
      places.push_back(d(ordered.size()));
    }
    ordered.push_back(b.sizes.constant(tile.places));
  }
  if (isGrouped) {
    from.push_back(d(ordered.size()));
    ordered.push_back(groups);
    whole.push_back(groups);
  }
  llvm::append_range(from, places);
  from.push_back(d(ordered.size()));
  for (SizeList *list : {&split, &ordered, &whole})
    list->push_back(channels);
  joined.push_back(images.back());
  Value result = b.parallel(ordered, elementOf(tiled), {b.reshape(tiled, split)},
                            {AffineMap::get(ordered.size(), 0, from, b.builder.getContext())},
                            [](ir::ScalarBuilder &, ValueRange v) { return v[0]; });
  if (whole != ordered)
    result = b.insert(result, b.zeros(whole, elementOf(tiled)), b.sizes.constants(Ints(whole.size(), 0)),
                      Ints(whole.size(), 1));
  result = b.reshape(result, joined);
  SizeList starts{b.sizes.constant(0)};
  for (unsigned i = 0; i < rank; ++i)
    starts.push_back(
        b.sizes.subtract(window[i].padLow, b.sizes.multiply(tiles[i].first, b.sizes.constant(tiles[i].stride))));
  starts.push_back(b.sizes.constant(0));
  return joined == SizeList(images) ? result : b.extract(result, starts, images, Ints(images.size(), 1));
}

} // namespace calque::codegen::windows
