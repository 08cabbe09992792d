// Where the values that a graph's states take are looked at.
#ifndef CALQUE_FRONTEND_NATIVE_USES_H
#define CALQUE_FRONTEND_NATIVE_USES_H

#include "frontend/native/Graph.h"

#include <optional>
#include <vector>

namespace calque::detail::native {

// For each parameter of each state, the shortest way from the state on which something looks at it; none if nothing
// does.
std::vector<std::vector<std::optional<Decisions>>> waysToUses(const Graph &graph);

// The number of steps and edges on a way from the start.
std::size_t stepsOn(const Graph &graph, const Decisions &decisions);

} // namespace calque::detail::native
#endif
