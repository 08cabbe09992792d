// C++ in the middle of a compiled function: a callable that runs at every call, where the operations around it become
// native code. For what has no operation: logging, a library, a file.
//
//   auto f = function([](const Tensor &x) {
//     Tensor y = host_call([](std::span<const Tensor> in) { return solve(in[0]); }, {x}, {TensorSpec<float>({3})});
//     return y + 1;
//   });
//
// It runs on the thread of the call, in the order of the program among prints, assertions and other host calls, and
// whether its results are used or not; what it sees are copies. Its results must be of the given specs
// (SignatureError), whose sizes are known (ValueError). No gradient passes through it. What it throws reaches the
// caller of the function, and no variable has changed then. The variables of a function are held while it runs: a host
// call that touches one is a StateError; pass their values as inputs. A thread that it starts and waits for must leave
// them alone, too, or waits forever. A function with a host call can't be saved: the callable is code of this program
// alone.
#ifndef CALQUE_HOST_CALL_H
#define CALQUE_HOST_CALL_H

#include "calque/tensor_spec.h"

#include <functional>
#include <span>
#include <vector>

namespace calque {

namespace detail {
using HostCallable = std::function<std::vector<Tensor>(std::span<const Tensor>)>;
CALQUE_API std::vector<Tensor> hostCall(HostCallable callable, const std::vector<Tensor> &inputs,
                                        const std::vector<TensorSpec<>> &specs, SourceLocation where);
} // namespace detail

// Calls fn(inputs), which gives a Tensor, a std::vector<Tensor> or nothing; gives the same. Eagerly, it is called at
// once.
template <typename F>
auto host_call(F fn, const std::vector<Tensor> &inputs, const std::vector<TensorSpec<>> &specs = {},
               SourceLocation where = SourceLocation::current()) {
  using Result = std::invoke_result_t<F &, std::span<const Tensor>>;
  static_assert(std::is_same_v<Result, Tensor> || std::is_same_v<Result, std::vector<Tensor>> || std::is_void_v<Result>,
                "a host call gives a Tensor, a std::vector<Tensor> or nothing");
  if constexpr (std::is_void_v<Result>) {
    detail::hostCall(
        [fn = std::move(fn)](std::span<const Tensor> in) mutable {
          fn(in);
          return std::vector<Tensor>();
        },
        inputs, specs, where);
  } else if constexpr (std::is_same_v<Result, Tensor>) {
    return detail::hostCall(
               [fn = std::move(fn)](std::span<const Tensor> in) mutable { return std::vector<Tensor>{fn(in)}; }, inputs,
               specs, where)
        .at(0);
  } else {
    return detail::hostCall(std::move(fn), inputs, specs, where);
  }
}

} // namespace calque
#endif
