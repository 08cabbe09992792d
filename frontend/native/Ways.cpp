#include "frontend/native/Ways.h"

#include <algorithm>

namespace calque::detail::native {

States Ways::reach(int q, const States &targets) const {
  States reached;
  std::vector<int> work{q};
  while (!work.empty()) {
    int state = work.back();
    work.pop_back();
    if (reached.insert(state).second && !targets.contains(state))
      forEachNext(state, [&](int next) { work.push_back(next); });
  }
  return reached;
}

States Ways::exits(int q, const States &targets) const {
  States result = reach(q, targets);
  std::erase_if(result, [&](int state) { return !targets.contains(state); });
  return result;
}

States Ways::loopOf(int q, const States &targets) const {
  States ahead, loop;
  forEachNext(q, [&](int next) { ahead.merge(reach(next, targets)); });
  if (!ahead.contains(q))
    return loop;
  for (int state : ahead)
    if (!targets.contains(state) && (state == q || reach(state, targets).contains(q)))
      loop.insert(state);
  return loop;
}

std::vector<int> Ways::inOrder(States states, const States &targets) const {
  std::vector<int> order;
  while (!states.empty()) {
    int chosen = *states.begin();
    for (int state : states) {
      bool isFirst = std::ranges::none_of(states, [&](int other) {
        return other != state && reach(other, targets).contains(state) && !reach(state, targets).contains(other);
      });
      if (isFirst) {
        chosen = state;
        break;
      }
    }
    order.push_back(chosen);
    states.erase(chosen);
  }
  return order;
}

bool Ways::isEnded(int q, const States &loop) const {
  // Without the conditions that end it, an outer loop falls to pieces, and those that end an inner one may leave it.
  for (States around = loop; around.contains(q);) {
    States ending;
    for (int state : around)
      if (!graph[state].iterations)
        forEachNext(state, [&](int next) {
          if (!around.contains(next))
            ending.insert(state);
        });
    if (ending.empty())
      return false;
    std::erase_if(around, [&](int state) { return ending.contains(state); });
    // What is left of the ways from the loop's begin back to it.
    States others;
    for (int state : loop)
      forEachNext(state, [&](int next) {
        if (!around.contains(next))
          others.insert(next);
      });
    around = around.contains(q) ? loopOf(q, others) : States();
  }
  return true;
}

bool Ways::hasInnerLoop(int q, const States &loop) const {
  return std::ranges::any_of(loop, [&](int state) { return state != q && !loopOf(state, {q}).empty(); });
}

bool Ways::isCheckpointed(int q, const States &loop) const {
  auto isInInnerLoop = [&](int state) {
    return std::ranges::any_of(loop, [&](int inner) { return inner != q && loopOf(inner, {q}).contains(state); });
  };
  return std::ranges::any_of(loop,
                             [&](int state) { return graph[state].marks.isCheckpointed && !isInInnerLoop(state); });
}

States Ways::joined(const States &a, const States &b) {
  States both = a;
  both.insert(b.begin(), b.end());
  return both;
}

} // namespace calque::detail::native
