// Applies the plans of linalg operations on buffers: emits the kernel that each plan describes.
#include "codegen/KernelAttributes.h"
#include "codegen/Passes.h"
#include "codegen/native/Target.h"
#include "codegen/schedule/Contraction.h"
#include "codegen/schedule/Group.h"
#include "codegen/schedule/Nest.h"
#include "codegen/schedule/Plans.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace calque::codegen {

#define GEN_PASS_DEF_SCHEDULELOOPS
#include "codegen/Passes.h.inc"

namespace {

bool touches(Operation *op, Value root) {
  return op
      ->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (isa<MemRefType>(operand.getType()) && rootBuffer(operand) == root && !isa<ViewLikeOpInterface>(inner))
            return WalkResult::interrupt();
        return WalkResult::advance();
      })
      .wasInterrupted();
}

} // namespace

linalg::FillOp fillBefore(linalg::LinalgOp op) {
  if (!op.getNumReductionLoops() || op.getNumDpsInits() != 1)
    return {};
  Value buffer = op.getDpsInits()[0], root = rootBuffer(buffer);
  for (Operation *before = op->getPrevNode(); before; before = before->getPrevNode()) {
    if (auto fill = dyn_cast<linalg::FillOp>(before); fill && fill.getOutputs()[0] == buffer)
      return fill;
    if (touches(before, root))
      return {};
  }
  return {};
}

namespace {

// Notes on a kernel what its nests do, how, and what that costs.
class Notes {
public:
  explicit Notes(func::FuncOp kernel) : kernel(kernel), builder(kernel.getContext()) {}

  // `isOwn`: whether a buffer exists only within the kernel.
  void add(ArrayRef<Nest> nests, StringRef plan, function_ref<bool(Value)> isOwn) {
    SmallVector<Attribute> lines;
    if (auto before = kernel->getAttrOfType<ArrayAttr>(kNestsAttr))
      llvm::append_range(lines, before);
    int64_t operations = 0, bytes = 0;
    bool isKnown = true;
    llvm::DenseMap<Value, int64_t> touched;
    if (nests.size() > 1)
      lines.push_back(builder.getStringAttr(plan));
    for (const Nest &nest : nests) {
      lines.push_back(builder.getStringAttr(describe(nest) + (nests.size() == 1 ? "; " + plan.str() : "")));
      isKnown &= nest.isKnown();
      operations += operationsOf(nest);
      for (const auto *accesses : {&nest.inputs, &nest.outputs})
        for (const Access &access : *accesses)
          if (Value root = access.isBuffer ? rootBuffer(access.value) : Value(); root && !isOwn(root))
            touched[root] = std::max(touched[root], bytesTouched(nest, access));
    }
    for (auto [root, count] : touched)
      bytes += count;
    kernel->setAttr(kNestsAttr, builder.getArrayAttr(lines));
    count(kOperationsAttr, isKnown ? operations : 0);
    count(kBytesAttr, isKnown ? bytes : 0);
  }

  // Adds the plan of loops that are no nest.
  void add(StringRef plan) {
    SmallVector<Attribute> lines;
    if (auto before = kernel->getAttrOfType<ArrayAttr>(kNestsAttr))
      llvm::append_range(lines, before);
    lines.push_back(builder.getStringAttr(plan));
    kernel->setAttr(kNestsAttr, builder.getArrayAttr(lines));
  }

private:
  void count(StringRef name, int64_t value) {
    auto before = kernel->getAttrOfType<IntegerAttr>(name);
    kernel->setAttr(name, builder.getI64IntegerAttr(value + (before ? before.getInt() : 0)));
  }

  func::FuncOp kernel;
  Builder builder;
};

// Emits the kernel that an operation's plan describes.
LogicalResult emitPlanned(KernelContext kernel, Nest &nest, Attribute plan) {
  auto emitAs = [&](auto attribute, auto emit) -> LogicalResult {
    auto own = planOf(attribute, nest, kernel.target);
    if (succeeded(own))
      emit(*own);
    return own;
  };
  if (auto tiles = dyn_cast<plan::TilesAttr>(plan))
    return emitAs(tiles, [&](const ContractionPlan &own) { emitProduct(kernel, nest, own); });
  if (auto dots = dyn_cast<plan::DotsAttr>(plan))
    return emitAs(dots, [&](const DotPlan &own) { emitDotProducts(kernel, nest, own); });
  copyAsBytes(nest, kernel.builder);
  auto emitOwn = [&](const NestPlan &own) { emitNest(kernel, nest, own); };
  if (auto vectors = dyn_cast<plan::VectorsAttr>(plan))
    return emitAs(vectors, emitOwn);
  if (auto pieces = dyn_cast<plan::PiecesAttr>(plan))
    return emitAs(pieces, emitOwn);
  if (auto squares = dyn_cast<plan::SquaresAttr>(plan))
    return emitAs(squares, emitOwn);
  return nest.op->emitOpError("plan: ") << plan << " is none of an operation by itself";
}

LogicalResult schedule(linalg::LinalgOp op, const Target &target) {
  OpBuilder builder(op);
  FailureOr<Nest> nest = Nest::of(op, builder);
  if (failed(nest) || nest->hasReduction())
    op->getParentOfType<func::FuncOp>()->setAttr(kReductionAttr, builder.getUnitAttr());
  // An operation without iterations writes nothing.
  if (succeeded(nest) && nest->iterations() == 0) {
    op.erase();
    return success();
  }
  Notes notes(op->getParentOfType<func::FuncOp>());
  auto isNone = [](Value) { return false; };
  Attribute chosen = op->getAttr(kPlanAttr);
  if (!chosen) {
    if (succeeded(nest))
      notes.add(*nest, "plain loops", isNone);
    return success();
  }
  if (failed(nest) || !VectorBuilder::canVectorize(*nest))
    return op->emitOpError("plan: the operation takes no vectors, and becomes plain loops without a plan");
  std::string plan;
  KernelContext kernel{builder, target, Value()};
  kernel.plan = &plan;
  linalg::FillOp fill;
  if (nest->hasReduction() && (fill = fillBefore(op)))
    kernel.initial = fill.getInputs()[0];
  if (failed(emitPlanned(kernel, *nest, chosen)))
    return failure();
  auto function = op->getParentOfType<func::FuncOp>();
  if (!nest->hasReduction() && op->getParentOp() == function &&
      llvm::hasSingleElement(function.getBody().getOps<linalg::LinalgOp>()))
    function->setAttr(kElementwiseAttr, builder.getUnitAttr());
  notes.add(*nest, plan, isNone);
  op.erase();
  if (fill)
    fill.erase();
  return success();
}

// Emits the operations of a kernel as the group that its plan describes.
LogicalResult scheduleGroup(func::FuncOp kernel, plan::GroupAttr attribute, const Target &target) {
  SmallVector<linalg::LinalgOp> members = groupableIn(kernel);
  if (members.size() < 2)
    return kernel->emitOpError("plan: a group has two operations or more");
  OpBuilder builder(members.back());
  std::vector<Nest> nests;
  SmallVector<plan::MemberAttr> attributes;
  for (linalg::LinalgOp op : members) {
    FailureOr<Nest> nest = Nest::of(op, builder);
    auto member = op->getAttrOfType<plan::MemberAttr>(kPlanAttr);
    if (failed(nest) || !member)
      return op->emitOpError("plan: each operation of a group has one that says how it is a member");
    nests.push_back(*nest);
    attributes.push_back(member);
  }
  FailureOr<GroupPlan> group = GroupPlan::of(attribute, attributes, nests, target);
  if (failed(group))
    return failure();
  for (auto [member, op] : llvm::zip_equal(group->members, members))
    if (linalg::FillOp fill = fillBefore(op))
      member.initial = fill.getInputs()[0];
  std::string plan;
  KernelContext context{builder, target, Value()};
  context.plan = &plan;
  emitGroup(context, *group);
  Notes(kernel).add(nests, plan, [](Value root) { return root.getDefiningOp<memref::AllocOp>() != nullptr; });
  if (llvm::any_of(nests, [](const Nest &nest) { return nest.hasReduction(); }))
    kernel->setAttr(kReductionAttr, builder.getUnitAttr());
  for (linalg::LinalgOp op : llvm::to_vector(kernel.getBody().getOps<linalg::LinalgOp>()))
    op.erase();
  kernel->removeAttr(kPlanAttr);
  return success();
}

LogicalResult scheduleStoring(scf::ForOp loop, const Target &target) {
  Attribute chosen = loop->getAttr(kPlanAttr);
  if (!chosen)
    return success();
  std::string text;
  if (auto carried = dyn_cast<plan::CarriedAttr>(chosen)) {
    if (failed(emitCarriedLoop(loop, carried, target, text)))
      return failure();
  } else if (auto storing = dyn_cast<plan::StoringAttr>(chosen)) {
    if (failed(emitStoringLoops(loop, storing, target, text)))
      return failure();
  } else {
    return loop->emitOpError("plan: ") << chosen << " is none of loops that store by themselves";
  }
  Notes(loop->getParentOfType<func::FuncOp>()).add(text);
  loop.erase();
  return success();
}

struct ScheduleLoops : impl::ScheduleLoopsBase<ScheduleLoops> {
  void runOnOperation() override {
    if (isKernel(getOperation()) && failed(scheduleAll()))
      signalPassFailure();
  }

private:
  LogicalResult scheduleAll() {
    const Target &target = Target::of(getOperation());
    if (Attribute plan = getOperation()->getAttr(kPlanAttr)) {
      if (auto group = dyn_cast<plan::GroupAttr>(plan))
        return scheduleGroup(getOperation(), group, target);
      return getOperation()->emitOpError("plan: ") << plan << " is none of a kernel";
    }
    SmallVector<scf::ForOp> storingLoops(getOperation().getBody().getOps<scf::ForOp>());
    // A reduction may take over the fill with which it begins, and erase it, so that such fills come last.
    SmallVector<linalg::LinalgOp> operations;
    llvm::SmallPtrSet<Operation *, 4> isInitial;
    getOperation().walk([&](linalg::LinalgOp op) {
      operations.push_back(op);
      if (linalg::FillOp fill = fillBefore(op))
        isInitial.insert(fill);
    });
    for (linalg::LinalgOp op : operations)
      if (!isInitial.contains(op) && failed(schedule(op, target)))
        return failure();
    operations.clear();
    getOperation().walk([&](linalg::FillOp op) { operations.push_back(op); });
    for (linalg::LinalgOp op : operations)
      if (failed(schedule(op, target)))
        return failure();
    for (scf::ForOp loop : storingLoops)
      if (failed(scheduleStoring(loop, target)))
        return failure();
    getOperation().walk([&](linalg::LinalgOp) { ++left; });
    return success();
  }
};

} // namespace

} // namespace calque::codegen
