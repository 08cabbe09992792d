// The error slot of a call, in which generated code and assertions note the first failed check.
#include "runtime/abi.h"

#include <atomic>
#include <cstring>

// The first thread to set `failed` owns the rest of the slot. Site and values need no atomics, because they are read
// after the call, when its threads have joined.
extern "C" __attribute__((visibility("default"))) void calque_rt_fail(CalqueCallFrame *frame, int32_t site,
                                                                      int64_t value, int64_t bound) {
  int32_t untouched = 0;
  if (!std::atomic_ref<int32_t>(frame->error.failed).compare_exchange_strong(untouched, 1, std::memory_order_acq_rel))
    return;
  frame->error.site = frame->first_site + site;
  frame->error.values[0] = value;
  frame->error.values[1] = bound;
}

extern "C" __attribute__((visibility("default"))) void calque_rt_assert(const int64_t *words) {
  const auto *elements = reinterpret_cast<const char *>(words[3]);
  const void *found = std::memchr(elements, 0, static_cast<size_t>(words[2]));
  if (!found)
    return;
  int64_t position = static_cast<const char *>(found) - elements;
  calque_rt_fail(reinterpret_cast<CalqueCallFrame *>(words[0]), static_cast<int32_t>(words[1]), position, position);
}
