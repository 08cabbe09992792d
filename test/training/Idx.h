// IDX files for tests: bytes as the format has them.
#ifndef CALQUE_TEST_TRAINING_IDX_H
#define CALQUE_TEST_TRAINING_IDX_H

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>
#include <zlib.h>

namespace calque::testing {

// A directory of its own, which goes with it.
class TemporaryDirectory {
public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "calque-XXXXXX").string();
    path = ::mkdtemp(pattern.data()) ? pattern : "";
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path); }
  std::string file(const std::string &name) const { return path + "/" + name; }

  std::string path;
};

inline void writeFile(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}
inline void writeGzip(const std::string &path, const std::string &bytes) {
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
}
inline std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::string word(std::uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}
inline std::string header(std::uint32_t magic, const std::vector<std::uint32_t> &sizes) {
  std::string bytes = word(magic);
  for (std::uint32_t size : sizes)
    bytes += word(size);
  return bytes;
}

// Images of one bright band each, whose place is the label i % 10, some noise, and the labels.
struct Digits {
  explicit Digits(std::uint32_t count, std::uint32_t side = 28) {
    std::mt19937 random(count);
    images = header(0x803, {count, side, side});
    labels = header(0x801, {count});
    for (std::uint32_t i = 0; i < count; ++i) {
      labels += static_cast<char>(i % 10);
      for (std::uint32_t p = 0; p < side * side; ++p)
        images += static_cast<char>((p * 10 / (side * side) == i % 10 ? 200 : 20) + random() % 20);
    }
  }
  std::string images, labels;
};

// What a directory of MNIST holds: the training set compressed, the test set plain.
inline void writeDigits(const TemporaryDirectory &directory, const Digits &train, const Digits &test) {
  writeGzip(directory.file("train-images-idx3-ubyte.gz"), train.images);
  writeGzip(directory.file("train-labels-idx1-ubyte.gz"), train.labels);
  writeFile(directory.file("t10k-images-idx3-ubyte"), test.images);
  writeFile(directory.file("t10k-labels-idx1-ubyte"), test.labels);
}

} // namespace calque::testing
#endif
