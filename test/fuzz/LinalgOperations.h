// The operations of random programs of linear algebra: of square matrices, which may be batches, to one of the same
// sizes.
#ifndef CALQUE_TEST_FUZZ_LINALGOPERATIONS_H
#define CALQUE_TEST_FUZZ_LINALGOPERATIONS_H

#include "calque/functions.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace calque::fuzz {

struct LinalgOperation {
  enum Takes {
    Any,       // real and complex matrices, both operands of one type
    Real,      // real matrices alone
    Known,     // as Any, of matrices whose sizes are known while tracing
    Static,    // and whose number is known, too
    RealKnown, // as Real and Known
  };
  const char *name;
  Takes takes;
  std::function<Tensor(const Tensor &, const Tensor &, std::uint64_t choice)> apply;
  bool isReal() const { return takes == Real || takes == RealKnown; }
  bool isKnown() const { return takes == Known || takes == RealKnown; }
  bool isStatic() const { return takes == Static; }
};
const std::vector<LinalgOperation> &linalgOperations();

// A smooth function to numbers of magnitude below 1.
Tensor tame(const Tensor &x);

} // namespace calque::fuzz
#endif
