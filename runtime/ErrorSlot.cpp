// The error slot of a call, in which generated code notes the first failed check.
#include "runtime/abi.h"

#include <atomic>

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
