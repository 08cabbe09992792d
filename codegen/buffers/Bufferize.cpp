// Gives each tensor of a program a buffer, in time that grows linearly with the program.
//
// Lowering emits one block of operations on tensors, each with a destination. So bufferization is simple. An operation
// whose destination is fresh (tensor.empty, or a fill of one) starts a *chain*: values of which each is made in place
// from the one before it, so that they share the chain's buffer. A value joins the chain of its destination if all
// other uses of that destination come before; else it starts a chain with a copy. A chain is placed
//
//   - in the function's result, if one of its values is returned;
//   - in a part of another chain, if it is inserted there and nothing writes to that part otherwise: the parts of a
//     concatenation are computed where they belong;
//   - else in a buffer of its own.
//
// Chains.cpp finds and places the chains. This file makes their buffers, and turns operations on tensors into
// operations on buffers.
#include "codegen/buffers/Bufferize.h"
#include "codegen/Passes.h"
#include "codegen/buffers/Chains.h"
#include "codegen/plan/ProgramAttributes.h"
#include "codegen/schedule/Nest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace calque::codegen {

#define GEN_PASS_DEF_BUFFERIZE
#include "codegen/Passes.h.inc"

Value contiguous(OpBuilder &builder, Value buffer, MemRefType type, ArrayRef<Size> sizes) {
  Location location = buffer.getLoc();
  SizeList strides(sizes.size());
  Size stride = builder.getIndexAttr(1);
  for (size_t dimension = sizes.size(); dimension-- > 0;) {
    strides[dimension] = stride;
    std::optional<int64_t> a = constantOf(stride), b = constantOf(sizes[dimension]);
    if (a && b)
      stride = builder.getIndexAttr(*a * *b);
    else if (dimension > 0)
      stride = builder.createOrFold<arith::MulIOp>(location,
                                                   getValueOrCreateConstantIndexOp(builder, location, sizes[dimension]),
                                                   getValueOrCreateConstantIndexOp(builder, location, stride));
  }
  return memref::ReinterpretCastOp::create(builder, location, MemRefType::get(type.getShape(), type.getElementType()),
                                           buffer, builder.getIndexAttr(0), sizes, strides);
}

Value addressOf(OpBuilder &builder, Location location, Value buffer) {
  auto type = MemRefType::get({1}, cast<MemRefType>(buffer.getType()).getElementType());
  if (buffer.getType() == type)
    return buffer;
  return memref::ReinterpretCastOp::create(builder, location, type, buffer, 0, ArrayRef<int64_t>{1},
                                           ArrayRef<int64_t>{1});
}

namespace {

MemRefType bufferType(Type tensor) {
  auto type = cast<RankedTensorType>(tensor);
  return MemRefType::get(type.getShape(), type.getElementType());
}

class Bufferizer {
public:
  Bufferizer(func::FuncOp function, const ProgramSizes &sizes)
      : module(function->getParentOfType<ModuleOp>()), function(function), numSizes(sizes.outputs.size()) {}

  LogicalResult run() {
    Block &body = function.getBody().front();
    chains.find(function);
    takeArguments(body);
    chains.place(body, returned(body));
    placeAllocated(body);
    if (failed(convert(body)))
      return failure();
    returnResults(body);
    eraseDead(body);
    return success();
  }

  unsigned numCopies = 0;

private:
  //===-- Arguments and results -------------------------------------------------------------------===//

  // Adds arguments that are buffers in place of the tensors. The tensors are erased at the end.
  void takeArguments(Block &body) {
    numArguments = body.getNumArguments();
    for (unsigned number = 0; number < numArguments; ++number) {
      BlockArgument argument = body.getArgument(number);
      Type type = isTensor(argument) ? Type(bufferType(argument.getType())) : argument.getType();
      BlockArgument made = body.addArgument(type, argument.getLoc());
      if (isTensor(argument))
        buffers[argument] = made;
      else
        argument.replaceAllUsesWith(made);
    }
    for (Value result : returned(body))
      results.push_back(body.addArgument(bufferType(result.getType()), function.getLoc()));
  }

  // What a returned value is a reshape of.
  static Value rootOf(Value value) {
    while (isReshape(value.getDefiningOp()))
      value = value.getDefiningOp()->getOperand(0);
    return value;
  }

  OperandRange returned(Block &body) {
    OperandRange operands = body.getTerminator()->getOperands();
    return operands.drop_back(numSizes);
  }

  //===-- Buffers ---------------------------------------------------------------------------------===//

  SizeList sizesOf(OpBuilder &builder, Value destination) {
    if (auto type = cast<RankedTensorType>(destination.getType()); type.hasStaticShape())
      return getAsIndexOpFoldResult(builder.getContext(), type.getShape());
    if (tensor::EmptyOp empty = emptyOf(destination))
      return empty.getMixedSizes();
    if (auto fill = beforeCasts(destination).getDefiningOp<linalg::FillOp>())
      destination = fill.getOutputs()[0];
    auto alloc = destination.getDefiningOp<bufferization::AllocTensorOp>();
    if (alloc && !alloc.getCopy()) {
      SizeList sizes;
      unsigned next = 0;
      for (int64_t size : alloc.getType().getShape())
        sizes.push_back(ShapedType::isDynamic(size) ? Size(alloc.getDynamicSizes()[next++])
                                                    : Size(builder.getIndexAttr(size)));
      return sizes;
    }
    return memref::getMixedSizes(builder, destination.getLoc(), bufferOf(alloc ? alloc.getCopy() : destination));
  }

  Value allocate(OpBuilder &builder, Location location, Type tensor, ArrayRef<Size> sizes) {
    MemRefType type = bufferType(tensor);
    SmallVector<Value> unknown;
    for (auto [size, known] : llvm::zip_equal(sizes, type.getShape()))
      if (ShapedType::isDynamic(known))
        unknown.push_back(getValueOrCreateConstantIndexOp(builder, location, size));
    return memref::AllocOp::create(builder, location, type, unknown);
  }

  void copy(OpBuilder &builder, Location location, Value from, Value to) {
    memref::CopyOp::create(builder, location, from, to);
    ++numCopies;
  }

  static Value subview(OpBuilder &builder, Value whole, RankedTensorType part, OffsetSizeAndStrideOpInterface slice) {
    auto type = cast<MemRefType>(whole.getType());
    MemRefType result = memref::SubViewOp::inferRankReducedResultType(part.getShape(), type, slice.getMixedOffsets(),
                                                                      slice.getMixedSizes(), slice.getMixedStrides());
    return memref::SubViewOp::create(builder, slice.getLoc(), result, whole, slice.getMixedOffsets(),
                                     slice.getMixedSizes(), slice.getMixedStrides());
  }

  // Puts results in place of buffers that were allocated before bufferization, which kernels of the runtime write.
  void placeAllocated(Block &body) {
    for (auto [number, value] : llvm::enumerate(returned(body))) {
      Chain *chain = chains.of(rootOf(value));
      if (!chain || !chain->given || chain->result != number)
        continue;
      memref::AllocOp alloc = Chains::allocated(*chain);
      OpBuilder builder(alloc);
      chain->given = results[number];
      if (alloc.getType() != chain->given.getType())
        chain->given = contiguous(builder, chain->given, alloc.getType(), alloc.getMixedSizes());
      alloc.replaceAllUsesWith(chain->given);
      alloc.erase();
    }
  }

  // The chain's buffer. Makes it if nothing has written to it so far.
  Value bufferOf(Chain &chain, OpBuilder &builder) {
    if (chain.buffer)
      return chain.buffer;
    if (chain.given)
      return chain.buffer = chain.given;
    Location location = chain.first->getLoc();
    if (chain.result) {
      chain.buffer = results[*chain.result];
      if (chain.returned.getType() != chain.root.getType()) {
        SizeList sizes = sizesOf(builder, chain.destination);
        chain.buffer = contiguous(builder, chain.buffer, bufferType(chain.root.getType()), sizes);
      }
    } else if (chain.part) {
      Value whole = bufferOf(*chains.of(chain.part.getResult()), builder);
      chain.buffer = subview(builder, whole, cast<RankedTensorType>(chain.root.getType()), chain.part);
    } else {
      chain.buffer = allocate(builder, location, chain.root.getType(), sizesOf(builder, chain.destination));
    }
    if (!chain.initial)
      return chain.buffer;
    if (isTensor(chain.initial)) {
      copy(builder, location, bufferOf(chain.initial), chain.buffer);
      return chain.buffer;
    }
    Value scalar = chain.initial;
    if (auto constant = scalar.getDefiningOp<arith::ConstantOp>()) // the constant may come later
      scalar = builder.clone(*constant)->getResult(0);
    auto insert = dyn_cast<tensor::InsertSliceOp>(chain.first);
    if (!insert || !fillAround(builder, insert, scalar, chain.buffer))
      linalg::FillOp::create(builder, location, scalar, chain.buffer);
    return chain.buffer;
  }

  // Fills the elements around the part that an insertion writes, if they are few. Returns whether they are. The
  // elements behind the part in one row and before it in the next row lie side by side, and one fill writes them. One
  // fill also writes the rows that hold nothing of the part, some elements twice. Each of several images has fills of
  // its own, so that threads share the images.
  static bool fillAround(OpBuilder &builder, tensor::InsertSliceOp insert, Value scalar, Value buffer) {
    // The fewest elements of a part, and of a part in one image, for which several fills are worth it.
    constexpr uint64_t kLarge = 1 << 14, kLargeImage = 1 << 9;
    auto type = cast<MemRefType>(buffer.getType());
    ArrayRef<int64_t> starts = insert.getStaticOffsets(), sizes = insert.getStaticSizes(), shape = type.getShape();
    auto isKnown = [](ArrayRef<int64_t> numbers) { return !llvm::is_contained(numbers, ShapedType::kDynamic); };
    if (!type.getLayout().isIdentity() ||
        llvm::any_of(insert.getStaticStrides(), [](int64_t stride) { return stride != 1; }))
      return false;
    auto count = [](ArrayRef<int64_t> numbers) { // sizes may be larger than memory
      uint64_t product = 1;
      for (int64_t number : numbers)
        product = llvm::SaturatingMultiply<uint64_t>(product, static_cast<uint64_t>(number));
      return product;
    };
    bool isOpen = !shape.empty() && ShapedType::isDynamic(shape[0]);
    auto ofImage = [](ArrayRef<int64_t> numbers) { return numbers.drop_front(); };
    OpFoldResult images;
    if (isOpen || (shape.size() > 2 && starts[0] == 0 && sizes[0] == shape[0] && isKnown(ofImage(sizes)) &&
                   count(ofImage(sizes)) >= kLargeImage && count(sizes) >= kLarge)) {
      images = sizeOf(builder, buffer, 0);
      if (starts[0] != 0 || (isOpen && insert.getMixedSizes()[0] != images))
        return false;
      starts = ofImage(starts);
      sizes = ofImage(sizes);
      shape = ofImage(shape);
    }
    if (!isKnown(starts) || !isKnown(sizes) || !isKnown(shape))
      return false;
    constexpr uint64_t kMost = uint64_t(1) << 48;
    if (count(sizes) < (images ? kLargeImage : kLarge) || count(shape) > kMost ||
        count(shape) - count(sizes) > count(sizes))
      return false;
    auto all = static_cast<int64_t>(count(shape));
    Location location = insert.getLoc();
    auto fill = [&](int64_t offset, int64_t rows, int64_t step, int64_t count) {
      if (rows <= 0 || count <= 0)
        return;
      SmallVector<OpFoldResult> extents{builder.getIndexAttr(rows), builder.getIndexAttr(count)},
          strides{builder.getIndexAttr(step), builder.getIndexAttr(1)};
      SmallVector<int64_t> staticExtents{rows, count}, staticStrides{step, 1};
      if (images) {
        extents.insert(extents.begin(), images);
        strides.insert(strides.begin(), builder.getIndexAttr(all));
        staticExtents.insert(staticExtents.begin(), type.getShape()[0]);
        staticStrides.insert(staticStrides.begin(), all);
      }
      auto part = MemRefType::get(staticExtents, type.getElementType(),
                                  StridedLayoutAttr::get(builder.getContext(), offset, staticStrides));
      Value view = memref::ReinterpretCastOp::create(builder, location, part, buffer, builder.getIndexAttr(offset),
                                                     extents, strides);
      linalg::FillOp::create(builder, location, scalar, view);
    };
    int64_t first = 0, last = 0, inner = 1, outer = all;
    for (size_t i = shape.size(); i-- > 0; inner *= shape[i]) {
      outer /= shape[i];
      int64_t before = starts[i] * inner, behind = (shape[i] - starts[i] - sizes[i]) * inner, row = shape[i] * inner;
      fill(row - behind, outer - 1, row, behind + before);
      first = std::max(first, before);
      last = std::max(last, behind);
    }
    fill(0, 1, first, first);
    fill(all - last, 1, last, last);
    return true;
  }

  // The buffer of a tensor that is read.
  Value bufferOf(Value tensor) {
    if (Value found = buffers.lookup(tensor))
      return found;
    Operation *definition = tensor.getDefiningOp();
    OpBuilder builder(definition->getContext());
    builder.setInsertionPointAfter(definition);
    Value buffer;
    if (auto constant = dyn_cast<arith::ConstantOp>(definition)) {
      buffer = globalOf(builder, constant);
    } else { // no operation has the tensor as its destination
      buffer = allocate(builder, definition->getLoc(), tensor.getType(), sizesOf(builder, tensor));
      if (auto fill = dyn_cast<linalg::FillOp>(definition))
        linalg::FillOp::create(builder, definition->getLoc(), fill.getInputs()[0], buffer);
    }
    return buffers[tensor] = buffer;
  }

  Value globalOf(OpBuilder &builder, arith::ConstantOp constant) {
    MemRefType type = bufferType(constant.getType());
    memref::GlobalOp &global = globals[constant.getValue()];
    if (!global) {
      OpBuilder front = OpBuilder::atBlockBegin(module.getBody());
      std::string name = "calque.constant_" + std::to_string(globals.size() - 1);
      global = memref::GlobalOp::create(front, constant.getLoc(), name, front.getStringAttr("private"), type,
                                        constant.getValue(), /*constant=*/true,
                                        front.getI64IntegerAttr(CALQUE_BUFFER_ALIGNMENT));
    }
    return memref::GetGlobalOp::create(builder, constant.getLoc(), type, global.getSymName());
  }

  // The buffer, or a copy of it whose elements lie one after the other.
  Value dense(OpBuilder &builder, Location location, Value buffer) {
    auto type = cast<MemRefType>(buffer.getType());
    if (type.getLayout().isIdentity())
      return buffer;
    Value made = allocate(builder, location, RankedTensorType::get(type.getShape(), type.getElementType()),
                          memref::getMixedSizes(builder, location, buffer));
    copy(builder, location, buffer, made);
    return made;
  }

  //===-- Operations ------------------------------------------------------------------------------===//

  LogicalResult convert(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
      if (failed(convert(&op)))
        return failure();
    return success();
  }

  LogicalResult convert(Operation *op) {
    OpBuilder builder(op);
    Location location = op->getLoc();
    auto done = [&] {
      dead.push_back(op);
      return success();
    };
    return TypeSwitch<Operation *, LogicalResult>(op)
        .Case<tensor::EmptyOp, linalg::FillOp>([&](auto) { return done(); }) // made where they are used
        .Case([&](arith::ConstantOp constant) { return isTensor(constant) ? done() : success(); })
        .Case([&](linalg::LinalgOp linalgOp) {
          SmallVector<Value> operands;
          for (OpOperand &operand : op->getOpOperands()) {
            if (linalgOp.isDpsInit(&operand))
              operands.push_back(bufferOf(*chains.of(linalgOp.getTiedOpResult(&operand)), builder));
            else
              operands.push_back(isTensor(operand.get()) ? bufferOf(operand.get()) : operand.get());
          }
          Operation *made = cloneWithoutRegions(builder, op, TypeRange(), operands);
          for (auto [from, to] : llvm::zip_equal(op->getRegions(), made->getRegions()))
            to.takeBody(from);
          for (OpOperand &init : linalgOp.getDpsInitsMutable())
            buffers[linalgOp.getTiedOpResult(&init)] = chains.of(linalgOp.getTiedOpResult(&init))->buffer;
          convertReads(made);
          return done();
        })
        .Case([&](tensor::ExpandShapeOp expand) {
          Value source = bufferOf(expand.getSrc());
          FailureOr<MemRefType> type = memref::ExpandShapeOp::computeExpandedType(
              cast<MemRefType>(source.getType()), expand.getResultType().getShape(), expand.getReassociationIndices());
          if (failed(type))
            return failure();
          buffers[expand] = memref::ExpandShapeOp::create(
              builder, location, *type, source, expand.getReassociationIndices(), expand.getMixedOutputShape());
          return done();
        })
        .Case([&](tensor::CollapseShapeOp collapse) {
          Value source = bufferOf(collapse.getSrc());
          SmallVector<ReassociationIndices> groups = collapse.getReassociationIndices();
          if (!memref::CollapseShapeOp::isGuaranteedCollapsible(cast<MemRefType>(source.getType()), groups))
            source = dense(builder, location, source);
          MemRefType type = memref::CollapseShapeOp::computeCollapsedType(cast<MemRefType>(source.getType()), groups);
          buffers[collapse] = memref::CollapseShapeOp::create(builder, location, type, source, groups);
          return done();
        })
        .Case([&](tensor::CastOp cast) {
          Value source = bufferOf(cast.getSource());
          auto from = mlir::cast<MemRefType>(source.getType());
          MemRefType to = MemRefType::get(mlir::cast<RankedTensorType>(cast.getType()).getShape(),
                                          from.getElementType(), from.getLayout());
          buffers[cast] = from == to ? source : memref::CastOp::create(builder, location, to, source).getResult();
          return done();
        })
        .Case([&](tensor::ExtractSliceOp extract) {
          buffers[extract] = subview(builder, bufferOf(extract.getSource()), extract.getType(), extract);
          return done();
        })
        .Case([&](tensor::InsertSliceOp insert) {
          Value whole = bufferOf(*chains.of(insert.getResult()), builder);
          buffers[insert] = whole;
          Chain *part = chains.of(insert.getSource());
          if (!part || part->part != insert)
            copy(builder, location, bufferOf(insert.getSource()),
                 subview(builder, whole, insert.getSourceType(), insert));
          return done();
        })
        .Case([&](tensor::InsertOp insert) {
          Value whole = bufferOf(*chains.of(insert.getResult()), builder);
          memref::StoreOp::create(builder, location, insert.getScalar(), whole, insert.getIndices());
          buffers[insert] = whole;
          return done();
        })
        .Case([&](bufferization::AllocTensorOp alloc) {
          buffers[alloc] = bufferOf(*chains.of(alloc.getResult()), builder);
          return done();
        })
        .Case([&](bufferization::ToTensorOp tensor) {
          buffers[tensor] = tensor.getBuffer();
          return done();
        })
        .Case([&](bufferization::ToBufferOp buffer) {
          buffer.replaceAllUsesWith(dense(builder, location, bufferOf(buffer.getTensor())));
          return done();
        })
        .Case([&](func::CallOp call) { // of a kernel of the runtime, which takes addresses
          for (OpOperand &operand : call->getOpOperands())
            if (isTensor(operand.get()))
              operand.set(addressOf(builder, location, dense(builder, location, bufferOf(operand.get()))));
          auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
          callee.setType(FunctionType::get(callee.getContext(), call->getOperandTypes(), callee.getResultTypes()));
          return success();
        })
        .Case([&](scf::ForOp loop) { return convertLoop(loop); })
        .Default([&](Operation *) {
          convertReads(op);
          if (!llvm::any_of(op->getOperands(), isTensor) && !llvm::any_of(op->getResults(), isTensor))
            return success();
          if (!dead.empty() && dead.back() == op)
            return success();
          op->emitOpError("has tensors, which it has no buffers for");
          return failure();
        });
  }

  // Converts reads of elements and sizes of tensors, in an operation or in its regions.
  void convertReads(Operation *op) {
    op->walk([&](Operation *inner) {
      OpBuilder builder(inner);
      if (auto extract = dyn_cast<tensor::ExtractOp>(inner)) {
        extract.replaceAllUsesWith(
            memref::LoadOp::create(builder, inner->getLoc(), bufferOf(extract.getTensor()), extract.getIndices())
                .getResult());
        dead.push_back(inner);
      } else if (auto dim = dyn_cast<tensor::DimOp>(inner)) {
        dim.replaceAllUsesWith(
            memref::DimOp::create(builder, inner->getLoc(), bufferOf(dim.getSource()), dim.getIndex()).getResult());
        dead.push_back(inner);
      }
    });
  }

  LogicalResult convertLoop(scf::ForOp loop) {
    OpBuilder builder(loop);
    for (auto [result, argument] : llvm::zip_equal(loop.getResults(), loop.getRegionIterArgs()))
      if (isTensor(result)) {
        Value buffer = bufferOf(*chains.of(result), builder);
        buffers[result] = buffer;
        buffers[argument] = buffer;
        chains.of(argument)->buffer = buffer;
      }
    if (failed(convert(*loop.getBody())))
      return failure();
    if (llvm::none_of(loop.getResults(), isTensor))
      return success();

    // The loop without its tensors.
    Operation *yield = loop.getBody()->getTerminator();
    SmallVector<Value> inits, yielded;
    for (auto [init, argument, value] :
         llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs(), yield->getOperands())) {
      if (!isTensor(init)) {
        inits.push_back(init);
        yielded.push_back(value);
      } else if (chains.of(value) != chains.of(argument)) {
        loop.emitOpError("carries a tensor that it doesn't update in place");
        return failure();
      }
    }
    yield->setOperands(yielded);
    auto made =
        scf::ForOp::create(builder, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), inits);
    made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    if (made.getNumResults() == 0)
      made.getBody()->getTerminator()->erase();
    made.getBody()->getOperations().splice(made.getBody()->end(), loop.getBody()->getOperations());
    loop.getInductionVar().replaceAllUsesWith(made.getInductionVar());
    unsigned next = 0;
    for (auto [result, argument] : llvm::zip_equal(loop.getResults(), loop.getRegionIterArgs()))
      if (!isTensor(result)) {
        argument.replaceAllUsesWith(made.getRegionIterArgs()[next]);
        result.replaceAllUsesWith(made.getResults()[next++]);
      }
    dead.push_back(loop);
    return success();
  }

  void returnResults(Block &body) {
    Operation *terminator = body.getTerminator();
    OpBuilder builder(terminator);
    for (auto [number, value] : llvm::enumerate(returned(body))) {
      Chain *chain = chains.of(rootOf(value));
      if (!chain || chain->result != number || chain->returned != value)
        copy(builder, terminator->getLoc(), bufferOf(value), results[number]);
    }
    terminator->setOperands(SmallVector<Value>(terminator->getOperands().take_back(numSizes)));
  }

  // Only erased operations use the results of erased operations.
  void eraseDead(Block &body) {
    for (Operation *op : dead)
      op->dropAllReferences();
    for (Operation *op : dead)
      op->erase();
    body.eraseArguments(0, numArguments);
    function.setType(
        FunctionType::get(function.getContext(), body.getArgumentTypes(), body.getTerminator()->getOperandTypes()));
  }

  ModuleOp module;
  func::FuncOp function;
  unsigned numArguments = 0;
  size_t numSizes; // the function returns the unknown sizes of its results after the tensors
  SmallVector<Value> results;
  Chains chains;
  llvm::DenseMap<Value, Value> buffers;
  llvm::DenseMap<Attribute, memref::GlobalOp> globals;
  SmallVector<Operation *> dead;
};

struct Bufferize : impl::BufferizeBase<Bufferize> {
  void runOnOperation() override {
    FailureOr<Program> program = programIn(getOperation());
    if (failed(program) || failed(checkReturned(program->function, program->sizes)))
      return signalPassFailure();
    // Without optimisations, loops whose results nothing uses are still there. Their destinations belong to no value
    // that is written.
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(program->function.getBody().front())))
      if (isOpTriviallyDead(&op))
        op.erase();
    Bufferizer bufferizer(program->function, program->sizes);
    if (failed(bufferizer.run()))
      return signalPassFailure();
    copies += bufferizer.numCopies;
  }

private:
  // Checks that the function returns tensors, and then their unknown sizes.
  static LogicalResult checkReturned(func::FuncOp program, const ProgramSizes &sizes) {
    Operation *terminator = program.getBody().front().getTerminator();
    size_t numResults = terminator->getNumOperands(), numSizes = sizes.outputs.size();
    auto fits = [&](const UnknownSize &size) { return size.index + numSizes < numResults; };
    if (numSizes > numResults || !llvm::all_of(sizes.outputs, fits) ||
        !llvm::all_of(terminator->getOperands().take_back(numSizes),
                      [](Value size) { return size.getType().isIndex(); }))
      return refuseAttribute(program, kUnknownOutputsAttr, program->getAttr(kUnknownOutputsAttr));
    return success();
  }
};

} // namespace

} // namespace calque::codegen
