// The description of the functions in an object file that is compiled ahead of time. The front end writes it, and the
// standalone runtime reads it.
#ifndef CALQUE_STANDALONE_DESCRIPTION_H
#define CALQUE_STANDALONE_DESCRIPTION_H

#include "program/Compiler.h"

namespace calque::standalone {

struct StandaloneFunction {
  std::string name;
  std::vector<std::byte> program;         // program/ProgramFile.h; sites have the names that messages call them
  std::vector<std::uint32_t> kernels;     // for each of the program's, its number among those of the object
  std::vector<std::string> lines;         // of the program's sites
  std::vector<schema::TensorType> inputs; // arguments, captured tensors, variables
  std::vector<std::string> inputNames;    // as messages have them
  std::size_t numArguments = 0;
  std::vector<std::uint32_t> captures, variables; // their numbers among those of the description
  std::vector<schema::TensorType> results;
};

struct StandaloneValue {
  std::string name; // of a variable
  schema::TensorType type;
  std::vector<std::byte> bytes;
};

struct Description {
  runtime::Cpu cpu = runtime::Cpu::Baseline;
  std::vector<StandaloneFunction> functions;
  std::vector<StandaloneValue> captures, variables;
};

std::vector<std::byte> serialize(const Description &description);
// Nothing where the bytes are no description of this version.
std::optional<Description> parseDescription(std::span<const std::byte> bytes);

} // namespace calque::standalone
#endif
