// How public functions check and call the callables and handles that they are given: whether a callable is empty, which
// signature it has, whether it takes the line of the call, and that it can't change its caller's arguments.
#ifndef CALQUE_CALLABLE_H
#define CALQUE_CALLABLE_H

#include "calque/export.h"
#include "calque/source_location.h"

#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace calque {
class Tensor;
class Variable;
} // namespace calque

namespace calque::detail {

[[noreturn]] CALQUE_API void throwNothingToCall(const char *what, SourceLocation where);
[[noreturn]] CALQUE_API void throwEmptyHandle(const char *what, const SourceLocation &where);
// Returns a handle whose last copy destroys the object.
CALQUE_API std::shared_ptr<const void> shared(const void *object, void (*destroy)(const void *));
// Returns a handle to an object. Unlike std::make_shared, it instantiates only one small function for each type.
template <typename T> std::shared_ptr<T> share(T object) {
  T *shared = new T(std::move(object));
  return {detail::shared(shared, [](const void *kept) { delete static_cast<const T *>(kept); }), shared};
}
// Returns a copy of the text that lives as long as the process.
CALQUE_API const char *interned(const std::string &text);

// Takes the place of a result after a failed static_assert, so that the compiler reports no other error. It has no
// definition, because its callers do not compile.
template <typename T> T refused();

// A function type with result R and the first parameters of a list.
template <typename R, typename Parameters, std::size_t... I>
std::type_identity<R(std::tuple_element_t<I, Parameters>...)> withFirst(std::index_sequence<I...>);

template <typename Signature> struct SignatureParts;
template <typename R, typename... Args> struct SignatureParts<R(Args...)> {
  static constexpr std::size_t count = sizeof...(Args);
  static constexpr bool takesLine = [] {
    if constexpr (count == 0)
      return false;
    else
      return std::is_same_v<std::remove_cvref_t<std::tuple_element_t<count - 1, std::tuple<Args...>>>, SourceLocation>;
  }();
  using WithoutLine =
      typename decltype(withFirst<R, std::tuple<Args...>>(std::make_index_sequence<count - takesLine>()))::type;
};

template <typename R, typename... Args> std::type_identity<R(Args...)> signatureOf(const std::function<R(Args...)> &);

// Calque's callables name their signature, because C++ does not see it behind the default argument for the line.
template <typename F>
concept NamesItsSignature =
    std::is_void_v<typename F::CalqueSignature> || std::is_function_v<typename F::CalqueSignature>;

// The signature of a decayed callable, without a last parameter for the line of the call. It is void for a generic
// callable. `takesLine` says whether the callable has such a parameter.
template <typename F> struct CallableTraits {
  using Signature = void;
  static constexpr bool takesLine = false;
};
template <typename F>
  requires(!NamesItsSignature<F> && requires(F &f) { std::function(f); })
struct CallableTraits<F> {
  using Parts = SignatureParts<typename decltype(signatureOf(std::function(std::declval<F &>())))::type>;
  using Signature = typename Parts::WithoutLine;
  static constexpr bool takesLine = Parts::takesLine;
};
template <NamesItsSignature F> struct CallableTraits<F> {
  using Signature = typename F::CalqueSignature;
  static constexpr bool takesLine = true;
};

template <typename F> struct CallableTraits<std::reference_wrapper<F>> : CallableTraits<std::remove_const_t<F>> {};

// Whether a callable may change its caller's argument through a parameter of this type. A Variable & does not count:
// copies of a handle are the same variable.
template <typename T>
inline constexpr bool changesArgument = std::is_lvalue_reference_v<T> && !std::is_const_v<std::remove_reference_t<T>> &&
                                        !std::is_same_v<std::remove_reference_t<T>, Variable>;
template <typename Signature> inline constexpr bool changesArguments = false;
template <typename R, typename... Args>
inline constexpr bool changesArguments<R(Args...)> = (... || changesArgument<Args>);

// Refuses parameters that change arguments, because native code changes no argument. A class template, so that each
// signature is refused by one error only.
template <typename Signature> struct CheckedParameters {
  static_assert(
      !changesArguments<Signature>,
      "the callable has a parameter that is a reference and not const, but compiled code changes no argument: "
      "take it by value or by const &");
  static constexpr bool done = true;
};

// StateError for an empty std::function and for a null pointer. `what` is the name of the public function that takes
// the callable.
template <typename F> void requireCallable(const F &f, const char *what, SourceLocation where) {
  static_assert(CheckedParameters<typename CallableTraits<F>::Signature>::done);
  if constexpr (std::is_pointer_v<F> || std::is_member_pointer_v<F> || requires { f.operator bool(); })
    if (!f)
      throwNothingToCall(what, where);
}
template <typename F> void requireCallable(std::reference_wrapper<F> f, const char *what, SourceLocation where) {
  requireCallable(f.get(), what, where);
}

// Holds a callable that can't be copied. Copies of the holder share the callable.
template <typename F> class SharedCallable {
public:
  explicit SharedCallable(F f) : f_(detail::share(std::move(f))) {}
  template <typename... Args>
    requires std::is_invocable_v<F &, Args...>
  decltype(auto) operator()(Args &&...args) const {
    return std::invoke(*f_, std::forward<Args>(args)...);
  }

private:
  std::shared_ptr<F> f_;
};
template <typename F> struct CallableTraits<SharedCallable<F>> : CallableTraits<F> {};

// The type in which a callable is kept: a copy, or a SharedCallable if it is an rvalue that can only be moved. A class
// may name another type as CalqueHeld.
template <typename F> struct HeldAs {
  using type = std::decay_t<F>;
};
template <typename F>
  requires(!std::is_copy_constructible_v<std::decay_t<F>> && std::is_move_constructible_v<std::decay_t<F>> &&
           !std::is_lvalue_reference_v<F> && !requires { typename std::remove_cvref_t<F>::CalqueHeld; })
struct HeldAs<F> {
  using type = SharedCallable<std::decay_t<F>>;
};
template <typename F>
  requires requires { typename std::remove_cvref_t<F>::CalqueHeld; }
struct HeldAs<F> {
  using type = typename std::remove_cvref_t<F>::CalqueHeld;
};
template <typename F> using Held = typename HeldAs<F>::type;

// Refuses a callable that can be neither copied nor moved.
template <typename Callable, bool copied> struct CheckedCopy {
  static_assert(copied, "Calque keeps a copy of the callable, and this one can't be copied: move it, or let it capture "
                        "a std::shared_ptr of what can't be copied");
  static constexpr bool done = copied;
};
template <typename F> Held<F> hold(F &&f) {
  if constexpr (CheckedCopy<Held<F>, std::is_constructible_v<Held<F>, F>>::done)
    return Held<F>(std::forward<F>(f));
  else
    return refused<Held<F>>();
}

// The type as which callAt passes its copy of an argument. A variable is passed as an lvalue, because the callable may
// take a Variable &.
template <typename T> using Passed = std::conditional_t<std::is_same_v<T, Variable>, T &, T &&>;
template <typename F, typename... Args> constexpr bool takes() {
  if constexpr (CallableTraits<std::decay_t<F>>::takesLine)
    return std::is_invocable_v<F &, Args..., const SourceLocation &>;
  else
    return std::is_invocable_v<F &, Args...>;
}

// Whether callAt can call F with these arguments. True also for a signature that changes its arguments, which
// requireCallable refuses.
template <typename F, typename... Args> constexpr bool canCall() {
  using Known = typename CallableTraits<std::decay_t<F>>::Signature;
  if constexpr (changesArguments<Known> || takes<F, Passed<std::decay_t<Args>>...>())
    return true;
  else // `auto &` takes no rvalue, and is refused by callAt
    return std::is_void_v<Known> && takes<F, std::decay_t<Args> &...>();
}

// Refuses a call with a wrong number of arguments. GCC shows both numbers below the error.
template <std::size_t given, std::size_t taken> struct CheckedCount {
  static_assert(given == taken, "the function takes another number of arguments than it is given");
};
template <typename Signature, typename... Args> struct RefusedCall {
  using Result = Tensor;
  static constexpr bool taken = !std::is_void_v<Signature>;
  static_assert(taken, "the function does not take the arguments that it is given");
};
template <typename R, typename... Parameters, typename... Args> struct RefusedCall<R(Parameters...), Args...> {
  using Result = std::remove_cvref_t<R>;
  static_assert(sizeof(CheckedCount<sizeof...(Args), sizeof...(Parameters)>) != 0);
  static constexpr bool taken = sizeof...(Args) != sizeof...(Parameters);
  static_assert(taken, "the function takes arguments of other types than it is given");
};

// Calls f with copies of the arguments, and with the line of the call if f takes one.
template <typename F, typename... Args> auto callAt(const SourceLocation &where, F &f, const Args &...args) {
  using Callable = std::decay_t<F>;
  using Known = typename CallableTraits<Callable>::Signature;
  constexpr bool changes = [] {
    if constexpr (std::is_void_v<Known>) {
      // `auto &` takes no rvalue.
      constexpr bool takesLvaluesOnly =
          !takes<F, Passed<std::decay_t<Args>>...>() && takes<F, std::decay_t<Args> &...>();
      if constexpr (takesLvaluesOnly)
        static_assert(CheckedParameters<void(std::decay_t<Args> & ...)>::done);
      return takesLvaluesOnly;
    } else {
      return changesArguments<Known>; // which requireCallable refuses
    }
  }();
  if constexpr (canCall<F, Args...>()) {
    auto call = [&](std::decay_t<Args>... own) {
      auto pass = [&]<typename... T>(T &&...passed) {
        if constexpr (CallableTraits<Callable>::takesLine)
          return std::invoke(f, std::forward<T>(passed)..., where);
        else
          return std::invoke(f, std::forward<T>(passed)...);
      };
      if constexpr (changes)
        return pass(own...);
      else
        return pass(static_cast<Passed<std::decay_t<Args>>>(own)...);
    };
    return call(args...);
  } else {
    return refused<typename RefusedCall<Known, Args...>::Result>();
  }
}

} // namespace calque::detail
#endif
