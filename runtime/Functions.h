// The functions of abi.h by name and address, for whoever links native code: where the program that loads Calque keeps
// its symbols to itself (dlopen with RTLD_LOCAL), no search by name finds them.
#ifndef CALQUE_RUNTIME_FUNCTIONS_H
#define CALQUE_RUNTIME_FUNCTIONS_H

namespace calque::runtime {

struct RuntimeFunction {
  const char *name; // null after the last one
  void *address;
};

} // namespace calque::runtime

extern "C" const calque::runtime::RuntimeFunction *calque_rt_functions();

#endif
