// The functions of abi.h by name and address, for linking native code. A search of the process's symbols would not do:
// it finds nothing if the program loads Calque by dlopen with RTLD_LOCAL.
#ifndef CALQUE_RUNTIME_FUNCTIONS_H
#define CALQUE_RUNTIME_FUNCTIONS_H

#include <string_view>

namespace calque::runtime {

struct RuntimeFunction {
  const char *name; // null after the last one
  void *address;
};

// The function of that name in a table, which may be null. Null if there is none.
inline void *findFunction(const RuntimeFunction *table, std::string_view name) {
  for (; table && table->name; ++table)
    if (name == table->name)
      return table->address;
  return nullptr;
}

} // namespace calque::runtime

extern "C" const calque::runtime::RuntimeFunction *calque_rt_functions();

#endif
