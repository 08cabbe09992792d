#include "runtime/Print.h"

#include <gtest/gtest.h>

#include <vector>

using calque::runtime::HostCallbacks;

namespace {

struct Host : HostCallbacks {
  Host() : HostCallbacks{nullptr, &addAddress, &addSize, &run} {}
  static void addAddress(void *self, void *data) { static_cast<Host *>(self)->addresses.push_back(data); }
  static void addSize(void *self, int64_t size) { static_cast<Host *>(self)->sizes.push_back(size); }
  static bool run(void *self, int32_t site, bool failed) {
    Host &host = *static_cast<Host *>(self);
    host.sites.push_back(site);
    host.failed = failed;
    return host.succeeds && !failed;
  }
  std::vector<void *> addresses;
  std::vector<int64_t> sizes;
  std::vector<int32_t> sites;
  bool succeeds = true, failed = false;
};

CalqueCallFrame frameOf(HostCallbacks *host) {
  CalqueCallFrame frame = {};
  frame.host = host;
  return frame;
}

} // namespace

TEST(HostCalls, HandOverAddressesAndSizesInOrder) {
  Host host;
  CalqueCallFrame frame = frameOf(&host);
  int a = 0, b = 0;
  calque_rt_host_address(&frame, reinterpret_cast<int64_t>(&a));
  calque_rt_host_address(&frame, reinterpret_cast<int64_t>(&b));
  calque_rt_host_size(&frame, 7);
  calque_rt_host_call(&frame, 3);
  EXPECT_EQ(host.addresses, (std::vector<void *>{&a, &b}));
  EXPECT_EQ(host.sizes, std::vector<int64_t>{7});
  EXPECT_EQ(host.sites, std::vector<int32_t>{3});
  EXPECT_EQ(frame.error.failed, 0);
}

TEST(HostCalls, ThatFailFailTheFrameAndTheNextOneIsTold) {
  Host host;
  host.succeeds = false;
  CalqueCallFrame frame = frameOf(&host);
  calque_rt_host_call(&frame, 3);
  EXPECT_FALSE(host.failed);
  EXPECT_NE(frame.error.failed, 0);
  EXPECT_EQ(frame.error.site, 3);
  host.succeeds = true;
  calque_rt_host_call(&frame, 4);
  EXPECT_TRUE(host.failed);
  EXPECT_EQ(frame.error.site, 3) << "the first failure stays";
}

TEST(HostCalls, WithoutAHandlerFail) {
  CalqueCallFrame frame = frameOf(nullptr);
  calque_rt_host_address(&frame, 0);
  calque_rt_host_size(&frame, 1);
  calque_rt_host_call(&frame, 2);
  EXPECT_NE(frame.error.failed, 0);
  EXPECT_EQ(frame.error.site, 2);
}
