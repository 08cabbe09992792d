// The elements of the tensors that a lambda makes while its paths are learnt. Each of hundreds of runs goes through its
// loops again, up to thousands of times, and makes the same tensors in each iteration. Tensors never change, so those
// of equal elements share one buffer: what runs hold does not grow with their number.
//
//   buffer = made.shared(type, std::move(buffer));
//   buffer = made.filled(type, element, fill); // zeros, ones and others of one element are filled once
#ifndef CALQUE_FRONTEND_NATIVE_MADECONSTANTS_H
#define CALQUE_FRONTEND_NATIVE_MADECONSTANTS_H

#include "absl/functional/function_ref.h"
#include "frontend/core/TensorImpl.h"
#include "schema/HashTables.h"

#include <string>

namespace calque::detail {

// Of one thread, which traces.
class MadeConstants {
public:
  // An earlier buffer with the same elements, else `made`, which has those of a tensor of this type.
  runtime::Buffer shared(const schema::TensorType &type, runtime::Buffer made);
  // The same for a tensor whose elements all have these bytes, which `fill` makes where there is none.
  runtime::Buffer filled(const schema::TensorType &type, const void *element,
                         absl::FunctionRef<runtime::Buffer()> fill);

private:
  void hold(std::size_t bytes);

  HashMap<std::size_t, std::vector<runtime::Buffer>> byContent;            // by hash
  HashMap<std::pair<std::string, std::size_t>, runtime::Buffer> byElement; // and the number of bytes
  std::size_t heldSinceLook = 0;
};

// Those of the runs that this thread is in, or null.
MadeConstants *constantsOfRuns();

} // namespace calque::detail
#endif
