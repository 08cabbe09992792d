// function(): a lambda that is traced once for each kind of arguments and then runs as native code.
//
//   auto f = function([](const Tensor &x, int n) { Tensor y = x; for (int i = 0; i < n; ++i) y = y * x; return y; });
//   f(x, 2);          // traces, compiles, runs
//   f(x, 2);          // runs native code, nothing of the lambda
//   f(x, 3);          // host values are part of the key: another trace
//   f.eager(x, 2);    // the lambda itself
//   f.ir("simplified", x, 2);
//   auto named = function(lambda, {.name = "step"});
//   auto any = function(lambda, {.input_signature = {TensorSpec<float>({kDynamic, 3})}}); // one trace for all sizes
//   auto concrete = f.get_concrete_function(TensorSpec<float>({kDynamic, 3}), 2);         // one trace, as an object
//
// Arguments and results may be tensors, variables, numbers, enumerations and strings, and the containers and aggregates
// of these that structure.h knows. Calls share a trace if their arguments have the same key. The key contains the dtype
// and shape of each tensor, each host value, and the dtype and shape of each variable. For a variable that is passed
// twice, the key says which arguments are the same variable. A trace keeps the values that its captures had while
// tracing. A captured variable is read and assigned at every call.
#ifndef CALQUE_FUNCTION_H
#define CALQUE_FUNCTION_H

#include "calque/concrete_function.h"

namespace calque {

// Whether operations run at once. False while a function is traced.
CALQUE_API bool executing_eagerly();

namespace config {
// For debugging: while enabled, every function runs its lambda, in all threads.
CALQUE_API void run_functions_eagerly(bool enable);
CALQUE_API bool functions_run_eagerly();
} // namespace config

struct FunctionOptions {
  // The name in IR, dumps and symbols of native code. Empty: the line where the function is made.
  std::string name = {};
  // The arguments' names in messages and listings. Arguments beyond the list have numbers.
  std::vector<std::string> argument_names = {};
  // The types of the arguments' tensors, in order. Other types are a SignatureError. One trace serves all values of a
  // spec's unknown sizes. A spec of any rank gets one trace for each rank. Empty list: any tensors.
  std::vector<TensorSpec<>> input_signature = {};
  // If a call differs from an earlier trace in sizes alone, its new trace has unknown sizes in their places.
  bool reduce_retracing = false;
  // The largest number of traces that are kept. A further trace evicts the least recently used one. 0: no limit.
  std::size_t max_traces = 0;
};

// Why a call made a trace: how its arguments differ from those of the most similar earlier trace.
struct CALQUE_API Retrace {
  struct Change {
    std::string argument, before, now; // "argument 0", "float32[2]", "float32[3]"
  };
  std::vector<Change> changes;
  SourceLocation previous_call, call; // the lines of the calls that made the earlier trace and this one
  double milliseconds = 0;            // the time of tracing and compiling
  std::string note;                   // on unknown sizes and evicted traces; may be empty

  // A few lines of text.
  std::string str() const;
};

namespace detail {
CALQUE_API std::shared_ptr<FunctionCore> makeFunctionCore(FunctionOptions options, SourceLocation where);
CALQUE_API void callFunction(FunctionCore &core, const Arguments &arguments, CallBody body, CallResults &results,
                             const SourceLocation &where);
// For a call that runs the lambda: SignatureError if the compiled function would refuse the arguments.
CALQUE_API void checkInlinedCall(FunctionCore &core, CallBody body, const SourceLocation &where);
CALQUE_API bool hasInputSignature(const FunctionCore &core);
// The input signature; empty if there is none.
CALQUE_API const std::vector<TensorSpec<>> &inputSignature(const FunctionCore &core);
CALQUE_API std::vector<TensorSpec<>> inputSpecs(const FunctionCore &core, std::size_t count,
                                                const SourceLocation &where);
CALQUE_API std::string printFunction(FunctionCore &core, const Arguments &arguments, CallBody body,
                                     const std::string &stage, const SourceLocation &where);
CALQUE_API std::string graphFunction(FunctionCore &core, const Arguments &arguments, CallBody body,
                                     const SourceLocation &where);
CALQUE_API std::int64_t traceCount(const FunctionCore &core);
CALQUE_API void clearFunction(FunctionCore &core);
CALQUE_API std::vector<Retrace> retracesOf(FunctionCore &core);
CALQUE_API std::string listFunction(FunctionCore &core);
struct Verification;
struct SavedAccess;
} // namespace detail

// A shared handle: copies share the lambda and its traces. Several threads may call it. Simultaneous first calls make
// one trace.
template <typename R, typename... Args> class Function<R(Args...)> {
  static_assert(detail::CheckedParameters<R(Args...)>::done);
  using State = detail::FunctionState<R, Args...>;
  using Result = typename State::Result;

public:
  using CalqueSignature = R(Args...);

  // Makes an empty function. Using it is a StateError until another function is assigned.
  Function() = default;
  // Converts a function whose parameters and result differ in const and references alone. Both share the lambda and the
  // traces.
  template <typename... Others, typename Q>
    requires(!std::is_same_v<R(Args...), Q(Others...)> && std::is_same_v<Result, std::remove_cvref_t<Q>> &&
             std::is_same_v<std::tuple<std::remove_cvref_t<Args>...>, std::tuple<std::remove_cvref_t<Others>...>> &&
             std::is_invocable_v<const std::function<void(Others...)> &, Args...>)
  Function(const Function<Q(Others...)> &f, SourceLocation where = SourceLocation::current())
      : state_(detail::share(State{[lambda = f.state(where).lambda](Args... args, const SourceLocation &line) {
                                     return lambda(std::forward<Args>(args)..., line);
                                   },
                                   f.state(where).core})) {}

  template <typename F>
    requires(!std::is_base_of_v<Function, std::remove_cvref_t<F>>)
  explicit Function(F &&f, FunctionOptions options = {}, SourceLocation where = SourceLocation::current()) {
    if constexpr (!std::is_function_v<std::remove_reference_t<F>>)
      detail::requireCallable(f, "function", where);
    state_ =
        detail::share(State{State::lambdaOf(std::forward<F>(f)), detail::makeFunctionCore(std::move(options), where)});
  }
  // Makes a function with the same lambda, other options, and traces of its own.
  Function(const Function &f, FunctionOptions options, SourceLocation where = SourceLocation::current())
      : state_(detail::share(State{f.state(where).lambda, detail::makeFunctionCore(std::move(options), where)})) {}

  // Runs the function on the arguments. Errors of operations name the user's line. An exception that the lambda throws
  // while tracing reaches the caller, and the next call traces again. A call that fails changes no variable.
  Result operator()(Args... args, SourceLocation where = SourceLocation::current()) const {
    State &state = this->state(where);
    typename State::Call call{&state, where, {args...}};
    if (detail::callsInline()) {
      if (detail::hasInputSignature(*state.core))
        detail::checkInlinedCall(*state.core, call.body(), where);
      return call.inlined();
    }
    detail::Arguments arguments(where);
    (visit_structure(args, arguments), ...);
    detail::CallResults results;
    detail::callFunction(*state.core, arguments, call.body(), results, where);
    return State::resultsOf(results);
  }

  // Takes C++ numbers and sizes in place of scalars: f(x, 3.0). A number gets its element type from the input
  // signature, or else from the rule for literals. Calls with different numbers share a trace, as calls with different
  // tensors do.
  template <typename = void>
    requires(... || detail::isTensor<Args>)
  Result operator()(detail::Given<Args>... args, SourceLocation where = SourceLocation::current()) const {
    return taking([&](Args... taken) { return (*this)(std::forward<Args>(taken)..., where); }, where, args...);
  }

  // Runs the lambda itself, without a trace.
  Result eager(Args... args, SourceLocation where = SourceLocation::current()) const {
    return state(where).lambda(std::forward<Args>(args)..., where);
  }
  template <typename = void>
    requires(... || detail::isTensor<Args>)
  Result eager(detail::Given<Args>... args, SourceLocation where = SourceLocation::current()) const {
    return taking([&](Args... taken) { return eager(std::forward<Args>(taken)..., where); }, where, args...);
  }

  // Returns the trace for these arguments, and makes it if there is none. TensorSpecs may take the places of tensors.
  // Host values are bound.
  //   f.get_concrete_function(TensorSpec<float>(kAnyShape), 2)
  ConcreteFunction<R(Args...)> get_concrete_function(Args... args,
                                                     SourceLocation where = SourceLocation::current()) const {
    typename State::Call call{&state(where), where, {args...}};
    detail::Arguments arguments(where);
    (visit_structure(args, arguments), ...);
    auto core = detail::makeConcrete(state_->core, arguments, call.body(), where);
    return {state_, std::move(core), std::tuple<std::remove_cvref_t<Args>...>(args...)};
  }
  template <typename = void>
    requires(... || detail::isTensor<Args>)
  ConcreteFunction<R(Args...)> get_concrete_function(detail::Given<Args>... args,
                                                     SourceLocation where = SourceLocation::current()) const {
    return taking([&](Args... taken) { return get_concrete_function(std::forward<Args>(taken)..., where); }, where,
                  args...);
  }
  // Returns the trace of the input signature, for a function whose arguments are all tensors. SignatureError without an
  // input signature.
  ConcreteFunction<R(Args...)> get_concrete_function(SourceLocation where = SourceLocation::current()) const
    requires(sizeof...(Args) > 0 && (... && std::is_same_v<std::remove_cvref_t<Args>, Tensor>))
  {
    std::vector<TensorSpec<>> specs = detail::inputSpecs(*state(where).core, sizeof...(Args), where);
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      std::array<Tensor, sizeof...(Args)> tensors{Tensor(specs[I])...};
      return get_concrete_function(tensors[I]..., where);
    }(std::index_sequence_for<Args...>());
  }
  // Returns the signatures of all traces as text, in the order in which the traces were made.
  std::string pretty_printed_concrete_signatures(SourceLocation where = SourceLocation::current()) const {
    return detail::listFunction(*state(where).core);
  }

  // Returns the number of traces that were made so far, without failed attempts.
  std::int64_t trace_count(SourceLocation where = SourceLocation::current()) const {
    return detail::traceCount(*state(where).core);
  }
  // Returns why each trace but the first was made: the latest 256 reasons.
  std::vector<Retrace> explain_retraces(SourceLocation where = SourceLocation::current()) const {
    return detail::retracesOf(*state(where).core);
  }
  // Evicts all traces. A trace's memory is freed when calls in progress have ended and no concrete function holds it.
  void clear(SourceLocation where = SourceLocation::current()) const { detail::clearFunction(*state(where).core); }

  // Returns the program for these arguments after a stage, as text: "traced", "differentiated", "simplified", "linalg",
  // "bufferized", "outlined", "planned", "scheduled", "llvm" or "object". ValueError for another name. TensorSpecs may
  // take the places of tensors.
  std::string ir(const std::string &stage, Args... args, SourceLocation where = SourceLocation::current()) const {
    typename State::Call call{&state(where), where, {args...}};
    detail::Arguments arguments(where);
    (visit_structure(args, arguments), ...);
    return detail::printFunction(*state_->core, arguments, call.body(), stage, where);
  }
  template <typename = void>
    requires(... || detail::isTensor<Args>)
  std::string ir(const std::string &stage, detail::Given<Args>... args,
                 SourceLocation where = SourceLocation::current()) const {
    return taking([&](Args... taken) { return ir(stage, std::forward<Args>(taken)..., where); }, where, args...);
  }
  // Returns the trace for these arguments as a picture, in Graphviz's language: `dot -Tsvg` draws it.
  std::string graph(Args... args, SourceLocation where = SourceLocation::current()) const {
    typename State::Call call{&state(where), where, {args...}};
    detail::Arguments arguments(where);
    (visit_structure(args, arguments), ...);
    return detail::graphFunction(*state_->core, arguments, call.body(), where);
  }
  template <typename = void>
    requires(... || detail::isTensor<Args>)
  std::string graph(detail::Given<Args>... args, SourceLocation where = SourceLocation::current()) const {
    return taking([&](Args... taken) { return graph(std::forward<Args>(taken)..., where); }, where, args...);
  }

private:
  friend struct detail::Verification;
  friend struct detail::SavedAccess;
  template <typename> friend class Function;
  // StateError for an empty function, and for a function that was moved from.
  State &state(const SourceLocation &where) const {
    if (!state_) [[unlikely]]
      detail::throwEmptyHandle("function", where);
    return *state_;
  }
  // Calls f with the arguments; numbers among them become tensors.
  template <typename F>
  decltype(auto) taking(F f, const SourceLocation &where, std::remove_reference_t<detail::Given<Args>> &...args) const {
    return detail::withTensorArguments<Args...>(detail::inputSignature(*state(where).core), where, f, args...);
  }
  std::shared_ptr<State> state_;
};

// Prints the signatures of the function's traces.
template <typename Signature> std::ostream &operator<<(std::ostream &os, const Function<Signature> &f) {
  return os << f.pretty_printed_concrete_signatures();
}

// Makes a Function of a lambda or C++ function that is not generic, of a Function or Method, or of a function that
// transforms.h has made. The Function keeps a copy of the callable. Of std::ref(callable) it keeps a reference, so the
// callable must live as long as the Function is called.
//
// Parameters are values or references to const, because native code changes no argument. The exception is Variable &,
// which the lambda may assign.
template <typename F>
  requires(!std::is_function_v<F>)
auto function(F &&f, FunctionOptions options = {}, SourceLocation where = SourceLocation::current()) {
  using Signature = typename detail::CallableTraits<std::decay_t<F>>::Signature;
  constexpr bool isMethod = std::is_member_function_pointer_v<std::decay_t<F>>;
  static_assert(!isMethod, "a method needs its object: function(&object, &Class::method), or a member "
                           "Method<Signature> of the class");
  static_assert(isMethod || !std::is_void_v<Signature>,
                "function() does not see the signature of a generic or overloaded callable: "
                "name it, as in function<Tensor(const Tensor &)>(callable)");
  if constexpr (!std::is_void_v<Signature>)
    return Function<Signature>(std::forward<F>(f), std::move(options), where);
}
// Makes a Function of a generic lambda, for one signature: function<Tensor(Tensor)>([](auto x) { return x + x; }).
template <typename Signature, typename F>
  requires std::is_function_v<Signature>
Function<Signature> function(F &&f, FunctionOptions options = {}, SourceLocation where = SourceLocation::current()) {
  return Function<Signature>(std::forward<F>(f), std::move(options), where);
}

// Makes a Function of an object's method. The object must live as long as the Function is called. The Functions of two
// objects have separate traces.
//   auto step = function(&model, &Model::step);
template <typename D, typename C, typename R, typename... Args>
  requires std::is_base_of_v<C, D>
Function<R(Args...)> function(D *object, R (C::*method)(Args...), FunctionOptions options = {},
                              SourceLocation where = SourceLocation::current()) {
  detail::requireCallable(object, "function", where);
  detail::requireCallable(method, "function", where);
  return Function<R(Args...)>(
      [object, method](Args... args) -> R { return (object->*method)(std::forward<Args>(args)...); },
      std::move(options), where);
}
template <typename D, typename C, typename R, typename... Args>
  requires std::is_base_of_v<C, D>
Function<R(Args...)> function(const D *object, R (C::*method)(Args...) const, FunctionOptions options = {},
                              SourceLocation where = SourceLocation::current()) {
  detail::requireCallable(object, "function", where);
  detail::requireCallable(method, "function", where);
  return Function<R(Args...)>(
      [object, method](Args... args) -> R { return (object->*method)(std::forward<Args>(args)...); },
      std::move(options), where);
}

} // namespace calque

#include "calque/method.h" // for programs that include this header alone
#endif
