#ifndef CALQUE_IR_LIBRARYKERNEL_H
#define CALQUE_IR_LIBRARYKERNEL_H

#include <vector>

namespace calque::ir {

// What a kernel of a library takes and gives: `kernel`, `signature` and `failsAt` of a record (ir/Base.td).
struct LibraryKernel {
  const char *function;              // "calque_rt_argsort"
  std::vector<const char *> failsAt; // empty: it can't fail
  // The size of a dimension: equal numbers are equal sizes. One of a result may be the smaller of two.
  struct Size {
    unsigned number, other;
    Size(unsigned number) : number(number), other(number) {}
    Size(unsigned number, unsigned other) : number(number), other(other) {}
  };
  // Of each operand and each result, the sizes of its last dimensions.
  std::vector<std::vector<unsigned>> operands;
  std::vector<std::vector<Size>> results;
};

} // namespace calque::ir
#endif
