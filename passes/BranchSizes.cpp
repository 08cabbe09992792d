#include "passes/BranchSizes.h"

#include "ir/Dialect.h"

#include "mlir/IR/IRMapping.h"

#include "llvm/ADT/SetVector.h"

#include <algorithm>

using namespace mlir;
using namespace calque::ir;

namespace {

// What a cond gives whose branches may give other sizes: those that are equal in both.
SmallVector<Type> commonTypes(CondOp op) {
  SmallVector<Type> types;
  for (auto [then, otherwise] : llvm::zip_equal(op.getThen().front().getTerminator()->getOperandTypes(),
                                                op.getOtherwise().front().getTerminator()->getOperandTypes())) {
    SmallVector<int64_t> shape(cast<RankedTensorType>(then).getShape());
    for (auto [size, other] : llvm::zip_equal(shape, cast<RankedTensorType>(otherwise).getShape()))
      if (size != other)
        size = ShapedType::kDynamic;
    types.push_back(RankedTensorType::get(shape, cast<RankedTensorType>(then).getElementType()));
  }
  return types;
}

// How far types could be inferred: the number of operations up to one whose type rule fails, and whether that is a
// branch or loop, or inside of one, whose sizes need not fit where it does not run.
struct Progress {
  unsigned done = 0;
  bool isInside = false;
};

// Infers the types of a program's values from those of its arguments. Where sizes may be late, the branches of a cond
// need not agree.
LogicalResult inferTypes(Region &region, TypeRange arguments, bool areLate, Progress &progress) {
  for (auto [argument, type] : llvm::zip_equal(region.getArguments(), arguments))
    argument.setType(type);
  for (Operation &op : region.front().without_terminator()) {
    auto fail = [&] {
      progress.isInside |= op.getNumRegions() > 0;
      return failure();
    };
    SmallVector<Type> taken(op.getOperandTypes());
    if (auto loop = dyn_cast<WhileOp>(op))
      for (size_t i = 0; i < loop.getVarying().size(); i += 2) {
        Type &type = taken[loop.getVarying()[i]];
        SmallVector<int64_t> shape(cast<RankedTensorType>(type).getShape());
        shape[loop.getVarying()[i + 1]] = ShapedType::kDynamic;
        type = RankedTensorType::get(shape, cast<RankedTensorType>(type).getElementType());
      }
    for (Region &inner : op.getRegions())
      if (failed(inferTypes(inner, ArrayRef(taken).drop_front(isa<CondOp>(op)), areLate, progress)))
        return fail();
    auto inference = dyn_cast<InferTypeOpInterface>(op);
    SmallVector<Type> types;
    if (auto cond = dyn_cast<CondOp>(op); cond && areLate)
      types = commonTypes(cond);
    else if (!inference ||
             failed(inference.inferReturnTypes(op.getContext(), std::nullopt, op.getOperands(), op.getAttrDictionary(),
                                               op.getPropertiesStorage(), op.getRegions(), types)))
      return fail();
    for (auto [result, type] : llvm::zip_equal(op.getResults(), types))
      result.setType(type);
    ++progress.done;
  }
  return success();
}

// Finds, for each unknown size of what a region gives, the inputs and dimensions of them that have the same size. Each
// unknown size of the inputs gets a number of its own, with which types are inferred; where the region takes two sizes
// to be equal, which is checked when it runs, they get one number, and the known size where one of them is known.
class SourcesOfSizes {
public:
  SourcesOfSizes(Region &region, TypeRange given, bool areLate) : region(region), given(given), areLate(areLate) {
    for (auto [input, type] : llvm::enumerate(region.getArgumentTypes()))
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

  // Nothing where types can't be inferred, and an empty list for a size that is that of no input.
  std::optional<Found> find() {
    Found found;
    unsigned done = infer(&found);
    while (done != kAll) {
      // What may be late is no more than what operations demand that run in each call.
      if (sources.size() > kMostMerged || (areLate && isInside))
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
    return found;
  }

private:
  static constexpr unsigned kAll = ~0u;
  static constexpr size_t kMostMerged = 32;                // to try all pairs takes time that grows with their cube
  static constexpr int64_t kFirst = 1000003, kNext = 1009; // hardly sizes that a program writes

  // How many operations could be inferred.
  unsigned infer(Found *found) {
    SmallVector<Type> types;
    const int64_t *number = numbers.begin();
    for (Type type : region.getArgumentTypes()) {
      auto tensor = cast<RankedTensorType>(type);
      SmallVector<int64_t> shape(tensor.getShape());
      for (int64_t &size : shape)
        if (ShapedType::isDynamic(size))
          size = *number++;
      types.push_back(RankedTensorType::get(shape, tensor.getElementType()));
    }
    Region clone;
    IRMapping mapping;
    region.cloneInto(&clone, mapping);
    Progress progress;
    const bool isInferred = succeeded(inferTypes(clone, types, areLate, progress));
    isInside = progress.isInside;
    if (!isInferred)
      return progress.done;
    if (found)
      collect(clone.front().getTerminator()->getOperandTypes(), *found);
    return kAll;
  }

  void collect(TypeRange inferred, Found &found) {
    found.clear();
    for (auto [own, type] : llvm::zip_equal(given, inferred))
      for (auto [size, number] :
           llvm::zip_equal(cast<RankedTensorType>(own).getShape(), cast<RankedTensorType>(type).getShape())) {
        if (!ShapedType::isDynamic(size))
          continue;
        SmallVector<Source> &same = found.emplace_back();
        for (auto [source, numberOfSource] : llvm::zip_equal(sources, numbers))
          if (numberOfSource == number)
            same.push_back(source);
      }
  }

  Region &region;
  TypeRange given; // what is known of what the region gives
  bool areLate;
  bool isInside = false; // Progress::isInside of the last inference
  std::vector<Source> sources;
  llvm::SmallSetVector<int64_t, 8> known; // sizes of the inputs
  SmallVector<int64_t> numbers;           // of each source
};

} // namespace

std::optional<SmallVector<int64_t>> calque::sourcesOfSizes(CondOp op) {
  SmallVector<int64_t> result;
  if (llvm::all_of(op.getResultTypes(), [](Type type) { return cast<RankedTensorType>(type).hasStaticShape(); }))
    return result;
  // Of each size one that it is in both branches. What a branch takes to be equal is checked in that branch alone.
  auto ofThen = SourcesOfSizes(op.getThen(), op.getResultTypes(), false).find(),
       ofOtherwise = SourcesOfSizes(op.getOtherwise(), op.getResultTypes(), false).find();
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

SmallVector<Value> calque::argumentsOfSizes(Region &region) {
  TypeRange given = region.front().getTerminator()->getOperandTypes();
  SmallVector<Value> result(given.size());
  auto found = SourcesOfSizes(region, given, true).find();
  if (!found)
    return result;
  const auto *sources = found->begin(); // of the next unknown size
  for (auto [like, type] : llvm::zip_equal(result, given)) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape();
    const auto *own = sources;
    sources += llvm::count_if(shape, ShapedType::isDynamic);
    for (BlockArgument argument : region.getArguments()) {
      if (own == sources || argument.getType() != type)
        continue;
      const auto *each = own;
      bool isLike = true;
      for (auto [dimension, size] : llvm::enumerate(shape))
        if (ShapedType::isDynamic(size))
          isLike &= llvm::is_contained(
              *each++, std::pair<int64_t, int64_t>(argument.getArgNumber(), static_cast<int64_t>(dimension)));
      if (isLike) {
        like = argument;
        break;
      }
    }
  }
  return result;
}
