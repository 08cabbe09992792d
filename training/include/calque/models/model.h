// Models: layers that are called, trained and saved as a whole.
//
//   struct Net : Model {
//     layers::Dense hidden = submodule("hidden", layers::Dense(32, {.activation = "relu"}));
//     layers::Dropout dropout = submodule("dropout", layers::Dropout(0.1));
//     layers::Dense head = submodule("head", layers::Dense(10));
//     Tensor call(const Tensor &x, const layers::CallOptions &options) override {
//       return head(dropout(hidden(x), options));
//     }
//   };
//   Net net;
//   Tensor logits = net(x, {.training = true});
#ifndef CALQUE_MODELS_MODEL_H
#define CALQUE_MODELS_MODEL_H

#include "calque/layers/layer.h"
#include "calque/models/trainer.h"

namespace calque {

// A model of your own derives from Model, and overrides call(), or call_inputs() for several inputs or results, like a
// LayerBody.
class CALQUE_API Model : public layers::LayerBody, public Trainer {
public:
  // `kind` is the model's name in messages. `builds`: the model makes variables in build().
  explicit Model(std::string kind = "model", bool builds = false) : LayerBody(std::move(kind), builds) {}

  // Makes the layers' variables for an input of this shape and of the default element type. build_for() takes other
  // types, and several inputs.
  void build(const Shape &input, SourceLocation where = SourceLocation::current()) {
    build_for({TensorSpec<>(default_dtype(), input, {}, where)}, where);
  }

  // Returns the result of a model that has one. ValueError for a model with several results. Errors inside name the
  // caller's line.
  Tensor operator()(const Operand &x, const layers::CallOptions &options = {}) {
    return call_one(x.toTensor(), options, x.where());
  }
  Tensor operator()(std::initializer_list<Tensor> inputs, const layers::CallOptions &options = {},
                    SourceLocation where = SourceLocation::current()) {
    return call_one(inputs, options, where);
  }
  template <std::same_as<Tensors> T>
  Tensor operator()(const T &inputs, const layers::CallOptions &options = {},
                    SourceLocation where = SourceLocation::current()) {
    return call_one(inputs, options, where);
  }

  // The layers that the model consists of, without layers inside of layers.
  virtual std::vector<layers::Layer> layers() const;
  // One of these layers, by its name in the model, or by its position; -1 is the last layer. LookupError for another
  // name, IndexError for another position.
  layers::Layer get_layer(const std::string &name, SourceLocation where = SourceLocation::current()) const;
  layers::Layer get_layer(std::int64_t index, SourceLocation where = SourceLocation::current()) const;

  // The graph of the layers of a functional model, or of a built Sequential. StateError for other models.
  virtual bool has_graph() const { return false; }
  virtual SymbolicTensors graph_inputs(SourceLocation where = SourceLocation::current()) const;
  virtual SymbolicTensors graph_outputs(SourceLocation where = SourceLocation::current()) const;

  // A table of the layers: name and kind, type of the result, number of weights, and the layers before. Without a
  // graph, unknown entries are "?". A layer whose weights are not made yet has "0 (unbuilt)".
  std::string summary(SourceLocation where = SourceLocation::current()) const;
  // The layers as a picture, in Graphviz's language: `dot -Tsvg` draws it.
  std::string dot() const;

protected:
  using LayerBody::build;
  // Calls the model once, with one example of zeros, so that its layers are built.
  void build_parts(const std::vector<TensorSpec<>> &inputs) override;
  Model &trained() override { return *this; }
  void name_by_kind() override {}

  // The rows of summary() and dot(): the calls in order. By default they are the layers, without types and connections.
  struct Row {
    std::string name, kind;
    std::vector<std::string> results, connections;
    std::shared_ptr<const Module> layer; // null for an input
  };
  virtual std::vector<Row> rows() const;
  // The rows of dot(), if they differ from those of the table.
  virtual std::vector<Row> picture() const { return rows(); }
  // Called before get_layer() and layers() return a layer, because the caller may use the layer's output().
  virtual void before_layer() const {}
  friend class callbacks::TensorBoard;
  // The name of a layer in this model.
  std::string nameOf(const layers::Layer &layer) const;
};

// A shared handle to a model: a Sequential or Functional model, or a model of your own that is to be a layer of another
// model.
class CALQUE_API ModelHandle : public layers::Layer {
public:
  explicit ModelHandle(std::shared_ptr<Model> model) : Layer(model), model_(std::move(model)) {}

  // StateError for an empty handle.
  Model &model(SourceLocation where = SourceLocation::current()) const;

  // See trainer.h.
  void compile(CompileOptions options = {}, SourceLocation where = SourceLocation::current()) const {
    model(where).compile(std::move(options), where);
  }
  History fit(const Tensors &x, const Tensors &y, FitOptions options = {},
              SourceLocation where = SourceLocation::current()) const {
    return model(where).fit(x, y, std::move(options), where);
  }
  History fit(const models::Batches &data, FitOptions options = {},
              SourceLocation where = SourceLocation::current()) const {
    return model(where).fit(data, std::move(options), where);
  }
  Logs evaluate(const Tensors &x, const Tensors &y, EvaluateOptions options = {},
                SourceLocation where = SourceLocation::current()) const {
    return model(where).evaluate(x, y, std::move(options), where);
  }
  Logs evaluate(const models::Batches &data, EvaluateOptions options = {},
                SourceLocation where = SourceLocation::current()) const {
    return model(where).evaluate(data, std::move(options), where);
  }
  Tensors predict(const Tensors &x, PredictOptions options = {},
                  SourceLocation where = SourceLocation::current()) const {
    return model(where).predict(x, std::move(options), where);
  }
  Tensors predict(const models::Batches &data, PredictOptions options = {},
                  SourceLocation where = SourceLocation::current()) const {
    return model(where).predict(data, std::move(options), where);
  }
  Logs train_on_batch(const Tensors &x, const Tensors &y, BatchOptions options = {},
                      SourceLocation where = SourceLocation::current()) const {
    return model(where).train_on_batch(x, y, std::move(options), where);
  }
  Logs test_on_batch(const Tensors &x, const Tensors &y, BatchOptions options = {},
                     SourceLocation where = SourceLocation::current()) const {
    return model(where).test_on_batch(x, y, std::move(options), where);
  }
  Tensors predict_on_batch(const Tensors &x, SourceLocation where = SourceLocation::current()) const {
    return model(where).predict_on_batch(x, where);
  }
  void reset_metrics(SourceLocation where = SourceLocation::current()) const { model(where).reset_metrics(where); }
  void save(const std::string &path, SaveOptions options = {}, SourceLocation where = SourceLocation::current()) const {
    model(where).save(path, options, where);
  }
  void save_weights(const std::string &path, SaveOptions options = {},
                    SourceLocation where = SourceLocation::current()) const {
    model(where).save_weights(path, options, where);
  }
  void export_functions(const std::string &path, ExportOptions options = {},
                        SourceLocation where = SourceLocation::current()) const {
    model(where).export_functions(path, std::move(options), where);
  }
  LoadedWeights load_weights(const std::string &path, LoadWeightsOptions options = {},
                             SourceLocation where = SourceLocation::current()) const {
    return model(where).load_weights(path, std::move(options), where);
  }
  std::vector<metrics::Metric> metrics(SourceLocation where = SourceLocation::current()) const {
    return model(where).metrics();
  }
  const History &history(SourceLocation where = SourceLocation::current()) const { return model(where).history(where); }
  optimizers::Optimizer optimizer(SourceLocation where = SourceLocation::current()) const {
    return model(where).optimizer(where);
  }

  // See Model.
  std::vector<layers::Layer> layers(SourceLocation where = SourceLocation::current()) const {
    return model(where).layers();
  }
  layers::Layer get_layer(const std::string &name, SourceLocation where = SourceLocation::current()) const {
    return model(where).get_layer(name, where);
  }
  layers::Layer get_layer(std::int64_t index, SourceLocation where = SourceLocation::current()) const {
    return model(where).get_layer(index, where);
  }
  // The inputs and outputs of the model's own graph. With them another model can end at one of its layers:
  // models::Functional(base.inputs(), base.get_layer("gap").output()). StateError for a model without a graph. input()
  // and output() throw a ValueError if there are several. For a model of your own, input() and output() are those of
  // its call, as for any layer.
  SymbolicTensors inputs(SourceLocation where = SourceLocation::current()) const {
    return model(where).graph_inputs(where);
  }
  SymbolicTensors outputs(SourceLocation where = SourceLocation::current()) const {
    return model(where).graph_outputs(where);
  }
  SymbolicTensor input(SourceLocation where = SourceLocation::current()) const {
    return model(where).has_graph() ? inputs(where).unpack<1>(where)[0] : Layer::input({}, where);
  }
  SymbolicTensor output(SourceLocation where = SourceLocation::current()) const {
    return model(where).has_graph() ? outputs(where).unpack<1>(where)[0] : Layer::output({}, where);
  }
  std::string summary(SourceLocation where = SourceLocation::current()) const { return model(where).summary(where); }
  std::string dot(SourceLocation where = SourceLocation::current()) const { return model(where).dot(); }

private:
  std::shared_ptr<Model> model_;
};

} // namespace calque
#endif
