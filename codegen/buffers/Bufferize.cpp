// Gives each tensor of a program a buffer, in time that grows linearly with the program.
//
// Lowering emits one block of operations on tensors, each with a destination. So the questions of bufferization have
// simple answers. An operation whose destination is fresh (tensor.empty, or a fill of one) starts a *chain*: the
// values that are made of one another in place, which share the chain's buffer. A value joins the chain of its
// destination if all other uses of that destination come before; else it starts a chain with a copy. A chain is placed
//
//   - in the function's result, if one of its values is returned;
//   - in a part of another chain, if it is inserted there and nothing writes to that part otherwise: the parts of a
//     concatenation are computed where they belong;
//   - else in a buffer of its own.
#include "codegen/buffers/Bufferize.h"
#include "codegen/Passes.h"
#include "codegen/plan/ProgramAttributes.h"
#include "codegen/schedule/Nest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace calque::codegen {

#define GEN_PASS_DEF_BUFFERIZE
#include "codegen/Passes.h.inc"

Value contiguous(OpBuilder &builder, Value buffer, MemRefType type, ArrayRef<Size> sizes) {
  Location location = buffer.getLoc();
  SizeList strides(sizes.size());
  Size stride = builder.getIndexAttr(1);
  for (size_t dimension = sizes.size(); dimension-- > 0;) {
    strides[dimension] = stride;
    std::optional<int64_t> a = constantOf(stride), b = constantOf(sizes[dimension]);
    if (a && b)
      stride = builder.getIndexAttr(*a * *b);
    else if (dimension > 0)
      stride = builder.createOrFold<arith::MulIOp>(location,
                                                   getValueOrCreateConstantIndexOp(builder, location, sizes[dimension]),
                                                   getValueOrCreateConstantIndexOp(builder, location, stride));
  }
  return memref::ReinterpretCastOp::create(builder, location, MemRefType::get(type.getShape(), type.getElementType()),
                                           buffer, builder.getIndexAttr(0), sizes, strides);
}

Value addressOf(OpBuilder &builder, Location location, Value buffer) {
  auto type = MemRefType::get({1}, cast<MemRefType>(buffer.getType()).getElementType());
  if (buffer.getType() == type)
    return buffer;
  return memref::ReinterpretCastOp::create(builder, location, type, buffer, 0, ArrayRef<int64_t>{1},
                                           ArrayRef<int64_t>{1});
}

namespace {

// Chains within chains: beyond this depth a part is copied, so that no view has many views below it.
constexpr unsigned kDeepestPart = 4;

bool isTensor(Value value) { return isa<RankedTensorType>(value.getType()); }

MemRefType bufferType(Type tensor) {
  auto type = cast<RankedTensorType>(tensor);
  return MemRefType::get(type.getShape(), type.getElementType());
}

bool isReshape(Operation *op) {
  return isa_and_present<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(op);
}

// The values that share one buffer because each is made of the one before it in place.
struct Chain {
  Value root, last; // the first value and the last one
  Operation *first; // what makes it
  Value initial; // what the buffer holds before `first` writes: a scalar that fills it, a tensor that is copied, null
  Value destination; // of `first`; null where the buffer is given
  Value given;       // the buffer of a chain that has one from the start
  // What has a place in this chain is written before its insertion comes. That is right if insertions alone make the
  // chain, nothing reads it in between, and their parts are disjoint.
  unsigned numInserts = 0;
  bool onlyInserts = true, isDisjoint = true;
  tensor::InsertSliceOp lastInsert;
  std::optional<size_t> axis; // along which the parts follow each other

  // Where the buffer lies: in a result of the function, or in the part that an insertion writes.
  std::optional<unsigned> result;
  Value returned; // the value that is returned: the root, or a reshape of it
  tensor::InsertSliceOp part;
  unsigned depth = 0;

  Value buffer; // as soon as something writes to it
  bool startsFresh() const { return !given && (!initial || !isTensor(initial)); }
};

class Bufferizer {
public:
  Bufferizer(func::FuncOp function, const ProgramSizes &sizes)
      : module(function->getParentOfType<ModuleOp>()), function(function), numSizes(sizes.outputs.size()) {}

  LogicalResult run() {
    Block &body = function.getBody().front();
    separateInserts();
    readBeforeUpdates(body);
    findChains(body);
    takeArguments(body);
    placeInResults(body);
    placeParts(body);
    if (failed(convert(body)))
      return failure();
    returnResults(body);
    eraseDead(body);
    return success();
  }

  unsigned numCopies = 0;

private:
  // Clones insertions so that each is the destination of one other. CSE merges equal ones, as where two concatenations
  // begin with the same part; to copy the part is less work than to copy the whole.
  void separateInserts() {
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
  static bool isDestination(OpOperand &use) {
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
  static bool findLastReader(Value value, Operation *update, Operation *&last) {
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
  static Value updatedBy(Operation *op) {
    return TypeSwitch<Operation *, Value>(op)
        .Case([](tensor::InsertSliceOp insert) { return insert.getDest(); })
        .Case([](tensor::InsertOp insert) { return insert.getDest(); })
        .Case([](scf::ForOp loop) {
          bool isUpdate = loop.getInits().size() == 1 && isTensor(loop.getInits()[0]) && isMemoryEffectFree(loop);
          return isUpdate ? loop.getInits()[0] : Value();
        })
        .Default(Value());
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

  // Whether neither what comes up to `last` needs the update's result, nor the update what is updated there.
  static bool canMoveBehind(Operation *update, Operation *last) {
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

  //===-- Which values share a buffer -------------------------------------------------------------===//

  // The value that casts gave another type, with more or fewer known sizes.
  static Value beforeCasts(Value value) {
    while (auto cast = value.getDefiningOp<tensor::CastOp>())
      value = cast.getSource();
    return value;
  }

  // Whether all uses of a value, but one, come before an operation of its block. A view's uses are those of the value.
  static bool usesComeBefore(Value value, Operation *op, OpOperand *except) {
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

  Chain &start(Value root, Operation *first, Value initial, Value destination) {
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
  Chain &write(Value result, OpOperand &destination, bool readsDestination) {
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

  // An axis along which the part of an insertion begins behind that of the one before it.
  static std::optional<size_t> axisBehind(tensor::InsertSliceOp insert, tensor::InsertSliceOp before) {
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
  static void addInsert(Chain &chain, tensor::InsertSliceOp insert) {
    if (chain.lastInsert) {
      std::optional<size_t> axis = axisBehind(insert, chain.lastInsert);
      chain.isDisjoint &= axis && (chain.numInserts == 1 || axis == chain.axis);
      chain.axis = axis;
    }
    chain.lastInsert = insert;
    ++chain.numInserts;
  }

  void findChains(Block &block) {
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

  //===-- Where the buffers lie -------------------------------------------------------------------===//

  // Adds the arguments with buffers in place of tensors; those with tensors are erased at the end.
  void takeArguments(Block &body) {
    numArguments = body.getNumArguments();
    for (unsigned number = 0; number < numArguments; ++number) {
      BlockArgument argument = body.getArgument(number);
      Type type = isTensor(argument) ? Type(bufferType(argument.getType())) : argument.getType();
      BlockArgument made = body.addArgument(type, argument.getLoc());
      if (isTensor(argument))
        buffers[argument] = made;
      else
        argument.replaceAllUsesWith(made);
    }
    for (Value result : returned(body))
      results.push_back(body.addArgument(bufferType(result.getType()), function.getLoc()));
  }

  OperandRange returned(Block &body) {
    OperandRange operands = body.getTerminator()->getOperands();
    return operands.drop_back(numSizes);
  }

  void placeInResults(Block &body) {
    for (auto [number, result] : llvm::enumerate(returned(body))) {
      Value value = result;
      while (isReshape(value.getDefiningOp()))
        value = value.getDefiningOp()->getOperand(0);
      Chain *chain = chainOf.lookup(value);
      if (!chain || chain->given || chain->result)
        continue;
      chain->result = number;
      chain->returned = result;
    }
  }

  // Whether a value is there when an operation of the same block is about to run.
  static bool isThere(Value value, Operation *op) {
    Operation *definition = value.getDefiningOp();
    if (!definition)
      return true;
    definition = op->getBlock()->findAncestorOpInBlock(*definition);
    return !definition || definition->isBeforeInBlock(op);
  }

  // Whether the chain's buffer can be made before an operation that is earlier than those of the chain.
  bool canStartBefore(const Chain &chain, Operation *op) {
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
  bool canWriteBefore(tensor::InsertSliceOp insert, Operation *op) {
    auto offsetsAndSizes = insert->getOperands().drop_front(2);
    return llvm::all_of(offsetsAndSizes, [&](Value value) { return isThere(value, op); }) &&
           canStartBefore(*chainOf.lookup(insert.getResult()), op);
  }

  void placeParts(Block &body) {
    for (Operation &op : llvm::reverse(body)) {
      auto insert = dyn_cast<tensor::InsertSliceOp>(op);
      if (!insert)
        continue;
      Chain *part = chainOf.lookup(insert.getSource()), *whole = chainOf.lookup(insert.getResult());
      if (!part || part->last != insert.getSource() || part->given || part->result || part->part ||
          !whole->onlyInserts || (whole->numInserts > 1 && !whole->isDisjoint) || whole->depth >= kDeepestPart ||
          !canWriteBefore(insert, part->first))
        continue;
      part->part = insert;
      part->depth = whole->depth + 1;
    }
  }

  //===-- Buffers ---------------------------------------------------------------------------------===//

  static tensor::EmptyOp emptyOf(Value destination) {
    if (auto fill = beforeCasts(destination).getDefiningOp<linalg::FillOp>())
      destination = fill.getOutputs()[0];
    return beforeCasts(destination).getDefiningOp<tensor::EmptyOp>();
  }

  SizeList sizesOf(OpBuilder &builder, Value destination) {
    if (auto type = cast<RankedTensorType>(destination.getType()); type.hasStaticShape())
      return getAsIndexOpFoldResult(builder.getContext(), type.getShape());
    if (tensor::EmptyOp empty = emptyOf(destination))
      return empty.getMixedSizes();
    if (auto fill = beforeCasts(destination).getDefiningOp<linalg::FillOp>())
      destination = fill.getOutputs()[0];
    auto alloc = destination.getDefiningOp<bufferization::AllocTensorOp>();
    if (alloc && !alloc.getCopy()) {
      SizeList sizes;
      unsigned next = 0;
      for (int64_t size : alloc.getType().getShape())
        sizes.push_back(ShapedType::isDynamic(size) ? Size(alloc.getDynamicSizes()[next++])
                                                    : Size(builder.getIndexAttr(size)));
      return sizes;
    }
    return memref::getMixedSizes(builder, destination.getLoc(), bufferOf(alloc ? alloc.getCopy() : destination));
  }

  Value allocate(OpBuilder &builder, Location location, Type tensor, ArrayRef<Size> sizes) {
    MemRefType type = bufferType(tensor);
    SmallVector<Value> unknown;
    for (auto [size, known] : llvm::zip_equal(sizes, type.getShape()))
      if (ShapedType::isDynamic(known))
        unknown.push_back(getValueOrCreateConstantIndexOp(builder, location, size));
    return memref::AllocOp::create(builder, location, type, unknown);
  }

  void copy(OpBuilder &builder, Location location, Value from, Value to) {
    memref::CopyOp::create(builder, location, from, to);
    ++numCopies;
  }

  static Value subview(OpBuilder &builder, Value whole, RankedTensorType part, OffsetSizeAndStrideOpInterface slice) {
    auto type = cast<MemRefType>(whole.getType());
    MemRefType result = memref::SubViewOp::inferRankReducedResultType(part.getShape(), type, slice.getMixedOffsets(),
                                                                      slice.getMixedSizes(), slice.getMixedStrides());
    return memref::SubViewOp::create(builder, slice.getLoc(), result, whole, slice.getMixedOffsets(),
                                     slice.getMixedSizes(), slice.getMixedStrides());
  }

  // The chain's buffer, which is made here if nothing has written to it so far.
  Value bufferOf(Chain &chain, OpBuilder &builder) {
    if (chain.buffer)
      return chain.buffer;
    if (chain.given)
      return chain.buffer = chain.given;
    Location location = chain.first->getLoc();
    if (chain.result) {
      chain.buffer = results[*chain.result];
      if (chain.returned.getType() != chain.root.getType()) {
        SizeList sizes = sizesOf(builder, chain.destination);
        chain.buffer = contiguous(builder, chain.buffer, bufferType(chain.root.getType()), sizes);
      }
    } else if (chain.part) {
      Value whole = bufferOf(*chainOf.lookup(chain.part.getResult()), builder);
      chain.buffer = subview(builder, whole, cast<RankedTensorType>(chain.root.getType()), chain.part);
    } else {
      chain.buffer = allocate(builder, location, chain.root.getType(), sizesOf(builder, chain.destination));
    }
    if (!chain.initial)
      return chain.buffer;
    if (isTensor(chain.initial)) {
      copy(builder, location, bufferOf(chain.initial), chain.buffer);
      return chain.buffer;
    }
    Value scalar = chain.initial;
    if (auto constant = scalar.getDefiningOp<arith::ConstantOp>()) // which may come later
      scalar = builder.clone(*constant)->getResult(0);
    auto insert = dyn_cast<tensor::InsertSliceOp>(chain.first);
    if (!insert || !fillAround(builder, insert, scalar, chain.buffer))
      linalg::FillOp::create(builder, location, scalar, chain.buffer);
    return chain.buffer;
  }

  // Fills what lies around the part that an insertion writes, if that is little. Returns whether it is. Elements behind
  // the part in a row and before it in the next one lie side by side, and are filled at once; so are those of rows that
  // hold nothing of the part, some twice. Each of several images is filled by itself, so that threads share them.
  static bool fillAround(OpBuilder &builder, tensor::InsertSliceOp insert, Value scalar, Value buffer) {
    // Elements of a part, and of that of an image, that are worth several fills in place of one.
    constexpr uint64_t kLarge = 1 << 14, kLargeImage = 1 << 9;
    auto type = cast<MemRefType>(buffer.getType());
    ArrayRef<int64_t> starts = insert.getStaticOffsets(), sizes = insert.getStaticSizes(), shape = type.getShape();
    auto isKnown = [](ArrayRef<int64_t> numbers) { return !llvm::is_contained(numbers, ShapedType::kDynamic); };
    if (!type.getLayout().isIdentity() ||
        llvm::any_of(insert.getStaticStrides(), [](int64_t stride) { return stride != 1; }))
      return false;
    auto count = [](ArrayRef<int64_t> numbers) { // sizes may be larger than memory
      uint64_t product = 1;
      for (int64_t number : numbers)
        product = llvm::SaturatingMultiply<uint64_t>(product, static_cast<uint64_t>(number));
      return product;
    };
    bool isOpen = !shape.empty() && ShapedType::isDynamic(shape[0]);
    auto ofImage = [](ArrayRef<int64_t> numbers) { return numbers.drop_front(); };
    OpFoldResult images;
    if (isOpen || (shape.size() > 2 && starts[0] == 0 && sizes[0] == shape[0] && isKnown(ofImage(sizes)) &&
                   count(ofImage(sizes)) >= kLargeImage && count(sizes) >= kLarge)) {
      images = sizeOf(builder, buffer, 0);
      if (starts[0] != 0 || (isOpen && insert.getMixedSizes()[0] != images))
        return false;
      starts = ofImage(starts);
      sizes = ofImage(sizes);
      shape = ofImage(shape);
    }
    if (!isKnown(starts) || !isKnown(sizes) || !isKnown(shape))
      return false;
    constexpr uint64_t kMost = uint64_t(1) << 48;
    if (count(sizes) < (images ? kLargeImage : kLarge) || count(shape) > kMost ||
        count(shape) - count(sizes) > count(sizes))
      return false;
    auto all = static_cast<int64_t>(count(shape));
    Location location = insert.getLoc();
    auto fill = [&](int64_t offset, int64_t rows, int64_t step, int64_t count) {
      if (rows <= 0 || count <= 0)
        return;
      SmallVector<OpFoldResult> extents{builder.getIndexAttr(rows), builder.getIndexAttr(count)},
          strides{builder.getIndexAttr(step), builder.getIndexAttr(1)};
      SmallVector<int64_t> staticExtents{rows, count}, staticStrides{step, 1};
      if (images) {
        extents.insert(extents.begin(), images);
        strides.insert(strides.begin(), builder.getIndexAttr(all));
        staticExtents.insert(staticExtents.begin(), type.getShape()[0]);
        staticStrides.insert(staticStrides.begin(), all);
      }
      auto part = MemRefType::get(staticExtents, type.getElementType(),
                                  StridedLayoutAttr::get(builder.getContext(), offset, staticStrides));
      Value view = memref::ReinterpretCastOp::create(builder, location, part, buffer, builder.getIndexAttr(offset),
                                                     extents, strides);
      linalg::FillOp::create(builder, location, scalar, view);
    };
    int64_t first = 0, last = 0, inner = 1, outer = all;
    for (size_t i = shape.size(); i-- > 0; inner *= shape[i]) {
      outer /= shape[i];
      int64_t before = starts[i] * inner, behind = (shape[i] - starts[i] - sizes[i]) * inner, row = shape[i] * inner;
      fill(row - behind, outer - 1, row, behind + before);
      first = std::max(first, before);
      last = std::max(last, behind);
    }
    fill(0, 1, first, first);
    fill(all - last, 1, last, last);
    return true;
  }

  // The buffer of a tensor that is read.
  Value bufferOf(Value tensor) {
    if (Value found = buffers.lookup(tensor))
      return found;
    Operation *definition = tensor.getDefiningOp();
    OpBuilder builder(definition->getContext());
    builder.setInsertionPointAfter(definition);
    Value buffer;
    if (auto constant = dyn_cast<arith::ConstantOp>(definition)) {
      buffer = globalOf(builder, constant);
    } else { // a tensor that no operation has as its destination
      buffer = allocate(builder, definition->getLoc(), tensor.getType(), sizesOf(builder, tensor));
      if (auto fill = dyn_cast<linalg::FillOp>(definition))
        linalg::FillOp::create(builder, definition->getLoc(), fill.getInputs()[0], buffer);
    }
    return buffers[tensor] = buffer;
  }

  Value globalOf(OpBuilder &builder, arith::ConstantOp constant) {
    MemRefType type = bufferType(constant.getType());
    memref::GlobalOp &global = globals[constant.getValue()];
    if (!global) {
      OpBuilder front = OpBuilder::atBlockBegin(module.getBody());
      std::string name = "calque.constant_" + std::to_string(globals.size() - 1);
      global = memref::GlobalOp::create(front, constant.getLoc(), name, front.getStringAttr("private"), type,
                                        constant.getValue(), /*constant=*/true,
                                        front.getI64IntegerAttr(CALQUE_BUFFER_ALIGNMENT));
    }
    return memref::GetGlobalOp::create(builder, constant.getLoc(), type, global.getSymName());
  }

  // The buffer, or a copy of it whose elements lie one after the other.
  Value dense(OpBuilder &builder, Location location, Value buffer) {
    auto type = cast<MemRefType>(buffer.getType());
    if (type.getLayout().isIdentity())
      return buffer;
    Value made = allocate(builder, location, RankedTensorType::get(type.getShape(), type.getElementType()),
                          memref::getMixedSizes(builder, location, buffer));
    copy(builder, location, buffer, made);
    return made;
  }

  //===-- Operations ------------------------------------------------------------------------------===//

  LogicalResult convert(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
      if (failed(convert(&op)))
        return failure();
    return success();
  }

  LogicalResult convert(Operation *op) {
    OpBuilder builder(op);
    Location location = op->getLoc();
    auto done = [&] {
      dead.push_back(op);
      return success();
    };
    return TypeSwitch<Operation *, LogicalResult>(op)
        .Case<tensor::EmptyOp, linalg::FillOp>([&](auto) { return done(); }) // made where they are used
        .Case([&](arith::ConstantOp constant) { return isTensor(constant) ? done() : success(); })
        .Case([&](linalg::LinalgOp linalgOp) {
          SmallVector<Value> operands;
          for (OpOperand &operand : op->getOpOperands()) {
            if (linalgOp.isDpsInit(&operand))
              operands.push_back(bufferOf(*chainOf.lookup(linalgOp.getTiedOpResult(&operand)), builder));
            else
              operands.push_back(isTensor(operand.get()) ? bufferOf(operand.get()) : operand.get());
          }
          Operation *made = cloneWithoutRegions(builder, op, TypeRange(), operands);
          for (auto [from, to] : llvm::zip_equal(op->getRegions(), made->getRegions()))
            to.takeBody(from);
          for (OpOperand &init : linalgOp.getDpsInitsMutable())
            buffers[linalgOp.getTiedOpResult(&init)] = chainOf.lookup(linalgOp.getTiedOpResult(&init))->buffer;
          convertReads(made);
          return done();
        })
        .Case([&](tensor::ExpandShapeOp expand) {
          Value source = bufferOf(expand.getSrc());
          FailureOr<MemRefType> type = memref::ExpandShapeOp::computeExpandedType(
              cast<MemRefType>(source.getType()), expand.getResultType().getShape(), expand.getReassociationIndices());
          if (failed(type))
            return failure();
          buffers[expand] = memref::ExpandShapeOp::create(
              builder, location, *type, source, expand.getReassociationIndices(), expand.getMixedOutputShape());
          return done();
        })
        .Case([&](tensor::CollapseShapeOp collapse) {
          Value source = bufferOf(collapse.getSrc());
          SmallVector<ReassociationIndices> groups = collapse.getReassociationIndices();
          if (!memref::CollapseShapeOp::isGuaranteedCollapsible(cast<MemRefType>(source.getType()), groups))
            source = dense(builder, location, source);
          MemRefType type = memref::CollapseShapeOp::computeCollapsedType(cast<MemRefType>(source.getType()), groups);
          buffers[collapse] = memref::CollapseShapeOp::create(builder, location, type, source, groups);
          return done();
        })
        .Case([&](tensor::CastOp cast) {
          Value source = bufferOf(cast.getSource());
          auto from = mlir::cast<MemRefType>(source.getType());
          MemRefType to = MemRefType::get(mlir::cast<RankedTensorType>(cast.getType()).getShape(),
                                          from.getElementType(), from.getLayout());
          buffers[cast] = from == to ? source : memref::CastOp::create(builder, location, to, source).getResult();
          return done();
        })
        .Case([&](tensor::ExtractSliceOp extract) {
          buffers[extract] = subview(builder, bufferOf(extract.getSource()), extract.getType(), extract);
          return done();
        })
        .Case([&](tensor::InsertSliceOp insert) {
          Value whole = bufferOf(*chainOf.lookup(insert.getResult()), builder);
          buffers[insert] = whole;
          Chain *part = chainOf.lookup(insert.getSource());
          if (!part || part->part != insert)
            copy(builder, location, bufferOf(insert.getSource()),
                 subview(builder, whole, insert.getSourceType(), insert));
          return done();
        })
        .Case([&](tensor::InsertOp insert) {
          Value whole = bufferOf(*chainOf.lookup(insert.getResult()), builder);
          memref::StoreOp::create(builder, location, insert.getScalar(), whole, insert.getIndices());
          buffers[insert] = whole;
          return done();
        })
        .Case([&](bufferization::AllocTensorOp alloc) {
          buffers[alloc] = bufferOf(*chainOf.lookup(alloc.getResult()), builder);
          return done();
        })
        .Case([&](bufferization::ToTensorOp tensor) {
          buffers[tensor] = tensor.getBuffer();
          return done();
        })
        .Case([&](bufferization::ToBufferOp buffer) {
          buffer.replaceAllUsesWith(dense(builder, location, bufferOf(buffer.getTensor())));
          return done();
        })
        .Case([&](func::CallOp call) { // of a kernel of the runtime, which takes addresses
          for (OpOperand &operand : call->getOpOperands())
            if (isTensor(operand.get()))
              operand.set(addressOf(builder, location, dense(builder, location, bufferOf(operand.get()))));
          auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
          callee.setType(FunctionType::get(callee.getContext(), call->getOperandTypes(), callee.getResultTypes()));
          return success();
        })
        .Case([&](scf::ForOp loop) { return convertLoop(loop); })
        .Default([&](Operation *) {
          convertReads(op);
          if (!llvm::any_of(op->getOperands(), isTensor) && !llvm::any_of(op->getResults(), isTensor))
            return success();
          if (!dead.empty() && dead.back() == op)
            return success();
          op->emitOpError("has tensors, which it has no buffers for");
          return failure();
        });
  }

  // Elements and sizes that an operation, or code within it, takes from tensors.
  void convertReads(Operation *op) {
    op->walk([&](Operation *inner) {
      OpBuilder builder(inner);
      if (auto extract = dyn_cast<tensor::ExtractOp>(inner)) {
        extract.replaceAllUsesWith(
            memref::LoadOp::create(builder, inner->getLoc(), bufferOf(extract.getTensor()), extract.getIndices())
                .getResult());
        dead.push_back(inner);
      } else if (auto dim = dyn_cast<tensor::DimOp>(inner)) {
        dim.replaceAllUsesWith(
            memref::DimOp::create(builder, inner->getLoc(), bufferOf(dim.getSource()), dim.getIndex()).getResult());
        dead.push_back(inner);
      }
    });
  }

  LogicalResult convertLoop(scf::ForOp loop) {
    OpBuilder builder(loop);
    for (auto [result, argument] : llvm::zip_equal(loop.getResults(), loop.getRegionIterArgs()))
      if (isTensor(result)) {
        Value buffer = bufferOf(*chainOf.lookup(result), builder);
        buffers[result] = buffer;
        buffers[argument] = buffer;
        chainOf.lookup(argument)->buffer = buffer;
      }
    if (failed(convert(*loop.getBody())))
      return failure();
    if (llvm::none_of(loop.getResults(), isTensor))
      return success();

    // The loop without its tensors.
    Operation *yield = loop.getBody()->getTerminator();
    SmallVector<Value> inits, yielded;
    for (auto [init, argument, value] :
         llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs(), yield->getOperands())) {
      if (!isTensor(init)) {
        inits.push_back(init);
        yielded.push_back(value);
      } else if (chainOf.lookup(value) != chainOf.lookup(argument)) {
        loop.emitOpError("carries a tensor that it doesn't update in place");
        return failure();
      }
    }
    yield->setOperands(yielded);
    auto made =
        scf::ForOp::create(builder, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), inits);
    made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    if (made.getNumResults() == 0)
      made.getBody()->getTerminator()->erase();
    made.getBody()->getOperations().splice(made.getBody()->end(), loop.getBody()->getOperations());
    loop.getInductionVar().replaceAllUsesWith(made.getInductionVar());
    unsigned next = 0;
    for (auto [result, argument] : llvm::zip_equal(loop.getResults(), loop.getRegionIterArgs()))
      if (!isTensor(result)) {
        argument.replaceAllUsesWith(made.getRegionIterArgs()[next]);
        result.replaceAllUsesWith(made.getResults()[next++]);
      }
    dead.push_back(loop);
    return success();
  }

  void returnResults(Block &body) {
    Operation *terminator = body.getTerminator();
    OpBuilder builder(terminator);
    for (auto [number, value] : llvm::enumerate(returned(body))) {
      Value root = value;
      while (isReshape(root.getDefiningOp()))
        root = root.getDefiningOp()->getOperand(0);
      Chain *chain = chainOf.lookup(root);
      if (!chain || chain->result != number || chain->returned != value)
        copy(builder, terminator->getLoc(), bufferOf(value), results[number]);
    }
    terminator->setOperands(SmallVector<Value>(terminator->getOperands().take_back(numSizes)));
  }

  // Nothing uses what is erased but what is erased as well.
  void eraseDead(Block &body) {
    for (Operation *op : dead)
      op->dropAllReferences();
    for (Operation *op : dead)
      op->erase();
    body.eraseArguments(0, numArguments);
    function.setType(
        FunctionType::get(function.getContext(), body.getArgumentTypes(), body.getTerminator()->getOperandTypes()));
  }

  ModuleOp module;
  func::FuncOp function;
  unsigned numArguments = 0;
  size_t numSizes; // the function returns the unknown sizes of its results after the tensors
  SmallVector<Value> results;
  std::vector<std::unique_ptr<Chain>> chains;
  llvm::DenseMap<Value, Chain *> chainOf;
  llvm::DenseMap<Value, Value> buffers;
  llvm::DenseMap<Attribute, memref::GlobalOp> globals;
  SmallVector<Operation *> dead;
};

struct Bufferize : impl::BufferizeBase<Bufferize> {
  void runOnOperation() override {
    FailureOr<Program> program = programIn(getOperation());
    if (failed(program) || failed(checkReturned(program->function, program->sizes)))
      return signalPassFailure();
    // Without optimisations, loops stay of whose results nothing comes: their destinations belong to no value that is
    // written.
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(program->function.getBody().front())))
      if (isOpTriviallyDead(&op))
        op.erase();
    Bufferizer bufferizer(program->function, program->sizes);
    if (failed(bufferizer.run()))
      return signalPassFailure();
    copies += bufferizer.numCopies;
  }

private:
  // The function returns tensors, then the unknown sizes of these.
  static LogicalResult checkReturned(func::FuncOp program, const ProgramSizes &sizes) {
    Operation *terminator = program.getBody().front().getTerminator();
    size_t numResults = terminator->getNumOperands(), numSizes = sizes.outputs.size();
    auto fits = [&](const UnknownSize &size) { return size.index + numSizes < numResults; };
    if (numSizes > numResults || !llvm::all_of(sizes.outputs, fits) ||
        !llvm::all_of(terminator->getOperands().take_back(numSizes),
                      [](Value size) { return size.getType().isIndex(); }))
      return refuseAttribute(program, kUnknownOutputsAttr, program->getAttr(kUnknownOutputsAttr));
    return success();
  }
};

} // namespace

} // namespace calque::codegen
