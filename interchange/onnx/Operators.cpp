#include "onnx/Operators.h"

#include <unordered_map>

namespace calque::onnx {

std::vector<Table> operatorTables() {
  return {attentionOperators(),   castOperators(),        classicalOperators(),    controlFlowOperators(),
          convolutionOperators(), elementwiseOperators(), imageOperators(),        indexOperators(),
          lossOperators(),        matrixOperators(),      movementOperators(),     normalizationOperators(),
          optimizerOperators(),   poolOperators(),        quantizationOperators(), randomOperators(),
          recurrentOperators(),   reductionOperators(),   resizeOperators(),       sequenceOperators(),
          shapeOperators(),       signalOperators()};
}

bool Operator::isSameFor(DType dtype) const {
  switch (same.elements) {
  case Same::All:
    return true;
  case Same::Numbers:
    return dtype != DType::Bool;
  case Same::Integers:
    return is_integer(dtype);
  case Same::Signed:
    return dtype != DType::Bool && !std::string_view(name_of(dtype)).starts_with("u");
  case Same::Floats:
    return is_floating(dtype);
  }
  return false;
}

const Operator *findOperator(std::string_view domain, std::string_view name) {
  static const auto *const all = [] {
    auto *made = new std::unordered_map<std::string, const Operator *>();
    for (const Table &table : operatorTables())
      for (const Operator &each : table)
        made->emplace(std::string(each.domain) + " " + std::string(each.name), &each);
    return made;
  }();
  const auto found = all->find(std::string(domain) + " " + std::string(name));
  return found == all->end() ? nullptr : found->second;
}

} // namespace calque::onnx
