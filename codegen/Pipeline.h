// The stages between a traced program and native code. Tools can stop at each and print it.
#ifndef CALQUE_CODEGEN_PIPELINE_H
#define CALQUE_CODEGEN_PIPELINE_H

#include "codegen/Lowering.h"
#include "codegen/Target.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"

#include <map>

namespace calque::codegen {

// What a kernel of the plan is: a function of the module, or one of the runtime.
struct KernelName {
  std::string function;
  std::string runtime; // empty for a function of the module
};

// A program that is being lowered, and what its caller must know to run it.
struct Program {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string entry; // the function's name
  CompileOptions options;
  std::vector<std::size_t> assigned;
  std::vector<Site> sites;
  std::size_t numInputs = 0; // parameters and variables; set when tensors become buffers
  std::size_t workspaceBytes = 0;
  // From Stage::Outlined on. The plan's kernels are those of `kernels`.
  runtime::Plan plan;
  std::vector<KernelName> kernels;
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

// Pass managers that are kept for the next module of their context, since to make their patterns takes longer than to
// run them on something small.
class Pipelines {
public:
  using AddPasses = void (*)(mlir::OpPassManager &);
  explicit Pipelines(mlir::MLIRContext &context);
  ~Pipelines();
  // Runs the passes that a function adds, which is called once.
  llvm::LogicalResult run(mlir::ModuleOp module, AddPasses addPasses);

private:
  mlir::MLIRContext &context;
  std::map<AddPasses, std::unique_ptr<mlir::PassManager>> made;
};

// All dialects that the pipeline uses.
void registerPipelineDialects(mlir::DialectRegistry &registry);

// Lowers the program from `traced` to a stage up to `llvm`, MLIR's LLVM dialect. Errors are diagnostics.
llvm::LogicalResult lowerTo(Program &program, Stage stage, Pipelines &pipelines);

// The steps. Each leaves IR that verifies.
llvm::LogicalResult lowerToLinalg(Program &program, Pipelines &pipelines);
llvm::LogicalResult bufferize(Program &program, Pipelines &pipelines);
llvm::LogicalResult outline(Program &program);
// These two lower kernels, whatever program they are of.
llvm::LogicalResult scheduleKernels(mlir::ModuleOp kernels, CompileOptions options, Pipelines &pipelines);
llvm::LogicalResult lowerKernelsToLLVM(mlir::ModuleOp kernels, Pipelines &pipelines);

// Parts of the steps.
// Turns tensors into buffers, and results into arguments that follow the inputs.
llvm::LogicalResult giveBuffers(Program &program);
// A view of a buffer with these sizes and the strides of a dense row-major tensor.
mlir::Value contiguous(mlir::OpBuilder &builder, mlir::Value buffer, mlir::MemRefType type, llvm::ArrayRef<Size> sizes);
// The address of a buffer, as a buffer of one element.
mlir::Value addressOf(mlir::OpBuilder &builder, mlir::Location location, mlir::Value buffer);
// Makes functions of all that the program does on buffers, and one of those that are equal. The program's own function
// keeps their calls, the buffers and the arithmetic on sizes.
void outlineKernels(Program &program);
// Makes the function of the numbers and addresses that the steps of the program's plan take and that are not known
// before a call.
llvm::LogicalResult makePlan(Program &program);
// The fill that initialises the result of a reduction, if no operation between the two uses the buffer.
mlir::linalg::FillOp fillBefore(mlir::linalg::LinalgOp op);
llvm::LogicalResult placeBuffers(Program &program);
// Makes the function of shapes, with the checks and the sizes of results. placeBuffers adds the bytes of the workspace.
void makeShapeFunction(Program &program, LoweringContext &context, llvm::ArrayRef<mlir::Type> results);
// The most bytes of the workspace: a multiple of the alignment, so small that a size plus an offset does not overflow.
inline constexpr int64_t kMostBytes = (int64_t(1) << 62) - CALQUE_BUFFER_ALIGNMENT;
// Emits the bytes of a value with unknown sizes. With a `site`, and in the function of shapes only, the call fails
// there if they are more than kMostBytes.
mlir::Value emitBytes(mlir::OpBuilder &builder, mlir::Location location, mlir::ShapedType type,
                      mlir::ValueRange unknown, mlir::Value frame, std::optional<int32_t> site);

// On a function that is a kernel.
inline constexpr llvm::StringLiteral kKernelAttr = "calque.kernel";
inline bool isKernel(mlir::func::FuncOp function) { return function->hasAttr(kKernelAttr); }
// On a kernel with a loop that combines elements.
inline constexpr llvm::StringLiteral kReductionAttr = "calque.reduction";
// On an argument of a kernel; FuncToLLVM turns it into LLVM's attribute.
inline constexpr llvm::StringLiteral kNoAlias = "llvm.noalias";
// What follows a kernel's name in that of the function of its memory.
inline constexpr llvm::StringLiteral kScratchSuffix = ".scratch";
// The function that computes the numbers of a plan.
inline constexpr llvm::StringLiteral kNumbersFunction = "calque.numbers";

// kGrainAttr, on a parallel loop: the iterations that one thread takes at a time. kParallelAttr, on the function that
// stands for an outlined loop: its number of iterations, its grain and the function that runs a piece.
inline constexpr llvm::StringLiteral kGrainAttr = "calque.grain", kParallelAttr = "calque.parallel";

} // namespace calque::codegen
#endif
