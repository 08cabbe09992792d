// The native code of a Recording: known code, or newly compiled code.
#ifndef CALQUE_FRONTEND_COMPILED_COMPILATION_H
#define CALQUE_FRONTEND_COMPILED_COMPILATION_H

#include "frontend/core/TensorImpl.h"
#include "frontend/operations/HostFunction.h"
#include "program/Compiler.h"

#include <atomic>

namespace calque::detail {

class LoopMemory;

// Native code, and the types of its results and variables.
struct Code {
  // The sizes, computed once, if code of unknown sizes serves calls of one shape only.
  struct Sizes {
    std::vector<std::int64_t> inputs; // the executable's unknown inputs
    std::size_t workspaceBytes;
  };
  std::shared_ptr<const Executable> executable;
  std::vector<TypeRef> results;
  std::vector<TypeRef> variables;
  std::vector<std::shared_ptr<const HostFunction>> hostFunctions; // by the numbers of the recording's host calls
  std::optional<Sizes> sizes = {};
  // Of code whose loops keep values for gradients, and whose call may be repeated; else null.
  std::shared_ptr<LoopMemory> loopMemory = {};
  // Whether the objects of its ordered operations have been told of the code. Null if it has none that name an object.
  std::shared_ptr<std::atomic<bool>> hasBegun = {};
};
// The code of a recording that was compiled before, by this process or another one; null if there is none.
std::unique_ptr<const Code> knownCode(const schema::Recording &recording,
                                      std::vector<std::shared_ptr<const HostFunction>> hostFunctions = {});
// The code of a recording that was compiled when Calque was built; else null.
std::unique_ptr<const Code> installedCode(const schema::Recording &recording);
// Compiles a recording without known code. CompileError with the compiler's message, and with the line of the operation
// that the message is about, or `where`.
std::unique_ptr<const Code> compileUnknown(const schema::Recording &recording,
                                           std::vector<std::shared_ptr<const HostFunction>> hostFunctions,
                                           SourceLocation where);
// Returns known code, or compiles the recording; with the checks of debug::enable_check_numerics() or without.
std::unique_ptr<const Code> compileRecording(const schema::Recording &recording,
                                             std::vector<std::shared_ptr<const HostFunction>> hostFunctions,
                                             SourceLocation where, bool checkNumerics = false);
// The same with any options.
std::unique_ptr<const Code> compileRecording(const schema::Recording &recording,
                                             std::vector<std::shared_ptr<const HostFunction>> hostFunctions,
                                             SourceLocation where, const CompileOptions &options);

} // namespace calque::detail
#endif
