// Chooses the plan of each kernel, and notes it as attributes (Plans.td). No other part of the compiler chooses plans;
// the code that emits kernels follows the attributes.
#include "codegen/KernelAttributes.h"
#include "codegen/Passes.h"
#include "codegen/native/Target.h"
#include "codegen/schedule/Contraction.h"
#include "codegen/schedule/Group.h"
#include "codegen/schedule/Nest.h"
#include "codegen/schedule/Plans.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace calque::codegen {

#define GEN_PASS_DEF_PLANKERNELS
#include "codegen/Passes.h.inc"

namespace {

class KernelPlanner {
public:
  explicit KernelPlanner(func::FuncOp kernel)
      : kernel(kernel), target(Target::of(kernel)), analysis(kernel.getContext()) {
    // The analysis of nests emits its arithmetic aside, not in the kernel.
    analysis.setInsertionPointToEnd(&aside);
  }
  ~KernelPlanner() { aside.dropAllDefinedValueUses(), aside.dropAllReferences(); }

  void plan() {
    if (planGroup())
      return;
    // A fill with which a reduction begins is a part of the reduction.
    SmallVector<linalg::LinalgOp> operations, fills;
    kernel.walk([&](linalg::LinalgOp op) { (isa<linalg::FillOp>(op) ? fills : operations).push_back(op); });
    llvm::SmallPtrSet<Operation *, 4> isInitial;
    for (linalg::LinalgOp op : operations)
      if (planAlone(op))
        isInitial.insert(fillBefore(op));
    for (linalg::LinalgOp op : fills)
      if (!isInitial.contains(op))
        planAlone(op);
    for (auto loop : kernel.getBody().getOps<scf::ForOp>())
      if (Attribute chosen = chooseStoringPlan(loop, target, analysis))
        loop->setAttr(kPlanAttr, chosen);
  }

private:
  // Plans an operation by itself, which is a kernel or a part of one. Returns false if it becomes plain loops.
  bool planAlone(linalg::LinalgOp op) {
    FailureOr<Nest> nest = Nest::of(op, analysis);
    if (failed(nest) || nest->iterations() == 0 || !VectorBuilder::canVectorize(*nest))
      return false;
    op->setAttr(kPlanAttr, planOf(*nest));
    return true;
  }

  Attribute planOf(Nest &nest) {
    ProductPlan product = ProductPlan::of(nest, target);
    if (product.tiles)
      return attributeOf(*product.tiles, nest, kernel.getContext());
    if (product.dots)
      return attributeOf(*product.dots, kernel.getContext());
    copyAsBytes(nest, analysis);
    return attributeOf(chooseNestPlan(nest, target), kernel.getContext());
  }

  // Plans all operations of the kernel as one group. Returns false if they are no group.
  bool planGroup() {
    SmallVector<linalg::LinalgOp> members = groupableIn(kernel);
    if (members.size() < 2)
      return false;
    std::vector<Groupable> nests;
    for (linalg::LinalgOp op : members) {
      FailureOr<Nest> nest = Nest::of(op, analysis);
      if (failed(nest))
        return false;
      FailureOr<Groupable> member = Groupable::of(*nest, target);
      if (failed(member))
        return false;
      nests.push_back(std::move(*member));
    }
    std::optional<GroupPlan> plan = GroupPlan::of(nests, target);
    if (!plan)
      return false;
    for (auto [op, member] : llvm::zip_equal(members, plan->members))
      op->setAttr(kPlanAttr, plan->attributeOf(member, kernel.getContext()));
    kernel->setAttr(kPlanAttr, plan->attribute(kernel.getContext()));
    return true;
  }

  func::FuncOp kernel;
  const Target &target;
  Block aside;
  OpBuilder analysis;
};

struct PlanKernels : impl::PlanKernelsBase<PlanKernels> {
  void getDependentDialects(DialectRegistry &registry) const override { registry.insert<plan::PlanDialect>(); }
  void runOnOperation() override {
    if (isKernel(getOperation()))
      KernelPlanner(getOperation()).plan();
  }
};

} // namespace

SmallVector<linalg::LinalgOp> groupableIn(func::FuncOp kernel) {
  SmallVector<linalg::LinalgOp> members;
  llvm::SmallPtrSet<Operation *, 4> isInitial;
  for (auto op : kernel.getBody().getOps<linalg::LinalgOp>())
    if (linalg::FillOp fill = fillBefore(op))
      isInitial.insert(fill);
  for (auto op : kernel.getBody().getOps<linalg::LinalgOp>())
    if (!isInitial.contains(op))
      members.push_back(op);
  return members;
}

} // namespace calque::codegen
