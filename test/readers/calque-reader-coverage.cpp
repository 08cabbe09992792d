// calque-reader-coverage: gives a reader files that libFuzzer makes, which keeps those that reach code that none before
// reached. Options of libFuzzer are its own; seeds are written into the first directory that is named.
//
//   calque-reader-coverage --reader=safetensors -runs=10000000 corpus/safetensors
//   calque-reader-coverage --reader=safetensors crash-0123...   # a file that it has found
//   calque-reader-coverage --list                               # the readers
#include "test/readers/ReaderTargets.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t *data, std::size_t size, std::size_t most);

namespace {

using namespace calque::testing;

std::unique_ptr<ReaderRun> run;

std::size_t mutateBytes(std::uint8_t *data, std::size_t size, std::size_t most) {
  return LLVMFuzzerMutate(data, size, most);
}

} // namespace

extern "C" int LLVMFuzzerInitialize(int *argc, char ***argv) {
  const std::string option = "--reader=";
  std::string name, folder;
  for (int i = 1; i < *argc; ++i) {
    const std::string given = (*argv)[i];
    if (given == "--list") {
      for (const std::string &each : readerNames())
        std::cout << each << "\n";
      std::cout.flush();
      std::_Exit(0);
    }
    if (given.starts_with(option))
      name = given.substr(option.size());
    else if (!given.starts_with("-") && folder.empty() && std::filesystem::is_directory(given))
      folder = given;
  }
  const auto &names = readerNames();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    std::cerr << "calque-reader-coverage --reader=READER [OPTION OF LIBFUZZER...] [DIRECTORY|FILE...]; readers:";
    for (const std::string &each : names)
      std::cerr << " " << each;
    std::cerr << "\n";
    std::exit(2);
  }
  useMemoryForFiles();
  run = std::make_unique<ReaderRun>(name);
  if (!folder.empty() && !std::filesystem::exists(folder + "/seed-0")) {
    int number = 0;
    for (const std::string &seed : run->target().seeds())
      writeFile(folder + "/seed-" + std::to_string(number++), seed);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  if (!run->isSound({reinterpret_cast<const char *>(data), size})) {
    std::cerr << run->error().value_or("no error") << "\n";
    std::abort(); // libFuzzer keeps the file
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t *data, std::size_t size, std::size_t most, unsigned seed) {
  if (!run->target().mutate)
    return mutateBytes(data, size, most);
  const Mutation mutation = [](std::string &bytes) {
    const std::size_t before = bytes.size();
    bytes.resize(before + before / 2 + 64);
    bytes.resize(mutateBytes(reinterpret_cast<std::uint8_t *>(bytes.data()), before, bytes.size()));
  };
  std::mt19937_64 random(seed);
  const std::string bytes = run->target().mutate({reinterpret_cast<const char *>(data), size}, mutation, random);
  if (bytes.size() > most)
    return mutateBytes(data, size, most);
  std::memcpy(data, bytes.data(), bytes.size());
  return bytes.size();
}
