// TensorBoard's event files, read back by a parser that shares nothing with what writes them, and by TensorBoard itself
// where Python has it.
#include "Testing.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <csignal>
#include <sys/resource.h>
#include <unistd.h>

using namespace calque;
using namespace calque::testing;

namespace {

// The fields of a message of protobuf: number, and bytes or the bits of a number.
struct Field {
  std::uint64_t bits = 0;
  std::string bytes;
  double real() const {
    double value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }
  float realOf32() const {
    auto low = static_cast<std::uint32_t>(bits);
    float value;
    std::memcpy(&value, &low, sizeof(value));
    return value;
  }
};
using Fields = std::multimap<int, Field>;

std::uint64_t little(const std::string &text, std::size_t at, int size) {
  std::uint64_t bits = 0;
  for (int i = size; i-- > 0;)
    bits = bits << 8 | static_cast<unsigned char>(text.at(at + static_cast<std::size_t>(i)));
  return bits;
}

Fields parse(const std::string &text) {
  Fields fields;
  std::size_t at = 0;
  auto varint = [&] {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      auto byte = static_cast<unsigned char>(text.at(at++));
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (!(byte & 0x80))
        return value;
    }
  };
  while (at < text.size()) {
    std::uint64_t key = varint();
    Field field;
    switch (key & 7) {
    case 0:
      field.bits = varint();
      break;
    case 1:
      field.bits = little(text, at, 8);
      at += 8;
      break;
    case 2: {
      std::uint64_t size = varint();
      field.bytes = text.substr(at, size);
      at += size;
      break;
    }
    case 5:
      field.bits = little(text, at, 4);
      at += 4;
      break;
    default:
      ADD_FAILURE() << "wire type " << (key & 7);
      return fields;
    }
    fields.emplace(static_cast<int>(key >> 3), field);
  }
  return fields;
}

// By the definition: the remainder of the bits, reflected, by Castagnoli's polynomial.
std::uint32_t crc32c(const std::string &text) {
  std::uint32_t crc = 0xffffffff;
  for (unsigned char byte : text)
    for (int bit = 0; bit < 8; ++bit) {
      bool odd = (crc ^ (byte >> bit)) & 1;
      crc = (crc >> 1) ^ (odd ? 0x82f63b78 : 0);
    }
  return ~crc;
}
std::uint32_t masked(const std::string &text) {
  std::uint32_t crc = crc32c(text);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8;
}

std::vector<Fields> eventsIn(const std::string &directory) {
  std::vector<Fields> events;
  for (const auto &entry : std::filesystem::directory_iterator(directory)) {
    EXPECT_NE(entry.path().filename().string().find("tfevents"), std::string::npos);
    std::ifstream file(entry.path(), std::ios::binary);
    std::stringstream stream;
    stream << file.rdbuf();
    const std::string text = stream.str();
    for (std::size_t at = 0; at < text.size();) {
      std::string length = text.substr(at, 8);
      EXPECT_EQ(little(text, at + 8, 4), masked(length));
      std::uint64_t size = little(length, 0, 8);
      std::string data = text.substr(at + 12, size);
      EXPECT_EQ(little(text, at + 12 + size, 4), masked(data));
      events.push_back(parse(data));
      at += 16 + size;
    }
  }
  return events;
}

struct Read {
  std::map<std::string, std::vector<std::pair<std::int64_t, float>>> scalars;
  std::map<std::string, std::vector<std::pair<std::int64_t, Fields>>> histograms;
  std::map<std::string, std::string> texts;
  std::vector<std::string> nodes;
  std::map<std::string, std::vector<std::string>> inputs; // of each node
  int versions = 0;
};
Read readFrom(const std::string &directory) {
  Read read;
  for (const Fields &event : eventsIn(directory)) {
    EXPECT_GT(event.find(1)->second.real(), 1.6e9); // seconds since 1970
    if (auto version = event.find(3); version != event.end()) {
      EXPECT_EQ(version->second.bytes, "brain.Event:2");
      ++read.versions;
    }
    if (auto graph = event.find(4); graph != event.end())
      for (const auto &[number, node] : parse(graph->second.bytes)) {
        const Fields fields = parse(node.bytes);
        const std::string name = fields.find(1)->second.bytes;
        read.nodes.push_back(name);
        for (auto [at, end] = fields.equal_range(3); at != end; ++at)
          read.inputs[name].push_back(at->second.bytes);
      }
    auto summary = event.find(5);
    if (summary == event.end())
      continue;
    std::int64_t step = event.count(2) ? static_cast<std::int64_t>(event.find(2)->second.bits) : 0;
    for (const auto &[number, bytes] : parse(summary->second.bytes)) {
      Fields value = parse(bytes.bytes);
      std::string tag = value.find(1)->second.bytes;
      if (value.count(2))
        read.scalars[tag].emplace_back(step, value.find(2)->second.realOf32());
      if (value.count(5))
        read.histograms[tag].emplace_back(step, parse(value.find(5)->second.bytes));
      if (value.count(8))
        read.texts[tag] = parse(value.find(8)->second.bytes).find(8)->second.bytes;
    }
  }
  return read;
}

std::vector<double> packed(const Field &field) {
  std::vector<double> values;
  for (std::size_t at = 0; at < field.bytes.size(); at += 8) {
    Field one;
    one.bits = little(field.bytes, at, 8);
    values.push_back(one.real());
  }
  return values;
}

std::string freshDirectory(const std::string &name) {
  std::string path = ::testing::TempDir() + "/calque-" + name + "-" + std::to_string(::getpid());
  std::filesystem::remove_all(path);
  return path;
}

} // namespace

// The check value of the algorithm's definition.
TEST(Summary, TheTestsChecksumIsCrc32c) { EXPECT_EQ(crc32c("123456789"), 0xe3069283); }

TEST(Summary, ScalarsHistogramsAndTextsComeBack) {
  const std::string directory = freshDirectory("summary");
  summary::FileWriter writer = summary::create_file_writer(directory);
  Variable step(scalar(std::int64_t(0)), {.trainable = false});
  auto write = function([&](const Tensor &x) {
    writer.scalar("loss", sum(x), step);
    writer.histogram("x", x, step);
    step.assign_add(1);
  });
  write(tensor<float>({0, 1, 2, 3}));
  write(tensor<float>({5, 5, 5, 5}));
  writer.text("note", "**bold**", 7);
  writer.flush();
  Read read = readFrom(directory);
  EXPECT_EQ(read.versions, 1);
  EXPECT_EQ(read.scalars["loss"], (std::vector<std::pair<std::int64_t, float>>{{0, 6}, {1, 20}}));
  EXPECT_EQ(read.texts["note"], "**bold**");
  ASSERT_EQ(read.histograms["x"].size(), 2u);
  Fields histogram = read.histograms["x"][0].second;
  EXPECT_EQ(histogram.find(1)->second.real(), 0);
  EXPECT_EQ(histogram.find(2)->second.real(), 3);
  EXPECT_EQ(histogram.find(3)->second.real(), 4);
  EXPECT_EQ(histogram.find(4)->second.real(), 6);
  EXPECT_EQ(histogram.find(5)->second.real(), 14);
  std::vector<double> limits = packed(histogram.find(6)->second), counts = packed(histogram.find(7)->second);
  ASSERT_EQ(limits.size(), 30u);
  EXPECT_EQ(limits.back(), 3);
  EXPECT_EQ(counts[0], 1);
  EXPECT_EQ(counts[10], 1);
  EXPECT_EQ(counts[29], 1);
  std::filesystem::remove_all(directory);
}

// 1,000 steps write 10 scalars.
TEST(Summary, RecordsEverySoManySteps) {
  const std::string directory = freshDirectory("every");
  EXPECT_MISUSE(StateError, summary::scalar("loss", 1.0f, 0),
                "summary: there is no default writer; call set_as_default() of one");
  summary::FileWriter writer = summary::create_file_writer(directory);
  writer.set_as_default();
  summary::RecordEvery hundred(100);
  auto write = function([](const Tensor &step) { summary::scalar("loss", cast(step, DType::Float32) / 2, step); });
  for (int step = 0; step < 1000; ++step)
    write(scalar(step));
  writer.flush();
  Read read = readFrom(directory);
  ASSERT_EQ(read.scalars["loss"].size(), 10u);
  EXPECT_EQ(read.scalars["loss"][9], (std::pair<std::int64_t, float>(900, 450)));
  EXPECT_MISUSE(ValueError, summary::RecordEvery(0), "summary: records every step or fewer, unlike every 0");
  EXPECT_MISUSE(ShapeError, summary::scalar("x", ones({2}), 0),
                "summary: 'x' is float32[2], and a scalar has one element");
  EXPECT_MISUSE(DTypeError, summary::scalar("x", 1.0f, 0.5f), "summary: a step is an integer, not float32[]");
  EXPECT_CONTAINS(errorOf<DataError>([] { summary::create_file_writer("/proc/none"); }),
                  "v2: the event file can't be written");
  // No file may grow, as on a disk that is full: what is buffered can't be written.
  writer.scalar("loss", 1.0f, 1000);
  auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit, none;
  ::getrlimit(RLIMIT_FSIZE, &limit);
  none = limit;
  none.rlim_cur = 0;
  ::setrlimit(RLIMIT_FSIZE, &none);
  std::string text = errorOf<DataError>([&] { writer.flush(); });
  ::setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, before);
  EXPECT_CONTAINS(text, "summary: " + writer.path() + ": the event file can't be written");
  std::filesystem::remove_all(directory);
}

// A branch that is added again, and a layer of several results.
TEST(TensorBoard, WritesTheEdgesOfAGraphOfLayers) {
  SymbolicTensor x = Input({4, 2}, {.name = "steps"});
  layers::LSTM lstm(3, {.return_state = true, .name = "lstm"});
  SymbolicTensors all = lstm.apply(x);
  layers::Dense shared(3, {.name = "shared"});
  SymbolicTensor sum = layers::Add({.name = "both"})({shared(all[0]), shared(all[2])});
  models::Functional model(x, layers::Dense(1, {.name = "head"})(sum));
  const std::string directory = freshDirectory("edges");
  model.compile({.optimizer = "sgd", .loss = "mse"});
  model.fit(ones({4, 4, 2}), ones({4, 1}),
            {.verbose = 0, .callbacks = {callbacks::TensorBoard({.log_dir = directory})}});
  Read train = readFrom(directory + "/train");
  auto inputsOf = [&](const std::string &node) { return train.inputs["functional/" + node]; };
  auto paths = [](std::vector<std::string> nodes) {
    for (std::string &node : nodes)
      node = "functional/" + node;
    return nodes;
  };
  EXPECT_TRUE(inputsOf("steps").empty());
  EXPECT_EQ(inputsOf("lstm/call"), paths({"steps", "lstm/kernel", "lstm/recurrent_kernel", "lstm/bias"}));
  EXPECT_EQ(inputsOf("shared/call"), paths({"lstm/call", "shared/kernel", "shared/bias"}));
  EXPECT_EQ(inputsOf("shared/call_1"), paths({"lstm/call:2", "shared/kernel", "shared/bias"}));
  EXPECT_EQ(inputsOf("head/call"), paths({"both/call", "head/kernel", "head/bias"}));
  // Every edge comes from a node.
  for (const auto &[name, inputs] : train.inputs)
    for (const std::string &input : inputs)
      EXPECT_NE(std::find(train.nodes.begin(), train.nodes.end(), input.substr(0, input.find(':'))), train.nodes.end())
          << input;
  std::filesystem::remove_all(directory);
}

TEST(TensorBoard, WritesTrainingAndValidation) {
  const std::string directory = freshDirectory("board");
  Sequential model({layers::Dense(2, {.activation = "relu"}), layers::Dense(1)});
  model.compile({.optimizer = optimizers::SGD(0.25), .loss = "mse", .metrics = {"mae"}});
  Tensor x = ones({8, 3}), y = zeros({8, 1});
  callbacks::TensorBoard board({.log_dir = directory, .histogram_freq = 2, .update_freq = 3});
  History history =
      model.fit(x, y, {.batch_size = 2, .epochs = 3, .verbose = 0, .callbacks = {board}, .validation_data = {x, y}});
  Read train = readFrom(directory + "/train"), validation = readFrom(directory + "/validation");
  ASSERT_EQ(train.scalars["epoch_loss"].size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_FLOAT_EQ(train.scalars["epoch_loss"][i].second, static_cast<float>(history.history.at("loss")[i]));
    EXPECT_FLOAT_EQ(validation.scalars["epoch_mae"][i].second, static_cast<float>(history.history.at("val_mae")[i]));
  }
  EXPECT_EQ(train.scalars["epoch_learning_rate"][2], (std::pair<std::int64_t, float>(2, 0.25f)));
  EXPECT_EQ(validation.scalars.size(), 2u);
  // 12 steps: 0, 3, 6, 9.
  ASSERT_EQ(train.scalars["batch_loss"].size(), 4u);
  EXPECT_EQ(train.scalars["batch_loss"][3].first, 9);
  // Of each weight at epochs 0 and 2.
  EXPECT_EQ(train.histograms.size(), 4u);
  ASSERT_EQ(train.histograms["dense/kernel/histogram"].size(), 2u);
  EXPECT_EQ(train.histograms["dense/kernel/histogram"][1].second.find(3)->second.real(), 6);
  EXPECT_EQ(train.nodes,
            (std::vector<std::string>{"sequential/dense/kernel", "sequential/dense/bias", "sequential/dense_1/kernel",
                                      "sequential/dense_1/bias", "sequential/input", "sequential/dense/call",
                                      "sequential/dense_1/call"}));
  EXPECT_EQ(
      train.inputs["sequential/dense_1/call"],
      (std::vector<std::string>{"sequential/dense/call", "sequential/dense_1/kernel", "sequential/dense_1/bias"}));
  EXPECT_MISUSE(ValueError, callbacks::TensorBoard({.update_freq = -1}),
                "tensorboard: histogram_freq and update_freq are not below 0");
  EXPECT_MISUSE(ValueError, callbacks::TensorBoard({.update_freq = "step"}),
                "tensorboard: update_freq is 'epoch', 'batch' or a number of steps, unlike 'step'");
  std::filesystem::remove_all(directory);
}

TEST(TensorBoard, WritesEachStepOrEachEpoch) {
  Sequential model{layers::Dense(1)};
  model.compile({.optimizer = "sgd", .loss = "mse"});
  auto stepsAt = [&](const callbacks::UpdateFrequency &frequency) {
    const std::string directory = freshDirectory("frequency");
    callbacks::TensorBoard board({.log_dir = directory, .update_freq = frequency});
    model.fit(ones({8, 3}), zeros({8, 1}), {.batch_size = 2, .epochs = 2, .verbose = 0, .callbacks = {board}});
    Read train = readFrom(directory + "/train");
    std::filesystem::remove_all(directory);
    EXPECT_EQ(train.scalars["epoch_loss"].size(), 2u);
    return train.scalars["batch_loss"].size();
  };
  EXPECT_EQ(stepsAt("batch"), 8u);
  EXPECT_EQ(stepsAt("epoch"), 0u);
  EXPECT_EQ(stepsAt(std::string("batch")), 8u);
  EXPECT_EQ(stepsAt(3), 3u);
  EXPECT_EQ(stepsAt(std::size_t(4)), 2u);
}

// With its own reader: the test training.tensorboard, which has a Python for it.
TEST(TensorBoard, ReadsWhatIsWritten) {
  const char *python = std::getenv("CALQUE_TEST_PYTHON");
  if (!python)
    GTEST_SKIP() << "CALQUE_TEST_PYTHON names no Python that has TensorBoard";
  const std::string directory = freshDirectory("read");
  Sequential model({layers::Dense(2, {.activation = "relu"}), layers::Dense(1)});
  model.compile({.optimizer = optimizers::SGD(0.25), .loss = "mse", .metrics = {"mae"}});
  Tensor x = ones({8, 3}), y = zeros({8, 1});
  callbacks::TensorBoard board({.log_dir = directory, .histogram_freq = 2, .update_freq = 3});
  model.fit(x, y, {.batch_size = 2, .epochs = 3, .verbose = 0, .callbacks = {board}, .validation_data = {x, y}});
  summary::FileWriter notes = summary::create_file_writer(directory + "/notes");
  notes.text("note", "**bold**\n\n| a | b |", 7);
  notes.text("note", "ä", 9);
  notes.flush();
  std::FILE *pipe = ::popen((std::string(python) + " -B '" CALQUE_READ_EVENTS "' '" + directory + "'").c_str(), "r");
  std::string output;
  char buffer[512];
  while (std::fgets(buffer, sizeof(buffer), pipe))
    output += buffer;
  EXPECT_EQ(::pclose(pipe), 0);
  EXPECT_EQ(output, "train batch_loss 0,3,6,9\ntrain batch_mae 0,3,6,9\ntrain epoch_learning_rate 0,1,2\n"
                    "train epoch_loss 0,1,2\ntrain epoch_mae 0,1,2\ntrain dense/bias/histogram 0,2\n"
                    "train dense/kernel/histogram 0,2\ntrain dense_1/bias/histogram 0,2\n"
                    "train dense_1/kernel/histogram 0,2\ntrain graph 7\nvalidation epoch_loss 0,1,2\n"
                    "validation epoch_mae 0,1,2\nnotes note 7 text '**bold**\\n\\n| a | b |'\nnotes note 9 text 'ä'\n");
  std::filesystem::remove_all(directory);
}
