// Explicit Runge-Kutta methods with an error estimate.
#include "Ode.h"
#include "Tableaus.h"

namespace calque::solvers::detail {

namespace {

// The weights of the stages at a fraction of the step, times that fraction: scalars.
Tensor polynomial(const std::vector<double> &coefficients, const Tensor &x) {
  Tensor value;
  for (auto at = coefficients.rbegin(); at != coefficients.rend(); ++at) {
    if (value.defined())
      value = value * x + *at;
    else if (*at != 0)
      value = number(*at, x.dtype());
  }
  return value.defined() ? value * x : value;
}

class ExplicitMethod : public Method {
public:
  ExplicitMethod(const Tableau &coefficients, int order, double beta)
      : tableau(coefficients), order_(order), controller(Controller::of(order, beta)) {}

  int order() const override { return order_; }

  // The memory is {controller..., f(t, y)...}.
  std::vector<Tensor> begin(const Problem &problem, const State &, const State &slope, const Tensor &) const override {
    std::vector<Tensor> memory = controller.begin(problem.dtype);
    memory.insert(memory.end(), slope.begin(), slope.end());
    return memory;
  }

  Attempt attempt(const Problem &problem, const Tensor &t, const Tensor &h, const Tensor &end, const State &y,
                  const std::vector<Tensor> &memory) const override {
    const std::size_t stages = tableau.c.size(), own = memory.size() - y.size();
    std::vector<State> k = {State(memory.begin() + static_cast<std::ptrdiff_t>(own), memory.end())};
    for (std::size_t i = 1; i < stages; ++i)
      k.push_back(problem.f(tableau.c[i] == 1 ? end : t + tableau.c[i] * h, combine(y, h, tableau.a[i], k)));
    const State next = combine(y, h, tableau.a[stages], k);
    k.push_back(problem.f(end, next));

    const Controller::Decision decision =
        controller.decide(squaredError(problem, h, y, next, k), std::span(memory).first(own));
    std::vector<Tensor> kept = decision.memory;
    for (const Tensor &x : choose(decision.accepted, k.back(), k.front()))
      kept.push_back(x);
    auto dense = [this, &problem, t, h, y, next, k](const Tensor &wanted) {
      return denseOf(problem, t, h, y, next, k, wanted);
    };
    const Tensor evaluations = scalar(static_cast<std::int64_t>(stages));
    return {decision.accepted, next, decision.factor, evaluations, kept, dense};
  }

  std::size_t denseStates() const override { return tableau.c.size() + 2; }
  State interpolate(const std::vector<State> &dense, const Tensor &h, const Tensor &fraction) const override {
    State result = dense[0];
    for (std::size_t i = 0; i + 1 < dense.size(); ++i) {
      const Tensor weight = polynomial(tableau.interpolant[i], fraction);
      if (!weight.defined())
        continue;
      const Tensor scaled = h * weight;
      for (std::size_t leaf = 0; leaf < result.size(); ++leaf)
        result[leaf] = result[leaf] + scaled * dense[i + 1][leaf];
    }
    return result;
  }

protected:
  virtual Tensor squaredError(const Problem &problem, const Tensor &h, const State &y, const State &next,
                              const std::vector<State> &k) const {
    State error = weighted(tableau.error, k);
    for (Tensor &x : error)
      x = h * x;
    return squaredNorm(problem, error, y, next);
  }

  // {y, the stages..., the derivative at the end}.
  virtual std::vector<State> denseOf(const Problem &, const Tensor &, const Tensor &, const State &y, const State &,
                                     const std::vector<State> &k, const Tensor &) const {
    std::vector<State> dense = {y};
    dense.insert(dense.end(), k.begin(), k.end());
    return dense;
  }

  const Tableau &tableau;

private:
  int order_;
  Controller controller;
};

// DOP853. Its error estimate combines two, and its interpolant has three stages more.
class DormandPrince8 : public ExplicitMethod {
public:
  DormandPrince8() : ExplicitMethod(kDormandPrince8, 8, 0) {}
  std::int64_t interpolantEvaluations() const override {
    return static_cast<std::int64_t>(kDormandPrince8More.c.size());
  }

protected:
  // Hairer, Norsett, Wanner, II.10 (10.17): err5^2 / sqrt(err5^2 + 0.01 err3^2).
  Tensor squaredError(const Problem &problem, const Tensor &h, const State &y, const State &next,
                      const std::vector<State> &k) const override {
    const Tensor fifth = squaredNorm(problem, weighted(kDormandPrince8Error5, k), y, next);
    const Tensor third = squaredNorm(problem, weighted(kDormandPrince8Error3, k), y, next);
    const Tensor denominator = fifth + 0.01 * third;
    return where(denominator == 0, 0, square(h * fifth) / where(denominator == 0, 1, denominator));
  }

  // {y, F_0 ... F_6}, the coefficients of Hairer, Norsett, Wanner, II.6 (6.20).
  std::vector<State> denseOf(const Problem &problem, const Tensor &t, const Tensor &h, const State &y,
                             const State &next, const std::vector<State> &k, const Tensor &wanted) const override {
    auto compute = [&] {
      std::vector<State> all = k, f(3, y);
      for (std::size_t i = 0; i < kDormandPrince8More.c.size(); ++i)
        all.push_back(problem.f(t + kDormandPrince8More.c[i] * h, combine(y, h, kDormandPrince8More.a[i], all)));
      for (std::size_t leaf = 0; leaf < y.size(); ++leaf) {
        f[0][leaf] = next[leaf] - y[leaf];
        f[1][leaf] = h * k.front()[leaf] - f[0][leaf];
        f[2][leaf] = f[0][leaf] - h * k.back()[leaf] - f[1][leaf];
      }
      for (const std::vector<double> &row : kDormandPrince8More.interpolant) {
        f.push_back(weighted(row, all));
        for (Tensor &x : f.back())
          x = h * x;
      }
      return f;
    };
    std::vector<State> dense = cond(wanted, compute, [&] { return std::vector<State>(denseStates() - 1, y); });
    dense.insert(dense.begin(), y);
    return dense;
  }

public:
  std::size_t denseStates() const override { return 8; }
  State interpolate(const std::vector<State> &dense, const Tensor &, const Tensor &fraction) const override {
    State result;
    for (std::size_t leaf = 0; leaf < dense[0].size(); ++leaf) {
      Tensor value = dense.back()[leaf] * fraction;
      for (std::size_t i = 1; i + 1 < dense.size(); ++i)
        value = (value + dense[dense.size() - 1 - i][leaf]) * (i % 2 == 0 ? fraction : 1 - fraction);
      result.push_back(dense[0][leaf] + value);
    }
    return result;
  }
};

} // namespace

std::unique_ptr<Method> rosenbrockMethod();
std::unique_ptr<Method> bdfMethod();

std::unique_ptr<Method> adaptiveMethod(OdeMethod method) {
  // The parts beta of the PI control are those of Hairer et al.
  switch (method) {
  case OdeMethod::BogackiShampine3:
    return std::make_unique<ExplicitMethod>(kBogackiShampine3, 3, 0.04);
  case OdeMethod::DormandPrince5:
    return std::make_unique<ExplicitMethod>(kDormandPrince5, 5, 0.04);
  case OdeMethod::Tsitouras5:
    return std::make_unique<ExplicitMethod>(kTsitouras5, 5, 0.04);
  case OdeMethod::DormandPrince8:
    return std::make_unique<DormandPrince8>();
  case OdeMethod::Rodas5P:
    return rosenbrockMethod();
  case OdeMethod::Bdf:
    return bdfMethod();
  case OdeMethod::Euler:
  case OdeMethod::Midpoint:
  case OdeMethod::RungeKutta4:
    break;
  }
  return nullptr;
}

} // namespace calque::solvers::detail
