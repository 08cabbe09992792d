// Why a lambda's control flow can't be captured, as far as its runs show it: the loop, and the operation that is
// another one in the next iteration.
#ifndef CALQUE_FRONTEND_NATIVE_DIAGNOSIS_H
#define CALQUE_FRONTEND_NATIVE_DIAGNOSIS_H

#include "absl/functional/function_ref.h"
#include "frontend/native/Vocabulary.h"

#include <optional>

namespace calque::detail::native {

// `run` runs the lambda with decisions, `shown` is one that no graph has explained. Returns nothing if the runs look
// alike.
std::optional<NotCaptured> diagnose(absl::FunctionRef<Path(const Decisions &)> run, const Decisions &shown,
                                    const Vocabulary &vocabulary);

} // namespace calque::detail::native
#endif
