// The registry of users' operations, which native code and the compiler look up by name.
#ifndef CALQUE_FRONTEND_OPERATIONS_USEROPERATIONREGISTRY_H
#define CALQUE_FRONTEND_OPERATIONS_USEROPERATIONREGISTRY_H

#include "calque/operation.h"
#include "schema/ExternRules.h"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace calque::detail {

// Traces an operation's own batching rule. `isBatched` says which operands have a batch dimension. It may throw what
// the user's code throws.
using BatchingProgram = std::function<schema::RecordingRef(std::span<const schema::TensorType> operands,
                                                           const std::vector<bool> &isBatched)>;

// Registers an operation. False if there is an operation of that name already. `batching` is empty for an operation
// without a batching rule.
bool addUserOperation(std::shared_ptr<const OperationDefinition> definition, BatchingProgram batching);

// Registers what makes the operations with names `prefix[...]`. False if the prefix is taken.
bool addOperationFamily(const std::string &prefix, std::function<void(const std::string &name)> make);

// The operation of that name, which its family makes at the first use, or null.
std::shared_ptr<const OperationDefinition> findUserOperation(const std::string &name);

// The object that the ordered operation of that name tells of programs, or null.
std::shared_ptr<OrderedPrograms> programsOf(const std::string &name);

// Runs the kernel on the addresses of the operands, then of the results, and returns its status. `types` are the types
// of both.
std::int32_t runUserOperation(const OperationDefinition &definition, std::span<const schema::TensorType> types,
                              std::size_t numInputs, std::span<void *const> addresses);

// The rules that the compiler calls.
schema::ExternRules &userOperationRules();

} // namespace calque::detail
#endif
