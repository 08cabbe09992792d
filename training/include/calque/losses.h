// Loss functions.
//
//   Tensor loss = losses::sparse_categorical_crossentropy(labels, net(x), {.from_logits = true});
#ifndef CALQUE_LOSSES_H
#define CALQUE_LOSSES_H

#include "calque/tensor.h"

namespace calque::losses {

// The result: the mean of the examples' losses, their sum, or each of them.
enum class Reduction { Mean, Sum, None };
CALQUE_API std::ostream &operator<<(std::ostream &os, Reduction reduction);

struct CrossentropyOptions {
  bool from_logits = false; // else y_pred are probabilities, which need not add up to 1
  Reduction reduction = Reduction::Mean;
};

// -log of the probability that y_pred [..., C] gives to the labels y_true [...] or [..., 1], int32 or int64. Logits may
// have any magnitude; -infinity is the logit of an impossible class. Probabilities are clipped to [1e-7, 1 - 1e-7]
// first. ShapeError and DTypeError for other operands; IndexError for a label outside [0, C), when it is computed.
CALQUE_API Tensor sparse_categorical_crossentropy(const Operand &y_true, const Operand &y_pred,
                                                  CrossentropyOptions options = {});

} // namespace calque::losses
#endif
