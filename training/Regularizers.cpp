#include "calque/regularizers.h"

#include "Named.h"
#include "calque/functions.h"

#include <cmath>

namespace calque {

using training::fail;

namespace {

training::Named<Regularizer> &allRegularizers() {
  static auto *made = [] {
    auto *all = new training::Named<Regularizer>("regularizer");
    // What the config lacks is the factor that the name has by default.
    auto add = [&](const char *name, const char *className, double l1, double l2) {
      all->add(name, className, [=](const Config &config) {
        double first = l1, second = l2;
        ConfigReader reader(config, std::string("regularizer ") + name);
        reader("l1", first);
        reader("l2", second);
        reader.finish();
        return regularizers::l1_l2(first, second, SourceLocation());
      });
    };
    add("l1", "L1", 0.01, 0);
    add("l2", "L2", 0, 0.01);
    add("l1_l2", "L1L2", 0, 0);
    return all;
  }();
  return *made;
}

} // namespace

Regularizer::Regularizer(const char *name, SourceLocation where) {
  // By its name alone it has two factors, and in a config it has those that are there.
  const bool hasBoth = name && std::string(name) == "l1_l2";
  *this = hasBoth ? regularizers::l1_l2(0.01, 0.01, where) : from_config(std::string(name ? name : ""), where);
}

Tensor Regularizer::operator()(const Tensor &x) const {
  if (!function_)
    return zeros({}, x.dtype());
  Tensor loss = function_(x);
  const std::string which = name_.empty() ? "a callable" : "'" + name_ + "'";
  if (loss.rank() != 0)
    fail<ValueError>(absl::StrCat("regularizer: ", which, " gives ", training::describe(loss.dtype(), loss.shape()),
                                  ", and what is added to the loss is a number"));
  return loss;
}

ConfigValue Regularizer::get_config(SourceLocation where) const {
  if (!function_)
    return {};
  if (name_.empty())
    fail<StateError>("regularizer: a callable has no config; give it a name by register_regularizer(), and use that",
                     where);
  return Config{{"class_name", name_}, {"config", options_}};
}

Regularizer Regularizer::from_config(const ConfigValue &config, SourceLocation where) {
  if (config.is_null())
    return {};
  if (config.is<Config>() && !config.as<Config>(where).contains("class_name"))
    return allRegularizers().made("l1_l2", config.as<Config>(where), where);
  Regularizer made = allRegularizers().made(config, where);
  // One of the user's is known by the name that it is registered under.
  if (made.name_.empty())
    made.name_ = config.is<std::string>() ? config.as<std::string>(where)
                                          : config.as<Config>(where).at("class_name", where).as<std::string>(where);
  return made;
}

void register_regularizer(const std::string &name, std::function<Regularizer(const Config &)> make,
                          SourceLocation where) {
  allRegularizers().addOwn(name, std::move(make), where);
}

namespace regularizers {
Regularizer l1(double factor, SourceLocation where) { return l1_l2(factor, 0, where); }
Regularizer l2(double factor, SourceLocation where) { return l1_l2(0, factor, where); }
Regularizer l1_l2(double l1, double l2, SourceLocation where) {
  for (double factor : {l1, l2})
    if (!(factor >= 0) || !std::isfinite(factor))
      fail<ValueError>(absl::StrCat("regularizer: a factor is finite and not below 0, unlike ", Number(factor).str()),
                       where);
  if (l1 == 0 && l2 == 0)
    return {};
  return {"l1_l2", Config{{"l1", l1}, {"l2", l2}}, [l1, l2](const Tensor &x) {
            Tensor loss;
            if (l1 != 0)
              loss = sum(abs(x)) * l1;
            if (l2 != 0) {
              Tensor squares = sum(square(x)) * l2;
              loss = loss.defined() ? loss + squares : squares;
            }
            return loss;
          }};
}
} // namespace regularizers

} // namespace calque
