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

// A number that is known, or one that the code computes.
struct Number {
  Number(int64_t known = 0) : known(known) {}
  Number(mlir::Value value) : value(value) {
    if ((known = mlir::getConstantIntValue(value)))
      this->value = {};
  }
  bool operator==(int64_t other) const { return known == other; }
  std::optional<int64_t> known;
  mlir::Value value;
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

  // Arithmetic on numbers that are not negative, folded where both are known.
  Value valueOf(const Number &number) { return number.known ? index(*number.known) : number.value; }
  Number number(const Extent &extent) {
    return extent.isKnown() ? Number(*extent.known()) : Number(extent.emit(b, location));
  }
  Number add(const Number &x, const Number &y);
  Number subtract(const Number &x, const Number &y);
  Number multiply(const Number &x, const Number &y);
  Number divide(const Number &x, const Number &y);
  Number remainder(const Number &x, const Number &y);
  Number minimum(const Number &x, const Number &y);
  Number maximum(const Number &x, const Number &y);
  Number ceilDivide(const Number &x, const Number &y) { return divide(add(x, subtract(y, 1)), y); }
  Number roundUp(const Number &x, const Number &y) { return multiply(ceilDivide(x, y), y); }
  Value less(const Number &x, const Number &y);

  Value constant(mlir::TypedAttr value);
  Value splat(Value scalar);
  Value scalarAddress(const Access &access, const Position &position);
  // The first `valid` lanes; what the others hold is of no consequence.
  Value load(const Access &access, const Position &position, const Number &valid);
  Value loadScalar(const Access &access, const Position &position);
  void store(const Access &access, const Position &position, Value value, const Number &valid);
  // What the body yields for the elements of the inputs at a position and the given ones of the outputs.
  llvm::SmallVector<Value> body(const Position &position, mlir::ValueRange outputs, const Number &valid);
  // `operation` with two operands, on other types.
  Value apply(mlir::Operation *operation, Value a, Value b);
  // Combines all lanes in a fixed tree.
  Value horizontal(mlir::Operation *combiner, Value vector);
  // Turns a square of as many vectors as each has lanes around.
  void transpose(llvm::MutableArrayRef<Value> square);
  Value mask(const Number &valid);

  // for (i = from; i < to; i += step), carrying values.
  using LoopBody = llvm::function_ref<llvm::SmallVector<Value>(Value index, mlir::ValueRange carried)>;
  llvm::SmallVector<Value> loop(Value from, Value to, const Number &step, mlir::ValueRange carried, LoopBody body);
  // The same over [0, extent); unrolled where that is short.
  llvm::SmallVector<Value> loop(const Number &extent, int64_t step, mlir::ValueRange carried, LoopBody body);
  // What `body` makes of the carried values if a condition holds, else those themselves.
  llvm::SmallVector<Value> onlyIf(Value condition, mlir::ValueRange carried,
                                  llvm::function_ref<llvm::SmallVector<Value>(mlir::ValueRange carried)> body);
  void onlyIf(Value condition, llvm::function_ref<void()> body);
  // Iterations that may run at once: on the pool's threads where the estimate of one iteration, `cycles` times `times`,
  // makes it worth it. How they are cut depends on these numbers alone.
  void parallel(const Number &extent, double cycles, const Number &times, llvm::function_ref<void(Value index)> body);

  mlir::OpBuilder &b;
  const Nest &nest;
  mlir::Location location;
  unsigned vectorLoop;
  int64_t lanes;
};

} // namespace calque::codegen
#endif
