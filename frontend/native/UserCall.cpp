#include "frontend/native/UserCall.h"

namespace calque::detail {

namespace {
thread_local UserCall *innermost = nullptr;

std::vector<schema::ValueId> valuesOf(const std::vector<Trace::Held> &held) {
  std::vector<schema::ValueId> values;
  for (const Trace::Held &each : held)
    values.push_back(each.value);
  return values;
}
} // namespace

UserCall::UserCall(const Trace &trace)
    : trace(trace), around(innermost), numOps(trace.recording.ops().size()), before(valuesOf(trace.held())) {
  innermost = this;
}
UserCall::~UserCall() { innermost = around; }

bool UserCall::mayLeave() const {
  std::span<const schema::RecordedOp> ops = trace.recording.ops();
  for (std::size_t i = numOps; i < ops.size(); ++i)
    if (schema::hasEffect(trace.recording, ops[i]))
      return false;
  const std::vector<Trace::Held> &held = trace.held();
  for (std::size_t i = 0; i < held.size(); ++i)
    if (held[i].value != (i < before.size() ? before[i] : held[i].parameter))
      return false;
  return true;
}

void UserCall::leaveAt(const Trace &trace) {
  if (!innermost || &innermost->trace != &trace || !innermost->mayLeave())
    return;
  innermost->left = true;
  throw Left();
}

} // namespace calque::detail
