// The framing of TFRecord files: for each record its length, 8 bytes, the masked CRC32C of these, the record, and its
// masked CRC32C, all little-endian. From TensorFlow's tensorflow/core/lib/io/record_writer.h.
#ifndef CALQUE_TRAINING_DATA_RECORDS_H
#define CALQUE_TRAINING_DATA_RECORDS_H

#include "data/File.h"

#include <string_view>

namespace calque::data {

// The CRC32C (Castagnoli; RFC 3720, appendix B.4), rotated right by 15 bits and increased by a constant.
std::uint32_t maskedCrc(std::string_view bytes);

// What frames a record, in front of it and behind it.
std::string headerOf(std::string_view record);
std::string footerOf(std::string_view record);

class RecordReader {
public:
  RecordReader(const std::string &path, SourceLocation where, Compression compression);
  // False at the end. DataError, which names the record's number and the byte where it begins; MemoryError.
  bool next(std::string &record);
  std::int64_t count() const { return count_; }
  FileReader file;

private:
  bool read(std::string &record);
  std::int64_t count_ = 0;
};

} // namespace calque::data
#endif
