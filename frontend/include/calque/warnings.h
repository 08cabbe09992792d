// What is probably not meant, but no error: each warning is one line on standard error, or goes where you say.
//
//   set_warning_handler([](const Warning &warning) { log(warning.message); });
//   set_warning_handler(nullptr); // standard error again
#ifndef CALQUE_WARNINGS_H
#define CALQUE_WARNINGS_H

#include "calque/export.h"
#include "calque/source_location.h"

#include <functional>
#include <string>

namespace calque {

struct Warning {
  std::string message;
  SourceLocation location; // the user's line; its `line` is 0 where it is not known
};
using WarningHandler = std::function<void(const Warning &)>;

// Makes a handler receive all warnings, of all threads; null: standard error. Returns the one before. It may be called
// by several threads at once. What it throws passes to the user's code that was warned of.
CALQUE_API WarningHandler set_warning_handler(WarningHandler handler);

namespace detail {
CALQUE_API void warn(const std::string &message, SourceLocation where);
}

} // namespace calque
#endif
