#include "codegen/native/Target.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

namespace calque::codegen {

using runtime::Cpu;

const Target &Target::of(Cpu cpu) {
  static constexpr Target avx512 = {Cpu::Avx512, 64, 32, true, "x86-64-v4", "-prefer-256-bit", 32 << 10, 1 << 20};
  static constexpr Target avx512Vnni = [] {
    Target target = avx512;
    target.cpu = Cpu::Avx512Vnni;
    target.features = "-prefer-256-bit,+avx512vnni";
    target.dotsOfBytes = true;
    return target;
  }();
  static constexpr Target targets[] = {
      {Cpu::Baseline, 16, 16, false, "x86-64", "", 32 << 10, 512 << 10},
      {Cpu::Avx2, 32, 16, true, "x86-64-v3", "", 32 << 10, 512 << 10},
      avx512,
      {Cpu::Aarch64, 16, 32, true, "generic", "+neon", 32 << 10, 512 << 10},
      avx512Vnni,
  };
  static_assert(std::size(targets) == std::size(runtime::kCpus));
  return targets[static_cast<size_t>(cpu)];
}

const Target &Target::of(Operation *op) {
  auto module = isa<ModuleOp>(op) ? cast<ModuleOp>(op) : op->getParentOfType<ModuleOp>();
  auto name = module ? module->getAttrOfType<StringAttr>(kTargetAttr) : StringAttr();
  std::optional<Cpu> cpu = name ? runtime::cpuNamed(name.getValue()) : std::nullopt;
  return of(cpu.value_or(runtime::hostCpu()));
}

} // namespace calque::codegen
