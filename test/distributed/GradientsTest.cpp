// Derivatives of collectives: those of the sum over ranks of each rank's loss.
#include "test/distributed/Ranks.h"

#include <cmath>

using namespace calque;
using namespace calque::testing;
using distributed::Reduction;

namespace {

using Loss = std::function<Tensor(const Tensor &)>;

// The sum of all ranks' values of f at x, with x of one rank moved by `step` times a direction.
double total(const Loss &f, const Tensor &x, const Tensor &direction, double step, int moved) {
  const Tensor at = rank() == moved ? x + step * direction : x;
  return distributed::all_reduce(f(at)).item<double>();
}

// Compares derivatives of a loss, of both modes, eager and compiled, with differences of the ranks' sum.
void checkDerivatives(const Loss &f, const Tensor &x, bool isSmooth = true) {
  const Tensor direction = cast(tensor({0.5f, -1.0f}), DType::Float64) * double(rank() + 1);
  auto gradient = [&](const Tensor &a) { return grad(f)(a); };
  auto tangent = [&](const Tensor &a) { return jvp(f, a, direction).second; };
  const Tensor slope = gradient(x), compiledSlope = function<Tensor(const Tensor &)>(gradient)(x);
  EXPECT_EQ(slope.to_vector<double>(), compiledSlope.to_vector<double>());
  const double forward = tangent(x).item<double>();
  EXPECT_DOUBLE_EQ(forward, function<Tensor(const Tensor &)>(tangent)(x).item<double>());
  const double h = 1e-5;
  for (int moved = 0; moved < ranks(); ++moved) {
    const double difference = (total(f, x, direction, h, moved) - total(f, x, direction, -h, moved)) / (2 * h);
    if (rank() == moved) {
      const double expected = sum(slope * direction).item<double>();
      EXPECT_NEAR(expected, difference, 1e-6 * std::max(1.0, std::abs(difference))) << "rank " << moved;
    }
  }
  // The tangents of all ranks' losses add up to what the gradients of all ranks say.
  EXPECT_NEAR(distributed::all_reduce(full({}, forward, DType::Float64)).item<double>(),
              distributed::all_reduce(sum(slope * direction)).item<double>(),
              1e-9 * std::max(1.0, std::abs(forward)) * 10);
  if (isSmooth) { // second order: differences of the gradient
    auto product = [&](const Tensor &a) { return sum(gradient(a) * direction); };
    const Tensor second = grad(product)(x), compiled = function<Tensor(const Tensor &)>(grad(product))(x);
    const Tensor difference = (gradient(x + h * direction) - gradient(x - h * direction)) / (2 * h);
    for (int i = 0; i < 2; ++i) {
      EXPECT_NEAR(second.to_vector<double>()[i], difference.to_vector<double>()[i],
                  1e-5 * std::max(10.0, std::abs(second.to_vector<double>()[i])));
      EXPECT_NEAR(compiled.to_vector<double>()[i], second.to_vector<double>()[i],
                  1e-13 * std::max(10.0, std::abs(second.to_vector<double>()[i])));
    }
  }
}

Tensor point() { return cast(tensor({1.0f, 0.5f}), DType::Float64) + 0.25 * rank(); }
// Differs from rank to rank, so that ranks can't be mixed up unnoticed.
double weight() { return 1 + 0.5 * rank(); }

} // namespace

TEST(Gradients, OfSums) {
  checkDerivatives([](const Tensor &x) { return weight() * sum(square(distributed::all_reduce(square(x)))); }, point());
  checkDerivatives(
      [](const Tensor &x) { return weight() * sum(exp(distributed::all_reduce(x, {.op = Reduction::Mean}))); },
      point());
  checkDerivatives(
      [](const Tensor &x) { return weight() * sum(square(distributed::all_reduce(x, {.reproducible = true}))); },
      point());
  checkDerivatives(
      [](const Tensor &x) {
        std::vector<Tensor> parts = distributed::all_reduce({square(x), sum(x)});
        return weight() * sum(parts[0]) * parts[1];
      },
      point());
}

TEST(Gradients, OfOtherReductions) {
  checkDerivatives(
      [](const Tensor &x) { return weight() * sum(square(distributed::all_reduce(x, {.op = Reduction::Max}))); },
      point());
  checkDerivatives(
      [](const Tensor &x) { return weight() * sum(square(distributed::all_reduce(x, {.op = Reduction::Min}))); },
      point());
  checkDerivatives(
      [](const Tensor &x) { return weight() * sum(square(distributed::all_reduce(x, {.op = Reduction::Prod}))); },
      point());
  // Equal elements share; a zero does not spoil the product's.
  const Tensor ones = full({2}, 1.0, DType::Float64);
  const double all = ranks() * (1 + 0.5 * (ranks() - 1) / 2);
  inBothModes(grad([](const Tensor &x) { return weight() * sum(distributed::all_reduce(x, {.op = Reduction::Max})); }),
              ones, {all / ranks(), all / ranks()});
  inBothModes(grad([](const Tensor &x) { return sum(distributed::all_reduce(x, {.op = Reduction::Prod})); }),
              full({1}, rank() == 0 ? 0.0 : 2.0, DType::Float64),
              {rank() == 0    ? ranks() * std::pow(2.0, ranks() - 1)
               : ranks() == 1 ? 1.0
                              : 0.0});
}

TEST(Gradients, OfGathersAndTheirTransposes) {
  checkDerivatives([](const Tensor &x) { return weight() * sum(exp(0.1 * distributed::all_gather(x)) * x[0]); },
                   point());
  checkDerivatives(
      [](const Tensor &x) {
        Tensor all = concat(std::vector<Tensor>(static_cast<std::size_t>(ranks()), square(x)));
        return weight() * sum(square(distributed::reduce_scatter(all)));
      },
      point());
  const int last = ranks() - 1;
  checkDerivatives([&](const Tensor &x) { return weight() * sum(square(distributed::broadcast(x, {.root = last}))); },
                   point());
  checkDerivatives([&](const Tensor &x) { return weight() * sum(square(distributed::reduce(x, {.root = last}))); },
                   point());
  checkDerivatives([&](const Tensor &x) { return weight() * sum(square(distributed::gather(x, {.root = last}))); },
                   point());
  checkDerivatives(
      [](const Tensor &x) {
        Tensor all = concat(std::vector<Tensor>(static_cast<std::size_t>(ranks()), square(x)));
        return weight() * sum(square(distributed::scatter(all)) + sum(square(distributed::all_to_all(all))));
      },
      point());
}

TEST(Gradients, OfNeighbours) {
  checkDerivatives([](const Tensor &x) { return weight() * sum(square(distributed::shift(x, 1)) * x); }, point());
  checkDerivatives(
      [](const Tensor &x) { return weight() * sum(square(distributed::shift(x, 1, {.periodic = false}))); }, point());
  checkDerivatives([](const Tensor &x) { return weight() * sum(exp(distributed::halo_exchange(x))); }, point());
}

TEST(Gradients, ThroughBranchesLoopsAndCheckpoints) {
  checkDerivatives(
      [](const Tensor &x) {
        Tensor y = square(x);
        if (sum(distributed::all_reduce(y)) > 0.0)
          y = square(distributed::all_reduce(y)) * x;
        else
          y = distributed::all_reduce(y);
        return weight() * sum(y);
      },
      point());
  checkDerivatives(
      [](const Tensor &x) {
        Tensor y = x;
        for (int i = 0; i < 3; ++i)
          y = sin(distributed::all_reduce(y * x));
        return weight() * sum(y);
      },
      point());
  checkDerivatives(
      [](const Tensor &x) {
        using State = std::pair<Tensor, Tensor>;
        auto next = [&](const State &s) { return State(s.first + 1, sin(distributed::all_reduce(s.second * x))); };
        Tensor y = while_loop([](const State &s) { return s.first < 3; }, next, State(scalar(0), x)).second;
        return weight() * sum(y);
      },
      point());
  auto block = checkpoint([](const Tensor &x) { return exp(0.1 * distributed::all_reduce(square(x))); });
  checkDerivatives([&](const Tensor &x) { return weight() * sum(square(block(x))); }, point());
}

TEST(Gradients, RepeatNoCollectiveThatNothingNeeds) {
  auto count = [](const std::string &text) {
    std::size_t n = 0;
    for (std::size_t at = 0; (at = text.find("calque.ordered_extern", at)) != std::string::npos; ++at)
      ++n;
    return n;
  };
  auto slope =
      function<Tensor(const Tensor &)>(grad([](const Tensor &x) { return sum(square(distributed::all_reduce(x))); }));
  EXPECT_EQ(count(slope.ir("differentiated", point())), 2u); // the sum, and that of cotangents
  // jvp: that of values, and that of tangents.
  auto tangent = function<Tensor(const Tensor &)>([](const Tensor &x) {
    return jvp([](const Tensor &a) { return sum(distributed::all_reduce(a)); }, x, x).second;
  });
  EXPECT_EQ(count(tangent.ir("differentiated", point())), 2u);
}

TEST(Gradients, OfAFunctionThatATapeCalls) {
  auto f = function([](const Tensor &x) { return distributed::all_reduce(square(x)); });
  const Tensor x = point();
  GradientTape tape;
  tape.watch(x);
  Tensor y = sum(f(x)) * weight();
  const double all = ranks() * (1 + 0.5 * (ranks() - 1) / 2);
  EXPECT_EQ(tape.gradient(y, x)->to_vector<double>(), (2 * all * x).to_vector<double>());
}

TEST(Vmap, DoesACollectiveOnceForAllExamples) {
  const Tensor x = full({3, 2}, double(rank() + 1));
  const double s = ranks() * (ranks() + 1) / 2.0;
  auto mapped = [](const Loss &f) { return [f](const Tensor &a) { return vmap(f)(a); }; };
  inBothModes(mapped([](const Tensor &a) { return distributed::all_reduce(a); }), x, std::vector<double>(6, s));
  std::vector<double> gathered;
  for (int example = 0; example < 3; ++example)
    for (double each : ofRanks([](int i) { return std::vector<double>(2, i + 1.0); }))
      gathered.push_back(each);
  inBothModes(mapped([](const Tensor &a) { return distributed::all_gather(a); }), x, gathered);
  inBothModes(mapped([](const Tensor &a) { return distributed::scatter(distributed::all_gather(a)); }), x,
              std::vector<double>(6, rank() + 1.0));
  inBothModes(mapped([](const Tensor &a) { return distributed::shift(a, 1); }), x,
              std::vector<double>(6, (rank() + ranks() - 1) % ranks() + 1.0));
  inBothModes(mapped(grad([](const Tensor &a) { return sum(square(distributed::all_reduce(a))); })), x,
              std::vector<double>(6, 2 * s * ranks()));
  // One operand has examples, and the other is the same for all.
  inBothModes(
      [](const Tensor &a) {
        const Tensor same = full({2}, double(rank()));
        return vmap([&](const Tensor &row) {
          std::vector<Tensor> parts = distributed::all_reduce({row, same});
          return parts[0] + parts[1];
        })(a);
      },
      x, std::vector<double>(6, s + ranks() * (ranks() - 1) / 2.0));
  auto f = function(mapped([](const Tensor &a) { return distributed::all_reduce(a); }));
  const std::string ir = f.ir("differentiated", x);
  EXPECT_CONTAINS(ir, "symbol = \"all_reduce[world,sum]\"");
  EXPECT_EQ(ir.find("symbol ="), ir.rfind("symbol =")) << ir;
}
