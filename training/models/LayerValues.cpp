#include "calque/models/layer_values.h"

#include "Nearest.h"
#include "Support.h"
#include "absl/strings/str_cat.h"
#include "calque/functions.h"
#include "calque/gradient_tape.h"
#include "layers/CallObserver.h"

#include <unordered_map>

namespace calque::models {

using training::fail;

namespace {

Tensor sumOf(const std::vector<Tensor> &tensors, SourceLocation where) {
  std::optional<Tensor> total;
  for (const Tensor &each : tensors)
    if (is_floating(each.dtype()))
      total = total ? *total + sum(each) : sum(each);
  if (!total)
    fail<DTypeError>("layer_values: gradients are of floating-point numbers, and there are none", where);
  return *total;
}

} // namespace

LayerValues layer_values(Model &model, const Tensors &x, LayerValuesOptions options, SourceLocation where) {
  CallSite site(where, "layer_values");
  where = CallSite::resolve(where);
  if (!options.layer.empty() && options.target)
    fail<ValueError>("layer_values: the gradients are of a layer or of a target, and both are given", where);
  std::vector<TensorSpec<>> specs;
  for (const auto &[name, input] : x)
    specs.emplace_back(input.dtype(), input.shape(), name);
  if (!model.built() && !specs.empty()) // which calls layers, too
    model.build_for(specs, where);

  std::unordered_map<const Module *, std::string> names;
  for (const auto &[name, part] : model.children())
    names.emplace(part.get(), name);
  std::map<std::string, int> calls;
  std::map<std::string, std::vector<Tensor>> byCall;
  std::vector<std::pair<std::string, Tensor>> outputs;
  GradientTape tape;
  for (const auto &[name, input] : x)
    if (is_floating(input.dtype()))
      tape.watch(input);
  Tensors results;
  {
    const training::CallObserver observer([&](const layers::LayerBody &layer, const Tensors &given) {
      const auto found = names.find(&layer);
      if (found == names.end())
        return;
      const int call = calls[found->second]++;
      const std::string name = call ? absl::StrCat(found->second, "@", call) : found->second;
      byCall[name] = given.tensors();
      for (std::size_t i = 0; i < given.size(); ++i)
        outputs.emplace_back(given.size() == 1 ? name : absl::StrCat(name, "[", i, "]"), given[i]);
    });
    results = model.apply(x, {.training = options.training}, where);
  }

  std::vector<Tensor> ofTarget = results.tensors();
  if (!options.layer.empty()) {
    const auto found = byCall.find(options.layer);
    if (found == byCall.end())
      fail<LookupError>(absl::StrCat("layer_values: no layer '", options.layer, "' is called; ",
                                     training::nearest(options.layer, training::keysOf(byCall))),
                        where);
    ofTarget = found->second;
  }
  const Tensor target = options.target ? options.target(results) : sumOf(ofTarget, where);
  std::vector<Tensor> sources;
  for (const auto &[name, output] : outputs)
    if (is_floating(output.dtype()))
      sources.push_back(output);
  const std::vector<std::optional<Tensor>> gradients = tape.gradient(target, sources, {}, where);
  LayerValues values;
  std::size_t next = 0;
  for (auto &[name, output] : outputs) {
    values.gradients[name] = is_floating(output.dtype()) ? gradients[next++] : std::nullopt;
    values.outputs.push_back(std::move(output), name, where);
  }
  return values;
}

LayerValues layer_values(const ModelHandle &model, const Tensors &x, LayerValuesOptions options, SourceLocation where) {
  return layer_values(model.model(where), x, std::move(options), where);
}

} // namespace calque::models
