#include "codegen/KernelAttributes.h"
#include "codegen/Passes.h"
#include "codegen/plan/PlanWords.h"
#include "ir/ElementType.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace calque::codegen {

#define GEN_PASS_DEF_MAKENUMBERS
#include "codegen/Passes.h.inc"

namespace {

bool isArithmetic(Operation *op) { return op->getNumRegions() == 0 && isMemoryEffectFree(op); }

// What is computed of a word: a number, or how far a view lies behind the beginning of the workspace.
Value numberOf(Value computed) {
  auto view = computed.getDefiningOp<memref::ViewOp>();
  return view ? view.getByteShift() : computed;
}

// Clones the arithmetic that the words follow from. A long program has long chains of it.
void cloneArithmetic(Block &body, ArrayRef<std::pair<Value, uint32_t>> words, OpBuilder &builder, IRMapping &mapping) {
  SmallVector<Value> wanted = llvm::map_to_vector(words, [](auto &word) { return numberOf(word.first); });
  llvm::DenseSet<Operation *> needed;
  while (!wanted.empty())
    if (Operation *op = wanted.pop_back_val().getDefiningOp(); op && isArithmetic(op) && needed.insert(op).second)
      llvm::append_range(wanted, op->getOperands());
  for (Operation &op : body)
    if (needed.contains(&op) &&
        llvm::all_of(op.getOperands(), [&](Value operand) { return mapping.contains(operand); }))
      builder.clone(op, mapping);
}

struct MakeNumbers : impl::MakeNumbersBase<MakeNumbers> {
  void runOnOperation() override {
    FailureOr<Program> program = programIn(getOperation());
    if (failed(program))
      return signalPassFailure();
    PlanWords words(program->function, program->sizes);
    if (failed(words.forEachStep([](func::CallOp, ArrayRef<runtime::Operand>) {})))
      return signalPassFailure();
    computed += words.computed().size();
    if (!words.computed().empty() && failed(makeNumbers(program->function, program->sizes, words.computed())))
      signalPassFailure();
  }

private:
  // Makes the function of the words: (address of the words, the workspace, the unknown sizes).
  static LogicalResult makeNumbers(func::FuncOp program, const ProgramSizes &sizes,
                                   ArrayRef<std::pair<Value, uint32_t>> words) {
    OpBuilder builder = OpBuilder::atBlockEnd(program->getBlock());
    Location location = program.getLoc();
    Type i64 = builder.getI64Type();
    SmallVector<Type> types{MemRefType::get({static_cast<int64_t>(words.size())}, i64), i64};
    types.append(sizes.inputs.size(), builder.getIndexType());
    auto function = func::FuncOp::create(builder, location, kNumbersFunction, builder.getFunctionType(types, {}));
    function->setAttr(kKernelAttr, builder.getUnitAttr());
    Block *block = function.addEntryBlock();
    builder.setInsertionPointToEnd(block);
    IRMapping mapping;
    for (auto [number, size] : llvm::enumerate(block->getArguments().drop_front(2)))
      mapping.map(program.getArgument(sizes.firstSize() + number), size);
    cloneArithmetic(program.getBody().front(), words, builder, mapping);
    for (auto [word, number] : words) {
      Value made = mapping.lookupOrNull(numberOf(word));
      if (!made)
        return emitError(word.getLoc(), "a number of the program follows from something else than sizes");
      if (made.getType().isIndex())
        made = arith::IndexCastOp::create(builder, location, i64, made);
      else if (made.getType().isFloat())
        made = arith::BitcastOp::create(builder, location, ir::ElementType(made).asBits(), made);
      if (made.getType() != i64)
        made = arith::ExtUIOp::create(builder, location, i64, made);
      if (word.getDefiningOp<memref::ViewOp>())
        made = arith::AddIOp::create(builder, location, made, block->getArgument(1));
      memref::StoreOp::create(builder, location, made, block->getArgument(0),
                              ValueRange{arith::ConstantIndexOp::create(builder, location, number)});
    }
    func::ReturnOp::create(builder, location);
    return success();
  }
};

} // namespace
} // namespace calque::codegen
