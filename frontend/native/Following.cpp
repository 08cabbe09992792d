#include "frontend/native/Following.h"

#include "absl/strings/str_cat.h"
#include "calque/warnings.h"

#include <algorithm>
#include <utility>

namespace calque::detail {

namespace {
thread_local int currentLevel = 0;
thread_local std::shared_ptr<FollowMemory> currentMemory;
thread_local std::size_t nextCapture = 0;
} // namespace

int followLevel() { return currentLevel; }
FollowScope::FollowScope(int level, std::shared_ptr<FollowMemory> memory)
    : levelBefore(std::exchange(currentLevel, level)), memoryBefore(std::exchange(currentMemory, std::move(memory))),
      nextBefore(std::exchange(nextCapture, 0)) {}
FollowScope::~FollowScope() {
  currentLevel = levelBefore;
  currentMemory = std::move(memoryBefore);
  nextCapture = nextBefore;
}

native::Lesson *nextLesson() {
  if (!currentMemory)
    return nullptr;
  std::deque<native::Lesson> &lessons = currentMemory->lessons;
  if (nextCapture == lessons.size())
    lessons.emplace_back();
  return &lessons[nextCapture++];
}

native::Limits limitsAt(int level) {
  native::Limits limits;
  // On the last level nothing is expected of following farther.
  for (int i = 1; i <= std::min(level, kFarthestLevel - 1); ++i) {
    const unsigned factor = i == 1 ? 8 : 4;
    limits.iterations *= factor;
    limits.steps *= factor;
    limits.allSteps *= 3;
    limits.longRun *= factor;
  }
  return limits;
}

std::optional<SourceLocation> loopTooFar() { return currentMemory ? currentMemory->tooFar : std::nullopt; }

std::string tooFarText(std::size_t iterations) {
  return absl::StrCat("the loop goes on beyond ", iterations,
                      " iterations, and no farther was its C++ code followed while tracing");
}

void throwNotRepeated(const LoopTooFar &error) {
  throw StateError(absl::StrCat(error.reason,
                                "; the call has printed or called the host, so that it can't be repeated: "
                                "the next call follows the loop farther, and while_loop and for_range "
                                "need not be followed"),
                   error.location());
}

void warnOfFarthest(int level, const LoopTooFar &error) {
  if (level == kFarthestLevel)
    warn(absl::StrCat(error.reason, "; it is compiled all the same, so that C++ code that does otherwise in a later "
                                    "iteration goes unnoticed, which while_loop and for_range rule out"),
         error.location());
}

} // namespace calque::detail
