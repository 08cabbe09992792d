// Writes functions as ONNX, with inputs and the results that Calque has, for other systems to run: export FOLDER
#include "test/interchange/ExportCases.h"

#include "calque/data.h"

#include <filesystem>
#include <iostream>

using namespace calque;

int main(int argc, char **argv) {
  if (argc != 2) {
    std::cerr << "usage: calque-onnx-export FOLDER\n";
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  std::vector<testing::ExportCase> cases = testing::exportCases();
  for (testing::ExportCase &each : testing::elementwiseExportCases())
    cases.push_back(std::move(each));
  for (const testing::ExportCase &each : cases) {
    const auto concrete = each.concrete();
    try {
      save_onnx(folder / (each.name + ".onnx"), concrete, each.options);
    } catch (const ValueError &error) {
      std::cout << each.name << " is refused: " << error.what() << '\n';
      continue;
    }
    const std::vector<Tensor> results = concrete(each.inputs);
    for (std::size_t i = 0; i < each.inputs.size(); ++i)
      data::write_npy(folder / (each.name + ".in" + std::to_string(i) + ".npy"), each.inputs[i]);
    for (std::size_t i = 0; i < results.size(); ++i)
      data::write_npy(folder / (each.name + ".out" + std::to_string(i) + ".npy"), results[i]);
  }
}
