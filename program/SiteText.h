// The texts of errors at the sites of native code.
#ifndef CALQUE_PROGRAM_SITETEXT_H
#define CALQUE_PROGRAM_SITETEXT_H

#include "program/Compiler.h"

#include <functional>

namespace calque::detail {

// The name of an input of the code, by its number.
using InputNames = std::function<std::string(std::size_t)>;

// "dimension 0 of argument 0 is 3"; `operand` is what an operand that is no input is called.
std::string describeSize(const Site::Size &size, std::int64_t value, const std::string &operand,
                         const InputNames &names);
// "dimension 0 of argument 0 is 3 and dimension 0 of argument 1 is 4, and they must be equal"
std::string describeSizes(const Site &site, const std::int64_t *values, const InputNames &names);

// "7 is out of range [0, 3)". In a vmap, index and bound are those of one example, as the user wrote the operation.
std::string describeIndex(const Site &site, const std::int64_t *values);

} // namespace calque::detail
#endif
