// Convolutions and pooling.
#include "codegen/KernelAttributes.h"
#include "codegen/lowering/Reductions.h"
#include "schema/TypeRules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace calque::codegen {

namespace {

using Ints = SmallVector<int64_t>;

// How a window slides along one dimension: the sizes of its output and of the padding around its input, and how many
// elements it has, which lie `dilation` apart.
struct Extent {
  Size output, padLow, padHigh;
  int64_t taps, stride, dilation;
  bool isPadded() const { return constantOf(padLow) != 0 || constantOf(padHigh) != 0; }
  int64_t reach() const { return (taps - 1) * dilation; } // from the first element to the last one
};

using Window = SmallVector<Extent, 3>;

Ints tapsOf(const Window &window) {
  return llvm::map_to_vector(window, [](const Extent &extent) { return extent.taps; });
}

// The same formula as schema::windowExtent, on sizes that may be unknown.
Extent extentOf(Sizes &sizes, Size input, bool same, int64_t padLow, int64_t padHigh, int64_t taps, int64_t stride,
                int64_t dilation) {
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

// The part of a window that meets the image in any place, with the padding that this part needs. What padding and loops
// cost then grows with the image and not with the window. Sizes that are unknown leave the window as it is.
Extent clipped(Sizes &sizes, Extent extent, Size input) {
  std::optional<int64_t> length = constantOf(input);
  if (!length || *length == 0 || constantOf(extent.output) == 0)
    return extent;
  int64_t before = *constantOf(extent.padLow), lastStart = (*constantOf(extent.output) - 1) * extent.stride;
  int64_t first = std::max<int64_t>(before - lastStart, 0), end = std::min(extent.taps, before + *length);
  before -= first;
  int64_t after = std::max<int64_t>(lastStart + (end - first) - before - *length, 0);
  return {extent.output, sizes.constant(before), sizes.constant(after), end - first, extent.stride, 1};
}

// The window of an operation with the attributes strides, padding and pads, over these images.
template <typename Op>
Window windowOf(LinalgBuilder &b, Op op, Value images, ArrayRef<int64_t> taps, ArrayRef<int64_t> dilations = {}) {
  ArrayRef<int64_t> pads = op.getPads(), strides = op.getStrides();
  Window window;
  for (auto [i, stride] : llvm::enumerate(strides))
    window.push_back(extentOf(b.sizes, b.sizes.of(images, i + 1), op.getPadding() == "same",
                              pads.empty() ? 0 : pads[2 * i], pads.empty() ? 0 : pads[2 * i + 1], taps[i], stride,
                              dilations.empty() ? 1 : dilations[i]));
  return window;
}

template <typename Op> Window poolWindowOf(LinalgBuilder &b, Op op, Value images) {
  Window window = windowOf(b, op, images, op.getWindow());
  for (auto [i, extent] : llvm::enumerate(window))
    extent = clipped(b.sizes, extent, b.sizes.of(images, i + 1));
  return window;
}

Value padImages(LinalgBuilder &b, Value images, const Window &window, Value value) {
  if (llvm::none_of(window, [](const Extent &extent) { return extent.isPadded(); }))
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

// The sizes of the result of a window that slides over images, with `channels` channels.
SizeList slidOver(LinalgBuilder &b, Value images, const Window &window, Size channels) {
  SizeList shape{b.sizes.of(images, 0)};
  for (const Extent &extent : window)
    shape.push_back(extent.output);
  shape.push_back(channels);
  return shape;
}

void equalSizes(LinalgBuilder &b, Operation *op, unsigned operand, ArrayRef<Size> expected, LoweringContext &context) {
  for (auto [i, size] : llvm::enumerate(expected))
    context.equal(op, b.sizes.named(op, operand, i), b.sizes.named(size));
}

// What each window has put into the result, at the places of its first elements among the images with `reach` elements
// before them and as many behind: element h of the images is then in the windows from h to h + reach.
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

//===-- Convolutions ----------------------------------------------------------------------------===//

// The last dimension as two: the groups, and what each of them has.
Value splitGroups(LinalgBuilder &b, Value value, int64_t groups) {
  if (groups == 1)
    return value;
  SizeList shape = b.sizesOf(value);
  Size each = b.sizes.divide(shape.back(), b.sizes.constant(groups));
  shape.back() = b.sizes.constant(groups);
  shape.push_back(each);
  return b.reshape(value, shape);
}

// The loops of a convolution with groups or without: images n, the windows' places, groups, filters, the places in the
// window, channels. Of a gradient, the same roles are other loops.
struct ConvolutionMaps {
  ConvolutionMaps(OpBuilder &builder, const Window &window, bool isGrouped)
      : context(builder.getContext()), window(window), isGrouped(isGrouped) {}
  unsigned resultRank() const { return window.size() + 2 + isGrouped; }
  unsigned numLoops() const { return resultRank() + window.size() + 1; }
  AffineExpr d(unsigned i) const { return getAffineDimExpr(i, context); }
  AffineMap map(ArrayRef<AffineExpr> expressions) const { return AffineMap::get(numLoops(), 0, expressions, context); }
  SmallVector<unsigned> reductions() const { return llvm::to_vector(llvm::seq<unsigned>(resultRank(), numLoops())); }
  AffineMap result() const {
    return map(llvm::map_to_vector(llvm::seq<unsigned>(0, resultRank()), [&](unsigned i) { return d(i); }));
  }
  // Elements of images by the loops of the image, of the windows' places, of the places in the window, and of channels.
  AffineMap images(unsigned image, unsigned place, unsigned tap, unsigned channel) const {
    SmallVector<AffineExpr> expressions{d(image)};
    for (auto [i, extent] : llvm::enumerate(window))
      expressions.push_back(d(place + i) * extent.stride + d(tap + i) * extent.dilation);
    return channels(expressions, channel);
  }
  // A dimension for each of `first`, and then the channels.
  AffineMap rows(unsigned image, unsigned place, unsigned channel) const {
    SmallVector<AffineExpr> expressions{d(image)};
    for (unsigned i = 0; i < window.size(); ++i)
      expressions.push_back(d(place + i));
    return channels(expressions, channel);
  }
  AffineMap channels(SmallVector<AffineExpr> expressions, unsigned channel) const {
    if (isGrouped)
      expressions.push_back(d(window.size() + 1));
    expressions.push_back(d(channel));
    return map(expressions);
  }

  MLIRContext *context;
  const Window &window;
  const bool isGrouped;
};

// The elements before and behind images, all of which are zero.
struct Zeros {
  int64_t low = 0, high = 0;
};

// Those that windows reach one after the other, if their number is known.
SmallVector<Zeros> zerosAround(const Window &window) {
  return llvm::map_to_vector(window, [](const Extent &extent) {
    std::optional<int64_t> low = constantOf(extent.padLow), high = constantOf(extent.padHigh);
    return low && high && extent.stride == 1 && extent.dilation == 1 ? Zeros{*low, *high} : Zeros();
  });
}

// Tells kernels of zeros around images that loops from `place` and `tap` on read.
Value withZeros(Value sums, ArrayRef<Zeros> zeros, unsigned place, unsigned tap) {
  SmallVector<int64_t> borders;
  for (auto [i, each] : llvm::enumerate(zeros))
    if (each.low > 0 || each.high > 0)
      borders.append({place + static_cast<int64_t>(i), tap + static_cast<int64_t>(i), each.low, each.high});
  if (Operation *loops = sums.getDefiningOp<linalg::GenericOp>(); loops && !borders.empty())
    loops->setAttr(kBordersAttr, DenseI64ArrayAttr::get(sums.getContext(), borders));
  return sums;
}

// Loops n, places, [groups], f, taps, c over padded images.
Value convolve(LinalgBuilder &b, Value padded, Value filter, ArrayRef<Size> resultShape, const Window &window,
               ArrayRef<Zeros> zeros, bool isGrouped) {
  // Without windows the largest strided index would be negative, which linalg refuses.
  if (isEmpty(resultShape))
    return b.empty(resultShape, elementOf(padded));
  ConvolutionMaps loops(b.builder, window, isGrouped);
  unsigned rank = window.size(), first = loops.resultRank();
  SmallVector<AffineExpr> filterExpressions;
  for (unsigned i = 0; i <= rank; ++i)
    filterExpressions.push_back(loops.d(first + i));
  AffineMap maps[] = {loops.images(0, 1, first, first + rank), loops.channels(filterExpressions, first - 1),
                      loops.result()};
  Value sums = b.generic({padded, filter}, b.zeros(resultShape, elementOf(padded)), maps, loops.numLoops(),
                         loops.reductions(), multiplyAdd);
  return withZeros(sums, zeros, 1, first);
}

// Checks that the images have the channels that the filters take, and that the filters can be divided into groups.
template <typename Op>
void checkChannels(LinalgBuilder &b, Op op, unsigned images, unsigned filters, LoweringContext &context) {
  const int64_t rank = op.getStrides().size(), groups = op.getGroups();
  if (groups == 1)
    return void(context.equal(op, images, rank + 1, filters, rank));
  Size groupCount = b.sizes.constant(groups);
  context.equal(op, b.sizes.named(op, images, rank + 1),
                b.sizes.named(b.sizes.multiply(b.sizes.of(op->getOperand(filters), rank), groupCount)));
  Sizes::Named count = b.sizes.named(op, filters, rank + 1);
  if (!constantOf(count.size))
    context.divisible(op, count, groupCount);
}

Ints windowOfFilter(Value filter) { return Ints(LinalgBuilder::shapeOf(filter).drop_back(2)); }

} // namespace

Lowered lower(LinalgBuilder &b, ir::ConvOp op, LoweringContext &context) {
  checkChannels(b, op, 0, 1, context);
  Window window = windowOf(b, op, op.getInput(), windowOfFilter(op.getFilter()), op.getDilations());
  const int64_t groups = op.getGroups();
  SizeList result = slidOver(b, op.getInput(), window, b.sizesOf(op.getFilter()).back());
  Value padded = padImages(b, op.getInput(), window, zeroOf(b, op.getInput()));
  if (groups == 1)
    return convolve(b, padded, op.getFilter(), result, window, zerosAround(window), false);
  Value filter = splitGroups(b, op.getFilter(), groups);
  SizeList split(result), ofFilter = b.sizesOf(filter);
  split.pop_back();
  split.append({ofFilter[ofFilter.size() - 2], ofFilter.back()});
  return b.reshape(convolve(b, splitGroups(b, padded, groups), filter, split, window, zerosAround(window), true),
                   result);
}

namespace {

// How the images of a strided convolution are computed from its results. Element u of the padded images is the place a
// of tile i, u = i * stride + a, and the element q * stride + a of the windows i - q. So a convolution of the results
// without strides, whose windows have the parts q, gives all places of a tile as its channels, and multiplies no zeros
// but those that fill the last part.
struct Tiles {
  int64_t parts, places, stride; // places behind the filter's end are zero, and not computed
  int64_t dilation;              // of the parts, which lie apart where the stride is 1
  Size first, count;
  int64_t reach() const { return (parts - 1) * dilation; }
};

Tiles tilesOf(LinalgBuilder &b, const Extent &extent, Size images) {
  const int64_t stride = extent.stride, taps = stride == 1 ? extent.taps : extent.reach() + 1;
  Size by = b.sizes.constant(stride), first = b.sizes.divide(extent.padLow, by);
  Size end = b.sizes.divide(b.sizes.add(b.sizes.add(extent.padLow, images), b.sizes.constant(stride - 1)), by);
  return {
      llvm::divideCeilSigned(taps, stride), std::min(stride, taps), stride, stride == 1 ? extent.dilation : 1, first,
      b.sizes.subtract(end, first)};
}

// The results of the windows that any tile looks at, with zeros where there are none: so many, if that is asked for.
Value lookedAt(LinalgBuilder &b, Value results, ArrayRef<Tiles> tiles, SmallVector<Zeros> *zeros = nullptr) {
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

// From [taps, channels, (groups,) filters] to [parts turned around, filters, (groups,) places and channels].
Value turnedFilter(LinalgBuilder &b, Value filter, const Window &window, ArrayRef<Tiles> tiles, bool isGrouped) {
  const unsigned rank = tiles.size();
  SizeList given = b.sizesOf(filter), whole = given, split;
  Ints strides(given.size(), 1);
  for (auto [i, tile] : llvm::enumerate(tiles)) {
    whole[i] = b.sizes.constant(tile.parts * tile.places);
    if (tile.stride != 1)
      strides[i] = window[i].dilation;
    split.push_back(b.sizes.constant(tile.parts));
    if (tile.places != 1)
      split.push_back(b.sizes.constant(tile.places));
  }
  if (whole != given)
    filter = b.insert(filter, b.zeros(whole, elementOf(filter)), b.sizes.constants(Ints(given.size(), 0)), strides);
  llvm::append_range(split, ArrayRef(given).drop_front(rank));
  filter = b.reshape(filter, split);

  SizeList turned;
  for (const Tiles &tile : tiles)
    turned.push_back(b.sizes.constant(tile.parts));
  turned.push_back(given.back());
  if (isGrouped)
    turned.push_back(given[rank + 1]);
  auto d = [&](unsigned i) { return b.builder.getAffineDimExpr(i); };
  SmallVector<AffineExpr> from;
  Size channels = given[rank];
  for (auto [i, tile] : llvm::enumerate(tiles)) {
    from.push_back(tile.parts - 1 - d(i));
    if (tile.places == 1)
      continue;
    from.push_back(d(turned.size()));
    turned.push_back(b.sizes.constant(tile.places));
    channels = b.sizes.multiply(channels, turned.back());
  }
  from.push_back(d(turned.size()));
  turned.push_back(given[rank]);
  if (isGrouped)
    from.push_back(d(rank + 1));
  from.push_back(d(rank));
  filter =
      b.parallel(turned, elementOf(filter), {filter}, {AffineMap::get(turned.size(), 0, from, b.builder.getContext())},
                 [](ir::ScalarBuilder &, ValueRange v) { return v[0]; });
  turned.resize(rank + 1 + isGrouped);
  turned.push_back(channels);
  return b.reshape(filter, turned);
}

// The images of tiles [N, tiles, (groups,) places and channels], from the image's first element on; or of tiles without
// places, all of which are equal.
Value imagesOf(LinalgBuilder &b, Value tiled, ArrayRef<Size> images, const Window &window, ArrayRef<Tiles> tiles,
               Size groups, Size channels, bool areEqual = false) {
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

} // namespace

Lowered lower(LinalgBuilder &b, ir::ConvInputGradOp op, LoweringContext &context) {
  checkChannels(b, op, 2, 1, context);
  Window window = windowOf(b, op, op.getLike(), windowOfFilter(op.getFilter()), op.getDilations()), parts;
  const int64_t groups = op.getGroups();
  const bool isGrouped = groups != 1;
  SizeList images = b.sizesOf(op.getLike());
  SizeList cotangent = slidOver(b, op.getLike(), window, b.sizesOf(op.getFilter()).back());
  equalSizes(b, op, 0, cotangent, context);
  if (isEmpty(cotangent) || isEmpty(images))
    return b.zeros(images, elementOf(op.getFilter()));
  SmallVector<Tiles, 3> tiles;
  SizeList result{images[0]};
  for (auto [i, extent] : llvm::enumerate(window)) {
    tiles.push_back(tilesOf(b, extent, images[i + 1]));
    const Tiles &tile = tiles.back();
    parts.push_back({tile.count, Size(), Size(), tile.parts, 1, tile.dilation});
    result.push_back(tile.count);
  }
  Value filter = turnedFilter(b, splitGroups(b, op.getFilter(), groups), window, tiles, isGrouped);
  if (isGrouped)
    result.push_back(b.sizes.constant(groups));
  result.push_back(b.sizesOf(filter).back());
  SmallVector<Zeros> zeros;
  Value results = splitGroups(b, lookedAt(b, op.getCotangent(), tiles, &zeros), groups);
  return imagesOf(b, convolve(b, results, filter, result, parts, zeros, isGrouped), images, window, tiles,
                  b.sizes.constant(groups), b.sizesOf(op.getFilter())[window.size()]);
}

// Loops taps, c, [groups], f, n, places.
Lowered lower(LinalgBuilder &b, ir::ConvFilterGradOp op, LoweringContext &context) {
  checkChannels(b, op, 0, 2, context);
  Window window = windowOf(b, op, op.getInput(), windowOfFilter(op.getLike()), op.getDilations());
  const int64_t groups = op.getGroups();
  SizeList filter = b.sizesOf(op.getLike()), split(filter);
  SizeList cotangent = slidOver(b, op.getInput(), window, filter.back());
  equalSizes(b, op, 1, cotangent, context);
  Type element = elementOf(op.getInput());
  if (isEmpty(cotangent))
    return b.zeros(filter, element);
  if (groups != 1) {
    split.back() = b.sizes.constant(groups);
    split.push_back(b.sizes.divide(filter.back(), split.back()));
  }
  Value padded = splitGroups(b, padImages(b, op.getInput(), window, zeroOf(b, op.getInput())), groups);
  ConvolutionMaps loops(b.builder, window, groups != 1);
  unsigned rank = window.size(), first = loops.resultRank();
  AffineMap maps[] = {loops.images(first, first + 1, 0, rank), loops.rows(first, first + 1, first - 1), loops.result()};
  Value sums = b.generic({padded, splitGroups(b, op.getCotangent(), groups)}, b.zeros(split, element), maps,
                         loops.numLoops(), loops.reductions(), multiplyAdd);
  return b.reshape(withZeros(sums, zerosAround(window), 0, first + 1), filter);
}

//===-- Pooling ---------------------------------------------------------------------------------===//

namespace {

// Loops n, places, c, taps over padded images.
class WindowLoops {
public:
  WindowLoops(LinalgBuilder &b, const Window &window)
      : b(b), window(window), rank(window.size()), first(rank + 2), numLoops(first + rank) {}

  AffineExpr loop(unsigned i) const { return b.builder.getAffineDimExpr(i); }
  AffineExpr place(unsigned i) const { return loop(i + 1) * window[i].stride + loop(first + i); }
  AffineMap map(ArrayRef<AffineExpr> expressions) const {
    return AffineMap::get(numLoops, 0, expressions, b.builder.getContext());
  }
  AffineMap ofPadded() const {
    SmallVector<AffineExpr> from{loop(0)};
    for (unsigned i = 0; i < rank; ++i)
      from.push_back(place(i));
    from.push_back(loop(rank + 1));
    return map(from);
  }
  AffineMap ofWindows() const {
    return map(llvm::map_to_vector(llvm::seq<unsigned>(0, first), [&](unsigned i) { return loop(i); }));
  }
  // What a body makes of all elements of each window, one after the other. It gets the inputs' elements, one that it
  // must not use, and what it has made of the elements before.
  Value emit(SmallVector<Value> inputs, SmallVector<AffineMap> maps, Value init, LinalgBuilder::Body body) {
    auto taps = llvm::to_vector(llvm::seq<unsigned>(first, numLoops));
    // linalg takes the bounds of the window's loops from this operand; no one reads its elements.
    inputs.push_back(b.empty(b.sizes.constants(tapsOf(window)), elementOf(init)));
    maps.push_back(map(llvm::map_to_vector(taps, [&](unsigned i) { return loop(i); })));
    maps.push_back(ofWindows());
    return b.generic(inputs, init, maps, numLoops, taps, body);
  }

  LinalgBuilder &b;
  const Window &window;
  const unsigned rank, first, numLoops;
};

// Combines the elements of each window.
Value pool(LinalgBuilder &b, Value padded, ArrayRef<Size> result, const Window &window, Value neutral,
           LinalgBuilder::Body combine) {
  if (isEmpty(result))
    return b.empty(result, elementOf(padded));
  WindowLoops loops(b, window);
  return loops.emit({padded}, {loops.ofPadded()}, b.filled(result, neutral), combine);
}

Value addFirst(ir::ScalarBuilder &s, ValueRange v) { return s.add(v[2], v[0]); }

// Given padding makes windows over an empty dimension, which have no largest element.
template <typename Op> void requireElements(LinalgBuilder &b, Op op, LoweringContext &context) {
  for (auto [i, amount] : llvm::enumerate(op.getPads()))
    if (amount)
      context.atLeast(op, 0, static_cast<int64_t>(1 + i / 2), b.sizes.constant(1));
}

// What numbers the elements of a window: with a digit for each dimension, the last one counting the least. A number
// from `none` on is no element's.
struct Numbering {
  SmallVector<int64_t> steps; // what one step along each dimension adds
  int64_t none;
  Type type;

  // `extents`: more than the most that a digit can be.
  Numbering(LinalgBuilder &b, ArrayRef<int64_t> extents) : steps(extents.size()) {
    int64_t count = 1;
    for (size_t i = extents.size(); i-- > 0; count = llvm::MulOverflow(count, extents[i], count) ? kMost : count)
      steps[i] = count;
    // Sums of as many as there are dimensions, and an element's number, must have room.
    type = count < (int64_t(1) << 28) ? b.builder.getI32Type() : b.builder.getI64Type();
    none = type.isInteger(32) ? int64_t(1) << 28 : kMost;
  }
  static constexpr int64_t kMost = int64_t(1) << 60;

  Value constant(ir::ScalarBuilder &s, int64_t value) const { return s.constant(value, type); }
  // A sum of loops' indices times numbers, and a number.
  Value sum(ir::ScalarBuilder &s, ArrayRef<std::pair<unsigned, int64_t>> terms, int64_t first) const {
    Value total = constant(s, first);
    for (auto [loop, factor] : terms) {
      Value index =
          arith::IndexCastOp::create(s.builder, s.location, type, linalg::IndexOp::create(s.builder, s.location, loop));
      total = s.add(total, factor == 1 ? index : s.mul(index, constant(s, factor)));
    }
    return total;
  }
};

// The numbers of the windows' elements that `WindowLoops` is at.
Value numberOfTap(ir::ScalarBuilder &s, const WindowLoops &loops, const Numbering &numbering) {
  SmallVector<std::pair<unsigned, int64_t>> terms;
  for (unsigned i = 0; i < loops.rank; ++i)
    terms.push_back({loops.first + i, numbering.steps[i]});
  return numbering.sum(s, terms, 0);
}

// Of each window the number of its first largest element. NaN is larger than every number, and padding is never chosen.
Value largestOfWindows(LinalgBuilder &b, Value input, const Window &window, const Numbering &numbering) {
  SizeList shape = b.sizesOf(input), windows = slidOver(b, input, window, shape.back());
  Value lowest = extremeOf(b.builder, b.location, elementOf(input), true), padded = padImages(b, input, window, lowest);
  Value largest = pool(b, padded, windows, window, lowest,
                       [](ir::ScalarBuilder &s, ValueRange v) { return s.maximum(v[2], v[0]); });
  Value none;
  {
    ir::ScalarBuilder s(b.builder, b.location);
    none = numbering.constant(s, numbering.none);
  }
  if (isEmpty(windows))
    return b.empty(windows, numbering.type);
  WindowLoops loops(b, window);
  SmallVector<Value> inputs{padded, largest};
  SmallVector<AffineMap> maps{loops.ofPadded(), loops.ofWindows()};
  // What is added to the numbers of elements outside of the image.
  for (auto [i, extent] : llvm::enumerate(window)) {
    if (!extent.isPadded())
      continue;
    Size inside = shape[i + 1];
    inputs.push_back(
        b.insert(b.zeros({inside}, numbering.type), b.filled({b.sizesOf(padded)[i + 1]}, none), {extent.padLow}, {1}));
    maps.push_back(loops.map({loops.place(i)}));
  }
  return loops.emit(inputs, maps, b.filled(windows, none), [&](ir::ScalarBuilder &s, ValueRange v) {
    Value isLargest = s.equal(v[0], v[1]);
    if (isa<FloatType>(v[0].getType())) // of a window with a NaN the largest is one
      isLargest = s.logicalOr(isLargest, s.logicalNot(s.equal(v[0], v[0])));
    Value number = numberOfTap(s, loops, numbering);
    for (Value outside : v.drop_front(2).drop_back(2))
      number = s.add(number, outside);
    return s.minimum(v.back(), s.select(isLargest, number, numbering.constant(s, numbering.none)));
  });
}

// The gradient of windows that may overlap. An element of the image takes the cotangents of all windows whose largest
// it is. So that it need not look for these, images are cut into tiles as long as the windows' stride: the places of a
// tile are the elements q * stride + place of the windows that begin q tiles before.
Value maxPoolGrad(LinalgBuilder &b, ir::MaxPoolGradOp op, const Window &window) {
  Value input = op.getInput();
  const unsigned rank = window.size();
  SizeList images = b.sizesOf(input), ordered{images[0]}, whole{images[0]}, joined{images[0]}, starts, bounds;
  Type element = elementOf(input);
  SmallVector<Tiles, 3> tiles;
  Ints extents;
  for (auto [i, extent] : llvm::enumerate(window)) {
    tiles.push_back(tilesOf(b, extent, images[i + 1]));
    extents.push_back(tiles.back().parts * tiles.back().stride);
  }
  Numbering numbering(b, extents);
  Value numbers = lookedAt(b, largestOfWindows(b, input, window, numbering), tiles),
        cotangents = lookedAt(b, op.getCotangent(), tiles);
  // Loops n, tile and place along each dimension, c, parts.
  const unsigned first = 2 * rank + 2, numLoops = first + rank;
  auto d = [&](unsigned i) { return b.builder.getAffineDimExpr(i); };
  SmallVector<AffineExpr> from{d(0)}, to{d(0)}, parts;
  SmallVector<unsigned> reductions;
  SmallVector<std::pair<unsigned, int64_t>> terms;
  int64_t last = 0;
  starts.push_back(b.sizes.constant(0));
  for (auto [i, tile] : llvm::enumerate(tiles)) {
    const unsigned loop = 2 * i + 1, part = first + i;
    from.push_back(d(loop) + d(part));
    to.append({d(loop), d(loop + 1)});
    parts.push_back(d(part));
    reductions.push_back(part);
    bounds.push_back(b.sizes.constant(tile.parts));
    ordered.append({tile.count, b.sizes.constant(tile.places)});
    whole.append({tile.count, b.sizes.constant(tile.stride)});
    joined.push_back(b.sizes.multiply(tile.count, b.sizes.constant(tile.stride)));
    starts.push_back(b.sizes.subtract(window[i].padLow, b.sizes.multiply(tile.first, b.sizes.constant(tile.stride))));
    // The first part is of the window that begins first, in which the tile is the last.
    last += (tile.parts - 1) * tile.stride * numbering.steps[i];
    terms.push_back({loop + 1, numbering.steps[i]});
    terms.push_back({part, -tile.stride * numbering.steps[i]});
  }
  from.push_back(d(first - 1));
  to.push_back(d(first - 1));
  for (SizeList *list : {&ordered, &whole, &joined})
    list->push_back(images.back());
  starts.push_back(b.sizes.constant(0));
  MLIRContext *context = b.builder.getContext();
  auto map = [&](ArrayRef<AffineExpr> expressions) { return AffineMap::get(numLoops, 0, expressions, context); };
  Value result = b.generic({numbers, cotangents, b.empty(bounds, b.builder.getF32Type())}, b.zeros(ordered, element),
                           {map(from), map(from), map(parts), map(to)}, numLoops, reductions,
                           [&](ir::ScalarBuilder &s, ValueRange v) {
                             Value own = numbering.sum(s, terms, last), zero = s.constant(0, element);
                             return s.add(v[3], s.select(s.equal(v[0], own), v[1], zero));
                           });
  if (whole != ordered)
    result = b.insert(result, b.zeros(whole, element), b.sizes.constants(Ints(whole.size(), 0)), Ints(whole.size(), 1));
  result = b.reshape(result, joined);
  return joined == images ? result : b.extract(result, starts, images, Ints(images.size(), 1));
}

// For windows that tile the image: each element compares itself with the others of its window, so that all elements are
// computed independently.
Value tiledMaxPoolGrad(LinalgBuilder &b, ir::MaxPoolGradOp op, const Window &window, int64_t count) {
  Value input = op.getInput(), cotangent = op.getCotangent();
  const unsigned rank = window.size(), numLoops = 2 * rank + 2;
  SizeList shape = b.sizesOf(input), out = b.sizesOf(cotangent), zeros = b.sizes.constants(Ints(rank + 2, 0));
  Type element = elementOf(input);
  Ints ones(rank + 2, 1);
  SizeList tiled{shape[0]}, split{shape[0]};
  for (auto [i, extent] : llvm::enumerate(window)) {
    Size size = b.sizes.constant(extent.taps);
    tiled.push_back(b.sizes.multiply(out[i + 1], size));
    split.append({out[i + 1], size});
  }
  tiled.push_back(shape.back());
  split.push_back(shape.back());
  Value covered = tiled == shape ? input : b.extract(input, zeros, tiled, ones);
  covered = b.reshape(covered, split);
  MLIRContext *context = b.builder.getContext();
  auto d = [&](unsigned i) { return b.builder.getAffineDimExpr(i); };
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (int64_t k = 0; k <= count; ++k) { // the candidates, and then the cotangent
    SmallVector<AffineExpr> expressions(numLoops);
    expressions.front() = d(0);
    expressions.back() = d(numLoops - 1);
    int64_t rest = k;
    for (unsigned i = rank; i-- > 0; rest /= window[i].taps) {
      expressions[2 * i + 1] = d(2 * i + 1);
      expressions[2 * i + 2] = b.builder.getAffineConstantExpr(rest % window[i].taps);
    }
    if (k == count)
      for (unsigned i = rank; i-- > 0;)
        expressions.erase(expressions.begin() + 2 * i + 2);
    inputs.push_back(k == count ? cotangent : covered);
    maps.push_back(AffineMap::get(numLoops, 0, expressions, context));
  }
  Value result = b.parallel(split, element, inputs, maps, [&](ir::ScalarBuilder &s, ValueRange v) {
    auto number = [&](int64_t value) { return s.constant(value, s.builder.getI32Type()); };
    Value best = v[0], position = number(0);
    for (int64_t k = 1; k < count; ++k) {
      Value isLarger = s.less(best, v[k]), larger = s.logicalOr(isLarger, isFirstNaN(s, best, v[k]));
      best = s.select(larger, v[k], best);
      position = s.select(larger, number(k), position);
    }
    auto index = [&](unsigned loop) -> Value {
      return arith::IndexCastOp::create(s.builder, s.location, s.builder.getI32Type(),
                                        linalg::IndexOp::create(s.builder, s.location, loop));
    };
    Value own = index(2);
    for (unsigned i = 1; i < rank; ++i) {
      Value size = number(window[i].taps), along = index(2 * i + 2);
      own = s.add(s.mul(own, size), along);
    }
    return s.select(s.equal(position, own), v[count], s.constant(0, element));
  });
  result = b.reshape(result, tiled);
  return tiled == shape ? result : b.insert(result, b.zeros(shape, element), zeros, ones);
}

} // namespace

Lowered lower(LinalgBuilder &b, ir::MaxPoolOp op, LoweringContext &context) {
  requireElements(b, op, context);
  Value input = op.getInput();
  Window window = poolWindowOf(b, op, input);
  Value lowest = extremeOf(b.builder, b.location, elementOf(input), true);
  return pool(b, padImages(b, input, window, lowest), slidOver(b, input, window, b.sizesOf(input).back()), window,
              lowest, [](ir::ScalarBuilder &s, ValueRange v) { return s.maximum(v[2], v[0]); });
}

Lowered lower(LinalgBuilder &b, ir::MaxPoolGradOp op, LoweringContext &context) {
  requireElements(b, op, context);
  Value input = op.getInput();
  Window window = poolWindowOf(b, op, input);
  equalSizes(b, op, 1, slidOver(b, input, window, b.sizesOf(input).back()), context);
  constexpr int64_t kMostCandidates = 16; // each element of a window reads all others
  int64_t count = 1;
  // The reshape of an image into tiles needs known sizes.
  bool isTiled = true;
  for (auto [i, extent] : llvm::enumerate(window)) {
    isTiled = isTiled && constantOf(b.sizes.of(input, i + 1)) && extent.taps == extent.stride && !extent.isPadded();
    count = std::min(extent.taps, kMostCandidates + 1) * std::min(count, kMostCandidates + 1);
  }
  if (isTiled && count <= kMostCandidates)
    return tiledMaxPoolGrad(b, op, window, count);
  if (isEmpty(b.sizesOf(input)) || isEmpty(b.sizesOf(op.getCotangent())))
    return b.zeros(b.sizesOf(input), elementOf(input));
  return maxPoolGrad(b, op, window);
}

Lowered lower(LinalgBuilder &b, ir::MaxPoolPickOp op, LoweringContext &context) {
  requireElements(b, op, context);
  Value input = op.getInput();
  equalSizes(b, op, 1, b.sizesOf(input), context);
  Window window = poolWindowOf(b, op, input);
  SizeList result = slidOver(b, input, window, b.sizesOf(input).back());
  if (isEmpty(result))
    return b.empty(result, elementOf(input));
  Numbering numbering(b, tapsOf(window));
  Value numbers = largestOfWindows(b, input, window, numbering);
  Value values = padImages(b, op.getValues(), window, zeroOf(b, input));
  WindowLoops loops(b, window);
  return loops.emit({values, numbers}, {loops.ofPadded(), loops.ofWindows()}, b.zeros(result, elementOf(input)),
                    [&](ir::ScalarBuilder &s, ValueRange v) {
                      return s.select(s.equal(v[1], numberOfTap(s, loops, numbering)), v[0], v.back());
                    });
}

Lowered lower(LinalgBuilder &b, ir::SumPoolOp op, LoweringContext &) {
  Value input = op.getInput(), zero = zeroOf(b, input);
  Window window = poolWindowOf(b, op, input);
  return pool(b, padImages(b, input, window, zero), slidOver(b, input, window, b.sizesOf(input).back()), window, zero,
              addFirst);
}

// An element takes the cotangents of all windows that it is in: the sum of a window among those that are spread.
Lowered lower(LinalgBuilder &b, ir::SumPoolGradOp op, LoweringContext &context) {
  Value like = op.getLike();
  Window window = poolWindowOf(b, op, like);
  SizeList images = b.sizesOf(like), cotangent = slidOver(b, like, window, images.back());
  equalSizes(b, op, 0, cotangent, context);
  if (isEmpty(cotangent) || isEmpty(images))
    return b.zeros(images, elementOf(like));
  Value zero = zeroOf(b, like);
  if (llvm::all_of(window, [](const Extent &extent) { return extent.taps % extent.stride == 0; })) {
    // All places of a tile are in the same windows.
    SmallVector<Tiles, 3> tiles;
    Window parts;
    for (auto [i, extent] : llvm::enumerate(window)) {
      tiles.push_back(tilesOf(b, extent, images[i + 1]));
      parts.push_back({tiles.back().count, Size(), Size(), tiles.back().parts, 1, 1});
    }
    Value looked = lookedAt(b, op.getCotangent(), tiles);
    Value tiled = pool(b, looked, slidOver(b, like, parts, images.back()), parts, zero, addFirst);
    return imagesOf(b, tiled, images, window, tiles, b.sizes.constant(1), images.back(), true);
  }
  Value spread = spreadOver(b, op.getCotangent(), images, window);
  for (Extent &extent : window)
    extent.stride = 1;
  return pool(b, spread, images, window, zero, addFirst);
}

} // namespace calque::codegen
