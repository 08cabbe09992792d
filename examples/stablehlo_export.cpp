// A network that is trained here and runs in JAX: it is written as StableHLO, with its step of training, and read
// again.
#include <calque/arrays.h>
#include <calque/stablehlo.h>
#include <calque/stablehlo_export.h>
#include <calque/training.h>

#include <filesystem>
#include <iostream>

using namespace calque;

int main() {
  const std::string folder = std::filesystem::temp_directory_path() / "calque-to-stablehlo";
  std::filesystem::create_directories(folder);
  Tensor x = 2 * random::stateless_uniform({256, 2}, random::state(1, 0)) - 1;
  Tensor y = cast(prod(x, {1}, true) > 0, DType::Int64);

  Sequential net({layers::Dense(16, {.activation = "tanh"}), layers::Dense(2)});
  net(x);
  optimizers::SGD sgd(0.5);
  auto train = function(
      [&](const Tensor &x, const Tensor &y) {
        return sgd.minimize([&] { return losses::sparse_categorical_crossentropy(y, net(x), {.from_logits = true}); },
                            net.trainable_variables());
      },
      {.name = "train", .argument_names = {"x", "y"}});
  for (int i = 0; i < 300; ++i)
    train(x, y);

  // What users of the network call, for any number of points, with the weights in it.
  auto predict = function([&](const Tensor &points) { return softmax(net(points)); },
                          {.name = "predict", .argument_names = {"points"}});
  auto any = predict.get_concrete_function(TensorSpec<float>({kDynamic, 2}));
  save_stablehlo(folder + "/predict.mlir", any,
                 {.variables = StableHloVariables::Constants, .outputs = {"probabilities"}});

  // A step of training, which takes the variables first and gives the new ones last.
  auto step = train.get_concrete_function(x, y);
  save_stablehlo(folder + "/train.mlir", step);

  // Both are modules now. Here they are read again, and compute the same.
  const StableHlo module = load_stablehlo(folder + "/predict.mlir");
  std::cout << module.str() << "the same: " << allclose(module({x})[0], predict(x)).item<bool>() << '\n';

  const StableHlo again = load_stablehlo(folder + "/train.mlir");
  std::vector<Tensor> arguments;
  for (const Variable &each : stablehlo_variables(step))
    arguments.push_back(each.value());
  arguments.insert(arguments.end(), {x, y});
  const std::vector<Tensor> results = again(arguments);
  for (const StableHloPort &port : again.outputs())
    std::cout << port.name << ": " << port.spec.str() << '\n';
  std::cout << "the loss is the same: " << allclose(results[0], train(x, y)).item<bool>() << '\n';
  std::filesystem::remove_all(folder);
}
