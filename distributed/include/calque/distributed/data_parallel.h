// Data parallel training: each rank computes the gradients of its part of a batch, and all apply their mean.
//
//   distributed::init();
//   model.compile({.optimizer = "adam", .loss = loss, .distribution = distributed::DataParallel()});
//   model.fit(x, y, {.batch_size = 64}); // of all ranks together; each takes 64 / size() rows
//
// A step of your own averages what its ranks have found:
//
//   auto step = function([&](const Tensor &x, const Tensor &y) { // this rank's rows
//     GradientTape tape;
//     Tensor loss = losses::mean_squared_error(y, net(x));
//     adam.apply_gradients(distributed::average(tape.gradient(loss, weights)), weights);
//     return distributed::all_reduce(loss, {.op = distributed::Reduction::Mean});
//   });
#ifndef CALQUE_DISTRIBUTED_DATA_PARALLEL_H
#define CALQUE_DISTRIBUTED_DATA_PARALLEL_H

#include "calque/distributed/group.h"
#include "calque/models/distribution.h"
#include "calque/variable.h"

#include <memory>
#include <optional>
#include <vector>

namespace calque::distributed {

struct DataParallelOptions {
  Group group = {};
  // Each rank has a data set of its own, such as `data.shard(world.size(), world.rank())`, whose batches it takes
  // whole. An epoch ends when one rank has no more batches. Otherwise all ranks give the same data, and each takes rows
  // of each batch.
  bool own_data = false;
  bool reproducible = false; // see ReduceOptions
  // Gradients are sent in messages of about so many bytes, those of the last layers first. ValueError for less than 1.
  std::int64_t bucket_bytes = std::int64_t(25) << 20;
};

// The option `distribution` of compile().
class CALQUE_API DataParallel {
public:
  explicit DataParallel(DataParallelOptions options = {}, SourceLocation where = SourceLocation::current());
  operator std::shared_ptr<const models::Distribution>() const { return distribution; }

private:
  std::shared_ptr<const models::Distribution> distribution;
};

// The means of tensors over the ranks, for steps of your own. The ranks must have equally many examples. They leave out
// the same tensors.
CALQUE_API std::vector<std::optional<Tensor>> average(const std::vector<std::optional<Tensor>> &gradients,
                                                      DataParallelOptions options = {},
                                                      SourceLocation where = SourceLocation::current());
// Assigns the values of rank 0, as before the first step. Not in a function that is being traced (StateError).
CALQUE_API void broadcast_variables(const std::vector<Variable> &variables, const Group &group = {},
                                    SourceLocation where = SourceLocation::current());

} // namespace calque::distributed
#endif
