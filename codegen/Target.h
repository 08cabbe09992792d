// The CPU that code is generated for, described by its feature bits: a virtual machine may hide the model.
#ifndef CALQUE_CODEGEN_TARGET_H
#define CALQUE_CODEGEN_TARGET_H

#include <cstdint>
#include <string>
#include <string_view>

namespace calque::codegen {

struct Target {
  int64_t vectorBytes = 16; // of one register
  int64_t vectorRegisters = 16;
  int64_t l1Bytes = 32 << 10; // what kernels assume; not read from the CPU
  int64_t l2Bytes = 512 << 10;
  bool fma = false;     // whether there is a fused multiply-add
  std::string features; // "+avx2,+fma,..." as LLVM takes them
  std::string cpu;      // the model, which LLVM's cost model takes

  // All of it as text, which tells it from other targets.
  std::string name() const;

  static const Target &host();
  // Makes kernels for another CPU from now on, so that tools print the same on every machine: "baseline", "avx2" or
  // "avx512". Returns false for any other name.
  static bool pretend(std::string_view name);
};

} // namespace calque::codegen
#endif
