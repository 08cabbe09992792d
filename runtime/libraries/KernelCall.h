// What a kernel of a library is called with.
//
//   extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_argsort(const int64_t *words) {
//     calque::runtime::KernelCall call(words);
//     const int64_t rows = call.number();
//     const calque::runtime::KernelTensor x = call.tensor(1), order = call.tensor(1);
//     const bool descending = call.number() != 0;
//
// The record of an operation (Calque_LibraryOp of ir/Base.td) says how many dimensions of each operand and result are
// the kernel's. A call has, in this order:
//   - if the kernel can fail: the frame, and a site for each way of `failsAt`, for calque_rt_fail
//   - the number of examples
//   - of each operand, then of each result: its dtype, the sizes of the kernel's dimensions, its address
//   - the attributes but the axis, as integers; of a number the bits of a double
// Examples lie one behind another, each dense and in row-major order. Results do not share memory with operands.
#ifndef CALQUE_RUNTIME_LIBRARIES_KERNELCALL_H
#define CALQUE_RUNTIME_LIBRARIES_KERNELCALL_H

#include "runtime/abi.h"

#include "calque/dtype.h"

#include <span>

// Native code finds kernels by name, also code that a program compiled ahead of time.
#define CALQUE_LIBRARY_KERNEL __attribute__((visibility("default")))

namespace calque::runtime {

struct KernelTensor {
  DType dtype;
  std::span<const int64_t> sizes; // of the kernel's dimensions
  void *elements;

  // The elements as C++ numbers. A bool is a byte that is 0 or 1.
  template <typename T> T *as() const { return static_cast<T *>(elements); }
};

class KernelCall {
public:
  explicit KernelCall(const int64_t *words) : next(words) {}

  CalqueCallFrame *frame() { return reinterpret_cast<CalqueCallFrame *>(number()); }
  int32_t site() { return static_cast<int32_t>(number()); }
  int64_t number() { return *next++; }
  // A tensor of which the kernel has this many dimensions.
  KernelTensor tensor(std::size_t rank) {
    const auto dtype = static_cast<DType>(number());
    std::span sizes(next, rank);
    next += rank;
    return {dtype, sizes, reinterpret_cast<void *>(number())};
  }

private:
  const int64_t *next;
};

} // namespace calque::runtime
#endif
