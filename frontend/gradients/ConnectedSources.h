// Which sources of a gradient are still connected with its targets when the derivatives on the way are expanded.
#ifndef CALQUE_FRONTEND_GRADIENTS_CONNECTEDSOURCES_H
#define CALQUE_FRONTEND_GRADIENTS_CONNECTEDSOURCES_H

#include "schema/Recording.h"

namespace calque::detail {

// Whether a cotangent of the targets, which are floating, reaches each of the sources. No cotangent passes a stop.
std::vector<bool> connectedSources(const schema::Recording &recording, std::span<const schema::ValueId> targets,
                                   std::span<const schema::ValueId> sources, std::span<const schema::ValueId> stops);

} // namespace calque::detail
#endif
