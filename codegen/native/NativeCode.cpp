#include "codegen/native/NativeCode.h"
#include "codegen/KernelAttributes.h"
#include "codegen/native/Target.h"

#include "codegen/native/LinkObject.h"
#include "codegen/native/MaskedStores.h"
#include "codegen/native/TimeReport.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/Scalar.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>

namespace calque::codegen {

std::string tripleOf(runtime::Cpu cpu) {
  return cpu == runtime::Cpu::Aarch64 ? "aarch64-unknown-linux-gnu" : llvm::sys::getProcessTriple();
}

namespace {

void initializeTarget() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
  });
}

// For code ahead of time.
void initializeAarch64() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    LLVMInitializeAArch64AsmParser();
  });
}

std::unique_ptr<llvm::TargetMachine> makeTargetMachine(CompileOptions compileOptions, std::string &error) {
  initializeTarget();
  if (compileOptions.cpu == runtime::Cpu::Aarch64)
    initializeAarch64();
  llvm::Triple triple(tripleOf(compileOptions.cpu));
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  const Target &cpu = Target::of(compileOptions.cpu);
  llvm::TargetOptions options;
  // LLVM must not contract products and sums, so that eager and compiled results are equal bit for bit. Kernels ask for
  // a fused multiply-add explicitly.
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, cpu.model, cpu.features, options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
      compileOptions.optimize ? llvm::CodeGenOptLevel::Default : llvm::CodeGenOptLevel::None));
}

// LLVM's target and passes. To make them takes longer than to compile a small kernel, so they are kept.
class Backend {
public:
  static std::unique_ptr<Backend> make(CompileOptions options, std::string &error) {
    std::unique_ptr<llvm::TargetMachine> machine = makeTargetMachine(options, error);
    return machine ? std::make_unique<Backend>(options, std::move(machine)) : nullptr;
  }

  Backend(CompileOptions options, std::unique_ptr<llvm::TargetMachine> target)
      : optimizes(options.optimize), cpu(options.cpu), machine(std::move(target)), passes(machine.get()) {
    passes.registerModuleAnalyses(modules);
    passes.registerCGSCCAnalyses(components);
    passes.registerFunctionAnalyses(functions);
    passes.registerLoopAnalyses(loops);
    passes.crossRegisterProxies(loops, functions, components, modules);
    // The kernels have vectors and tiles already, so LLVM's passes only clean up. With its standard pipeline a training
    // step takes more than twice as long to compile and is no faster.
    llvm::cantFail(passes.parsePassPipeline(
        pipeline, "always-inline,function(sroa,early-cse<memssa>,simplifycfg,loop-mssa(loop-rotate,licm),"
                  "instcombine<no-verify-fixpoint>,early-cse<memssa>,simplifycfg)"));
  }

  bool isFor(const CompileOptions &options) const { return optimizes == options.optimize && cpu == options.cpu; }
  Backend *next = nullptr; // of those that are idle

  llvm::TargetMachine &target() { return *machine; }

  void optimize(llvm::Module &module) {
    pipeline.run(module, modules);
    modules.clear(); // what the other managers know of the module goes with it
  }

private:
  const bool optimizes;
  const runtime::Cpu cpu;
  std::unique_ptr<llvm::TargetMachine> machine;
  llvm::PassBuilder passes;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::ModulePassManager pipeline;
};

// Calls a function with a backend that nothing else uses meanwhile; without one, returns the reason.
std::string withBackend(CompileOptions options, llvm::function_ref<void(Backend &)> use) {
  static constinit std::mutex mutex; // under which nothing is allocated, as that may leave it locked
  // Of all options. Never destroyed, as LLVM's own objects may be gone by then.
  static constinit Backend *idle = nullptr;
  Backend *backend = nullptr;
  {
    std::lock_guard lock(mutex);
    Backend **at = &idle;
    while (*at && !(*at)->isFor(options))
      at = &(*at)->next;
    if ((backend = *at))
      *at = backend->next;
  }
  std::string error;
  if (!backend && !(backend = Backend::make(options, error).release()))
    return error;
  use(*backend);
  std::lock_guard lock(mutex);
  backend->next = idle;
  idle = backend;
  return error;
}

// A kernel with more arguments than this loads its words where it uses them. LLVM's calling conventions and its
// scheduler take more than linear time for thousands of arguments and for loads that stand together.
constexpr unsigned kMostArguments = 64;

// Moves the body of a function to the end of another one, which has a value for each of its arguments wherever one is
// used.
void moveBody(llvm::Function &from, llvm::Function &to,
              llvm::function_ref<llvm::Value *(unsigned, llvm::IRBuilder<> &)> argument) {
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
}

// LLVM's passes take time for each function, however short, so that one that is called in one place becomes a part of
// its caller.
void becomePartOfCaller(llvm::Function &function) {
  function.setLinkage(llvm::Function::InternalLinkage);
  function.addFnAttr(llvm::Attribute::AlwaysInline);
}

// Gives a kernel the calling convention of the runtime: void kernel(const int64_t *words). Returns the kernel if it
// has many arguments.
llvm::Function *takeWords(llvm::Module &module, llvm::Function &function) {
  llvm::LLVMContext &context = module.getContext();
  std::string name = function.getName().str();
  function.setName(name + ".body");
  llvm::IRBuilder<> builder(context);
  auto *kernel = llvm::Function::Create(llvm::FunctionType::get(builder.getVoidTy(), {builder.getPtrTy()}, false),
                                        llvm::Function::ExternalLinkage, name, module);
  auto word = [&](unsigned number, llvm::IRBuilder<> &at) -> llvm::Value * {
    llvm::Value *place = at.CreateConstGEP1_64(at.getInt64Ty(), kernel->getArg(0), number);
    return at.CreateLoad(function.getArg(number)->getType(), place);
  };
  if (function.arg_size() > kMostArguments) {
    moveBody(function, *kernel, word);
    function.eraseFromParent();
    return kernel;
  }
  becomePartOfCaller(function);
  builder.SetInsertPoint(llvm::BasicBlock::Create(context, "", kernel));
  llvm::SmallVector<llvm::Value *> arguments;
  for (unsigned number = 0; number < function.arg_size(); ++number)
    arguments.push_back(word(number, builder));
  builder.CreateCall(&function, arguments);
  builder.CreateRetVoid();
  return nullptr;
}

// An outlined parallel loop: `call` is the function that stands for the loop, `piece` runs some of its iterations. A
// kernel that is one loop as a whole is its `call`, and returns the number of iterations.
struct Parallel {
  std::string call, piece;
  std::optional<int64_t> count; // else the call's first argument
  int64_t grain;
};

// Gives a kernel that is one loop the calling convention of the runtime, and makes the function that says what the loop
// is (runtime/Kernels.h). A piece reads the kernel's words.
void takeWordsOfLoop(llvm::Module &module, llvm::Function &function, const Parallel &loop) {
  llvm::LLVMContext &context = module.getContext();
  llvm::IRBuilder<> builder(context);
  llvm::Type *pointer = builder.getPtrTy(), *i64 = builder.getInt64Ty(), *nothing = builder.getVoidTy();
  std::string name = function.getName().str();
  llvm::Function *piece = module.getFunction(loop.piece);
  function.setName(name + ".count");
  becomePartOfCaller(function);
  becomePartOfCaller(*piece);
  auto wordsOf = [&](llvm::Value *words, llvm::SmallVectorImpl<llvm::Value *> &arguments) {
    for (auto [number, type] : llvm::enumerate(function.getFunctionType()->params()))
      arguments.push_back(builder.CreateLoad(type, builder.CreateConstGEP1_64(i64, words, number)));
  };
  auto begin = [&](llvm::FunctionType *type, llvm::GlobalValue::LinkageTypes linkage, const std::string &called) {
    auto *made = llvm::Function::Create(type, linkage, called, module);
    builder.SetInsertPoint(llvm::BasicBlock::Create(context, "", made));
    return made;
  };
  auto *thunk = begin(llvm::FunctionType::get(nothing, {pointer, i64, i64}, false), llvm::Function::InternalLinkage,
                      loop.piece + "_thunk");
  llvm::SmallVector<llvm::Value *> ofPiece{thunk->getArg(1), thunk->getArg(2)};
  wordsOf(thunk->getArg(0), ofPiece);
  builder.CreateCall(piece, ofPiece);
  builder.CreateRetVoid();

  auto *kernelType = llvm::FunctionType::get(nothing, {pointer}, false);
  auto *kernel = begin(kernelType, llvm::Function::ExternalLinkage, name);
  llvm::SmallVector<llvm::Value *> ofCount;
  wordsOf(kernel->getArg(0), ofCount);
  llvm::FunctionCallee run = module.getOrInsertFunction("calque_rt_parallel_for", nothing, i64, i64, pointer, pointer);
  builder.CreateCall(run,
                     {builder.CreateCall(&function, ofCount), builder.getInt64(loop.grain), thunk, kernel->getArg(0)});
  builder.CreateRetVoid();

  auto *pieces = begin(kernelType, llvm::Function::ExternalLinkage, name + kPiecesSuffix.str());
  ofCount.clear();
  wordsOf(pieces->getArg(0), ofCount);
  llvm::Value *place = builder.CreateLoad(pointer, builder.CreateConstGEP1_64(i64, pieces->getArg(0), ofCount.size()));
  llvm::Value *parts[] = {builder.CreateCall(&function, ofCount), builder.getInt64(loop.grain), thunk};
  static_assert(offsetof(runtime::Pieces, count) == 0 && offsetof(runtime::Pieces, grain) == 8 &&
                offsetof(runtime::Pieces, body) == 16);
  for (auto [number, part] : llvm::enumerate(parts))
    builder.CreateStore(part, builder.CreateConstGEP1_64(i64, place, number));
  builder.CreateRetVoid();
}

// Gives the functions that stand for loops their bodies: they store their arguments in a struct, which the threads
// read, and call calque_rt_parallel_for.
void defineParallels(llvm::Module &module, llvm::ArrayRef<Parallel> parallels) {
  llvm::LLVMContext &context = module.getContext();
  llvm::IRBuilder<> builder(context);
  llvm::Type *pointer = builder.getPtrTy(), *i64 = builder.getInt64Ty(), *nothing = builder.getVoidTy();
  for (const Parallel &parallel : parallels) {
    llvm::Function *call = module.getFunction(parallel.call), *piece = module.getFunction(parallel.piece);
    becomePartOfCaller(*call);
    becomePartOfCaller(*piece);
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

// Cuts the long blocks of a function. LLVM selects and schedules the instructions of a block
// together, in more than linear time.
void splitBlocks(llvm::Function &function) {
  constexpr unsigned kLongestBlock = 256;
  llvm::SmallVector<llvm::BasicBlock *> blocks;
  for (llvm::BasicBlock &block : function)
    blocks.push_back(&block);
  for (llvm::BasicBlock *block : blocks) {
    // The values that a loop carries stay at the block's begin.
    auto length = static_cast<unsigned>(std::distance(block->getFirstNonPHIIt(), block->end()));
    for (; length > kLongestBlock; length -= kLongestBlock - 1)
      block = block->splitBasicBlock(std::next(block->getFirstNonPHIIt(), kLongestBlock - 1));
  }
}

// The functions that the runtime calls.
std::vector<std::string> exportsOf(mlir::ModuleOp kernels) {
  std::vector<std::string> names;
  for (auto function : kernels.getOps<mlir::LLVM::LLVMFuncOp>())
    if (function->hasAttr(kKernelAttr)) {
      names.push_back(function.getName().str());
      if (function->hasAttr(kParallelAttr))
        names.push_back(names.back() + kPiecesSuffix.str());
    }
  return names;
}

std::vector<std::string> kernelNames(mlir::ModuleOp kernels) {
  std::vector<std::string> names;
  for (auto function : kernels.getOps<mlir::LLVM::LLVMFuncOp>())
    if (function->hasAttr(kKernelAttr))
      names.push_back(function.getName().str());
  return names;
}

// The smallest vector register, in bits.
constexpr unsigned kRegisterBits = 128;

// A vector of a whole register, of which code generation knows nothing.
llvm::Value *hide(llvm::IRBuilder<> &builder, llvm::Value *vector) {
  // As integers: few processors have registers for vectors of halves.
  llvm::Type *own = vector->getType(), *type = llvm::FixedVectorType::get(builder.getInt32Ty(), kRegisterBits / 32);
  const bool isX86 = builder.GetInsertBlock()->getModule()->getTargetTriple().isX86();
  auto *same = llvm::InlineAsm::get(llvm::FunctionType::get(type, {type}, false), "", isX86 ? "=x,0" : "=w,0",
                                    /*hasSideEffects=*/false);
  return builder.CreateBitCast(builder.CreateCall(same, {builder.CreateBitCast(vector, type)}), own);
}

// Replaces the call of an opaque function by its operand. A vector stays opaque to code generation where the CPU has no
// masks: LLVM then loads and stores lanes one by one, and would leave what it likes in those that are not stored, as
// zeros to divide by zeros.
void showOperand(llvm::CallInst &call, CompileOptions options) {
  llvm::Value *operand = call.getArgOperand(0);
  llvm::IRBuilder<> builder(&call);
  const bool fillsRegister =
      operand->getType()->isVectorTy() && operand->getType()->getPrimitiveSizeInBits() == kRegisterBits;
  if (fillsRegister && options.cpu == runtime::Cpu::Baseline)
    operand = hide(builder, operand);
  call.replaceAllUsesWith(operand);
  call.eraseFromParent();
}

// Divides as a vector of a whole register, whose other lanes repeat the first one.
llvm::Value *divideWide(llvm::BinaryOperator &division) {
  auto *type = llvm::cast<llvm::FixedVectorType>(division.getType());
  auto own = llvm::to_vector(llvm::seq<int>(0, static_cast<int>(type->getNumElements()))), all = own;
  all.resize(kRegisterBits / type->getScalarSizeInBits(), 0);
  llvm::IRBuilder<> builder(&division);
  auto widened = [&](unsigned operand) {
    return hide(builder, builder.CreateShuffleVector(division.getOperand(operand), all));
  };
  llvm::Value *dividend = widened(0), *divisor = widened(1);
  return builder.CreateShuffleVector(builder.CreateFDiv(dividend, divisor), own);
}

// Calls an intrinsic for each lane, as a CPU does that has it for scalars alone.
llvm::Value *callForEachLane(llvm::IntrinsicInst &call) {
  auto *type = llvm::cast<llvm::FixedVectorType>(call.getType());
  llvm::IRBuilder<> builder(&call);
  llvm::Value *result = llvm::PoisonValue::get(type);
  for (unsigned lane = 0; lane < type->getNumElements(); ++lane) {
    llvm::SmallVector<llvm::Value *> operands;
    for (llvm::Value *operand : call.args())
      operands.push_back(builder.CreateExtractElement(operand, lane));
    llvm::Value *element = builder.CreateIntrinsic(call.getIntrinsicID(), {type->getElementType()}, operands);
    result = builder.CreateInsertElement(result, element, lane);
  }
  return result;
}

// LLVM computes vectors that are shorter than a register as vectors of a whole one, with what it likes in the other
// lanes. That must raise no exception: it would divide zeros by zeros, and multiply what registers held before.
void keepToOwnLanes(llvm::Module &module, CompileOptions options) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &each : llvm::make_early_inc_range(llvm::instructions(function))) {
      if (!each.getType()->isVectorTy() || each.getType()->getPrimitiveSizeInBits() >= kRegisterBits)
        continue;
      auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&each);
      llvm::Value *result = nullptr;
      if (each.getOpcode() == llvm::Instruction::FDiv)
        result = divideWide(llvm::cast<llvm::BinaryOperator>(each));
      else if (call && call->getIntrinsicID() == llvm::Intrinsic::fma && options.cpu == runtime::Cpu::Baseline)
        result = callForEachLane(*call);
      if (!result)
        continue;
      each.replaceAllUsesWith(result);
      each.eraseFromParent();
    }
}

std::unique_ptr<llvm::Module> translate(mlir::ModuleOp kernels, CompileOptions options, llvm::LLVMContext &context,
                                        Backend &backend, std::string &error) {
  llvm::SmallVector<Parallel> parallels;
  for (auto function : kernels.getOps<mlir::LLVM::LLVMFuncOp>())
    if (auto parallel = function->getAttrOfType<mlir::DictionaryAttr>(kParallelAttr))
      parallels.push_back({function.getName().str(), parallel.getAs<mlir::StringAttr>("piece").str(),
                           parallel.contains("count")
                               ? std::optional(parallel.getAs<mlir::IntegerAttr>("count").getInt())
                               : std::nullopt,
                           parallel.getAs<mlir::IntegerAttr>("grain").getInt()});
  std::vector<std::string> names = kernelNames(kernels);
  llvm::StringMap<Parallel> wholes;
  llvm::erase_if(parallels, [&](const Parallel &parallel) {
    return llvm::is_contained(names, parallel.call) && wholes.try_emplace(parallel.call, parallel).second;
  });
  std::optional<TimedStep> step(std::in_place, options, Stage::Object, "translate-to-llvm-ir");
  std::unique_ptr<llvm::Module> module = mlir::translateModuleToLLVMIR(kernels, context);
  if (!module) {
    error = "translation to LLVM IR failed";
    return nullptr;
  }
  module->setDataLayout(backend.target().createDataLayout());
  module->setTargetTriple(backend.target().getTargetTriple());
  defineParallels(*module, parallels);
  llvm::SmallVector<llvm::Function *> withManyArguments;
  for (const std::string &name : names) {
    llvm::Function &function = *module->getFunction(name);
    if (auto whole = wholes.find(name); whole != wholes.end())
      takeWordsOfLoop(*module, function, whole->second);
    else if (llvm::Function *kernel = takeWords(*module, function))
      withManyArguments.push_back(kernel);
  }
  if (llvm::verifyModule(*module)) {
    error = "the LLVM IR does not verify";
    return nullptr;
  }

  llvm::SmallVector<llvm::Function *> opaque;
  // LLVM must not fold calls of libm with constant arguments: its results have other bits than those at run time.
  for (llvm::Function &each : *module) {
    each.addFnAttr("no-builtins");
    each.setDoesNotThrow(); // so that there are no tables for unwinding, which linking drops
    if (!each.getName().starts_with(kOpaquePrefix))
      continue;
    opaque.push_back(&each);
    each.setDoesNotAccessMemory();
    each.setWillReturn();
    each.setSpeculatable();
  }
  step.emplace(options, Stage::Object, "llvm-passes");
  if (options.optimize)
    backend.optimize(*module);
  keepToOwnLanes(*module, options);
  storeSingleLanes(*module);
  for (llvm::Function *kernel : withManyArguments)
    splitBlocks(*kernel);
  for (llvm::Function *each : opaque) {
    for (llvm::User *call : llvm::make_early_inc_range(each->users()))
      showOperand(*llvm::cast<llvm::CallInst>(call), options);
    each->eraseFromParent();
  }
  return module;
}

// LLVM's passes to machine code. Loop strength reduction, which looks for better addresses in loops, takes up to a
// third of their time. It gains nothing where loops do no more than load, compute and store, nor where vectors are so
// long that arithmetic takes more cycles than addresses do.
class PassesToCode : public llvm::legacy::PassManager {
public:
  explicit PassesToCode(bool reducesStrength) : reducesStrength(reducesStrength) {}
  void add(llvm::Pass *pass) override {
    static const void *strengthReduction =
        std::unique_ptr<llvm::Pass>(llvm::createLoopStrengthReducePass())->getPassID();
    if (pass->getPassID() == strengthReduction && !reducesStrength)
      delete pass;
    else
      llvm::legacy::PassManager::add(pass);
  }

private:
  bool reducesStrength;
};

std::string emit(llvm::Module &module, llvm::TargetMachine &machine, bool reducesStrength, llvm::CodeGenFileType type,
                 llvm::SmallVectorImpl<char> &bytes) {
  llvm::raw_svector_ostream stream(bytes);
  PassesToCode manager(reducesStrength);
  if (machine.addPassesToEmitFile(manager, stream, nullptr, type))
    return "this CPU's target emits no code";
  manager.run(module);
  return "";
}

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

std::string compilerVersion() { return "2, LLVM " LLVM_VERSION_STRING; }

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

// Emits the code of kernels into `bytes`.
static std::string emit(mlir::ModuleOp kernels, CompileOptions options, llvm::CodeGenFileType type,
                        llvm::SmallVectorImpl<char> &bytes) {
  std::string error;
  bool hasReduction = llvm::any_of(kernels.getOps<mlir::LLVM::LLVMFuncOp>(),
                                   [](mlir::LLVM::LLVMFuncOp function) { return function->hasAttr(kReductionAttr); });
  std::string missing = withBackend(options, [&](Backend &backend) {
    llvm::LLVMContext context;
    std::unique_ptr<llvm::Module> module = translate(kernels, options, context, backend, error);
    TimedStep step(options, Stage::Object, "emit-code");
    if (module)
      error = emit(*module, backend.target(), hasReduction && !runtime::runs(options.cpu, runtime::Cpu::Avx512), type,
                   bytes);
  });
  return missing.empty() ? error : missing;
}

std::optional<runtime::Image> makeImage(mlir::ModuleOp kernels, CompileOptions options, std::string &error) {
  llvm::SmallVector<char, 0> bytes;
  error = emit(kernels, options, llvm::CodeGenFileType::ObjectFile, bytes);
  if (!error.empty())
    return std::nullopt;
  TimedStep step(options, Stage::Object, "link");
  std::vector<std::string> names = exportsOf(kernels);
  LinkResult linked = linkObject(llvm::StringRef(bytes.data(), bytes.size()),
                                 llvm::SmallVector<llvm::StringRef>(names.begin(), names.end()));
  error = std::move(linked.error);
  return std::move(linked.image);
}

std::string assembly(mlir::ModuleOp kernels, CompileOptions options, std::string &error) {
  llvm::SmallVector<char, 0> bytes;
  error = emit(kernels, options, llvm::CodeGenFileType::AssemblyFile, bytes);
  return std::string(bytes.begin(), bytes.end());
}

} // namespace calque::codegen
