// What the compiler asks of operations whose rules are the program's own C++.
#ifndef CALQUE_IR_SCHEMA_EXTERNRULES_H
#define CALQUE_IR_SCHEMA_EXTERNRULES_H

#include "ir/schema/Recording.h"

namespace calque::schema {

class ExternRules {
public:
  virtual ~ExternRules() = default;
  // The results for many examples, as a program on the operands; those that are `batched` have their examples along
  // axis 0. Null where the operation has no rule, and where its rule fails; then `error` says why. Throws nothing.
  virtual RecordingRef batched(const std::string &symbol, std::span<const TensorType> operands,
                               const std::vector<bool> &batched, std::string &error) = 0;
};

} // namespace calque::schema
#endif
