// Finds the sources of a gradient that stay connected with its targets when the derivatives on the way are expanded.
#ifndef CALQUE_FRONTEND_GRADIENTS_CONNECTEDSOURCES_H
#define CALQUE_FRONTEND_GRADIENTS_CONNECTEDSOURCES_H

#include "schema/Recording.h"

namespace calque::detail {

// For each source, whether a cotangent of a target reaches it. The targets are floating. No cotangent passes a stop.
std::vector<bool> connectedSources(const schema::Recording &recording, std::span<const schema::ValueId> targets,
                                   std::span<const schema::ValueId> sources, std::span<const schema::ValueId> stops);

} // namespace calque::detail
#endif
