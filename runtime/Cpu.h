// The CPUs that code is generated for, told apart by what they can do. The compiler, which doesn't contain the runtime,
// uses this header as well.
#ifndef CALQUE_RUNTIME_CPU_H
#define CALQUE_RUNTIME_CPU_H

#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace calque::runtime {

// The levels of x86-64 in its System V ABI that differ for numerical code; each can run the code of those before it.
// Behind them, targets for which code is only made ahead of time. The model of a CPU changes no code, so that code can
// be moved between machines.
enum class Cpu {
  Baseline, // x86-64: 16 vector registers of 16 bytes
  Avx2,     // x86-64-v3: 16 of 32 bytes, fused multiply-add
  Avx512,   // x86-64-v4: 32 of 64 bytes, fused multiply-add
  Aarch64,  // ARMv8-A: 32 of 16 bytes, fused multiply-add
};
inline constexpr Cpu kCpus[] = {Cpu::Baseline, Cpu::Avx2, Cpu::Avx512, Cpu::Aarch64};

constexpr const char *nameOf(Cpu cpu) {
  constexpr const char *names[] = {"baseline", "avx2", "avx512", "aarch64"};
  static_assert(std::size(names) == std::size(kCpus));
  return names[static_cast<std::size_t>(cpu)];
}

inline std::optional<Cpu> cpuNamed(std::string_view name) {
  for (Cpu cpu : kCpus)
    if (nameOf(cpu) == name)
      return cpu;
  return std::nullopt;
}

// "baseline, avx2 and avx512": the names up to `last`.
inline std::string cpuNames(Cpu last = Cpu::Avx512) {
  std::string names;
  for (Cpu cpu : kCpus)
    if (cpu <= last)
      names.append(names.empty() ? "" : cpu == last ? " and " : ", ").append(nameOf(cpu));
  return names;
}

// The last of them whose code this CPU and its operating system can run.
inline Cpu hostCpu() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("x86-64-v4"))
    return Cpu::Avx512;
  if (__builtin_cpu_supports("x86-64-v3"))
    return Cpu::Avx2;
#elif defined(__aarch64__)
  return Cpu::Aarch64;
#endif
  return Cpu::Baseline;
}

} // namespace calque::runtime
#endif
