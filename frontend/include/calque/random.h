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

  // Key and counter, int64[2].
  const Variable &state() const { return state_; }
  // Restarts the generator with the stream of this seed.
  void reset(std::int64_t seed, SourceLocation where = SourceLocation::current());
  // Draws a seed for another generator, and increases the counter. The seed is drawn at once, also while tracing.
  std::int64_t draw_seed(SourceLocation where = SourceLocation::current());

private:
  void moveOn(const Tensor &before, const Tensor &drawn, std::int64_t times, SourceLocation where);

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

} // namespace random
} // namespace calque
#endif
