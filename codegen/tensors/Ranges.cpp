#include "codegen/tensors/Ranges.h"
#include "ir/ElementType.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <algorithm>

using namespace mlir;

namespace calque::codegen {

namespace {

constexpr Range kAll{std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};

Range around(const Range &x, const Range &y) { return {std::min(x.least, y.least), std::max(x.most, y.most)}; }

// Arithmetic that may wrap gives any number.
Range orAll(const Range &range) { return range.isIn(kAll) ? range : kAll; }

Range ofBits(unsigned bits, bool hasSign) { return bits > 31 ? kAll : Range::ofBits(bits, hasSign); }

Range ofConstant(Attribute value) {
  if (auto number = dyn_cast<IntegerAttr>(value))
    return {number.getValue().getSExtValue(), number.getValue().getSExtValue()};
  auto elements = dyn_cast<DenseIntElementsAttr>(value);
  if (!elements || elements.empty())
    return kAll;
  auto first = (*elements.value_begin<APInt>()).getSExtValue();
  Range range{first, first};
  if (!elements.isSplat())
    for (const APInt &each : elements.getValues<APInt>())
      range = around(range, {each.getSExtValue(), each.getSExtValue()});
  return range;
}

// The range of an operation of a body, whose operands have the ranges that `of` gives.
Range ofOperation(Operation &op, function_ref<Range(Value)> of) {
  auto x = [&] { return of(op.getOperand(0)); };
  auto y = [&] { return of(op.getOperand(1)); };
  auto bitsOfOperand = [&] { return ir::ElementType(op.getOperand(0)).bits(); };
  if (isa<arith::ExtSIOp>(op))
    return ofBits(bitsOfOperand(), true);
  if (isa<arith::ExtUIOp>(op))
    return ofBits(bitsOfOperand(), false);
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return ofConstant(constant.getValue());
  if (isa<arith::AddIOp>(op))
    return orAll({x().least + y().least, x().most + y().most});
  if (isa<arith::SubIOp>(op))
    return orAll({x().least - y().most, x().most - y().least});
  if (isa<arith::MulIOp>(op)) {
    const Range a = x(), b = y();
    auto [least, most] = std::minmax({a.least * b.least, a.least * b.most, a.most * b.least, a.most * b.most});
    return orAll({least, most});
  }
  if (isa<arith::MaxSIOp>(op))
    return {std::max(x().least, y().least), std::max(x().most, y().most)};
  if (isa<arith::MinSIOp>(op))
    return {std::min(x().least, y().least), std::min(x().most, y().most)};
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return around(of(select.getTrueValue()), of(select.getFalseValue()));
  return kAll;
}

} // namespace

bool isInt32(Value value) {
  const ir::ElementType element(value);
  return element.isInteger() && element.bits() == 32;
}

Range Ranges::of(Value value, unsigned depth) {
  constexpr unsigned kDeepest = 16;
  if (!isInt32(value) || depth > kDeepest)
    return kAll;
  if (auto found = known.find(value); found != known.end())
    return found->second;
  const Range range = compute(value, depth);
  known[value] = range;
  return range;
}

Range Ranges::compute(Value value, unsigned depth) {
  Operation *made = value.getDefiningOp();
  if (!made)
    return kAll;
  if (auto constant = dyn_cast<arith::ConstantOp>(made))
    return ofConstant(constant.getValue());
  if (isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::ExtractSliceOp>(made))
    return of(made->getOperand(0), depth + 1);
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(made))
    return around(of(insert.getSource(), depth + 1), of(insert.getDest(), depth + 1));
  if (auto fill = dyn_cast<linalg::FillOp>(made))
    return of(fill.getInputs()[0], depth + 1);
  auto generic = dyn_cast<linalg::GenericOp>(made);
  // A sum reads its own result, whose range is not followed.
  if (!generic || !generic.hasPureTensorSemantics() || generic->getNumResults() != 1 || generic.getNumReductionLoops())
    return kAll;
  return in(generic, generic.getBody()->getTerminator()->getOperand(0), depth);
}

Range Ranges::in(linalg::GenericOp generic, Value value, unsigned depth) {
  llvm::DenseMap<Value, Range> inBody;
  auto ofValue = [&](Value each) {
    if (auto found = inBody.find(each); found != inBody.end())
      return found->second;
    return each.getParentBlock() == generic.getBody() ? kAll : of(each, depth + 1);
  };
  for (OpOperand *input : generic.getDpsInputOperands())
    inBody[generic.getMatchingBlockArgument(input)] = of(input->get(), depth + 1);
  for (Operation &op : generic.getBody()->without_terminator())
    if (op.getNumResults() == 1 && isInt32(op.getResult(0)))
      inBody[op.getResult(0)] = ofOperation(op, ofValue);
  return ofValue(value);
}

} // namespace calque::codegen
