// TFRecord files, and tf.train.Example messages, which most of these files contain.
//
//   data::TFRecordWriter writer("train.tfrecord");
//   writer.write(data::Example{{{"x", std::vector<float>{1, 2}}, {"label",
//   std::vector<std::int64_t>{7}}}}.serialize()); writer.close();
//
//   data::Dataset examples = data::tfrecord_dataset("train.tfrecord").map([](const std::string &record) {
//     return data::parse_single_example(record, {{"x", {.shape = {2}}}, {"label", {.dtype = DType::Int64}}});
//   });                                   // std::map<std::string, Tensor>
#ifndef CALQUE_DATA_RECORDS_H
#define CALQUE_DATA_RECORDS_H

#include "calque/data/dataset.h"

#include <variant>

namespace calque::data {

struct FileOptions {
  std::string compression_type = ""; // or "GZIP"
};

// A data set of the records of files, one file after the other. While iterating, DataError for a file that is cut or
// has wrong checksums; the error names the file, the record and its byte. ValueError for another compression.
CALQUE_API Dataset<std::string> tfrecord_dataset(const std::vector<std::string> &paths, FileOptions options = {},
                                                 SourceLocation where = SourceLocation::current());
inline Dataset<std::string> tfrecord_dataset(const std::string &path, FileOptions options = {},
                                             SourceLocation where = SourceLocation::current()) {
  return tfrecord_dataset(std::vector{path}, std::move(options), where);
}

// Writes records with their checksums. DataError if the file can't be written. The destructor closes the file, and
// ignores errors: call close() to see them. StateError for writing to a closed writer.
class CALQUE_API TFRecordWriter {
public:
  explicit TFRecordWriter(const std::string &path, FileOptions options = {},
                          SourceLocation where = SourceLocation::current());
  ~TFRecordWriter();
  TFRecordWriter(TFRecordWriter &&) noexcept;
  TFRecordWriter &operator=(TFRecordWriter &&) noexcept;
  void write(const std::string &record, SourceLocation where = SourceLocation::current());
  // Passes the written records to the operating system.
  void flush(SourceLocation where = SourceLocation::current());
  void close(SourceLocation where = SourceLocation::current());

private:
  struct File;
  std::unique_ptr<File> file_;
};

// A data set of the text lines of files, without line ends.
CALQUE_API Dataset<std::string> text_line_dataset(const std::vector<std::string> &paths,
                                                  SourceLocation where = SourceLocation::current());
inline Dataset<std::string> text_line_dataset(const std::string &path,
                                              SourceLocation where = SourceLocation::current()) {
  return text_line_dataset(std::vector{path}, where);
}

// The message tf.train.Example: lists of bytes, floats or integers by name.
struct CALQUE_API Example {
  using Feature = std::variant<std::vector<std::string>, std::vector<float>, std::vector<std::int64_t>>;
  std::map<std::string, Feature> features;

  // The message in the wire format of protocol buffers. Equal examples have equal bytes.
  std::string serialize() const;
  // Reads a message. Unknown fields are skipped. DataError, which names the byte, for bytes that are not such a
  // message.
  static Example parse(const std::string &message, SourceLocation where = SourceLocation::current());
};

// How a feature becomes a tensor of a fixed shape. A floating-point dtype takes a list of floats, another dtype a list
// of integers.
struct FixedLenFeature {
  Shape shape = {};
  DType dtype = DType::Float32;
  std::optional<double> default_value = std::nullopt; // the value of all elements if the feature is missing
};
// Reads the given features of a message as tensors by name. DataError for a feature that is missing, has another kind
// or number of values, or has an integer that the element type does not hold.
CALQUE_API std::map<std::string, Tensor> parse_single_example(const std::string &message,
                                                              const std::map<std::string, FixedLenFeature> &features,
                                                              SourceLocation where = SourceLocation::current());

} // namespace calque::data
#endif
