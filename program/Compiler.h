// The interface between front end and compiler, without MLIR: from a Recording to a program that can be called.
//
// The front end loads libcalque-compiler at the first miss of its caches and looks up `calque_compiler`:
//
//   Compiler *compiler = calque_compiler(kCompilerInterfaceVersion, calque_rt_functions());
//   CompileResult result = compiler->compile(recording, kernels);
//   Executable(*std::move(result.program)).plan.run(frame);
#ifndef CALQUE_PROGRAM_COMPILER_H
#define CALQUE_PROGRAM_COMPILER_H

#include "runtime/Cpu.h"
#include "runtime/Functions.h"
#include "runtime/Plan.h"
#include "schema/ExternRules.h"
#include "schema/Recording.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace calque {

inline constexpr int kCompilerInterfaceVersion = 14;

// The stages of the compiler, each named after what the IR has become.
enum class Stage {
  Traced,
  Differentiated,
  Simplified,
  Linalg,
  Bufferized,
  Outlined,
  Planned,
  Scheduled,
  LLVM,
  Object,
  Schedule
};

struct StageName {
  Stage stage;
  const char *name;
  const char *meaning;
};
// In the order of the pipeline.
inline constexpr StageName kStages[] = {
    {Stage::Traced, "traced", "as recorded"},
    {Stage::Differentiated, "differentiated", "gradients expanded"},
    {Stage::Simplified, "simplified", "variables turned into arguments and results, composites expanded"},
    {Stage::Linalg, "linalg", "loops over tensors, fused"},
    {Stage::Bufferized, "bufferized", "loops over memory"},
    {Stage::Outlined, "outlined", "calls of kernels, in one workspace"},
    {Stage::Planned, "planned", "kernels with what they will be: tiles, blocks, pieces, groups"},
    {Stage::Scheduled, "scheduled", "kernels of vectors and parallel loops"},
    {Stage::LLVM, "llvm", "kernels in MLIR's LLVM dialect"},
    {Stage::Object, "object", "kernels in native code, as assembly"},
    {Stage::Schedule, "schedule", "no stage but a table: what each kernel does, how, and what it costs"},
};

// Comes between the parts of a dump; MLIR's tools split a file at this line with --split-input-file.
inline constexpr const char *kDumpSeparator = "\n// -----\n";
inline std::optional<Stage> stageNamed(std::string_view name) {
  for (const StageName &stage : kStages)
    if (stage.name == name)
      return stage.stage;
  return std::nullopt;
}
// "traced, differentiated, ..."
inline std::string stageNames() {
  std::string names;
  for (const StageName &stage : kStages)
    names += (names.empty() ? "" : ", ") + std::string(stage.name);
  return names;
}

// A place in the program at which a call can fail, print or call C++. Generated code names it by its index.
struct Site {
  enum class Kind {
#define CALQUE_SITE_KIND(kind, name, error, text) kind,
#include "program/SiteKinds.def"
#undef CALQUE_SITE_KIND
  };
  Kind kind;
  std::string operation; // "gather"
  std::string text;      // the user's: an assertion's message, a print's label
  std::string line;      // "model.cpp:12"
  // The number of the recorded operation that it stands for, in program order, those of programs inside of operations
  // included; -1: none. Code may run for another recording of the same structure, whose lines are others.
  std::int64_t recorded = -1;
  std::int64_t callee = 0;                    // of a host call: its number among those of the recording
  std::vector<schema::TensorType> types = {}; // of a user's operation: its operands' and results'; `text` is its symbol
  std::size_t numInputs = 0;

  // For an index into the joined slices of several examples: the numbers of examples, the outermost vmap's first. The
  // size of all slices is added to an index that is out of range for its example.
  std::vector<std::int64_t> examples = {};

  // The names of the two sizes of a failed check: each is a dimension of a parameter, or of an operand of the
  // operation. Neither is set for a size that follows from the operation's attributes and other operands.
  struct Size {
    std::int64_t argument = -1, operand = -1;
    std::int64_t dimension = -1; // none: the number of elements
  };
  Size sizes[2] = {};
};

inline constexpr Site::Kind kSiteKinds[] = {
#define CALQUE_SITE_KIND(kind, name, error, text) Site::Kind::kind,
#include "program/SiteKinds.def"
#undef CALQUE_SITE_KIND
};

// A dimension that is known only when the function is called.
struct UnknownSize {
  std::size_t index; // of the input or output
  std::size_t dimension;
};

// What a caller must know about a compiled program to call it. The frame's inputs are the recording's parameters, then
// the current values of its variables. The outputs are its results, then the new values of `assigned` variables, in
// distinct buffers that are no inputs. The new values of those `inPlace` are not among the outputs' buffers, but
// written over the values before them, which nothing else may need then; a call that fails leaves these as they were.
struct ProgramInterface {
  std::size_t workspaceBytes = 0;
  // With unknown sizes, the caller stores those of `unknownInputs` in the frame's `input_sizes` and calls computeShapes
  // before the plan is run. It checks the sizes, and computes those of `unknownOutputs` and the workspace's bytes.
  std::vector<UnknownSize> unknownInputs, unknownOutputs;
  std::vector<std::size_t> assigned; // indices into the recording's variables, ascending
  std::vector<std::size_t> inPlace;  // indices into `assigned`, ascending
  // Outputs of late sizes, ascending. For each of them the program gives the address, as a float64, of an entry of the
  // frame's stacks (runtime/Stacks.h), which the caller must provide.
  std::vector<std::size_t> late;
  std::vector<Site> sites;
};

struct CompiledProgram {
  ProgramInterface interface;
  runtime::Plan plan;
  std::vector<runtime::KernelRef> kernels; // the plan's
};

// A program that can be called.
struct Executable : ProgramInterface {
  explicit Executable(CompiledProgram program)
      : ProgramInterface(std::move(program.interface)), plan(std::move(program.plan), std::move(program.kernels)) {}
  runtime::LoadedPlan plan;
};

struct CompileResult {
  std::optional<CompiledProgram> program;
  std::string error; // what can't be compiled; empty when there is a program
  std::string line;  // the user's, "model.cpp:12", where it is known
};

struct PrintResult {
  std::string text;
  std::string error, line; // as of a CompileResult
};

// A call of a kernel: what it does, and what it costs.
struct ScheduledCall {
  std::int64_t operations = 0,
               bytes = 0; // floating-point operations, and bytes read and written at least; 0: not known
  bool isOwn = true;      // false: a function of the runtime
  std::string kernel, line;
  std::vector<std::string> nests; // each in words, with the plan
  std::size_t roundOf = 0;        // of the first call of a round: how many calls have their pieces in one loop
};
// What a loop keeps of its iterations for a gradient.
struct KeptByLoop {
  std::int64_t bytes = 0, // of an iteration; 0: not known
      iterations = 0;     // 0: not known
  std::string line;
};
// The calls of a program or of one of its parts, in the order of the plan's steps.
struct ScheduledProgram {
  std::string name;             // of a part
  std::vector<KeptByLoop> kept; // by all loops of the program, those of parts as well
  std::vector<ScheduledCall> calls;
  std::vector<ScheduledProgram> parts;
};

struct CompileOptions {
  // Off: nothing is folded, merged, fused, vectorised or run on several threads. A fault that stays is then not in one
  // of these.
  bool optimize = true;
  // The CPU that runs the code.
  runtime::Cpu cpu = runtime::hostCpu();
  // Fails a call at the first operation that makes a NaN or an infinity of finite numbers.
  bool checkNumerics = false;
  // Measures each step. What all compilations of the process took is printed to standard error when it ends.
  bool timing = false;
};

class Compiler {
public:
  virtual ~Compiler() = default;
  // Sets the rules of users' operations, before the first program is compiled.
  virtual void setExternRules(schema::ExternRules *rules) = 0;
  // Compiles the kernels that `kernels` doesn't have, and adds them. Thread safe.
  virtual CompileResult compile(const schema::Recording &recording, runtime::KernelSource &kernels,
                                CompileOptions options = {}) = 0;
  // For each result of a recording whose last operation is a `gradient` and whose results are all of it: whether its
  // source is connected with the targets. For second and higher derivatives the inner ones must be expanded to know.
  // True if it can't be said.
  virtual std::vector<bool> connected(const schema::Recording &recording) = 0;
  // The program at a stage, as text: IR, or assembly for Stage::Object.
  virtual PrintResult print(const schema::Recording &recording, Stage stage, CompileOptions options = {}) = 0;
  // What Stage::Schedule prints, as data. Empty for a program that can't be compiled.
  virtual ScheduledProgram schedule(const schema::Recording &recording, CompileOptions options = {}) = 0;
  // Whether memory has run out in one of these calls, which then has given nothing. LLVM can't be used any more, and
  // later calls give nothing either.
  virtual bool ranOutOfMemory() const = 0;
};

// Returns null when the version is not the library's; throws std::bad_alloc. Native code calls these functions of the
// runtime, whatever the process shows by name.
using CompilerFactory = Compiler *(*)(int version, const runtime::RuntimeFunction *functions);

} // namespace calque
#endif
