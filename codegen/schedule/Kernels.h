// The kernels that a nest can become. Each emits its loops at the builder's insertion point; the caller erases the
// operation.
#ifndef CALQUE_CODEGEN_SCHEDULE_KERNELS_H
#define CALQUE_CODEGEN_SCHEDULE_KERNELS_H

#include "codegen/Target.h"
#include "codegen/schedule/VectorBuilder.h"

namespace calque::codegen {

// How a reduction combines its contributions: result = combine(result, contribution).
struct Combiner {
  mlir::Operation *operation;
  mlir::TypedAttr identity;

  static std::optional<Combiner> of(const Nest &nest);
  bool isFloatSum() const;
};

// A float sum is cut into runs of so many terms, each of which one accumulator adds up. The sums of runs are added with
// what each addition rounds away, so that the error of a sum stays near that of one run, however many terms it has.
// Adding n equal terms to one accumulator is off by up to n / 8 eps.
constexpr int64_t kRunLength = 8;
// Fewer terms than these are not worth cutting.
constexpr int64_t kShortSum = 2 * kRunLength;

// What all kernels are emitted with.
struct Schedule {
  mlir::OpBuilder &builder;
  const Target &target;
  mlir::Value initial; // a reduction's initial value, from a fill before it; null: the result buffer's elements

  // The estimated cycles of one iteration on one lane, with operands in the first cache.
  static double cyclesOfBody(const Nest &nest);
  // The lanes of a vector, which follow from the widest element that is loaded or stored.
  int64_t lanesFor(const Nest &nest) const;
};

// Buffers for the results of a nest whose terms are split into pieces, which are combined in order afterwards.
class PartialResults {
public:
  PartialResults(Schedule &schedule, const Nest &nest, Combiner combiner, int64_t pieces);
  // The results of the first piece; those of the next one follow after `results` elements.
  Access access;
  Extent results;
  void combine(Schedule &schedule) const;

private:
  const Nest &nest;
  Combiner combiner;
  int64_t pieces;
  llvm::SmallVector<unsigned> loops; // those over results
};

// Emits any nest, with vectors over one loop where that is possible, and with reductions in registers.
void emitVectorNest(Schedule schedule, Nest nest);

// Emits a sum of products, such as a contraction or a convolution, with a tile of results in registers. Returns false,
// and emits nothing, where the nest is no such sum or would gain nothing.
bool emitContraction(Schedule schedule, Nest nest);

} // namespace calque::codegen
#endif
