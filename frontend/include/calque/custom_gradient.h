// Custom gradients, and checkpoints, which save memory by computing values again in the reverse pass.
//
//   auto log1pexp = custom_gradient([](const Tensor &x) {
//     Tensor e = exp(x);
//     auto pullback = [=](const Tensor &g) { return g * (1 - 1 / (1 + e)); }; // 1 where e is infinite, not nan
//     return std::pair(log(1 + e), pullback);
//   });
#ifndef CALQUE_CUSTOM_GRADIENT_H
#define CALQUE_CUSTOM_GRADIENT_H

#include "calque/transforms.h"

namespace calque {

namespace detail {
// The signature of custom_gradient(f): f's arguments, and the first element of the pair that f returns.
template <typename S> struct CustomGradientSignature { // void
  using type = void;
};
template <typename Value, typename Pullback, typename... Args>
struct CustomGradientSignature<std::pair<Value, Pullback>(Args...)> {
  using type = Value(Args...);
};

// Refuses a function of custom_gradient that does not return a pair.
template <typename T> struct CheckedPair {
  static constexpr bool done = sizeof(T *) == 0;
  static_assert(done, "the function of custom_gradient returns a pair, its result and the pullback: "
                      "std::pair(result, pullback)");
};
template <typename Value, typename Pullback> struct CheckedPair<std::pair<Value, Pullback>> {
  static constexpr bool done = true;
};
// Refuses a pullback that does not take the cotangents of the result, or returns nothing.
template <typename Pullback, typename Value> struct CheckedPullback {
  static constexpr bool taken = canCall<Pullback, Value>();
  static_assert(taken, "the pullback of custom_gradient takes one argument, the cotangents, of the type of the result");
  static constexpr bool returned = [] {
    if constexpr (taken)
      return !std::is_void_v<decltype(callAt(std::declval<const SourceLocation &>(), std::declval<Pullback &>(),
                                             std::declval<const Value &>()))>;
    else
      return true;
  }();
  static_assert(returned, "the pullback of custom_gradient returns a cotangent for each float tensor of the arguments, "
                          "and this one returns nothing");
  static constexpr bool done = taken && returned;
};

using PullbackFunction = std::function<std::vector<Tensor>(const std::vector<Tensor> &cotangents)>;
// Returns the values. Their cotangents pass to the inputs through the pullback.
CALQUE_API std::vector<Tensor> withGradient(const char *operation, const std::vector<Tensor> &inputs,
                                            const std::vector<Tensor> &values, const PullbackFunction &pullback,
                                            SourceLocation where);
CALQUE_API std::vector<Tensor> checkpointed(const std::vector<Tensor> &inputs,
                                            const std::function<std::vector<Tensor>(const std::vector<Tensor> &)> &body,
                                            SourceLocation where);
} // namespace detail

// Makes a function with the result of f and a gradient of its own. f returns a pair: its result and the pullback. The
// pullback takes cotangents in the structure of the result. It returns one cotangent for each float tensor of f's
// arguments, in order, as one tensor or a structure of tensors. f and the pullback run when the function is called. The
// pullback is recorded then, and may use values that f has computed. No gradient passes to captures of f. ValueError,
// ShapeError or DTypeError if the cotangents do not fit the arguments; StateError if the pullback assigns a variable.
template <typename F> auto custom_gradient(F &&f, SourceLocation made = SourceLocation::current()) {
  detail::requireCallable(f, "custom_gradient", made);
  using Callable = detail::Held<F>;
  using Signature =
      typename detail::CustomGradientSignature<typename detail::CallableTraits<Callable>::Signature>::type;
  return detail::transformed<Signature>(
      [f = detail::hold(std::forward<F>(f))](const SourceLocation &where, const auto &...args) mutable {
        using Pair = decltype(detail::callAt(where, f, args...));
        if constexpr (!detail::canCall<Callable, std::decay_t<decltype(args)>...>()) {
          return Tensor(); // callAt has refused the call
        } else if constexpr (!detail::CheckedPair<Pair>::done) {
          return Tensor();
        } else {
          auto [result, pullback] = detail::callAt(where, f, args...);
          detail::requireCallable(pullback, "custom_gradient", where);
          auto pull = [&result, &pullback, &where](const std::vector<Tensor> &cotangents) {
            if constexpr (detail::CheckedPullback<decltype(pullback), decltype(result)>::done)
              return detail::tensorsIn(detail::callAt(where, pullback, detail::withTensors(result, cotangents)));
            else
              return cotangents;
          };
          std::tuple<const std::decay_t<decltype(args)> &...> given(args...);
          return detail::withTensors(result, detail::withGradient("custom_gradient", detail::tensorsIn(given),
                                                                  detail::tensorsIn(result), pull, where));
        }
      });
}

// While a GradientOverride lives, an operation has another gradient in this thread. `operation` is the name of a public
// function, such as "relu". The pullback takes the operands, the result and its cotangent, and returns a cotangent for
// each float operand. Functions have separate traces for each override. LookupError for a name that no operation has.
class CALQUE_API GradientOverride {
public:
  using Pullback = std::function<std::vector<Tensor>(const std::vector<Tensor> &operands, const Tensor &result,
                                                     const Tensor &cotangent)>;
  GradientOverride(const std::string &operation, Pullback pullback, SourceLocation where = SourceLocation::current());
  ~GradientOverride();
  GradientOverride(const GradientOverride &) = delete;
  GradientOverride &operator=(const GradientOverride &) = delete;

private:
  std::uint64_t id_; // overrides may end in another order than they began in
};

// Makes a function that computes f, and keeps no intermediate values for the gradient. The gradient computes them
// again, with the same random numbers and with the values that variables had at the call. f assigns variables only
// once. The result is a tensor or a structure of tensors. StateError for a host call in f.
template <typename F> auto checkpoint(F &&f, SourceLocation made = SourceLocation::current()) {
  detail::requireCallable(f, "checkpoint", made);
  return detail::transformed<typename detail::SignaturesOf<detail::Held<F>>::Same>(
      [f = detail::hold(std::forward<F>(f))](const SourceLocation &where, const auto &...args) mutable {
        std::tuple<const std::decay_t<decltype(args)> &...> given(args...);
        using Result = decltype(detail::callWith(where, f, given, std::vector<Tensor>()));
        std::optional<Result> result;
        auto body = [&](const std::vector<Tensor> &tensors) {
          result.emplace(detail::callWith(where, f, given, tensors));
          return detail::tensorsIn(*result);
        };
        std::vector<Tensor> values = detail::checkpointed(detail::tensorsIn(given), body, where);
        return detail::withTensors(*result, values);
      });
}

} // namespace calque
#endif
