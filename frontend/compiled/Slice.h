// The part of a Recording on which some of its values depend.
#ifndef CALQUE_FRONTEND_COMPILED_SLICE_H
#define CALQUE_FRONTEND_COMPILED_SLICE_H

#include "schema/Recording.h"

namespace calque::detail {

// The operations of a recording on which some values depend. `parameters` are indices of the recording's parameters.
struct Slice {
  schema::Recording recording;
  std::vector<std::size_t> parameters;
  std::vector<schema::ValueId> reads; // of variables, by the recording's values
};
// `inputs` are values that become additional parameters, behind the others, instead of being computed.
Slice sliceOf(const schema::Recording &recording, std::span<const schema::ValueId> results,
              std::span<const schema::ValueId> inputs = {});

} // namespace calque::detail
#endif
