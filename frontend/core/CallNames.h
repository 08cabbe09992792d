// The library call in progress on this thread: its line and its name, which errors and recorded operations give the
// user.
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
// `where` as the line of a recorded operation, with the name of the library call in progress.
schema::SourceLine recordedLine(SourceLocation where);

// The name that errors give an operation: that of the library call in progress, or of the operation's public function.
std::string_view nameInMessages(schema::OpId op);
// The same for a recorded operation.
std::string_view nameInMessages(schema::OpId op, const schema::SourceLine &line);

// While such an object lives, recorded operations have its name in messages, whatever library call is in progress.
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
  None,         // an operation of the user's
  AssignedFits, // that a value of unknown sizes fits the variable to which it is assigned
  LoopFollowed, // that a loop of C++ code has not gone on farther than tracing has followed it
};
// The check that a recorded operation is. The operation and its name in messages tell, and files keep both.
LibraryCheck libraryCheckOf(const schema::RecordedOp &op);
// The name under which an operation is recorded that is such a check.
const char *recordedNameOf(LibraryCheck check);

} // namespace calque::detail
#endif
