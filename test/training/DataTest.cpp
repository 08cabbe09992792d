#include "Idx.h"
#include "Testing.h"

#include <algorithm>
#include <numeric>
#include <set>

using namespace calque;
using namespace calque::testing;
using data::Dataset;
using data::from_tensor_slices;

namespace {

// x is [n, 2] with i and i + 0.5, y is [n] with i.
Dataset<> counting(std::int64_t n) {
  std::vector<float> x;
  std::vector<std::int32_t> y;
  for (std::int64_t i = 0; i < n; ++i) {
    x.insert(x.end(), {static_cast<float>(i), static_cast<float>(i) + 0.5f});
    y.push_back(static_cast<std::int32_t>(i));
  }
  return from_tensor_slices(tensor(x, {n, 2}), tensor(y, {n}));
}

// All y of a data set of elements or of batches, checking that x goes with it.
std::vector<int> labelsOf(const Dataset<> &dataset) {
  std::vector<int> labels;
  for (const auto &[x, y] : dataset) {
    std::vector<float> values = x.to_vector<float>();
    std::vector<int> own = y.to_vector<int>();
    for (std::size_t i = 0; i < own.size(); ++i)
      EXPECT_EQ(values[2 * i + 1], static_cast<float>(own[i]) + 0.5f);
    labels.insert(labels.end(), own.begin(), own.end());
  }
  return labels;
}

std::vector<int> countTo(int n) {
  std::vector<int> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

std::string dataError(const std::string &path) {
  return errorOf<DataError>([&] { data::read_idx(path); });
}

} // namespace

//===-- Data sets -------------------------------------------------------------------------------===//
TEST(Dataset, GivesTheSlicesOfTensors) {
  Dataset dataset = counting(3);
  EXPECT_EQ(dataset.size(), 3);
  int i = 0;
  for (auto [x, y] : dataset) {
    EXPECT_EQ(x.shape(), (Shape{2}));
    EXPECT_EQ(y.shape(), Shape());
    EXPECT_EQ(y.item<int>(), i++);
  }
  EXPECT_EQ(i, 3);
  EXPECT_EQ(labelsOf(dataset), countTo(3)); // again from the start
  EXPECT_TRUE(labelsOf(counting(0)).empty());
}

TEST(Dataset, BatchesWithTheRemainderOrWithout) {
  std::vector<Shape> shapes;
  for (auto [x, y] : counting(7).batch(3))
    shapes.push_back(x.shape());
  EXPECT_EQ(shapes, (std::vector<Shape>{{3, 2}, {3, 2}, {1, 2}}));
  EXPECT_EQ(counting(7).batch(3).size(), 3);
  EXPECT_EQ(labelsOf(counting(7).batch(3)), countTo(7));
  EXPECT_EQ(counting(7).batch(3, true).size(), 2);
  EXPECT_EQ(labelsOf(counting(7).batch(3, true)), countTo(6));
  EXPECT_EQ(counting(6).batch(3, true).size(), 2);
  for (auto [x, y] : counting(8).batch(2).batch(2))
    EXPECT_EQ(x.shape(), (Shape{2, 2, 2}));
  EXPECT_EQ(labelsOf(counting(8).batch(2).batch(2)), countTo(8));
}

TEST(Dataset, RefusesToBatchElementsThatDiffer) {
  Dataset uneven = counting(7).batch(3).batch(3);
  std::string text = errorOf<ShapeError>([&] { labelsOf(uneven); });
  EXPECT_CONTAINS(
      text,
      "Cannot batch tensors with different shapes in component 0. First element had shape [3,2] and element 2 had "
      "shape [1,2].");
  EXPECT_CONTAINS(text, "DataTest.cpp");
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { labelsOf(uneven.prefetch(1)); }), "[1,2]"); // from the thread
}

TEST(Dataset, ShufflesToAPermutationOfItsSeed) {
  std::vector<int> first = labelsOf(counting(50).shuffle(50, {.seed = 1}));
  EXPECT_NE(first, countTo(50));
  EXPECT_EQ(labelsOf(counting(50).shuffle(50, {.seed = 1})), first);
  EXPECT_NE(labelsOf(counting(50).shuffle(50, {.seed = 2})), first);
  std::sort(first.begin(), first.end());
  EXPECT_EQ(first, countTo(50));
}

TEST(Dataset, ShufflesAnewEachTimeUnlessAsked) {
  Dataset anew = counting(20).shuffle(20, {.seed = 1}),
          same = counting(20).shuffle(20, {.seed = 1, .reshuffle_each_iteration = false});
  EXPECT_NE(labelsOf(anew), labelsOf(anew));
  EXPECT_EQ(labelsOf(same), labelsOf(same));
}

TEST(Dataset, ShufflesByTheGlobalSeed) {
  std::vector<std::vector<int>> orders;
  for (int seed : {1, 1, 2}) {
    set_seed(seed);
    orders.push_back(labelsOf(counting(20).shuffle(20)));
  }
  EXPECT_EQ(orders[0], orders[1]);
  EXPECT_NE(orders[0], orders[2]);
}

TEST(Dataset, ASmallBufferShufflesNearby) {
  std::vector<int> order = labelsOf(counting(40).shuffle(4, {.seed = 3}));
  for (std::size_t i = 0; i < order.size(); ++i)
    EXPECT_LT(order[i], static_cast<int>(i) + 4);
  EXPECT_EQ(labelsOf(counting(5).shuffle(1, {.seed = 3})), countTo(5));
}

TEST(Dataset, EveryPlaceIsAsLikely) {
  std::array<std::array<int, 5>, 5> counts{};
  Dataset dataset = counting(5).shuffle(5, {.seed = 4});
  for (int round = 0; round < 2000; ++round) {
    std::vector<int> order = labelsOf(dataset);
    for (std::size_t place = 0; place < 5; ++place)
      ++counts[place][static_cast<std::size_t>(order[place])];
  }
  for (const auto &place : counts)
    for (int count : place)
      EXPECT_NEAR(count, 400, 100); // 5.6 standard deviations
}

TEST(Dataset, PrefetchKeepsTheOrder) {
  for (int count : {1, 3, 100})
    EXPECT_EQ(labelsOf(counting(30).batch(4).prefetch(count)), countTo(30));
  EXPECT_EQ(counting(30).batch(4).prefetch(2).size(), 8);
}

TEST(Dataset, LeavingAPrefetchedLoopEarlyDoesNotHang) {
  Dataset dataset = counting(100).batch(1).prefetch(2);
  for (int round = 0; round < 20; ++round)
    for (auto [x, y] : dataset) {
      EXPECT_EQ(y.to_vector<int>()[0], 0);
      break;
    }
  auto unread = dataset.begin();
}

TEST(Dataset, MisuseNamesTheLine) {
  Dataset dataset = counting(3);
  EXPECT_MISUSE(ValueError, dataset.batch(0), "batch: the size is 0 and must be at least 1");
  EXPECT_MISUSE(ValueError, dataset.shuffle(0), "shuffle: the buffer's size is 0");
  EXPECT_MISUSE(ValueError, dataset.prefetch(0), "prefetch: the number of elements is 0");
  EXPECT_MISUSE(ShapeError, from_tensor_slices(ones({3}), ones({4})), "there are 3 and 4 slices");
  EXPECT_MISUSE(ShapeError, from_tensor_slices(scalar(1.0f), ones({4})), "a scalar has no slices");
}

//===-- IDX -------------------------------------------------------------------------------------===//
TEST(Idx, ReadsEveryTypePlainAndCompressed) {
  TemporaryDirectory directory;
  std::string plain = directory.file("plain"), compressed = directory.file("compressed.gz");
  auto expectBoth = [&](const std::string &bytes, DType dtype, const Shape &shape,
                        const std::vector<double> &expected) {
    writeFile(plain, bytes);
    writeGzip(compressed, bytes);
    for (const std::string &path : {plain, compressed}) {
      Tensor x = data::read_idx(path);
      EXPECT_EQ(x.dtype(), dtype);
      EXPECT_EQ(x.shape(), shape);
      expectNear(x, expected, 0);
    }
  };
  expectBoth(header(0x802, {2, 3}) + std::string("\x00\x01\x02\x7f\x80\xff", 6), DType::Int32, {2, 3},
             {0, 1, 2, 127, 128, 255});
  expectBoth(header(0x901, {2}) + "\x7f\xff", DType::Int32, {2}, {127, -1});
  expectBoth(header(0xB01, {2}) + std::string("\x01\x02\xff\xfe", 4), DType::Int32, {2}, {258, -2});
  expectBoth(header(0xC01, {2}) + word(1 << 24) + word(0xfffffffd), DType::Int32, {2}, {1 << 24, -3});
  expectBoth(header(0xD00, {}) + word(0xbfc00000), DType::Float32, {}, {-1.5});
  expectBoth(header(0xE01, {1}) + word(0x40091eb8) + word(0x51eb851f), DType::Float64, {1}, {3.14});
  expectBoth(header(0x802, {0, 3}), DType::Int32, {0, 3}, {});
}

TEST(Idx, NamesTheFileAndItsFault) {
  TemporaryDirectory directory;
  std::string path = directory.file("file");
  EXPECT_CONTAINS(dataError(path), path + ": No such file or directory");
  EXPECT_CONTAINS(dataError(path), "DataTest.cpp");
  EXPECT_CONTAINS(dataError(directory.path), directory.path + ": can't be read: Is a directory");
  writeFile(path, "");
  EXPECT_CONTAINS(dataError(path), path + ": truncated: it ends within its header");
  writeFile(path, word(0x802) + word(3));
  EXPECT_CONTAINS(dataError(path), path + ": truncated: it ends within its header");
  writeFile(path, "PNG and more");
  EXPECT_CONTAINS(dataError(path), path + ": wrong magic number 0x504E4720; this is no IDX file");
  writeFile(path, header(0x802, {2, 3}) + "12345");
  EXPECT_CONTAINS(dataError(path), path + ": truncated: its header says 2x3 elements, and there are 5 bytes of 6");
  writeFile(path, header(0x802, {2, 3}) + "1234567");
  EXPECT_CONTAINS(dataError(path), path + ": its header says 2x3 elements, and there are more bytes than 6");
  // Sizes whose product has more than 64 bits, or that no memory holds.
  writeFile(path, header(0x803, {0xffffffff, 0xffffffff, 0xffffffff}) + "12");
  EXPECT_CONTAINS(dataError(path), "there are 2 bytes of more than 2^64");
  writeFile(path, header(0x802, {0xffffffff, 0x7fffffff}) + "12");
  EXPECT_CONTAINS(dataError(path), "there are 2 bytes of 9223372030412324865");
}

TEST(Idx, NamesWhatIsWrongWithCompressedFiles) {
  TemporaryDirectory directory;
  std::string path = directory.file("file.gz");
  writeGzip(path, Digits(20).images);
  std::string whole = readFile(path);
  writeFile(path, whole.substr(0, whole.size() - 100));
  EXPECT_CONTAINS(dataError(path), path + ": truncated: the compressed data have no end");
  std::string broken = whole;
  broken[broken.size() - 6] ^= 1; // in the checksum
  writeFile(path, broken);
  EXPECT_CONTAINS(dataError(path), path + ": not sound as gzip");
}

//===-- MNIST -----------------------------------------------------------------------------------===//
TEST(Mnist, GivesImagesInTheUnitIntervalAndLabels) {
  TemporaryDirectory directory;
  Digits train(13), test(3);
  writeDigits(directory, train, test);
  Dataset dataset = data::mnist("train", directory.path);
  EXPECT_EQ(dataset.size(), 13);
  EXPECT_EQ(data::fashion_mnist("test", directory.path).size(), 3);
  std::size_t at = 16;
  for (auto [x, y] : dataset.batch(5)) {
    EXPECT_EQ(x.shape(), (Shape{y.shape()[0], 28, 28, 1}));
    for (float value : x.to_vector<float>())
      EXPECT_EQ(value, static_cast<float>(static_cast<unsigned char>(train.images[at++])) / 255);
  }
  EXPECT_EQ(at, train.images.size());
  std::vector<int> labels;
  for (auto [x, y] : dataset)
    labels.push_back(y.item<int>());
  EXPECT_EQ(labels, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2}));
  writeFile(directory.file("t10k-images-idx3-ubyte"), header(0x803, {3, 28, 27}) + std::string(3 * 28 * 27, 0));
  EXPECT_CONTAINS(errorOf<DataError>([&] { data::mnist("test", directory.path); }),
                  "t10k-images-idx3-ubyte: the images are 28x27 and must be 28x28");
  EXPECT_MISUSE(ValueError, data::mnist("valid", directory.path), "there is no split 'valid'; it is 'train' or 'test'");
}
