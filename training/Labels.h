#ifndef CALQUE_TRAINING_LABELS_H
#define CALQUE_TRAINING_LABELS_H

#include "Support.h"
#include "calque/functions.h"

namespace calque::training {

// Integer labels in the shape of the predictions [..., C] without their last dimension. ShapeError or DTypeError naming
// `what` if they don't fit each other.
Tensor labelsFor(const char *what, const Tensor &labels, const Tensor &predictions);

} // namespace calque::training
#endif
