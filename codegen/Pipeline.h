// The stages between a traced program and native code. Tools can stop at each and print it.
#ifndef CALQUE_CODEGEN_PIPELINE_H
#define CALQUE_CODEGEN_PIPELINE_H

#include "codegen/Lowering.h"
#include "codegen/Target.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/Pass.h"

namespace calque::codegen {

// A program that is being lowered, and what its caller must know to run it.
struct Program {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string entry; // the function's name
  CompileOptions options;
  std::vector<std::size_t> assigned;
  std::vector<Site> sites;
  std::size_t workspaceBytes = 0;
  std::vector<UnknownSize> unknownInputs, unknownOutputs;
  // For each of `unknownInputs`, the size that it equals by the checks: its own number or an earlier one, or a
  // constant.
  struct SizeValue {
    std::size_t number;
    std::optional<int64_t> known;
  };
  std::vector<SizeValue> inputSizes;
  bool hasShapes() const { return !unknownInputs.empty(); }
};

// All dialects that the pipeline uses.
void registerPipelineDialects(mlir::DialectRegistry &registry);

// Lowers the program from `traced` to a stage up to `llvm`, MLIR's LLVM dialect. Errors are diagnostics.
llvm::LogicalResult lowerTo(Program &program, Stage stage);

// The steps. Each leaves IR that verifies.
llvm::LogicalResult lowerToLinalg(Program &program);
llvm::LogicalResult bufferize(Program &program);
llvm::LogicalResult schedule(Program &program);
llvm::LogicalResult lowerToLLVM(Program &program);

// Parts of the steps.
std::unique_ptr<mlir::Pass> createFuseElementwise();
// Turns tensors into buffers, and results into arguments that follow the inputs.
llvm::LogicalResult giveBuffers(Program &program);
// A view of a buffer with these sizes and the strides of a dense row-major tensor.
mlir::Value contiguous(mlir::OpBuilder &builder, mlir::Value buffer, mlir::MemRefType type, llvm::ArrayRef<Size> sizes);
// Makes functions of the operations on buffers, and one of those that are equal.
void outlineKernels(Program &program);
// Gives kernels the buffers that they allocate as arguments.
llvm::LogicalResult passScratch(Program &program);
// The fill that initialises the result of a reduction, if no operation between the two uses the buffer.
mlir::linalg::FillOp fillBefore(mlir::linalg::LinalgOp op);
void scheduleLoops(mlir::func::FuncOp function, const Target &target);
llvm::LogicalResult placeBuffers(Program &program);
// Makes the function of shapes, with the checks and the sizes of results. placeBuffers adds the bytes of the workspace.
void makeShapeFunction(Program &program, LoweringContext &context, llvm::ArrayRef<mlir::Type> results);
// The most bytes of the workspace: a multiple of the alignment, so small that a size plus an offset does not overflow.
inline constexpr int64_t kMostBytes = (int64_t(1) << 62) - CALQUE_BUFFER_ALIGNMENT;
// Emits the bytes of a value with unknown sizes. With a `site`, and in the function of shapes only, the call fails
// there if they are more than kMostBytes.
mlir::Value emitBytes(mlir::OpBuilder &builder, mlir::Location location, mlir::ShapedType type,
                      mlir::ValueRange unknown, mlir::Value frame, std::optional<int32_t> site);
void outlineParallelLoops(Program &program);
llvm::LogicalResult lowerMath(Program &program);

// kGrainAttr, on a parallel loop: the iterations that one thread takes at a time. kParallelAttr, on the function that
// stands for an outlined loop: its number of iterations, its grain and the function that runs a piece.
inline constexpr llvm::StringLiteral kGrainAttr = "calque.grain", kParallelAttr = "calque.parallel";

} // namespace calque::codegen
#endif
