#include "codegen/lowering/SmallEmitter.h"
#include "codegen/lowering/RandomNumbers.h"
#include "codegen/lowering/Reductions.h"
#include "ir/ElementType.h"
#include "runtime/Stacks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace calque::codegen {

using Ints = SmallVector<int64_t>;

// The place of a result's element in an operand that is broadcast to it.
static int64_t broadcastPlace(ArrayRef<int64_t> index, ArrayRef<int64_t> from) {
  int64_t at = 0;
  for (auto [i, size] : llvm::zip_equal(index.take_back(from.size()), from))
    at = at * size + (size == 1 ? 0 : i);
  return at;
}

Value SmallEmitter::index(int64_t value) { return arith::ConstantIndexOp::create(builder, location, value); }

SmallVector<Value> SmallEmitter::indices(ArrayRef<int64_t> values) {
  return llvm::map_to_vector(values, [&](int64_t value) { return index(value); });
}

Value SmallEmitter::load(const SmallValue &array, ValueRange at) {
  SmallVector<Value> place(array.places.begin(), array.places.end());
  llvm::append_range(place, at);
  if (array.buffer)
    return memref::LoadOp::create(builder, location, array.buffer, place);
  return tensor::ExtractOp::create(builder, location, array.tensor, place);
}

Value SmallEmitter::elementAt(const SmallValue &value, int64_t at, ArrayRef<int64_t> shape) {
  if (!value.isArray())
    return value.elements[static_cast<size_t>(at)];
  Ints index(shape.size());
  for (size_t i = shape.size(); i-- > 0; at /= shape[i])
    index[i] = at % shape[i];
  return load(value, indices(index));
}

void SmallEmitter::failIf(Value wrong, int32_t site, Value value, Value bound) {
  scf::IfOp::create(builder, location, wrong, [&](OpBuilder &then, Location at) {
    context.fail(then, at, site, value, bound);
    scf::YieldOp::create(then, at);
  });
}

SmallValue SmallEmitter::elementwise(ir::ElementwiseOpInterface op, ArrayRef<SmallValue> operands) {
  ArrayRef<int64_t> shape = dimsOf(op->getResult(0));
  if (mayFail(op) && countOf(op->getResult(0)) > 0) {
    int32_t site = context.addSite(Site::Kind::DivisionByZero, op);
    for (Value element : operands[1].elements)
      failIf(s.equal(element, s.constant(std::int64_t(0), element)), site, word(0), word(0));
  }
  SmallValue result;
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    SmallVector<Value> elements;
    for (auto [operand, value] : llvm::zip_equal(operands, op->getOperands()))
      elements.push_back(operand.elements[static_cast<size_t>(broadcastPlace(index, dimsOf(value)))]);
    result.elements.push_back(op.buildScalar(s, elements));
  });
  return result;
}

SmallVector<SmallValue> SmallEmitter::movement(Operation *op, const schema::Movement &movement,
                                               ArrayRef<SmallValue> operands) {
  SmallVector<SmallValue> results;
  for (Value result : op->getResults()) {
    results.emplace_back();
    Value around = movement.around ? s.constant(*movement.around, scalarType(result)) : Value();
    results.back().elements.assign(static_cast<size_t>(countOf(result)), around);
  }
  for (const schema::Move &move : movement.moves)
    forEachIndex(ArrayRef<int64_t>(move.sizes), [&](ArrayRef<int64_t> index) {
      int64_t from = move.from.offset, to = move.to.offset;
      for (auto [i, at] : llvm::enumerate(index)) {
        from += at * move.from.strides[i];
        to += at * move.to.strides[i];
      }
      results[move.result].elements[static_cast<size_t>(to)] =
          elementAt(operands[move.operand], from, dimsOf(op->getOperand(static_cast<unsigned>(move.operand))));
    });
  return results;
}

SmallValue SmallEmitter::reduction(Operation *op, const Reduction &reduction, const SmallValue &x) {
  Value result = op->getResult(0);
  ir::ScalarBuilder elements = s.of(op);
  ArrayRef<int64_t> shape = dimsOf(reduction.x);
  Type element = scalarType(result);
  Value neutral =
      reduction.isMaximum ? extremeOf(builder, op, *reduction.isMaximum) : s.constant(reduction.neutral, element);
  SmallValue reduced;
  reduced.elements.assign(static_cast<size_t>(countOf(result)), neutral);
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    int64_t to = 0;
    for (auto [i, at] : llvm::enumerate(index))
      if (!llvm::is_contained(reduction.axes, static_cast<int64_t>(i)))
        to = to * shape[i] + at;
    Value &sum = reduced.elements[static_cast<size_t>(to)];
    sum = reduction.combine(elements, sum, x.elements[static_cast<size_t>(linear(index, shape))]);
  });
  return reduced;
}

SmallValue SmallEmitter::product(ir::ContractOp op, const SmallValue &lhs, const SmallValue &rhs) {
  const Product product = productOf(op);
  ArrayRef<int64_t> shapes[] = {dimsOf(op.getLhs()), dimsOf(op.getRhs())};
  Type element = getElementTypeOrSelf(op.getType());
  Ints terms;
  for (int64_t axis : product.contracting[0])
    terms.push_back(shapes[0][axis]);
  SmallValue result;
  forEachIndex(dimsOf(op.getResult()), [&](ArrayRef<int64_t> index) {
    Ints at[] = {Ints(shapes[0].size()), Ints(shapes[1].size())};
    const size_t numBatch = product.batch[0].size(), numLeft = product.kept[0].size();
    for (int side : {0, 1}) {
      for (auto [i, axis] : llvm::enumerate(product.batch[side]))
        at[side][axis] = index[i];
      for (auto [i, axis] : llvm::enumerate(product.kept[side]))
        at[side][axis] = index[numBatch + (side ? numLeft : 0) + i];
    }
    auto factors = [&] {
      return std::pair(lhs.elements[static_cast<size_t>(linear(at[0], shapes[0]))],
                       rhs.elements[static_cast<size_t>(linear(at[1], shapes[1]))]);
    };
    if (terms.empty()) {
      auto [a, b] = factors();
      result.elements.push_back(s.mul(a, b));
      return;
    }
    // As products of matrices do it: one after the other, each rounded once.
    Value sum = s.constant(std::int64_t(0), element);
    forEachIndex(terms, [&](ArrayRef<int64_t> term) {
      for (int side : {0, 1})
        for (auto [i, axis] : llvm::enumerate(product.contracting[side]))
          at[side][axis] = term[i];
      auto [a, b] = factors();
      sum = isa<FloatType>(element) ? math::FmaOp::create(builder, location, a, b, sum).getResult()
                                    : multiplyAdd(s, {a, b, sum});
    });
    result.elements.push_back(sum);
  });
  return result;
}

SmallVector<SmallValue> SmallEmitter::cumulation(Operation *op, const Cumulation &what, ArrayRef<SmallValue> operands) {
  ArrayRef<int64_t> shape = dimsOf(op->getResult(0));
  const auto axis = static_cast<size_t>(what.axis);
  Ints rows(shape);
  rows[axis] = 1;
  SmallVector<SmallValue> results(op->getNumResults());
  for (SmallValue &result : results)
    result.elements.resize(static_cast<size_t>(countOf(op->getResult(0))));
  forEachIndex(rows, [&](ArrayRef<int64_t> row) {
    SmallVector<Value, 2> carried;
    for (double start : what.starts)
      carried.push_back(s.constant(start, what.carried));
    Ints at(row);
    for (int64_t k = 0; k < shape[axis]; ++k) {
      at[axis] = what.reverse ? shape[axis] - 1 - k : k;
      const auto place = static_cast<size_t>(linear(at, shape));
      auto elements = llvm::map_to_vector(operands, [&](const SmallValue &each) { return each.elements[place]; });
      CumulationStep made = what.step(s, carried, elements);
      for (auto [result, element] : llvm::zip_equal(results, made.elements))
        result.elements[place] = element;
      carried = made.next;
    }
  });
  return results;
}

SmallValue SmallEmitter::uniform(ir::RandomUniformOp op, const SmallValue &state) {
  SmallValue result;
  for (int64_t place = 0; place < countOf(op.getResult()); ++place)
    result.elements.push_back(
        uniformNumber(s, state.elements[0], state.elements[1], word(place), scalarType(op.getResult())));
  return result;
}

SmallValue SmallEmitter::iota(ir::IotaOp op) {
  ArrayRef<int64_t> shape = dimsOf(op.getResult());
  const auto axis = static_cast<size_t>(normalAxis(op.getAxis(), static_cast<int64_t>(shape.size())));
  SmallValue numbers;
  forEachIndex(shape, [&](ArrayRef<int64_t> at) {
    numbers.elements.push_back(s.castTo(word(at[axis]), scalarType(op.getResult())));
  });
  return numbers;
}

SmallValue SmallEmitter::sizes(Operation *op, ArrayRef<int64_t> axes, const SmallValue &x) {
  int64_t count = 1;
  Value unknown;
  ArrayRef<int64_t> shape = dimsOf(op->getOperand(0));
  for (auto [i, size] : llvm::enumerate(shape)) {
    auto isNamed = [&](int64_t axis) {
      return normalAxis(axis, static_cast<int64_t>(shape.size())) == static_cast<int64_t>(i);
    };
    if (!axes.empty() && !llvm::any_of(axes, isNamed))
      continue;
    Size known = x.isArray() ? x.sizes[i] : context.sizes.constant(size);
    if (std::optional<int64_t> constant = constantOf(known)) {
      count *= *constant;
      continue;
    }
    Value factor =
        arith::IndexCastOp::create(builder, location, builder.getI64Type(), context.sizes.value(known)).getResult();
    unknown = unknown ? s.mul(unknown, factor) : factor;
  }
  Value product = word(count);
  if (unknown)
    product = s.mul(product, unknown);
  return {{s.castTo(product, scalarType(op->getResult(0)))}, {}, {}, {}};
}

void SmallEmitter::check(ir::AssertOp op, const SmallValue &holds) {
  const int32_t site = context.addSite(Site::Kind::AssertionFailed, op, op.getMessage());
  failIf(s.logicalNot(holds.elements[0]), site, word(0), word(0));
}

Value SmallEmitter::number(double value) { return s.constant(value, builder.getF64Type()); }

Value SmallEmitter::word(int64_t value) { return s.constant(value, builder.getI64Type()); }

Value SmallEmitter::at(Value entry, int64_t offset) {
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value address = LLVM::IntToPtrOp::create(builder, location, pointer, entry);
  return LLVM::GEPOp::create(builder, location, pointer, builder.getI8Type(), address,
                             ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
}

int64_t SmallEmitter::offsetOf(int64_t element, Type type) {
  return static_cast<int64_t>(sizeof(runtime::Entry)) + element * ir::ElementType(type).bytes();
}

// A bool takes a byte. Halves are there as their bits: LLVM's types are chosen here, and bfloat16 is none of them
// later.
Value SmallEmitter::inMemory(Value element) {
  const ir::ElementType type(element.getType());
  if (type.isHalf())
    return arith::BitcastOp::create(builder, location, type.asBits(), element);
  return type.isBool() ? arith::ExtUIOp::create(builder, location, builder.getI8Type(), element).getResult() : element;
}

Value SmallEmitter::fromMemory(Value address, Type type) {
  const ir::ElementType element(type);
  if (element.isHalf())
    return arith::BitcastOp::create(builder, location, type,
                                    LLVM::LoadOp::create(builder, location, element.asBits(), address));
  if (!element.isBool())
    return LLVM::LoadOp::create(builder, location, type, address);
  Value byte = LLVM::LoadOp::create(builder, location, builder.getI8Type(), address);
  return arith::TruncIOp::create(builder, location, type, byte);
}

SmallValue SmallEmitter::push(ir::StackPushOp op, const SmallValue &stacks, const SmallValue &x) {
  const auto count = static_cast<size_t>(entryCount(op.getStack(), op.getX()));
  const int64_t bytes = entryBytes(op.getStack(), op.getX());
  auto loop = op->getParentOfType<ir::WhileOp>();
  Type i64 = builder.getI64Type(), i32 = builder.getI32Type();
  func::FuncOp make =
      declareRuntime(context.module, "calque_rt_stack_entry", {context.frame.getType(), i64, i64, i32}, {i64});
  Value ofIteration = word(loop && entryBytesIn(loop)
                               ? entryBytesIn(loop)
                               : static_cast<int64_t>(runtime::Stacks::bytesOf(static_cast<size_t>(bytes)))),
        site = s.constant(std::int64_t(context.addSite(Site::Kind::OutOfMemory, op)), i32);
  SmallValue result;
  for (auto [k, stack] : llvm::enumerate(stacks.elements)) {
    Value entry =
        func::CallOp::create(builder, location, make, ValueRange{context.frame, word(bytes), ofIteration, site})
            .getResult(0);
    auto made = scf::IfOp::create(
        builder, location, s.notEqual(entry, word(0)),
        [&](OpBuilder &then, Location) {
          SmallEmitter inside{then, location, context};
          LLVM::StoreOp::create(then, location, stack, inside.at(entry, offsetof(runtime::Entry, below)));
          for (size_t i = 0; i < count; ++i) {
            Value element = x.elements[k * count + i];
            LLVM::StoreOp::create(then, location, inside.inMemory(element),
                                  inside.at(entry, offsetOf(static_cast<int64_t>(i), element.getType())));
          }
          Value address = arith::UIToFPOp::create(then, location, then.getF64Type(), entry);
          scf::YieldOp::create(then, location, inside.s.add(address, inside.number(runtime::kStacks)));
        },
        [&](OpBuilder &otherwise, Location) {
          SmallEmitter inside{otherwise, location, context};
          scf::YieldOp::create(otherwise, location, inside.number(0));
        });
    result.elements.push_back(made.getResult(0));
  }
  return result;
}

SmallValue SmallEmitter::onStacks(Operation *op, ArrayRef<SmallValue> operands) {
  SmallValue result;
  for (size_t i = 0, count = static_cast<size_t>(countOf(op->getResult(0))); i < count; ++i)
    result.elements.push_back(isa<ir::StackEmptyOp>(op)     ? number(0)
                              : isa<ir::StackIsEmptyOp>(op) ? s.equal(operands[0].elements[i], number(0))
                                                            : s.add(operands[0].elements[i], operands[1].elements[i]));
  return result;
}

SmallVector<SmallValue> SmallEmitter::pop(ir::StackPopOp op, const SmallValue &stacks) {
  const auto count = static_cast<size_t>(entryCount(op.getStack(), op.getEntry()));
  Type element = scalarType(op.getEntry());
  Value bytes = word(entryBytes(op.getStack(), op.getEntry()));
  const int32_t site = context.addSite(Site::Kind::AssertionFailed, op, kStacksAreUsedUp);
  SmallVector<Type> types{builder.getF64Type()};
  types.append(count, element);
  SmallVector<SmallValue> results(2);
  for (Value stack : stacks.elements) {
    // The sum of two stacks is none, and an entry of another size belongs to another loop.
    Value isStack =
        s.logicalAnd(s.lessEqual(number(runtime::kStacks), stack), s.less(stack, number(2 * runtime::kStacks)));
    Value distance = s.sub(stack, number(runtime::kStacks));
    Value entry =
        arith::FPToUIOp::create(builder, location, builder.getI64Type(), s.select(isStack, distance, number(0)));
    auto found = scf::IfOp::create(
        builder, location, isStack,
        [&](OpBuilder &then, Location) {
          SmallEmitter inside{then, location, context};
          Value own = LLVM::LoadOp::create(then, location, then.getI64Type(),
                                           inside.at(entry, offsetof(runtime::Entry, bytes)));
          scf::YieldOp::create(then, location, inside.s.equal(own, bytes));
        },
        [&](OpBuilder &otherwise, Location) {
          SmallEmitter inside{otherwise, location, context};
          scf::YieldOp::create(otherwise, location, inside.s.constant(std::int64_t(0), otherwise.getI1Type()));
        });
    Value isFound = found.getResult(0), isNone = s.equal(stack, number(0));
    failIf(s.logicalNot(s.logicalOr(isFound, isNone)), site, word(0), word(0));
    auto taken = scf::IfOp::create(
        builder, location, isFound,
        [&](OpBuilder &then, Location) {
          SmallEmitter inside{then, location, context};
          SmallVector<Value> values{LLVM::LoadOp::create(then, location, then.getF64Type(),
                                                         inside.at(entry, offsetof(runtime::Entry, below)))};
          for (size_t i = 0; i < count; ++i)
            values.push_back(inside.fromMemory(inside.at(entry, offsetOf(static_cast<int64_t>(i), element)), element));
          scf::YieldOp::create(then, location, values);
        },
        [&](OpBuilder &otherwise, Location) {
          SmallEmitter inside{otherwise, location, context};
          SmallVector<Value> values{inside.number(0)};
          values.append(count, inside.s.constant(std::int64_t(0), element));
          scf::YieldOp::create(otherwise, location, values);
        });
    results[0].elements.push_back(taken.getResult(0));
    llvm::append_range(results[1].elements, taken.getResults().drop_front());
  }
  return results;
}

Value SmallEmitter::hasNotFailed() {
  constexpr int32_t kOffset = offsetof(CalqueCallFrame, error) + offsetof(CalqueErrorSlot, failed);
  Value address = LLVM::GEPOp::create(builder, location, context.frame.getType(), builder.getI8Type(), context.frame,
                                      ArrayRef<LLVM::GEPArg>{kOffset});
  Value failed = LLVM::LoadOp::create(builder, location, builder.getI32Type(), address);
  return s.equal(failed, s.constant(std::int64_t(0), failed));
}

} // namespace calque::codegen
