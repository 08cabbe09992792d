// The interface by which processes share the steps of a model. `calque/distributed/data_parallel.h` has one on MPI.
#ifndef CALQUE_MODELS_DISTRIBUTION_H
#define CALQUE_MODELS_DISTRIBUTION_H

#include "calque/tensor.h"

#include <vector>

namespace calque::models {

// All processes make the same calls. The functions work eagerly and in traced steps.
class Distribution {
public:
  virtual ~Distribution() = default;
  // This process's number, from 0 to size() - 1.
  virtual int rank() const = 0;
  virtual int size() const = 0;
  // Whether each process has data of its own. If not, all have the same data, and each one takes rows of each batch.
  virtual bool has_own_data() const = 0;
  // The sum of each tensor over the processes.
  virtual std::vector<Tensor> sum(const std::vector<Tensor> &tensors, SourceLocation where) const = 0;
  // The tensors of process 0.
  virtual std::vector<Tensor> broadcast(const std::vector<Tensor> &tensors, SourceLocation where) const = 0;
};

} // namespace calque::models
#endif
