// A network that is trained here and runs in ONNX Runtime: it is written as ONNX, with its step of training, and read
// again.
#include <calque/arrays.h>
#include <calque/onnx.h>
#include <calque/onnx_export.h>
#include <calque/training.h>

#include <filesystem>
#include <iostream>

using namespace calque;

int main() {
  const std::string folder = std::filesystem::temp_directory_path() / "calque-to-onnx";
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

  // What users of the model call, for any number of points.
  auto predict = function([&](const Tensor &points) { return softmax(net(points)); },
                          {.name = "predict", .argument_names = {"points"}});
  save_onnx(folder + "/predict.onnx", predict.get_concrete_function(TensorSpec<float>({kDynamic, 2})),
            {.outputs = {"probabilities"}, .description = "whether both coordinates have one sign"});

  // A step of training, which takes the weights and gives the new ones.
  save_onnx(folder + "/train.onnx", train);

  // Both are models of ONNX now. Here they are read again, and compute the same.
  OnnxModel model = load_onnx(folder + "/predict.onnx");
  std::cout << model.str() << "the same: " << allclose(model(x), predict(x)).item<bool>() << '\n';
  OnnxModel step = load_onnx(folder + "/train.onnx");
  std::cout << "inputs of a step: " << step.inputs().size() << ", outputs: " << step.outputs().size() << '\n';
  std::filesystem::remove_all(folder);
}
