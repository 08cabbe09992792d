#ifndef CALQUE_TRAINING_DATA_IDX_H
#define CALQUE_TRAINING_DATA_IDX_H

#include "calque/tensor.h"

#include <functional>
#include <string>
#include <vector>

namespace calque::data {

// The content of an IDX file, with elements as they are stored, big-endian.
struct IdxFile {
  enum Type : unsigned { UInt8 = 0x08, Int8 = 0x09, Int16 = 0x0B, Int32 = 0x0C, Float32 = 0x0D, Float64 = 0x0E };
  Type type;
  Shape shape;
  std::vector<unsigned char> bytes;
};

// Reads a plain or compressed file; `magic` is what its first four bytes must be, 0 for any. `check` looks at the shape
// of the header before elements are read, and throws where it is not the right one. DataError; MemoryError.
IdxFile readIdxFile(const std::string &path, unsigned magic, SourceLocation where,
                    const std::function<void(const Shape &)> &check = nullptr);

} // namespace calque::data
#endif
