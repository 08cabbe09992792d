#include "codegen/buffers/Chains.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace calque::codegen {

Value beforeCasts(Value value) {
  while (auto cast = value.getDefiningOp<tensor::CastOp>())
    value = cast.getSource();
  return value;
}

tensor::EmptyOp emptyOf(Value destination) {
  if (auto fill = beforeCasts(destination).getDefiningOp<linalg::FillOp>())
    destination = fill.getOutputs()[0];
  return beforeCasts(destination).getDefiningOp<tensor::EmptyOp>();
}

namespace {

// Chains within chains: beyond this depth a part is copied, so that no view has many views below it.
constexpr unsigned kDeepestPart = 4;

// Clones insertions so that each is the destination of one other. CSE merges equal ones, as where two concatenations
// begin with the same part; to copy the part is less work than to copy the whole.
void separateInserts(func::FuncOp function) {
  SmallVector<tensor::InsertSliceOp> inserts;
  function.walk([&](tensor::InsertSliceOp insert) { inserts.push_back(insert); });
  for (tensor::InsertSliceOp insert : llvm::reverse(inserts)) { // last first: a clone uses the insertion before it
    SmallVector<OpOperand *> destinations;
    for (OpOperand &use : insert->getUses())
      if (auto next = dyn_cast<tensor::InsertSliceOp>(use.getOwner()); next && use == next.getDestMutable())
        destinations.push_back(&use);
    for (OpOperand *use : ArrayRef(destinations).drop_front(std::min<size_t>(destinations.size(), 1))) {
      OpBuilder builder(use->getOwner());
      use->set(builder.clone(*insert)->getResult(0));
    }
  }
}

//===-- The order of reads and updates ----------------------------------------------------------===//

// Whether an operation makes its result of this operand, in place if it can.
bool isDestination(OpOperand &use) {
  return TypeSwitch<Operation *, bool>(use.getOwner())
      .Case([&](linalg::LinalgOp op) { return op.isDpsInit(&use) && op.payloadUsesValueFromOperand(&use); })
      .Case([&](tensor::InsertSliceOp insert) { return use == insert.getDestMutable(); })
      .Case([&](tensor::InsertOp insert) { return use == insert.getDestMutable(); })
      .Case([&](scf::ForOp loop) {
        return llvm::is_contained(llvm::make_pointer_range(loop.getInitArgsMutable()), &use);
      })
      .Default([](Operation *) { return false; });
}

// Notes the last operation of a block that reads a value or a view of it. Not so if one makes its result of it.
bool findLastReader(Value value, Operation *update, Operation *&last) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = update->getBlock()->findAncestorOpInBlock(*use.getOwner());
    if (user == update)
      continue;
    if (!user || isDestination(use) || user == &user->getBlock()->back())
      return false;
    if (!last || last->isBeforeInBlock(user))
      last = user;
    if ((isReshape(use.getOwner()) || isa<tensor::ExtractSliceOp>(use.getOwner())) &&
        !findLastReader(use.getOwner()->getResult(0), update, last))
      return false;
  }
  return true;
}

// The tensor that a loop or an insertion makes its result of; else null.
Value updatedBy(Operation *op) {
  return TypeSwitch<Operation *, Value>(op)
      .Case([](tensor::InsertSliceOp insert) { return insert.getDest(); })
      .Case([](tensor::InsertOp insert) { return insert.getDest(); })
      .Case([](scf::ForOp loop) {
        bool isUpdate = loop.getInits().size() == 1 && isTensor(loop.getInits()[0]) && isMemoryEffectFree(loop);
        return isUpdate ? loop.getInits()[0] : Value();
      })
      .Default(Value());
}

// Whether neither what comes up to `last` needs the update's result, nor the update what is updated there.
bool canMoveBehind(Operation *update, Operation *last) {
  if (!llvm::all_of(update->getUsers(), [&](Operation *user) {
        Operation *ancestor = update->getBlock()->findAncestorOpInBlock(*user);
        return ancestor && last->isBeforeInBlock(ancestor);
      }))
    return false;
  llvm::DenseSet<Value> read;
  update->walk([&](Operation *op) { read.insert(op->operand_begin(), op->operand_end()); });
  for (Operation *op = update->getNextNode(); op != last->getNextNode(); op = op->getNextNode())
    for (OpOperand &operand : op->getOpOperands())
      if (isDestination(operand) && read.contains(operand.get()))
        return false;
  return true;
}

// Moves each update of a tensor behind the last operation that reads this tensor, so that it needs no copy. A read
// may come later than in the program where it was fused with what it is for.
void readBeforeUpdates(Block &body) {
  for (Operation *update : llvm::to_vector(llvm::make_pointer_range(body))) {
    Value updated = updatedBy(update);
    Operation *last = nullptr;
    if (updated && findLastReader(updated, update, last) && last && update->isBeforeInBlock(last) &&
        canMoveBehind(update, last))
      update->moveAfter(last);
  }
}

//===-- Which values share a buffer -------------------------------------------------------------===//

// Whether all uses of a value, but one, come before an operation of its block. A view's uses are those of the value.
bool usesComeBefore(Value value, Operation *op, OpOperand *except) {
  for (OpOperand &use : value.getUses()) {
    if (&use == except)
      continue;
    Operation *user = op->getBlock()->findAncestorOpInBlock(*use.getOwner());
    if (!user || !user->isBeforeInBlock(op))
      return false;
    if (isReshape(use.getOwner()) || isa<tensor::ExtractSliceOp>(use.getOwner()))
      if (!usesComeBefore(use.getOwner()->getResult(0), op, except))
        return false;
  }
  return true;
}

// An axis along which the part of an insertion begins behind that of the one before it.
std::optional<size_t> axisBehind(tensor::InsertSliceOp insert, tensor::InsertSliceOp before) {
  if (insert.getMixedStrides() != before.getMixedStrides())
    return std::nullopt;
  ArrayRef<int64_t> starts = insert.getStaticOffsets(), earlier = before.getStaticOffsets();
  for (auto [axis, start] : llvm::enumerate(starts)) {
    int64_t size = before.getStaticSizes()[axis], stride = before.getStaticStrides()[axis];
    if (start == earlier[axis] || ShapedType::isDynamic(start) || ShapedType::isDynamic(earlier[axis]))
      continue;
    if (!ShapedType::isDynamic(size) && !ShapedType::isDynamic(stride) && start >= earlier[axis] + size * stride)
      return axis;
  }
  return std::nullopt;
}

// Parts that follow each other along one axis are disjoint.
void addInsert(Chain &chain, tensor::InsertSliceOp insert) {
  if (chain.lastInsert) {
    std::optional<size_t> axis = axisBehind(insert, chain.lastInsert);
    chain.isDisjoint &= axis && (chain.numInserts == 1 || axis == chain.axis);
    chain.axis = axis;
  }
  chain.lastInsert = insert;
  ++chain.numInserts;
}

} // namespace

Chain &Chains::start(Value root, Operation *first, Value initial, Value destination) {
  chains.push_back(std::make_unique<Chain>());
  Chain &chain = *chains.back();
  chain.root = chain.last = root;
  chain.first = first;
  chain.initial = initial;
  chain.destination = destination;
  chainOf[root] = &chain;
  return chain;
}

// The chain of what an operation makes of a destination.
Chain &Chains::write(Value result, OpOperand &destination, bool readsDestination) {
  Value value = destination.get(), made = beforeCasts(value);
  Operation *op = destination.getOwner();
  if (!readsDestination || made.getDefiningOp<tensor::EmptyOp>())
    return start(result, op, {}, value);
  if (auto fill = made.getDefiningOp<linalg::FillOp>())
    return start(result, op, fill.getInputs()[0], value);
  Chain *chain = chainOf.lookup(value);
  if (!chain || !usesComeBefore(value, op, &destination))
    return start(result, op, value, value);
  chain->last = result;
  chain->onlyInserts &= value.hasOneUse();
  chainOf[result] = chain;
  return *chain;
}

void Chains::findChains(Block &block) {
  for (Operation &op : block) {
    TypeSwitch<Operation *>(&op)
        .Case([](linalg::FillOp) {}) // where it is used
        .Case([&](linalg::LinalgOp linalgOp) {
          for (auto [result, init] : llvm::zip_equal(op.getResults(), linalgOp.getDpsInitsMutable())) {
            Chain &chain = write(result, init, linalgOp.payloadUsesValueFromOperand(&init));
            chain.onlyInserts = false;
          }
        })
        .Case([&](tensor::InsertSliceOp insert) {
          addInsert(write(insert.getResult(), insert.getDestMutable(), true), insert);
        })
        .Case([&](tensor::InsertOp insert) {
          write(insert.getResult(), insert.getDestMutable(), true).onlyInserts = false;
        })
        .Case([&](scf::ForOp loop) {
          for (auto [result, init, argument] :
               llvm::zip_equal(loop.getResults(), loop.getInitArgsMutable(), loop.getRegionIterArgs())) {
            if (!isTensor(result))
              continue;
            write(result, init, true).onlyInserts = false;
            start(argument, loop, {}, {});
          }
          findChains(*loop.getBody());
        })
        .Case([&](bufferization::AllocTensorOp alloc) {
          start(alloc.getResult(), alloc, alloc.getCopy(), alloc.getResult()).onlyInserts = false;
        })
        .Case([&](bufferization::ToTensorOp tensor) {
          start(tensor.getResult(), tensor, {}, {}).given = tensor.getBuffer();
        });
  }
}

void Chains::find(func::FuncOp function) {
  Block &body = function.getBody().front();
  separateInserts(function);
  readBeforeUpdates(body);
  findChains(body);
}

//===-- Where the buffers lie -------------------------------------------------------------------===//

memref::AllocOp Chains::allocated(const Chain &chain) {
  auto alloc = chain.given ? chain.given.getDefiningOp<memref::AllocOp>() : nullptr;
  return alloc && isa<func::FuncOp>(alloc->getParentOp()) ? alloc : nullptr;
}

void Chains::placeInResults(OperandRange returned) {
  for (auto [number, result] : llvm::enumerate(returned)) {
    Value value = result;
    while (isReshape(value.getDefiningOp()))
      value = value.getDefiningOp()->getOperand(0);
    Chain *chain = chainOf.lookup(value);
    if (!chain || chain->result || (chain->given && !allocated(*chain)))
      continue;
    chain->result = number;
    chain->returned = result;
  }
}

namespace {
// Whether a value is there when an operation of the same block is about to run.
bool isThere(Value value, Operation *op) {
  Operation *definition = value.getDefiningOp();
  if (!definition)
    return true;
  definition = op->getBlock()->findAncestorOpInBlock(*definition);
  return !definition || definition->isBeforeInBlock(op);
}
} // namespace

// Whether the chain's buffer can be made before an operation that is earlier than those of the chain.
bool Chains::canStartBefore(const Chain &chain, Operation *op) const {
  if (!chain.startsFresh() || chain.first->getBlock() != op->getBlock())
    return false;
  if (chain.initial && !chain.initial.getDefiningOp<arith::ConstantOp>() && !isThere(chain.initial, op))
    return false;
  if (!cast<RankedTensorType>(chain.root.getType()).hasStaticShape()) {
    tensor::EmptyOp empty = emptyOf(chain.destination);
    if (!empty || !llvm::all_of(empty.getDynamicSizes(), [&](Value size) { return isThere(size, op); }))
      return false;
  }
  return !chain.part || canWriteBefore(chain.part, op);
}

bool Chains::canWriteBefore(tensor::InsertSliceOp insert, Operation *op) const {
  auto offsetsAndSizes = insert->getOperands().drop_front(2);
  return llvm::all_of(offsetsAndSizes, [&](Value value) { return isThere(value, op); }) &&
         canStartBefore(*chainOf.lookup(insert.getResult()), op);
}

void Chains::placeParts(Block &body) {
  for (Operation &op : llvm::reverse(body)) {
    auto insert = dyn_cast<tensor::InsertSliceOp>(op);
    if (!insert)
      continue;
    Chain *part = chainOf.lookup(insert.getSource()), *whole = chainOf.lookup(insert.getResult());
    if (!part || part->last != insert.getSource() || part->given || part->result || part->part || !whole->onlyInserts ||
        (whole->numInserts > 1 && !whole->isDisjoint) || whole->depth >= kDeepestPart ||
        !canWriteBefore(insert, part->first))
      continue;
    part->part = insert;
    part->depth = whole->depth + 1;
  }
}

void Chains::place(Block &body, OperandRange returned) {
  placeInResults(returned);
  placeParts(body);
}

} // namespace calque::codegen
