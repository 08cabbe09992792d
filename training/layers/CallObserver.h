// Who looks on while layers are called.
#ifndef CALQUE_TRAINING_LAYERS_CALL_OBSERVER_H
#define CALQUE_TRAINING_LAYERS_CALL_OBSERVER_H

#include "calque/layers/layer.h"

#include <functional>

namespace calque::training {

// While it lives, it is called with the results of each call of a layer on this thread, when the call is over.
class CallObserver {
public:
  using OnCalled = std::function<void(const layers::LayerBody &layer, const Tensors &results)>;
  explicit CallObserver(OnCalled onCalled) : onCalled(std::move(onCalled)), outer(current) { current = this; }
  ~CallObserver() { current = outer; }
  CallObserver(const CallObserver &) = delete;
  CallObserver &operator=(const CallObserver &) = delete;

  static void called(const layers::LayerBody &layer, const Tensors &results) {
    for (const CallObserver *each = current; each; each = each->outer)
      each->onCalled(layer, results);
  }

private:
  static inline thread_local CallObserver *current = nullptr;
  const OnCalled onCalled;
  CallObserver *const outer;
};

} // namespace calque::training
#endif
