// The standalone runtime has this file, too, and links no Abseil.
#include "program/SiteText.h"

namespace calque::detail {

std::string describeSize(const Site::Size &size, std::int64_t value, const std::string &operand,
                         const InputNames &names) {
  const std::string whose = size.argument < 0 ? operand : names(static_cast<std::size_t>(size.argument));
  const std::string what =
      size.dimension >= 0 ? "dimension " + std::to_string(size.dimension) + " of " : "the number of elements of ";
  return what + whose + " is " + std::to_string(value);
}

std::string describeSizes(const Site &site, const std::int64_t *values, const InputNames &names) {
  auto described = [&](int which) {
    const Site::Size &size = site.sizes[which];
    return describeSize(size, values[which], "operand " + std::to_string(size.operand), names);
  };
  auto isNamed = [&](int which) { return site.sizes[which].argument >= 0 || site.sizes[which].operand >= 0; };
  const int first = isNamed(0) ? 0 : 1, second = 1 - first;
  const std::string other = std::to_string(values[second]);
  if (site.kind == Site::Kind::SizeTooSmall)
    return described(first) + ", and it must be at least " + other;
  if (site.kind == Site::Kind::SizeNotDivisible)
    return described(first) + ", and it must be divisible by " + other;
  if (!isNamed(second))
    return described(first) + ", and it must be " + other;
  return described(first) + " and " + described(second) + ", and they must be equal";
}

std::string describeIndex(const Site &site, const std::int64_t *values) {
  std::int64_t index = values[0], bound = values[1];
  for (std::int64_t examples : site.examples) {
    index -= index < 0 ? 0 : bound;
    bound /= examples;
  }
  return std::to_string(index) + " is out of range [0, " + std::to_string(bound) + ")";
}

} // namespace calque::detail
