// Emits loops, loads, stores and the body of a nest, for one iteration or for a vector of iterations of one loop.
#ifndef CALQUE_CODEGEN_SCHEDULE_VECTORBUILDER_H
#define CALQUE_CODEGEN_SCHEDULE_VECTORBUILDER_H

#include "codegen/schedule/Nest.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <optional>

namespace calque::codegen {

// One iteration of a nest: for each loop, an index (0 if null) plus a constant.
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

// A number that is a constant, or a value that the emitted code computes.
struct Number {
  Number(int64_t known = 0) : known(known) {}
  Number(mlir::Value value) : value(value) {
    if ((known = mlir::getConstantIntValue(value)))
      this->value = {};
  }
  bool operator==(int64_t other) const { return known == other; }
  Extent extent() const { return known ? Extent(*known) : Extent(mlir::OpFoldResult(value)); }
  std::optional<int64_t> known;
  mlir::Value value;
};

class VectorBuilder {
public:
  using Value = mlir::Value;
  static constexpr unsigned kNoLoop = ~0u;

  // Vectors hold `lanes` iterations of `vectorLoop`; one lane means scalars.
  VectorBuilder(mlir::OpBuilder &builder, const Nest &nest, unsigned vectorLoop, int64_t lanes)
      : VectorBuilder(builder, nest, nest.location(), vectorLoop, lanes) {}
  // For loops that belong to no operation: the nest has no body.
  VectorBuilder(mlir::OpBuilder &builder, const Nest &nest, mlir::Location location, unsigned vectorLoop, int64_t lanes)
      : b(builder), nest(nest), location(location), vectorLoop(vectorLoop), lanes(lanes) {}

  // Whether every operation of the body takes vectors as well as scalars.
  static bool canVectorize(const Nest &nest);

  mlir::Type typeOf(mlir::Type element) const;
  Value index(int64_t value);

  // Arithmetic on non-negative numbers, folded where both operands are constants.
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
  // Loads the first `valid` lanes; the content of the others is unspecified.
  // With `repeats`, at least one lane is valid, and the other lanes of floats hold the element of a valid lane, so that
  // computing with them raises no floating-point exception that the valid lanes do not raise.
  Value load(const Access &access, const Position &position, const Number &valid, bool repeats = false);
  Value loadScalar(const Access &access, const Position &position);
  // The number of vectors from which lanes at a short stride are taken; 0 for another stride, whose lanes are loaded
  // one by one. The parts of complex numbers lie so.
  static int64_t loadsOf(const Extent &stride);
  // Prefetches the cache line of the first element. `forStore`: it will be stored to. The address may lie beyond the
  // buffer.
  void prefetch(const Access &access, const Position &position, bool forStore = false);
  void store(const Access &access, const Position &position, Value value, const Number &valid);
  // Emits the body for the inputs' elements at a position and the given elements of the outputs. Returns what it
  // yields.
  llvm::SmallVector<Value> body(const Position &position, mlir::ValueRange outputs, const Number &valid);
  // The value that the body combines with an output's element at a position: the other operand of `combiner`.
  Value contribution(const Position &position, mlir::Operation *combiner, const Number &valid);
  // Emits the same operation as `operation` on two operands of the builder's types.
  Value apply(mlir::Operation *operation, Value a, Value b);
  // Combines all lanes in a fixed tree.
  Value horizontal(mlir::Operation *combiner, Value vector);
  // Joins several vectors into one. Their number is a power of two.
  Value concatenate(llvm::SmallVector<Value> parts);
  // Transposes squares that lie side by side in the vectors. There are as many vectors as a square has rows.
  void transpose(llvm::SmallVectorImpl<Value> &squares);
  Value mask(const Number &valid);

  // for (i = from; i < to; i += step) with loop-carried values; returns the last ones.
  using LoopBody = llvm::function_ref<llvm::SmallVector<Value>(Value index, mlir::ValueRange carried)>;
  llvm::SmallVector<Value> loop(Value from, Value to, const Number &step, mlir::ValueRange carried, LoopBody body);
  // The same over [0, extent), unrolled where the extent is small.
  llvm::SmallVector<Value> loop(const Number &extent, int64_t step, mlir::ValueRange carried, LoopBody body);
  // Emits `body` under a condition. Returns its results, or the carried values if the condition is false.
  llvm::SmallVector<Value> onlyIf(Value condition, mlir::ValueRange carried,
                                  llvm::function_ref<llvm::SmallVector<Value>(mlir::ValueRange carried)> body);
  void onlyIf(Value condition, llvm::function_ref<void()> body);
  void either(Value condition, llvm::function_ref<void()> ifTrue, llvm::function_ref<void()> ifFalse);
  // A loop whose iterations are independent. It uses the pool's threads if its estimated work, with `cycles` * `times`
  // cycles for one iteration, is large enough. The pieces follow from these numbers alone.
  void parallel(const Number &extent, double cycles, const Number &times, llvm::function_ref<void(Value index)> body);

  // A sum and what its last addition rounded away.
  struct ExactSum {
    Value sum, error;
    Value total(VectorBuilder &v) const;
  };
  // Adds a term and the last error (Kahan: Further remarks on reducing truncation errors, 1965). The error of an
  // addition is a float itself (Knuth: The Art of Computer Programming, volume 2, section 4.2.2, theorem B). An error
  // that is NaN counts as none: the sum is infinite or NaN then.
  ExactSum add(const ExactSum &sum, Value term);

  // Inputs whose elements are in a register already, by their numbers: `body` does not load them.
  llvm::SmallDenseMap<unsigned, Value> given;

  mlir::OpBuilder &b;
  const Nest &nest;
  mlir::Location location;
  unsigned vectorLoop;
  int64_t lanes;

private:
  static constexpr int64_t kMostLoads = 4;
  Value loadStrided(const Access &access, const Position &position, mlir::VectorType type);
  void storeStrided(const Access &access, const Position &position, Value value);
  // Emits the operations of the body without `except`.
  mlir::IRMapping emitBody(const Position &position, mlir::ValueRange outputs, const Number &valid,
                           mlir::Operation *except);
  Value mapped(const mlir::IRMapping &mapping, Value value);
  // The value of a loop's index in the first lane.
  Value scalarIndex(mlir::linalg::IndexOp op, const Position &position);
  // Whether a value of the body is the same in all lanes.
  bool isUniform(Value value);
  // Reads a buffer at indices that the body has computed: a vector if the lanes' elements are adjacent, else one
  // element for each lane.
  Value read(mlir::memref::LoadOp op, const mlir::IRMapping &mapping, const Position &position, const Number &valid);

  std::optional<llvm::SmallDenseSet<Value, 8>>
      varying; // the values that differ from lane to lane, once they are asked for
};

inline constexpr unsigned kNoLoop = VectorBuilder::kNoLoop;

} // namespace calque::codegen
#endif
