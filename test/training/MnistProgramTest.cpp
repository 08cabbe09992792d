// The program of `./dev mnist` on a small data set, and on what is none.
#include "Idx.h"
#include "Programs.h"
#include "Testing.h"

#include <regex>

using namespace calque::testing;

namespace {

Outcome runMnist(const std::string &arguments) { return runProgram(CALQUE_MNIST_PROGRAM, arguments); }

class MnistProgram : public ::testing::Test {
protected:
  MnistProgram() { writeDigits(directory, Digits(32), Digits(20)); }

  // The program says one line and exits with 1.
  void expectFault(const std::string &file, const std::string &fault) {
    Outcome outcome = runMnist("--data '" + directory.path + "'");
    EXPECT_EQ(outcome.code, 1);
    ASSERT_EQ(outcome.lines.size(), 1u) << outcome.lines.back();
    EXPECT_EQ(outcome.lines[0].rfind("mnist: " + directory.file(file) + ": ", 0), 0u) << outcome.lines[0];
    EXPECT_CONTAINS(outcome.lines[0], fault);
  }

  TemporaryDirectory directory;
};

} // namespace

TEST_F(MnistProgram, TrainsAndItsLastLineIsTheTestAccuracy) {
  Outcome outcome = runMnist("--data '" + directory.path + "' --batch 16 --epochs 2 --threads 1 --seed 3");
  EXPECT_EQ(outcome.code, 0);
  ASSERT_FALSE(outcome.lines.empty());
  EXPECT_TRUE(std::regex_match(outcome.lines.back(), std::regex("test accuracy [01]\\.[0-9]{4}")))
      << outcome.lines.back();
  EXPECT_TRUE(std::regex_search(
      outcome.lines[0],
      std::regex("^epoch 1/2  1/2  loss [0-9.]+  accuracy [0-9.]+  [0-9]+ images/s  [0-9]+:[0-9]{2} left$")))
      << outcome.lines[0];
  EXPECT_EQ(outcome.lines.size(), 5u);
}

TEST_F(MnistProgram, NamesAMissingDirectory) {
  Outcome outcome = runMnist("--data '" + directory.path + "/none'");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.lines,
            (std::vector<std::string>{"mnist: " + directory.path + "/none: there is no such directory"}));
}

TEST_F(MnistProgram, NamesAMissingFile) {
  std::filesystem::remove(directory.file("t10k-labels-idx1-ubyte"));
  expectFault("t10k-labels-idx1-ubyte", "there is no such file, and no t10k-labels-idx1-ubyte.gz");
}

TEST_F(MnistProgram, NamesATruncatedFile) {
  std::string whole = readFile(directory.file("train-images-idx3-ubyte.gz"));
  writeFile(directory.file("train-images-idx3-ubyte.gz"), whole.substr(0, whole.size() / 2));
  expectFault("train-images-idx3-ubyte.gz", "truncated");
  writeFile(directory.file("train-images-idx3-ubyte"), Digits(32).images.substr(0, 1000)); // is looked for first
  expectFault("train-images-idx3-ubyte",
              "truncated: its header says 32x28x28 elements, and there are 984 bytes of 25088");
}

TEST_F(MnistProgram, NamesAWrongMagicNumber) {
  writeFile(directory.file("t10k-labels-idx1-ubyte"), Digits(20).images);
  expectFault("t10k-labels-idx1-ubyte", "wrong magic number 0x00000803, which should be 0x00000801");
}

TEST_F(MnistProgram, NamesCountsThatDontFit) {
  writeFile(directory.file("t10k-labels-idx1-ubyte"), Digits(19).labels);
  expectFault("t10k-labels-idx1-ubyte",
              "there are 19 labels for the 20 images of " + directory.file("t10k-images-idx3-ubyte"));
}

TEST_F(MnistProgram, NamesALabelThatIsNone) {
  std::string labels = Digits(20).labels;
  labels.back() = 10;
  writeFile(directory.file("t10k-labels-idx1-ubyte"), labels);
  expectFault("t10k-labels-idx1-ubyte", "label 19 is 10 and must be below 10");
}

TEST_F(MnistProgram, NamesAFileWithoutImages) {
  writeFile(directory.file("t10k-images-idx3-ubyte"), header(0x803, {0, 8, 8}));
  expectFault("t10k-images-idx3-ubyte", "there are no images in it");
}

TEST_F(MnistProgram, RefusesOptionsThatItDoesNotKnow) {
  EXPECT_EQ(runMnist("--epoch").code, 2);
  EXPECT_EQ(runMnist("--batch 0").code, 2);
  EXPECT_EQ(runMnist("--help").code, 0);
}
