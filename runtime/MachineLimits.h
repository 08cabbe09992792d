// What this machine can do at most, measured: the limits to which a profile compares kernels.
#ifndef CALQUE_RUNTIME_MACHINELIMITS_H
#define CALQUE_RUNTIME_MACHINELIMITS_H

namespace calque::runtime {

struct MachineLimits {
  double operations = 0;  // float32 operations a second in fused multiply-adds of the widest vectors, each of which counts as two
  double copiedBytes = 0; // bytes a second that a copy of memory larger than most caches reads and writes
};

// Measures both on as many threads as loops use, which takes about 0.1 s.
MachineLimits measureLimits();

} // namespace calque::runtime
#endif
