// For libraries on top of Calque: code that runs at once, although a function is being traced.
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

// While it lives, this thread has no trace: operations run at once, and variables have values. A traced tensor is a
// LeakedTensorError inside.
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
