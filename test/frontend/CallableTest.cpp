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
