// The stages between a traced program and native code, each of which tools can stop at and print.
#ifndef CALQUE_CODEGEN_PIPELINE_H
#define CALQUE_CODEGEN_PIPELINE_H

#include "codegen/Lowering.h"
#include "codegen/Target.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/Pass.h"

namespace calque::codegen {

// A program on its way down, and what its caller must know.
struct Program {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string entry; // the function's name
  CompileOptions options;
  std::vector<std::size_t> assigned;
  std::vector<Site> sites;
  std::size_t workspaceBytes = 0;
  std::vector<UnknownSize> unknownInputs, unknownOutputs;
  // For each of `unknownInputs` what it was found to equal: itself or an earlier one, or a known size.
  struct SizeValue {
    std::size_t number;
    std::optional<int64_t> known;
  };
  std::vector<SizeValue> inputSizes;
  bool hasShapes() const { return !unknownInputs.empty(); }
};

// All dialects that the pipeline uses.
void registerPipelineDialects(mlir::DialectRegistry &registry);

// Takes the program from `traced` to a stage, at most `llvm`, which is MLIR's LLVM dialect. Errors are diagnostics.
llvm::LogicalResult lowerTo(Program &program, Stage stage);

// Each does one step and leaves IR that verifies.
llvm::LogicalResult lowerToLinalg(Program &program);
llvm::LogicalResult bufferize(Program &program);
llvm::LogicalResult schedule(Program &program);
llvm::LogicalResult lowerToLLVM(Program &program);

// What the steps are made of.
std::unique_ptr<mlir::Pass> createFuseElementwise();
void scheduleLoops(mlir::func::FuncOp function, const Target &target);
llvm::LogicalResult placeBuffers(Program &program);
// Makes the function of shapes, which does the checks and gives the sizes of results; placeBuffers adds the workspace
// to it.
void makeShapeFunction(Program &program, LoweringContext &context, llvm::ArrayRef<mlir::Type> results);
// A multiple of the alignment, small enough that a size and an offset add up.
inline constexpr int64_t kMostBytes = (int64_t(1) << 62) - CALQUE_BUFFER_ALIGNMENT;
// The bytes of values of a type, of which some sizes are unknown. Where they are more than can be addressed, the call
// fails at `site`; the builder stands in the function of shapes then, else there is no check.
mlir::Value emitBytes(mlir::OpBuilder &builder, mlir::Location location, mlir::ShapedType type,
                      mlir::ValueRange unknown, mlir::Value frame, std::optional<int32_t> site);
void outlineParallelLoops(Program &program);
llvm::LogicalResult lowerMath(Program &program);

// On a parallel loop: the iterations that one thread takes at a time. On the function that stands for the loop once it
// is outlined: its count, its grain and the function that runs a piece.
inline constexpr llvm::StringLiteral kGrainAttr = "calque.grain", kParallelAttr = "calque.parallel";

} // namespace calque::codegen
#endif
