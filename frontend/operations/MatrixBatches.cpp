#include "frontend/operations/MatrixBatches.h"

#include "absl/strings/str_cat.h"
#include "calque/functions.h"

#include <algorithm>

namespace calque {

Tensor detail::broadcastBatch(const Tensor &x, const Shape &batch, SourceLocation where) {
  const Shape own = x.shape();
  bool fits = own.size() == batch.size() + 2;
  for (std::size_t i = 0; fits && i < batch.size(); ++i)
    fits = !(own[i].is_known() && own[i] == 1) || (batch[i].is_known() && batch[i] == 1);
  if (fits)
    return x;
  Shape shape = batch;
  shape.insert(shape.end(), own.end() - 2, own.end());
  return broadcast_to(Operand(x, where), shape);
}

Shape detail::mergeBatches(const Shape &a, const Shape &b, const char *function, const std::string &shapes,
                           SourceLocation where) {
  Shape batch(std::max(a.size(), b.size()) - 2, 1);
  for (const Shape *shape : {&a, &b}) {
    std::size_t offset = batch.size() - (shape->size() - 2);
    for (std::size_t i = 0; i + 2 < shape->size(); ++i) {
      const Size &size = (*shape)[i];
      Size &merged = batch[offset + i];
      // Only a size that is known to be 1 is repeated.
      if (size.is_known() && size == 1)
        continue;
      if (merged.is_known() && merged == 1)
        merged = size;
      else if (detail::mayDiffer(size, merged))
        throw ShapeError(absl::StrCat(function, ": the batch dimensions of ", shapes, " don't broadcast: sizes ",
                                      merged.str(), " and ", size.str(), " must be equal, or one of them 1"),
                         where);
      else if (size.is_known())
        merged = size;
    }
  }
  return batch;
}

} // namespace calque
