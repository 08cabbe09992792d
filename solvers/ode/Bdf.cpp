// Backward differentiation of variable order, in steps that stay equal as long as possible.
//
// The method keeps the backward differences D_0 ... D_7 of the solution. A step of order q predicts the next state as
// D_0 + ... + D_q, and solves c f(t, y) = psi + d for the correction d = y - predicted, with c = h / alpha_q and
// psi = (gamma_1 D_1 + ... + gamma_q D_q) / alpha_q. Shampine, Reichelt: The MATLAB ODE suite, 1997. The control of
// steps, orders and Newton's iterations is that of SciPy's BDF.
#include "Ode.h"
#include "calque/custom_gradient.h"
#include "linear/Inverse.h"

#include <array>
#include <cmath>

namespace calque::solvers::detail {

namespace {

constexpr std::int64_t kMostOrder = 5;
constexpr std::size_t kDifferences = kMostOrder + 3;
constexpr int kMostIterations = 4;
constexpr double kLeastFactor = 0.2, kMostFactor = 10;

// For the orders 0 to 5.
struct Coefficients {
  std::vector<double> gamma, alpha, error;
};
const Coefficients kOf = [] {
  const std::array<double, kMostOrder + 1> kappa = {0, -0.1850, -1.0 / 9, -0.0823, -0.0415, 0};
  Coefficients of;
  double gamma = 0;
  for (std::size_t order = 0; order <= kMostOrder; ++order) {
    if (order > 0)
      gamma += 1.0 / static_cast<double>(order);
    of.gamma.push_back(gamma);
    of.alpha.push_back((1 - kappa[order]) * gamma);
    of.error.push_back(kappa[order] * gamma + 1.0 / static_cast<double>(order + 1));
  }
  return of;
}();

// The entry of a table for an order.
Tensor entry(const std::vector<double> &table, const Tensor &order, DType dtype) {
  return gather(cast(tensor(table), dtype), order);
}

// What is kept between attempts.
struct Memory {
  Tensor h;              // the step of the differences
  Tensor order;          // int64
  Tensor equal;          // how many steps of this size and order were taken, int64
  Tensor c;              // of the matrix
  Tensor isFresh;        // whether the matrix belongs to the present state, int64 0 or 1; 2: it must be made anew
  Tensor solver;         // the inverse of I - c J
  std::vector<Tensor> d; // the differences

  std::vector<Tensor> list() const {
    std::vector<Tensor> all = {h, order, equal, c, isFresh, solver};
    all.insert(all.end(), d.begin(), d.end());
    return all;
  }
  static Memory of(const std::vector<Tensor> &all) {
    return {all[0], all[1], all[2], all[3], all[4], all[5], std::vector<Tensor>(all.begin() + 6, all.end())};
  }
};

// The differences for steps that are `factor` times as long. Rows above the order stay.
std::vector<Tensor> rescaled(const std::vector<Tensor> &d, const Tensor &order, const Tensor &factor) {
  // D'_k = sum_j U_jk sum_i R_ij D_i with R_ij = prod_m (m - 1 - factor j) / m and U the R of factor 1.
  std::vector<Tensor> sums;
  for (int j = 0; j <= kMostOrder; ++j) {
    Tensor total = d[0], r = number(1, factor.dtype());
    for (int i = 1; i <= kMostOrder; ++i) {
      r = r * ((static_cast<double>(i - 1) - static_cast<double>(j) * factor) * (1.0 / i));
      total = total + where(order >= i, r, 0) * d[static_cast<std::size_t>(i)];
    }
    sums.push_back(total);
  }
  std::vector<Tensor> result = d;
  for (int k = 0; k <= kMostOrder; ++k) {
    double u = 1;
    Tensor total = sums[0];
    for (int j = 1; j <= k; ++j) {
      u *= static_cast<double>(j - 1 - k) / j;
      total = total + u * sums[static_cast<std::size_t>(j)];
    }
    const auto row = static_cast<std::size_t>(k);
    result[row] = where(order >= k, total, d[row]);
  }
  return result;
}

// Zero, whose derivative by the residual is the inverse of I - c J with J at the solution: the derivative of the
// implicit function theorem. The matrix of the iterations would not do, as it belongs to an earlier state. Without a
// gradient nothing of this is computed.
Tensor correction(const Tensor &residual, const std::function<Tensor()> &matrix) {
  auto make = custom_gradient([&](const Tensor &r) {
    auto pullback = [matrix](const Tensor &g) { return contract(matrix(), g, {}, {}, {0}, {0}); };
    return std::pair(zeros(r.shape(), r.dtype()), pullback);
  });
  return make(residual);
}

struct Newton {
  Tensor y, d, norm, iterations, converged, failed;
};

class Bdf : public Method {
public:
  int order() const override { return 2; }

  std::vector<Tensor> begin(const Problem &problem, const State &y, const State &slope,
                            const Tensor &h) const override {
    const std::int64_t n = elementsOf(y);
    const Tensor vector = flatten(y), none = zeros({n}, problem.dtype);
    Memory memory{h,
                  scalar<std::int64_t>(1),
                  scalar<std::int64_t>(0),
                  number(0, problem.dtype),
                  scalar<std::int64_t>(2),
                  zeros({n, n}, problem.dtype),
                  std::vector<Tensor>(kDifferences, none)};
    memory.d[0] = vector;
    memory.d[1] = h * flatten(slope);
    return memory.list();
  }

  Attempt attempt(const Problem &problem, const Tensor &, const Tensor &h, const Tensor &end, const State &state,
                  const std::vector<Tensor> &kept) const override {
    const std::int64_t n = elementsOf(state);
    const DType dtype = problem.dtype;
    Memory memory = Memory::of(kept);
    auto f = [&](const Tensor &y) { return flatten(problem.f(end, unflatten(y, state))); };
    auto norm = [&](const Tensor &x, const Tensor &y) {
      const State at = unflatten(y, state);
      return squaredNorm(problem, unflatten(x, state), at, at);
    };

    const Tensor order = memory.order, isRescaled = stop_gradient(h) != memory.h;
    memory.equal = where(isRescaled, 0, memory.equal);
    memory.d = cond(isRescaled, [&] { return rescaled(memory.d, order, h / memory.h); }, [&] { return memory.d; });
    memory.h = stop_gradient(h);
    const Tensor alpha = entry(kOf.alpha, order, dtype), c = h / alpha;
    Tensor predicted = memory.d[0], psi;
    for (std::size_t i = 1; i <= kMostOrder; ++i) {
      const Tensor part = where(order >= static_cast<std::int64_t>(i), memory.d[i], 0);
      predicted = predicted + part;
      psi = psi.defined() ? psi + kOf.gamma[i] * part : kOf.gamma[i] * part;
    }
    psi = psi / alpha;

    // All iterations are without derivatives.
    const Tensor fixedC = stop_gradient(c), fixedPsi = stop_gradient(psi), begin = stop_gradient(predicted);
    auto matrixAt = [&, identity = eye(n, dtype)](const Tensor &y, const Tensor &factor) {
      return inverse(identity - factor * jacobianOf(f, y, n));
    };
    const Tensor isNew = (fixedC != memory.c) | (memory.isFresh == 2);
    memory.solver = stop_gradient(
        cond(isNew, [&] { return stop_gradient(matrixAt(begin, fixedC)); }, [&] { return memory.solver; }));
    memory.c = fixedC;
    const Newton found = iterate(problem, f, norm, begin, fixedC, fixedPsi, memory.solver);

    const Tensor fixed = stop_gradient(found.d), residual = c * f(predicted + fixed) - psi - fixed;
    auto matrix = [=] { return matrixAt(stop_gradient(predicted + fixed), fixedC); };
    const Tensor d = fixed + correction(residual, matrix), next = predicted + d;

    const Tensor error = entry(kOf.error, order, dtype), fixedNext = stop_gradient(next);
    const Tensor squared = square(error) * norm(fixed, fixedNext);
    const Tensor accepted = found.converged & (squared <= 1);
    const Tensor safety = 0.9 * (2.0 * kMostIterations + 1) / (2.0 * kMostIterations + cast(found.iterations, dtype));
    const Tensor rejection = where(found.converged, maximum(kLeastFactor, safety * power(squared, order + 1, dtype)),
                                   where(isNew | (memory.isFresh == 1), 0.5, number(1, dtype)));

    // The differences after the step.
    std::vector<Tensor> differences(kDifferences);
    Tensor total = d, above = differenceAt(memory.d, order + 1);
    for (std::size_t i = kDifferences; i-- > 0;) {
      const auto row = static_cast<std::int64_t>(i);
      total = where(order >= row, total + memory.d[i], total);
      differences[i] = where(order >= row, total, where(order + 1 == row, d, where(order + 2 == row, d - above, 0)));
    }

    // After order + 1 equal steps, the order is the one of the longest next step.
    const Tensor equal = memory.equal + 1, mayChange = equal > order;
    const Tensor lower = square(entry(kOf.error, maximum(order - 1, 0), dtype)) *
                         norm(stop_gradient(differenceAt(differences, order)), fixedNext);
    const Tensor higher = square(entry(kOf.error, minimum(order + 1, kMostOrder), dtype)) *
                          norm(stop_gradient(differenceAt(differences, order + 2)), fixedNext);
    const Tensor byLower = where(order > 1, power(lower, order, dtype), 0), bySame = power(squared, order + 1, dtype);
    const Tensor byHigher = where(order < kMostOrder, power(higher, order + 2, dtype), 0);
    const Tensor best = maximum(maximum(byLower, bySame), byHigher);
    const Tensor change = where(bySame == best, 0, where(byLower == best, std::int64_t(-1), scalar<std::int64_t>(1)));
    const Tensor growth = where(mayChange, minimum(kMostFactor, safety * best), 1);

    Memory after = memory;
    after.order = where(accepted & mayChange, order + change, order);
    after.equal = where(accepted, where(mayChange, 0, equal), memory.equal);
    // A matrix is fresh for the state for which it was made. Where the iteration fails with an older one, a new one is
    // made before the step becomes shorter.
    const Tensor retries = logical_not(found.converged) & logical_not(isNew) & (memory.isFresh != 1);
    after.isFresh = where(accepted, 0, where(retries, 2, where(isNew, scalar<std::int64_t>(1), memory.isFresh)));
    for (std::size_t i = 0; i < kDifferences; ++i)
      after.d[i] = where(accepted, differences[i], memory.d[i]);

    auto dense = [differences, order, state](const Tensor &) {
      std::vector<State> states;
      for (std::size_t i = 0; i <= kMostOrder; ++i)
        states.push_back(unflatten(where(order >= static_cast<std::int64_t>(i), differences[i], 0), state));
      return states;
    };
    const Tensor evaluations = found.iterations + where(isNew, n, scalar<std::int64_t>(0));
    return {accepted, unflatten(next, state), where(accepted, growth, rejection), evaluations, after.list(), dense};
  }

  std::size_t denseStates() const override { return kMostOrder + 1; }
  // The polynomial through the last states, from its differences.
  State interpolate(const std::vector<State> &dense, const Tensor &, const Tensor &fraction) const override {
    State result = dense[0];
    Tensor product;
    for (std::size_t k = 1; k < dense.size(); ++k) {
      const double j = static_cast<double>(k - 1);
      const Tensor x = (fraction + (j - 1)) * (1 / (j + 1));
      product = product.defined() ? product * x : x;
      for (std::size_t leaf = 0; leaf < result.size(); ++leaf)
        result[leaf] = result[leaf] + product * dense[k][leaf];
    }
    return result;
  }

private:
  // error^(-1 / exponent) of a squared error.
  static Tensor power(const Tensor &squared, const Tensor &exponent, DType dtype) {
    return exp(-0.5 * log(maximum(squared, 1e-20)) / cast(exponent, dtype));
  }
  static Tensor differenceAt(const std::vector<Tensor> &d, const Tensor &row) {
    Tensor result = d[1];
    for (std::size_t i = 2; i < d.size(); ++i)
      result = where(row == static_cast<std::int64_t>(i), d[i], result);
    return result;
  }

  // Solves c f(y) = psi + d by Newton's method with a matrix that stays. Hairer, Wanner: Solving ordinary differential
  // equations II, IV.8.
  template <typename F, typename Norm>
  static Newton iterate(const Problem &problem, const F &f, const Norm &norm, const Tensor &begin, const Tensor &c,
                        const Tensor &psi, const Tensor &solver) {
    const DType dtype = problem.dtype;
    const Tensor rtol = min(problem.rtol);
    const Tensor tolerance =
        where(rtol > 0, maximum(10 * epsilon(dtype) / where(rtol > 0, rtol, 1), minimum(0.03, sqrt(rtol))), 0.03);
    const Tensor no = scalar(false);
    const Newton initial{begin, zeros(begin.shape(), dtype), number(0, dtype), scalar<std::int64_t>(0), no, no};
    auto goesOn = [](const Newton &at) {
      return (at.iterations < kMostIterations) & logical_not(at.converged | at.failed);
    };
    auto body = [&](const Newton &at) {
      const Tensor residual = c * f(at.y) - psi - at.d, change = contract(solver, residual, {}, {}, {1}, {0});
      const Tensor size = sqrt(norm(change, begin)), isFirst = at.iterations == 0;
      const Tensor rate = where(isFirst, 0, size / where(at.norm == 0, 1, at.norm));
      const Tensor rest = 1 / where(rate < 1, 1 - rate, 1);
      const Tensor left = cast(kMostIterations - at.iterations, dtype);
      const Tensor isSlow = logical_not(isFirst) & ((rate >= 1) | (pow(rate, left) * rest * size > tolerance));
      const Tensor failed = isSlow | logical_not(isfinite(size));
      const Tensor converged =
          logical_not(failed) & ((size == 0) | (logical_not(isFirst) & (rate * rest * size < tolerance)));
      return Newton{where(failed, at.y, at.y + change),
                    where(failed, at.d, at.d + change),
                    size,
                    at.iterations + 1,
                    converged,
                    failed};
    };
    return while_loop(goesOn, body, initial);
  }
};

} // namespace

std::unique_ptr<Method> bdfMethod() { return std::make_unique<Bdf>(); }

} // namespace calque::solvers::detail
