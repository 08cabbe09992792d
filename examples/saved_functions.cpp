// A model that is trained in one program and used in another, which has none of its code: saved_functions [use FILE].
#include <calque/saved_functions.h>
#include <calque/training.h>

#include <filesystem>
#include <iostream>

using namespace calque;

Tensor points() { return reshape(iota({8}, DType::Float32) * 0.25f - 1.f, {8, 1}); }

// Trains a network, and saves it with the step that trains it.
void make(const std::string &path) {
  set_seed(1);
  Sequential model({layers::Dense(16, {.activation = "tanh"}), layers::Dense(1)});
  model.build(Shape{8, 1});
  optimizers::Adam adam(0.02);
  auto predict = function([&](const Tensor &x) { return model(x); }, {.argument_names = {"x"}});
  auto step = function([&](const Tensor &x, const Tensor &y) {
    return adam.minimize([&] { return mean(square(model(x, {.training = true}) - y)); }, model.trainable_variables());
  });
  for (int i = 0; i < 100; ++i)
    step(points(), sin(3 * points()));
  const TensorSpec<float> any({kDynamic, 1});
  save_functions(path,
                 {{"predict", predict.get_concrete_function(any)}, {"step", step.get_concrete_function(any, any)}});
  std::cout << "made " << mean(square(predict(points()) - sin(3 * points()))).item<float>() << '\n';
}

// Knows what the file says: names, signatures, variables.
void use(const std::string &path) {
  SavedFunctions model = load_functions(path);
  auto predict = model.function<Tensor(const Tensor &)>("predict");
  auto step = model.function<Tensor(const Tensor &, const Tensor &)>("step");
  std::cout << "used " << mean(square(predict(points()) - sin(3 * points()))).item<float>() << '\n';

  // It is trained on: weights, Adam's slots and its steps are variables of the functions.
  Tensor loss = step(points(), sin(3 * points()));
  for (int i = 0; i < 100; ++i)
    loss = step(points(), sin(3 * points()));
  std::cout << "trained on " << (loss.item<float>() < 0.01f ? "below" : "above") << " 0.01\n";

  // It is differentiated: by its input, and by its weights.
  std::cout << "slope " << grad([&](const Tensor &x) { return sum(predict(x)); })(points()).shape() << '\n';
  GradientTape tape;
  auto gradient = tape.gradient(sum(predict(points())), model.variables().at("dense/kernel"));
  std::cout << "gradient " << gradient->shape() << '\n';
}

int main(int argc, char **argv) {
  if (argc == 3) {
    use(argv[2]);
    return 0;
  }
  const std::string path = std::filesystem::temp_directory_path() / "calque-saved-functions-example.calque";
  make(path);
  use(path);
  std::filesystem::remove(path);
}
