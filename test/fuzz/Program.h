// Random programs: what the generator makes, all ways run, the interpreter interprets and the shrinker makes smaller.
//
// A program is a list of steps over numbered values, inputs first. Structure that spans steps is kept as ranges of
// them, so that shrinking is dropping steps: a tape begins before a step and ends at the step that asks it, a nested
// function's body is a range. What a transformation such as vmap is applied to is a program of its own, held by the
// step that applies it.
#ifndef CALQUE_TEST_FUZZ_PROGRAM_H
#define CALQUE_TEST_FUZZ_PROGRAM_H

#include "schema/Cotangents.h"
#include "schema/Schema.h"
#include "test/operations/References.h"
#include "test/operations/SpecialReferences.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace calque::fuzz {

using reference::Real;
using Ints = std::vector<std::int64_t>;
using Shape = schema::Dims;
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
// 2 of complex numbers, whose parts alternate wherever elements are listed, else 1.
std::int64_t partsOf(DType dtype);
// The number of elements; of complex numbers, of their parts.
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
  int begin = 0; // the step before which the tape is made and the sources are watched that exist there
  int numTargets = 1;
  bool seeded = false;              // as many output gradients as targets follow them
  std::vector<int> variableSources; // variables, after the sources that are values
  int tapeOf = -1; // an earlier gradient whose persistent tape this one asks again; it began at the same step
  int pauseBegin = 0, pauseEnd = 0; // steps that the tape does not see

  bool isPaused(int step) const { return pauseBegin <= step && step < pauseEnd; }
};

struct Program;

// A function that a step makes of a program and applies. The program's first inputs are the step's first operands, or
// for vmap an example of them; its other inputs are captured constants. The programs of branches and loops have the
// variables of the program around them; others have no variables and effects.
struct Transform {
  enum class Kind {
    Checkpoint,
    Vmap,
    Jvp, // operands: after the program's, a tangent for each argument; results: those of the program, then their
         // tangents
    Vjp, // operands: after the program's, a cotangent for each result; results: those of the program, then the
         // arguments' cotangents
    CustomGradient, // the result is the program's first; the others weigh its cotangent, which is thereby each float
                    // argument's
    Branch, // operands: after the program's, a bool scalar, which takes the program or the alternative, or an integer
            // scalar, which takes one of all, and the last for any other number
    While,  // the first arguments are loop variables, the results their next values; the alternative is the condition
    Range,  // the first argument is the index, which begins as its operand; operands: after the program's, the end
    Scan    // arguments with an axis are slices, of which inAxes says 0; loop variables and results as of While, and
            // then results that are stacked
  };
  Kind kind;
  std::shared_ptr<const Program> body;
  std::vector<bool> captured; // operands of the program that are no arguments: the function captures them
  std::vector<std::optional<std::int64_t>> inAxes;               // of vmap, for each operand of the program
  std::vector<std::int64_t> outAxes;                             // of vmap, for each result
  std::vector<std::shared_ptr<const Program>> alternatives = {}; // other programs of the same arguments
  int numCarried = 0;                                            // loop variables, without a range's index
  std::int64_t most = 0;                                         // iterations of While
  std::int64_t stride = 1;                                       // of Range, whose index advances by it
  bool reverse = false;                                          // Scan begins with the last slice
  bool native = false; // Branch, While and Range: in C++, instead of the operator

  std::optional<std::int64_t> axisOf(std::size_t operand) const {
    return inAxes.empty() ? std::nullopt : inAxes[operand];
  }
  bool isControlFlow() const { return kind >= Kind::Branch; }
  int firstCarried() const { return kind == Kind::Range ? 1 : 0; }
};
// Calls f with each of the programs.
template <typename F> void eachBody(const Transform &transform, const F &f) {
  f(*transform.body);
  for (const std::shared_ptr<const Program> &alternative : transform.alternatives)
    f(*alternative);
}
// The inputs of the body that are arguments.
std::vector<int> argumentsOf(const Transform &transform);

struct Step {
  OpId op;
  std::vector<int> operands;
  // Of variable_read and variable_assign: the variable's number, and for the latter 0 to assign, 1 to add and 2 to
  // subtract. Of extern: the number of one of the fuzzer's own operations.
  std::vector<Attribute> attributes;
  std::vector<TensorType> types; // of the results
  int firstResult = 0;
  std::optional<TapeUse> tape; // of a gradient
  // Of batch, jvp, gradient (by vjp), checkpoint, custom_gradient, cond and while.
  std::optional<Transform> transform = std::nullopt;

  bool isControlFlow() const { return transform && transform->isControlFlow(); }
};
// Whether a tape follows what a step does.
bool passesDerivatives(const Step &step);
// Whether derivatives pass to a step from one of the values that are marked. None pass from an operand that only gives
// sizes.
bool isReachedFrom(const std::vector<bool> &marked, const Step &step);
// Whether a step does more than to compute, as programs inside of it may.
bool hasEffects(const Step &step);

// Whether a tape is asked in a program or in one inside of it.
bool hasTapes(const Program &program);

// Steps that one nested function runs.
struct Nested {
  int begin, end;
};

struct Program {
  std::uint64_t seed = 0;
  std::vector<Input> inputs; // values 0, 1, ...
  int numArguments = 0;      // of a transformation's body: the first inputs are what the step gives
  std::vector<VariableInput> variables;
  std::vector<Step> steps;
  std::vector<Nested> nested; // disjoint or within each other
  std::vector<int> results;
  bool eagerNested = false; // the eager way runs nested functions as compiled ones

  // Whether a dimension of this size is left open when the program is compiled for many sizes, which a third of all
  // are. A size of one is what broadcasts, and stays known.
  bool leavesOpen(std::size_t dimension, std::int64_t size) const;
  bool leavesOpen() const;
  int numValues() const;
  const TensorType &typeOf(int value) const;
  // The step that makes a value, or -1 for an input.
  int stepOf(int value) const;
};

// Also of the bodies of transformations.
template <typename F> void eachStep(const Program &program, const F &f) {
  for (const Step &step : program.steps) {
    f(step);
    if (step.transform)
      eachBody(*step.transform, [&](const Program &body) { eachStep(body, f); });
  }
}
// Whether there is a branch or a loop among some steps or in what they transform.
bool hasControlFlow(const Program &program, int begin, int end, bool isLoop = false);
// Makes some of the branches and loops native, each with this probability, but for programs that call the host, which
// native loops do not take.
Program withNative(const Program &program, double share);
// Whether any is.
bool hasNative(const Program &program);
// The operations of a program, also those that Calque makes of its steps.
std::vector<OpId> operationsOf(const Program &program);
// How many examples a transformation runs: 1 for all but vmap and a scan.
std::int64_t numExamples(const Program &program, const Step &step);

// Gives results new numbers in order. `kept` says which steps stay; values that are gone must not be used by those.
Program select(const Program &program, const std::vector<bool> &kept);
// Drops pure steps, inputs and variables that nothing needs.
Program prune(const Program &program);
// Whether operands are defined before their use, tapes and nested functions nest, and every step type-checks; fills in
// types.
bool check(Program &program);

// The elements of a constant.
Data dataOf(const schema::ConstantData &constant);

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
  int ulp = 8; // by how many units in the last place a result that is not correctly rounded may be off
  reference::Reference reference = nullptr;
  double digitsFrom = 0; // a float64 result below it may be off by as much as it
  int orders = 2;        // up to which order all derivatives are there
};
const Facts &factsOf(OpId op);

} // namespace calque::fuzz
#endif
