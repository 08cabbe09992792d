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
  bool use_causal_mask = false;                          // no step sees later ones
  bool return_attention_scores = false;                  // the weights [N,heads,T,S] are a second result
  Initializer kernel_initializer = "glorot_uniform", bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint kernel_constraint = {}, bias_constraint = {};
  std::optional<std::int64_t> seed = std::nullopt;
  std::string name = {};
};
// Vaswani et al.: Attention is all you need, 2017. The inputs are the query [N,T,D], the value [N,S,E] and the key
// [N,S,F], which is the value unless given, in this order or named "query", "value" and "key"; the query alone is all
// three. An input named "attention_mask" is a bool tensor [N,T,S], or one that broadcasts to it, of what may be seen.
// Masks of the inputs rule out their steps; the query's passes. All that is ruled out counts alike. ValueError for
// sizes below one, a rate outside [0, 1) and other inputs; ShapeError for inputs of another rank.
class CALQUE_API MultiHeadAttention : public Layer {
public:
  MultiHeadAttention(std::int64_t num_heads, std::int64_t key_dim, MultiHeadAttentionOptions options = {},
                     SourceLocation where = SourceLocation::current());
};

} // namespace calque::layers
#endif
