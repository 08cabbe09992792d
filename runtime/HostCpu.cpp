#include "runtime/HostCpu.h"

#include "absl/strings/str_cat.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace calque::runtime {

std::string hostCpu() {
#if defined(__x86_64__)
  std::string text = "x86-64";
  struct Registers {
    unsigned a = 0, b = 0, c = 0, d = 0;
  };
  auto ask = [](unsigned leaf, unsigned subleaf) {
    Registers r;
    __get_cpuid_count(leaf, subleaf, &r.a, &r.b, &r.c, &r.d); // zeros for a leaf that the CPU doesn't have
    return r;
  };
  auto add = [&](std::initializer_list<unsigned> registers) {
    for (unsigned each : registers)
      absl::StrAppend(&text, " ", absl::Hex(each));
  };
  Registers vendor = ask(0, 0), model = ask(1, 0), features = ask(7, 0), more = ask(7, 1),
            extended = ask(0x80000001, 0), save = ask(0xd, 1), wide = ask(0x80000008, 0);
  add({vendor.b, vendor.c, vendor.d});
  add({model.a, model.c, model.d}); // b has the number of the core
  add({features.b, features.c, features.d, more.a, more.d, extended.c, extended.d, save.a, wide.b});
  if (model.c & bit_OSXSAVE) { // which registers the operating system saves
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    add({low, high});
  }
  return text;
#else
  return "";
#endif
}

} // namespace calque::runtime
