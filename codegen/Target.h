// The CPU that code is made for, by its feature bits: a virtual machine hides the model.
#ifndef CALQUE_CODEGEN_TARGET_H
#define CALQUE_CODEGEN_TARGET_H

#include <cstdint>
#include <string>
#include <string_view>

namespace calque::codegen {

struct Target {
  int64_t vectorBytes = 16; // of one register
  int64_t vectorRegisters = 16;
  int64_t l1Bytes = 32 << 10; // what a kernel may count on, not what one model has
  int64_t l2Bytes = 512 << 10;
  bool fma = false;     // whether a product and a sum are one instruction
  std::string features; // "+avx2,+fma,..." as LLVM takes them

  static const Target &host();
  // Schedules for another CPU than this one from now on, so that tools show the same on every machine: "baseline",
  // "avx2" or "avx512". False for any other name.
  static bool pretend(std::string_view name);
};

} // namespace calque::codegen
#endif
