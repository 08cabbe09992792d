// The code of eager operations.
#ifndef CALQUE_FRONTEND_COMPILED_EAGERCODE_H
#define CALQUE_FRONTEND_COMPILED_EAGERCODE_H

#include "frontend/compiled/Compilation.h"
#include "frontend/core/KeyEntry.h"

#include <span>

namespace calque::detail {

// The code of one operation on these operands, with results of known types. Operands of all sizes share one program if
// the operation can be compiled for unknown sizes, and if that program is known already or many sizes were seen. Valid
// within the caller's ReadScope.
const Code &eagerCode(schema::OpId op, std::span<const Tensor *const> operands,
                      std::span<const schema::Attribute> attributes, SourceLocation where);

// Makes a recording of one operation on parameters of these types. Throws the error of the type rule if it refuses the
// types.
schema::Recording recordingOf(schema::OpId op, std::span<const schema::TensorType> operands,
                              std::span<const schema::Attribute> attributes, SourceLocation where);
// Appends an operation and the attributes on which its code depends. Texts are not among them: each call passes its own
// text to run().
void appendOperation(Key &key, schema::OpId op, std::span<const schema::Attribute> attributes);

// Compiles an operation for operands of these types, with unknown sizes. False if its type rule refuses the types, if
// the operation needs no code, or if its code can't be compiled for unknown sizes.
CALQUE_API bool compileOpen(schema::OpId op, const std::vector<schema::TensorType> &operands,
                            std::span<const schema::Attribute> attributes);

} // namespace calque::detail
#endif
