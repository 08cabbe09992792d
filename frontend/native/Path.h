// One path of a traced lambda: its operations in order, the decisions on traced tensors, and how it ends. The learner
// sees no tensors, only numbers for values and operations.
#ifndef CALQUE_FRONTEND_NATIVE_PATH_H
#define CALQUE_FRONTEND_NATIVE_PATH_H

#include "absl/container/inlined_vector.h"
#include "schema/Recording.h"

#include <cstdint>
#include <string>
#include <vector>

namespace calque::detail::native {

// A value of a path. Values that the path computes have the numbers 0, 1, ... in order. Values from outside have
// numbers below 0, and are the same on all paths.
using Value = std::int32_t;
inline constexpr Value kNoValue = std::numeric_limits<Value>::min();
// The number of a kind of operation, or of an end. Operations of one kind are equal except for their operands.
using Kind = std::uint32_t;
// Decisions in order, as '0' and '1'.
using Decisions = std::string;

struct PathStep {
  Kind kind = 0;
  absl::InlinedVector<Value, 3> operands;
  Value first = 0; // of its results; a step without results has a number, too
};

// What a decision says of the loop that it is about.
struct LoopMarks {
  bool isDeclared = false;     // the loop's iterations are all alike by declaration
  bool isCheckpointed = false; // see checkpointed()
};

struct Decision {
  Value condition = 0;
  std::size_t position = 0; // the number of steps before it
  bool taken = false;
  LoopMarks marks;
  schema::SourceLine line;
};

struct Path {
  std::vector<PathStep> steps;
  std::vector<Decision> decisions;
  Kind end = 0;
  bool throws = false;
  std::vector<Value> results;
  Value numValues = 0; // that steps compute
  // The operations that the run recorded, also in the regions of its steps, such as the body of a `while`.
  std::size_t recorded = 0;
};

// Why a lambda's control flow can't be captured, and where.
struct NotCaptured {
  std::string why;
  schema::SourceLine line;
  bool isUnlike = false; // iterations or paths are not alike: runs may show in what
};

} // namespace calque::detail::native
#endif
