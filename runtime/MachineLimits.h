// What this machine can do at most, measured: the limits to which a profile compares kernels.
#ifndef CALQUE_RUNTIME_MACHINELIMITS_H
#define CALQUE_RUNTIME_MACHINELIMITS_H

namespace calque::runtime {

struct MachineLimits {
  // Float32 operations a second in fused multiply-adds of the widest vectors, each of which counts as two.
  double operations = 0;
  // Bytes a second that a copy of memory larger than most caches reads and writes.
  double copiedBytes = 0;
};

// Measures both on as many threads as loops use, which takes about 0.1 s.
MachineLimits measureLimits();

} // namespace calque::runtime
#endif
