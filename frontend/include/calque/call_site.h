// For libraries on top of Calque, such as layers: errors inside of the library name the line of its caller.
#ifndef CALQUE_CALL_SITE_H
#define CALQUE_CALL_SITE_H

#include "calque/export.h"
#include "calque/source_location.h"

namespace calque {

// While a CallSite lives, operations of this thread carry its line. If call sites nest, line and `function` are those
// of the outermost one. Errors give the operations inside the name `function`, which is the function that the user has
// called, and call an index `index`: "label". Both texts are literals, or live as long as the process.
class CALQUE_API CallSite {
public:
  explicit CallSite(SourceLocation where, const char *function = nullptr, const char *index = nullptr);
  ~CallSite();
  CallSite(const CallSite &) = delete;
  CallSite &operator=(const CallSite &) = delete;

  // The line for an error of this thread: that of the outermost call site if there is one, else `where`.
  static SourceLocation resolve(SourceLocation where);

private:
  bool outermost, names, namesIndex;
};

// A library's call of code that the user gave it, such as a loss or a layer's function: while it lives, operations have
// their own lines and names again.
class CALQUE_API UserCode {
public:
  UserCode();
  ~UserCode();
  UserCode(const UserCode &) = delete;
  UserCode &operator=(const UserCode &) = delete;

private:
  const SourceLocation line;
  const char *const function, *const index;
};

} // namespace calque
#endif
