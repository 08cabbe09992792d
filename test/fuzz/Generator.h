// Makes random well-typed programs over all operations of the schema.
//
// An operation is drawn from schema::operations(); operands and attributes are drawn by strategies, and what its type
// rule takes is kept. Which strategies an operation's rule takes is learnt by trying, once, from a fixed seed, so that
// an operation that the records gain is fuzzed without being named here. Only operations whose operands have a
// structure of their own have a hook.
#ifndef CALQUE_TEST_FUZZ_GENERATOR_H
#define CALQUE_TEST_FUZZ_GENERATOR_H

#include "test/fuzz/Interpreter.h"
#include "test/fuzz/Random.h"
#include "test/fuzz/Strategies.h"

#include <memory>

namespace calque::fuzz {

struct Made {
  Program program;
  Meaning meaning;
};

class Generator {
public:
  // `nativeShare`: of the branches and loops. A program with one takes some ten times as long.
  explicit Generator(double nativeShare = 0.02, Numbers numbers = Numbers::Wide);
  ~Generator();
  // The program of a seed; the same in every process. Programs of one palette share types, so that they share eager
  // code.
  Made make(std::uint64_t seed, std::uint64_t palette);

private:
  const double nativeShare;
  const Numbers numbers;
  std::unique_ptr<Strategies> strategies;
  std::unique_ptr<Pool> pool; // of the last palette
};

// Why an operation is not drawn like others; empty for those that are. Tests print it.
std::string_view hookReason(OpId op);
// Whether no program of real numbers has the operation: one of complex numbers, with an effect outside of the program,
// or made by functions that are none of the records'.
bool isLeftOut(OpId op);
// Whether it is drawn where programs have complex numbers: what makes them of their parts, or parts of them.
bool isOfComplexNumbers(OpId op);
// Whether it factors matrices, or solves with them: no program has it.
bool isOfMatrices(OpId op);

} // namespace calque::fuzz
#endif
