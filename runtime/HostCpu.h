// The CPU that this process runs on.
#ifndef CALQUE_RUNTIME_HOSTCPU_H
#define CALQUE_RUNTIME_HOSTCPU_H

#include <string>

namespace calque::runtime {

// A text that is the same on two machines if the compiler generates the same code for both: vendor, model and features,
// those that the operating system doesn't enable left out. Empty where it can't be found.
std::string hostCpu();

} // namespace calque::runtime
#endif
