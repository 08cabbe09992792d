// Saves a network for a C program: what it predicts, and the step that trains it. It is the network of mnist.cpp.
#include <calque/saved_functions.h>
#include <calque/training.h>

using namespace calque;

layers::Sequential makeNetwork() {
  using namespace layers;
  Sequential net;
  auto block = [&](std::int64_t filters, int convolutions) {
    for (int i = 0; i < convolutions; ++i) {
      net.add(Conv2D(filters, 3, {.padding = "same", .activation = "relu"}));
      net.add(BatchNormalization({.momentum = 0.9})); // few steps have to do
    }
    net.add(MaxPool2D(2));
  };
  block(16, 1);
  block(32, 2);
  block(64, 3);
  net.add(Flatten());
  net.add(Dense(256, {.activation = "relu"}));
  net.add(BatchNormalization({.momentum = 0.9}));
  net.add(Dropout(0.5));
  net.add(Dense(10));
  return net;
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  set_seed(1);
  layers::Sequential net = makeNetwork();
  net.build(Shape{1, 28, 28, 1});
  optimizers::Adam adam(1e-3);
  losses::SparseCategoricalCrossentropy crossentropy({.from_logits = true});
  auto predict = function([&](const Tensor &image) { return net(image); }, {.argument_names = {"image"}});
  auto step = function(
      [&](const Tensor &image, const Tensor &label) {
        return adam.minimize([&] { return crossentropy(label, net(image, {.training = true})); },
                             net.trainable_variables());
      },
      {.argument_names = {"image", "label"}});
  // The sizes of step are known, so that each call takes a whole batch; predict takes any number of images.
  save_functions(argv[1], {{"predict", predict.get_concrete_function(TensorSpec<float>({kDynamic, 28, 28, 1}))},
                           {"step", step.get_concrete_function(TensorSpec<float>({64, 28, 28, 1}),
                                                               TensorSpec<std::int32_t>({64}))}});
}
