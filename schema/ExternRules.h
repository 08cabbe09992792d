// The rules of users' operations, which are C++ of the program that the compiler calls.
#ifndef CALQUE_SCHEMA_EXTERNRULES_H
#define CALQUE_SCHEMA_EXTERNRULES_H

#include "schema/Recording.h"

namespace calque::schema {

class ExternRules {
public:
  virtual ~ExternRules() = default;
  // The batching rule of an operation, as a program on its operands; those that are `batched` have the mapped axis as
  // axis 0. Null where there is no rule, and where the rule fails; then `error` says why. Throws nothing.
  virtual RecordingRef batched(const std::string &symbol, std::span<const TensorType> operands,
                               const std::vector<bool> &batched, std::string &error) = 0;
};

} // namespace calque::schema
#endif
