// The types of the results of users' operations.
#ifndef CALQUE_FRONTEND_OPERATIONS_USEROPERATIONS_H
#define CALQUE_FRONTEND_OPERATIONS_USEROPERATIONS_H

#include "frontend/operations/UserOperationRegistry.h"

namespace calque::detail {

// The types of the results for operands of these types, in the form of the operation's attribute. ShapeError if a size
// is unknown, ValueError if there are no results and the operation is not ordered, and the errors of the type rule.
std::vector<std::int64_t> resultTypesOf(const OperationDefinition &definition,
                                        std::span<const schema::TensorType> operands, SourceLocation where);

} // namespace calque::detail
#endif
