// Pooling and its gradients.
#include "codegen/lowering/Windows.h"
#include "ir/ElementType.h"

using namespace mlir;

namespace calque::codegen {

using namespace windows;

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

// The type rules take floats alone.
Value lowestOf(LinalgBuilder &b, Value input) {
  return arith::ConstantOp::create(b.builder, b.location,
                                   ir::ElementType(input).extreme(/*isLeast=*/true, /*isUnsigned=*/false));
}

// Of each window the number of its first largest element. NaN is larger than every number, and padding is never chosen.
Value largestOfWindows(LinalgBuilder &b, Value input, const Window &window, const Numbering &numbering) {
  SizeList shape = b.sizesOf(input), windows = slidOver(b, input, window, shape.back());
  Value lowest = lowestOf(b, input), padded = padImages(b, input, window, lowest);
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
  Value lowest = lowestOf(b, input);
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
  if (llvm::all_of(window, [](const WindowDimension &extent) { return extent.taps % extent.stride == 0; })) {
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
  for (WindowDimension &extent : window)
    extent.stride = 1;
  return pool(b, spread, images, window, zero, addFirst);
}

} // namespace calque::codegen
