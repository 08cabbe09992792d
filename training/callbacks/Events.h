// TensorBoard's event files: records of TFRecord that hold Event messages of protobuf, which are encoded here.
#ifndef CALQUE_TRAINING_CALLBACKS_EVENTS_H
#define CALQUE_TRAINING_CALLBACKS_EVENTS_H

#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace calque::training {

// A message of protobuf that is being written. Fields have the numbers of the .proto files of TensorFlow.
class Message {
public:
  void number(int field, std::uint64_t value);
  void real(int field, double value);    // double
  void realOf32(int field, float value); // float
  void bytes(int field, const std::string &value);
  void message(int field, const Message &value) { bytes(field, value.text); }
  void reals(int field, const std::vector<double> &values); // packed
  const std::string &str() const { return text; }

private:
  void varint(std::uint64_t value);
  void fixed(std::uint64_t bits, int size);
  std::string text;
};

// The CRC-32C of bytes, and the mask that TFRecord puts over it.
std::uint32_t crc32c(const std::string &bytes);
std::uint32_t maskedCrc32c(const std::string &bytes);

// Numbers in 30 buckets of equal width, as a HistogramProto.
Message histogramOf(const std::vector<double> &values);

// A file of events in a directory, which is made. DataError where it can't be.
class EventFile {
public:
  explicit EventFile(const std::string &directory);
  const std::string &path() const { return path_; }

  void scalar(const std::string &tag, double value, std::int64_t step);
  void histogram(const std::string &tag, const std::vector<double> &values, std::int64_t step);
  void text(const std::string &tag, const std::string &text, std::int64_t step);
  // A serialized GraphDef.
  void graph(const Message &graph);
  void flush();

private:
  void write(const Message &event);
  [[noreturn]] void cantBeWritten() const;
  void summary(const Message &value, std::int64_t step);

  std::mutex mutex;
  std::string path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE *)> file;
};

} // namespace calque::training
#endif
