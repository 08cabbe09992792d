// Functions on arrays, with the names and rules of NumPy: docs/arrays.md lists them.
//
//   #include <calque/arrays.h>
//
//   Tensor x = linspace(0, 1, 5);                // 0, 1/4, 1/2, 3/4, 1
//   Tensor table = outer(x, arange(3.0f));       // [5,3]
//   Tensor lower = tril(matmul(table, transpose(table)));
//
// All of them run eagerly and in traced functions, and consist of the operations of functions.h: derivatives, vmap and
// unknown sizes pass through them. Where a number of elements must be known while tracing, the comment says so.
#ifndef CALQUE_ARRAYS_H
#define CALQUE_ARRAYS_H

#include "calque/arrays/making.h"
#include "calque/arrays/moving.h"
#include "calque/arrays/places.h"
#include "calque/arrays/products.h"
#include "calque/arrays/sequences.h"
#include "calque/arrays/sets.h"
#include "calque/arrays/statistics.h"

#endif
