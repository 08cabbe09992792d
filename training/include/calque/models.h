// Models: layers that consist of layers.
#ifndef CALQUE_MODELS_H
#define CALQUE_MODELS_H

#include "calque/models/functional.h"
#include "calque/models/layer_values.h"
#include "calque/models/model.h"
#include "calque/models/sequential.h"

#endif
