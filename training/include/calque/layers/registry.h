// Layers by name: from configs and to configs.
//
//   Config config = layers::serialize(layers::Dense(3)); // {"class_name": "Dense", "config": {"units": 3, ...}}
//   layers::Layer dense = layers::deserialize(config);   // another layer like it, with variables of its own
//
// A layer of one's own overrides get_config(), and is registered:
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

// ValueError for a name or a class that is registered.
CALQUE_API void register_layer(const std::string &class_name, std::type_index body, LayerMaker make,
                               SourceLocation where = SourceLocation::current());
template <std::derived_from<LayerBody> Body>
void register_layer(const std::string &class_name, LayerMaker make, SourceLocation where = SourceLocation::current()) {
  register_layer(class_name, typeid(Body), std::move(make), where);
}
// The names that are registered.
CALQUE_API std::vector<std::string> registered_layers();

// A layer that occurs more than once, such as one that a model and a model inside of it share, has the number
// "shared_object_id" beside its class in each of its places; deserialize() makes one layer of them.
// StateError for a layer whose class is not registered, or that has a callable in it that has no name.
CALQUE_API Config serialize(const Layer &layer, SourceLocation where = SourceLocation::current());
// LookupError for a class that is not registered; ValueError for a config that it does not take.
CALQUE_API Layer deserialize(const Config &config, SourceLocation where = SourceLocation::current());

} // namespace calque::layers
#endif
