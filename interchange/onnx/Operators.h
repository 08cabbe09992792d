// The operators, as data: a row for each, in tables by family. docs/onnx.md lists them from these tables.
#ifndef CALQUE_INTERCHANGE_ONNX_OPERATORS_H
#define CALQUE_INTERCHANGE_ONNX_OPERATORS_H

#include "onnx/Call.h"

#include <array>
#include <concepts>
#include <span>
#include <string_view>

namespace calque::onnx {

// The versions of the operator set that changed an operator; those from 7 on, and the last one before.
struct Versions {
  std::array<std::uint8_t, 12> list{};
  consteval Versions(std::same_as<int> auto... versions) : list{static_cast<std::uint8_t>(versions)...} {}
};

inline constexpr int kAnyNumber = 1 << 30;

// The operation of Calque that an operator is the same as, by its record's name, and for which elements ONNX defines
// it. The exporter reads it the other way.
struct Same {
  enum Elements : std::uint8_t { All, Numbers, Signed, Integers, Floats };
  constexpr Same() = default;
  constexpr Same(const char *name, Elements which = All) : record(name), elements(which) {}
  std::string_view record;
  Elements elements = All;
};

struct Operator {
  std::string_view name;
  Versions versions;
  int fewest, most; // inputs
  unsigned known;   // bit i: the elements of input i must be known while tracing
  Results (*apply)(const Call &call);
  Same same = {};
  std::string_view domain = {};
  bool isRandom = false; // is not computed while tracing, even of known inputs

  std::int64_t since() const { return versions.list[0]; }
  // Whether the operator is the same for elements of this type.
  bool isSameFor(DType dtype) const;
};

using Table = std::span<const Operator>;

// One for each file in operators/.
Table attentionOperators();
Table castOperators();
Table classicalOperators();
Table controlFlowOperators();
Table convolutionOperators();
Table elementwiseOperators();
Table imageOperators();
Table indexOperators();
Table lossOperators();
Table matrixOperators();
Table movementOperators();
Table normalizationOperators();
Table optimizerOperators();
Table poolOperators();
Table quantizationOperators();
Table randomOperators();
Table recurrentOperators();
Table reductionOperators();
Table resizeOperators();
Table sequenceOperators();
Table shapeOperators();
Table signalOperators();

std::vector<Table> operatorTables();
// The operator, or null.
const Operator *findOperator(std::string_view domain, std::string_view name);

// The last version of ONNX's own operator set that is read. All are from 7 on; of earlier ones those operators are that
// have not changed since.
inline constexpr std::int64_t kLastOpset = 27;

} // namespace calque::onnx
#endif
