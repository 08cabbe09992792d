// Learns the control flow of a lambda by running it with chosen decisions: docs/rationale/native-control-flow.md.
#ifndef CALQUE_FRONTEND_NATIVE_LEARNER_H
#define CALQUE_FRONTEND_NATIVE_LEARNER_H

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/node_hash_map.h"
#include "absl/functional/function_ref.h"
#include "frontend/native/Operands.h"
#include "frontend/native/Routes.h"

namespace calque::detail::native {

class Learner {
public:
  // Runs the lambda with those decisions, and then with others, until it ends.
  using Run = absl::FunctionRef<Path(const Decisions &)>;
  explicit Learner(Run run, Limits limits = {}) : run(run), limits(limits) {}

  // NotCaptured where it can't be learnt.
  const Graph &learn();

  // Of each state's parameters.
  const std::vector<std::vector<Sample>> &samples() const { return samples_; }
  std::size_t numRuns() const { return runs; }

private:
  const Path &follow(const Decisions &decisions);
  void record(const Decisions &decisions);
  // Adds what a path that the graph does not explain says about each of its states.
  void addEvidence(const Decisions &decisions);

  void build();
  int classify(Node &node);
  int addState(Node &node);

  // Whether all tried paths agree with the graph. Evidence is added where one does not.
  bool check();
  bool explains(const Decisions &decisions);

  Run run;
  const Limits limits;
  Tree tree;
  Graph graph;
  std::vector<Node *> representatives; // by state; null for the start
  absl::flat_hash_map<const Node *, int> stateOf;
  PrologueLimits prologueLimits;
  std::vector<std::vector<Sample>> samples_;
  absl::flat_hash_set<Decisions> explained;   // by this graph
  absl::flat_hash_set<Decisions> confirmed;   // by a run of its own
  absl::node_hash_map<Decisions, Path> paths; // that were run, as long as there are few steps
  std::size_t keptSteps = 0, runs = 0, steps = 0;
  Path last;
};

} // namespace calque::detail::native
#endif
