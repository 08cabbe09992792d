// Which callables function() and the transforms take, and what they see of their signatures.
#include "Testing.h"

using namespace calque;
using namespace calque::testing;

namespace {
Tensor cube(const Tensor &x) { return x * x * x; }
Tensor scaled(const Tensor &x, const Tensor &y) { return sum(x * x * y); }

template <typename Signature, typename F> void expectSignature(const F &) {
  static_assert(std::is_same_v<typename F::CalqueSignature, Signature>);
}
} // namespace

TEST(Callable, FunctionsOfTransformsHaveTheirSignatures) {
  auto f = [](const Tensor &x) { return sum(x * x); };
  auto two = [](const Tensor &x, int n) { return sum(x * x) * n; };
  Tensor x = tensor<float>({1, 2}), rows = tensor<float>({1, 2, 3, 4}, {2, 2});

  auto gradient = function(grad(f));
  expectSignature<Tensor(const Tensor &)>(gradient);
  expectValues(gradient(x), {2, 4});
  auto ofTwo = function(grad(two));
  expectSignature<Tensor(const Tensor &, int)>(ofTwo);
  expectValues(ofTwo(x, 3), {6, 12});
  auto both = function(value_and_grad(two));
  expectSignature<std::pair<Tensor, Tensor>(const Tensor &, int)>(both);
  expectValues(both(x, 2).first, {10});
  expectValues(both(x, 2).second, {4, 8});
  expectValues(function(vmap(f))(rows), {5, 25});
  expectValues(function(vmap(scaled, {.in_axes = {0, std::nullopt}}))(rows, x), {9, 41});
  expectValues(function(jacobian(cube))(x), {3, 0, 0, 12});
  expectValues(function(batch_jacobian([](const Tensor &a) { return a * a; }))(rows), {2, 0, 0, 4, 6, 0, 0, 8});
  expectValues(function(hvp(f))(x, ones({2})), {2, 2});
  expectValues(function(hessian(f))(x), {2, 0, 0, 2});
  expectValues(function(checkpoint(cube))(x), {1, 8});
  auto own = custom_gradient([](const Tensor &a) { return std::pair(a * a, [](const Tensor &g) { return g * 7; }); });
  expectValues(function(own)(x), {1, 4});
  expectValues(function(grad([&](const Tensor &a) { return sum(own(a)); }))(x), {7, 7});
}

TEST(Callable, FunctionsOfTransformsOfTransformsHaveTheirSignatures) {
  auto f = [](const Tensor &x) { return sum(cube(x)); };
  Tensor rows = tensor<float>({1, 2, 3, 4}, {2, 2});
  expectValues(function(vmap(grad(f)))(rows), {3, 12, 27, 48});
  expectValues(function(vmap(hessian(f)))(rows), {6, 0, 0, 12, 18, 0, 0, 24});
  expectValues(function(jacobian(grad(checkpoint(f))))(tensor<float>({1, 2})), {6, 0, 0, 12});
  auto values = function(vmap(value_and_grad(f)));
  expectSignature<std::pair<Tensor, Tensor>(const Tensor &)>(values);
  expectValues(values(rows).first, {9, 91});
  auto structured = function(grad([](const std::vector<Tensor> &x) { return sum(x[0] * x[1]); }));
  expectSignature<std::vector<Tensor>(const std::vector<Tensor> &)>(structured);
  expectValues(structured({scalar(2.0f), scalar(3.0f)})[0], {3});
}

TEST(Callable, TransformsTakeFunctionsMethodsAndConcreteFunctions) {
  struct Model {
    Method<Tensor(const Tensor &)> call{this, &Model::apply};
    Tensor apply(const Tensor &x) { return sum(x * w); }
    Variable w{2.0f};
  } model;
  Tensor x = tensor<float>({1, 2});
  auto f = function(cube);
  expectValues(function(vmap(f))(x), {1, 8});
  expectValues(function(grad(f))(scalar(2.0f)), {12});
  const Function<Tensor(const Tensor &)> &method = model.call;
  expectValues(function(grad(method))(x), {2, 2});
  expectValues(function(vmap(f.get_concrete_function(scalar(0.0f))))(x), {1, 8});
  expectValues(function(vmap(std::function<Tensor(Tensor)>(cube)))(x), {1, 8});
}

TEST(Callable, FunctionsTakeNumbersForTensors) {
  auto f = function(scaled);
  Variable v(3.0);
  expectValues(f(2.0, 5.0), {20});
  expectValues(f(v, 5.0), {45});
  expectValues(f(2.0, v), {12});
  expectValues(f(scalar(2.0), 5.0), {20});
  EXPECT_EQ(f.trace_count(), 1); // a number is no part of the key
  expectValues(f.eager(2.0, 5.0), {20});
  EXPECT_EQ(f(0, 1).dtype(), DType::Int32); // 0 is no pointer
  EXPECT_EQ(f(std::int64_t(2), std::int64_t(3)).dtype(), DType::Int64);
  static_assert(!std::is_constructible_v<Tensor, std::nullptr_t> && !std::is_convertible_v<int, Tensor>);
  EXPECT_EQ(f.ir("traced", 2.0, 5.0), f.ir("traced", scalar(2.0), scalar(5.0)));
  EXPECT_EQ(f.graph(2.0, 5.0), f.graph(scalar(2.0), scalar(5.0)));
  auto mixed =
      function([](int n, const Tensor &x, const std::vector<Tensor> &y, Tensor z) { return n * x * y[0] - z; });
  expectValues(mixed(2, 3.0, {scalar(4.0)}, 1.0), {23});
  auto twice = function([](const Tensor &x) { return 2 * x; });
  EXPECT_EQ(twice(ones({3}).shape()[0]).item<std::int64_t>(), 6); // a size

  struct Model {
    Method<Tensor(const Tensor &)> call{this, &Model::apply};
    Tensor apply(const Tensor &x) { return x * 2; }
  } model;
  expectValues(model.call(3.0), {6});
  // The lambda of a call in a call, and its numbers, are part of the trace.
  expectValues(function([&](const Tensor &x) { return f(x, 2.0) + f(3.0, x); })(4.0), {68});
}

TEST(Callable, NumbersAreOfTheElementTypeOfASignature) {
  auto f = function(cube, {.input_signature = {TensorSpec<double>({})}});
  EXPECT_EQ(f(2).repr(), "Tensor(8.0, shape=[], dtype=float64)");
  EXPECT_EQ(f(0.1).item<double>(), 0.1 * 0.1 * 0.1); // not by way of float32
  auto integers = function(cube, {.input_signature = {TensorSpec<std::int64_t>({})}});
  EXPECT_EQ(integers(2).item<std::int64_t>(), 8);
  EXPECT_CONTAINS(errorOf<SignatureError>([&] { integers(2.5); }), "must be int64[], not float32[]");
  EXPECT_CONTAINS(errorOf<SignatureError>([&] { function(cube, {.input_signature = {TensorSpec<bool>({})}})(1); }),
                  "must be bool[], not int32[]");
  auto behind = function([](const std::vector<Tensor> &x, const Tensor &y) { return x[0] + x[1] * y; },
                         {.input_signature = {TensorSpec<float>({}), TensorSpec<float>({}), TensorSpec<float>({})}});
  expectValues(behind({scalar(1.0f), scalar(2.0f)}, 3), {7});

  auto concrete =
      function([](const Tensor &x, int n) { return x * n; }).get_concrete_function(TensorSpec<double>({}), 2);
  EXPECT_EQ(concrete(3).item<double>(), 6);
  EXPECT_EQ(concrete(3, 2).item<double>(), 6);
  EXPECT_CONTAINS(errorOf<SignatureError>([&] { concrete(3, 4); }), "bound to int 2, not int 4");
  auto any = function(cube).get_concrete_function(TensorSpec<float>(kAnyShape));
  EXPECT_EQ(any(2).item<float>(), 8);
  EXPECT_EQ(function(cube).get_concrete_function(2.0)(3.0).item<float>(), 27);
}

TEST(Callable, TransformsTakeNumbersAndVariablesForTensors) {
  Variable v(3.0);
  expectValues(function(grad(cube))(2.0), {12});
  expectValues(function(grad(grad(cube)))(2.0), {12});
  expectValues(grad(scaled)(2.0, 5.0), {20});
  expectValues(grad(scaled)(v, v), {18});
  expectValues(grad(scaled, {.argnums = {0, 1}})(2.0, 5.0)[1], {4});
  expectValues(function(value_and_grad(cube))(2.0).second, {12});
  expectValues(jacobian(cube)(2.0), {12});
  expectValues(jacobian([](const auto &x) { return x * x; })(2.0), {4}); // whose signature is not known
  expectValues(function(hessian(cube))(2.0), {12});
  expectValues(hvp(cube)(2.0, 0.5), {6});
  expectValues(checkpoint(cube)(2.0), {8});
  expectValues(vmap(scaled, {.in_axes = {0, std::nullopt}})(tensor({1., 2.}), 2.0), {2, 8});
  expectValues(vmap(cube)(Variable(tensor({1., 2.}))), {1, 8});
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { function(grad(cube))(2); }), "int32");

  auto [value, tangent] = jvp(cube, 2.0, 1);
  expectValues(value, {8});
  expectValues(tangent, {12});
  auto [product, change] = jvp(scaled, std::tuple(2.0, v), std::tuple(1, scalar(0.0)));
  expectValues(product, {12});
  expectValues(change, {12});
  EXPECT_EQ(jvp(cube, scalar<double>(2), 0.1).second.item<double>(), 3 * 2 * 2 * 0.1); // not by way of float32
  auto [y, pullback] = vjp(cube, v);
  expectValues(y, {27});
  expectValues(pullback(2), {54});
  expectValues(std::get<1>(vjp(scaled, std::tuple(2.0, 5.0)).second(1.0)), {4});

  // The gradient reaches a variable that stands for a tensor.
  auto own = custom_gradient([](const Tensor &x) { return std::pair(x * x, [](const Tensor &g) { return g * 7; }); });
  for (const std::function<Tensor(const Variable &)> &f :
       {std::function<Tensor(const Variable &)>(own), std::function<Tensor(const Variable &)>(checkpoint(cube))}) {
    GradientTape tape;
    Tensor made = f(v);
    EXPECT_TRUE(tape.gradient(made, v).has_value());
  }
  expectValues(debug::verify(scaled, std::tuple(2.0, 5.0)), {20});
  expectValues(debug::verify(cube, 2.0), {8});
}

TEST(Callable, AFunctionOfAFunctionHasItsOwnTraces) {
  int runs = 0;
  auto f = function([&](const Tensor &x) {
    ++runs;
    return x + 1;
  });
  f(ones({2}));
  auto again = function(f, {.input_signature = {TensorSpec<float>({kDynamic})}});
  expectValues(again(ones({2})), {2, 2});
  expectValues(again(ones({3})), {2, 2, 2});
  EXPECT_EQ(again.trace_count(), 1);
  EXPECT_EQ(f.trace_count(), 1);
  EXPECT_EQ(runs, 2);
}

TEST(Callable, GenericLambdasAreTransformedAndWrappedForOneSignature) {
  auto f = [](const auto &x) { return sum(x * x); };
  Tensor x = tensor<float>({1, 2});
  expectValues(grad(f)(x), {2, 4});
  expectValues(function<Tensor(const Tensor &)>(grad(f))(x), {2, 4});
  expectValues(function<Tensor(const Tensor &)>(f)(x), {5});
  expectValues(function<Tensor(const Tensor &)>(cube)(x), {1, 8});
}

TEST(Callable, WhatATransformMakesTakesUpToEightArguments) {
  auto f = [](const auto &...x) { return sum((... + x)); };
  Tensor one = ones({2});
  auto gradient = grad(f);
  expectValues(gradient(one), {1, 1});
  expectValues(gradient(one, one), {1, 1});
  expectValues(gradient(one, one, one), {1, 1});
  expectValues(gradient(one, one, one, one), {1, 1});
  expectValues(gradient(one, one, one, one, one), {1, 1});
  expectValues(gradient(one, one, one, one, one, one), {1, 1});
  expectValues(gradient(one, one, one, one, one, one, one), {1, 1});
  expectValues(gradient(one, one, one, one, one, one, one, one), {1, 1});
  expectValues(checkpoint([] { return ones({2}); })(), {1, 1});
}

TEST(Callable, ATupleMayBeTheOneArgument) {
  using Pair = std::tuple<Tensor, Tensor>;
  auto f = [](const Pair &t) { return sum(std::get<0>(t) * std::get<0>(t) * std::get<1>(t)); };
  Pair x(tensor<float>({1, 2}), tensor<float>({3, 4})), v(ones({2}), ones({2}));
  auto expectGradient = [](const Pair &gradient) {
    expectValues(std::get<0>(gradient), {6, 16});
    expectValues(std::get<1>(gradient), {1, 4});
  };
  expectGradient(grad(f)(x));
  expectGradient(value_and_grad(f)(x).second);
  expectGradient(function(grad(f))(x));
  expectGradient(vjp(f, x).second(scalar(1.0f)));
  Pair product = hvp(f)(x, v);
  expectValues(std::get<0>(product), {8, 12});
  expectValues(std::get<1>(product), {2, 4});
  expectValues(jvp(f, x, v).second, {27});
  // Of two arguments, a tuple has each.
  expectValues(jvp(scaled, x, v).second, {27});
}

TEST(Callable, TransformsTakeMutableLambdas) {
  int n = 0;
  auto f = [n](const Tensor &x) mutable { return sum(x * x) * ++n; };
  Tensor x = tensor<float>({1, 2}), rows = tensor<float>({1, 2, 3, 4}, {2, 2});
  auto gradient = grad(f);
  expectValues(gradient(x), {2, 4});
  expectValues(gradient(x), {4, 8}); // the copy counts on
  expectValues(value_and_grad(f)(x).first, {5});
  expectValues(vmap(f)(rows), {5, 25});
  expectValues(jacobian(f)(x), {2, 4});
  expectValues(hvp(f)(x, ones({2})), {2, 2});
  expectValues(hessian(f)(x), {2, 0, 0, 2});
  expectValues(checkpoint(f)(x), {5});
  expectValues(function(grad(f))(x), {2, 4});
  expectValues(jvp(f, x, ones({2})).second, {6});
  auto own = custom_gradient([n](const Tensor &a) mutable {
    Tensor y = a * ++n;
    return std::pair(y, [n](const Tensor &g) mutable { return g * (n += 6); });
  });
  expectValues(grad([&](const Tensor &a) { return sum(own(a)); })(x), {7, 7});
}

TEST(Callable, DefaultArgumentsMayBeLeftOut) {
  expectValues(vmap([](const Tensor &x, int n = 3) { return x * n; })(ones({2})), {3, 3});
}

TEST(Callable, WhatTakesALineGetsThatOfTheCall) {
  std::vector<unsigned> lines;
  auto f = [&](const Tensor &x, SourceLocation where = SourceLocation::current()) {
    lines.push_back(where.line);
    return x * 2;
  };
  unsigned first = __LINE__ + 1;
  function(f)(ones({2}));
  vmap(f)(ones({2}));
  jvp(f, ones({2}), ones({2}));
  function(vmap(vmap(f)))(ones({2, 2}));
  grad([&](const Tensor &x) { return sum(checkpoint(f)(x)); })(ones({2}));
  function(f).eager(ones({2}));
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_EQ(lines.at(i), first + i);
  EXPECT_EQ(lines.size(), 6u);
}

namespace {
struct Scaler {
  Method<Tensor(const Tensor &)> call{this, &Scaler::apply};
  Tensor apply(const Tensor &x) { return sum(x * x * w); }
  Variable w{2.0f};
};
} // namespace

TEST(Callable, AMethodIsTransformedAndWrappedAsItIs) {
  Scaler scaler;
  Tensor x = tensor<float>({1, 3}), rows = tensor<float>({1, 2, 3, 4}, {2, 2});
  expectValues(grad(scaler.call)(x), {4, 12});
  expectValues(value_and_grad(scaler.call)(x).first, {20});
  expectValues(vmap(scaler.call)(rows), {10, 50});
  expectValues(jacobian(scaler.call)(x), {4, 12});
  expectValues(hvp(scaler.call)(x, ones({2})), {4, 4});
  expectValues(hessian(scaler.call)(x), {4, 0, 0, 4});
  expectValues(checkpoint(scaler.call)(x), {20});
  expectValues(jvp(scaler.call, x, ones({2})).second, {16});
  expectValues(vjp(scaler.call, x).second(scalar(1.0f)), {4, 12});
  auto own = function(scaler.call);
  expectSignature<Tensor(const Tensor &)>(own);
  expectValues(own(x), {20});
  EXPECT_EQ(own.trace_count(), 1);
  EXPECT_EQ(scaler.call.trace_count(), 1) << "of grad and vmap, by one signature";
  scaler.w.assign(3);
  expectValues(own(x), {30}); // it calls the object
}

TEST(Callable, AReferenceIsKeptOfStdRef) {
  struct Counter {
    int *calls;
    Tensor factor;
    Tensor operator()(const Tensor &x) const {
      ++*calls;
      return sum(x * factor);
    }
  };
  int calls = 0;
  Counter counter{&calls, scalar(2.0f)};
  Tensor x = tensor<float>({1, 3});
  auto f = function(std::ref(counter));
  expectSignature<Tensor(const Tensor &)>(f);
  auto gradient = grad(std::cref(counter));
  counter.factor = scalar(5.0f);
  expectValues(f(x), {20});
  expectValues(gradient(x), {5, 5});
  expectValues(jvp(std::ref(counter), x, x).second, {20});
  EXPECT_EQ(calls, 3);
  Scaler scaler;
  expectValues(function(std::ref(scaler.call))(x), {20});
  expectValues(vmap(std::ref(scaler.call))(reshape(x, {1, 2})), {20});
  std::function<Tensor(const Tensor &)> nothing;
  EXPECT_CONTAINS(errorOf<StateError>([&] { grad(std::ref(nothing)); }), "grad: there is nothing to call");
}

TEST(Callable, AVariableIsItselfThroughAReferenceThatIsNotConst) {
  Tensor x = tensor<float>({1, 3});
  Variable v(2.0f);
  auto scaled = [](const Tensor &a, Variable &w) { return sum(a * w); };
  auto generic = [](auto a, auto &w) { return sum(a * w); };
  expectValues(grad(scaled)(x, v), {2, 2});
  expectValues(grad(generic)(x, v), {2, 2});
  expectValues(hessian(scaled)(x, v), {0, 0, 0, 0});
  auto step = function([](Variable &w) {
    w.assign_add(1);
    return w.value();
  });
  expectValues(step(v), {3});
  expectValues(step.eager(v), {4});
  expectValues(v.value(), {4});
}

TEST(Callable, TransformsPassCopies) {
  Tensor x = tensor<float>({1, 3});
  expectValues(grad([](Tensor a) { return sum(a = a * 2); })(x), {2, 2});
  expectValues(vmap([](auto a) { return a = a * 2; })(x), {2, 6});
  expectValues(checkpoint([](auto &&a) { return a = a * 2; })(x), {2, 6});
  expectValues(vmap([](Tensor &&a) { return a = a * 2; })(x), {2, 6});
  expectValues(x, {1, 3});
}

TEST(Callable, WhatCanOnlyBeMovedIsShared) {
  auto makeScaled = [] { return [factor = std::make_unique<int>(3)](const Tensor &x) { return x * *factor; }; };
  EXPECT_EQ(function(makeScaled())(scalar(2)).item<int>(), 6);
  EXPECT_EQ(function<Tensor(Tensor)>(makeScaled())(scalar(2)).item<int>(), 6);
  EXPECT_EQ(vmap(makeScaled())(tensor({1, 2})).to_vector<int>(), (std::vector<int>{3, 6}));
  EXPECT_EQ(function(grad(makeScaled()))(scalar(2.0f)).item<float>(), 3);
  EXPECT_EQ(host_call(makeScaled(), {scalar(2)}, {TensorSpec<int>({})}).item<int>(), 6);
  auto scaled = makeScaled();
  EXPECT_EQ(function(std::move(scaled))(scalar(2)).item<int>(), 6);
}

TEST(Callable, FunctionsThatAreAssignedLater) {
  struct Model {
    Function<Tensor(const Tensor &)> step;
  } model;
  EXPECT_CONTAINS(errorOf<StateError>([&] { model.step(scalar(1)); }), "function");
  model.step = function([](const Tensor &x) { return x + 1; });
  EXPECT_EQ(model.step(scalar(1)).item<int>(), 2);
  // Another signature that takes the same: the traces are the same.
  Function<Tensor(Tensor)> byValue = model.step;
  EXPECT_EQ(byValue(scalar(4)).item<int>(), 5);
  EXPECT_EQ(byValue.trace_count(), 1);
  byValue(ones({2}));
  EXPECT_EQ(model.step.trace_count(), 2);
  std::ostringstream text;
  text << byValue;
  EXPECT_EQ(text.str(), model.step.pretty_printed_concrete_signatures());
}
