// A library like libcalque-compiler.so, which knows the interface of another version only.
extern "C" __attribute__((visibility("default"))) void *calque_compiler(int) { return nullptr; }
