// How far the loops of host code are followed while tracing, and what happens where a call goes on farther.
//
// A loop may do otherwise after an iteration that no run has come to. So compiled loops count, and a call that goes
// beyond what was followed fails with LoopTooFar before it has changed a variable. It is then traced again, farther.
#ifndef CALQUE_FRONTEND_NATIVE_FOLLOWING_H
#define CALQUE_FRONTEND_NATIVE_FOLLOWING_H

#include "calque/error.h"
#include "frontend/native/Routes.h"

#include <string>

namespace calque::detail {

// Each level follows some times as far as the one before. On the farthest one, loops do not count.
inline constexpr int kFarthestLevel = 3;

// The level of what this thread traces.
int followLevel();
class FollowScope {
public:
  explicit FollowScope(int level);
  ~FollowScope();
  FollowScope(const FollowScope &) = delete;
  FollowScope &operator=(const FollowScope &) = delete;

private:
  const int before;
};

native::Limits limitsAt(int level);

// So is the check called that a loop has not gone on too far. It is told by its address.
inline constexpr char kFollowedCheck[] = "while";
std::string tooFarText(std::size_t iterations);

struct LoopTooFar : StateError {
  // `mayRepeat`: the call has printed nothing and called no host code.
  LoopTooFar(const std::string &reason, SourceLocation where, bool mayRepeat)
      : StateError(reason, where), reason(reason), mayRepeat(mayRepeat) {}
  const std::string reason;
  const bool mayRepeat;
};
// To the user, from where a call must not be repeated.
[[noreturn]] void throwNotRepeated(const LoopTooFar &error);
// Warns where what has gone too far is traced again on the farthest level.
void warnOfFarthest(int level, const LoopTooFar &error);

// Traces and runs until the loops were followed as far as the call goes.
template <typename Attempt> auto followAsFarAsNeeded(Attempt attempt) {
  for (int level = followLevel();;)
    try {
      FollowScope scope(level);
      return attempt();
    } catch (const LoopTooFar &error) {
      if (!error.mayRepeat)
        throwNotRepeated(error);
      warnOfFarthest(++level, error);
    }
}

} // namespace calque::detail
#endif
