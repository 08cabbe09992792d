// What linear algebra says of a matrix that fails, in the two numbers of calque_rt_fail.
//
//   calque_rt_fail(frame, site, MatrixFailure{.place = 2, .size = n}.what(), MatrixFailure::which(k, examples));
#ifndef CALQUE_RUNTIME_MATRIXFAILURE_H
#define CALQUE_RUNTIME_MATRIXFAILURE_H

#include <cstdint>

namespace calque::runtime {

struct MatrixFailure {
  int64_t place = 0;    // a pivot or a leading minor, from 1; or how many eigenvalues there are of a kind
  int64_t size = 0;     // of the matrix, below 2^30
  bool isZeros = false; // these eigenvalues are 0

  // The first number.
  constexpr int64_t what() const { return place | size << 32 | static_cast<int64_t>(isZeros) << 62; }
  static constexpr MatrixFailure of(int64_t what) {
    return {what & 0xffffffff, what >> 32 & 0x3fffffff, (what >> 62 & 1) != 0};
  }
  // The second number: that of the matrix in its batch, from 0; -1 for a matrix alone.
  static constexpr int64_t which(int64_t example, int64_t examples) { return examples > 1 ? example : -1; }
};

} // namespace calque::runtime
#endif
