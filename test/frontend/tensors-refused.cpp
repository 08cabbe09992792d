// Must not compile, each for a reason of its own: assignments to what no name keeps, gradients that may be none where
// tensors are taken, and reductions where an elementwise function is meant.
#include "calque/calque.h"

using namespace calque;

#define CASE_assign_element 1
#define CASE_assign_number 2
#define CASE_assign_slice_of_variable 3
#define CASE_add_to_element 4
#define CASE_assign_size 5
#define CASE_assign_variable 6
#define CASE_gradient_times 7
#define CASE_gradient_in_function 8
#define CASE_gradient_as_tensor 9
#define CASE_max_of_two 11
#define CASE_min_with_number 12
#define CASE_max_zero 13
#define CASE_std_max 14
#define SELECT(name) CASE_##name
#define SELECTED(name) SELECT(name)

Variable made();

void call(Tensor &x, const Tensor &y, Variable &v, GradientTape &tape) {
  (void)x, (void)y, (void)v, (void)tape;
#if SELECTED(ARGUMENT) == CASE_assign_element
  x[0] = x[1] * 10;
#elif SELECTED(ARGUMENT) == CASE_assign_number
  x[0][1] = 3;
#elif SELECTED(ARGUMENT) == CASE_assign_slice_of_variable
  v[0] = y;
#elif SELECTED(ARGUMENT) == CASE_add_to_element
  x[0] += y;
#elif SELECTED(ARGUMENT) == CASE_assign_size
  x.shape()[0] = 3;
#elif SELECTED(ARGUMENT) == CASE_assign_variable
  made() = v;
#elif SELECTED(ARGUMENT) == CASE_gradient_times
  Tensor step = 0.1 * tape.gradient(y, x);
#elif SELECTED(ARGUMENT) == CASE_gradient_in_function
  v.assign_sub(tape.gradient(y, v));
#elif SELECTED(ARGUMENT) == CASE_gradient_as_tensor
  Tensor g = tape.gradient(y, x);
#elif SELECTED(ARGUMENT) == CASE_max_of_two
  Tensor larger = max(x, y);
#elif SELECTED(ARGUMENT) == CASE_min_with_number
  Tensor smaller = min(x, 0.5);
#elif SELECTED(ARGUMENT) == CASE_max_zero
#pragma GCC diagnostic error "-Wdeprecated-declarations"
  Tensor payoff = max(x - y, 0);
#elif SELECTED(ARGUMENT) == CASE_std_max
  using namespace std;
  Tensor larger = max(x, y);
#else
#error "no such case"
#endif
}
