#include "calque/models/sequential.h"

#include "SymbolicCall.h"
#include "absl/strings/str_cat.h"
#include "layers/Described.h"

#include <unordered_set>

namespace calque::models {

using layers::CallOptions;
using layers::Layer;
using layers::Mask;
using training::fail;

namespace {

// A module of the user's own as a layer, whose parts are the module's.
class ModuleBody : public layers::LayerBody {
public:
  ModuleBody(const std::shared_ptr<Module> &module, std::function<Tensor(const Tensor &)> f)
      : LayerBody(module->name().empty() ? "module" : module->name(), false), module(module), f(std::move(f)) {
    adopt_parts(module);
  }

protected:
  Tensor call(const Tensor &x, const CallOptions &) override { return f(x); }

private:
  std::shared_ptr<Module> module; // f refers to it
  std::function<Tensor(const Tensor &)> f;
};

class SequentialBody : public Model {
public:
  SequentialBody() : Model("sequential") {}
  using Module::set_name;

  void add(const SequentialPart &part, SourceLocation where) {
    if (part.input()) {
      if (!parts.empty() || input)
        fail<ValueError>("sequential: an input must be the first part", where);
      if (part.input()->call()->layer)
        fail<ValueError>(absl::StrCat("sequential: an input is the result of the layer '",
                                      part.input()->call()->layer->body()->kind(), "'; inputs are made by Input()"),
                         where);
      input = output = part.input();
      takesAny = false;
      return;
    }
    const Layer &layer = *part.layer();
    if (!layer.body())
      calque::detail::throwEmptyHandle("layer", where);
    bool known = false;
    for (const Layer &other : parts)
      known |= other.same_as(layer);
    if (!known) {
      std::string base = layer.body()->has_given_name() ? layer.name() : layer.body()->kind(), unique = base;
      for (int i = 1; names.contains(unique); ++i)
        unique = absl::StrCat(base, "_", i);
      adopt(unique, layer.body(), where);
      names.insert(unique);
    }
    parts.push_back(layer);
    if (output)
      output = layer(*output, where);
    std::lock_guard lock(finding);
    found.reset();
  }

  std::vector<Layer> layers() const override { return parts; }
  std::vector<TensorSpec<>> input_specs() const override {
    if (input)
      return {TensorSpec<>(input->dtype(), input->shape(), input->name())};
    return Model::input_specs();
  }

  Config get_config() const override {
    ConfigValue::List configs;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      std::size_t first = 0;
      while (!parts[first].same_as(parts[i]))
        ++first;
      // One that occurs again is the one at that position.
      if (first < i)
        configs.push_back(static_cast<std::int64_t>(first));
      else
        configs.push_back(layers::serializePart(parts[i], nameOf(parts[i]), SourceLocation()));
    }
    Config config{{"name", name()}, {"trainable", trainable()}, {"layers", configs}};
    if (input)
      config.set("input", Config{{"name", input->name()},
                                 {"dtype", name_of(input->dtype())},
                                 {"shape", configOf(input->shape())},
                                 {"takes_any", takesAny}});
    return config;
  }

  std::optional<SymbolicTensor> input, output; // of the graph, where Input() or build() made one
  bool takesAny = true;                        // and not only what is like an Input()

  struct Graph {
    SymbolicTensor input, output;
  };
  // One that was only called has the graph of its first call, for a batch of any size, once it is asked for: to make it
  // traces the layers. None before.
  std::optional<Graph> graph() const {
    if (output)
      return Graph{*input, *output};
    const std::vector<TensorSpec<>> called = input_specs();
    if (called.size() != 1 || called[0].shape().empty())
      return std::nullopt;
    std::lock_guard lock(finding);
    if (!found) {
      Shape batch = called[0].shape();
      batch[0] = kDynamic;
      try {
        found = chain(TensorSpec<>(called[0].dtype(), batch, called[0].name()));
      } catch (const Error &) { // a layer that needs to know its size
        found = chain(called[0]);
      }
    }
    return found;
  }

  bool has_graph() const override { return true; }
  SymbolicTensors graph_inputs(SourceLocation where) const override;
  SymbolicTensors graph_outputs(SourceLocation where) const override;

protected:
  bool casts_inputs() const override { return false; }
  bool is_of_library() const override { return true; }
  void check_mask(const Tensor &, const Tensor &) const override {} // the first layer does
  Tensors call_inputs(const Tensors &inputs, const CallOptions &options) override {
    return call_masked(inputs, options).results;
  }
  std::vector<Mask> compute_masks(const Tensors &inputs, const CallOptions &options) override {
    return call_masked(inputs, options).masks;
  }
  Masked call_masked(const Tensors &inputs, const CallOptions &options) override {
    if (!takesAny && inputs.size() == 1 && !inputs[0].shape().is_compatible_with(input->shape()))
      fail<ShapeError>(absl::StrCat(title(), ": its input takes ", training::describe(input->dtype(), input->shape()),
                                    ", and is given ", training::describe(inputs[0].dtype(), inputs[0].shape())));
    Masked x{inputs, options.masks};
    if (x.masks.empty()) {
      x.masks = {options.mask};
      x.masks.resize(inputs.size());
    }
    for (const Layer &layer : parts)
      x = layer.body()->apply_masked(x.results, {options.training, x.masks.front(), x.masks});
    return x;
  }
  // Makes the graph, which builds the layers.
  void build_parts(const std::vector<TensorSpec<>> &inputs) override {
    if (inputs.size() != 1)
      fail<ValueError>(absl::StrCat(title(), ": takes one input, and there are ", inputs.size()));
    Shape shape = inputs[0].shape();
    if (shape.empty())
      fail<ShapeError>(absl::StrCat(title(), ": takes inputs of rank 1 or more, a batch first; this one is a scalar"));
    {
      std::lock_guard lock(finding);
      found.reset(); // so that a layer's output() is that of the new graph
    }
    Graph made = chain(inputs[0]);
    input = made.input;
    output = made.output;
  }

  std::vector<Row> rows() const override {
    std::vector<Row> rows;
    for (const Layer &layer : parts)
      rows.push_back({nameOf(layer), layer.body()->kind(), {}, {}, layer.body()});
    // From the last layer back to the first.
    const std::optional<Graph> known = knownGraph();
    std::shared_ptr<calque::detail::SymbolicCall> call = known ? known->output.call() : nullptr;
    for (std::size_t i = rows.size(); i-- > 0 && call && call->layer; call = call->inputs[0].call())
      for (const TensorSpec<> &result : call->results)
        rows[i].results.push_back(training::describe(result.dtype(), result.shape()));
    return rows;
  }
  // With the input, and each layer connected to the one before: a table goes without, as each follows the other.
  std::vector<Row> picture() const override {
    std::vector<Row> all = rows();
    Row first{"input", "input", {}, {}, nullptr};
    if (const std::optional<Graph> known = knownGraph()) {
      if (!known->input.name().empty())
        first.name = known->input.name();
      first.results.push_back(training::describe(known->input.dtype(), known->input.shape()));
    }
    std::string before = first.name;
    for (Row &row : all) {
      row.connections.push_back(before);
      before = row.name;
    }
    all.insert(all.begin(), std::move(first));
    return all;
  }
  void before_layer() const override { knownGraph(); }

private:
  Graph chain(const TensorSpec<> &type) const {
    const Shape shape = type.shape();
    SymbolicTensor from =
        Input(Shape(shape.begin() + 1, shape.end()), {type.dtype(), type.name(), shape[0]}, SourceLocation());
    SymbolicTensor x = from;
    for (const Layer &layer : parts)
      x = layer(x, SourceLocation());
    return {from, x};
  }
  // None where a layer can't be traced, such as one that reads elements.
  std::optional<Graph> knownGraph() const {
    try {
      return graph();
    } catch (const Error &) {
      return std::nullopt;
    }
  }

  mutable std::mutex finding;
  mutable std::optional<Graph> found; // guarded by the mutex
  std::vector<Layer> parts;
  std::unordered_set<std::string> names;
};

Layer sequentialFrom(const Config &config) {
  const SourceLocation none;
  auto body = std::make_shared<SequentialBody>();
  body->set_name(config.at("name", none).as<std::string>(none));
  if (!config.at("trainable", none).as<bool>(none)) // and else as its layers say
    body->set_trainable(false);
  if (const ConfigValue *input = config.find("input")) {
    Config type = input->as<Config>(none);
    Shape shape;
    readConfig(type.at("shape", none), shape);
    if (shape.empty())
      fail<ValueError>("sequential: the input in its config has no batch");
    body->add(Input(Shape(shape.begin() + 1, shape.end()),
                    {dtypeNamed(type.at("dtype", none).as<std::string>(none)),
                     type.at("name", none).as<std::string>(none), shape[0]},
                    none),
              none);
    const ConfigValue *takesAny = type.find("takes_any");
    body->takesAny = !takesAny || takesAny->as<bool>(none);
  }
  for (const ConfigValue &each : config.at("layers", none).as<ConfigValue::List>(none)) {
    if (!each.is<std::int64_t>()) {
      body->add(layers::deserialize(each.as<Config>(none), none), none);
      continue;
    }
    auto first = each.as<std::int64_t>(none);
    std::vector<Layer> all = body->layers();
    if (first < 0 || first >= std::ssize(all))
      fail<ValueError>(absl::StrCat("sequential: its config has layer ", first, " again, which does not come before"));
    body->add(all[static_cast<std::size_t>(first)], none);
  }
  return ModelHandle(body);
}

SequentialBody::Graph graphOf(const Model &model, SourceLocation where) {
  CallSite site(where, "sequential");
  const std::optional<SequentialBody::Graph> graph = static_cast<const SequentialBody &>(model).graph();
  if (!graph)
    fail<StateError>("sequential: there is no graph of its layers before a first call, build() or an Input() as its "
                     "first part",
                     where);
  return *graph;
}

SymbolicTensors SequentialBody::graph_inputs(SourceLocation where) const { return graphOf(*this, where).input; }
SymbolicTensors SequentialBody::graph_outputs(SourceLocation where) const { return graphOf(*this, where).output; }

} // namespace

SequentialPart::SequentialPart(std::shared_ptr<Module> module, std::function<Tensor(const Tensor &)> call,
                               SourceLocation where) {
  if (!module)
    calque::detail::throwEmptyHandle("module", where);
  layer_ = Layer(std::make_shared<ModuleBody>(module, std::move(call)));
}

Sequential::Sequential(std::initializer_list<SequentialPart> parts, SourceLocation where)
    : ModelHandle(std::make_shared<SequentialBody>()) {
  for (const SequentialPart &part : parts)
    add(part, where);
}
void Sequential::add(const SequentialPart &part, SourceLocation where) {
  static_cast<SequentialBody &>(model(where)).add(part, where);
}
SymbolicTensor Sequential::input(SourceLocation where) const { return graphOf(model(where), where).input; }
SymbolicTensor Sequential::output(SourceLocation where) const { return graphOf(model(where), where).output; }

} // namespace calque::models

void calque::layers::registerSequential() {
  registerOwn("Sequential", typeid(models::SequentialBody), models::sequentialFrom);
}
