#include "frontend/native/Tree.h"

#include <algorithm>

namespace calque::detail::native {

Decisions Node::access() const {
  Decisions decisions(depth, '0');
  std::size_t i = depth;
  for (const Node *node = this; node->parent; node = node->parent)
    decisions[--i] = node->side ? '1' : '0';
  return decisions;
}

Node *Tree::find(const Decisions &decisions) {
  Node *node = &root();
  for (std::size_t i = 0; node && i < decisions.size(); ++i)
    node = node->children[decisions[i] == '1'];
  return node && node->isKnown ? node : nullptr;
}

void Tree::insert(const Path &path, std::size_t mostDecisions) {
  Node *node = &root();
  for (std::size_t k = 0;; ++k) {
    const bool isEnd = k == path.decisions.size();
    const std::size_t from = k ? path.decisions[k - 1].position : 0;
    const std::size_t to = isEnd ? path.steps.size() : path.decisions[k].position;
    auto begin = path.steps.begin() + static_cast<std::ptrdiff_t>(from),
         end = path.steps.begin() + static_cast<std::ptrdiff_t>(to);
    if (!node->isKnown) {
      node->isKnown = true;
      node->steps.assign(begin, end);
      node->endValue = to < path.steps.size() ? path.steps[to].first : path.numValues;
      node->isEnd = isEnd;
      if (isEnd) {
        node->end = path.end;
        node->throws = path.throws;
        node->results = path.results;
      } else {
        node->condition = path.decisions[k].condition;
        node->marks = path.decisions[k].marks;
        node->line = path.decisions[k].line;
      }
    } else {
      bool same = node->isEnd == isEnd && std::equal(begin, end, node->steps.begin(), node->steps.end(),
                                                     [](const PathStep &a, const PathStep &b) {
                                                       return a.kind == b.kind && a.operands == b.operands;
                                                     });
      same = same && (isEnd ? node->end == path.end && node->results == path.results
                            : node->condition == path.decisions[k].condition);
      if (!same)
        throw NotCaptured{"two runs with the same decisions do not do the same, because the lambda changes something "
                          "that it captures, or a static variable",
                          node->isEnd ? (node->parent ? node->parent->line : schema::SourceLine()) : node->line};
    }
    if (isEnd || k == mostDecisions)
      return;
    Node *&next = node->children[path.decisions[k].taken];
    if (!next) {
      nodes.emplace_back();
      next = &nodes.back();
      next->parent = node;
      next->side = path.decisions[k].taken;
      next->depth = node->depth + 1;
    }
    node = next;
  }
}

namespace {
class Comparison {
public:
  Comparison(const Node &a, const Node &b, bool likeOutside, std::size_t &evidence)
      : beginA(a.endValue), beginB(b.endValue), likeOutside(likeOutside), evidence(evidence) {}

  bool below(const Node &first, const Node &second) {
    std::vector<std::pair<const Node *, const Node *>> work{{&first, &second}};
    while (!work.empty()) {
      auto [a, b] = work.back();
      work.pop_back();
      if (!areAlike(*a, *b, work))
        return false;
    }
    return true;
  }

private:
  // The two nodes and the steps to what follows them, which is left to do.
  bool areAlike(const Node &a, const Node &b, std::vector<std::pair<const Node *, const Node *>> &toDo) {
    if (a.isEnd != b.isEnd)
      return false;
    ++evidence;
    if (a.isEnd)
      return a.end == b.end && areRelated(a.results, b.results);
    if (!isRelated(a.condition, b.condition))
      return false;
    for (bool side : {true, false}) {
      const Node *nextA = a.child(side), *nextB = b.child(side);
      if (!nextA || !nextB || nextA->gates != nextB->gates)
        continue;
      if (nextA->steps.size() != nextB->steps.size())
        return false;
      for (std::size_t i = 0; i < nextA->steps.size(); ++i)
        if (nextA->steps[i].kind != nextB->steps[i].kind ||
            !areRelated(nextA->steps[i].operands, nextB->steps[i].operands))
          return false;
      toDo.emplace_back(nextA, nextB);
    }
    return true;
  }
  bool isRelated(Value a, Value b) const {
    if (a >= beginA || b >= beginB)
      return a >= beginA && b >= beginB && a - beginA == b - beginB;
    return !likeOutside || a >= 0 || b >= 0 || a == b;
  }
  template <typename Values> bool areRelated(const Values &a, const Values &b) const {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](Value x, Value y) { return isRelated(x, y); });
  }

  Value beginA, beginB;
  bool likeOutside;
  std::size_t &evidence;
};
} // namespace

bool agree(const Node &a, const Node &b, bool likeOutside, std::size_t &evidence) {
  return Comparison(a, b, likeOutside, evidence).below(a, b);
}

} // namespace calque::detail::native
