// What calque-run is asked for, and the values that its command line gives.
#ifndef CALQUE_TOOLS_RUN_H
#define CALQUE_TOOLS_RUN_H

#include "calque/calque.h"
#include "calque/data/npy.h"

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace calque::tools {

// The lines of this program are nobody's who calls it.
inline const SourceLocation nowhere{};

// A fault of the command line.
struct Misuse : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Options {
  std::string file, function;
  std::vector<std::string> inputs, outputs, stages;
  bool describe = false;
  std::optional<double> seconds;
};

inline std::string joined(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : ", ") + name;
  return text;
}

// A file of NumPy's, or a number of the type that the function takes.
inline Tensor valueOf(const std::string &text, const TensorSpec<> &spec) {
  if (text.ends_with(".npy"))
    return data::read_npy(text, nowhere);
  std::size_t end = 0;
  Tensor value;
  try {
    if (spec.dtype() == DType::Bool && (text == "true" || text == "false"))
      return full({}, Operand(text == "true", nowhere), DType::Bool);
    if (is_floating(spec.dtype()))
      value = full({}, Operand(std::stod(text, &end), nowhere), spec.dtype());
    else if (spec.dtype() != DType::Bool)
      value = full({}, Operand(static_cast<std::int64_t>(std::stoll(text, &end)), nowhere), spec.dtype());
  } catch (const std::exception &) { // it is no number, or none of the type
    end = 0;
  }
  if (text.empty() || end != text.size())
    throw Misuse("an input is a number, true, false or a file that ends with .npy, and '" + text + "' is no " +
                 name_of(spec.dtype()));
  return value;
}

struct Input {
  std::string name, value; // without a name: the next tensor
};
inline Input inputOf(const std::string &text) {
  const std::size_t equals = text.find('=');
  return equals == std::string::npos ? Input{"", text} : Input{text.substr(0, equals), text.substr(equals + 1)};
}

// Writes results to the files that --output names, in order, and prints the others.
inline void writeResults(const Options &options, const std::vector<Tensor> &results,
                         const std::vector<std::string> &names, std::ostream &out) {
  if (options.outputs.size() > results.size())
    throw Misuse("there are more outputs than the " + std::to_string(results.size()) + " that the function gives");
  for (std::size_t i = 0; i < results.size(); ++i)
    if (i < options.outputs.size())
      data::write_npy(options.outputs[i], results[i], nowhere);
    else
      out << names[i] << ": " << results[i] << '\n';
}

// Runs or describes a model of ONNX, or prints its program.
void runOnnx(const Options &options);

} // namespace calque::tools
#endif
