// The operations that collectives are: one for each kind, group and choice, made when it is first used.
#ifndef CALQUE_DISTRIBUTED_OPERATIONS_H
#define CALQUE_DISTRIBUTED_OPERATIONS_H

#include "GroupState.h"

#include "calque/operation.h"

#include <optional>

namespace calque::distributed::detail {

enum class Kind : std::int8_t {
  AllReduce,
  AllGather,
  ReduceScatter,
  Broadcast,
  Reduce,
  Gather,
  Scatter,
  AllToAll,
  Permute,
  Send,
  Recv,
  Barrier,
};

// What a collective does. Its operation's name says the same: "all_reduce[world,max]".
struct Collective {
  Kind kind;
  std::shared_ptr<GroupState> group;
  Reduction reduction = Reduction::Sum; // of AllReduce: Sum, Max, Min or Prod
  bool isReproducible = false;
  std::size_t tensors = 1;                     // of AllReduce
  int peer = 0;                                // the root, or the other rank of a message
  int tag = 0;                                 // of Send and Recv
  std::vector<std::pair<int, int>> pairs = {}; // of Permute, in order
  std::optional<TensorSpec<>> received = {};   // by Recv

  std::string name() const;
  int size() const { return group->communicator->size(); }
  int rank() const { return group->communicator->rank(); }
};

// The collective of a name; std::nullopt if it has none, or names a group that this program has not made.
std::optional<Collective> collectiveOf(const std::string &name);
// The operation of a collective.
const Operation &operationOf(const Collective &collective);
// Lets saved functions find collectives by their names.
void registerFamilies();

// The kernel: `data` is the Collective. Returns 0, or 1 with the text that lastFailure() returns then.
std::int32_t runCollective(const KernelTensor *in, const KernelTensor *out, void *data);
std::string lastFailure();

} // namespace calque::distributed::detail
#endif
