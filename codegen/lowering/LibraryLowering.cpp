// Operations that a kernel of a library computes, called as runtime/libraries/KernelCall.h says.
#include "codegen/lowering/Lowering.h"
#include "codegen/plan/ProgramAttributes.h"
#include "ir/Signs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace calque::codegen {

namespace {

class LibraryCall {
public:
  LibraryCall(LinalgBuilder &b, ir::LibraryOpInterface op, LoweringContext &context)
      : b(b), op(op), context(context), kernel(op.libraryKernel()) {}

  Lowered lower() {
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      checkSizes(i);
    for (auto [result, dimensions] : llvm::zip_equal(op->getResults(), kernel.results))
      addKnownSizes(cast<RankedTensorType>(result.getType()), dimensions);
    auto isEmpty = [&](auto each) { return constantOf(b.sizes.product(movedSizes(std::get<1>(each)))) == 0; };
    if (llvm::all_of(llvm::zip_equal(op->getResults(), kernel.results), isEmpty))
      return emptyResults();
    if (!kernel.failsAt.empty())
      words.push_back(context.frame);
    for (const char *site : kernel.failsAt)
      addWord(context.addSite(*siteKindNamed(site), op));
    words.push_back(b.valueOf(b.sizes.product(examples)));
    for (auto [i, dimensions] : llvm::enumerate(kernel.operands))
      addTensor(ir::dtypeOfOperand(op, i), sizesOf(ArrayRef(dimensions)), b.flatten(axisLast(op->getOperand(i))));
    SmallVector<Value> buffers;
    for (auto [i, dimensions] : llvm::enumerate(kernel.results)) {
      buffers.push_back(allocate(elementOf(op->getResult(i)), b.sizes.product(movedSizes(dimensions))));
      addTensor(ir::dtypeOfResult(op, i), sizesOf(ArrayRef(dimensions)), buffers.back());
    }
    for (int64_t word : op.libraryWords())
      addWord(word);
    func::CallOp::create(b.builder, b.location, context.runtimeKernel(kernel.function, ValueRange(words).getTypes()),
                         words);
    SmallVector<Value> results;
    for (auto [buffer, dimensions] : llvm::zip_equal(buffers, kernel.results))
      results.push_back(axisBack(tensorOf(buffer, movedSizes(dimensions))));
    return results;
  }

private:
  //===-- The axis, which is the kernel's last dimension ------------------------------------------===//

  // The dimensions of a tensor of this rank as the kernel has them.
  SmallVector<int64_t> order(int64_t rank) const {
    SmallVector<int64_t> dimensions = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    if (std::optional<int64_t> axis = op.libraryAxis()) {
      auto *at = dimensions.begin() + normalAxis(*axis, rank);
      std::rotate(at, at + 1, dimensions.end());
    }
    return dimensions;
  }
  bool isMoved(int64_t rank) const { return !llvm::is_sorted(order(rank)); }

  Value copied(Value value, ArrayRef<Size> sizes, ArrayRef<AffineExpr> map) {
    return b.parallel(sizes, elementOf(value), {value}, {AffineMap::get(map.size(), 0, map, b.builder.getContext())},
                      [](ir::ScalarBuilder &, ValueRange v) { return v[0]; });
  }
  Value axisLast(Value value) {
    SizeList sizes = b.sizesOf(value), moved;
    if (!isMoved(static_cast<int64_t>(sizes.size())))
      return value;
    SmallVector<AffineExpr> map(sizes.size());
    for (int64_t dimension : order(static_cast<int64_t>(sizes.size()))) {
      map[dimension] = b.builder.getAffineDimExpr(moved.size());
      moved.push_back(sizes[dimension]);
    }
    return copied(value, moved, map);
  }
  Value axisBack(Value value) {
    SizeList moved = b.sizesOf(value), sizes(moved);
    if (!isMoved(static_cast<int64_t>(moved.size())))
      return value;
    SmallVector<AffineExpr> map;
    for (int64_t dimension : order(static_cast<int64_t>(moved.size()))) {
      sizes[dimension] = moved[map.size()];
      map.push_back(b.builder.getAffineDimExpr(dimension));
    }
    return copied(value, sizes, map);
  }

  //===-- Sizes -----------------------------------------------------------------------------------===//

  // The sizes of an operand are those that operands before it have. Else the call fails before it begins.
  void checkSizes(unsigned operand) {
    SmallVector<int64_t> dimensions = order(LinalgBuilder::rankOf(op->getOperand(operand)));
    ArrayRef<unsigned> own = kernel.operands[operand];
    for (auto [at, dimension] : llvm::enumerate(dimensions)) {
      Sizes::Named found = b.sizes.named(op, operand, dimension);
      const size_t numExamples = dimensions.size() - own.size();
      auto &known = at < numExamples ? exampleSizes : kernelSizes;
      const auto number = static_cast<unsigned>(at < numExamples ? at : own[at - numExamples]);
      if (auto [place, isNew] = known.try_emplace(number, found); !isNew)
        place->second.size = context.equal(op, found, place->second);
    }
    if (operand + 1 == op->getNumOperands())
      examples = llvm::map_to_vector(exampleSizes, [](const auto &each) { return each.second.size; });
  }

  // The sizes of a result that no operand has.
  void addKnownSizes(RankedTensorType result, ArrayRef<ir::LibraryKernel::Size> own) {
    SmallVector<int64_t> shape;
    for (int64_t dimension : order(result.getRank()))
      shape.push_back(result.getDimSize(dimension));
    for (auto [size, known] : llvm::zip_equal(own, ArrayRef(shape).take_back(own.size())))
      if (!kernelSizes.contains(size.number))
        kernelSizes[size.number].size = b.sizes.constant(known);
  }

  SizeList sizesOf(ArrayRef<unsigned> dimensions) const {
    return llvm::map_to_vector(dimensions, [&](unsigned number) { return kernelSizes.at(number).size; });
  }
  SizeList sizesOf(ArrayRef<ir::LibraryKernel::Size> dimensions) const {
    return llvm::map_to_vector(dimensions, [&](ir::LibraryKernel::Size size) {
      Size first = kernelSizes.at(size.number).size;
      return size.number == size.other ? first : b.sizes.minimum(first, kernelSizes.at(size.other).size);
    });
  }
  template <typename Dimensions> SizeList movedSizes(const Dimensions &dimensions) const {
    SizeList sizes = examples;
    llvm::append_range(sizes, sizesOf(ArrayRef(dimensions)));
    return sizes;
  }

  //===-- Words and buffers -----------------------------------------------------------------------===//

  void addWord(int64_t value) {
    words.push_back(arith::ConstantOp::create(b.builder, b.location, b.builder.getI64IntegerAttr(value)));
  }
  void addTensor(DType dtype, const SizeList &sizes, Value elements) {
    addWord(static_cast<int64_t>(dtype));
    for (Size size : sizes)
      words.push_back(b.valueOf(size));
    words.push_back(elements);
  }
  Value allocate(Type element, Size count) {
    std::optional<int64_t> known = constantOf(count);
    auto type = MemRefType::get({known.value_or(ShapedType::kDynamic)}, element);
    SmallVector<Value> unknown;
    if (!known)
      unknown.push_back(b.valueOf(count));
    return memref::AllocOp::create(b.builder, b.location, type, unknown);
  }
  Value tensorOf(Value buffer, ArrayRef<Size> sizes) {
    auto type = cast<MemRefType>(buffer.getType());
    auto flat = RankedTensorType::get(type.getShape(), type.getElementType());
    Value tensor = bufferization::ToTensorOp::create(b.builder, b.location, flat, buffer, /*restrict=*/true,
                                                     /*writable=*/true);
    b.sizes.set(tensor, {b.sizes.product(sizes)});
    return b.reshape(tensor, sizes);
  }
  Lowered emptyResults() {
    SmallVector<Value> results;
    for (auto [result, dimensions] : llvm::zip_equal(op->getResults(), kernel.results))
      results.push_back(axisBack(b.empty(movedSizes(dimensions), elementOf(result))));
    return results;
  }

  LinalgBuilder &b;
  mutable ir::LibraryOpInterface op; // whose methods are not const
  LoweringContext &context;
  const ir::LibraryKernel &kernel;
  // By their numbers: the dimensions that count examples, and those of the signature.
  std::map<unsigned, Sizes::Named> exampleSizes, kernelSizes;
  SizeList examples;
  SmallVector<Value> words;
};

} // namespace

Lowered lower(LinalgBuilder &b, ir::LibraryOpInterface op, LoweringContext &context) {
  return LibraryCall(b, op, context).lower();
}

} // namespace calque::codegen
