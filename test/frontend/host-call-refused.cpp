// Must not compile: the callable gives a number.
#include "calque/calque.h"
#include "calque/host_call.h"

void call(const calque::Tensor &x) {
  calque::host_call([](std::span<const calque::Tensor>) { return 1; }, {x});
}
