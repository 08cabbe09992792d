// The attributes of Plans.td, and their conversion from and to the plans from which kernels are emitted.
#ifndef CALQUE_CODEGEN_SCHEDULE_PLANS_H
#define CALQUE_CODEGEN_SCHEDULE_PLANS_H

#include "codegen/schedule/ContractionPlan.h"
#include "codegen/schedule/NestPlan.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"

namespace calque::codegen {

inline llvm::hash_code hash_value(const TermLoop &loop) {
  return llvm::hash_combine(loop.loop, loop.step, loop.within, loop.count);
}

namespace plan {

struct Cycles {
  double value;
  bool operator==(const Cycles &) const = default;
};
inline llvm::hash_code hash_value(Cycles cycles) { return llvm::hash_value(llvm::bit_cast<uint64_t>(cycles.value)); }
std::string textOf(Cycles cycles);
template <typename Printer> Printer &operator<<(Printer &printer, Cycles cycles) {
  printer << textOf(cycles);
  return printer;
}

mlir::FailureOr<llvm::SmallVector<TermLoop>> parseLoops(mlir::AsmParser &parser);
void printLoops(mlir::AsmPrinter &printer, llvm::ArrayRef<TermLoop> loops);

} // namespace plan
} // namespace calque::codegen

template <> struct mlir::FieldParser<calque::codegen::plan::Cycles> {
  static FailureOr<calque::codegen::plan::Cycles> parse(AsmParser &parser) {
    double value;
    if (parser.parseFloat(value))
      return failure();
    return calque::codegen::plan::Cycles{value};
  }
};

#include "codegen/PlansDialect.h.inc"
#include "codegen/PlansEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "codegen/Plans.h.inc"

namespace calque::codegen {

// On an operation of a kernel, and on a kernel that is a group: its plan.
inline constexpr llvm::StringLiteral kPlanAttr = "calque.plan";

plan::DotsAttr attributeOf(const DotPlan &plan, mlir::MLIRContext *context);
plan::TilesAttr attributeOf(const ContractionPlan &plan, const Nest &nest, mlir::MLIRContext *context);

mlir::Attribute attributeOf(const NestPlan &plan, mlir::MLIRContext *context);

// The plan that an attribute describes. A plan may be written by hand: fails if it does not fit the nest or the target,
// with an error at the nest's operation that says what is wrong.
mlir::FailureOr<DotPlan> planOf(plan::DotsAttr attribute, const Nest &nest, const Target &target);
// `groupRows`: for a member of a group, the loop of which the group takes a block at a time.
mlir::FailureOr<ContractionPlan> planOf(plan::TilesAttr attribute, const Nest &nest, const Target &target,
                                        std::optional<unsigned> groupRows = std::nullopt);
mlir::FailureOr<VectorPlan> planOf(plan::VectorsAttr attribute, const Nest &nest, const Target &target);
mlir::FailureOr<PiecesPlan> planOf(plan::PiecesAttr attribute, const Nest &nest, const Target &target);
mlir::FailureOr<SquaresPlan> planOf(plan::SquaresAttr attribute, const Nest &nest, const Target &target);

// Chooses the plan of loops that store by themselves; null: they stay as they are. `builder` emits what the analysis
// computes.
mlir::Attribute chooseStoringPlan(mlir::scf::ForOp outermost, const Target &target, const mlir::OpBuilder &builder);
// Emits the code of their plan before the loops, and appends the plan to `text` in words. Fails if the plan does not
// fit, with an error at the loop that says what is wrong.
mlir::LogicalResult emitStoringLoops(mlir::scf::ForOp outermost, plan::StoringAttr plan, const Target &target,
                                     std::string &text);
mlir::LogicalResult emitCarriedLoop(mlir::scf::ForOp outermost, plan::CarriedAttr plan, const Target &target,
                                    std::string &text);
// Null if the loops carry nothing along contiguous rows.
plan::CarriedAttr chooseCarriedPlan(mlir::scf::ForOp outermost, const Target &target, const mlir::OpBuilder &builder);

} // namespace calque::codegen
#endif
