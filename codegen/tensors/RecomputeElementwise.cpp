// Computes cheap elementwise results again where they are read, where that moves fewer bytes than to write them once
// and read them from memory.
#include "codegen/Passes.h"
#include "codegen/lowering/Constants.h"
#include "ir/ElementType.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace calque::codegen {

#define GEN_PASS_DEF_RECOMPUTEELEMENTWISE
#include "codegen/Passes.h.inc"

namespace {

// A few instructions on vectors take less time than to read their result from the second cache. What is computed of two
// tensors is written to memory otherwise, and read from there.
constexpr size_t kMostOperations = 6, kMostOfTwo = 8;
constexpr int64_t kFewestInVector = 16;
// An image of this size stays in the second cache between what computes it and the windows that read it.
constexpr int64_t kMostOfImage = 256 << 10;

bool isCheap(Operation &op) {
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp, arith::MaximumFOp, arith::MinimumFOp,
             arith::CmpFOp, arith::CmpIOp, arith::SelectOp, arith::AddIOp, arith::SubIOp, arith::ExtFOp,
             arith::TruncFOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op);
}

// Constants are operations before the body, and in it.
size_t operationsIn(linalg::GenericOp op) {
  return static_cast<size_t>(llvm::count_if(op.getBody()->without_terminator(),
                                            [](Operation &each) { return !isa<arith::ConstantOp>(each); }));
}

// An elementwise operation whose loops are those of its result.
bool isElementwise(linalg::GenericOp op) {
  return op->getNumResults() == 1 && op.hasPureTensorSemantics() && !op.getNumReductionLoops() &&
         op.getIndexingMapMatchingResult(op->getResult(0)).isPermutation() &&
         !op.payloadUsesValueFromOperand(op.getDpsInitOperand(0));
}

// What an operation computes of one or two tensors of its own shape, and of others that are small, as of a mean.
struct Recomputed {
  llvm::SmallSetVector<Value, 2> sources;
  size_t operations = 0;                      // those of producers that go along included
  llvm::SmallVector<linalg::GenericOp> along; // the producers, which nothing else reads
};

class Recomputation {
public:
  explicit Recomputation(Block &block) : block(block) {}

  // Returns how many operations have been computed again in all that read them.
  int64_t run() {
    int64_t count = 0;
    for (linalg::GenericOp op : llvm::to_vector(block.getOps<linalg::GenericOp>()))
      count += visit(op);
    return count;
  }

private:
  bool visit(linalg::GenericOp op) {
    std::optional<Recomputed> found = recomputed(op);
    if (!found)
      return false;
    cheap.try_emplace(op, *found);
    if (found->sources.empty() || found->operations == 0)
      return false;
    llvm::SetVector<Operation *> readers;
    for (OpOperand &use : op->getResult(0).getUses()) {
      if (!reads(use, op) && !(found->sources.size() == 1 && readsImages(use)))
        return false;
      readers.insert(use.getOwner());
    }
    if (readers.size() < 2 || !sparesBytes(op, found->sources.getArrayRef(), readers.getArrayRef()))
      return false;
    for (Operation *reader : readers)
      cloneInto(reader, op);
    erase(op);
    return true;
  }

  // Whether a use computes each of its iterations of one element of what it reads.
  bool reads(OpOperand &use, linalg::GenericOp producer) const {
    auto reader = dyn_cast<linalg::GenericOp>(use.getOwner());
    if (!reader || !reader.hasPureTensorSemantics() || reader->getBlock() != producer->getBlock() ||
        !reader.isDpsInput(&use) || operationsIn(reader) == 0)
      return false;
    // A product has a better way to read its operands.
    auto inputs = reader.getNumReductionLoops() ? reader.getDpsInputOperands() : llvm::SmallVector<OpOperand *>{&use};
    return llvm::all_of(inputs, [&](OpOperand *input) { return reader.getMatchingIndexingMap(input).isPermutation(); });
  }

  // Whether a use reads windows of images, as pooling and its gradient do. It is not fused with what computes them, but
  // becomes a kernel with it that has one image at a time.
  static bool readsImages(OpOperand &use) {
    Value images = use.get();
    Operation *owner = use.getOwner();
    for (; isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(owner) && isReadByOne(owner) && !owner->use_empty();
         owner = *owner->user_begin())
      images = owner->getResult(0);
    auto reader = dyn_cast<linalg::GenericOp>(owner);
    auto computed = cast<RankedTensorType>(use.get().getType()), read = cast<RankedTensorType>(images.getType());
    if (!reader || !reader.hasPureTensorSemantics() || reader->getBlock() != use.getOwner()->getBlock() ||
        reader->getNumResults() != 1 || operationsIn(reader) == 0 || !computed.hasStaticShape() ||
        !read.hasStaticShape() || computed.getRank() < 2)
      return false;
    const int64_t count = computed.getDimSize(0);
    if (count < 2 || read.getDimSize(0) != count ||
        computed.getNumElements() / count * ir::ElementType(images).bytes() > kMostOfImage)
      return false;
    AffineMap ofResult = reader.getIndexingMapMatchingResult(reader->getResult(0));
    return ofResult.getNumResults() > 0 && llvm::all_of(reader.getDpsInputOperands(), [&](OpOperand *input) {
             // A product has a better way to read its operands.
             if (input->get() != images)
               return !reader.getNumReductionLoops() || !reader.payloadUsesValueFromOperand(input);
             AffineExpr image = reader.getMatchingIndexingMap(input).getResult(0);
             return isa<AffineDimExpr>(image) && image == ofResult.getResult(0);
           });
  }

  static bool sparesBytes(linalg::GenericOp op, ArrayRef<Value> sources, ArrayRef<Operation *> readers) {
    auto count = static_cast<int64_t>(readers.size());
    int64_t in = 0, out = ir::ElementType(op->getResult(0)).bytes();
    for (Value source : sources)
      in += ir::ElementType(source).bytes();
    if (sources.size() == 1)
      return count * in < in + out + count * out;
    // Readers that end in one pass need no memory for what they share. A sum over all rows ends before what reads it.
    if (llvm::none_of(readers, [&](Operation *reader) { return sumsRows(lastOf(reader)); }))
      return false;
    int64_t again = 0;
    for (Operation *reader : readers)
      for (Value source : sources)
        again += isReadBy(lastOf(reader), source, op) ? 0 : ir::ElementType(source).bytes();
    return again < in + out + (count - 1) * out;
  }

  // The operation that a reader is fused with, at the end of what follows it.
  static linalg::GenericOp lastOf(Operation *reader) {
    constexpr int kFar = 16;
    auto last = cast<linalg::GenericOp>(reader);
    for (int i = 0; i < kFar && isElementwise(last) && isReadByOne(last); ++i) {
      auto next = last->use_empty() ? nullptr : dyn_cast<linalg::GenericOp>(*last->user_begin());
      if (!next || next->getBlock() != last->getBlock())
        break;
      last = next;
    }
    return last;
  }

  static bool sumsRows(linalg::GenericOp op) {
    return op.getNumReductionLoops() && op.getNumParallelLoops() &&
           op.getIteratorTypesArray().front() == utils::IteratorType::reduction;
  }

  // Whether an operation, or what is fused with it, reads a tensor by another way than `but`.
  static bool isReadBy(linalg::GenericOp last, Value source, linalg::GenericOp but) {
    constexpr size_t kMany = 32;
    llvm::SmallSetVector<Operation *, 8> fused;
    fused.insert(last);
    for (size_t i = 0; i < fused.size() && i < kMany; ++i)
      for (Value input : cast<linalg::GenericOp>(fused[i]).getDpsInputs()) {
        if (input == source)
          return true;
        auto producer = input.getDefiningOp<linalg::GenericOp>();
        if (producer && producer != but && isElementwise(producer) && isReadByOne(producer))
          fused.insert(producer);
      }
    return false;
  }

  std::optional<Recomputed> recomputed(linalg::GenericOp op) const {
    if (!isElementwise(op) || !getElementTypeOrSelf(op->getResult(0)).isIntOrFloat() ||
        !llvm::all_of(op.getBody()->without_terminator(),
                      [](Operation &each) { return isCheap(each) || isa<arith::ConstantOp>(each); }))
      return std::nullopt;
    Recomputed result;
    result.operations = operationsIn(op);
    for (OpOperand *input : op.getDpsInputOperands()) {
      if (isSmall(op, input))
        continue;
      if (operationsIn(op) == 0) // a copy
        return std::nullopt;
      // Read across the direction of the result, it would be slow to read in each reader.
      if (op.getMatchingIndexingMap(input) != op.getIndexingMapMatchingResult(op->getResult(0)))
        return std::nullopt;
      // What is read by this operation alone is fused with it: it goes along, or the other readers would need it in
      // memory.
      auto producer = input->get().getDefiningOp<linalg::GenericOp>();
      if (producer && isReadByOne(producer) && isElementwise(producer)) {
        auto before = cheap.find(producer);
        if (before == cheap.end())
          return std::nullopt;
        if (llvm::is_contained(result.along, producer))
          continue;
        result.operations += before->second.operations;
        result.sources.insert_range(before->second.sources);
        result.along.push_back(producer);
        continue;
      }
      // An argument may be a variable, which is written in place if nothing reads it any more.
      if (!input->get().getDefiningOp())
        return std::nullopt;
      result.sources.insert(input->get());
    }
    if (result.sources.size() > 2 || result.operations > (result.sources.size() == 2 ? kMostOfTwo : kMostOperations))
      return std::nullopt;
    return result;
  }

  static bool isReadByOne(Operation *op) {
    return llvm::all_equal(llvm::map_range(op->getUses(), [](OpOperand &use) { return use.getOwner(); }));
  }

  // Whether an input has far fewer elements than the result, and is read in whole vectors or as one number.
  static bool isSmall(linalg::GenericOp op, OpOperand *input) {
    if (op.isScalar(input) || isConstant(input->get()))
      return true;
    AffineMap map = op.getMatchingIndexingMap(input);
    auto result = cast<RankedTensorType>(op->getResult(0).getType());
    AffineMap loopsOfResult = inversePermutation(op.getIndexingMapMatchingResult(op->getResult(0)));
    int64_t times = 1;
    bool any = false;
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
      int64_t size = 0;
      for (int64_t i = 0; i < result.getRank(); ++i)
        if (loopsOfResult.getDimPosition(i) == loop)
          size = result.getDimSize(i);
      if (map.isFunctionOfDim(loop))
        any |= size != 1;
      else
        times *= ShapedType::isDynamic(size) ? kFewestInVector : std::max<int64_t>(size, 1);
    }
    int64_t inner = result.getRank() ? result.getDimSize(result.getRank() - 1) : 1;
    return times >= kFewestInVector && (!any || ShapedType::isDynamic(inner) || inner >= kFewestInVector);
  }

  // Makes a reader read a copy of the operation, and of the producers that go along.
  void cloneInto(Operation *reader, linalg::GenericOp op) {
    OpBuilder builder(reader);
    reader->replaceUsesOfWith(op->getResult(0), copyOf(op, builder)->getResult(0));
  }

  linalg::GenericOp copyOf(linalg::GenericOp op, OpBuilder &builder) {
    Recomputed same = cheap.find(op)->second;
    IRMapping mapping;
    for (linalg::GenericOp &producer : same.along) {
      linalg::GenericOp copy = copyOf(producer, builder);
      mapping.map(producer->getResult(0), copy->getResult(0));
      producer = copy;
    }
    auto copy = cast<linalg::GenericOp>(builder.clone(*op, mapping));
    cheap.try_emplace(copy, std::move(same));
    return copy;
  }

  void erase(linalg::GenericOp op) {
    if (!op->use_empty())
      return;
    llvm::SmallVector<linalg::GenericOp> along = cheap.find(op)->second.along;
    cheap.erase(op);
    op.erase();
    llvm::for_each(along, [&](linalg::GenericOp producer) { erase(producer); });
  }

  Block &block;
  llvm::DenseMap<Operation *, Recomputed> cheap;
};

struct RecomputeElementwise : impl::RecomputeElementwiseBase<RecomputeElementwise> {
  void runOnOperation() override {
    for (Block &block : getOperation().getBody())
      recomputed += Recomputation(block).run();
  }
};

} // namespace

} // namespace calque::codegen
