#include "stablehlo/Operators.h"

#include <unordered_map>

namespace calque::stablehlo {

std::vector<Table> operatorTables() {
  return {checkOperators(),       controlFlowOperators(), convolutionOperators(), customCallOperators(),
          elementwiseOperators(), gatherOperators(),      matrixOperators(),      movementOperators(),
          randomOperators(),      reductionOperators(),   scatterOperators(),     shapeOperators(),
          sortOperators(),        windowOperators()};
}

const Operator *findOperator(std::string_view name) {
  static const auto *const all = [] {
    auto *made = new std::unordered_map<std::string_view, const Operator *>();
    for (const Table &table : operatorTables())
      for (const Operator &each : table)
        made->emplace(each.name, &each);
    return made;
  }();
  const auto found = all->find(name);
  return found == all->end() ? nullptr : found->second;
}

} // namespace calque::stablehlo
