// The operations of StableHLO and CHLO, as data: a row for each, in tables by family. docs/stablehlo.md lists them from
// these tables.
#ifndef CALQUE_INTERCHANGE_STABLEHLO_OPERATORS_H
#define CALQUE_INTERCHANGE_STABLEHLO_OPERATORS_H

#include "stablehlo/Call.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace calque::stablehlo {

inline constexpr int kAnyNumber = 1 << 30;

enum class Trait : std::uint8_t {
  None,
  // Each element of the result comes from the elements at its place, also of operands that broadcast. The operations of
  // a body on scalars can then be applied to many elements at once.
  Elementwise,
  // Runs its regions as they are. Their operations have their own names in errors.
  Control,
};

struct Operator {
  std::string_view name;
  int fewest, most; // operands
  Results (*apply)(const Call &call);
  Trait trait = Trait::None;
  int regions = 0; // kAnyNumber: one and more
  // The operations of Calque, by their records' names with spaces between, that are this one on elements of the types
  // that both have: they are written as it.
  std::string_view same = {};
};

using Table = std::span<const Operator>;

// One for each file in operators/.
Table checkOperators();
Table controlFlowOperators();
Table convolutionOperators();
Table customCallOperators();
Table elementwiseOperators();
Table gatherOperators();
Table matrixOperators();
Table movementOperators();
Table randomOperators();
Table reductionOperators();
Table scatterOperators();
Table shapeOperators();
Table sortOperators();
Table windowOperators();

std::vector<Table> operatorTables();
// The operation, or null.
const Operator *findOperator(std::string_view name);

} // namespace calque::stablehlo
#endif
