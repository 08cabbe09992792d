// function(): a lambda that is traced once for each kind of arguments and then runs as native code.
//
//   auto f = function([](const Tensor &x, int n) { Tensor y = x; for (int i = 0; i < n; ++i) y = y * x; return y; });
//   f(x, 2);          // traces, compiles, runs
//   f(x, 2);          // runs native code, nothing of the lambda
//   f(x, 3);          // host values are part of the key: another trace
//   f.eager(x, 2);    // the lambda itself
//   f.ir("simplified", x, 2);
//   auto named = function(lambda, {.name = "step"});
//
// Arguments and results may be tensors, variables, numbers, enumerations, strings, and the containers and aggregates of
// them that structure.h knows. A tensor counts by dtype and shape, a host value by its value, a variable that is an
// argument by dtype, shape and which other arguments it equals. What the lambda captures is frozen while tracing, but
// for variables, which stay live.
#ifndef CALQUE_FUNCTION_H
#define CALQUE_FUNCTION_H

#include "calque/structure.h"

#include <functional>

namespace calque {

// Whether operations run at once; false while a function is traced.
CALQUE_API bool executing_eagerly();

namespace config {
// Makes every function run its lambda, for debugging; in all threads.
CALQUE_API void run_functions_eagerly(bool enable);
CALQUE_API bool functions_run_eagerly();
} // namespace config

namespace detail {

class FunctionCore;
class Tracer;

// A call's arguments, taken apart: the tensors, the variables and the key. Small calls don't allocate.
class CALQUE_API Arguments {
public:
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

// A trace's results: what map() is to replace, and who knows the structure.
struct Results {
  std::vector<Tensor> tensors;
  std::shared_ptr<const void> prototype;
  void tensor(const Tensor &x) { tensors.push_back(x); }
  void variable(const Variable &) {}
  void host(std::uint64_t) {}
  void text(const std::string &) {}
  void count(std::size_t) {}
};

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
  std::span<Tensor> tensors() { return count > few.size() ? std::span<Tensor>(many) : std::span<Tensor>(few).first(count); }
};

// Runs the lambda on traced arguments.
struct TraceBody {
  void *context;
  void (*run)(void *context, std::span<const Tensor> tensors, std::span<const Variable> variables, Results &results);
};

CALQUE_API std::shared_ptr<FunctionCore> makeFunctionCore(std::string name, SourceLocation where);
CALQUE_API void callFunction(FunctionCore &core, const Arguments &arguments, TraceBody body, CallResults &results);
CALQUE_API std::string printFunction(FunctionCore &core, const Arguments &arguments, TraceBody body, const std::string &stage);
CALQUE_API std::int64_t traceCount(const FunctionCore &core);
CALQUE_API void clearFunction(FunctionCore &core);
// Whether a call runs the lambda: while tracing, where it is inlined, or when functions run eagerly.
CALQUE_API bool callsInline();

// Bounds the depth of calls that run lambdas; RecursionError beyond.
class CALQUE_API DepthGuard {
public:
  DepthGuard();
  ~DepthGuard();
  DepthGuard(const DepthGuard &) = delete;
  DepthGuard &operator=(const DepthGuard &) = delete;
};

} // namespace detail

struct FunctionOptions {
  std::string name; // in IR, dumps and symbols of native code; made of the line that makes the function if empty
};

template <typename Signature> class Function;

// A shared handle: copies share lambda and traces. May be called from several threads; concurrent first calls trace once.
template <typename R, typename... Args> class Function<R(Args...)> {
public:
  template <typename F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, Function>)
  explicit Function(F &&f, FunctionOptions options = {}, SourceLocation where = SourceLocation::current())
      : state_(std::make_shared<State>(State{std::forward<F>(f), detail::makeFunctionCore(std::move(options.name), where)})) {}

  // Errors of operations carry the user's line; what the lambda throws while tracing passes through, and the next call
  // traces again. A call that fails leaves all variables as they were.
  R operator()(Args... args) const {
    if (detail::callsInline()) {
      detail::DepthGuard guard;
      return state_->lambda(std::forward<Args>(args)...);
    }
    detail::Arguments arguments;
    (visit_structure(args, arguments), ...);
    std::tuple<const std::remove_reference_t<Args> &...> given(args...);
    Context context{state_.get(), &given};
    detail::CallResults results;
    detail::callFunction(*state_->core, arguments, {&context, &trace}, results);
    if constexpr (!std::is_void_v<R>) {
      detail::Replacement replacement{results.tensors(), {}};
      return map_structure(*static_cast<const std::remove_cvref_t<R> *>(results.prototype), replacement);
    }
  }

  // Runs the lambda as it is.
  R eager(Args... args) const { return state_->lambda(std::forward<Args>(args)...); }

  // How often the lambda was traced, failed attempts excepted.
  std::int64_t trace_count() const { return detail::traceCount(*state_->core); }
  // Forgets all traces. Their memory is freed with the last handle, since calls may be under way.
  void clear() const { detail::clearFunction(*state_->core); }

  // The program for such arguments after a stage, as text: "traced", "differentiated", "simplified", "linalg",
  // "bufferized", "llvm" or "object". ValueError for another name.
  std::string ir(const std::string &stage, Args... args) const {
    detail::Arguments arguments;
    (visit_structure(args, arguments), ...);
    std::tuple<const std::remove_reference_t<Args> &...> given(args...);
    Context context{state_.get(), &given};
    return detail::printFunction(*state_->core, arguments, {&context, &trace}, stage);
  }

private:
  struct State {
    std::function<R(Args...)> lambda;
    std::shared_ptr<detail::FunctionCore> core;
  };
  struct Context {
    State *state;
    std::tuple<const std::remove_reference_t<Args> &...> *given;
  };

  static void trace(void *pointer, std::span<const Tensor> tensors, std::span<const Variable> variables,
                    detail::Results &results) {
    auto &context = *static_cast<Context *>(pointer);
    detail::DepthGuard guard;
    detail::Replacement replacement{tensors, variables};
    // Braces keep the order of evaluation.
    auto traced = std::apply(
        [&](const auto &...given) {
          return std::tuple<std::remove_cvref_t<Args>...>{map_structure(given, replacement)...};
        },
        *context.given);
    std::apply(
        [&](auto &...values) {
          if constexpr (std::is_void_v<R>) {
            context.state->lambda(std::forward<Args>(values)...);
          } else {
            auto result = std::make_shared<const std::remove_cvref_t<R>>(context.state->lambda(std::forward<Args>(values)...));
            visit_structure(*result, results);
            results.prototype = std::move(result);
          }
        },
        traced);
  }

  std::shared_ptr<State> state_;
};

// Wraps a lambda or function whose signature is not generic.
template <typename F> auto function(F &&f, FunctionOptions options = {}, SourceLocation where = SourceLocation::current()) {
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

} // namespace calque
#endif
