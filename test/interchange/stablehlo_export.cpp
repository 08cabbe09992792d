// Writes functions as StableHLO, with inputs and the results that Calque has, for other systems to run:
// stablehlo_export FOLDER
#include "test/interchange/ExportCases.h"

#include "calque/data.h"
#include "calque/stablehlo_export.h"

#include <filesystem>
#include <iostream>

using namespace calque;

int main(int argc, char **argv) {
  if (argc != 2) {
    std::cerr << "usage: calque-stablehlo-export FOLDER\n";
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  std::vector<testing::ExportCase> cases = testing::exportCases();
  for (testing::ExportCase &each : testing::elementwiseExportCases())
    cases.push_back(std::move(each));
  for (testing::ExportCase &each : testing::stableHloExportCases())
    cases.push_back(std::move(each));
  for (const testing::ExportCase &each : cases) {
    const auto concrete = each.concrete();
    StableHloExportOptions options;
    options.chlo = each.takesChlo;
    std::vector<Tensor> inputs;
    try {
      save_stablehlo(folder / (each.name + ".mlir"), concrete, options);
      for (const Variable &variable : stablehlo_variables(concrete, options))
        inputs.push_back(variable.value());
    } catch (const ValueError &error) {
      std::cout << each.name << " is refused: " << error.what() << '\n';
      continue;
    }
    inputs.insert(inputs.end(), each.inputs.begin(), each.inputs.end());
    const std::vector<Tensor> results = concrete(each.inputs);
    auto write = [&](const char *kind, std::size_t i, const Tensor &x) {
      // NumPy has no bfloat16.
      data::write_npy(folder / (each.name + "." + kind + std::to_string(i) + ".npy"),
                      x.dtype() == DType::BFloat16 ? cast(x, DType::Float32) : x);
    };
    for (std::size_t i = 0; i < inputs.size(); ++i)
      write("in", i, inputs[i]);
    for (std::size_t i = 0; i < results.size(); ++i)
      write("out", i, results[i]);
  }
}
