// calque-reader-fuzz: gives every reader mutated and cut files.
//
//   calque-reader-fuzz --seconds 60 --seed 7 [READER...]
#include "test/readers/ReaderTargets.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <sys/resource.h>

using namespace calque::testing;

int main(int argc, char **argv) {
  double seconds = 60;
  std::uint64_t seed = std::random_device()();
  std::vector<std::string> chosen;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--seconds" && i + 1 < argc)
      seconds = std::atof(argv[++i]);
    else if (option == "--seed" && i + 1 < argc)
      seed = std::strtoull(argv[++i], nullptr, 10);
    else if (option.starts_with("-")) {
      std::cout << "calque-reader-fuzz [--seconds N (60) for each reader] [--seed S (fresh)] [READER...]\n";
      return option == "--help" ? 0 : 2;
    } else
      chosen.push_back(option);
  }
  useMemoryForFiles();
  int faults = 0;
  for (const std::string &name : chosen.empty() ? readerNames() : chosen) {
    ReaderRun run(name);
    const std::vector<std::string> seeds = run.target().seeds();
    std::mt19937_64 random(seed);
    const Mutation mutation = [&](std::string &bytes) { bytes = mutated(std::move(bytes), random); };
    std::uint64_t files = 0, read = 0;
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    for (; files < seeds.size() || std::chrono::steady_clock::now() < end; ++files) {
      std::string bytes = seeds[files % seeds.size()];
      // First each as it is, which must be read.
      const bool isWhole = files < seeds.size();
      if (!isWhole && run.target().mutate)
        bytes = run.target().mutate(std::move(bytes), mutation, random);
      else if (!isWhole)
        mutation(bytes);
      const bool isFine = run.isSound(bytes);
      read += !run.error();
      if (!isFine || (isWhole && run.error())) {
        const std::string kept =
            "calque-reader-fuzz." + name + "." + std::to_string(seed) + "." + std::to_string(files);
        writeFile(kept, bytes);
        std::cout << name << ": " << run.error().value_or("no error") << "\n  the file is " << kept << "\n";
        ++faults;
        break;
      }
    }
    std::cout << name << ": " << files << " files, " << read << " of them read" << std::endl;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::cout << "seed " << seed << ", at most " << usage.ru_maxrss / 1024 << " MB\n";
  return faults ? 1 : 0;
}
