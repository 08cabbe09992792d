// Activity analysis: which values of a Recording lie on paths from the values that a tape watches to a gradient's
// targets.
#ifndef CALQUE_FRONTEND_GRADIENTS_ACTIVITY_H
#define CALQUE_FRONTEND_GRADIENTS_ACTIVITY_H

#include "calque/source_location.h"
#include "schema/HashTables.h"
#include "schema/Recording.h"

#include <memory>

namespace calque::detail {

// Two passes: forwards from the watched values, backwards from the targets. The analysis follows the program inside of
// an operation, so that each result of the operation has its own paths. No boundary lies inside of such a program,
// because a derivative goes through the program as a whole: a value that is reached inside leads on to the parameters
// from which it is computed, watched or not. The captures of a custom gradient affect the derivatives of its results,
// but not the results.
class Activity {
public:
  explicit Activity(const schema::Recording &recording) : recording(recording) { grow(); }

  // Takes in the operations that were recorded since.
  void grow();

  // From here on, paths begin at the value.
  void watch(schema::ValueId value) { tracked_[schema::index(value)] = true; }
  // The next operation forwards: its number.
  void forward(std::size_t op);
  void target(schema::ValueId value);
  // The next operation backwards. LookupError, in the name of `operation`, for a path through an operation without a
  // gradient; if `operation` is null, the path ends there.
  void backward(std::size_t op, const char *operation, SourceLocation where);

  bool isTracked(schema::ValueId value) const { return tracked_[schema::index(value)]; }
  bool reaches(schema::ValueId value) const { return reaches_[schema::index(value)]; }
  // Whether an operation that forward() went through computes the value from what is watched.
  bool isProduced(schema::ValueId value) const { return produced_[schema::index(value)]; }
  // Whether a path without a derivative on the way reaches the value. A path through derivatives may turn out not to
  // connect when they are expanded: the third derivative of x * x does not depend on x.
  bool reachesPlainly(schema::ValueId value) const { return plainlyReached[schema::index(value)]; }
  // The values that are reached, and not computed by an operation that forward() went through.
  const std::vector<schema::ValueId> &boundary() const { return boundary_; }

private:
  bool isFloating(schema::ValueId value) const { return is_floating(recording.typeOf(value).dtype); }
  const schema::Recording *programOf(const schema::RecordedOp &op) const;
  void forwardInside(std::size_t op, const schema::Recording &program);
  void backwardInside(std::size_t op, const schema::Recording &program, const char *operation, SourceLocation where);
  void reach(schema::ValueId value, bool derivatives, bool plainly);

  const schema::Recording &recording;
  std::vector<bool> tracked_, reaches_, produced_, derivativesTracked, derivativesReach, plainlyReached, atBoundary;
  std::vector<bool> seen;                                 // operations
  HashMap<std::size_t, std::unique_ptr<Activity>> inside; // by the number of the operation
  std::vector<schema::ValueId> boundary_;
  bool isInside = false;
};

// The operation that gives a value; null for a parameter.
const schema::RecordedOp *producerOf(const schema::Recording &recording, schema::ValueId value);

} // namespace calque::detail
#endif
