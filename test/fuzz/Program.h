// Random programs: what the generator makes, all ways run, the interpreter interprets and the shrinker makes smaller.
//
// A program is a list of steps over numbered values, inputs first. Structure that spans steps is kept as ranges of them, so that
// shrinking is dropping steps: a tape begins before a step and ends at the step that asks it, a nested function's body is a range.
#ifndef CALQUE_TEST_FUZZ_PROGRAM_H
#define CALQUE_TEST_FUZZ_PROGRAM_H

#include "ir/schema/Schema.h"
#include "test/operations/References.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace calque::fuzz {

using reference::Real;
using Ints = std::vector<std::int64_t>;
using schema::Attribute;
using schema::OpId;
using schema::TensorType;

// Elements, each exactly a number of the type.
struct Data {
  TensorType type;
  std::vector<Real> values;
};

// The nearest number that the type has; integers wrap.
Real roundTo(DType dtype, Real value);
std::int64_t countOf(const TensorType &type);

struct Input {
  // A capture of few elements becomes a constant of the trace, one of many a hidden argument.
  enum class Kind { Parameter, Capture };
  Kind kind = Kind::Parameter;
  Data data;
};

struct VariableInput {
  bool isArgument = false; // else captured
  bool trainable = true;
  Data data;
};

// What a tape's gradient needs beyond its operands, which are the targets, the output gradients and the sources.
struct TapeUse {
  int begin = 0;         // the step before which the tape is made and the sources are watched that exist there
  int numTargets = 1;
  bool seeded = false;   // as many output gradients as targets follow them
  std::vector<int> variableSources; // variables, after the sources that are values
};

struct Step {
  OpId op;
  std::vector<int> operands;
  std::vector<Attribute> attributes; // of variable_read and variable_assign: the variable's number alone
  std::vector<TensorType> types;     // of the results
  int firstResult = 0;
  std::optional<TapeUse> tape; // of a gradient
};

// Steps that one nested function runs.
struct Nested {
  int begin, end;
};

struct Program {
  std::uint64_t seed = 0;
  std::vector<Input> inputs; // values 0, 1, ...
  std::vector<VariableInput> variables;
  std::vector<Step> steps;
  std::vector<Nested> nested; // disjoint or within each other
  std::vector<int> results;
  bool eagerNested = false; // the eager way runs nested functions as compiled ones

  int numValues() const;
  const TensorType &typeOf(int value) const;
  // The step that makes a value, or -1 for an input.
  int stepOf(int value) const;
};

// Gives results new numbers in order. `kept` says which steps stay; values that are gone must not be used by those.
Program select(const Program &program, const std::vector<bool> &kept);
// Drops pure steps, inputs and variables that nothing needs.
Program prune(const Program &program);
// Whether operands are defined before their use, tapes and nested functions nest, and every step type-checks; fills in types.
bool check(Program &program);

// "float32[2,3] {1, 2, ...}"
std::string show(const Data &data);
// A main() on the public API that prints the results.
std::string toCpp(const Program &program);

// What the records say, by operation.
struct Facts {
  OpId op;
  std::string_view function;
  int roundings = -1;
  double low = -3, high = 3;
  reference::Reference reference = nullptr;
};
const Facts &factsOf(OpId op);

} // namespace calque::fuzz
#endif
