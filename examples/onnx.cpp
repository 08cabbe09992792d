// A network that another system has exported: it is run, compiled, trained further, and saved.
#include <calque/arrays.h>
#include <calque/dlpack.h>
#include <calque/onnx.h>
#include <calque/saved_functions.h>
#include <calque/training.h>

#include <filesystem>
#include <iostream>

using namespace calque;

int main(int argc, char **argv) {
  const std::string path = argc > 1 ? argv[1] : "examples/data/curve.onnx";
  Tensor x = reshape(linspace(-1, 1, 9), {9, 1});

  // As it is: the file says that the network was trained on cos(2 x).
  OnnxModel net = load_onnx(path);
  std::cout << net.str();
  auto error = [&](const Tensor &y, const Tensor &wanted) { return mean(square(y - wanted)).item<float>() < 0.01f; };
  std::cout << "cos(2 x): " << error(net(x), cos(2 * x)) << '\n';

  // As one native function, for any number of rows, and its derivative.
  auto f = net.function();
  std::cout << "compiled: " << allclose(f({x})[0], net(x)).item<bool>() << '\n';
  Tensor slopes = grad([&](const Tensor &x) { return sum(net(x)); })(x);
  std::cout << "slope at 0 is below 0.1: " << (abs(slopes[4]) < 0.1f).item<bool>() << '\n';

  // Trained further, on sin(3 x), with its initialisers as variables.
  OnnxModel tuned = load_onnx(path, {.weights = OnnxWeights::Trainable});
  optimizers::Adam adam(0.02);
  auto step = function([&](const Tensor &x, const Tensor &y) {
    return adam.minimize([&] { return mean(square(tuned(x) - y)); }, tuned.trainable_variables());
  });
  for (int i = 0; i < 500; ++i)
    step(x, sin(3 * x));
  std::cout << "sin(3 x): " << error(tuned(x), sin(3 * x)) << '\n';

  // Saved for programs that have neither the code nor ONNX.
  const std::string file = std::filesystem::temp_directory_path() / "calque-onnx-example.calque";
  save_functions(file, {{"predict", tuned.function().get_concrete_function({TensorSpec<float>({kDynamic, 1})})}});
  std::cout << "saved: " << load_functions(file)["predict"]({x})[0].shape() << '\n';
  std::filesystem::remove(file);

  // Another library takes the results where they are.
  dlpack::ManagedTensorVersioned *shared = to_dlpack(tuned(x));
  std::cout << "shared: " << shared->array.rank << " dimensions\n";
  shared->deleter(shared);
}
