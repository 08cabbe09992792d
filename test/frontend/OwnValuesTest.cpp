// What functions and transformations take and give are values of their own: a derivative tells them apart, where the
// lambda has one value for both.
#include "Composition.h"

using namespace calque;
using namespace calque::testing;

namespace {

// d/db of a b for an `a` that does not depend on `b`: a. It were 2 a if they were one value.
Tensor derivativeOfProduct(const Tensor &a, const Tensor &b) {
  GradientTape tape;
  tape.watch(b);
  Tensor product = a * b;
  return *tape.gradient(product, b);
}

// Eagerly, in a function, and where functions run eagerly.
void inAllModes(const Body &body, const std::vector<Tensor> &inputs, const std::vector<double> &expected) {
  inBothModes(body, inputs, expected, {static_cast<std::int64_t>(expected.size())});
  struct RunEagerly {
    RunEagerly() { config::run_functions_eagerly(true); }
    ~RunEagerly() { config::run_functions_eagerly(false); }
  } scope;
  EXPECT_EQ(valuesOf(body(inputs)), expected) << "functions run eagerly";
}

} // namespace

// What a function or a transformation gives are values of their own, called eagerly as well as inside of another
// function: here two results that are one value in the lambda, or one that is an argument, a capture or a variable's
// value.
TEST(Composition, ResultsAreValuesOfTheirOwn) {
  using Pair = std::pair<Tensor, Tensor>;
  auto twice = [](const Tensor &x) {
    Tensor y = cubes(x);
    return Pair(y, y);
  };
  auto twiceAsFunction = function(twice);
  auto itself = function([](const Tensor &x) { return x; });
  auto named = function([](const std::map<std::string, Tensor> &x) { return x; });
  auto concrete = twiceAsFunction.get_concrete_function(TensorSpec<double>({2}));
  Variable v(tensor<double>({8, 27}));
  auto variable = function([&] { return v.value(); });
  Tensor captured = tensor<double>({8, 27});
  auto capture = function([&] { return captured; });

  using Case = std::pair<const char *, std::function<Pair(const Tensor &)>>;
  const std::vector<Case> cases = {
      {"function", twiceAsFunction},
      {"concrete function", [&](const Tensor &x) { return concrete(x); }},
      {"vjp", [&](const Tensor &x) { return vjp(twice, x).first; }},
      {"value_and_grad",
       [&](const Tensor &x) {
         Tensor y = cubes(x);
         return Pair(y, value_and_grad([&](const Tensor &) { return y; })(x).first);
       }},
      {"jvp", [&](const Tensor &x) { return jvp(twice, x, x).first; }},
      {"tangents of jvp",
       [&](const Tensor &x) { return jvp([](const Tensor &a) { return Pair(a, a); }, x, cubes(x)).second; }},
      {"gradients",
       [&](const Tensor &x) {
         auto [a, b] =
             grad([](const Pair &p, const Tensor &c) { return (p.first + p.second) * c; })(Pair(x, x), cubes(x));
         return Pair(a, b);
       }},
      {"pullback",
       [&](const Tensor &x) {
         Tensor y = cubes(x);
         return Pair(y, vjp([](const Tensor &a) { return a; }, x).second(y));
       }},
      {"checkpoint", [&](const Tensor &x) { return checkpoint(twice)(x); }},
      {"vmap", [&](const Tensor &x) { return vmap(twice)(x); }},
      {"argument",
       [&](const Tensor &x) {
         Tensor y = cubes(x);
         return Pair(y, itself(y));
       }},
      {"argument in a map",
       [&](const Tensor &x) {
         Tensor y = cubes(x);
         return Pair(y, named({{"y", y}}).at("y"));
       }},
      {"argument of jvp",
       [&](const Tensor &x) {
         Tensor y = cubes(x);
         return Pair(y, jvp([](const Tensor &a) { return a; }, y, y).first);
       }},
      {"argument of vjp",
       [&](const Tensor &x) {
         Tensor y = cubes(x);
         return Pair(y, vjp([](const Tensor &a) { return a; }, y).first);
       }},
      {"value around it",
       [&](const Tensor &x) {
         Tensor y = cubes(x);
         return Pair(y, function([&] { return y; })());
       }},
      {"variable, read before",
       [&](const Tensor &) {
         Tensor y = v.value();
         return Pair(y, variable());
       }},
      {"variable, read after",
       [&](const Tensor &) {
         Tensor y = variable();
         return Pair(v.value(), y);
       }},
      {"capture, used before",
       [&](const Tensor &) {
         Tensor y = captured;
         return Pair(y, capture());
       }},
      {"capture, used after",
       [&](const Tensor &) {
         Tensor y = capture();
         return Pair(captured, y);
       }},
  };
  for (const auto &[name, f] : cases) {
    SCOPED_TRACE(name);
    auto body = [&](const std::vector<Tensor> &in) {
      auto [a, b] = f(in[0]);
      return derivativeOfProduct(a, b) + derivativeOfProduct(b, a);
    };
    inAllModes(body, {tensor<double>({2, 3})}, {16, 54});
  }
}

// Who calls sees results as values that none of the others is made of, whether the call is one operation or inlined.
TEST(Composition, NoResultDependsOnAnother) {
  using Pair = std::pair<Tensor, Tensor>;
  auto two = [](const Tensor &x) {
    Tensor y = cubes(x);
    return Pair(y, y * y);
  };
  auto asFunction = function(two);
  auto concrete = asFunction.get_concrete_function(TensorSpec<double>({2}));
  auto outer = function([&](const Tensor &x) {
    auto [y, z] = asFunction(x);
    return Pair(y, z + y - cubes(x));
  });
  using Case = std::pair<const char *, std::function<Pair(const Tensor &)>>;
  const std::vector<Case> cases = {
      {"function", asFunction},
      {"concrete function", [&](const Tensor &x) { return concrete(x); }},
      {"function in a function", outer},
      {"function without arguments", [&](const Tensor &x) { return function([&] { return two(x); })(); }},
      {"checkpoint", [&](const Tensor &x) { return checkpoint(two)(x); }},
      {"vmap", [&](const Tensor &x) { return vmap(two)(x); }},
      {"vjp", [&](const Tensor &x) { return vjp(two, x).first; }},
      {"cond", [&](const Tensor &x) { return cond(sum(x) > 0, [&] { return two(x); }, [&] { return two(-x); }); }},
      {"while_loop",
       [&](const Tensor &x) {
         auto [i, y, z] = while_loop([](const Tensor &i, const Tensor &, const Tensor &) { return i < 1; },
                                     [&](const Tensor &i, const Tensor &y, const Tensor &) {
                                       auto [a, b] = two(y);
                                       return std::tuple(i + 1, a, b);
                                     },
                                     std::tuple(scalar(0), x, x));
         return Pair(y, z);
       }},
  };
  for (const auto &[name, make] : cases) {
    SCOPED_TRACE(name);
    inAllModes(
        [&make = make](const std::vector<Tensor> &x) {
          GradientTape tape({.persistent = true});
          tape.watch(x[0]);
          auto [y, z] = make(x[0]);
          EXPECT_FALSE(tape.gradient(z, y));
          EXPECT_FALSE(tape.gradient(y, z));
          return *tape.gradient({y, z * y}, y); // 1 + z
        },
        {tensor<double>({1, 2})}, {2, 65});
  }
  // Within the call one is made of the other.
  auto inside = function([&](const Tensor &x) {
    GradientTape tape;
    tape.watch(x);
    auto [y, z] = two(x);
    return std::tuple(y, z, *tape.gradient(z, y));
  });
  EXPECT_EQ(valuesOf(std::get<2>(inside(tensor<double>({1, 2})))), (std::vector<double>{2, 16}));
}

// Nor is a function's argument what else it is called with or captures.
TEST(Composition, ArgumentsAreValuesOfTheirOwn) {
  auto both = function(derivativeOfProduct);
  auto listed = function([](const std::vector<Tensor> &x) { return derivativeOfProduct(x[0], x[1]); });
  auto concrete = both.get_concrete_function(TensorSpec<double>({2}), TensorSpec<double>({2}));
  using Case = std::pair<const char *, std::function<Tensor(const Tensor &)>>;
  const std::vector<Case> cases = {
      {"argument", [&](const Tensor &x) { return both(x, x); }},
      {"argument in a list", [&](const Tensor &x) { return listed({x, x}); }},
      {"argument of a concrete function", [&](const Tensor &x) { return concrete(x, x); }},
      {"capture",
       [&](const Tensor &x) { return function([&](const Tensor &y) { return derivativeOfProduct(x, y); })(x); }},
  };
  for (const auto &[name, f] : cases) {
    SCOPED_TRACE(name);
    inAllModes([&](const std::vector<Tensor> &in) { return f(in[0] + 1); }, {tensor<double>({2, 3})}, {3, 4});
  }
}

// A tape that was there before follows them to where they come from.
TEST(Composition, DerivativesFollowResultsToTheirArguments) {
  auto swap = function([](const Tensor &x, const Tensor &y) { return std::pair(y, x); });
  auto f = [&](const std::vector<Tensor> &in) {
    GradientTape tape({.persistent = true});
    tape.watch(in[0]);
    tape.watch(in[1]);
    auto [second, first] = swap(in[0], in[1]);
    Tensor y = sum(first * 3 + second * second);
    return concat(
        {*tape.gradient(y, in[0]), *tape.gradient(y, in[1]), *tape.gradient(y, first), *tape.gradient(y, second)});
  };
  inBothModes(f, {tensor<double>({2, 3}), tensor<double>({5, 7})}, {3, 3, 10, 14, 3, 3, 10, 14}, {8});
}

TEST(Composition, ExamplesAndResultsOfVmapAreOtherValuesThanTensors) {
  Tensor x = tensor<double>({1, 2});
  auto same = [](const Tensor &example) { return example; };
  // What vmap gives unchanged: d/dy (x y) = x at y = x, not 2 x.
  inBothModes(
      [&](const std::vector<Tensor> &in) {
        Tensor y = vmap(same)(in[0]);
        GradientTape tape;
        tape.watch(y);
        return *tape.gradient(in[0] * y, y);
      },
      {x}, {1, 2}, {2});
  // Twice the same result.
  inBothModes(
      [](const std::vector<Tensor> &in) {
        std::vector<Tensor> y = vmap([](const Tensor &example) {
          Tensor e = exp(example);
          return std::vector<Tensor>{e, e};
        })(in[0]);
        GradientTape tape;
        tape.watch(y[0]);
        tape.watch(y[1]);
        return *tape.gradient(y[0] * log(y[1]), y[1]);
      },
      {x}, {1, 1}, {2});
  // Two examples of one tensor: d/da (a b) = b.
  inBothModes(
      [](const std::vector<Tensor> &in) {
        return vmap([](const Tensor &a, const Tensor &b) {
          GradientTape tape;
          tape.watch(a);
          return *tape.gradient(a * b, a);
        })(in[0], in[0]);
      },
      {x}, {1, 2}, {2});
  // A tensor that is captured beside its examples: d/de (e sum(x)) = sum(x).
  inBothModes(
      [](const std::vector<Tensor> &in) {
        return vmap([&](const Tensor &example) {
          GradientTape tape;
          tape.watch(example);
          return *tape.gradient(example * sum(in[0]), example);
        })(in[0]);
      },
      {x}, {3, 3}, {2});
}
