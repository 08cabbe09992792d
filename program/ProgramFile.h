// Compiled programs as bytes.
#ifndef CALQUE_PROGRAM_PROGRAMFILE_H
#define CALQUE_PROGRAM_PROGRAMFILE_H

#include "program/Compiler.h"

namespace calque::detail {

// A kernel of the runtime has a name, any other a key and, where it is known, its image as bytes.
struct StoredKernel {
  std::string runtime;
  runtime::KernelKey key = {};
  std::vector<std::byte> image = {};
};

// The bytes of a program and its kernels, which are in the order of the program's kernels. The lines of sites are left
// out, because the recording has them.
std::vector<std::byte> serialize(const CompiledProgram &program, const std::vector<StoredKernel> &kernels);

struct StoredProgram {
  CompiledProgram program; // without kernels
  std::vector<StoredKernel> kernels;
};
// std::nullopt if the bytes are no program.
std::optional<StoredProgram> parseProgram(std::span<const std::byte> bytes);

} // namespace calque::detail
#endif
