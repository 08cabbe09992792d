// What a program means, by plain loops in long double that share no kernel with Calque, with a bound on what each way
// of running it may be off by.
#ifndef CALQUE_TEST_FUZZ_INTERPRETER_H
#define CALQUE_TEST_FUZZ_INTERPRETER_H

#include "test/fuzz/Array.h"

namespace calque::fuzz {

struct Meaning {
  std::vector<ArrayRef> values;    // of steps that were reached
  std::vector<ArrayRef> variables; // at the end; of a failed call at its beginning
  std::optional<Failure> failure;
};

// A program while it is made or as a whole.
class Interpreter {
public:
  // `isExample`: of a vmap, so that a branch that others take, and an iteration that others go on with, are computed
  // for this one, too.
  explicit Interpreter(const Program &program, bool isExample = false) : program(program), isExample(isExample) {}
  // Runs the next steps, up to all of them. Undecided.
  void run();
  // Forgets the steps from one on, which did not fail and were not effects.
  void forget(std::size_t step, std::size_t numValues) {
    done = step;
    meaning.values.resize(numValues);
    if (meaning.failure)
      meaning.variables = beforeFailure;
    meaning.failure.reset();
  }
  Meaning meaning;

private:
  void step(int index);
  void assign(const Step &step, ArrayRef &variable);
  void transform(int index);
  void controlFlow(int index);
  const Program &program;
  bool isExample;
  std::size_t done = 0;
  std::vector<ArrayRef> beforeFailure;
};

} // namespace calque::fuzz
#endif
