// For libraries on top of Calque: calls of a user's code that returns tensors.
//
//   Tensor y = call_user([&] { return f(x); });
#ifndef CALQUE_USER_CALLS_H
#define CALQUE_USER_CALLS_H

#include "calque/call_site.h"
#include "calque/tensor.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace calque {

// Calls the code with a UserCode object. C++ branches and loops on tensors in the code are captured by themselves. A
// library that calls the code in its own loops calls it so: otherwise tracing takes as many runs as there are paths
// through all of the calls together. Eagerly it is a call.
CALQUE_API Tensor call_user(const std::function<Tensor()> &code);
CALQUE_API std::vector<Tensor> call_user(const std::function<std::vector<Tensor>()> &code);
// A number for the capture of C++ branches and loops that is in progress on this thread, the outermost one; 0: there is
// none. Code that is captured runs hundreds of times, so a library limits what it computes anew in each run.
CALQUE_API std::uint64_t capture_in_progress();

} // namespace calque
#endif
