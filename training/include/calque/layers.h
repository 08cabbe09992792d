// Layers: functions with variables. A layer makes its variables at its first call, from the shape of the input.
//
//   Sequential net({
//       layers::Conv2D(16, 3, {.padding = "same", .activation = "relu"}),
//       layers::BatchNormalization(),
//       layers::MaxPool2D(2),
//       layers::Flatten(),
//       layers::Dropout(0.5),
//       layers::Dense(10),
//   });
//   Tensor logits = net(x, {.training = true}); // batch statistics and dropout; without the option, neither
//   net.trainable_variables();
#ifndef CALQUE_LAYERS_H
#define CALQUE_LAYERS_H

#include "calque/activations.h"
#include "calque/layers/attention.h"
#include "calque/layers/convolution.h"
#include "calque/layers/core.h"
#include "calque/layers/layer.h"
#include "calque/layers/make_layer.h"
#include "calque/layers/merging.h"
#include "calque/layers/normalization.h"
#include "calque/layers/pooling.h"
#include "calque/layers/preprocessing.h"
#include "calque/layers/recurrent.h"
#include "calque/layers/registry.h"
#include "calque/layers/regularization.h"
#include "calque/layers/reshaping.h"
#include "calque/models.h"

#endif
