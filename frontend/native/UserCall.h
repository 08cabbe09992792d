// Calls of a user's code by a library: C++ branches and loops in it are captured by themselves, not as a part of the
// trace around it. A solver calls a function in several places of its loops. If each of them made paths of the trace
// around, the trace would be captured over and over, and each time all programs inside of it.
//
//   UserCall call(trace);
//   try { results = code(); } catch (const UserCall::Left &) { ... trace the code in a trace of its own ... }
#ifndef CALQUE_FRONTEND_NATIVE_USERCALL_H
#define CALQUE_FRONTEND_NATIVE_USERCALL_H

#include "frontend/core/Trace.h"

namespace calque::detail {

// The code's first decision leaves the call, if nothing has happened that can't be left: operations without effects
// stay in the trace, where nothing uses them.
class UserCall {
public:
  explicit UserCall(const Trace &trace);
  ~UserCall();
  UserCall(const UserCall &) = delete;
  UserCall &operator=(const UserCall &) = delete;
  struct Left {};
  // Whether Left was thrown, which host code may have caught.
  bool isLeft() const { return left; }

  // Throws Left if a call of this thread is in progress whose trace is about to have its first decision.
  static void leaveAt(const Trace &trace);

private:
  bool mayLeave() const;

  const Trace &trace;
  UserCall *const around;
  const std::size_t numOps;                  // before the call
  const std::vector<schema::ValueId> before; // the values of the variables that the trace holds
  bool left = false;
};

} // namespace calque::detail
#endif
