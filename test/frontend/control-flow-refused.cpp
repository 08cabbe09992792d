// Must not compile, each for a reason of its own: branches of different types, bodies and steps that take another
// number of arguments or return something else than the next state, conditions that are no tensor, a checkpoint of a
// bool.
#include "calque/calque.h"

using namespace calque;

#define CASE_branches_differ 1
#define CASE_branch_without_result 2
#define CASE_body_returns_part 3
#define CASE_range_returns_other 4
#define CASE_fold_returns_pair 5
#define CASE_condition_is_bool 6
#define CASE_step_is_tensor 7
#define CASE_step_is_tuple 8
#define CASE_step_of_other_carry 9
#define CASE_body_takes_two 10
#define CASE_range_without_index 11
#define CASE_step_takes_one 12
#define CASE_body_returns_nothing 13
#define CASE_range_returns_nothing 14
#define CASE_fold_returns_nothing 15
#define CASE_condition_returns_nothing 16
#define CASE_number_while 17
#define CASE_number_range 18
#define CASE_number_scan 19
#define CASE_number_fold 20
#define CASE_checkpointed_and 21
#define SELECT(name) CASE_##name
#define SELECTED(name) SELECT(name)

void call(const Tensor &x) {
  [[maybe_unused]] auto less = [](const Tensor &y) { return y < 3; };
  [[maybe_unused]] auto next = [](const Tensor &y) { return y + 1; };
#if SELECTED(ARGUMENT) == CASE_branches_differ
  cond(x > 0, [&] { return x; }, [&] { return std::pair(x, x); });
#elif SELECTED(ARGUMENT) == CASE_branch_without_result
  cond(x > 0, [&] { return x; }, [] {});
#elif SELECTED(ARGUMENT) == CASE_body_returns_part
  while_loop([](const Tensor &y, const Tensor &) { return y < 3; }, [](const Tensor &y, const Tensor &) { return y; },
             std::tuple(x, x));
#elif SELECTED(ARGUMENT) == CASE_range_returns_other
  for_range(0, 3, x, [](const Tensor &i, const Tensor &y) { return std::tuple(i, y); });
#elif SELECTED(ARGUMENT) == CASE_fold_returns_pair
  fold([](const Tensor &y, const Tensor &z) { return std::pair(y, z); }, x, x);
#elif SELECTED(ARGUMENT) == CASE_condition_is_bool
  while_loop([](const Tensor &) { return true; }, next, x);
#elif SELECTED(ARGUMENT) == CASE_step_is_tensor
  scan([](const Tensor &y, const Tensor &z) { return y + z; }, x, x);
#elif SELECTED(ARGUMENT) == CASE_step_is_tuple
  scan([](const Tensor &y, const Tensor &z) { return std::tuple(y, z); }, x, x);
#elif SELECTED(ARGUMENT) == CASE_step_of_other_carry
  scan([](const Tensor &y, const Tensor &z) { return std::pair(std::pair(y, y), z); }, x, x);
#elif SELECTED(ARGUMENT) == CASE_body_takes_two
  while_loop(less, [](const Tensor &y, const Tensor &) { return y; }, x);
#elif SELECTED(ARGUMENT) == CASE_range_without_index
  for_range(0, 3, x, [](const Tensor &y) { return y; });
#elif SELECTED(ARGUMENT) == CASE_step_takes_one
  scan([](const Tensor &y) { return std::pair(y, y); }, x, x);
#elif SELECTED(ARGUMENT) == CASE_body_returns_nothing
  while_loop(less, [](const Tensor &) {}, x);
#elif SELECTED(ARGUMENT) == CASE_range_returns_nothing
  for_range(0, 3, x, [](const Tensor &, const Tensor &) {});
#elif SELECTED(ARGUMENT) == CASE_fold_returns_nothing
  fold([](const Tensor &, const Tensor &) {}, x, x);
#elif SELECTED(ARGUMENT) == CASE_condition_returns_nothing
  while_loop([](const Tensor &) {}, next, x);
#elif SELECTED(ARGUMENT) == CASE_number_while
  while_loop(less, next, 0);
#elif SELECTED(ARGUMENT) == CASE_number_range
  for_range(0, 3, 0.0f, [](const Tensor &, const Tensor &y) { return y; });
#elif SELECTED(ARGUMENT) == CASE_number_scan
  scan([](const Tensor &y, const Tensor &z) { return std::pair(y, z); }, 0.0f, x);
#elif SELECTED(ARGUMENT) == CASE_number_fold
  fold([](const Tensor &y, const Tensor &z) { return y + z; }, 0.0f, x);
#elif SELECTED(ARGUMENT) == CASE_checkpointed_and
  for (Tensor y = x; checkpointed(y < 3 && x < 3);)
    y = y + 1;
#endif
}
