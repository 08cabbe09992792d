// Branches and loops: the same eagerly and traced, with first derivatives.
#include "test/Tensors.h"

using namespace calque;
using namespace calque::testing;

namespace {

Tensor number(double value, DType dtype = DType::Float32) { return full({}, value, dtype); }

} // namespace

TEST(Cond, TakesOneBranch) {
  auto f = [](const Tensor &x) { return cond(sum(x) > 0, [&] { return x * 2; }, [&] { return -x; }); };
  EXPECT_EQ(valuesOf(both(f, tensor<float>({1, 2, 3}))), (std::vector<double>{2, 4, 6}));
  EXPECT_EQ(valuesOf(both(f, tensor<float>({1, -2, -3}))), (std::vector<double>{-1, 2, 3}));
}

TEST(Cond, GivesStructures) {
  auto f = [](const Tensor &p, const Tensor &x) {
    return cond(
        p, [&] { return std::pair(x + 1, std::vector<Tensor>{x, x * x}); },
        [&] { return std::pair(x - 1, std::vector<Tensor>{x * x, x}); });
  };
  for (bool p : {false, true}) {
    auto [a, list] = both(f, full({}, p, DType::Bool), tensor<double>({3, 4}));
    EXPECT_EQ(valuesOf(a), p ? (std::vector<double>{4, 5}) : (std::vector<double>{2, 3}));
    EXPECT_EQ(valuesOf(list[1]), p ? (std::vector<double>{9, 16}) : (std::vector<double>{3, 4}));
  }
}

TEST(Cond, NestsAndCaptures) {
  auto f = [](const Tensor &x) {
    Tensor y = x * 3;
    return cond(
        sum(x) > 0, [&] { return cond(sum(y) > 10, [&] { return y + x; }, [&] { return y - x; }); },
        [&] { return x * y; });
  };
  EXPECT_EQ(valuesOf(both(f, tensor<float>({1, 2}))), (std::vector<double>{2, 4}));
  EXPECT_EQ(valuesOf(both(f, tensor<float>({10, 2}))), (std::vector<double>{40, 8}));
  EXPECT_EQ(valuesOf(both(f, tensor<float>({-1, -2}))), (std::vector<double>{3, 12}));
}

TEST(Cond, ReadsAndAssignsVariables) {
  for (bool compiled : {false, true}) {
    Variable v(tensor<float>({1, 2})), w(number(5));
    auto f = [&](const Tensor &p) {
      cond(p, [&] { v.assign_add(w.value()); }, [&] { w.assign(w * 2); });
      return v + w;
    };
    std::function<Tensor(const Tensor &)> g = f;
    if (compiled)
      g = function(f);
    EXPECT_EQ(valuesOf(g(full({}, true, DType::Bool))), (std::vector<double>{11, 12}));
    EXPECT_EQ(valuesOf(v.value()), (std::vector<double>{6, 7}));
    EXPECT_EQ(valuesOf(g(full({}, false, DType::Bool))), (std::vector<double>{16, 17}));
    EXPECT_EQ(valuesOf(w.value()), (std::vector<double>{10}));
  }
}

TEST(Cond, HasGradients) {
  auto f = [](const Tensor &x) {
    Tensor y = x * x;
    return cond(sum(x) > 0, [&] { return sum(y * x); }, [&] { return sum(sin(y)); });
  };
  for (const Tensor &x : {tensor<double>({1, 2}), tensor<double>({-1, -2})}) {
    auto gradient = [&](const Tensor &at) { return grad(f)(at); };
    Tensor g = both(gradient, x);
    Tensor expected = valuesOf(x)[0] > 0 ? 3 * x * x : 2 * x * cos(x * x);
    for (int i = 0; i < 2; ++i)
      EXPECT_NEAR(valuesOf(g)[i], valuesOf(expected)[i], 1e-12);
    auto second = [&](const Tensor &at) { return hessian(f)(at); };
    Tensor h = both(second, x);
    EXPECT_NEAR(valuesOf(h)[1], 0, 1e-12);
    double a = valuesOf(x)[0];
    EXPECT_NEAR(valuesOf(h)[0], a > 0 ? 6 * a : 2 * std::cos(a * a) - 4 * a * a * std::sin(a * a), 1e-12);
  }
}

TEST(Cond, IsBatched) {
  auto f = [](const Tensor &x) { return cond(sum(x) > 0, [&] { return x * 2; }, [&] { return -x; }); };
  Tensor x = tensor<float>({1, 2, -1, -2, 3, -1}, {3, 2});
  auto batched = [&](const Tensor &all) { return vmap(f)(all); };
  EXPECT_EQ(valuesOf(both(batched, x)), (std::vector<double>{2, 4, 1, 2, 6, -2}));
}

TEST(SwitchCase, TakesTheLastBranchOfAnyOtherIndex) {
  auto f = [](const Tensor &i, const Tensor &x) {
    std::vector<std::function<Tensor()>> branches;
    for (int k = 0; k < 5; ++k)
      branches.push_back([=] { return x + 10 * k; });
    return switch_case(i, branches);
  };
  for (std::int64_t i : {-1, 0, 1, 2, 3, 4, 5, 1000}) {
    double expected = 1 + 10.0 * static_cast<double>(i < 0 || i > 4 ? 4 : i);
    EXPECT_EQ(valuesOf(both(f, full({}, i, DType::Int64), tensor<float>({1}))), (std::vector<double>{expected}));
  }
}

TEST(WhileLoop, RunsAsLongAsItsConditionHolds) {
  auto collatz = [](const Tensor &n) {
    auto [steps, last] = while_loop([](const Tensor &, const Tensor &x) { return x != 1; },
                                    [](const Tensor &i, const Tensor &x) {
                                      Tensor isEven = equal(x - (x / 2) * 2, 0);
                                      return std::tuple(i + 1, where(isEven, x / 2, 3 * x + 1));
                                    },
                                    std::tuple(full({}, 0, DType::Int64), n));
    return steps;
  };
  EXPECT_EQ(valuesOf(both(collatz, full({}, 27, DType::Int64))), (std::vector<double>{111}));
  EXPECT_EQ(valuesOf(both(collatz, full({}, 1, DType::Int64))), (std::vector<double>{0}));
}

TEST(WhileLoop, SwapsItsVariables) {
  auto f = [](const Tensor &a, const Tensor &b, const Tensor &n) {
    auto [x, y, i] =
        while_loop([&](const Tensor &, const Tensor &, const Tensor &i) { return i < n; },
                   [](const Tensor &x, const Tensor &y, const Tensor &i) { return std::tuple(y, x, i + 1); },
                   std::tuple(a, b, scalar(0)));
    return std::pair(x, y);
  };
  for (int n : {0, 1, 2, 7}) {
    auto [x, y] = both(f, tensor<float>({1, 2}), tensor<float>({3, 4}), scalar(n));
    EXPECT_EQ(valuesOf(x)[0], n % 2 ? 3 : 1);
    EXPECT_EQ(valuesOf(y)[0], n % 2 ? 1 : 3);
  }
}

// More than LLVM may have at the begin of one block.
TEST(WhileLoop, HasManyScalars) {
  auto f = [](const Tensor &a) {
    std::vector<Tensor> initial;
    for (int i = 0; i < 150; ++i)
      initial.push_back(a + static_cast<float>(i));
    std::vector<Tensor> last = while_loop([](const std::vector<Tensor> &x) { return x[0] < 10; },
                                          [](const std::vector<Tensor> &x) {
                                            std::vector<Tensor> next = x;
                                            for (Tensor &each : next)
                                              each = each + 1;
                                            return next;
                                          },
                                          initial);
    Tensor sum = last[0];
    for (std::size_t i = 1; i < last.size(); ++i)
      sum = sum + last[i];
    return sum;
  };
  EXPECT_EQ(valuesOf(both(f, number(0))), (std::vector<double>{150 * 10 + 150 * 149 / 2}));
}

TEST(WhileLoop, EndsAfterMaximumIterations) {
  auto f = [](const Tensor &x) {
    return while_loop([](const Tensor &y) { return y < 100; }, [](const Tensor &y) { return y * 2; }, x,
                      {.maximum_iterations = 3});
  };
  EXPECT_EQ(valuesOf(both(f, number(1))), (std::vector<double>{8}));
  EXPECT_EQ(valuesOf(both(f, number(60))), (std::vector<double>{120}));
}

TEST(WhileLoop, ReadsAndAssignsVariables) {
  for (bool isCompiled : {false, true}) {
    Variable v(number(1)), unread(number(0));
    auto f = [&](const Tensor &n) {
      Tensor i = while_loop([&](const Tensor &i) { return logical_and(i < n, v < 50); },
                            [&](const Tensor &i) {
                              v.assign(v * 2 + 1);
                              unread.assign(i * 1.0f);
                              return i + 1;
                            },
                            number(0));
      return i + v;
    };
    std::function<Tensor(const Tensor &)> g = f;
    if (isCompiled)
      g = function(f);
    EXPECT_EQ(valuesOf(g(number(3))), (std::vector<double>{18}));
    EXPECT_EQ(valuesOf(v.value()), (std::vector<double>{15}));
    EXPECT_EQ(valuesOf(unread.value()), (std::vector<double>{2}));
    EXPECT_EQ(valuesOf(g(number(100))), (std::vector<double>{65}));
    EXPECT_EQ(valuesOf(unread.value()), (std::vector<double>{1}));
  }
}

// Its reverse takes from a stack what the host has given, and does not ask again.
TEST(ForRange, HasGradientsThroughHostCalls) {
  int calls = 0;
  auto f = [&](const Tensor &w) {
    return for_range(0, 3, w * 0, [&](const Tensor &, const Tensor &s) {
      Tensor x = host_call(
          [&](std::span<const Tensor>) {
            ++calls;
            return tensor<double>({1.0 * calls, 0.5});
          },
          {}, {TensorSpec<double>({2})});
      return s * 0.5 + sum(square(w * x));
    });
  };
  for (auto derivative : {std::function<Tensor(const Tensor &)>(grad(f)), {grad(grad(f))}}) {
    calls = 0;
    double eager = derivative(scalar<double>(2.0)).item<double>();
    calls = 0;
    auto compiled = function(derivative);
    EXPECT_NEAR(compiled(scalar<double>(2.0)).item<double>(), eager, 1e-12 * eager);
    EXPECT_EQ(calls, 3);
  }
}

TEST(WhileLoop, HasGradients) {
  // n times sin(x) * w.
  auto f = [](const Tensor &x, const Tensor &w, const Tensor &n) {
    auto [i, y] = while_loop([&](const Tensor &i, const Tensor &) { return i < n; },
                             [&](const Tensor &i, const Tensor &y) { return std::tuple(i + 1, sin(y) * w); },
                             std::tuple(scalar(0), x));
    return sum(y);
  };
  auto unrolled = [](const Tensor &x, const Tensor &w, int n) {
    Tensor y = x;
    for (int i = 0; i < n; ++i)
      y = sin(y) * w;
    return sum(y);
  };
  Tensor x = tensor<double>({0.3, 0.7}), w = tensor<double>({1.2, 0.9});
  for (int n : {0, 1, 2, 5}) {
    auto gradients = [&](const Tensor &at, const Tensor &by, const Tensor &count) {
      GradientTape tape({.persistent = true});
      tape.watch(at);
      tape.watch(by);
      Tensor y = f(at, by, count);
      auto [dx, dw] = tape.gradient(y, std::pair(at, by), {.unconnected_gradients = UnconnectedGradients::Zero});
      return std::pair(*dx, *dw);
    };
    Tensor count = scalar(n);
    auto [dx, dw] = function(gradients)(x, w, count);
    auto g = grad([&](const Tensor &at) { return unrolled(at, w, n); })(x),
         h = grad([&](const Tensor &by) { return unrolled(x, by, n); })(w);
    for (int i = 0; i < 2; ++i) {
      EXPECT_NEAR(valuesOf(dx)[i], valuesOf(g)[i], 1e-12) << n;
      EXPECT_NEAR(valuesOf(dw)[i], valuesOf(h)[i], 1e-12) << n;
    }
    // To the second order, in all ways of composing.
    auto first = [&](const Tensor &at) { return f(at, w, count); };
    auto firstUnrolled = [&](const Tensor &at) { return unrolled(at, w, n); };
    Tensor h1 = function([&](const Tensor &at) { return hessian(first)(at); })(x),
           h2 = function([&](const Tensor &at) { return jacobian(grad(first))(at); })(x), e = hessian(firstUnrolled)(x);
    for (int i = 0; i < 4; ++i) {
      EXPECT_NEAR(valuesOf(h1)[i], valuesOf(e)[i], 1e-12) << n;
      EXPECT_NEAR(valuesOf(h2)[i], valuesOf(e)[i], 1e-12) << n;
    }
  }
}

TEST(WhileLoop, IsBatched) {
  auto f = [](const Tensor &x) {
    return while_loop([](const Tensor &y) { return sum(y) < 20; }, [](const Tensor &y) { return y * 2 + 1; }, x);
  };
  Tensor x = tensor<float>({1, 2, 10, 20, -1, 3, 0.5f, 3}, {4, 2});
  auto each = [&](const Tensor &all) { return vmap(f)(all); };
  Tensor y = function(each)(x);
  for (int i = 0; i < 4; ++i) {
    Tensor one = f(reshape(slice(x, {i, 0}, {i + 1, 2}), {2}));
    EXPECT_EQ(valuesOf(y)[2 * i], valuesOf(one)[0]);
    EXPECT_EQ(valuesOf(y)[2 * i + 1], valuesOf(one)[1]);
  }
}

TEST(ForRange, CountsUpAndDown) {
  auto f = [](const Tensor &n) {
    return for_range(2, n, number(0),
                     [](const Tensor &i, const Tensor &y) { return y * 10 + cast(i, DType::Float32); });
  };
  EXPECT_EQ(valuesOf(both(f, scalar(5))), (std::vector<double>{234}));
  EXPECT_EQ(valuesOf(both(f, scalar(1))), (std::vector<double>{0}));
  auto down = [](const Tensor &n) {
    return for_range(n, 0, std::tuple(number(0), number(1)),
                     [](const Tensor &i, const Tensor &y, const Tensor &z) {
                       return std::tuple(y * 10 + cast(i, DType::Float32), z * 2);
                     },
                     {.step = -2});
  };
  auto [y, z] = both(down, scalar(7));
  EXPECT_EQ(valuesOf(y), (std::vector<double>{7531}));
  EXPECT_EQ(valuesOf(z), (std::vector<double>{16}));
}

TEST(Scan, StacksResults) {
  for (bool reverse : {false, true}) {
    auto f = [=](const Tensor &xs) {
      return scan([](const Tensor &sum, const Tensor &x) { return std::pair(sum + x, std::pair(sum * x, x)); },
                  zeros({2}), xs, {.reverse = reverse});
    };
    auto [total, results] = both(f, tensor<float>({1, 2, 3, 4, 5, 6}, {3, 2}));
    EXPECT_EQ(valuesOf(total), (std::vector<double>{9, 12}));
    EXPECT_EQ(valuesOf(results.first),
              reverse ? (std::vector<double>{8, 20, 15, 24, 0, 0}) : (std::vector<double>{0, 0, 3, 8, 20, 36}));
    auto [none, empty] = both(f, zeros({0, 2}));
    EXPECT_EQ(empty.first.shape(), (Shape{0, 2}));
  }
}

TEST(Scan, HasGradients) {
  auto f = [](const Tensor &w, const Tensor &xs) {
    auto [h, hs] = scan(
        [&](const Tensor &h, const Tensor &x) {
          Tensor next = tanh(h * w + x);
          return std::pair(next, next * x);
        },
        zeros({2}, DType::Float64), xs);
    return sum(hs * hs) + sum(h);
  };
  Tensor w = tensor<double>({0.5, -0.3}), xs = tensor<double>({1, 2, 3, 4, 5, 6}, {3, 2}) * 0.1;
  check_gradients([&](const std::vector<Tensor> &in) { return function(f)(in[0], in[1]); }, {w, xs});
}

// A loop variable that no result depends on has no cotangents at all: a zero times its infinite derivative would be
// NaN.
TEST(WhileLoop, HasNoCotangentsOfVariablesThatNothingDependsOn) {
  auto steps = [](const Tensor &x) {
    auto two = [x](const Tensor &, const Tensor &kept, const Tensor &lost) {
      return std::tuple(kept * 1.5f, expm1(expm1(lost)) + 0 * kept);
    };
    auto [kept, lost] = for_range(0, 2, std::tuple(x, x), two);
    return kept;
  };
  auto swapped = [](const Tensor &x) { // each reaches the other
    auto [a, b] = for_range(0, 3, std::tuple(x, 2 * x),
                            [](const Tensor &, const Tensor &a, const Tensor &b) { return std::tuple(b * a, a); });
    return a;
  };
  Tensor x = tensor({7.f, 1.f});
  EXPECT_EQ(valuesOf(grad([&](const Tensor &x) { return sum(steps(x)); })(x)), (std::vector<double>{2.25, 2.25}));
  EXPECT_EQ(valuesOf(function(grad([&](const Tensor &x) { return sum(steps(x)); }))(x)),
            (std::vector<double>{2.25, 2.25}));
  // a: 2 x^2, 2 x^3, 4 x^5
  EXPECT_EQ(valuesOf(function(grad([&](const Tensor &x) { return sum(swapped(x)); }))(tensor({1.f, 2.f}))),
            (std::vector<double>{20, 320}));
}

TEST(MapFn, AndFold) {
  auto f = [](const Tensor &xs) {
    return std::pair(map_fn([](const Tensor &x) { return sum(x * x); }, xs),
                     fold([](const Tensor &product, const Tensor &x) { return product * x; }, ones({2}), xs));
  };
  auto [squares, product] = both(f, tensor<float>({1, 2, 3, 4, 5, 6}, {3, 2}));
  EXPECT_EQ(valuesOf(squares), (std::vector<double>{5, 25, 61}));
  EXPECT_EQ(valuesOf(product), (std::vector<double>{15, 48}));
}

// A loop that trains inside of one function.
TEST(ForRange, TrainsInsideOfAFunction) {
  for (bool isCompiled : {false, true}) {
    Variable w(zeros({2}), {.name = "w"});
    Tensor x = tensor<float>({1, 0, 0, 1, 1, 1}, {3, 2}), y = tensor<float>({1, 2, 3});
    auto train = [&](const Tensor &steps) {
      return for_range(0, steps, number(0), [&](const Tensor &, const Tensor &) {
        GradientTape tape;
        Tensor error = sum(x * w, {1}) - y, loss = sum(error * error);
        Tensor gradient = tape.gradient(loss, w).value();
        w.assign_sub(gradient * 0.1f);
        return loss;
      });
    };
    std::function<Tensor(const Tensor &)> run = train;
    if (isCompiled)
      run = function(train);
    Tensor loss = run(scalar(400));
    EXPECT_LT(valuesOf(loss)[0], 0.01);
    EXPECT_NEAR(valuesOf(w.value())[0], 1, 0.1);
    EXPECT_NEAR(valuesOf(w.value())[1], 2, 0.1);
  }
}

TEST(ControlFlow, DrawsOtherNumbersInEachIteration) {
  std::vector<std::vector<double>> found;
  for (bool isCompiled : {false, true}) {
    random::Generator generator(7);
    auto f = [&](const Tensor &n) {
      return for_range(0, n, zeros({3}),
                       [&](const Tensor &, const Tensor &y) { return y * 2 + generator.uniform({3}); });
    };
    std::function<Tensor(const Tensor &)> run = f;
    if (isCompiled)
      run = function(f);
    found.push_back(valuesOf(run(scalar(4))));
    found.push_back(valuesOf(run(scalar(2))));
  }
  EXPECT_EQ(found[0], found[2]);
  EXPECT_EQ(found[1], found[3]);
}

// Sizes that only the call knows: a branch's results have those of what it takes.
TEST(Cond, TakesOpenSizes) {
  auto f = function(
      [](const Tensor &x, const Tensor &y, const Tensor &p) {
        Tensor twice = concat({x, x});
        return cond(
            p, [&] { return std::tuple(x * 2 + y, matmul(x, transpose(y, {1, 0})), twice); },
            [&] { return std::tuple(y, zeros({1}) + matmul(y, transpose(x, {1, 0})), twice + 1); });
      },
      {.input_signature = {TensorSpec<float>({kDynamic, 2}), TensorSpec<float>({kDynamic, 2}), TensorSpec<bool>({})}});
  for (int n : {1, 3}) {
    Tensor x = ones({n, 2}), y = full({n, 2}, 3);
    auto [a, b, c] = f(x, y, full({}, true, DType::Bool));
    EXPECT_EQ(a.shape(), (Shape{n, 2}));
    EXPECT_EQ(b.shape(), (Shape{n, n}));
    EXPECT_EQ(c.shape(), (Shape{2 * n, 2}));
    EXPECT_EQ(valuesOf(a)[0], 5);
    EXPECT_EQ(valuesOf(b)[0], 6);
    EXPECT_EQ(valuesOf(std::get<2>(f(x, y, full({}, false, DType::Bool))))[0], 2);
  }
}

// The size of what a branch gives follows from sizes around, and is that of nothing around; the branches may even
// differ.
TEST(Cond, GivesSizesThatNothingAroundHas) {
  auto choose = [](const Tensor &x, const Tensor &p) {
    return cond(
        p, [&] { return reshape(x, {-1}) * 2; }, [&] { return concat({reshape(x, {-1}), reshape(x + 1, {-1})}); });
  };
  auto loss = [&](const Tensor &x, const Tensor &p) { return sum(square(choose(x, p))); };
  FunctionOptions open{.input_signature = {TensorSpec<float>({kDynamic, 2}), TensorSpec<bool>({})}};
  auto f = function(choose, open);
  auto slope = function(grad(loss), open);
  for (int n : {1, 3})
    for (bool p : {true, false}) {
      const Tensor x = full({n, 2}, 3.0), decision = full({}, p, DType::Bool);
      Tensor y = f(x, decision);
      EXPECT_EQ(y.shape(), (Shape{p ? 2 * n : 4 * n}));
      EXPECT_EQ(valuesOf(y), valuesOf(choose(x, decision)));
      EXPECT_EQ(valuesOf(slope(x, decision)), valuesOf(slope.eager(x, decision)));
    }
}

// Whichever branch has a size that is known around, and however deep the others are.
TEST(Cond, GivesSizesThatOneBranchAloneHas) {
  using Choose = std::function<Tensor(const Tensor &)>;
  const Choose choices[] = {
      [](const Tensor &b) { return cond(sum(b) > 8, [&] { return b; }, [&] { return concat({b, b}); }); },
      [](const Tensor &b) { return cond(sum(b) > 8, [&] { return concat({b, b}); }, [&] { return b * 2; }); },
      [](const Tensor &b) {
        return cond(
            sum(b) > 8, [&] { return b; },
            [&] { return cond(sum(b) < 0, [&] { return concat({b, b}); }, [&] { return b * 3; }); });
      },
      [](const Tensor &b) {
        return switch_case(cast(sum(b), DType::Int32) / 4,
                           std::vector<std::function<Tensor()>>{[&] { return b * 2; }, [&] { return concat({b, b}); },
                                                                [&] { return b; }});
      },
      [](const Tensor &b) {
        if (sum(b) > 8)
          return b * 2;
        if (sum(b) < 0)
          return concat({b, b});
        return b * 1;
      },
      [](const Tensor &b) {
        return for_range(0, 3, sum(b), [&](const Tensor &, const Tensor &total) {
          return total + sum(cond(total > 8, [&] { return b; }, [&] { return concat({b, b}); }));
        });
      }};
  for (std::size_t i = 0; i < std::size(choices); ++i) {
    auto f = function<Tensor(const Tensor &)>(choices[i], {.input_signature = {TensorSpec<float>({kDynamic})}});
    for (const Tensor &b : {tensor({1.0f, 2.0f}), tensor({5.0f, 6.0f, 1.0f}), tensor({-5.0f, 1.0f}), tensor({4.0f})}) {
      SCOPED_TRACE(i);
      EXPECT_EQ(f(b).shape(), choices[i](b).shape());
      EXPECT_EQ(valuesOf(f(b)), valuesOf(choices[i](b)));
    }
  }
}

TEST(WhileLoop, TakesOpenSizes) {
  auto f = function(
      [](const Tensor &x) {
        auto [i, y] = while_loop([](const Tensor &i, const Tensor &) { return i < 3; },
                                 [&](const Tensor &i, const Tensor &y) { return std::tuple(i + 1, y * 2 + x); },
                                 std::tuple(scalar(0), x));
        return std::pair(y, grad([](const Tensor &at) {
                           return sum(while_loop([](const Tensor &z) { return sum(z) < 100; },
                                                 [](const Tensor &z) { return z * z + 1; }, at));
                         })(x));
      },
      {.input_signature = {TensorSpec<float>({kDynamic})}});
  for (int n : {1, 2, 5}) {
    auto [y, dy] = f(ones({n}));
    EXPECT_EQ(valuesOf(y), std::vector<double>(static_cast<std::size_t>(n), 15));
    EXPECT_EQ(dy.shape(), (Shape{n}));
    EXPECT_GT(valuesOf(dy)[0], 1);
  }
}

TEST(SwitchCase, ComparesHostValues) {
  auto f = [](int divisor) {
    return [=](const Tensor &i) {
      std::vector<std::function<std::pair<Tensor, int>()>> branches;
      for (int k = 0; k < 4; ++k)
        branches.push_back([=] { return std::pair(scalar(static_cast<float>(k)), 7 + k / divisor); });
      auto [x, n] = switch_case(i, branches);
      return x * n;
    };
  };
  EXPECT_EQ(valuesOf(both(f(4), scalar(2))), (std::vector<double>{14}));
  EXPECT_THROW(function(f(2))(scalar(0)), ValueError);
}

TEST(Scan, ComparesOpenNumbersOfSlices) {
  auto sums = function(
      [](const Tensor &x, const Tensor &y) {
        return map_fn([](const std::pair<Tensor, Tensor> &row) { return row.first + row.second; }, std::pair(x, y));
      },
      {.input_signature = {TensorSpec<float>({kDynamic}), TensorSpec<float>({kDynamic})}});
  EXPECT_EQ(valuesOf(sums(ones({3}), ones({3}))), (std::vector<double>{2, 2, 2}));
  EXPECT_THROW(sums(ones({2}), ones({3})), AssertionError);
  EXPECT_THROW(sums(ones({3}), ones({2})), AssertionError);
}

// As in a trace, a tape in the body tells the loop variable from what the loop began with.
TEST(ControlFlow, GivesBodiesTensorsOfTheirOwn) {
  auto f = [](const Tensor &x) {
    return for_range(0, 2, x, [&](const Tensor &, const Tensor &y) {
      GradientTape tape;
      tape.watch(x);
      return tape.gradient(sum(y * x), x).value() * 2;
    });
  };
  both(f, tensor<float>({1, 4}));
}

// Also what a branch or an iteration gives twice, or has from around: a tape tells these from each other.
TEST(ControlFlow, GivesTensorsOfItsOwn) {
  auto isConnected = [](const std::pair<Tensor, Tensor> &xy) {
    GradientTape tape;
    tape.watch(xy.first);
    auto gradient = tape.gradient(xy.second * 2, xy.first);
    return std::vector<Tensor>{scalar(gradient.has_value())};
  };
  auto twice = [](const Tensor &x) { return std::pair(x, x); };
  auto once = [&](const Tensor &x) {
    return isConnected(cond(x > 0, [&] { return twice(x + 1); }, [&] { return twice(x); }));
  };
  auto choose = [&](const Tensor &x) {
    std::vector<std::function<std::pair<Tensor, Tensor>()>> branches{[&] { return twice(x); },
                                                                     [&] { return twice(x + 1); }};
    return isConnected(switch_case(cast(x, DType::Int32), branches));
  };
  auto loop = [&](const Tensor &x) {
    return isConnected(for_range(
        0, 2, twice(x), [&](const Tensor &, const std::pair<Tensor, Tensor> &y) { return twice(y.first + 1); }));
  };
  auto inside = [&](const Tensor &x) {
    return for_range(0, 3, std::pair(twice(x), full({}, false, DType::Bool)),
                     [&](const Tensor &, const std::pair<std::pair<Tensor, Tensor>, Tensor> &y) {
                       return std::pair(twice(x), logical_or(y.second, isConnected(y.first)[0]));
                     })
        .second;
  };
  auto carry = [&](const Tensor &x) {
    return isConnected(fold([&](const std::pair<Tensor, Tensor> &y, const Tensor &z) { return twice(y.first + z); },
                            twice(x), concat({expand_dims(x, {0}), expand_dims(x, {0})})));
  };
  for (double at : {-1.0, 0.0, 2.0}) {
    Tensor x = number(at);
    EXPECT_EQ(valuesOf(both(once, x)[0])[0], 0) << at;
    EXPECT_EQ(valuesOf(both(choose, x)[0])[0], 0) << at;
    EXPECT_EQ(valuesOf(both(loop, x)[0])[0], 0) << at;
    EXPECT_EQ(valuesOf(both(inside, x))[0], 0) << at;
    EXPECT_EQ(valuesOf(both(carry, x)[0])[0], 0) << at;
  }
}
