#include "frontend/native/ParameterTypes.h"

#include <algorithm>

namespace calque::detail::native {

const schema::TensorType &ParameterTypes::of(int state, std::size_t parameter) const {
  if (samples[static_cast<std::size_t>(state)].size() <= parameter)
    return ofArgument(state, parameter);
  auto [node, value] = samples[static_cast<std::size_t>(state)][parameter];
  if (value < 0)
    return vocabulary.typeOfOutside(value);
  while (node->parent && value < node->parent->endValue)
    node = node->parent;
  auto step = std::ranges::upper_bound(node->steps, value, {}, &PathStep::first) - 1;
  return *vocabulary.typeOf(step->kind, static_cast<std::size_t>(value - step->first));
}

// Of a parameter that no run shows: by what an edge gives it.
const schema::TensorType &ParameterTypes::ofArgument(int state, std::size_t parameter) const {
  for (std::size_t from = 0; from < graph.size(); ++from)
    for (const Edge &edge : graph.states[from].edges) {
      if (edge.to != state || edge.arguments[parameter].from == Origin::From::None)
        continue;
      const Origin &given = edge.arguments[parameter];
      if (given.from == Origin::From::Parameter)
        return of(static_cast<int>(from), static_cast<std::size_t>(given.number));
      if (given.from == Origin::From::Outside)
        return vocabulary.typeOfOutside(given.number);
      for (const std::vector<GraphStep> *steps : {&graph.states[from].steps, &edge.steps})
        for (const GraphStep &step : *steps)
          if (given.number >= step.local)
            if (auto type = vocabulary.typeOf(step.kind, static_cast<std::size_t>(given.number - step.local)))
              return *type;
    }
  throw NotCaptured{"a value has no type", graph[state].line};
}

} // namespace calque::detail::native
