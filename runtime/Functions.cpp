#include "runtime/Functions.h"

#include "runtime/abi.h"

extern "C" __attribute__((visibility("default"))) const calque::runtime::RuntimeFunction *calque_rt_functions() {
#define CALQUE_FUNCTION(name)                                                                                          \
  {                                                                                                                    \
    #name, reinterpret_cast<void *>(&name)                                                                             \
  }
  static const calque::runtime::RuntimeFunction functions[] = {CALQUE_FUNCTION(calque_rt_fail),
                                                               CALQUE_FUNCTION(calque_rt_parallel_for),
                                                               CALQUE_FUNCTION(calque_rt_print),
                                                               CALQUE_FUNCTION(calque_rt_host_call),
                                                               {nullptr, nullptr}};
#undef CALQUE_FUNCTION
  return functions;
}
