// Which numbers the elements of integer tensors can be, as far as the operations that compute them say.
#ifndef CALQUE_CODEGEN_TENSORS_RANGES_H
#define CALQUE_CODEGEN_TENSORS_RANGES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include "llvm/ADT/DenseMap.h"

#include <cstdint>

namespace calque::codegen {

// All integers from `least` to `most`.
struct Range {
  int64_t least, most;

  // All integers of a type with up to 31 bits.
  static constexpr Range ofBits(unsigned bits, bool hasSign) {
    return hasSign ? Range{-(int64_t(1) << (bits - 1)), (int64_t(1) << (bits - 1)) - 1}
                   : Range{0, (int64_t(1) << bits) - 1};
  }
  bool isIn(const Range &other) const { return other.least <= least && most <= other.most; }
  bool operator==(const Range &) const = default;
};

// Whether a value, or the elements of a tensor, are integers of 32 bits.
bool isInt32(mlir::Value value);

class Ranges {
public:
  // The range of a tensor's elements, or of a number, that have 32 bits. It has a sign.
  Range of(mlir::Value value) { return of(value, 0); }
  // The same for a value in the body of an elementwise operation.
  Range in(mlir::linalg::GenericOp op, mlir::Value value) { return in(op, value, 0); }

private:
  Range of(mlir::Value value, unsigned depth);
  Range in(mlir::linalg::GenericOp op, mlir::Value value, unsigned depth);
  Range compute(mlir::Value value, unsigned depth);

  llvm::DenseMap<mlir::Value, Range> known;
};

} // namespace calque::codegen
#endif
