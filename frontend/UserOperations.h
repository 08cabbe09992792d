// The users' operations, by name, for native code and for the compiler.
#ifndef CALQUE_FRONTEND_USEROPERATIONS_H
#define CALQUE_FRONTEND_USEROPERATIONS_H

#include "calque/operation.h"
#include "codegen/interface/Compiler.h"

namespace calque::detail {

// The operation of that name, or null.
std::shared_ptr<const OperationDefinition> findUserOperation(const std::string &name);

// Runs the kernel on the addresses of the operands, then the results; sizes are those of all operands. Returns its
// result.
std::int32_t runUserOperation(const OperationDefinition &definition, std::span<const schema::TensorType> types,
                              std::size_t numInputs, std::span<void *const> addresses);

// What the compiler asks of them.
schema::ExternRules &userOperationRules();

} // namespace calque::detail
#endif
