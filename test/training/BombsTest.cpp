// Small files that unpack to more than there is memory for, and files whose headers promise it: what a header says is
// compared with the file before anything is unpacked, and what takes more memory than there is names the file.
#include "Idx.h"
#include "Testing.h"
#include "WithinLimit.h"

#include <cstring>

using namespace calque;
using namespace calque::testing;

namespace {

// A gzip file of some bytes and as many zeros.
void writeZeros(const std::string &path, const std::string &first, std::size_t count) {
  gzFile file = gzopen(path.c_str(), "wb1");
  gzwrite(file, first.data(), static_cast<unsigned>(first.size()));
  const std::string zeros(1 << 20, '\0');
  for (std::size_t done = 0; done < count; done += zeros.size())
    gzwrite(file, zeros.data(), static_cast<unsigned>(zeros.size()));
  gzclose(file);
}

std::string idxHeader(unsigned char type, const std::vector<std::uint32_t> &shape) {
  std::string bytes = {0, 0, static_cast<char>(type), static_cast<char>(shape.size())};
  for (std::uint32_t size : shape)
    for (int shift : {24, 16, 8, 0})
      bytes += static_cast<char>(size >> shift);
  return bytes;
}

// The header of a record with the right checksum: of an empty file that says so, of which only the length is changed.
std::uint32_t crcOf(const std::string &bytes) {
  std::uint32_t crc = 0xffffffff;
  for (char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit)
      crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  crc = ~crc;
  return (crc >> 15 | crc << 17) + 0xa282ead8;
}
std::string recordHeader(std::uint64_t length) {
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  const std::uint32_t crc = crcOf(bytes);
  return bytes + std::string(reinterpret_cast<const char *>(&crc), 4);
}

template <typename Element> void goThrough(const data::Dataset<Element> &dataset) {
  for (const Element &element : dataset)
    (void)element;
}

} // namespace

TEST(Bombs, AreMemoryErrorsThatNameTheFile) {
  CALQUE_SKIP_WITHOUT_LIMITS();
  TemporaryDirectory directory;
  const std::string zeros = directory.file("zeros.gz"), records = directory.file("records.gz"),
                    idx = directory.file("x.idx.gz"), npz = directory.file("x.npz"), png = directory.file("x.png");
  writeZeros(zeros, "", kLarge);
  expectWithinLimit<MemoryError>([&] { goThrough(data::text_line_dataset(zeros)); },
                                 zeros + ": there is not enough memory for what is in it");
  expectWithinLimit<MemoryError>([&] { data::read_csv(zeros); }, zeros + ": ");
  expectWithinLimit<MemoryError>([&] { goThrough(data::csv_rows(zeros)); }, zeros + ": ");
  writeZeros(records, recordHeader(kLarge), kLarge);
  expectWithinLimit<MemoryError>([&] { goThrough(data::tfrecord_dataset(records, {"GZIP"})); }, records + ": ");
  writeZeros(idx, idxHeader(8, {kLarge}), kLarge);
  expectWithinLimit<MemoryError>([&] { data::read_idx(idx); }, idx + ": ");
  // What is written is kept, or the pool would have memory for what is read.
  const Tensor array = calque::zeros({kLarge / 4}), dark = full({6000, 6000, 1}, 0, DType::Int32);
  data::write_npz(npz, {{"x", array}}, {.compressed = true});
  expectWithinLimit<MemoryError>([&] { data::read_npz(npz); }, npz + ": ");
  data::write_image(png, dark);
  expectWithinLimit<MemoryError>([&] { data::read_image(png); }, png + ": ");
  const std::string image = readFile(png);
  expectWithinLimit<MemoryError>([&] { data::decode_image(image); }, "decode_image: ");
}

TEST(Bombs, AreFoundByTheirHeaders) {
  CALQUE_SKIP_WITHOUT_LIMITS();
  TemporaryDirectory directory;
  const std::string path = directory.file("bomb");
  writeZeros(path, idxHeader(8, {1 << 30, 4}), kLarge);
  expectWithinLimit<DataError>([&] { data::read_idx(path); }, "truncated: its header says 1073741824x4 elements, and "
                                                              "there are at most ");
  writeFile(path, idxHeader(8, {1 << 20}));
  expectWithinLimit<DataError>([&] { data::read_idx(path); }, "there are 0 bytes of 1048576");
  // The images of another size than MNIST's, and a label that there is not, before the others are unpacked.
  writeZeros(directory.file("train-images-idx3-ubyte.gz"), idxHeader(8, {1, 6500, 6500}), kLarge);
  writeFile(directory.file("train-labels-idx1-ubyte"), idxHeader(8, {1}) + '\0');
  expectWithinLimit<DataError>([&] { data::mnist("train", directory.path); },
                               "the images are 6500x6500 and must be 28x28");
  writeZeros(directory.file("train.bin.gz"), std::string(2, '\x7f'), kLarge);
  expectWithinLimit<DataError>([&] { data::cifar100("train", directory.path); },
                               "label 0 is 127 and must be below 100");

  writeZeros(path, recordHeader(std::uint64_t(1) << 40), kLarge);
  expectWithinLimit<DataError>([&] { goThrough(data::tfrecord_dataset(path, {"GZIP"})); },
                               "the file ends within its 1099511627776 bytes of data");
  writeFile(path, recordHeader(std::uint64_t(1) << 40) + "some");
  expectWithinLimit<DataError>([&] { goThrough(data::tfrecord_dataset(path)); },
                               "the file ends within its 1099511627776 bytes of data");

  // Arrays whose headers ask for less than there is.
  data::write_npy(path, ones({2}));
  std::filesystem::resize_file(path, kLarge);
  expectWithinLimit<DataError>([&] { data::read_npy(path); }, "the header says <f4[2], which are 8 bytes, and there");
  data::write_npz(path, {{"x", calque::zeros({kLarge / 4})}}, {.compressed = true});
  std::string npz = readFile(path);
  auto set64 = [&](std::size_t at, std::uint64_t value) { std::memcpy(npz.data() + at, &value, 8); };
  const std::size_t size = npz.find("PK\1\2") + 46 + 5 + 4;
  set64(size, kLarge + 1000);
  writeFile(path, npz);
  expectWithinLimit<DataError>([&] { data::read_npz(path); },
                               "array 'x.npy': the header says <f4[" + std::to_string(kLarge / 4) + "]");
  set64(size, std::uint64_t(1) << 40);
  writeFile(path, npz);
  expectWithinLimit<DataError>([&] { data::read_npz(path); }, "array 'x.npy': the directory says 1099511627776 bytes, "
                                                              "which ");

  // A header of an image that a file of its length may hold, and rows that are no such.
  std::string png = data::encode_png(full({6000, 6000, 1}, 0, DType::Int32));
  ASSERT_GT(png.size() * 1032, std::size_t(6000) * 6000);
  for (std::size_t i = 200; i + 100 < png.size(); ++i)
    png[i] = static_cast<char>(i * 37);
  expectWithinLimit<DataError>([&] { data::decode_image(png); }, "the PNG image is damaged: ");
}
