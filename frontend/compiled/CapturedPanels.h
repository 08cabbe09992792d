// Products with captured matrices. The kernel of a product packs the columns of its second operand into panels. A
// captured matrix is the same in all calls, so its panels are packed once, together with the code.
#ifndef CALQUE_FRONTEND_COMPILED_CAPTUREDPANELS_H
#define CALQUE_FRONTEND_COMPILED_CAPTUREDPANELS_H

#include "frontend/core/TensorImpl.h"

#include <memory>

namespace calque::detail {

// A trace's Recording, rewritten for panels. Its parameters are the trace's arguments, then `captures`: those that are
// used as they are, and the panels.
struct CapturedPanels {
  schema::Recording recording;
  std::vector<Tensor> captures;
};

// Null if no product is faster with panels. The captures are the recording's last parameters. MemoryError.
std::unique_ptr<const CapturedPanels> panelsOf(const schema::Recording &recording, std::span<const Tensor> captures,
                                               SourceLocation where);

} // namespace calque::detail
#endif
