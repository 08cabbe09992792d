// The compiler's side of program/Compiler.h.
#include "codegen/PrintStage.h"
#include "codegen/native/Memory.h"
#include "codegen/native/NativeCode.h"
#include "codegen/native/Threads.h"
#include "codegen/native/TimeReport.h"
#include "codegen/plan/KernelCode.h"
#include "codegen/plan/MakePlan.h"
#include "codegen/schedule/ScheduleTable.h"
#include "ir/BatchRule.h"
#include "ir/Export.h"
#include "ir/Import.h"
#include "passes/Passes.h"
#include "program/ProgramCompiler.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

#include <atomic>
#include <map>
#include <mutex>
#include <thread>

using namespace mlir;

namespace calque {

namespace {

size_t bytesOfConstants(const schema::Recording &recording) {
  size_t bytes = 0;
  for (const schema::RecordedOp &op : recording.ops())
    for (const schema::Attribute &attribute : recording.attributesOf(op)) {
      if (const auto *constant = std::get_if<schema::ConstantRef>(&attribute))
        bytes += (*constant)->bytes.size();
      else if (const auto *inner = std::get_if<schema::RecordingRef>(&attribute))
        bytes += bytesOfConstants(**inner);
    }
  return bytes;
}

// A pool of MLIR contexts with all dialects loaded: loading them takes a large part of the time of compiling something
// small. A context serves one compilation at a time, so that threads compile side by side. A context never frees types
// and constants, so each is destroyed after a number of compilations or bytes of constants.
class Contexts {
public:
  struct Entry {
    explicit Entry(const DialectRegistry &registry) : context(registry, MLIRContext::Threading::DISABLED) {
      context.loadAllAvailableDialects();
    }
    MLIRContext context;
    codegen::Pipelines pipelines{context, /*verifyEach=*/false};
    int uses = 0;
    size_t bytes = 0; // of constants
    std::unique_ptr<Entry> next;
  };

  Contexts() { codegen::registerPipelineDialects(registry); }

  // Calls a function with a context of the pool, or a fresh one, in which it makes constants of so many bytes.
  template <typename F> void with(size_t bytes, F &&use) {
    std::unique_ptr<Entry> entry = take();
    use(*entry);
    entry->bytes += bytes;
    if (++entry->uses < kMostUses && entry->bytes < kMostBytes)
      giveBack(std::move(entry));
  }

private:
  static constexpr int kMostUses = 200;
  static constexpr size_t kMostBytes = 1 << 20;

  std::unique_ptr<Entry> take() {
    {
      std::lock_guard lock(mutex);
      if (idle) {
        std::unique_ptr<Entry> entry = std::move(idle);
        idle = std::move(entry->next);
        return entry;
      }
    }
    return std::make_unique<Entry>(registry);
  }
  void giveBack(std::unique_ptr<Entry> entry) {
    std::lock_guard lock(mutex); // under which nothing is allocated, as that may leave it locked
    entry->next = std::move(idle);
    idle = std::move(entry);
  }

  DialectRegistry registry;
  std::mutex mutex;
  std::unique_ptr<Entry> idle; // the first of them
};

class CompilerImpl : public ProgramCompiler {
public:
  explicit CompilerImpl(const runtime::RuntimeFunction *functions) : functions(functions) { codegen::leaveForMemory(); }
  bool ranOutOfMemory() const override { return ranOut; }
  void setExternRules(schema::ExternRules *rules) override {
    externRules.rules = rules;
    ir::setExternRules(&externRules);
  }

  CompileResult compile(const schema::Recording &recording, runtime::KernelSource &kernels,
                        CompileOptions options) override {
    CompileResult result;
    withProgram(recording, options, true, result, [&](ModuleOp program, Contexts::Entry &entry) {
      if (failed(verify(program)) || failed(entry.pipelines.run(program, Stage::Traced, Stage::Outlined, options)))
        return failure();
      FailureOr<codegen::ProgramPlan> planned = failure();
      {
        codegen::TimedStep step(options, Stage::Outlined, "read-plan");
        planned = codegen::planIn(program);
      }
      if (failed(planned))
        return failure();
      CompiledProgram compiled;
      compiled.kernels = kernelsOf(planned->kernels, options, kernels, entry, result);
      if (ranOut || !result.error.empty())
        return failure();
      compiled.plan = std::move(planned->plan);
      compiled.interface = std::move(planned->interface);
      for (size_t &input : compiled.interface.assigned)
        input -= recording.parameters.size();
      result.program = std::move(compiled);
      return success();
    });
    return result;
  }

  ProgramResult differentiated(const schema::Recording &recording) override {
    ProgramResult result;
    withProgram(recording, {}, true, result, [&](ModuleOp program, Contexts::Entry &entry) {
      if (failed(verify(program)) || failed(entry.pipelines.run(program, Stage::Traced, Stage::Differentiated, {})))
        return failure();
      FailureOr<schema::RecordingRef> made = ir::recordingOf(*program.getOps<func::FuncOp>().begin(), recording);
      if (failed(made))
        return failure();
      result.program = std::move(*made);
      return success();
    });
    return result;
  }

  PrintResult print(const schema::Recording &recording, Stage stage, CompileOptions options) override {
    PrintResult result;
    llvm::raw_string_ostream stream(result.text);
    withProgram(recording, options, false, result,
                [&](ModuleOp program, Contexts::Entry &) { return codegen::printAt(program, stage, options, stream); });
    return result;
  }

  ScheduledProgram schedule(const schema::Recording &recording, CompileOptions options) override {
    PrintResult result;
    ScheduledProgram schedule;
    withProgram(recording, options, true, result, [&](ModuleOp program, Contexts::Entry &entry) {
      if (failed(entry.pipelines.run(program, Stage::Traced, Stage::Scheduled, options)))
        return failure();
      schedule = codegen::scheduleOf(program);
      return success();
    });
    return schedule;
  }

  std::vector<bool> connected(const schema::Recording &recording) override {
    std::vector<bool> result;
    withinMemory([&] {
      contexts.with(bytesOfConstants(recording), [&](Contexts::Entry &entry) {
        MLIRContext &context = entry.context;
        // What can't be differentiated is said when it is compiled.
        ScopedDiagnosticHandler handler(&context, [](Diagnostic &) { return success(); });
        OwningOpRef<ModuleOp> module = ir::importRecording(recording, &context);
        SmallVector<bool> found = connectedResults(*module->getOps<func::FuncOp>().begin());
        result.assign(found.begin(), found.end());
      });
    });
    return result;
  }

private:
  struct RulesOutside : schema::ExternRules {
    schema::RecordingRef batched(const std::string &symbol, std::span<const schema::TensorType> operands,
                                 const std::vector<bool> &batched, std::string &error) override {
      codegen::OutsideCompiler outside;
      return rules->batched(symbol, operands, batched, error);
    }
    schema::ExternRules *rules = nullptr;
  };

  // Calls a function, unless memory has run out before.
  void withinMemory(llvm::function_ref<void()> run) {
    if (!ranOut && !codegen::withinMemory(run))
      ranOut = true;
  }

  // A kernel that is not there yet.
  struct Missing {
    Location location;
    std::string text;
    runtime::KernelKey key;
    runtime::KernelRef made = nullptr;
    std::string error = {};
  };

  // The kernels of a program's plan. Where one can't be compiled, the result has the error.
  std::vector<runtime::KernelRef> kernelsOf(ArrayRef<codegen::ProgramPlan::Kernel> planned, CompileOptions options,
                                            runtime::KernelSource &source, Contexts::Entry &entry,
                                            CompileResult &result) {
    std::vector<runtime::KernelRef> kernels(planned.size());
    std::vector<Missing> missing;
    std::map<runtime::KernelKey, std::vector<size_t>> sought; // parts of a program may have kernels in common
    for (auto [number, kernel] : llvm::enumerate(planned)) {
      if (!kernel.runtime.empty()) {
        kernels[number] = runtime::runtimeKernel(functions, kernel.runtime);
        continue;
      }
      codegen::TimedStep step(options, Stage::Outlined, "find-kernel");
      std::string text = codegen::textOf(kernel.function);
      runtime::KernelKey key = codegen::keyOf(text, options);
      {
        codegen::OutsideCompiler outside;
        kernels[number] = source.find(key);
      }
      if (kernels[number])
        continue;
      std::vector<size_t> &numbers = sought[key];
      if (numbers.empty())
        missing.push_back({func::FuncOp(kernel.function).getLoc(), std::move(text), key});
      numbers.push_back(number);
    }
    compileAll(missing, options, source, entry);
    for (Missing &kernel : missing) {
      for (size_t number : sought[kernel.key])
        kernels[number] = kernel.made;
      if (!kernel.error.empty() && result.error.empty()) {
        result.error = std::move(kernel.error);
        result.line = codegen::lineOf(kernel.location);
      }
    }
    return kernels;
  }

  // Compiles kernels on all cores, the longest ones first. This thread has a context of its own.
  void compileAll(std::vector<Missing> &missing, CompileOptions options, runtime::KernelSource &source,
                  Contexts::Entry &own) {
    std::vector<Missing *> order;
    for (Missing &kernel : missing)
      order.push_back(&kernel);
    llvm::stable_sort(order, [](Missing *a, Missing *b) { return a->text.size() > b->text.size(); });
    std::atomic<size_t> next{0};
    auto work = [&](Contexts::Entry &entry) {
      for (size_t i; (i = next++) < order.size();) {
        Missing &kernel = *order[i];
        codegen::KernelCode code = codegen::compileKernel(kernel.text, options, entry.context, entry.pipelines);
        kernel.error = std::move(code.error);
        if (code.image) {
          codegen::OutsideCompiler outside;
          kernel.made = source.add(kernel.key, *code.image, kernel.error);
        }
      }
    };
    size_t most = std::min<size_t>(std::thread::hardware_concurrency(), order.size());
    codegen::onThreads(
        most > 1 ? most - 1 : 0, [&] { withinMemory([&] { work(own); }); },
        [&] {
          codegen::CompilerUse inUse;
          if (inUse)
            withinMemory([&] { contexts.with(0, work); });
        });
  }

  static void printTimesAtEnd() {
    static std::once_flag once;
    std::call_once(once, [] { std::atexit([] { codegen::TimeReport::ofProcess().print(llvm::errs()); }); });
  }

  // What a diagnostic says, with what the user wrote in place of the operation of the dialect.
  static std::string inUsersWords(const schema::Recording &recording, const Diagnostic &diagnostic) {
    std::string text = diagnostic.str();
    StringRef rest = text;
    if (!rest.consume_front("'calque."))
      return text;
    auto [mnemonic, said] = rest.split("' op ");
    const schema::OperationSchema *schema = schema::findOperation(std::string_view(mnemonic));
    if (!schema)
      return text;
    std::string_view name = schema->inMessages;
    if (const schema::RecordedOp *op = recording.operationAt(ir::recordedNumber(diagnostic.getLocation())))
      name = op->line.function ? std::string_view(op->line.function) : schema::schemaOf(op->op).inMessages;
    return std::string(name) + ": " + said.str();
  }

  // Does something with the recording's IR. When it fails, the result has the first diagnostic and the user's line.
  template <typename Result>
  void withProgram(const schema::Recording &recording, CompileOptions options, bool numbered, Result &result,
                   llvm::function_ref<LogicalResult(ModuleOp, Contexts::Entry &)> use) {
    if (options.timing)
      printTimesAtEnd();
    codegen::CompilerUse inUse;
    if (!inUse) {
      result.error = "the process is ending, and nothing is compiled any more";
      return;
    }
    withinMemory([&] {
      contexts.with(bytesOfConstants(recording), [&](Contexts::Entry &entry) {
        MLIRContext &context = entry.context;
        ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error && result.error.empty()) {
            result.error = inUsersWords(recording, diagnostic);
            result.line = codegen::lineOf(diagnostic.getLocation());
          }
          return success();
        });
        OwningOpRef<ModuleOp> program;
        {
          codegen::TimedStep step(options, Stage::Traced, "import");
          program = ir::importRecording(recording, &context, numbered);
        }
        if (failed(use(*program, entry)) && result.error.empty())
          result.error = "compilation failed without a diagnostic";
      });
    });
    if (ranOut)
      result = {};
  }

  const runtime::RuntimeFunction *const functions;
  Contexts contexts;
  RulesOutside externRules;
  std::atomic<bool> ranOut{false}; // of memory: then LLVM and the contexts are half changed
};

} // namespace
} // namespace calque

extern "C" __attribute__((visibility("default"))) calque::Compiler *
calque_compiler(int version, const calque::runtime::RuntimeFunction *functions) {
  if (version != calque::kCompilerInterfaceVersion)
    return nullptr;
  using namespace calque;
  // Never destroyed: static destructors may still call its native code.
  static constinit CompilerImpl *compiler = nullptr;
  static constinit bool isTried = false; // what LLVM has made of its own may be half of it
  {
    static constinit std::mutex mutex;
    std::lock_guard lock(mutex);
    if (!isTried)
      codegen::withinMemory([&] {
        isTried = true;
        compiler = new CompilerImpl(functions);
      });
  }
  if (!compiler)
    codegen::failForMemory();
  return compiler;
}
