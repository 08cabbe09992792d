// Types and elements as MLIR's text has them.
#ifndef CALQUE_INTERCHANGE_STABLEHLO_EXPORT_TEXT_H
#define CALQUE_INTERCHANGE_STABLEHLO_EXPORT_TEXT_H

#include "calque/program.h"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace calque::stablehlo {

using Ints = std::vector<std::int64_t>;

// "f32", and "tensor<?x3xf32>".
const char *nameOf(DType dtype);
std::string textOf(const ProgramType &type);
// "[1, 2]"
std::string listed(const Ints &numbers);
// "array<i64: 1, 2>"
std::string arrayOf(const Ints &numbers);
// In quotes, with what may not stand in them escaped.
std::string quoted(std::string_view text);

// A constant of a function. Its bytes are written when the module is, so that a large one is not held as text.
struct ConstantText {
  std::string name;
  ProgramType type;
  std::span<const std::byte> bytes; // one element for all, or each
  std::string small = {};           // the elements of few bytes, as text

  using Write = std::function<void(std::string_view)>;
  void write(const Write &write) const;
};

// The elements, if they are few or one for all: "dense<[1, 2]>". Else nothing.
std::string elementsOf(const ProgramType &type, std::span<const std::byte> bytes, bool isSplat);

} // namespace calque::stablehlo
#endif
