// Saves a small network for a C program: what it predicts, and the step that trains it.
#include <calque/saved_functions.h>
#include <calque/training.h>

using namespace calque;

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  set_seed(1);
  using namespace layers;
  Sequential model({Conv2D(8, 3, {.activation = "relu"}), MaxPooling2D(2), Flatten(), Dense(32, {.activation = "relu"}),
                    Dropout(0.2), Dense(2)});
  model.build(Shape{1, 10, 10, 1});
  optimizers::Adam adam(0.005);
  auto predict = function([&](const Tensor &image) { return model(image); }, {.argument_names = {"image"}});
  auto step = function(
      [&](const Tensor &image, const Tensor &label) {
        return adam.minimize(
            [&] {
              return mean(losses::sparse_categorical_crossentropy(label, model(image, {.training = true}),
                                                                  {.from_logits = true}));
            },
            model.trainable_variables());
      },
      {.argument_names = {"image", "label"}});
  // The sizes of step are known, so that each call takes a whole batch; predict takes any number of images.
  save_functions(argv[1], {{"predict", predict.get_concrete_function(TensorSpec<float>({kDynamic, 10, 10, 1}))},
                           {"step", step.get_concrete_function(TensorSpec<float>({32, 10, 10, 1}),
                                                               TensorSpec<std::int32_t>({32}))}});
}
