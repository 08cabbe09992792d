#include "codegen/lowering/ShapeFunction.h"

#include "codegen/KernelAttributes.h"
#include "ir/ElementType.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace calque::codegen {

// Emits a call of calque_rt_fail under a condition.
static void failIf(OpBuilder &builder, Location location, Value condition, Value frame, int32_t site, Value found,
                   Value expected) {
  auto ifOp = scf::IfOp::create(builder, location, condition, false);
  OpBuilder then = OpBuilder::atBlockBegin(ifOp.thenBlock());
  Type i64 = builder.getI64Type();
  auto wide = [&](Value value) -> Value {
    return value.getType() == i64 ? value : arith::IndexCastOp::create(then, location, i64, value).getResult();
  };
  emitFail(then, location, frame, site, wide(found), wide(expected));
}

Value emitBytes(OpBuilder &builder, Location location, ShapedType type, ValueRange unknown, Value frame,
                std::optional<int32_t> site) {
  Type i64 = builder.getI64Type();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, location, builder.getI64IntegerAttr(value));
  };
  auto compare = [&](arith::CmpIPredicate predicate, Value a, Value b) -> Value {
    return arith::CmpIOp::create(builder, location, predicate, a, b);
  };
  auto either = [&](Value a, Value b) -> Value { return arith::OrIOp::create(builder, location, a, b); };
  Type element = type.getElementType();
  int64_t known = ir::ElementType(element).bytes();
  bool isEmpty = false, overflows = false;
  for (int64_t size : type.getShape())
    if (!ShapedType::isDynamic(size)) {
      isEmpty |= size == 0;
      overflows |= __builtin_mul_overflow(known, std::max<int64_t>(size, 1), &known);
    }
  if (isEmpty || (overflows && !site))
    return number(CALQUE_BUFFER_ALIGNMENT);
  Value zero = number(0), bytes = number(overflows ? std::numeric_limits<int64_t>::max() : known);
  // A single size is compared with the most that it may be.
  if (site && !overflows && unknown.size() == 1) {
    Value wide = arith::IndexCastOp::create(builder, location, i64, unknown[0]);
    failIf(builder, location, compare(arith::CmpIPredicate::sgt, wide, number(kMostBytes / known)), frame, *site, zero,
           zero);
    site.reset();
  }
  Value tooMany, anyEmpty;
  auto orElse = [&](Value some, Value other) { return some ? either(some, other) : other; };
  for (Value size : unknown) {
    Value wide = arith::IndexCastOp::create(builder, location, i64, size);
    if (!site) {
      bytes = arith::MulIOp::create(builder, location, bytes, wide);
      continue;
    }
    auto product = arith::MulSIExtendedOp::create(builder, location, bytes, wide);
    anyEmpty = orElse(anyEmpty, compare(arith::CmpIPredicate::eq, wide, zero));
    tooMany = orElse(tooMany, either(compare(arith::CmpIPredicate::ne, product.getHigh(), zero),
                                     compare(arith::CmpIPredicate::slt, product.getLow(), zero)));
    bytes = product.getLow();
  }
  if (site) {
    tooMany = orElse(tooMany, compare(arith::CmpIPredicate::sgt, bytes, number(kMostBytes)));
    if (anyEmpty) {
      Value isNot = compare(arith::CmpIPredicate::eq, anyEmpty,
                            arith::ConstantOp::create(builder, location, builder.getBoolAttr(false)));
      tooMany = arith::AndIOp::create(builder, location, tooMany, isNot);
    }
    failIf(builder, location, tooMany, frame, *site, zero, zero);
  }
  // An empty buffer has room for one element.
  Value some = arith::MaxSIOp::create(builder, location, bytes, number(1));
  Value rounded = arith::AddIOp::create(builder, location, some, number(CALQUE_BUFFER_ALIGNMENT - 1));
  return arith::AndIOp::create(builder, location, rounded, number(-int64_t(CALQUE_BUFFER_ALIGNMENT)));
}

static Value isWrong(OpBuilder &builder, Location location, Sizes::Check::Relation relation, Value found,
                     Value expected) {
  auto compare = [&](arith::CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(builder, location, predicate, a, b);
  };
  switch (relation) {
  case Sizes::Check::Relation::Equal:
    return compare(arith::CmpIPredicate::ne, found, expected);
  case Sizes::Check::Relation::AtLeast:
    return compare(arith::CmpIPredicate::slt, found, expected);
  case Sizes::Check::Relation::DivisibleBy:
    return compare(arith::CmpIPredicate::ne, arith::RemSIOp::create(builder, location, found, expected),
                   arith::ConstantIndexOp::create(builder, location, 0));
  }
  llvm_unreachable("no relation of sizes");
}

// Fails the call where a sum, a difference or a product of sizes is more than a size can be. Buffers and loops of the
// wrapped number would not belong together: a reshape checks products.
static void checkArithmetic(func::FuncOp function, LoweringContext &context, OpBuilder &builder, IRMapping &mapping,
                            Value frame) {
  Location location = function.getLoc();
  Type i64 = builder.getI64Type();
  Value zero = arith::ConstantOp::create(builder, location, builder.getI64IntegerAttr(0)), wraps;
  auto wide = [&](Value value) -> Value { return arith::IndexCastOp::create(builder, location, i64, value); };
  auto differ = [&](Value a, Value b) -> Value { return arith::XOrIOp::create(builder, location, a, b); };
  for (Operation &op : function.getBody().front()) {
    if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op) || !op.getResult(0).getType().isIndex())
      continue;
    Value result = cloneSize(builder, op.getResult(0), mapping);
    if (!result) // no size: it is computed from elements
      continue;
    Operation *copy = result.getDefiningOp();
    Value a = wide(copy->getOperand(0)), b = wide(copy->getOperand(1)), wrapped;
    if (isa<arith::MulIOp>(op)) {
      auto product = arith::MulSIExtendedOp::create(builder, location, a, b);
      Value sign = arith::ShRSIOp::create(builder, location, product.getLow(),
                                          arith::ConstantOp::create(builder, location, builder.getI64IntegerAttr(63)));
      wrapped = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ne, product.getHigh(), sign);
    } else {
      // The sign of the result is not that of both operands; of a difference, the second one's is turned.
      Value made = wide(result), other = isa<arith::SubIOp>(op) ? differ(a, b) : differ(b, made);
      wrapped = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::slt,
                                      arith::AndIOp::create(builder, location, differ(a, made), other), zero);
    }
    wraps = wraps ? arith::OrIOp::create(builder, location, wraps, wrapped).getResult() : wrapped;
  }
  if (!wraps)
    return;
  context.sites.push_back(makeSite(Site::Kind::TooManyBytes, "", "an intermediate value", location));
  failIf(builder, location, wraps, frame, static_cast<int32_t>(context.sites.size()) - 1, zero, zero);
}

void makeShapeFunction(func::FuncOp function, LoweringContext &context, ArrayRef<Type> results, ProgramSizes &program) {
  Block &body = function.getBody().front();
  Operation *terminator = body.getTerminator();
  Location location = function.getLoc();
  // The function returns the unknown sizes of its results, so that replacements of values reach them.
  SmallVector<Value> resultSizes;
  SmallVector<SmallVector<Value>> unknown(results.size());
  SmallVector<Value> returned(terminator->getOperands());
  for (auto [number, type] : llvm::enumerate(results)) {
    SizeList sizes = context.sizes.of(returned[number]);
    for (auto [dimension, size] : llvm::enumerate(cast<RankedTensorType>(type).getShape())) {
      if (!ShapedType::isDynamic(size))
        continue;
      program.outputs.push_back({number, dimension});
      resultSizes.push_back(context.sizes.value(sizes[dimension]));
      unknown[number].push_back(resultSizes.back());
    }
  }

  OpBuilder builder = OpBuilder::atBlockEnd(context.module.getBody());
  Type i64 = builder.getI64Type();
  SmallVector<Type> types{context.frame.getType(), MemRefType::get({static_cast<int64_t>(resultSizes.size())}, i64),
                          MemRefType::get({1}, i64)};
  types.append(context.sizes.symbols.size(), builder.getIndexType());
  auto shapes = func::FuncOp::create(builder, location, kShapeFunction, builder.getFunctionType(types, {}));
  shapes->setAttr(kKernelAttr, builder.getUnitAttr());
  Block *block = shapes.addEntryBlock();
  builder.setInsertionPointToEnd(block);
  IRMapping mapping;
  for (auto [number, symbol] : llvm::enumerate(context.sizes.symbols))
    mapping.map(symbol.value, block->getArgument(kSizesOfShapes + number));
  Value frame = block->getArgument(0);
  for (const Sizes::Check &check : context.sizes.checks) {
    Value found = cloneSize(builder, context.sizes.valueBeforeChecks(check.found), mapping),
          expected = cloneSize(builder, context.sizes.valueBeforeChecks(check.expected), mapping);
    Value wrong = isWrong(builder, location, check.relation, found, expected);
    failIf(builder, location, wrong, frame, check.site, found, expected);
  }
  checkArithmetic(function, context, builder, mapping, frame);
  for (auto [number, size] : llvm::enumerate(resultSizes)) {
    Value wide = arith::IndexCastOp::create(builder, location, i64, cloneSize(builder, size, mapping));
    memref::StoreOp::create(builder, location, wide, block->getArgument(1),
                            ValueRange{arith::ConstantIndexOp::create(builder, location, number)});
  }
  for (auto [number, type] : llvm::enumerate(results)) {
    if (unknown[number].empty())
      continue;
    Operation *made = returned[number].getDefiningOp();
    Location at = made && !lineOf(made->getLoc()).empty() ? made->getLoc() : location;
    context.sites.push_back(makeSite(Site::Kind::TooManyBytes, "", "a result", at));
    SmallVector<Value> sizes = llvm::map_to_vector(unknown[number], [&](Value size) { return mapping.lookup(size); });
    emitBytes(builder, location, cast<ShapedType>(type), sizes, frame, static_cast<int32_t>(context.sites.size()) - 1);
  }
  func::ReturnOp::create(builder, location);

  returned.append(resultSizes);
  terminator->setOperands(returned);
  context.sizes.replaceUnified();
  for (const Sizes::Symbol &symbol : context.sizes.symbols) {
    Size size = context.sizes.canonical(Value(symbol.value));
    auto same = llvm::find_if(context.sizes.symbols,
                              [&](const Sizes::Symbol &each) { return Size(Value(each.value)) == size; });
    program.values.push_back({static_cast<size_t>(same - context.sizes.symbols.begin()), constantOf(size)});
  }
}

} // namespace calque::codegen
