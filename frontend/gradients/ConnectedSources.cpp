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

// Marks the values that are recorded while a vmap is open. A program with such a value must also compute it, from the
// slices that the vmap takes.
std::vector<bool> valuesInVmaps(const Recording &recording) {
  std::vector<bool> isInside(recording.numValues());
  HashSet<const RecordedOp *> open;
  for (const RecordedOp &op : recording.ops()) {
    if (op.op == OpId::Unbatch) { // its last operands are a slice, and the tensor that has this slice
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

// Finds the operations through which cotangents pass on the way back from a gradient's targets to its stops. If such an
// operation is a derivative, the operations that it differentiates are found too: from the targets of an inner gradient
// to its stops, and from the targets of a jvp to its sources. Operations before these are left out: they may be many,
// such as the earlier iterations of a loop, and no path leads through them.
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
  // Among `values` and the operands of operations on paths, returns the values that are computed by an operation on no
  // path.
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
    // The oldest source. An older value does not depend on a source, so no path leads from it to one.
    ValueId oldest = 0;
    // Set for the walk of a jvp. A value older than `oldestSource` does not depend on the jvp's sources, and is left to
    // the walk that met the jvp.
    Walk *around = nullptr;
    ValueId oldestSource = 0;
    HashMap<ValueId, bool> seen = {}; // whether the value is on a path
    HashSet<const RecordedOp *> jvps = {};
  };
  struct Step {
    Walk *walk;
    ValueId value;
    bool isOnPath; // false: a slice on a path is computed from the value
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
  std::deque<Walk> walks_; // a deque, because steps point to its elements
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
  // Paths do not depend on seeds, so the targets serve as seeds.
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
