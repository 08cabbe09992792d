// Must not compile: operations on symbolic tensors.
#include <calque/training.h>

using namespace calque;

#define CASE_unary 1
#define CASE_with_options 2
#define CASE_reduction 3
#define CASE_binary 4
#define CASE_OF(name) CASE_##name
#define CASE(name) CASE_OF(name)

void refused(const SymbolicTensor &x) {
#if CASE(ARGUMENT) == CASE_unary
  relu(x);
#elif CASE(ARGUMENT) == CASE_with_options
  activations::leaky_relu(x, 0.1);
#elif CASE(ARGUMENT) == CASE_reduction
  sum(x, {1});
#elif CASE(ARGUMENT) == CASE_binary
  maximum(x, 0.5);
#endif
}
