// The Rosenbrock method Rodas5P for stiff equations.
//
// The stages solve (I / (h gamma) - J) k_i = f(t + c_i h, u_i) + h d_i f_t + sum_j C_ij / h k_j with
// u_i = y + sum_j a_ij k_j: the form of Hairer and Wanner, Solving ordinary differential equations II, IV.7 (7.25),
// without a product of J. J and f_t are exact, by forward mode.
#include "Ode.h"
#include "calque/transforms.h"
#include "linear/Inverse.h"

#include <array>

namespace calque::solvers::detail {

namespace {

// Steinebach: Construction of Rosenbrock-Wanner method Rodas5P, 2023, table 3.
constexpr std::size_t kStages = 8;
constexpr double kGamma = 0.21193756319429014;
const std::vector<std::vector<double>> kA = {
    {},
    {3.0},
    {2.849394379747939, 0.45842242204463923},
    {-6.954028509809101, 2.489845061869568, -10.358996098473584},
    {2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641},
    {-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946},
    {-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946, 1},
    {-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946, 1, 1}};
const std::vector<std::vector<double>> kC = {
    {},
    {-14.155112264123755},
    {-17.97296035885952, -2.859693295451294},
    {147.12150275711716, -1.41221402718213, 71.68940251302358},
    {165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306},
    {24.854864614690072, -3.0009227002832186, 47.4931110020768, 5.5814197821558125, -0.6610691825249471},
    {30.91273214028599, -3.1208243349937974, 77.79954646070892, 34.28646028294783, -19.097331116725623,
     -28.087943162872662},
    {37.80277123390563, -3.2571969029072276, 112.26918849496327, 66.9347231244047, -40.06618937091002,
     -54.66780262877968, -9.48861652309627}};
constexpr std::array<double, kStages> kTimes = {
    0, 0.6358126895828704, 0.4095798393397535, 0.9769306725060716, 0.4288403609558664, 1, 1, 1};
constexpr std::array<double, kStages> kD = {
    0.21193756319429014, -0.42387512638858027, -0.3384627126235924, 1.8046452872882734, 2.325825639765069, 0, 0, 0};
// The interpolant: (1 - s) y + s (y_next + (1 - s) (h_0 + s (h_1 + s h_2))).
const std::vector<std::vector<double>> kDense = {
    {25.948786856663858, -2.5579724845846235, 10.433815404888879, -2.3679251022685204, 0.524948541321073,
     1.1241088310450404, 0.4272876194431874, -0.17202221070155493},
    {-9.91568850695171, -0.9689944594115154, 3.0438037242978453, -24.495224566215796, 20.176138334709044,
     15.98066361424651, -6.789040303419874, -6.710236069923372},
    {11.419903575922262, 2.8879645146136994, 72.92137995996029, 80.12511834622643, -52.072871366152654,
     -59.78993625266729, -0.15582684282751913, 4.883087185713722}};

class Rosenbrock : public Method {
public:
  int order() const override { return 5; }
  std::vector<Tensor> begin(const Problem &problem, const State &, const State &, const Tensor &) const override {
    return controller.begin(problem.dtype);
  }

  Attempt attempt(const Problem &problem, const Tensor &t, const Tensor &h, const Tensor &end, const State &state,
                  const std::vector<Tensor> &memory) const override {
    const std::int64_t n = elementsOf(state);
    const DType dtype = problem.dtype;
    auto f = [&](const Tensor &time, const Tensor &y) { return flatten(problem.f(time, unflatten(y, state))); };
    const Tensor y = flatten(state);

    const auto [slope, slopeOfTime] = jvp([&](const Tensor &time) { return f(time, y); }, t, number(1, dtype));
    const Tensor jacobian = jacobianOf([&](const Tensor &x) { return f(t, x); }, y, n);
    const Tensor solver = inverse(eye(n, dtype) / (h * kGamma) - jacobian);

    std::vector<State> k; // of one tensor each
    Tensor next = y;
    const Tensor reciprocal = 1 / h;
    for (std::size_t i = 0; i < kStages; ++i) {
      next = i == 0 ? y : y + weighted(kA[i], k)[0];
      Tensor right = i == 0 ? slope : f(kTimes[i] == 1 ? end : t + kTimes[i] * h, next);
      if (kD[i] != 0)
        right = right + kD[i] * h * slopeOfTime;
      if (i > 0)
        right = right + reciprocal * weighted(kC[i], k)[0];
      k.push_back({matmulVector(solver, right)});
    }
    // The last stage is the error estimate, and the last part of the step.
    next = next + k.back()[0];
    const State ends = unflatten(next, state);
    const Controller::Decision decision =
        controller.decide(squaredNorm(problem, unflatten(k.back()[0], state), state, ends), memory);
    auto dense = [k, state, ends](const Tensor &) {
      std::vector<State> states = {state, ends};
      for (const std::vector<double> &row : kDense)
        states.push_back(unflatten(weighted(row, k)[0], state));
      return states;
    };
    // One for each column of the Jacobian and for the derivative by the time, and one for each stage after the first.
    const Tensor evaluations = scalar(static_cast<std::int64_t>(kStages) + n);
    return {decision.accepted, ends, decision.factor, evaluations, decision.memory, dense};
  }

  // {y, y_next, h_0, h_1, h_2}.
  std::size_t denseStates() const override { return 2 + kDense.size(); }
  State interpolate(const std::vector<State> &dense, const Tensor &, const Tensor &s) const override {
    const Tensor rest = 1 - s;
    State result;
    for (std::size_t i = 0; i < dense[0].size(); ++i)
      result.push_back(rest * dense[0][i] +
                       s * (dense[1][i] + rest * (dense[2][i] + s * (dense[3][i] + s * dense[4][i]))));
    return result;
  }

private:
  static Tensor matmulVector(const Tensor &a, const Tensor &x) { return contract(a, x, {}, {}, {1}, {0}); }
  Controller controller = Controller::of(5, 0);
};

} // namespace

std::unique_ptr<Method> rosenbrockMethod() { return std::make_unique<Rosenbrock>(); }

} // namespace calque::solvers::detail
