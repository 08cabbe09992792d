#ifndef CALQUE_IR_LIBRARYKERNEL_H
#define CALQUE_IR_LIBRARYKERNEL_H

#include <vector>

namespace calque::ir {

// What a kernel of a library takes and gives: `kernel`, `signature` and `failsAt` of a record (ir/Base.td).
struct LibraryKernel {
  const char *function; // "calque_rt_argsort"
  const char *failsAt;  // empty: it can't fail
  // Of each operand and each result, the sizes of its last dimensions: equal numbers are equal sizes.
  std::vector<std::vector<unsigned>> operands, results;
};

} // namespace calque::ir
#endif
