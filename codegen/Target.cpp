#include "codegen/Target.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

namespace calque::codegen {

static Target describeHost() {
  Target target;
  target.cpu = llvm::sys::getHostCPUName().str();
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  for (const auto &feature : features)
    target.features.append(target.features.empty() ? "" : ",")
        .append(feature.second ? "+" : "-")
        .append(feature.first().str());
  target.features += ",-prefer-256-bit";
  target.fma = features.lookup("fma") || features.lookup("neon");
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

static Target &current() {
  static auto *target = new Target(describeHost()); // never destroyed: static destructors may still compile
  return *target;
}

std::string Target::name() const {
  std::string text = llvm::sys::getProcessTriple() + " " + cpu + " " + features + (fma ? " fma" : "");
  for (int64_t number : {vectorBytes, vectorRegisters, l1Bytes, l2Bytes})
    text.append(" ").append(std::to_string(number));
  return text;
}

const Target &Target::host() { return current(); }

bool Target::pretend(std::string_view name) {
  Target target;
  target.cpu = current().cpu;
  if (name == "avx512") {
    target.vectorBytes = 64;
    target.vectorRegisters = 32;
    target.fma = true;
    target.features = "+avx2,+fma,+avx512f,+avx512bw,+avx512dq,+avx512vl,-prefer-256-bit";
  } else if (name == "avx2") {
    target.vectorBytes = 32;
    target.fma = true;
    target.features = "+avx2,+fma";
  } else if (name != "baseline") {
    return false;
  }
  current() = target;
  return true;
}

} // namespace calque::codegen
