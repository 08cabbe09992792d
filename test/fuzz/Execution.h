// One run of a program's steps on tensors or traced tensors, through the public API.
#ifndef CALQUE_TEST_FUZZ_EXECUTION_H
#define CALQUE_TEST_FUZZ_EXECUTION_H

#include "test/fuzz/Program.h"

#include "calque/calque.h"

#include <map>

namespace calque::fuzz {

Tensor toTensor(const Data &data);
Data toData(const Tensor &x);

class Execution {
public:
  // `line`: of all steps, for a transformation's body; else each has its own.
  Execution(const Program &program, bool compileNested, int line = -1)
      : program(program), compileNested(compileNested), bodyLine(line) {
    values.resize(static_cast<std::size_t>(program.numValues()));
  }

  std::vector<Tensor> values; // to begin with, the inputs
  std::vector<Variable> variables;
  std::vector<bool> connected; // of the sources of tapes' gradients

  void run() { range(0, static_cast<int>(program.steps.size()), {}); }
  std::vector<Tensor> results() const;

private:
  void range(int begin, int end, std::vector<std::size_t> inside);
  void beginTape(std::size_t gradient, int at);
  void call(const Nested &nested, const std::vector<std::size_t> &inside);
  void step(int index);
  void assign(const Step &step, const Tensor &value, SourceLocation where);
  void gradient(const Step &step, int index);
  void transform(const Step &step, int index);
  void controlFlow(const Step &step, int index);
  // One in C++, of loop variables and the last operand.
  std::vector<Tensor> nativeControlFlow(const Step &step, int index, std::vector<Tensor> state);
  // A program of a step, applied to tensors in the place of some of its arguments; the others are the step's operands.
  using Body = std::function<std::vector<Tensor>(const std::vector<Tensor> &)>;
  Body bodyOf(const Step &step, int index, const Program &body, std::vector<int> places);
  SourceLocation line(int step) const {
    return SourceLocation::at("program", static_cast<unsigned>(bodyLine >= 0 ? bodyLine : step) + 1);
  }

  const Program &program;
  bool compileNested;
  int bodyLine;
  std::vector<std::unique_ptr<GradientTape>> tapes;  // by the gradient that owns it
  std::map<std::size_t, GradientTape::Pause> pauses; // of those that do not record
};

} // namespace calque::fuzz
#endif
