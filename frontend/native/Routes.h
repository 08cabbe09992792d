// Chooses the paths that are run to check a graph.
#ifndef CALQUE_FRONTEND_NATIVE_ROUTES_H
#define CALQUE_FRONTEND_NATIVE_ROUTES_H

#include "absl/functional/function_ref.h"
#include "frontend/native/Graph.h"

#include <chrono>

namespace calque::detail::native {

struct Limits {
  std::size_t states = 400;
  std::size_t paths = 512;           // up to this number, all paths are run
  std::size_t iterations = 10'000;   // the iterations for which a loop is followed
  std::size_t steps = 32'000;        // the steps of a run that follows a loop
  std::size_t merged = 2000;         // the runs behind states that several ways lead to
  std::size_t stepsOfRuns = 200'000; // of each of the three
  std::size_t samples = 64;          // random paths
  std::size_t runs = 100'000;        // altogether
  std::size_t allSteps = 2'000'000;  // altogether
  // If a run takes longer, loops are followed less far.
  std::chrono::milliseconds longRun{500};
};

// Calls `follow` with paths from the start to an end, until it returns false. Returns whether all were followed.
// `iterations` receives the number of iterations that each loop was followed, by the state that begins the loop.
bool forEachRoute(const Graph &graph, const Limits &limits, absl::FunctionRef<bool(const Decisions &)> follow,
                  std::vector<std::size_t> &iterations);

} // namespace calque::detail::native
#endif
