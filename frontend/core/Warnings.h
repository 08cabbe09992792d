// Warnings without the program's handler.
#ifndef CALQUE_FRONTEND_CORE_WARNINGS_H
#define CALQUE_FRONTEND_CORE_WARNINGS_H

#include "calque/source_location.h"

#include <string>

namespace calque::detail {

// Prints a warning to standard error. Use it also while the process ends, when the objects to which a handler refers
// may be destroyed.
void printWarning(const std::string &message, SourceLocation where = {});

} // namespace calque::detail
#endif
