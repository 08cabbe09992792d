// Draws a Recording as a graph.
#ifndef CALQUE_FRONTEND_FUNCTIONS_GRAPH_H
#define CALQUE_FRONTEND_FUNCTIONS_GRAPH_H

#include "schema/Recording.h"

namespace calque::detail {

// Returns the graph in Graphviz's language. A box is an operation, with its variable and the user's line; an ellipse is
// an argument, a capture or a result. The first `numArguments` parameters are arguments, the others captures. The first
// `numResults` results are drawn.
std::string graphOf(const schema::Recording &recording, std::size_t numArguments, std::size_t numResults);

} // namespace calque::detail
#endif
