// Tests the settings of runtime/CodeCache.h, which the environment gives.
#include "runtime/CodeCache.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <vector>

using namespace calque::runtime;

namespace {

constexpr std::uint64_t kMuch = std::uint64_t(1) << 30;

class CacheSettingsTest : public testing::Test {
protected:
  void SetUp() override {
    for (const char *name : kNames) {
      const char *value = std::getenv(name);
      before.push_back(value ? std::optional<std::string>(value) : std::nullopt);
      unsetenv(name);
    }
  }
  void TearDown() override {
    for (std::size_t i = 0; i < std::size(kNames); ++i)
      if (before[i])
        setenv(kNames[i], before[i]->c_str(), 1);
      else
        unsetenv(kNames[i]);
  }
  static constexpr const char *kNames[] = {"CALQUE_CACHE", "CALQUE_CACHE_SIZE", "XDG_CACHE_HOME", "HOME"};
  std::vector<std::optional<std::string>> before;
};

TEST_F(CacheSettingsTest, FollowTheEnvironment) {
  auto with = [](const char *name, const char *value) {
    setenv(name, value, 1);
    CacheSettings settings = cacheSettings();
    EXPECT_EQ(settings.error, "") << name << "=" << value;
    return settings;
  };
  EXPECT_EQ(cacheSettings().directory, "");
  EXPECT_EQ(cacheSettings().maxBytes, kMuch);
  EXPECT_EQ(with("HOME", "somewhere").directory, "");
  EXPECT_EQ(with("HOME", "/home/me").directory, "/home/me/.cache/calque");
  EXPECT_EQ(with("XDG_CACHE_HOME", "").directory, "/home/me/.cache/calque");
  EXPECT_EQ(with("XDG_CACHE_HOME", "relative").directory, "/home/me/.cache/calque");
  EXPECT_EQ(with("XDG_CACHE_HOME", "/var/me").directory, "/var/me/calque");
  EXPECT_EQ(with("CALQUE_CACHE", "").directory, "/var/me/calque");
  EXPECT_EQ(with("CALQUE_CACHE", "/tmp/code").directory, "/tmp/code");
  EXPECT_EQ(with("CALQUE_CACHE", "off").directory, "");
  EXPECT_EQ(with("CALQUE_CACHE", "0").directory, "");
  EXPECT_EQ(with("CALQUE_CACHE_SIZE", "").maxBytes, kMuch);
  EXPECT_EQ(with("CALQUE_CACHE_SIZE", "100000").maxBytes, 100000u);
  EXPECT_EQ(with("CALQUE_CACHE_SIZE", "3K").maxBytes, 3u << 10);
  EXPECT_EQ(with("CALQUE_CACHE_SIZE", "512M").maxBytes, 512u << 20);
  EXPECT_EQ(with("CALQUE_CACHE_SIZE", "7G").maxBytes, std::uint64_t(7) << 30);
  EXPECT_EQ(with("CALQUE_CACHE_SIZE", "16777215T").maxBytes, std::uint64_t(16777215) << 40);
}

TEST_F(CacheSettingsTest, SayWhatIsWrong) {
  for (const char *value : {"1", "on", "OFF", "no", "relative/path", "./here", "~/cache", " /tmp"}) {
    setenv("CALQUE_CACHE", value, 1);
    EXPECT_EQ(cacheSettings().error,
              "CALQUE_CACHE is '" + std::string(value) + "' and must be 'off', '0' or an absolute path");
    EXPECT_EQ(cacheSettings().directory, "");
  }
  unsetenv("CALQUE_CACHE");
  for (const char *value : {"0", "0M", "-1", "+1", " 1", "1 ", "1.5G", "M", "1MB", "1m", "1KK", "1e9", "0x10",
                            "16777216T", "18446744073709551616", "lots"}) {
    setenv("CALQUE_CACHE_SIZE", value, 1);
    EXPECT_EQ(cacheSettings().error, "CALQUE_CACHE_SIZE is '" + std::string(value) +
                                         "' and must be a number of bytes above 0, such as 100000, 512M or 2G");
  }
}

} // namespace
