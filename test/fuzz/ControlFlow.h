// Which programs a branch or a loop runs, one after the other, and what it makes of their results.
#ifndef CALQUE_TEST_FUZZ_CONTROLFLOW_H
#define CALQUE_TEST_FUZZ_CONTROLFLOW_H

#include "test/fuzz/Array.h"

#include <functional>

namespace calque::fuzz {

using ArrayRefs = std::vector<ArrayRef>;

// How its programs are run: `body` gives the results of one for arguments, `decides` whether a loop goes on after so
// many iterations.
struct ProgramRunner {
  std::function<ArrayRefs(const Program &, const ArrayRefs &)> body;
  std::function<bool(const Program &condition, const ArrayRefs &, std::int64_t done)> decides;
};

// The results of a step that is a branch or a loop. Undecided.
ArrayRefs runControlFlow(const Program &program, const Step &step, const ArrayRefs &operands,
                         const ProgramRunner &runner);

// The element of a scalar that decides or counts. Undecided where it is not known exactly.
std::int64_t exactly(const Array &scalar);

} // namespace calque::fuzz
#endif
