#include "calque/layers/regularization.h"

#include "Described.h"
#include "calque/functions.h"

#include <cmath>

namespace calque::layers {

namespace {

// What draws in training: `Body` has a kind, the name of its number, checkNumber() and draw(x, number, generator).
template <typename Body> class NoisyBody : public Described<Body> {
public:
  explicit NoisyBody(double number = 0, DropoutOptions options = {})
      : Described<Body>(Body::kind), number(number), options(std::move(options)) {}
  void check(SourceLocation where) const { Body::checkNumber(number, where); }
  template <typename A> void describe(A &a) {
    a(Body::option, number);
    a("seed", options.seed);
  }

protected:
  void build(const Shape &, DType) override {
    generator.emplace(options.seed ? *options.seed : random::global_generator().draw_seed());
    this->adopt_state("generator", generator->state());
  }
  Tensor call(const Tensor &x, const CallOptions &call) override {
    checkFloating(this->title(), x.shape(), x.dtype());
    Body::checkInput(this->title(), x.shape());
    return !call.training || number == 0 ? x : Body::draw(x, number, *generator);
  }
  Mask compute_mask(const Tensor &, const Mask &mask) override { return mask; }

private:
  double number;
  DropoutOptions options;
  std::optional<random::Generator> generator;
};

template <typename Body> struct RateBody : NoisyBody<Body> {
  static constexpr const char *option = "rate";
  using NoisyBody<Body>::NoisyBody;
  static void checkNumber(double rate, SourceLocation where) {
    if (!(rate >= 0 && rate < 1))
      fail<ValueError>(absl::StrCat(Body::kind, ": the rate is in [0, 1), unlike ", Number(rate).str()), where);
  }
  static void checkInput(const std::string &, const Shape &) {}
};

Tensor dropped(const Tensor &x, double rate, const Shape &noise, random::Generator &generator) {
  return where(generator.bernoulli(noise, 1 - rate), x * (1 / (1 - rate)), 0);
}

struct DropoutBody : RateBody<DropoutBody> {
  static constexpr const char *kind = "dropout";
  using RateBody::RateBody;
  static Tensor draw(const Tensor &x, double rate, random::Generator &generator) {
    return dropped(x, rate, x.shape(), generator);
  }
};

template <typename Body, std::size_t rank> struct SpatialBody : RateBody<Body> {
  using RateBody<Body>::RateBody;
  static void checkInput(const std::string &title, const Shape &input) { checkRank(title, input, rank); }
  static Tensor draw(const Tensor &x, double rate, random::Generator &generator) {
    Shape noise(rank, 1);
    noise.front() = x.shape().front();
    noise.back() = x.shape().back();
    return dropped(x, rate, noise, generator);
  }
};
struct SpatialDropout1DBody : SpatialBody<SpatialDropout1DBody, 3> {
  static constexpr const char *kind = "spatial_dropout1d";
  using SpatialBody::SpatialBody;
};
struct SpatialDropout2DBody : SpatialBody<SpatialDropout2DBody, 4> {
  static constexpr const char *kind = "spatial_dropout2d";
  using SpatialBody::SpatialBody;
};
struct SpatialDropout3DBody : SpatialBody<SpatialDropout3DBody, 5> {
  static constexpr const char *kind = "spatial_dropout3d";
  using SpatialBody::SpatialBody;
};

struct GaussianNoiseBody : NoisyBody<GaussianNoiseBody> {
  static constexpr const char *kind = "gaussian_noise", *option = "stddev";
  using NoisyBody::NoisyBody;
  static void checkNumber(double stddev, SourceLocation where) {
    if (!(stddev >= 0) || !std::isfinite(stddev))
      fail<ValueError>(
          absl::StrCat("gaussian_noise: a standard deviation is finite and not below 0, unlike ", Number(stddev).str()),
          where);
  }
  static void checkInput(const std::string &, const Shape &) {}
  static Tensor draw(const Tensor &x, double stddev, random::Generator &generator) {
    return x + generator.normal(x.shape(), {.stddev = stddev, .dtype = x.dtype()});
  }
};
struct GaussianDropoutBody : RateBody<GaussianDropoutBody> {
  static constexpr const char *kind = "gaussian_dropout";
  using RateBody::RateBody;
  static Tensor draw(const Tensor &x, double rate, random::Generator &generator) {
    return x * generator.normal(x.shape(), {.mean = 1, .stddev = std::sqrt(rate / (1 - rate)), .dtype = x.dtype()});
  }
};

class ActivityRegularizationBody : public Described<ActivityRegularizationBody> {
public:
  explicit ActivityRegularizationBody(ActivityRegularizationOptions options = {})
      : Described("activity_regularization", false), options(std::move(options)) {}
  void check(SourceLocation where) const { regularizers::l1_l2(options.l1, options.l2, where); }
  template <typename A> void describe(A &a) {
    a("l1", options.l1);
    a("l2", options.l2);
  }

protected:
  Tensor call(const Tensor &x, const CallOptions &) override { return x; }
  Mask compute_mask(const Tensor &, const Mask &mask) override { return mask; }
  Regularizer activity_regularizer() const override { return regularizers::l1_l2(options.l1, options.l2); }

private:
  ActivityRegularizationOptions options;
};

} // namespace

Dropout::Dropout(double rate, DropoutOptions options, SourceLocation where)
    : Layer(made<DropoutBody>(options.name, where, rate, options)) {}
SpatialDropout1D::SpatialDropout1D(double rate, DropoutOptions options, SourceLocation where)
    : Layer(made<SpatialDropout1DBody>(options.name, where, rate, options)) {}
SpatialDropout2D::SpatialDropout2D(double rate, DropoutOptions options, SourceLocation where)
    : Layer(made<SpatialDropout2DBody>(options.name, where, rate, options)) {}
SpatialDropout3D::SpatialDropout3D(double rate, DropoutOptions options, SourceLocation where)
    : Layer(made<SpatialDropout3DBody>(options.name, where, rate, options)) {}
GaussianNoise::GaussianNoise(double stddev, DropoutOptions options, SourceLocation where)
    : Layer(made<GaussianNoiseBody>(options.name, where, stddev, options)) {}
GaussianDropout::GaussianDropout(double rate, DropoutOptions options, SourceLocation where)
    : Layer(made<GaussianDropoutBody>(options.name, where, rate, options)) {}
ActivityRegularization::ActivityRegularization(ActivityRegularizationOptions options, SourceLocation where)
    : Layer(made<ActivityRegularizationBody>(options.name, where, options)) {}

void registerRegularization() {
  registerDescribed<ActivityRegularizationBody>("ActivityRegularization");
  registerDescribed<DropoutBody>("Dropout");
  registerDescribed<SpatialDropout1DBody>("SpatialDropout1D");
  registerDescribed<SpatialDropout2DBody>("SpatialDropout2D");
  registerDescribed<SpatialDropout3DBody>("SpatialDropout3D");
  registerDescribed<GaussianNoiseBody>("GaussianNoise");
  registerDescribed<GaussianDropoutBody>("GaussianDropout");
}

} // namespace calque::layers
