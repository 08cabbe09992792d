// What eager tapes keep, and what they compile: each operation once, whatever it stands in.
#include "Testing.h"

#include "frontend/compiled/CompilationCount.h"
#include "frontend/core/Apply.h"

using namespace calque;
using namespace calque::testing;
using calque::detail::compilationCount;

namespace {
// The gradients of a recurrence of so many steps.
std::pair<Tensor, Tensor> recurrence(const Tensor &x, const Tensor &w, int steps) {
  GradientTape tape;
  tape.watch(x);
  tape.watch(w);
  Tensor h = x;
  for (int i = 0; i < steps; ++i)
    h = tanh(matmul(h, w) + x) * 0.5f;
  auto [dx, dw] = tape.gradient(sum(h), std::pair(x, w));
  return {*dx, *dw};
}
} // namespace

TEST(EagerTape, CompilesNoSequenceOfOperationsAnew) {
  Tensor x = tensor<float>({0.1f, 0.2f, 0.3f, -0.4f, 0.5f, 0.6f}, {2, 3}), w = full({3, 3}, 0.25f);
  auto compiled = function(recurrence);
  recurrence(x, w, 1);
  std::uint64_t before = compilationCount();
  for (int steps = 2; steps < 100; ++steps)
    recurrence(x, w, steps);
  EXPECT_LE(compilationCount() - before, 1u); // the sum of two cotangents
  for (int steps : {1, 2, 7}) {
    auto [dx, dw] = recurrence(x, w, steps);
    auto [cx, cw] = compiled(x, w, steps);
    expectSameBits(dx, cx);
    expectSameBits(dw, cw);
  }
}

// Sequences of 60 lengths: the rows' derivative has another shape in each, and another position in each step.
TEST(EagerTape, CompilesSequencesOfAllLengthsByOneProgram) {
  Tensor w = full({3, 3}, 0.25f), u = full({2, 3}, 0.5f);
  auto gradients = [&](const Tensor &rows) {
    GradientTape tape;
    tape.watch(w);
    tape.watch(rows);
    Tensor h = zeros({1, 3});
    for (std::int64_t t = 0; t < rows.shape()[0]; ++t)
      h = tanh(matmul(h, w) + matmul(slice(rows, {t, 0}, {t + 1, 2}), u));
    return tape.gradient(sum(h * h), std::pair(w, rows));
  };
  auto sequence = [](std::int64_t length) {
    return reshape(cast(iota({2 * length}, DType::Int32), DType::Float32) * 0.125f, {length, 2});
  };
  for (int length = 1; length < 12; ++length)
    gradients(sequence(length));
  std::uint64_t before = compilationCount();
  for (int length = 12; length < 60; ++length)
    gradients(sequence(length));
  EXPECT_LE(compilationCount() - before, 4u);
  auto [dw, drows] = gradients(sequence(23));
  auto [cw, crows] = function(gradients)(sequence(23));
  for (auto [eager, compiled] : {std::pair(*dw, *cw), std::pair(*drows, *crows)})
    for (std::int64_t i = 0; i < eager.size(); ++i)
      EXPECT_NEAR(eager.data<float>()[i], compiled.data<float>()[i], 1e-5 * (1 + std::abs(compiled.data<float>()[i])));
}

// The same for whole operations of further shapes, also where a shape is an attribute, and for Jacobians.
TEST(EagerTape, CompilesOperationsOfAllShapesByOneProgram) {
  auto sample = [](std::int64_t rows) {
    return reshape(cast(iota({3 * rows}, DType::Int32), DType::Float64) * 0.1, {rows, 3});
  };
  auto body = [](const Tensor &x) {
    Tensor repeated = broadcast_to(expand_dims(x, {0}), {2, x.shape()[0], 3});
    return softmax(sum(repeated * x, {0})) + exp(-x) * mean(x, {1}, true);
  };
  auto gradient = [&](const Tensor &x) {
    GradientTape tape({.persistent = true});
    tape.watch(x);
    Tensor y = body(x);
    return std::pair(*tape.gradient(y, x), *tape.batch_jacobian(y, x));
  };
  for (std::int64_t rows = 2; rows < 14; ++rows)
    gradient(sample(rows));
  std::uint64_t before = compilationCount();
  for (std::int64_t rows = 14; rows < 40; ++rows)
    gradient(sample(rows));
  EXPECT_EQ(compilationCount(), before);
  auto [dx, jacobian] = gradient(sample(21));
  auto [cx, cjacobian] = function(gradient)(sample(21));
  for (auto [eager, compiled] : {std::pair(dx, cx), std::pair(jacobian, cjacobian)})
    for (std::int64_t i = 0; i < eager.size(); ++i)
      EXPECT_NEAR(eager.data<double>()[i], compiled.data<double>()[i],
                  1e-12 * (1 + std::abs(compiled.data<double>()[i])));
}

TEST(EagerTape, CompilesNothingForFurtherTargets) {
  Tensor x = tensor<double>({0.3, -0.7, 1.1});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  std::vector<Tensor> targets;
  Tensor y = x;
  for (int i = 0; i < 40; ++i)
    targets.push_back(sum(y = sin(y) * x));
  tape.gradient(targets[2], x);
  std::uint64_t before = compilationCount();
  for (const Tensor &target : targets)
    EXPECT_TRUE(tape.gradient(target, x));
  EXPECT_EQ(compilationCount(), before);
}

TEST(EagerTape, CompilesTheGradientOfAFunctionOnce) {
  auto f = function([](const Tensor &x) { return sin(x) * x; });
  Tensor x = tensor<float>({1, 2, 3});
  auto nested = [&](int calls) {
    GradientTape tape;
    tape.watch(x);
    Tensor y = x;
    for (int i = 0; i < calls; ++i)
      y = f(y);
    return *tape.gradient(sum(y), x);
  };
  nested(2);
  std::uint64_t before = compilationCount();
  for (int calls = 3; calls < 20; ++calls)
    nested(calls);
  EXPECT_EQ(compilationCount(), before);
}

// A tensor that only the tape holds, for as long as its derivatives need it.
TEST(EagerTape, KeepsWhatDerivativesTakeUntilItsGradient) {
  using Weak = std::weak_ptr<const detail::TensorImpl>;
  Tensor x = ones({4});
  GradientTape tape;
  tape.watch(x);
  auto held = [](const Tensor &x) { return Weak(x.impl()); };
  Tensor a = x * 2.f;     // known by its factor, 2
  Tensor b = a + 1.f;     // takes nothing
  Tensor c = exp(b);      // takes its result
  Tensor d = c * x;       // takes both operands
  Tensor e = sum(d, {0}); // takes nothing
  Tensor f = reshape(e, {1, 1});
  std::vector<Weak> dropped{held(a), held(b), held(d), held(e)}, kept{held(c)};
  a = b = c = d = e = Tensor();
  for (const Weak &each : dropped)
    EXPECT_TRUE(each.expired()) << &each - dropped.data();
  EXPECT_FALSE(kept[0].expired());
  expectValues(*tape.gradient(f, x), {60.256611f, 60.256611f, 60.256611f, 60.256611f}); // 3 exp(3)
  EXPECT_TRUE(kept[0].expired());
}

// A product is recorded for the sake of one factor, and the other is watched later.
TEST(EagerTape, KeepsWhatATensorNeedsThatIsWatchedLater) {
  auto body = [](const Tensor &a, const Tensor &b) {
    GradientTape tape;
    tape.watch(a);
    Tensor y = a * 3.f * b;
    tape.watch(b);
    return tape.gradient(sum(y + b * b), std::pair(a, b));
  };
  Tensor a = tensor<float>({2, 5}), b = tensor<float>({7, 11});
  auto [da, db] = body(a, b);
  auto [ca, cb] = function(body)(a, b);
  expectValues(*da, {21, 33});
  expectValues(*db, {20, 37});
  expectSameBits(*da, *ca);
  expectSameBits(*db, *cb);
}

// The reverse of sigmoid takes its result and not x, and the second derivative is with respect to x.
TEST(EagerTape, DifferentiatesThroughWhatItHasNotKept) {
  Tensor x = tensor<double>({-1, 0.5});
  GradientTape outer;
  outer.watch(x);
  std::optional<Tensor> dx;
  {
    GradientTape inner;
    inner.watch(x);
    Tensor y = sum(sigmoid(x + 0.0));
    dx = inner.gradient(y, x);
  }
  Tensor second = *outer.gradient(sum(*dx), x), s = sigmoid(x);
  Tensor expected = s * (1.0 - s) * (1.0 - 2.0 * s);
  for (int i = 0; i < 2; ++i)
    EXPECT_NEAR(second.data<double>()[i], expected.data<double>()[i], 1e-12);
}

// The second argument is the square root of zeros, whose derivative is infinite: a cotangent of zeros would give NaN.
TEST(EagerTape, PassesNoCotangentWhereAFunctionHasNoPath) {
  auto first = function([](const Tensor &a, const Tensor &b) { return std::pair(a * 2.f, b * 3.f); });
  auto stopped = function([](const Tensor &a, const Tensor &b) { return a * 2.f + stop_gradient(b); });
  auto unused = function([](const Tensor &a, const Tensor &) { return a * 2.f; });
  auto ofDerivative = function([](const Tensor &a, const Tensor &b) {
    return grad([](const Tensor &x, const Tensor &y) { return sum(x * x + y); })(a, b);
  });
  auto mapped = vmap([](const Tensor &a, const Tensor &b) { return std::pair(a * 2.f, b); });
  Tensor x = zeros({2});
  for (auto &call : std::vector<std::function<Tensor(const Tensor &)>>{
           [&](const Tensor &a) { return first(a, sqrt(a)).first; },
           [&](const Tensor &a) { return stopped(a, sqrt(a)); },
           [&](const Tensor &a) { return unused(a, sqrt(a)); },
           [&](const Tensor &a) { return ofDerivative(a, sqrt(a)); },
           [&](const Tensor &a) { return mapped(a, sqrt(a)).first; },
       }) {
    GradientTape tape({.persistent = true});
    tape.watch(x);
    Tensor y = call(x);
    expectValues(tape.gradient(y, x).value(), {2, 2});
    expectValues(tape.jacobian(y, x).value(), {2, 0, 0, 2});
  }
}

// Of `like` only the sizes count: what it was computed from has no path to the result.
TEST(EagerTape, PassesNoCotangentToSizes) {
  auto isConnected = [](const std::function<Tensor(const Tensor &)> &f) {
    auto ask = [&](const Tensor &x) {
      GradientTape outer, inner({.persistent = true});
      outer.watch(x);
      inner.watch(x);
      std::optional<Tensor> dx = inner.gradient(f(x), x);
      return std::pair(dx.has_value(), dx && outer.gradient(*dx, x));
    };
    std::pair<bool, bool> eager = ask(zeros({2})), traced;
    function([&](const Tensor &x) {
      traced = ask(x);
      return x;
    })(zeros({2}));
    EXPECT_EQ(eager, traced);
    return eager;
  };
  auto sumLike = [](const Tensor &x, const Tensor &like) {
    Tensor operands[] = {x, like};
    return detail::applyAll(schema::OpId::SumLike, operands, {}, SourceLocation::current())[0];
  };
  EXPECT_EQ(isConnected([&](const Tensor &x) { return sumLike(x, sqrt(x)); }), std::pair(true, false));
  EXPECT_EQ(isConnected([&](const Tensor &x) { return sumLike(sqrt(x), x); }), std::pair(true, true));
  EXPECT_EQ(isConnected([&](const Tensor &x) { return sumLike(ones({2}), sqrt(x)); }), std::pair(false, false));
}

// No gradient passes from a read to the value that was assigned; the read is a source of its own.
TEST(EagerTape, FollowsWhatAFunctionReadsOfAVariableThatItHasAssigned) {
  Variable v(tensor<float>({2, 3}));
  auto f = function([&](const Tensor &x) {
    Tensor before = v * x;
    v.assign(x * x);
    return before + exp(v * 0.f) * v * 10.f;
  });
  Tensor x = tensor<float>({5, 7});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  Tensor y = sum(f(x));
  expectValues(*tape.gradient(y, v), {15, 17});
  expectValues(*tape.gradient(y, x), {2, 3});
}

TEST(EagerTape, JacobiansAreTheSameWalk) {
  Tensor x = tensor<double>({0.5, -1, 2, 0.25, 3, -2}, {2, 3});
  auto f = function([](const Tensor &a) { return tanh(a) * sum(a, {1}, true); });
  for (bool isCompiled : {false, true}) {
    SCOPED_TRACE(isCompiled);
    GradientTape tape({.persistent = true});
    tape.watch(x);
    Tensor y = isCompiled ? f(x) : f.eager(x);
    Tensor whole = *tape.jacobian(y, x), each = *tape.batch_jacobian(y, x);
    ASSERT_EQ(whole.shape(), Shape({2, 3, 2, 3}));
    ASSERT_EQ(each.shape(), Shape({2, 3, 3}));
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 3; ++j)
        for (int k = 0; k < 2; ++k)
          for (int l = 0; l < 3; ++l) {
            double a = x.data<double>()[i * 3 + j], total = 0;
            for (int m = 0; m < 3; ++m)
              total += x.data<double>()[i * 3 + m];
            double t = std::tanh(a), expected = i != k ? 0 : (j == l ? (1 - t * t) * total : 0) + t;
            EXPECT_NEAR(whole.data<double>()[((i * 3 + j) * 2 + k) * 3 + l], expected, 1e-12);
            if (i == k) {
              EXPECT_NEAR(each.data<double>()[(i * 3 + j) * 3 + l], expected, 1e-12);
            }
          }
  }
}

TEST(EagerTape, GradientsAreTensorsOfTheirOwn) {
  Tensor x = tensor<float>({1, 2}), z = tensor<float>({3, 4}), seed = tensor<float>({5, 6});
  GradientTape tape;
  tape.watch(x);
  tape.watch(z);
  std::vector<std::optional<Tensor>> gradients = tape.gradient(x + z, {x, z}, {seed});
  EXPECT_NE(gradients[0]->impl(), seed.impl());
  EXPECT_NE(gradients[1]->impl(), seed.impl());
  EXPECT_NE(gradients[0]->impl(), gradients[1]->impl());
  expectValues(*gradients[0], {5, 6});
  expectValues(*gradients[1], {5, 6});
}

namespace {
using Parts = std::function<Tensor(const Tensor &)>;
// Sums of functions of parts of x: of parts that overlap, of the same part twice, in steps and backwards, and of x.
const std::vector<std::pair<const char *, Parts>> &sumsOfParts() {
  static const std::vector<std::pair<const char *, Parts>> all = {
      {"rows",
       [](const Tensor &x) {
         Tensor total = sum(x[3]);
         for (std::int64_t i = 0; i < 10; ++i)
           total = total + sum(square(x[i]) * x[(i * 7) % 10]);
         return total;
       }},
      {"windows",
       [](const Tensor &x) {
         Tensor total = sum(sin(x));
         for (std::int64_t i = 0; i + 2 < 10; ++i)
           total = total + sum(square(x.rows(i, i + 3)));
         return total * sum(x);
       }},
      {"columns",
       [](const Tensor &x) {
         Tensor total = scalar<double>(0.0);
         for (std::int64_t i = 0; i < 5; ++i)
           total = total + sum(square(slice(x, {23 - 2 * i, i}, {24 - 2 * i, 10}, {1, 2})));
         return total;
       }},
      {"gathered",
       [](const Tensor &x) {
         Tensor total = scalar<double>(0.0);
         for (std::int32_t i = 0; i < 5; ++i)
           total = total + sum(square(gather(x, scalar(i))) + gather(x, tensor({i % 10}), 1)) +
                   sum(exp(gather(x, tensor<std::int64_t>({i, 23 - i}))));
         return total;
       }},
      {"iterated",
       [](const Tensor &x) {
         Tensor total = x[0];
         for (Tensor row : x)
           total = total * 0.5 + row * row;
         return sum(total);
       }},
      {"split",
       [](const Tensor &x) {
         std::vector<Tensor> parts = split(x, std::vector<std::int64_t>(24, 1), 0);
         return sum(square(parts[3])) + sum(parts[3] * parts[23]) + sum(x * parts[5]);
       }},
  };
  return all;
}
} // namespace

TEST(EagerTape, AddsTheCotangentsOfParts) {
  const Tensor x = sin(reshape(iota({24 * 10}, DType::Float64), {24, 10}) * 1.7);
  for (const auto &[name, loss] : sumsOfParts()) {
    SCOPED_TRACE(name);
    // Those of an inner tape are seen by an outer one.
    auto second = [&loss = loss](const Tensor &at) { return sum(square(grad(loss)(at))); };
    for (const Parts &f : {loss, Parts(second)}) {
      const std::vector<double> found = valuesOf(grad(f)(x)), expected = valuesOf(function(grad(f))(x));
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_NEAR(found[i], expected[i], 1e-11 * (1 + std::fabs(expected[i]))) << i;
    }
  }
}

// Of many parts, put together and cut again: the same as gathered ones.
TEST(EagerTape, PassesCotangentsThroughLongConcatenationsAndSplits) {
  const Tensor x = sin(reshape(iota({24 * 3}, DType::Float64), {24, 3}) * 1.7);
  std::vector<std::int64_t> from;
  for (std::int64_t i = 0; i < 100; ++i)
    from.push_back(i * 5 % 24);
  auto cut = [&](const Tensor &at) {
    std::vector<Tensor> parts = split(at, std::vector<std::int64_t>(24, 1), 0), more;
    for (std::int64_t i : from)
      more.push_back(parts[static_cast<std::size_t>(i)] * 1.5);
    std::vector<Tensor> again = split(concat(more), std::vector<std::int64_t>(100, 1), 0);
    return sum(exp(again[7])) + sum(square(sin(concat({again.begin() + 10, again.end()}))));
  };
  auto gathered = [&](const Tensor &at) {
    const Tensor all = gather(at, tensor(from)) * 1.5;
    return sum(exp(all[7])) + sum(square(sin(all.rows(10, 100))));
  };
  auto second = [](const auto &f) { return [&f](const Tensor &at) { return sum(square(grad(f)(at))); }; };
  auto near = [](const Tensor &found, const Tensor &expected) {
    EXPECT_LT(max(abs(found - expected)).item<double>(), 1e-10 * (1 + max(abs(expected)).item<double>()));
  };
  near(grad(cut)(x), grad(gathered)(x));
  near(grad(second(cut))(x), grad(second(gathered))(x));
}

// They are added in place, but never in memory that anything else has.
TEST(EagerTape, AddsNoCotangentToWhatOthersHave) {
  const Tensor x = ones({16, 2}), z = ones({16, 2}), seed = full({16, 2}, 3.0);
  GradientTape tape;
  tape.watch(x);
  tape.watch(z);
  Tensor both = x + z, flat = reshape(x, {32}), own = x * 1;
  std::vector<Tensor> gradients;
  for (const std::optional<Tensor> &each :
       tape.gradient(std::vector<Tensor>{own, own[1], both, x[2], flat, z[3]}, std::vector<Tensor>{own, x, z, flat},
                     {.output_gradients = {seed, ones({2}), seed, ones({2}), full({32}, 5.0), ones({2})}}))
    gradients.push_back(*each);
  auto rows = [&](const Tensor &of) {
    std::vector<double> values = valuesOf(of), firsts;
    for (std::size_t i = 0; i < 5; ++i)
      firsts.push_back(values[i * (values.size() / 16)]);
    return firsts;
  };
  using Numbers = std::vector<double>;
  EXPECT_EQ(rows(seed), (Numbers{3, 3, 3, 3, 3}));
  EXPECT_EQ(rows(gradients[0]), (Numbers{3, 4, 3, 3, 3}));
  EXPECT_EQ(rows(gradients[1]), (Numbers{11, 12, 12, 11, 11}));
  EXPECT_EQ(rows(gradients[2]), (Numbers{3, 3, 3, 4, 3}));
  EXPECT_EQ(rows(gradients[3]), (Numbers{5, 5, 5, 5, 5}));
}

// With a cotangent of x's size for each part these would be 64 GB each, and with a look at all operands for each of a
// concatenation 10 minutes.
TEST(EagerTape, HasCheapGradientsOfManyParts) {
  const std::int64_t count = 4000;
  const Tensor x = ones({count, 1024});
  const std::vector<std::pair<const char *, Parts>> all = {
      {"rows",
       [&](const Tensor &at) {
         Tensor total = scalar(0.0f);
         for (std::int64_t i = 0; i < count; ++i)
           total = total + sum(at[i]);
         return total;
       }},
      {"split", [&](const Tensor &at) { return sum(split(at, std::vector<std::int64_t>(count, 1), 0)[7]); }},
      {"iterated",
       [&](const Tensor &at) {
         Tensor total = scalar(0.0f);
         for (Tensor row : at)
           total = total + sum(row);
         return total;
       }},
  };
  for (const auto &[name, loss] : all) {
    SCOPED_TRACE(name);
    EXPECT_EQ(sum(grad(loss)(x)).item<float>(), std::string(name) == "split" ? 1024 : 1024 * count);
  }
  std::vector<Tensor> parts(static_cast<std::size_t>(5 * count), ones({1}));
  GradientTape tape;
  for (Tensor &part : parts)
    tape.watch(part = part * 1);
  for (const std::optional<Tensor> &gradient : tape.gradient(sum(square(concat(parts))), parts))
    ASSERT_EQ(gradient->item<float>(), 2);
}
