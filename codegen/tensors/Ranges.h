// Which numbers the elements of integer tensors can be, as far as the operations that compute them say.
#ifndef CALQUE_CODEGEN_TENSORS_RANGES_H
#define CALQUE_CODEGEN_TENSORS_RANGES_H

#include "mlir/IR/Value.h"

#include "llvm/ADT/DenseMap.h"

#include <cstdint>

namespace calque::codegen {

// All integers from `least` to `most`.
struct Range {
  int64_t least, most;

  bool isIn(const Range &other) const { return other.least <= least && most <= other.most; }
  bool operator==(const Range &) const = default;
};

class Ranges {
public:
  // The range of a tensor's elements, or of a number, that have 32 bits. It has a sign.
  Range of(mlir::Value value) { return of(value, 0); }

private:
  Range of(mlir::Value value, unsigned depth);
  Range compute(mlir::Value value, unsigned depth);

  llvm::DenseMap<mlir::Value, Range> known;
};

} // namespace calque::codegen
#endif
