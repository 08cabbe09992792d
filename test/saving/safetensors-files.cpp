// calque-safetensors-files write FILE: a file for Python to read. calque-safetensors-files read FILE: prints what
// Python wrote.
#include "calque/calque.h"
#include "calque/safetensors.h"

#include <iostream>

using namespace calque;

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  if (argv[1] == std::string("write")) {
    save_safetensors(argv[2],
                     {{"flags", tensor<bool>({true, false})},
                      {"integers", tensor({1, 2, 3, 4, 5, 6}, {2, 3})},
                      {"long", tensor({std::int64_t(1) << 40})},
                      {"floats", tensor<float>({0.5, -1}, {1, 2, 1})},
                      {"doubles", tensor<double>({0.1})},
                      {"scalar", scalar(0.25)},
                      {"none", zeros({0, 3})},
                      {"ä \"x\"", ones({2})}},
                     {{"epoch", "3"}, {"ä", "\"quoted\" \\"}});
    return 0;
  }
  for (const auto &[name, x] : load_safetensors(argv[2])) {
    std::cout << name << ' ' << x.dtype() << ' ' << x.shape();
    dispatch(x.dtype(), [&]<typename T>(std::type_identity<T>) {
      for (T value : x.to_vector<T>())
        std::cout << ' ' << +value;
    });
    std::cout << '\n';
  }
  for (const auto &[name, text] : load_safetensors_metadata(argv[2]))
    std::cout << name << '=' << text << '\n';
}
