#include "codegen/schedule/CostModel.h"
#include "codegen/schedule/Kernels.h"
#include "codegen/schedule/ScalarFunctions.h"
#include "ir/Opaque.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <algorithm>

using namespace mlir;

namespace calque::codegen {

namespace {

// Whether an operation takes no time: constants are in registers, and opaque values are removed.
bool isFree(Operation &op) { return isa<arith::ConstantOp, linalg::IndexOp>(op) || ir::isOpaque(&op); }
bool isFunction(Operation &op) {
  return op.getDialect()->getNamespace() == "math" || (isScalarFunction(op) && !isDotOfWords(op));
}

} // namespace

double cyclesOfBody(const Nest &nest, const Target &target) {
  double cycles = target.addition;
  for (Operation &op : nest.body->without_terminator())
    if (!isFree(op))
      cycles += isa<arith::RemFOp>(op)                                   ? target.remainder
                : isFunction(op)                                         ? target.function
                : isa<memref::LoadOp>(op)                                ? target.read
                : isa<arith::DivFOp, arith::DivSIOp, arith::RemSIOp>(op) ? target.quotient
                                                                         : target.addition;
  for (const auto *accesses : {&nest.inputs, &nest.outputs})
    for (const Access &access : *accesses)
      if (access.isBuffer)
        cycles += target.operand; // most operands are not in the first cache
  return cycles;
}

double cyclesOfBody(linalg::LinalgOp op, const Target &target) {
  double cycles = target.addition + target.operand * op->getNumOperands();
  for (Operation &each : op.getBlock()->without_terminator())
    if (!isFree(each))
      cycles += isFunction(each)                           ? target.function
                : isa<memref::LoadOp>(each)                ? target.read
                : isa<arith::DivFOp, arith::DivSIOp>(each) ? target.quotient
                                                           : target.addition;
  return cycles;
}

double cyclesOfStoring(Operation &op, const Target &target) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return 8 * target.addition * static_cast<double>(Extent(OpFoldResult(loop.getUpperBound())).guess());
  return isa<memref::LoadOp, memref::StoreOp>(op) ? target.operand : target.addition;
}

double cyclesOfProducts(int64_t rows, int64_t columns, double least, double ofColumn, const Target &target) {
  auto products = static_cast<double>(rows * columns), operands = static_cast<double>(rows + columns);
  return std::max(
      {products / target.multiplyAdds, operands / target.loads + 0.5, least, ofColumn * static_cast<double>(columns)});
}

int64_t TileCost::bytesOfPanel(int64_t vectors, const Target &target) {
  // Reading a narrow panel takes so long that the second cache can bring what does not fit into the first.
  return vectors <= 2 ? target.l1Bytes : target.l1Bytes * 5 / 8;
}

bool TileCost::fits(int64_t rows, int64_t vectors, const Target &target) {
  return rows * vectors + vectors + 1 <= target.vectorRegisters;
}

bool TileCost::fitsWithRuns(int64_t rows, int64_t vectors, const Target &target) {
  return 2 * rows * vectors + vectors + 1 <= target.vectorRegisters;
}

double TileCost::ofAll(int64_t vectors, int64_t r, int64_t n) const {
  int64_t block = std::clamp<int64_t>(bytesOfPanel(n, target) / (n * bytesOfVector), 1, terms);
  int64_t blocks = (terms + block - 1) / block;
  // The panels of windows with many terms do not fit into the first cache.
  double ofVector =
      least * n * bytesOfVector > target.l1Bytes ? static_cast<double>(bytesOfVector) / target.bytesOfL2 : 0;
  // If registers do not hold the sums of runs, the sums are loaded and stored once for each run. The sums of a block
  // pass through memory.
  double ofRuns = inRuns ? (fitsWithRuns(r, n, target) ? 0.5 : 1.5) / kProductRun : 0;
  double ofBlocks = blocks > 1 ? 1.5 / static_cast<double>(block) : 0;
  auto ofTile = [&](int64_t tileRows, int64_t tileVectors) -> double {
    if (!tileRows || !tileVectors)
      return 0;
    auto sums = static_cast<double>(tileRows * tileVectors);
    // Rows that are left over need a tile of their own, which takes as long to compile.
    return cyclesOfProducts(tileRows, tileVectors, target.latency + (rows % r ? 1.5 : 1), ofVector, target) +
           (ofRuns + ofBlocks) * sums;
  };
  return static_cast<double>(rows / r) * (static_cast<double>(vectors / n) * ofTile(r, n) + ofTile(r, vectors % n)) +
         static_cast<double>(vectors / n) * ofTile(rows % r, n) + ofTile(rows % r, vectors % n);
}

double cyclesOfDots(int64_t rows, int64_t columns, int64_t vectors, double ofLoad, const Target &target) {
  constexpr double kLanesOfSum = 6;
  if (!rows || !columns)
    return 0;
  return cyclesOfProducts(rows, columns, target.latency, ofLoad, target) * static_cast<double>(vectors) +
         kLanesOfSum * static_cast<double>(rows * columns);
}

double cyclesOfCopiedElement(bool isStrided) { return isStrided ? 2.5 : 0.25; }

} // namespace calque::codegen
