// For libraries on top of Calque, such as layers: errors inside name the line of the library's caller.
#ifndef CALQUE_CALL_SITE_H
#define CALQUE_CALL_SITE_H

#include "calque/export.h"
#include "calque/source_location.h"

namespace calque {

// While it lives, operations of this thread carry its line; of nested ones the outermost counts.
class CALQUE_API CallSite {
public:
  explicit CallSite(SourceLocation where);
  ~CallSite();
  CallSite(const CallSite &) = delete;
  CallSite &operator=(const CallSite &) = delete;

  // The line that an error of this thread is to name: the outermost call site's if there is one, else `where`.
  static SourceLocation resolve(SourceLocation where);

private:
  bool outermost;
};

} // namespace calque
#endif
