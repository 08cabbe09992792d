// Models in ONNX's format: loaded, run, compiled, differentiated, trained and saved like any other function.
//
//   OnnxModel net = load_onnx("resnet.onnx");
//   Tensor logits = net(images);                             // node by node
//   auto f = net.function();                                 // as one native function
//   Tensor same = f({images})[0];
//   save_functions("resnet.calque", {{"predict", f.get_concrete_function({TensorSpec<float>({kDynamic, 3, 224,
//   224})})}});
//
//   OnnxModel tuned = load_onnx("resnet.onnx", {.weights = OnnxWeights::Trainable});
//   auto step = function([&](const Tensor &x, const Tensor &y) {
//     GradientTape tape;
//     Tensor loss = losses::sparse_categorical_crossentropy(y, tuned(x), {.from_logits = true});
//     adam.apply_gradients(tape.gradient(loss, tuned.trainable_variables()), tuned.trainable_variables());
//     return loss;
//   });
//
// A model is applied by Calque's own operations, so that it works wherever they do: eagerly, in function(), under
// tapes, in vmap, in branches and loops. docs/onnx.md lists the operators.
#ifndef CALQUE_ONNX_H
#define CALQUE_ONNX_H

#include "calque/function.h"
#include "calque/tensor_spec.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace calque {

namespace onnx {
class Program;
struct ValueType;
} // namespace onnx

// What becomes of a model's floating-point initialisers. Other initialisers, and those whose elements must be known
// while tracing, such as the scales of a Resize, are constants always.
enum class OnnxWeights : std::uint8_t {
  Constants, // parts of the program, which compiling can lay out and compute with
  Frozen,    // variables that are not trained
  Trainable  // variables; the running means and variances of a BatchNormalization stay frozen
};

struct OnnxOptions {
  OnnxWeights weights = OnnxWeights::Constants;
  // Numbers for the model's symbolic sizes, by their names: {{"batch", 8}}. Others are unknown sizes of the signature.
  std::map<std::string, std::int64_t> sizes = {};
  // Inputs that are constants from now on, by their names: a shape that a model takes as an input must be known before
  // the model is compiled.
  std::map<std::string, Tensor> constants = {};
};

// A tensor, a sequence of values, or nothing, as the inputs and outputs of a model may be.
struct OnnxValue {
  OnnxValue() = default; // nothing: an empty optional
  OnnxValue(Tensor x) : tensor(std::move(x)) {}
  OnnxValue(std::vector<OnnxValue> values) : sequence(std::move(values)) {}

  Tensor tensor;
  std::optional<std::vector<OnnxValue>> sequence = {};
};

// An input or output.
struct OnnxPort {
  std::string name;
  std::string type;                      // "float32[?,3,224,224]", "sequence(float32[...])", "optional(...)"
  std::optional<TensorSpec<>> spec = {}; // of a tensor
  std::shared_ptr<const onnx::ValueType> detail = {};
};

// A shared handle: copies are the same model, with the same variables. Several threads may call it.
class CALQUE_API OnnxModel {
public:
  // Makes an empty handle. Using it is a StateError until another handle is assigned.
  OnnxModel() = default;

  // Inputs without those that have an initialiser or are constants, in order.
  const std::vector<OnnxPort> &inputs(SourceLocation where = SourceLocation::current()) const;
  const std::vector<OnnxPort> &outputs(SourceLocation where = SourceLocation::current()) const;
  // The name that the file gives the graph, and the program that wrote the file.
  std::string name(SourceLocation where = SourceLocation::current()) const;
  std::string producer(SourceLocation where = SourceLocation::current()) const;
  // The version of ONNX's own operator set.
  std::int64_t opset(SourceLocation where = SourceLocation::current()) const;
  // Inputs whose elements an operator must know while tracing: give them as OnnxOptions::constants to compile the
  // model.
  std::vector<std::string> known_inputs(SourceLocation where = SourceLocation::current()) const;
  // The variables by the names of their initialisers, and those that are trained.
  const std::map<std::string, Variable> &variables(SourceLocation where = SourceLocation::current()) const;
  std::vector<Variable> trainable_variables(SourceLocation where = SourceLocation::current()) const;

  // The outputs of a model whose inputs and outputs are tensors, in order. SignatureError for another number of inputs
  // and for a tensor that an input does not take. Errors of operators begin with the operator, the node's name and the
  // file.
  std::vector<Tensor> operator()(const std::vector<Tensor> &inputs,
                                 SourceLocation where = SourceLocation::current()) const;
  // The output of a model with one input and one output.
  Tensor operator()(const Operand &input) const;
  // The outputs by their names.
  std::map<std::string, Tensor> call(const std::map<std::string, Tensor> &inputs,
                                     SourceLocation where = SourceLocation::current()) const;
  // The same of models with sequences and optional values.
  std::vector<OnnxValue> run(const std::vector<OnnxValue> &inputs,
                             SourceLocation where = SourceLocation::current()) const;

  // The model as a function, with the model's signature unless the options have one. StateError for a model with
  // sequences.
  Function<std::vector<Tensor>(const std::vector<Tensor> &)>
  function(FunctionOptions options = {}, SourceLocation where = SourceLocation::current()) const;

  // The signature, the operator sets and the operators, as text.
  std::string str(SourceLocation where = SourceLocation::current()) const;

private:
  friend CALQUE_API OnnxModel load_onnx(const std::string &path, OnnxOptions options, SourceLocation where);
  const onnx::Program &program(const SourceLocation &where) const;
  std::shared_ptr<const onnx::Program> program_;
};

// Reads a model. DataError, which begins with the path, for a file that is missing or damaged, for external data
// outside of its folder, for an operator, an operator set or an element type that Calque does not have, and for a value
// that nothing computes. ValueError for options that name no size or input of the model.
//
// The file is mapped into memory, and constants use its bytes in place: nobody may change it as long as the model
// lives.
CALQUE_API OnnxModel load_onnx(const std::string &path, OnnxOptions options = {},
                               SourceLocation where = SourceLocation::current());

// Reads a value of ONNX's test data, which a file has for an input or output: a TensorProto, a SequenceProto or an
// OptionalProto. DataError as above.
CALQUE_API OnnxValue load_onnx_value(const std::string &path, const OnnxPort &port,
                                     SourceLocation where = SourceLocation::current());

// Operators that Calque has, as "domain operator versions": "ai.onnx Conv 1 11 22".
CALQUE_API std::vector<std::string> onnx_operators();

} // namespace calque
#endif
