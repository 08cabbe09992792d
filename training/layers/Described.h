// Bodies of layers that say once what they are made of: describe(a) shows each option to a writer or a reader of
// configs.
#ifndef CALQUE_TRAINING_LAYERS_DESCRIBED_H
#define CALQUE_TRAINING_LAYERS_DESCRIBED_H

#include "Checks.h"
#include "Fields.h"
#include "calque/activations.h"
#include "calque/layers/registry.h"

namespace calque {

inline ConfigValue configOf(const Initializer &value) { return ConfigValue(value.get_config(SourceLocation())); }
inline ConfigValue configOf(const Regularizer &value) { return value.get_config(SourceLocation()); }
inline ConfigValue configOf(const Constraint &value) { return value.get_config(SourceLocation()); }
inline void readConfig(const ConfigValue &from, Initializer &value) {
  value = from.is<std::string>() ? Initializer(from.as<std::string>(SourceLocation()), SourceLocation())
                                 : Initializer::from_config(from.as<Config>(SourceLocation()), SourceLocation());
}
inline void readConfig(const ConfigValue &from, Regularizer &value) {
  value = Regularizer::from_config(from, SourceLocation());
}
inline void readConfig(const ConfigValue &from, Constraint &value) {
  value = Constraint::from_config(from, SourceLocation());
}

} // namespace calque

namespace calque::layers {

inline ConfigValue configOf(const ActivationFunction &value) { return ConfigValue(value.get_config(SourceLocation())); }
inline ConfigValue configOf(const Layer &value) { return ConfigValue(serialize(value, SourceLocation())); }
// A number for sequences, and else a list.
template <std::size_t rank> ConfigValue configOf(const Extents<rank> &value) {
  if constexpr (rank == 1)
    return value.sizes[0];
  return ConfigValue(ConfigValue::List(value.sizes.begin(), value.sizes.end()));
}
inline void readConfig(const ConfigValue &from, ActivationFunction &value) {
  value = ActivationFunction(from.as<std::string>(SourceLocation()), SourceLocation());
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
template <std::size_t rank> void readConfig(const ConfigValue &from, std::optional<Extents<rank>> &value) {
  value.reset();
  if (!from.is_null())
    readConfig(from, value.emplace(1));
}

// The base of bodies. `Body` can be made without arguments, has `describe(a)`, and `check(where)`, which refuses
// options.
template <typename Body> class Described : public LayerBody {
public:
  using LayerBody::LayerBody;
  using Module::set_name;

  Config get_config() const override {
    ConfigWriter writer;
    writer("name", has_given_name() ? name() : "");
    writer("trainable", trainable());
    // A writer changes nothing.
    const_cast<Body &>(static_cast<const Body &>(*this)).describe(writer);
    return std::move(writer.config);
  }
  void check(SourceLocation) const {}

protected:
  bool is_of_library() const override { return true; }
};

template <typename Body, typename... Args>
std::shared_ptr<Body> made(const std::string &name, SourceLocation where, Args &&...args) {
  auto body = std::make_shared<Body>(std::forward<Args>(args)...);
  body->set_name(name, where);
  body->check(where);
  return body;
}

// A layer that shares nothing with the others of a config that is being read.
Layer deserializeAnother(const Config &config, SourceLocation where);

void registerOwn(const std::string &className, std::type_index body, LayerMaker make);
// As serialize(). Errors of options name the layer, as the model calls it.
Config serializePart(const Layer &layer, const std::string &name, SourceLocation where);

template <typename Body> void registerDescribed(const std::string &className) {
  registerOwn(className, typeid(Body), [](const Config &config) {
    auto body = std::make_shared<Body>();
    ConfigReader reader(config, static_cast<const LayerBody &>(*body).kind());
    std::string name;
    bool trainable = true;
    reader("name", name);
    reader("trainable", trainable);
    body->describe(reader);
    reader.finish();
    body->set_name(name);
    if (!trainable) // and else as its parts say
      body->set_trainable(false);
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
