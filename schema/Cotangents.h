// Which operands receive cotangents, without MLIR.
#ifndef CALQUE_SCHEMA_COTANGENTS_H
#define CALQUE_SCHEMA_COTANGENTS_H

#include "schema/Schema.h"

namespace calque::schema {

// Whether a cotangent passes from the results to the operand, by the operation's record. No cotangent passes to the
// operand `like` of sum_like, of which the operation reads only the sizes.
bool receivesCotangent(OpId op, std::size_t operand);

} // namespace calque::schema
#endif
