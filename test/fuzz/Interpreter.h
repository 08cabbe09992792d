// What a program means, by plain loops in long double that share no kernel with Calque, with a bound on what each way of running it
// may be off by.
#ifndef CALQUE_TEST_FUZZ_INTERPRETER_H
#define CALQUE_TEST_FUZZ_INTERPRETER_H

#include "test/fuzz/Program.h"

#include <stdexcept>

namespace calque::fuzz {

// An element: its value, how far a machine's may lie from it, and how far two machines' may lie from each other. 0 is exact, infinity
// is unknown.
struct Num {
  Real value = 0, off = 0, apart = 0;
};
struct Array {
  TensorType type;
  std::vector<Num> elements;
};
using ArrayRef = std::shared_ptr<const Array>;

// The call fails: the class of the error, its message and the step.
struct Failure {
  std::string category, message;
  int step = -1;
};

// What the bounds leave open decides what happens: no program for a comparison.
struct Undecided : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Meaning {
  std::vector<ArrayRef> values;    // of steps that were reached
  std::vector<ArrayRef> variables; // at the end; of a failed call at its beginning
  std::optional<Failure> failure;
};

// A program while it is made or as a whole.
class Interpreter {
public:
  explicit Interpreter(const Program &program) : program(program) {}
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
  const Program &program;
  std::size_t done = 0;
  std::vector<ArrayRef> beforeFailure;
};

ArrayRef arrayOf(const Data &data);
// Whether the interpreter knows a meaning of the operation.
bool hasReference(OpId op);

} // namespace calque::fuzz
#endif
