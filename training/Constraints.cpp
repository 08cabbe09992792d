#include "calque/constraints.h"

#include "Named.h"
#include "calque/functions.h"

namespace calque {

using training::fail;

namespace {

using Axes = std::vector<std::int64_t>;

// One axis is a number in configs, as Keras has it.
struct AxesOption {
  Axes axes = {0};
};
ConfigValue configOf(const AxesOption &value) {
  return value.axes.size() == 1 ? ConfigValue(value.axes[0])
                                : ConfigValue(ConfigValue::List(value.axes.begin(), value.axes.end()));
}
void readConfig(const ConfigValue &from, AxesOption &value) {
  if (from.is<std::int64_t>())
    value.axes = {from.as<std::int64_t>(SourceLocation())};
  else
    readConfig(from, value.axes);
}

Tensor normsOf(const Tensor &w, const Axes &axes) { return sqrt(sum(square(w), axes, true)); }
// Keras' smallest denominator.
constexpr double kEpsilon = 1e-7;

training::Named<Constraint> &allConstraints() {
  static auto *made = [] {
    auto *all = new training::Named<Constraint>("constraint");
    all->add("max_norm", "MaxNorm", [](const Config &config) {
      constraints::MaxNormOptions options;
      AxesOption axis;
      ConfigReader reader(config, "constraint max_norm");
      reader("max_value", options.max_value);
      reader("axis", axis);
      reader.finish();
      options.axis = axis.axes;
      return constraints::MaxNorm(options, SourceLocation());
    });
    all->add("non_neg", "NonNeg", [](const Config &config) {
      ConfigReader(config, "constraint non_neg").finish();
      return constraints::NonNeg();
    });
    all->add("unit_norm", "UnitNorm", [](const Config &config) {
      AxesOption axis;
      ConfigReader reader(config, "constraint unit_norm");
      reader("axis", axis);
      reader.finish();
      return constraints::UnitNorm(axis.axes);
    });
    all->add("min_max_norm", "MinMaxNorm", [](const Config &config) {
      constraints::MinMaxNormOptions options;
      AxesOption axis;
      ConfigReader reader(config, "constraint min_max_norm");
      reader("min_value", options.min_value);
      reader("max_value", options.max_value);
      reader("rate", options.rate);
      reader("axis", axis);
      reader.finish();
      options.axis = axis.axes;
      return constraints::MinMaxNorm(options, SourceLocation());
    });
    return all;
  }();
  return *made;
}

} // namespace

Constraint::Constraint(const char *name, SourceLocation where) {
  *this = from_config(std::string(name ? name : ""), where);
}

ConfigValue Constraint::get_config(SourceLocation where) const {
  if (!function_)
    return {};
  if (name_.empty())
    fail<StateError>("constraint: a callable has no config; give it a name by register_constraint(), and use that",
                     where);
  return Config{{"class_name", name_}, {"config", options_}};
}

Constraint Constraint::from_config(const ConfigValue &config, SourceLocation where) {
  if (config.is_null())
    return {};
  Constraint made = allConstraints().made(config, where);
  // One of the user's is known by the name that it is registered under.
  if (made.name_.empty())
    made.name_ = config.is<std::string>() ? config.as<std::string>(where)
                                          : config.as<Config>(where).at("class_name", where).as<std::string>(where);
  return made;
}

void register_constraint(const std::string &name, std::function<Constraint(const Config &)> make,
                         SourceLocation where) {
  allConstraints().addOwn(name, std::move(make), where);
}

namespace constraints {

Constraint MaxNorm(MaxNormOptions o, SourceLocation where) {
  if (!(o.max_value >= 0))
    fail<ValueError>(absl::StrCat("max_norm: max_value is not below 0, unlike ", Number(o.max_value).str()), where);
  return {"max_norm", Config{{"max_value", o.max_value}, {"axis", configOf(AxesOption{o.axis})}}, [o](const Tensor &w) {
            Tensor norms = normsOf(w, o.axis);
            return w * (minimum(norms, o.max_value) / (norms + kEpsilon));
          }};
}

Constraint NonNeg() {
  return {"non_neg", Config(), [](const Tensor &w) { return maximum(w, 0); }};
}

Constraint UnitNorm(Axes axis) {
  return {"unit_norm", Config{{"axis", configOf(AxesOption{axis})}},
          [axis](const Tensor &w) { return w / (normsOf(w, axis) + kEpsilon); }};
}

Constraint MinMaxNorm(MinMaxNormOptions o, SourceLocation where) {
  if (!(o.min_value >= 0 && o.min_value <= o.max_value))
    fail<ValueError>(absl::StrCat("min_max_norm: min_value is not below 0 and max_value not below it, unlike ",
                                  Number(o.min_value).str(), " and ", Number(o.max_value).str()),
                     where);
  if (!(o.rate >= 0 && o.rate <= 1))
    fail<ValueError>(absl::StrCat("min_max_norm: the rate is in [0, 1], unlike ", Number(o.rate).str()), where);
  Config config{
      {"min_value", o.min_value}, {"max_value", o.max_value}, {"rate", o.rate}, {"axis", configOf(AxesOption{o.axis})}};
  return {"min_max_norm", config, [o](const Tensor &w) {
            Tensor norms = normsOf(w, o.axis);
            Tensor desired = o.rate * clip(norms, o.min_value, o.max_value) + (1 - o.rate) * norms;
            return w * (desired / (norms + kEpsilon));
          }};
}

} // namespace constraints
} // namespace calque
