// Host calls: the calls of C++ callables that traces record.
#ifndef CALQUE_FRONTEND_OPERATIONS_HOSTCALL_H
#define CALQUE_FRONTEND_OPERATIONS_HOSTCALL_H

#include "frontend/operations/HostFunction.h"

namespace calque::detail {

// Records a call of a host function in the current trace. The trace keeps functions with the same identity once.
std::vector<Tensor> recordHostCall(std::shared_ptr<const HostFunction> function, const std::vector<Tensor> &inputs);

} // namespace calque::detail
#endif
