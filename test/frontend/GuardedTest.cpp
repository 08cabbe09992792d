// Operations that may fail, in branches and loops that some examples of a vmap run and others do not: an example that
// is kept from them by a condition does not fail.
#include "test/Tensors.h"
#include "test/frontend/Testing.h"

#include <cmath>
#include <functional>
#include <string>
#include <vector>

using namespace calque;
using namespace calque::testing;

namespace {

using Function = std::function<Tensor(const Tensor &, const Tensor &)>; // of an element and a count

const Tensor kTable = tensor<double>({10, 20, 30});

std::vector<Tensor> examples() {
  return {tensor<double>({1, -2, 3, 4.5, -5}), tensor<std::int64_t>({0, 2, 3, -1, 1'000'000'000})};
}

// A function of each pair of examples: eagerly one by one, against vmap eagerly, in a function, of the gradient and the
// gradient of.
void expectAlike(const Function &f, const std::string &name) {
  SCOPED_TRACE(name);
  const std::vector<Tensor> all = examples();
  std::vector<double> expected, slopes;
  const auto count = static_cast<int>(all[0].shape()[0]);
  for (int i = 0; i < count; ++i) {
    GradientTape tape;
    const Tensor x = all[0][i];
    tape.watch(x);
    const Tensor y = f(x, all[1][i]);
    expected.push_back(y.item<double>());
    const auto slope = tape.gradient(y, x);
    slopes.push_back(slope ? slope->item<double>() : 0);
  }
  auto mapped = [&](const Tensor &x, const Tensor &n) { return vmap(f)(x, n); };
  EXPECT_EQ(valuesOf(mapped(all[0], all[1])), expected);
  EXPECT_EQ(valuesOf(function(mapped)(all[0], all[1])), expected);
  auto slopeOf = [&](const Tensor &x, const Tensor &n) { return grad([&](const Tensor &x) { return f(x, n); })(x); };
  EXPECT_EQ(valuesOf(function(vmap(slopeOf))(all[0], all[1])), slopes);
  auto sumOf = [&](const Tensor &x, const Tensor &n) {
    return grad([&](const Tensor &x) { return sum(vmap(f)(x, n)); })(x);
  };
  EXPECT_EQ(valuesOf(function(sumOf)(all[0], all[1])), slopes);
}

Tensor number(double value) { return scalar<double>(value); }
Tensor isInside(const Tensor &n) { return logical_and(n >= 0, n < 3); }

} // namespace

// An index in the range stays as it is for an example that does not read there: element 0, of which the branch has no
// finite derivative, has nothing to do with it.
TEST(Guarded, IndicesInTheRangeStay) {
  const Tensor table = tensor<double>({0, 20, 30}), x = tensor<double>({1, -2, 3}), n = tensor<std::int64_t>({1, 2, 2});
  auto f = [&](const Tensor &x, const Tensor &n) {
    return cond(x > 0, [&] { return sqrt(abs(x) * gather(table, n)); }, [&] { return x; });
  };
  auto slope = [&](const Tensor &x, const Tensor &n) {
    return grad([&](const Tensor &x) { return sum(vmap(f)(x, n)); })(x);
  };
  const std::vector<double> found = valuesOf(function(slope)(x, n));
  EXPECT_DOUBLE_EQ(found[0], std::sqrt(20) / 2);
  EXPECT_DOUBLE_EQ(found[1], 1);
  EXPECT_DOUBLE_EQ(found[2], std::sqrt(90) / 6);
  // Of narrow indices, whose type does not have the last one.
  auto narrow = function([&](const Tensor &x, const Tensor &n) {
    auto f = [&](const Tensor &x, const Tensor &n) {
      return cond(
          x > 0, [&] { return sqrt(abs(x) * gather(concat({table, ones({300}, DType::Float64)}), n)); },
          [&] { return x; });
    };
    return grad([&](const Tensor &x) { return sum(vmap(f)(x, n)); })(x);
  });
  EXPECT_EQ(valuesOf(narrow(x, cast(n, DType::Int8))), found);
  // Of any number of elements, too.
  auto open = function(
      [&](const Tensor &x, const Tensor &n, const Tensor &table) {
        auto f = [&](const Tensor &x, const Tensor &n) {
          return cond(x > 0, [&] { return sqrt(abs(x) * gather(table, n)); }, [&] { return x; });
        };
        return grad([&](const Tensor &x) { return sum(vmap(f)(x, n)); })(x);
      },
      {.input_signature = {TensorSpec<double>({3}), TensorSpec<std::int64_t>({3}), TensorSpec<double>({kDynamic})}});
  EXPECT_EQ(valuesOf(open(x, n, table)), found);
}

TEST(Guarded, ReadsOfBranches) {
  expectAlike(
      [](const Tensor &x, const Tensor &n) {
        return cond(isInside(n), [&] { return x * gather(kTable, n); }, [&] { return x; });
      },
      "then");
  expectAlike(
      [](const Tensor &x, const Tensor &n) {
        return cond(logical_not(isInside(n)), [&] { return x; }, [&] { return x * gather(kTable, n); });
      },
      "otherwise");
  // The index is the same for all examples, and wrong wherever nobody takes the branch.
  for (std::int64_t index : {1, 7})
    expectAlike(
        [index](const Tensor &x, const Tensor &) {
          const Tensor at = scalar<std::int64_t>(index);
          return cond(x > (index == 7 ? 1e9 : 0.0), [&] { return x * gather(kTable, at); }, [&] { return x * 3; });
        },
        "of one index");
  expectAlike(
      [](const Tensor &x, const Tensor &n) {
        return cond(
            n < 3,
            [&] {
              return cond(
                  n >= 0, [&] { return sum(x * take_along_axis(kTable, expand_dims(n, 0), 0)); },
                  [&] { return x * 2; });
            },
            [&] { return -x; });
      },
      "nested");
}

TEST(Guarded, IntegersAreDividedWhereTheBranchIsTaken) {
  for (const bool isTaken : {true, false})
    expectAlike(
        [isTaken](const Tensor &x, const Tensor &n) {
          auto divided = [&] { return x * cast(6 / n + 7 % n, DType::Float64); };
          auto other = [&] { return x; };
          return isTaken ? cond(n != 0, divided, other) : cond(n == 0, other, divided);
        },
        isTaken ? "then" : "otherwise");
}

TEST(Guarded, NativeBranchesAndLoops) {
  expectAlike(
      [](const Tensor &x, const Tensor &n) {
        Tensor y = x, i = n;
        for (int k = 0; k < 4; ++k)
          if (i < 3 && i >= 0) {
            y = y + x * gather(kTable, i);
            i = i + 1;
          }
        return y;
      },
      "a guarded index");
  expectAlike(
      [](const Tensor &x, const Tensor &n) {
        Tensor y = x, i = n;
        while (i < 3 && i >= 0) {
          y = y * 0.5 + gather(kTable, i);
          i = i + 1;
        }
        return y;
      },
      "a loop that ends for each");
  expectAlike(
      [](const Tensor &x, const Tensor &n) {
        Tensor y = x;
        if (n < 3 && n >= 0) {
          Tensor i = n;
          while (gather(kTable, i) < 25) { // what decides reads, too
            y = y + x;
            i = i + 1;
          }
        }
        return y;
      },
      "a loop in a branch");
  expectAlike(
      [](const Tensor &x, const Tensor &n) {
        Tensor y = x;
        if (n < 3 && n >= 0)
          for (Tensor k : range(2)) // whose condition is the same for all
            y = y + gather(kTable, n) * cast(k + 1, DType::Float64) * x;
        return y;
      },
      "a counted loop in a branch");
}

TEST(Guarded, BranchesOnWhatIsTheSameForAll) {
  const Tensor yes = scalar(true), bad = scalar<std::int64_t>(5);
  expectAlike(
      [&](const Tensor &x, const Tensor &n) {
        return cond(
            isInside(n),
            [&] { return cond(yes, [&] { return x * gather(kTable, n); }, [&] { return x * gather(kTable, n - 1); }); },
            [&] { return x; });
      },
      "that reads what differs");
  expectAlike(
      [&](const Tensor &x, const Tensor &) {
        return cond(
            x > 1e9,
            [&] { return x * cond(yes, [&] { return gather(kTable, bad); }, [&] { return gather(kTable, bad + 1); }); },
            [&] { return x; });
      },
      "that reads what does not");
}

TEST(Guarded, CheckpointsAndGradientsOfTheUser) {
  auto read = checkpoint([](const Tensor &x, const Tensor &n) { return sin(x) * gather(kTable, n); });
  expectAlike([&](const Tensor &x,
                  const Tensor &n) { return cond(isInside(n), [&] { return read(x, n); }, [&] { return sin(x); }); },
              "a checkpoint");
  expectAlike(
      [&](const Tensor &x, const Tensor &n) {
        auto own = custom_gradient(
            [&](const Tensor &x) { return std::pair(x * 2, [=](const Tensor &g) { return g * gather(kTable, n); }); });
        return cond(isInside(n), [&] { return own(x); }, [&] { return x * 2; });
      },
      "a gradient of the user's own");
}

TEST(Guarded, MapsInMaps) {
  auto f = [](const Tensor &x, const Tensor &n) {
    return cond(isInside(n), [&] { return x * gather(kTable, n); }, [&] { return x; });
  };
  const Tensor x = tensor<double>({1, -2, 3}), n = tensor<std::int64_t>({0, 3, -7, 2});
  auto both = [&](const Tensor &x, const Tensor &n) {
    return vmap([&](const Tensor &x) { return vmap([&](const Tensor &n) { return f(x, n); })(n); })(x);
  };
  std::vector<double> expected;
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 4; ++k)
      expected.push_back(f(x[i], n[k]).item<double>());
  EXPECT_EQ(valuesOf(both(x, n)), expected);
  EXPECT_EQ(valuesOf(function(both)(x, n)), expected);
}

// An example that takes the branch fails as it does alone.
TEST(Guarded, WhatIsNotKeptFromItFails) {
  auto f = [](const Tensor &n) { return cond(n < 4, [&] { return gather(kTable, n); }, [&] { return number(0); }); };
  EXPECT_EQ(valuesOf(vmap(f)(tensor<std::int64_t>({0, 4, 9, 2}))), (std::vector<double>{10, 0, 0, 30}));
  EXPECT_THROW(vmap(f)(tensor<std::int64_t>({0, 3})), IndexError);
  EXPECT_THROW(function(vmap(f))(tensor<std::int64_t>({7, -1})), IndexError);
  auto divide = [](const Tensor &n) { return cond(n < 4, [&] { return 12 / n; }, [&] { return n; }); };
  EXPECT_THROW(vmap(divide)(tensor<std::int64_t>({1, 0, 9})), DivisionError);
  EXPECT_EQ(valuesOf(vmap(divide)(tensor<std::int64_t>({1, 5}))), (std::vector<double>{12, 5}));
}
