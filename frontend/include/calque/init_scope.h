// For libraries on top of Calque: code that runs at once, even while a function is traced.
//
//   Tensor initial;
//   {
//     InitScope now;
//     initial = glorot_uniform({784, 128}); // drawn here and now, not in each call of the function
//   }
//   Variable w(initial);
#ifndef CALQUE_INIT_SCOPE_H
#define CALQUE_INIT_SCOPE_H

#include "calque/export.h"

#include <memory>

namespace calque {

namespace detail {
class Trace;
}

// While an InitScope lives, this thread has no trace: operations run at once, and variables have values.
// LeakedTensorError for an operation on a traced tensor.
class CALQUE_API InitScope {
public:
  InitScope();
  ~InitScope();
  InitScope(const InitScope &) = delete;
  InitScope &operator=(const InitScope &) = delete;

private:
  std::shared_ptr<detail::Trace> trace;
};

} // namespace calque
#endif
