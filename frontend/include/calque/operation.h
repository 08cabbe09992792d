// Operations of the user: a kernel in C, with a type rule, a pullback and a batching rule. The installed headers
// suffice to write one.
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

// A kernel writes every element of the outputs, and does not write to the inputs. The types of the outputs come from
// the type rule. A kernel must have no other effects, because several threads may call it at once, and because it is
// not called if its results are not needed. It must not throw. It returns 0. After any other number, the call throws a
// ValueError that names the operation and the number.
using Kernel = std::int32_t (*)(const KernelTensor *inputs, const KernelTensor *outputs, void *data);

struct OperationDefinition {
  // The name in IR and messages. It is unique in the program (else ValueError).
  std::string name;
  // The type rule: computes the types of the results from those of the operands. The sizes of the results must be
  // known. It throws an Error for operands that don't fit.
  std::function<std::vector<TensorSpec<>>(const std::vector<TensorSpec<>> &inputs)> types;
  Kernel kernel = nullptr;
  void *data = nullptr; // the last argument of the kernel; must live as long as the program
  // The pullback: computes the cotangents of the float operands, in order, by operations. It runs when the operation is
  // applied. Without a pullback, a gradient that would pass through the operation is a LookupError.
  std::function<std::vector<Tensor>(const std::vector<Tensor> &inputs, const std::vector<Tensor> &outputs,
                                    const std::vector<Tensor> &cotangents)>
      pullback = {};
  // The batching rule: computes results whose axis 0 is the mapped axis. An operand has the mapped axis as axis 0 if it
  // is `batched`. The rule applies operations, among which may be this one. Without a batching rule, vmap applies the
  // operation once for each index of the axis.
  std::function<std::vector<Tensor>(const std::vector<Tensor> &inputs, const std::vector<bool> &batched)> batching = {};
};

// Registers an operation until the end of the program. Copies are the same operation.
class CALQUE_API Operation {
public:
  // ValueError for a definition without a name, type rule or kernel, and for a name that is taken.
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
