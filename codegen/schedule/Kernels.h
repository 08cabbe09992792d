// The kernels that a nest can become. Each emits its loops where the builder stands and leaves the operation to its
// caller.
#ifndef CALQUE_CODEGEN_SCHEDULE_KERNELS_H
#define CALQUE_CODEGEN_SCHEDULE_KERNELS_H

#include "codegen/Target.h"
#include "codegen/schedule/VectorBuilder.h"

namespace calque::codegen {

// How a reduction combines: result = combine(result, contribution), whatever the contribution is made of.
struct Combiner {
  mlir::Operation *operation;
  mlir::TypedAttr identity;

  static std::optional<Combiner> of(const Nest &nest);
};

// What a reduction starts from: the value of a fill that was its only reason, or what the result holds.
struct Schedule {
  mlir::OpBuilder &builder;
  const Target &target;
  mlir::Value initial; // null: what the result holds

  // An estimate of the cycles that one iteration takes on one lane, once its operands are in the nearest cache.
  static double cyclesOfBody(const Nest &nest);
  // Iterations that one vector holds: of the widest element that is loaded or stored.
  int64_t lanesFor(const Nest &nest) const;
};

// Results of a nest that are computed in pieces, and then put together in order.
class PartialResults {
public:
  PartialResults(Schedule &schedule, const Nest &nest, Combiner combiner, int64_t pieces);
  // The results of the first piece. Those of the next lie `results` further on.
  Access access;
  int64_t results;
  void combine(Schedule &schedule) const;

private:
  const Nest &nest;
  Combiner combiner;
  int64_t pieces;
  llvm::SmallVector<unsigned> loops; // of the results
};

// Loops over single elements, vectors of one loop's iterations, reductions in registers.
void emitVectorNest(Schedule schedule, Nest nest);

// A product summed over loops, with a tile of results in registers: contractions and convolutions. False if the nest
// isn't one, or would gain nothing.
bool emitContraction(Schedule schedule, Nest nest);

} // namespace calque::codegen
#endif
