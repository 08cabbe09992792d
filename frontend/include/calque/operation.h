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
#include <memory>
#include <string>
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
// not called if its results are not needed; the kernel of an ordered operation may have effects. It must not throw. It
// returns 0. After any other number, the call throws a ValueError that names the operation and the number.
using Kernel = std::int32_t (*)(const KernelTensor *inputs, const KernelTensor *outputs, void *data);

// An ordered operation in a program.
struct OrderedCall {
  std::string operation; // its name
  std::vector<TensorSpec<>> inputs, results;
  SourceLocation where;
};

// Is told of native code that has ordered operations.
class OrderedPrograms {
public:
  virtual ~OrderedPrograms() = default;
  // Called before native code runs for the first time. `calls` are its ordered operations that name this object, in
  // program order; one in a loop is there once. An Error reaches the caller, and nothing has run.
  virtual void begin(const std::vector<OrderedCall> &calls, SourceLocation where) = 0;
  // Called after a call of native code that has failed. Ordered operations after the failure have not run.
  virtual void failed(SourceLocation where) = 0;
};

// Whether the kernel has effects outside of the program, such as messages to other processes.
enum class CallOrder : std::int8_t {
  None, // no effects: the program may move, merge and remove it
  // It runs whenever the program reaches it, and only then, in program order among prints, assertions, host calls and
  // other ordered operations, even if its results are not used. vmap refuses it in branches that examples decide.
  Once,
  // The same, and a derivative may run it once more on the same operands, if it needs the results of one in a branch or
  // a checkpoint. Without this, such a derivative is refused, and so is a checkpoint or a pullback with the operation.
  Repeatable,
};

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
  CallOrder order = CallOrder::None;
  // Of a Repeatable operation that is linear and takes floats alone: the name of the operation that takes the
  // cotangents of the results and computes those of the operands. The derivatives of both modes and of any order follow
  // from it, so that there is no pullback.
  std::string transpose = {};
  // The text of the error after a number that the kernel has returned, instead of the number.
  std::function<std::string(std::int32_t)> failure = {};
  std::shared_ptr<OrderedPrograms> programs = {}; // of an ordered operation
};

// Registers an operation until the end of the program. Copies are the same operation.
class CALQUE_API Operation {
public:
  // ValueError for a definition without a name, type rule or kernel, for a name that is taken, and for a transpose of
  // an operation that is not Repeatable or has a pullback.
  explicit Operation(OperationDefinition definition, SourceLocation where = SourceLocation::current());

  // Applies the operation. An Error of the type rule gets this line. ShapeError for results of unknown sizes,
  // StateError for an operation of CallOrder::Once in a pullback or a checkpoint.
  std::vector<Tensor> operator()(const std::vector<Tensor> &inputs,
                                 SourceLocation where = SourceLocation::current()) const;
  const std::string &name(SourceLocation where = SourceLocation::current()) const;

private:
  std::shared_ptr<const OperationDefinition> definition_;
};

// Makes operations when their names are asked for, as a saved function does that applies one. `make` gets a name that
// begins with the prefix and a bracket, `all_reduce[sum]`, and registers the operation; without one of that name it
// does nothing. ValueError for a prefix that is taken.
CALQUE_API void registerOperations(const std::string &prefix, std::function<void(const std::string &name)> make,
                                   SourceLocation where = SourceLocation::current());

} // namespace calque
#endif
