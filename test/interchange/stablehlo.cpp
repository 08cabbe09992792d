// Runs the files of tests that StableHLO's repository has: functions that compare their results themselves. They are
// not copied into this repository; the folder of a checkout is given.
//
//   calque-stablehlo-files FOLDER [--compiled] [--listed LIST] [--every N] [--verbose]
//
// A file passes if all of its functions do. LIST has files that are expected to fail, each with its reason; a file that
// is listed and passes is an error, too.
#include "calque/calque.h"
#include "calque/stablehlo.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <sstream>

using namespace calque;

namespace {

std::string textOf(const std::filesystem::path &path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Functions without arguments are tests.
void runPart(const std::string &text, const std::string &name, bool isCompiled) {
  const StableHlo module = read_stablehlo(text, name);
  int count = 0;
  for (const std::string &each : module.functions()) {
    if (!module.inputs(each).empty())
      continue;
    ++count;
    if (isCompiled)
      module.function(each)({});
    else
      module.call(each, {});
  }
  if (count == 0)
    throw ValueError("no function without arguments");
}

// The message of the first failure, or nothing.
std::optional<std::string> run(const std::filesystem::path &path, bool isCompiled) {
  const std::string all = textOf(path);
  std::size_t begin = 0;
  std::optional<std::string> failure;
  while (begin < all.size()) {
    const std::size_t end = std::min(all.find("// -----", begin), all.size());
    const std::string part = all.substr(begin, end - begin);
    begin = end + 8;
    if (part.find("func.func") == std::string::npos && part.find("\"func.func\"") == std::string::npos)
      continue;
    try {
      runPart(part, path.filename().string(), isCompiled);
    } catch (const std::exception &error) {
      if (!failure)
        failure = error.what();
    }
  }
  return failure;
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
    std::cout << "skipped: set CALQUE_STABLEHLO_FILES to stablehlo/tests/interpret of a checkout of openxla/stablehlo\n";
    return 77;
  }
  std::vector<std::filesystem::path> files;
  for (const auto &each : std::filesystem::recursive_directory_iterator(folder))
    if (each.path().extension() == ".mlir")
      files.push_back(each.path());
  std::ranges::sort(files);
  std::size_t passed = 0, expected = 0, wrong = 0, number = 0;
  for (const std::filesystem::path &path : files) {
    if (number++ % every != 0)
      continue;
    const std::string name = path.filename().string();
    const std::optional<std::string> failure = run(path, isCompiled);
    if (!failure)
      ++passed;
    if (failure && isVerbose)
      std::cout << name << ": " << *failure << '\n';
    const bool isListed = listed.contains(name);
    if (failure && isListed) {
      ++expected;
    } else if (failure) {
      ++wrong;
      if (!isVerbose)
        std::cout << name << ": " << *failure << '\n';
    } else if (isListed) {
      ++wrong;
      std::cout << name << " passes, and is listed: " << listed[name] << '\n';
    }
  }
  std::cout << passed << " of " << (files.size() + every - 1) / every << " files pass, " << expected
            << " fail as listed, " << wrong << " are not as listed\n";
  return wrong == 0 ? 0 : 1;
}
