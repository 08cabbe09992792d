// A file can't ask for more memory than it is long.
#ifndef CALQUE_TRAINING_SAVING_WEIGHTBUDGET_H
#define CALQUE_TRAINING_SAVING_WEIGHTBUDGET_H

#include "Support.h"
#include "absl/strings/str_cat.h"

namespace calque::training {

// While it lives, the layers that this thread builds are those of a file, which has all of their weights.
class WeightBudget {
public:
  WeightBudget(std::string of, std::uintmax_t bytes)
      : file(std::move(of)), length(bytes), left(static_cast<double>(bytes)), outer(current) {
    current = this;
  }
  ~WeightBudget() { current = outer; }
  WeightBudget(const WeightBudget &) = delete;
  WeightBudget &operator=(const WeightBudget &) = delete;

  // DataError for a weight that the file can't have.
  static void take(const Shape &shape, DType dtype) {
    if (!current)
      return;
    double bytes = static_cast<double>(size_of(dtype)); // no product of sizes is too large for it
    for (const Size &size : shape)
      bytes *= static_cast<double>(std::int64_t(size));
    current->left -= bytes;
    if (current->left < 0)
      fail<DataError>(absl::StrCat(current->file, ": its structure has more weights than the ", current->length,
                                   " bytes of the file can be"));
  }

private:
  static inline thread_local WeightBudget *current = nullptr;
  const std::string file;
  const std::uintmax_t length;
  double left;
  WeightBudget *const outer;
};

} // namespace calque::training
#endif
