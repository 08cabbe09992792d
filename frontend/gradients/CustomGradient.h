// Replaces the gradients of operations within a scope (GradientOverride).
#ifndef CALQUE_FRONTEND_GRADIENTS_CUSTOMGRADIENT_H
#define CALQUE_FRONTEND_GRADIENTS_CUSTOMGRADIENT_H

#include "calque/custom_gradient.h"
#include "frontend/core/TensorImpl.h"

#include <string_view>

namespace calque::detail {

// Public functions that are made of operations with other names. An override replaces the gradient of the whole
// function.
inline constexpr std::string_view kMatmul = "matmul", kConv = "conv", kConv2d = "conv2d",
                                  kDepthwiseConv2d = "depthwise_conv2d", kConvTranspose = "conv_transpose",
                                  kMaxPool = "max_pool", kMaxPool2d = "max_pool2d", kAveragePool = "average_pool",
                                  kReduceWindow = "reduce_window";
inline constexpr std::string_view kOverFunctions[] = {
    kMatmul, kConv, kConv2d, kDepthwiseConv2d, kConvTranspose, kMaxPool, kMaxPool2d, kAveragePool, kReduceWindow};

// Whether an override is active on this thread. If so, apply() calls overrideGradient.
bool gradientOverridesActive();
// If the gradient of the public function is overridden, gives the result this gradient.
void overrideGradient(std::string_view function, std::span<const Tensor> operands, std::span<Tensor> results,
                      SourceLocation where);

} // namespace calque::detail
#endif
