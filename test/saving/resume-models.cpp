// resume-models DIRECTORY [MNIST [COUNT]]: loads what save-models saved after two epochs, trains two more, and fails
// unless everything has the bits of four epochs. resume-models --graph DIRECTORY TOLERANCE: loads its graph, which must
// give and train on to the same numbers but for a tolerance. The models' code is not in this program.
#include "calque/safetensors.h"
#include "test/saving/Digits.h"

#include <cstring>
#include <iostream>

using namespace calque;
using namespace calque::testing;

namespace {

int resumeGraph(const std::string &directory, double tolerance) {
  std::map<std::string, Tensor> expected = load_safetensors(directory + "/graph-expected.safetensors");
  ModelHandle model = load_model(directory + "/graph");
  const models::Batch batch = sequences();
  int faults = 0;
  auto check = [&](const std::string &name, const Tensor &actual) {
    const Tensor wanted = expected.at(name);
    const double most = max(abs(cast(actual - wanted, DType::Float64))).item<double>();
    if (!(most <= tolerance) && ++faults)
      std::cerr << name << " differs by " << most << '\n';
    expected.erase(name);
  };
  for (const auto &[name, tensor] : model.apply(batch.x))
    check(name, tensor);
  for (int i = 0; i < 2; ++i)
    for (const auto &[name, number] : model.train_on_batch(batch.x, batch.y))
      check("step " + std::to_string(i) + " " + name, scalar(number));
  std::cout << expected.size() << " numbers left, " << faults << " faults\n";
  return faults != 0 || !expected.empty();
}

} // namespace

int main(int argc, char **argv) {
  if (argc == 4 && std::string(argv[1]) == "--graph")
    return resumeGraph(argv[2], std::stod(argv[3]));
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
