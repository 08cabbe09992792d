// What public functions ask of the callables and handles that they are given: whether there is one, which signature it
// has, and whether it takes the line of the call.
#ifndef CALQUE_CALLABLE_H
#define CALQUE_CALLABLE_H

#include "calque/export.h"
#include "calque/source_location.h"

#include <functional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace calque::detail {

[[noreturn]] CALQUE_API void throwNothingToCall(const char *what, SourceLocation where);
[[noreturn]] CALQUE_API void throwEmptyHandle(const char *what, const SourceLocation &where);
// A text that lives as long as the process.
CALQUE_API const char *interned(const std::string &text);

// StateError for an empty std::function and for a null pointer; `what` is the public function that is given it.
template <typename F> void requireCallable(const F &f, const char *what, SourceLocation where) {
  if constexpr (std::is_pointer_v<F> || std::is_member_pointer_v<F> || requires { f.operator bool(); })
    if (!f)
      throwNothingToCall(what, where);
}

// The type of a callable with the first parameters of another.
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

// Calls f, and gives it the line of the call if it takes one.
template <typename F, typename... Args> decltype(auto) callAt(const SourceLocation &where, F &&f, Args &&...args) {
  if constexpr (CallableTraits<std::decay_t<F>>::takesLine)
    return std::invoke(std::forward<F>(f), std::forward<Args>(args)..., where);
  else
    return std::invoke(std::forward<F>(f), std::forward<Args>(args)...);
}

} // namespace calque::detail
#endif
