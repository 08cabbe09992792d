// Places all intermediate buffers in one workspace. Two buffers share memory if they are never alive at the same time.
#include "codegen/KernelAttributes.h"
#include "codegen/Passes.h"
#include "codegen/lowering/Lowering.h"
#include "codegen/lowering/ShapeFunction.h"
#include "codegen/plan/ProgramAttributes.h"
#include "ir/ElementType.h"
#include "schema/TypeRules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>

using namespace mlir;

namespace calque::codegen {

#define GEN_PASS_DEF_PLACEBUFFERS
#include "codegen/Passes.h.inc"

namespace {

constexpr int64_t kAlignment = CALQUE_BUFFER_ALIGNMENT;
struct Placement {
  memref::AllocOp alloc;
  int64_t bytes;
  unsigned begin, end; // it is alive between the operations of the entry block with these numbers
  int64_t offset = 0;
};

// Places buffers in the order in which they come to life, each in the smallest free gap that is large enough. This
// takes slightly more memory than placing the largest buffers first, but its time doesn't grow with the number of
// buffers that are alive at once. Returns a buffer that can't be placed, or null. `total` receives the bytes of all
// buffers.
Placement *placeInOrder(ArrayRef<Placement *> placements, int64_t &total) {
  SmallVector<Placement *> byBegin(placements), byEnd(placements);
  llvm::stable_sort(byBegin, [](Placement *a, Placement *b) { return a->begin < b->begin; });
  llvm::stable_sort(byEnd, [](Placement *a, Placement *b) { return a->end < b->end; });
  std::map<int64_t, int64_t> gaps; // the sizes of gaps by their offsets
  std::set<std::pair<int64_t, int64_t>> bySize;
  auto drop = [&](std::map<int64_t, int64_t>::iterator gap) {
    bySize.erase({gap->second, gap->first});
    return gaps.erase(gap);
  };
  auto free = [&](int64_t offset, int64_t bytes) {
    auto next = gaps.lower_bound(offset);
    if (next != gaps.end() && next->first == offset + bytes) {
      bytes += next->second;
      next = drop(next);
    }
    if (next != gaps.begin())
      if (auto before = std::prev(next); before->first + before->second == offset) {
        offset = before->first;
        bytes += before->second;
        drop(before);
      }
    gaps[offset] = bytes;
    bySize.insert({bytes, offset});
  };
  auto ended = byEnd.begin();
  for (Placement *placement : byBegin) {
    for (; (*ended)->end < placement->begin; ++ended)
      free((*ended)->offset, (*ended)->bytes);
    auto gap = bySize.lower_bound({placement->bytes, 0});
    if (gap == bySize.end()) {
      // At the end of the workspace, from the start of a gap that is there, if any.
      auto last = gaps.empty() ? gaps.end() : std::prev(gaps.end());
      bool touches = last != gaps.end() && last->first + last->second == total;
      placement->offset = touches ? last->first : total;
      if (touches)
        drop(last);
      if (placement->offset > kMostBytes - placement->bytes)
        return placement;
      total = placement->offset + placement->bytes;
      continue;
    }
    auto [bytes, offset] = *gap;
    drop(gaps.find(offset));
    placement->offset = offset;
    if (bytes > placement->bytes)
      free(offset + placement->bytes, bytes - placement->bytes);
  }
  return nullptr;
}

// More buffers than this are placed in order.
constexpr size_t kMostBySize = 1024;

// Placements by their lifetimes. Each is kept in the few nodes of a tree over time that together span its lifetime, so
// that the placements that overlap a lifetime are found without a search through all.
class Lifetimes {
public:
  explicit Lifetimes(unsigned end) : size(llvm::PowerOf2Ceil(end + 1)), nodes(2 * size) {}

  void add(Placement *placement) {
    visit(1, 0, size, *placement, [&](Node &node, bool isWithin) {
      if (isWithin)
        node.here.push_back(placement);
      node.isEmpty = false;
      return !isWithin;
    });
  }
  SmallVector<Placement *> overlapping(const Placement &placement) {
    SmallVector<Placement *> found;
    visit(1, 0, size, placement, [&](Node &node, bool) {
      llvm::append_range(found, node.here);
      return !node.isEmpty;
    });
    llvm::sort(found);
    found.erase(llvm::unique(found), found.end());
    return found;
  }

private:
  struct Node {
    SmallVector<Placement *, 1> here;
    bool isEmpty = true; // the node and all below it
  };
  // Calls a function on the nodes whose time overlaps a lifetime, from the root on. The function returns whether to go
  // deeper.
  template <typename F> void visit(size_t number, unsigned begin, unsigned end, const Placement &placement, F &&use) {
    if (placement.end < begin || placement.begin >= end)
      return;
    bool isWithin = placement.begin <= begin && end <= placement.end + 1;
    if (!use(nodes[number], isWithin) || end - begin == 1)
      return;
    unsigned middle = begin + (end - begin) / 2;
    visit(2 * number, begin, middle, placement, use);
    visit(2 * number + 1, middle, end, placement, use);
  }

  size_t size;
  std::vector<Node> nodes;
};

// Places the largest buffer first, each at the lowest offset that is free during its lifetime. Returns a buffer that
// can't be placed, or null. `total` receives the bytes of all buffers.
Placement *placeBySize(SmallVector<Placement *> order, int64_t &total) {
  llvm::stable_sort(order, [](Placement *a, Placement *b) { return a->bytes > b->bytes; });
  unsigned end = 0;
  for (Placement *placement : order)
    end = std::max(end, placement->end);
  Lifetimes placed(end);
  for (Placement *placement : order) {
    SmallVector<Placement *> overlapping = placed.overlapping(*placement);
    llvm::sort(overlapping, [](Placement *a, Placement *b) { return a->offset < b->offset; });
    int64_t offset = 0;
    for (Placement *other : overlapping) {
      if (offset + placement->bytes <= other->offset)
        break;
      offset = std::max(offset, other->offset + other->bytes);
    }
    if (offset > kMostBytes - placement->bytes)
      return placement;
    placement->offset = offset;
    total = std::max(total, offset + placement->bytes);
    placed.add(placement);
  }
  return nullptr;
}

// A buffer of unknown size. It lies behind all buffers of known size, and buffers of the same sizes may share a slot.
struct UnknownPlacement {
  memref::AllocOp alloc;
  MemRefType type;
  SmallVector<Value> sizes; // at the function's front
  unsigned begin, end;
};
struct Slot {
  SmallVector<UnknownPlacement *> tenants;
};

// Puts buffers into as few slots as their sizes and lifetimes allow. The buffers are in the order in which they come to
// life.
SmallVector<Slot> slotsFor(std::deque<UnknownPlacement> &buffers) {
  using Bytes = std::pair<std::vector<void *>, int64_t>; // the unknown sizes, and the product of the others
  auto bytesOf = [](const UnknownPlacement &buffer) {
    Bytes bytes{{}, ir::ElementType(buffer.type).bytes()};
    for (Value size : buffer.sizes)
      bytes.first.push_back(size.getAsOpaquePointer());
    for (int64_t size : buffer.type.getShape())
      bytes.second *= ShapedType::isDynamic(size) ? 1 : size;
    return bytes;
  };
  SmallVector<Slot> slots;
  std::map<Bytes, std::set<std::pair<unsigned, size_t>>> byEnd; // of the last tenant, with the slot's number
  for (UnknownPlacement &buffer : buffers) {
    auto &alike = byEnd[bytesOf(buffer)];
    size_t number = slots.size();
    if (auto first = alike.begin(); first != alike.end() && first->first < buffer.begin) {
      number = first->second;
      alike.erase(first);
    } else {
      slots.emplace_back();
    }
    slots[number].tenants.push_back(&buffer);
    alike.insert({buffer.end, number});
  }
  return slots;
}

// The number of the last operation of the block that uses the buffer or a view of it.
unsigned lastUse(Value buffer, Block &block, const llvm::DenseMap<Operation *, unsigned> &numbers) {
  unsigned last = 0;
  SmallVector<Value> values{buffer};
  while (!values.empty()) {
    Value value = values.pop_back_val();
    for (Operation *user : value.getUsers()) {
      last = std::max(last, numbers.lookup(block.findAncestorOpInBlock(*user)));
      // Any operation with a memref result may return this buffer: a view, a select, a loop that carries it. An address
      // that was taken may be used later.
      bool isAddress = isa<memref::ExtractAlignedPointerAsIndexOp, arith::IndexCastOp>(user);
      for (Value result : user->getResults())
        if (isa<MemRefType>(result.getType()) || isAddress)
          values.push_back(result);
    }
  }
  return last;
}

// Computes the offsets of buffers of unknown size at the function's front, and the bytes of the whole workspace in the
// function of shapes.
LogicalResult placeUnknown(func::FuncOp function, const ProgramSizes &known, std::deque<UnknownPlacement> &buffers,
                           Value workspace, int64_t knownBytes, OpBuilder &front) {
  auto shapes = function->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>(kShapeFunction);
  FailureOr<ArrayRef<Attribute>> sitesBefore = sitesOf(function);
  if (failed(sitesBefore))
    return failure();
  if (!shapes || shapes.isExternal() || shapes.getNumArguments() != kSizesOfShapes + known.inputs.size())
    return function.emitOpError("has sizes that are not known, and no function '") << kShapeFunction << "' of these";
  SmallVector<Attribute> sites(*sitesBefore);
  SmallVector<Slot> slots = slotsFor(buffers);
  Block &block = shapes.getBody().front();
  OpBuilder inShapes(block.getTerminator());
  Location location = function.getLoc();
  IRMapping mapping;
  for (BlockArgument size : block.getArguments().drop_front(kSizesOfShapes))
    mapping.map(function.getArgument(known.firstSize() + size.getArgNumber() - kSizesOfShapes), size);
  auto number = [&](OpBuilder &builder, int64_t value) -> Value {
    return arith::ConstantOp::create(builder, location, builder.getI64IntegerAttr(value));
  };
  Value offset = number(front, knownBytes), total = number(inShapes, knownBytes), most = number(inShapes, kMostBytes);
  for (const Slot &slot : slots) {
    MemRefType type = slot.tenants[0]->type;
    Location made = slot.tenants[0]->alloc->getLoc();
    auto site = static_cast<int32_t>(sites.size());
    sites.push_back(
        toAttribute(makeSite(Site::Kind::TooManyBytes, "", "an intermediate value", made), function.getContext()));
    SmallVector<Value> sizes =
        llvm::map_to_vector(slot.tenants[0]->sizes, [&](Value size) { return cloneSize(inShapes, size, mapping); });
    Value bytes = emitBytes(inShapes, made, type, sizes, block.getArgument(0), site);
    total = arith::MinUIOp::create(inShapes, location, arith::AddIOp::create(inShapes, location, total, bytes), most);
    Value tooMany = arith::CmpIOp::create(inShapes, location, arith::CmpIPredicate::eq, total, most);
    auto ifOp = scf::IfOp::create(inShapes, location, tooMany, false);
    OpBuilder then = OpBuilder::atBlockBegin(ifOp.thenBlock());
    emitFail(then, location, block.getArgument(0), site, total, total);

    Value start = arith::IndexCastOp::create(front, location, front.getIndexType(), offset);
    for (UnknownPlacement *tenant : slot.tenants) {
      Value view = memref::ViewOp::create(front, tenant->alloc.getLoc(), tenant->alloc.getType(), workspace, start,
                                          tenant->sizes);
      tenant->alloc.replaceAllUsesWith(view);
      tenant->alloc.erase();
    }
    offset = arith::AddIOp::create(front, location, offset,
                                   emitBytes(front, made, type, slot.tenants[0]->sizes, Value(), std::nullopt));
  }
  memref::StoreOp::create(inShapes, location, total, block.getArgument(2),
                          ValueRange{arith::ConstantIndexOp::create(inShapes, location, 0)});
  setSites(function, sites);
  return success();
}

// Numbers that say when the operations of a block run. The operations of a round run at the same time.
llvm::DenseMap<Operation *, unsigned> numbersOf(Block &block) {
  llvm::DenseMap<Attribute, Operation *> last; // of each round
  for (Operation &op : block)
    if (Attribute round = op.getAttr(kRoundAttr))
      last[round] = &op;
  llvm::DenseMap<Operation *, unsigned> numbers;
  llvm::SmallPtrSet<Operation *, 4> until; // the last calls of the rounds that are running
  unsigned number = 0;
  for (Operation &op : block) {
    numbers[&op] = number;
    if (Attribute round = op.getAttr(kRoundAttr))
      until.insert(last[round]);
    until.erase(&op);
    if (until.empty())
      ++number;
  }
  return numbers;
}

LogicalResult placeBuffers(func::FuncOp function, const ProgramSizes &known, int64_t &total, size_t &numBuffers) {
  Block &body = function.getBody().front();
  llvm::DenseMap<Operation *, unsigned> numbers = numbersOf(body);

  SmallVector<Placement> placements;
  std::deque<UnknownPlacement> unknown;
  // The body computes the operands of the allocations, and their arithmetic is cloned to the front. Allocations are
  // erased, so that new operations go before the first operation that is no allocation.
  OpBuilder front(&*llvm::find_if(body, [](Operation &op) { return !isa<memref::AllocOp>(op); }));
  IRMapping sizes;
  for (BlockArgument argument : body.getArguments())
    sizes.map(argument, argument);
  SmallVector<Operation *> deallocations;
  bool failedOnce = false;
  function.walk([&](Operation *op) {
    if (isa<memref::DeallocOp>(op))
      deallocations.push_back(op);
    auto alloc = dyn_cast<memref::AllocOp>(op);
    if (!alloc)
      return;
    MemRefType type = alloc.getType();
    Operation *ancestor = body.findAncestorOpInBlock(*op);
    unsigned begin = numbers[ancestor], end = std::max(lastUse(alloc, body, numbers), begin);
    SmallVector<Value> dynamicSizes;
    for (Value size : alloc.getDynamicSizes())
      if (Value value = cloneSize(front, size, sizes))
        dynamicSizes.push_back(value);
    if (!type.getLayout().isIdentity() || dynamicSizes.size() != alloc.getDynamicSizes().size()) {
      alloc.emitOpError("has no known size");
      failedOnce = true;
      return;
    }
    if (!dynamicSizes.empty()) {
      unknown.push_back({alloc, type, dynamicSizes, begin, end});
      return;
    }
    int64_t elementBytes = ir::ElementType(type).bytes();
    std::optional<int64_t> size = schema::productOf({type.getShape().data(), type.getShape().size()}, elementBytes);
    if (!size || *size > kMostBytes || llvm::any_of(type.getShape(), [](int64_t dim) { return dim < 0; })) {
      alloc.emitError("an intermediate value has more bytes than can be addressed: ") << type;
      failedOnce = true;
      return;
    }
    int64_t bytes = (std::max<int64_t>(*size, 1) + kAlignment - 1) / kAlignment * kAlignment;
    // A buffer that is allocated in a loop lives for the whole loop.
    placements.push_back({alloc, bytes, begin, end});
  });
  if (failedOnce)
    return failure();
  for (Operation *op : deallocations)
    op->erase();

  SmallVector<Placement *> order;
  for (Placement &placement : placements)
    order.push_back(&placement);
  numBuffers = placements.size() + unknown.size();
  if (Placement *left = order.size() > kMostBySize ? placeInOrder(order, total) : placeBySize(order, total))
    return left->alloc.emitError(
               "the intermediate values that are alive at once have more bytes than can be addressed, of which ")
           << left->bytes << " are this one's";

  auto workspaceType = MemRefType::get({total}, IntegerType::get(function.getContext(), 8));
  Value workspace = body.addArgument(workspaceType, function.getLoc());
  function.setType(FunctionType::get(function.getContext(), body.getArgumentTypes(), {}));
  if (!known.areKnown() && failed(placeUnknown(function, known, unknown, workspace, total, front)))
    return failure();
  llvm::DenseMap<std::pair<int64_t, Type>, Value> views;
  for (Placement &placement : placements) {
    Value &view = views[{placement.offset, placement.alloc.getType()}];
    if (!view) {
      OpBuilder builder = OpBuilder::atBlockBegin(&body);
      Value offset = arith::ConstantIndexOp::create(builder, placement.alloc.getLoc(), placement.offset);
      view = memref::ViewOp::create(builder, placement.alloc.getLoc(), placement.alloc.getType(), workspace, offset,
                                    ValueRange());
    }
    placement.alloc.replaceAllUsesWith(view);
    placement.alloc.erase();
  }
  return success();
}

struct PlaceBuffers : impl::PlaceBuffersBase<PlaceBuffers> {
  void runOnOperation() override {
    FailureOr<Program> program = programIn(getOperation());
    int64_t total = 0;
    size_t numBuffers = 0;
    if (failed(program) || failed(placeBuffers(program->function, program->sizes, total, numBuffers)))
      return signalPassFailure();
    placed += numBuffers;
    bytes += total;
  }
};

} // namespace

} // namespace calque::codegen
