// Checks that the derivatives of a program with branches and loops are those of the C++ code from which it was
// captured.
//
// A value that a branch or a loop returns is one SSA value inside and another one outside. A derivative with respect to
// the value outside would miss everything that was computed from the value inside, or from a value that equals it on
// some path.
#ifndef CALQUE_FRONTEND_NATIVE_DERIVATIVES_H
#define CALQUE_FRONTEND_NATIVE_DERIVATIVES_H

#include "schema/Recording.h"

#include <span>
#include <vector>

namespace calque::detail::native {

// The value itself and all values that depend on it by data. Results of a branch or a loop are among them if they
// depend on the value inside of it.
std::vector<bool> dependents(const schema::Recording &recording, schema::ValueId value);

// The other names of a value that a branch or a loop returns: values that equal it on some path, and results that
// depend on it inside. None of them depends on the value by data outside.
struct OtherNames {
  std::vector<schema::ValueId> equal, computed;
};
OtherNames otherNames(const schema::Recording &recording, schema::ValueId value);

// Whether derivatives of targets with respect to sources, stopped at ends, would miss a path that the eager C++ code
// has. They would if a source or an end has other names, and a path to the targets goes through one of these.
bool passesOver(const schema::Recording &recording, std::span<const schema::ValueId> targets,
                std::span<const schema::ValueId> sources, std::span<const schema::ValueId> ends);

} // namespace calque::detail::native
#endif
