// Operations of the user: a kernel in C, with a type rule, a pullback and a batching rule. They need nothing but the
// installed headers.
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

// Writes every element of the outputs, whose types come from the type rule, and does not write to the inputs. Several
// threads may call it at once, and it is called only as often as its results are needed, so it must have no other
// effects. It must not throw. Returns 0; any other number fails the call with a ValueError that names the operation and
// the number.
using Kernel = std::int32_t (*)(const KernelTensor *inputs, const KernelTensor *outputs, void *data);

struct OperationDefinition {
  // Its name in IR and messages, unique in the program (ValueError).
  std::string name;
  // The type rule: the types of the results, whose sizes must be known, from those of the operands. It throws an Error
  // for operands that don't fit.
  std::function<std::vector<TensorSpec<>>(const std::vector<TensorSpec<>> &inputs)> types;
  Kernel kernel = nullptr;
  void *data = nullptr; // given to the kernel; it must live as long as the program
  // The cotangents of the float operands, in order, computed by operations; runs when the operation is applied. Without
  // a pullback, a gradient that would pass through the operation is a LookupError.
  std::function<std::vector<Tensor>(const std::vector<Tensor> &inputs, const std::vector<Tensor> &outputs,
                                    const std::vector<Tensor> &cotangents)>
      pullback = {};
  // The batching rule: the results with the mapped axis as axis 0, from operands that have it where they are `batched`,
  // computed by operations, this one included. Without one, vmap applies the operation once for each index of the axis.
  std::function<std::vector<Tensor>(const std::vector<Tensor> &inputs, const std::vector<bool> &batched)> batching = {};
};

// Registers an operation, for the life of the program. Copies are the same operation.
class CALQUE_API Operation {
public:
  // ValueError without a name, type rule or kernel, and for a name that is taken.
  explicit Operation(OperationDefinition definition, SourceLocation where = SourceLocation::current());

  // Applies the operation. An Error of the type rule gets this line. ShapeError for results of unknown sizes.
  std::vector<Tensor> operator()(const std::vector<Tensor> &inputs,
                                 SourceLocation where = SourceLocation::current()) const;
  const std::string &name(SourceLocation where = SourceLocation::current()) const;

private:
  std::shared_ptr<const OperationDefinition> definition_;
};

} // namespace calque
#endif
