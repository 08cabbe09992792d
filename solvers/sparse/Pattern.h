// What is computed of a pattern.
#ifndef CALQUE_SOLVERS_SPARSE_PATTERN_H
#define CALQUE_SOLVERS_SPARSE_PATTERN_H

#include "calque/sparse.h"

#include <mutex>
#include <optional>

namespace calque::sparse::detail {

// The rows of a product that are padded to one length.
struct Group {
  Tensor places;  // int32 [rows, length]: of values, or of the 0 behind them
  Tensor columns; // int32 [rows, length]
};
// How a product is computed: the groups give the rows in an order of their own.
struct Plan {
  std::vector<Group> groups;
  std::int64_t emptyRows = 0; // at the end
  Tensor order;               // int32 [rows]: where each row is; undefined: in order
  bool isUniform = false;     // one group, with the places in order
};

struct PatternData {
  std::int64_t rows = 0, columns = 0;
  std::vector<std::int64_t> indptr, indices;
  std::uint64_t id = 0;

  Tensor rowOf, columnOf;  // int32, of each place
  Tensor transposedPlaces; // int32: the places of the transposed pattern's values in this one

  // Made when they are needed first.
  const Plan &plan() const;
  std::shared_ptr<const PatternData> transposed() const;

  static std::shared_ptr<const PatternData> make(std::int64_t rows, std::int64_t columns,
                                                 std::vector<std::int64_t> indptr, std::vector<std::int64_t> indices);
  static Pattern wrap(std::shared_ptr<const PatternData> data) { return Pattern(std::move(data)); }

private:
  mutable std::once_flag planned_, turned_;
  mutable Plan plan_;
  mutable std::shared_ptr<const PatternData> transposed_;
};

// A times a vector or a matrix; and, for each place, the element of g x^T, summed over columns of both.
Tensor product(const PatternData &pattern, const Tensor &values, const Tensor &x, int orders);
Tensor entriesOf(const PatternData &pattern, const Tensor &g, const Tensor &x);
Tensor toTensor(const std::vector<std::int64_t> &numbers, const Shape &shape); // int32

} // namespace calque::sparse::detail
#endif
