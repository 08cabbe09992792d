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
// Arguments and results may be tensors, variables, numbers, enumerations, strings, and the containers and aggregates of
// them that structure.h knows. A tensor counts by dtype and shape, a host value by its value, a variable that is an
// argument by dtype, shape and which other arguments it is. Captures are frozen while tracing, except for variables,
// which stay live.
#ifndef CALQUE_FUNCTION_H
#define CALQUE_FUNCTION_H

#include "calque/callable.h"
#include "calque/structure.h"
#include "calque/tensor_spec.h"

#include <functional>

namespace calque {

// Whether operations run at once; false while a function is traced.
CALQUE_API bool executing_eagerly();

namespace config {
// Makes every function run its lambda, for debugging; in all threads.
CALQUE_API void run_functions_eagerly(bool enable);
CALQUE_API bool functions_run_eagerly();
} // namespace config

struct FunctionOptions {
  std::string name = {}; // in IR, dumps and symbols of native code; made of the line that makes the function if empty
  std::vector<std::string> argument_names = {}; // for messages and listings; the others are numbered
  // The types of the arguments' tensors, in order; any other call is a SignatureError. All sizes that a spec leaves
  // open share one trace. A spec with an open rank makes a trace for each rank that calls have. Empty: any tensors.
  std::vector<TensorSpec<>> input_signature = {};
  // Where a call differs only in sizes from one traced before, the new trace leaves open the sizes that differ.
  bool reduce_retracing = false;
  // The most traces that are kept; one more evicts the least recently used. 0: any number.
  std::size_t max_traces = 0;
};

// Why a call made another trace: how it differs from the most similar call that was traced before.
struct CALQUE_API Retrace {
  struct Change {
    std::string argument, before, now; // "argument 0", "float32[2]", "float32[3]"
  };
  std::vector<Change> changes;
  SourceLocation previous_call, call; // of the trace that it differs from, and of this one
  double milliseconds = 0;            // that tracing and compiling took
  std::string note;                   // such as that sizes were left open or a trace was evicted; may be empty

  // A few lines of text.
  std::string str() const;
};

namespace detail {

class FunctionCore;
class ConcreteCore;
struct Signature;

// A call's arguments, taken apart: the tensors, the variables and the key. Small calls don't allocate.
class CALQUE_API Arguments {
public:
  // `where` is the call's line, for empty handles among them.
  explicit Arguments(const SourceLocation &where);
  void tensor(const Tensor &x);
  void variable(const Variable &x);
  void host(std::uint64_t bits) { word(bits); }
  void text(const std::string &text);
  void count(std::size_t n) { word(n); }

  std::span<const std::uint64_t> key() const { return {words_.data(), words_.size()}; }
  std::span<const Tensor *const> tensors() const { return {tensors_.data(), tensors_.size()}; }
  std::span<const Variable *const> variables() const { return {variables_.data(), variables_.size()}; }

private:
  template <typename T, std::size_t N> class SmallVector {
  public:
    SmallVector() = default;
    SmallVector(const SmallVector &) = delete;
    SmallVector &operator=(const SmallVector &) = delete;
    void push_back(T value) {
      if (size_ == N && more_.empty())
        more_.assign(few_, few_ + N);
      if (size_ < N)
        few_[size_] = value;
      else
        more_.push_back(value);
      ++size_;
    }
    const T *data() const { return size_ <= N ? few_ : more_.data(); }
    std::size_t size() const { return size_; }

  private:
    std::size_t size_ = 0;
    T few_[N];
    std::vector<T> more_;
  };
  void word(std::uint64_t value) { words_.push_back(value); }

  const SourceLocation where_;
  SmallVector<std::uint64_t, 24> words_;
  SmallVector<const Tensor *, 8> tensors_;
  SmallVector<const Variable *, 8> variables_;
};

// Gives map() the tensors of a list in order; variables stay or are taken from a list.
struct Replacement {
  std::span<const Tensor> tensors;
  std::span<const Variable> variables;
  std::size_t nextTensor = 0, nextVariable = 0;
  Tensor tensor(const Tensor &) { return tensors[nextTensor++]; }
  Variable variable(const Variable &x) { return variables.empty() ? x : variables[nextVariable++]; }
};

CALQUE_API std::string hostText(long double value);

// Takes a structure apart as Arguments does, and notes how each part is called and reads.
class CALQUE_API SignatureBuilder {
public:
  explicit SignatureBuilder(const SourceLocation &where = {});
  ~SignatureBuilder();
  SignatureBuilder(const SignatureBuilder &) = delete;
  SignatureBuilder &operator=(const SignatureBuilder &) = delete;

  // What is visited next is called so: "argument 0".
  void begin(std::string path);
  template <typename T> void enter(const T &x) {
    push(std::is_same_v<T, std::string>);
    if constexpr (std::is_same_v<T, bool>)
      note(x ? "bool true" : "bool false");
    else if constexpr (std::is_enum_v<T>)
      note("enum " + std::to_string(static_cast<std::underlying_type_t<T>>(x)));
    else if constexpr (std::is_integral_v<T>)
      note("int " + std::to_string(x));
    else if constexpr (std::is_floating_point_v<T>)
      note(hostText(x));
  }
  void leave();
  void tensor(const Tensor &x);
  void variable(const Variable &x);
  void host(std::uint64_t bits);
  void text(const std::string &text);
  void count(std::size_t n);

  Signature take();

private:
  void push(bool isText);
  void note(std::string value);
  struct State;
  std::unique_ptr<State> state;
};

// A trace's results: what map() is to replace, and who knows the structure.
struct Results {
  explicit Results(const SourceLocation &where = {}) : signature(where) {}
  std::vector<Tensor> tensors;
  std::shared_ptr<const void> prototype;
  SignatureBuilder signature;
  void tensor(const Tensor &x) { tensors.push_back(x); }
  void variable(const Variable &) {}
  void host(std::uint64_t) {}
  void text(const std::string &) {}
  void count(std::size_t) {}
};

// The tensors of a structure, in order.
template <typename T> std::vector<Tensor> tensorsIn(const T &x) {
  Results collected;
  visit_structure(x, collected);
  return std::move(collected.tensors);
}
// The structure with other tensors.
template <typename T> T withTensors(const T &x, const std::vector<Tensor> &tensors) {
  Replacement replacement{tensors, {}};
  return map_structure(x, replacement);
}

// A call's results: tensors in order, and the prototype that the trace made. Up to a few without allocation.
struct CallResults {
  std::array<Tensor, 4> few;
  std::vector<Tensor> many;
  std::size_t count = 0;
  const void *prototype = nullptr;
  std::span<Tensor> resize(std::size_t n) {
    count = n;
    if (n > few.size())
      many.resize(n);
    return tensors();
  }
  std::span<Tensor> tensors() {
    return count > few.size() ? std::span<Tensor>(many) : std::span<Tensor>(few).first(count);
  }
};

// What a miss needs of a call: to run the lambda on traced arguments, and to have its arguments described.
struct CallBody {
  void *context;
  void (*run)(void *context, std::span<const Tensor> tensors, std::span<const Variable> variables, Results &results);
  void (*describe)(void *context, const std::vector<std::string> &names, SignatureBuilder &builder);
};

CALQUE_API std::shared_ptr<FunctionCore> makeFunctionCore(FunctionOptions options, SourceLocation where);
CALQUE_API void callFunction(FunctionCore &core, const Arguments &arguments, CallBody body, CallResults &results,
                             const SourceLocation &where);
// SignatureError for a call that runs the lambda and that the function would refuse.
CALQUE_API void checkInlinedCall(FunctionCore &core, CallBody body, const SourceLocation &where);
CALQUE_API bool hasInputSignature(const FunctionCore &core);
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
// Whether a call runs the lambda: while tracing, where it is inlined, or when functions run eagerly.
CALQUE_API bool callsInline();

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

// Bounds the depth of calls that run lambdas; RecursionError beyond.
class CALQUE_API DepthGuard {
public:
  explicit DepthGuard(const SourceLocation &where);
  ~DepthGuard();
  DepthGuard(const DepthGuard &) = delete;
  DepthGuard &operator=(const DepthGuard &) = delete;
};

// A call that runs the lambda, in a trace or because functions run eagerly. Its arguments and results are fresh SSA
// values, as the parameters and results of native code are distinct tensors: no argument is another argument or a
// capture, and no result is an argument, a variable's value, another result or any earlier value.
class CALQUE_API InlinedCall {
public:
  InlinedCall(const std::vector<Tensor> &arguments, SourceLocation where);
  std::span<const Tensor> arguments() const { return arguments_; }
  template <typename R> R results(const R &result, SourceLocation where) const {
    return withTensors(result, own(tensorsIn(result), where));
  }
  std::vector<Tensor> own(const std::vector<Tensor> &results, SourceLocation where) const;

private:
  DepthGuard guard_;
  std::vector<Tensor> arguments_;
  std::size_t numBefore_ = 0; // values of the trace
};

} // namespace detail

namespace detail {

// The lambda and the traces of a Function; its copies and concrete functions share them.
template <typename R, typename... Args> struct FunctionState {
  // A lambda may return a reference; a function gives values.
  using Result = std::remove_cvref_t<R>;

  std::function<Result(Args...)> lambda;
  std::shared_ptr<FunctionCore> core;

  // A call in progress, for as long as its arguments live.
  struct Call {
    FunctionState *state;
    const SourceLocation &where;
    std::tuple<const std::remove_reference_t<Args> &...> given;
    CallBody body() { return {this, &trace, &describe}; }
    // The arguments, with other tensors and variables.
    std::tuple<std::remove_cvref_t<Args>...> with(std::span<const Tensor> tensors,
                                                  std::span<const Variable> variables) const {
      Replacement replacement{tensors, variables};
      // Braces keep the order of evaluation.
      return std::apply(
          [&](const auto &...given) {
            return std::tuple<std::remove_cvref_t<Args>...>{map_structure(given, replacement)...};
          },
          this->given);
    }
    Result inlined() const {
      InlinedCall call(tensorsIn(given), where);
      auto replaced = with(call.arguments(), {});
      return std::apply(
          [&](auto &...values) {
            if constexpr (std::is_void_v<R>)
              state->lambda(std::forward<Args>(values)...);
            else
              return call.results(state->lambda(std::forward<Args>(values)...), where);
          },
          replaced);
    }
  };

  static void trace(void *pointer, std::span<const Tensor> tensors, std::span<const Variable> variables,
                    Results &results) {
    auto &call = *static_cast<Call *>(pointer);
    DepthGuard guard(call.where);
    auto traced = call.with(tensors, variables);
    std::apply(
        [&](auto &...values) {
          if constexpr (std::is_void_v<R>) {
            call.state->lambda(std::forward<Args>(values)...);
          } else {
            auto result = std::make_shared<const Result>(call.state->lambda(std::forward<Args>(values)...));
            visit_structure(*result, results);
            results.signature.begin("result");
            visit_structure(*result, results.signature);
            results.prototype = std::move(result);
          }
        },
        traced);
  }
  static void describe(void *pointer, const std::vector<std::string> &names, SignatureBuilder &builder) {
    std::size_t index = 0;
    auto part = [&](const auto &given) {
      builder.begin("argument " + std::to_string(index) + (index < names.size() ? " '" + names[index] + "'" : ""));
      visit_structure(given, builder);
      ++index;
    };
    std::apply([&](const auto &...given) { (part(given), ...); }, static_cast<Call *>(pointer)->given);
  }
  static Result resultsOf(CallResults &results) {
    if constexpr (!std::is_void_v<R>) {
      Replacement replacement{results.tensors(), {}};
      return map_structure(*static_cast<const Result *>(results.prototype), replacement);
    }
  }
};

// Whether an argument is a host value alone: a number, an enumeration or a string.
template <typename T>
inline constexpr bool isHostValue =
    std::is_arithmetic_v<std::remove_cvref_t<T>> || std::is_enum_v<std::remove_cvref_t<T>> ||
    std::is_same_v<std::remove_cvref_t<T>, std::string>;

// The arguments that are no host values.
template <typename... Args>
using GivenArguments = decltype(std::tuple_cat(
    std::declval<std::conditional_t<isHostValue<Args>, std::tuple<>,
                                    std::tuple<std::type_identity<std::remove_cvref_t<Args>>>>>()...));

// The call of a concrete function without its host values; no template, so that it knows the user's line.
template <typename Concrete, typename Result, typename Given> class BoundCall;
template <typename Concrete, typename Result, typename... Given>
class BoundCall<Concrete, Result, std::tuple<std::type_identity<Given>...>> {
public:
  Result operator()(const Given &...given, SourceLocation where = SourceLocation::current()) const {
    return static_cast<const Concrete *>(this)->bound(std::tuple<const Given &...>(given...), where);
  }
};
struct NoBoundCall {
  void operator()(NoBoundCall) const {}
};

} // namespace detail

template <typename Signature> class Function;
template <typename Signature> class ConcreteFunction;

// One signature of a function, with its host values bound, from Function::get_concrete_function. It is a shared handle,
// which keeps its trace even if the function evicts it.
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
  // SignatureError for a tensor that does not match its spec, and for another host value; it names the argument, what
  // is expected and what is given.
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

  // Called without the host values, which are bound: f.get_concrete_function(spec, 2)(x).
  using Bound::operator();

  // "step\n  argument 0: float32[?,3]\n  argument 1: int 2\n  result: float32[?,3]\n"
  std::string str(SourceLocation where = SourceLocation::current()) const {
    return detail::describeConcrete(core(where));
  }
  // The specs of the tensors among the arguments, and among the results, in order. StateError for the results of a
  // function of any rank, which has no single trace.
  std::vector<TensorSpec<>> argument_specs(SourceLocation where = SourceLocation::current()) const {
    return detail::argumentSpecs(core(where));
  }
  std::vector<TensorSpec<>> result_specs(SourceLocation where = SourceLocation::current()) const {
    return detail::resultSpecs(core(where), where);
  }
  // The program after a stage, as from Function::ir. StateError for a function of any rank, which has no single trace.
  std::string ir(const std::string &stage, SourceLocation where = SourceLocation::current()) const {
    return detail::printConcrete(core(where), stage, where);
  }
  // The trace as a picture, as Function::graph gives it.
  std::string graph(SourceLocation where = SourceLocation::current()) const {
    return detail::graphConcrete(core(where), where);
  }

private:
  friend class Function<R(Args...)>;
  friend Bound;
  ConcreteFunction(std::shared_ptr<State> state, std::shared_ptr<detail::ConcreteCore> core,
                   std::tuple<std::remove_cvref_t<Args>...> values)
      : state_(std::move(state)), core_(std::move(core)), values_(std::move(values)) {}

  detail::ConcreteCore &core(const SourceLocation &where) const {
    if (!core_) [[unlikely]]
      detail::throwEmptyHandle("concrete function", where);
    return *core_;
  }

  // How many of the first arguments are no host values.
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
    core(where); // the values of an empty one are gone
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      std::tuple<std::remove_cvref_t<Args>...> all(argument<I>(others)...);
      return (*this)(static_cast<Args>(std::get<I>(all))..., where);
    }(std::index_sequence_for<Args...>());
  }

  std::shared_ptr<State> state_;
  std::shared_ptr<detail::ConcreteCore> core_;
  std::tuple<std::remove_cvref_t<Args>...> values_; // as they were given; the host values among them are bound
};

// A shared handle: copies share the lambda and its traces. Several threads may call it; simultaneous first calls trace
// once.
template <typename R, typename... Args> class Function<R(Args...)> {
  using State = detail::FunctionState<R, Args...>;
  using Result = typename State::Result;

public:
  template <typename F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, Function>)
  explicit Function(F &&f, FunctionOptions options = {}, SourceLocation where = SourceLocation::current())
      : state_(
            std::make_shared<State>(State{std::forward<F>(f), detail::makeFunctionCore(std::move(options), where)})) {
    detail::requireCallable(state_->lambda, "function", where);
  }

  // Errors of operations carry the user's line. An exception of the lambda while tracing reaches the caller, and the
  // next call traces again. A call that fails changes no variable.
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

  // Runs the lambda as it is.
  Result eager(Args... args, SourceLocation where = SourceLocation::current()) const {
    return state(where).lambda(std::forward<Args>(args)...);
  }

  // The trace for such arguments, made if there is none. TensorSpecs stand for tensors; host values are bound.
  //   f.get_concrete_function(TensorSpec<float>(kAnyShape), 2)
  ConcreteFunction<R(Args...)> get_concrete_function(Args... args,
                                                     SourceLocation where = SourceLocation::current()) const {
    typename State::Call call{&state(where), where, {args...}};
    detail::Arguments arguments(where);
    (visit_structure(args, arguments), ...);
    auto core = detail::makeConcrete(state_->core, arguments, call.body(), where);
    return {state_, std::move(core), std::tuple<std::remove_cvref_t<Args>...>(args...)};
  }
  // The trace of the input signature, where all arguments are tensors. SignatureError without an input signature.
  ConcreteFunction<R(Args...)> get_concrete_function(SourceLocation where = SourceLocation::current()) const
    requires(sizeof...(Args) > 0 && (... && std::is_same_v<std::remove_cvref_t<Args>, Tensor>))
  {
    std::vector<TensorSpec<>> specs = detail::inputSpecs(*state(where).core, sizeof...(Args), where);
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      std::array<Tensor, sizeof...(Args)> tensors{Tensor(specs[I])...};
      return get_concrete_function(tensors[I]..., where);
    }(std::index_sequence_for<Args...>());
  }
  // Every signature that has a trace, in the order in which they were made, as text.
  std::string pretty_printed_concrete_signatures(SourceLocation where = SourceLocation::current()) const {
    return detail::listFunction(*state(where).core);
  }

  // How often the lambda was traced, without failed attempts.
  std::int64_t trace_count(SourceLocation where = SourceLocation::current()) const {
    return detail::traceCount(*state(where).core);
  }
  // Why it was traced again, for each trace but the first; the latest 256.
  std::vector<Retrace> explain_retraces(SourceLocation where = SourceLocation::current()) const {
    return detail::retracesOf(*state(where).core);
  }
  // Evicts all traces. Their memory is freed once calls in progress have ended and no concrete function holds them.
  void clear(SourceLocation where = SourceLocation::current()) const { detail::clearFunction(*state(where).core); }

  // The program for such arguments after a stage, as text: "traced", "differentiated", "simplified", "linalg",
  // "bufferized", "scheduled", "llvm" or "object". ValueError for another name. TensorSpecs may stand for tensors.
  std::string ir(const std::string &stage, Args... args, SourceLocation where = SourceLocation::current()) const {
    typename State::Call call{&state(where), where, {args...}};
    detail::Arguments arguments(where);
    (visit_structure(args, arguments), ...);
    return detail::printFunction(*state_->core, arguments, call.body(), stage, where);
  }
  // The trace for such arguments as a picture, in Graphviz's language: `dot -Tsvg` draws it.
  std::string graph(Args... args, SourceLocation where = SourceLocation::current()) const {
    typename State::Call call{&state(where), where, {args...}};
    detail::Arguments arguments(where);
    (visit_structure(args, arguments), ...);
    return detail::graphFunction(*state_->core, arguments, call.body(), where);
  }

private:
  // StateError for a function that was moved from.
  State &state(const SourceLocation &where) const {
    if (!state_) [[unlikely]]
      detail::throwEmptyHandle("function", where);
    return *state_;
  }
  std::shared_ptr<State> state_;
};

// Wraps a lambda or function whose signature is not generic.
template <typename F>
auto function(F &&f, FunctionOptions options = {}, SourceLocation where = SourceLocation::current()) {
  return [&]<typename R, typename... Args>(std::function<R(Args...)> *) {
    return Function<R(Args...)>(std::forward<F>(f), std::move(options), where);
  }(static_cast<decltype(std::function(f)) *>(nullptr));
}
// Wraps a generic lambda, for one signature: function<Tensor(Tensor)>([](auto x) { return x + x; }).
template <typename Signature, typename F>
  requires std::is_function_v<Signature>
Function<Signature> function(F &&f, FunctionOptions options = {}, SourceLocation where = SourceLocation::current()) {
  return Function<Signature>(std::forward<F>(f), std::move(options), where);
}

// Wraps a method of an object, which the function does not own: it must live for as long as the function is called.
// Functions of two objects have caches of their own.
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

// A member that is one of its object's methods as a function, with the object's own cache:
//
//   class Model {
//   public:
//     Method<Tensor(const Tensor &)> predict{this, &Model::forward};
//   private:
//     Tensor forward(const Tensor &x) { return x * w; }
//     Variable w{2.0f};
//   };
//
// A copied Function calls the object that it was made for. A Method can't be copied, so that its class is neither
// copied nor moved by accident. A class that needs copies defines a copy constructor, which makes another Method for
// the copy.
template <typename Signature> class Method;
template <typename R, typename... Args> class Method<R(Args...)> : public Function<R(Args...)> {
public:
  template <typename D, typename C>
    requires std::is_base_of_v<C, D>
  Method(D *object, R (C::*method)(Args...), FunctionOptions options = {},
         SourceLocation where = SourceLocation::current())
      : Function<R(Args...)>(function(object, method, std::move(options), where)) {}
  template <typename D, typename C>
    requires std::is_base_of_v<C, D>
  Method(const D *object, R (C::*method)(Args...) const, FunctionOptions options = {},
         SourceLocation where = SourceLocation::current())
      : Function<R(Args...)>(function(object, method, std::move(options), where)) {}
  Method(const Method &) = delete;
  Method &operator=(const Method &) = delete;
};

} // namespace calque
#endif
