// Functions in a file, before they are saved and after they are loaded.
#ifndef CALQUE_FRONTEND_SAVING_SAVEDFUNCTIONS_H
#define CALQUE_FRONTEND_SAVING_SAVEDFUNCTIONS_H

#include "calque/saved_functions.h"
#include "frontend/functions/FunctionCore.h"

namespace calque::detail {

// A part of a signature, without its place in a key.
struct SavedPart {
  SignaturePart part;
  std::uint64_t bits = 0; // of a host value
};

struct SavedTrace {
  Signature signature; // without a key
  std::vector<SavedPart> results;
  schema::RecordingRef program;
  std::vector<Tensor> captures; // the parameters after the arguments
  std::vector<BoundVariable> variables;
  // Native code for eager calls. It is made at the first one.
  struct Native {
    std::once_flag once;
    std::unique_ptr<const CapturedPanels> panels; // what the code was made from; null: from the program
    std::unique_ptr<const Code> code;
    CalledProgram called; // what tapes record
  };
  std::shared_ptr<Native> native = std::make_shared<Native>();

  std::size_t numArguments() const { return program->parameters.size() - captures.size(); }
};

struct SavedFunction {
  std::string name;
  std::vector<SavedTrace> traces; // traces with fewer unknown sizes first
};

struct SavedFile {
  std::string path;
  std::vector<std::shared_ptr<const SavedFunction>> functions; // in the order in which they were saved
  std::map<std::string, Variable> variables;
};

// Runs the program of a trace. An eager call runs native code. A call while a function is traced applies each
// operation, so that the program becomes a part of the function. The operations keep their lines.
std::vector<Tensor> replay(const SavedTrace &trace, std::span<const Tensor> arguments,
                           std::span<const Variable> variables, const SourceLocation &where);

} // namespace calque::detail
#endif
