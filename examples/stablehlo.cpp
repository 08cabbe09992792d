// A step of training that JAX has lowered whole: its model, its loss and the update of its weights.
#include <calque/arrays.h>
#include <calque/random.h>
#include <calque/saved_functions.h>
#include <calque/stablehlo.h>
#include <calque/transforms.h>

#include <filesystem>
#include <iostream>

using namespace calque;

int main(int argc, char **argv) {
  const StableHlo step = load_stablehlo(argc > 1 ? argv[1] : "examples/data/sine-step.mlir");
  std::cout << step.str();

  // Its arguments are the weights, the points and what is wanted there: sin(3 x).
  random::Generator numbers(1);
  std::vector<Tensor> weights;
  for (int i = 0; i < 4; ++i)
    weights.push_back(numbers.normal(step.inputs()[i].spec.shape(), {.dtype = DType::Float32}));
  const Tensor x = reshape(linspace(-1, 1, 16), {16, 1});
  const Tensor y = sin(3 * x);

  // One native function, which gives the loss and the next weights.
  auto f = step.function();
  auto apply = [&](const std::vector<Tensor> &at) { return f({at[0], at[1], at[2], at[3], x, y}); };
  const Tensor before = apply(weights)[0];
  Tensor loss;
  for (int i = 0; i < 2000; ++i) {
    const std::vector<Tensor> made = apply(weights);
    loss = made[0];
    weights.assign(made.begin() + 1, made.end());
  }
  std::cout << "learns: " << (loss < 0.01f * before).item<bool>() << '\n';

  // JAX's derivative is part of the module. Calque's own is the same: the step subtracts 0.2 times the slope.
  const Tensor w = weights[0];
  const Tensor slope = grad([&](const Tensor &w) { return step({w, weights[1], weights[2], weights[3], x, y})[0]; })(w);
  std::cout << "slopes agree: " << allclose(apply(weights)[1], w - 0.2f * slope).item<bool>() << '\n';

  // Saved for programs that have neither the text nor its reader.
  const std::string file = std::filesystem::temp_directory_path() / "calque-stablehlo-example.calque";
  std::vector<Tensor> arguments = weights;
  arguments.insert(arguments.end(), {x, y});
  save_functions(file, {{"step", f.get_concrete_function(arguments)}});
  std::cout << "saved: " << load_functions(file)["step"](arguments).size() << " results\n";
  std::filesystem::remove(file);
}
