#ifndef CALQUE_TRAINING_LAYERS_POLICYSCOPE_H
#define CALQUE_TRAINING_LAYERS_POLICYSCOPE_H

#include "calque/layers/dtype_policy.h"

namespace calque::layers {

// While it lives, layers that this thread makes have this policy.
class PolicyScope {
public:
  explicit PolicyScope(const DTypePolicy &policy);
  ~PolicyScope();
  PolicyScope(const PolicyScope &) = delete;
  PolicyScope &operator=(const PolicyScope &) = delete;

private:
  const std::optional<DTypePolicy> before;
};

} // namespace calque::layers
#endif
