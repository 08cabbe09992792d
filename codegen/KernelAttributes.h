// The attributes by which passes of the code generator tell each other about kernels, and the suffixes of a kernel's
// functions.
#ifndef CALQUE_CODEGEN_KERNELATTRIBUTES_H
#define CALQUE_CODEGEN_KERNELATTRIBUTES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace calque::codegen {

// On a function that is a kernel.
inline constexpr llvm::StringLiteral kKernelAttr = "calque.kernel";
inline bool isKernel(mlir::func::FuncOp function) { return function->hasAttr(kKernelAttr); }
// On sums of products: four numbers for each border of zeros around an operand. They are `results`, `terms`, `low` and
// `high` of `Border` (schedule/Nest.h), with the numbers of the operation's loops.
inline constexpr llvm::StringLiteral kBordersAttr = "calque.borders";
// On an operation on buffers: the number of the group whose kernel computes it.
inline constexpr llvm::StringLiteral kGroupAttr = "calque.group";
// On consecutive calls that do not depend on each other: the number of their round, and an estimate of the cycles of
// each call, 0 if it is not known. kFollowsAttr, on a call that depends on the call before it: one thread runs both in
// order.
inline constexpr llvm::StringLiteral kRoundAttr = "calque.round", kCyclesAttr = "calque.cycles",
                                     kFollowsAttr = "calque.follows";
// On a loop of a nest: no two of its iterations touch the same element of a buffer that the nest stores to.
inline constexpr llvm::StringLiteral kIndependentAttr = "calque.independent";
// On a kernel with a loop that combines elements.
inline constexpr llvm::StringLiteral kReductionAttr = "calque.reduction";
// On a scheduled kernel: the number of floating-point operations of a call, the fewest bytes that a call reads and
// writes, and lines that say what each nest does and how. A number that is not known is 0.
inline constexpr llvm::StringLiteral kOperationsAttr = "calque.operations", kBytesAttr = "calque.bytes",
                                     kNestsAttr = "calque.nests";
// On a scheduled kernel whose loops write different elements, and read none that another of them writes.
inline constexpr llvm::StringLiteral kElementwiseAttr = "calque.elementwise";
// On an argument of a kernel; FuncToLLVM turns it into LLVM's attribute.
inline constexpr llvm::StringLiteral kNoAlias = "llvm.noalias";
// The suffix of the function that computes the bytes of a kernel's scratch memory.
inline constexpr llvm::StringLiteral kScratchSuffix = ".scratch";
// The suffix of the function that stores a kernel's pieces (runtime/Kernels.h).
inline constexpr llvm::StringLiteral kPiecesSuffix = ".pieces";
// The function that computes the numbers of a plan.
inline constexpr llvm::StringLiteral kNumbersFunction = "calque.numbers";

// kGrainAttr, on a parallel loop: the iterations that one thread takes at a time. kParallelAttr, on the function that
// stands for an outlined loop: the loop's grain, the function that runs a piece, and the number of iterations if it is
// a constant. A kernel that is one parallel loop returns this number, so that its attribute has only the other two.
inline constexpr llvm::StringLiteral kGrainAttr = "calque.grain", kParallelAttr = "calque.parallel";

} // namespace calque::codegen
#endif
