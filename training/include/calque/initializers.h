// Initial values of weights.
//
//   Variable w = variable("w", glorot_uniform({784, 128}));
//   layers::Dense dense(128, {.kernel_initializer = he_normal});
//   layers::Dense named(128, {.kernel_initializer = "he_normal"});
//   layers::Dense small(128, {.kernel_initializer = initializers::RandomNormal({.stddev = 0.01})});
//
// Random initialisers draw from the global generator, which set_seed() resets, unless they have a seed of their own.
// The numbers of inputs and outputs of a unit follow from the shape: [in, out] for a matrix, [height, width, in, out]
// for filters. A vector [n] has n inputs and n outputs.
#ifndef CALQUE_INITIALIZERS_H
#define CALQUE_INITIALIZERS_H

#include "calque/callable.h"
#include "calque/config.h"
#include "calque/tensor.h"

#include <functional>

namespace calque {

// Glorot, Bengio: Understanding the difficulty of training deep feedforward neural networks, 2010: the variance is
// 2 / (in + out). All normal initialisers are truncated at two standard deviations, as in Keras.
CALQUE_API Tensor glorot_uniform(const Shape &shape, DType dtype = default_dtype(),
                                 SourceLocation where = SourceLocation::current());
CALQUE_API Tensor glorot_normal(const Shape &shape, DType dtype = default_dtype(),
                                SourceLocation where = SourceLocation::current());
// He, Zhang, Ren, Sun: Delving deep into rectifiers, 2015: the variance is 2 / in.
CALQUE_API Tensor he_uniform(const Shape &shape, DType dtype = default_dtype(),
                             SourceLocation where = SourceLocation::current());
CALQUE_API Tensor he_normal(const Shape &shape, DType dtype = default_dtype(),
                            SourceLocation where = SourceLocation::current());
// LeCun, Bottou, Orr, Müller: Efficient BackProp, 1998: the variance is 1 / in.
CALQUE_API Tensor lecun_uniform(const Shape &shape, DType dtype = default_dtype(),
                                SourceLocation where = SourceLocation::current());
CALQUE_API Tensor lecun_normal(const Shape &shape, DType dtype = default_dtype(),
                               SourceLocation where = SourceLocation::current());

// An initialiser as an option of a layer: a name, a function above, zeros, ones, the result of a function below, or a
// callable on a shape and an element type. The names are "zeros", "ones", "constant", "random_normal",
// "random_uniform", "truncated_normal", "glorot_uniform", "glorot_normal", "he_uniform", "he_normal", "lecun_uniform",
// "lecun_normal", "variance_scaling", "orthogonal", "identity", and those that were registered. ValueError for another
// name.
class CALQUE_API Initializer {
public:
  using Function = std::function<Tensor(const Shape &, DType, SourceLocation)>;

  Initializer(const char *name, SourceLocation where = SourceLocation::current());
  Initializer(const std::string &name, SourceLocation where = SourceLocation::current())
      : Initializer(name.c_str(), where) {}
  template <typename F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, Initializer> && !std::is_convertible_v<F, std::string> &&
             (std::is_invocable_v<F &, const Shape &, DType> ||
              std::is_invocable_v<F &, const Shape &, DType, SourceLocation>))
  Initializer(F f, SourceLocation where = SourceLocation::current()) {
    detail::requireCallable(f, "initializer", where);
    if constexpr (std::is_convertible_v<F, Tensor (*)(const Shape &, DType, SourceLocation)> && std::is_pointer_v<F>)
      name_ = nameOf(f);
    if constexpr (std::is_invocable_v<F &, const Shape &, DType, SourceLocation>)
      make_ = std::move(f);
    else
      make_ = [f = std::move(f)](const Shape &shape, DType dtype, SourceLocation) { return f(shape, dtype); };
  }
  // Makes an initialiser with the name and options by which a registered initialiser can be made again.
  Initializer(std::string name, Config options, Function make)
      : name_(std::move(name)), options_(std::move(options)), make_(std::move(make)) {}
  // An initialiser that depends on a unit's numbers of inputs and outputs. `of_fans` returns the function for given
  // numbers.
  using FunctionOfFans = std::function<Function(double inputs, double outputs)>;
  Initializer(std::string name, Config options, Function make, FunctionOfFans of_fans)
      : Initializer(std::move(name), std::move(options), std::move(make)) {
    ofFans_ = std::move(of_fans);
  }

  Tensor operator()(const Shape &shape, DType dtype, SourceLocation where = SourceLocation::current()) const {
    return make_(shape, dtype, where);
  }

  // Returns the initialiser for given numbers of inputs and outputs. Use it for weights whose shape does not determine
  // these numbers, such as [in, heads, size]. An initialiser that does not depend on them, or is a callable, is
  // returned unchanged.
  Initializer with_fans(double inputs, double outputs) const;

  // {"class_name": "random_normal", "config": {"mean": 0, ...}}. StateError for a callable that is not registered.
  Config get_config(SourceLocation where = SourceLocation::current()) const;
  static Initializer from_config(const Config &config, SourceLocation where = SourceLocation::current());
  const std::string &name() const { return name_; }

private:
  static std::string nameOf(Tensor (*function)(const Shape &, DType, SourceLocation));

  std::string name_; // empty for a callable
  Config options_;
  Function make_;
  FunctionOfFans ofFans_; // empty if the initialiser does not depend on them
};

// Gives an initialiser of your own a name for options and configs. ValueError for a name that is taken.
CALQUE_API void register_initializer(const std::string &name, std::function<Initializer(const Config &options)> make,
                                     SourceLocation where = SourceLocation::current());

namespace initializers {

// The random initialisers above, with a seed of their own.
struct SeedOptions {
  std::optional<std::int64_t> seed = std::nullopt;
};
CALQUE_API Initializer GlorotUniform(SeedOptions options = {});
CALQUE_API Initializer GlorotNormal(SeedOptions options = {});
CALQUE_API Initializer HeUniform(SeedOptions options = {});
CALQUE_API Initializer HeNormal(SeedOptions options = {});
CALQUE_API Initializer LecunUniform(SeedOptions options = {});
CALQUE_API Initializer LecunNormal(SeedOptions options = {});

CALQUE_API Initializer Constant(double value = 0);

struct RandomNormalOptions {
  double mean = 0, stddev = 0.05;
  std::optional<std::int64_t> seed = std::nullopt;
};
CALQUE_API Initializer RandomNormal(RandomNormalOptions options = {});
// Numbers beyond two standard deviations are not drawn.
CALQUE_API Initializer TruncatedNormal(RandomNormalOptions options = {});

struct RandomUniformOptions {
  double minval = -0.05, maxval = 0.05;
  std::optional<std::int64_t> seed = std::nullopt;
};
CALQUE_API Initializer RandomUniform(RandomUniformOptions options = {});

struct VarianceScalingOptions {
  double scale = 1;
  std::string mode = "fan_in";                   // or "fan_out", "fan_avg"
  std::string distribution = "truncated_normal"; // or "untruncated_normal", "uniform"
  std::optional<std::int64_t> seed = std::nullopt;
};
// The variance is the scale divided by the number of inputs ("fan_in"), of outputs ("fan_out"), or their mean
// ("fan_avg"). ValueError for a scale that is not above 0 and for another mode or distribution.
CALQUE_API Initializer VarianceScaling(VarianceScalingOptions options = {},
                                       SourceLocation where = SourceLocation::current());

struct OrthogonalOptions {
  double gain = 1;
  std::optional<std::int64_t> seed = std::nullopt;
};
// A matrix with orthogonal vectors of length `gain`: its rows or its columns, whichever are fewer. For a shape of
// higher rank, all dimensions but the last count as rows. Saxe, McClelland, Ganguli: Exact solutions to the nonlinear
// dynamics of learning in deep linear neural networks, 2014. ShapeError for a shape of rank 1 or 0.
CALQUE_API Initializer Orthogonal(OrthogonalOptions options = {});

// `gain` times the identity matrix. ShapeError for a shape whose rank is not 2.
CALQUE_API Initializer Identity(double gain = 1);

} // namespace initializers
} // namespace calque
#endif
