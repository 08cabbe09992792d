// Learns the control flow of a lambda by running it with chosen decisions: docs/rationale/native-control-flow.md.
#ifndef CALQUE_FRONTEND_NATIVE_LEARNER_H
#define CALQUE_FRONTEND_NATIVE_LEARNER_H

#include "absl/functional/function_ref.h"
#include "frontend/native/Rewrites.h"
#include "frontend/native/Routes.h"
#include "schema/HashTables.h"

#include <map>
#include <set>
#include <string>

namespace calque::detail::native {

// Why a loop that the host ends at a count can't be captured.
inline constexpr char kCountsText[] = "the host ends or changes the loop by a count that no tensor shows and that is "
                                      "not always the same: for (Tensor i : "
                                      "range(n)) counts by a tensor";

class Learner {
public:
  // Runs the lambda with the given decisions, and then with any others, until it ends.
  using Run = absl::FunctionRef<Path(const Decisions &)>;
  // `unrolled`: counts up to this are unrolled.
  // `before`: what was learnt of the lambda before, on which this learner begins. `tooFar`: the loop that is to be
  // followed farther than then; none: all are.
  explicit Learner(Run run, Limits limits = {}, std::size_t unrolled = kUnrolled, Lesson before = {},
                   std::optional<schema::SourceLine> tooFar = std::nullopt)
      : run(run), limits(limits), unrolled(unrolled), before(std::move(before)), inference(limits.inference) {
    order.tooFar = tooFar;
  }
  static constexpr std::size_t kUnrolled = 12;

  // NotCaptured if the control flow can't be learnt.
  void learn();
  // What a learner of the same lambda may begin on.
  Lesson lesson() const { return {shown, shapeOf(graph), iterations}; }
  // Returns the learnt graph, with counts as parameters.
  struct Learnt {
    Graph graph;
    std::vector<std::vector<Sample>> samples; // of each state's parameters
  };
  Learnt result(const CounterWords &words) const;

private:
  // An edge of the graph, by a node of the state at which the last decision before it is made. `edges`: that decision,
  // and then what each gate behind it decides, as Navigator::gates says it.
  using Place = std::pair<Node *, std::string>;
  // A gate on such an edge, and the decisions of the first path on which its counter reaches the limit there.
  struct Gate {
    Place place;
    int counter;
    Decisions access;
  };
  // A count by which the host ends or changes a loop.
  struct Counter {
    std::size_t limit;
    Place first;        // of its first gate
    bool isUsed = true; // else it has turned out not to be one
    // What is known of edges: whether the counter begins anew on them.
    std::map<Place, bool> begins;
  };
  // An edge of the graph as it is.
  using EdgeOf = std::pair<int, std::size_t>;

  [[noreturn]] void giveUp(const schema::SourceLine &line) const;
  const Path &follow(const Decisions &decisions);
  // Adds a path to the tree, up to the end of the decisions and some more.
  void record(const Decisions &decisions);
  // What the counters are after decisions.
  std::vector<std::size_t> countsAfter(const Decisions &decisions) const;
  // Adds evidence about each state of a path that the graph does not explain.
  void addEvidence(const Decisions &decisions);

  void build();
  void expand(Node &node);
  int classify(Node &node);
  int addState(Node &node);
  // Where an edge leads: to the state of a node behind it, or to a gate.
  int targetOf(int owner, const std::string &edges, Node &behind);
  int addGateState(int owner, const std::string &edges, int counter);
  const Gate *gateAt(const Place &place) const;
  Place placeOf(EdgeOf edge) const;
  // The state of the decision before an edge.
  int ownerOf(int state) const { return graph[state].isGate() ? gatePlaces.at(state).first : state; }

  static std::uint64_t shapeOf(const Graph &graph);
  // Whether all tried paths agree with the graph. Adds evidence for a path that does not.
  bool check();
  bool explains(const Decisions &decisions);
  // Whether a count explains a disagreement, and is added to the graph, or whether the disagreement shows that a count
  // is wrong, and the count is dropped.
  bool isCounted(const Disagreement &at, const Decisions &decisions);
  // Takes the edge of a disagreement again and again. If the host does otherwise after many times, that is a count.
  bool isCountAt(const Disagreement &at, std::size_t most, bool mayBeElsewhere = true);
  void addCounter(EdgeOf edge, std::size_t limit, const Decisions &access);
  bool addGate(EdgeOf edge, int counter, const Decisions &access);
  void dropCounter(int counter);
  // Finds the edges on which a counter begins anew or goes up, by runs that take each. `counted`: the edges on which it
  // is known to go up. Returns gates to add.
  std::vector<std::pair<EdgeOf, Decisions>> learnEffects(int counter, std::vector<EdgeOf> counted);
  // Finds what is not known of the counters. Returns whether all was known, so that it is in the graph.
  bool applyEffects();
  void applyKnownEffects();
  // Keeps two ways into a loop apart if the loop has different counts on them.
  bool split(int counter, const Decisions &decisions);
  // Notes at the nodes on a way, or at all, how the gates before them decide.
  void markGates(const Decisions &decisions);
  void markGates();

  Run run;
  const Limits limits;
  const std::size_t unrolled;
  const Lesson before;
  std::size_t inference;    // how many values may be compared from here on
  std::size_t repeated = 0; // how many of its paths were followed
  std::vector<Decisions> shown;
  std::optional<schema::SourceLine> suspected; // of a count of the host, should nothing explain the runs
  RouteOrder order;
  Tree tree;
  Graph graph;
  std::vector<Node *> representatives; // by state; null for the start
  PrologueLimits prologueLimits;
  std::vector<Gate> gates;
  std::vector<Counter> counters;
  std::set<Place> notCounted;                            // edges that no counter ends
  std::map<int, std::pair<int, std::string>> gatePlaces; // of the graph's gates: the decision before, and the edges
  // Nodes and representatives that are not one state.
  HashSet<std::pair<const Node *, const Node *>> apart;
  Graph lastComplete; // what tells the gates on a way while a graph is being built
  Decisions lastEvidence, lastOfValues;
  std::vector<std::vector<Sample>> samples_;
  std::vector<std::size_t> iterations; // the iterations that each loop was followed, by the state that begins the loop
  HashSet<Decisions> explained;        // by this graph
  HashSet<Decisions> confirmed;        // by a run of its own
  HashMap<Decisions, std::unique_ptr<Path>> paths; // paths that were run, kept as long as they have few steps
  std::size_t keptSteps = 0, runs = 0, steps = 0, shortest = 1'000'000;
  // Of all runs but the first, in which functions are traced that later runs know.
  std::size_t weighedSteps = 0, recorded = 0;
  Path last;
};

} // namespace calque::detail::native
#endif
