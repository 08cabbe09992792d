// What the losses ask of their operands.
#ifndef CALQUE_TRAINING_LOSSES_PAIR_H
#define CALQUE_TRAINING_LOSSES_PAIR_H

#include "Support.h"
#include "calque/functions.h"
#include "calque/losses.h"

namespace calque::training {

// Keras' epsilon, which keeps probabilities from 0 and 1.
inline constexpr double kEpsilon = 1e-7;

// Targets and predictions of one element type and one shape.
struct Pair {
  Tensor y_true, y_pred;
};
// The targets in the predictions' type; of ranks that differ by one, the one with a last dimension of 1 gives the rank
// where the other is a vector, and loses it elsewhere. DTypeError and ShapeError naming `what`.
Pair pairOf(const char *what, const Operand &y_true, const Operand &y_pred);

// The mean over the last axis; a scalar's is itself.
inline Tensor meanOfLast(const Tensor &x) { return x.rank() == 0 ? x : mean(x, {-1}); }

// weight * loss, and 0 where the weight is 0, also for a loss that is infinite.
inline Tensor weighted(const Tensor &weight, const Tensor &loss) { return where(weight == 0, 0, weight * loss); }

// losses or metrics times weights from the first dimension on: weights [B] fit losses [B, T]. ShapeError naming
// `what`, which is "weights" or "a mask", and the loss.
Tensor alongExamples(const char *owner, const char *what, const Tensor &weights, const Tensor &losses);

// The name of one of the library's functions, and the function of a name; empty and null for others.
using losses::LossFunction;
std::string nameOfLoss(LossFunction function);
LossFunction lossNamed(const std::string &name);

// Without options, a loss function has those of their default values.
#define CALQUE_DEFINE_LOSS_FUNCTION(Name)                                                                              \
  Tensor Name##Function::operator()(const Operand &y_true, const Operand &y_pred) const {                              \
    return (*this)(y_true, y_pred, {});                                                                                \
  }                                                                                                                    \
  Tensor Name##Function::byDefault(const Operand &y_true, const Operand &y_pred) {                                     \
    return Name##Function()(y_true, y_pred);                                                                           \
  }

} // namespace calque::training
#endif
