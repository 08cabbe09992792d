// The elements of the tensors that a lambda makes while its paths are learnt. Each of hundreds of runs goes through its
// loops again, up to thousands of times, and makes the same tensors in each iteration. Tensors never change, so tensors
// with equal elements share one buffer, and the memory of runs does not grow with their number.
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

// Used by one thread, which traces.
class MadeConstants {
public:
  const std::uint64_t id = nextId(); // of the capture
  // Returns an earlier buffer with the same elements, or else `made`, which has the elements of a tensor of this type.
  runtime::Buffer shared(const schema::TensorType &type, runtime::Buffer made);
  // Does the same for a tensor whose elements all have these bytes. `fill` makes the buffer if there is none.
  runtime::Buffer filled(const schema::TensorType &type, const void *element,
                         absl::FunctionRef<runtime::Buffer()> fill);

private:
  void hold(std::size_t bytes);

  HashMap<std::size_t, std::vector<runtime::Buffer>> byContent;            // by hash
  HashMap<std::pair<std::string, std::size_t>, runtime::Buffer> byElement; // and the number of bytes
  std::size_t heldSinceLook = 0;
};

// The constants of the runs in progress on this thread, or null.
MadeConstants *constantsOfRuns();

} // namespace calque::detail
#endif
