// Tells the objects of ordered operations (OrderedPrograms) of native code that is about to run, or has failed.
#ifndef CALQUE_FRONTEND_COMPILED_ORDEREDCODE_H
#define CALQUE_FRONTEND_COMPILED_ORDEREDCODE_H

#include "frontend/compiled/SiteErrors.h"

namespace calque::detail {

// Tells the objects of the code before its first run. Throws what they throw; the next run tells them again then.
void beginOrdered(const Code &code, const Caller &caller);
// Tells them of a call that has failed.
void failOrdered(const Code &code, const Caller &caller);

} // namespace calque::detail
#endif
