// In which types layers compute, and in which they keep their variables:
//   layers::set_dtype_policy("mixed_bfloat16");   // of all layers that are made from here on
//   layers::Dense hidden(128, {.activation = "relu"}), out(10);
//   out.set_dtype_policy("float32");              // of this one
//
// Names are those of Keras 3:
//   ""                                            the type of the inputs, which are taken as they are
//   "float16", "bfloat16", "float32", "float64"   this type; inputs of other floats are cast to it
//   "mixed_float16", "mixed_bfloat16"             computes in 16 bits, and keeps variables in float32
//
// With a policy that mixes, a layer casts inputs of floats to the type that it computes in, and reads its variables in
// that type. Normalisations and embeddings compute in float32, and cast their results. Gradients with respect to the
// variables are float32. Losses and metrics of fit() and evaluate() take predictions of 16 bits as float32. float16 has
// no numbers below 6e-8: an optimizer of a model that computes in it multiplies the loss by a scale (loss_scale in
// optimizers.h), which compile() turns on.
#ifndef CALQUE_LAYERS_DTYPE_POLICY_H
#define CALQUE_LAYERS_DTYPE_POLICY_H

#include "calque/dtype.h"
#include "calque/export.h"
#include "calque/source_location.h"

#include <optional>
#include <string>

namespace calque::layers {

class CALQUE_API DTypePolicy {
public:
  DTypePolicy() = default;
  // ValueError for another name.
  DTypePolicy(const char *name, SourceLocation where = SourceLocation::current());
  DTypePolicy(const std::string &name, SourceLocation where = SourceLocation::current())
      : DTypePolicy(name.c_str(), where) {}

  // The type in which a layer computes, and that of its variables; none: that of the inputs.
  std::optional<DType> compute() const { return compute_; }
  std::optional<DType> variables() const { return variables_; }
  bool mixes() const { return compute_ != variables_; }
  std::string name() const;

private:
  std::optional<DType> compute_, variables_;
};

// The policy of layers that are made afterwards, by any thread. At first it is "".
CALQUE_API void set_dtype_policy(const DTypePolicy &policy);
CALQUE_API DTypePolicy dtype_policy();

} // namespace calque::layers
#endif
