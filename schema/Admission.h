// What records say of the programs that may have an operation, without MLIR.
#ifndef CALQUE_SCHEMA_ADMISSION_H
#define CALQUE_SCHEMA_ADMISSION_H

#include "schema/Schema.h"

namespace calque::schema {

// How many operands the operation has at least: those that are not variadic.
std::size_t fewestOperands(OpId op);

// Whether programs that are saved may have the operation. Those that derivatives and passes alone make are never
// written, and a file that has one was forged.
bool maySave(OpId op);

} // namespace calque::schema
#endif
