#include "passes/BranchSizes.h"

#include "ir/Dialect.h"

#include "mlir/IR/IRMapping.h"

#include "llvm/ADT/SetVector.h"

#include <algorithm>

using namespace mlir;
using namespace calque::ir;

// Infers the types of a program's values from those of its arguments, and counts the operations up to one whose type
// rule fails.
static LogicalResult inferTypes(Region &region, TypeRange arguments, unsigned &done) {
  for (auto [argument, type] : llvm::zip_equal(region.getArguments(), arguments))
    argument.setType(type);
  for (Operation &op : region.front().without_terminator()) {
    TypeRange taken = op.getOperandTypes();
    for (Region &inner : op.getRegions())
      if (failed(inferTypes(inner, isa<CondOp>(op) ? taken.drop_front() : taken, done)))
        return failure();
    auto inference = dyn_cast<InferTypeOpInterface>(op);
    SmallVector<Type> types;
    if (!inference ||
        failed(inference.inferReturnTypes(op.getContext(), std::nullopt, op.getOperands(), op.getAttrDictionary(),
                                          op.getPropertiesStorage(), op.getRegions(), types)))
      return failure();
    for (auto [result, type] : llvm::zip_equal(op.getResults(), types))
      result.setType(type);
    ++done;
  }
  return success();
}

namespace {

// Finds, for each unknown size of what a branch gives, the inputs and dimensions of them that have the same size. Each
// unknown size of the inputs gets a number of its own, with which types are inferred; where the branch takes two sizes
// to be equal, which is checked when it runs, they get one number, and the known size where one of them is known.
class SourcesOfSizes {
public:
  SourcesOfSizes(CondOp op, Region &branch) : op(op), branch(branch) {
    for (auto [input, type] : llvm::enumerate(op.getInputs().getTypes()))
      for (auto [dimension, size] : llvm::enumerate(cast<RankedTensorType>(type).getShape()))
        if (ShapedType::isDynamic(size))
          sources.push_back({static_cast<int64_t>(input), static_cast<int64_t>(dimension)});
        else
          known.insert(size);
    for (size_t i = 0; i < sources.size(); ++i)
      numbers.push_back(kFirst + kNext * static_cast<int64_t>(i));
  }

  using Source = std::pair<int64_t, int64_t>; // an input, and a dimension of it
  using Found = SmallVector<SmallVector<Source>>;

  // Nothing where there is a size that is that of no input.
  std::optional<Found> find() {
    Found found;
    unsigned done = infer(&found);
    while (done != kAll) {
      if (sources.size() > kMostMerged)
        return std::nullopt;
      // Two more sizes must be equal: those with which inference gets farthest.
      SmallVector<int64_t> best;
      auto tryEqual = [&](int64_t number, int64_t taken) {
        if (number == taken || known.contains(number))
          return;
        SmallVector<int64_t> before = numbers;
        std::replace(numbers.begin(), numbers.end(), number, taken);
        if (unsigned now = infer(nullptr); now > done) {
          done = now;
          best = numbers;
        }
        numbers = before;
      };
      const SmallVector<int64_t> all = numbers;
      for (size_t a = 0; a < sources.size(); ++a) {
        for (size_t b = a + 1; b < sources.size(); ++b)
          tryEqual(all[b], all[a]);
        for (int64_t size : known)
          tryEqual(all[a], size);
      }
      if (best.empty())
        return std::nullopt;
      numbers = best;
      done = infer(&found);
    }
    return isKnown ? std::optional(std::move(found)) : std::nullopt;
  }

private:
  static constexpr unsigned kAll = ~0u;
  static constexpr size_t kMostMerged = 32;                // to try all pairs takes time that grows with their cube
  static constexpr int64_t kFirst = 1000003, kNext = 1009; // hardly sizes that a program writes

  // How many operations could be inferred.
  unsigned infer(Found *found) {
    SmallVector<Type> types;
    const int64_t *number = numbers.begin();
    for (Type type : op.getInputs().getTypes()) {
      auto tensor = cast<RankedTensorType>(type);
      SmallVector<int64_t> shape(tensor.getShape());
      for (int64_t &size : shape)
        if (ShapedType::isDynamic(size))
          size = *number++;
      types.push_back(RankedTensorType::get(shape, tensor.getElementType()));
    }
    Region clone;
    IRMapping mapping;
    branch.cloneInto(&clone, mapping);
    unsigned done = 0;
    if (failed(inferTypes(clone, types, done)))
      return done;
    if (found)
      collect(clone.front().getTerminator()->getOperandTypes(), *found);
    return kAll;
  }

  void collect(TypeRange inferred, Found &found) {
    found.clear();
    isKnown = true;
    for (auto [given, type] : llvm::zip_equal(op.getResultTypes(), inferred))
      for (auto [size, number] :
           llvm::zip_equal(cast<RankedTensorType>(given).getShape(), cast<RankedTensorType>(type).getShape())) {
        if (!ShapedType::isDynamic(size))
          continue;
        SmallVector<Source> &same = found.emplace_back();
        for (auto [source, own] : llvm::zip_equal(sources, numbers))
          if (own == number)
            same.push_back(source);
        isKnown &= !same.empty();
      }
  }

  CondOp op;
  Region &branch;
  std::vector<Source> sources;
  llvm::SmallSetVector<int64_t, 8> known; // sizes of the inputs
  SmallVector<int64_t> numbers;           // of each source
  bool isKnown = false;
};

} // namespace

std::optional<SmallVector<int64_t>> calque::sourcesOfSizes(CondOp op) {
  SmallVector<int64_t> result;
  if (llvm::all_of(op.getResultTypes(), [](Type type) { return cast<RankedTensorType>(type).hasStaticShape(); }))
    return result;
  // Of each size one that it is in both branches. What a branch takes to be equal is checked in that branch alone.
  auto ofThen = SourcesOfSizes(op, op.getThen()).find(), ofOtherwise = SourcesOfSizes(op, op.getOtherwise()).find();
  if (!ofThen || !ofOtherwise)
    return std::nullopt;
  for (auto [first, second] : llvm::zip_equal(*ofThen, *ofOtherwise)) {
    auto common = llvm::find_if(first, [&](auto source) { return llvm::is_contained(second, source); });
    if (common == first.end())
      return std::nullopt;
    result.append({common->first, common->second});
  }
  return result;
}
