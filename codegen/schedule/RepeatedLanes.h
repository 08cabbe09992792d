// Values of a nest's body that are the same in some adjacent lanes: the quotient of the vector loop's index and a small
// constant, and what follows from it alone. The blocks of random numbers are such values, each for 2 or 4 numbers. They
// are computed in vectors with one lane for each of them.
//
//   %block = arith.divui %place, %c4        // 16 lanes: 0 0 0 0 1 1 1 1 ...
//   %word = arith.muli %block, %factor
// becomes
//   %first = vector.shuffle %place [0, 4, 8, 12]
//   %block = arith.divui %first, %c4        // 4 lanes
//   %word = arith.muli %block, %factor
// and where a value that differs in each lane takes %word, it is spread over 16 lanes.
#ifndef CALQUE_CODEGEN_SCHEDULE_REPEATEDLANES_H
#define CALQUE_CODEGEN_SCHEDULE_REPEATEDLANES_H

#include "codegen/schedule/VectorBuilder.h"

namespace calque::codegen {

class RepeatedLanes {
public:
  using Value = mlir::Value;
  using Uniform = llvm::function_ref<bool(Value)>;

  // Of the body of a builder's nest at a position. `isUniform`: whether a value of the body is the same in all lanes.
  RepeatedLanes(VectorBuilder &v, const Position &position, Uniform isUniform)
      : v(v), position(position), isUniform(isUniform) {}

  // Emits an operation of the body for fewer lanes, and returns true, if its operands are there for fewer. `mapping`
  // has the values that are there for all lanes.
  bool take(mlir::Operation &op, mlir::IRMapping &mapping);
  // Adds the operands of an operation to those that are there for all lanes.
  void spread(mlir::Operation &op, mlir::IRMapping &mapping);

private:
  bool isRun(Value value, int64_t count);
  bool isMultiple(Value value, int64_t count);
  Value picked(Value value, const mlir::IRMapping &mapping);
  bool takeQuotient(mlir::Operation &op, mlir::IRMapping &mapping);

  VectorBuilder &v;
  const Position &position;
  Uniform isUniform;
  int64_t every = 0;                      // so many adjacent lanes are the same
  mlir::IRMapping narrow;                 // the values that are there for fewer lanes, uniform ones too
  llvm::SmallDenseSet<Value, 8> repeated; // those of them that are not there for all
};

} // namespace calque::codegen
#endif
