// Files of tensors as somebody else would forge them.
#ifndef CALQUE_TEST_SAVING_DIGEST_H
#define CALQUE_TEST_SAVING_DIGEST_H

#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <nettle/sha2.h>
#include <string>

namespace calque::testing {

// The file with another text in its header, and the digest that its bytes have.
inline std::string with(std::string bytes, const std::string &from, const std::string &to) {
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

} // namespace calque::testing
#endif
