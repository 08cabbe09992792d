// Which programs may have an operation, by its record, without MLIR.
#ifndef CALQUE_SCHEMA_ADMISSION_H
#define CALQUE_SCHEMA_ADMISSION_H

#include "schema/Schema.h"

namespace calque::schema {

// The least number of operands of the operation: those that are not variadic.
std::size_t fewestOperands(OpId op);

// Whether saved programs may have the operation. Operations that only derivatives and passes make are never written, so
// a file that has one was forged.
bool maySave(OpId op);

} // namespace calque::schema
#endif
