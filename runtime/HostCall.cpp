#include "runtime/Print.h"

#include <atomic>

using calque::runtime::HostCallbacks;

// noexcept, so that an exception ends the process here and does not unwind into code without unwind tables.

extern "C" __attribute__((visibility("default"))) void calque_rt_host_call(const int64_t *words) {
  auto *frame = reinterpret_cast<CalqueCallFrame *>(words[0]);
  auto site = static_cast<int32_t>(words[1]);
  bool failed = std::atomic_ref<int32_t>(frame->error.failed).load(std::memory_order_acquire);
  auto *host = static_cast<HostCallbacks *>(frame->host);
  bool done = host && host->call && [&]() noexcept {
    return host->call(frame->host, frame->first_site + site, failed, words + 3, static_cast<size_t>(words[2]));
  }();
  if (!done)
    calque_rt_fail(frame, site, 0, 0);
}
