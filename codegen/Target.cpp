#include "codegen/Target.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

namespace calque::codegen {

static Target describeHost() {
  Target target;
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  for (const auto &feature : features)
    target.features += (target.features.empty() ? "" : ",") + std::string(feature.second ? "+" : "-") + feature.first().str();
  target.features += ",-prefer-256-bit";
  if (features.lookup("avx512f")) {
    target.vectorBytes = 64;
    target.vectorRegisters = 32;
  } else if (features.lookup("avx2")) {
    target.vectorBytes = 32;
  } else if (features.lookup("neon")) {
    target.vectorRegisters = 32;
  }
  return target;
}

const Target &Target::host() {
  static const Target target = describeHost();
  return target;
}

} // namespace calque::codegen
