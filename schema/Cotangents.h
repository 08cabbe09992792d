// To which operands derivatives pass, without MLIR.
#ifndef CALQUE_SCHEMA_COTANGENTS_H
#define CALQUE_SCHEMA_COTANGENTS_H

#include "schema/Schema.h"

namespace calque::schema {

// Whether a cotangent passes from the results to the operand, as the operation's record says. None passes to `like` of
// sum_like, of which only the sizes count.
bool receivesCotangent(OpId op, std::size_t operand);

} // namespace calque::schema
#endif
