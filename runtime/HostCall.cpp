#include "runtime/Print.h"

#include <atomic>

using calque::runtime::HostCallbacks;

// noexcept, so that an exception ends the process here and does not unwind into code without unwind tables.

extern "C" __attribute__((visibility("default"))) void calque_rt_host_address(CalqueCallFrame *frame, int64_t address) {
  if (auto *host = static_cast<HostCallbacks *>(frame->host); host && host->address)
    [&]() noexcept { host->address(frame->host, reinterpret_cast<void *>(address)); }();
}

extern "C" __attribute__((visibility("default"))) void calque_rt_host_size(CalqueCallFrame *frame, int64_t size) {
  if (auto *host = static_cast<HostCallbacks *>(frame->host); host && host->size)
    [&]() noexcept { host->size(frame->host, size); }();
}

extern "C" __attribute__((visibility("default"))) void calque_rt_host_call(CalqueCallFrame *frame, int32_t site) {
  bool failed = std::atomic_ref<int32_t>(frame->error.failed).load(std::memory_order_acquire);
  auto *host = static_cast<HostCallbacks *>(frame->host);
  bool done = host && host->call && [&]() noexcept { return host->call(frame->host, site, failed); }();
  if (!done)
    calque_rt_fail(frame, site, 0, 0);
}
