// Emits the loops and vectors of a nest: loads, stores and the body for several iterations of one loop at once.
#ifndef CALQUE_CODEGEN_SCHEDULE_VECTORBUILDER_H
#define CALQUE_CODEGEN_SCHEDULE_VECTORBUILDER_H

#include "codegen/schedule/Nest.h"

#include <optional>

namespace calque::codegen {

// One iteration of a nest: for each loop an index (null is 0) and a constant to add.
struct Position {
  explicit Position(unsigned numLoops) : index(numLoops), shift(numLoops, 0) {}
  Position shifted(unsigned loop, int64_t by) const {
    Position result = *this;
    result.shift[loop] += by;
    return result;
  }
  Position at(unsigned loop, mlir::Value value) const {
    Position result = *this;
    result.index[loop] = value;
    return result;
  }
  llvm::SmallVector<mlir::Value> index;
  llvm::SmallVector<int64_t> shift;
};

class VectorBuilder {
public:
  using Value = mlir::Value;
  static constexpr unsigned kNoLoop = ~0u;

  // Vectors hold `lanes` iterations of `vectorLoop`; one lane means scalars.
  VectorBuilder(mlir::OpBuilder &builder, const Nest &nest, unsigned vectorLoop, int64_t lanes)
      : b(builder), nest(nest), location(nest.location()), vectorLoop(vectorLoop), lanes(lanes) {}

  // Whether the body is made of what works on vectors as on scalars.
  static bool canVectorize(const Nest &nest);

  mlir::Type typeOf(mlir::Type element) const;
  Value index(int64_t value);
  Value constant(mlir::TypedAttr value);
  Value splat(Value scalar);
  Value scalarAddress(const Access &access, const Position &position);
  // The first `valid` lanes; what the others hold is of no consequence.
  Value load(const Access &access, const Position &position, int64_t valid);
  Value loadScalar(const Access &access, const Position &position);
  void store(const Access &access, const Position &position, Value value, int64_t valid);
  // What the body yields for the elements of the inputs at a position and the given ones of the outputs.
  llvm::SmallVector<Value> body(const Position &position, mlir::ValueRange outputs, int64_t valid);
  // `operation` with two operands, on other types.
  Value apply(mlir::Operation *operation, Value a, Value b);
  // Combines all lanes in a fixed tree.
  Value horizontal(mlir::Operation *combiner, Value vector);
  // Turns a square of as many vectors as each has lanes around.
  void transpose(llvm::MutableArrayRef<Value> square);
  Value mask(int64_t valid);

  // for (i = from; i < to; i += step), carrying values.
  using LoopBody = llvm::function_ref<llvm::SmallVector<Value>(Value index, mlir::ValueRange carried)>;
  llvm::SmallVector<Value> loop(Value from, Value to, int64_t step, mlir::ValueRange carried, LoopBody body);
  // The same over [0, extent); unrolled where that is short.
  llvm::SmallVector<Value> loop(int64_t extent, int64_t step, mlir::ValueRange carried, LoopBody body);
  // Iterations that may run at once: on the pool's threads where `cost`, an estimate of one iteration in cycles, makes it
  // worth it.
  void parallel(int64_t extent, double cost, llvm::function_ref<void(Value index)> body);

  mlir::OpBuilder &b;
  const Nest &nest;
  mlir::Location location;
  unsigned vectorLoop;
  int64_t lanes;
};

} // namespace calque::codegen
#endif
