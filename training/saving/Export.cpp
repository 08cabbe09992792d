// Models as saved functions, for programs without the training library.
#include "Files.h"
#include "absl/cleanup/cleanup.h"
#include "calque/functions.h"
#include "calque/saved_functions.h"
#include "models/Trainer.h"

#include <set>

namespace calque {

using training::fail;

namespace {

// One tensor is itself; several are a list.
template <typename T> Tensors tensorsOf(const T &x) { return Tensors(x); }
template <typename T> T given(const std::vector<TensorSpec<>> &specs) {
  std::vector<Tensor> types(specs.begin(), specs.end());
  if constexpr (std::is_same_v<T, Tensor>)
    return types[0];
  else
    return types;
}
// One result is itself; several go by the names of the outputs.
std::map<std::string, Tensor> byName(const Tensors &results) {
  std::map<std::string, Tensor> named;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string name = results.names()[i];
    named.emplace(name.empty() ? absl::StrCat("output_", i + 1) : name, results[i]);
  }
  return named;
}

template <typename F> void withTypeOf(const std::vector<TensorSpec<>> &specs, const F &f) {
  if (specs.size() == 1)
    f(std::type_identity<Tensor>());
  else
    f(std::type_identity<std::vector<Tensor>>());
}

} // namespace

void Trainer::export_functions(const std::string &path, ExportOptions options, SourceLocation where) {
  CallSite site(where);
  Model &model = trained();
  if (options.inputs.empty())
    for (const TensorSpec<> &input : model.input_specs()) {
      Shape shape = input.shape();
      if (!shape.empty())
        shape[0] = kDynamic; // of any number of examples
      options.inputs.emplace_back(input.dtype(), shape, input.name(), where);
    }
  if (options.inputs.empty())
    fail<StateError>("export_functions: the model has not been called, so that the types of its inputs are not known; "
                     "call it, build it, or give .inputs",
                     where);
  if (!options.targets.empty())
    checked("export_functions", where);
  const SourceLocation before = std::exchange(state->line, where);
  absl::Cleanup done = [&] { state->line = before; };

  std::vector<std::pair<std::string, FunctionToSave>> functions;
  // Their number is found by tracing a call.
  std::size_t outputs = 0;
  Function<Tensors(const Tensors &)> counted(
      [&](const Tensors &x) {
        Tensors results = predict_step({x});
        outputs = results.size();
        return results;
      },
      {.name = "predict"}, where);
  counted.get_concrete_function(Tensors(given<std::vector<Tensor>>(options.inputs)), where);
  withTypeOf(options.inputs, [&]<typename X>(std::type_identity<X>) {
    const X types = given<X>(options.inputs);
    const FunctionOptions named{.name = "predict", .argument_names = {"x"}};
    if (outputs == 1) {
      Function<Tensor(const X &)> f([this](const X &x) { return predict_step({tensorsOf(x)})[0]; }, named, where);
      functions.emplace_back("predict", f.get_concrete_function(types, where));
    } else {
      Function<std::map<std::string, Tensor>(const X &)> f(
          [this](const X &x) { return byName(predict_step({tensorsOf(x)})); }, named, where);
      functions.emplace_back("predict", f.get_concrete_function(types, where));
    }
    if (!options.targets.empty())
      withTypeOf(options.targets, [&]<typename Y>(std::type_identity<Y>) {
        Function<std::map<std::string, Tensor>(const X &, const Y &)> step(
            [&](const X &x, const Y &y) {
              reset_metrics(where); // what it gives is of this batch alone
              return byName(train_step({tensorsOf(x), tensorsOf(y)}));
            },
            {.name = "train_step", .argument_names = {"x", "y"}}, where);
        functions.emplace_back("train_step", step.get_concrete_function(types, given<Y>(options.targets), where));
      });
  });

  SaveFunctionsOptions names;
  names.variables = model.named_variables(where);
  if (!options.targets.empty())
    for (auto &[name, variable] : state->compiled->options.optimizer.named_variables(where))
      names.variables.emplace_back("optimizer/" + name, variable);
  if (!options.targets.empty()) { // of a metric that has another's name, the variables keep their own
    std::set<std::string> taken;
    for (const metrics::Metric &metric : metrics()) {
      std::string name = metric.name(where);
      for (const auto &each : state->compiled->attached)
        if (each.metric.same_as(metric))
          name = each.name;
      if (taken.insert(name).second)
        for (auto &[own, variable] : metric.named_variables(where))
          names.variables.emplace_back(absl::StrCat("metrics/", name, "/", own), variable);
    }
  }
  training::makeFolderOf(path, where);
  save_functions(path, functions, names, where);
}

} // namespace calque
