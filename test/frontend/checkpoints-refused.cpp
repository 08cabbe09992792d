// Parts of checkpoints that do not compile: ARGUMENT names one.
#include "calque/calque.h"
#include "calque/checkpoint.h"

#include <atomic>

using namespace calque;

enum class Phase { First, Second };

template <typename T> void part_history(const Variable &w) {
  std::vector<T> losses;
  Checkpoint c{{"w", w}, {"losses", losses}};
}
template <typename T> void part_alone(const Variable &) {
  std::vector<T> losses;
  Checkpoint c{{"losses", losses}};
}
template <typename T> void part_enumeration(const Variable &w) {
  std::conditional_t<std::is_same_v<T, int>, Phase, T> phase{};
  Checkpoint c{{"w", w}, {"phase", phase}};
}
template <typename T> void part_atomic(const Variable &w) {
  std::atomic<T> n{0};
  Checkpoint c{{"w", w}, {"n", n}};
}
template <typename T> void part_temporary(const Variable &w) { Checkpoint c{{"w", w}, {"step", T(5)}}; }
template <typename T> void part_constant(const Variable &w) {
  const T step = 5;
  Checkpoint c{{"w", w}, {"step", step}};
}

void keep(const Variable &w) { ARGUMENT<int>(w); }
