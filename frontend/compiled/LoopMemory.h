// What happens where the gradients of loops keep more of their iterations than calque/loop_memory.h allows.
//
// The runtime counts the bytes on a call's stacks, and ends the call at the limit. The code is then made once more,
// with a checkpoint in the innermost loop around the values that were too much, and the call is repeated. If that does
// not help, the next loop outside gets one, and at last there is no limit. What was made serves all later calls.
#ifndef CALQUE_FRONTEND_COMPILED_LOOPMEMORY_H
#define CALQUE_FRONTEND_COMPILED_LOOPMEMORY_H

#include "frontend/compiled/SiteErrors.h"
#include "runtime/Fork.h"

#include <atomic>

namespace calque::detail {

// Thrown by a call whose stacks have come to the limit. No variable has changed.
struct LoopMemoryPassed {
  std::size_t bytes; // that the stacks have
  std::size_t limit;
  std::int64_t operation; // the number of the recorded operation in which they came to it
  SourceLocation where;   // the user's line of that
};

class LoopMemory {
public:
  LoopMemory(schema::Recording recording, const CompileOptions &options)
      : recording(std::move(recording)), options(options) {}

  // For a call that begins now.
  std::size_t limit() const;
  // The code that serves calls in place of this one; null if there is none.
  const Code *next() const { return next_.load(std::memory_order_acquire); }
  // After a call of `code` has come to the limit: makes the next code, or lifts the limit. Warns.
  void afterPassed(const Code &code, const LoopMemoryPassed &passed, const Caller &caller);
  // After a call that could not stop has gone on beyond the limit. Warns once.
  void notePassed(std::size_t limit, const Caller &caller);

private:
  const schema::Recording recording;
  const CompileOptions options;
  std::atomic<bool> isLifted{false}, hasWarned{false};
  runtime::ForkMutex mutex;
  std::unique_ptr<const Code> owned;
  std::atomic<const Code *> next_{nullptr};
};

} // namespace calque::detail
#endif
