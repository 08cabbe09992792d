#include "runtime/Print.h"

#include <gtest/gtest.h>

#include <vector>

using calque::runtime::HostCallbacks;

namespace {

struct Host : HostCallbacks {
  Host() : HostCallbacks{nullptr, &run} {}
  static bool run(void *self, int32_t site, bool failed, const int64_t *words, size_t numAddresses) {
    Host &host = *static_cast<Host *>(self);
    host.sites.push_back(site);
    host.failed = failed;
    host.addresses.assign(words, words + numAddresses);
    host.sizes = words + numAddresses;
    return host.succeeds && !failed;
  }
  std::vector<int64_t> addresses;
  const int64_t *sizes = nullptr;
  std::vector<int32_t> sites;
  bool succeeds = true, failed = false;
};

CalqueCallFrame frameOf(HostCallbacks *host) {
  CalqueCallFrame frame = {};
  frame.host = host;
  return frame;
}

int64_t word(const void *address) { return reinterpret_cast<int64_t>(address); }

void callHost(CalqueCallFrame &frame, int32_t site) {
  const int64_t words[] = {word(&frame), site, 0};
  calque_rt_host_call(words);
}

} // namespace

TEST(HostCalls, HandOverAddressesAndSizesInOrder) {
  Host host;
  CalqueCallFrame frame = frameOf(&host);
  int a = 0, b = 0;
  const int64_t words[] = {word(&frame), 3, 2, word(&a), word(&b), 7};
  calque_rt_host_call(words);
  EXPECT_EQ(host.addresses, (std::vector<int64_t>{word(&a), word(&b)}));
  EXPECT_EQ(*host.sizes, 7);
  EXPECT_EQ(host.sites, std::vector<int32_t>{3});
  EXPECT_EQ(frame.error.failed, 0);
}

TEST(HostCalls, ThatFailFailTheFrameAndTheNextOneIsTold) {
  Host host;
  host.succeeds = false;
  CalqueCallFrame frame = frameOf(&host);
  callHost(frame, 3);
  EXPECT_FALSE(host.failed);
  EXPECT_NE(frame.error.failed, 0);
  EXPECT_EQ(frame.error.site, 3);
  host.succeeds = true;
  callHost(frame, 4);
  EXPECT_TRUE(host.failed);
  EXPECT_EQ(frame.error.site, 3) << "the first failure stays";
}

TEST(HostCalls, WithoutAHandlerFail) {
  CalqueCallFrame frame = frameOf(nullptr);
  callHost(frame, 2);
  EXPECT_NE(frame.error.failed, 0);
  EXPECT_EQ(frame.error.site, 2);
}
