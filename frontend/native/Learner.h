// Learns the control flow of a lambda by running it with chosen decisions: docs/rationale/native-control-flow.md.
#ifndef CALQUE_FRONTEND_NATIVE_LEARNER_H
#define CALQUE_FRONTEND_NATIVE_LEARNER_H

#include "absl/functional/function_ref.h"
#include "frontend/native/Rewrites.h"
#include "frontend/native/Routes.h"
#include "schema/HashTables.h"

namespace calque::detail::native {

class Learner {
public:
  // Runs the lambda with the given decisions, and then with any others, until it ends.
  using Run = absl::FunctionRef<Path(const Decisions &)>;
  explicit Learner(Run run, Limits limits = {}) : run(run), limits(limits) {}

  // NotCaptured if the control flow can't be learnt.
  void learn();
  // Returns the learnt graph, with counts as parameters.
  struct Learnt {
    Graph graph;
    std::vector<std::vector<Sample>> samples; // of each state's parameters
  };
  Learnt result(const CounterWords &words) const;

private:
  // A count by which the host ends or changes a loop.
  struct Bound {
    Node *state; // the representative of the state that counts
    std::size_t slot, count;
    Decisions access; // the decisions of the first path that reaches it
  };

  const Path &follow(const Decisions &decisions);
  // Adds a path to the tree, up to the end of the decisions and some more.
  void record(const Decisions &decisions);
  // The number of a path's decisions before the first count that the tree does not know on this path.
  std::size_t knownGates(const Decisions &decisions) const;
  // Adds evidence about each state of a path that the graph does not explain.
  void addEvidence(const Decisions &decisions);

  void build();
  int classify(Node &node);
  int addState(Node &node);

  // Whether all tried paths agree with the graph. Adds evidence for a path that does not.
  bool check();
  bool explains(const Decisions &decisions);
  // Whether a count explains a disagreement, and is added to the graph, or whether the disagreement shows that a count
  // is wrong, and the count is dropped.
  bool isCounted(const Disagreement &at, const Decisions &decisions);
  bool addBound(int state, std::size_t slot, std::size_t count, const Decisions &decisions);
  bool dropBound(int state, std::size_t slot);
  // Keeps two ways into a loop apart if the loop has different counts on them.
  bool split(int state, std::size_t slot, const Decisions &decisions);
  // Removes the nodes that were added behind counts before the counts were known.
  void cutBehindCounts();

  Run run;
  const Limits limits;
  Tree tree;
  Graph graph;
  std::vector<Node *> representatives; // by state; null for the start
  PrologueLimits prologueLimits;
  std::vector<Bound> bounds;
  HashSet<std::pair<const Node *, std::size_t>> notCounted; // states and slots that do not count
  // Nodes and representatives that are not one state.
  HashSet<std::pair<const Node *, const Node *>> apart;
  bool isComplete = false; // the graph
  Decisions lastEvidence;
  std::vector<std::vector<Sample>> samples_;
  std::vector<std::size_t> iterations; // the iterations that each loop was followed, by the state that begins the loop
  HashSet<Decisions> explained;        // by this graph
  HashSet<Decisions> confirmed;        // by a run of its own
  HashMap<Decisions, std::unique_ptr<Path>> paths; // paths that were run, kept as long as they have few steps
  std::size_t keptSteps = 0, runs = 0, steps = 0, shortest = 1'000'000;
  Path last;
};

} // namespace calque::detail::native
#endif
