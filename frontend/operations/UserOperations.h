// The registry of users' operations, which native code and the compiler look up by name.
#ifndef CALQUE_FRONTEND_OPERATIONS_USEROPERATIONS_H
#define CALQUE_FRONTEND_OPERATIONS_USEROPERATIONS_H

#include "calque/operation.h"
#include "program/Compiler.h"

namespace calque::detail {

// The operation of that name, or null.
std::shared_ptr<const OperationDefinition> findUserOperation(const std::string &name);

// The types of the results for operands of these types, as the attribute of an operation has them. ShapeError for sizes
// that are not known, ValueError where there are no results, and what the type rule throws.
std::vector<std::int64_t> resultTypesOf(const OperationDefinition &definition,
                                        std::span<const schema::TensorType> operands, SourceLocation where);

// Runs the kernel on the addresses of the operands, then of the results, and returns its status. `types` are the types
// of both.
std::int32_t runUserOperation(const OperationDefinition &definition, std::span<const schema::TensorType> types,
                              std::size_t numInputs, std::span<void *const> addresses);

// The rules that the compiler calls.
schema::ExternRules &userOperationRules();

} // namespace calque::detail
#endif
