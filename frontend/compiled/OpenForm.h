// Operations with their sizes left open, so that operands of any sizes have one program.
#ifndef CALQUE_FRONTEND_COMPILED_OPENFORM_H
#define CALQUE_FRONTEND_COMPILED_OPENFORM_H

#include "frontend/compiled/Compilation.h"
#include "frontend/core/KeyEntry.h"

#include <span>

namespace calque::detail {

// How an operation is compiled: for operands of the types `compiled`, of which these are with the sizes `known`. What
// takes its sizes from attributes has one operand more, whose sizes count and whose elements nothing reads.
struct OpenForm {
  schema::OpId op;
  std::vector<schema::TensorType> compiled, known;
  std::vector<schema::Attribute> attributes;

  bool isOpen() const;
};

// The form of an operation on such operands, with such results. It is not open where sizes must be known.
OpenForm openForm(schema::OpId op, std::span<const schema::TensorType> operands,
                  std::span<const schema::TensorType> results, std::span<const schema::Attribute> attributes);

// The program of a recording with open sizes; null where it can't be compiled, or isn't yet, because few of those that
// have it in common were seen. `key` tells such recordings apart. What an earlier process has compiled counts before
// that for elementwise operations alone: others add in another order than code for known sizes does, and a process must
// not compute other bits than the one before it.
std::shared_ptr<const Executable> openProgram(KeyView key, const schema::Recording &recording, bool isElementwise,
                                              SourceLocation where);

} // namespace calque::detail
#endif
