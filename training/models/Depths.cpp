#include "Depths.h"

#include "absl/algorithm/container.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace calque::detail {

namespace {

using Call = std::shared_ptr<SymbolicCall>;

// What counts as one in the order: a layer, or an input.
const void *operationOf(const SymbolicCall &call) {
  return call.layer ? static_cast<const void *>(call.layer->body().get()) : &call;
}

// Calls as a search from the outputs back, depth first, leaves them, and where it meets each operation first.
struct Search {
  void from(const Call &output) {
    // Without recursion, because graphs may be deep.
    std::vector<std::pair<Call, std::size_t>> open;
    auto enter = [&](const Call &call) {
      if (!entered.insert(call.get()).second)
        return;
      met.emplace(operationOf(*call), met.size());
      open.emplace_back(call, 0);
    };
    for (enter(output); !open.empty();) {
      auto &[at, next] = open.back();
      if (next < at->inputs.size()) {
        enter((at->inputs.begin() + static_cast<std::ptrdiff_t>(next++))->second.call());
      } else {
        left.push_back(at);
        open.pop_back();
      }
    }
  }

  std::vector<Call> left;
  std::unordered_map<const void *, std::size_t> met;

private:
  std::unordered_set<const SymbolicCall *> entered;
};

} // namespace

std::vector<Call> inDepthOrder(const std::vector<Call> &inputs, const SymbolicTensors &outputs) {
  std::vector<SymbolicTensors::Named> ends(outputs.begin(), outputs.end());
  auto hasName = [](const auto &end) { return !end.first.empty(); };
  if (absl::c_all_of(ends, hasName))
    absl::c_stable_sort(ends, [](const auto &a, const auto &b) { return a.first < b.first; });
  Search search;
  for (const auto &[name, end] : ends)
    search.from(end.call());

  std::unordered_map<const void *, std::int64_t> ofCalls, ofOperations;
  for (const Call &call : std::vector<Call>(search.left.rbegin(), search.left.rend())) {
    std::int64_t &ofOperation = ofOperations[operationOf(*call)];
    const std::int64_t depth = std::max(ofCalls[call.get()], ofOperation);
    ofCalls[call.get()] = ofOperation = depth;
    for (const auto &[name, input] : call->inputs) {
      std::int64_t &needed = ofCalls[input.call().get()];
      needed = std::max(needed, depth + 1);
    }
  }

  // Inputs that no output needs are at the end of the graph.
  std::vector<Call> ordered;
  for (const Call &input : inputs)
    if (!search.met.contains(input.get()))
      ordered.push_back(input);
  ordered.insert(ordered.end(), search.left.begin(), search.left.end());
  auto placeOf = [&](const Call &call) {
    auto met = search.met.find(operationOf(*call));
    return std::pair(-ofCalls[call.get()], met == search.met.end() ? -1 : static_cast<std::int64_t>(met->second));
  };
  absl::c_stable_sort(ordered, [&](const Call &a, const Call &b) { return placeOf(a) < placeOf(b); });
  return ordered;
}

} // namespace calque::detail
