// The base class of the checks of plans. It checks the loops, tiles and numbers that a plan names. Each error is at the
// nest's operation, and says what is wrong.
#ifndef CALQUE_CODEGEN_SCHEDULE_PLANCHECK_H
#define CALQUE_CODEGEN_SCHEDULE_PLANCHECK_H

#include "codegen/schedule/Plans.h"

namespace calque::codegen {

inline llvm::ArrayRef<int64_t> numbersOf(mlir::DenseI64ArrayAttr list) {
  return list ? list.asArrayRef() : llvm::ArrayRef<int64_t>();
}

// The base class of the checks of plans.
class PlanCheck {
public:
  PlanCheck(const Nest &nest, const Target &target) : nest(nest), target(target) {}

protected:
  // Sets a loop of a plan to one of the nest's.
  mlir::LogicalResult takeLoop(llvm::StringRef role, int64_t number, unsigned &loop) const {
    if (number < 0 || number >= nest.numLoops())
      return nest.op->emitOpError("plan: ")
             << role << " names loop " << number << ", and the nest has " << nest.numLoops() << " loops";
    loop = static_cast<unsigned>(number);
    return mlir::success();
  }
  mlir::LogicalResult takeLoop(llvm::StringRef role, std::optional<int64_t> number, unsigned &loop) const {
    loop = kNoLoop;
    return number ? takeLoop(role, *number, loop) : mlir::success();
  }
  template <typename Loops>
  mlir::LogicalResult takeLoops(llvm::StringRef role, mlir::DenseI64ArrayAttr numbers, Loops &loops) const {
    for (int64_t number : numbersOf(numbers)) {
      loops.push_back({});
      if (mlir::failed(takeLoop(role, number, loops.back())))
        return mlir::failure();
    }
    return mlir::success();
  }
  // Takes two positive numbers.
  mlir::LogicalResult takeTile(mlir::DenseI64ArrayAttr sizes, int64_t &rows, int64_t &columns) const {
    if (sizes.size() != 2)
      return nest.op->emitOpError("plan: a tile has two sizes, not ") << sizes.size();
    rows = sizes[0];
    columns = sizes[1];
    return mlir::success(mlir::succeeded(atLeast(1, "the rows of a tile", rows)) &&
                         mlir::succeeded(atLeast(1, "the columns of a tile", columns)));
  }
  mlir::LogicalResult atLeast(int64_t least, llvm::StringRef what, std::optional<int64_t> number) const {
    if (number && *number < least)
      return nest.op->emitOpError("plan: ") << what << " must be at least " << least << ", not " << *number;
    if (number && *number > kMost)
      return nest.op->emitOpError("plan: ") << what << " must be at most " << kMost << ", not " << *number;
    return mlir::success();
  }
  // `least`: 1 if a plan may have scalars instead of vectors.
  mlir::LogicalResult checkLanes(int64_t lanes, int64_t least = 2) const {
    int64_t most = KernelContext::lanesFor(nest, target);
    if (lanes < least || lanes > most || !llvm::isPowerOf2_64(static_cast<uint64_t>(lanes)))
      return nest.op->emitOpError("plan: ")
             << lanes << " lanes are no vector of these elements; on " << runtime::nameOf(target.cpu)
             << " one has a power of two of them, up to " << most;
    return mlir::success();
  }
  mlir::LogicalResult checkRegisters(int64_t rows, int64_t columns, int64_t registers) const {
    if (registers > target.vectorRegisters)
      return nest.op->emitOpError("plan: ")
             << "a tile of " << rows << " x " << columns << " takes " << registers << " registers, and "
             << runtime::nameOf(target.cpu) << " has " << target.vectorRegisters;
    return mlir::success();
  }
  // The estimate decides how much of a loop a thread takes at a time.
  mlir::LogicalResult takeCycles(plan::Cycles estimate, double &cycles) const {
    cycles = estimate.value;
    if (!(cycles >= 1e-9 && cycles <= 1e9))
      return nest.op->emitOpError("plan: cycles are an estimate from 1e-9 to 1e9, not ") << cycles;
    return mlir::success();
  }
  mlir::LogicalResult checkProducts() const {
    if (!isSumOfProducts(nest) || !nest.hasReduction())
      return nest.op->emitOpError("plan: the operation is no sum of products");
    return mlir::success();
  }
  bool isKnown(unsigned loop) const { return nest.extents[loop].isKnown(); }

  // Larger numbers could overflow when they are multiplied.
  static constexpr int64_t kMost = int64_t(1) << 31;
  const Nest &nest;
  const Target &target;
};

} // namespace calque::codegen
#endif
