// Attention: each step of one sequence takes a weighted mean of the steps of another.
//
//   layers::MultiHeadAttention attention(4, 16);
//   Tensor y = attention({query, value});                       // [N,T,D], [N,S,E] give [N,T,D]
//   Tensor own = attention(x);                                  // query and value are x
//   Tensor z = attention(Tensors{{"query", q}, {"value", v}, {"attention_mask", mask}});
#ifndef CALQUE_LAYERS_ATTENTION_H
#define CALQUE_LAYERS_ATTENTION_H

#include "calque/layers/layer.h"

namespace calque::layers {

struct MultiHeadAttentionOptions {
  std::optional<std::int64_t> value_dim = std::nullopt; // of a head; key_dim unless given
  double dropout = 0;                                   // of the weights, in training
  bool use_bias = true;
  std::optional<std::int64_t> output_dim = std::nullopt; // the query's unless given
  bool use_causal_mask = false;                          // a step does not attend to later steps
  bool return_attention_scores = false;                  // the weights [N,heads,T,S] are a second result
  Initializer kernel_initializer = "glorot_uniform", bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint kernel_constraint = {}, bias_constraint = {};
  std::optional<std::int64_t> seed = std::nullopt;
  std::string name = {};
};
// Vaswani et al.: Attention is all you need, 2017. The inputs are the query [N,T,D], the value [N,S,E] and the key
// [N,S,F], in this order or with the names "query", "value" and "key". Without a key, the value is the key. A single
// input is query, value and key. An input named "attention_mask" is a bool tensor that broadcasts to [N,T,S], and is
// true where a step may attend to another. Masks of the inputs exclude steps. The result has the query's mask. If all
// steps are excluded, all have the same weight. ValueError for sizes below one, for a rate outside [0, 1) and for other
// inputs. ShapeError for inputs of another rank.
class CALQUE_API MultiHeadAttention : public Layer {
public:
  MultiHeadAttention(std::int64_t num_heads, std::int64_t key_dim, MultiHeadAttentionOptions options = {},
                     SourceLocation where = SourceLocation::current());
};

} // namespace calque::layers
#endif
