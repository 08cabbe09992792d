// The code of eager operations.
#ifndef CALQUE_FRONTEND_COMPILED_EAGERCODE_H
#define CALQUE_FRONTEND_COMPILED_EAGERCODE_H

#include "frontend/compiled/Compilation.h"
#include "frontend/core/KeyEntry.h"

#include <span>

namespace calque::detail {

// The code of one operation on such operands, with results of known types. Operands of any sizes have one program where
// it is known already, or many sizes are seen, and the operation can be compiled with its sizes left open. Valid within
// the caller's ReadScope.
const Code &eagerCode(schema::OpId op, std::span<const Tensor *const> operands,
                      std::span<const schema::Attribute> attributes, SourceLocation where);

// A recording of one operation on parameters of such types. The error of the type rule that refuses these.
schema::Recording recordingOf(schema::OpId op, std::span<const schema::TensorType> operands,
                              std::span<const schema::Attribute> attributes, SourceLocation where);
// Appends an operation, and what of its attributes its code depends on: texts are none of it, each call passes its own
// to run().
void appendOperation(Key &key, schema::OpId op, std::span<const schema::Attribute> attributes);

// Compiles an operation for operands of such types, with their sizes left open. False where its rules refuse these, it
// needs no code, or none with open sizes.
CALQUE_API bool compileOpen(schema::OpId op, const std::vector<schema::TensorType> &operands,
                            std::span<const schema::Attribute> attributes);

} // namespace calque::detail
#endif
