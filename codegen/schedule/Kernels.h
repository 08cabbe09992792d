// The kernels that a nest can become. Each emits its loops at the builder's insertion point; the caller erases the
// operation.
#ifndef CALQUE_CODEGEN_SCHEDULE_KERNELS_H
#define CALQUE_CODEGEN_SCHEDULE_KERNELS_H

#include "codegen/schedule/CostModel.h"
#include "codegen/schedule/VectorBuilder.h"

namespace calque::codegen {

struct VectorPlan;
struct SquaresPlan;

// How a reduction combines its contributions: result = combine(result, contribution).
struct Combiner {
  mlir::Operation *operation;
  mlir::TypedAttr identity;

  static std::optional<Combiner> of(const Nest &nest);
  // The same, but the nest need not have a loop over terms: it may be the part of a nest for one term.
  static std::optional<Combiner> ofBody(const Nest &nest);
  bool isFloatSum() const;
};

// A float sum is cut into runs of kRunLength terms. One accumulator adds up the terms of a run. The sums of runs are
// added with what each addition rounds away, so that the error of a sum stays near that of one run, however many terms
// it has. Adding n equal terms to one accumulator is off by up to n / 8 eps.
constexpr int64_t kRunLength = 8;
// Sums of fewer terms are not cut.
constexpr int64_t kShortSum = 2 * kRunLength;

// The most terms in a run of a sum of products. Arithmetic bounds the time of products, so that their runs are longer
// than those of other sums. With 8 runs in a group, up to 4 groups in a block and up to 8 blocks, the worst that a
// search over equal terms finds is 6.5 eps; without runs, blocks of 256 terms are off by up to 32 eps.
constexpr int64_t kProductRun = 40;

// The order in which a nest combines the terms of a result. It decides the bits of a sum. A part of a nest has the
// order of the whole nest.
struct SumOrder {
  // The number of the reduction loop, among all reduction loops, that vectors run over; none: one term after the other.
  std::optional<unsigned> vectorLoop;

  static SumOrder of(const Nest &nest, const Target &target);
};

// The inputs that all emitters of kernels have in common.
struct KernelContext {
  mlir::OpBuilder &builder;
  const Target &target;
  mlir::Value initial; // a reduction's initial value, from a fill before it; null: the result buffer's elements
  // For a nest that is a part of a larger one, whose loops are shared among threads already.
  std::optional<SumOrder> order = std::nullopt;
  // Receives the plan in words; may be null.
  std::string *plan = nullptr;
  // Whether each addition of a float sum keeps what it rounds away.
  bool isExact = false;
  // For a part of a sum: the rounding errors of the additions before it, with the loops of the result. The result has
  // the sum so far.
  std::optional<Access> errors = std::nullopt;

  // The lanes of a vector, which follow from the widest element that is loaded or stored.
  static int64_t lanesFor(const Nest &nest, const Target &target);
  int64_t lanesFor(const Nest &nest) const { return lanesFor(nest, target); }
};

// Memory of known size for each thread, on its stack if the code is within a parallel loop. Otherwise it is in the
// workspace, because on the stack the memory of all kernels of a function would add up.
mlir::Value threadMemory(mlir::OpBuilder &builder, mlir::Location location, mlir::MemRefType type);
// The most bytes that one kernel may have on a thread's stack.
constexpr int64_t kMostStackBytes = 256 << 10;

// Buffers for the results of a nest whose terms are split into pieces, which are combined in order afterwards.
class PartialResults {
  llvm::SmallVector<unsigned> loops; // over results

public:
  PartialResults(KernelContext &context, const Nest &nest, Combiner combiner, int64_t pieces);
  // The results of the first piece; those of the next one follow after `results` elements.
  Access access;
  Extent results;
  void combine(KernelContext whole) const { combine(whole, Extent(pieces)); }
  // The same for the first `count` pieces.
  void combine(KernelContext whole, const Extent &count) const;
  void combine(KernelContext whole, const Extent &count, const VectorPlan &plan) const;

  // How the results of a nest lie in one piece: the loops over results, from the innermost on.
  static Access accessOf(const Nest &nest, llvm::SmallVectorImpl<unsigned> &loops);

private:
  const Nest &nest;
  Combiner combiner;
  int64_t pieces;
};

// How threads share the terms of a reduction with few results: the iterations of a loop are cut into `count` pieces,
// which may leave a rest. 0: threads share the results.
struct TermPieces {
  unsigned loop = VectorBuilder::kNoLoop;
  int64_t count = 0;

  static TermPieces of(const Nest &nest);
};

// What a nest does: "4096 x (1024): mulf addf". Loops over terms are in parentheses.
std::string describe(const Nest &nest);
// Its loops: "4096 x (1024)".
std::string describeLoops(const Nest &nest);
// The number of floating-point operations of a nest; 0 if its sizes are not known.
int64_t operationsOf(const Nest &nest);
// The bytes that an access touches, each of them counted once; 0 if they are not known.
int64_t bytesTouched(const Nest &nest, const Access &access);

// Emits a nest that is a part of an operation, by the plan that is chosen for this nest alone.
void emitPart(KernelContext context, Nest nest);
// Turns a copy of bools into a copy of their bytes in memory. Both the code that plans a nest and the code that emits
// it call this first.
void copyAsBytes(Nest &nest, mlir::OpBuilder &builder);
// Emits a nest that reads operands across the direction in which it writes. `emitRest` emits the elements that are in
// no whole square.
void emitTransposedNest(KernelContext &context, const Nest &nest, const SquaresPlan &plan,
                        llvm::function_ref<void(const Nest &, const VectorPlan &)> emitRest);

// Whether the body is result + a * b, and nothing else. The product may be one of words (ScalarFunctions.h).
bool isSumOfProducts(const Nest &nest);
// The product of such a body for elements of an input, by its number, and of the other one.
mlir::Value productOf(VectorBuilder &v, int input, mlir::Value element, mlir::Value other);

} // namespace calque::codegen
#endif
