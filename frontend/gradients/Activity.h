// Which values of a Recording lie on paths from what a tape watches to what is asked of it.
#ifndef CALQUE_FRONTEND_GRADIENTS_ACTIVITY_H
#define CALQUE_FRONTEND_GRADIENTS_ACTIVITY_H

#include "absl/container/flat_hash_map.h"
#include "calque/source_location.h"
#include "schema/Recording.h"

#include <memory>

namespace calque::detail {

// Found in two passes: forwards from what is watched, backwards from targets. A program inside of an operation is
// followed, so that each of the operation's results has the paths that lead to it. Boundaries are outside of programs:
// a derivative goes through a program as a whole, so that what is reached in there leads on to the parameters it is
// made of, watched or not. The captures of a custom gradient affect the derivatives of its results, but not the
// results.
class Activity {
public:
  explicit Activity(const schema::Recording &recording) : recording(recording) { grow(); }

  // Takes in what has been recorded since.
  void grow();

  // From here on, paths begin at the value.
  void watch(schema::ValueId value) { tracked_[schema::index(value)] = true; }
  // The next operation forwards: its number.
  void forward(std::size_t op);
  void target(schema::ValueId value);
  // The next operation backwards. LookupError of `operation` for a path through one that lacks a gradient; without a
  // name the path ends there.
  void backward(std::size_t op, const char *operation, SourceLocation where);

  bool isTracked(schema::ValueId value) const { return tracked_[schema::index(value)]; }
  bool reaches(schema::ValueId value) const { return reaches_[schema::index(value)]; }
  // Whether an operation that forward() went through computes the value from what is watched.
  bool isProduced(schema::ValueId value) const { return produced_[schema::index(value)]; }
  // Whether a path reaches the value without a derivative on the way. Of others it shows only when the derivatives are
  // expanded whether they are connected: the third derivative of x * x does not depend on x.
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
  std::vector<bool> seen;                                             // operations
  absl::flat_hash_map<std::size_t, std::unique_ptr<Activity>> inside; // by the number of the operation
  std::vector<schema::ValueId> boundary_;
  bool isInside = false;
};

// The operation that gives a value; null for a parameter.
const schema::RecordedOp *producerOf(const schema::Recording &recording, schema::ValueId value);

} // namespace calque::detail
#endif
