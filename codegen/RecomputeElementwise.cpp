// Computes cheap elementwise results again where they are read, where that moves fewer bytes than to write them once
// and read them from memory.
#include "codegen/Constants.h"
#include "codegen/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace calque::codegen {

#define GEN_PASS_DEF_RECOMPUTEELEMENTWISE
#include "codegen/Passes.h.inc"

namespace {

// A few instructions on vectors take less time than to read their result from the second cache.
constexpr size_t kMostOperations = 6;
constexpr int64_t kFewestInVector = 16;

bool isCheap(Operation &op) {
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp, arith::MaximumFOp, arith::MinimumFOp,
             arith::CmpFOp, arith::CmpIOp, arith::SelectOp, arith::AddIOp, arith::SubIOp, arith::ExtFOp,
             arith::TruncFOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op);
}

// Constants are operations before the body, and in it.
size_t lengthOf(linalg::GenericOp op) {
  return static_cast<size_t>(llvm::count_if(op.getBody()->without_terminator(),
                                            [](Operation &each) { return !isa<arith::ConstantOp>(each); }));
}

int64_t bytesOf(Value tensor) { return (getElementTypeOrSelf(tensor).getIntOrFloatBitWidth() + 7) / 8; }

// An elementwise operation whose loops are those of its result.
bool isElementwise(linalg::GenericOp op) {
  return op->getNumResults() == 1 && op.hasPureTensorSemantics() && !op.getNumReductionLoops() &&
         op.getIndexingMapMatchingResult(op->getResult(0)).isPermutation() &&
         !op.payloadUsesValueFromOperand(op.getDpsInitOperand(0));
}

// What an operation computes of one tensor of its own shape, and of others that are small, as of a mean.
struct Recomputed {
  Value source;          // null: of none
  size_t operations = 0; // those of producers that go along included
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
    llvm::SetVector<Operation *> readers;
    for (OpOperand &use : op->getResult(0).getUses()) {
      if (!reads(use, op))
        return false;
      readers.insert(use.getOwner());
    }
    if (readers.size() < 2 || !sparesBytes(op, found->source, static_cast<int64_t>(readers.size())))
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
        !reader.isDpsInput(&use) || lengthOf(reader) == 0)
      return false;
    // A product has a better way to read its operands.
    auto inputs = reader.getNumReductionLoops() ? reader.getDpsInputOperands() : llvm::SmallVector<OpOperand *>{&use};
    return llvm::all_of(inputs, [&](OpOperand *input) { return reader.getMatchingIndexingMap(input).isPermutation(); });
  }

  static bool sparesBytes(linalg::GenericOp op, Value source, int64_t readers) {
    int64_t in = source ? bytesOf(source) : 0, out = bytesOf(op->getResult(0));
    return readers * in < in + out + readers * out;
  }

  std::optional<Recomputed> recomputed(linalg::GenericOp op) const {
    if (!isElementwise(op) || !getElementTypeOrSelf(op->getResult(0)).isIntOrFloat() ||
        !llvm::all_of(op.getBody()->without_terminator(),
                      [](Operation &each) { return isCheap(each) || isa<arith::ConstantOp>(each); }))
      return std::nullopt;
    Recomputed result{{}, lengthOf(op)};
    for (OpOperand *input : op.getDpsInputOperands()) {
      if (isSmall(op, input))
        continue;
      // Read across the direction of the result, it would be slow to read in each reader.
      if ((result.source && result.source != input->get()) ||
          op.getMatchingIndexingMap(input) != op.getIndexingMapMatchingResult(op->getResult(0)))
        return std::nullopt;
      result.source = input->get();
    }
    if (result.operations == 0 || !result.source)
      return std::nullopt;
    // What is read by this operation alone is fused with it: it goes along, or the other readers would need it in
    // memory.
    auto producer = result.source.getDefiningOp<linalg::GenericOp>();
    if (producer && isReadByOne(producer) && isElementwise(producer)) {
      auto before = cheap.find(producer);
      if (before == cheap.end())
        return std::nullopt;
      result.operations += before->second.operations;
      result.source = before->second.source;
    }
    // An argument may be a variable, which is written in place if nothing reads it any more.
    if (!result.source.getDefiningOp() || result.operations > kMostOperations)
      return std::nullopt;
    return result;
  }

  static bool isReadByOne(linalg::GenericOp op) {
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
    linalg::GenericOp copy = copyOf(op, builder);
    reader->replaceUsesOfWith(op->getResult(0), copy->getResult(0));
    for (linalg::GenericOp last = copy; linalg::GenericOp producer = goesAlong(last);) {
      builder.setInsertionPoint(last);
      linalg::GenericOp before = copyOf(producer, builder);
      last->replaceUsesOfWith(producer->getResult(0), before->getResult(0));
      last = before;
    }
  }

  linalg::GenericOp copyOf(linalg::GenericOp op, OpBuilder &builder) {
    auto copy = cast<linalg::GenericOp>(builder.clone(*op));
    Recomputed same = cheap.find(op)->second;
    cheap.try_emplace(copy, same);
    return copy;
  }

  linalg::GenericOp goesAlong(linalg::GenericOp op) const {
    Value source = cheap.find(op)->second.source;
    for (Value input : op.getDpsInputs())
      if (auto producer = input.getDefiningOp<linalg::GenericOp>())
        if (auto found = cheap.find(producer); found != cheap.end() && found->second.source == source)
          return input == source ? nullptr : producer;
    return nullptr;
  }

  void erase(linalg::GenericOp op) {
    while (op && op->use_empty()) {
      linalg::GenericOp producer = goesAlong(op);
      cheap.erase(op);
      op.erase();
      op = producer;
    }
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
