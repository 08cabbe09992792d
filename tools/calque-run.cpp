// Runs a function of a file that save_functions has written.
//
//   calque-run model.calque --describe
//   calque-run model.calque --function forward --input x=images.npy --output logits.npy
//   calque-run model.calque --ir linalg
#include "calque/calque.h"
#include "calque/data/npy.h"
#include "calque/saved_functions.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <iostream>

using namespace calque;

namespace {

enum ExitCode { Failed = 1, Misused = 2 };

// The lines of this program are nobody's who calls it.
const SourceLocation nowhere{};

// A fault of the command line.
struct Misuse : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Options {
  std::string file, function;
  std::vector<std::string> inputs, outputs, stages;
  bool describe = false;
};

std::string joined(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : ", ") + name;
  return text;
}

// The function that is asked for, or the only one.
std::string functionOf(const SavedFunctions &file, const Options &options) {
  std::vector<std::string> names = file.names(nowhere);
  if (!options.function.empty() || names.size() == 1)
    return options.function.empty() ? names[0] : options.function;
  throw Misuse(options.file + " has the functions " + joined(names) + ": say which, by --function");
}

// Which tensor among the arguments a name means: its number, its name between quotes, or all that messages call it.
std::size_t placeOf(const std::string &name, const std::vector<std::string> &arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (name == std::to_string(i) || name == arguments[i] || arguments[i].ends_with(" '" + name + "'"))
      return i;
  throw Misuse("there is no argument '" + name + "'; they are " + joined(arguments));
}

// A file of NumPy's, or a number of the type that the function takes.
Tensor valueOf(const std::string &text, const TensorSpec<> &spec) {
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

std::vector<Tensor> inputsOf(const SavedFunctions &file, const std::string &function, const Options &options) {
  const std::vector<std::string> names = file.argument_names(function, nowhere);
  const std::vector<TensorSpec<>> specs = file.argument_specs(function, nowhere).at(0);
  std::vector<std::optional<Tensor>> given(names.size());
  std::size_t next = 0;
  for (const std::string &input : options.inputs) {
    const std::size_t equals = input.find('=');
    const std::size_t place = equals == std::string::npos ? next : placeOf(input.substr(0, equals), names);
    next = place + 1;
    if (place >= names.size())
      throw Misuse("there are more inputs than the " + std::to_string(names.size()) + " that the function takes");
    if (given[place])
      throw Misuse(names[place] + " is given twice");
    given[place] = valueOf(equals == std::string::npos ? input : input.substr(equals + 1), specs[place]);
  }
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!given[i])
      throw Misuse(names[i] + " is not given; it is " + specs[i].str());
    inputs.push_back(*given[i]);
  }
  return inputs;
}

void printIr(const SavedFunctions &file, const Options &options) {
  const char *separator = "";
  const std::vector<std::string> names =
      options.function.empty() ? file.names(nowhere) : std::vector<std::string>{options.function};
  for (const std::string &name : names)
    for (const std::vector<TensorSpec<>> &specs : file.argument_specs(name, nowhere))
      for (const std::string &stage : options.stages) {
        std::vector<Tensor> arguments;
        for (const TensorSpec<> &spec : specs)
          arguments.push_back(Tensor(TensorSpec<>(spec.dtype(), spec.shape(), spec.name(), nowhere)));
        const std::string text = file[FunctionName(name, nowhere)].ir(stage, arguments, nowhere);
        std::cout << separator << "// function " << name << ", stage " << stage << '\n' << text;
        separator = "\n// -----\n";
      }
}

void run(const SavedFunctions &file, const Options &options) {
  const std::string function = functionOf(file, options);
  const std::vector<Tensor> results = file[FunctionName(function, nowhere)](inputsOf(file, function, options), nowhere);
  const std::vector<std::string> names = file.result_names(function, nowhere);
  if (options.outputs.size() > results.size())
    throw Misuse("there are more outputs than the " + std::to_string(results.size()) + " that the function gives");
  for (std::size_t i = 0; i < results.size(); ++i)
    if (i < options.outputs.size())
      data::write_npy(options.outputs[i], results[i], nowhere);
    else
      std::cout << names[i] << ": " << results[i] << '\n';
}

} // namespace

int main(int argc, char **argv) {
  // calque-dump runs this program under its own name.
  const std::string self = std::filesystem::path(argc > 0 ? argv[0] : "calque-run").filename().string();
  Options options;
  CLI::App app("Runs a function of a file that Calque's save_functions has written, and prints what it gives.\n"
               "The exit code is 0; 1 for a file that is wrong and a call that fails, 2 for wrong options.");
  app.add_option("FILE", options.file, "The file of functions")->required();
  app.add_option("--function", options.function, "Which of them, if there are several");
  app.add_option("--input", options.inputs,
                 "NAME=VALUE for each argument, or VALUE in their order: a number, or a file that ends with .npy");
  app.add_option("--output", options.outputs, "A file .npy for each result, in their order; the others are printed");
  app.add_flag("--describe", options.describe, "Print the signatures and the variables instead");
  app.add_option("--ir", options.stages, "Print the program at a stage of the compiler instead, such as simplified");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) ? Misused : 0;
  }
  try {
    const SavedFunctions file = load_functions(options.file, nowhere);
    if (options.describe)
      std::cout << file.str(nowhere);
    else if (!options.stages.empty())
      printIr(file, options);
    else
      run(file, options);
    std::cout.flush();
    return std::cout.good() ? 0 : Failed;
  } catch (const Misuse &error) {
    std::cerr << self << ": " << error.what() << '\n';
    return Misused;
  } catch (const Error &error) {
    std::cerr << self << ": " << error.what() << '\n';
    return Failed;
  }
}
