#include "runtime/Assertions.h"

#include "calque/dtype.h"
#include "runtime/Print.h"
#include "runtime/abi.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

namespace calque::runtime {
namespace {

int64_t productOf(std::span<const int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1), std::multiplies());
}

// The element of the tensor for an index of the bools. If only the call knows the tensor's sizes, nothing has compared
// them with the sizes of the bools.
std::string elementAt(const ShownTensor &tensor, std::span<const int64_t> index) {
  int64_t offset = 0;
  for (size_t i = 0; i < index.size(); ++i)
    if (tensor.sizes[i] != 1 && index[i] >= tensor.sizes[i])
      return "nothing";
  for (size_t i = 0; i < index.size(); ++i)
    offset = offset * tensor.sizes[i] + (tensor.sizes[i] == 1 ? 0 : index[i]);
  return dispatch_all(static_cast<DType>(tensor.dtype), [&]<typename T>(std::type_identity<T>) {
    return formatTensor(tensor.dtype, {}, static_cast<const char *>(tensor.data) + offset * int64_t(sizeof(T)));
  });
}

} // namespace

std::string describeFailed(const unsigned char *holds, std::span<const int64_t> sizes,
                           std::span<const ShownTensor> tensors) {
  const int64_t count = productOf(sizes), failing = std::count(holds, holds + count, 0);
  std::string text;
  std::vector<int64_t> index(sizes.size());
  auto addValues = [&] {
    for (size_t i = 0; i < tensors.size(); ++i)
      text += (i ? " and " : "") + elementAt(tensors[i], index);
  };
  if (sizes.empty()) {
    text = tensors.empty() ? "" : "; it fails for ";
    addValues();
    return text;
  }
  text = "; " + std::to_string(failing) + " of " + std::to_string(count) +
         (count == 1     ? " element fails:"
          : failing == 1 ? " elements fails:"
                         : " elements fail:");
  const unsigned char *at = holds;
  for (int64_t shown = 0; shown < std::min(failing, kMostShown); ++shown, ++at) {
    at = std::find(at, holds + count, 0);
    int64_t rest = at - holds;
    for (size_t i = sizes.size(); i-- > 0; rest /= sizes[i])
      index[i] = rest % sizes[i];
    text += shown ? ", " : " ";
    addValues();
    text += tensors.empty() ? "at [" : " at [";
    for (size_t i = 0; i < index.size(); ++i)
      text += (i ? "," : "") + std::to_string(index[i]);
    text += "]";
  }
  return text + (failing > kMostShown ? ", ..." : "");
}

} // namespace calque::runtime

extern "C" __attribute__((visibility("default"))) void calque_rt_assert_elements(const int64_t *words) {
  using namespace calque::runtime;
  auto *frame = reinterpret_cast<CalqueCallFrame *>(words[0]);
  const auto rank = static_cast<size_t>(words[2]), numTensors = static_cast<size_t>(words[3]);
  const auto *holds = reinterpret_cast<const unsigned char *>(words[4]);
  const std::span<const int64_t> sizes(words + 5, rank);
  const auto *found = static_cast<const unsigned char *>(std::memchr(holds, 0, static_cast<size_t>(productOf(sizes))));
  if (!found)
    return;
  // Plans call this on the thread of the call, so nothing fails meanwhile.
  const bool isFirst = !std::atomic_ref<int32_t>(frame->error.failed).load(std::memory_order_acquire);
  calque_rt_fail(frame, static_cast<int32_t>(words[1]), found - holds, found - holds);
  auto *host = static_cast<HostCallbacks *>(frame->host);
  if (!isFirst || !host)
    return;
  try {
    std::vector<ShownTensor> tensors;
    for (const int64_t *word = words + 5 + rank; tensors.size() < numTensors; word += 2 + rank)
      tensors.push_back({static_cast<int32_t>(word[0]), reinterpret_cast<const void *>(word[1]), {word + 2, rank}});
    host->failedElements = describeFailed(holds, sizes, tensors);
  } catch (...) { // there is no memory: the message lacks the elements
  }
}
