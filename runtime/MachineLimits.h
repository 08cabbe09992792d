// Measures the limits of this machine, with which a profile compares kernels.
#ifndef CALQUE_RUNTIME_MACHINELIMITS_H
#define CALQUE_RUNTIME_MACHINELIMITS_H

namespace calque::runtime {

struct MachineLimits {
  // Float32 operations a second, with fused multiply-adds of the widest vectors. A multiply-add counts as two
  // operations.
  double operations = 0;
  // Bytes a second that a copy reads and writes together, of memory that is larger than most caches.
  double copiedBytes = 0;
};

// Measures both on as many threads as loops use, which takes about 0.1 s.
MachineLimits measureLimits();

} // namespace calque::runtime
#endif
