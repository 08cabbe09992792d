// Bodies of layers that say once what they are made of: describe(a) shows each option to a writer or a reader of
// configs.
#ifndef CALQUE_TRAINING_LAYERS_DESCRIBED_H
#define CALQUE_TRAINING_LAYERS_DESCRIBED_H

#include "Checks.h"
#include "calque/activations.h"
#include "calque/layers/registry.h"

#include <algorithm>

namespace calque::layers {

// ValueError for a name that is no element type's.
DType dtypeNamed(const std::string &name);

// How a value stands in a config.
template <typename T> ConfigValue configOf(const T &value) { return ConfigValue(value); }
inline ConfigValue configOf(const ActivationFunction &value) { return ConfigValue(value.get_config(SourceLocation())); }
inline ConfigValue configOf(const Initializer &value) { return ConfigValue(value.get_config(SourceLocation())); }
inline ConfigValue configOf(const Regularizer &value) { return value.get_config(); }
inline ConfigValue configOf(const Layer &value) { return ConfigValue(serialize(value, SourceLocation())); }
// A number for sequences, and else a list.
template <std::size_t rank> ConfigValue configOf(const Extents<rank> &value) {
  if constexpr (rank == 1)
    return value.sizes[0];
  return ConfigValue(ConfigValue::List(value.sizes.begin(), value.sizes.end()));
}
inline ConfigValue configOf(const std::vector<double> &values) {
  return ConfigValue(ConfigValue::List(values.begin(), values.end()));
}

template <typename T> void readConfig(const ConfigValue &from, T &value) {
  if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string>)
    value = from.as<T>(SourceLocation());
  else if constexpr (std::is_integral_v<T>)
    value = static_cast<T>(from.as<std::int64_t>(SourceLocation()));
  else
    value = from.as<double>(SourceLocation());
}
inline void readConfig(const ConfigValue &from, ActivationFunction &value) {
  value = ActivationFunction(from.as<std::string>(SourceLocation()), SourceLocation());
}
inline void readConfig(const ConfigValue &from, Initializer &value) {
  value = from.is<std::string>() ? Initializer(from.as<std::string>(SourceLocation()), SourceLocation())
                                 : Initializer::from_config(from.as<Config>(SourceLocation()), SourceLocation());
}
inline void readConfig(const ConfigValue &from, Regularizer &value) {
  value = Regularizer::from_config(from, SourceLocation());
}
inline void readConfig(const ConfigValue &from, Layer &value) {
  value = deserialize(from.as<Config>(SourceLocation()), SourceLocation());
}
template <std::size_t rank> void readConfig(const ConfigValue &from, Extents<rank> &value) {
  if (from.is<std::int64_t>()) {
    value = from.as<std::int64_t>();
    return;
  }
  auto sizes = from.as<ConfigValue::List>(SourceLocation());
  if (sizes.size() != rank)
    fail<ValueError>(absl::StrCat("config: ", from.str(), " is no number and no list of ", rank));
  for (std::size_t i = 0; i < rank; ++i)
    value.sizes[i] = sizes[i].as<std::int64_t>(SourceLocation());
}
// A list, with null for a size that is not known.
inline ConfigValue configOf(const Shape &value) {
  ConfigValue::List sizes;
  for (const Size &size : value)
    if (size.is_known())
      sizes.emplace_back(std::int64_t(size));
    else
      sizes.emplace_back();
  return sizes;
}
inline void readConfig(const ConfigValue &from, Shape &value) {
  value = Shape();
  for (const ConfigValue &size : from.as<ConfigValue::List>(SourceLocation()))
    value.push_back(size.is_null() ? kDynamic : Size(size.as<std::int64_t>(SourceLocation())));
}
inline ConfigValue configOf(DType value) { return ConfigValue(std::string(name_of(value))); }
inline void readConfig(const ConfigValue &from, DType &value) {
  value = dtypeNamed(from.as<std::string>(SourceLocation()));
}
template <typename T> void readConfig(const ConfigValue &from, std::vector<T> &values) {
  values.clear();
  for (const ConfigValue &element : from.as<ConfigValue::List>(SourceLocation())) {
    T value{};
    readConfig(element, value);
    values.push_back(value);
  }
}
template <typename T> void readConfig(const ConfigValue &from, std::optional<T> &value) {
  value.reset();
  if (!from.is_null())
    readConfig(from, value.emplace());
}

class ConfigWriter {
public:
  template <typename T> void operator()(const char *name, const T &value) { config.set(name, configOf(value)); }
  Config config;
};

// Options that the config lacks keep their defaults.
class ConfigReader {
public:
  explicit ConfigReader(const Config &config) : config(config) {}
  template <typename T> void operator()(const char *name, T &value) {
    known.emplace_back(name);
    if (const ConfigValue *found = config.find(name))
      readConfig(*found, value);
  }
  // ValueError for a name that was not asked for.
  void finish(const std::string &layer) const {
    for (const auto &[name, value] : config)
      if (std::find(known.begin(), known.end(), name) == known.end())
        fail<ValueError>(absl::StrCat(layer, ": its config has '", name, "', which is no option of it"));
  }

private:
  const Config &config;
  std::vector<std::string> known;
};

// The base of bodies. `Body` can be made without arguments, has `describe(a)`, and `check(where)`, which refuses
// options.
template <typename Body> class Described : public LayerBody {
public:
  using LayerBody::LayerBody;
  using Module::set_name;

  Config get_config() const override {
    ConfigWriter writer;
    writer("name", name());
    writer("trainable", trainable());
    // A writer changes nothing.
    const_cast<Body &>(static_cast<const Body &>(*this)).describe(writer);
    return std::move(writer.config);
  }
  void check(SourceLocation) const {}
};

template <typename Body, typename... Args>
std::shared_ptr<Body> made(const std::string &name, SourceLocation where, Args &&...args) {
  auto body = std::make_shared<Body>(std::forward<Args>(args)...);
  body->set_name(name, where);
  body->check(where);
  return body;
}

void registerOwn(const std::string &className, std::type_index body, LayerMaker make);

template <typename Body> void registerDescribed(const std::string &className) {
  registerOwn(className, typeid(Body), [](const Config &config) {
    auto body = std::make_shared<Body>();
    ConfigReader reader(config);
    std::string name;
    bool trainable = true;
    reader("name", name);
    reader("trainable", trainable);
    body->describe(reader);
    reader.finish(static_cast<const LayerBody &>(*body).kind());
    body->set_name(name);
    body->set_trainable(trainable);
    body->check({});
    return Layer(body);
  });
}

// Each family registers its layers.
void registerArithmetic();
void registerAttention();
void registerCore();
void registerConvolution();
void registerFunctional();
void registerMerging();
void registerPooling();
void registerNormalization();
void registerPreprocessing();
void registerRecurrent();
void registerRegularization();
void registerReshaping();
void registerSequential();

} // namespace calque::layers
#endif
