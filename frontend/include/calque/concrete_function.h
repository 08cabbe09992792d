// Concrete functions: one signature of a function, as an object.
//
//   auto power = function([](const Tensor &x, int n) { return n == 2 ? x * x : x; });
//   auto square = power.get_concrete_function(TensorSpec<float>({kDynamic, 3}), 2);
//   square(x);    // the host values are bound
//   square.str(); // "power\n  argument 0: float32[?,3]\n  argument 1: int 2\n  result: float32[?,3]\n"
#ifndef CALQUE_CONCRETE_FUNCTION_H
#define CALQUE_CONCRETE_FUNCTION_H

#include "calque/call.h"
#include "calque/callable.h"
#include "calque/tensor_argument.h"

namespace calque {

namespace detail {

class ConcreteCore;
struct SavedAccess;

CALQUE_API std::shared_ptr<ConcreteCore> makeConcrete(std::shared_ptr<FunctionCore> core, const Arguments &arguments,
                                                      CallBody body, const SourceLocation &where);
CALQUE_API void callConcrete(ConcreteCore &core, const Arguments &arguments, CallBody body, CallResults &results,
                             const SourceLocation &where);
CALQUE_API void checkInlinedCall(ConcreteCore &core, CallBody body, const SourceLocation &where);
CALQUE_API std::string printConcrete(const ConcreteCore &core, const std::string &stage, const SourceLocation &where);
CALQUE_API std::string graphConcrete(const ConcreteCore &core, const SourceLocation &where);
CALQUE_API std::string describeConcrete(const ConcreteCore &core);
CALQUE_API std::vector<TensorSpec<>> argumentSpecs(const ConcreteCore &core);
CALQUE_API std::vector<TensorSpec<>> resultSpecs(const ConcreteCore &core, const SourceLocation &where);

// Whether an argument type is a single host value: a number, an enumeration or a string.
template <typename T>
inline constexpr bool isHostValue =
    std::is_arithmetic_v<std::remove_cvref_t<T>> || std::is_enum_v<std::remove_cvref_t<T>> ||
    std::is_same_v<std::remove_cvref_t<T>, std::string>;

// The types of the arguments that are not host values.
template <typename... Args>
using GivenArguments = decltype(std::tuple_cat(
    std::declval<std::conditional_t<isHostValue<Args>, std::tuple<>,
                                    std::tuple<std::type_identity<std::remove_cvref_t<Args>>>>>()...));

// The call operator of a concrete function without its host values. It has one parameter for each other argument, so
// that a parameter for the user's line can follow.
template <typename Concrete, typename Result, typename Values> class BoundCall;
template <typename Concrete, typename Result, typename... Values>
class BoundCall<Concrete, Result, std::tuple<std::type_identity<Values>...>> {
public:
  Result operator()(const Values &...values, SourceLocation where = SourceLocation::current()) const {
    return static_cast<const Concrete *>(this)->bound(std::tuple<const Values &...>(values...), where);
  }
  template <typename = void>
    requires(... || isTensor<Values>)
  Result operator()(Given<const Values &>... values, SourceLocation where = SourceLocation::current()) const {
    return withTensorArguments<const Values &...>(
        static_cast<const Concrete *>(this)->argument_specs(where), where,
        [&](const Values &...taken) { return (*this)(taken..., where); }, values...);
  }
};
struct NoBoundCall {
  void operator()(NoBoundCall) const {}
};

} // namespace detail

template <typename Signature> class Function;
template <typename Signature> class ConcreteFunction;

// One signature of a function, with the host values bound. Function::get_concrete_function makes it. It is a shared
// handle, and keeps its trace even after the function evicts the trace.
template <typename R, typename... Args>
class ConcreteFunction<R(Args...)>
    : public std::conditional_t<
          (... || detail::isHostValue<Args>),
          detail::BoundCall<ConcreteFunction<R(Args...)>, std::remove_cvref_t<R>, detail::GivenArguments<Args...>>,
          detail::NoBoundCall> {
  using State = detail::FunctionState<R, Args...>;
  using Result = typename State::Result;
  using Bound = std::conditional_t<(... || detail::isHostValue<Args>),
                                   detail::BoundCall<ConcreteFunction, Result, detail::GivenArguments<Args...>>,
                                   detail::NoBoundCall>;

public:
  using CalqueSignature = R(Args...);

  // SignatureError for a tensor that does not match its spec, and for a host value other than the bound one. The error
  // names the argument, the expected value and the given value.
  Result operator()(Args... args, SourceLocation where = SourceLocation::current()) const {
    detail::ConcreteCore &core = this->core(where);
    typename State::Call call{state_.get(), where, {args...}};
    if (detail::callsInline()) {
      detail::checkInlinedCall(core, call.body(), where);
      return call.inlined();
    }
    detail::Arguments arguments(where);
    (visit_structure(args, arguments), ...);
    detail::CallResults results;
    detail::callConcrete(core, arguments, call.body(), results, where);
    return State::resultsOf(results);
  }

  // Takes C++ numbers and sizes in place of scalars. They get the element types of the specs.
  template <typename = void>
    requires(... || detail::isTensor<Args>)
  Result operator()(detail::Given<Args>... args, SourceLocation where = SourceLocation::current()) const {
    return detail::withTensorArguments<Args...>(
        argument_specs(where), where, [&](Args... taken) { return (*this)(std::forward<Args>(taken)..., where); },
        args...);
  }

  // The call without the host values, which are bound: f.get_concrete_function(spec, 2)(x).
  using Bound::operator();

  // "step\n  argument 0: float32[?,3]\n  argument 1: int 2\n  result: float32[?,3]\n"
  std::string str(SourceLocation where = SourceLocation::current()) const {
    return detail::describeConcrete(core(where));
  }
  // The specs of the tensors among the arguments, and among the results, in order. result_specs throws a StateError for
  // a function of any rank, because it has no single trace.
  std::vector<TensorSpec<>> argument_specs(SourceLocation where = SourceLocation::current()) const {
    return detail::argumentSpecs(core(where));
  }
  std::vector<TensorSpec<>> result_specs(SourceLocation where = SourceLocation::current()) const {
    return detail::resultSpecs(core(where), where);
  }
  // The program after a stage, as Function::ir returns it. StateError for a function of any rank, because it has no
  // single trace.
  std::string ir(const std::string &stage, SourceLocation where = SourceLocation::current()) const {
    return detail::printConcrete(core(where), stage, where);
  }
  // The trace as a picture, as Function::graph returns it.
  std::string graph(SourceLocation where = SourceLocation::current()) const {
    return detail::graphConcrete(core(where), where);
  }

private:
  friend class Function<R(Args...)>;
  friend struct detail::SavedAccess;
  friend Bound;
  ConcreteFunction(std::shared_ptr<State> state, std::shared_ptr<detail::ConcreteCore> core,
                   std::tuple<std::remove_cvref_t<Args>...> values)
      : state_(std::move(state)), core_(std::move(core)), values_(std::move(values)) {}

  detail::ConcreteCore &core(const SourceLocation &where) const {
    if (!core_) [[unlikely]]
      detail::throwEmptyHandle("concrete function", where);
    return *core_;
  }

  // The number of arguments among the first N that are not host values.
  template <std::size_t N> static constexpr std::size_t given() {
    constexpr bool host[] = {detail::isHostValue<Args>...};
    std::size_t count = 0;
    for (std::size_t i = 0; i < N; ++i)
      count += !host[i];
    return count;
  }
  template <std::size_t I, typename Given> decltype(auto) argument(const Given &others) const {
    if constexpr (detail::isHostValue<std::tuple_element_t<I, std::tuple<Args...>>>)
      return (std::get<I>(values_));
    else
      return (std::get<given<I>()>(others));
  }
  template <typename Given> Result bound(const Given &others, const SourceLocation &where) const {
    core(where); // throws for an empty handle, whose values are gone
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      std::tuple<std::remove_cvref_t<Args>...> all(argument<I>(others)...);
      return (*this)(static_cast<Args>(std::get<I>(all))..., where);
    }(std::index_sequence_for<Args...>());
  }

  std::shared_ptr<State> state_;
  std::shared_ptr<detail::ConcreteCore> core_;
  std::tuple<std::remove_cvref_t<Args>...> values_; // as given; the host values among them are bound
};

} // namespace calque
#endif
