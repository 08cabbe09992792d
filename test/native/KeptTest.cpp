// What gradients keep of each iteration of a loop under vmap, whose branches and ends differ from example to example.
#include "test/Tensors.h"
#include "test/frontend/Testing.h"

#include <sstream>

using namespace calque;
using namespace calque::testing;

namespace {

// The bytes of "8x30xf64".
std::size_t bytesOf(const std::string &type) {
  std::size_t bytes = 1;
  std::string part;
  for (std::istringstream parts(type); std::getline(parts, part, 'x');)
    bytes *= part == "i1"                     ? 1
             : part == "i32" || part == "f32" ? 4
             : part == "i64" || part == "f64" ? 8
                                              : std::stoul(part);
  return bytes;
}

// The bytes that all stacks of a program take for an iteration.
std::size_t keptBytes(const std::string &ir) {
  std::size_t sum = 0;
  std::string line;
  for (std::istringstream lines(ir); std::getline(lines, line);)
    if (std::size_t at = line.find("calque.stack_push"); at != std::string::npos) {
      const std::size_t begin = line.find(", tensor<", line.find(" : (", at)) + 9;
      sum += bytesOf(line.substr(begin, line.find('>', begin) - begin));
    }
  return sum;
}

constexpr std::int64_t kExamples = 8, kSteps = 30;

Tensor examples() { return reshape(sin(iota({kExamples * kSteps}, DType::Float64) * 1.7), {kExamples, kSteps}); }

// A path of one example from x by steps z, which s weighs.
using PathFunction = Tensor (*)(const Tensor &x, const Tensor &s, const Tensor &z);

Tensor byIf(const Tensor &x0, const Tensor &s, const Tensor &z) {
  Tensor x = x0;
  for (Tensor zi : z) {
    x = sin(x + s * zi);
    if (x > 0.5)
      x = x * 0.5;
  }
  return x;
}
Tensor byWhere(const Tensor &x0, const Tensor &s, const Tensor &z) {
  Tensor x = x0;
  for (Tensor zi : z) {
    x = sin(x + s * zi);
    x = where(x > 0.5, x * 0.5, x);
  }
  return x;
}
Tensor byNestedIfs(const Tensor &x0, const Tensor &s, const Tensor &z) {
  Tensor x = x0;
  for (Tensor zi : z) {
    if (zi > 0) {
      x = sin(x + s * zi);
      if (x > 0.5)
        x = x * 0.5;
    } else if (x < -0.2) {
      x = x * s;
    }
  }
  return x;
}
Tensor byNestedWheres(const Tensor &x0, const Tensor &s, const Tensor &z) {
  Tensor x = x0;
  for (Tensor zi : z) {
    Tensor up = sin(x + s * zi);
    x = where(zi > 0, where(up > 0.5, up * 0.5, up), where(x < -0.2, x * s, x));
  }
  return x;
}
// The price of a path that has not gone over a barrier.
Tensor byBarrier(const Tensor &x0, const Tensor &s, const Tensor &z) {
  Tensor x = x0, alive = scalar<double>(1.0);
  for (Tensor zi : z) {
    x = x * exp(s * zi * 0.3);
    if (x > 0.6)
      alive = alive * 0.0;
  }
  return alive * x * x;
}
Tensor byBarrierWhere(const Tensor &x0, const Tensor &s, const Tensor &z) {
  Tensor x = x0, alive = scalar<double>(1.0);
  for (Tensor zi : z) {
    x = x * exp(s * zi * 0.3);
    alive = where(x > 0.6, alive * 0.0, alive);
  }
  return alive * x * x;
}
Tensor byBreak(const Tensor &x0, const Tensor &s, const Tensor &z) {
  Tensor x = x0;
  for (Tensor zi : z) {
    x = sin(x + s * zi);
    if (x > 0.8)
      break;
  }
  return x;
}
Tensor byBreakWhere(const Tensor &x0, const Tensor &s, const Tensor &z) {
  Tensor x = x0, runs = scalar(true);
  for (Tensor zi : z) {
    Tensor next = sin(x + s * zi);
    x = where(runs, next, x);
    runs = logical_and(runs, logical_not(x > 0.8));
  }
  return x;
}
Tensor byWhile(const Tensor &x0, const Tensor &s, const Tensor &z) {
  Tensor x = x0, t = x0 * 0.0;
  while (t < 1.0) {
    x = sin(x + s * z[2]);
    t = t + 0.05 * (2.0 + z[0]);
  }
  return x;
}
Tensor byWhileWhere(const Tensor &x0, const Tensor &s, const Tensor &z) {
  Tensor x = x0, t = x0 * 0.0;
  for (Tensor i : range(25)) {
    Tensor runs = t < 1.0;
    x = where(runs, sin(x + s * z[2]), x);
    t = where(runs, t + 0.05 * (2.0 + z[0]), t);
  }
  return x;
}

struct Pair {
  const char *name;
  PathFunction native, masked;
};
constexpr Pair kPairs[] = {{"if", byIf, byWhere},
                           {"nested ifs", byNestedIfs, byNestedWheres},
                           {"barrier", byBarrier, byBarrierWhere},
                           {"break", byBreak, byBreakWhere},
                           {"while", byWhile, byWhileWhere}};

// The gradient by x and s of the sum over all examples: around vmap, and in it.
auto around(PathFunction path) {
  return [path](const std::pair<Tensor, Tensor> &at, const Tensor &z) {
    return grad([&](const std::pair<Tensor, Tensor> &at) {
      return sum(vmap([&](const Tensor &z) { return path(at.first, at.second, z); })(z));
    })(at);
  };
}
auto inside(PathFunction path) {
  return [path](const std::pair<Tensor, Tensor> &at, const Tensor &z) {
    auto [dx, ds] = vmap([&](const Tensor &z) {
      return grad([&](const std::pair<Tensor, Tensor> &at) { return path(at.first, at.second, z); })(at);
    })(z);
    return std::pair(sum(dx), sum(ds));
  };
}

std::pair<Tensor, Tensor> start() { return {scalar<double>(0.3), scalar<double>(0.7)}; }

double sumOf(PathFunction path, double x, double s) {
  double sum = 0;
  for (Tensor z : examples())
    sum += path(scalar<double>(x), scalar<double>(s), z).item<double>();
  return sum;
}

} // namespace

TEST(Kept, GradientsAreThoseOfMaskedPaths) {
  constexpr double h = 1e-6;
  for (const Pair &pair : kPairs) {
    const double byX = (sumOf(pair.native, 0.3 + h, 0.7) - sumOf(pair.native, 0.3 - h, 0.7)) / (2 * h),
                 byS = (sumOf(pair.native, 0.3, 0.7 + h) - sumOf(pair.native, 0.3, 0.7 - h)) / (2 * h);
    auto expectNear = [&](const std::pair<Tensor, Tensor> &found) {
      EXPECT_NEAR(found.first.item<double>(), byX, 1e-6 * (1 + std::abs(byX))) << pair.name;
      EXPECT_NEAR(found.second.item<double>(), byS, 1e-6 * (1 + std::abs(byS))) << pair.name;
    };
    for (PathFunction path : {pair.native, pair.masked}) {
      expectNear(function(around(path))(start(), examples()));
      expectNear(function(inside(path))(start(), examples()));
    }
  }
}

// No more than twice what masked paths keep of an iteration: a break needs where it was, too.
TEST(Kept, BranchesKeepNoMoreThanMasks) {
  for (const Pair &pair : kPairs) {
    auto ofAround = [&](PathFunction path) {
      return keptBytes(function(around(path)).ir("simplified", start(), examples()));
    };
    auto ofInside = [&](PathFunction path) {
      return keptBytes(function(inside(path)).ir("simplified", start(), examples()));
    };
    EXPECT_GT(ofAround(pair.native), 0u) << pair.name;
    EXPECT_LE(ofAround(pair.native), 2 * ofAround(pair.masked)) << pair.name;
    EXPECT_LE(ofInside(pair.native), 2 * ofInside(pair.masked)) << pair.name;
  }
}

// Nor are the steps of all examples kept, or how far the loop is for each of them.
TEST(Kept, OfAnIterationIsTheStateAlone) {
  const std::size_t state = 8 * kExamples, number = 8;
  auto kept = [](PathFunction path) { return keptBytes(function(around(path)).ir("simplified", start(), examples())); };
  EXPECT_LE(kept(byIf), state + number);
  // Where the step is taken before the loop goes on, it is a loop variable, too.
  EXPECT_LE(kept(byWhere), 2 * state + number);
  EXPECT_LE(kept(byNestedIfs), 2 * state + number);
}

TEST(Kept, SecondDerivativesAreRight) {
  constexpr double h = 1e-5;
  for (const Pair &pair : kPairs) {
    auto first = [&](double x) {
      return function(around(pair.masked))(std::pair(scalar<double>(x), scalar<double>(0.7)), examples())
          .first.item<double>();
    };
    auto second = function([&](const Tensor &x, const Tensor &z) {
      return grad([&](const Tensor &x) {
        return grad([&](const Tensor &x) {
          return sum(vmap([&](const Tensor &z) { return pair.native(x, scalar<double>(0.7), z); })(z));
        })(x);
      })(x);
    });
    const double expected = (first(0.3 + h) - first(0.3 - h)) / (2 * h);
    EXPECT_NEAR(second(scalar<double>(0.3), examples()).item<double>(), expected, 1e-5 * (1 + std::abs(expected)))
        << pair.name;
  }
}

// What all iterations compute alike is done once, forward and in reverse, and none keeps it.
TEST(Kept, NothingThatAllIterationsComputeAlike) {
  auto path = [](const Tensor &x, const Tensor &w) {
    Tensor h = x;
    for (Tensor i : range(20)) {
      h = tanh(matmul(h, matmul(w, w)));
      if (sum(h) > 100)
        break;
    }
    return sum(h);
  };
  Tensor x = reshape(sin(iota({6}, DType::Float64)), {1, 6}),
         w = reshape(cos(iota({36}, DType::Float64)) * 0.4, {6, 6});
  auto f =
      function([&](const Tensor &x, const Tensor &w) { return grad([&](const Tensor &w) { return path(x, w); })(w); });
  EXPECT_LE(keptBytes(f.ir("simplified", x, w)), 3 * 6 * 8u + 16);
  auto whole = [&](const Tensor &w) { return path(x, w); };
  Tensor found = f(x, w);
  for (std::int64_t i : {0, 7, 35}) {
    Tensor direction = reshape(cast(iota({36}, DType::Int64) == i, DType::Float64), {6, 6});
    const double expected = (whole(w + 1e-6 * direction) - whole(w - 1e-6 * direction)).item<double>() / 2e-6;
    EXPECT_NEAR(found.to_vector<double>()[static_cast<std::size_t>(i)], expected, 1e-7);
  }
}

// The number of iterations does not change what each of them keeps.
TEST(Kept, GrowsWithTheStateOfIterations) {
  auto bytes = [](std::int64_t steps) {
    return keptBytes(function(around(byIf)).ir("simplified", start(), zeros({kExamples, steps}, DType::Float64)));
  };
  EXPECT_EQ(bytes(10), bytes(1000));
  EXPECT_EQ(bytes(10), bytes(100'000));
}
