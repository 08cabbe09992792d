// The training library: modules, layers, losses, optimisers, metrics and data sets. It stands on the public headers of
// Calque, which it includes; programs link Calque::training.
#ifndef CALQUE_TRAINING_H
#define CALQUE_TRAINING_H

#include "calque/callbacks.h"
#include "calque/calque.h"
#include "calque/config.h"
#include "calque/constraints.h"
#include "calque/data.h"
#include "calque/initializers.h"
#include "calque/layers.h"
#include "calque/losses.h"
#include "calque/metrics.h"
#include "calque/models.h"
#include "calque/module.h"
#include "calque/optimizers.h"
#include "calque/regularizers.h"
#include "calque/schedules.h"
#include "calque/summary.h"
#include "calque/tensors.h"

#endif
