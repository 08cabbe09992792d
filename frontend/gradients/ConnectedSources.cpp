#include "frontend/gradients/ConnectedSources.h"

#include "frontend/compiled/CodeByStructure.h"
#include "frontend/compiled/Slice.h"
#include "frontend/gradients/Activity.h"
#include "schema/HashTables.h"

#include <algorithm>
#include <deque>
#include <numeric>

namespace calque::detail {

using schema::index;
using schema::OpId;
using schema::RecordedOp;
using schema::Recording;
using schema::ValueId;

namespace {

// The values that are recorded while a vmap is open, which have to be computed from its slices.
std::vector<bool> valuesInVmaps(const Recording &recording) {
  std::vector<bool> isInside(recording.numValues());
  HashSet<const RecordedOp *> open;
  for (const RecordedOp &op : recording.ops()) {
    if (op.op == OpId::Unbatch) { // its operands end with a slice and the tensor that it is of
      std::span<const ValueId> operands = recording.operandsOf(op);
      open.erase(producerOf(recording, operands[operands.size() - 2]));
    }
    if (op.op == OpId::Batch)
      open.insert(&op);
    for (std::uint32_t r = 0; r < op.numResults; ++r)
      isInside[index(op.firstResult) + r] = !open.empty();
  }
  return isInside;
}

// What the paths of cotangents run through, back from a gradient's targets to its stops, and what the rules of the
// derivatives on the way compute with: for an inner gradient what leads from its own targets to its own stops, for a
// jvp what leads from its targets to its sources. What comes before may be long, as the earlier iterations of a loop
// are, and no path runs through it.
class Paths {
public:
  explicit Paths(const Recording &recording) : recording_(recording), isInVmap_(valuesInVmaps(recording)) {}

  void follow(std::span<const ValueId> targets, std::span<const ValueId> sources, std::span<const ValueId> stops) {
    begin(targets, walkTo(sources, stops));
    while (!next_.empty()) {
      Step step = next_.back();
      next_.pop_back();
      follow(step);
    }
  }
  // Of these values and of all that the paths' operations take, those which no operation on a path computes.
  std::vector<ValueId> ends(std::span<const ValueId> values) const {
    HashSet<ValueId> ends;
    auto consider = [&](ValueId value) {
      if (const RecordedOp *op = producerOf(recording_, value); op && !passed_.contains(op))
        ends.insert(value);
    };
    std::ranges::for_each(values, consider);
    for (const RecordedOp *op : passed_)
      std::ranges::for_each(recording_.operandsOf(*op), consider);
    std::vector<ValueId> sorted(ends.begin(), ends.end());
    std::ranges::sort(sorted);
    return sorted;
  }

private:
  struct Walk {
    HashSet<ValueId> stops;
    // What is older does not depend on a source, so that no path from it leads to one.
    ValueId oldest = 0;
    // Of a jvp: what is older than its sources does not depend on them, and is left to the walk that met it.
    Walk *around = nullptr;
    ValueId oldestSource = 0;
    HashMap<ValueId, bool> seen = {}; // on a path or not
    HashSet<const RecordedOp *> jvps = {};
  };
  struct Step {
    Walk *walk;
    ValueId value;
    bool isOnPath; // and not only what a slice on one is computed from
  };

  static ValueId oldestOf(std::span<const ValueId> values) {
    return values.empty() ? 0 : *std::ranges::min_element(values);
  }
  static Walk walkTo(std::span<const ValueId> sources, std::span<const ValueId> stops) {
    return {{stops.begin(), stops.end()}, oldestOf(sources)};
  }

  void begin(std::span<const ValueId> targets, Walk walk) {
    walks_.push_back(std::move(walk));
    for (ValueId target : targets)
      next_.push_back({&walks_.back(), target, true});
  }

  void follow(Step step) {
    while (step.walk->around && step.value < step.walk->oldestSource)
      step.walk = step.walk->around;
    Walk &walk = *step.walk;
    const RecordedOp *op = producerOf(recording_, step.value);
    step.isOnPath &= step.value >= walk.oldest && !walk.stops.contains(step.value);
    if (!op || (!step.isOnPath && !isInVmap_[index(step.value)]))
      return;
    auto [known, isNew] = walk.seen.try_emplace(step.value, step.isOnPath);
    if (!isNew && (known->second || !step.isOnPath))
      return;
    known->second = step.isOnPath;
    std::span<const ValueId> operands = recording_.operandsOf(*op);
    if (passed_.insert(op).second && op->op == OpId::Gradient) {
      begin(operands.first(count(*op, 0)),
            walkTo(operands.subspan(2 * count(*op, 0), count(*op, 1)), operands.last(count(*op, 2))));
    }
    if (op->op == OpId::Jvp && walk.jvps.insert(op).second) {
      std::span<const ValueId> sources = operands.subspan(count(*op, 0), count(*op, 1));
      begin(operands.first(count(*op, 0)),
            {{sources.begin(), sources.end()}, 0, &walk, sources.empty() ? step.value : oldestOf(sources)});
    }
    for (ValueId operand : operands)
      next_.push_back({&walk, operand, step.isOnPath});
  }
  std::size_t count(const RecordedOp &op, std::size_t what) const {
    return static_cast<std::size_t>(std::get<std::vector<std::int64_t>>(recording_.attributesOf(op)[0])[what]);
  }

  const Recording &recording_;
  std::vector<bool> isInVmap_;
  std::deque<Walk> walks_; // which stay where they are
  std::vector<Step> next_;
  HashSet<const RecordedOp *> passed_;
};

} // namespace

std::vector<bool> connectedSources(const Recording &recording, std::span<const ValueId> targets,
                                   std::span<const ValueId> sources, std::span<const ValueId> stops) {
  std::vector<ValueId> values(targets.begin(), targets.end());
  values.insert(values.end(), sources.begin(), sources.end());
  values.insert(values.end(), stops.begin(), stops.end());
  Paths paths(recording);
  paths.follow(targets, sources, stops);
  Slice slice = sliceOf(recording, values, paths.ends(values));
  std::vector<ValueId> &results = slice.recording.results;
  // Paths do not depend on seeds: the targets are their own.
  std::vector<ValueId> operands(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(targets.size()));
  operands.insert(operands.end(), results.begin(), results.end());
  schema::Attribute counts =
      std::vector<std::int64_t>{static_cast<std::int64_t>(targets.size()), static_cast<std::int64_t>(sources.size()),
                                static_cast<std::int64_t>(stops.size())};
  std::vector<schema::TensorType> types;
  for (ValueId source : sources)
    types.push_back(recording.typeOf(source));
  ValueId first = slice.recording.append(OpId::Gradient, operands, {&counts, 1}, types, {});
  results.resize(types.size());
  std::iota(results.begin(), results.end(), first);
  return connectedResults(slice.recording);
}

} // namespace calque::detail
