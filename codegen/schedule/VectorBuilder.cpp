#include "codegen/schedule/VectorBuilder.h"
#include "codegen/KernelAttributes.h"
#include "codegen/native/Target.h"
#include "codegen/schedule/RepeatedLanes.h"
#include "codegen/schedule/ScalarFunctions.h"
#include "ir/ElementType.h"
#include "ir/Opaque.h"
#include "runtime/Round.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <cmath>

using namespace mlir;

namespace calque::codegen {

namespace {

using runtime::kParallelCycles;
using runtime::kPieceCycles;
constexpr int64_t kMostParts = Target::kMostParts;

bool isBool(Type element) { return element.isIntOrFloat() && ir::ElementType(element).isBool(); }
// Whether vectors of such elements can be loaded and stored: bools are in memory as bytes.
bool hasVectors(Type element) {
  return isBool(element) || (element.isIntOrFloat() && ir::ElementType(element).bits() % 8 == 0);
}

// A buffer of bools as a buffer of bytes. Vectors of bytes have one byte for each element in memory; MLIR's vectors of
// bools do not. For LLVM both buffers are the same.
Value asBytes(OpBuilder &b, Location location, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  if (!isBool(type.getElementType()))
    return buffer;
  auto bytes = MemRefType::get(type.getShape(), b.getI8Type(), type.getLayout());
  return UnrealizedConversionCastOp::create(b, location, bytes, buffer).getResult(0);
}
Type inMemory(Type vector) {
  auto type = cast<VectorType>(vector);
  return isBool(type.getElementType()) ? type.clone(IntegerType::get(type.getContext(), 8)) : type;
}
// Loaded bytes as bools, and bools as bytes to store. Other vectors stay as they are.
Value fromMemory(OpBuilder &b, Location location, Value vector, Type type) {
  return vector.getType() == type ? vector : arith::TruncIOp::create(b, location, type, vector).getResult();
}
Value toMemory(OpBuilder &b, Location location, Value vector) {
  Type type = inMemory(vector.getType());
  return vector.getType() == type ? vector : arith::ExtUIOp::create(b, location, type, vector).getResult();
}

} // namespace

Access Access::ofBytes(OpBuilder &builder, Location location) const {
  Access bytes = *this;
  if (!isBuffer || !isBool(element))
    return bytes;
  bytes.value = asBytes(builder, location, value);
  bytes.element = builder.getI8Type();
  return bytes;
}

bool VectorBuilder::canVectorize(const Nest &nest) {
  for (Operation &op : nest.body->without_terminator()) {
    if (isa<linalg::IndexOp, arith::ConstantOp>(op))
      continue;
    if (auto read = dyn_cast<memref::LoadOp>(op)) {
      if (!hasVectors(read.getMemRefType().getElementType()) || read.getMemRefType().getRank() == 0)
        return false;
      continue;
    }
    auto isScalar = [](Type type) { return type.isIntOrIndexOrFloat(); };
    if (!(takesVectors(op) || ir::isOpaque(&op)) || op.getNumResults() != 1 || !isScalar(op.getResult(0).getType()) ||
        !llvm::all_of(op.getOperandTypes(), isScalar))
      return false;
  }
  return true;
}

Type VectorBuilder::typeOf(Type element) const { return lanes == 1 ? element : VectorType::get({lanes}, element); }

Value VectorBuilder::index(int64_t value) { return arith::ConstantIndexOp::create(b, location, value); }

Value VectorBuilder::constant(TypedAttr value) {
  if (lanes == 1)
    return arith::ConstantOp::create(b, location, value);
  return arith::ConstantOp::create(b, location,
                                   DenseElementsAttr::get(cast<ShapedType>(typeOf(value.getType())), Attribute(value)));
}

Value VectorBuilder::splat(Value scalar) {
  if (lanes == 1)
    return scalar;
  if (auto constantOp = scalar.getDefiningOp<arith::ConstantOp>())
    return constant(constantOp.getValue());
  return vector::BroadcastOp::create(b, location, typeOf(scalar.getType()), scalar);
}

template <typename Op>
static Number makeNumber(VectorBuilder &v, const Number &x, const Number &y,
                         function_ref<int64_t(int64_t, int64_t)> fold) {
  if (x.known && y.known)
    return fold(*x.known, *y.known);
  Value left = v.valueOf(x), right = v.valueOf(y);
  return Number(Op::create(v.b, v.location, left, right).getResult());
}

Number VectorBuilder::add(const Number &x, const Number &y) {
  return x == 0 ? y : y == 0 ? x : makeNumber<arith::AddIOp>(*this, x, y, [](int64_t p, int64_t q) { return p + q; });
}
Number VectorBuilder::subtract(const Number &x, const Number &y) {
  return y == 0 ? x : makeNumber<arith::SubIOp>(*this, x, y, [](int64_t p, int64_t q) { return p - q; });
}
Number VectorBuilder::multiply(const Number &x, const Number &y) {
  return x == 1 ? y : y == 1 ? x : makeNumber<arith::MulIOp>(*this, x, y, [](int64_t p, int64_t q) { return p * q; });
}
Number VectorBuilder::divide(const Number &x, const Number &y) {
  return y == 1 ? x : makeNumber<arith::DivUIOp>(*this, x, y, [](int64_t p, int64_t q) { return p / q; });
}
Number VectorBuilder::remainder(const Number &x, const Number &y) {
  return makeNumber<arith::RemUIOp>(*this, x, y, [](int64_t p, int64_t q) { return p % q; });
}
Number VectorBuilder::minimum(const Number &x, const Number &y) {
  return makeNumber<arith::MinSIOp>(*this, x, y, [](int64_t p, int64_t q) { return std::min(p, q); });
}
Number VectorBuilder::maximum(const Number &x, const Number &y) {
  return makeNumber<arith::MaxSIOp>(*this, x, y, [](int64_t p, int64_t q) { return std::max(p, q); });
}
Value VectorBuilder::less(const Number &x, const Number &y) {
  Value left = valueOf(x), right = valueOf(y);
  return arith::CmpIOp::create(b, location, arith::CmpIPredicate::slt, left, right);
}

Value VectorBuilder::scalarAddress(const Access &access, const Position &position) {
  int64_t offset = access.offset;
  Value sum = access.unknownOffset;
  auto plus = [&](Value term) { sum = sum ? arith::AddIOp::create(b, location, sum, term).getResult() : term; };
  for (unsigned loop = 0; loop < position.index.size(); ++loop) {
    const Extent &stride = access.strides[loop];
    const Extent shift = stride * Extent(position.shift[loop]);
    if (stride.isKnown())
      offset += *shift.known();
    else if (position.shift[loop])
      plus(shift.emit(b, location));
  }
  // Sums up outer loops first, so that the part that is constant in inner loops can be hoisted out of them.
  for (unsigned loop = 0; loop < position.index.size(); ++loop) {
    const Extent &stride = access.strides[loop];
    if (stride == 0 || !position.index[loop])
      continue;
    plus(stride == 1 ? position.index[loop]
                     : arith::MulIOp::create(b, location, position.index[loop], stride.emit(b, location)).getResult());
  }
  if (!sum)
    return index(offset);
  return offset ? arith::AddIOp::create(b, location, sum, index(offset)).getResult() : sum;
}

Value VectorBuilder::mask(const Number &valid) {
  auto type = VectorType::get({lanes}, b.getI1Type());
  if (!valid.known)
    return vector::CreateMaskOp::create(b, location, type, valid.value);
  SmallVector<bool> bits(lanes, false);
  std::fill_n(bits.begin(), *valid.known, true);
  return arith::ConstantOp::create(b, location, DenseElementsAttr::get(type, bits));
}

Value VectorBuilder::loadScalar(const Access &access, const Position &position) {
  if (!access.isBuffer)
    return access.value;
  return memref::LoadOp::create(b, location, access.value, scalarAddress(access, position));
}

Value VectorBuilder::load(const Access &access, const Position &position, const Number &valid, bool repeats) {
  if (lanes == 1 || vectorLoop == kNoLoop || !access.varies(vectorLoop))
    return splat(loadScalar(access, position));
  auto type = cast<VectorType>(typeOf(access.element));
  if (access.strides[vectorLoop] == 1 && hasVectors(access.element)) {
    Value address = scalarAddress(access, position), buffer = asBytes(b, location, access.value);
    Type stored = inMemory(type);
    if (valid == lanes)
      return fromMemory(b, location, vector::LoadOp::create(b, location, stored, buffer, address), type);
    bool isRepeated = repeats && isa<FloatType>(access.element);
    Value others =
        isRepeated ? splat(loadScalar(access, position)) : constant(b.getZeroAttr(getElementTypeOrSelf(stored)));
    Value loaded = fromMemory(
        b, location, vector::MaskedLoadOp::create(b, location, stored, buffer, address, mask(valid), others), type);
    // LLVM sees that the other lanes are not stored, and would make them zeros.
    return isRepeated ? ir::makeOpaque(b, location, loaded) : loaded;
  }
  if (valid == lanes && loadsOf(access.strides[vectorLoop]) && hasVectors(access.element))
    return loadStrided(access, position, type);
  SmallVector<Value> elements;
  if (!valid.known) {
    // Lanes beyond the last valid lane load the same element as the last valid lane.
    Number last = subtract(valid, 1);
    Value first = scalarAddress(access, position), stride = access.strides[vectorLoop].emit(b, location);
    for (int64_t lane = 0; lane < lanes; ++lane) {
      Value offset = arith::MulIOp::create(b, location, valueOf(minimum(last, lane)), stride);
      Value address = arith::AddIOp::create(b, location, first, offset);
      elements.push_back(memref::LoadOp::create(b, location, access.value, address));
    }
  }
  for (int64_t lane = 0; valid.known && lane < lanes; ++lane)
    elements.push_back(lane < *valid.known ? loadScalar(access, position.shifted(vectorLoop, lane)) : elements[0]);
  return vector::FromElementsOp::create(b, location, type, elements);
}

int64_t VectorBuilder::loadsOf(const Extent &stride) {
  const int64_t known = stride.known().value_or(0);
  return known == -1 ? 1 : known >= 1 && known <= kMostLoads ? known : 0;
}

// Nothing beyond the last lane's element is read: the last vector ends with it.
Value VectorBuilder::loadStrided(const Access &access, const Position &position, VectorType type) {
  const int64_t stride = *access.strides[vectorLoop].known(), loads = loadsOf(stride);
  const int64_t lowest = stride < 0 ? 1 - lanes : 0, span = stride < 0 ? lanes : stride * (lanes - 1) + 1;
  Type stored = inMemory(type);
  Access from = access.ofBytes(b, location);
  Value result;
  SmallVector<int64_t> places(lanes, 0); // of the lanes that are there, the number itself
  for (int64_t load = 0; load < loads; ++load) {
    const int64_t start = std::min(load * lanes, span - lanes);
    from.offset = access.offset + lowest + start;
    Value part = vector::LoadOp::create(b, location, stored, from.value, scalarAddress(from, position));
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const int64_t place = stride * lane - lowest - start; // in this part
      const bool isBefore = load && place < std::min(lanes, load * lanes - start);
      places[lane] = isBefore ? lane : std::clamp<int64_t>(place, 0, lanes - 1) + (load ? lanes : 0);
    }
    result = vector::ShuffleOp::create(b, location, load ? result : part, part, places);
  }
  return fromMemory(b, location, result, type);
}

// What lies between the elements is not touched: other threads may write it.
void VectorBuilder::storeStrided(const Access &access, const Position &position, Value value) {
  const int64_t stride = *access.strides[vectorLoop].known();
  Value stored = toMemory(b, location, value);
  Access into = access.ofBytes(b, location);
  auto maskType = VectorType::get({lanes}, b.getI1Type());
  for (int64_t part = 0; part < stride; ++part) {
    SmallVector<int64_t> places;
    SmallVector<bool> isThere;
    for (int64_t place = part * lanes; place < (part + 1) * lanes; ++place) {
      isThere.push_back(place % stride == 0);
      places.push_back(place / stride);
    }
    Value spread = vector::ShuffleOp::create(b, location, stored, stored, places);
    Value mask = arith::ConstantOp::create(b, location, DenseElementsAttr::get(maskType, isThere));
    into.offset = access.offset + part * lanes;
    vector::MaskedStoreOp::create(b, location, into.value, scalarAddress(into, position), mask, spread);
  }
}

void VectorBuilder::prefetch(const Access &access, const Position &position, bool forStore) {
  memref::PrefetchOp::create(b, location, access.value, scalarAddress(access, position), forStore, /*localityHint=*/3,
                             /*isDataCache=*/true);
}

void VectorBuilder::store(const Access &access, const Position &position, Value value, const Number &valid) {
  if (lanes == 1) {
    memref::StoreOp::create(b, location, value, access.value, scalarAddress(access, position));
    return;
  }
  if (access.strides[vectorLoop] == 1 && hasVectors(access.element)) {
    Value address = scalarAddress(access, position), buffer = asBytes(b, location, access.value);
    Value stored = toMemory(b, location, value);
    if (valid == lanes)
      vector::StoreOp::create(b, location, stored, buffer, address);
    else
      vector::MaskedStoreOp::create(b, location, buffer, address, mask(valid), stored);
    return;
  }
  if (valid == lanes && access.strides[vectorLoop].isKnown() && loadsOf(access.strides[vectorLoop]) > 1 &&
      hasVectors(access.element))
    return storeStrided(access, position, value);
  for (int64_t lane = 0; lane < valid.known.value_or(lanes); ++lane) {
    auto storeLane = [&] {
      Value element = vector::ExtractOp::create(b, location, value, lane);
      memref::StoreOp::create(b, location, element, access.value,
                              scalarAddress(access, position.shifted(vectorLoop, lane)));
    };
    valid.known ? storeLane() : onlyIf(less(lane, valid), storeLane);
  }
}

Value VectorBuilder::scalarIndex(linalg::IndexOp op, const Position &position) {
  int64_t loop = nest.loopOf[op.getDim()];
  Value scalar = index(loop < 0 ? 0 : position.shift[loop]);
  for (Value part : {loop >= 0 ? position.index[loop] : Value(), nest.firstIndex[op.getDim()]})
    if (part)
      scalar = arith::AddIOp::create(b, location, part, scalar);
  return scalar;
}

// Visits the operations in the order of the body, because a value may be an operand of many.
bool VectorBuilder::isUniform(Value value) {
  if (!varying) {
    varying.emplace();
    for (BlockArgument argument : nest.body->getArguments())
      if (argument.getArgNumber() >= nest.inputs.size() || nest.inputs[argument.getArgNumber()].varies(vectorLoop))
        varying->insert(argument);
    for (Operation &op : nest.body->without_terminator()) {
      auto indexOp = dyn_cast<linalg::IndexOp>(op);
      if (indexOp ? nest.loopOf[indexOp.getDim()] == vectorLoop
                  : llvm::any_of(op.getOperands(), [&](Value operand) { return varying->contains(operand); }))
        varying->insert(op.result_begin(), op.result_end());
    }
  }
  return !varying->contains(value);
}

Value VectorBuilder::read(memref::LoadOp op, const IRMapping &mapping, const Position &position, const Number &valid) {
  Value buffer = op.getMemRef();
  SmallVector<Value> first; // the indices of the first lane
  unsigned varying = 0;
  for (Value value : op.getIndices()) {
    varying += !isUniform(value);
    auto indexOp = value.getDefiningOp<linalg::IndexOp>();
    Value scalar = indexOp && indexOp->getBlock() == nest.body
                       ? scalarIndex(indexOp, position)
                       : b.createOrFold<vector::ExtractOp>(location, mapped(mapping, value), ArrayRef<int64_t>{0});
    first.push_back(scalar);
  }
  Type element = op.getMemRefType().getElementType();
  auto ofFirst = [&] { return memref::LoadOp::create(b, location, buffer, first).getResult(); };
  if (varying == 0)
    return splat(ofFirst());
  auto type = cast<VectorType>(typeOf(element)), stored = cast<VectorType>(inMemory(type));
  // Floats in lanes that are not valid are the first lane's element, as in loads of operands.
  auto others = [&] {
    return isa<FloatType>(element) ? splat(ofFirst()) : constant(b.getZeroAttr(stored.getElementType()));
  };
  auto last = op.getIndices().back().getDefiningOp<linalg::IndexOp>();
  if (varying == 1 && last && last->getBlock() == nest.body && !isUniform(last) &&
      op.getMemRefType().isLastDimUnitStride()) {
    Value bytes = asBytes(b, location, buffer);
    if (valid == lanes)
      return fromMemory(b, location, vector::LoadOp::create(b, location, stored, bytes, first), type);
    Value loaded = vector::MaskedLoadOp::create(b, location, stored, bytes, first, mask(valid), others());
    return fromMemory(b, location, ir::makeOpaque(b, location, loaded), type);
  }
  // Each lane has an address of its own.
  Layout layout = layoutOf(b, buffer);
  Value address = splat(index(0));
  for (const Extent &offset : layout.offsets)
    if (!(offset == 0))
      address = arith::AddIOp::create(b, location, address, splat(offset.emit(b, location)));
  for (auto [value, stride] : llvm::zip_equal(op.getIndices(), layout.strides)) {
    Value term = mapped(mapping, value);
    if (!(stride == 1))
      term = arith::MulIOp::create(b, location, term, splat(stride.emit(b, location)));
    address = arith::AddIOp::create(b, location, address, term);
  }
  Value flat = asBytes(b, location, flatView(b, location, buffer, layout));
  Value gathered = vector::GatherOp::create(b, location, stored, flat, index(0), address, mask(valid), others());
  return fromMemory(b, location, valid == lanes ? gathered : ir::makeOpaque(b, location, gathered), type);
}

Value VectorBuilder::mapped(const IRMapping &mapping, Value value) {
  return mapping.contains(value) ? mapping.lookup(value) : splat(value);
}

IRMapping VectorBuilder::emitBody(const Position &position, ValueRange outputs, const Number &valid,
                                  Operation *except) {
  IRMapping mapping;
  for (auto [number, access, argument] :
       llvm::enumerate(nest.inputs, nest.body->getArguments().take_front(nest.inputs.size())))
    if (Value known = given.lookup(static_cast<unsigned>(number)))
      mapping.map(argument, known);
    else if (access.isUsed)
      mapping.map(argument, load(access, position, valid, /*repeats=*/true));
  for (auto [value, argument] : llvm::zip(outputs, nest.body->getArguments().take_back(nest.outputs.size())))
    mapping.map(argument, value);
  auto isSame = [&](Value value) { return isUniform(value); };
  RepeatedLanes repeated(*this, position, isSame);
  for (Operation &op : nest.body->without_terminator()) {
    if (&op == except) {
      repeated.spread(op, mapping);
      continue;
    }
    if (auto constantOp = dyn_cast<arith::ConstantOp>(op)) {
      mapping.map(constantOp.getResult(), constant(constantOp.getValue()));
      continue;
    }
    if (auto indexOp = dyn_cast<linalg::IndexOp>(op)) {
      Value value = splat(scalarIndex(indexOp, position));
      if (lanes > 1 && nest.loopOf[indexOp.getDim()] == vectorLoop) {
        auto steps = llvm::to_vector(llvm::seq<int64_t>(0, lanes));
        value = arith::AddIOp::create(b, location, value,
                                      arith::ConstantOp::create(b, location, b.getIndexVectorAttr(steps)));
      }
      mapping.map(indexOp.getResult(), value);
      continue;
    }
    if (lanes > 1 && repeated.take(op, mapping))
      continue;
    repeated.spread(op, mapping);
    if (auto load = dyn_cast<memref::LoadOp>(op); load && lanes > 1) {
      mapping.map(load.getResult(), read(load, mapping, position, valid));
      continue;
    }
    OperationState state(op.getLoc(), op.getName());
    for (Value operand : op.getOperands())
      state.operands.push_back(isa<MemRefType>(operand.getType()) ? operand : mapped(mapping, operand));
    state.types.push_back(typeOf(op.getResult(0).getType()));
    state.attributes = op.getAttrs();
    mapping.map(op.getResult(0), b.create(state)->getResult(0));
  }
  repeated.spread(*nest.body->getTerminator(), mapping);
  return mapping;
}

SmallVector<Value> VectorBuilder::body(const Position &position, ValueRange outputs, const Number &valid) {
  IRMapping mapping = emitBody(position, outputs, valid, nullptr);
  return llvm::map_to_vector(nest.body->getTerminator()->getOperands(),
                             [&](Value value) { return mapped(mapping, value); });
}

Value VectorBuilder::contribution(const Position &position, Operation *combiner, const Number &valid) {
  IRMapping mapping = emitBody(position, {}, valid, combiner);
  bool isFirst = combiner->getOperand(0) != nest.body->getArguments().back();
  return mapped(mapping, combiner->getOperand(isFirst ? 0 : 1));
}

VectorBuilder::ExactSum VectorBuilder::add(const ExactSum &to, Value term) {
  auto plus = [&](Value x, Value y) -> Value { return arith::AddFOp::create(b, location, x, y); };
  auto minus = [&](Value x, Value y) -> Value { return arith::SubFOp::create(b, location, x, y); };
  Value corrected = plus(term, to.error), sum = plus(to.sum, corrected), added = minus(sum, to.sum);
  Value ofSum = minus(to.sum, minus(sum, added)), ofTerm = minus(corrected, added), error = plus(ofSum, ofTerm);
  Value isNumber = arith::CmpFOp::create(b, location, arith::CmpFPredicate::ORD, error, error);
  Value zero = constant(b.getZeroAttr(getElementTypeOrSelf(error.getType())));
  return {sum, arith::SelectOp::create(b, location, isNumber, error, zero)};
}

Value VectorBuilder::ExactSum::total(VectorBuilder &v) const {
  return arith::AddFOp::create(v.b, v.location, sum, error);
}

Value VectorBuilder::apply(Operation *operation, Value x, Value y) {
  OperationState state(operation->getLoc(), operation->getName());
  state.operands = {x, y};
  state.types.push_back(x.getType());
  state.attributes = operation->getAttrs();
  return b.create(state)->getResult(0);
}

Value VectorBuilder::horizontal(Operation *combiner, Value vector) {
  if (lanes == 1)
    return vector;
  for (int64_t width = lanes / 2; width >= 1; width /= 2) {
    auto low = llvm::to_vector(llvm::seq<int64_t>(0, width)),
         high = llvm::to_vector(llvm::seq<int64_t>(width, 2 * width));
    Value lower = vector::ShuffleOp::create(b, location, vector, vector, low);
    Value upper = vector::ShuffleOp::create(b, location, vector, vector, high);
    vector = apply(combiner, lower, upper);
  }
  return vector::ExtractOp::create(b, location, vector, 0);
}

Value VectorBuilder::concatenate(SmallVector<Value> parts) {
  for (; parts.size() > 1; parts.resize(parts.size() / 2))
    for (size_t i = 0; i < parts.size() / 2; ++i) {
      int64_t length = cast<VectorType>(parts[2 * i].getType()).getNumElements();
      parts[i] = vector::ShuffleOp::create(b, location, parts[2 * i], parts[2 * i + 1],
                                           llvm::to_vector(llvm::seq<int64_t>(0, 2 * length)));
    }
  return parts[0];
}

void VectorBuilder::transpose(SmallVectorImpl<Value> &squares) {
  auto length = static_cast<int64_t>(squares.size());
  SmallVector<int64_t> low, high; // interleave the lower and the upper halves of squares
  for (int64_t lane = 0; lane < lanes; ++lane) {
    int64_t place = lane % length, from = lane - place + place / 2 + (place % 2 ? lanes : 0);
    low.push_back(from);
    high.push_back(from + length / 2);
  }
  for (int64_t size = 1; size < length; size *= 2) {
    SmallVector<Value> next;
    for (int64_t row = 0; row < length / 2; ++row)
      for (ArrayRef<int64_t> half : {low, high})
        next.push_back(vector::ShuffleOp::create(b, location, squares[row], squares[row + length / 2], half));
    squares = std::move(next);
  }
}

SmallVector<Value> VectorBuilder::loop(Value from, Value to, const Number &step, ValueRange carried, LoopBody body) {
  auto forOp = scf::ForOp::create(b, location, from, to, valueOf(step), carried);
  OpBuilder::InsertionGuard guard(b);
  Block *block = forOp.getBody();
  if (carried.empty())
    b.setInsertionPoint(block->getTerminator());
  else
    b.setInsertionPointToEnd(block);
  SmallVector<Value> results = body(forOp.getInductionVar(), forOp.getRegionIterArgs());
  if (!carried.empty())
    scf::YieldOp::create(b, location, results);
  return SmallVector<Value>(forOp.getResults());
}

SmallVector<Value> VectorBuilder::loop(const Number &extent, int64_t step, ValueRange carried, LoopBody body) {
  if (extent.known && *extent.known <= 0)
    return SmallVector<Value>(carried);
  if (extent.known && *extent.known <= step)
    return body(index(0), carried);
  return loop(index(0), valueOf(extent), step, carried, body);
}

SmallVector<Value> VectorBuilder::onlyIf(Value condition, ValueRange carried,
                                         function_ref<SmallVector<Value>(ValueRange)> body) {
  auto ifOp = scf::IfOp::create(b, location, carried.getTypes(), condition, true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(ifOp.elseBlock());
  scf::YieldOp::create(b, location, carried);
  b.setInsertionPointToEnd(ifOp.thenBlock());
  scf::YieldOp::create(b, location, body(carried));
  return SmallVector<Value>(ifOp.getResults());
}

void VectorBuilder::onlyIf(Value condition, function_ref<void()> body) {
  auto ifOp = scf::IfOp::create(b, location, condition, false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(ifOp.thenBlock()->getTerminator());
  body();
}

void VectorBuilder::either(Value condition, function_ref<void()> ifTrue, function_ref<void()> ifFalse) {
  auto ifOp = scf::IfOp::create(b, location, condition, true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(ifOp.thenBlock()->getTerminator());
  ifTrue();
  b.setInsertionPoint(ifOp.elseBlock()->getTerminator());
  ifFalse();
}

void VectorBuilder::parallel(const Number &extent, double cycles, const Number &times, function_ref<void(Value)> body) {
  auto serial = [&] {
    loop(extent, 1, {}, [&](Value i, ValueRange) {
      body(i);
      return SmallVector<Value>();
    });
  };
  // Threads share the outermost loop.
  Operation *around = b.getInsertionBlock()->getParentOp();
  if ((extent.known && *extent.known <= 1) || isa<scf::ParallelOp>(around) ||
      around->getParentOfType<scf::ParallelOp>())
    return serial();
  auto emit = [&](Value count, int64_t grain, function_ref<void(Value)> inside) {
    auto parallelOp =
        scf::ParallelOp::create(b, location, ValueRange{index(0)}, ValueRange{count}, ValueRange{index(1)});
    parallelOp->setAttr(kGrainAttr, b.getI64IntegerAttr(grain));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(parallelOp.getBody()->getTerminator());
    inside(parallelOp.getInductionVars()[0]);
  };
  if (extent.known && times.known) {
    double cost = cycles * static_cast<double>(*times.known);
    if (cost * static_cast<double>(*extent.known) < kParallelCycles)
      return serial();
    auto grain = std::max<int64_t>(static_cast<int64_t>(std::ceil(kPieceCycles / cost)),
                                   (*extent.known + kMostParts - 1) / kMostParts);
    return emit(index(*extent.known), std::clamp<int64_t>(grain, 1, *extent.known), body);
  }
  // The emitted code computes the same, in units of 1/64 cycle. A loop that is not worth threads becomes one piece.
  constexpr int64_t kUnit = 64;
  Number cost = maximum(multiply(times, std::max<int64_t>(static_cast<int64_t>(cycles * kUnit), 1)), 1);
  Number byCost = ceilDivide(static_cast<int64_t>(kPieceCycles) * kUnit, cost),
         byCount = ceilDivide(extent, kMostParts), grain = maximum(byCost, byCount);
  Value all = valueOf(extent);
  Value isSmall = less(multiply(extent, cost), static_cast<int64_t>(kParallelCycles) * kUnit);
  grain = maximum(Number(arith::SelectOp::create(b, location, isSmall, all, valueOf(grain)).getResult()), 1);
  Value size = valueOf(grain);
  emit(valueOf(ceilDivide(extent, grain)), 1, [&](Value piece) {
    Value first = arith::MulIOp::create(b, location, piece, size);
    Value last = valueOf(minimum(Number(arith::AddIOp::create(b, location, first, size).getResult()), extent));
    loop(first, last, 1, {}, [&](Value i, ValueRange) {
      body(i);
      return SmallVector<Value>();
    });
  });
}

} // namespace calque::codegen
