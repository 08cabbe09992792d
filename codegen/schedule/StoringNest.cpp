#include "codegen/schedule/StoringNest.h"
#include "codegen/KernelAttributes.h"
#include "codegen/schedule/ScalarFunctions.h"
#include "ir/Opaque.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace calque::codegen {

bool StoringNest::findLoops() {
  for (scf::ForOp loop = outermost;;) {
    if (getConstantIntValue(loop.getLowerBound()) != 0 || getConstantIntValue(loop.getStep()) != 1 ||
        loop.getNumResults() || !isOutside(loop.getUpperBound()))
      return false;
    addLoop(loop, !loop->hasAttr(kIndependentAttr));
    auto inner = dyn_cast<scf::ForOp>(body->front());
    if (!inner || inner->getNextNode() != body->getTerminator() || inner.getNumResults())
      break;
    loop = inner;
  }
  return llvm::is_contained(nest.isReduction, false);
}

void StoringNest::addLoop(scf::ForOp loop, bool isOrdered) {
  loops.push_back(loop);
  indices.push_back(loop.getInductionVar());
  nest.extents.push_back(Extent(OpFoldResult(loop.getUpperBound())));
  nest.isReduction.push_back(isOrdered);
  body = loop.getBody();
}

bool StoringNest::readBody() {
  auto isScalar = [](Type type) { return type.isIntOrIndexOrFloat(); };
  for (Operation &op : body->without_terminator()) {
    if (isa<memref::LoadOp, memref::StoreOp>(op)) {
      if (!addTouch(&op))
        return false;
    } else if ((!takesVectors(op) && !ir::isOpaque(&op) && !isa<arith::ConstantOp>(op)) || op.getNumResults() != 1 ||
               !llvm::all_of(op.getOperandTypes(), isScalar)) {
      return false;
    }
  }
  // Finds the operations that are needed, except those of addresses, which are emitted anew.
  SmallVector<Value> open;
  auto needs = [&](const Touch &touch) {
    for (const Touch::Part &part : touch.computed)
      open.push_back(part.value);
  };
  for (const Touch &touch : touches)
    if (touch.isStore) {
      needed.insert(touch.op);
      stored.insert(touch.buffer);
      open.push_back(cast<memref::StoreOp>(touch.op).getValueToStore());
      needs(touch);
    }
  llvm::append_range(open, body->getTerminator()->getOperands());
  while (!open.empty()) {
    Value value = open.pop_back_val();
    Operation *op = isOutside(value) ? nullptr : value.getDefiningOp();
    if (!op || !needed.insert(op).second)
      continue;
    if (const Touch *touch = touchOf(op))
      needs(*touch);
    else
      llvm::append_range(open, op->getOperands());
  }
  findDependences();
  isRead = true;
  return true;
}

StoringNest::Linear StoringNest::linearOf(Value value) const {
  Linear result;
  result.factors.assign(loops.size(), 0);
  if (auto index = llvm::find(indices, value); index != indices.end()) {
    result.factors[index - indices.begin()] = 1;
    return result;
  }
  if (std::optional<int64_t> constant = getConstantIntValue(value)) {
    result.constant = *constant;
    return result;
  }
  Operation *op = value.getDefiningOp();
  if (isa_and_present<arith::AddIOp, arith::SubIOp>(op) && !isOutside(value)) {
    Linear left = linearOf(op->getOperand(0)), right = linearOf(op->getOperand(1));
    const int64_t sign = isa<arith::AddIOp>(op) ? 1 : -1;
    if (sign == 1 || right.rest.empty()) {
      for (auto [factor, other] : llvm::zip_equal(left.factors, right.factors))
        factor += sign * other;
      left.constant += sign * right.constant;
      llvm::append_range(left.rest, right.rest);
      return left;
    }
  }
  result.rest.push_back(value);
  return result;
}

bool StoringNest::addTouch(Operation *op) {
  auto load = dyn_cast<memref::LoadOp>(op);
  auto store = dyn_cast<memref::StoreOp>(op);
  Touch touch{op, static_cast<bool>(store), load ? load.getMemRef() : store.getMemRef(), {}, {}};
  if (!isOutside(touch.buffer))
    return false;
  Layout layout = layoutOf(b, touch.buffer);
  touch.access.element = getElementTypeOrSelf(touch.buffer.getType());
  touch.access.strides.assign(loops.size(), Extent(0));
  auto plus = [&](const Extent &offset) {
    if (offset.isKnown())
      touch.access.offset += *offset.known();
    else
      touch.computed.push_back({offset.emit(b, location), Extent(1)});
  };
  for (const Extent &offset : layout.offsets)
    plus(offset);
  for (auto [index, stride, size] :
       llvm::zip_equal(load ? load.getIndices() : store.getIndices(), layout.strides, layout.sizes)) {
    Linear linear = linearOf(index);
    plus(stride * Extent(linear.constant));
    bool isAlone = linear.constant == 0 && linear.rest.size() == 1;
    for (auto [factor, of] : llvm::zip_equal(linear.factors, touch.access.strides)) {
      if (!factor)
        continue;
      isAlone = false;
      if (!(of == 0))
        return false; // a diagonal
      of = stride * Extent(factor);
    }
    for (Value value : linear.rest)
      touch.computed.push_back({value, stride, isAlone, size});
  }
  touch.access.value = flatView(b, location, touch.buffer, layout);
  touches.push_back(std::move(touch));
  return true;
}

const Touch *StoringNest::touchOf(Operation *op) const {
  auto found = llvm::find_if(touches, [&](const Touch &touch) { return touch.op == op; });
  return found == touches.end() ? nullptr : &*found;
}

void StoringNest::findDependences() {
  isAsked.resize(loops.size());
  for (Operation &op : body->without_terminator()) {
    if (!needed.contains(&op))
      continue;
    llvm::SmallBitVector on(loops.size());
    auto add = [&](Value value) {
      if (auto index = llvm::find(indices, value); index != indices.end()) {
        on.set(static_cast<unsigned>(index - indices.begin()));
        isAsked.set(static_cast<unsigned>(index - indices.begin()));
      } else if (auto found = dependences.find(value.getDefiningOp()); found != dependences.end()) {
        on |= found->second;
      }
    };
    if (const Touch *touch = touchOf(&op)) {
      for (const Touch::Part &part : touch->computed)
        add(part.value);
      for (unsigned loop = 0; loop < loops.size(); ++loop)
        if (touch->access.varies(loop))
          on.set(loop);
    }
    if (!isa<memref::LoadOp>(op))
      for (Value operand : op.getOperands())
        if (!touchOf(&op) || operand == op.getOperand(0))
          add(operand);
    dependences[&op] = on;
  }
}
bool StoringNest::dependsOn(Operation *op, unsigned loop) const {
  auto found = dependences.find(op);
  return found != dependences.end() && found->second.test(loop);
}

void StoringNest::mergeLoops() {
  auto canMerge = [&](unsigned outer) {
    return nest.isReduction[outer] == nest.isReduction[outer + 1] && !isAsked.test(outer) && !isAsked.test(outer + 1) &&
           llvm::all_of(touches, [&](const Touch &touch) {
             const auto &strides = touch.access.strides;
             return !needed.contains(touch.op) || strides[outer] == strides[outer + 1] * nest.extents[outer + 1];
           });
  };
  for (unsigned loop = nest.numLoops() - 1; loop-- > 0;) {
    if (!canMerge(loop))
      continue;
    nest.extents[loop + 1] = nest.extents[loop] * nest.extents[loop + 1];
    nest.extents.erase(nest.extents.begin() + loop);
    nest.isReduction.erase(nest.isReduction.begin() + loop);
    for (Touch &touch : touches)
      touch.access.strides.erase(touch.access.strides.begin() + loop);
    auto merge = [&](llvm::SmallBitVector &on) {
      llvm::SmallBitVector merged(nest.numLoops());
      for (unsigned other = 0; other < nest.numLoops(); ++other)
        merged[other] = on.test(other < loop ? other : other + 1) || (other == loop && on.test(loop));
      on = merged;
    };
    for (auto &[op, on] : dependences)
      merge(on);
    merge(isAsked);
    indices.erase(indices.begin() + loop);
  }
}

llvm::SmallPtrSet<Operation *, 16> StoringNest::operationsFor(Value value) const {
  llvm::SmallPtrSet<Operation *, 16> used;
  SmallVector<Value> open{value};
  while (!open.empty()) {
    Value next = open.pop_back_val();
    Operation *op = isOutside(next) ? nullptr : next.getDefiningOp();
    if (!op || !used.insert(op).second)
      continue;
    if (const Touch *touch = touchOf(op))
      for (const Touch::Part &part : touch->computed)
        open.push_back(part.value);
    else
      llvm::append_range(open, op->getOperands());
  }
  return used;
}

bool StoringNest::readsStored(Value value) const {
  auto used = operationsFor(value);
  return llvm::any_of(touches,
                      [&](const Touch &touch) { return used.contains(touch.op) && stored.contains(touch.buffer); });
}

Extent StoringNest::iterationsOf(ArrayRef<unsigned> of) const {
  Extent count(1);
  for (unsigned loop : of)
    count = count * nest.extents[loop];
  return count;
}

std::string StoringNest::text() const {
  std::string result = describeLoops(nest);
  llvm::raw_string_ostream stream(result);
  stream << ": loops that store";
  for (Operation &op : body->without_terminator())
    if (isa<arith::AddFOp, arith::AddIOp, arith::MulFOp, arith::MulIOp, arith::MaximumFOp>(op) &&
        (!isRead || needed.contains(&op)) && !op.getResult(0).getType().isIndex())
      stream << ' ' << op.getName().stripDialect();
  return result;
}

Position StoringNest::placeIn(ArrayRef<unsigned> of, Value number, Position at) {
  for (unsigned loop : llvm::reverse(of)) {
    if (loop == of.front()) {
      at.index[loop] = number;
      break;
    }
    Value extent = nest.extents[loop].emit(b, location);
    at.index[loop] = arith::RemUIOp::create(b, location, number, extent);
    number = arith::DivUIOp::create(b, location, number, extent);
  }
  return at;
}

IRMapping StoringNest::mappingOf(const Position &at) const {
  IRMapping mapping;
  for (auto [index, value] : llvm::zip_equal(indices, at.index))
    if (value)
      mapping.map(index, value);
  return mapping;
}

Access StoringNest::accessOf(const Touch &touch, const IRMapping &mapping) {
  Access access = touch.access;
  for (const Touch::Part &part : touch.computed) {
    Value term = mapping.lookupOrDefault(part.value);
    if (!(part.stride == 1))
      term = arith::MulIOp::create(b, location, term, part.stride.emit(b, location));
    access.unknownOffset =
        access.unknownOffset ? arith::AddIOp::create(b, location, access.unknownOffset, term).getResult() : term;
  }
  return access;
}

void StoringNest::emitOp(Operation *op, VectorBuilder &w, const Position &at, const Number &valid, IRMapping &mapping) {
  auto mapped = [&](Value value) {
    Value found = mapping.lookupOrDefault(value);
    return isa<VectorType>(found.getType()) || w.lanes == 1 ? found : w.splat(found);
  };
  if (const Touch *touch = touchOf(op)) {
    Access access = accessOf(*touch, mapping);
    if (auto store = dyn_cast<memref::StoreOp>(op))
      w.store(access, at, mapped(store.getValueToStore()), valid);
    else
      mapping.map(op->getResult(0), w.load(access, at, valid, /*repeats=*/true));
    return;
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return mapping.map(op->getResult(0), w.constant(constant.getValue()));
  OperationState state(op->getLoc(), op->getName());
  for (Value operand : op->getOperands())
    state.operands.push_back(mapped(operand));
  state.types.push_back(w.typeOf(op->getResult(0).getType()));
  state.attributes = op->getAttrs();
  mapping.map(op->getResult(0), b.create(state)->getResult(0));
}

} // namespace calque::codegen
