// Converts layers to configs, and configs to layers, by the names of their classes.
//
//   Config config = layers::serialize(layers::Dense(3)); // {"class_name": "Dense", "config": {"units": 3, ...}}
//   layers::Layer dense = layers::deserialize(config);   // another layer like it, with variables of its own
//
// A layer of your own overrides get_config(), and is registered:
//
//   struct ScaleBody : layers::LayerBody {
//     ...
//     Config get_config() const override { return {{"name", name()}, {"factor", factor}}; }
//   };
//   layers::register_layer<ScaleBody>("Scale", [](const Config &config) {
//     return layers::Layer(std::make_shared<ScaleBody>(config["factor"].as<double>()));
//   });
#ifndef CALQUE_LAYERS_REGISTRY_H
#define CALQUE_LAYERS_REGISTRY_H

#include "calque/layers/layer.h"

#include <typeindex>

namespace calque::layers {

using LayerMaker = std::function<Layer(const Config &config)>;

// Registers a class of layers under a name. ValueError for a name or a class that is registered already.
CALQUE_API void register_layer(const std::string &class_name, std::type_index body, LayerMaker make,
                               SourceLocation where = SourceLocation::current());
template <std::derived_from<LayerBody> Body>
void register_layer(const std::string &class_name, LayerMaker make, SourceLocation where = SourceLocation::current()) {
  register_layer(class_name, typeid(Body), std::move(make), where);
}
// The registered names.
CALQUE_API std::vector<std::string> registered_layers();

// The config of a layer. A layer that occurs more than once, for example in a model and in a model inside of it, has
// the same number "shared_object_id" beside its class in each place. deserialize() makes one layer of these. StateError
// for a layer whose class is not registered, and for a callable without a name.
CALQUE_API Config serialize(const Layer &layer, SourceLocation where = SourceLocation::current());
// Makes a layer from its config. LookupError for a class that is not registered; ValueError for a config that the class
// does not accept.
CALQUE_API Layer deserialize(const Config &config, SourceLocation where = SourceLocation::current());

} // namespace calque::layers
#endif
