// What the compiler gives as data and not as code, for the few who ask for it.
#ifndef CALQUE_PROGRAM_PROGRAMCOMPILER_H
#define CALQUE_PROGRAM_PROGRAMCOMPILER_H

#include "program/Compiler.h"

namespace calque {

struct ProgramResult {
  schema::RecordingRef program; // null: there is an error
  std::string error, line;      // as of a CompileResult
};

// The compiler that CompilerFactory makes is one.
class ProgramCompiler : public Compiler {
public:
  // The program at Stage::Differentiated, as a Recording: derivatives, mapped axes and complex numbers are operations
  // on real numbers there. Each operation has the line of the recorded one that it stands for.
  virtual ProgramResult differentiated(const schema::Recording &recording) = 0;
};

} // namespace calque
#endif
