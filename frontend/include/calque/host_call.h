// Host calls: C++ that runs at every call of a compiled function, between operations that became native code. They
// serve what has no operation: logging, a library, a file.
//
//   auto f = function([](const Tensor &x) {
//     Tensor y = host_call([](std::span<const Tensor> in) { return solve(in[0]); }, {x}, {TensorSpec<float>({3})});
//     return y + 1;
//   });
//
// The callable runs on the thread of the call, in program order among prints, assertions and other host calls, even if
// its results are not used. Its inputs are copies. Its results must match the given specs (SignatureError), whose sizes
// are known (ValueError). No gradient passes through it. An exception of the callable reaches the caller of the
// function, and then no variable has changed. The variables of a function are locked while it runs: a host call that
// touches one is a StateError, so pass their values as inputs. A thread that the callable starts and joins must not
// touch them either, or it waits forever. A function with a host call can't be saved, because the callable is code of
// this program alone.
#ifndef CALQUE_HOST_CALL_H
#define CALQUE_HOST_CALL_H

#include "calque/callable.h"
#include "calque/tensor_spec.h"

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace calque {

namespace detail {
// How many tensors a callable takes as its arguments; 0 for one that takes anything else.
template <typename Signature> inline constexpr std::size_t tensorParameters = 0;
template <typename R, typename... Args>
inline constexpr std::size_t tensorParameters<R(Args...)> =
    (... && std::is_convertible_v<const Tensor &, Args>) ? sizeof...(Args) : 0;

using HostCallable = std::function<std::vector<Tensor>(std::span<const Tensor>)>;

template <typename F, std::size_t... I> constexpr bool takesTensors(std::index_sequence<I...>) {
  return sizeof...(I) && std::is_invocable_v<F &, decltype(I, std::declval<const Tensor &>())...>;
}

// Its address stands for the type.
template <typename T> inline constexpr char typeMark = 0;
// Identifies a callable: equal for two callables that do the same. Empty if that can't be seen, as for a callable that
// changes itself or owns memory.
template <typename F> std::string identityOf(const F &fn) {
  if constexpr (std::is_trivially_copyable_v<F> && (std::is_class_v<F> || std::is_pointer_v<F>)) {
    std::string bytes = std::to_string(reinterpret_cast<std::uintptr_t>(&typeMark<F>)) + ' ';
    if constexpr (!std::is_empty_v<F>) {
      const std::size_t before = bytes.size();
      bytes.resize(before + sizeof(F));
      std::memcpy(bytes.data() + before, static_cast<const void *>(std::addressof(fn)), sizeof(F));
    }
    return bytes;
  } else {
    return {};
  }
}

// SignatureError unless there are `results` specs, where that number is known.
CALQUE_API std::vector<Tensor> hostCall(HostCallable callable, const std::vector<Tensor> &inputs,
                                        const std::vector<TensorSpec<>> &specs, std::optional<std::size_t> results,
                                        std::string identity, SourceLocation where);
// SignatureError unless there are as many inputs as the callable takes tensors.
CALQUE_API void requireHostInputs(std::size_t parameters, std::size_t inputs, SourceLocation where);

// The call of a callable that takes all inputs.
template <typename F>
auto hostCallOf(F fn, const std::vector<Tensor> &inputs, const std::vector<TensorSpec<>> &specs, std::string identity,
                SourceLocation where) {
  using Result = std::invoke_result_t<F &, std::span<const Tensor>>;
  static_assert(std::is_same_v<Result, Tensor> || std::is_same_v<Result, std::vector<Tensor>> || std::is_void_v<Result>,
                "a host call gives a Tensor, a std::vector<Tensor> or nothing");
  if constexpr (std::is_void_v<Result>) {
    hostCall(
        [fn = std::move(fn)](std::span<const Tensor> in) mutable {
          fn(in);
          return std::vector<Tensor>();
        },
        inputs, specs, 0, std::move(identity), where);
  } else if constexpr (std::is_same_v<Result, Tensor>) {
    return hostCall([fn = std::move(fn)](std::span<const Tensor> in) mutable { return std::vector<Tensor>{fn(in)}; },
                    inputs, specs, 1, std::move(identity), where)
        .at(0);
  } else if constexpr (std::is_same_v<Result, std::vector<Tensor>>) {
    return hostCall(std::move(fn), inputs, specs, std::nullopt, std::move(identity), where);
  }
}

// A sequence that host code makes one element after the other, such as a data set.
struct HostElements {
  // Begins anew. The returned callable makes the next element; it gives nothing at the end.
  std::function<std::function<std::optional<std::vector<Tensor>>()>()> open;
  const void *owner; // which `open` keeps alive: equal for equal elements
  std::vector<TensorSpec<>> types;
};
// A loop over them in a trace. Each time that the program comes to its beginning it opens them, and then asks the host
// for one after the other.
class CALQUE_API TracedElements {
public:
  TracedElements(HostElements elements, SourceLocation where);
  // Closes what is left before the end.
  ~TracedElements();
  TracedElements(const TracedElements &) = delete;
  TracedElements &operator=(const TracedElements &) = delete;

  void next();
  // A decision.
  bool isAtEnd();
  // StateError at the end; where that was not asked for, AssertionError at the call.
  const std::vector<Tensor> &element();

private:
  std::vector<Tensor> call(const char *what, HostCallable callable, const std::vector<Tensor> &inputs,
                           std::vector<TensorSpec<>> results) const;

  const HostElements elements;
  const SourceLocation where;
  const int exceptions;
  Tensor number, goesOn;
  std::vector<Tensor> element_;
  bool ended = false, isThere = false; // as far as asked
};
CALQUE_API bool isTracing();

} // namespace detail

// Calls fn and returns what it returns: a Tensor, a std::vector<Tensor> or nothing. fn takes all inputs as
// std::span<const Tensor> or const std::vector<Tensor> &, or one const Tensor & for each input (SignatureError for
// another number of inputs). There is one spec for each tensor that it returns. Eagerly, the call happens at once.
template <typename F>
auto host_call(F &&fn, const std::vector<Tensor> &inputs, const std::vector<TensorSpec<>> &specs = {},
               SourceLocation where = SourceLocation::current()) {
  detail::requireCallable(fn, "host_call", where);
  using Callable = detail::Held<F>;
  using Signature = typename detail::CallableTraits<Callable>::Signature;
  constexpr std::size_t count = detail::tensorParameters<Signature>;
  constexpr bool takesSpan = std::is_invocable_v<Callable &, std::span<const Tensor>>;
  constexpr bool takesVector = std::is_invocable_v<Callable &, std::vector<Tensor>>;
  if constexpr (!detail::CheckedCopy<Callable, std::is_constructible_v<Callable, F>>::done) {
    return Tensor();
  } else if constexpr (!std::is_same_v<Callable, std::decay_t<F>>) {
    return host_call(Callable(std::forward<F>(fn)), inputs, specs, where);
  } else {
    std::string identity;
    if constexpr (std::is_invocable_v<const Callable &, std::span<const Tensor>> ||
                  std::is_invocable_v<const Callable &, std::vector<Tensor>> ||
                  detail::takesTensors<const Callable>(std::make_index_sequence<count>()))
      identity = detail::identityOf<Callable>(fn);
    if constexpr (count != 0) {
      detail::requireHostInputs(count, inputs.size(), where);
      auto each = [fn = Callable(std::forward<F>(fn))](std::span<const Tensor> in) mutable {
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
          return fn(in[I]...);
        }(std::make_index_sequence<count>());
      };
      return detail::hostCallOf(std::move(each), inputs, specs, std::move(identity), where);
    } else if constexpr (takesSpan) {
      return detail::hostCallOf(Callable(std::forward<F>(fn)), inputs, specs, std::move(identity), where);
    } else if constexpr (takesVector) {
      auto all = [fn = Callable(std::forward<F>(fn))](std::span<const Tensor> in) mutable {
        return fn(std::vector<Tensor>(in.begin(), in.end()));
      };
      return detail::hostCallOf(std::move(all), inputs, specs, std::move(identity), where);
    } else {
      static_assert(takesSpan || detail::changesArguments<Signature>, // which requireCallable refuses
                    "the callable of host_call takes all inputs as std::span<const Tensor> or "
                    "const std::vector<Tensor> &, or one const Tensor & for each");
    }
  }
}

} // namespace calque
#endif
