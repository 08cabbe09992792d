// Calque: tensors in C++ that run eagerly and, wrapped in function(), as native code.
#ifndef CALQUE_CALQUE_H
#define CALQUE_CALQUE_H

#include "calque/call_site.h"
#include "calque/check_gradients.h"
#include "calque/checkpoint.h"
#include "calque/concrete_function.h"
#include "calque/control_flow.h"
#include "calque/custom_gradient.h"
#include "calque/debug.h"
#include "calque/dtype.h"
#include "calque/error.h"
#include "calque/function.h"
#include "calque/functions.h"
#include "calque/gradient_tape.h"
#include "calque/host_call.h"
#include "calque/init_scope.h"
#include "calque/method.h"
#include "calque/operation.h"
#include "calque/print.h"
#include "calque/random.h"
#include "calque/safetensors.h"
#include "calque/structure.h"
#include "calque/tensor.h"
#include "calque/tensor_array.h"
#include "calque/tensor_spec.h"
#include "calque/threads.h"
#include "calque/trackable.h"
#include "calque/transforms.h"
#include "calque/variable.h"
#include "calque/warnings.h"

#endif
