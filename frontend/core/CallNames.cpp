#include "frontend/core/CallNames.h"

#include "calque/call_site.h"

#include <utility>

namespace calque {
namespace detail {

using schema::OpId;

namespace {
// The library call in progress.
thread_local SourceLocation callSite;
thread_local const char *calledFunction = nullptr, *calledIndex = nullptr;
} // namespace

CalledAs::CalledAs(const char *function) : previous(std::exchange(calledFunction, function)) {}
CalledAs::~CalledAs() { calledFunction = previous; }

const char *calledName(const char *function) { return calledFunction ? calledFunction : function; }
bool inLibraryCall() { return callSite.line != 0; }
SourceLocation userLine(SourceLocation where) { return callSite.line ? callSite : where; }
schema::SourceLine recordedLine(SourceLocation where) {
  return {where.file, where.line, where.column, calledFunction, calledIndex};
}
std::string_view nameInMessages(OpId op) {
  return calledFunction ? std::string_view(calledFunction) : schema::schemaOf(op).inMessages;
}
std::string_view nameInMessages(OpId op, const schema::SourceLine &line) {
  return line.function ? std::string_view(line.function) : schema::schemaOf(op).inMessages;
}

namespace {
// No public function has these names, so no other library call records these operations under them.
struct RecordedCheck {
  LibraryCheck check;
  OpId op;
  const char *name;
};
constexpr RecordedCheck kRecordedChecks[] = {
    {LibraryCheck::AssignedFits, OpId::BroadcastTo, "assign"},
    {LibraryCheck::LoopFollowed, OpId::Assert, "while"},
};
} // namespace

LibraryCheck libraryCheckOf(const schema::RecordedOp &op) {
  for (const RecordedCheck &each : kRecordedChecks)
    if (op.op == each.op && op.line.function && op.line.function == std::string_view(each.name))
      return each.check;
  return LibraryCheck::None;
}

const char *recordedNameOf(LibraryCheck check) {
  for (const RecordedCheck &each : kRecordedChecks)
    if (each.check == check)
      return each.name;
  return nullptr;
}

} // namespace detail

CallSite::CallSite(SourceLocation where, const char *function, const char *index)
    : outermost(!detail::callSite.line), names(function && !detail::calledFunction),
      namesIndex(index && !detail::calledIndex) {
  if (outermost)
    detail::callSite = where;
  if (names)
    detail::calledFunction = function;
  if (namesIndex)
    detail::calledIndex = index;
}
CallSite::~CallSite() {
  if (outermost)
    detail::callSite = {};
  if (names)
    detail::calledFunction = nullptr;
  if (namesIndex)
    detail::calledIndex = nullptr;
}
SourceLocation CallSite::resolve(SourceLocation where) { return detail::userLine(where); }

UserCode::UserCode()
    : line(std::exchange(detail::callSite, {})), function(std::exchange(detail::calledFunction, nullptr)),
      index(std::exchange(detail::calledIndex, nullptr)) {}
UserCode::~UserCode() {
  detail::callSite = line;
  detail::calledFunction = function;
  detail::calledIndex = index;
}

} // namespace calque
