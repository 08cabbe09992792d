// Convolutions and their gradients.
#include "codegen/KernelAttributes.h"
#include "codegen/lowering/Windows.h"

using namespace mlir;

namespace calque::codegen {

using namespace windows;

namespace {

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

// Those that windows reach one after the other, if their number is known.
SmallVector<Zeros> zerosAround(const Window &window) {
  return llvm::map_to_vector(window, [](const WindowDimension &extent) {
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

} // namespace calque::codegen
