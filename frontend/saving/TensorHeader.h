// The header of a file of tensors: JSON, which says the type and the place of each tensor.
#ifndef CALQUE_FRONTEND_SAVING_TENSORHEADER_H
#define CALQUE_FRONTEND_SAVING_TENSORHEADER_H

#include "schema/Schema.h"

#include <map>
#include <string_view>

namespace calque::detail {

// The limit of other implementations. It keeps a file of another format from asking for much memory.
inline constexpr std::uint64_t kMostHeaderBytes = 100'000'000;
// The name under which the header has texts.
inline constexpr const char *kMetadata = "__metadata__";

// The bits of an element, by the format's code of its type; 0 for a code that is not known.
std::size_t bitsOf(std::string_view code);
// The code of an element type.
std::string_view codeOf(DType dtype);

struct TensorHeader {
  struct Entry {
    std::string name, code;
    schema::Dims dims;
    std::uint64_t begin = 0, end = 0; // the place of its bytes in the data
  };
  std::vector<Entry> entries; // each begins where the one before ends
  std::map<std::string, std::string> metadata;

  // The number of bytes of all entries.
  std::uint64_t numBytes() const { return entries.empty() ? 0 : entries.back().end; }
};

// Reads a header and checks everything that can be checked without the data: codes, sizes, places, names that occur
// twice. Returns the fault; empty for a sound header.
std::string parseHeader(const std::string &text, TensorHeader &header);

} // namespace calque::detail
#endif
