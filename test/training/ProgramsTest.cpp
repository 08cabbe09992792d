// Programs of examples/ on small data sets, in the formats of the large ones that they are for.
#include "Programs.h"
#include "Idx.h"
#include "Testing.h"

#include <regex>

using namespace calque::testing;

// MNIST by compile and fit: its main has at most 12 lines, and it learns.
TEST(MnistFitProgram, TrainsInTwelveLines) {
  std::istringstream source(readFile(CALQUE_EXAMPLES "/mnist_fit.cpp"));
  int lines = 0;
  bool isInMain = false;
  for (std::string line; std::getline(source, line);) {
    isInMain &= line != "}";
    lines += isInMain && line.find_first_not_of(' ') != std::string::npos;
    isInMain |= line.rfind("int main(", 0) == 0;
  }
  EXPECT_GT(lines, 0);
  EXPECT_LE(lines, 12);

  TemporaryDirectory directory;
  writeDigits(directory, Digits(640), Digits(200));
  Outcome outcome = runProgram(CALQUE_MNIST_FIT_PROGRAM, "'" + directory.path + "' 1");
  EXPECT_EQ(outcome.code, 0);
  ASSERT_EQ(outcome.lines.size(), 3u);
  EXPECT_TRUE(std::regex_match(outcome.lines[1], std::regex("10/10 - [0-9:]+s? - loss: [0-9.]+ - accuracy: [0-9.]+")))
      << outcome.lines[1];
  std::smatch match;
  ASSERT_TRUE(std::regex_match(outcome.lines[2], match, std::regex("test accuracy ([01]\\.[0-9]{4})")))
      << outcome.lines[2];
  double accuracy = 0;
  std::istringstream(outcome.lines[1].substr(outcome.lines[1].rfind(' '))) >> accuracy;
  EXPECT_GT(accuracy, 0.5) << outcome.lines[1]; // in training: ten steps don't settle the moving statistics
}

// The notebook on Keras with CIFAR's data sets, which it has models of other shapes and numbers of classes for.
TEST(GradientsOfLayersProgram, TrainsOnCifar) {
  TemporaryDirectory directory;
  std::mt19937 random(1);
  // A colour for each class, and some noise.
  auto records = [&](int count, int classes, bool isCoarseFirst) {
    std::string bytes;
    for (int i = 0; i < count; ++i) {
      const int label = i % classes;
      if (isCoarseFirst)
        bytes += static_cast<char>(label / 5);
      bytes += static_cast<char>(label);
      for (int channel = 0; channel < 3; ++channel)
        for (int p = 0; p < 1024; ++p)
          bytes += static_cast<char>(label * 5 / (channel + 1) % 200 + static_cast<int>(random() % 50));
    }
    return bytes;
  };
  for (int i = 1; i <= 5; ++i)
    writeFile(directory.file("data_batch_" + std::to_string(i) + ".bin"), records(40, 10, false));
  writeGzip(directory.file("train.bin.gz"), records(200, 100, true));
  struct Case {
    const char *dataset;
    int images, all, trainable, classifier; // numbers of parameters
  };
  for (const Case &each : {Case{"cifar10", 200, 1324, 1294, 22912}, Case{"cifar100", 200, 2314, 2284, 23902}}) {
    SCOPED_TRACE(each.dataset);
    Outcome outcome =
        runProgram(CALQUE_GRADIENTS_OF_LAYERS_PROGRAM,
                   std::string(each.dataset) + " " + std::to_string(each.images) + " 1 '" + directory.path + "'");
    EXPECT_EQ(outcome.code, 0);
    std::string text;
    for (const std::string &line : outcome.lines)
      text += line + "\n";
    auto counts = [](int all, int trainable) {
      return std::to_string(all) + " parameters, " + std::to_string(trainable) + " trainable";
    };
    EXPECT_CONTAINS(text, counts(each.all, each.trainable) + "\n");
    EXPECT_CONTAINS(text, counts(each.classifier, each.classifier - 6) + ";");
    EXPECT_CONTAINS(text, "Epoch 1/1\n");
    EXPECT_CONTAINS(text, "val_accuracy of 1 epochs, val_loss of 1 epochs, train written, validation written");
    EXPECT_CONTAINS(text, "weights are its own");
  }
}
