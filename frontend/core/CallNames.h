// The library call in progress on this thread. Errors and recorded operations have its line and its name.
#ifndef CALQUE_FRONTEND_CORE_CALLNAMES_H
#define CALQUE_FRONTEND_CORE_CALLNAMES_H

#include "calque/source_location.h"
#include "schema/Recording.h"

#include <string_view>

namespace calque::detail {

// The line to report: the line of the outermost library call in progress, or `where`, the operation's line, if there is
// none.
SourceLocation userLine(SourceLocation where);
// Whether a library call is in progress.
bool inLibraryCall();
// Returns `where` as the line of a recorded operation, with the name of the library call in progress.
schema::SourceLine recordedLine(SourceLocation where);

// The name of the library call in progress, or that of `function` where there is none.
const char *calledName(const char *function);

// The name of an operation in errors: that of the library call in progress, or of the operation's public function.
std::string_view nameInMessages(schema::OpId op);
// The name of a recorded operation in errors.
std::string_view nameInMessages(schema::OpId op, const schema::SourceLine &line);

// While a CalledAs lives, recorded operations have its name in messages, even if a library call is in progress.
class CalledAs {
public:
  explicit CalledAs(const char *function);
  ~CalledAs();
  CalledAs(const CalledAs &) = delete;
  CalledAs &operator=(const CalledAs &) = delete;

private:
  const char *previous;
};

// The checks that the library records for itself. Their failures have texts and classes of their own.
enum class LibraryCheck {
  None,         // an operation of the user
  AssignedFits, // checks that a value of unknown sizes fits the variable to which it is assigned
  LoopFollowed, // checks that a loop of C++ code makes no more iterations than tracing has followed
};
// Returns which check a recorded operation is. This follows from the operation and from its name in messages, which are
// both in files.
LibraryCheck libraryCheckOf(const schema::RecordedOp &op);
// The name with which a check of this kind is recorded.
const char *recordedNameOf(LibraryCheck check);

} // namespace calque::detail
#endif
