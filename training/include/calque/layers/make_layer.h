// Makes a layer of your own in one line, from the class at the top of layer.h:
// `auto scale = layers::make_layer<ScaleBody>(4);`. The handle is a layer, and gives access to the fields of the body:
// `scale->factor`.
#ifndef CALQUE_LAYERS_MAKE_LAYER_H
#define CALQUE_LAYERS_MAKE_LAYER_H

#include "calque/layers/layer.h"

#include <memory>
#include <type_traits>

namespace calque::layers {

// The handle to a layer of your own. It gives access to the fields of its body: `scale->factor`.
template <typename Body> class LayerOf : public Layer {
public:
  explicit LayerOf(std::shared_ptr<Body> body) : Layer(std::move(body)) {}
  // StateError for an empty handle.
  Body &operator*() const { return static_cast<Body &>(checked({})); }
  Body *operator->() const { return &**this; }
};

// Makes a layer of your own. The arguments are those of the body's constructor:
// `auto scale = layers::make_layer<ScaleBody>(4);`.
template <typename Body, typename... Args> LayerOf<Body> make_layer(Args &&...args) {
  constexpr bool isBody = std::is_base_of_v<LayerBody, Body>;
  static_assert(isBody,
                "make_layer<Body>() makes the handle of a body, which is a class that derives from layers::LayerBody");
  constexpr bool isMade = std::is_constructible_v<Body, Args...>;
  static_assert(isMade, "the layer's class has no constructor for these arguments");
  return LayerOf<Body>(std::make_shared<Body>(std::forward<Args>(args)...));
}

} // namespace calque::layers
#endif
