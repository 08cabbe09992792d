// A config can't ask for much memory: metrics hold as many counts as a number in it says.
#ifndef CALQUE_TRAINING_METRICS_STATEBUDGET_H
#define CALQUE_TRAINING_METRICS_STATEBUDGET_H

#include "Support.h"
#include "absl/strings/str_cat.h"

#include <algorithm>

namespace calque::training {

// While the outermost one lives, the metrics that this thread makes are those of a config or of a file.
class StateBudget {
public:
  StateBudget() : outer(current) {
    if (!outer)
      current = this;
  }
  ~StateBudget() { current = outer; }
  StateBudget(const StateBudget &) = delete;
  StateBudget &operator=(const StateBudget &) = delete;

  // ValueError where the metrics take more than all of them may.
  static void take(const std::string &metric, double bytes) {
    if (!current)
      return;
    current->left -= std::max(bytes, 0.0); // others refuse numbers below 0
    if (current->left < 0)
      fail<ValueError>(absl::StrCat(metric, ": the metrics of a config hold at most ", kMost >> 20,
                                    " MB, and this one has more classes or thresholds than fit into it"));
  }

private:
  static constexpr std::int64_t kMost = std::int64_t(1) << 28;
  static inline thread_local StateBudget *current = nullptr;
  double left = static_cast<double>(kMost);
  StateBudget *const outer;
};

} // namespace calque::training
#endif
