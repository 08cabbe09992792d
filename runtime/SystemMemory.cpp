#include "runtime/SystemMemory.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>

namespace calque::runtime {
namespace {

constexpr size_t Unknown = ~size_t(0);

// The first bytes of a text file of numbers that stand behind their names: "MemAvailable: 123 kB". They are on the
// stack, as there may be no other memory.
template <size_t size> class Numbers {
public:
  explicit Numbers(const char *path) {
    if (FILE *file = std::fopen(path, "re")) {
      text[std::fread(text, 1, sizeof text - 1, file)] = 0;
      std::fclose(file);
    }
  }
  // The number at the beginning.
  std::optional<size_t> first() const { return at(text); }
  std::optional<size_t> of(const char *name) const {
    const char *found = std::strstr(text, name);
    return found ? at(found + std::strlen(name)) : std::nullopt;
  }

private:
  static std::optional<size_t> at(const char *from) {
    size_t number = 0;
    from += std::strspn(from, " \t");
    const bool isNumber = std::from_chars(from, from + std::strlen(from), number).ec == std::errc();
    return isNumber ? std::optional(number) : std::nullopt; // not so for "max"
  }
  char text[size] = {};
};
using Table = Numbers<8192>;
using Line = Numbers<64>;

size_t ofTheSystem() {
  Table numbers("/proc/meminfo");
  std::optional<size_t> available = numbers.of("MemAvailable:");
  return available ? (*available + numbers.of("SwapFree:").value_or(0)) * 1024 : Unknown;
}

// The bytes that a control group of the first or the second version may still take, by its files. Cached files count as
// used there, but make room when memory is needed.
size_t ofTheGroup(const char *limitPath, const char *usedPath, const char *statisticsPath) {
  std::optional<size_t> limit = Line(limitPath).first();
  if (!limit)
    return Unknown;
  size_t used = Line(usedPath).first().value_or(0);
  used -= std::min(used, Table(statisticsPath).of("inactive_file ").value_or(0));
  return *limit - std::min(*limit, used);
}

} // namespace

size_t availableMemory() noexcept {
  return std::min(
      {ofTheSystem(),
       ofTheGroup("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat"),
       ofTheGroup("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes",
                  "/sys/fs/cgroup/memory/memory.stat")});
}

// The first line of the table has the total. A stack of 16 KiB suffices: the first operation of a thread may ask.
size_t totalMemory() noexcept {
  std::optional<size_t> ofTheSystem = Line("/proc/meminfo").of("MemTotal:");
  return std::min({ofTheSystem ? *ofTheSystem * 1024 : Unknown,
                   Line("/sys/fs/cgroup/memory.max").first().value_or(Unknown),
                   Line("/sys/fs/cgroup/memory/memory.limit_in_bytes").first().value_or(Unknown)});
}

std::optional<std::uint64_t> bytesNamed(std::string_view text) {
  std::uint64_t number = 0;
  auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc() || number == 0)
    return std::nullopt;
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  constexpr std::string_view units = "KMGT";
  std::size_t power = unit.empty() ? 0 : units.find(unit[0]) + 1;
  if (unit.size() > 1 || (!unit.empty() && power == 0) || number > UINT64_MAX >> (10 * power))
    return std::nullopt;
  return number << (10 * power);
}

} // namespace calque::runtime
