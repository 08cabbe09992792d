// Host calls: C++ code that runs at every call of a compiled function, between native operations. Use them where no
// operation exists: for logging, a library, a file.
//
//   auto f = function([](const Tensor &x) {
//     Tensor y = host_call([](std::span<const Tensor> in) { return solve(in[0]); }, {x}, {TensorSpec<float>({3})});
//     return y + 1;
//   });
//
// The callable runs on the thread of the call, in program order among prints, assertions and other host calls, even if
// its results are not used. Its inputs are copies. Its results must match the given specs (else SignatureError). The
// sizes of the specs must be known (else ValueError). No gradient passes through a host call. An exception of the
// callable reaches the caller of the function, and then no variable has changed. While a function runs, its variables
// are locked. A host call that reads or assigns one of these variables is a StateError; pass the variable's value as an
// input. A thread that the callable starts and joins must not use these variables either, or it waits forever. A
// function with a host call can't be saved, because the callable is code of this program alone.
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
// The number of a callable's parameters, if all of them are tensors; else 0.
template <typename Signature> inline constexpr std::size_t tensorParameters = 0;
template <typename R, typename... Args>
inline constexpr std::size_t tensorParameters<R(Args...)> =
    (... && std::is_convertible_v<const Tensor &, Args>) ? sizeof...(Args) : 0;

using HostCallable = std::function<std::vector<Tensor>(std::span<const Tensor>)>;

template <typename F, std::size_t... I> constexpr bool takesTensors(std::index_sequence<I...>) {
  return sizeof...(I) && std::is_invocable_v<F &, decltype(I, std::declval<const Tensor &>())...>;
}

// The address of typeMark<T> identifies the type T.
template <typename T> inline constexpr char typeMark = 0;
// Identifies a callable: two callables with the same identity do the same. Empty if the identity is unknown, as for a
// callable that changes itself or owns memory.
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

// SignatureError if the number of specs is not `results`, if that is given.
CALQUE_API std::vector<Tensor> hostCall(HostCallable callable, const std::vector<Tensor> &inputs,
                                        const std::vector<TensorSpec<>> &specs, std::optional<std::size_t> results,
                                        std::string identity, SourceLocation where);
// SignatureError unless there are as many inputs as the callable takes tensors.
CALQUE_API void requireHostInputs(std::size_t parameters, std::size_t inputs, SourceLocation where);

// Makes the host call of a callable that takes all inputs as one argument.
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
  // Begins a new iteration. The returned callable makes the next element, or returns std::nullopt at the end.
  std::function<std::function<std::optional<std::vector<Tensor>>()>()> open;
  const void *owner; // `open` keeps it alive; equal owners have equal elements
  std::vector<TensorSpec<>> types;
};
// A loop over HostElements in a trace. Whenever the program begins the loop, it opens the elements. Then it gets one
// element after the other from the host.
class CALQUE_API TracedElements {
public:
  TracedElements(HostElements elements, SourceLocation where);
  // Closes an iteration that has not reached the end.
  ~TracedElements();
  TracedElements(const TracedElements &) = delete;
  TracedElements &operator=(const TracedElements &) = delete;

  void next();
  // A decision of native control flow: whether the elements are at their end.
  bool isAtEnd();
  // StateError at the end. If isAtEnd() was not called before, the end is an AssertionError at the call.
  const std::vector<Tensor> &element();

private:
  std::vector<Tensor> call(const char *what, HostCallable callable, const std::vector<Tensor> &inputs,
                           std::vector<TensorSpec<>> results) const;

  const HostElements elements;
  const SourceLocation where;
  const int exceptions;
  Tensor number, goesOn;
  std::vector<Tensor> element_;
  bool ended = false, isThere = false; // known from isAtEnd() and element()
};
CALQUE_API bool isTracing();

} // namespace detail

// Calls fn and returns its result: a Tensor, a std::vector<Tensor> or void. fn takes all inputs as std::span<const
// Tensor> or const std::vector<Tensor> &, or one const Tensor & for each input (SignatureError for another number of
// inputs). `specs` has one spec for each tensor that fn returns. Eagerly, fn is called at once.
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
      static_assert(takesSpan || detail::changesArguments<Signature>, // requireCallable refuses these
                    "the callable of host_call takes all inputs as std::span<const Tensor> or "
                    "const std::vector<Tensor> &, or one const Tensor & for each");
    }
  }
}

} // namespace calque
#endif
