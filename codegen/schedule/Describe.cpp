// Describes what a nest does and what it costs, for tables.
#include "codegen/schedule/Kernels.h"
#include "codegen/schedule/ScalarFunctions.h"
#include "ir/ElementType.h"
#include "ir/Opaque.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace mlir;

namespace calque::codegen {

std::string describeLoops(const Nest &nest) {
  std::string result;
  llvm::raw_string_ostream stream(result);
  for (unsigned loop = 0; loop < nest.numLoops(); ++loop) {
    stream << (loop ? " x " : "") << (nest.isReduction[loop] ? "(" : "");
    nest.extents[loop].isKnown() ? stream << *nest.extents[loop].known() : stream << "?";
    stream << (nest.isReduction[loop] ? ")" : "");
  }
  return result;
}

std::string describe(const Nest &nest) {
  std::string result = describeLoops(nest);
  llvm::raw_string_ostream stream(result);
  stream << (nest.numLoops() ? ": " : "1: ");
  constexpr size_t kMost = 8;
  size_t count = 0;
  for (Operation &op : nest.body->without_terminator()) {
    if (isa<arith::ConstantOp>(op) || ir::isOpaque(&op))
      continue;
    if (count < kMost)
      stream << (count ? " " : "") << (isDotOfWords(op) ? dotOfWords(op) : op.getName().stripDialect());
    ++count;
  }
  if (count > kMost)
    stream << " and " << count - kMost << " more";
  if (!count)
    stream << "copy";
  return result;
}

int64_t operationsOf(const Nest &nest) {
  if (!nest.isKnown())
    return 0;
  auto perIteration = llvm::count_if(nest.body->without_terminator(), [](Operation &op) {
    return !isa<arith::ConstantOp>(op) && !ir::isOpaque(&op) &&
           llvm::any_of(op.getOperandTypes(), [](Type type) { return isa<FloatType>(type); });
  });
  int64_t iterations = *nest.iterations().known();
  for (const Border &border : nest.borders) {
    int64_t results = *nest.extents[border.results].known() / border.unitOfResults,
            terms = *nest.extents[border.terms].known() / border.unit;
    // The iterations of both loops in which the other operand meets zeros are two triangles, cut off where a loop ends.
    auto triangle = [&](int64_t side) {
      auto half = [](int64_t n) { return n > 0 ? n * (n + 1) / 2 : 0; };
      return half(side) - half(side - results) - half(side - terms) + half(side - results - terms);
    };
    int64_t both = results * terms, zeros = std::min(triangle(border.low) + triangle(border.high), both);
    iterations = both ? iterations / both * (both - zeros) : 0;
  }
  return iterations * perIteration;
}

int64_t bytesTouched(const Nest &nest, const Access &access) {
  if (!access.isBuffer || !nest.isKnown())
    return 0;
  Extent reached = 1;
  for (unsigned loop = 0; loop < nest.numLoops(); ++loop)
    if (access.varies(loop))
      reached = reached * nest.extents[loop];
  int64_t elements = *reached.known();
  // Windows that overlap reach an element several times.
  auto type = cast<MemRefType>(rootBuffer(access.value).getType());
  if (type.hasStaticShape() && type.getNumElements() > 1)
    elements = std::min(elements, type.getNumElements());
  return elements * ir::ElementType(access.element).bytes();
}

} // namespace calque::codegen
