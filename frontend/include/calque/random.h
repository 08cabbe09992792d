// Random numbers by Philox 4x32-10, which computes them from a key and a counter alone. The numbers are the same
// eagerly and compiled, and on any number of threads.
//
//   set_seed(7);                                             // of everything that has no seed of its own
//   Tensor noise = random::normal({64, 10}, {.stddev = 0.1});
//   random::Generator dice(1);                               // a stream of one's own, its counter a Variable
//   Tensor a = dice.uniform({3}), b = dice.uniform({3});     // different numbers, in compiled code at every call
//   Tensor same = random::stateless_uniform({3}, random::state(1, 0)); // those of a
//   Tensor sides = random::randint({5}, 1, 7);               // as if thrown: 1 to 6
//   Tensor words = random::categorical(logits, 3);           // three classes of each row, by their probabilities
#ifndef CALQUE_RANDOM_H
#define CALQUE_RANDOM_H

#include "calque/variable.h"

#include <optional>

namespace calque {

// Restarts the global generator with a seed. The functions below and the initialisers draw from this generator. Dropout
// layers and shuffled data sets draw a seed from it when they are made. In a traced function, set_seed is an assignment
// like any other.
CALQUE_API void set_seed(std::int64_t seed, SourceLocation where = SourceLocation::current());

namespace random {

// The seed with which the global generator was started: that of the latest set_seed, else the number in the environment
// variable CALQUE_SEED, else a number that differs from run to run. A program that prints its seed can be repeated: set
// CALQUE_SEED to the number, or pass it to set_seed. ValueError if CALQUE_SEED is no int64.
CALQUE_API std::int64_t seed(SourceLocation where = SourceLocation::current());

// In [minval, maxval).
struct UniformOptions {
  double minval = 0, maxval = 1;
  DType dtype = default_dtype();
};
struct NormalOptions {
  double mean = 0, stddev = 1;
  DType dtype = default_dtype();
};
struct IntegerOptions {
  DType dtype = DType::Int32; // or Int64
};

// A state for the stateless functions: int64[2], key and counter.
CALQUE_API Tensor state(std::int64_t key, std::int64_t counter, SourceLocation where = SourceLocation::current());

// The stateless functions compute numbers from a state. Calls with different keys, or with counters that are at least
// `counters_used` apart, return independent numbers. The shape may have unknown sizes. ValueError for a state of
// another type, for sizes below 0 and for options out of range. DTypeError for a type that is not floating-point.
//
// Uniform in [minval, maxval): minval plus multiples of 2^-24 (float32) or 2^-53 (float64) of the interval's length.
CALQUE_API Tensor stateless_uniform(const Shape &shape, const Operand &state, UniformOptions options = {});
// Gaussian, by the cosine of Box and Muller (A note on the generation of random normal deviates, 1958): up to 5.7
// standard deviations from the mean in float32, 8.5 in float64.
CALQUE_API Tensor stateless_normal(const Shape &shape, const Operand &state, NormalOptions options = {});
// Bools that are true with the given probability.
CALQUE_API Tensor stateless_bernoulli(const Shape &shape, const Operand &state, double probability = 0.5);
// Uniform integers in [minval, maxval), as numpy.random.randint draws them. Without a maxval, the largest integer of
// the type is the last one. The integers of an interval are equally likely, up to 2^-32 of their probability.
// ValueError for an interval that is empty or not within the type. DTypeError for a type that is no integer.
CALQUE_API Tensor stateless_randint(const Shape &shape, const Operand &state, std::int64_t minval,
                                    std::optional<std::int64_t> maxval, IntegerOptions options = {});
// Draws classes with the probabilities softmax(logits) along the last axis, as Keras and TensorFlow do: logits [..., C]
// give int64 [..., num_samples]. Gumbel noise is added to the logits, and the class of the largest sum is drawn. A
// class with the logit -infinity is never drawn, unless all logits of its row are -infinity. ValueError for a scalar
// and for a negative number of samples. ShapeError for no classes. DTypeError for logits that are not floating-point.
CALQUE_API Tensor stateless_categorical(const Operand &logits, const Operand &state, std::int64_t num_samples);
// The integers in [0, n) in random order, int64 [n]. All orders are equally likely. n may be unknown while tracing.
// ValueError for n below 0.
CALQUE_API Tensor stateless_permutation(const Size &n, const Operand &state);
// The slices of x along an axis, such as its rows, in random order: gather(x, stateless_permutation(size of the axis),
// axis). Gradients pass. ValueError for an axis that x does not have.
CALQUE_API Tensor stateless_shuffle(const Operand &x, const Operand &state, std::int64_t axis = 0);

// The distributions below draw from a stream of their own, whose key is a hash of the state, so that they use one
// counter however many numbers they draw. Parameters are tensors or C++ numbers. They broadcast to the shape, which is
// the shape of the result. Tensors give the result their type; for C++ numbers alone it is default_dtype(). Integers
// have the type of the options. All say ValueError for a state of another type, for sizes below 0 and for a C++ number
// out of range, ShapeError for parameters that do not broadcast to the shape, DTypeError for parameters of unlike types
// or of types that are not floating-point. Where an element of a tensor is out of range, the result is NaN, and -1
// among integers.
//
// Gradients pass to the parameters that move a number: location and scale, and shapes of gamma variables and of what is
// made of them (beta, chi-square, Student's t, Dirichlet), by implicit differentiation of the distribution function
// (Figurnov, Mohamed, Mnih: Implicit reparameterization gradients, 2018). None passes to those of integers and to
// kappa.
//
// Exponential with the mean `scale`, which is not below 0.
CALQUE_API Tensor stateless_exponential(const Shape &shape, const Operand &state, const Operand &scale = 1.0);
// Laplace: two exponentials back to back, around loc.
CALQUE_API Tensor stateless_laplace(const Shape &shape, const Operand &state, const Operand &loc = 0.0,
                                    const Operand &scale = 1.0);
// Gumbel: loc - scale log(exponential), the largest of many.
CALQUE_API Tensor stateless_gumbel(const Shape &shape, const Operand &state, const Operand &loc = 0.0,
                                   const Operand &scale = 1.0);
CALQUE_API Tensor stateless_logistic(const Shape &shape, const Operand &state, const Operand &loc = 0.0,
                                     const Operand &scale = 1.0);
CALQUE_API Tensor stateless_cauchy(const Shape &shape, const Operand &state, const Operand &loc = 0.0,
                                   const Operand &scale = 1.0);
// exp of a normal variable with this mean and standard deviation.
CALQUE_API Tensor stateless_lognormal(const Shape &shape, const Operand &state, const Operand &mean = 0.0,
                                      const Operand &sigma = 1.0);
// Of scale 1, shape a > 0: an exponential to the power of 1 / a.
CALQUE_API Tensor stateless_weibull(const Shape &shape, const Operand &state, const Operand &a);
// From 1 on, with the tail x^-a, a > 0. Less 1 it is numpy.random.pareto.
CALQUE_API Tensor stateless_pareto(const Shape &shape, const Operand &state, const Operand &a);
CALQUE_API Tensor stateless_rayleigh(const Shape &shape, const Operand &state, const Operand &scale = 1.0);
// A standard normal variable given that it is between low and high. low < high; they may be infinite.
CALQUE_API Tensor stateless_truncated_normal(const Shape &shape, const Operand &state, const Operand &low,
                                             const Operand &high);
// Gamma of shape alpha >= 0 and scale 1, by the rejection of Marsaglia and Tsang (A simple method for generating gamma
// variables, 2000). A float32 result is 0 where alpha is so small that most numbers vanish.
CALQUE_API Tensor stateless_gamma(const Shape &shape, const Operand &state, const Operand &alpha);
// Beta of shapes a, b > 0: g / (g + h) of two gamma variables.
CALQUE_API Tensor stateless_beta(const Shape &shape, const Operand &state, const Operand &a, const Operand &b);
// Chi-square and Student's t with df > 0 degrees of freedom, which need not be whole.
CALQUE_API Tensor stateless_chi_square(const Shape &shape, const Operand &state, const Operand &df);
CALQUE_API Tensor stateless_student_t(const Shape &shape, const Operand &state, const Operand &df);
// Dirichlet: alpha [..., K] gives [shape..., K], whose last axis sums to 1; the axes before K broadcast to the shape.
CALQUE_API Tensor stateless_dirichlet(const Shape &shape, const Operand &state, const Operand &alpha);
// The angle of mean mu, in [-pi, pi), with the concentration kappa >= 0, by the rejection of Best and Fisher (Efficient
// simulation of the von Mises distribution, 1979).
CALQUE_API Tensor stateless_von_mises(const Shape &shape, const Operand &state, const Operand &mu,
                                      const Operand &kappa);
// Counts of a Poisson process with the mean rate >= 0: inversion below 10, else the rejection PTRS of Hoermann (The
// transformed rejection method for generating Poisson random variables, 1993). Counts beyond the type saturate.
CALQUE_API Tensor stateless_poisson(const Shape &shape, const Operand &state, const Operand &rate,
                                    IntegerOptions options = {});
// The successes of n trials with the probability p: inversion where n min(p, 1 - p) is below 10, else the rejection
// BTRS of Hoermann (The generation of binomial random variates, 1993). n is a whole number of the type of p.
CALQUE_API Tensor stateless_binomial(const Shape &shape, const Operand &state, const Operand &n, const Operand &p,
                                     IntegerOptions options = {});
// The number of trials up to the first success, from 1 on.
CALQUE_API Tensor stateless_geometric(const Shape &shape, const Operand &state, const Operand &p,
                                      IntegerOptions options = {});
// How many of n trials fall into each of K classes: probabilities p [..., K], which are divided by their sum, give
// [shape..., K].
CALQUE_API Tensor stateless_multinomial(const Shape &shape, const Operand &state, const Operand &n, const Operand &p,
                                        IntegerOptions options = {});
// Elements of x along axis 0, which are drawn `count` times: with replacement, or each once at most. Weights [N] are
// not below 0 and need no sum of 1; without any, all are equally likely. Without replacement they say which is drawn
// next among those that are left (Efraimidis and Spirakis, Weighted random sampling with a reservoir, 2006). ValueError
// for more numbers without replacement than there are.
struct ChoiceOptions {
  bool replace = true;
  std::optional<Tensor> weights = {};
};
CALQUE_API Tensor stateless_choice(const Operand &x, const Operand &state, std::int64_t count,
                                   ChoiceOptions options = {});

// Points of [0, 1)^dimensions that fill it more evenly than random ones, [count, dimensions]. `first` is the number of
// the first point. Sobol's sequence takes the direction numbers of Joe and Kuo (Constructing Sobol sequences with
// better two-dimensional projections, 2008) for up to 40 dimensions; its points are those of the Gray code, as in
// SciPy. Halton's takes the primes as bases, of up to 1,000 dimensions. `shift`, [dimensions], is added modulo 1:
// uniform numbers make the points random and their means unbiased. ValueError for sizes below 0 and for too many
// dimensions or points.
struct SequenceOptions {
  std::int64_t first = 0;
  std::optional<Tensor> shift = {};
  DType dtype = default_dtype();
};
CALQUE_API Tensor sobol(std::int64_t count, std::int64_t dimensions, SequenceOptions options = {},
                        SourceLocation where = SourceLocation::current());
CALQUE_API Tensor halton(std::int64_t count, std::int64_t dimensions, SequenceOptions options = {},
                         SourceLocation where = SourceLocation::current());

// The amount by which a counter increases for `count` uniform numbers of a type. Normal numbers use twice as many
// counters. For other draws, compare the state() of a generator before and after. ValueError for a count below 0.
CALQUE_API std::int64_t counters_used(std::int64_t count, DType dtype = default_dtype(),
                                      SourceLocation where = SourceLocation::current());

// A shared handle to a stream of random numbers: a key, and a counter that increases with each draw. Copies are the
// same stream. Threads that draw from one stream must synchronise, or they may get the same numbers.
class CALQUE_API Generator {
public:
  // While tracing, a Generator may be made where a Variable may.
  explicit Generator(std::int64_t seed, SourceLocation where = SourceLocation::current());

  // These call the stateless functions with the generator's state, and increase the counter.
  Tensor uniform(const Shape &shape, UniformOptions options = {}, SourceLocation where = SourceLocation::current());
  Tensor normal(const Shape &shape, NormalOptions options = {}, SourceLocation where = SourceLocation::current());
  Tensor bernoulli(const Shape &shape, double probability = 0.5, SourceLocation where = SourceLocation::current());
  Tensor randint(const Shape &shape, std::int64_t minval, std::optional<std::int64_t> maxval,
                 IntegerOptions options = {}, SourceLocation where = SourceLocation::current());
  Tensor categorical(const Operand &logits, std::int64_t num_samples);
  Tensor permutation(const Size &n, SourceLocation where = SourceLocation::current());
  Tensor shuffle(const Operand &x, std::int64_t axis = 0);

  // Distributions by parameters: one counter for each call.
  Tensor exponential(const Shape &shape, const Operand &scale = 1.0, SourceLocation where = SourceLocation::current());
  Tensor laplace(const Shape &shape, const Operand &loc = 0.0, const Operand &scale = 1.0,
                 SourceLocation where = SourceLocation::current());
  Tensor gumbel(const Shape &shape, const Operand &loc = 0.0, const Operand &scale = 1.0,
                SourceLocation where = SourceLocation::current());
  Tensor logistic(const Shape &shape, const Operand &loc = 0.0, const Operand &scale = 1.0,
                  SourceLocation where = SourceLocation::current());
  Tensor cauchy(const Shape &shape, const Operand &loc = 0.0, const Operand &scale = 1.0,
                SourceLocation where = SourceLocation::current());
  Tensor lognormal(const Shape &shape, const Operand &mean = 0.0, const Operand &sigma = 1.0,
                   SourceLocation where = SourceLocation::current());
  Tensor weibull(const Shape &shape, const Operand &a, SourceLocation where = SourceLocation::current());
  Tensor pareto(const Shape &shape, const Operand &a, SourceLocation where = SourceLocation::current());
  Tensor rayleigh(const Shape &shape, const Operand &scale = 1.0, SourceLocation where = SourceLocation::current());
  Tensor truncated_normal(const Shape &shape, const Operand &low, const Operand &high,
                          SourceLocation where = SourceLocation::current());
  Tensor gamma(const Shape &shape, const Operand &alpha, SourceLocation where = SourceLocation::current());
  Tensor beta(const Shape &shape, const Operand &a, const Operand &b, SourceLocation where = SourceLocation::current());
  Tensor chi_square(const Shape &shape, const Operand &df, SourceLocation where = SourceLocation::current());
  Tensor student_t(const Shape &shape, const Operand &df, SourceLocation where = SourceLocation::current());
  Tensor dirichlet(const Shape &shape, const Operand &alpha, SourceLocation where = SourceLocation::current());
  Tensor von_mises(const Shape &shape, const Operand &mu, const Operand &kappa,
                   SourceLocation where = SourceLocation::current());
  Tensor poisson(const Shape &shape, const Operand &rate, IntegerOptions options = {},
                 SourceLocation where = SourceLocation::current());
  Tensor binomial(const Shape &shape, const Operand &n, const Operand &p, IntegerOptions options = {},
                  SourceLocation where = SourceLocation::current());
  Tensor geometric(const Shape &shape, const Operand &p, IntegerOptions options = {},
                   SourceLocation where = SourceLocation::current());
  Tensor multinomial(const Shape &shape, const Operand &n, const Operand &p, IntegerOptions options = {},
                     SourceLocation where = SourceLocation::current());
  Tensor choice(const Operand &x, std::int64_t count, ChoiceOptions options = {});

  // Key and counter, int64[2].
  const Variable &state() const { return state_; }
  // Restarts the generator with the stream of this seed.
  void reset(std::int64_t seed, SourceLocation where = SourceLocation::current());
  // Draws a seed for another generator, and increases the counter. The seed is drawn at once, also while tracing.
  std::int64_t draw_seed(SourceLocation where = SourceLocation::current());

private:
  void moveOn(const Tensor &before, const Tensor &drawn, std::int64_t times, SourceLocation where);
  template <typename Draw> Tensor drawStream(const char *name, SourceLocation where, Draw draw);

  Variable state_;
};

// The generator that set_seed restarts. Its first seed is that of seed().
CALQUE_API Generator &global_generator();

// Draws from the global generator.
CALQUE_API Tensor uniform(const Shape &shape, UniformOptions options = {},
                          SourceLocation where = SourceLocation::current());
CALQUE_API Tensor normal(const Shape &shape, NormalOptions options = {},
                         SourceLocation where = SourceLocation::current());
CALQUE_API Tensor bernoulli(const Shape &shape, double probability = 0.5,
                            SourceLocation where = SourceLocation::current());
CALQUE_API Tensor randint(const Shape &shape, std::int64_t minval, std::optional<std::int64_t> maxval,
                          IntegerOptions options = {}, SourceLocation where = SourceLocation::current());
CALQUE_API Tensor categorical(const Operand &logits, std::int64_t num_samples);
CALQUE_API Tensor permutation(const Size &n, SourceLocation where = SourceLocation::current());
CALQUE_API Tensor shuffle(const Operand &x, std::int64_t axis = 0);
CALQUE_API Tensor exponential(const Shape &shape, const Operand &scale = 1.0,
                              SourceLocation where = SourceLocation::current());
CALQUE_API Tensor laplace(const Shape &shape, const Operand &loc = 0.0, const Operand &scale = 1.0,
                          SourceLocation where = SourceLocation::current());
CALQUE_API Tensor gumbel(const Shape &shape, const Operand &loc = 0.0, const Operand &scale = 1.0,
                         SourceLocation where = SourceLocation::current());
CALQUE_API Tensor logistic(const Shape &shape, const Operand &loc = 0.0, const Operand &scale = 1.0,
                           SourceLocation where = SourceLocation::current());
CALQUE_API Tensor cauchy(const Shape &shape, const Operand &loc = 0.0, const Operand &scale = 1.0,
                         SourceLocation where = SourceLocation::current());
CALQUE_API Tensor lognormal(const Shape &shape, const Operand &mean = 0.0, const Operand &sigma = 1.0,
                            SourceLocation where = SourceLocation::current());
CALQUE_API Tensor weibull(const Shape &shape, const Operand &a, SourceLocation where = SourceLocation::current());
CALQUE_API Tensor pareto(const Shape &shape, const Operand &a, SourceLocation where = SourceLocation::current());
CALQUE_API Tensor rayleigh(const Shape &shape, const Operand &scale = 1.0,
                           SourceLocation where = SourceLocation::current());
CALQUE_API Tensor truncated_normal(const Shape &shape, const Operand &low, const Operand &high,
                                   SourceLocation where = SourceLocation::current());
CALQUE_API Tensor gamma(const Shape &shape, const Operand &alpha, SourceLocation where = SourceLocation::current());
CALQUE_API Tensor beta(const Shape &shape, const Operand &a, const Operand &b,
                       SourceLocation where = SourceLocation::current());
CALQUE_API Tensor chi_square(const Shape &shape, const Operand &df, SourceLocation where = SourceLocation::current());
CALQUE_API Tensor student_t(const Shape &shape, const Operand &df, SourceLocation where = SourceLocation::current());
CALQUE_API Tensor dirichlet(const Shape &shape, const Operand &alpha, SourceLocation where = SourceLocation::current());
CALQUE_API Tensor von_mises(const Shape &shape, const Operand &mu, const Operand &kappa,
                            SourceLocation where = SourceLocation::current());
CALQUE_API Tensor poisson(const Shape &shape, const Operand &rate, IntegerOptions options = {},
                          SourceLocation where = SourceLocation::current());
CALQUE_API Tensor binomial(const Shape &shape, const Operand &n, const Operand &p, IntegerOptions options = {},
                           SourceLocation where = SourceLocation::current());
CALQUE_API Tensor geometric(const Shape &shape, const Operand &p, IntegerOptions options = {},
                            SourceLocation where = SourceLocation::current());
CALQUE_API Tensor multinomial(const Shape &shape, const Operand &n, const Operand &p, IntegerOptions options = {},
                              SourceLocation where = SourceLocation::current());
CALQUE_API Tensor choice(const Operand &x, std::int64_t count, ChoiceOptions options = {});

} // namespace random
} // namespace calque
#endif
