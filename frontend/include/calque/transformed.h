// What the transforms of functions share: callables that know their signature, and the tensors of arguments and
// results. <calque/transforms.h> has the transforms.
#ifndef CALQUE_TRANSFORMED_H
#define CALQUE_TRANSFORMED_H

#include "calque/function.h"
#include "calque/functions.h"
#include "calque/gradient_tape.h"

namespace calque {

struct VmapOptions;

namespace detail {

// Converts an argument for parameter I: a number or a variable becomes a tensor if the parameter is one.
template <std::size_t I, typename S, typename T> decltype(auto) asTaken(const T &x, const SourceLocation &where) {
  if constexpr (std::is_same_v<T, Variable> || std::is_arithmetic_v<T>) {
    if constexpr (takesTensor<I, S>)
      return TensorArgument(x, where).tensor(std::nullopt, where);
    else
      return (x);
  } else {
    return (x);
  }
}

// A transformed function: a callable that passes the line of the call and its arguments to `body`. `S` is its
// signature, or void if the original function has none. C++ knows the line only if the number of arguments is fixed,
// hence the overloads.
template <typename S, typename Body> class Transformed {
public:
  using CalqueSignature = S;
  explicit Transformed(Body body) : body_(std::move(body)) {}

  auto operator()(SourceLocation where = SourceLocation::current()) const { return body_(where); }
  auto operator()(const auto &a, SourceLocation where = SourceLocation::current()) const { return call(where, a); }
  auto operator()(const auto &a, const auto &b, SourceLocation where = SourceLocation::current()) const {
    return call(where, a, b);
  }
  auto operator()(const auto &a, const auto &b, const auto &c, SourceLocation where = SourceLocation::current()) const {
    return call(where, a, b, c);
  }
  auto operator()(const auto &a, const auto &b, const auto &c, const auto &d,
                  SourceLocation where = SourceLocation::current()) const {
    return call(where, a, b, c, d);
  }
  auto operator()(const auto &a, const auto &b, const auto &c, const auto &d, const auto &e,
                  SourceLocation where = SourceLocation::current()) const {
    return call(where, a, b, c, d, e);
  }
  auto operator()(const auto &a, const auto &b, const auto &c, const auto &d, const auto &e, const auto &f,
                  SourceLocation where = SourceLocation::current()) const {
    return call(where, a, b, c, d, e, f);
  }
  auto operator()(const auto &a, const auto &b, const auto &c, const auto &d, const auto &e, const auto &f,
                  const auto &g, SourceLocation where = SourceLocation::current()) const {
    return call(where, a, b, c, d, e, f, g);
  }
  auto operator()(const auto &a, const auto &b, const auto &c, const auto &d, const auto &e, const auto &f,
                  const auto &g, const auto &h, SourceLocation where = SourceLocation::current()) const {
    return call(where, a, b, c, d, e, f, g, h);
  }
  template <typename... Args>
    requires(sizeof...(Args) > 8)
  void operator()(const Args &...) const {
    static_assert(sizeof...(Args) <= 8,
                  "what a transform makes takes at most 8 arguments: group them in tuples or structs");
  }

private:
  template <typename... Args> auto call(const SourceLocation &where, const Args &...args) const {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return body_(where, asTaken<I, S>(args, where)...);
    }(std::index_sequence_for<Args...>());
  }
  mutable Body body_; // calls of a mutable lambda change it, as in std::function
};
template <typename S, typename Body> Transformed<S, Body> transformed(Body body) {
  return Transformed<S, Body>(std::move(body));
}

// The signatures of transformed functions, computed from the original function's signature.
template <typename S> struct TransformedSignatures { // void
  using Same = void;
  using Gradient = void;
  using ValueAndGradient = void;
  using Gradients = void; // with respect to several arguments
  using ValueAndGradients = void;
  using Jacobian = void;
  using HessianProduct = void;
};
template <typename R> struct TransformedSignatures<R()> : TransformedSignatures<void> {
  using Same = std::remove_cvref_t<R>();
};
template <typename R, typename X, typename... Others> struct TransformedSignatures<R(X, Others...)> {
  using Value = std::remove_cvref_t<R>;
  using First = std::remove_cvref_t<X>;
  using Same = Value(X, Others...);
  using Gradient = First(X, Others...);
  using ValueAndGradient = std::pair<Value, First>(X, Others...);
  using Gradients = std::vector<Tensor>(X, Others...);
  using ValueAndGradients = std::pair<Value, std::vector<Tensor>>(X, Others...);
  using Jacobian = Tensor(X, Others...);
  using HessianProduct = First(const First &, const First &);
};
template <typename F> using SignaturesOf = TransformedSignatures<typename CallableTraits<F>::Signature>;

// Records `body` on the inputs, in this thread's trace or else in a trace of its own, which then runs as native code.
// Returns the results of `body`.
CALQUE_API std::vector<Tensor> runRecorded(const char *name, const std::vector<Tensor> &inputs,
                                           const std::function<std::vector<Tensor>(const std::vector<Tensor> &)> &body,
                                           SourceLocation where);

// Returns x as a fresh SSA value, a source of derivatives: values that were computed before do not depend on it.
CALQUE_API Tensor alias(const Tensor &x, SourceLocation where);
// Returns the alias of each tensor.
CALQUE_API std::vector<Tensor> aliases(std::vector<Tensor> tensors, SourceLocation where);

// While recording: returns a slice of each tensor along its mapped axis, or the whole tensor if it has none.
CALQUE_API std::vector<Tensor> takeSlices(const std::vector<Tensor> &tensors, const VmapOptions &options,
                                          SourceLocation where);
// Returns the values for all indices of the mapped axis. `slices` are the results of takeSlices on `tensors`.
CALQUE_API std::vector<Tensor> stackSlices(const std::vector<Tensor> &values, const std::vector<Tensor> &slices,
                                           const std::vector<Tensor> &tensors, const VmapOptions &options,
                                           SourceLocation where);
// While recording: returns the targets' tangents. ValueError, ShapeError or DTypeError unless there is one tangent for
// each source, of its type. Here and below, `operation` is the name of the public function in errors.
CALQUE_API std::vector<Tensor> tangentsOf(const char *operation, const std::vector<Tensor> &targets,
                                          const std::vector<Tensor> &sources, const std::vector<Tensor> &tangents,
                                          SourceLocation where);
// DTypeError for a tensor that is not floating-point.
CALQUE_API void requireFloating(const char *operation, const std::vector<Tensor> &tensors, SourceLocation where);
// ValueError unless there are tensors and no variables; DTypeError for a tensor that is not floating-point.
CALQUE_API void requireSources(const char *operation, const std::vector<Tensor> &tensors, bool anyVariable,
                               SourceLocation where);
// ValueError for a variable in a result.
CALQUE_API void requireNoVariable(const char *operation, bool anyVariable, SourceLocation where);

struct LeafCollector : TensorCollector {
  bool anyVariable = false;
  void variable(const Variable &) { anyVariable = true; }
};
// Returns the tensors of arguments. In the structure, each tensor's derivative takes its place. A derivative can't take
// the place of a variable, so variables are refused.
template <typename T> std::vector<Tensor> sourcesIn(const char *operation, const T &x, const SourceLocation &where) {
  LeafCollector leaves;
  visit_structure(x, leaves);
  requireSources(operation, leaves.tensors, leaves.anyVariable, where);
  return std::move(leaves.tensors);
}
// Returns the tensors of a result. Their tangents or cotangents take their places, so variables are refused here, too.
template <typename T> std::vector<Tensor> targetsIn(const char *operation, const T &y, const SourceLocation &where) {
  LeafCollector leaves;
  visit_structure(y, leaves);
  requireNoVariable(operation, leaves.anyVariable, where);
  return std::move(leaves.tensors);
}

// onesLike returns ones of a tensor's type. basisOf stacks all tensors of that type that are 1 at one element and 0 at
// the others along axis 0. ShapeError for unknown sizes, DTypeError for integers.
CALQUE_API Tensor onesLike(const Tensor &x, SourceLocation where);
CALQUE_API Tensor basisOf(const Tensor &x, const char *operation, SourceLocation where);

// A tape that records until `stop` is called. Then it computes cotangents, any number of times.
class CALQUE_API PullbackTape {
public:
  PullbackTape(const char *operation, SourceLocation where);
  static std::shared_ptr<PullbackTape> make(const char *operation, SourceLocation where);
  void watch(const Tensor &x, SourceLocation where);
  void stop();
  // Zeros for sources without a path. ValueError, ShapeError, DTypeError unless there is a seed of each target's type.
  std::vector<Tensor> cotangents(const std::vector<Tensor> &targets, const std::vector<Tensor> &sources,
                                 const std::vector<Tensor> &seeds, SourceLocation where);

private:
  const char *operation_;
  GradientTape tape_;
};

// Calls f with the arguments after replacing their tensors by `tensors`, in order.
template <typename F, typename... Args>
auto callWith(const SourceLocation &where, F &f, const std::tuple<const Args &...> &args,
              const std::vector<Tensor> &tensors) {
  Replacement replacement{tensors.data()};
  auto replaced =
      std::apply([&](const auto &...given) { return std::tuple<Args...>{map_structure(given, replacement)...}; }, args);
  return std::apply([&](const auto &...values) { return callAt(where, f, values...); }, replaced);
}

// Calls f with x, or with the elements of a tuple as arguments unless f takes only the tuple itself.
template <typename F, typename T> auto applyTo(const SourceLocation &where, F &f, const T &x) {
  return callAt(where, f, x);
}
template <typename F, typename... T> auto applyTo(const SourceLocation &where, F &f, const std::tuple<T...> &x) {
  if constexpr (!canCall<F, T...>() && canCall<F, std::tuple<T...>>())
    return callAt(where, f, x);
  else
    return std::apply([&](const auto &...parts) { return callAt(where, f, parts...); }, x);
}

} // namespace detail

} // namespace calque
#endif
