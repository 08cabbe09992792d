// Whether the derivatives of a program with branches and loops are those of the C++ that it was captured from.
#ifndef CALQUE_FRONTEND_NATIVE_DERIVATIVES_H
#define CALQUE_FRONTEND_NATIVE_DERIVATIVES_H

#include "ir/schema/Recording.h"

#include <optional>
#include <span>

namespace calque::detail::native {

// The values that depend on `value`, by data, and itself. Of a branch or a loop also the results that do so inside.
std::vector<bool> dependents(const schema::Recording &recording, schema::ValueId value);

// A value that a branch or a loop gives has two names, one inside and one outside. A derivative that begins or ends at
// the name outside passes over what was computed from the other one, or from a value that it equals on one path.
// Whether that is so for one of `places`, where derivatives of `targets` begin or end: `ends` stop them.
bool passesOver(const schema::Recording &recording, std::span<const schema::ValueId> targets,
                std::span<const schema::ValueId> places, std::span<const schema::ValueId> ends);

} // namespace calque::detail::native
#endif
