// A recording as a graph.
#ifndef CALQUE_FRONTEND_FUNCTIONS_GRAPH_H
#define CALQUE_FRONTEND_FUNCTIONS_GRAPH_H

#include "schema/Recording.h"

namespace calque::detail {

// In Graphviz's language: a box for each operation with the user's line, ellipses for arguments, captures, variables
// and results.
std::string graphOf(const schema::Recording &recording, std::size_t numArguments, std::size_t numResults);

} // namespace calque::detail
#endif
