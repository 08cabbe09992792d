#include "runtime/Stacks.h"

namespace calque::runtime {

void Stacks::passLimit() {
  isPassed = true;
  if (!mayGoOn || !*mayGoOn)
    throw std::bad_alloc();
  limit = ~size_t(0);
}

} // namespace calque::runtime
