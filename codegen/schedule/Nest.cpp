#include "codegen/schedule/Nest.h"
#include "codegen/KernelAttributes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

namespace calque::codegen {

namespace {

// A type may have more elements than memory has bytes, a nest may have even more iterations, and a file may say any
// number. The limit leaves room to multiply by bytes and lanes, and to add small numbers.
constexpr int64_t kMostElements = int64_t(1) << 56;

} // namespace

Extent::Extent(OpFoldResult size) : factor(1) {
  if (std::optional<int64_t> constant = getConstantIntValue(size)) {
    factor = std::clamp(*constant, -kMostElements, kMostElements);
    return;
  }
  auto value = cast<Value>(size);
  if (auto product = value.getDefiningOp<arith::MulIOp>())
    *this = Extent(OpFoldResult(product.getLhs())) * Extent(OpFoldResult(product.getRhs()));
  else
    values.push_back(value);
}

int64_t Extent::guess() const {
  constexpr int64_t kGuess = 840, kMost = int64_t(1) << 40; // 840 is a multiple of 1 to 8, 10, 12 and 14
  int64_t result = factor;
  for (size_t i = 0; i < values.size() && std::abs(result) < kMost; ++i)
    result *= kGuess;
  return result;
}

Extent Extent::operator*(const Extent &other) const {
  int64_t result;
  if (llvm::MulOverflow(factor, other.factor, result))
    result = (factor < 0) == (other.factor < 0) ? kMostElements : -kMostElements;
  Extent product(std::clamp(result, -kMostElements, kMostElements));
  if (product.factor == 0)
    return product;
  product.values = values;
  product.values.append(other.values);
  return product;
}

std::optional<Extent> Extent::dividedBy(const Extent &other) const {
  if (other.factor == 0 || factor % other.factor)
    return std::nullopt;
  Extent quotient(factor / other.factor);
  quotient.values = values;
  for (Value value : other.values) {
    auto found = llvm::find(quotient.values, value);
    if (found == quotient.values.end())
      return std::nullopt;
    quotient.values.erase(found);
  }
  return quotient;
}

bool Extent::operator==(const Extent &other) const {
  return factor == other.factor &&
         (factor == 0 || (values.size() == other.values.size() &&
                          std::is_permutation(values.begin(), values.end(), other.values.begin())));
}

Value Extent::emit(OpBuilder &builder, Location location) const {
  Value result;
  auto times = [&](Value value) {
    result = result ? arith::MulIOp::create(builder, location, result, value).getResult() : value;
  };
  if (!isKnown())
    for (Value value : values)
      times(value);
  if (isKnown() || factor != 1)
    times(arith::ConstantIndexOp::create(builder, location, factor));
  return result;
}

OpFoldResult Extent::folded(OpBuilder &builder, Location location) const {
  return isKnown() ? OpFoldResult(builder.getIndexAttr(factor)) : OpFoldResult(emit(builder, location));
}

Extent Extent::mapped(function_ref<Value(Value)> map) const {
  Extent result = *this;
  for (Value &value : result.values)
    value = map(value);
  return result;
}

OpFoldResult sizeOf(OpBuilder &builder, Value buffer, int64_t dimension) {
  auto type = cast<MemRefType>(buffer.getType());
  auto attr = [&](int64_t size) -> OpFoldResult { return builder.getIndexAttr(size); };
  if (!type.isDynamicDim(dimension))
    return attr(type.getDimSize(dimension));
  auto ofDynamic = [&](ValueRange sizes) -> OpFoldResult { return sizes[type.getDynamicDimIndex(dimension)]; };
  Operation *made = buffer.getDefiningOp();
  if (auto cast = dyn_cast_if_present<memref::ReinterpretCastOp>(made))
    return cast.getMixedSizes()[dimension];
  if (auto alloc = dyn_cast_if_present<memref::AllocOp>(made))
    return ofDynamic(alloc.getDynamicSizes());
  if (auto view = dyn_cast_if_present<memref::ViewOp>(made))
    return ofDynamic(view.getSizes());
  if (auto cast = dyn_cast_if_present<memref::CastOp>(made))
    return sizeOf(builder, cast.getSource(), dimension);
  if (auto expand = dyn_cast_if_present<memref::ExpandShapeOp>(made))
    return getMixedValues(expand.getStaticOutputShape(), expand.getOutputShape(), builder)[dimension];
  if (auto subview = dyn_cast_if_present<memref::SubViewOp>(made)) {
    llvm::SmallBitVector dropped = subview.getDroppedDims();
    for (auto [i, size] : llvm::enumerate(subview.getMixedSizes()))
      if (!dropped.test(i) && dimension-- == 0)
        return size;
  }
  if (auto collapse = dyn_cast_if_present<memref::CollapseShapeOp>(made)) {
    Extent product(1);
    SmallVector<ReassociationIndices> groups = collapse.getReassociationIndices();
    for (int64_t from : groups[dimension])
      product = product * Extent(sizeOf(builder, collapse.getSrc(), from));
    return product.emit(builder, buffer.getLoc());
  }
  return memref::DimOp::create(builder, buffer.getLoc(), buffer, dimension).getResult();
}

namespace {

// Adds factor * expression to the access's strides; constant terms are appended to `offsets`.
LogicalResult addLinear(AffineExpr expression, const Extent &factor, Access &access, SmallVectorImpl<Extent> &offsets) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expression)) {
    offsets.push_back(factor * Extent(constant.getValue()));
    return success();
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expression)) {
    Extent &stride = access.strides[dim.getPosition()];
    if (stride.isKnown() && factor.isKnown())
      stride = *stride.known() + *factor.known();
    else if (stride == 0)
      stride = factor;
    else
      return failure();
    return success();
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expression);
  if (!binary)
    return failure();
  if (binary.getKind() == AffineExprKind::Add)
    return success(succeeded(addLinear(binary.getLHS(), factor, access, offsets)) &&
                   succeeded(addLinear(binary.getRHS(), factor, access, offsets)));
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (binary.getKind() != AffineExprKind::Mul || !constant)
    return failure();
  return addLinear(binary.getLHS(), factor * Extent(constant.getValue()), access, offsets);
}

} // namespace

Layout layoutOf(OpBuilder &builder, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  Layout layout;
  for (int64_t dimension = 0; dimension < type.getRank(); ++dimension)
    layout.sizes.push_back(Extent(sizeOf(builder, buffer, dimension)));
  if (type.getLayout().isIdentity()) {
    layout.strides.resize(type.getRank());
    Extent stride(1);
    for (int64_t dimension = type.getRank(); dimension-- > 0;) {
      layout.strides[dimension] = stride;
      stride = stride * layout.sizes[dimension];
    }
    return layout;
  }
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)type.getStridesAndOffset(strides, offset);
  bool isKnown = !ShapedType::isDynamic(offset) && llvm::none_of(strides, ShapedType::isDynamic);
  if (auto subview = buffer.getDefiningOp<memref::SubViewOp>(); subview && !isKnown) {
    Layout source = layoutOf(builder, subview.getSource());
    layout.offsets = source.offsets;
    llvm::SmallBitVector dropped = subview.getDroppedDims();
    for (auto [dimension, start, step] : llvm::enumerate(subview.getMixedOffsets(), subview.getMixedStrides())) {
      layout.offsets.push_back(source.strides[dimension] * Extent(start));
      if (!dropped.test(dimension))
        layout.strides.push_back(source.strides[dimension] * Extent(step));
    }
    return layout;
  }
  // A cast only makes sizes and strides of the type unknown, so that the source's sizes and strides hold.
  if (auto cast = buffer.getDefiningOp<memref::CastOp>(); cast && !isKnown)
    return layoutOf(builder, cast.getSource());
  if (auto expand = buffer.getDefiningOp<memref::ExpandShapeOp>(); expand && !isKnown) {
    Layout source = layoutOf(builder, expand.getSrc());
    layout.offsets = source.offsets;
    layout.strides.resize(type.getRank());
    for (auto [from, group] : llvm::enumerate(expand.getReassociationIndices())) {
      Extent stride = source.strides[from];
      for (int64_t dimension : llvm::reverse(group)) {
        layout.strides[dimension] = stride;
        stride = stride * layout.sizes[dimension];
      }
    }
    return layout;
  }
  if (auto collapse = buffer.getDefiningOp<memref::CollapseShapeOp>(); collapse && !isKnown) {
    Layout source = layoutOf(builder, collapse.getSrc());
    layout.offsets = source.offsets;
    // A collapsed group has the stride of its innermost dimension whose size is not 1.
    for (const ReassociationIndices &group : collapse.getReassociationIndices()) {
      auto inner =
          llvm::find_if(llvm::reverse(group), [&](int64_t dimension) { return !(source.sizes[dimension] == 1); });
      layout.strides.push_back(source.strides[inner == group.rend() ? group.back() : *inner]);
    }
    return layout;
  }
  if (auto cast = buffer.getDefiningOp<memref::ReinterpretCastOp>(); cast && !isKnown) {
    for (OpFoldResult stride : cast.getMixedStrides())
      layout.strides.push_back(Extent(stride));
    for (OpFoldResult start : cast.getMixedOffsets())
      layout.offsets.push_back(Extent(start));
    return layout;
  }
  memref::ExtractStridedMetadataOp metadata;
  if (!isKnown)
    metadata = memref::ExtractStridedMetadataOp::create(builder, buffer.getLoc(), buffer);
  for (auto [dimension, stride] : llvm::enumerate(strides))
    layout.strides.push_back(ShapedType::isDynamic(stride) ? Extent(OpFoldResult(metadata.getStrides()[dimension]))
                                                           : Extent(stride));
  layout.offsets.push_back(ShapedType::isDynamic(offset) ? Extent(OpFoldResult(metadata.getOffset())) : Extent(offset));
  return layout;
}

namespace {

// The buffer under a chain of views. MLIR's own analysis does not follow all views of unknown sizes.
Value viewed(Value buffer) {
  while (Operation *made = buffer.getDefiningOp())
    if (isa<memref::CastOp, memref::ExpandShapeOp, memref::CollapseShapeOp, memref::SubViewOp,
            memref::ReinterpretCastOp>(made))
      buffer = made->getOperand(0);
    else
      break;
  return buffer;
}

} // namespace

Value flatView(OpBuilder &builder, Location location, Value buffer, const Layout &layout) {
  auto type = cast<MemRefType>(buffer.getType());
  bool isKnown = true;
  int64_t last = 0;
  for (const Extent &offset : layout.offsets) {
    isKnown &= offset.isKnown();
    last += offset.known().value_or(0);
  }
  for (auto [size, stride] : llvm::zip_equal(layout.sizes, layout.strides)) {
    isKnown &= size.isKnown() && stride.isKnown();
    last += isKnown ? (*size.known() - 1) * *stride.known() : 0;
  }
  if (isKnown) {
    auto flat = MemRefType::get({last + 1}, type.getElementType());
    if (type == flat)
      return buffer;
    return memref::ReinterpretCastOp::create(builder, location, flat, viewed(buffer), 0, ArrayRef<int64_t>{last + 1},
                                             ArrayRef<int64_t>{1});
  }
  // Nothing reads the view's size, so it is left unknown.
  auto flat = MemRefType::get({ShapedType::kDynamic}, type.getElementType());
  if (type == flat)
    return buffer;
  Value size = layout.sizes.empty() ? Extent(1).emit(builder, location) : layout.sizes[0].emit(builder, location);
  return memref::ReinterpretCastOp::create(builder, location, flat, viewed(buffer), builder.getIndexAttr(0),
                                           ArrayRef<OpFoldResult>{size},
                                           ArrayRef<OpFoldResult>{builder.getIndexAttr(1)});
}

Value asCast(OpBuilder &builder, Value view) {
  Location location = view.getLoc();
  Layout layout = layoutOf(builder, view);
  auto folded = [&](const Extent &extent) { return extent.folded(builder, location); };
  OpFoldResult offset = builder.getIndexAttr(0);
  for (const Extent &each : layout.offsets) {
    OpFoldResult next = folded(each);
    std::optional<int64_t> a = getConstantIntValue(offset), b = getConstantIntValue(next);
    if (a && b)
      offset = builder.getIndexAttr(*a + *b);
    else
      offset = arith::AddIOp::create(builder, location, getValueOrCreateConstantIndexOp(builder, location, offset),
                                     getValueOrCreateConstantIndexOp(builder, location, next))
                   .getResult();
  }
  return memref::ReinterpretCastOp::create(builder, location, cast<MemRefType>(view.getType()), viewed(view), offset,
                                           llvm::map_to_vector(layout.sizes, folded),
                                           llvm::map_to_vector(layout.strides, folded));
}

namespace {

FailureOr<Access> accessOf(OpOperand &operand, AffineMap map, unsigned numLoops, OpBuilder &builder) {
  Access access;
  access.strides.assign(numLoops, Extent(0));
  access.value = operand.get();
  access.element = getElementTypeOrSelf(operand.get().getType());
  if (!isa<MemRefType>(operand.get().getType())) {
    access.isBuffer = false;
    return access;
  }
  Layout layout = layoutOf(builder, operand.get());
  SmallVector<Extent> offsets = layout.offsets;
  for (auto [expression, stride] : llvm::zip_equal(map.getResults(), layout.strides))
    if (failed(addLinear(expression, stride, access, offsets)))
      return failure();
  Location location = operand.getOwner()->getLoc();
  for (const Extent &offset : offsets) {
    if (offset.isKnown()) {
      access.offset += *offset.known();
      continue;
    }
    Value value = offset.emit(builder, location);
    access.unknownOffset = access.unknownOffset
                               ? arith::AddIOp::create(builder, location, access.unknownOffset, value).getResult()
                               : value;
  }
  access.value = flatView(builder, location, operand.get(), layout);
  return access;
}

// Whether `outer` and `inner` can be one loop: for every operand, a step of `outer` is as long as all steps of `inner`.
bool canMerge(const Nest &nest, unsigned outer, unsigned inner) {
  if (nest.isReduction[outer] != nest.isReduction[inner])
    return false;
  auto merges = [&](const Access &access) {
    return !access.isBuffer || access.strides[outer] == access.strides[inner] * nest.extents[inner];
  };
  return llvm::all_of(nest.inputs, merges) && llvm::all_of(nest.outputs, merges);
}

} // namespace

Value rootBuffer(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    buffer = view.getViewSource();
  return buffer;
}

void Nest::forgetBorders(unsigned loop) {
  llvm::erase_if(borders, [&](const Border &border) { return border.has(loop); });
}

void Nest::drop(unsigned loop) {
  forgetBorders(loop);
  for (Border &border : borders)
    for (unsigned *each : {&border.results, &border.terms})
      *each -= *each > loop;
  extents.erase(extents.begin() + loop);
  isReduction.erase(isReduction.begin() + loop);
  for (auto *accesses : {&inputs, &outputs})
    for (Access &access : *accesses)
      access.strides.erase(access.strides.begin() + loop);
  for (int64_t &mapped : loopOf)
    mapped = mapped == loop ? -1 : mapped > static_cast<int64_t>(loop) ? mapped - 1 : mapped;
}

bool Nest::mergeOnce() {
  SmallVector<bool> indexed;
  for (unsigned loop = 0; loop < numLoops(); ++loop)
    indexed.push_back(isIndexed(loop));
  for (unsigned outer = 0; outer < numLoops(); ++outer)
    for (unsigned inner = 0; inner < numLoops(); ++inner) {
      if (outer == inner || indexed[outer] || indexed[inner] || !canMerge(*this, outer, inner))
        continue;
      forgetBorders(inner);
      if (std::optional<int64_t> unit = extents[inner].known())
        for (Border &border : borders) {
          if (border.terms == outer) {
            border.terms = inner;
            border.unit *= *unit;
          }
          if (border.results == outer) {
            border.results = inner;
            border.unitOfResults *= *unit;
          }
        }
      extents[inner] = extents[inner] * extents[outer];
      drop(outer);
      return true;
    }
  return false;
}

FailureOr<Nest> Nest::of(linalg::LinalgOp op, OpBuilder &builder) {
  Nest nest;
  nest.op = op;
  nest.body = op.getBlock();
  SmallVector<int64_t, 4> extents = op.getStaticLoopRanges();
  for (auto [loop, extent] : llvm::enumerate(extents)) {
    if (!ShapedType::isDynamic(extent)) {
      nest.extents.push_back(extent);
      continue;
    }
    // The extent of a loop is the size of an operand's dimension that this loop alone indexes.
    std::optional<Extent> size;
    for (OpOperand &operand : op->getOpOperands()) {
      AffineMap map = op.getMatchingIndexingMap(&operand);
      for (auto [dimension, expression] : llvm::enumerate(map.getResults()))
        if (auto dim = dyn_cast<AffineDimExpr>(expression);
            dim && dim.getPosition() == loop && !(size && size->isKnown()))
          size = Extent(sizeOf(builder, operand.get(), dimension));
    }
    if (!size)
      return failure();
    nest.extents.push_back(*size);
  }
  for (utils::IteratorType iterator : op.getIteratorTypesArray())
    nest.isReduction.push_back(iterator == utils::IteratorType::reduction);
  for (OpOperand &operand : op->getOpOperands()) {
    FailureOr<Access> access = accessOf(operand, op.getMatchingIndexingMap(&operand), nest.extents.size(), builder);
    if (failed(access))
      return failure();
    access->isUsed = !op.getMatchingBlockArgument(&operand).use_empty();
    // An input whose elements are not read only gives loops their bounds; it needs no buffer.
    access->isBuffer &= access->isUsed || op.isDpsInit(&operand);
    (op.isDpsInit(&operand) ? nest.outputs : nest.inputs).push_back(*access);
  }
  nest.loopOf = llvm::to_vector(llvm::seq<int64_t>(0, nest.numLoops()));
  nest.firstIndex.resize(nest.numLoops());
  if (auto borders = op->getAttrOfType<DenseI64ArrayAttr>(kBordersAttr))
    for (ArrayRef<int64_t> rest = borders; !rest.empty(); rest = rest.drop_front(4))
      nest.borders.push_back({static_cast<unsigned>(rest[0]), static_cast<unsigned>(rest[1]), rest[2], rest[3]});
  nest.simplify();
  return nest;
}

bool Nest::isIndexed(unsigned loop) const {
  return body
      ->walk([&](linalg::IndexOp index) {
        return loopOf[index.getDim()] == static_cast<int64_t>(loop) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

void Nest::simplify() {
  for (unsigned loop = numLoops(); loop-- > 0;)
    if (extents[loop] == 1)
      drop(loop);
  while (mergeOnce()) {
  }
}

Extent Nest::iterations() const {
  Extent count(1);
  for (const Extent &extent : extents)
    count = count * extent;
  return count;
}

Extent Nest::iterations(bool reduction) const {
  Extent count(1);
  for (unsigned i = 0; i < numLoops(); ++i)
    if (isReduction[i] == reduction)
      count = count * extents[i];
  return count;
}

unsigned Nest::split(unsigned loop, int64_t size) {
  forgetBorders(loop);
  extents.push_back(*extents[loop].known() / size);
  isReduction.push_back(isReduction[loop]);
  extents[loop] = size;
  for (auto *accesses : {&inputs, &outputs})
    for (Access &access : *accesses)
      access.strides.push_back(access.strides[loop] * Extent(size));
  return numLoops() - 1;
}

void Nest::slice(unsigned loop, int64_t start, int64_t count) {
  forgetBorders(loop);
  extents[loop] = count;
  for (auto *accesses : {&inputs, &outputs})
    for (Access &access : *accesses)
      access.offset += *access.strides[loop].known() * start;
}

} // namespace calque::codegen
