// run-programs DIRECTORY [TOLERANCE]: loads what save-programs has saved, runs it, and compares results and gradients
// with what they were there: their bits, or numbers within a tolerance where the files are another machine's. It has
// none of the programs' code.
#include "calque/calque.h"
#include "calque/safetensors.h"
#include "calque/saved_functions.h"

#include <algorithm>
#include <filesystem>
#include <iostream>

using namespace calque;

namespace {

using Tensors = std::vector<Tensor>;
int failures = 0;

void compare(const std::string &what, const Tensor &found, const Tensor &expected, double tolerance) {
  bool same = found.dtype() == expected.dtype() && found.shape().str() == expected.shape().str();
  if (same && !(tolerance > 0))
    same = std::ranges::equal(found.bytes(), expected.bytes());
  else if (same) {
    auto values = [](const Tensor &x) { return reshape(cast(x, DType::Float64), {-1}).to_vector<double>(); };
    std::vector<double> a = values(found), b = values(expected);
    for (std::size_t i = 0; i < a.size(); ++i)
      same &= std::abs(a[i] - b[i]) <= tolerance * (1 + std::abs(b[i]));
  }
  if (!same && ++failures)
    std::cout << what << " is\n" << found << "\nand was\n" << expected << "\n";
}

Tensor total(const Tensors &results) {
  Tensor sum = scalar<double>(0.0);
  for (const Tensor &each : results)
    if (is_floating(each.dtype()))
      sum = sum + calque::sum(cast(each, DType::Float64));
  return sum;
}

void run(const std::filesystem::path &path, double tolerance) {
  SavedFunctions file = load_functions(path.string());
  auto program = file["program"];
  const std::map<std::string, Tensor> expected =
      load_safetensors(std::filesystem::path(path).replace_extension(".expected").string());
  Tensors inputs;
  for (std::size_t i = 0; expected.contains("in." + std::to_string(i)); ++i)
    inputs.push_back(expected.at("in." + std::to_string(i)));
  for (int call = 0; call < 3; ++call) {
    GradientTape tape({.persistent = true});
    const std::string number = std::to_string(call) + ".";
    auto gradientOf = [&](std::size_t i) { return expected.find("grad." + number + std::to_string(i)); };
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (gradientOf(i) != expected.end())
        tape.watch(inputs[i]);
    Tensors results = program(inputs);
    for (std::size_t i = 0; i < results.size(); ++i)
      compare(path.stem().string() + ": out." + number + std::to_string(i), results[i],
              expected.at("out." + number + std::to_string(i)), tolerance);
    Tensor target = total(results);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (auto gradient = gradientOf(i); gradient != expected.end())
        compare(path.stem().string() + ": grad." + number + std::to_string(i),
                *tape.gradient(target, inputs[i], {.unconnected_gradients = UnconnectedGradients::Zero}),
                gradient->second, tolerance);
  }
}

} // namespace

int main(int argc, char **argv) {
  int programs = 0;
  try {
    for (const auto &entry : std::filesystem::directory_iterator(argv[1]))
      if (entry.path().extension() == ".calque") {
        run(entry.path(), argc > 2 ? std::stod(argv[2]) : 0);
        ++programs;
      }
  } catch (const Error &error) {
    std::cout << error.what() << '\n';
    return 1;
  }
  std::cout << programs << " programs, " << failures << " differences\n";
  return failures || programs < 25;
}
