// How many iterations of host loops tracing follows, and what happens if a call needs more.
//
// A host loop may behave differently after an iteration that no run has reached. So compiled loops count their
// iterations, and a call that needs more than were followed fails with LoopTooFar before it has changed a variable. The
// function is then traced again, and more iterations are followed.
#ifndef CALQUE_FRONTEND_NATIVE_FOLLOWING_H
#define CALQUE_FRONTEND_NATIVE_FOLLOWING_H

#include "calque/error.h"
#include "frontend/native/Routes.h"

#include <deque>
#include <memory>
#include <optional>
#include <string>

namespace calque::detail {

// Each level follows loops several times as far as the level before. On the farthest level, loops do not count
// iterations.
inline constexpr int kFarthestLevel = 3;

// What the traces of one lambda keep for those that follow its loops farther: what each capture of native control flow
// has learnt, in the order of the captures.
struct FollowMemory {
  std::deque<native::Lesson> lessons;
  std::optional<SourceLocation> tooFar; // the loop that a call went on in beyond what was followed
};

// The level on which this thread traces.
int followLevel();
class FollowScope {
public:
  FollowScope(int level, std::shared_ptr<FollowMemory> memory);
  ~FollowScope();
  FollowScope(const FollowScope &) = delete;
  FollowScope &operator=(const FollowScope &) = delete;

private:
  const int levelBefore;
  std::shared_ptr<FollowMemory> memoryBefore;
  const std::size_t nextBefore;
};
// What the next capture of this thread keeps; null outside of a scope. Valid within the scope.
native::Lesson *nextLesson();
// The line of the loop that is to be followed farther; none: all loops are.
std::optional<SourceLocation> loopTooFar();

native::Limits limitsAt(int level);

// The message of the check that a loop makes no more iterations than were followed.
std::string tooFarText(std::size_t iterations);

struct LoopTooFar : StateError {
  // `mayRepeat`: the call has printed nothing and called no host code.
  LoopTooFar(const std::string &reason, SourceLocation where, bool mayRepeat)
      : StateError(reason, where), reason(reason), mayRepeat(mayRepeat) {}
  const std::string reason;
  const bool mayRepeat;
};
// Throws the user's error for a call that must not be repeated.
[[noreturn]] void throwNotRepeated(const LoopTooFar &error);
// Warns if the function is traced again on the farthest level.
void warnOfFarthest(int level, const LoopTooFar &error);

// Traces and runs, on farther levels if needed, until the call needs no more iterations than were followed.
template <typename Attempt> auto followAsFarAsNeeded(Attempt attempt) {
  auto memory = std::make_shared<FollowMemory>();
  for (int level = followLevel();;)
    try {
      FollowScope scope(level, memory);
      return attempt();
    } catch (const LoopTooFar &error) {
      if (!error.mayRepeat)
        throwNotRepeated(error);
      warnOfFarthest(++level, error);
      memory->tooFar = error.location();
    }
}

} // namespace calque::detail
#endif
