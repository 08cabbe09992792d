// Which paths are run to find out whether a graph is right.
#ifndef CALQUE_FRONTEND_NATIVE_ROUTES_H
#define CALQUE_FRONTEND_NATIVE_ROUTES_H

#include "absl/functional/function_ref.h"
#include "frontend/native/Graph.h"

#include <chrono>

namespace calque::detail::native {

struct Limits {
  std::size_t states = 400;
  std::size_t paths = 512;           // up to so many, all are run
  std::size_t iterations = 10'000;   // that a loop is followed
  std::size_t steps = 32'000;        // of a run that follows a loop
  std::size_t merged = 2000;         // runs behind states that are come to in several ways
  std::size_t stepsOfRuns = 200'000; // of each of the three
  std::size_t samples = 64;          // random paths
  std::size_t runs = 100'000;        // altogether
  std::size_t allSteps = 2'000'000;  // altogether
  // A loop is followed less far where a run takes longer.
  std::chrono::milliseconds longRun{500};
};

// Gives paths from the start to an end until `follow` returns false. Returns whether all were followed. `iterations`
// receives how far each loop was followed, by the state that begins it.
bool forEachRoute(const Graph &graph, const Limits &limits, absl::FunctionRef<bool(const Decisions &)> follow,
                  std::vector<std::size_t> &iterations);

} // namespace calque::detail::native
#endif
