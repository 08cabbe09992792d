#include <calque/training.h>

#include <cstdio>
#include <iostream>

using namespace calque;

// A model of one's own is a class; it is a layer, too.
struct Encoder : Model {
  Encoder() : Model("encoder") {}
  layers::Dense wide = submodule("wide", layers::Dense(8, {.activation = "relu"}));
  layers::Dense narrow = submodule("narrow", layers::Dense(2));
  Tensor call(const Tensor &x, const layers::CallOptions &) override { return narrow(wide(x)); }
};

int main() {
  // One layer after the other.
  Sequential tower{Input({4}), layers::Dense(8, {.activation = "relu", .name = "hidden"}), layers::Dense(2)};

  // A graph: two inputs, layers that are shared, and two outputs.
  SymbolicTensor left = Input({4}, {.name = "left"}), right = Input({4}, {.name = "right"});
  SymbolicTensor a = tower(left), b = tower(right);
  SymbolicTensor both = layers::Concatenate()({a - b, layers::Layer(std::make_shared<Encoder>())(left)});
  models::Functional model({left, right}, {{"same", layers::Dense(1, {.activation = "sigmoid", .name = "same"})(both)},
                                           {"code", both * 0.5}});
  std::cout << model.summary();

  Tensors y = model.apply({{"left", ones({3, 4})}, {"right", zeros({3, 4})}});
  std::cout << y["same"].shape() << ' ' << y["code"].shape() << '\n';

  // What a layer in the middle gives, by a model on the same layers.
  models::Functional features(tower.input(), tower.get_layer("hidden").output(0));
  std::cout << features(ones({3, 4})).shape() << '\n';

  // Another model like it, without its weights, from a text.
  layers::Layer dense = layers::deserialize(Config::parse(layers::serialize(tower.get_layer("hidden")).str()));
  std::cout << dense.get_config()["units"].str() << ' ' << dense.get_config()["activation"].str() << '\n';
}
