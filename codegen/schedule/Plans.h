// The attributes of Plans.td, and what they say as the plans that kernels are emitted from.
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

// On an operation of a kernel, and on a kernel that is a group: what it will be.
inline constexpr llvm::StringLiteral kPlanAttr = "calque.plan";

plan::DotsAttr attributeOf(const DotPlan &plan, mlir::MLIRContext *context);
plan::TilesAttr attributeOf(const ContractionPlan &plan, const Nest &nest, mlir::MLIRContext *context);

mlir::Attribute attributeOf(const NestPlan &plan, mlir::MLIRContext *context);

// What an attribute says of a nest. Fails where it fits neither the nest nor the target, with an error at the nest's
// operation that says what is wrong: a plan may be written by hand.
mlir::FailureOr<DotPlan> planOf(plan::DotsAttr attribute, const Nest &nest, const Target &target);
// `groupRows`: of a member of a group, the loop of which the group takes a block at a time.
mlir::FailureOr<ContractionPlan> planOf(plan::TilesAttr attribute, const Nest &nest, const Target &target,
                                        std::optional<unsigned> groupRows = std::nullopt);
mlir::FailureOr<VectorPlan> planOf(plan::VectorsAttr attribute, const Nest &nest, const Target &target);
mlir::FailureOr<PiecesPlan> planOf(plan::PiecesAttr attribute, const Nest &nest, const Target &target);
mlir::FailureOr<SquaresPlan> planOf(plan::SquaresAttr attribute, const Nest &nest, const Target &target);

// Loops that store by themselves. Chooses what they become; null: what they are. What the analysis computes is emitted
// by `builder`.
mlir::Attribute chooseStoringPlan(mlir::scf::ForOp outermost, const Target &target, const mlir::OpBuilder &builder);
// Emits what their plan says before them, and adds it to `text` in words. Fails where it does not fit, with an error at
// the loop that says what is wrong.
mlir::LogicalResult emitStoringLoops(mlir::scf::ForOp outermost, plan::StoringAttr plan, const Target &target,
                                     std::string &text);
mlir::LogicalResult emitCarriedLoop(mlir::scf::ForOp outermost, plan::CarriedAttr plan, const Target &target,
                                    std::string &text);
// Null where the loops carry nothing along contiguous rows.
plan::CarriedAttr chooseCarriedPlan(mlir::scf::ForOp outermost, const Target &target, const mlir::OpBuilder &builder);

} // namespace calque::codegen
#endif
