// Runs a model of ONNX on inputs from NumPy's files, writes the outputs, and prints how long it took, as JSON:
//
//   calque-onnx-measure MODEL SECONDS OUTPUTS INPUT.npy...
//
// The outputs are OUTPUTS0.npy and so on. Times are in milliseconds; that of a call is the median. OMP_NUM_THREADS says
// how many threads there are.

#include "calque/data.h"
#include "calque/onnx.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <sys/resource.h>

using namespace calque;

int main(int argc, char **argv) {
  if (argc < 4) {
    std::cerr << "usage: calque-onnx-measure MODEL SECONDS OUTPUTS INPUT.npy...\n";
    return 2;
  }
  using Clock = std::chrono::steady_clock;
  auto since = [](Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  };
  auto resident = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
  };
  try {
    Clock::time_point start = Clock::now();
    const OnnxModel model = load_onnx(argv[1]);
    const double load = since(start);
    const long afterLoad = resident();
    std::vector<Tensor> inputs;
    for (int i = 4; i < argc; ++i)
      inputs.push_back(data::read_npy(argv[i]));
    // Of the inputs' own sizes, as the other runtime sees them.
    auto f = function([&](const std::vector<Tensor> &x) { return model(x); });
    start = Clock::now();
    const std::vector<Tensor> outputs = f(inputs);
    const double first = since(start);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      data::write_npy(argv[3] + std::to_string(i) + ".npy", outputs[i]);
    std::vector<double> times;
    for (start = Clock::now(); times.size() < 5 || since(start) < 1000 * std::stod(argv[2]);) {
      const Clock::time_point call = Clock::now();
      f(inputs);
      times.push_back(since(call));
    }
    std::ranges::sort(times);
    std::cout << "{\"load\": " << load << ", \"first\": " << first << ", \"call\": " << times[times.size() / 2]
              << ", \"calls\": " << times.size() << ", \"outputs\": " << outputs.size()
              << ", \"MiB after load\": " << afterLoad << ", \"MiB\": " << resident() << "}\n";
  } catch (const std::exception &error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
