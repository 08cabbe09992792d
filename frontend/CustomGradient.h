// Gradients that replace those of operations within a scope.
#ifndef CALQUE_FRONTEND_CUSTOMGRADIENT_H
#define CALQUE_FRONTEND_CUSTOMGRADIENT_H

#include "calque/custom_gradient.h"
#include "frontend/TensorImpl.h"

namespace calque::detail {

// Whether an override is active on this thread; then apply() calls overrideGradient.
bool gradientOverridesActive();
// Gives the result the gradient of the operation's override, if there is one.
void overrideGradient(schema::OpId op, std::span<const Tensor> operands, std::span<Tensor> results,
                      SourceLocation where);

} // namespace calque::detail
#endif
