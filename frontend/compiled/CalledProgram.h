// The record of an eager tape about a call of a compiled function: the function's program without its effects.
#ifndef CALQUE_FRONTEND_COMPILED_CALLEDPROGRAM_H
#define CALQUE_FRONTEND_COMPILED_CALLEDPROGRAM_H

#include "schema/Recording.h"

namespace calque::detail {

// A program without effects, which can be differentiated and computed again. Its parameters are the inputs of one call
// of the original program, and the results that effects had in that call.
struct CalledProgram {
  enum class From {
    Parameter, // of the program: its number
    Variable,  // a variable's value before the call: the variable's number
    Result,    // a result of a host call, which can't be computed again: its number among the program's results
    Assigned,  // what is read of a variable that the program has assigned. Only its type counts, for the program
               // computes its elements; no gradient passes from the read to the value that was assigned.
  };
  struct Input {
    From from;
    std::size_t number;
  };

  std::uint64_t id = 0; // of the data that is cached for it; 0: none
  schema::RecordingRef recording;
  std::vector<Input> inputs; // its parameters
};

CalledProgram calledProgram(const schema::Recording &program);

// The types of all values of such a program, given the types of its parameters. The type of a value that is read from
// an assigned variable follows from the other types.
std::vector<schema::TensorType> valueTypes(const CalledProgram &program,
                                           std::span<const schema::TensorType> parameters);
std::vector<schema::TensorType> valueTypes(const schema::Recording &recording,
                                           std::span<const schema::TensorType> parameters);

} // namespace calque::detail
#endif
