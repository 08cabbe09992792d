// Runs the files of tests that StableHLO's repository has: functions that compare their results themselves. They are
// not copied into this repository; the folder of a checkout is given.
//
//   calque-stablehlo-files FOLDER [--compiled] [--listed LIST] [--every N] [--verbose]
//
// A file passes if all of its functions do. LIST has files that are expected to fail, each with its reason, but for
// those that fail by element types alone that Calque lacks; a file that is listed and passes is an error, too.
#include "calque/stablehlo.h"
#include "calque/calque.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

using namespace calque;

namespace {

std::string textOf(const std::filesystem::path &path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// What became of a file, or of a part of one.
enum class Outcome : std::uint8_t { Passed, NoValues, NoType, Failed };

// Functions without arguments are tests. Others have no values to compare with; they are run with sizes of 3.
Outcome runPart(const std::string &text, const std::string &name, bool isCompiled) {
  const StableHlo module = read_stablehlo(text, name);
  Outcome outcome = Outcome::NoValues;
  for (const std::string &each : module.functions()) {
    std::vector<Tensor> inputs;
    for (const StableHloPort &port : module.inputs(each)) {
      Shape shape;
      for (const Size &size : port.spec.shape())
        shape.push_back(size.is_known() ? size : Size(3));
      // Integers without dimensions are sizes.
      inputs.push_back(
          cast(shape.empty() && port.spec.dtype() == DType::Int64 ? full(shape, 3) : ones(shape), port.spec.dtype()));
    }
    if (inputs.empty())
      outcome = Outcome::Passed;
    if (isCompiled && inputs.empty())
      module.function(each)({});
    else
      module.call(each, inputs);
  }
  return outcome;
}

struct Result {
  Outcome outcome = Outcome::Passed;
  std::string message; // of the first failure
  std::size_t parts = 0, passed = 0;
};

Result run(const std::filesystem::path &path, bool isCompiled) {
  const std::string all = textOf(path);
  Result result;
  std::size_t begin = 0;
  while (begin < all.size()) {
    const std::size_t end = std::min(all.find("// -----", begin), all.size());
    // Lines keep their numbers.
    const auto lines =
        static_cast<std::size_t>(std::count(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(begin), '\n'));
    const std::string part = std::string(lines, '\n') + all.substr(begin, end - begin);
    begin = end + 8;
    if (part.find("func.func") == std::string::npos)
      continue;
    ++result.parts;
    auto worse = [&](Outcome outcome, const std::string &message) {
      if (outcome > result.outcome) {
        result.outcome = outcome;
        result.message = message;
      }
    };
    try {
      worse(runPart(part, path.filename().string(), isCompiled), "has no values to compare with");
      ++result.passed;
    } catch (const std::exception &error) {
      const std::string message = error.what();
      const bool isType = message.find("element type") != std::string::npos ||
                          message.find("!quant") != std::string::npos ||
                          message.find("uniform_quantize") != std::string::npos;
      worse(isType ? Outcome::NoType : Outcome::Failed, message);
    }
  }
  return result;
}

} // namespace

int main(int argc, char **argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  std::string folder;
  std::map<std::string, std::string> listed;
  bool isCompiled = false, isVerbose = false;
  std::size_t every = 1;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--compiled") {
      isCompiled = true;
    } else if (arguments[i] == "--verbose") {
      isVerbose = true;
    } else if (arguments[i] == "--every" && i + 1 < arguments.size()) {
      every = static_cast<std::size_t>(std::stoul(arguments[++i]));
    } else if (arguments[i] == "--listed" && i + 1 < arguments.size()) {
      std::ifstream list(arguments[++i]);
      for (std::string line; std::getline(list, line);)
        if (const std::size_t space = line.find(' '); !line.starts_with("#") && space != std::string::npos)
          listed[line.substr(0, space)] = line.substr(space + 1);
    } else {
      folder = arguments[i];
    }
  }
  if (folder.empty()) {
    const char *given = std::getenv("CALQUE_STABLEHLO_FILES");
    folder = given ? given : "";
  }
  if (folder.empty() || !std::filesystem::is_directory(folder)) {
    std::cout
        << "skipped: set CALQUE_STABLEHLO_FILES to stablehlo/tests/interpret of a checkout of openxla/stablehlo\n";
    return 77;
  }
  std::vector<std::filesystem::path> files;
  for (const auto &each : std::filesystem::recursive_directory_iterator(folder))
    if (each.path().extension() == ".mlir")
      files.push_back(each.path());
  std::ranges::sort(files);
  std::size_t expected = 0, wrong = 0, number = 0, parts = 0, partsPassed = 0;
  std::array<std::size_t, 4> counts{};
  for (const std::filesystem::path &path : files) {
    if (number++ % every != 0)
      continue;
    const std::string name = (path.parent_path().filename() / path.filename()).string();
    const Result result = run(path, isCompiled);
    ++counts[static_cast<std::size_t>(result.outcome)];
    parts += result.parts;
    partsPassed += result.passed;
    const bool hasFailed = result.outcome == Outcome::Failed, isListed = listed.contains(name);
    if (hasFailed ? isVerbose || !isListed : isVerbose && result.outcome == Outcome::NoType)
      std::cout << name << ": " << result.message << '\n';
    if (hasFailed && isListed) {
      ++expected;
    } else if (hasFailed) {
      ++wrong;
    } else if (isListed) {
      ++wrong;
      std::cout << name << " passes, and is listed: " << listed[name] << '\n';
    }
  }
  std::cout << "files: " << counts[0] << " pass, " << counts[1] << " run and have no values to compare with, "
            << counts[2] << " have element types that Calque lacks, " << counts[3] << " fail\n"
            << "their parts: " << partsPassed << " of " << parts << " pass\n"
            << expected << " files fail as listed, " << wrong << " are not as listed\n";
  return wrong == 0 ? 0 : 1;
}
