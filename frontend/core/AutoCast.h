// Variables that stand for tensors.
#ifndef CALQUE_FRONTEND_CORE_AUTOCAST_H
#define CALQUE_FRONTEND_CORE_AUTOCAST_H

#include "calque/variable.h"

namespace calque::detail {

// The value of a variable that stands for a tensor: in the type of this thread's AutoCast, if there is one.
Tensor valueAsTensor(const Variable &x, SourceLocation where);

} // namespace calque::detail
#endif
