// How a call of a function runs the lambda, in a trace or inlined, and how it gets the results.
#ifndef CALQUE_CALL_H
#define CALQUE_CALL_H

#include "calque/arguments.h"
#include "calque/callable.h"

#include <functional>

namespace calque::detail {

class FunctionCore;

// The results of a trace: their tensors, their signature and a prototype. A call returns a copy of the prototype with
// its own tensors.
struct Results : TensorCollector {
  explicit Results(const SourceLocation &where = {}) : signature(where) {}
  std::shared_ptr<const void> prototype;
  SignatureBuilder signature;
};

// The results of a call: the tensors, and the prototype of the trace that has run.
struct CallResults {
  SmallVector<Tensor, 4> tensors;
  const void *prototype = nullptr;
};

// The functions by which a call is traced: `run` runs the lambda on traced arguments, and `describe` describes the
// arguments.
struct CallBody {
  void *context;
  void (*run)(void *context, std::span<const Tensor> tensors, std::span<const Variable> variables, Results &results);
  void (*describe)(void *context, const std::vector<std::string> &names, SignatureBuilder &builder);
};

// Whether calls run the lambda itself. True while tracing, because calls are inlined, and while functions run eagerly.
CALQUE_API bool callsInline();

// Bounds the depth of calls that run lambdas. RecursionError beyond the bound.
class CALQUE_API DepthGuard {
public:
  explicit DepthGuard(const SourceLocation &where);
  ~DepthGuard();
  DepthGuard(const DepthGuard &) = delete;
  DepthGuard &operator=(const DepthGuard &) = delete;
};

// A call that runs the lambda at once. Its arguments and results are fresh SSA values, as they are distinct tensors in
// native code. No argument is another argument or a capture. No result is an argument, a variable's value, another
// result or an earlier value.
class CALQUE_API InlinedCall {
public:
  InlinedCall(const std::vector<Tensor> &arguments, SourceLocation where);
  const std::vector<Tensor> &arguments() const { return arguments_; }
  template <typename R> R results(const R &result, SourceLocation where) const {
    return withTensors(result, own(tensorsIn(result), where));
  }
  std::vector<Tensor> own(const std::vector<Tensor> &results, SourceLocation where) const;

private:
  DepthGuard guard_;
  std::vector<Tensor> arguments_;
  std::size_t numBefore_ = 0; // the number of values in the trace before the call
};

// The lambda and the traces of a Function. Copies and concrete functions of the Function share this state.
template <typename R, typename... Args> struct FunctionState {
  // A function returns a value, even if its lambda returns a reference.
  using Result = std::remove_cvref_t<R>;

  using Lambda = std::function<Result(Args..., const SourceLocation &)>; // called with the line of the call

  Lambda lambda;
  std::shared_ptr<FunctionCore> core;

  template <typename F> static Lambda lambdaOf(F &&f) {
    using Callable = std::decay_t<F>;
    if constexpr (!CheckedCopy<Held<F>, std::is_constructible_v<Held<F>, F>>::done) {
      return {};
    } else if constexpr (!std::is_same_v<Held<F>, Callable> && !std::is_copy_constructible_v<Callable>) {
      return lambdaOf(Held<F>(std::forward<F>(f)));
    } else if constexpr (CallableTraits<Callable>::takesLine) {
      return std::forward<F>(f);
    } else if constexpr (std::is_invocable_r_v<Result, Callable &, Args...>) {
      return [f = Callable(std::forward<F>(f))](Args... args, const SourceLocation &) mutable -> Result {
        if constexpr (std::is_void_v<Result>)
          std::invoke(f, std::forward<Args>(args)...);
        else
          return std::invoke(f, std::forward<Args>(args)...);
      };
    } else {
      static_assert(
          std::is_invocable_r_v<Result, Callable &, Args...> ||
              changesArguments<typename CallableTraits<Callable>::Signature>, // CheckedParameters refuses these
          "the callable does not take the arguments or does not return the result of the function's signature");
    }
  }

  // A call in progress. It refers to the arguments, and must not outlive them.
  struct Call {
    FunctionState *state;
    const SourceLocation &where;
    std::tuple<const std::remove_reference_t<Args> &...> given;
    CallBody body() { return {this, &trace, &describe}; }
    // Returns the arguments with other tensors and variables in place of theirs.
    std::tuple<std::remove_cvref_t<Args>...> with(std::span<const Tensor> tensors,
                                                  std::span<const Variable> variables) const {
      Replacement replacement{tensors.data(), variables.empty() ? nullptr : variables.data()};
      // Braces evaluate the values in order.
      return std::apply(
          [&](const auto &...values) {
            return std::tuple<std::remove_cvref_t<Args>...>{map_structure(values, replacement)...};
          },
          given);
    }
    Result inlined() const {
      InlinedCall call(tensorsIn(given), where);
      auto replaced = with(call.arguments(), {});
      return std::apply(
          [&](auto &...values) {
            if constexpr (std::is_void_v<R>)
              state->lambda(std::forward<Args>(values)..., where);
            else
              return call.results(state->lambda(std::forward<Args>(values)..., where), where);
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
            call.state->lambda(std::forward<Args>(values)..., call.where);
          } else {
            std::shared_ptr<const Result> result =
                detail::share<Result>(call.state->lambda(std::forward<Args>(values)..., call.where));
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
      Replacement replacement{results.tensors.data()};
      return map_structure(*static_cast<const Result *>(results.prototype), replacement);
    }
  }
};

} // namespace calque::detail
#endif
