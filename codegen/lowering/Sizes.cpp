#include "codegen/lowering/Sizes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace calque::codegen {

std::optional<int64_t> constantOf(Size size) { return getConstantIntValue(size); }

Sizes::Sizes(func::FuncOp function) : function(function) {
  Block &body = function.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  anchor = arith::ConstantIndexOp::create(builder, function.getLoc(), 0);
  SmallVector<BlockArgument> arguments(llvm::drop_begin(body.getArguments()));
  for (auto [number, argument] : llvm::enumerate(arguments)) {
    auto type = cast<RankedTensorType>(argument.getType());
    for (auto [dimension, size] : llvm::enumerate(type.getShape()))
      if (ShapedType::isDynamic(size))
        symbols.push_back({body.addArgument(builder.getIndexType(), argument.getLoc()), static_cast<unsigned>(number),
                           static_cast<int64_t>(dimension)});
  }
}

Size Sizes::constant(int64_t value) { return IntegerAttr::get(IndexType::get(function.getContext()), value); }

SizeList Sizes::constants(ArrayRef<int64_t> values) {
  return llvm::map_to_vector(values, [&](int64_t value) { return constant(value); });
}

Value Sizes::value(Size size) {
  size = canonical(size);
  if (auto value = dyn_cast<Value>(size))
    return value;
  auto found = made.find({Kind::Add, nullptr, size.getOpaqueValue()});
  if (found != made.end())
    return cast<Value>(found->second);
  OpBuilder builder(anchor);
  Value value = arith::ConstantIndexOp::create(builder, function.getLoc(), *constantOf(size));
  made[{Kind::Add, nullptr, size.getOpaqueValue()}] = value;
  return value;
}

SizeList Sizes::of(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SizeList sizes;
  auto found = known.find(tensor);
  for (auto [dimension, size] : llvm::enumerate(type.getShape())) {
    if (!ShapedType::isDynamic(size)) {
      sizes.push_back(constant(size));
    } else if (found != known.end()) {
      sizes.push_back(canonical(found->second[dimension]));
    } else if (auto argument = dyn_cast<BlockArgument>(tensor);
               argument && argument.getOwner() == &function.getBody().front()) {
      auto symbol = llvm::find_if(symbols, [&](const Symbol &each) {
        return each.argument + 1 == argument.getArgNumber() && each.dimension == static_cast<int64_t>(dimension);
      });
      sizes.push_back(canonical(Value(symbol->value)));
    } else {
      OpBuilder builder(function.getContext());
      builder.setInsertionPointAfterValue(tensor);
      sizes.push_back(tensor::DimOp::create(builder, tensor.getLoc(), tensor, dimension).getResult());
    }
  }
  return sizes;
}

Size Sizes::canonical(Size size) const {
  for (auto value = dyn_cast<Value>(size); value; value = dyn_cast<Value>(size)) {
    auto found = unified.find(value);
    if (found == unified.end())
      break;
    size = found->second;
  }
  if (auto value = dyn_cast<Value>(size))
    if (auto constant = value.getDefiningOp<arith::ConstantIndexOp>())
      return OpFoldResult(constant.getValue());
  return size;
}

Size Sizes::make(Kind kind, Size a, Size b) {
  a = canonical(a);
  b = canonical(b);
  std::optional<int64_t> x = constantOf(a), y = constantOf(b);
  if (x && y) {
    int64_t result = 0;
    bool overflows = false;
    switch (kind) {
    case Kind::Add:
      overflows = __builtin_add_overflow(*x, *y, &result);
      break;
    case Kind::Subtract:
      overflows = __builtin_sub_overflow(*x, *y, &result);
      break;
    case Kind::Multiply:
      overflows = __builtin_mul_overflow(*x, *y, &result);
      break;
    case Kind::Divide:
      result = *x / *y;
      break;
    case Kind::Maximum:
      result = std::max(*x, *y);
      break;
    case Kind::Minimum:
      result = std::min(*x, *y);
      break;
    }
    if (!overflows)
      return constant(result);
  }
  if ((kind == Kind::Add && x == 0) || (kind == Kind::Multiply && x == 1))
    return b;
  if (((kind == Kind::Add || kind == Kind::Subtract) && y == 0) ||
      ((kind == Kind::Multiply || kind == Kind::Divide) && y == 1) ||
      ((kind == Kind::Maximum || kind == Kind::Minimum) && a == b))
    return a;
  if (kind == Kind::Multiply && (x == 0 || y == 0))
    return constant(0);
  auto found = made.find({kind, a.getOpaqueValue(), b.getOpaqueValue()});
  if (found != made.end())
    return found->second;
  Value left = value(a), right = value(b);
  OpBuilder builder(anchor);
  Location location = function.getLoc();
  Value result;
  switch (kind) {
  case Kind::Add:
    result = arith::AddIOp::create(builder, location, left, right);
    break;
  case Kind::Subtract:
    result = arith::SubIOp::create(builder, location, left, right);
    break;
  case Kind::Multiply:
    result = arith::MulIOp::create(builder, location, left, right);
    break;
  case Kind::Divide:
    result = arith::DivUIOp::create(builder, location, left, right);
    break;
  case Kind::Maximum:
    result = arith::MaxSIOp::create(builder, location, left, right);
    break;
  case Kind::Minimum:
    result = arith::MinSIOp::create(builder, location, left, right);
    break;
  }
  return made[{kind, a.getOpaqueValue(), b.getOpaqueValue()}] = result;
}

Size Sizes::add(Size a, Size b) { return make(Kind::Add, a, b); }
Size Sizes::subtract(Size a, Size b) { return make(Kind::Subtract, a, b); }
Size Sizes::multiply(Size a, Size b) { return make(Kind::Multiply, a, b); }
Size Sizes::divide(Size a, Size b) {
  // A known factor is divided: 24 n by 3 is 8 n.
  auto value = dyn_cast<Value>(canonical(a));
  auto product = value ? value.getDefiningOp<arith::MulIOp>() : arith::MulIOp();
  std::optional<int64_t> factor = product ? getConstantIntValue(product.getRhs()) : std::nullopt,
                         by = constantOf(canonical(b));
  if (factor && by && *by > 0 && *factor % *by == 0)
    return multiply(product.getLhs(), constant(*factor / *by));
  return make(Kind::Divide, a, b);
}
Size Sizes::maximum(Size a, Size b) { return make(Kind::Maximum, a, b); }
Size Sizes::minimum(Size a, Size b) { return make(Kind::Minimum, a, b); }

Size Sizes::product(ArrayRef<Size> sizes) {
  // Constants first, so that equal products are one value.
  Size known = constant(1), unknown = constant(1);
  for (Size size : sizes)
    (constantOf(canonical(size)) ? known : unknown) = multiply(constantOf(canonical(size)) ? known : unknown, size);
  return multiply(unknown, known);
}

Sizes::Named Sizes::named(Operation *op, unsigned operand, int64_t dimension) {
  Value value = op->getOperand(operand);
  SizeList sizes = of(value);
  Named result{dimension < 0 ? product(sizes) : sizes[dimension], {}};
  result.name.dimension = dimension;
  if (auto argument = dyn_cast<BlockArgument>(value); argument && argument.getOwner() == &function.getBody().front()) {
    result.name.argument = argument.getArgNumber() - 1;
    return result;
  }
  // A size that is an argument's is named after that argument.
  if (auto size = dyn_cast<Value>(result.size))
    for (const Symbol &symbol : symbols)
      if (symbol.value == size) {
        result.name.argument = symbol.argument;
        result.name.dimension = symbol.dimension;
        return result;
      }
  result.name.operand = operand;
  return result;
}

void Sizes::unify(Size a, Size b) {
  a = canonical(a);
  b = canonical(b);
  auto symbolNumber = [&](Size size) {
    auto argument = dyn_cast_if_present<BlockArgument>(dyn_cast<Value>(size));
    return argument ? static_cast<int64_t>(argument.getArgNumber()) : -1;
  };
  int64_t first = symbolNumber(a), second = symbolNumber(b);
  if (a == b)
    return;
  // A symbol is replaced by a constant or by an earlier symbol, never by a later one.
  if (first >= 0 && (constantOf(b) || (second >= 0 && second < first)))
    unified[cast<Value>(a)] = b;
  else if (second >= 0 && (constantOf(a) || first >= 0))
    unified[cast<Value>(b)] = a;
}

void Sizes::replaceUnified() {
  for (Symbol &symbol : symbols)
    if (Size size = canonical(Value(symbol.value)); size != Size(Value(symbol.value))) {
      Value replacement = dyn_cast<Value>(size);
      if (!replacement) {
        OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
        replacement = arith::ConstantIndexOp::create(builder, function.getLoc(), *constantOf(size));
      }
      symbol.value.replaceAllUsesWith(replacement);
    }
}

Value cloneSize(OpBuilder &builder, Value size, IRMapping &mapping) {
  if (Value found = mapping.lookupOrNull(size))
    return found;
  Operation *op = size.getDefiningOp();
  // A division is not pure, for its divisor might be 0; that of a size is at least 1.
  if (!op || op->getNumResults() != 1 || op->getNumRegions() || !isMemoryEffectFree(op) ||
      !llvm::all_of(op->getOperandTypes(), [](Type type) { return type.isIntOrIndex(); }))
    return {};
  for (Value operand : op->getOperands())
    if (!cloneSize(builder, operand, mapping))
      return {};
  return builder.clone(*op, mapping)->getResult(0);
}

} // namespace calque::codegen
