// Activity analysis: which values of a Recording lie on paths from the values that a tape watches to a gradient's
// targets.
#ifndef CALQUE_FRONTEND_GRADIENTS_ACTIVITY_H
#define CALQUE_FRONTEND_GRADIENTS_ACTIVITY_H

#include "calque/source_location.h"
#include "schema/HashTables.h"
#include "schema/Recording.h"

#include <memory>

namespace calque::detail {

// The analysis makes two passes: forward from the watched values, and backward from the targets. It follows the program
// inside of an operation, so that each result of the operation has its own paths. No boundary lies inside of such a
// program, because a derivative goes through the program as a whole: a path that reaches a value inside goes on to the
// parameters from which the value is computed, watched or not. The captures of a custom gradient affect the derivatives
// of its results, but not the results.
class Activity {
public:
  explicit Activity(const schema::Recording &recording) : recording(recording) { grow(); }

  // Makes room for the operations that were recorded since the last call.
  void grow();

  // From here on, paths begin at the value.
  void watch(schema::ValueId value) { tracked_[schema::index(value)] = true; }
  // Goes forward through the next operation, which has this number.
  void forward(std::size_t op);
  void target(schema::ValueId value);
  // Goes backward through the next operation. LookupError, in the name of `operation`, if a path leads through an
  // operation without a gradient. If `operation` is null, the path ends there.
  void backward(std::size_t op, const char *operation, SourceLocation where);

  bool isTracked(schema::ValueId value) const { return tracked_[schema::index(value)]; }
  bool reaches(schema::ValueId value) const { return reaches_[schema::index(value)]; }
  // Whether an operation that forward() went through computes the value from watched values.
  bool isProduced(schema::ValueId value) const { return produced_[schema::index(value)]; }
  // Whether a path without a derivative on the way reaches the value. A path through derivatives may end when the
  // derivatives are expanded: the third derivative of x * x does not depend on x.
  bool reachesPlainly(schema::ValueId value) const { return plainlyReached[schema::index(value)]; }
  // The values that are reached, and that are not computed by an operation which forward() went through.
  const std::vector<schema::ValueId> &boundary() const { return boundary_; }

private:
  bool isFloating(schema::ValueId value) const { return is_inexact(recording.typeOf(value).dtype); }
  const schema::Recording *programOf(const schema::RecordedOp &op) const;
  void forwardInside(std::size_t op, const schema::Recording &program);
  void backwardInside(std::size_t op, const schema::Recording &program, const char *operation, SourceLocation where);
  void reach(schema::ValueId value, bool derivatives, bool plainly);

  const schema::Recording &recording;
  std::vector<bool> tracked_, reaches_, produced_, derivativesTracked, derivativesReach, plainlyReached, atBoundary;
  std::vector<bool> seen;                                 // by the number of the operation
  HashMap<std::size_t, std::unique_ptr<Activity>> inside; // by the number of the operation
  std::vector<schema::ValueId> boundary_;
  bool isInside = false;
};

// The operation that computes a value; null for a parameter.
const schema::RecordedOp *producerOf(const schema::Recording &recording, schema::ValueId value);

} // namespace calque::detail
#endif
