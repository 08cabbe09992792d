#include "frontend/native/UnknownSizes.h"

#include <algorithm>

namespace calque::detail::native {

using schema::kOpenSize;
using schema::TensorType;

// The type with a new number for each unknown size.
TensorType UnknownSizes::numbered(TensorType type) {
  for (std::int64_t &size : type.dims)
    if (size == kOpenSize)
      size = next += 1009;
  return type;
}

const TensorType &UnknownSizes::typeOf(const Origin &source, const Types &parameters, const Types &locals) {
  static const TensorType none;
  switch (source.from) {
  case Origin::From::Parameter:
    return parameters[static_cast<std::size_t>(source.number)];
  case Origin::From::Local:
    return locals[static_cast<std::size_t>(source.number)];
  case Origin::From::None:
    return none;
  case Origin::From::Outside:
    break;
  }
  auto [found, isNew] = ofOutside.try_emplace(source.number);
  if (isNew) {
    const TensorType &known = vocabulary.typeOfOutside(source.number);
    found->second = numbered(known);
    for (std::size_t d = 0; d < known.dims.size(); ++d)
      if (known.dims[d] == kOpenSize)
        sources.emplace(found->second.dims[d], std::pair(source.number, d));
  }
  return found->second;
}

// Where sizes must be equal, which only the call compares, what is made of them has the number of the first one. Empty
// where that is not enough.
UnknownSizes::Types UnknownSizes::resultsOf(Kind step, Types operands) const {
  Types results = vocabulary.resultsFor(step, operands);
  if (!results.empty() || !vocabulary.typeOf(step, 0))
    return results;
  std::vector<std::int64_t *> open;
  for (TensorType &operand : operands)
    for (std::int64_t &size : operand.dims)
      if (size >= kFirst)
        open.push_back(&size);
  auto with = [&](std::int64_t size, std::int64_t first) {
    Types merged = operands;
    for (TensorType &operand : merged)
      std::ranges::replace(operand.dims, size, first);
    return vocabulary.resultsFor(step, merged);
  };
  for (std::size_t i = 0; i < open.size() && results.empty(); ++i)
    for (std::size_t j = 0; j < i && results.empty(); ++j)
      if (*open[i] != *open[j])
        results = with(*open[i], *open[j]);
  if (!results.empty() || operands.empty())
    return results;
  // As of an elementwise operation of more than two.
  for (std::size_t d = 0; d < operands[0].dims.size(); ++d)
    for (TensorType &operand : operands)
      if (operand.rank() == operands[0].rank() && operand.dims[d] >= kFirst)
        operand.dims[d] = operands[0].dims[d];
  return vocabulary.resultsFor(step, operands);
}

void UnknownSizes::infer(const std::vector<GraphStep> &steps, const Types &parameters, Types &locals) {
  for (const GraphStep &step : steps) {
    Types operands;
    for (const Origin &operand : step.operands)
      operands.push_back(typeOf(operand, parameters, locals));
    Types results = resultsOf(step.kind, operands);
    for (std::size_t r = 0; const TensorType *known = vocabulary.typeOf(step.kind, r); ++r)
      if (r >= results.size())
        results.push_back(numbered(*known));
    const auto first = static_cast<std::size_t>(step.local);
    locals.resize(std::max(locals.size(), first + std::max<std::size_t>(results.size(), 1)));
    std::ranges::move(results, locals.begin() + step.local);
  }
}

void UnknownSizes::findAll() {
  std::vector<int> work{Graph::kStart};
  ofStates[Graph::kStart] = {};
  while (!work.empty()) {
    const int q = work.back();
    work.pop_back();
    const Types parameters = ofStates.at(q);
    Types locals;
    infer(graph[q].steps, parameters, locals);
    graph[q].forEachEdge([&](std::size_t, const Edge &edge) {
      if (ofStates.contains(edge.to))
        return;
      Types along = locals;
      infer(edge.steps, parameters, along);
      Types &arguments = ofStates[edge.to];
      for (const Origin &argument : edge.arguments)
        arguments.push_back(typeOf(argument, parameters, along));
      work.push_back(edge.to);
    });
  }
}

std::optional<Shape> UnknownSizes::shapeOf(int state, std::size_t parameter, std::span<const Known> known) {
  if (ofStates.empty())
    findAll();
  auto found = ofStates.find(state);
  if (found == ofStates.end() || parameter >= found->second.size())
    return std::nullopt;
  auto sizeOf = [&](std::int64_t number) -> std::optional<Size> {
    if (number < kFirst)
      return number;
    if (auto source = sources.find(number); source != sources.end())
      return vocabulary.outside(source->second.first).shape()[source->second.second];
    for (const auto &[other, tensors] : known) {
      const Types &types = ofStates.at(other);
      for (std::size_t i = 0; i < types.size(); ++i)
        for (std::size_t d = 0; d < types[i].dims.size(); ++d)
          if (types[i].dims[d] == number && tensors[i].defined())
            return tensors[i].shape()[d];
    }
    return std::nullopt;
  };
  Shape shape;
  for (std::int64_t number : found->second[parameter].dims)
    if (std::optional<Size> size = sizeOf(number))
      shape.push_back(*size);
    else
      return std::nullopt;
  return shape;
}

} // namespace calque::detail::native
