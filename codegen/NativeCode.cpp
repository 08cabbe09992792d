#include "codegen/NativeCode.h"

#include "codegen/LinkObject.h"
#include "runtime/LoadedCode.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace calque::codegen {

namespace {

constexpr const char *kEntryName = "calque_entry", *kShapesName = "calque_shapes";

void initializeTarget() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
  });
}

std::unique_ptr<llvm::TargetMachine> makeTargetMachine(const Program &program, std::string &error) {
  initializeTarget();
  llvm::Triple triple(llvm::sys::getProcessTriple());
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  // LLVM must not contract products and sums, so that eager and compiled results are equal bit for bit. Kernels ask for
  // a fused multiply-add explicitly.
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, llvm::sys::getHostCPUName(), Target::host().features, options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
      program.options.optimize ? llvm::CodeGenOptLevel::Default : llvm::CodeGenOptLevel::None));
}

llvm::Value *fieldOf(llvm::IRBuilder<> &builder, llvm::Value *frame, std::size_t offset) {
  return builder.CreateConstGEP1_64(builder.getInt8Ty(), frame, offset);
}

void returnFailed(llvm::IRBuilder<> &builder, llvm::Value *frame) {
  llvm::Value *slot = fieldOf(builder, frame, offsetof(CalqueCallFrame, error) + offsetof(CalqueErrorSlot, failed));
  llvm::Value *failed = builder.CreateLoad(builder.getInt32Ty(), slot);
  builder.CreateRet(builder.CreateZExt(builder.CreateICmpNE(failed, builder.getInt32(0)), builder.getInt32Ty()));
}

// int32_t calque_shapes(CalqueCallFrame *frame): calls the function of shapes on the sizes in the frame, and stores its
// results there.
void addShapes(llvm::Module &module, llvm::Function &function) {
  llvm::IRBuilder<> builder(module.getContext());
  llvm::Type *pointer = builder.getPtrTy(), *i64 = builder.getInt64Ty();
  auto *shapes = llvm::Function::Create(llvm::FunctionType::get(builder.getInt32Ty(), {pointer}, false),
                                        llvm::Function::ExternalLinkage, kShapesName, module);
  builder.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "", shapes));
  llvm::Value *frame = shapes->getArg(0);
  llvm::SmallVector<llvm::Value *> arguments{
      frame, builder.CreateLoad(pointer, fieldOf(builder, frame, offsetof(CalqueCallFrame, output_sizes))),
      fieldOf(builder, frame, offsetof(CalqueCallFrame, workspace_bytes))};
  llvm::Value *sizes = builder.CreateLoad(pointer, fieldOf(builder, frame, offsetof(CalqueCallFrame, input_sizes)));
  for (unsigned i = 0; arguments.size() < function.arg_size(); ++i)
    arguments.push_back(builder.CreateLoad(i64, builder.CreateConstGEP1_64(i64, sizes, i)));
  builder.CreateCall(&function, arguments);
  returnFailed(builder, frame);
  function.setLinkage(llvm::Function::InternalLinkage);
}

// A function with more arguments than this takes them out of the frame where it uses them. LLVM's calling conventions
// and its scheduler take more than linear time for thousands of arguments and for loads that stand together.
constexpr unsigned kMostArguments = 64;

// Moves the body of a function to the end of another one, which has a value for each of its arguments wherever one is
// used, and erases the function. Returns the blocks that returned; each now ends with nothing.
llvm::SmallVector<llvm::BasicBlock *>
moveBody(llvm::Function &from, llvm::Function &to,
         llvm::function_ref<llvm::Value *(unsigned, llvm::IRBuilder<> &)> argument) {
  llvm::SmallVector<llvm::BasicBlock *> returning;
  for (llvm::BasicBlock &block : from)
    if (auto *end = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator())) {
      returning.push_back(&block);
      end->eraseFromParent();
    }
  llvm::IRBuilder<> builder(to.getContext());
  for (llvm::Argument &each : from.args())
    for (llvm::Use &use : llvm::make_early_inc_range(each.uses())) {
      auto *user = llvm::cast<llvm::Instruction>(use.getUser());
      if (auto *phi = llvm::dyn_cast<llvm::PHINode>(user))
        builder.SetInsertPoint(phi->getIncomingBlock(use)->getTerminator());
      else
        builder.SetInsertPoint(user);
      use.set(argument(each.getArgNo(), builder));
    }
  to.splice(to.end(), &from);
  from.eraseFromParent();
  return returning;
}

// int32_t calque_entry(CalqueCallFrame *frame): takes the pointers and sizes out of the frame and calls the function.
void addEntry(llvm::Module &module, llvm::Function &function, unsigned numInputs, unsigned numSizes,
              unsigned numOutputs, bool workspace) {
  llvm::LLVMContext &context = module.getContext();
  llvm::IRBuilder<> builder(context);
  llvm::Type *pointer = builder.getPtrTy();
  auto *entry = llvm::Function::Create(llvm::FunctionType::get(builder.getInt32Ty(), {pointer}, false),
                                       llvm::Function::ExternalLinkage, kEntryName, module);
  llvm::Value *frame = entry->getArg(0);
  // Argument `number` of the function, loaded from the frame.
  auto take = [&](unsigned number, llvm::IRBuilder<> &at) -> llvm::Value * {
    auto element = [&](std::size_t offset, unsigned index, llvm::Type *type) {
      llvm::Value *array = at.CreateLoad(pointer, fieldOf(at, frame, offset));
      return at.CreateLoad(type, at.CreateConstGEP1_64(type, array, index));
    };
    if (number == 0)
      return frame;
    unsigned index = number - 1;
    if (index < numInputs)
      return element(offsetof(CalqueCallFrame, inputs), index, pointer);
    if ((index -= numInputs) < numSizes)
      return element(offsetof(CalqueCallFrame, input_sizes), index, at.getInt64Ty());
    if ((index -= numSizes) < numOutputs)
      return element(offsetof(CalqueCallFrame, outputs), index, pointer);
    return at.CreateLoad(pointer, fieldOf(at, frame, offsetof(CalqueCallFrame, workspace)));
  };
  unsigned numArguments = 1 + numInputs + numSizes + numOutputs + (workspace ? 1 : 0);
  if (numArguments > kMostArguments) {
    for (llvm::BasicBlock *block : moveBody(function, *entry, take)) {
      builder.SetInsertPoint(block);
      returnFailed(builder, frame);
    }
    return;
  }
  builder.SetInsertPoint(llvm::BasicBlock::Create(context, "", entry));
  llvm::SmallVector<llvm::Value *> arguments;
  for (unsigned number = 0; number < numArguments; ++number)
    arguments.push_back(take(number, builder));
  builder.CreateCall(&function, arguments);
  returnFailed(builder, frame);

  function.setLinkage(llvm::Function::InternalLinkage);
  // The outputs and the workspace are distinct buffers, and inputs are only read.
  for (unsigned i = 1; i < function.arg_size(); ++i) {
    if (!function.getArg(i)->getType()->isPointerTy())
      continue;
    function.addParamAttr(i, llvm::Attribute::getWithAlignment(context, llvm::Align(1)));
    if (i > numInputs)
      function.addParamAttr(i, llvm::Attribute::NoAlias);
  }
}

struct Print {
  std::string name;
  int32_t site, dtype;
  llvm::SmallVector<int64_t> dims;
};

// Gives the functions that LowerPrint declared their bodies: calls of calque_rt_print.
void definePrints(llvm::Module &module, llvm::ArrayRef<Print> prints) {
  llvm::LLVMContext &context = module.getContext();
  llvm::IRBuilder<> builder(context);
  llvm::Type *pointer = builder.getPtrTy(), *i32 = builder.getInt32Ty();
  for (const Print &print : prints) {
    llvm::Function *function = module.getFunction(print.name);
    if (!function)
      continue;
    function->setLinkage(llvm::Function::InternalLinkage);
    builder.SetInsertPoint(llvm::BasicBlock::Create(context, "", function));
    unsigned numUnknown = function->arg_size() - 2;
    if (numUnknown) {
      llvm::Type *i64 = builder.getInt64Ty();
      llvm::Value *sizes = builder.CreateAlloca(i64, builder.getInt32(print.dims.size()));
      for (unsigned i = 0, next = 2; i < print.dims.size(); ++i)
        builder.CreateStore(mlir::ShapedType::isDynamic(print.dims[i])
                                ? static_cast<llvm::Value *>(function->getArg(next++))
                                : builder.getInt64(print.dims[i]),
                            builder.CreateConstGEP1_64(i64, sizes, i));
      llvm::FunctionCallee callee =
          module.getOrInsertFunction("calque_rt_print", builder.getVoidTy(), pointer, i32, i32, i32, pointer, pointer);
      builder.CreateCall(callee, {function->getArg(0), builder.getInt32(print.site), builder.getInt32(print.dtype),
                                  builder.getInt32(print.dims.size()), sizes, function->getArg(1)});
      builder.CreateRetVoid();
      continue;
    }
    auto *dims = llvm::ConstantDataArray::get(
        context, llvm::ArrayRef<uint64_t>(reinterpret_cast<const uint64_t *>(print.dims.data()), print.dims.size()));
    auto *global = new llvm::GlobalVariable(module, dims->getType(), true, llvm::GlobalValue::PrivateLinkage, dims,
                                            print.name + "_dims");
    llvm::FunctionCallee callee =
        module.getOrInsertFunction("calque_rt_print", builder.getVoidTy(), pointer, i32, i32, i32, pointer, pointer);
    builder.CreateCall(callee, {function->getArg(0), builder.getInt32(print.site), builder.getInt32(print.dtype),
                                builder.getInt32(print.dims.size()), global, function->getArg(1)});
    builder.CreateRetVoid();
  }
}

// An outlined parallel loop: `call` is the function that stands for the loop, `piece` runs some of its iterations.
struct Parallel {
  std::string call, piece;
  std::optional<int64_t> count; // else the call's first argument
  int64_t grain;
};

// Gives the functions that stand for loops their bodies: they store their arguments in a struct, which the threads
// read, and call calque_rt_parallel_for.
void defineParallels(llvm::Module &module, llvm::ArrayRef<Parallel> parallels) {
  llvm::LLVMContext &context = module.getContext();
  llvm::IRBuilder<> builder(context);
  llvm::Type *pointer = builder.getPtrTy(), *i64 = builder.getInt64Ty(), *nothing = builder.getVoidTy();
  for (const Parallel &parallel : parallels) {
    llvm::Function *call = module.getFunction(parallel.call), *piece = module.getFunction(parallel.piece);
    call->setLinkage(llvm::Function::InternalLinkage);
    piece->setLinkage(llvm::Function::InternalLinkage);
    unsigned firstCapture = parallel.count ? 0 : 1;
    auto *captures = llvm::StructType::get(
        context, llvm::SmallVector<llvm::Type *>(call->getFunctionType()->params().drop_front(firstCapture)));
    auto *thunk = llvm::Function::Create(llvm::FunctionType::get(nothing, {pointer, i64, i64}, false),
                                         llvm::Function::InternalLinkage, parallel.piece + "_thunk", module);

    builder.SetInsertPoint(llvm::BasicBlock::Create(context, "", call));
    llvm::Value *place = builder.CreateAlloca(captures);
    for (unsigned i = firstCapture; i < call->arg_size(); ++i)
      builder.CreateStore(call->getArg(i), builder.CreateStructGEP(captures, place, i - firstCapture));
    llvm::FunctionCallee run =
        module.getOrInsertFunction("calque_rt_parallel_for", nothing, i64, i64, pointer, pointer);
    builder.CreateCall(
        run, {parallel.count ? builder.getInt64(*parallel.count) : static_cast<llvm::Value *>(call->getArg(0)),
              builder.getInt64(parallel.grain), thunk, place});
    builder.CreateRetVoid();

    builder.SetInsertPoint(llvm::BasicBlock::Create(context, "", thunk));
    llvm::SmallVector<llvm::Value *> arguments{thunk->getArg(1), thunk->getArg(2)};
    for (auto [i, type] : llvm::enumerate(captures->elements()))
      arguments.push_back(builder.CreateLoad(type, builder.CreateStructGEP(captures, thunk->getArg(0), i)));
    builder.CreateCall(piece, arguments);
    builder.CreateRetVoid();
  }
}

// Cuts the long blocks of a program, which is a list of calls. LLVM selects and schedules the instructions of a block
// together, in more than linear time.
void splitBlocks(llvm::Function &program) {
  constexpr unsigned kLongestBlock = 256;
  llvm::SmallVector<llvm::BasicBlock *> blocks;
  for (llvm::BasicBlock &block : program)
    blocks.push_back(&block);
  for (llvm::BasicBlock *block : blocks)
    for (unsigned length = block->size(); length > kLongestBlock; length -= kLongestBlock)
      block = block->splitBasicBlock(std::next(block->getFirstNonPHIIt(), kLongestBlock - 1));
}

bool runPasses(llvm::Module &module, llvm::TargetMachine &machine, std::string &error) {
  llvm::PassBuilder passes(&machine);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(components);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, components, modules);
  // The kernels have vectors and tiles already, so LLVM's passes only clean up. With its standard pipeline a training
  // step takes more than twice as long to compile and is no faster.
  llvm::ModulePassManager pipeline;
  if (llvm::Error failure = passes.parsePassPipeline(
          pipeline, "always-inline,function(sroa,early-cse<memssa>,simplifycfg,loop-mssa(loop-rotate,licm),"
                    "instcombine<no-verify-fixpoint>,early-cse<memssa>,simplifycfg)")) {
    error = llvm::toString(std::move(failure));
    return false;
  }
  pipeline.run(module, modules);
  return true;
}

std::unique_ptr<llvm::Module> translate(Program &program, llvm::LLVMContext &context, unsigned numInputs,
                                        unsigned numOutputs, llvm::TargetMachine &machine, std::string &error) {
  llvm::SmallVector<Print> prints;
  llvm::SmallVector<Parallel> parallels;
  program.module->walk([&](mlir::LLVM::LLVMFuncOp function) {
    if (auto parallel = function->getAttrOfType<mlir::DictionaryAttr>(kParallelAttr))
      parallels.push_back({function.getName().str(), parallel.getAs<mlir::StringAttr>("piece").str(),
                           parallel.contains("count")
                               ? std::optional(parallel.getAs<mlir::IntegerAttr>("count").getInt())
                               : std::nullopt,
                           parallel.getAs<mlir::IntegerAttr>("grain").getInt()});
    auto print = function->getAttrOfType<mlir::DictionaryAttr>("calque.print");
    if (!print)
      return;
    llvm::ArrayRef<int64_t> dims = print.getAs<mlir::DenseI64ArrayAttr>("dims").asArrayRef();
    prints.push_back({function.getName().str(), static_cast<int32_t>(print.getAs<mlir::IntegerAttr>("site").getInt()),
                      static_cast<int32_t>(print.getAs<mlir::IntegerAttr>("dtype").getInt()),
                      llvm::SmallVector<int64_t>(dims)});
  });
  std::unique_ptr<llvm::Module> module = mlir::translateModuleToLLVMIR(*program.module, context);
  if (!module) {
    error = "translation to LLVM IR failed";
    return nullptr;
  }
  module->setDataLayout(machine.createDataLayout());
  module->setTargetTriple(machine.getTargetTriple());
  definePrints(*module, prints);
  defineParallels(*module, parallels);
  llvm::Function *function = module->getFunction(program.entry);
  unsigned numSizes = program.unknownInputs.size();
  addEntry(*module, *function, numInputs, numSizes, numOutputs,
           function->arg_size() > 1 + numInputs + numSizes + numOutputs);
  if (program.hasShapes())
    addShapes(*module, *module->getFunction(kShapeFunction));
  if (llvm::verifyModule(*module)) {
    error = "the LLVM IR does not verify";
    return nullptr;
  }

  llvm::SmallVector<llvm::Function *> opaque;
  // LLVM must not fold calls of libm with constant arguments: its results have other bits than those at run time.
  for (llvm::Function &each : *module) {
    each.addFnAttr("no-builtins");
    if (!each.getName().starts_with(kOpaquePrefix))
      continue;
    opaque.push_back(&each);
    each.setDoesNotAccessMemory();
    each.setDoesNotThrow();
    each.setWillReturn();
    each.setSpeculatable();
  }
  if (program.options.optimize && !runPasses(*module, machine, error))
    return nullptr;
  for (llvm::StringRef name : {llvm::StringRef(program.entry), llvm::StringRef(kEntryName)})
    if (llvm::Function *each = module->getFunction(name))
      splitBlocks(*each);
  for (llvm::Function *each : opaque) {
    for (llvm::User *call : llvm::make_early_inc_range(each->users())) {
      call->replaceAllUsesWith(llvm::cast<llvm::CallInst>(call)->getArgOperand(0));
      llvm::cast<llvm::CallInst>(call)->eraseFromParent();
    }
    each->eraseFromParent();
  }
  return module;
}

std::string emit(llvm::Module &module, llvm::TargetMachine &machine, llvm::CodeGenFileType type,
                 llvm::SmallVectorImpl<char> &bytes) {
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager manager;
  if (machine.addPassesToEmitFile(manager, stream, nullptr, type))
    return "this CPU's target emits no code";
  manager.run(module);
  return "";
}

struct LoadedExecutable : Executable {
  std::shared_ptr<const runtime::LoadedCode> code;
};

std::atomic<const runtime::RuntimeFunction *> runtimeFunctions{nullptr};

//===-- The end of the process ------------------------------------------------------------------===//

std::atomic<bool> isEnding{false};
std::atomic<int> uses{0};
constinit thread_local int ownUses = 0;

// Compilations of other threads are waited for. One of this thread has called exit() itself.
void end() {
  isEnding = true;
  while (uses.load() > ownUses)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// LLVM's libraries are loaded before this one, so their static objects end after this one has.
struct AtEnd {
  ~AtEnd() { end(); }
} atEnd;

// LLVM and MLIR make some of their static objects in the first programs that need them; what is registered after these
// runs before they end.
void endBeforeWhatIsThere() {
  static std::atomic<unsigned> programs{0};
  if (llvm::isPowerOf2_32(++programs))
    std::atexit(end);
}

} // namespace

void setRuntimeFunctions(const runtime::RuntimeFunction *functions) { runtimeFunctions = functions; }

CompilerUse::CompilerUse() : allowed(true) {
  ++uses;
  ++ownUses;
  allowed = !isEnding;
}
CompilerUse::~CompilerUse() {
  if (allowed)
    endBeforeWhatIsThere();
  --ownUses;
  --uses;
}

NativeResult makeExecutable(Program &program, unsigned numInputs, unsigned numOutputs) {
  NativeResult result;
  std::unique_ptr<llvm::TargetMachine> machine = makeTargetMachine(program, result.error);
  if (!machine)
    return result;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = translate(program, context, numInputs, numOutputs, *machine, result.error);
  if (!module)
    return result;
  llvm::SmallVector<char, 0> bytes;
  result.error = emit(*module, *machine, llvm::CodeGenFileType::ObjectFile, bytes);
  if (!result.error.empty())
    return result;

  llvm::SmallVector<llvm::StringRef> exports{kEntryName};
  if (program.hasShapes())
    exports.push_back(kShapesName);
  LinkResult linked = linkObject({bytes.data(), bytes.size()}, exports);
  if (!linked.image) {
    result.error = std::move(linked.error);
    return result;
  }
  const runtime::Image *images[] = {&*linked.image};
  runtime::LoadResult loaded = runtime::LoadedCode::load(images, runtimeFunctions);
  if (!loaded.code) {
    result.error = std::move(loaded.error);
    return result;
  }

  auto executable = std::make_shared<LoadedExecutable>();
  executable->entry = reinterpret_cast<CalqueEntry>(loaded.code->find(0, kEntryName));
  if (program.hasShapes()) {
    executable->shapes = reinterpret_cast<CalqueEntry>(loaded.code->find(0, kShapesName));
    executable->unknownInputs = program.unknownInputs;
    executable->unknownOutputs = program.unknownOutputs;
  }
  executable->code = std::move(loaded.code);
  executable->workspaceBytes = program.workspaceBytes;
  executable->assigned = program.assigned;
  executable->sites = program.sites;
  result.executable = std::move(executable);
  return result;
}

std::string assembly(Program &program, unsigned numInputs, unsigned numOutputs, std::string &error) {
  std::unique_ptr<llvm::TargetMachine> machine = makeTargetMachine(program, error);
  if (!machine)
    return "";
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = translate(program, context, numInputs, numOutputs, *machine, error);
  llvm::SmallVector<char, 0> bytes;
  if (module)
    error = emit(*module, *machine, llvm::CodeGenFileType::AssemblyFile, bytes);
  return std::string(bytes.begin(), bytes.end());
}

} // namespace calque::codegen
