// The code of eager operations.
#ifndef CALQUE_FRONTEND_EAGERCODE_H
#define CALQUE_FRONTEND_EAGERCODE_H

#include "frontend/Compilation.h"

#include <span>

namespace calque::detail {

// The code of one operation on such operands, with results of known types. Operands of any sizes have one program where
// it is known already, or many sizes are seen, and the operation can be compiled with its sizes left open. Valid within
// the caller's ReadScope.
const Code &eagerCode(schema::OpId op, std::span<const Tensor *const> operands,
                      std::span<const schema::Attribute> attributes, SourceLocation where);

// Compiles an operation for operands of such types, with their sizes left open. False where its rules refuse these, it
// needs no code, or none with open sizes.
CALQUE_API bool compileOpen(schema::OpId op, const std::vector<schema::TensorType> &operands,
                            std::span<const schema::Attribute> attributes);

} // namespace calque::detail
#endif
