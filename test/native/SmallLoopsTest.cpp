// Loops whose state is small: one kernel, which has the state in registers and arrays in memory. Eager calls, which run
// one operation after the other, are the reference; gradients are compared with finite differences.
#include "test/native/SmallLoops.h"

#include <numbers>
#include <string>

using namespace calque;
using namespace calque::testing;

namespace {

Tensor lorenz(const Tensor &s) {
  Tensor x = s[0], y = s[1], z = s[2];
  return stack({10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z});
}

Tensor rungeKutta(Tensor s, int steps) {
  for (Tensor i : range(steps)) {
    Tensor k1 = lorenz(s), k2 = lorenz(s + 0.005 * k1), k3 = lorenz(s + 0.005 * k2), k4 = lorenz(s + 0.01 * k3);
    s = s + 0.01 / 6 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
  }
  return s;
}

const Tensor kState = tensor<double>({1, 2, 0.5});

} // namespace

TEST(SmallLoops, AreOneKernel) {
  expectKernel([](const Tensor &s) { return rungeKutta(s, 60); }, kState, 1e-9);
  expectKernel([](const Tensor &s) { return rungeKutta(s, 10); }, cast(kState, DType::Float32), 1e-5);
}

// Each kind of operation that such a loop may have, on sizes that are not round.
TEST(SmallLoops, HaveProductsReductionsAndMovements) {
  expectKernel(
      [](const Tensor &given) {
        Tensor p = given, a = tensor<double>({1, 0.1, 0, 0.2, 1, 0.3}, {2, 3});
        for (Tensor i : range(30)) {
          Tensor q = matmul(a, p);                           // [2,5]
          Tensor r = matmul(q, q, {.transpose_b = true});    // [2,2]
          Tensor m = mean(q, {1}, true) + max(q, {0}) * 0.1; // [2,5]
          Tensor c = concat({m, reverse(q, {1}) * 0.5}, 0);  // [4,5]
          p = 0.1 * slice(c, {1, 0}, {4, 5}) + 0.01 * sum(r) + tanh(p) - 0.2 * min(p) + prod(p * 0.1 + 1.0, {0}, true);
          p = where(p > 2.0, p * 0.5, p) + pad(slice(p, {0, 0}, {1, 5}), {1, 0}, {1, 0}, 0.25) * 0.01;
        }
        return p;
      },
      reshape(iota({15}, DType::Float64) * 0.07 - 0.3, {3, 5}), 1e-10);
}

TEST(SmallLoops, TakeIntegersAndBools) {
  expectKernel(
      [](const Tensor &seed) {
        Tensor x = seed, found = zeros({3}, DType::Bool);
        for (Tensor i : range(100)) {
          x = (x * 1103515245 + 12345) % 2147483647;
          found = logical_or(found, x % 7 == 3);
        }
        return x + cast(found, DType::Int64);
      },
      tensor<std::int64_t>({1, 2, -77}));
}

// Branches and loops within, and a condition that depends on the state.
TEST(SmallLoops, CountAlongAxesInTheirBodies) {
  expectKernel(
      [](const Tensor &x) {
        return for_range(0, 7, x, [](const Tensor &i, const Tensor &x) {
          Tensor column = iota({5, 1}, DType::Int64), row = iota({1, 3}, DType::Float64, 1);
          return where(column == i, x * 0.5 + row, for_range(0, 2, x, [](const Tensor &k, const Tensor &x) {
                         return x + cast(iota({5, 3}, DType::Int64, 1) == k, DType::Float64);
                       }));
        });
      },
      iota({5, 3}, DType::Float64) * 0.25);
}

TEST(SmallLoops, Nest) {
  expectKernel(
      [](const Tensor &given) {
        Tensor x = given, rounds = scalar<std::int64_t>(0);
        while (sum(x * x) < 400.0) {
          if (x[0] < 3.0)
            x = x * 1.25;
          else
            x = x + reverse(x, {0}) * 0.125;
          Tensor y = x;
          while (y[1] > 1.0)
            y = y * 0.5;
          x = x + y * 0.01;
          rounds = rounds + 1;
        }
        return concat({x, reshape(cast(rounds, DType::Float64), {1})}, 0);
      },
      kState, 1e-10);
}

//===-- Arrays ----------------------------------------------------------------------------------===//

// The states are elements of an array, which the kernel writes where they belong.
TEST(SmallLoops, WriteArraysInPlace) {
  expectKernel(
      [](const Tensor &s) {
        return scan(
                   [](const Tensor &state, const Tensor &step) {
                     Tensor next = state + step * lorenz(state);
                     return std::pair(next, next * 2.0);
                   },
                   s, tensor(std::vector<double>(150, 0.01)))
            .second;
      },
      kState, 1e-9);
}

// A table at computed places, and an array of states.
TEST(SmallLoops, ReadArraysAtComputedPlaces) {
  std::vector<std::int64_t> table;
  for (int i = 0; i < 97; ++i)
    table.push_back((i * 31 + 17) % 97);
  expectKernel(
      [&](const Tensor &start) {
        Tensor next = tensor(table), at = start, sum = start * 0;
        for (Tensor i : range(500)) {
          at = gather(next, at);
          sum = sum + at;
        }
        return sum * 100 + at;
      },
      tensor<std::int64_t>({0, 5, 96}));
  // Sizes that are known at the call alone.
  auto follow = function(
      [](const Tensor &next) {
        Tensor at = scalar<std::int64_t>(0), count = scalar<std::int64_t>(0);
        while (at != 3) {
          at = gather(next, at);
          count = count + 1;
        }
        return count;
      },
      {.input_signature = {TensorSpec<std::int64_t>({kDynamic})}});
  EXPECT_EQ(follow(tensor<std::int64_t>({1, 2, 3, 0})).item<std::int64_t>(), 3);
  EXPECT_EQ(follow(tensor<std::int64_t>({4, 0, 3, 0, 5, 2})).item<std::int64_t>(), 4);
  // Sizes of what is computed before.
  auto shifted = function(
      [&](const Tensor &table) {
        Tensor next = concat({table, table + 1}, 0), at = scalar<std::int64_t>(0);
        for (Tensor i : range(5))
          at = gather(next, at);
        return at;
      },
      {.input_signature = {TensorSpec<std::int64_t>({kDynamic})}});
  EXPECT_EQ(shifted(tensor<std::int64_t>({2, 0, 1})).item<std::int64_t>(), 1);
}

// The edit distance of two words, by elements of a row that is written while it is read.
TEST(SmallLoops, ReadWhatTheyHaveWritten) {
  auto distance = function([](const Tensor &a, const Tensor &b) {
    TensorArray row(41, DType::Int64, {}, {.overwrite = true, .zeros = true});
    for (int j = 0; j <= 40; ++j)
      row.write(j, scalar<std::int64_t>(j));
    return for_range(0, 40, row,
                     [&](const Tensor &i, TensorArray outer) {
                       Tensor before = outer.read(0);
                       outer.write(0, cast(i, DType::Int64) + 1);
                       return for_range(0, 40, std::pair(outer, before),
                                        [&](const Tensor &j, std::pair<TensorArray, Tensor> state) {
                                          auto &[inner, diagonal] = state;
                                          Tensor above = inner.read(j + 1), left = inner.read(j);
                                          Tensor same = cast(gather(a, i) != gather(b, j), DType::Int64);
                                          inner.write(j + 1, minimum(minimum(above, left) + 1, diagonal + same));
                                          return std::pair(inner, above);
                                        })
                           .first;
                     })
        .read(40);
  });
  std::vector<std::int64_t> a, b;
  for (int i = 0; i < 40; ++i) {
    a.push_back(i * i % 7);
    b.push_back(i * i * i % 5);
  }
  // The same in C++.
  std::vector<std::int64_t> row(41);
  for (std::size_t j = 0; j <= 40; ++j)
    row[j] = static_cast<std::int64_t>(j);
  for (std::size_t i = 0; i < 40; ++i) {
    std::int64_t diagonal = row[0];
    row[0] = static_cast<std::int64_t>(i) + 1;
    for (std::size_t j = 0; j < 40; ++j) {
      std::int64_t above = row[j + 1];
      row[j + 1] = std::min(std::min(above, row[j]) + 1, diagonal + (a[i] != b[j]));
      diagonal = above;
    }
  }
  EXPECT_EQ(distance(tensor(a), tensor(b)).item<std::int64_t>(), row[40]);
}

//===-- Failures --------------------------------------------------------------------------------===//

// A loop that a failed check would keep from ending ends with the call.
TEST(SmallLoops, EndWithAFailure) {
  auto follow = function([](const Tensor &next, const Tensor &start) {
    Tensor at = start;
    while (at != 1)
      at = gather(next, at);
    return at;
  });
  Tensor next = tensor<std::int64_t>({2, 9, 3, 7});
  try {
    follow(next, scalar<std::int64_t>(0));
    FAIL();
  } catch (const IndexError &error) {
    EXPECT_NE(std::string(error.what()).find("gather: index 7 is out of range [0, 4)"), std::string::npos)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("SmallLoopsTest.cpp"), std::string::npos) << error.what();
  }
  EXPECT_EQ(follow(next, scalar<std::int64_t>(1)).item<std::int64_t>(), 1);

  auto divide = function([](const Tensor &x, const Tensor &by) {
    Tensor y = x;
    for (Tensor i : range(20))
      y = y + 100 / (by - cast(i, DType::Int64));
    return y;
  });
  EXPECT_EQ(divide(tensor<std::int64_t>({0, 1}), tensor<std::int64_t>({-1, 300})).size(), 2);
  EXPECT_THROW(divide(tensor<std::int64_t>({0, 1}), tensor<std::int64_t>({-1, 13})), DivisionError);
}

// Of an array without elements nothing is read, and nothing is stored to it.
TEST(SmallLoops, FailAtArraysWithoutElements) {
  auto read = function(
      [](const Tensor &table, const Tensor &rows) {
        Tensor sum = zeros({3}, DType::Float64);
        for (Tensor i : range(rows))
          sum = sum + gather(table, i);
        return sum;
      },
      {.input_signature = {TensorSpec<double>({kDynamic, 3}), TensorSpec<std::int64_t>({})}});
  EXPECT_EQ(valuesOf(read(ones({4, 3}, DType::Float64), scalar<std::int64_t>(4))), (std::vector<double>{4, 4, 4}));
  EXPECT_EQ(valuesOf(read(ones({0, 3}, DType::Float64), scalar<std::int64_t>(0))), (std::vector<double>{0, 0, 0}));
  EXPECT_THROW(read(ones({0, 3}, DType::Float64), scalar<std::int64_t>(1)), IndexError);
}

// A condition that writes an array which the loop around it has written.
TEST(SmallLoops, HaveConditionsThatKeepArraysAsTheyAre) {
  auto goesOn = [](const Tensor &n, TensorArray inner) {
    inner.write(0, inner.read(0) + 100.0);
    return logical_and(n < 3, inner.read(0) > 50.0);
  };
  auto body = [](const Tensor &n, TensorArray inner) {
    inner.write(n + 10, cast(n, DType::Float64) + inner.read(0));
    return std::tuple(n + 1, inner);
  };
  expectKernel(
      [&](const Tensor &x) {
        return for_range(0, 4, TensorArray(50, DType::Float64, {}, {.overwrite = true, .zeros = true}),
                         [&](const Tensor &i, TensorArray outer) {
                           outer.write(i, sum(x) * cast(i, DType::Float64));
                           return std::get<1>(while_loop(goesOn, body, std::tuple(scalar<std::int64_t>(0), outer)));
                         })
            .stack();
      },
      kState, 1e-12, false);
}

// A call that fails leaves variables as they are.
TEST(SmallLoops, ThatFailChangeNoVariable) {
  Variable v(tensor<double>({1, 2, 3}));
  auto step = function([&](const Tensor &index) {
    Tensor x = v;
    for (Tensor i : range(10))
      x = x + gather(x, index + cast(i, DType::Int64) / 5);
    v.assign(x);
    return x;
  });
  EXPECT_THROW(step(scalar<std::int64_t>(2)), IndexError);
  EXPECT_EQ(valuesOf(v), (std::vector<double>{1, 2, 3}));
  step(scalar<std::int64_t>(1));
  EXPECT_NE(valuesOf(v), (std::vector<double>{1, 2, 3}));
}

//===-- Derivatives -----------------------------------------------------------------------------===//

// What the reverse needs is on stacks, whose entries the kernel makes itself.
TEST(SmallLoops, HaveGradientsInKernels) {
  auto f = [](const Tensor &s) { return sum(rungeKutta(s, 40)); };
  expectGradient(f, kState);
  auto gradient = function(grad(f));
  EXPECT_TRUE(isOneKernel(gradient, kState));
}

TEST(SmallLoops, HaveGradientsThroughBranchesAndLoopsWithin) {
  auto f = [](const Tensor &given) {
    Tensor x = given;
    for (Tensor i : range(7)) {
      if (x[0] < 1.5)
        x = x * 1.25 + sin(x);
      else
        x = x * 0.75 + reverse(x, {0}) * 0.25;
      for (Tensor j : range(3))
        x = x + 0.05 * x * cos(x);
    }
    return sum(x * x);
  };
  expectGradient(f, kState);
  expectGradient([&](const Tensor &x) { return sum(grad(f)(x) * tensor<double>({0.3, -1, 2})); }, kState);
}

// Entries are of each element type, those of bools included, and of arrays that are read.
TEST(SmallLoops, KeepAllTypesForTheReverse) {
  expectGradient(
      [](const Tensor &given) {
        Tensor x = given, isLarge = zeros({3}, DType::Bool), k = zeros({3}, DType::Int32),
               weights = iota({50}, DType::Float64) * 0.02;
        for (Tensor i : range(20)) {
          isLarge = logical_xor(isLarge, x > 1.0);
          k = (k + 7) % 50;
          x = where(isLarge, x * 0.9, x + 0.3 * sin(x)) + 0.1 * x * gather(weights, k);
        }
        return sum(x);
      },
      tensor<double>({1.1, 2.03, 0.47}));
}

TEST(SmallLoops, HaveJacobiansAndHessians) {
  auto f = [](const Tensor &s) { return rungeKutta(s, 5); };
  std::vector<double> forward = valuesOf(function(jacobian(f))(kState));
  for (int column = 0; column < 3; ++column) {
    std::vector<double> direction(3);
    direction[static_cast<std::size_t>(column)] = 1;
    auto along = [&](const Tensor &x, const Tensor &t) { return jvp(f, std::tuple(x), std::tuple(t)).second; };
    std::vector<double> tangent = valuesOf(function(along)(kState, tensor(direction)));
    for (int row = 0; row < 3; ++row)
      EXPECT_NEAR(forward[static_cast<std::size_t>(3 * row + column)], tangent[static_cast<std::size_t>(row)], 1e-9);
  }
  auto scalarOf = [&](const Tensor &s) { return sum(f(s) * f(s)); };
  std::vector<double> second = valuesOf(function(hessian(scalarOf))(kState));
  for (int row = 0; row < 3; ++row)
    for (int column = 0; column < row; ++column)
      EXPECT_NEAR(second[static_cast<std::size_t>(3 * row + column)],
                  second[static_cast<std::size_t>(3 * column + row)],
                  1e-8 * (1 + std::abs(second[static_cast<std::size_t>(3 * row + column)])));
}

// Few examples are small themselves, each with stacks of its own.
TEST(SmallLoops, AreMappedOverExamples) {
  auto f = [](const Tensor &given) {
    Tensor x = given;
    while (x < 10.0) {
      if (x > 2.0)
        x = x * x;
      else
        x = x * 1.5;
    }
    return x;
  };
  Tensor starts = tensor<double>({1, 1.7, 2.5, 30, 0.1});
  std::vector<double> values = valuesOf(function(vmap(f))(starts)),
                      gradients = valuesOf(function(vmap(grad(f)))(starts));
  for (std::size_t i = 0; i < 5; ++i) {
    Tensor x = scalar<double>(valuesOf(starts)[i]);
    EXPECT_NEAR(values[i], f(x).item<double>(), 1e-9 * (1 + std::abs(values[i])));
    EXPECT_NEAR(gradients[i], grad(f)(x).item<double>(), 1e-9 * (1 + std::abs(gradients[i])));
  }
}

// A loop that keeps few iterations frees what it has made of a segment before the next one, which the runtime does.
TEST(SmallLoops, ThatFreeEntriesAreRunByTheRuntime) {
  auto f = [](const Tensor &given) {
    return sum(for_range(0, 100, given, [](const Tensor &, const Tensor &x) { return x + 0.01 * sin(x * 3.0); },
                         {.checkpoint = true}));
  };
  expectGradient(f, kState);
  auto gradient = function(grad(f));
  EXPECT_FALSE(isOneKernel(gradient, kState));
}

// Entries of many iterations.
TEST(SmallLoops, KeepManyEntries) {
  auto f = [](const Tensor &x) {
    Tensor y = x;
    for (Tensor i : range(100'000))
      y = y + 1e-5 * sin(y);
    return sum(y);
  };
  Tensor x = tensor<double>({0.5, 1, 2});
  std::vector<double> gradient = valuesOf(function(grad(f))(x));
  // dy/dt = sin(y) from y(0) to y(1); dy(1)/dy(0) = sin(y(1)) / sin(y(0)), up to the error of Euler's steps.
  std::vector<double> starts = valuesOf(x);
  for (std::size_t i = 0; i < 3; ++i) {
    const double end = 2 * std::atan(std::exp(1.0) * std::tan(starts[i] / 2));
    EXPECT_NEAR(gradient[i], std::sin(end) / std::sin(starts[i]), 1e-4);
  }
}
