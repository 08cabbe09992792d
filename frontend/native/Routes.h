// Chooses the paths that are run to check a graph.
#ifndef CALQUE_FRONTEND_NATIVE_ROUTES_H
#define CALQUE_FRONTEND_NATIVE_ROUTES_H

#include "absl/functional/function_ref.h"
#include "frontend/native/Graph.h"

#include <chrono>
#include <optional>

namespace calque::detail::native {

struct Limits {
  std::size_t states = 400;
  std::size_t paths = 2048;             // up to this number, all paths are run
  std::size_t iterations = 10'000;      // the iterations for which a loop is followed
  std::size_t steps = 32'000;           // the steps of a run that follows a loop
  std::size_t merged = 2000;            // the runs behind states that several ways lead to
  std::size_t stepsOfRuns = 200'000;    // of each of the three
  std::size_t samples = 2000;           // random paths
  std::size_t stepsOfSamples = 120'000; // of these, and of those that follow values to their uses
  std::size_t runs = 100'000;           // altogether
  std::size_t allSteps = 2'000'000;     // altogether
  std::size_t inference = 400'000'000;  // comparisons of values, altogether
  // The operations that a run records for each step: more than one where steps have regions, such as the loop of an
  // iterative solver. Steps of runs count as often.
  std::size_t weight = 1;
  // If a run takes longer, loops are followed less far.
  std::chrono::milliseconds longRun{500};
};

// What has been learnt of a lambda that is traced again.
struct Lesson {
  std::vector<Decisions> shown;        // in their order, the paths that a graph did not explain
  std::uint64_t graph = 0;             // the shape of the graph that explained all paths, as a hash; 0: none has
  std::vector<std::size_t> iterations; // of that graph's loops, that were followed, by the state that begins the loop
};

// Which paths are followed first: those of the kind that has last refuted a graph.
struct RouteOrder {
  std::size_t first = 0;
  // The same graph has explained all but the longest paths before, and its loops were followed so far.
  const std::vector<std::size_t> *before = nullptr;
  std::optional<schema::SourceLine> tooFar; // the loop that is to be followed farther than that; none: all are
};

// Calls `follow` with paths from the start to an end, until it returns false. Returns whether all were followed.
// `iterations` receives the number of iterations that each loop was followed, by the state that begins the loop.
bool forEachRoute(const Graph &graph, const Limits &limits, absl::FunctionRef<bool(const Decisions &)> follow,
                  std::vector<std::size_t> &iterations, RouteOrder &order);

} // namespace calque::detail::native
#endif
