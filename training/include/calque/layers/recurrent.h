// Layers that go through sequences [N,T,features] step by step with a state. They are loops of the program, so that T
// may be unknown.
//
//   layers::LSTM lstm(64, {.return_sequences = true, .return_state = true});
//   auto [y, h, c] = lstm.apply(x).unpack<3>();          // [N,T,64], [N,64], [N,64]
//   Tensor again = lstm.apply({x, h, c})[0];             // starts with this state
//   Sequential net{layers::Embedding(1000, 32, {.mask_zero = true}), layers::Bidirectional(layers::GRU(16))};
//
// A step that the mask excludes does not change the state. Its result is that of the step before (zeros for the first
// step), unless zero_output_for_mask is set.
#ifndef CALQUE_LAYERS_RECURRENT_H
#define CALQUE_LAYERS_RECURRENT_H

#include "calque/layers/core.h"

namespace calque::layers {

struct SimpleRNNOptions {
  ActivationFunction activation = "tanh";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform", recurrent_initializer = "orthogonal", bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0, recurrent_dropout = 0; // in training; the same elements in all steps
  std::optional<std::int64_t> seed = std::nullopt;
  bool return_sequences = false;     // returns the results of all steps [N,T,units], else of the last one [N,units]
  bool return_state = false;         // also returns the state after the last step
  bool go_backwards = false;         // from the last step to the first; results are in the order of computation
  bool zero_output_for_mask = false; // the result of a step that the mask excludes is zeros
  std::string name = {};
};
// h = activation(x * kernel + h * recurrent_kernel + bias). ValueError for fewer than one unit and for rates outside
// [0, 1). ShapeError for inputs of other shapes.
class CALQUE_API SimpleRNN : public Layer {
public:
  explicit SimpleRNN(std::int64_t units, SimpleRNNOptions options = {},
                     SourceLocation where = SourceLocation::current());
  Variable kernel(SourceLocation where = SourceLocation::current()) const { return variable("kernel", where); }
  Variable recurrent_kernel(SourceLocation where = SourceLocation::current()) const {
    return variable("recurrent_kernel", where);
  }
  Variable bias(SourceLocation where = SourceLocation::current()) const { return variable("bias", where); }
};

struct LSTMOptions {
  ActivationFunction activation = "tanh", recurrent_activation = "sigmoid";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform", recurrent_initializer = "orthogonal", bias_initializer = "zeros";
  bool unit_forget_bias = true; // the bias of the forget gate starts at 1
  Regularizer kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0, recurrent_dropout = 0;
  std::optional<std::int64_t> seed = std::nullopt;
  bool return_sequences = false, return_state = false, go_backwards = false, zero_output_for_mask = false;
  std::string name = {};
};
// Hochreiter, Schmidhuber: Long short-term memory, 1997. As in Keras, the columns of the kernels are those of the gates
// i, f, c and o, `units` columns each. The state is h and c.
class CALQUE_API LSTM : public Layer {
public:
  explicit LSTM(std::int64_t units, LSTMOptions options = {}, SourceLocation where = SourceLocation::current());
  Variable kernel(SourceLocation where = SourceLocation::current()) const { return variable("kernel", where); }
  Variable recurrent_kernel(SourceLocation where = SourceLocation::current()) const {
    return variable("recurrent_kernel", where);
  }
  Variable bias(SourceLocation where = SourceLocation::current()) const { return variable("bias", where); }
};

struct GRUOptions {
  ActivationFunction activation = "tanh", recurrent_activation = "sigmoid";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform", recurrent_initializer = "orthogonal", bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0, recurrent_dropout = 0;
  std::optional<std::int64_t> seed = std::nullopt;
  bool return_sequences = false, return_state = false, go_backwards = false, zero_output_for_mask = false;
  bool reset_after = true; // the reset gate comes after the product with the recurrent kernel; the bias is [2,3*units]
  std::string name = {};
};
// Cho et al.: Learning phrase representations using RNN encoder-decoder, 2014. As in Keras, the columns of the kernels
// are those of the gates z, r and h.
class CALQUE_API GRU : public Layer {
public:
  explicit GRU(std::int64_t units, GRUOptions options = {}, SourceLocation where = SourceLocation::current());
  Variable kernel(SourceLocation where = SourceLocation::current()) const { return variable("kernel", where); }
  Variable recurrent_kernel(SourceLocation where = SourceLocation::current()) const {
    return variable("recurrent_kernel", where);
  }
  Variable bias(SourceLocation where = SourceLocation::current()) const { return variable("bias", where); }
};

struct BidirectionalOptions {
  std::string merge_mode = "concat"; // or "sum", "mul", "ave"; "none" returns both results
  std::string name = {};
};
// Two recurrent layers that are made from the config of the given one, and have variables of their own. The second
// layer goes from the last step to the first, and its results are put in the order of time. In result sequences, steps
// that the mask excludes are zeros. States among the inputs and results are those of the first layer, then those of the
// second. ValueError for a layer that is not recurrent, and for another mode. StateError for a layer without a config.
class CALQUE_API Bidirectional : public Layer {
public:
  explicit Bidirectional(const Layer &layer, BidirectionalOptions options = {},
                         SourceLocation where = SourceLocation::current());
};

// Applies a layer to each step of a sequence: [N,T,...] gives [N,T,...].
class CALQUE_API TimeDistributed : public Layer {
public:
  explicit TimeDistributed(const Layer &layer, LayerOptions options = {},
                           SourceLocation where = SourceLocation::current());
};

} // namespace calque::layers
#endif
