// The elements that make an assertion fail, as text.
#ifndef CALQUE_RUNTIME_ASSERTIONS_H
#define CALQUE_RUNTIME_ASSERTIONS_H

#include <cstdint>
#include <span>
#include <string>

namespace calque::runtime {

// A dense tensor whose elements a failure shows; `dtype` is a calque::DType.
struct ShownTensor {
  int32_t dtype;
  const void *data;
  std::span<const int64_t> sizes; // of the bools' rank; each should be that of the bools or 1
};

// "; 2 of 6 elements fail: 3.0 and 4.0 at [0,2], 1.0 and 2.0 at [1,0]": the positions at which `holds` is 0, and the
// elements of the tensors there. At least one element of `holds` is 0. At most kMostShown positions are shown. The text
// for rank 0 is "; it fails for 3.0 and 4.0".
inline constexpr int64_t kMostShown = 3;
std::string describeFailed(const unsigned char *holds, std::span<const int64_t> sizes,
                           std::span<const ShownTensor> tensors);

} // namespace calque::runtime
#endif
