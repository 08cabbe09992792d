// Warnings of probable mistakes. A warning is a line on standard error, or is passed to a handler.
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
  SourceLocation location; // the user's line; its `line` is 0 if it is unknown
};
using WarningHandler = std::function<void(const Warning &)>;

// Sets the handler for the warnings of all threads; null means standard error. Returns the previous handler. Several
// threads may call a handler at once. Its exceptions pass to the user's code that caused the warning.
CALQUE_API WarningHandler set_warning_handler(WarningHandler handler);

namespace detail {
CALQUE_API void warn(const std::string &message, SourceLocation where);
}

} // namespace calque
#endif
