// Axes of examples of operations on a sparse matrix: before the values' places, [...,nnz], and before the rows and
// columns of right-hand sides, [...,n,k]. They broadcast. The tables of the pattern have none.
#ifndef CALQUE_SOLVERS_SPARSE_EXAMPLES_H
#define CALQUE_SOLVERS_SPARSE_EXAMPLES_H

#include "calque/operation.h"

#include <cstdint>
#include <vector>

namespace calque::sparse::internal {

// Which examples of operands an example of the result is computed of, in order.
class Examples {
public:
  // The last `ownRank` axes of an operand are no examples.
  struct Operand {
    const KernelTensor &tensor;
    std::int32_t ownRank;
  };
  explicit Examples(std::vector<Operand> operands);

  std::int64_t count() const { return count_; }
  // The number of an example of operand i for that of the result.
  std::int64_t of(std::size_t i, std::int64_t example) const;

private:
  std::vector<std::int64_t> sizes_;                // of the result's axes of examples
  std::vector<std::vector<std::int64_t>> strides_; // of each operand, 0 where it repeats
  std::int64_t count_ = 1;
};

// The type rule of an operation on {values, tables..., right}.
std::vector<TensorSpec<>> typesOfSolution(const std::vector<TensorSpec<>> &in);

// The batching rule of `op` on {values, tables..., right}, or on {values, tables...}, in which tables are vectors.
std::vector<Tensor> mapped(const Operation &op, std::vector<Tensor> in, const std::vector<bool> &batched);

} // namespace calque::sparse::internal
#endif
