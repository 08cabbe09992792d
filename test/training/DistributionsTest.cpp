// Random numbers of distributions: their distribution functions, moments, edges, errors, gradients; eagerly as
// compiled.
#include "Testing.h"
#include "test/operations/SpecialReferences.h"

#include <algorithm>

using namespace calque;
using namespace calque::testing;
using reference::Real;

namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kCount = 20000;

double normalCdf(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }
double gammaCdf(double a, double x) { return static_cast<double>(reference::gammainc_<Real>(a, std::max(x, 0.0))); }
double betaCdf(double a, double b, double x) { return static_cast<double>(reference::betainc_<Real>(a, b, x)); }
double studentCdf(double df, double t) {
  const double tail = betaCdf(df / 2, 0.5, df / (df + t * t)) / 2;
  return t > 0 ? 1 - tail : tail;
}

// The largest distance of the empirical distribution function, times the root of the number: above 1.95 for 1 of 1,000
// samples (Kolmogorov's distribution).
template <typename F> double kolmogorov(const Tensor &x, F cdf) {
  std::vector<double> values = valuesOf(x);
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  double worst = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double p = cdf(values[i]), k = static_cast<double>(i);
    worst = std::max({worst, p - k / n, (k + 1) / n - p});
  }
  return worst * std::sqrt(n);
}

// Pearson's statistic of counts against probabilities, less its mean, in standard deviations. Values of which fewer
// than 5 are expected are one class.
template <typename F> double pearson(const Tensor &x, int low, int high, F probability) {
  const std::vector<double> values = valuesOf(x);
  const auto n = static_cast<double>(values.size());
  std::vector<double> counts(static_cast<std::size_t>(high - low + 1));
  double others = 0, rest = 1, statistic = 0, classes = 0;
  for (double value : values)
    (value >= low && value <= high ? counts[static_cast<std::size_t>(value - low)] : others) += 1;
  for (int k = low; k <= high; ++k) {
    const double expected = n * probability(k), count = counts[static_cast<std::size_t>(k - low)];
    if (expected < 5) {
      others += count;
      continue;
    }
    rest -= probability(k);
    statistic += (count - expected) * (count - expected) / expected;
    classes += 1;
  }
  if (n * rest > 1)
    statistic += (others - n * rest) * (others - n * rest) / (n * rest);
  else
    EXPECT_LT(others, 8);
  return (statistic - classes) / std::sqrt(2 * classes);
}
double logPoisson(double rate, int k) { return k * std::log(rate) - rate - std::lgamma(k + 1.0); }
double binomial(double n, double p, int k) {
  return std::exp(std::lgamma(n + 1) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1) + k * std::log(p) +
                  (n - k) * std::log1p(-p));
}

const Tensor &state() {
  static const Tensor first = random::state(2024, 0);
  return first;
}
Tensor number(double x, DType dtype) { return makeTensor<double>(dtype, {x}, {}); }
} // namespace

TEST(Distributions, HaveTheirDistributionFunctions) {
  using Cdf = std::function<double(double)>;
  struct Case {
    const char *name;
    std::function<Tensor(DType)> draw;
    Cdf cdf;
  };
  const Shape shape{5000}; // some functions are integrals
  auto of = [](double x) { return [x](DType dtype) { return number(x, dtype); }; };
  const Case cases[] = {
      {"exponential", [&](DType t) { return random::stateless_exponential(shape, state(), of(2)(t)); },
       [](double x) { return -std::expm1(-x / 2); }},
      {"laplace", [&](DType t) { return random::stateless_laplace(shape, state(), of(1)(t), of(2)(t)); },
       [](double x) { return x < 1 ? std::exp((x - 1) / 2) / 2 : 1 - std::exp((1 - x) / 2) / 2; }},
      {"gumbel", [&](DType t) { return random::stateless_gumbel(shape, state(), of(1)(t), of(2)(t)); },
       [](double x) { return std::exp(-std::exp((1 - x) / 2)); }},
      {"logistic", [&](DType t) { return random::stateless_logistic(shape, state(), of(1)(t), of(2)(t)); },
       [](double x) { return 1 / (1 + std::exp((1 - x) / 2)); }},
      {"cauchy", [&](DType t) { return random::stateless_cauchy(shape, state(), of(1)(t), of(2)(t)); },
       [](double x) { return 0.5 + std::atan((x - 1) / 2) / M_PI; }},
      {"lognormal", [&](DType t) { return random::stateless_lognormal(shape, state(), of(0.5)(t), of(2)(t)); },
       [](double x) { return normalCdf((std::log(x) - 0.5) / 2); }},
      {"weibull", [&](DType t) { return random::stateless_weibull(shape, state(), of(1.5)(t)); },
       [](double x) { return -std::expm1(-std::pow(x, 1.5)); }},
      {"pareto", [&](DType t) { return random::stateless_pareto(shape, state(), of(3)(t)); },
       [](double x) { return 1 - std::pow(x, -3); }},
      {"rayleigh", [&](DType t) { return random::stateless_rayleigh(shape, state(), of(2)(t)); },
       [](double x) { return -std::expm1(-x * x / 8); }},
      {"truncated_normal",
       [&](DType t) { return random::stateless_truncated_normal(shape, state(), of(-0.5)(t), of(2)(t)); },
       [](double x) { return (normalCdf(x) - normalCdf(-0.5)) / (normalCdf(2) - normalCdf(-0.5)); }},
      {"truncated_normal, far",
       [&](DType t) { return random::stateless_truncated_normal(shape, state(), of(10)(t), of(kInfinity)(t)); },
       [](double x) { return 1 - std::erfc(x / std::sqrt(2.0)) / std::erfc(10 / std::sqrt(2.0)); }},
      {"gamma of 2.5", [&](DType t) { return random::stateless_gamma(shape, state(), of(2.5)(t)); },
       [](double x) { return gammaCdf(2.5, x); }},
      {"gamma of 1/4", [&](DType t) { return random::stateless_gamma(shape, state(), of(0.25)(t)); },
       [](double x) { return gammaCdf(0.25, x); }},
      {"gamma of a million", [&](DType t) { return random::stateless_gamma(shape, state(), of(1e6)(t)); },
       [](double x) { return gammaCdf(1e6, x); }},
      {"beta", [&](DType t) { return random::stateless_beta(shape, state(), of(0.5)(t), of(3)(t)); },
       [](double x) { return betaCdf(0.5, 3, x); }},
      {"chi_square", [&](DType t) { return random::stateless_chi_square(shape, state(), of(3)(t)); },
       [](double x) { return gammaCdf(1.5, x / 2); }},
      {"student_t", [&](DType t) { return random::stateless_student_t(shape, state(), of(4)(t)); },
       [](double x) { return studentCdf(4, x); }},
      {"von_mises of 0", [&](DType t) { return random::stateless_von_mises(shape, state(), of(1)(t), of(0)(t)); },
       [](double x) { return (x + M_PI) / (2 * M_PI); }},
  };
  for (const Case &each : cases)
    for (DType dtype : {DType::Float32, DType::Float64}) {
      const Tensor x = each.draw(dtype);
      EXPECT_EQ(x.dtype(), dtype);
      EXPECT_LT(kolmogorov(x, each.cdf), 1.95) << each.name << ", " << dtype;
    }
}

TEST(Distributions, CountsHaveTheirProbabilities) {
  const Shape shape{kCount};
  for (double rate : {0.5, 3.0, 9.9, 10.0, 40.0}) {
    const Tensor x = random::stateless_poisson(shape, state(), rate);
    EXPECT_EQ(x.dtype(), DType::Int32);
    EXPECT_LT(pearson(x, 0, 100, [&](int k) { return std::exp(logPoisson(rate, k)); }), 4) << rate;
  }
  for (auto [n, p] : {std::pair{10.0, 0.3}, {40.0, 0.9}, {100.0, 0.5}, {200.0, 0.95}})
    EXPECT_LT(pearson(random::stateless_binomial(shape, state(), n, p), 0, static_cast<int>(n),
                      [&, n = n, p = p](int k) { return binomial(n, p, k); }),
              4)
        << n << " " << p;
  EXPECT_LT(pearson(random::stateless_geometric(shape, state(), 0.3), 1, 60,
                    [](int k) { return 0.3 * std::pow(0.7, k - 1); }),
            4);
  // A class of a multinomial is binomial.
  const Tensor counts =
      random::stateless_multinomial(shape, state(), 12, tensor({0.4f, 1.0f, 0.6f}), {.dtype = DType::Int64});
  EXPECT_EQ(counts.shape(), (Shape{kCount, 3}));
  EXPECT_EQ(counts.dtype(), DType::Int64);
  EXPECT_EQ(valuesOf(sum(counts, {-1})), std::vector<double>(kCount, 12));
  for (std::int64_t k : {0, 1, 2})
    EXPECT_LT(pearson(gather(counts, k, 1), 0, 12,
                      [&](int count) {
                        return binomial(12, k == 0 ? 0.2 : k == 1 ? 0.5 : 0.3, count);
                      }),
              4);
  // Large rates and numbers of trials: mean and variance, within 5 standard deviations of theirs.
  auto expectMoments = [](const Tensor &x, double mean, double variance) {
    const double found = valuesOf(calque::mean(cast(x, DType::Float64)))[0];
    EXPECT_NEAR(found, mean, 5 * std::sqrt(variance / kCount));
    const double spread = valuesOf(calque::mean(square(cast(x, DType::Float64) - mean)))[0];
    EXPECT_NEAR(spread / variance, 1, 5 * std::sqrt(2.0 / kCount));
  };
  expectMoments(random::stateless_poisson(shape, state(), 1e6), 1e6, 1e6);
  expectMoments(random::stateless_poisson(shape, state(), 1e12, {.dtype = DType::Int64}), 1e12, 1e12);
  expectMoments(random::stateless_binomial(shape, state(), 1e9, 0.25), 2.5e8, 1.875e8);
}

TEST(Distributions, VonMisesNumbersHaveTheirMoments) {
  // Bessel functions of SciPy 1.17.1: i1(2) / i0(2) is the mean cosine, i2(2) / i0(2) that of twice the angle.
  const Tensor x = random::stateless_von_mises({kCount}, state(), scalar(0.0), scalar(2.0));
  auto meanOf = [](const Tensor &y) { return valuesOf(mean(y))[0]; };
  EXPECT_NEAR(meanOf(cos(x)), 0.6977746579640078, 0.02);
  EXPECT_NEAR(meanOf(cos(2 * x)), 0.3022253420359917, 0.02);
  EXPECT_NEAR(meanOf(sin(x)), 0, 0.02);
  // Around another mean, within the circle.
  const Tensor turned = random::stateless_von_mises({kCount}, state(), 3.0, 1e10);
  EXPECT_NEAR(meanOf(turned), 3, 1e-5);
  const Tensor wrapped = random::stateless_von_mises({kCount}, state(), 10.0, 0.5);
  EXPECT_GE(valuesOf(min(wrapped))[0], -3.1415928);
  EXPECT_LT(valuesOf(max(wrapped))[0], 3.1415928);
}

TEST(Distributions, DirichletSharesHaveTheirMoments) {
  const Tensor alpha = tensor<double>({0.5, 1, 3}), x = random::stateless_dirichlet({kCount}, state(), alpha);
  EXPECT_EQ(x.shape(), (Shape{kCount, 3}));
  expectNear(mean(x, {0}), {0.5 / 4.5, 1 / 4.5, 3 / 4.5}, 0.01);
  for (double total : valuesOf(sum(x, {-1})))
    EXPECT_NEAR(total, 1, 1e-14);
  // Shapes of which all gamma variables vanish: one share is all, by the ratio of the shapes.
  const Tensor small = random::stateless_dirichlet({kCount}, state(), tensor({1e-5f, 3e-5f}));
  expectNear(mean(small, {0}), {0.25, 0.75}, 0.02);
}

TEST(Distributions, HaveEdges) {
  const Shape one{1};
  auto only = [](const Tensor &x) { return valuesOf(x)[0]; };
  EXPECT_EQ(only(random::stateless_poisson(one, state(), 0)), 0);
  EXPECT_EQ(only(random::stateless_binomial(one, state(), 0, 0.5)), 0);
  EXPECT_EQ(only(random::stateless_binomial(one, state(), 100, 0)), 0);
  EXPECT_EQ(only(random::stateless_binomial(one, state(), 100, 1)), 100);
  EXPECT_EQ(only(random::stateless_geometric(one, state(), 1)), 1);
  EXPECT_EQ(only(random::stateless_gamma(one, state(), 0)), 0);
  EXPECT_EQ(only(random::stateless_exponential(one, state(), 0)), 0);
  EXPECT_EQ(valuesOf(random::stateless_gamma({0}, state(), 2)).size(), 0u);
  for (double x : valuesOf(random::stateless_gamma({1000}, state(), 1e-3)))
    EXPECT_GE(x, 0);
  // Elements out of range, and only these.
  const Tensor shapes = tensor({-1.0f, 2.0f, 0.0f}), x = random::stateless_gamma({2, 3}, state(), shapes);
  for (std::size_t i : {0u, 3u}) {
    EXPECT_TRUE(std::isnan(valuesOf(x)[i]));
    EXPECT_TRUE(std::isfinite(valuesOf(x)[i + 1]));
  }
  const std::vector<double> counts =
      valuesOf(random::stateless_poisson({3}, state(), tensor<double>({-1, kNan, 1e-9})));
  EXPECT_EQ(counts, (std::vector<double>{-1, -1, 0}));
  EXPECT_EQ(valuesOf(random::stateless_binomial({3}, state(), tensor({5.0f, -1.0f, 2.5f}), 0.5f))[1], -1);
  EXPECT_EQ(valuesOf(random::stateless_binomial({3}, state(), tensor({5.0f, -1.0f, 2.5f}), 0.5f))[2], -1);
  EXPECT_EQ(only(random::stateless_poisson(one, state(), 1e12)), INT32_MAX); // saturates
  // Where the probabilities of all numbers vanish: 1 / t beyond t on average.
  const Tensor far = random::stateless_truncated_normal({kCount}, state(), 100, kInfinity) - 100.0;
  EXPECT_NEAR(valuesOf(mean(far))[0], 0.01, 0.0005);
  EXPECT_GE(valuesOf(min(far))[0], 0);
  const Tensor between = random::stateless_truncated_normal({kCount}, state(), -50.01, -50);
  EXPECT_GE(valuesOf(min(between))[0], -50.011);
  EXPECT_LE(valuesOf(max(between))[0], -50);
  EXPECT_EQ(only(random::stateless_truncated_normal(one, state(), number(1e300, DType::Float64), kInfinity)), 1e300);
  auto bound = [&](const Tensor &low) { return sum(random::stateless_truncated_normal({9}, state(), low, kInfinity)); };
  for (double low : {1.0, 100.0})
    EXPECT_TRUE(std::isfinite(valuesOf(grad(bound)(number(low, DType::Float64)))[0])) << low;
  // A number that float32 has not is no other number among counts.
  EXPECT_NEAR(valuesOf(mean(cast(random::stateless_binomial({kCount}, state(), 1e9, 0.999), DType::Float64)))[0], 999e6,
              5 * 999.5 / std::sqrt(kCount));
  for (DType half : {DType::Float16, DType::BFloat16}) {
    const Tensor y = random::stateless_gamma({100}, state(), number(2, half));
    EXPECT_EQ(y.dtype(), half);
    EXPECT_NEAR(valuesOf(mean(cast(y, DType::Float32)))[0], 2, 0.5);
  }
}

TEST(Distributions, AreTheSameEagerlyAndCompiled) {
  random::Generator eager(5), compiled(5);
  auto draw = [](random::Generator &g) {
    const Tensor alpha = tensor({0.3f, 1.0f, 20.0f});
    return std::vector<Tensor>{g.exponential({5}),
                               g.laplace({5}),
                               g.gumbel({5}),
                               g.logistic({5}),
                               g.cauchy({5}),
                               g.lognormal({5}),
                               g.weibull({5}, 2),
                               g.pareto({5}, 2),
                               g.rayleigh({5}),
                               g.truncated_normal({5}, -1, 1),
                               g.gamma({40, 3}, alpha),
                               g.beta({40, 3}, alpha, 2.0f),
                               g.chi_square({40, 3}, alpha),
                               g.student_t({40, 3}, alpha),
                               g.dirichlet({4}, alpha),
                               g.von_mises({40, 3}, 0, alpha),
                               cast(g.poisson({40, 3}, alpha), DType::Float32),
                               cast(g.binomial({40, 3}, alpha * 10, 0.5f), DType::Float32),
                               cast(g.geometric({5}, 0.1), DType::Float32),
                               cast(g.multinomial({4}, 30, alpha), DType::Float32),
                               g.choice(alpha, 4),
                               g.choice(alpha, 2, {.replace = false}),
                               g.choice(alpha, 9, {.weights = alpha})};
  };
  auto f = function([&] { return draw(compiled); });
  for (int call = 0; call < 2; ++call) {
    const std::vector<Tensor> a = draw(eager), b = f();
    for (std::size_t i = 0; i < a.size(); ++i) {
      SCOPED_TRACE(i);
      expectSameBits(a[i], b[i]);
    }
    // One counter each.
    EXPECT_EQ(valuesOf<std::int64_t>(eager.state().value()), (std::vector<std::int64_t>{5, 23 * (call + 1)}));
    EXPECT_EQ(valuesOf<std::int64_t>(compiled.state().value()), (std::vector<std::int64_t>{5, 23 * (call + 1)}));
  }
  set_seed(5);
  expectSameBits(random::gamma({3}, 2), random::stateless_gamma({3}, random::state(5, 0), 2));
  expectSameBits(random::poisson({3}, 2), random::stateless_poisson({3}, random::state(5, 1), 2));
}

TEST(Distributions, AreMappedOverStatesAndParameters) {
  const Tensor states = stack({random::state(1, 0), random::state(2, 0)}), shapes = tensor({0.5f, 4.0f});
  const Tensor x =
      vmap([](const Tensor &s, const Tensor &a) { return random::stateless_gamma({6}, s, a); })(states, shapes);
  expectSameBits(x[0], random::stateless_gamma({6}, random::state(1, 0), scalar(0.5f)));
  expectSameBits(x[1], random::stateless_gamma({6}, random::state(2, 0), scalar(4.0f)));
}

TEST(Distributions, TakeUnknownSizes) {
  auto f = function<Tensor(const Tensor &)>(
      [](const Tensor &alpha) {
        return random::stateless_gamma(alpha.shape(), random::state(3, 0), alpha) +
               cast(random::stateless_poisson(alpha.shape(), random::state(4, 0), alpha), DType::Float32);
      },
      {.input_signature = {TensorSpec(DType::Float32, {kDynamic})}});
  for (std::int64_t n : {0, 1, 7}) {
    const Tensor alpha = full({n}, 1.5f);
    expectSameBits(f(alpha), random::stateless_gamma({n}, random::state(3, 0), alpha) +
                                 cast(random::stateless_poisson({n}, random::state(4, 0), alpha), DType::Float32));
  }
}

// The sample stays at its place of the distribution: the slope is that of the quantile.
TEST(Distributions, GradientsAreThoseOfTheQuantile) {
  auto quantile = [](double a, double p) { // by bisection of the logarithm
    double low = -700, high = 20;
    for (int i = 0; i < 200; ++i) {
      const double middle = (low + high) / 2;
      (gammaCdf(a, std::exp(middle)) < p ? low : high) = middle;
    }
    return std::exp(high);
  };
  for (double a : {0.4, 1.0, 3.5, 30.0}) {
    auto draw = [](const Tensor &alpha) { return random::stateless_gamma({5}, state(), alpha); };
    const Tensor alpha = number(a, DType::Float64), x = draw(alpha);
    for (std::size_t i = 0; i < 5; ++i) {
      auto nth = [&](const Tensor &at) { return sum(gather(draw(at), static_cast<std::int64_t>(i))); };
      const double p = gammaCdf(a, valuesOf(x)[i]), h = 1e-5 * a;
      const double expected = (quantile(a + h, p) - quantile(a - h, p)) / (2 * h);
      EXPECT_NEAR(valuesOf(grad(nth)(alpha))[0] / expected, 1, 1e-6) << a;
      EXPECT_NEAR(valuesOf(jvp(nth, alpha, number(1, DType::Float64)).second)[0] / expected, 1, 1e-6) << a;
      EXPECT_NEAR(valuesOf(function<Tensor(const Tensor &)>(grad(nth))(alpha))[0] / expected, 1, 1e-6) << a;
    }
  }
  // Means of what is made of gamma variables: a / (a + b) of a beta variable, df of a chi-square one.
  const Tensor two = number(2, DType::Float64), three = number(3, DType::Float64);
  auto meanOfBeta = [&](const Tensor &a) { return mean(random::stateless_beta({kCount}, state(), a, three)); };
  EXPECT_NEAR(valuesOf(grad(meanOfBeta)(two))[0], 3.0 / 25, 0.01);
  auto meanOfChi = [&](const Tensor &df) { return mean(random::stateless_chi_square({kCount}, state(), df)); };
  EXPECT_NEAR(valuesOf(grad(meanOfChi)(three))[0], 1, 0.05);
  auto scaled = [&](const Tensor &scale) { return sum(random::stateless_laplace({9}, state(), 1.0, scale)); };
  EXPECT_NEAR(valuesOf(grad(scaled)(two))[0] * 2 + 9, valuesOf(scaled(two))[0], 1e-12);
  // A second derivative is NaN.
  auto square = [&](const Tensor &a) { return sum(random::stateless_gamma({3}, state(), a)); };
  EXPECT_TRUE(std::isnan(valuesOf(grad([&](const Tensor &a) { return sum(grad(square)(a)); })(two))[0]));
  // No gradient passes to a rate.
  GradientTape tape;
  Variable rate(number(3, DType::Float64));
  const Tensor counts = cast(random::stateless_poisson({3}, state(), rate), DType::Float64);
  EXPECT_FALSE(tape.gradient(sum(counts), rate).has_value());
}

TEST(Distributions, ChoicesAreOfTheirElements) {
  const Tensor x = tensor<std::int64_t>({10, 20, 30, 40});
  EXPECT_LT(pearson(random::stateless_choice(x, state(), kCount) / 10, 1, 4, [](int) { return 0.25; }), 4);
  const Tensor weights = tensor<double>({1, 0, 3, 4});
  EXPECT_LT(pearson(random::stateless_choice(x, state(), kCount, {.weights = weights}) / 10, 1, 4,
                    [](int k) {
                      return k == 2 ? 0 : k == 1 ? 0.125 : k == 3 ? 0.375 : 0.5;
                    }),
            4);
  std::vector<double> all = valuesOf(random::stateless_choice(x, state(), 4, {.replace = false}));
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, (std::vector<double>{10, 20, 30, 40}));
  // The first of a weighted draw without replacement has the weights as probabilities; the weight 0 comes last.
  std::vector<double> firsts;
  for (std::int64_t i = 0; i < 2000; ++i) {
    const std::vector<double> order =
        valuesOf(random::stateless_choice(x, random::state(i, 0), 4, {.replace = false, .weights = weights}));
    firsts.push_back(order[0] / 10);
    EXPECT_EQ(order[3], 20);
  }
  EXPECT_LT(pearson(tensor<double>(firsts), 1, 4,
                    [](int k) {
                      return k == 2 ? 0 : k == 1 ? 0.125 : k == 3 ? 0.375 : 0.5;
                    }),
            4);
  // Rows, with their gradient.
  const Tensor rows = iota({5, 2}, DType::Float64);
  EXPECT_EQ(random::stateless_choice(rows, state(), 3).shape(), (Shape{3, 2}));
  EXPECT_EQ(valuesOf(sum(grad([](const Tensor &r) { return sum(random::stateless_choice(r, state(), 3)); })(rows)))[0],
            6);
}

// By scipy.stats.qmc of SciPy 1.17.1: Sobol(5, scramble=False) and Halton(5, scramble=False), points 0, 1, 2, 3 and
// 1000.
TEST(Distributions, SequencesHaveTheValuesOfAnotherImplementation) {
  const std::vector<double> sobol = {0.0,          0.0,          0.0,          0.0,         0.0,  0.5,  0.5,
                                     0.5,          0.5,          0.5,          0.75,        0.25, 0.25, 0.25,
                                     0.75,         0.25,         0.75,         0.75,        0.75, 0.25, 0.2197265625,
                                     0.0966796875, 0.5185546875, 0.6767578125, 0.2802734375};
  const std::vector<double> halton = {0.0,
                                      0.0,
                                      0.0,
                                      0.0,
                                      0.0,
                                      0.5,
                                      0.3333333333333333,
                                      0.2,
                                      0.14285714285714285,
                                      0.09090909090909091,
                                      0.25,
                                      0.6666666666666666,
                                      0.4,
                                      0.2857142857142857,
                                      0.18181818181818182,
                                      0.75,
                                      0.1111111111111111,
                                      0.6000000000000001,
                                      0.42857142857142855,
                                      0.2727272727272727,
                                      0.0927734375,
                                      0.3475080018289895,
                                      0.00512,
                                      0.9162848812994586,
                                      0.9316303531179565};
  const random::SequenceOptions wide{.dtype = DType::Float64};
  auto points = [&](auto sequence) {
    std::vector<double> values = valuesOf(sequence(4, 5, wide, SourceLocation::current()));
    const std::vector<double> last =
        valuesOf(sequence(1, 5, {.first = 1000, .dtype = DType::Float64}, SourceLocation::current()));
    values.insert(values.end(), last.begin(), last.end());
    return values;
  };
  EXPECT_EQ(points(random::sobol), sobol);
  expectNear(tensor<double>(points(random::halton)), halton, 1e-15);
  // In each half of each dimension lie as many points.
  const Tensor many = random::sobol(1024, 40);
  EXPECT_EQ(many.dtype(), DType::Float32);
  EXPECT_EQ(valuesOf(sum(cast(less(many, 0.5), DType::Int32), {0})), std::vector<double>(40, 512));
  // Moved points stay within the cube, as far from each other.
  const Tensor moved = random::halton(3, 2, {.shift = tensor({0.75f, 0.5f})});
  expectNear(moved, {0.75, 0.5, 0.25, 0.5 + 1 / 3.0, 0, 1 / 6.0}, 1e-6);
  EXPECT_EQ(random::sobol(0, 3).shape(), (Shape{0, 3}));
  EXPECT_EQ(random::halton(3, 0).shape(), (Shape{3, 0}));
}

// As EXPECT_MISUSE, which looks at the line, too; a statement over several lines has another one than the macro.
#define EXPECT_REFUSED(Error, statement, part) EXPECT_CONTAINS(errorOf<Error>([&] { statement; }), std::string(part))

TEST(Distributions, RefuseMisuse) {
  const Tensor two = tensor({1.0f, 2.0f}), wide = tensor<double>({1.0});
  EXPECT_REFUSED(ValueError, random::stateless_gamma({2}, state(), -1),
                 "gamma: alpha must be finite and not below 0, unlike -1");
  EXPECT_REFUSED(ValueError, random::gamma({2}, kNan), "gamma: alpha must be finite and not below 0, unlike nan");
  EXPECT_REFUSED(ValueError, random::stateless_beta({2}, state(), 0, 1),
                 "beta: a must be finite and above 0, unlike 0");
  EXPECT_REFUSED(ValueError, random::stateless_binomial({2}, state(), 3, 1.5),
                 "binomial: p must be in [0, 1], unlike 1.5");
  EXPECT_REFUSED(ValueError, random::stateless_geometric({2}, state(), 0), "geometric: p must be in (0, 1], unlike 0");
  EXPECT_REFUSED(ValueError, random::stateless_laplace({2}, state(), kInfinity),
                 "laplace: loc must be finite, unlike inf");
  EXPECT_REFUSED(ValueError, random::stateless_truncated_normal({2}, state(), 2, 1),
                 "truncated_normal: low is below high, unlike 2 and 1");
  EXPECT_REFUSED(ShapeError, random::stateless_gamma({3}, state(), two),
                 "gamma: alpha of float32[2] does not broadcast to the shape [3]");
  EXPECT_REFUSED(ShapeError, random::stateless_dirichlet({3}, state(), scalar(1.0f)),
                 "dirichlet: alpha has an axis of classes, and this is a scalar");
  EXPECT_REFUSED(ShapeError, random::stateless_dirichlet({3}, state(), zeros({0})),
                 "dirichlet: alpha has no classes: float32[0]");
  EXPECT_REFUSED(ShapeError, random::stateless_dirichlet({3}, state(), 1.0),
                 "dirichlet: alpha has an axis of classes, and this is a number");
  EXPECT_REFUSED(ShapeError, random::stateless_multinomial({3}, state(), 2, 1.0),
                 "multinomial: p has an axis of classes, and this is a number");
  EXPECT_REFUSED(DTypeError, random::stateless_gamma({2}, state(), tensor({1, 2})), "gamma: alpha is of");
  EXPECT_REFUSED(DTypeError, random::stateless_beta({2}, state(), two, wide),
                 "beta: parameters have one element type, unlike float32 and float64");
  EXPECT_REFUSED(DTypeError, random::stateless_poisson({2}, state(), 1, {.dtype = DType::Float32}),
                 "poisson: makes integers, not float32");
  EXPECT_REFUSED(ValueError, random::stateless_gamma({2}, tensor({1, 2}), 1), "state must be");
  EXPECT_REFUSED(ShapeError, random::stateless_choice(scalar(1.0f), state(), 1),
                 "choice: draws from the elements along axis 0, and this is a scalar");
  EXPECT_REFUSED(ValueError, random::stateless_choice(two, state(), -1), "choice: there are no -1 draws");
  EXPECT_REFUSED(ValueError, random::stateless_choice(zeros({0}), state(), 1),
                 "choice: there is no element to draw from in float32[0]");
  EXPECT_REFUSED(ValueError, random::stateless_choice(two, state(), 3, {.replace = false}),
                 "choice: without replacement there are no 3 draws from 2 elements");
  EXPECT_REFUSED(DTypeError, random::stateless_choice(two, state(), 1, {.weights = tensor({1, 2})}),
                 "choice: weights are of");
  EXPECT_REFUSED(ShapeError, random::stateless_choice(two, state(), 1, {.weights = wide}),
                 "choice: weights have one number for each of 2 elements, unlike float64[1]");
  EXPECT_REFUSED(ValueError, random::sobol(-1, 2),
                 "sobol: the points are among those from 0 to 4294967296, unlike -1 from 0 on");
  EXPECT_REFUSED(ValueError, random::sobol(1, 41), "sobol: has from 0 to 40 dimensions, not 41");
  EXPECT_REFUSED(DTypeError, random::halton(1, 2, {.dtype = DType::Int32}), "halton: makes points of");
  EXPECT_REFUSED(ShapeError, random::halton(1, 2, {.shift = wide}),
                 "halton: the shift has one number for each of 2 dimensions, unlike float64[1]");
  EXPECT_MISUSE(ValueError, random::gamma({2}, -2), "gamma: alpha must be finite and not below 0, unlike -2");
}
