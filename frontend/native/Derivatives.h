// Whether the derivatives of a program with branches and loops are those of the C++ that it was captured from.
//
// A value that a branch or a loop gives has one name inside and one outside. A derivative by the name outside would
// pass over what was computed from the other one, or from a value that is the same one on some path.
#ifndef CALQUE_FRONTEND_NATIVE_DERIVATIVES_H
#define CALQUE_FRONTEND_NATIVE_DERIVATIVES_H

#include "schema/Recording.h"

#include <span>
#include <vector>

namespace calque::detail::native {

// The values that depend on `value`, by data, and itself. Of a branch or a loop also the results that do so inside.
std::vector<bool> dependents(const schema::Recording &recording, schema::ValueId value);

// Values beside one that a branch or a loop gives: those that equal it on some path, and results that depend on it
// inside. None of them depends on it by data outside.
struct OtherNames {
  std::vector<schema::ValueId> equal, computed;
};
OtherNames otherNames(const schema::Recording &recording, schema::ValueId value);

// Whether derivatives of targets by sources, stopped by ends, pass over what the C++ would have taken: where a source
// or an end has other names, and the way to the targets is by these.
bool passesOver(const schema::Recording &recording, std::span<const schema::ValueId> targets,
                std::span<const schema::ValueId> sources, std::span<const schema::ValueId> ends);

} // namespace calque::detail::native
#endif
