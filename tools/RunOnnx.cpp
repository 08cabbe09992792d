#include "tools/Run.h"

#include "calque/onnx.h"

#include <algorithm>
#include <iostream>

namespace calque::tools {

namespace {

std::vector<std::string> namesOf(const std::vector<OnnxPort> &ports) {
  std::vector<std::string> names;
  for (const OnnxPort &port : ports)
    names.push_back(port.name);
  return names;
}

// The tensors of the inputs, in the model's order. Misuse.
std::vector<Tensor> tensorsOf(const OnnxModel &model, const Options &options) {
  const std::vector<OnnxPort> &ports = model.inputs(nowhere);
  std::vector<std::optional<Tensor>> given(ports.size());
  std::size_t next = 0;
  for (const std::string &text : options.inputs) {
    const Input input = inputOf(text);
    std::size_t place = next;
    if (!input.name.empty()) {
      const auto found = std::ranges::find(ports, input.name, &OnnxPort::name);
      if (found == ports.end())
        throw Misuse("there is no input '" + input.name + "'; they are " + joined(namesOf(ports)));
      place = static_cast<std::size_t>(found - ports.begin());
    }
    if (place >= ports.size())
      throw Misuse("there are more inputs than the " + std::to_string(ports.size()) + " that the model takes");
    if (given[place])
      throw Misuse("'" + ports[place].name + "' is given twice");
    if (!ports[place].spec)
      throw Misuse("'" + ports[place].name + "' is " + ports[place].type + ", which the command line can't give");
    given[place] = valueOf(input.value, *ports[place].spec);
    next = place + 1;
  }
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (!given[i])
      throw Misuse("'" + ports[i].name + "' is not given; it is " + ports[i].type);
    tensors.push_back(*given[i]);
  }
  return tensors;
}

} // namespace

void runOnnx(const Options &options) {
  if (!options.function.empty())
    throw Misuse("--function is for files of functions; " + options.file + " has one model");
  OnnxModel model = load_onnx(options.file, {}, nowhere);
  if (options.describe) {
    std::cout << model.str(nowhere);
    return;
  }
  // What a compiled model must know is known here.
  OnnxOptions bound;
  const std::vector<Tensor> all = tensorsOf(model, options);
  const std::vector<std::string> known = model.known_inputs(nowhere);
  std::vector<Tensor> inputs;
  std::vector<TensorSpec<>> specs;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string &name = model.inputs(nowhere)[i].name;
    if (std::ranges::find(known, name) != known.end()) {
      bound.constants.emplace(name, all[i]);
      continue;
    }
    inputs.push_back(all[i]);
    specs.emplace_back(all[i].dtype(nowhere), all[i].shape(nowhere), name, nowhere);
  }
  if (!bound.constants.empty())
    model = load_onnx(options.file, bound, nowhere);
  const auto f = model.function({.input_signature = specs}, nowhere);
  if (options.stages.empty()) {
    writeResults(options, f(inputs, nowhere), namesOf(model.outputs(nowhere)), std::cout);
    return;
  }
  const char *separator = "";
  for (const std::string &stage : options.stages) {
    std::cout << separator << "// " << options.file << ", stage " << stage << '\n' << f.ir(stage, inputs, nowhere);
    separator = "\n// -----\n";
  }
}

} // namespace calque::tools
