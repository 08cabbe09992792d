// The types of the results of users' operations.
#ifndef CALQUE_FRONTEND_OPERATIONS_USEROPERATIONS_H
#define CALQUE_FRONTEND_OPERATIONS_USEROPERATIONS_H

#include "frontend/operations/UserOperationRegistry.h"

namespace calque::detail {

// The types of the results for operands of these types, as the attribute of an operation has them. ShapeError for sizes
// that are not known, ValueError where there are no results, and what the type rule throws.
std::vector<std::int64_t> resultTypesOf(const OperationDefinition &definition,
                                        std::span<const schema::TensorType> operands, SourceLocation where);

} // namespace calque::detail
#endif
