// The errors of native code: each failing site has a line, a name, and a text.
#ifndef CALQUE_FRONTEND_COMPILED_SITEERRORS_H
#define CALQUE_FRONTEND_COMPILED_SITEERRORS_H

#include "frontend/compiled/Compilation.h"

namespace calque::detail {

struct Signature;

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

// Thrown if the sizes of arguments don't fit together, by code of unknown sizes. The code has not run.
struct SizesDisagree : ShapeError {
  SizesDisagree(const std::string &message, SourceLocation where, const Code *code)
      : ShapeError(message, where), code(code) {}
  const Code *code;
};

// What a failing site is called, and its line.
struct Failure {
  std::string operation, index;
  SourceLocation where;
};
Failure failureAt(const Site &site, const Caller &caller);

// Throws the error of the site at which native code has failed. `failedElements` are those of an assertion. `isHeard`:
// the call has printed, or called the host.
[[noreturn]] void throwSite(const Code &code, const CalqueErrorSlot &slot, const Caller &caller, bool isHeard = false,
                            const std::string &failedElements = {});

// What the text of a MemoryError begins with.
std::string whose(const Caller &caller);

} // namespace calque::detail
#endif
