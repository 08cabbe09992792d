// Files whose content takes more memory than there is: the error names the file, whatever of it is too large.
#include "calque/safetensors.h"
#include "calque/saved_functions.h"
#include "test/saving/Digest.h"
#include "test/training/Idx.h"
#include "test/training/Testing.h"
#include "test/training/WithinLimit.h"

using namespace calque;
using namespace calque::testing;

namespace {

// A list whose values take far more memory than its text.
std::string longList() {
  std::string text = "[0";
  for (int i = 0; i < 6'000'000; ++i)
    text += ",0";
  return text + "]";
}

} // namespace

TEST(LargeFiles, AreMemoryErrorsThatNameTheFile) {
  CALQUE_SKIP_WITHOUT_LIMITS();
  TemporaryDirectory directory;
  const std::string weights = directory.file("w.safetensors"), functions = directory.file("f.calque"),
                    saved = directory.file("model.safetensors");
  auto expect = [](const std::string &path, const std::function<void()> &read) {
    expectWithinLimit<MemoryError>(read, path + ": there is not enough memory for what is in it");
  };
  Variable w(ones({2}), {.name = "w"});
  Sequential net({Input({2}), layers::Dense(2)});

  // A header of nearly as many bytes as the format allows.
  const std::string metadata = R"({"__metadata__":{"x":")" + std::string(99'000'000, 'x') + R"("}})";
  const std::uint64_t length = metadata.size();
  writeFile(weights, std::string(reinterpret_cast<const char *>(&length), sizeof length) + metadata);
  expect(weights, [&] { load_safetensors(weights); });
  expect(weights, [&] { load_safetensors_metadata(weights); });
  expect(weights, [&] { load_functions(weights); });
  expect(weights, [&] { Checkpoint({{"w", w}}).read(weights); });
  expect(weights, [&] { load_model(weights); });
  expect(weights, [&] { net.load_weights(weights); });

  // Descriptions that fit, and what is made of them does not.
  auto f = function<Tensor(const Tensor &)>([&](const Tensor &x) { return x * w; });
  f(ones({2}));
  save_functions(functions, {{"f", f}});
  writeFile(functions,
            with(readFile(functions), R"(\"version\":1)", R"(\"other\":)" + longList() + R"(,\"version\":1)"));
  expect(functions, [&] { load_functions(functions); });
  net.save(saved);
  writeFile(saved, with(readFile(saved), R"(\"version\":1)", R"(\"other\":)" + longList() + R"(,\"version\":1)"));
  expect(saved, [&] { load_model(saved); });
}
