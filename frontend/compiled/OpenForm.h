// The form of an operation: the operation with unknown sizes, so that operands of all sizes share one program.
#ifndef CALQUE_FRONTEND_COMPILED_OPENFORM_H
#define CALQUE_FRONTEND_COMPILED_OPENFORM_H

#include "frontend/compiled/Compilation.h"
#include "frontend/core/KeyEntry.h"

#include <span>

namespace calque::detail {

// How an operation is compiled: for operands of the types `compiled`, whose unknown sizes have the values `known` in
// this call. An operation that takes sizes from attributes gets one more operand, which has these sizes and whose
// elements nothing reads.
struct OpenForm {
  schema::OpId op;
  std::vector<schema::TensorType> compiled, known;
  std::vector<schema::Attribute> attributes;

  bool isOpen() const;
};

// The form of an operation on operands and results of these types. Sizes that the operation needs to know stay known.
OpenForm openForm(schema::OpId op, std::span<const schema::TensorType> operands,
                  std::span<const schema::TensorType> results, std::span<const schema::Attribute> attributes);

// The program of a recording with unknown sizes, by its key. Null if it can't be compiled, or if it is not worth
// compiling yet because few recordings that could share it were seen. A program that an earlier process has compiled is
// used at once for elementwise operations alone. Other operations add in another order than code for known sizes does,
// and a process must not compute other bits because of the contents of the cache.
std::shared_ptr<const Executable> openProgram(KeyView key, const schema::Recording &recording, bool isElementwise,
                                              SourceLocation where);

} // namespace calque::detail
#endif
