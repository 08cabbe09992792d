#include "calque/initializers.h"

#include "Support.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "calque/functions.h"
#include "calque/random.h"

#include <cmath>
#include <mutex>

namespace calque {

using training::fail;

//===-- Draws -----------------------------------------------------------------------------------===//

namespace {
struct Fans {
  double in = 1, out = 1;
};

Fans fansOf(const Shape &shape) {
  if (shape.empty())
    return {};
  auto last = static_cast<double>(shape.back());
  if (shape.size() == 1)
    return {last, last};
  double field = 1; // the pixels that a filter covers
  for (std::size_t i = 0; i + 2 < shape.size(); ++i)
    field *= static_cast<double>(shape[i]);
  return {field * static_cast<double>(shape[shape.size() - 2]), field * last};
}

// Draws of the global generator, or always the same ones of a seed.
using Seed = std::optional<std::int64_t>;
Tensor drawUniform(const Shape &shape, random::UniformOptions options, const Seed &seed, SourceLocation where) {
  if (seed)
    return random::Generator(*seed, where).uniform(shape, options, where);
  return random::uniform(shape, options, where);
}
Tensor drawNormal(const Shape &shape, random::NormalOptions options, const Seed &seed, SourceLocation where) {
  if (seed)
    return random::Generator(*seed, where).normal(shape, options, where);
  return random::normal(shape, options, where);
}

// The inverse of erf between -0.96 and 0.96: Giles: Approximating the erfinv function, 2010, which is exact to single
// precision, and then two steps of Newton's method.
Tensor inverseErf(const Tensor &y) {
  const double coefficients[] = {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                                 -0.00125372503, -0.00417768164, 0.246640727,    1.50140941};
  Tensor w = -log((1 - y) * (1 + y)) - 2.5, p = full({}, coefficients[0], y.dtype());
  for (std::size_t i = 1; i < std::size(coefficients); ++i)
    p = p * w + coefficients[i];
  Tensor x = p * y;
  for (int step = 0; step < 2; ++step)
    x = x - (erf(x) - y) * (std::sqrt(M_PI) / 2) * exp(square(x));
  return x;
}

// Normal numbers within two standard deviations, by the inverse of their distribution.
Tensor drawTruncated(const Shape &shape, random::NormalOptions options, const Seed &seed, SourceLocation where) {
  const double within = std::erf(std::sqrt(2.0));
  Tensor u = drawUniform(shape, {.minval = -within, .maxval = within, .dtype = options.dtype}, seed, where);
  return inverseErf(u) * (std::sqrt(2.0) * options.stddev) + options.mean;
}

double fanOf(const Fans &fans, const std::string &mode) {
  return mode == "fan_in" ? fans.in : mode == "fan_out" ? fans.out : (fans.in + fans.out) / 2;
}

Tensor drawScaled(const initializers::VarianceScalingOptions &options, const Fans &fans, const Shape &shape,
                  DType dtype, SourceLocation where) {
  double variance = options.scale / fanOf(fans, options.mode);
  // An empty weight has a fan of 0, and an infinite variance; it draws no numbers, so any deviation will do.
  double deviation = std::isfinite(variance) && variance > 0 ? std::sqrt(variance) : 1;
  if (options.distribution == "uniform") {
    double limit = std::sqrt(3.0) * deviation;
    return drawUniform(shape, {.minval = -limit, .maxval = limit, .dtype = dtype}, options.seed, where);
  }
  if (options.distribution == "untruncated_normal")
    return drawNormal(shape, {.stddev = deviation, .dtype = dtype}, options.seed, where);
  // The deviation of normal numbers that are truncated at two of theirs.
  const double truncated = 0.87962566103423978;
  return drawTruncated(shape, {.stddev = deviation / truncated, .dtype = dtype}, options.seed, where);
}

Tensor drawScaled(const initializers::VarianceScalingOptions &options, const Shape &shape, DType dtype,
                  SourceLocation where) {
  return drawScaled(options, fansOf(shape), shape, dtype, where);
}
Initializer scaled(const char *name, Config config, const initializers::VarianceScalingOptions &o) {
  return {name, std::move(config),
          [o](const Shape &shape, DType dtype, SourceLocation where) { return drawScaled(o, shape, dtype, where); },
          [o](double inputs, double outputs) -> Initializer::Function {
            return [o, fans = Fans{inputs, outputs}](const Shape &shape, DType dtype, SourceLocation where) {
              return drawScaled(o, fans, shape, dtype, where);
            };
          }};
}

// Orthonormal columns of a tall matrix of normal numbers, by the method of Gram and Schmidt in double precision, twice
// for each column, because once loses digits. Its diagonal of R is positive, so that the result is equally likely to be
// any orthogonal matrix.
std::vector<double> orthonormal(std::vector<double> a, std::size_t rows, std::size_t columns) {
  auto at = [&](std::size_t row, std::size_t column) -> double & { return a[row * columns + column]; };
  for (std::size_t j = 0; j < columns; ++j) {
    for (int pass = 0; pass < 2; ++pass)
      for (std::size_t k = 0; k < j; ++k) {
        double product = 0;
        for (std::size_t i = 0; i < rows; ++i)
          product += at(i, k) * at(i, j);
        for (std::size_t i = 0; i < rows; ++i)
          at(i, j) -= product * at(i, k);
      }
    double norm = 0;
    for (std::size_t i = 0; i < rows; ++i)
      norm += at(i, j) * at(i, j);
    for (std::size_t i = 0; i < rows; ++i)
      at(i, j) /= std::sqrt(norm);
  }
  return a;
}

Tensor drawOrthogonal(const initializers::OrthogonalOptions &options, const Shape &shape, DType dtype,
                      SourceLocation where) {
  if (shape.size() < 2)
    fail<ShapeError>(absl::StrCat("orthogonal: takes a shape of rank 2 or more, not ", shape.str()), where);
  std::int64_t rows = 1, columns = shape.back();
  for (std::size_t i = 0; i + 1 < shape.size(); ++i)
    rows *= shape[i];
  const std::int64_t tall = std::max(rows, columns), narrow = std::min(rows, columns);
  Tensor drawn = drawNormal({tall, narrow}, {.dtype = DType::Float64}, options.seed, where);
  std::vector<double> q =
      orthonormal(drawn.to_vector<double>(), static_cast<std::size_t>(tall), static_cast<std::size_t>(narrow));
  Tensor made = tensor(q, {tall, narrow}, where);
  if (rows < columns)
    made = transpose(made);
  return cast(reshape(made, shape) * options.gain, dtype);
}

} // namespace

//===-- With options ----------------------------------------------------------------------------===//

namespace initializers {

Initializer Constant(double value) {
  return {"constant", Config{{"value", value}}, [value](const Shape &shape, DType dtype, SourceLocation where) {
            return full(shape, Operand(value, where), dtype);
          }};
}

Initializer RandomNormal(RandomNormalOptions o) {
  return {"random_normal", Config{{"mean", o.mean}, {"stddev", o.stddev}, {"seed", o.seed}},
          [o](const Shape &shape, DType dtype, SourceLocation where) {
            return drawNormal(shape, {.mean = o.mean, .stddev = o.stddev, .dtype = dtype}, o.seed, where);
          }};
}

Initializer TruncatedNormal(RandomNormalOptions o) {
  return {"truncated_normal", Config{{"mean", o.mean}, {"stddev", o.stddev}, {"seed", o.seed}},
          [o](const Shape &shape, DType dtype, SourceLocation where) {
            return drawTruncated(shape, {.mean = o.mean, .stddev = o.stddev, .dtype = dtype}, o.seed, where);
          }};
}

Initializer RandomUniform(RandomUniformOptions o) {
  return {"random_uniform", Config{{"minval", o.minval}, {"maxval", o.maxval}, {"seed", o.seed}},
          [o](const Shape &shape, DType dtype, SourceLocation where) {
            return drawUniform(shape, {.minval = o.minval, .maxval = o.maxval, .dtype = dtype}, o.seed, where);
          }};
}

Initializer VarianceScaling(VarianceScalingOptions o, SourceLocation where) {
  if (!(o.scale > 0) || !std::isfinite(o.scale))
    fail<ValueError>(absl::StrCat("variance_scaling: the scale is finite and above 0, unlike ", Number(o.scale).str()),
                     where);
  if (o.mode != "fan_in" && o.mode != "fan_out" && o.mode != "fan_avg")
    fail<ValueError>(
        absl::StrCat("variance_scaling: there is no mode '", o.mode, "'; it is 'fan_in', 'fan_out' or 'fan_avg'"),
        where);
  if (o.distribution != "truncated_normal" && o.distribution != "untruncated_normal" && o.distribution != "uniform")
    fail<ValueError>(absl::StrCat("variance_scaling: there is no distribution '", o.distribution,
                                  "'; it is 'truncated_normal', 'untruncated_normal' or 'uniform'"),
                     where);
  Config config{{"scale", o.scale}, {"mode", o.mode}, {"distribution", o.distribution}, {"seed", o.seed}};
  return scaled("variance_scaling", std::move(config), o);
}

Initializer Orthogonal(OrthogonalOptions o) {
  return {
      "orthogonal", Config{{"gain", o.gain}, {"seed", o.seed}},
      [o](const Shape &shape, DType dtype, SourceLocation where) { return drawOrthogonal(o, shape, dtype, where); }};
}

Initializer Identity(double gain) {
  return {"identity", Config{{"gain", gain}}, [gain](const Shape &shape, DType dtype, SourceLocation where) {
            if (shape.size() != 2)
              fail<ShapeError>(absl::StrCat("identity: takes the shape of a matrix, not ", shape.str()), where);
            return cast(equal(iota(shape, DType::Int64, 0), iota(shape, DType::Int64, 1)), dtype) * gain;
          }};
}

} // namespace initializers

//===-- Of the literature -----------------------------------------------------------------------===//

namespace {
using initializers::VarianceScalingOptions;
const VarianceScalingOptions kGlorotUniform{1, "fan_avg", "uniform"}, kGlorotNormal{1, "fan_avg", "truncated_normal"},
    kHeUniform{2, "fan_in", "uniform"}, kHeNormal{2, "fan_in", "truncated_normal"},
    kLecunUniform{1, "fan_in", "uniform"}, kLecunNormal{1, "fan_in", "truncated_normal"};

Initializer scaledBy(const char *name, VarianceScalingOptions o, const Seed &seed) {
  o.seed = seed;
  return scaled(name, seed ? Config{{"seed", seed}} : Config(), o);
}
} // namespace

namespace initializers {
Initializer GlorotUniform(SeedOptions of) { return scaledBy("glorot_uniform", kGlorotUniform, of.seed); }
Initializer GlorotNormal(SeedOptions of) { return scaledBy("glorot_normal", kGlorotNormal, of.seed); }
Initializer HeUniform(SeedOptions of) { return scaledBy("he_uniform", kHeUniform, of.seed); }
Initializer HeNormal(SeedOptions of) { return scaledBy("he_normal", kHeNormal, of.seed); }
Initializer LecunUniform(SeedOptions of) { return scaledBy("lecun_uniform", kLecunUniform, of.seed); }
Initializer LecunNormal(SeedOptions of) { return scaledBy("lecun_normal", kLecunNormal, of.seed); }
} // namespace initializers

Tensor glorot_uniform(const Shape &shape, DType dtype, SourceLocation where) {
  return drawScaled(kGlorotUniform, shape, dtype, where);
}
Tensor glorot_normal(const Shape &shape, DType dtype, SourceLocation where) {
  return drawScaled(kGlorotNormal, shape, dtype, where);
}
Tensor he_uniform(const Shape &shape, DType dtype, SourceLocation where) {
  return drawScaled(kHeUniform, shape, dtype, where);
}
Tensor he_normal(const Shape &shape, DType dtype, SourceLocation where) {
  return drawScaled(kHeNormal, shape, dtype, where);
}
Tensor lecun_uniform(const Shape &shape, DType dtype, SourceLocation where) {
  return drawScaled(kLecunUniform, shape, dtype, where);
}
Tensor lecun_normal(const Shape &shape, DType dtype, SourceLocation where) {
  return drawScaled(kLecunNormal, shape, dtype, where);
}

//===-- Names -----------------------------------------------------------------------------------===//

namespace {

using Plain = Tensor (*)(const Shape &, DType, SourceLocation);
using Make = std::function<Initializer(const Config &)>;
struct NamedInitializer {
  std::string name;
  Plain function;
  Make make;
};

struct InitializerRegistry {
  std::mutex mutex;
  std::vector<NamedInitializer> known;

  InitializerRegistry() {
    using namespace initializers;
    auto plain = [&](const char *name, Plain function) {
      known.push_back({name, function, [=](const Config &) { return Initializer(name, Config(), function); }});
    };
    auto seed = [](const Config &from) {
      const ConfigValue *found = from.find("seed");
      return found && !found->is_null() ? Seed(found->as<std::int64_t>()) : Seed();
    };
    auto seeded = [&](const char *name, Plain function, Initializer (*make)(SeedOptions)) {
      known.push_back({name, function, [=](const Config &c) { return make({seed(c)}); }});
    };
    plain("zeros", zeros);
    plain("ones", ones);
    seeded("glorot_uniform", glorot_uniform, GlorotUniform);
    seeded("glorot_normal", glorot_normal, GlorotNormal);
    seeded("he_uniform", he_uniform, HeUniform);
    seeded("he_normal", he_normal, HeNormal);
    seeded("lecun_uniform", lecun_uniform, LecunUniform);
    seeded("lecun_normal", lecun_normal, LecunNormal);
    auto add = [&](const char *name, Make make) { known.push_back({name, nullptr, std::move(make)}); };
    auto number = [](const Config &from, const char *name, double otherwise) {
      const ConfigValue *found = from.find(name);
      return found ? found->as<double>() : otherwise;
    };
    auto text = [](const Config &from, const char *name, const char *otherwise) {
      const ConfigValue *found = from.find(name);
      return found ? found->as<std::string>() : otherwise;
    };
    add("constant", [=](const Config &c) { return Constant(number(c, "value", 0)); });
    add("random_normal",
        [=](const Config &c) { return RandomNormal({number(c, "mean", 0), number(c, "stddev", 0.05), seed(c)}); });
    add("truncated_normal",
        [=](const Config &c) { return TruncatedNormal({number(c, "mean", 0), number(c, "stddev", 0.05), seed(c)}); });
    add("random_uniform", [=](const Config &c) {
      return RandomUniform({number(c, "minval", -0.05), number(c, "maxval", 0.05), seed(c)});
    });
    add("variance_scaling", [=](const Config &c) {
      return VarianceScaling(
          {number(c, "scale", 1), text(c, "mode", "fan_in"), text(c, "distribution", "truncated_normal"), seed(c)});
    });
    add("orthogonal", [=](const Config &c) { return Orthogonal({number(c, "gain", 1), seed(c)}); });
    add("identity", [=](const Config &c) { return Identity(number(c, "gain", 1)); });
  }
};
InitializerRegistry &allInitializers() {
  static InitializerRegistry made;
  return made;
}

// Keras' other names, which messages don't list: those of classes, "HeNormal", and short ones.
std::string shortName(const std::string &name) {
  static const std::pair<const char *, const char *> others[] = {{"uniform", "random_uniform"},
                                                                 {"normal", "random_normal"},
                                                                 {"zero", "zeros"},
                                                                 {"one", "ones"},
                                                                 {"IdentityInitializer", "identity"},
                                                                 {"OrthogonalInitializer", "orthogonal"}};
  for (const auto &[other, known] : others)
    if (name == other)
      return known;
  if (name.empty() || !absl::ascii_isupper(static_cast<unsigned char>(name[0])))
    return name;
  std::string lower;
  for (char c : name) {
    if (absl::ascii_isupper(static_cast<unsigned char>(c)) && !lower.empty())
      lower += '_';
    lower += absl::ascii_tolower(static_cast<unsigned char>(c));
  }
  return lower;
}

// The name that it is known by, too.
std::pair<std::string, Make> makeOf(const std::string &name, SourceLocation where) {
  std::lock_guard lock(allInitializers().mutex);
  for (const std::string &known : {name, shortName(name)})
    for (const NamedInitializer &each : allInitializers().known)
      if (each.name == known)
        return {known, each.make};
  auto appendName = [](std::string *text, const NamedInitializer &each) { text->append(each.name); };
  fail<ValueError>(absl::StrCat("initializer: there is no '", name, "'; there are ",
                                absl::StrJoin(allInitializers().known, ", ", appendName)),
                   where);
}

} // namespace

void register_initializer(const std::string &name, std::function<Initializer(const Config &)> make,
                          SourceLocation where) {
  detail::requireCallable(make, "register_initializer", where);
  std::lock_guard lock(allInitializers().mutex);
  for (const NamedInitializer &each : allInitializers().known)
    if (each.name == name)
      fail<ValueError>(absl::StrCat("register_initializer: there is an initializer '", name, "' already"), where);
  allInitializers().known.push_back({name, nullptr, std::move(make)});
}

Initializer::Initializer(const char *name, SourceLocation where) {
  if (!name)
    detail::throwNothingToCall("initializer", where);
  *this = from_config(Config{{"class_name", name}}, where);
}

std::string Initializer::nameOf(Plain function) {
  std::lock_guard lock(allInitializers().mutex);
  for (const NamedInitializer &each : allInitializers().known)
    if (each.function == function)
      return each.name;
  return {};
}

Initializer Initializer::with_fans(double inputs, double outputs) const {
  Initializer made = *this;
  FunctionOfFans ofFans = ofFans_;
  if (!ofFans && !name_.empty()) { // perhaps one of the functions, which are known by their names
    Make make;
    {
      std::lock_guard lock(allInitializers().mutex);
      for (const NamedInitializer &each : allInitializers().known)
        if (each.function && each.name == name_)
          make = each.make;
    }
    if (make)
      ofFans = make(Config()).ofFans_;
  }
  if (ofFans)
    made.make_ = ofFans(inputs, outputs);
  return made;
}

Config Initializer::get_config(SourceLocation where) const {
  if (name_.empty())
    fail<StateError>("initializer: a callable has no config; give it a name by register_initializer(), and use that",
                     where);
  return {{"class_name", name_}, {"config", options_}};
}

Initializer Initializer::from_config(const Config &config, SourceLocation where) {
  const auto [name, make] = makeOf(config.at("class_name", where).as<std::string>(where), where);
  const ConfigValue *options = config.find("config");
  Initializer made = make(options ? options->as<Config>(where) : Config());
  // One of the user's is known by the name that it is registered under.
  made.name_ = name;
  if (made.options_.empty() && options)
    made.options_ = options->as<Config>(where);
  return made;
}

} // namespace calque
