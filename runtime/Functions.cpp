#include "runtime/Functions.h"

#include "runtime/abi.h"

// The kernels of libraries, from the records.
#define CALQUE_LIBRARY_KERNEL(name) extern "C" void name(const int64_t *words);
#include "runtime/LibraryKernels.h.inc"
#undef CALQUE_LIBRARY_KERNEL

extern "C" __attribute__((visibility("default"))) const calque::runtime::RuntimeFunction *calque_rt_functions() {
#define CALQUE_FUNCTION(name) {#name, reinterpret_cast<void *>(&name)}
#define CALQUE_LIBRARY_KERNEL(name) CALQUE_FUNCTION(name),
  static const calque::runtime::RuntimeFunction functions[] = {CALQUE_FUNCTION(calque_rt_fail),
                                                               CALQUE_FUNCTION(calque_rt_parallel_for),
                                                               CALQUE_FUNCTION(calque_rt_stack_entry),
                                                               CALQUE_FUNCTION(calque_rt_assert),
                                                               CALQUE_FUNCTION(calque_rt_assert_elements),
                                                               CALQUE_FUNCTION(calque_rt_print),
                                                               CALQUE_FUNCTION(calque_rt_host_call),
                                                               CALQUE_FUNCTION(calque_rt_cond),
                                                               CALQUE_FUNCTION(calque_rt_while),
                                                               CALQUE_FUNCTION(calque_rt_stack_push),
                                                               CALQUE_FUNCTION(calque_rt_stack_pop),
                                                               CALQUE_FUNCTION(calque_rt_sized_push),
                                                               CALQUE_FUNCTION(calque_rt_stack_below),
                                                               CALQUE_FUNCTION(calque_rt_on_entries),
#include "runtime/LibraryKernels.h.inc"
                                                               {nullptr, nullptr}};
#undef CALQUE_LIBRARY_KERNEL
#undef CALQUE_FUNCTION
  return functions;
}
