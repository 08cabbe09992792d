// Operations of the user's own: a kernel in C, and rules for everything that operations are asked for. Nothing but the
// installed headers is needed.
//
//   std::int32_t cube(const KernelTensor *in, const KernelTensor *out, void *) { ... return 0; }
//   const Operation op({.name = "cube",
//                       .types = [](const std::vector<TensorSpec<>> &in) { return in; },
//                       .kernel = cube,
//                       .pullback = [](auto &in, auto &, auto &g) { return std::vector<Tensor>{3 * square(in[0]) *
//                       g[0]}; }});
//   Tensor y = op({x})[0];
#ifndef CALQUE_OPERATION_H
#define CALQUE_OPERATION_H

#include "calque/tensor_spec.h"

#include <functional>
#include <vector>

namespace calque {

// A dense row-major tensor, as a kernel sees it.
struct KernelTensor {
  void *data; // aligned to 64 bytes; null where there are no elements
  const std::int64_t *sizes;
  std::int32_t rank;
  DType dtype;
};

// Writes every element of the outputs, whose types are those that the rule gave, from the inputs, which it leaves
// alone. It may be called by several threads at once, and as often or seldom as its results are needed: it must not
// have other effects, nor throw. Returns 0; anything else fails the call with a ValueError that names the operation and
// the number.
using Kernel = std::int32_t (*)(const KernelTensor *inputs, const KernelTensor *outputs, void *data);

struct OperationDefinition {
  // In IR and messages; unique in the program (ValueError).
  std::string name;
  // The results' types, whose sizes must be known, from those of the operands. Throws an Error for operands that don't
  // fit.
  std::function<std::vector<TensorSpec<>>(const std::vector<TensorSpec<>> &inputs)> types;
  Kernel kernel = nullptr;
  void *data = nullptr; // given to the kernel; it must live as long as the program
  // A cotangent for each operand with float elements, in order, made of other operations; runs when the operation is
  // applied. Without one, a gradient that would pass through the operation is a LookupError.
  std::function<std::vector<Tensor>(const std::vector<Tensor> &inputs, const std::vector<Tensor> &outputs,
                                    const std::vector<Tensor> &cotangents)>
      pullback = {};
  // The results for many examples, stacked along axis 0, as are those operands that are `batched`; made of operations,
  // this one included. Without one, vmap applies the operation to one example after the other.
  std::function<std::vector<Tensor>(const std::vector<Tensor> &inputs, const std::vector<bool> &batched)> batching = {};
};

// Registers an operation, for the life of the program. Copies are the same operation.
class CALQUE_API Operation {
public:
  // ValueError without a name, for one that is taken, and without a type rule or kernel.
  explicit Operation(OperationDefinition definition, SourceLocation where = SourceLocation::current());

  // Its results. What the type rule throws gets this line. ShapeError for results of unknown sizes.
  std::vector<Tensor> operator()(const std::vector<Tensor> &inputs,
                                 SourceLocation where = SourceLocation::current()) const;
  const std::string &name() const;

private:
  std::shared_ptr<const OperationDefinition> definition_;
};

} // namespace calque
#endif
