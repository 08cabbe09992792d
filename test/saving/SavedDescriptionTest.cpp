// The description of functions in their file, JSON among the metadata, when somebody else has written it: with the
// right digest, and of another form than a saving program gives it.
#include "calque/saved_functions.h"
#include "test/frontend/Testing.h"
#include "test/training/Idx.h"

#include <cstring>
#include <nettle/sha2.h>

using namespace calque;
using namespace calque::testing;

namespace {

// The file with another text in its header, and the digest that its bytes have.
std::string with(std::string bytes, const std::string &from, const std::string &to) {
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  const std::size_t at = bytes.find(from);
  EXPECT_LT(at, length) << from;
  bytes.replace(at, from.size(), to);
  length += to.size() - from.size();
  std::memcpy(bytes.data(), &length, sizeof length);
  const std::string name = R"("calque.sha256":")";
  const std::size_t digits = bytes.find(name) + name.size();
  bytes.replace(digits, 2 * SHA256_DIGEST_SIZE, 2 * SHA256_DIGEST_SIZE, '0');
  sha256_ctx context;
  std::uint8_t digest[SHA256_DIGEST_SIZE];
  sha256_init(&context);
  sha256_update(&context, bytes.size(), reinterpret_cast<const std::uint8_t *>(bytes.data()));
  sha256_digest(&context, sizeof digest, digest);
  for (std::size_t i = 0; i < sizeof digest; ++i) {
    bytes[digits + 2 * i] = "0123456789abcdef"[digest[i] >> 4];
    bytes[digits + 2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
  }
  return bytes;
}

} // namespace

TEST(SavedDescription, IsRefusedWhereItIsNotAsItIsWritten) {
  TemporaryDirectory directory;
  const std::string path = directory.file("f.calque");
  Variable w(ones({2}), {.name = "w"});
  auto f = function<Tensor(const Tensor &, int)>([&](const Tensor &x, int n) { return x * w * float(n); });
  auto g = function<Tensor(const Tensor &)>([&](const Tensor &x) { return x + w; });
  f(ones({2}), 3);
  g(ones({2}));
  save_functions(path, {{"f", f}, {"g", g}});
  const std::string whole = readFile(path);
  auto fault = [&](const std::string &from, const std::string &to) {
    writeFile(path, with(whole, from, to));
    const std::string text = errorOf<DataError>([&] { load_functions(path); });
    EXPECT_TRUE(text.starts_with(path + ": ")) << text;
    return text;
  };
  writeFile(path, with(whole, R"(\"version\":1)", R"(\"version\": 1)"));
  EXPECT_EQ(load_functions(path).names(), (std::vector<std::string>{"f", "g"}));

  EXPECT_CONTAINS(fault(R"(\"name\":\"g\")", R"(\"name\":\"f\")"), "function 'f' is there twice");
  EXPECT_CONTAINS(fault(R"(\"version\":1)", R"(\"version\":1,\"version\":1)"),
                  "its description of functions has the name 'version' twice in one object");
  EXPECT_CONTAINS(fault(R"(\"trainable\":true)", R"(\"trainable\":true,\"trainable\":false)"),
                  "has the name 'trainable' twice in one object");
  std::string many;
  for (int i = 0; i < 20; ++i)
    many += R"(\")" + std::to_string(i) + R"(\":0,)";
  const std::string damaged = "its description of functions is damaged";
  EXPECT_CONTAINS(fault(R"(\"version\":1)", many + R"(\"version\":1)"), damaged);
  EXPECT_CONTAINS(fault(R"(\"version\":1)", R"(\"version\":true)"), damaged);
  EXPECT_CONTAINS(fault(R"(\"version\":1)", R"(\"version\":1.0)"), damaged);
  EXPECT_CONTAINS(fault(R"(\"trainable\":true)", R"(\"trainable\":1)"), damaged);
  EXPECT_CONTAINS(fault(R"(\"shape\":[2])", R"(\"shape\":[2.5])"), damaged);
  EXPECT_CONTAINS(fault(R"(\"shape\":[2])", R"(\"shape\":[true])"), damaged);
  EXPECT_CONTAINS(fault(R"(\"shape\":[2])", R"(\"shape\":{\"a\":2})"), damaged);
  EXPECT_CONTAINS(fault(R"(\"shape\":[2])", R"(\"shape\":2)"), damaged);
  EXPECT_CONTAINS(fault(R"(\"shape\":[2])", R"(\"shape\":[-2])"), "a size is -2");
  EXPECT_CONTAINS(fault(R"(\"shape\":[2])", R"(\"shape\":[18446744073709551614])"), "a size is 18446744073709551614");
  EXPECT_CONTAINS(fault(R"(\"bits\":3)", R"(\"bits\":3.5)"), damaged);
  EXPECT_CONTAINS(fault(R"(\"bits\":3)", R"(\"bits\":-3)"), damaged);
  EXPECT_CONTAINS(fault(R"(\"kind\":\"tensor\")", R"(\"kind\":7)"), damaged);
}
