// Functions from functions: derivatives of every kind, and many examples at once. They compose in any order, with each
// other and with function().
//
//   auto loss = [](const Tensor &x) { return sum(tanh(matmul(w, x))); };
//   Tensor g = grad(loss)(x);                       // like x
//   auto [y, dy] = jvp(loss, x, direction);         // the value, and how it changes along a direction
//   Tensor h = hessian(loss)(x);                    // [x..., x...]
//   Tensor each = vmap(grad(loss))(examples);       // one gradient for each example, computed at once
//
// What a function captures is held constant: derivatives are those with respect to its arguments. `vmap`, `jvp` and
// `hessian` record what the function does, as function() does, on every call; host code runs once in it and sees no
// elements.
#ifndef CALQUE_TRANSFORMS_H
#define CALQUE_TRANSFORMS_H

#include "calque/function.h"
#include "calque/functions.h"
#include "calque/gradient_tape.h"

namespace calque {

// How many examples there are, and along which axes.
struct VmapOptions {
  // For each tensor of the arguments, in order, the axis over which its examples are stacked; none where it is the same
  // for all. Empty: axis 0 of every tensor.
  std::vector<std::optional<std::int64_t>> in_axes = {};
  // For each tensor of the result, in order, the axis along which the examples' results are stacked. Empty: axis 0.
  std::vector<std::int64_t> out_axes = {};
};

namespace detail {

// Runs `body` on the inputs so that what it does is recorded: in the trace of this thread, or in one of its own, which
// is then run as native code. Returns what it returns.
CALQUE_API std::vector<Tensor> runRecorded(const char *name, const std::vector<Tensor> &inputs,
                                           const std::function<std::vector<Tensor>(const std::vector<Tensor> &)> &body,
                                           SourceLocation where);

// x as another value, from which derivatives begin: nothing that was computed from x depends on it.
CALQUE_API Tensor alias(const Tensor &x, SourceLocation where);
// The same of each.
CALQUE_API std::vector<Tensor> aliases(std::vector<Tensor> tensors, SourceLocation where);

// One of the examples of each tensor that has an axis; while recording.
CALQUE_API std::vector<Tensor> takeExample(const std::vector<Tensor> &tensors, const VmapOptions &options,
                                           SourceLocation where);
// The values of all examples. `examples` are what takeExample gave for `tensors`.
CALQUE_API std::vector<Tensor> stackExamples(const std::vector<Tensor> &values, const std::vector<Tensor> &examples,
                                             const std::vector<Tensor> &tensors, const VmapOptions &options,
                                             SourceLocation where);
// The tangents of the targets; while recording. ValueError, ShapeError, DTypeError unless there is a tangent like each
// source.
CALQUE_API std::vector<Tensor> tangentsOf(const std::vector<Tensor> &targets, const std::vector<Tensor> &sources,
                                          const std::vector<Tensor> &tangents, SourceLocation where);
// Derivatives are asked of numbers with a fraction alone: DTypeError.
CALQUE_API void requireFloating(const char *operation, const std::vector<Tensor> &tensors, SourceLocation where);

// Ones like a tensor, and all tensors like it that are 1 at one element and 0 elsewhere, stacked along axis 0.
// ShapeError where sizes are not known, DTypeError for integers.
CALQUE_API Tensor onesLike(const Tensor &x, SourceLocation where);
CALQUE_API Tensor basisOf(const Tensor &x, const char *operation, SourceLocation where);

// A tape that records up to `stop` and then answers any number of times.
class CALQUE_API PullbackTape {
public:
  explicit PullbackTape(SourceLocation where) : tape_({.persistent = true}, where) {}
  void watch(const Tensor &x, SourceLocation where) { tape_.watch(x, where); }
  void stop();
  // Zeros where there is no path.
  std::vector<Tensor> cotangents(const std::vector<Tensor> &targets, const std::vector<Tensor> &sources,
                                 const std::vector<Tensor> &seeds, SourceLocation where);

private:
  GradientTape tape_;
};

// Calls f with the arguments, their tensors replaced.
template <typename F, typename... Args>
auto callWith(const F &f, const std::tuple<const Args &...> &args, const std::vector<Tensor> &tensors) {
  Replacement replacement{tensors, {}};
  auto replaced =
      std::apply([&](const auto &...given) { return std::tuple<Args...>{map_structure(given, replacement)...}; }, args);
  return std::apply(f, replaced);
}

// A tuple is several arguments.
template <typename F, typename T> auto applyTo(const F &f, const T &x) { return f(x); }
template <typename F, typename... T> auto applyTo(const F &f, const std::tuple<T...> &x) { return std::apply(f, x); }

} // namespace detail

// f for many examples at once: the tensors of its arguments have one dimension more, over which the examples run, and
// so have the tensors of its result. ValueError for axes that tensors don't have and for lists of other lengths than
// there are tensors; ShapeError where the numbers of examples differ; CompileError where an operation can't be done for
// many examples.
template <typename F> auto vmap(F f, VmapOptions options = {}, SourceLocation where = SourceLocation::current()) {
  return [f = std::move(f), options = std::move(options), where](const auto &...args) {
    std::tuple<const std::decay_t<decltype(args)> &...> given(args...);
    using Result = decltype(detail::callWith(f, given, std::vector<Tensor>()));
    std::optional<Result> result;
    std::vector<Tensor> stacked = detail::runRecorded(
        "vmap", detail::tensorsIn(given),
        [&](const std::vector<Tensor> &tensors) {
          std::vector<Tensor> examples = detail::takeExample(tensors, options, where);
          result.emplace(detail::callWith(f, given, examples));
          return detail::stackExamples(detail::tensorsIn(*result), examples, tensors, options, where);
        },
        where);
    return detail::withTensors(*result, stacked);
  };
}

// f(primals) and its change along the tangents, which are like the primals; forward mode. Several arguments are given
// as tuples. ValueError, ShapeError and DTypeError for tangents that are not like the primals; DTypeError for integers.
template <typename F, typename Primals>
auto jvp(F f, const Primals &primals, const Primals &tangents, SourceLocation where = SourceLocation::current()) {
  auto call = [&](const std::vector<Tensor> &tensors) {
    return detail::applyTo(f, detail::withTensors(primals, tensors));
  };
  using Result = decltype(call(std::vector<Tensor>()));
  std::vector<Tensor> inputs = detail::tensorsIn(primals), directions = detail::tensorsIn(tangents);
  std::size_t count = inputs.size();
  inputs.insert(inputs.end(), directions.begin(), directions.end());
  std::optional<Result> result;
  std::vector<Tensor> outputs = detail::runRecorded(
      "jvp", inputs,
      [&](const std::vector<Tensor> &tensors) {
        std::vector<Tensor> sources;
        for (std::size_t i = 0; i < count; ++i)
          sources.push_back(detail::alias(tensors[i], where));
        result.emplace(call(sources));
        std::vector<Tensor> values = detail::tensorsIn(*result);
        std::vector<Tensor> changes = detail::tangentsOf(
            values, sources, {tensors.begin() + static_cast<std::ptrdiff_t>(count), tensors.end()}, where);
        values.insert(values.end(), changes.begin(), changes.end());
        return values;
      },
      where);
  auto half = outputs.begin() + static_cast<std::ptrdiff_t>(outputs.size() / 2);
  return std::pair<Result, Result>(detail::withTensors(*result, {outputs.begin(), half}),
                                   detail::withTensors(*result, {half, outputs.end()}));
}

// f(primals) and the pullback: a function from cotangents, like f's result, to those of the primals, which have their
// structure. Several arguments are given as tuples. The pullback may be called any number of times, in the trace that
// it was made in, or eagerly. DTypeError for integers.
template <typename F, typename Primals>
auto vjp(F f, const Primals &primals, SourceLocation where = SourceLocation::current()) {
  auto tape = std::make_shared<detail::PullbackTape>(where);
  std::vector<Tensor> sources = detail::tensorsIn(primals);
  detail::requireFloating("vjp", sources, where);
  for (Tensor &source : sources) {
    source = detail::alias(source, where);
    tape->watch(source, where);
  }
  auto y = detail::applyTo(f, detail::withTensors(primals, sources));
  tape->stop();
  auto pullback = [tape, primals, sources, targets = detail::tensorsIn(y)](
                      const decltype(y) &cotangents, SourceLocation line = SourceLocation::current()) {
    return detail::withTensors(primals, tape->cotangents(targets, sources, detail::tensorsIn(cotangents), line));
  };
  // The pullback follows y; what is returned is a value of its own.
  auto result = detail::withTensors(y, detail::aliases(detail::tensorsIn(y), where));
  return std::pair<decltype(y), decltype(pullback)>(std::move(result), std::move(pullback));
}

// The function that gives f's value and its derivative with respect to its first argument, a tensor or a structure of
// tensors; f gives one tensor, whose elements are summed. Zeros where the result does not depend on the argument.
template <typename F> auto value_and_grad(F f, SourceLocation where = SourceLocation::current()) {
  return [f, where](const auto &x, const auto &...others) {
    auto [y, pullback] = vjp([&](const std::decay_t<decltype(x)> &first) { return f(first, others...); }, x, where);
    return std::pair(y, pullback(detail::onesLike(y, where), where));
  };
}
template <typename F> auto grad(F f, SourceLocation where = SourceLocation::current()) {
  return [f, where](const auto &x, const auto &...others) { return value_and_grad(f, where)(x, others...).second; };
}

namespace detail {
// The Jacobian by the tape's method, zeros where there is no path; `shared` leading dimensions of the argument are the
// result's.
template <auto Method, typename F, typename... Others>
Tensor jacobianBy(const F &f, std::ptrdiff_t shared, SourceLocation where, const Tensor &x, const Others &...others) {
  GradientTape tape({}, where);
  Tensor source = alias(x, where);
  tape.watch(source, where);
  Tensor y = f(source, others...);
  if (std::optional<Tensor> result = (tape.*Method)(y, source, where))
    return *result;
  Shape shape = y.shape();
  shape.insert(shape.end(), x.shape().begin() + shared, x.shape().end());
  return zeros(shape, x.dtype(), where);
}
using TapeJacobian = std::optional<Tensor> (GradientTape::*)(const Tensor &, const Tensor &, SourceLocation);
} // namespace detail

// The function that gives f's Jacobian with respect to its first argument, shaped result + argument; reverse mode, in
// one pass for all elements of the result. ShapeError where sizes are not known.
template <typename F> auto jacobian(F f, SourceLocation where = SourceLocation::current()) {
  return [f, where](const Tensor &x, const auto &...others) {
    return detail::jacobianBy<static_cast<detail::TapeJacobian>(&GradientTape::jacobian)>(f, 0, where, x, others...);
  };
}

// The same where each example of the result, along axis 0, depends on that example of the argument alone: [B, result,
// argument].
template <typename F> auto batch_jacobian(F f, SourceLocation where = SourceLocation::current()) {
  return [f, where](const Tensor &x, const auto &...others) {
    return detail::jacobianBy<&GradientTape::batch_jacobian>(f, 1, where, x, others...);
  };
}

// The function (x, v) -> H v, with the second derivatives H of f's sum; forward over reverse mode, H itself is never
// made.
template <typename F> auto hvp(F f, SourceLocation where = SourceLocation::current()) {
  return [f, where](const auto &x, const auto &v) { return jvp(grad(f), x, v, where).second; };
}

// The function that gives the second derivatives of f's sum with respect to its first argument, shaped argument +
// argument; forward over reverse mode, in one pass for all directions. ShapeError where sizes are not known.
template <typename F> auto hessian(F f, SourceLocation where = SourceLocation::current()) {
  return [f, where](const Tensor &x, const auto &...others) {
    auto derivative = grad([&](const Tensor &argument) { return f(argument, others...); }, where);
    auto rows = [&](const std::vector<Tensor> &inputs) {
      auto row = [&](const Tensor &v) { return jvp(derivative, inputs[0], v, where).second; };
      Shape shape = inputs[0].shape();
      shape.insert(shape.end(), inputs[0].shape().begin(), inputs[0].shape().end());
      return std::vector<Tensor>{reshape(vmap(row, {}, where)(detail::basisOf(inputs[0], "hessian", where)), shape)};
    };
    return detail::runRecorded("hessian", {x}, rows, where)[0];
  };
}

} // namespace calque
#endif
