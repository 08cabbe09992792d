// The weights of models in files, also in those that others write.
#include "Files.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "calque/functions.h"
#include "calque/models/model.h"
#include "calque/safetensors.h"

#include <algorithm>

namespace calque {

using training::describe;
using training::fail;
using training::listed;

namespace {

// A weight, and what it is a weight of.
struct Weight {
  std::string path;
  Variable variable;
  std::string kind; // of the layer: "dense"
};

void collect(const Module &module, const std::string &path, std::map<const void *, std::string> &kinds) {
  const auto *layer = dynamic_cast<const layers::LayerBody *>(&module);
  if (layer)
    for (const auto &[name, variable] : module.named_variables({}))
      if (!absl::StrContains(name, "/"))
        kinds.emplace(variable.state().get(), layer->kind());
  for (const auto &[name, part] : module.children())
    collect(*part, absl::StrCat(path, name, "/"), kinds);
}

// In order, without the states of random generators.
std::vector<Weight> weightsOf(const Module &module, SourceLocation where) {
  std::map<const void *, std::string> kinds;
  const std::vector<Variable> weights = module.weights(where);
  std::vector<std::pair<std::string, Variable>> named = module.named_variables(where);
  collect(module, "", kinds);
  std::vector<Weight> result;
  for (auto &[path, variable] : named)
    if (std::any_of(weights.begin(), weights.end(), [&](const Variable &each) { return each.same_as(variable); }))
      result.push_back({path, variable, kinds[variable.state().get()]});
  return result;
}

std::string lastOf(const std::string &path) { return path.substr(path.rfind('/') + 1); }

//===-- Keras -------------------------------------------------------------------------------------===//

// What a weight is called here whose path in Keras is this: there recurrent layers have a cell,
// "lstm/lstm_cell/kernel", attention has layers of its own, "query/kernel", and the name of a direction may end in a
// count, "forward_gru_1".
std::string fromKeras(const std::string &path) {
  std::vector<std::string> parts = absl::StrSplit(path, '/'), result;
  auto withoutCount = [](const std::string &name) {
    const std::size_t end = name.find_last_not_of("0123456789");
    const bool hasCount = end != std::string::npos && end + 1 < name.size() && end > 0 && name[end] == '_';
    return hasCount ? name.substr(0, end) : name;
  };
  for (const std::string &part : parts) {
    const std::string name = withoutCount(part);
    const bool isCell = name == "lstm_cell" || name == "gru_cell" || name == "simple_rnn_cell";
    const bool isDirection = name.starts_with("forward_") || name.starts_with("backward_");
    if (!isCell)
      result.push_back(isDirection ? name : part);
  }
  if (result.size() > 1 && (result.back() == "kernel" || result.back() == "bias")) {
    const std::string &layer = result[result.size() - 2];
    if (layer == "query" || layer == "key" || layer == "value" || layer == "attention_output") {
      const std::string last = absl::StrCat(layer, "_", result.back());
      result.resize(result.size() - 2);
      result.push_back(last);
    }
  }
  return absl::StrJoin(result, "/");
}

//===-- PyTorch -----------------------------------------------------------------------------------===//

// What PyTorch calls a weight: "fc.weight" for fc/kernel.
std::string torchName(const std::string &path) {
  const std::string last = lastOf(path);
  std::string name = last;
  if (last == "kernel" || last == "gamma" || last == "embeddings" || last == "alpha")
    name = "weight";
  else if (last == "beta")
    name = "bias";
  else if (last == "moving_mean")
    name = "running_mean";
  else if (last == "moving_variance")
    name = "running_var";
  return absl::StrReplaceAll(path.substr(0, path.size() - last.size()) + name, {{"/", "."}});
}

// A tensor in the order in which the layer has it: PyTorch has outputs before inputs, and both before the places.
Tensor fromTorch(const Weight &weight, const Tensor &x) {
  // PReLU's are a number for each channel; here they have an axis for each that shares them.
  if (lastOf(weight.path) == "alpha" && x.size() == weight.variable.size())
    return reshape(x, weight.variable.shape());
  const bool isConvolution = weight.kind.starts_with("conv");
  const std::int64_t rank = x.rank();
  if (lastOf(weight.path) != "kernel" || rank != std::ssize(weight.variable.shape()) || rank < 2)
    return x;
  if (weight.kind == "dense" || isConvolution) {
    std::vector<std::int64_t> order;
    for (std::int64_t i = 2; i < rank; ++i)
      order.push_back(i);
    order.push_back(1);
    order.push_back(0);
    return transpose(x, order);
  }
  // [channels * multiplier, 1, places...] as [places..., channels, multiplier].
  if (weight.kind.starts_with("depthwise") && x.shape()[1] == 1) {
    const Shape kernel = weight.variable.shape();
    const Size channels = kernel[kernel.size() - 2], multiplier = kernel.back();
    if (x.shape()[0] != channels * multiplier)
      return x;
    Shape split = x.shape();
    split[0] = channels;
    split[1] = multiplier;
    std::vector<std::int64_t> order;
    for (std::int64_t i = 2; i < rank; ++i)
      order.push_back(i);
    order.push_back(0);
    order.push_back(1);
    return transpose(reshape(x, split), order);
  }
  return x;
}

// Whether a tensor of a file is the state of a random generator, which is no weight: a seed and a counter.
bool isGenerator(const std::string &name, const Tensor &x) {
  const std::string last = lastOf(name);
  return x.dtype() == DType::Int64 && x.rank() == 1 && x.size() == 2 &&
         (last == "generator" || last.starts_with("generator_") || last.ends_with("_generator"));
}

std::string titleOf(Model &model) { return model.name().empty() ? model.kind() : model.name(); }

} // namespace

void Trainer::save_weights(const std::string &path, SaveOptions options, SourceLocation where) {
  CallSite site(where);
  const std::string file = training::fileOf(path);
  std::map<std::string, Tensor> tensors;
  for (const Weight &weight : weightsOf(trained(), where))
    tensors.emplace(weight.path, weight.variable.value(where));
  training::checkOverwrite("save_weights", file, options, where);
  training::makeFolderOf(file, where);
  save_safetensors(file, tensors, {}, where);
}

namespace {
LoadedWeights loadInto(Model &model, const std::string &file, LoadWeightsOptions options, SourceLocation where) {
  const bool isTorch = options.layout == "torch";
  if (!isTorch && options.layout != "keras")
    fail<ValueError>(absl::StrCat("load_weights: there is no layout '", options.layout, "'; it is 'keras' or 'torch'"),
                     where);
  const std::vector<Weight> weights = weightsOf(model, where);
  std::map<std::string, Tensor> tensors = load_safetensors(file, {}, where);

  // Of a whole model, the weights.
  if (load_safetensors_metadata(file, where).contains(training::kStructure)) {
    std::map<std::string, Tensor> ofModel;
    const std::string prefix = absl::StrCat(training::kModel, "/");
    std::vector<std::string> states;
    for (const auto &[name, variable] : model.named_variables(where))
      if (std::none_of(weights.begin(), weights.end(), [&](const Weight &each) { return each.path == name; }))
        states.push_back(name);
    for (auto &[name, tensor] : tensors)
      if (name.starts_with(prefix) &&
          std::find(states.begin(), states.end(), name.substr(prefix.size())) == states.end())
        ofModel.emplace(name.substr(prefix.size()), tensor);
    tensors = std::move(ofModel);
    // As the file has the names, "model/dense/kernel", or as the model has them.
    auto has = [&](const std::string &begin) {
      return std::any_of(tensors.begin(), tensors.end(),
                         [&](const auto &each) { return each.first.starts_with(begin); });
    };
    if (options.prefix.starts_with(prefix) && !has(options.prefix))
      options.prefix.erase(0, prefix.size());
    std::map<std::string, std::string> names;
    for (const auto &[ofFile, ofModel] : options.names)
      names.emplace(ofFile.starts_with(prefix) && !tensors.contains(ofFile) ? ofFile.substr(prefix.size()) : ofFile,
                    ofModel);
    options.names = std::move(names);
  }

  // The weight of each tensor, and the tensor of each weight.
  std::map<std::string, const Weight *> byName;
  for (const Weight &weight : weights)
    byName.emplace(isTorch ? torchName(weight.path) : weight.path, &weight);
  for (const auto &[ofFile, ofModel] : options.names) {
    if (!tensors.contains(ofFile))
      fail<LookupError>(absl::StrCat("load_weights: names has '", ofFile, "', which ", file, " has not"), where);
    if (std::none_of(weights.begin(), weights.end(), [&](const Weight &each) { return each.path == ofModel; }))
      fail<LookupError>(absl::StrCat("load_weights: names has '", ofModel, "' for '", ofFile, "', and the model '",
                                     titleOf(model), "' has no such weight"),
                        where);
  }
  LoadedWeights result;
  std::vector<std::string> unknown; // of the unused ones, those that strict is about
  std::map<const Weight *, std::pair<std::string, Tensor>> found;
  for (const auto &[name, tensor] : tensors) {
    const Weight *weight = nullptr;
    const std::string known = name.starts_with(options.prefix) ? name.substr(options.prefix.size()) : "";
    if (auto given = options.names.find(name); given != options.names.end())
      weight = &*std::find_if(weights.begin(), weights.end(),
                              [&](const Weight &each) { return each.path == given->second; });
    else if (auto same = byName.find(known); same != byName.end())
      weight = same->second;
    else if (auto keras = byName.find(fromKeras(known)); !isTorch && keras != byName.end())
      weight = keras->second;
    if (!weight) {
      // PyTorch's is a count that layers here have not.
      if ((isTorch && name.ends_with("num_batches_tracked")) || isGenerator(name, tensor))
        continue;
      result.unused.push_back(name);
      if (name.starts_with(options.prefix))
        unknown.push_back(name);
      continue;
    }
    auto [at, isNew] = found.emplace(weight, std::pair(name, tensor));
    if (!isNew)
      fail<ValueError>(absl::StrCat("load_weights: '", at->second.first, "' and '", name, "' of ", file,
                                    " are both for the weight '", weight->path, "'"),
                       where);
  }
  for (const Weight &weight : weights)
    if (!found.contains(&weight))
      result.missing.push_back(weight.path);
  if (options.strict && (!result.missing.empty() || !unknown.empty())) {
    std::vector<std::string> faults;
    if (found.empty() && !options.prefix.empty() && std::none_of(tensors.begin(), tensors.end(), [&](const auto &each) {
          return each.first.starts_with(options.prefix);
        }))
      faults.push_back(
          absl::StrCat("none of its names begins with '", options.prefix, "'; they are ", listed(result.unused)));
    else if (!result.missing.empty())
      faults.push_back(absl::StrCat("the file has not ", listed(result.missing)));
    if (!unknown.empty())
      faults.push_back(absl::StrCat("the model has not ", listed(unknown)));
    fail<LookupError>(absl::StrCat("load_weights: ", file, " is not of this model: ", absl::StrJoin(faults, ", and ")),
                      where);
  }

  std::vector<std::pair<Variable, Tensor>> assigned;
  std::vector<std::string> misfits;
  bool isShape = true;
  for (const Weight &weight : weights) {
    auto at = found.find(&weight);
    if (at == found.end())
      continue;
    Tensor value = isTorch ? fromTorch(weight, at->second.second) : at->second.second;
    const bool fits = value.shape().is_compatible_with(weight.variable.shape());
    // Halves are widened: programs that train with float32 write such files.
    const DType from = value.dtype(), to = weight.variable.dtype();
    const bool isType =
        from == to || training::areIntegers(from, to) || (is_half(from) && is_floating(to) && promote(from, to) == to);
    if (isType && fits) {
      assigned.emplace_back(weight.variable, cast(value, weight.variable.dtype()));
      continue;
    }
    result.mismatched.push_back(weight.path);
    misfits.push_back(absl::StrCat("'", weight.path, "' is ",
                                   describe(weight.variable.dtype(), weight.variable.shape()), ", and '",
                                   at->second.first, "' ", describe(value.dtype(), value.shape())));
    isShape = isShape && !fits;
  }
  if (!misfits.empty() && !options.skip_mismatch) {
    const std::string types = absl::StrJoin(misfits, "; ");
    if (isShape)
      fail<ShapeError>(absl::StrCat("load_weights: ", file, " has weights of other shapes: ", types), where);
    fail<DTypeError>(absl::StrCat("load_weights: ", file, " has weights of other types: ", types), where);
  }
  for (auto &[variable, value] : assigned)
    variable.assign(value);
  return result;
}
} // namespace

LoadedWeights Trainer::load_weights(const std::string &path, LoadWeightsOptions options, SourceLocation where) {
  CallSite site(where);
  const std::string file = training::fileOf(path);
  return detail::readWithinMemory(file, where, [&] { return loadInto(trained(), file, std::move(options), where); });
}

} // namespace calque
