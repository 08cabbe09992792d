#include "frontend/saving/TensorHeader.h"

#include "absl/strings/str_cat.h"
#include "schema/HashTables.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace calque::detail {

namespace {

struct SafetensorsCode {
  std::string_view name;
  std::size_t bits;
};
// The codes of version 0.8 of the Python package safetensors.
constexpr SafetensorsCode kCodes[] = {
    {"BOOL", 8},    {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6},     {"U8", 8},          {"I8", 8},
    {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16},
    {"U16", 16},    {"F16", 16},    {"BF16", 16},   {"I32", 32},        {"U32", 32},        {"F32", 32},
    {"C128", 128},  {"C64", 64},    {"F64", 64},    {"I64", 64},        {"U64", 64}};

// Takes the header apart while the parser reads it, and stops it where the header does not have the format's one form.
// So nothing else is kept, names that are given twice are found, and nothing nests deeply.
class Handler {
public:
  explicit Handler(TensorHeader &header) : header(header) {}
  std::string fault;

  bool null() { return unexpected("null"); }
  bool boolean(bool) { return unexpected("a bool"); }
  bool number_integer(std::int64_t) { return unexpected("a number below 0"); }
  bool number_float(double, const std::string &) { return unexpected("a number that is no integer"); }
  bool binary(std::vector<std::uint8_t> &) { return unexpected("binary data"); }

  bool number_unsigned(std::uint64_t value) {
    if (at == Place::Shape && value <= INT64_MAX)
      header.entries.back().dims.push_back(static_cast<std::int64_t>(value));
    else if (at == Place::Offsets && numOffsets < 2)
      (numOffsets++ ? header.entries.back().end : header.entries.back().begin) = value;
    else
      return unexpected("a number");
    return true;
  }

  bool string(std::string &text) {
    if (at == Place::Metadata)
      header.metadata[name] = std::move(text);
    else if (at == Place::Entry && field == "dtype")
      header.entries.back().code = std::move(text);
    else
      return unexpected("a text");
    return true;
  }

  bool start_object(std::size_t) {
    if (at == Place::Outside)
      at = Place::Header;
    else if (at == Place::Header && name == kMetadata)
      at = Place::Metadata;
    else if (at == Place::Header) {
      at = Place::Entry;
      fields = 0;
      header.entries.emplace_back().name = name;
    } else
      return unexpected("an object");
    return true;
  }

  bool key(std::string &text) {
    if (at == Place::Entry) {
      const unsigned bit = text == "dtype" ? 1 : text == "shape" ? 2 : text == "data_offsets" ? 4 : 0;
      if (!bit || (fields & bit))
        return refuse(absl::StrCat("'", name, "' has ", bit ? "two fields '" : "a field '", text, "'"));
      fields |= bit;
      field = std::move(text);
      return true;
    }
    name = std::move(text);
    if (!(at == Place::Metadata ? texts : names).insert(name).second)
      return refuse(absl::StrCat("there are two of the name '", name, "'"));
    return true;
  }

  bool end_object() {
    if (at == Place::Entry && fields != 7)
      return refuse(absl::StrCat("'", name, "' has not all of dtype, shape and data_offsets"));
    at = at == Place::Header ? Place::Outside : Place::Header;
    return true;
  }

  bool start_array(std::size_t) {
    if (at != Place::Entry || field == "dtype")
      return unexpected("a list");
    at = field == "shape" ? Place::Shape : Place::Offsets;
    numOffsets = 0;
    return true;
  }

  bool end_array() {
    if (at == Place::Offsets && numOffsets != 2)
      return unexpected("a list of other than two numbers");
    at = Place::Entry;
    return true;
  }

  bool parse_error(std::size_t position, const std::string &, const nlohmann::json::exception &) {
    return refuse(absl::StrCat("it is no JSON at byte ", position));
  }

private:
  bool refuse(std::string why) {
    fault = std::move(why);
    return false;
  }
  bool unexpected(const char *what) {
    return at == Place::Outside || at == Place::Header
               ? refuse(absl::StrCat("there is ", what, " where an object should be"))
               : refuse(absl::StrCat("'", name, "' has ", what, " where it may not"));
  }

  enum class Place : std::uint8_t { Outside, Header, Metadata, Entry, Shape, Offsets };
  TensorHeader &header;
  Place at = Place::Outside;
  std::string name, field;
  unsigned fields = 0; // a bit for each field that the entry has
  int numOffsets = 0;
  HashSet<std::string> names, texts;
};

// The number of bytes of an entry, by its type; std::nullopt if that is no whole number, or overflows.
std::optional<std::uint64_t> bytesOf(const TensorHeader::Entry &entry) {
  std::uint64_t bits = bitsOf(entry.code);
  bool isEmpty = false;
  for (std::int64_t size : entry.dims) {
    isEmpty = isEmpty || size == 0;
    // Sizes that overflow are refused even beside a size of 0.
    if (size && __builtin_mul_overflow(bits, static_cast<std::uint64_t>(size), &bits))
      return std::nullopt;
  }
  if (isEmpty)
    return 0;
  return bits % 8 ? std::nullopt : std::optional(bits / 8);
}

} // namespace

std::size_t bitsOf(std::string_view code) {
  for (const SafetensorsCode &each : kCodes)
    if (each.name == code)
      return each.bits;
  return 0;
}

std::string_view codeOf(DType dtype) { return is_dtype(dtype) ? info_of(dtype).safetensors : ""; }

std::string parseHeader(const std::string &text, TensorHeader &header) {
  // The parser accepts a byte order mark in front, and takes a zero byte for the end.
  if (text.empty() || text.front() != '{')
    return "it does not begin with '{'";
  if (const std::size_t zero = text.find('\0'); zero != std::string::npos)
    return absl::StrCat("it is no JSON at byte ", zero);
  Handler handler(header);
  if (!nlohmann::json::sax_parse(text, &handler))
    return handler.fault;
  std::vector<TensorHeader::Entry> &entries = header.entries;
  // Empty entries stay in their order.
  std::stable_sort(entries.begin(), entries.end(), [](const TensorHeader::Entry &a, const TensorHeader::Entry &b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t end = 0;
  for (const TensorHeader::Entry &entry : entries) {
    const std::string type = absl::StrCat("'", entry.name, "' is ", entry.code, schema::shapeString(entry.dims));
    if (!bitsOf(entry.code))
      return absl::StrCat(type, ", and there is no such element type");
    if (entry.begin != end || entry.end < entry.begin)
      return absl::StrCat(type, " in bytes ", entry.begin, " to ", entry.end,
                          " of the data, and those before it end at ", end);
    const std::optional<std::uint64_t> bytes = bytesOf(entry);
    if (bytes != entry.end - entry.begin)
      return absl::StrCat(type, ", which takes ", bytes ? absl::StrCat(*bytes) : "no number of", " bytes, and it has ",
                          entry.end - entry.begin);
    end = entry.end;
  }
  return "";
}

} // namespace calque::detail
