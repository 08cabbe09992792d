// Calque: tensors in C++ that run eagerly and, wrapped in function(), as native code.
#ifndef CALQUE_CALQUE_H
#define CALQUE_CALQUE_H

#include "calque/call_site.h"
#include "calque/dtype.h"
#include "calque/error.h"
#include "calque/function.h"
#include "calque/functions.h"
#include "calque/gradient_tape.h"
#include "calque/structure.h"
#include "calque/tensor.h"
#include "calque/threads.h"
#include "calque/variable.h"

#endif
