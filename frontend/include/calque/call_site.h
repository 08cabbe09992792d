// For libraries on top of Calque, such as layers: errors inside of the library name the line of its caller.
#ifndef CALQUE_CALL_SITE_H
#define CALQUE_CALL_SITE_H

#include "calque/export.h"
#include "calque/source_location.h"

namespace calque {

// While a CallSite lives, operations of this thread have its line. If call sites nest, the line and `function` are
// those of the outermost one. `function` is the name of the function that the user has called; errors of operations
// inside use this name. `index` is the name of an index in errors, such as "label". Both texts are literals, or live as
// long as the process.
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

// A library makes a UserCode object while it calls code of the user, such as a loss or a layer's function. While the
// object lives, operations have their own lines and names again.
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
