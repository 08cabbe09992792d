// Draws of distributions from generators: the stateless functions with the generator's state, which moves on by one
// counter.
#include "calque/call_site.h"
#include "calque/functions.h"
#include "calque/random.h"

namespace calque::random {

template <typename Draw> Tensor Generator::drawStream(const char *name, SourceLocation where, Draw draw) {
  Tensor before = state_.value(where), drawn = draw(Operand(before, where));
  CallSite site(where, name); // by this name, vmap refuses the assignment
  moveOn(before, zeros({1}, DType::Float64), 1, where);
  return drawn;
}

Tensor Generator::exponential(const Shape &shape, const Operand &scale, SourceLocation where) {
  return drawStream("random::exponential", where,
                    [&](const Operand &state) { return stateless_exponential(shape, state, scale); });
}
Tensor Generator::laplace(const Shape &shape, const Operand &loc, const Operand &scale, SourceLocation where) {
  return drawStream("random::laplace", where,
                    [&](const Operand &state) { return stateless_laplace(shape, state, loc, scale); });
}
Tensor Generator::gumbel(const Shape &shape, const Operand &loc, const Operand &scale, SourceLocation where) {
  return drawStream("random::gumbel", where,
                    [&](const Operand &state) { return stateless_gumbel(shape, state, loc, scale); });
}
Tensor Generator::logistic(const Shape &shape, const Operand &loc, const Operand &scale, SourceLocation where) {
  return drawStream("random::logistic", where,
                    [&](const Operand &state) { return stateless_logistic(shape, state, loc, scale); });
}
Tensor Generator::cauchy(const Shape &shape, const Operand &loc, const Operand &scale, SourceLocation where) {
  return drawStream("random::cauchy", where,
                    [&](const Operand &state) { return stateless_cauchy(shape, state, loc, scale); });
}
Tensor Generator::lognormal(const Shape &shape, const Operand &mean, const Operand &sigma, SourceLocation where) {
  return drawStream("random::lognormal", where,
                    [&](const Operand &state) { return stateless_lognormal(shape, state, mean, sigma); });
}
Tensor Generator::weibull(const Shape &shape, const Operand &a, SourceLocation where) {
  return drawStream("random::weibull", where, [&](const Operand &state) { return stateless_weibull(shape, state, a); });
}
Tensor Generator::pareto(const Shape &shape, const Operand &a, SourceLocation where) {
  return drawStream("random::pareto", where, [&](const Operand &state) { return stateless_pareto(shape, state, a); });
}
Tensor Generator::rayleigh(const Shape &shape, const Operand &scale, SourceLocation where) {
  return drawStream("random::rayleigh", where,
                    [&](const Operand &state) { return stateless_rayleigh(shape, state, scale); });
}
Tensor Generator::truncated_normal(const Shape &shape, const Operand &low, const Operand &high, SourceLocation where) {
  return drawStream("random::truncated_normal", where,
                    [&](const Operand &state) { return stateless_truncated_normal(shape, state, low, high); });
}
Tensor Generator::gamma(const Shape &shape, const Operand &alpha, SourceLocation where) {
  return drawStream("random::gamma", where, [&](const Operand &state) { return stateless_gamma(shape, state, alpha); });
}
Tensor Generator::beta(const Shape &shape, const Operand &a, const Operand &b, SourceLocation where) {
  return drawStream("random::beta", where, [&](const Operand &state) { return stateless_beta(shape, state, a, b); });
}
Tensor Generator::chi_square(const Shape &shape, const Operand &df, SourceLocation where) {
  return drawStream("random::chi_square", where,
                    [&](const Operand &state) { return stateless_chi_square(shape, state, df); });
}
Tensor Generator::student_t(const Shape &shape, const Operand &df, SourceLocation where) {
  return drawStream("random::student_t", where,
                    [&](const Operand &state) { return stateless_student_t(shape, state, df); });
}
Tensor Generator::dirichlet(const Shape &shape, const Operand &alpha, SourceLocation where) {
  return drawStream("random::dirichlet", where,
                    [&](const Operand &state) { return stateless_dirichlet(shape, state, alpha); });
}
Tensor Generator::von_mises(const Shape &shape, const Operand &mu, const Operand &kappa, SourceLocation where) {
  return drawStream("random::von_mises", where,
                    [&](const Operand &state) { return stateless_von_mises(shape, state, mu, kappa); });
}
Tensor Generator::poisson(const Shape &shape, const Operand &rate, IntegerOptions options, SourceLocation where) {
  return drawStream("random::poisson", where,
                    [&](const Operand &state) { return stateless_poisson(shape, state, rate, options); });
}
Tensor Generator::binomial(const Shape &shape, const Operand &n, const Operand &p, IntegerOptions options,
                           SourceLocation where) {
  return drawStream("random::binomial", where,
                    [&](const Operand &state) { return stateless_binomial(shape, state, n, p, options); });
}
Tensor Generator::geometric(const Shape &shape, const Operand &p, IntegerOptions options, SourceLocation where) {
  return drawStream("random::geometric", where,
                    [&](const Operand &state) { return stateless_geometric(shape, state, p, options); });
}
Tensor Generator::multinomial(const Shape &shape, const Operand &n, const Operand &p, IntegerOptions options,
                              SourceLocation where) {
  return drawStream("random::multinomial", where,
                    [&](const Operand &state) { return stateless_multinomial(shape, state, n, p, options); });
}
Tensor Generator::choice(const Operand &x, std::int64_t count, ChoiceOptions options) {
  return drawStream("random::choice", x.where(),
                    [&](const Operand &state) { return stateless_choice(x, state, count, options); });
}

Tensor exponential(const Shape &shape, const Operand &scale, SourceLocation where) {
  return global_generator().exponential(shape, scale, where);
}
Tensor laplace(const Shape &shape, const Operand &loc, const Operand &scale, SourceLocation where) {
  return global_generator().laplace(shape, loc, scale, where);
}
Tensor gumbel(const Shape &shape, const Operand &loc, const Operand &scale, SourceLocation where) {
  return global_generator().gumbel(shape, loc, scale, where);
}
Tensor logistic(const Shape &shape, const Operand &loc, const Operand &scale, SourceLocation where) {
  return global_generator().logistic(shape, loc, scale, where);
}
Tensor cauchy(const Shape &shape, const Operand &loc, const Operand &scale, SourceLocation where) {
  return global_generator().cauchy(shape, loc, scale, where);
}
Tensor lognormal(const Shape &shape, const Operand &mean, const Operand &sigma, SourceLocation where) {
  return global_generator().lognormal(shape, mean, sigma, where);
}
Tensor weibull(const Shape &shape, const Operand &a, SourceLocation where) {
  return global_generator().weibull(shape, a, where);
}
Tensor pareto(const Shape &shape, const Operand &a, SourceLocation where) {
  return global_generator().pareto(shape, a, where);
}
Tensor rayleigh(const Shape &shape, const Operand &scale, SourceLocation where) {
  return global_generator().rayleigh(shape, scale, where);
}
Tensor truncated_normal(const Shape &shape, const Operand &low, const Operand &high, SourceLocation where) {
  return global_generator().truncated_normal(shape, low, high, where);
}
Tensor gamma(const Shape &shape, const Operand &alpha, SourceLocation where) {
  return global_generator().gamma(shape, alpha, where);
}
Tensor beta(const Shape &shape, const Operand &a, const Operand &b, SourceLocation where) {
  return global_generator().beta(shape, a, b, where);
}
Tensor chi_square(const Shape &shape, const Operand &df, SourceLocation where) {
  return global_generator().chi_square(shape, df, where);
}
Tensor student_t(const Shape &shape, const Operand &df, SourceLocation where) {
  return global_generator().student_t(shape, df, where);
}
Tensor dirichlet(const Shape &shape, const Operand &alpha, SourceLocation where) {
  return global_generator().dirichlet(shape, alpha, where);
}
Tensor von_mises(const Shape &shape, const Operand &mu, const Operand &kappa, SourceLocation where) {
  return global_generator().von_mises(shape, mu, kappa, where);
}
Tensor poisson(const Shape &shape, const Operand &rate, IntegerOptions options, SourceLocation where) {
  return global_generator().poisson(shape, rate, options, where);
}
Tensor binomial(const Shape &shape, const Operand &n, const Operand &p, IntegerOptions options, SourceLocation where) {
  return global_generator().binomial(shape, n, p, options, where);
}
Tensor geometric(const Shape &shape, const Operand &p, IntegerOptions options, SourceLocation where) {
  return global_generator().geometric(shape, p, options, where);
}
Tensor multinomial(const Shape &shape, const Operand &n, const Operand &p, IntegerOptions options,
                   SourceLocation where) {
  return global_generator().multinomial(shape, n, p, options, where);
}
Tensor choice(const Operand &x, std::int64_t count, ChoiceOptions options) {
  return global_generator().choice(x, count, std::move(options));
}

} // namespace calque::random
