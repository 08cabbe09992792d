// calque-numpy-files write FOLDER: files for NumPy to read. calque-numpy-files read FOLDER: prints what NumPy wrote.
#include "calque/training.h"

#include <iostream>

using namespace calque;

namespace {

void print(const std::string &name, const Tensor &x) {
  std::cout << name << ' ' << x.dtype() << ' ' << x.shape();
  dispatch(x.dtype(), [&]<typename T>(std::type_identity<T>) {
    for (T value : x.to_vector<T>())
      std::cout << ' ' << +static_cast<detail::Arithmetic<T>>(value);
  });
  std::cout << '\n';
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  const std::string folder = std::string(argv[2]) + "/";
  if (argv[1] == std::string("write")) {
    const std::map<std::string, Tensor> all = {{"flags", tensor<bool>({true, false})},
                                               {"integers", tensor({1, 2, 3, 4, 5, 6}, {2, 3})},
                                               {"long", tensor({std::int64_t(1) << 40})},
                                               {"floats", tensor<float>({0.5, -1}, {1, 2, 1})},
                                               {"scalar", scalar(0.25)},
                                               {"double", scalar<double>(0.1)},
                                               {"bytes", tensor<std::uint8_t>({0, 200})},
                                               {"wide", tensor<std::uint64_t>({UINT64_MAX})},
                                               {"half", tensor<float16>({0.5, 65504.0})},
                                               {"none", zeros({0, 3})}};
    for (const auto &[name, x] : all)
      data::write_npy(folder + name + ".npy", x);
    data::write_npz(folder + "plain.npz", all);
    data::write_npz(folder + "packed.npz", all, {.compressed = true});
    return 0;
  }
  print("fortran", data::read_npy(folder + "fortran.npy"));
  for (const char *name : {"savez", "compressed"})
    for (const auto &[key, x] : data::read_npz(folder + name + ".npz"))
      print(key, x);
}
