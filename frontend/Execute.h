// Compiles Recordings and runs their native code.
#ifndef CALQUE_FRONTEND_EXECUTE_H
#define CALQUE_FRONTEND_EXECUTE_H

#include "calque/export.h"
#include "codegen/interface/Compiler.h"
#include "frontend/HostCall.h"
#include "frontend/KeyTable.h"
#include "frontend/TensorImpl.h"

namespace calque::detail {

// The most entries of each cache of native code outside of functions: that of eager operations, and that of recordings
// by structure, such as gradients.
inline constexpr std::size_t kMostCachedOperations = 2048;

// The compiler, loaded at the first use. CompileError when there is none.
Compiler &compiler();
// The options of this thread: all optimisations, unless CALQUE_OPTIMIZE=0 or setOptimizing says otherwise. ValueError
// for an invalid CALQUE_OPTIMIZE.
CompileOptions compileOptions();
CALQUE_API void setOptimizing(bool optimize);

// Native code, and the types of its results and variables.
struct Code {
  std::shared_ptr<const Executable> executable;
  std::vector<TypeRef> results;
  std::vector<TypeRef> variables;
  std::vector<std::shared_ptr<const HostFunction>> hostFunctions; // by the numbers of the recording's host calls
};
// CompileError with the compiler's message and the line of the operation that it is about, or `where`.
std::unique_ptr<const Code> compileRecording(const schema::Recording &recording,
                                             std::vector<std::shared_ptr<const HostFunction>> hostFunctions,
                                             SourceLocation where);

// Thrown where the sizes of arguments don't fit together in code with open sizes. The code has not run.
struct SizesDisagree : ShapeError {
  SizesDisagree(const std::string &message, SourceLocation where, const Code *code)
      : ShapeError(message, where), code(code) {}
  const Code *code;
};

// Who runs code. Code that is cached by structure has the sites of the first caller; their lines and names come from
// the recording of whoever runs it.
struct Caller {
  SourceLocation where; // of the call: the line of the results, and of a failure that has none
  const schema::Recording *recording = nullptr;
  const schema::SourceLine *operation = nullptr; // the code is this one operation's
  schema::OpId op = {};
  // Replaces the text of every site, if given: a label, a message, the symbol of a user's operation.
  const std::string *text = nullptr;
};

// Runs code on its parameters and variables. After a failed check it throws the error of the site; then no variable has
// changed. `seen`, if given, receives the variables' values before the call.
void run(const Code &code, std::span<const Tensor *const> parameters, std::span<VariableState *const> variables,
         std::span<Tensor> results, const Caller &caller, std::vector<Tensor> *seen = nullptr);

// StateError for a variable that a call in progress on this thread has locked, which only a host call can touch.
void refuseHeld(const VariableState &variable, SourceLocation where);

// The operations of a recording that some values depend on. `parameters` are indices of the recording's parameters.
struct Slice {
  schema::Recording recording;
  std::vector<std::size_t> parameters;
  std::vector<schema::ValueId> reads; // of variables, by the recording's values
};
// `inputs` are values that are given like parameters, behind them, instead of computed.
Slice sliceOf(const schema::Recording &recording, std::span<const schema::ValueId> results,
              std::span<const schema::ValueId> inputs = {});

// Which results of a recording, all of one `gradient`, a path leads to; kept by structure.
std::vector<bool> connectedResults(const schema::Recording &recording);

// Runs a slice, whose code is cached by structure. `parameters` are those of the whole recording.
std::vector<Tensor> runSlice(const Slice &slice, std::span<const Tensor> parameters, SourceLocation where);

// Runs a whole recording, whose code is cached by structure, and shows its operations to the eager tapes.
std::vector<Tensor> runRecording(const schema::Recording &recording, std::span<const Tensor *const> parameters,
                                 const std::vector<std::shared_ptr<VariableState>> &variables,
                                 const std::vector<std::shared_ptr<const HostFunction>> &hostFunctions,
                                 SourceLocation where);

// Appends words that tell attributes, or types, apart.
void appendKey(Key &key, const schema::Attribute &attribute);
void appendKey(Key &key, const schema::TensorType &type);

} // namespace calque::detail
#endif
