// Products with captured matrices. A kernel takes the columns of a product's second operand in panels, and copies them
// for that. What is captured is the same in all calls, so that its panels are made once, with the code.
#ifndef CALQUE_FRONTEND_COMPILED_CAPTUREDPANELS_H
#define CALQUE_FRONTEND_COMPILED_CAPTUREDPANELS_H

#include "frontend/core/TensorImpl.h"

#include <memory>

namespace calque::detail {

// What the code of a trace is made of. Its parameters are the trace's arguments and then these captures: those that are
// used as they are, and panels.
struct CapturedPanels {
  schema::Recording recording;
  std::vector<Tensor> captures;
};

// Null where no product gains by it. The captures are the recording's last parameters. MemoryError.
std::unique_ptr<const CapturedPanels> panelsOf(const schema::Recording &recording, std::span<const Tensor> captures,
                                               SourceLocation where);

} // namespace calque::detail
#endif
