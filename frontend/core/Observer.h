// The observer of the operations that run eagerly on this thread.
#ifndef CALQUE_FRONTEND_CORE_OBSERVER_H
#define CALQUE_FRONTEND_CORE_OBSERVER_H

#include "calque/tensor.h"
#include "schema/Schema.h"

#include <functional>
#include <span>

namespace calque::detail {

using Observer = std::function<void(schema::OpId op, std::span<const Tensor> results, SourceLocation where)>;

// The observer of this thread, or null.
const Observer *currentObserver();

// Sets the observer of this thread, which may be null, for a scope.
class ObserverScope {
public:
  explicit ObserverScope(Observer observer = nullptr);
  ~ObserverScope();
  ObserverScope(const ObserverScope &) = delete;
  ObserverScope &operator=(const ObserverScope &) = delete;

private:
  const Observer observer;
  const Observer *const before;
};

} // namespace calque::detail
#endif
