// Collectives: operations on the tensors of all ranks of a group.
//
//   Tensor mean = all_reduce(loss, {.op = Reduction::Mean});
//   Tensor rows = all_gather(part);                   // the parts of all ranks, one below the other
//   Tensor left = shift(x, 1);                        // x of the rank before
//   Tensor wide = halo_exchange(x, {.axis = 0, .width = 1});
//
// Collectives work eagerly and in `function`, in branches and loops. Each one runs once where the program reaches it,
// in program order, even if its result is not used. All ranks of the group must reach the same collectives in the same
// order, with operands of the same types. Before a program runs for the first time, the ranks compare its collectives,
// and a difference is a StateError on all of them that names the first one and its lines; so is a rank that does not
// come within InitOptions::timeout. What differs in loops and branches that ranks decide differently, is found by
// InitOptions::verify.
//
// Gradients are those of the sum over all ranks of each rank's loss: a rank's gradient says how this sum changes with
// the rank's own inputs. So the transpose of a sum over ranks is a sum over ranks, and all ranks must ask for a
// gradient where one does. Derivatives of both modes and of any order exist for all collectives of floats. They repeat
// collectives of branches and checkpoints whose results they need. No gradient passes through send and recv; use
// permute.
//
// `vmap` does a collective once for all examples. Saved functions contain collectives; a program that loads one must
// have called init(), with as many ranks as types depend on. Sizes of operands are known (else ShapeError).
#ifndef CALQUE_DISTRIBUTED_COLLECTIVES_H
#define CALQUE_DISTRIBUTED_COLLECTIVES_H

#include "calque/distributed/group.h"
#include "calque/tensor_spec.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace calque::distributed {

// How the elements of ranks become one. Sums and products of integers wrap around. float16 and bfloat16 are added in
// float32, and rounded once. Max and Min of bools are `or` and `and`; NaN beats any number. Mean is of floats, Sum and
// Prod are of numbers (else DTypeError).
enum class Reduction : std::int8_t { Sum, Mean, Max, Min, Prod };

struct ReduceOptions {
  Reduction op = Reduction::Sum;
  Group group = {};
  // Of sums and means of floats: adds in the order of a balanced tree over the ranks, ((0+1)+(2+3))+..., whatever the
  // timing and MPI's choice of algorithm, so that all runs have the same bits. It costs more memory, and about twice
  // the traffic.
  bool reproducible = false;
};
// The elements of all ranks, reduced, on each rank. The gradient of Max and Min is shared evenly by the elements that
// are equal to the result, that of Prod passes to all ranks.
CALQUE_API Tensor all_reduce(const Tensor &x, ReduceOptions options = {},
                             SourceLocation where = SourceLocation::current());
// All tensors in one message. They have one element type. Not for Prod, Max and Min (ValueError).
CALQUE_API std::vector<Tensor> all_reduce(const std::vector<Tensor> &tensors, ReduceOptions options = {},
                                          SourceLocation where = SourceLocation::current());

struct AxisOptions {
  std::int64_t axis = 0;
  Group group = {};
};
// The tensors of all ranks, joined along an axis in the order of ranks. Of scalars a vector.
CALQUE_API Tensor all_gather(const Tensor &x, AxisOptions options = {},
                             SourceLocation where = SourceLocation::current());
// Sums the tensors of all ranks, and gives each rank its part of the sum along an axis. ValueError unless the axis has
// a multiple of size() elements. The transpose of all_gather.
CALQUE_API Tensor reduce_scatter(const Tensor &x, AxisOptions options = {},
                                 SourceLocation where = SourceLocation::current());

struct RootOptions {
  int root = 0; // ValueError for a rank that is not in the group
  Group group = {};
};
// The root's tensor on each rank. Its transpose is `reduce`.
CALQUE_API Tensor broadcast(const Tensor &x, RootOptions options = {},
                            SourceLocation where = SourceLocation::current());
// The sum of all ranks on the root, zeros on the others.
CALQUE_API Tensor reduce(const Tensor &x, RootOptions options = {}, SourceLocation where = SourceLocation::current());
// The tensors of all ranks, joined along the first axis, on the root; zeros of that shape on the others. Its transpose
// is `scatter`.
CALQUE_API Tensor gather(const Tensor &x, RootOptions options = {}, SourceLocation where = SourceLocation::current());
// Each rank's part along the first axis of the root's tensor. All ranks give tensors of one type; the elements of those
// that are not the root's are not used. ValueError unless the axis has a multiple of size() elements.
CALQUE_API Tensor scatter(const Tensor &x, RootOptions options = {}, SourceLocation where = SourceLocation::current());

struct AllToAllOptions {
  std::int64_t split_axis = 0, concat_axis = 0;
  Group group = {};
};
// Splits x into size() parts along an axis, gives each rank its part, and joins the parts that this rank gets along
// another axis, in the order of ranks. ValueError unless the axis has a multiple of size() elements.
CALQUE_API Tensor all_to_all(const Tensor &x, AllToAllOptions options = {},
                             SourceLocation where = SourceLocation::current());

// Gives x to other ranks: `pairs` are of a source and a destination. A rank that is no destination has zeros.
// ValueError for a rank that is not in the group, that is a source twice, or a destination twice. Its transpose goes
// the other way.
CALQUE_API Tensor permute(const Tensor &x, const std::vector<std::pair<int, int>> &pairs, const Group &group = {},
                          SourceLocation where = SourceLocation::current());
struct ShiftOptions {
  bool periodic = true; // else the first ranks, or the last ones, have zeros
  Group group = {};
};
// x of the rank that is `by` places before this one.
CALQUE_API Tensor shift(const Tensor &x, int by, ShiftOptions options = {},
                        SourceLocation where = SourceLocation::current());

struct HaloOptions {
  std::int64_t axis = 0;
  std::int64_t width = 1; // ValueError unless it is from 1 to the size of the axis
  bool periodic = false;  // else there are zeros before the first rank and behind the last one
  Group group = {};
};
// x with the last `width` slices of the rank before it in front, and the first ones of the rank after it behind.
CALQUE_API Tensor halo_exchange(const Tensor &x, HaloOptions options = {},
                                SourceLocation where = SourceLocation::current());

struct MessageOptions {
  int tag = 0; // 0 to 32766
  Group group = {};
};
// Sends x to one rank, and returns when x may be written again, which may be when the other receives. recv waits for a
// message of the spec's type from one rank; a message of other size is a ValueError. In `vmap`, send is refused. Order
// them so that not all ranks send first.
CALQUE_API void send(const Tensor &x, int destination, MessageOptions options = {},
                     SourceLocation where = SourceLocation::current());
CALQUE_API Tensor recv(const TensorSpec<> &spec, int source, MessageOptions options = {},
                       SourceLocation where = SourceLocation::current());

} // namespace calque::distributed
#endif
