// Gradients that replace those of operations within a scope.
#ifndef CALQUE_FRONTEND_GRADIENTS_CUSTOMGRADIENT_H
#define CALQUE_FRONTEND_GRADIENTS_CUSTOMGRADIENT_H

#include "calque/custom_gradient.h"
#include "frontend/core/TensorImpl.h"

#include <string_view>

namespace calque::detail {

// The public functions over operations of other names whose gradient can be overridden as one.
inline constexpr std::string_view kMatmul = "matmul", kConv = "conv", kConv2d = "conv2d",
                                  kDepthwiseConv2d = "depthwise_conv2d", kConvTranspose = "conv_transpose",
                                  kMaxPool = "max_pool", kMaxPool2d = "max_pool2d", kAveragePool = "average_pool",
                                  kReduceWindow = "reduce_window";
inline constexpr std::string_view kOverFunctions[] = {
    kMatmul, kConv, kConv2d, kDepthwiseConv2d, kConvTranspose, kMaxPool, kMaxPool2d, kAveragePool, kReduceWindow};

// Whether an override is active on this thread; then apply() calls overrideGradient.
bool gradientOverridesActive();
// Gives the result the gradient of the public function's override, if there is one.
void overrideGradient(std::string_view function, std::span<const Tensor> operands, std::span<Tensor> results,
                      SourceLocation where);

} // namespace calque::detail
#endif
