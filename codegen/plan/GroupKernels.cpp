// Finds operations on buffers that one kernel can compute row by row, so that values that one operation makes for
// another need not pass through memory.
//
// A group runs where its last operation stands. Once an operation outside of the group depends on a member, the group
// is fixed in front of this operation. A later operation joins a fixed group by moving there, if it depends on nothing
// in between.
#include "codegen/KernelAttributes.h"
#include "codegen/Passes.h"
#include "codegen/lowering/Lowering.h"
#include "codegen/native/Target.h"
#include "codegen/plan/ProgramAttributes.h"
#include "codegen/schedule/Group.h"
#include "codegen/schedule/Nest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"

#include <functional>

using namespace mlir;

namespace calque::codegen {

#define GEN_PASS_DEF_GROUPKERNELS
#include "codegen/Passes.h.inc"

namespace {

// The fewest bytes that a group saves. Fewer bytes stay in the second cache between two kernels.
constexpr double kLeastBytes = 256 << 10;
// LLVM takes more than linear time for long functions.
constexpr size_t kMostMembers = 24, kLongestBodies = 512;
// How far apart the first and the last operation of a group may stand: an operation that moves keeps its operands
// alive.
constexpr size_t kGroupWindow = 64;

using Roots = llvm::SmallDenseSet<Value, 4>;

// The order of the operations of a block. MLIR would number all of them anew for the first question after each move.
class Order {
public:
  explicit Order(Block &block) : block(block) { renumber(); }

  bool isBefore(Operation *op, Operation *other) const { return places.lookup(op) < places.lookup(other); }
  void moveBefore(Operation *op, Operation *next) {
    op->moveBefore(next);
    place(op);
  }
  void moveAfter(Operation *op, Operation *before) {
    op->moveAfter(before);
    place(op);
  }

private:
  void place(Operation *op) {
    Operation *before = op->getPrevNode(), *next = op->getNextNode();
    double low = before ? places.lookup(before) : -1, high = next ? places.lookup(next) : low + 2,
           between = (low + high) / 2;
    places[op] = between;
    if (!(low < between && between < high)) // after some fifty moves to one place
      renumber();
  }
  void renumber() {
    double number = 0;
    for (Operation &op : block)
      places[&op] = number++;
  }

  Block &block;
  llvm::DenseMap<Operation *, double> places;
};

class Groups {
public:
  Groups(func::FuncOp program, const Target &target)
      : program(program), target(target), analysis(program.getContext()), order(program.getBody().front()) {
    // The analysis of nests emits its arithmetic aside, not in the program.
    analysis.setInsertionPointToEnd(&aside);
    Block &body = program.getBody().front();
    for (OpOperand &use : body.getArgument(0).getUses())
      effects.insert(body.findAncestorOpInBlock(*use.getOwner()));
  }
  ~Groups() { aside.dropAllDefinedValueUses(), aside.dropAllReferences(); }

  // Marks the operations of each group with its number. Returns how many groups there are.
  unsigned mark() {
    // Operations are moved on the way.
    for (Operation *op :
         llvm::map_to_vector(program.getBody().front().without_terminator(), [](Operation &each) { return &each; }))
      visit(op);
    unsigned number = 0;
    OpBuilder builder(program.getContext());
    for (const Group &group : groups) {
      if (group.isMerged || group.members.size() < 2 || group.saved < kLeastBytes)
        continue;
      for (size_t member : group.members)
        nodes[member].op->setAttr(kGroupAttr, builder.getI64IntegerAttr(number));
      ++number;
    }
    return number;
  }

private:
  struct Node {
    linalg::LinalgOp op;
    Groupable nest;
    size_t position, length;
    Roots reads, writes;
  };
  struct Group {
    SmallVector<size_t> members; // in the order of the program
    size_t last = 0;             // the member at whose place the group runs
    Roots reads, writes;
    double saved = 0;
    size_t length = 0;
    bool isOpen = true, isMerged = false;
    // Whether the group stays at its place, because a later operation depends on it. Then `readSince` and
    // `writtenSince` are the buffers that other operations behind it read and write.
    bool isFixed = false;
    Roots readSince, writtenSince;
  };

  void visit(Operation *op) {
    ++position;
    if (isa<memref::AllocOp, memref::GetGlobalOp, ViewLikeOpInterface>(op) ||
        (!op->getNumRegions() && isMemoryEffectFree(op)))
      return;
    Node node;
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    auto load = dyn_cast<memref::LoadOp>(op);
    if ((!linalgOp && !load) || effects.contains(op))
      return closeAll();
    if (load) {
      node.reads.insert(rootBuffer(load.getMemRef()));
    } else {
      for (OpOperand &operand : op->getOpOperands())
        if (isa<MemRefType>(operand.get().getType()))
          (linalgOp.isDpsInit(&operand) ? node.writes : node.reads).insert(rootBuffer(operand.get()));
      // A body may read buffers by itself.
      op->walk([&](memref::LoadOp inner) { node.reads.insert(rootBuffer(inner.getMemRef())); });
      if (op->walk([&](memref::StoreOp) { return WalkResult::interrupt(); }).wasInterrupted())
        return closeAll();
    }
    // The fill of a reduction is a part of the reduction, and stands directly in front of it.
    if (auto fill = dyn_cast<linalg::FillOp>(op); fill && isInitial(fill))
      return;
    Operation *front = op;
    if (linalg::FillOp fill = linalgOp ? fillBefore(linalgOp) : nullptr) {
      if (fill->getNextNode() != op)
        order.moveBefore(fill, op);
      front = fill;
    }
    SmallVector<size_t> before = dependences(node);
    bool joins = linalgOp && (!before.empty() || isWorthALook(linalgOp)) && analyse(linalgOp, node);
    if (!joins) {
      for (size_t group : before)
        fix(group, front);
      return passBy(node, nullptr);
    }
    size_t number = nodes.size();
    nodes.push_back(std::move(node));
    passBy(nodes[number], join(number, before, front));
  }

  // Moves a group in front of an operation that depends on it. The group stays there.
  void fix(size_t number, Operation *op) {
    if (groups[number].isFixed)
      return;
    // A product that is alone is closed, and stays beside operations that read the same operands, as the gradients of
    // filters and of images do. So is a fill: it could only join operations that write the same buffer.
    if (groups[number].members.size() == 1)
      if (const Node &only = nodes[groups[number].members[0]]; only.nest.product || isa<linalg::FillOp>(only.op)) {
        groups[number].isOpen = false;
        return;
      }
    groups[number].isFixed = true;
    linalg::LinalgOp last = nodes[groups[number].last].op;
    if (linalg::FillOp fill = fillBefore(last))
      order.moveBefore(fill, op);
    order.moveBefore(last, op);
    fixed.push_back(number);
    // The most fixed groups, because each operation is compared with all of them.
    constexpr size_t kMostFixed = 8;
    if (fixed.size() > kMostFixed) {
      groups[fixed.front()].isOpen = false;
      fixed.erase(fixed.begin());
    }
  }
  // Notes for all fixed groups but the operation's own which buffers the operation reads and writes behind them.
  void passBy(const Node &node, const Group *own) {
    llvm::erase_if(fixed, [&](size_t group) { return !groups[group].isOpen || groups[group].isMerged; });
    for (size_t number : fixed) {
      Group &group = groups[number];
      if (&group == own)
        continue;
      group.readSince.insert(node.reads.begin(), node.reads.end());
      group.writtenSince.insert(node.writes.begin(), node.writes.end());
    }
  }
  // Whether an operation can move to a fixed group: it and the operations behind the group do not depend on each other.
  static bool canMoveTo(const Group &group, const Node &node) {
    auto none = [](const Roots &roots, const Roots &others) {
      return llvm::none_of(roots, [&](Value root) { return others.contains(root); });
    };
    return none(node.reads, group.writtenSince) && none(node.writes, group.writtenSince) &&
           none(node.writes, group.readSince);
  }
  // The operations that must move behind an earlier operation so that `op` can stand there: those whose results it
  // takes, and `op` itself as the last. std::nullopt if one of the others has effects or reads memory.
  std::optional<SmallVector<Operation *>> movedBehind(Operation *place, linalg::LinalgOp op) {
    SmallVector<Operation *> moved;
    llvm::SmallPtrSet<Operation *, 8> seen;
    bool isPossible = true;
    linalg::FillOp fill = fillBefore(op);
    std::function<void(Operation *)> collect = [&](Operation *each) {
      if (each->getBlock() != place->getBlock() || !order.isBefore(place, each) || !seen.insert(each).second)
        return;
      isPossible &= each == op || each == fill || isa<memref::AllocOp, ViewLikeOpInterface>(each) ||
                    (!each->getNumRegions() && isMemoryEffectFree(each));
      llvm::SetVector<Value> used(each->operand_begin(), each->operand_end());
      getUsedValuesDefinedAbove(each->getRegions(), used);
      for (Value value : used)
        if (Operation *made = value.getDefiningOp())
          collect(made);
      moved.push_back(each);
    };
    if (fill)
      collect(fill);
    collect(op);
    return isPossible ? std::optional(std::move(moved)) : std::nullopt;
  }

  static bool isInitial(linalg::FillOp fill) {
    return llvm::any_of(fill.getOutputs()[0].getUsers(), [&](Operation *user) {
      auto op = dyn_cast<linalg::LinalgOp>(user);
      return op && fillBefore(op) == fill;
    });
  }

  // Small buffers are in the caches anyway, and to analyse their operations would cost much time in programs of many
  // small operations.
  static bool isWorthALook(linalg::LinalgOp op) {
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      // A fill may be the edge of a large buffer.
      bool isPart = isa<linalg::FillOp>(op) && isa<MemRefType>(operand.getType());
      return isLarge(isPart ? rootBuffer(operand) : operand);
    });
  }
  static bool isLarge(Value value) {
    auto buffer = dyn_cast<MemRefType>(value.getType());
    return buffer && (!buffer.hasStaticShape() || buffer.getNumElements() >= int64_t(kLeastBytes) / 4 / 8);
  }

  bool analyse(linalg::LinalgOp op, Node &node) {
    if (op->getBlock() != &program.getBody().front())
      return false;
    FailureOr<Nest> nest = Nest::of(op, analysis);
    if (failed(nest))
      return false;
    FailureOr<Groupable> groupable = Groupable::of(*nest, target);
    if (failed(groupable))
      return false;
    node.op = op;
    node.nest = *groupable;
    node.position = position;
    node.length = static_cast<size_t>(std::distance(nest->body->begin(), nest->body->end()));
    return true;
  }

  void closeAll() {
    for (size_t group : open)
      groups[group].isOpen = false;
    open.clear();
    fixed.clear();
    touching.clear();
  }

  // The open groups on which an operation depends, so that it may not move across them.
  SmallVector<size_t> dependences(const Node &node) {
    SmallVector<size_t> found;
    auto look = [&](Value root, bool isWritten) {
      auto places = touching.find(root);
      if (places == touching.end())
        return;
      llvm::erase_if(places->second, [&](size_t group) { return !groups[group].isOpen || groups[group].isMerged; });
      for (size_t group : places->second)
        if ((isWritten || groups[group].writes.contains(root)) && !llvm::is_contained(found, group))
          found.push_back(group);
    };
    for (Value root : node.reads)
      look(root, false);
    for (Value root : node.writes)
      look(root, true);
    llvm::sort(found);
    return found;
  }

  // The groups on which an operation does not depend, but which read a buffer that it reads, too. Products have none,
  // because they read little beside their arithmetic.
  SmallVector<size_t> siblingsOf(const Node &node, ArrayRef<size_t> before) {
    // An operation is compared with at most this many others that read the same buffer.
    constexpr size_t kMostSiblings = 2;
    SmallVector<size_t> found;
    if (node.nest.product)
      return found;
    auto isProduct = [&](size_t member) { return nodes[member].nest.product.has_value(); };
    for (Value root : node.reads)
      if (auto places = touching.find(root); places != touching.end() && isLarge(root))
        for (size_t group : llvm::reverse(places->second)) {
          if (found.size() == kMostSiblings)
            break;
          const Group &other = groups[group];
          if (other.isOpen && !other.isMerged && other.reads.contains(root) && !llvm::is_contained(before, group) &&
              !llvm::is_contained(found, group) && llvm::none_of(other.members, isProduct))
            found.push_back(group);
        }
    return found;
  }

  // Whether only the members of a group use a buffer.
  bool isOwn(Value root, ArrayRef<size_t> members) {
    auto alloc = root.getDefiningOp<memref::AllocOp>();
    if (!alloc)
      return false;
    SmallVector<Value> values{root};
    while (!values.empty())
      for (Operation *user : values.pop_back_val().getUsers()) {
        if (auto view = dyn_cast<ViewLikeOpInterface>(user)) {
          values.push_back(view->getResult(0));
          continue;
        }
        if (auto fill = dyn_cast<linalg::FillOp>(user); fill && isInitial(fill))
          continue;
        if (llvm::none_of(members, [&](size_t member) { return nodes[member].op.getOperation() == user; }))
          return false;
      }
    return true;
  }

  std::optional<double> savedBy(ArrayRef<size_t> members) {
    std::vector<Groupable> nests;
    for (size_t member : members)
      nests.push_back(nodes[member].nest);
    std::optional<GroupPlan> plan = GroupPlan::of(nests, target);
    if (!plan)
      return std::nullopt;
    return plan->savedBytes(target, [&](Value root) { return isOwn(root, members); });
  }

  // The group of an operation and of groups before it, and how many more bytes it saves than these groups.
  struct Union {
    SmallVector<size_t> with;
    Group merged;
    double gain;
  };
  std::optional<Union> unionOf(size_t number, ArrayRef<size_t> with) {
    const Node &node = nodes[number];
    Union result{SmallVector<size_t>(with), {}, 0};
    Group &merged = result.merged;
    merged.members.push_back(number);
    merged.length = node.length;
    double savedBefore = 0;
    for (size_t each : with) {
      const Group &group = groups[each];
      merged.members.append(group.members);
      merged.length += group.length;
      savedBefore += group.saved;
      merged.reads.insert(group.reads.begin(), group.reads.end());
      merged.writes.insert(group.writes.begin(), group.writes.end());
    }
    llvm::sort(merged.members);
    if (merged.members.size() > kMostMembers || merged.length > kLongestBodies ||
        nodes[merged.members[0]].position + kGroupWindow < position)
      return std::nullopt;
    std::optional<double> saved = savedBy(merged.members);
    if (!saved || *saved <= savedBefore)
      return std::nullopt;
    merged.saved = *saved;
    merged.last = number;
    result.gain = *saved - savedBefore;
    return result;
  }
  // Makes one group of them. Returns false if the operation can't move to a group that stays where it is.
  bool unite(Union &one, const Node &node) {
    if (one.with.size() == 1 && groups[one.with[0]].isFixed) {
      Group &group = groups[one.with[0]];
      Operation *place = nodes[group.last].op;
      std::optional<SmallVector<Operation *>> moved = movedBehind(place, node.op);
      if (!moved)
        return false;
      for (Operation *each : *moved) {
        order.moveAfter(each, place);
        place = each;
      }
      one.merged.isFixed = true;
      one.merged.readSince = group.readSince;
      one.merged.writtenSince = group.writtenSince;
    }
    for (size_t each : one.with)
      groups[each].isMerged = true;
    add(std::move(one.merged), node);
    return true;
  }

  // Puts an operation into a group, perhaps alone, and returns this group.
  Group *join(size_t number, ArrayRef<size_t> before, Operation *front) {
    const Node &node = nodes[number];
    SmallVector<size_t> movable, stay;
    for (size_t group : before)
      (groups[group].isFixed ? stay : movable).push_back(group);
    // The operation joins all groups that can move here, or the group with which it saves most, here or at that group's
    // place.
    SmallVector<Union, 0> unions;
    auto consider = [&](ArrayRef<size_t> with) {
      std::optional<Union> one = unionOf(number, with);
      if (one)
        unions.push_back(std::move(*one));
      return one.has_value();
    };
    if (movable.empty() || !consider(movable))
      for (size_t each : movable.size() > 1 ? ArrayRef(movable) : ArrayRef<size_t>())
        consider(each);
    SmallVector<size_t> siblings = siblingsOf(node, before);
    for (size_t each : siblings)
      if (!groups[each].isFixed) {
        SmallVector<size_t> with = movable;
        with.push_back(each);
        consider(with);
      }
    for (size_t each : llvm::concat<size_t>(stay, siblings))
      if (groups[each].isFixed &&
          llvm::all_of(before, [&](size_t other) { return other == each || isBefore(other, each); }) &&
          canMoveTo(groups[each], node))
        consider(each);
    llvm::stable_sort(unions, [](const Union &a, const Union &b) { return a.gain > b.gain; });
    bool isIn = llvm::any_of(unions, [&](Union &each) { return unite(each, node); });
    bool isMoved = isIn && groups.back().isFixed;
    for (size_t each : before)
      if (!groups[each].isMerged) {
        if (isMoved)
          groups[each].isOpen = groups[each].isFixed; // the operations between it and here are not known
        else
          fix(each, front);
      }
    if (isMoved)
      fixed.push_back(groups.size() - 1);
    if (isIn)
      return &groups.back();
    Group alone;
    alone.last = number;
    alone.members.push_back(number);
    alone.length = node.length;
    add(std::move(alone), node);
    return &groups.back();
  }

  // Whether a group runs before another one.
  bool isBefore(size_t group, size_t other) {
    return order.isBefore(nodes[groups[group].last].op, nodes[groups[other].last].op);
  }

  void add(Group group, const Node &node) {
    group.reads.insert(node.reads.begin(), node.reads.end());
    group.writes.insert(node.writes.begin(), node.writes.end());
    size_t number = groups.size();
    for (const Roots *roots : {&group.reads, &group.writes})
      for (Value root : *roots)
        if (SmallVector<size_t> &places = touching[root]; !llvm::is_contained(places, number))
          places.push_back(number);
    open.push_back(number);
    groups.push_back(std::move(group));
  }

  func::FuncOp program;
  const Target &target;
  Block aside;
  OpBuilder analysis;
  Order order;
  size_t position = 0;
  // Operations that can fail, print or call C++ take the frame. No operation moves across them, because variables that
  // are written in place keep their values if a call fails.
  llvm::SmallPtrSet<Operation *, 8> effects;
  std::vector<Node> nodes;
  std::vector<Group> groups;
  SmallVector<size_t> open;  // the groups that were opened since all were closed
  SmallVector<size_t> fixed; // those of the open groups that stay where they are
  llvm::DenseMap<Value, SmallVector<size_t>> touching;
};

struct GroupKernels : impl::GroupKernelsBase<GroupKernels> {
  void runOnOperation() override {
    FailureOr<Program> program = programIn(getOperation());
    if (failed(program))
      return signalPassFailure();
    // Groups are the same for every CPU, so that plans are the same as well.
    groups += Groups(program->function, Target::of(runtime::Cpu::Baseline)).mark();
  }
};

} // namespace
} // namespace calque::codegen
