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

// The CPUs that code is generated for: the levels of x86-64 in its System V ABI that differ for numerical code, and
// targets for which code is only made ahead of time. The model of a CPU changes no code, so that code can be moved
// between machines. The order means nothing: runs() says whose code a CPU can run.
enum class Cpu {
  Baseline,   // x86-64: 16 vector registers of 16 bytes
  Avx2,       // x86-64-v3: 16 of 32 bytes, fused multiply-add
  Avx512,     // x86-64-v4: 32 of 64 bytes, fused multiply-add
  Aarch64,    // ARMv8-A: 32 of 16 bytes, fused multiply-add
  Avx512Vnni, // x86-64-v4 with dot products of bytes. Files have these numbers, so that it is the last one
};
inline constexpr Cpu kCpus[] = {Cpu::Baseline, Cpu::Avx2, Cpu::Avx512, Cpu::Aarch64, Cpu::Avx512Vnni};

enum class InstructionSet { X86_64, Aarch64 };

// The features of a CPU beyond the baseline of its instruction set, one bit each.
enum Feature : unsigned { kFeatureAvx2 = 1, kFeatureAvx512 = 2, kFeatureVnni = 4 };

struct CpuInfo {
  const char *name;
  InstructionSet set;
  unsigned features;
};
inline constexpr CpuInfo kCpuInfos[] = {
    {"baseline", InstructionSet::X86_64, 0},
    {"avx2", InstructionSet::X86_64, kFeatureAvx2},
    {"avx512", InstructionSet::X86_64, kFeatureAvx2 | kFeatureAvx512},
    {"aarch64", InstructionSet::Aarch64, 0},
    {"avx512vnni", InstructionSet::X86_64, kFeatureAvx2 | kFeatureAvx512 | kFeatureVnni}};
static_assert(std::size(kCpuInfos) == std::size(kCpus));

constexpr const CpuInfo &infoOf(Cpu cpu) { return kCpuInfos[static_cast<std::size_t>(cpu)]; }
constexpr const char *nameOf(Cpu cpu) { return infoOf(cpu).name; }

// Whether `host` can run the code for `cpu`: both have the same instruction set, and `host` has all features of `cpu`.
constexpr bool runs(Cpu host, Cpu cpu) {
  return infoOf(host).set == infoOf(cpu).set && (infoOf(cpu).features & ~infoOf(host).features) == 0;
}

inline std::optional<Cpu> cpuNamed(std::string_view name) {
  for (Cpu cpu : kCpus)
    if (nameOf(cpu) == name)
      return cpu;
  return std::nullopt;
}

// "baseline, avx2 and avx512vnni": the names of the CPUs for which a condition holds.
template <typename Condition> std::string cpuNamesWhere(Condition &&condition) {
  std::string names, last;
  for (Cpu cpu : kCpus)
    if (condition(cpu)) {
      if (!last.empty())
        names.append(names.empty() ? "" : ", ").append(last);
      last = nameOf(cpu);
    }
  return names.empty() ? last : names + " and " + last;
}
// The names of all CPUs for which code is made, ahead of time or not.
inline std::string allCpuNames() {
  return cpuNamesWhere([](Cpu) { return true; });
}
// The names of the CPUs with the instruction set of `host`.
inline std::string cpuNamesLike(Cpu host) {
  return cpuNamesWhere([=](Cpu cpu) { return infoOf(cpu).set == infoOf(host).set; });
}
// The names of the CPUs whose code `host` can run.
inline std::string cpuNamesRunBy(Cpu host) {
  return cpuNamesWhere([=](Cpu cpu) { return runs(host, cpu); });
}

// The CPU of this machine: of those whose code it and its operating system can run, the one with the most features.
inline Cpu hostCpu() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("x86-64-v4"))
    return __builtin_cpu_supports("avx512vnni") ? Cpu::Avx512Vnni : Cpu::Avx512;
  if (__builtin_cpu_supports("x86-64-v3"))
    return Cpu::Avx2;
#elif defined(__aarch64__)
  return Cpu::Aarch64;
#endif
  return Cpu::Baseline;
}

// The names of the CPUs with the instruction set of this machine.
inline std::string cpuNames() { return cpuNamesLike(hostCpu()); }

} // namespace calque::runtime
#endif
