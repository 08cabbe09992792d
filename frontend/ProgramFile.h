// Compiled programs as bytes.
#ifndef CALQUE_FRONTEND_PROGRAMFILE_H
#define CALQUE_FRONTEND_PROGRAMFILE_H

#include "codegen/interface/Compiler.h"

namespace calque::detail {

// A program and the keys of its kernels. The sites' lines, which are the recording's, are left out.
std::vector<std::byte> serialize(const CompiledProgram &program);

// A kernel of the runtime has a name, any other a key.
struct StoredKernel {
  std::string runtime;
  runtime::KernelKey key = {};
};
struct StoredProgram {
  CompiledProgram program; // without kernels
  std::vector<StoredKernel> kernels;
};
// Nothing where the bytes are no program.
std::optional<StoredProgram> parseProgram(std::span<const std::byte> bytes);

} // namespace calque::detail
#endif
