// Compares the eager run of a lambda with its compiled program.
//
//   Tensor y = debug::verify(step, x);                 // as step(x); AssertionError where the two differ
//   Tensor z = debug::verify(loss, std::tuple(x, y));  // several arguments
//
// Finds the operation that makes the first NaN:
//
//   debug::enable_check_numerics();                    // or CALQUE_CHECK_NUMERICS=1
//   step(x);                                           // AssertionError at the line of the log that took a 0
#ifndef CALQUE_DEBUG_H
#define CALQUE_DEBUG_H

#include "calque/function.h"

namespace calque {

namespace debug {

// Switches the check of numbers on or off. While it is on, the first operation that makes a NaN or an infinity from
// finite numbers is an AssertionError with the operation and its line. Operations are checked eagerly, in functions, in
// branches and loops, and in gradients. Functions that have run before are compiled once more. An operation of a
// gradient has the line of the operation that was differentiated. An operand that is not finite, such as a mask of
// -infinity, counts as intended: results computed from it are not checked. The check costs nothing while it is off, and
// much while it is on.
CALQUE_API void enable_check_numerics(bool on = true);
CALQUE_API bool checks_numerics();

struct VerifyOptions {
  // Two elements agree if they differ by at most atol + rtol * the larger magnitude. Unless given: rtol is 1e-4 for
  // float32 and for smaller types, 1e-9 for float64; atol is rtol times the largest magnitude in the tensor. Integers
  // and bools agree if they are equal, NaN agrees with NaN.
  std::optional<double> rtol = std::nullopt, atol = std::nullopt;
};
} // namespace debug

namespace detail {

// Runs the call eagerly and compiled, and compares the two. `eager` runs the lambda and returns the tensors of its
// result.
CALQUE_API void verifyCall(FunctionCore &core, const Arguments &arguments, CallBody body,
                           const std::function<std::vector<Tensor>()> &eager, const debug::VerifyOptions &options,
                           SourceLocation where);

// Whether the one argument of a function is this std::tuple.
template <typename Signature, typename... T> inline constexpr bool takesTuple = false;
template <typename R, typename Arg, typename... T>
inline constexpr bool takesTuple<R(Arg), T...> = std::is_same_v<std::remove_cvref_t<Arg>, std::tuple<T...>>;

struct Verification {
  // If the parameter is a tensor, a number becomes a scalar.
  template <typename Arg, typename T> static decltype(auto) takenAs(const T &given, const SourceLocation &where) {
    if constexpr (isTensor<Arg> && std::is_arithmetic_v<T>)
      return scalar(given, where);
    else
      return (given);
  }
  template <typename R, typename... Args, typename... T>
  static auto ofInputs(const Function<R(Args...)> &f, const std::tuple<T...> &inputs,
                       const debug::VerifyOptions &options, const SourceLocation &where) {
    if constexpr (takesTuple<R(Args...), T...>)
      return of(f, options, where, inputs);
    else
      return std::apply([&](const T &...given) { return of(f, options, where, given...); }, inputs);
  }
  template <typename R, typename... Args, typename Input>
  static auto ofInputs(const Function<R(Args...)> &f, const Input &input, const debug::VerifyOptions &options,
                       const SourceLocation &where) {
    return of(f, options, where, input);
  }
  template <typename R, typename... Args, typename... Given>
  static auto of(const Function<R(Args...)> &f, const debug::VerifyOptions &options, const SourceLocation &where,
                 const Given &...given) {
    static_assert(sizeof...(Args) == sizeof...(Given), "the function takes another number of arguments");
    using State = FunctionState<R, Args...>;
    State &state = f.state(where);
    std::tuple<std::remove_cvref_t<Args>...> kept{takenAs<Args>(given, where)...};
    return std::apply(
        [&](auto &...values) {
          typename State::Call call{&state, where, {values...}};
          Arguments arguments(where);
          (visit_structure(values, arguments), ...);
          if constexpr (std::is_void_v<R>) {
            verifyCall(
                *state.core, arguments, call.body(),
                [&] {
                  state.lambda(static_cast<Args>(values)..., where);
                  return std::vector<Tensor>();
                },
                options, where);
          } else {
            std::optional<typename State::Result> result;
            verifyCall(
                *state.core, arguments, call.body(),
                [&] {
                  result.emplace(state.lambda(static_cast<Args>(values)..., where));
                  return tensorsIn(*result);
                },
                options, where);
            return std::move(*result);
          }
        },
        kept);
  }
};

} // namespace detail

namespace debug {

// Runs f on the inputs, a structure or a std::tuple of several, eagerly and compiled by a trace of its own. Returns the
// eager result, and leaves the variables as the eager run does. Both runs begin with the same values of variables and
// states of random generators. AssertionError if results or variables differ, or if only one of the two runs fails. The
// error names the first operation whose results differ, by the user's line, the element, and both values. To find this
// operation, the compiled program runs again and shows the results of each operation. Therefore prints and host calls
// happen two or three times. If both runs throw an error, it is thrown.
//
// This confirms what tracing assumes of host code (docs/native-control-flow.md), for these inputs.
template <typename F, typename Inputs>
auto verify(F &&f, const Inputs &inputs, VerifyOptions options = {}, SourceLocation where = SourceLocation::current()) {
  auto own = function(std::forward<F>(f), FunctionOptions(), where);
  return detail::Verification::ofInputs(own, inputs, options, where);
}

} // namespace debug
} // namespace calque
#endif
