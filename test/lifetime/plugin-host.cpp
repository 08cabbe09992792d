// Loads a plugin without showing its symbols to anybody, uses it and unloads it.
#include <cstdio>
#include <dlfcn.h>

int main(int, char **argv) {
  void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!plugin) {
    std::printf("%s\n", dlerror());
    return 2;
  }
  auto use = reinterpret_cast<int (*)()>(dlsym(plugin, "use_calque"));
  int result = use ? use() : 3;
  dlclose(plugin);
  std::printf("unloaded\n");
  return result;
}
