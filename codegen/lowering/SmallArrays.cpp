// Which arrays of a loop can be updated in place.
#include "codegen/lowering/SmallCode.h"
#include "codegen/lowering/SmallOperations.h"

using namespace mlir;

namespace calque::codegen {

namespace {

class ArrayFinder {
public:
  Arrays arrays;

  bool run(Operation *op) {
    for (Value operand : op->getOperands())
      if (!isSmall(operand) && !arrays.numbers.contains(operand))
        addReadOnly(operand);
    auto loop = dyn_cast<ir::WhileOp>(op);
    if (!loop)
      return visit(op) && llvm::all_of(op->getResults(), [](Value result) { return isSmall(result); });
    // Each loop variable has an array of its own.
    for (auto [i, variable] : llvm::enumerate(loop.getInitial()))
      if (!isSmall(variable))
        for (Region &region : loop->getRegions())
          start(region.getArgument(static_cast<unsigned>(i)), region.getRegionNumber() ? lastOf(i) : newOf(i));
    return visitLoop(loop);
  }

private:
  using Number = Arrays::Number;

  void addReadOnly(Value value) {
    arrays.numbers[value] = next;
    current[next] = value;
    readOnly.insert(next++);
  }
  Number newOf(size_t variable) { return ofVariable[variable] = next++; }
  Number lastOf(size_t variable) { return ofVariable[variable]; }
  void start(Value value, Number number) {
    arrays.numbers[value] = number;
    current[number] = value;
  }
  // Whether a value is the version of its array that is in memory now.
  bool isCurrent(Value value) const {
    auto number = arrays.numbers.find(value);
    return number != arrays.numbers.end() &&
           (readOnly.contains(number->second) || current.lookup(number->second) == value);
  }

  // Whether a value can be read now: also a slice of such an array.
  bool isReadable(Value value) const {
    for (auto slice = sliced.find(value); slice != sliced.end(); slice = sliced.find(value))
      value = slice->second;
    return isCurrent(value);
  }

  bool visit(Block &block) {
    for (Operation &op : block.without_terminator())
      if (!visit(&op))
        return false;
    return true;
  }

  bool visit(Operation *op) {
    if (auto constant = dyn_cast<ir::ConstantOp>(op)) {
      if (!isSmall(constant))
        addReadOnly(constant);
      return true;
    }
    // A slice of an array that changes is only read, and before the array is written.
    const bool onlyReads = op->getNumRegions() == 0;
    for (Value operand : op->getOperands())
      if (!isSmall(operand) && !(onlyReads ? isReadable(operand) : isCurrent(operand)))
        return false;
    if ((isa<ir::GatherOp>(op) || isIdentity(op)) && !isSmall(op->getResult(0))) {
      Value array = op->getOperand(0), slice = op->getResult(0);
      auto number = arrays.numbers.find(array);
      if (number != arrays.numbers.end() && readOnly.contains(number->second))
        addReadOnly(slice);
      else
        sliced[slice] = array;
      return true;
    }
    if (Value x = updatedBy(op); x && !isSmall(x)) {
      const Number number = arrays.numbers.lookup(x);
      if (sliced.contains(x))
        return false;
      arrays.written.insert(number);
      start(op->getResult(0), number);
      return !readOnly.contains(number);
    }
    if (auto cond = dyn_cast<ir::CondOp>(op))
      return visitCond(cond);
    auto loop = dyn_cast<ir::WhileOp>(op);
    if (!loop)
      return true;
    // The variables of a loop within a loop are in the arrays of their initial values.
    llvm::SmallDenseSet<Number> seen;
    SmallVector<Number> kept;
    for (auto [i, operand] : llvm::enumerate(loop->getOperands())) {
      if (isSmall(operand))
        continue;
      const Number number = arrays.numbers.lookup(operand);
      const bool isVariable = i < loop.getNumVariables();
      if (!seen.insert(number).second && (isVariable || !readOnly.contains(number)))
        return false;
      if (!isVariable && readOnly.insert(number).second)
        kept.push_back(number);
    }
    auto outer = std::move(ofVariable);
    ofVariable.clear();
    for (auto [i, operand] : llvm::enumerate(loop.getInitial()))
      if (!isSmall(operand))
        ofVariable[i] = arrays.numbers.lookup(operand);
    const bool isFine = visitLoop(loop);
    ofVariable = std::move(outer);
    for (Number number : kept)
      readOnly.erase(number);
    for (Value operand : loop.getInvariants())
      if (!isSmall(operand))
        current[arrays.numbers.lookup(operand)] = operand;
    return isFine;
  }

  bool visitLoop(ir::WhileOp loop) {
    for (Region &region : loop->getRegions()) {
      for (auto [i, argument] : llvm::enumerate(region.getArguments()))
        if (!isSmall(argument))
          start(argument, i < loop.getNumVariables() ? ofVariable[i] : arrays.numbers.lookup(loop->getOperand(i)));
      auto before = std::exchange(arrays.written, llvm::DenseSet<Number>());
      const bool isCondition = region.getRegionNumber() == 0;
      if (!visit(region.front()) || (isCondition && !arrays.written.empty()))
        return false;
      arrays.written.insert(before.begin(), before.end());
    }
    for (auto [i, value] : llvm::enumerate(loop.getBody().front().getTerminator()->getOperands())) {
      if (isSmall(value))
        continue;
      if (!isCurrent(value) || arrays.numbers.lookup(value) != ofVariable[i])
        return false;
      start(loop.getResult(static_cast<unsigned>(i)), ofVariable[i]);
    }
    return true;
  }

  bool visitCond(ir::CondOp cond) {
    llvm::SmallDenseSet<Number> taken;
    for (Value input : cond.getInputs())
      if (!isSmall(input) && !taken.insert(arrays.numbers.lookup(input)).second &&
          !readOnly.contains(arrays.numbers.lookup(input)))
        return false;
    const auto before = current;
    SmallVector<std::optional<Number>> given(cond.getNumResults());
    const auto writtenBefore = arrays.written;
    llvm::DenseSet<Number> changed;
    for (Region &branch : cond->getRegions()) {
      current = before;
      arrays.written.clear();
      for (auto [argument, input] : llvm::zip_equal(branch.getArguments(), cond.getInputs()))
        if (!isSmall(argument))
          start(argument, arrays.numbers.lookup(input));
      if (!visit(branch.front()))
        return false;
      for (auto [number, value] : llvm::zip_equal(given, branch.front().getTerminator()->getOperands())) {
        if (isSmall(value))
          continue;
        const Number own = arrays.numbers.lookup(value);
        if (!isCurrent(value) || (number && *number != own))
          return false;
        number = own;
      }
      changed.insert(arrays.written.begin(), arrays.written.end());
    }
    current = before;
    arrays.written = writtenBefore;
    arrays.written.insert(changed.begin(), changed.end());
    for (Number number : changed)
      current[number] = Value();
    for (auto [number, result] : llvm::zip_equal(given, cond.getResults()))
      if (number)
        start(result, *number);
    return true;
  }

  Number next = 0;
  llvm::DenseMap<Number, Value> current;
  llvm::DenseSet<Number> readOnly;
  llvm::DenseMap<Value, Value> sliced;       // slices, and what they are of
  llvm::DenseMap<size_t, Number> ofVariable; // of the loop that is visited
};

} // namespace

std::optional<Arrays> findArrays(Operation *op) {
  ArrayFinder finder;
  if (!finder.run(op))
    return std::nullopt;
  return std::move(finder.arrays);
}

} // namespace calque::codegen
