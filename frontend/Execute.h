// From a Recording to native code, and running it.
#ifndef CALQUE_FRONTEND_EXECUTE_H
#define CALQUE_FRONTEND_EXECUTE_H

#include "calque/export.h"
#include "codegen/interface/Compiler.h"
#include "frontend/HostCall.h"
#include "frontend/KeyTable.h"
#include "frontend/TensorImpl.h"

namespace calque::detail {

// Entries of a cache of native code that is not a function's: eager operations, and what tapes compute.
inline constexpr std::size_t kMostCachedOperations = 2048;

// The compiler, loaded at the first use. CompileError when there is none.
Compiler &compiler();
// How this thread compiles: with every optimisation, unless the environment says CALQUE_OPTIMIZE=0 or it was told
// otherwise. ValueError for another setting.
CompileOptions compileOptions();
CALQUE_API void setOptimizing(bool optimize);

// Native code, and the types of what it makes.
struct Code {
  std::shared_ptr<const Executable> executable;
  std::vector<TypeRef> results;
  std::vector<TypeRef> variables;
  std::vector<std::shared_ptr<const HostFunction>> hostFunctions; // by the numbers of the recording's host calls
};
// CompileError, with what the compiler says.
std::unique_ptr<const Code> compileRecording(const schema::Recording &recording,
                                             std::vector<std::shared_ptr<const HostFunction>> hostFunctions = {});

// The sizes of a call's arguments don't fit together in code that leaves them open. Nothing has happened yet.
struct SizesDisagree : ShapeError {
  SizesDisagree(const std::string &message, SourceLocation where, const Code *code)
      : ShapeError(message, where), code(code) {}
  const Code *code;
};

// Runs code on its parameters and variables. On failure throws the error of the site that failed, with `where` as its
// line if that is known, and no variable has changed. `seen`, if given, receives the variables' values before the call.
void run(const Code &code, std::span<const Tensor *const> parameters, std::span<VariableState *const> variables,
         std::span<Tensor> results, SourceLocation where = {}, std::vector<Tensor> *seen = nullptr);

// StateError for a variable that a call in progress on this thread holds: only a host call of it can ask.
void refuseHeld(const VariableState &variable, SourceLocation where);

// The part of a recording that some values depend on. `parameters` are indices into the recording's own.
struct Slice {
  schema::Recording recording;
  std::vector<std::size_t> parameters;
  bool readsVariables = false;
};
Slice sliceOf(const schema::Recording &recording, std::span<const schema::ValueId> results);

// Runs a slice; its code is kept by structure. The tensors are those of the recording's own parameters.
std::vector<Tensor> runSlice(const Slice &slice, std::span<const Tensor> parameters, SourceLocation where);

// Runs a whole recording, whose code is kept by structure, and shows it to the eager tapes.
std::vector<Tensor> runRecording(const schema::Recording &recording, std::span<const Tensor *const> parameters,
                                 const std::vector<std::shared_ptr<VariableState>> &variables,
                                 const std::vector<std::shared_ptr<const HostFunction>> &hostFunctions,
                                 SourceLocation where);

// Appends what tells attributes and types apart.
void appendKey(Key &key, const schema::Attribute &attribute);
void appendKey(Key &key, const schema::TensorType &type);

} // namespace calque::detail
#endif
