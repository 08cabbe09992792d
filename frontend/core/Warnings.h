// Warnings without the program's handler.
#ifndef CALQUE_FRONTEND_CORE_WARNINGS_H
#define CALQUE_FRONTEND_CORE_WARNINGS_H

#include "calque/source_location.h"

#include <string>

namespace calque::detail {

// To standard error, also while the process ends, when what a handler refers to may be gone.
void printWarning(const std::string &message, SourceLocation where = {});

} // namespace calque::detail
#endif
