// resume-models DIRECTORY [MNIST]: loads what save-models saved after two epochs, trains two more, and fails unless
// everything has the bits of four epochs. The model's code is not in this program.
#include "calque/safetensors.h"
#include "test/saving/Digits.h"

#include <cstring>
#include <iostream>

using namespace calque;
using namespace calque::testing;

int main(int argc, char **argv) {
  const std::string directory = argv[1];
  auto [x, y] = digits(argc, argv);
  random::uniform({3}); // the generator stands elsewhere
  ModelHandle model = load_model(directory + "/half", {.restore_generator = true});
  model.fit(x, y, {.batch_size = 64, .epochs = 4, .verbose = argc > 2 ? 2 : 0, .initial_epoch = 2});
  const std::map<std::string, Tensor> actual = stateOf(model),
                                      expected = load_safetensors(directory + "/expected.safetensors");
  int faults = actual.size() != expected.size();
  for (const auto &[name, tensor] : expected) {
    auto found = actual.find(name);
    const bool isThere = found != actual.end() && found->second.dtype() == tensor.dtype() &&
                         found->second.shape().is_compatible_with(tensor.shape());
    const bool isSame = isThere && dispatch(tensor.dtype(), [&]<typename T>(std::type_identity<T>) {
                          const auto bytes = static_cast<std::size_t>(std::int64_t(tensor.size())) * sizeof(T);
                          return std::memcmp(tensor.data<T>(), found->second.data<T>(), bytes) == 0;
                        });
    if (!isSame && ++faults)
      std::cerr << name << (isThere ? " has other bits\n" : " is missing\n");
  }
  std::cout << expected.size() << " variables, " << faults << " faults\n";
  return faults != 0;
}
