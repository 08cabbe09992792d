// Which operands receive cotangents, without MLIR.
#ifndef CALQUE_SCHEMA_COTANGENTS_H
#define CALQUE_SCHEMA_COTANGENTS_H

#include "schema/Schema.h"

namespace calque::schema {

// Whether a cotangent passes from the results to the operand, by the operation's record. For example, no cotangent
// passes to the operand `like` of sum_like, because the operation reads only its sizes.
bool receivesCotangent(OpId op, std::size_t operand);

} // namespace calque::schema
#endif
