// The tree of all runs of a lambda. Paths share nodes as long as they make the same decisions.
#ifndef CALQUE_FRONTEND_NATIVE_TREE_H
#define CALQUE_FRONTEND_NATIVE_TREE_H

#include "frontend/native/Path.h"

#include <deque>

namespace calque::detail::native {

// The steps after a decision, and what comes next: a decision, or the end.
struct Node {
  Node *parent = nullptr;
  bool side = false; // of the parent's decision
  std::size_t depth = 0;
  bool isKnown = false;
  std::vector<PathStep> steps;
  Value endValue = 0; // the number of values that were computed up to here
  bool isEnd = false, throws = false;
  Kind end = 0;
  std::vector<Value> results;
  Value condition = 0;
  LoopMarks marks;         // see Decision
  schema::SourceLine line; // of the condition
  Node *children[2] = {nullptr, nullptr};
  // How the gates on the way from the parent decided, if a counter reached its limit there: see Navigator::gates.
  std::string gates;

  const Node *child(bool side) const { return children[side] && children[side]->isKnown ? children[side] : nullptr; }
  // The decisions that lead here.
  Decisions access() const;
  // Where the last `count` steps begin.
  Value valueBefore(std::size_t count) const { return count ? steps[steps.size() - count].first : endValue; }
};

class Tree {
public:
  // Adds the first `mostDecisions` decisions of a path. NotCaptured if the path contradicts an earlier one.
  void insert(const Path &path, std::size_t mostDecisions);
  // The node to which decisions lead; null if it is not known.
  Node *find(const Decisions &decisions);
  const Node *find(const Decisions &decisions) const { return const_cast<Tree *>(this)->find(decisions); }
  Node &root() { return nodes.front(); }

private:
  std::deque<Node> nodes = std::deque<Node>(1);
};

// Whether the trees below two nodes agree as far as they are known: in kinds, in ends and in operands. Two operands
// that were computed below the nodes agree if they are at the same distance; operands from above may differ. What one
// of them has behind a count's limit, and the other does not, is not compared.
// `likeOutside`: two operands from outside must be the same. Adds to `evidence` how many nodes were compared.
bool agree(const Node &a, const Node &b, bool likeOutside, std::size_t &evidence);

} // namespace calque::detail::native
#endif
