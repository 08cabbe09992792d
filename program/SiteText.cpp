// The standalone runtime has this file, too, and links no Abseil.
#include "program/SiteText.h"

#include "runtime/MatrixFailure.h"

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

namespace {
std::string_view textOf(Site::Kind kind) {
  switch (kind) {
#define CALQUE_SITE_KIND(kind, name, error, text)                                                                      \
  case Site::Kind::kind:                                                                                               \
    return text;
#include "program/SiteKinds.def"
#undef CALQUE_SITE_KIND
  }
  return "";
}

// A real matrix with eigenvalues that are 0 has no logarithm, and its site is that of no real one.
std::string_view textOf(Site::Kind kind, const runtime::MatrixFailure &failure) {
  return textOf(kind == Site::Kind::NoRealResult && failure.isZeros ? Site::Kind::NoLogarithm : kind);
}
} // namespace

std::string siteMessage(const Site &site, const std::int64_t *values, const SiteWords &words) {
  std::int64_t first = values[0], second = values[1];
  const auto failure = runtime::MatrixFailure::of(first);
  const std::int64_t matrix = second;
  for (std::int64_t examples : site.examples) { // an index, and its bound
    first -= first < 0 ? 0 : second;
    second /= examples;
  }
  auto filled = [&](std::string_view place) -> std::string {
    if (place == "operation")
      return words.operation;
    if (place == "index")
      return words.index;
    if (place == "text")
      return words.text;
    if (place == "elements")
      return words.elements;
    if (place == "matrix" || place == "equation") {
      const std::string name(place);
      return matrix < 0 ? "the " + name : name + " " + std::to_string(matrix) + " of the batch, counted from 0,";
    }
    if (place == "place")
      return std::to_string(failure.place) + " of " + std::to_string(failure.size);
    if (place == "sizes")
      return describeSizes(site, values, words.inputNames);
    return std::to_string(place == "0" ? first : place == "1" ? second : first * second);
  };
  std::string message;
  for (std::string_view rest = textOf(site.kind, failure); !rest.empty();) {
    const std::size_t open = rest.find('{'), close = rest.find('}', open);
    message += rest.substr(0, open);
    if (close == rest.npos)
      break;
    message += filled(rest.substr(open + 1, close - open - 1));
    rest.remove_prefix(close + 1);
  }
  return message;
}

} // namespace calque::detail
