// Gradients that take the place of operations' own, for a scope.
#ifndef CALQUE_FRONTEND_CUSTOMGRADIENT_H
#define CALQUE_FRONTEND_CUSTOMGRADIENT_H

#include "calque/custom_gradient.h"
#include "frontend/TensorImpl.h"

namespace calque::detail {

// Whether an override is active on this thread; then apply() asks for that of its operation.
bool gradientOverridesActive();
// The result with the gradient that an override gives the operation, or as it is.
Tensor overrideGradient(schema::OpId op, std::span<const Tensor> operands, Tensor result, SourceLocation where);

} // namespace calque::detail
#endif
