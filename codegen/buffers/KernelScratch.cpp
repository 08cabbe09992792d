// Gives each kernel the memory that it needs for itself as its last argument. A second function of the same arguments
// computes how many bytes that is, so that the caller need not know what the kernel does.
#include "codegen/KernelAttributes.h"
#include "codegen/Passes.h"
#include "codegen/lowering/ShapeFunction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

namespace calque::codegen {

#define GEN_PASS_DEF_PASSSCRATCH
#include "codegen/Passes.h.inc"

namespace {

// Erases a buffer or view if nothing but unused views takes it.
bool eraseUnused(Operation *buffer) {
  for (Operation *user : llvm::make_early_inc_range(buffer->getUsers()))
    if (!isa<ViewLikeOpInterface>(user) || !eraseUnused(user))
      return false;
  buffer->erase();
  return true;
}

// Emits the number of bytes of buffers at a place of a function. The sizes of the buffers must follow from the kernel's
// arguments.
class Bytes {
public:
  Bytes(OpBuilder builder, func::FuncOp kernel, func::FuncOp function)
      : builder(builder), location(kernel.getLoc()), total(number(0)) {
    for (BlockArgument argument : kernel.getArguments())
      mapping.map(argument, function.getArgument(argument.getArgNumber()));
  }

  // The sizes of a buffer. Fails if they do not follow from the kernel's arguments.
  FailureOr<SmallVector<Value>> sizesOf(memref::AllocOp alloc) {
    SmallVector<Value> sizes;
    for (Value size : alloc.getDynamicSizes())
      if (Value value = cloneSize(builder, size, mapping))
        sizes.push_back(value);
    if (sizes.size() == alloc.getDynamicSizes().size())
      return sizes;
    alloc.emitOpError("has no known size");
    return failure();
  }
  void add(memref::AllocOp alloc, ValueRange sizes) {
    Value bytes = emitBytes(builder, location, alloc.getType(), sizes, Value(), std::nullopt);
    total = builder.createOrFold<arith::AddIOp>(location, total, bytes);
  }
  Value number(int64_t value) { return arith::ConstantOp::create(builder, location, builder.getI64IntegerAttr(value)); }

  OpBuilder builder;
  Location location;
  IRMapping mapping;
  Value total; // of all buffers so far
};

LogicalResult passScratch(func::FuncOp kernel) {
  SmallVector<memref::AllocOp> scratch;
  kernel.walk([&](memref::AllocOp alloc) { scratch.push_back(alloc); });
  llvm::erase_if(scratch, [](memref::AllocOp alloc) { return eraseUnused(alloc); });
  if (scratch.empty())
    return success();
  OpBuilder outside(kernel);
  Location location = kernel.getLoc();
  auto result = MemRefType::get({1}, outside.getI64Type());
  SmallVector<Type> types(kernel.getArgumentTypes());
  types.push_back(result);
  auto function = func::FuncOp::create(outside, location, (kernel.getName() + kScratchSuffix).str(),
                                       outside.getFunctionType(types, {}));
  function.setPrivate();
  function->setAttr(kKernelAttr, outside.getUnitAttr());
  Block *needed = function.addEntryBlock();
  Bytes inFunction(OpBuilder::atBlockEnd(needed), kernel, function);

  auto memory = MemRefType::get({1}, outside.getI8Type());
  auto noAlias = outside.getDictionaryAttr(outside.getNamedAttr(kNoAlias, outside.getUnitAttr()));
  unsigned last = kernel.getNumArguments();
  Bytes inKernel(OpBuilder::atBlockBegin(&kernel.getBody().front()), kernel, kernel);
  if (failed(kernel.insertArgument(last, memory, noAlias, location)))
    return failure();
  for (memref::AllocOp alloc : scratch) {
    auto needed = inFunction.sizesOf(alloc), sizes = inKernel.sizesOf(alloc);
    if (failed(needed) || failed(sizes))
      return failure();
    OpBuilder &front = inKernel.builder;
    Value start = front.createOrFold<arith::IndexCastOp>(location, front.getIndexType(), inKernel.total);
    Value view =
        memref::ViewOp::create(front, alloc.getLoc(), alloc.getType(), kernel.getArgument(last), start, *sizes);
    inFunction.add(alloc, *needed);
    inKernel.add(alloc, *sizes);
    alloc.replaceAllUsesWith(view);
  }
  // Not earlier, because the builder's insertion point may be one of these buffers.
  for (memref::AllocOp alloc : scratch)
    alloc.erase();
  OpBuilder &builder = inFunction.builder;
  memref::StoreOp::create(builder, location, inFunction.total, function.getArgument(last),
                          ValueRange{arith::ConstantIndexOp::create(builder, location, 0)});
  func::ReturnOp::create(builder, location);
  return success();
}

struct PassScratch : impl::PassScratchBase<PassScratch> {
  void runOnOperation() override {
    for (auto kernel : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (isKernel(kernel) && failed(passScratch(kernel)))
        return signalPassFailure();
    // Only the program calls kernels. The module of a kernel that is compiled alone has no program, and its long parts
    // need not be searched.
    const SymbolTable symbols(getOperation());
    for (auto program : getOperation().getOps<func::FuncOp>())
      if (!program.isPrivate())
        program.walk([&](func::CallOp call) {
          auto kernel = symbols.lookup<func::FuncOp>(call.getCallee());
          if (kernel.getNumArguments() == call.getNumOperands())
            return;
          OpBuilder builder(call);
          auto type = cast<MemRefType>(kernel.getArgumentTypes().back());
          call.getOperandsMutable().append(memref::AllocOp::create(builder, call.getLoc(), type).getResult());
        });
  }
};

} // namespace

} // namespace calque::codegen
