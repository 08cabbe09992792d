// The rules of users' operations. They are C++ code of the program, which the compiler calls.
#ifndef CALQUE_SCHEMA_EXTERNRULES_H
#define CALQUE_SCHEMA_EXTERNRULES_H

#include "schema/Recording.h"

namespace calque::schema {

class ExternRules {
public:
  virtual ~ExternRules() = default;
  // The batching rule of an operation, as a program on its operands. Operands that are `batched` have the mapped axis
  // as axis 0. Null if there is no rule, or if the rule fails; `error` then says why. Throws nothing.
  virtual RecordingRef batched(const std::string &symbol, std::span<const TensorType> operands,
                               const std::vector<bool> &batched, std::string &error) = 0;
};

} // namespace calque::schema
#endif
