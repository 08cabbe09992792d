// Arrays of numbers that are known within bounds.
#ifndef CALQUE_TEST_FUZZ_ARRAY_H
#define CALQUE_TEST_FUZZ_ARRAY_H

#include "test/fuzz/Program.h"

#include <stdexcept>

namespace calque::fuzz {

// An element: its value, how far a machine's may lie from it, and how far two machines' may lie from each other. 0 is
// exact, infinity is unknown.
struct Num {
  Real value = 0, off = 0, apart = 0;
};
struct Array {
  TensorType type;
  std::vector<Num> elements;
};
using ArrayRef = std::shared_ptr<const Array>;
ArrayRef arrayOf(const Data &data);
// An example of each operand of a vmap, and the results of all examples as one.
ArrayRef exampleOf(const ArrayRef &operand, std::optional<std::int64_t> axis, std::int64_t example);
ArrayRef stackOf(const std::vector<ArrayRef> &examples, const TensorType &type, std::int64_t axis);

// The call fails: the class of the error, its message and the step.
struct Failure {
  std::string category, message;
  int step = -1;
};

// What the bounds leave open decides what happens: no program for a comparison.
struct Undecided : std::runtime_error {
  using std::runtime_error::runtime_error;
};

} // namespace calque::fuzz
#endif
