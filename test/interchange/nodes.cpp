// ONNX's tests of nodes: small models, each with inputs and what they give. They are no part of Calque, and are found
// by a path.
//
//   calque-onnx-nodes [DIRECTORY] --listed FILE [--compiled] [--shard I/N] [--only NAME] [--verbose]
//
// Without a directory, the environment variable CALQUE_ONNX_NODES names it.
// FILE has a line for each test that does not pass, "test_name reason". The run fails where a test that is not listed
// fails, and where a listed one passes. Exit code 77: there is no such directory.
#include "calque/calque.h"
#include "calque/onnx.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>

using namespace calque;
namespace fs = std::filesystem;

namespace {

constexpr int kSkipped = 77;
// Those of ONNX's own runner, but for numbers near 0.
constexpr double kRelative = 1e-3, kAbsolute = 1e-6;

std::string describe(const Tensor &x) { return std::string(name_of(x.dtype())) + x.shape().str(); }

// Empty if the values agree.
std::string compare(const OnnxValue &given, const OnnxValue &wanted) {
  if (wanted.sequence) {
    if (!given.sequence || given.sequence->size() != wanted.sequence->size())
      return "no sequence of " + std::to_string(wanted.sequence->size());
    for (std::size_t i = 0; i < wanted.sequence->size(); ++i)
      if (std::string difference = compare((*given.sequence)[i], (*wanted.sequence)[i]); !difference.empty())
        return "element " + std::to_string(i) + ": " + difference;
    return "";
  }
  if (!wanted.tensor.defined())
    return given.tensor.defined() || given.sequence ? "a value, where there is none" : "";
  if (!given.tensor.defined())
    return "no tensor";
  const Tensor &x = given.tensor, &y = wanted.tensor;
  if (x.dtype() != y.dtype() || std::vector<std::int64_t>(x.shape()) != std::vector<std::int64_t>(y.shape()))
    return describe(x) + " instead of " + describe(y);
  if (std::memcmp(x.bytes().data(), y.bytes().data(), x.bytes().size()) == 0)
    return "";
  const std::vector<double> a = cast(x, DType::Float64).to_vector<double>(),
                            b = cast(y, DType::Float64).to_vector<double>();
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool same = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
    if (!same && !(is_floating(x.dtype()) && std::abs(a[i] - b[i]) <= kAbsolute + kRelative * std::abs(b[i])))
      return "element " + std::to_string(i) + " is " + std::to_string(a[i]) + " instead of " + std::to_string(b[i]);
  }
  return "";
}

std::vector<OnnxValue> valuesIn(const fs::path &folder, const std::string &stem, const std::vector<OnnxPort> &ports) {
  std::vector<OnnxValue> values;
  for (std::size_t i = 0; i < ports.size(); ++i)
    values.push_back(load_onnx_value((folder / (stem + "_" + std::to_string(i) + ".pb")).string(), ports[i]));
  return values;
}

std::vector<Tensor> tensorsOf(const std::vector<OnnxValue> &values) {
  std::vector<Tensor> tensors;
  for (const OnnxValue &each : values)
    tensors.push_back(each.tensor);
  return tensors;
}

// Empty if the model gives what the test says.
std::string failure(const fs::path &test, bool compiled) {
  const std::string path = (test / "model.onnx").string();
  try {
    const OnnxModel model = load_onnx(path);
    for (int set = 0; fs::exists(test / ("test_data_set_" + std::to_string(set))); ++set) {
      const fs::path data = test / ("test_data_set_" + std::to_string(set));
      const std::vector<OnnxValue> inputs = valuesIn(data, "input", model.inputs());
      const std::vector<OnnxValue> outputs = valuesIn(data, "output", model.outputs());
      std::vector<OnnxValue> given;
      if (!compiled) {
        given = model.run(inputs);
      } else {
        OnnxOptions options;
        const std::vector<std::string> known = model.known_inputs();
        std::vector<OnnxValue> rest;
        for (std::size_t i = 0; i < inputs.size(); ++i)
          if (std::ranges::find(known, model.inputs()[i].name) != known.end())
            options.constants.emplace(model.inputs()[i].name, inputs[i].tensor);
          else
            rest.push_back(inputs[i]);
        for (Tensor &each : load_onnx(path, options).function()(tensorsOf(rest)))
          given.emplace_back(std::move(each));
      }
      for (std::size_t i = 0; i < outputs.size(); ++i)
        if (std::string difference = compare(given[i], outputs[i]); !difference.empty())
          return "output " + std::to_string(i) + ": " + difference;
    }
  } catch (const std::exception &error) {
    std::string text = error.what();
    // The folder of the data differs from machine to machine.
    for (std::size_t at; (at = text.find(path)) != std::string::npos;)
      text.replace(at, path.size(), "model.onnx");
    return text.substr(0, text.find('\n'));
  }
  return "";
}

std::map<std::string, std::string> readList(const std::string &path) {
  std::map<std::string, std::string> list;
  std::ifstream file(path);
  if (!file) {
    std::cerr << path << " can't be read\n";
    std::exit(2);
  }
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line[0] != '#') {
      const std::size_t space = line.find(' ');
      list.emplace(line.substr(0, space), space == std::string::npos ? "" : line.substr(space + 1));
    }
  return list;
}

} // namespace

int main(int argc, char **argv) {
  std::string directory, only;
  std::map<std::string, std::string> listed;
  bool compiled = false, verbose = false;
  std::size_t shard = 0, shards = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    auto next = [&] { return std::string(i + 1 < argc ? argv[++i] : ""); };
    if (argument == "--listed") {
      listed.merge(readList(next()));
    } else if (argument == "--compiled") {
      compiled = true;
    } else if (argument == "--verbose") {
      verbose = true;
    } else if (argument == "--only") {
      only = next();
    } else if (argument == "--shard") {
      const std::string text = next();
      shard = std::stoul(text);
      shards = std::stoul(text.substr(text.find('/') + 1));
    } else {
      directory = argument;
    }
  }
  if (const char *named = std::getenv("CALQUE_ONNX_NODES"); directory.empty() && named)
    directory = named;
  if (!fs::is_directory(directory)) {
    std::cout << "skipped: there are no tests of nodes in '" << directory << "'\n";
    return kSkipped;
  }
  std::vector<fs::path> tests;
  for (const fs::directory_entry &entry : fs::directory_iterator(directory))
    if (fs::exists(entry.path() / "model.onnx"))
      tests.push_back(entry.path());
  std::ranges::sort(tests);
  std::size_t passed = 0, refused = 0, wrong = 0;
  for (std::size_t i = shard; i < tests.size(); i += shards) {
    const std::string name = tests[i].filename().string();
    if (!only.empty() && name != only)
      continue;
    const auto begin = std::chrono::steady_clock::now();
    const std::string why = failure(tests[i], compiled);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const bool isListed = listed.contains(name);
    (why.empty() ? passed : refused) += 1;
    if (why.empty() == isListed) {
      ++wrong;
      std::cout << "FAILED " << name << (isListed ? " is listed, and passes" : ": " + why) << std::endl;
    } else if (verbose) {
      std::cout << (why.empty() ? "ok " : "listed ") << name << " " << seconds << " s"
                << (why.empty() ? "" : ": " + why) << std::endl;
    }
  }
  std::cout << passed << " passed, " << wrong << " failed, " << refused - std::min(refused, wrong) << " listed\n";
  if (passed + refused == 0) {
    std::cout << "no test was run\n";
    return 1;
  }
  return wrong ? 1 : 0;
}
