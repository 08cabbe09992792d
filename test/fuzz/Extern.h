// The fuzzer's own operations, which programs apply as extern: a kernel in C whose formula the interpreter knows.
#ifndef CALQUE_TEST_FUZZ_EXTERN_H
#define CALQUE_TEST_FUZZ_EXTERN_H

#include "test/fuzz/Kernels.h"

namespace calque {
class Operation;
}

namespace calque::fuzz {

constexpr std::int64_t kExternOperations = 2;

int numOperandsOfExtern(std::int64_t operation);
// Empty where it does not take such operands.
std::vector<TensorType> typesOfExtern(std::int64_t operation, const std::vector<TensorType> &operands);
// Computes one of the results.
void evaluateExtern(const Call &call, std::size_t result);
// Registers it at the first use.
const Operation &externOperation(std::int64_t operation);
// Its definition as a statement of C++, which declares its name.
std::string_view nameOfExtern(std::int64_t operation);
std::string externDefinition(std::int64_t operation);

} // namespace calque::fuzz
#endif
