// Must not compile, each for a reason of its own: callables whose arguments are not known or not taken.
#include "calque/calque.h"

using namespace calque;

#define CASE_generic 1
#define CASE_transformed_generic 2
#define CASE_other_arguments 3
#define CASE_nine_arguments 4
#define CASE_host_number 5
#define CASE_host_reference 6
#define SELECT(name) CASE_##name
#define SELECTED(name) SELECT(name)

void call(const Tensor &x) {
  (void)x;
#if SELECTED(ARGUMENT) == CASE_generic
  function([](auto y) { return y; });
#elif SELECTED(ARGUMENT) == CASE_transformed_generic
  function(vmap([](const auto &y) { return y; }));
#elif SELECTED(ARGUMENT) == CASE_other_arguments
  function<Tensor(const Tensor &)>([](const Variable &v) { return v.value(); });
#elif SELECTED(ARGUMENT) == CASE_nine_arguments
  vmap([](const auto &...y) { return (y + ...); })(x, x, x, x, x, x, x, x, x);
#elif SELECTED(ARGUMENT) == CASE_host_number
  host_call([](int) { return ones({1}); }, {x});
#elif SELECTED(ARGUMENT) == CASE_host_reference
  host_call([](Tensor &y) { return y; }, {x});
#endif
}
