// Runs native code.
#ifndef CALQUE_FRONTEND_COMPILED_EXECUTE_H
#define CALQUE_FRONTEND_COMPILED_EXECUTE_H

#include "frontend/compiled/Compilation.h"

namespace calque::detail {

struct Signature;

// Thrown if the sizes of arguments don't fit together, by code of unknown sizes. The code has not run.
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
  const Signature *signature = nullptr; // of the call, which names the parameters that are its arguments
};

// Runs code on its parameters and variables. After a failed check it throws the error of the site; then no variable has
// changed. `seen`, if given, receives the variables' values before the call.
void run(const Code &code, std::span<const Tensor *const> parameters, std::span<VariableState *const> variables,
         std::span<Tensor> results, const Caller &caller, std::vector<Tensor> *seen = nullptr);

// Computes the sizes of code of unknown sizes once, for code that will be called only with inputs of these types. Its
// results have known types.
void fixSizes(Code &code, std::span<const schema::TensorType> inputs, const Caller &caller);

// StateError for a variable that a call in progress on this thread has locked, which only a host call can touch.
void refuseHeld(const VariableState &variable, SourceLocation where);

} // namespace calque::detail
#endif
