// Functions that transform functions: derivatives of all kinds, and vmap. They compose in any order, with each other
// and with function().
//
//   auto loss = [](const Tensor &x) { return sum(tanh(matmul(w, x))); };
//   Tensor g = grad(loss)(x);                       // like x
//   auto [y, dy] = jvp(loss, x, direction);         // the value, and how it changes along a direction
//   Tensor h = hessian(loss)(x);                    // [x..., x...]
//   Tensor each = vmap(grad(loss))(examples);      // one gradient for each example, computed at once
//
// Derivatives are taken with respect to the arguments of a function; its captures are constants. `vmap`, `jvp` and
// `hessian` trace the function at every call: host code in the function runs once in each call, and can't read
// elements. Errors of a transformed function name the line of its call.
//
// Where f takes a tensor, the transformed function also takes a C++ number, as a scalar, and a variable, as its value.
//
// A transform keeps a copy of its function. Of a Method, it keeps the Method's Function; of std::ref(function), it
// keeps a reference. The objects that these refer to must live as long as the transformed function.
#ifndef CALQUE_TRANSFORMS_H
#define CALQUE_TRANSFORMS_H

#include "calque/transformed.h"

namespace calque {

// The mapped axes of vmap.
struct VmapOptions {
  // The mapped axis of each tensor of the arguments, in order. std::nullopt: f gets the whole tensor at every index.
  // Empty list: axis 0 of every tensor.
  std::vector<std::optional<std::int64_t>> in_axes = {};
  // The position of the mapped axis in each tensor of the result, in order. Empty list: axis 0.
  std::vector<std::int64_t> out_axes = {};
};

namespace detail {
// `optionsFor` returns the options; it gets the number of tensors in the arguments.
template <typename F, typename Options> auto vmapBy(F &&f, Options optionsFor, SourceLocation made) {
  requireCallable(f, "vmap", made);
  return transformed<typename SignaturesOf<Held<F>>::Same>(
      [f = hold(std::forward<F>(f)), optionsFor = std::move(optionsFor)](const SourceLocation &where,
                                                                         const auto &...args) mutable {
        std::tuple<const std::decay_t<decltype(args)> &...> given(args...);
        using Result = decltype(callWith(where, f, given, std::vector<Tensor>()));
        std::optional<Result> result;
        std::vector<Tensor> inputs = tensorsIn(given);
        const VmapOptions options = optionsFor(inputs.size());
        std::vector<Tensor> stacked = runRecorded(
            "vmap", inputs,
            [&](const std::vector<Tensor> &tensors) {
              std::vector<Tensor> slices = takeSlices(tensors, options, where);
              result.emplace(callWith(where, f, given, slices));
              return stackSlices(tensorsIn(*result), slices, tensors, options, where);
            },
            where);
        return withTensors(*result, stacked);
      });
}
} // namespace detail

// Makes a function that maps f over an axis. Tensors of its arguments and results have one more axis, the mapped axis;
// f gets one slice. ValueError for an axis that a tensor lacks, and unless there is one axis for each tensor.
// ShapeError for mapped axes of different sizes. CompileError if an operation can't be done for many indices at once.
template <typename F> auto vmap(F &&f, VmapOptions options = {}, SourceLocation made = SourceLocation::current()) {
  auto asGiven = [options = std::move(options)](std::size_t) { return options; };
  return detail::vmapBy(std::forward<F>(f), std::move(asGiven), made);
}
// Maps f over the same axis of all tensors of the arguments: vmap(f, 1).
template <typename F, std::same_as<int> Axis>
auto vmap(F &&f, Axis axis, SourceLocation made = SourceLocation::current()) {
  auto ofAll = [axis](std::size_t tensors) {
    return VmapOptions{.in_axes = std::vector<std::optional<std::int64_t>>(tensors, axis)};
  };
  return detail::vmapBy(std::forward<F>(f), ofAll, made);
}

namespace detail {
// jvpAs and vjpAs differentiate f, a callable that takes the primals as its one argument.
template <typename F, typename Primals>
auto jvpAs(const char *operation, F &&f, const Primals &primals, const Primals &tangents, const SourceLocation &where) {
  auto call = [&](const std::vector<Tensor> &tensors) { return f(withTensors(primals, tensors)); };
  using Result = decltype(call(std::vector<Tensor>()));
  std::vector<Tensor> inputs = sourcesIn(operation, primals, where), directions = tensorsIn(tangents);
  std::size_t count = inputs.size();
  inputs.insert(inputs.end(), directions.begin(), directions.end());
  std::optional<Result> result;
  std::vector<Tensor> outputs = runRecorded(
      operation, inputs,
      [&](const std::vector<Tensor> &tensors) {
        std::vector<Tensor> sources;
        for (std::size_t i = 0; i < count; ++i)
          sources.push_back(alias(tensors[i], where));
        result.emplace(call(sources));
        std::vector<Tensor> values = targetsIn(operation, *result, where);
        std::vector<Tensor> changes = tangentsOf(
            operation, values, sources, {tensors.begin() + static_cast<std::ptrdiff_t>(count), tensors.end()}, where);
        values.insert(values.end(), changes.begin(), changes.end());
        return values;
      },
      where);
  auto half = outputs.begin() + static_cast<std::ptrdiff_t>(outputs.size() / 2);
  return std::pair<Result, Result>(withTensors(*result, {outputs.begin(), half}),
                                   withTensors(*result, {half, outputs.end()}));
}

template <typename F, typename Primals>
auto vjpAs(const char *operation, F &&f, const Primals &primals, const SourceLocation &where) {
  std::shared_ptr<PullbackTape> tape = PullbackTape::make(operation, where);
  std::vector<Tensor> sources = sourcesIn(operation, primals, where);
  for (Tensor &source : sources) {
    source = alias(source, where);
    tape->watch(source, where);
  }
  auto y = f(withTensors(primals, sources));
  tape->stop();
  std::vector<Tensor> targets = targetsIn(operation, y, where);
  // The pullback belongs to y's tensors. The caller gets fresh SSA values.
  auto result = withTensors(y, aliases(targets, where));
  // The cotangent of one tensor may be a number, of the tensor's element type.
  using Cotangents = std::conditional_t<std::is_same_v<decltype(y), Tensor>, Operand, decltype(y)>;
  auto pullback = [tape, primals, sources, targets](const Cotangents &cotangents,
                                                    SourceLocation line = SourceLocation::current()) {
    std::vector<Tensor> seeds;
    if constexpr (std::is_same_v<Cotangents, Operand>)
      seeds = {cotangents.toTensor(targets[0].dtype(line))};
    else
      seeds = tensorsIn(cotangents);
    return withTensors(primals, tape->cotangents(targets, sources, seeds, line));
  };
  return std::pair<decltype(y), decltype(pullback)>(std::move(result), std::move(pullback));
}
} // namespace detail

namespace detail {
// Converts the primals: a number or variable becomes a tensor if the function takes one. A tuple has the arguments.
template <typename F, typename T> auto primalsOf(const T &x, const SourceLocation &where) {
  if constexpr (std::is_same_v<T, Variable> || std::is_arithmetic_v<T>) {
    if constexpr (canCall<F, Tensor>())
      return TensorArgument(x, where).tensor(std::nullopt, where);
    else
      return x;
  } else {
    return x;
  }
}
template <typename F, typename... T> auto primalsOf(const std::tuple<T...> &x, const SourceLocation &where) {
  if constexpr (!canCall<F, T...>() && canCall<F, std::tuple<T...>>()) {
    return x;
  } else {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      using Known = typename CallableTraits<std::decay_t<F>>::Signature;
      return std::tuple<std::decay_t<decltype(asTaken<I, Known>(std::get<I>(x), where))>...>{
          asTaken<I, Known>(std::get<I>(x), where)...};
    }(std::index_sequence_for<T...>());
  }
}
// Converts the tangents: a number becomes a scalar of its primal's element type.
template <typename P, typename T> auto tangentsFor(const P &primal, const T &x, const SourceLocation &where) {
  if constexpr (std::is_same_v<P, Tensor> && (std::is_same_v<T, Variable> || std::is_arithmetic_v<T>))
    return Operand(x, where).toTensor(primal.dtype(where));
  else
    return x;
}
template <typename... P, typename... T>
  requires(sizeof...(P) == sizeof...(T))
auto tangentsFor(const std::tuple<P...> &primals, const std::tuple<T...> &x, const SourceLocation &where) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::tuple{tangentsFor(std::get<I>(primals), std::get<I>(x), where)...};
  }(std::index_sequence_for<T...>());
}
template <typename Primals, typename Tangents> struct CheckedTangents {
  static constexpr bool done = std::is_same_v<Primals, Tangents>;
  static_assert(done, "the tangents of jvp() are of the type of the primals");
};
} // namespace detail

// Returns f(primals) and its tangents, computed by forward mode. Several arguments are given as a tuple. In a
// structure, each tangent takes the place of its tensor, and host values are unchanged. Where f takes a tensor, a
// Variable is taken as its value and a number as a scalar. A number among the tangents has the element type of its
// primal. ValueError, ShapeError or DTypeError for a tangent whose type is not that of its primal. DTypeError for
// integers. ValueError for a variable in a structure or in the result, because a tangent can't take its place.
template <typename F, typename Primals, typename Tangents = Primals>
auto jvp(F &&f, const Primals &primals, const Tangents &tangents, SourceLocation where = SourceLocation::current()) {
  detail::requireCallable(f, "jvp", where);
  auto taken = detail::primalsOf<F>(primals, where);
  auto directions = detail::tangentsFor(taken, tangents, where);
  auto call = [&](const decltype(taken) &x) { return detail::applyTo(where, f, x); };
  if constexpr (detail::CheckedTangents<decltype(taken), decltype(directions)>::done)
    return detail::jvpAs("jvp", call, taken, directions, where);
  else
    return std::pair(Tensor(), Tensor());
}

// Returns f(primals) and the pullback, a function from cotangents of f's result to cotangents of the primals. The
// latter have the structure and the host values of the primals. Several arguments are given as a tuple. Numbers and
// variables among the primals are taken as by jvp. The cotangent of a single tensor may be a number. The pullback may
// be called any number of times: in the trace in which it was made, or eagerly if it was made eagerly. DTypeError for
// integers. ValueError for a variable in a structure or in the result: a cotangent can't take its place.
template <typename F, typename Primals>
auto vjp(F &&f, const Primals &primals, SourceLocation where = SourceLocation::current()) {
  detail::requireCallable(f, "vjp", where);
  auto taken = detail::primalsOf<F>(primals, where);
  auto call = [&](const decltype(taken) &x) { return detail::applyTo(where, f, x); };
  return detail::vjpAs("vjp", call, taken, where);
}

namespace detail {
// Refuses a function whose result is not one tensor.
template <typename Result> struct CheckedResult {
  static constexpr bool isTensor = std::is_same_v<Result, Tensor>;
  static_assert(isTensor, "the derivative is of a function that returns one Tensor: return a Tensor, or use vjp() or "
                          "jvp(), which take structures");
};

// Refuses a call without arguments: the derivative is with respect to the first one.
template <std::size_t given> struct CheckedDerivative {
  static constexpr bool done = given > 0;
  static_assert(done, "a derivative is with respect to the function's first argument, and the call has none");
};
// A callable that passes the line of the call and at least one argument to `body`.
template <typename S, typename Body> auto derivative(Body body) {
  return transformed<S>([body = std::move(body)](const SourceLocation &where, const auto &...args) mutable {
    if constexpr (CheckedDerivative<sizeof...(args)>::done)
      return body(where, args...);
    else
      return Tensor();
  });
}

template <typename F, typename X, typename... Others>
auto valueAndGradientAt(const char *operation, const SourceLocation &where, F &f, const X &x, const Others &...others) {
  auto first = [&](const X &given) { return callAt(where, f, given, others...); };
  if constexpr (CheckedResult<decltype(first(x))>::isTensor) {
    auto [y, pullback] = vjpAs(operation, first, x, where);
    return std::pair(y, pullback(Operand(onesLike(y, where), where), where));
  } else {
    return std::pair(Tensor(), x);
  }
}

// Whether the first argument is a Variable or a number that becomes a tensor, because the function takes a tensor.
template <typename F, typename X, typename... Others> constexpr bool becomesTensor() {
  if constexpr (std::is_same_v<X, Variable> || std::is_arithmetic_v<X>)
    return canCall<F, Tensor, Others...>();
  else
    return false;
}
template <typename X> Tensor asTensor(const X &x, const SourceLocation &where) {
  return TensorArgument(x, where).tensor(std::nullopt, where);
}

template <typename F, typename X, typename... Others>
auto valueAndGradient(const char *operation, const SourceLocation &where, F &f, const X &given,
                      const Others &...others) {
  if constexpr (becomesTensor<F, X, Others...>())
    return valueAndGradientAt(operation, where, f, asTensor(given, where), others...);
  else
    return valueAndGradientAt(operation, where, f, given, others...);
}

// Value and derivatives with respect to the arguments `argnums`. checkArgnums throws the errors of GradOptions.
CALQUE_API void checkArgnums(const char *operation, const std::vector<std::int64_t> &argnums,
                             const std::vector<bool> &areTensors, SourceLocation where);
template <typename F, typename... Args>
std::pair<Tensor, std::vector<Tensor>> valueAndGradients(const char *operation, const SourceLocation &where, F &f,
                                                         const std::vector<std::int64_t> &argnums,
                                                         const Args &...args) {
  auto isTensor = []<typename X>(const X &) { return std::is_same_v<X, Tensor> || std::is_same_v<X, Variable>; };
  checkArgnums(operation, argnums, {isTensor(args)...}, where);
  // Variables become tensors, because other tensors replace differentiated arguments.
  auto asGiven = [&]<typename X>(const X &x) {
    if constexpr (std::is_same_v<X, Variable>)
      return x.value(where);
    else
      return x;
  };
  std::tuple given(asGiven(args)...);
  std::vector<Tensor> sources;
  auto pick = [&](std::int64_t number) {
    std::int64_t next = 0;
    auto take = [&]<typename X>(const X &x) {
      if constexpr (std::is_same_v<X, Tensor>)
        if (next == number)
          sources.push_back(x);
      ++next;
    };
    std::apply([&](const auto &...each) { (take(each), ...); }, given);
  };
  for (std::int64_t number : argnums)
    pick(number);
  auto call = [&](const std::vector<Tensor> &replaced) {
    auto own = given;
    std::int64_t next = 0;
    auto put = [&]<typename X>(X &x) {
      if constexpr (std::is_same_v<X, Tensor>)
        for (std::size_t i = 0; i < argnums.size(); ++i)
          if (argnums[i] == next)
            x = replaced[i];
      ++next;
    };
    std::apply([&](auto &...each) { (put(each), ...); }, own);
    return std::apply([&](const auto &...each) { return callAt(where, f, each...); }, own);
  };
  if constexpr (CheckedResult<decltype(call(sources))>::isTensor) {
    auto [y, pullback] = vjpAs(operation, call, sources, where);
    return {y, pullback(Operand(onesLike(y, where), where), where)};
  } else {
    return {};
  }
}
template <typename F> auto gradAs(const char *operation, F &&f, SourceLocation made) {
  requireCallable(f, operation, made);
  return derivative<typename SignaturesOf<Held<F>>::Gradient>(
      [operation, f = hold(std::forward<F>(f))](const SourceLocation &where, const auto &...args) mutable {
        return valueAndGradient(operation, where, f, args...).second;
      });
}
} // namespace detail

// value_and_grad makes the function that returns f's value and its derivative with respect to the first argument. grad
// makes the function that returns the derivative alone. The first argument is a tensor, or a structure of tensors and
// host values; the derivative has the same structure and host values. f returns one tensor, and the sum of its elements
// is differentiated. The derivative is zeros if f does not depend on the argument. Where f takes a tensor, a Variable
// is taken as its value and a number as a scalar. DTypeError for integers. ValueError for a variable in a structure:
// pass the variable as a later argument, or capture it, and ask a GradientTape for its gradient.
template <typename F> auto value_and_grad(F &&f, SourceLocation made = SourceLocation::current()) {
  detail::requireCallable(f, "value_and_grad", made);
  return detail::derivative<typename detail::SignaturesOf<detail::Held<F>>::ValueAndGradient>(
      [f = detail::hold(std::forward<F>(f))](const SourceLocation &where, const auto &...args) mutable {
        return detail::valueAndGradient("value_and_grad", where, f, args...);
      });
}
template <typename F> auto grad(F &&f, SourceLocation made = SourceLocation::current()) {
  return detail::gradAs("grad", std::forward<F>(f), made);
}

// Differentiates with respect to the arguments with these numbers, from 0: grad(f, {.argnums = {0, 2}})(x, n, y). The
// result is a std::vector with one derivative for each number. ValueError at the call for a number that is given twice,
// that no argument has, or whose argument is no tensor.
struct GradOptions {
  std::vector<std::int64_t> argnums = {0};
};
template <typename F> auto value_and_grad(F &&f, GradOptions options, SourceLocation made = SourceLocation::current()) {
  detail::requireCallable(f, "value_and_grad", made);
  return detail::derivative<typename detail::SignaturesOf<detail::Held<F>>::ValueAndGradients>(
      [f = detail::hold(std::forward<F>(f)), argnums = std::move(options.argnums)](const SourceLocation &where,
                                                                                   const auto &...args) mutable {
        return detail::valueAndGradients("value_and_grad", where, f, argnums, args...);
      });
}
template <typename F> auto grad(F &&f, GradOptions options, SourceLocation made = SourceLocation::current()) {
  detail::requireCallable(f, "grad", made);
  return detail::derivative<typename detail::SignaturesOf<detail::Held<F>>::Gradients>(
      [f = detail::hold(std::forward<F>(f)), argnums = std::move(options.argnums)](const SourceLocation &where,
                                                                                   const auto &...args) mutable {
        return detail::valueAndGradients("grad", where, f, argnums, args...).second;
      });
}

namespace detail {
// Calls `derivative`, which is generic, with x. Refuses a structure, whose derivatives would be more than one tensor.
template <typename X, typename Derivative>
Tensor withRespectTo(const X &x, const SourceLocation &where, const Derivative &derivative) {
  constexpr bool isOneTensor = std::is_convertible_v<const X &, TensorArgument>;
  static_assert(isOneTensor,
                "jacobian(), batch_jacobian() and hessian() are with respect to one Tensor, the function's "
                "first argument: take each part of a structure as an argument of its own");
  if constexpr (std::is_arithmetic_v<X>)
    return derivative(scalar(x, where));
  else if constexpr (std::is_same_v<X, Variable>)
    return derivative(Tensor(x, where));
  else if constexpr (isOneTensor)
    return derivative(Tensor(x));
  else
    return Tensor();
}

// The Jacobian by a method of a tape; zeros if no path leads from x to the result. The first `shared` dimensions of the
// argument are those of the result, too.
template <auto Method, typename F, typename... Others>
Tensor jacobianBy(const char *operation, F &f, std::ptrdiff_t shared, SourceLocation where, const Tensor &x,
                  const Others &...others) {
  requireFloating(operation, {x}, where);
  GradientTape tape({}, where);
  Tensor source = alias(x, where);
  tape.watch(source, where);
  auto call = [&] { return callAt(where, f, source, others...); };
  if constexpr (CheckedResult<decltype(call())>::isTensor) {
    Tensor y = call();
    if (std::optional<Tensor> result = (tape.*Method)(y, source, where))
      return *result;
    Shape shape = y.shape(where), argument = x.shape(where);
    shape.insert(shape.end(), argument.begin() + shared, argument.end(), where);
    return zeros(shape, x.dtype(where), where);
  } else {
    return source;
  }
}
using TapeJacobian = std::optional<Tensor> (GradientTape::*)(const Tensor &, const Tensor &, SourceLocation);
} // namespace detail

// Makes the function that returns f's Jacobian with respect to the first argument, [result..., argument...]. Reverse
// mode computes it, in one pass for all elements of the result; in a function, forward mode does if the argument has
// fewer elements. ShapeError for unknown sizes, DTypeError for integers.
template <typename F> auto jacobian(F &&f, SourceLocation made = SourceLocation::current()) {
  detail::requireCallable(f, "jacobian", made);
  return detail::derivative<typename detail::SignaturesOf<detail::Held<F>>::Jacobian>(
      [f = detail::hold(std::forward<F>(f))](const SourceLocation &where, const auto &given,
                                             const auto &...others) mutable {
        return detail::withRespectTo(given, where, [&](const auto &x) {
          return detail::jacobianBy<static_cast<detail::TapeJacobian>(&GradientTape::jacobian)>("jacobian", f, 0, where,
                                                                                                x, others...);
        });
      });
}

// Makes the function that returns the Jacobian of each example of a batch, [B, result..., argument...]. Each slice of
// the result along axis 0 must depend only on the same slice of the argument. Errors are those of jacobian.
template <typename F> auto batch_jacobian(F &&f, SourceLocation made = SourceLocation::current()) {
  detail::requireCallable(f, "batch_jacobian", made);
  return detail::derivative<typename detail::SignaturesOf<detail::Held<F>>::Jacobian>(
      [f = detail::hold(std::forward<F>(f))](const SourceLocation &where, const auto &given,
                                             const auto &...others) mutable {
        return detail::withRespectTo(given, where, [&](const auto &x) {
          return detail::jacobianBy<static_cast<detail::TapeJacobian>(&GradientTape::batch_jacobian)>(
              "batch_jacobian", f, 1, where, x, others...);
        });
      });
}

namespace detail {
// Refuses a call without exactly one direction, of the argument's type.
template <typename Argument, typename Directions> struct CheckedDirection {
  static constexpr bool done = std::is_same_v<Argument, Directions>;
  static_assert(done, "what hvp makes takes two arguments: x, and a direction of the same type");
};
} // namespace detail

// Makes the function (x, v) -> H v, for the Hessian H of f's sum: forward over reverse mode, which never makes H.
template <typename F> auto hvp(F &&f, SourceLocation made = SourceLocation::current()) {
  detail::requireCallable(f, "hvp", made);
  return detail::derivative<typename detail::SignaturesOf<detail::Held<F>>::HessianProduct>(
      [gradient = detail::gradAs("hvp", std::forward<F>(f), made)](const SourceLocation &where, const auto &x,
                                                                   const auto &...v) {
        if constexpr (detail::CheckedDirection<std::tuple<decltype(x)>, std::tuple<decltype(v)...>>::done) {
          auto call = [&](const auto &given) { return gradient(given, where); };
          return detail::jvpAs("hvp", call, x, v..., where).second;
        } else {
          return x;
        }
      });
}

namespace detail {
template <typename F, typename... Others>
Tensor hessianOf(F &f, SourceLocation where, const Tensor &x, const Others &...others) {
  auto first = [&](const Tensor &argument) { return callAt(where, f, argument, others...); };
  auto gradient = gradAs("hessian", first, where);
  auto rows = [&](const std::vector<Tensor> &inputs) {
    auto call = [&](const Tensor &given) { return gradient(given, where); };
    auto row = [&](const Tensor &v) { return jvpAs("hessian", call, inputs[0], v, where).second; };
    const Shape source = inputs[0].shape(where);
    Shape shape = source;
    shape.insert(shape.end(), source.begin(), source.end(), where);
    Tensor stacked = vmap(row, {}, where)(basisOf(inputs[0], "hessian", where), where);
    return std::vector<Tensor>{reshape(Operand(stacked, where), shape)};
  };
  return runRecorded("hessian", {x}, rows, where)[0];
}
} // namespace detail

// Makes the function that returns the Hessian of the sum of f's elements with respect to the first argument,
// [argument..., argument...]. Forward over reverse mode computes it, in one pass for all directions. ShapeError for
// unknown sizes, DTypeError for integers.
template <typename F> auto hessian(F &&f, SourceLocation made = SourceLocation::current()) {
  detail::requireCallable(f, "hessian", made);
  return detail::derivative<typename detail::SignaturesOf<detail::Held<F>>::Jacobian>(
      [f = detail::hold(std::forward<F>(f))](const SourceLocation &where, const auto &given,
                                             const auto &...others) mutable {
        return detail::withRespectTo(given, where,
                                     [&](const auto &x) { return detail::hessianOf(f, where, x, others...); });
      });
}
} // namespace calque
#endif
