// Files of each kind, as large as those of real networks, damaged and cut in places that are drawn: each is refused,
// and nothing of it is taken. The tests of each kind do so with every byte of a small file.
#include "calque/saved_functions.h"
#include "test/training/Idx.h"
#include "test/training/Testing.h"

#include <random>

using namespace calque;
using namespace calque::testing;

namespace {

Sequential network() {
  Sequential model({Input({12, 12, 1}), layers::Conv2D(8, 3, {.activation = "relu"}), layers::BatchNormalization(),
                    layers::Flatten(), layers::Dense(64, {.activation = "relu"}), layers::Dropout(0.5),
                    layers::Dense(10)});
  model.compile({.optimizer = "adam", .loss = "mse"});
  model.train_on_batch(ones({2, 12, 12, 1}), ones({2, 10}));
  return model;
}

std::vector<std::vector<double>> stateOf(const Sequential &model) {
  std::vector<std::vector<double>> values;
  for (const Tensor &value : model.get_weights())
    values.push_back(valuesOf(value));
  return values;
}

// Calls back with places in a file: its ends, those of its header, and others.
void eachPlace(const std::string &bytes, const std::function<void(std::size_t at)> &call) {
  std::uint64_t header = 0;
  std::memcpy(&header, bytes.data(), sizeof header);
  const std::size_t data = sizeof header + header;
  for (std::size_t at : {std::size_t(0), std::size_t(7), std::size_t(8), data - 1, data, bytes.size() - 1})
    call(at);
  std::mt19937_64 random(1);
  for (int i = 0; i < 12; ++i) {
    call(random() % data);
    call(data + random() % (bytes.size() - data));
  }
}

void expectEachDamageFound(const std::string &whole, const std::string &damaged, const std::function<void()> &read) {
  const std::string bytes = readFile(whole);
  ASSERT_GT(bytes.size(), 100'000U);
  auto expectRefused = [&](const std::string &changed) {
    std::filesystem::remove(damaged); // to cut a file and write it anew takes a disk milliseconds
    writeFile(damaged, changed);
    EXPECT_TRUE(errorOf<DataError>(read).starts_with(damaged + ": "));
  };
  std::mt19937_64 random(2);
  eachPlace(bytes, [&](std::size_t at) {
    SCOPED_TRACE("byte " + std::to_string(at));
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ (1 << random() % 8));
    expectRefused(changed);
    expectRefused(bytes.substr(0, at));
  });
}

} // namespace

TEST(Damage, OfAModelIsFound) {
  TemporaryDirectory directory;
  Sequential model = network();
  model.save(directory.file("whole"));
  const std::string damaged = directory.file("damaged.safetensors");
  expectEachDamageFound(directory.file("whole.safetensors"), damaged, [&] { load_model(damaged); });
}

TEST(Damage, OfWeightsIsFound) {
  TemporaryDirectory directory;
  Sequential model = network(), other = network();
  model.save_weights(directory.file("whole"));
  const auto before = stateOf(other);
  const std::string damaged = directory.file("damaged.safetensors");
  expectEachDamageFound(directory.file("whole.safetensors"), damaged, [&] { other.load_weights(damaged); });
  EXPECT_EQ(stateOf(other), before);
}

TEST(Damage, OfACheckpointIsFound) {
  TemporaryDirectory directory;
  Sequential model = network();
  Checkpoint checkpoint{{"model", model}, {"optimizer", model.optimizer()}};
  checkpoint.write(directory.file("whole"));
  model.train_on_batch(ones({2, 12, 12, 1}), ones({2, 10}));
  const auto before = stateOf(model);
  const std::string damaged = directory.file("damaged.safetensors");
  expectEachDamageFound(directory.file("whole.safetensors"), damaged, [&] { checkpoint.restore(damaged); });
  EXPECT_EQ(stateOf(model), before);
}

TEST(Damage, OfFunctionsIsFound) {
  TemporaryDirectory directory;
  Sequential model = network();
  model.export_functions(directory.file("whole"), {.targets = {TensorSpec<float>({kDynamic, 10})}});
  const std::string damaged = directory.file("damaged");
  expectEachDamageFound(directory.file("whole"), damaged, [&] { load_functions(damaged); });
}
