// Places all intermediate buffers in one workspace: two that are never alive at once share memory.
#include "codegen/Pipeline.h"
#include "ir/schema/TypeRules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include <algorithm>

using namespace mlir;

namespace calque::codegen {

namespace {

constexpr int64_t kAlignment = CALQUE_BUFFER_ALIGNMENT;
// A multiple of the alignment, small enough that a size and an offset add up.
constexpr int64_t kMostBytes = (int64_t(1) << 62) - kAlignment;

struct Placement {
  memref::AllocOp alloc;
  int64_t bytes;
  unsigned begin, end; // numbers of the entry block's operations between which it is alive
  int64_t offset = 0;
};

// The last operation of the block at which the buffer or a view of it is used.
unsigned lastUse(Value buffer, Block &block, const llvm::DenseMap<Operation *, unsigned> &numbers) {
  unsigned last = 0;
  SmallVector<Value> values{buffer};
  while (!values.empty()) {
    Value value = values.pop_back_val();
    for (Operation *user : value.getUsers()) {
      last = std::max(last, numbers.lookup(block.findAncestorOpInBlock(*user)));
      // Any operation that gives back a memref may give back this one: views, selects, loops that carry it.
      for (Value result : user->getResults())
        if (isa<MemRefType>(result.getType()))
          values.push_back(result);
    }
  }
  return last;
}

} // namespace

LogicalResult placeBuffers(Program &program) {
  auto function = program.module->lookupSymbol<func::FuncOp>(program.entry);
  Block &body = function.getBody().front();
  llvm::DenseMap<Operation *, unsigned> numbers;
  for (auto [i, op] : llvm::enumerate(body))
    numbers[&op] = i;

  SmallVector<Placement> placements;
  SmallVector<Operation *> deallocations;
  bool failedOnce = false;
  function.walk([&](Operation *op) {
    if (isa<memref::DeallocOp>(op))
      deallocations.push_back(op);
    auto alloc = dyn_cast<memref::AllocOp>(op);
    if (!alloc)
      return;
    MemRefType type = alloc.getType();
    if (!type.hasStaticShape() || !type.getLayout().isIdentity()) {
      alloc.emitOpError("has no known size");
      failedOnce = true;
      return;
    }
    int64_t elementBytes = (type.getElementTypeBitWidth() + 7) / 8;
    std::optional<int64_t> size = schema::productOf({type.getShape().data(), type.getShape().size()}, elementBytes);
    if (!size || *size > kMostBytes || llvm::any_of(type.getShape(), [](int64_t dim) { return dim < 0; })) {
      alloc.emitError("an intermediate value has more bytes than can be addressed: ") << type;
      failedOnce = true;
      return;
    }
    int64_t bytes = (std::max<int64_t>(*size, 1) + kAlignment - 1) / kAlignment * kAlignment;
    // A buffer made inside a loop is made once, before it.
    Operation *ancestor = body.findAncestorOpInBlock(*op);
    placements.push_back({alloc, bytes, numbers[ancestor], std::max(lastUse(alloc, body, numbers), numbers[ancestor])});
  });
  if (failedOnce)
    return failure();
  for (Operation *op : deallocations)
    op->erase();

  // The largest first, each at the lowest offset that is free for as long as it lives.
  SmallVector<Placement *> order;
  for (Placement &placement : placements)
    order.push_back(&placement);
  llvm::stable_sort(order, [](Placement *a, Placement *b) { return a->bytes > b->bytes; });
  SmallVector<Placement *> placed;
  int64_t total = 0;
  for (Placement *placement : order) {
    SmallVector<Placement *> overlapping;
    for (Placement *other : placed)
      if (other->begin <= placement->end && placement->begin <= other->end)
        overlapping.push_back(other);
    llvm::sort(overlapping, [](Placement *a, Placement *b) { return a->offset < b->offset; });
    int64_t offset = 0;
    for (Placement *other : overlapping) {
      if (offset + placement->bytes <= other->offset)
        break;
      offset = std::max(offset, other->offset + other->bytes);
    }
    if (offset > kMostBytes - placement->bytes)
      return placement->alloc.emitError("the intermediate values that are alive at once have more bytes than can be addressed, of which ")
             << placement->bytes << " are this one's";
    placement->offset = offset;
    total = std::max(total, offset + placement->bytes);
    placed.push_back(placement);
  }

  auto workspaceType = MemRefType::get({total}, IntegerType::get(function.getContext(), 8));
  Value workspace = body.addArgument(workspaceType, function.getLoc());
  function.setType(FunctionType::get(function.getContext(), body.getArgumentTypes(), {}));
  for (Placement &placement : placements) {
    OpBuilder builder = OpBuilder::atBlockBegin(&body);
    Value offset = arith::ConstantIndexOp::create(builder, placement.alloc.getLoc(), placement.offset);
    Value view = memref::ViewOp::create(builder, placement.alloc.getLoc(), placement.alloc.getType(), workspace, offset, ValueRange());
    placement.alloc.replaceAllUsesWith(view);
    placement.alloc.erase();
  }
  program.workspaceBytes = static_cast<std::size_t>(total);
  return success();
}

} // namespace calque::codegen
